"""The index of the course: each row points to a page, to functions and to tests that exist; no section, exercise or function is left out."""

from __future__ import annotations

import importlib
import re
from functools import reduce
from pathlib import Path

import pytest

from likewise import families, lecture
from pages import anchor_of, python_of

ROOT = Path(__file__).resolve().parent.parent.parent
LEARN = ROOT / "docs/learn"
CHAPTERS = sorted(LEARN.glob("[1-9]-*.md"))
INDEX = (LEARN / "index-of-results.md").read_text()
#: The cells of each row: the result first, then where it is shown and what checks it.
ROWS = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in re.findall(r"(?m)^\| .*$", INDEX)]
RESULTS = [row for row in ROWS if row[-1] != "checked by"]


def shown(name: str) -> object:
    """The module, function, class or method that the index names, or None."""
    if name.startswith("likewise."):
        return importlib.import_module(name)
    found = None
    for module in (lecture, families):
        found = found or reduce(lambda owner, part: getattr(owner, part, None), name.split("."), module)
    return found


def prints(text: str) -> bool:
    return any("print(" in block for block in python_of(text))


def part(page: str, anchor: str) -> str:
    """The part of a page below a heading."""
    parts = re.split(r"(?m)^## ", (LEARN / page).read_text())
    (found,) = [part for part in parts if anchor_of(part.partition("\n")[0]) == anchor]
    return found


@pytest.mark.parametrize("row", RESULTS, ids=lambda row: row[0])
def test_a_row_of_the_index_points_to_a_page_and_to_checks(row):
    *_, places, checks = row
    links, names = re.findall(r"\]\(([^)#]+\.md)#?([\w-]*)\)", places), re.findall(r"`([\w.]+)`", places)
    assert links and all((LEARN / page).is_file() for page, _ in links)  # anchors: test_docs.py
    assert all(shown(name) for name in names)
    tests = re.findall(r"`([\w/]+\.py)::(\w+)`", checks)
    assert ", ".join(f"`{file}::{test}`" for file, test in tests) == checks or checks in ("doctest", "page")
    for file, test in tests:
        assert re.search(rf"(?m)^ *def {test}\(", (ROOT / "tests" / file).read_text()), (file, test)
    if checks == "doctest":
        assert any(">>>" in shown(name).__doc__ for name in names)
    if checks == "page":
        assert all(prints(part(page, anchor)) for page, anchor in links)


def test_a_slide_takes_three_lines_or_fewer():
    names, *slides = python_of((LEARN / "slides.md").read_text())
    assert len(slides) > 35 and names.count("import") == 3
    for slide in slides:
        assert len([line for line in slide.splitlines() if not line.startswith("#")]) <= 3, slide


def test_the_index_has_every_section_and_every_function():
    linked = {tuple(link) for link in re.findall(r"\]\(([1-9]-[\w-]+\.md)#([\w-]+)\)", INDEX)}
    for page in CHAPTERS:
        headings = re.findall(r"(?m)^## (.+)$", page.read_text())
        sections = {anchor_of(heading) for heading in headings}
        assert {anchor for name, anchor in linked if name == page.name} == sections - {"exercises"}, page.name
    results = {"Alignment", "OnePass", "RowTypes", "Sheet", "Signatures"}  # of functions
    assert set(lecture.__all__) - results <= set(re.findall(r"`(\w+)`", INDEX))


@pytest.mark.parametrize("page", CHAPTERS, ids=lambda page: page.stem)
def test_every_exercise_has_an_answer_with_code_and_a_row_in_the_index(page):
    text = page.read_text()
    exercises, answers = re.split(r"(?m)^## (?:Exercises|Answers)$", text)[1:]
    numbers = [int(number) for number in re.findall(r"(?m)^(\d+)\. ", exercises)]
    parts = re.split(r"(?m)^\*\*(\d+)\.\*\*", answers)
    assert numbers == [*range(1, len(numbers) + 1)] == [int(number) for number in parts[1::2]]
    assert all(prints(answer) for answer in parts[2::2]), [
        number for number, answer in zip(parts[1::2], parts[2::2], strict=True) if not prints(answer)
    ]
    listed = [row[0].split()[0] for row in RESULTS if re.match(rf"{page.name[0]}\.\d+ ", row[0])]
    assert listed == [f"{page.name[0]}.{number}" for number in numbers]
