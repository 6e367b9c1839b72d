"""Separated values: what is read, against Python's csv; chunks; copies."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import DataError, UsageError
from likewise.io.formats import csv as format
from likewise.io.formats import lines as shared
from likewise.records import NO_TEXT, REJECTED, TEXT, Chunk, Records, Want


def all_records(path: Path, want: Want | None = None, start: int = 0) -> list[Records]:
    want = want or Want()
    return [format.parse(chunk, want, path.name) for chunk in format.chunks(path, want, start)]


def one(path: Path, raw: bytes, want: Want | None = None) -> Records:
    path.write_bytes(raw)
    (found,) = all_records(path, want)
    return found


def all_rows(path: Path, want: Want, start: int = 0) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for found in all_records(path, want, start):
        rows += zip(found.kind.tolist(), found.start.tolist(), found.length.tolist(), found.text.to_pylist(), found.id.to_pylist(), strict=True)
        rows += [(entry.reason, entry.raw) for entry in found.rejected]
    return sorted(rows, key=str)


def copy(path: Path, target: Path, keep: list[bool], add: pa.Table | None = None) -> bytes:
    found = all_records(path)
    start, length = (np.concatenate([np.zeros(0, np.int64), *(getattr(r, name) for r in found)]) for name in ("start", "length"))
    format.write(path, target, np.array(keep, bool), start, length, add)
    return target.read_bytes()


def test_a_spreadsheet_export(tmp_path: Path) -> None:
    """The byte-order mark is no part of the first name, the carriage return none of the last cell."""
    path = tmp_path / "export.csv"
    raw = '\ufeffid,text,city\r\n7,"one, ""two""\r\nthree",north\r\n8,,Größe\r\n,x,"south"'.encode()
    found = one(path, raw, Want(per="city", score="id"))
    assert found.kind.tolist() == [TEXT] * 3
    assert found.text.to_pylist() == [b'one, "two"\r\nthree', b"", b"x"]
    assert found.id.to_pylist() == [b'"7"', b'"8"', None]
    assert found.per.to_pylist() == [b'"north"', '"Größe"'.encode(), b'"south"']
    np.testing.assert_array_equal(found.score, [7, 8, np.nan])
    assert (found.fields, found.found) == (("id", "text", "city"), True)
    assert one(path, raw, Want(text="id")).text.to_pylist() == [b"7", b"8", b""]
    assert copy(path, tmp_path / "out", [True] * 3) == raw
    assert copy(path, tmp_path / "out", [False, True, False]) == "\ufeffid,text,city\r\n8,,Größe\r\n".encode()
    assert copy(path, tmp_path / "out", [False] * 3) == b"\xef\xbb\xbfid,text,city\r\n"


def test_ids_are_strings(tmp_path: Path) -> None:
    ids = ['"a""b"', "\\", "\x00", '"line\nend"', "\x1f", "é😀", "1.0", '""']
    found = one(tmp_path / "a.csv", "\n".join(["id,text", *(f"{cell},x" for cell in ids)]).encode())
    assert found.id.to_pylist() == [rb'"a\"b"', rb'"\\"', rb'"\u0000"', rb'"line\nend"', rb'"\u001f"', '"é😀"'.encode(), b'"1.0"', None]


def test_cells_as_scores(tmp_path: Path) -> None:
    cells = ["1", "-2.5e3", "", "x", " 4 ", '"6"']
    found = one(tmp_path / "a.csv", "\n".join(["text,s", *(f"t,{cell}" for cell in cells)]).encode(), Want(score="s"))
    np.testing.assert_array_equal(found.score, [1, -2500, np.nan, np.nan, 4, 6])
    assert found.id.null_count == 6


@pytest.mark.parametrize(
    ("name", "header", "columns"),
    [
        ("a.csv", "id,text", ("id", "text")),
        ("a.csv", "id;text;a,b", ("id", "text", "a,b")),
        ("a.csv", 'id|text|"a,b,c,d"', ("id", "text", "a,b,c,d")),
        ("a.csv", "id\ttext", ("id", "text")),
        ("a.tsv", "id,text,x\ttext", ("id,text,x", "text")),
        ("a.TSV.GZ", "id,text,x\ttext", ("id,text,x", "text")),
        ("a.csv", "text", ("text",)),
        ("a.csv", '\r\n\n"te""xt",id', ('te"xt', "id")),
        ("a.csv", '"two\nlines",id', ("two\nlines", "id")),
    ],
)
def test_columns_named_by_the_header(tmp_path: Path, name: str, header: str, columns: tuple[str, ...]) -> None:
    path = tmp_path / name
    raw = header.encode() + b"\n" + b"x\n" * 3
    if name.endswith("GZ"):
        import gzip

        raw = gzip.compress(raw)
    path.write_bytes(raw)
    assert all_records(path)[0].fields == columns


def test_missing_column(tmp_path: Path) -> None:
    found = one(tmp_path / "a.csv", b"id,Text\n1,a\n2,b\n", Want(text="text"))
    assert (found.found, found.fields, found.kind.tolist()) == (False, ("id", "Text"), [NO_TEXT, NO_TEXT])
    assert found.text.to_pylist() == [b"", b""]
    both = one(tmp_path / "a.csv", b"id,a,b\n1,x,y\n2,,z\n", Want(text="b+a"))
    assert both.text.to_pylist() == [b"y\n\nx", b"z\n\n"]
    assert not one(tmp_path / "a.csv", b"id,a\n1,x\n", Want(text="a+b")).found


def test_bad_records_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    raw = b'id,text\n1,"two\nlines"\n2\n3,a,b\r\n\n4,caf\xe9\n5,"a"b"\n6,good 5" disk\n'
    found = one(path, raw)
    assert found.kind.tolist() == [TEXT, REJECTED, REJECTED, REJECTED, REJECTED, TEXT]
    assert [entry.reason for entry in found.rejected] == [
        "line 4, column 1: the record has 1 cell, but the header has 2",
        "line 5, column 1: the record has 3 cells, but the header has 2",
        "line 7, column 6: this byte (0xe9) is not UTF-8",
        "line 8, column 6: the cell continues after its closing quote; write a quote inside a quoted cell twice",
    ]
    assert [entry.raw for entry in found.rejected] == [b"2", b"3,a,b", b"4,caf\xe9", b'5,"a"b"']
    assert found.text.to_pylist()[-1] == b'good 5" disk'
    assert copy(path, tmp_path / "out", [True, False, False, False, False, True]) == b'id,text\n1,"two\nlines"\n6,good 5" disk\n'


@pytest.mark.parametrize(
    ("raw", "error", "message"),
    [
        (b'id,text\r\n1,a\r\n2,"b\r\n3,c\r\n', DataError, "line 3, column 3: the quote opened here is never closed"),
        (b'id,text\r1,a\r2,"b\r3,c\r', DataError, "line 3, column 3"),
        (b'id,"text\n1,a\n', DataError, "line 1, column 4"),
        (b"id,text,text\n1,a,b\n", DataError, "the column 'text' 2 times"),
        (b"id,t\xe9xt\n1,a\n", DataError, "expected to be a header"),
        (b'id,"te"xt\n1,a\n', DataError, "expected to be a header"),
    ],
)
def test_damaged_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raw: bytes, error: type[Exception], message: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(raw)
    for size in (4, 1 << 20):
        monkeypatch.setattr(shared, "CHUNK_BYTES", size)
        with pytest.raises(error) as caught:
            all_records(path)
        assert "bad.csv" in str(caught.value)
        assert message in str(caught.value)


def test_tokens_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"text\n[1]\n")
    with pytest.raises(UsageError, match="cannot hold a list of token ids; convert"):
        all_records(tmp_path / "a.csv", Want(kind="tokens"))


@pytest.mark.parametrize(
    ("raw", "written"),
    [
        *((nothing, b"") for nothing in (b"", b"\r\n\n", b"\xef\xbb\xbf")),
        *((header, header) for header in (b"id,text", b"id,text\r\n", b"\xef\xbb\xbf\nid,text\r")),
        (b"id,text\n\n\r\n", b"id,text\n"),
    ],
)
def test_no_records(tmp_path: Path, raw: bytes, written: bytes) -> None:
    """An empty file stays one; a header stays."""
    path = tmp_path / "a.csv"
    path.write_bytes(raw)
    assert sum(len(found) for found in all_records(path)) == 0
    assert copy(path, tmp_path / "out", []) == written


cells = st.text(st.sampled_from('a,"\n\r é'), max_size=5)
marks = st.sampled_from([",", "\n", "\r\n", '"', '""', "\r", 'x,"y\nz"', "long text without anything in it"])
bodies = st.lists(cells | marks, max_size=20).map("".join)


@settings(max_examples=400, deadline=None)
@given(bodies)
def test_reads_what_csv_reads(tmp_path_factory: pytest.TempPathFactory, body: str) -> None:
    path = tmp_path_factory.getbasetemp() / "drawn.csv"
    path.write_bytes(b"id,text\n" + body.encode())
    try:
        expected = [row for row in csv.reader(io.StringIO(body, newline=""), strict=True) if row]
    except csv.Error:
        try:
            found = all_records(path)
        except DataError:
            return
        assert any("after its closing quote" in entry.reason for records in found for entry in records.rejected)
        return
    found = all_records(path)
    assert sum(map(len, found)) == len(expected)
    if expected:
        assert found[0].kind.tolist() == [TEXT if len(row) == 2 else REJECTED for row in expected]
        assert found[0].text.to_pylist() == [row[1].encode() if len(row) == 2 else b"" for row in expected]
        ids = [value and value.decode() for value in found[0].id.to_pylist()]
        assert ids == [pa_json(row[0]) if len(row) == 2 and row[0] else None for row in expected]


def pa_json(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r") + '"'


@settings(max_examples=150, deadline=None)
@given(bodies, st.sampled_from(["", "\ufeff"]), st.sampled_from(["\n", "\r\n", "\r", "\n\n"]), st.integers(1, 40), st.data())
def test_chunks_resume_and_copy(tmp_path_factory: pytest.TempPathFactory, body: str, mark: str, end: str, size: int, data: st.DataObject) -> None:
    """The rows do not depend on the chunk size; a run from any chunk's end sees the rest; copies are the records' bytes."""
    folder = tmp_path_factory.mktemp("chunks")
    path = folder / "a.csv"
    raw = (mark + "id,text" + end + body).encode()
    path.write_bytes(raw)
    try:
        whole = all_rows(path, Want())
    except DataError:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared, "CHUNK_BYTES", size)
        patch.setattr(shared, "BLOCK_BYTES", 16)
        patch.setattr(format, "HEADER_BYTES", 3)
        assert all_rows(path, Want()) == whole
        chunks: list[Chunk] = list(format.chunks(path, Want()))
        for number, chunk in enumerate(chunks):
            rest = list(format.chunks(path, Want(), chunk.start + len(chunk.data)))
            assert [(c.start, c.data.tobytes()) for c in rest] == [(c.start, c.data.tobytes()) for c in chunks[number + 1 :]]
            reasons = [entry.reason for c in chunks[number + 1 :] for entry in format.parse(c, Want(), "x").rejected]
            assert [entry.reason for c in rest for entry in format.parse(c, Want(), "x").rejected] == reasons
        rows = sorted((row[1], row[1] + row[2]) for row in whole if isinstance(row[0], int))
        keep = [data.draw(st.booleans()) for _ in rows]
        kept = b"".join(raw[a:b] for (a, b), k in zip(rows, keep, strict=True) if k)
        header_end = "\n" if end == "\n\n" else "\r\n" if end == "\r" and body.startswith("\n") else end
        assert copy(path, folder / "out", keep) == (mark + "id,text" + header_end).encode() + kept


def test_annotate(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'\xef\xbb\xbfid;text\r\n1;"a\r\n"\r\n2;b\n3;c')
    add = pa.table({"cluster": pa.array([5, None]), "a;b": ['x "y"', "z"], "s": [0.5, float("nan")], "kept": [True, False]})
    assert copy(path, tmp_path / "out", [True, False, True], add).decode() == (
        '\ufeffid;text;cluster;"a;b";s;kept\r\n1;"a\r\n";5;"x ""y""";0.5;true\r\n3;c;;z;;false'
    )
    with pytest.raises(UsageError, match="already has the column 'id'"):
        copy(path, tmp_path / "out", [True, False, False], pa.table({"id": [1]}))
