"""How passages are shown on a terminal and in a Python session of 80 columns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import likewise as lw
from likewise.cli.pairs import in_brief, table
from likewise.runs import quoted, repeated

WORDS = ["we", "walked", "down", "to", "the", "harbor", "and", "watched", "the", "boats", "come", "in", "from", "the", "sea"]  # 15


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """A book and an essay, which quotes all of it from character 6 on, as text files; and a file of two records with ids."""
    places = [tmp_path / "books" / "harbor.txt", tmp_path / "essays" / "essay.txt", tmp_path / "records.jsonl"]
    for place in places[:2]:
        place.parent.mkdir()
    places[0].write_text(" ".join(WORDS))
    places[1].write_text("Yes - " + " ".join(WORDS))
    places[2].write_text("".join(json.dumps({"id": name, "text": " ".join(WORDS)}) + "\n" for name in "ab"))
    return places


def lines(found: lw.Table, sides: dict[str, str]) -> list[str]:
    return [line.rstrip() for line in table(in_brief(found.to_arrow(), sides), colored=False).splitlines()]


def test_a_text_file_is_named_once_on_a_terminal(files: list[Path]) -> None:
    end = len(" ".join(WORDS))
    head, row = lines(lw.quotes(files[0].parent, files[1].parent), quoted.SIDES)
    assert head.split() == ["suspect", "suspect_place", "corpus", "corpus_place", "agreed", "similarity"]
    assert row.split() == ["essay.txt", f"6-{6 + end}", "harbor.txt", f"0-{end}", "15", "1.0000"]


def test_several_files_of_records_are_named_on_a_terminal(files: list[Path]) -> None:
    found = lw.repeats([files[0], files[2]], min_run=15)
    assert lines(found, repeated.SIDES)[0].split()[:4] == ["id", "source", "position", "place"]
    head, *rows = lines(lw.repeats(files[2], min_run=15), repeated.SIDES)
    assert head.split() == ["id", "place", "tokens", "passage", "times", "documents", "first"]
    assert [row.split()[0] for row in rows] == ["a", "b"]


def test_the_places_of_passages_are_shown_in_a_narrow_session(files: list[Path]) -> None:
    """Sources and positions come last where the ids are names of files, and the names of columns keep their ends."""
    head, names, row, more = repr(lw.quotes(files[0].parent, files[1].parent)).splitlines()
    assert head == "Quotes: 1 row, 12 columns"
    assert names.split() == ["suspect", "sus…tart", "sus…_end", "corpus", "cor…tart", "cor…_end", "agreed", "sim…rity"]
    assert row.split()[1:3] == ["6", str(6 + len(" ".join(WORDS)))]
    assert more == "... and 4 more columns: suspect_source, suspect_position, corpus_source, corpus_position"


def test_a_selection_without_places_is_shown(files: list[Path]) -> None:
    found = lw.quotes(files[0].parent, files[1].parent)
    assert repr(found[["agreed"]]).splitlines()[1:] == ["agreed", "    15"]
    assert repr(found[found["agreed"] > 15]).startswith("Quotes: 0 rows, 12 columns")
