"""The documentation says what the program does."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "benchmarks").glob("*.md"))]


def test_the_page_of_flags_is_the_table_of_flags():
    spec = importlib.util.spec_from_file_location("make_flags_page", ROOT / "tools/make_flags_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (ROOT / "docs/reference/flags.md").read_text() == module.page()


def test_links_lead_somewhere():
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"


WITH_PYTHON = [page for page in PAGES if "```python\n" in page.read_text() and page.name != "README.md"]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: page.stem)
def test_python_on_a_page_prints_what_it_says(page, capsys):
    """The blocks of a page run one after the other. What is printed stands behind ``print(...)  #``, or in lines that begin with ``# ``."""
    code = "\n".join(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
    exec(code, {})
    said = re.findall(r"(?m)(?:print\(.*?#|^#) (.+)$", code)
    assert capsys.readouterr().out.splitlines() == [line.strip() for line in said]


def test_the_architecture_page_names_every_part():
    text = (ROOT / "docs/ARCHITECTURE.md").read_text()
    parts = {path.stem for path in (ROOT / "src/likewise").iterdir() if not path.name.startswith("_") and path.suffix in ("", ".py")}
    assert {part for part in parts if part not in text} == {"py"} & parts
