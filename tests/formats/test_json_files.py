"""Files of JSON lines and JSON arrays: bad records and damage, chunks, and copies with and without more fields."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.errors import DataError, UsageError
from likewise.io.formats import json_array, jsonl
from likewise.io.formats import lines as shared
from likewise.records import NO_TEXT, REJECTED, TEXT, Chunk, Want

FORMATS = {"jsonl": jsonl, "array": json_array}


def all_chunks(path: Path, format: ModuleType, start: int = 0) -> list[Chunk]:
    return list(format.chunks(path, Want(), start))


def all_rows(path: Path, format: ModuleType = jsonl, start: int = 0) -> list[tuple[Any, ...]]:
    """Every row of a file: (kind, start, length, text, id), and the reasons of those that were rejected."""
    rows: list[tuple[Any, ...]] = []
    for chunk in format.chunks(path, Want(), start):
        found = format.parse(chunk, Want(), path.name)
        rows += zip(found.kind.tolist(), found.start.tolist(), found.length.tolist(), found.text.to_pylist(), found.id.to_pylist(), strict=True)
        rows += [(entry.reason, entry.raw) for entry in found.rejected]
    return sorted(rows, key=str)


def copy(path: Path, target: Path, format: ModuleType, keep: list[bool], add: pa.Table | None = None) -> bytes:
    rows = [format.parse(chunk, Want(), "x") for chunk in format.chunks(path, Want())]
    start, length = (np.concatenate([np.zeros(0, np.int64), *(getattr(r, name) for r in rows)]) for name in ("start", "length"))
    format.write(path, target, np.array(keep, bool), start, length, add)
    return target.read_bytes()


def test_bad_lines_are_named_and_cost_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "scrape.jsonl"
    bad = b'{"id":2,"text":"caf\xe9"}\r\n{"id":3,"text":"cut \xe2\x82"}\n{"id":4,"text":NaN}\n'
    path.write_bytes(b'{"id":1,"text":"good"}\n\n' + bad + b'{"id":5,"text":"good"}')
    (chunk,) = all_chunks(path, jsonl)
    found = jsonl.parse(chunk, Want(), "scrape.jsonl")
    assert found.kind.tolist() == [TEXT, REJECTED, REJECTED, REJECTED, TEXT]
    assert [entry.reason for entry in found.rejected] == [
        "line 3, column 20 (0xe9): this byte is not UTF-8",
        "line 4, column 21 (0xe2): this byte is not UTF-8",
        "line 5, column 16 (0x4e): a number, true, false or null is misspelled here (NaN and Infinity are not JSON)",
    ]
    assert (found.rejected[0].row, found.rejected[0].raw) == (1, b'{"id":2,"text":"caf\xe9"}')
    assert found.id.to_pylist() == [b"1", None, None, None, b"5"]
    assert copy(path, tmp_path / "out", jsonl, [True, False, False, False, True]) == b'{"id":1,"text":"good"}\n{"id":5,"text":"good"}'


@pytest.mark.parametrize("raw", [b"", b"\n  \n\t\r\n", b"\xef\xbb\xbf"])
def test_nothing_is_no_record(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "none.jsonl"
    path.write_bytes(raw)
    assert all_rows(path) == []
    assert copy(path, tmp_path / "out", jsonl, []) == b""


def test_mixed_records(tmp_path: Path) -> None:
    """Ids of two types, a further field, another order; texts that are null, absent, a number, a list."""
    path = tmp_path / "mixed.jsonl"
    first = b'\xef\xbb\xbf{"id":1,"text":"a"}\r\n{"text":"b","id":"1","n":{"text":"no"}}\r\n'
    path.write_bytes(first + b'{"id":2,"text":null}\n{"id":3}\n{"id":4,"text":5}\n{"id":5,"text":["a"]}')
    (chunk,) = all_chunks(path, jsonl)
    found = jsonl.parse(chunk, Want(), "x")
    assert found.kind.tolist() == [TEXT, TEXT, NO_TEXT, NO_TEXT, NO_TEXT, NO_TEXT]
    assert found.id.to_pylist() == [b"1", b'"1"', b"2", b"3", b"4", b"5"]
    assert found.start[0] == 3
    assert copy(path, tmp_path / "out", jsonl, [True] * 6) == path.read_bytes()
    assert copy(path, tmp_path / "out", jsonl, [False, True, False, True, False, False]).splitlines(keepends=True) == [
        b'\xef\xbb\xbf{"text":"b","id":"1","n":{"text":"no"}}\r\n',
        b'{"id":3}\n',
    ]


@pytest.mark.parametrize("encoding", ["UTF-16", "UTF-16LE", "UTF-16BE", "UTF-32", "UTF-32LE", "UTF-32BE"])
@pytest.mark.parametrize("format", FORMATS)
def test_other_encodings_are_named(tmp_path: Path, format: str, encoding: str) -> None:
    path = tmp_path / "wide"
    path.write_bytes('[{"text":"a"}]\n'.encode(encoding))
    with pytest.raises(DataError, match=f"the first bytes are {encoding}; convert it: iconv -f {encoding} "):
        all_chunks(path, FORMATS[format])


OBJECTS = [b'{"id":1,"text":"a,]}[{ \\" \\\\"}', b'{"text":"\\u00e9"}', b'{"a":\n1 , "text" :"longer than the chunks are"}']
ELEMENT = st.sampled_from([*OBJECTS, b"[1,[2],{}]", b"7", b'"s"', b"NaN", b'"\xff"'])


@st.composite
def files(draw: st.DrawFn) -> tuple[str, bytes]:
    """(format, content of a file)"""
    format = draw(st.sampled_from(list(FORMATS)))
    parts = draw(st.lists(ELEMENT, max_size=12))
    if format == "jsonl":
        ends = [draw(st.sampled_from([b"\n", b"\r\n", b"\n\n", b" \n \n"])) for _ in parts]
        raw = b"".join(part.replace(b"\n", b" ") + end for part, end in zip(parts, ends, strict=True))
        raw = raw if draw(st.booleans()) else raw.rstrip()
    else:
        opening, comma, closing = ([b"[", b"\n [\n "], [b",", b",\n", b" , "], [b"]", b"\n]\n"])
        raw = draw(st.sampled_from(opening)) + draw(st.sampled_from(comma)).join(parts) + draw(st.sampled_from(closing))
    return format, draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + raw


@settings(max_examples=150, deadline=None)
@given(files(), st.integers(1, 40), st.data())
def test_chunks_resume_and_copy(tmp_path_factory: pytest.TempPathFactory, file: tuple[str, bytes], size: int, data: st.DataObject) -> None:
    """The rows do not depend on the chunk size; a run from any chunk's end sees the rest; copies are the records' bytes."""
    folder = tmp_path_factory.mktemp("chunks")
    name, raw = file
    format, path = FORMATS[name], folder / name
    path.write_bytes(raw)
    whole = all_rows(path, format)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared, "CHUNK_BYTES", size)
        patch.setattr(shared, "BLOCK_BYTES", 16)
        assert all_rows(path, format) == whole
        chunks = all_chunks(path, format)
        for number, chunk in enumerate(chunks):
            rest = all_chunks(path, format, chunk.start + len(chunk.data))
            assert [(c.start, c.data.tobytes()) for c in rest] == [(c.start, c.data.tobytes()) for c in chunks[number + 1 :]]
            reasons = [entry.reason for c in chunks[number + 1 :] for entry in format.parse(c, Want(), "x").rejected]
            assert [entry.reason for c in rest for entry in format.parse(c, Want(), "x").rejected] == reasons
        rows = [row for row in whole if isinstance(row[0], int)]
        keep = [data.draw(st.booleans()) for _ in rows]
        spans = sorted((start, start + length) for _, start, length, _, _ in rows)
        kept = [raw[a:b] for (a, b), k in zip(spans, keep, strict=True) if k]
        mark = raw[: 3 if raw.startswith(b"\xef") and kept else 0]
        expected = mark + b"".join(kept) if name == "jsonl" else mark + b"[\n" + b",\n".join(kept) + b"\n]\n" if kept else b"[]\n"
        assert copy(path, folder / "out", format, keep) == expected


def test_array_elements(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b' [ {"id":1,"text":"a"} ,\n  {"id":2,"text":NaN}, , {"id":3,\n"text": "b\xff"},{"id":4,"text":"]"}\n ,] \n')
    (chunk,) = all_chunks(path, json_array)
    found = json_array.parse(chunk, Want(), "x")
    assert found.kind.tolist() == [TEXT, REJECTED, REJECTED, REJECTED, TEXT, REJECTED]
    assert [entry.reason for entry in found.rejected] == [
        "line 2, column 18 (0x4e): a number, true, false or null is misspelled here (NaN and Infinity are not JSON)",
        "line 2, column 24: a value is expected here",
        "line 3, column 11 (0xff): this byte is not UTF-8",
        "line 4, column 3: a value is expected here",
    ]
    assert copy(path, tmp_path / "out", json_array, [True, False, False, False, True, False]) == b'[\n{"id":1,"text":"a"},\n{"id":4,"text":"]"}\n]\n'
    assert copy(path, tmp_path / "out", json_array, [False] * 6) == b"[]\n"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b'[{"a":1},\n{"a":2}', "line 2, column 8: the file ends before the array's closing bracket"),
        (b'[{"a":"b', "line 1, column 2: the record that begins here is not valid JSON"),
        (b'[{"a":1},\n {"a":[{"a":2},\n{"a":3}]', "line 2, column 2: the record that begins here is not valid JSON"),
        (b"[1,2,", "line 1, column 6: the file ends before"),
        (b"[", "line 1, column 2: the file ends before"),
        (b"[1]\n[2]\n", "line 2, column 1: the array ended before this; if each line is a record, name the file .jsonl"),
        (b"[1] x", "line 1, column 5: the array ended"),
        (b'[1,\n{"a":1}}]', "line 2, column 8: unmatched closing brace"),
        (b'\n{"a":1}', "line 2, column 1: expected the opening bracket of a JSON array, not {;"),
        (b" ", "not nothing"),
    ],
)
def test_damaged_arrays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raw: bytes, message: str) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(raw)
    for size in (8, 1 << 20):
        monkeypatch.setattr(shared, "CHUNK_BYTES", size)
        with pytest.raises(DataError) as caught:
            all_rows(path, json_array)
        assert "broken.json" in str(caught.value)
        assert message in str(caught.value)


def test_resumed_array_still_sees_that_it_was_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "cut.json"
    path.write_bytes(b"[1,2,3,")
    with pytest.raises(DataError, match="ends before"):
        all_chunks(path, json_array, 7)


def test_annotate(tmp_path: Path) -> None:
    add = pa.table({"cluster": pa.array([5, None, 7, 8]), 'why "so"': ["é\n", None, "b", "c"], "s": [0.5, float("nan"), 1.0, 2.0]})
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"id":1} \r\n{"id":2}\n{ }\n[1]\n{"drop":1}\n')
    assert copy(path, tmp_path / "out", jsonl, [True, False, True, True, False], add.slice(0, 3)) == (
        '{"id":1,"cluster":5,"why \\"so\\"":"é\\n","s":0.5} \r\n{ "cluster":null,"why \\"so\\"":null,"s":null}\n[1]\n'.encode()
    )
    path.write_bytes(b'[{"id":1},2,\n{"id" : 3 }]')
    out = copy(path, tmp_path / "out", json_array, [True, False, True], add.slice(2, 2).select(["cluster"]))
    assert out == b'[\n{"id":1,"cluster":7},\n{"id" : 3 ,"cluster":8}\n]\n'
    path.write_bytes(b'{"x":"cluster"}\n{"cluster":1}\n')
    with pytest.raises(UsageError, match="already has the field 'cluster'"):
        copy(path, tmp_path / "out", jsonl, [True, True], add.slice(0, 2))


def test_a_file_that_shrank(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"id":1}\n')
    for add in (None, pa.table({"c": [1]})):
        with pytest.raises(DataError, match="shorter than when it was first read"):
            jsonl.write(path, tmp_path / "out", np.array([True]), np.array([4]), np.array([9]), add)


def test_a_record_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "CHUNK_BYTES", 16)
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"1\n" + b"x" * 200 + b"\n2\n")
    want = Want(most=64)
    read = [jsonl.parse(chunk, want, "a.jsonl") for chunk in jsonl.chunks(path, want, 0)]
    assert [(kind, start, length) for rows in read for kind, start, length in zip(rows.kind, rows.start, rows.length, strict=True)] == [
        (NO_TEXT, 0, 2),
        (REJECTED, 2, 201),
        (NO_TEXT, 203, 2),
    ]
    (refused,) = [entry.reason for rows in read for entry in rows.rejected]
    assert "line 2" in refused and "--max-record" in refused
    path.write_bytes(b"[" + b"1" * 200 + b"]")
    with pytest.raises(DataError, match="begins at byte 1 is longer than max_record="):
        list(json_array.chunks(path, want, 0))


def large() -> Iterator[bytes]:
    for i in range(2000):
        yield json.dumps({"id": i, "text": "é" * (i % 50) + "x" * (i % 700)}, ensure_ascii=i % 2 == 0).encode() + b"\n"


def test_seek_and_lines_after_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a seek the number of a line is counted when a message needs it."""
    monkeypatch.setattr(shared, "CHUNK_BYTES", 1 << 12)
    path = tmp_path / "a.jsonl"
    lines = list(large())
    lines[1990] = b"oops\n"
    path.write_bytes(b"".join(lines))
    chunks = all_chunks(path, jsonl)
    (last,) = all_chunks(path, jsonl, chunks[-1].start)
    assert last.line == 0
    assert last.data.tobytes() == chunks[-1].data.tobytes()
    bad = [entry.reason for chunk in all_chunks(path, jsonl, chunks[3].start) for entry in jsonl.parse(chunk, Want(), "x").rejected]
    assert bad == ["line 1991, column 1 (0x6f): a number, true, false or null is misspelled here (NaN and Infinity are not JSON)"]


def test_annotate_names_positions_where_no_row_has_an_id(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "one two"}\n{"text": "three"}\n{"text": "one two"}\n')
    lw.dedup(tmp_path / "a.jsonl", out=tmp_path / "out", output="annotate")
    rows = [json.loads(line) for line in (tmp_path / "out/annotated/a.jsonl").read_text().splitlines()]
    assert [(row["likewise_cluster"], row["likewise_kept_id"]) for row in rows] == [(0, None), (None, None), (0, 0)]


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_records_with_nan_and_wrong_escapes_are_copied_as_they_are(tmp_path: Path, name: str) -> None:
    """Nobody reads their other fields; with --keep max:score somebody does."""
    rows = [rb'{"text": "one two", "score": NaN, "path": "C:\x"}', rb'{"text": "three", "score": -Infinity}', rb'{"text": "one two", "score": 1}']
    raw = b"\n".join(rows) if name == "a.jsonl" else b"[" + b",".join(rows) + b"]"
    (tmp_path / name).write_bytes(raw)
    report = lw.dedup(tmp_path / name, out=tmp_path / "out").report
    assert (report["counts"]["kept"], report["counts"]["rejected"]) == (2, 0)
    assert [row in (tmp_path / "out/kept" / name).read_bytes() for row in rows] == [True, True, False]
    lw.dedup(tmp_path / name, out=tmp_path / "all", output="annotate")
    assert b'"score": NaN, "path": "C:\\x","likewise_' in (tmp_path / "all/annotated" / name).read_bytes()
    with pytest.raises(DataError, match="column 30 .* misspelled" if name == "a.jsonl" else "column 31 .* misspelled"):
        lw.dedup(tmp_path / name, keep="max:score")
    with pytest.raises(DataError, match="fields seen: text, score, path"):
        lw.pairs(tmp_path / name, field="body")
