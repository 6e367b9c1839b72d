"""An output that tests of the command share."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import LIKE, run


@pytest.fixture
def out(docs: Path) -> Path:
    """The output of `docs`."""
    assert run("dedup", "docs.jsonl", "-o", "out", *LIKE, "-q").exit_code == 0
    return docs.parent / "out"
