"""JSON documents that follow each other without line ends, or that go over lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.errors import DataError
from likewise.io.formats import jsonl
from likewise.io.formats import lines as shared
from likewise.records import TEXT, Want

ROWS = [{"id": 1, "text": "one two, [three]"}, {"id": 2, "text": '}{ " \\'}, {"id": 3, "text": "one two, [three]", "more": {"deep": [1, [2]]}}]
FORMS: dict[str, Any] = {
    "pretty": "\n".join(json.dumps(row, indent=2) for row in ROWS),
    "pretty with blank lines": "\n\n".join(json.dumps(row, indent=1) for row in ROWS) + "\n\n",
    "concatenated": "".join(json.dumps(row) for row in ROWS),
    "with spaces": " ".join(json.dumps(row) for row in ROWS) + " ",
    "in a line and then lines": json.dumps(ROWS[0]) + json.dumps(ROWS[1]) + "\n" + json.dumps(ROWS[2]) + "\n",
    "lines": "\n".join(json.dumps(row) for row in ROWS),
}


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
@pytest.mark.parametrize("form", FORMS)
def test_documents_are_read_and_copied(tmp_path: Path, form: str, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    for mark in ("", "\ufeff"):
        path.write_text(mark + FORMS[form])
        removal = lw.dedup(path, out=tmp_path / "out", by="words:1", overwrite=True)
        assert [row["id"] for row in removal.removed.to_arrow().to_pylist()] == [3]
        kept = (tmp_path / "out/kept" / path.name).read_text()
        assert (mark + FORMS[form]).startswith(kept.rstrip("\n"))
        assert lw.dedup(tmp_path / "out/kept" / path.name, by="words:1").report["counts"]["read"] == 2


def rows(path: Path, start: int = 0) -> list[tuple[int, int, bytes | None]]:
    found = []
    for chunk in jsonl.chunks(path, Want(), start):
        records = jsonl.parse(chunk, Want(), "x")
        texts = [text if kind == TEXT else None for kind, text in zip(records.kind.tolist(), records.text.to_pylist(), strict=True)]
        found += zip(records.start.tolist(), records.length.tolist(), texts, strict=True)
    return found


values = st.recursive(st.none() | st.integers() | st.text(max_size=9), lambda inner: st.lists(inner, max_size=3), max_leaves=5)
ends = st.sampled_from(["", " ", "\n", "\r\n\n", "\t"])


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.dictionaries(st.sampled_from(["text", "a"]), values), st.booleans(), ends), min_size=1, max_size=6), st.integers(1, 40))
def test_chunks_and_resumes(tmp_path_factory: pytest.TempPathFactory, given_rows: list[Any], size: int) -> None:
    """As Python's decoder reads them; the rows do not depend on the size of chunks, and a run from any chunk's end sees the rest."""
    path = tmp_path_factory.mktemp("documents") / "a.json"
    raw = "{}\n\n[\n]" + "".join(json.dumps(row, indent=2 if pretty else None) + end for row, pretty, end in given_rows)
    raw = "[\n]" + raw[2:]
    path.write_text(raw, newline="")
    texts = [row.get("text") for row, _, _ in given_rows]
    whole = rows(path)
    assert [text for *_, text in whole] == [None, None, *(text.encode() if isinstance(text, str) else None for text in texts)]
    assert sum(length for _, length, _ in whole) == len(raw.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared, "CHUNK_BYTES", size)
        assert rows(path) == whole
        for chunk in jsonl.chunks(path, Want()):
            at = chunk.start + len(chunk.data)
            assert rows(path, at) == [row for row in whole if row[0] >= at]


def test_damage_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{\n "text": "one two"\n}\n{\n "text": oops\n}\n{\n "text": "three"\n}')
    with pytest.raises(DataError, match="line 5, column 10"):
        lw.dedup(path)
    counts = lw.dedup(path, on_error="skip").report["counts"]
    assert (counts["kept"], counts["rejected"]) == (2, 1)
    path.write_text('{\n "text": "one two"\n}\n{\n "text": "cut')
    with pytest.raises(DataError, match="line 4, column 1: the JSON document that begins here is never closed"):
        lw.dedup(path)
    assert lw.dedup(path, on_error="skip").report["counts"]["kept"] == 1


@pytest.mark.parametrize("first", ['{"text": "cut', '{"text": ["cut"', '{"text": "a"} x', "nope", '{"text": "a"}}'])
def test_lines_with_a_damaged_first_one_stay_lines(tmp_path: Path, first: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(first + '\n{"text": "one"}\n{"text": "two"}\n')
    counts = lw.dedup(path, on_error="skip").report["counts"]
    assert (counts["kept"], counts["rejected"]) == (2, 1)
