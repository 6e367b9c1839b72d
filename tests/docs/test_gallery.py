"""The notebooks of the gallery show what their code prints today."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import run_notebooks

GALLERY = Path(__file__).resolve().parents[2] / "docs/gallery"


def texts(notebook: dict[str, Any]) -> list[str]:
    """All that the cells of a notebook show as text."""
    shown = [output.get("text") or output["data"]["text/plain"] for cell in notebook["cells"] for output in cell.get("outputs", [])]
    return ["".join(lines) for lines in shown]


@pytest.mark.parametrize("path", sorted(GALLERY.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_shows_what_its_code_prints(path: Path):
    stored = json.loads(path.read_text())
    again = copy.deepcopy(stored)
    run_notebooks.run(again, path.parent)
    assert len(texts(stored)) > 3
    assert texts(again) == texts(stored), f"python tools/run_notebooks.py {path.relative_to(Path.cwd())}"


def test_the_gallery_is_small():
    """A clone should not carry pictures of every run."""
    assert sum(path.stat().st_size for path in GALLERY.iterdir()) < 300_000
