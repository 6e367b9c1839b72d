"""Parts cut out of the texts of records: the text is what Python's slices give, and every other byte of the record stays."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather, ipc

import likewise as lw
from likewise.io.column_edits import edited
from likewise.io.inputs import Source, resolve
from likewise.io.splice import without
from likewise.records import Edits, Want

WANT = Want(located=True)
#: Characters of one to four bytes, those that JSON escapes and CSV doubles, and lone surrogates, which JSON alone holds.
CHARACTERS = ["a", "b", " ", "\n", "\r", "\r\n", "é", "ß", "東", "\u2028", "😀", '"', '""', "\\", "/", "\t", ",", "\x7f"]
LONE = ["\ud800", "\udfff"]


def texts(rng: random.Random, more: list[str], n: int = 60) -> list[str]:
    return ["".join(rng.choices(CHARACTERS + more, k=rng.choice([0, 1, 3, 40, 200]))) for _ in range(n)]


def parts(rng: random.Random, text: str) -> list[tuple[int, int]]:
    """Parts to cut, in characters: none, all, or some, which may touch each other or be empty."""
    if rng.random() < 0.3:
        return []
    places = sorted(rng.sample(range(len(text) + 1), k=min(len(text) + 1, 2 * rng.randint(0, 4)) // 2 * 2))
    return [(0, len(text))] if rng.random() < 0.1 else list(zip(places[0::2], places[1::2], strict=True))


def left(text: str, some: list[tuple[int, int]]) -> str:
    for begin, end in reversed(some):
        text = text[:begin] + text[end:]
    return text


def edits(rows: list[str], some: dict[int, list[tuple[int, int]]], want: Want = WANT) -> Edits:
    """The parts in bytes of the text."""
    size = [[len(rows[row][:at].encode("utf-8", "surrogatepass")) for at in part] for row, each in some.items() for part in each]
    begin, end = np.array(size, np.int64).reshape(-1, 2).T
    return Edits(want, np.array([row for row, each in some.items() for _ in each], np.int64), begin, end)


def rewrite(path: Path, out: Path, keep: np.ndarray, given: Edits) -> None:
    """Write the kept rows of a file without the parts."""
    [source] = resolve([path], want=given.want)
    start, length = places(source, given.want)
    assert len(start) == len(keep)
    source.format.write(source.path, out, keep, start, length, None, map_in_turn, given)


def map_in_turn(function: Callable[[Any], Any], values: Any, at_once: int = 1) -> Any:
    return map(function, values)


def places(source: Source, want: Want) -> tuple[np.ndarray, np.ndarray]:
    found = [source.parse(chunk, want) for chunk in source.chunks(want)]
    return tuple(np.concatenate([getattr(records, name) for records in found]) for name in ("start", "length"))


def escaped(rng: random.Random, text: str) -> str:
    """A JSON string in which each character may have an escape."""
    out = []
    for char in text:
        units = char.encode("utf-16-be", "surrogatepass")
        spelled = "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
        short = json.dumps(char, ensure_ascii=False)[1:-1]
        lone = "\ud800" <= char <= "\udfff"
        out.append(rng.choice([spelled, spelled.upper().replace("\\U", "\\u")]) if lone or rng.random() < 0.3 else short)
    return '"' + "".join(out) + '"'


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.json", "documents.json"])
def test_json(tmp_path: Path, name: str, seed: int) -> None:
    rng = random.Random(seed)
    spelled = [escaped(rng, text) for text in texts(rng, LONE)]
    rows = [json.loads(text) for text in spelled]  # two surrogates next to each other are one character
    before, behind = '{"x": {"text": "no"}, "n": 1.50, "te\\u0078t" :\t', ' , "tail":[1, {"text":"no"}],"y":"\\u00e9"}'
    records = [before + text + behind for text in spelled]
    if name == "a.json":
        whole = "[" + " ,\n".join(records) + "]\n"
    elif name == "documents.json":
        whole = "\n".join(record.replace('"n"', '\n"n"') for record in records)
    else:
        whole = "\r\n".join(records)
    path = tmp_path / name
    data = whole.encode()
    path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    some = {row: found for row, text in enumerate(rows) if (found := parts(rng, text))}
    keep = np.array([rng.random() < 0.8 for _ in rows])
    some = {row: found for row, found in some.items() if keep[row]}
    rewrite(path, tmp_path / "out", keep, edits(rows, some))
    raw = (tmp_path / "out").read_bytes()
    raw = gzip.decompress(raw) if name.endswith("gz") else raw
    written = raw.decode()
    if name == "a.json":
        found = json.loads(written)
    elif name == "documents.json":
        found, at = [], 0
        while at < len(written):
            value, at = json.JSONDecoder().raw_decode(written, at)
            found.append(value)
            at += len(written[at:]) - len(written[at:].lstrip())
    else:
        found = [json.loads(line) for line in written.split("\r\n") if line]
    expected = [left(rows[row], some.get(row, [])) for row in np.flatnonzero(keep)]
    assert [row["text"] for row in found] == [json.loads(json.dumps(text)) for text in expected]
    assert [row["n"] for row in found] == [1.5] * int(keep.sum())
    if name in ("a.jsonl", "a.jsonl.gz"):  # around the strings, and in those without parts to cut, all bytes are as they were
        lines = written.split("\r\n")
        for line, row in zip(lines, np.flatnonzero(keep), strict=False):
            assert line.startswith(before) and line.endswith(behind)
            if row not in some:
                assert line == records[row]


def test_what_stays_of_a_string_keeps_its_escapes(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(rb'{"text":"\u0041b\n\ud83d\ude00c\r\n\"d\/"}')
    rows = ['Ab\n😀c\r\n"d/']
    for cut, expected in {
        (0, 3): rb'{"text":"\ud83d\ude00c\r\n\"d\/"}',
        (3, 7): rb'{"text":"\u0041b\n\"d\/"}',
        (7, 10): rb'{"text":"\u0041b\n\ud83d\ude00c\r\n"}',
        (0, 10): rb'{"text":""}',
    }.items():
        rewrite(path, tmp_path / "out", np.ones(1, bool), edits(rows, {0: [cut]}))
        assert (tmp_path / "out").read_bytes() == expected


def test_a_list_inside_a_document(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'{"n":2,"data":[{"text":"one\\ntwo"},{"text":"three"}],"end":0}')
    want = Want(records="data", located=True)
    rewrite(path, tmp_path / "out", np.ones(2, bool), edits(["one\ntwo", "three"], {0: [(0, 4)]}, want))
    assert json.loads((tmp_path / "out").read_bytes()) == {"n": 2, "data": [{"text": "two"}, {"text": "three"}], "end": 0}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("separator", "end"), [(",", "\r\n"), ("\t", "\n"), (";", "\r")])
def test_csv(tmp_path: Path, separator: str, end: str, seed: int) -> None:
    rng = random.Random(seed)
    rows = [text.replace("\t", " ") for text in texts(rng, [])]

    def cell(text: str) -> str:
        plain = text and not set(text) & set('\r\n",;\t')
        return text if plain else '"' + text.replace('"', '""') + '"'

    before, behind = f'"q""{separator}"{separator}', f"{separator} tail"
    records = [before + cell(text) + behind + end for text in rows]
    path = tmp_path / ("a.tsv" if separator == "\t" else "a.csv")
    path.write_bytes((f"x{separator}text{separator}y{end}" + "".join(records)).encode())
    some = {row: found for row, text in enumerate(rows) if (found := parts(rng, text))}
    rewrite(path, tmp_path / "out", np.ones(len(rows), bool), edits(rows, some))
    written = (tmp_path / "out").read_bytes().decode()
    found = list(csv.reader(io.StringIO(written, newline=""), delimiter=separator))[1:]
    assert [row[1] for row in found] == [left(text, some.get(row, [])) for row, text in enumerate(rows)]
    assert {(row[0], row[2]) for row in found} == {(f'q"{separator}', " tail")}
    for row, record in enumerate(records):
        assert row in some or record in written


def test_cells_that_would_be_read_in_another_way(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"text\none\n")
    with pytest.raises(lw.DataError, match="an empty line is none"):
        rewrite(tmp_path / "a.csv", tmp_path / "out", np.ones(1, bool), edits(["one"], {0: [(0, 3)]}))
    (tmp_path / "a.csv").write_bytes(b'text,n\none "two",1\n')
    with pytest.raises(lw.DataError, match="begins with a quote"):
        rewrite(tmp_path / "a.csv", tmp_path / "out", np.ones(1, bool), edits(['one "two"'], {0: [(0, 4)]}))
    rewrite(tmp_path / "a.csv", tmp_path / "out", np.ones(1, bool), edits(['one "two"'], {0: [(0, 9)]}))
    assert (tmp_path / "out").read_bytes() == b"text,n\n,1\n"


@pytest.mark.parametrize("marked", [False, True])
def test_text_files(tmp_path: Path, marked: bool) -> None:
    (tmp_path / "in").mkdir()
    mark = b"\xef\xbb\xbf" * marked
    (tmp_path / "in" / "a.txt").write_bytes(mark + "é\r\ntwo\r\nthree".encode())
    (tmp_path / "in" / "b.txt").write_bytes(b"same")
    rows = ["é\r\ntwo\r\nthree", "same"]
    rewrite(tmp_path / "in", tmp_path / "out", np.ones(2, bool), edits(rows, {0: [(3, 8)]}))
    assert (tmp_path / "out" / "a.txt").read_bytes() == mark + "é\r\nthree".encode()
    assert (tmp_path / "out" / "b.txt").read_bytes() == b"same"


TYPES = [
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.binary(),
    pa.large_binary(),
    pa.binary_view(),
    pa.dictionary(pa.int16(), pa.string()),
    pa.json_(pa.string()),
]


def typed(rows: list[str | None], kind: pa.DataType) -> pa.Array:
    if isinstance(kind, pa.JsonType):
        return pa.ExtensionArray.from_storage(kind, pa.array([None if text is None else json.dumps(text) for text in rows], pa.string()))
    if any(test(kind) for test in (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view)):
        return pa.array([None if text is None else text.encode() for text in rows], pa.large_binary()).cast(kind)
    return pa.array(rows, pa.large_string()).cast(kind)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_arrow_columns(kind: pa.DataType, seed: int) -> None:
    rng = random.Random(seed)
    rows: list[Any] = texts(rng, [])
    rows[5] = None
    some = {row: found for row, text in enumerate(rows) if text is not None and (found := parts(rng, text))}
    given = edits(rows, some)
    expected = [None if text is None else left(text, some.get(row, [])) for row, text in enumerate(rows)]
    other = pa.array(range(len(rows) + 2))
    for padded in (0, 2):  # a slice has an offset into its buffers
        column = typed(["pad"] * padded + rows, kind)[padded:]
        batch = pa.record_batch({"n": other[: len(rows)], "text": column})
        made = edited(batch, given)
        assert made.schema == batch.schema and made.column(0).equals(batch.column(0))
        found = made.column(1).to_pylist()
        if isinstance(kind, pa.JsonType):
            found = [None if text is None else json.loads(text) for text in found]
        assert found == [text.encode() if text is not None and isinstance(found[0], bytes) else text for text in expected]
        made.validate(full=True)


def test_a_field_inside_structs() -> None:
    inner = pa.StructArray.from_arrays([pa.array(["one two", None, "x"]), pa.array([1, 2, 3])], names=["t", "n"])
    outer = pa.StructArray.from_arrays([inner, pa.array([True, False, None])], fields=[pa.field("in", inner.type), pa.field("b", pa.bool_())])
    outer = pa.StructArray.from_arrays([outer.field(0), outer.field(1)], fields=list(outer.type), mask=pa.array([False, False, True]))
    batch = pa.record_batch({"doc": outer})
    given = Edits(Want("doc.in.t", located=True), np.array([0]), np.array([0]), np.array([4]))
    made = edited(batch, given)
    assert made.schema == batch.schema
    assert made.to_pylist() == [{"doc": {"in": {"t": "two", "n": 1}, "b": True}}, {"doc": {"in": {"t": None, "n": 2}, "b": False}}, {"doc": None}]


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.arrows"])
def test_columnar_files(tmp_path: Path, name: str) -> None:
    rng = random.Random(1)
    rows = texts(rng, [], 500)
    table = pa.table({"n": range(500), "text": rows, "z": [{"a": [i]} for i in range(500)]}, metadata={"owner": "me"})
    if name == "a.parquet":
        pq.write_table(table, tmp_path / name, row_group_size=90, compression="zstd")
    elif name == "a.arrow":
        feather.write_feather(table, tmp_path / name, compression="lz4", chunksize=70)
    else:
        with ipc.new_stream(tmp_path / name, table.schema) as sink:
            sink.write_table(table, max_chunksize=70)
    some = {row: found for row, text in enumerate(rows) if (found := parts(rng, text))}
    keep = np.array([rng.random() < 0.8 for _ in rows])
    some = {row: found for row, found in some.items() if keep[row]}
    rewrite(tmp_path / name, tmp_path / "out", keep, edits(rows, some))
    read = {"a.parquet": pq.read_table, "a.arrow": feather.read_table, "a.arrows": lambda path: ipc.open_stream(path).read_all()}[name]
    found, table = read(tmp_path / "out"), read(tmp_path / name)
    assert found.schema.equals(table.schema, check_metadata=True)
    chosen = [int(row) for row in np.flatnonzero(keep)]
    assert found["text"].to_pylist() == [left(rows[row], some.get(row, [])) for row in chosen]
    assert found.drop_columns("text").equals(table.drop_columns("text").take(chosen))


def test_a_source_that_became_shorter_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "one two"}\n')
    [source] = resolve([path], want=WANT)
    start, length = places(source, WANT)
    path.write_text('{"text": "one"}    \n')
    given = edits(["one two"], {0: [(4, 7)]})
    with pytest.raises(lw.DataError, match="do not change inputs"):
        source.format.write(source.path, tmp_path / "out", np.ones(1, bool), start, length, None, map_in_turn, given)


def test_parts_that_touch() -> None:
    begin, end, opens = without(np.array([0, 4]), np.array([4, 9]), np.array([0, 2, 8]), np.array([2, 4, 9]))
    data = "abcdefghi"
    assert "".join(data[a:b] for a, b in zip(begin, end, strict=True)) == "efgh"
    assert opens.sum() == 2
