"""What tests of several files take as a fixture."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import TEXTS
from likewise.cli.flags import FLAGS


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, where nothing from outside sets a flag."""
    monkeypatch.chdir(tmp_path)
    for name in FLAGS:
        monkeypatch.delenv(f"LIKEWISE_{name.upper()}", raising=False)
    return tmp_path


@pytest.fixture
def docs(folder: Path) -> Path:
    """The folder, with four documents in docs.jsonl."""
    path = folder / "docs.jsonl"
    path.write_text("".join(json.dumps({"id": name, "text": " ".join(words)}) + "\n" for name, words in TEXTS.items()))
    return path
