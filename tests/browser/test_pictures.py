"""The pictures of pages in docs/images, which tools/make_pictures.py makes."""

from __future__ import annotations

import importlib.util
import re
import struct
from itertools import islice
from pathlib import Path

import pytest
from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parents[2]
TOOL, FOLDER = ROOT / "tools/make_pictures.py", ROOT / "docs/images"
#: Bytes of all pictures.
MOST = 600_000


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location(TOOL.stem, TOOL)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def size(png: bytes) -> tuple[int, int]:
    """The width and the height in the header of a PNG file."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", png[16:24])


def test_the_tool_makes_every_picture_in_the_size_of_the_stored_one(browser: Browser, tool, scaled, tmp_path: Path):
    stored = {path.name: path.read_bytes() for path in FOLDER.glob("*.png")}
    made = dict(islice(tool.made(browser, tmp_path), scaled(len(stored), 1)))
    assert {name: size(content) for name, content in made.items()} == {name: size(stored[name]) for name in made}
    assert scaled(stored.keys(), made.keys()) == made.keys()
    assert [name for name, content in made.items() if len(content) < 10_000] == []  # a page of an error is smaller
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < MOST


def test_pages_show_every_picture():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    named = {name for page in pages for name in re.findall(r"images/([\w-]+\.png)", page.read_text(encoding="utf-8"))}
    assert named == {path.name for path in FOLDER.glob("*.png")}
