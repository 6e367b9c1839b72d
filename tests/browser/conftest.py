"""One browser for the tests of a file, and the outputs that they look at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

import likewise as lw
import newspaper
from seen import started


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started() as browser:
        yield browser


@pytest.fixture(scope="session")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of dedup on three sources of texts."""
    folder = tmp_path_factory.mktemp("newspaper")
    paths = newspaper.written(folder, newspaper.records())
    lw.dedup(paths, out=folder / "out", threshold=0.7, sketches=True)
    return folder / "out"


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of dedup on records whose ids, texts and source would become markup if a page did not show them as text."""
    folder = tmp_path_factory.mktemp("hostile")
    paths = newspaper.written(folder, {"<img src=x onerror=alert(1)>": newspaper.hostile()})
    lw.dedup(paths, out=folder / "out", threshold=0.6)
    return folder / "out"
