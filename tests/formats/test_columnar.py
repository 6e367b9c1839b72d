"""Parquet, Arrow, text files and Python data as rows, and back."""

from __future__ import annotations

import datetime as dt
import json
import math
import uuid
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

from columnar_rows import SUFFIXES, WANT, kept, module_of, of_table, rows, save, text_of
from likewise.errors import DataError
from likewise.io import batches
from likewise.io.formats import arrow, memory, parquet
from likewise.records import NO_TEXT, REJECTED, TEXT, Want

# ---------------------------------------------------------------------------------------------------------------- text

STRINGS = ["a b", None, "", "naïve 日本"]
BYTES = [b"a b", None, b"", "naïve 日本".encode()]


@pytest.mark.parametrize(
    "column",
    [
        pa.array(STRINGS, pa.string()),
        pa.array(STRINGS, pa.large_string()),
        pa.array(STRINGS, pa.string_view()),
        pa.array(BYTES, pa.binary()),
        pa.array(BYTES, pa.large_binary()),
        pa.array(BYTES, pa.binary_view()),
        pa.array(STRINGS).dictionary_encode(),
        pa.array(STRINGS, pa.large_string()).dictionary_encode(),
        pc.run_end_encode(pa.array(STRINGS)),
        pa.array(["not seen", *STRINGS, "nor this"]).slice(1, 4),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3], pa.int8()), pa.array(["a b", None, "", "naïve 日本"])),
    ],
    ids=lambda column: str(column.type)[:40],
)
def test_one_text_column_however_it_is_stored(column) -> None:
    assert text_of(column) == ([TEXT, NO_TEXT, TEXT, TEXT], [b"a b", b"", b"", "naïve 日本".encode()])


@pytest.mark.parametrize(
    "column",
    [
        pa.nulls(2),
        pa.array([1, 2]),
        pa.array([["a"], ["b"]]),
        pa.array([{"a": "x"}, None]),
        pa.array([dt.date(2024, 1, 1)] * 2),
        pa.array([True, None]),
    ],
)
def test_what_is_no_text_is_an_empty_item(column) -> None:
    records = of_table(pa.table({"text": column}))
    assert records.kind.tolist() == [NO_TEXT, NO_TEXT]
    assert records.text.to_pylist() == [b"", b""]
    assert records.found  # the field exists, but its values are not texts


def test_four_shards_with_one_text_column_of_four_types(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [100, 101], "text": pa.nulls(2)}), tmp_path / "s0.parquet")
    pq.write_table(pa.table({"id": [1, 2, 3], "text": ["one", "two", "three"]}), tmp_path / "s1.parquet", row_group_size=1)
    pq.write_table(pa.table({"text": pa.array(["four", "five"], pa.large_string()), "id": [4, 5]}), tmp_path / "s2.parquet")
    pq.write_table(pa.table({"id": [6, 7], "text": pa.array(["six", None]).dictionary_encode()}), tmp_path / "s3.parquet")
    got = [rows(parquet, tmp_path / f"s{i}.parquet") for i in range(4)]
    assert [kinds for kinds, _, _ in got] == [[NO_TEXT] * 2, [TEXT] * 3, [TEXT] * 2, [TEXT, NO_TEXT]]
    assert [text for _, texts, _ in got for text in texts if text] == [b"one", b"two", b"three", b"four", b"five", b"six"]
    assert [int(i) for _, _, ids in got for i in ids] == [100, 101, 1, 2, 3, 4, 5, 6, 7]


def test_a_field_inside_structs_and_the_literal_name_before_the_path() -> None:
    inner = pa.array([{"body": "in one"}, None, {"body": None}])
    want = Want("doc.body")
    assert of_table(pa.table({"doc": inner}), want).text.to_pylist() == [b"in one", b"", b""]
    assert of_table(pa.table({"doc": inner}), want).kind.tolist() == [TEXT, NO_TEXT, NO_TEXT]
    both = pa.table({"doc": inner, "doc.body": ["x", "y", "z"]})
    assert of_table(both, want).text.to_pylist() == [b"x", b"y", b"z"]
    deep = pa.table({"a": [{"b": {"c": "down here"}}]})
    assert of_table(deep, Want("a.b.c")).text.to_pylist() == [b"down here"]
    assert not of_table(deep, Want("a.b.d")).found
    twice = pa.StructArray.from_arrays([pa.array(["first"]), pa.array(["second"])], ["b", "b"])
    for table, says in ((pa.table([twice, twice], ["a", "a"]), "column 'a' 2 times"), (pa.table([twice], ["a"]), "field 'b' 2 times")):
        with pytest.raises(DataError, match=says):
            of_table(table, Want("a.b"))
    assert not of_table(deep, Want("a.b.c.d")).found


def test_only_the_wanted_leaf_is_read_and_nested_equals_flat(tmp_path: Path) -> None:
    table = pa.table({"id": [1, 2], "doc": [{"title": "t", "body": "b1"}, {"title": "u", "body": None}]})
    pq.write_table(table, tmp_path / "a.parquet")
    with ipc.new_file(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table)
    (chunk,) = parquet.chunks(tmp_path / "a.parquet", Want("doc.body"))
    assert sorted(chunk.data.schema.names) == ["doc", "id"]
    assert [field.name for field in chunk.data.schema.field("doc").type] == ["body"]
    for module, name in ((parquet, "a.parquet"), (arrow, "a.arrow")):
        assert rows(module, tmp_path / name, Want("doc.body")) == ([TEXT, NO_TEXT], [b"b1", b""], [b"1", b"2"])


def test_several_fields_are_joined_and_what_is_no_text_left_out() -> None:
    table = pa.table({"a": ["1", None, "3", None, "5"], "b": [10, 20, 30, 40, 50], "c": ["x", "y", None, None, ""]})
    records = of_table(table, Want("a+b+c"))
    assert records.text.to_pylist() == [b"1\n\nx", b"y", b"3", b"", b"5\n\n"]
    assert records.kind.tolist() == [TEXT, TEXT, TEXT, NO_TEXT, TEXT]


def test_a_missing_field_is_reported_with_the_names_that_are_there(tmp_path: Path) -> None:
    table = pa.table({"id": [1], "text": ["x"], "lang": ["en"]})
    pq.write_table(table, tmp_path / "a.parquet")
    for wanted in ("content", "Text", "text+body"):
        (chunk,) = parquet.chunks(tmp_path / "a.parquet", Want(wanted))
        records = parquet.parse(chunk, Want(wanted), "a.parquet")
        assert not records.found
        assert records.fields == ("id", "text", "lang")
        assert records.kind.tolist() == [TEXT if wanted == "text+body" else NO_TEXT]


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".arrows"])
def test_rows_without_any_wanted_column_are_rows(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    save(pa.table({"lang": ["en"] * 3, "n": [1, 2, 3]}), path)
    assert rows(module_of(path), path) == ([NO_TEXT] * 3, [b""] * 3, [None] * 3)
    assert all(chunk.data.num_columns <= 1 for chunk in module_of(path).chunks(path, WANT))


def test_what_is_not_utf8_is_rejected_with_its_place_and_bytes() -> None:
    broken = pa.array([b"good", b"bad\xff", None, b"\xc3"], pa.binary())
    for column in (broken, broken.view(pa.string()), pa.DictionaryArray.from_arrays([0, 1, 2, 3], broken.view(pa.string()))):
        records = of_table(pa.table({"text": column}))
        assert records.kind.tolist() == [TEXT, REJECTED, NO_TEXT, REJECTED]
        assert records.text.to_pylist() == [b"good", b"", b"", b""]
        assert [(entry.row, entry.raw) for entry in records.rejected] == [(1, b"bad\xff"), (3, b"\xc3")]
        assert records.rejected[0].reason == "position 1 (rows count from 0): column 'text' is not UTF-8 at its byte 3 (0xff)"


def test_lone_surrogates_and_nul_are_text() -> None:
    raw = "a\ud800b".encode("utf-8", "surrogatepass")
    assert text_of(pa.array([raw, b"\0x\0"], pa.binary())) == ([TEXT, TEXT], [raw, b"\0x\0"])


def test_text_under_a_null_is_not_text() -> None:
    hidden = pa.Array.from_buffers(pa.string(), 2, [pa.array([True, False]).buffers()[1], *pa.array(["a", "secret"]).buffers()[1:]])
    assert text_of(hidden) == ([TEXT, NO_TEXT], [b"a", b""])


# -------------------------------------------------------------------------------------------------------------- tokens


def as_tokens(column) -> tuple[list[int], list[list[int]]]:
    kinds, texts = text_of(column, Want(kind="tokens"))
    return kinds, [np.frombuffer(text, "<i8").tolist() for text in texts]


@pytest.mark.parametrize("item", [pa.int64(), pa.int32(), pa.uint16(), pa.int8()], ids=str)
@pytest.mark.parametrize("kind", [pa.list_, pa.large_list, pa.list_view])
def test_token_lists(kind, item) -> None:
    column = pa.array([[9], [1, 2, 3], None, [], [4, None], [5]], kind(item)).slice(1)
    assert as_tokens(column) == ([TEXT, NO_TEXT, TEXT, NO_TEXT, TEXT], [[1, 2, 3], [], [], [], [5]])


def test_token_lists_cost_no_copy_when_they_are_int64_already() -> None:
    column = pa.array([[1, 2], [3]], pa.list_(pa.int64()))
    records = of_table(pa.table({"text": column}), Want(kind="tokens"))
    assert records.text.buffers()[2].address == column.values.buffers()[1].address


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".arrows"])
def test_token_lists_in_files(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    save(pa.table({"doc": [{"ids": [1, 2]}, None, {"ids": [3]}, {"ids": []}]}), path, row_group_size=2)
    kinds, texts, _ = rows(module_of(path), path, Want("doc.ids", kind="tokens"))
    assert kinds == [TEXT, NO_TEXT, TEXT, TEXT]
    assert [np.frombuffer(text, "<i8").tolist() for text in texts] == [[1, 2], [], [3], []]


def test_tokens_of_other_types() -> None:
    assert as_tokens(pa.array([[1, 2], [3, 4]], pa.list_(pa.int64(), 2)))[1] == [[1, 2], [3, 4]]
    assert as_tokens(pa.array(["text", "text"]))[0] == [NO_TEXT, NO_TEXT]
    assert as_tokens(pa.array([["a"], ["b"]]))[0] == [NO_TEXT, NO_TEXT]
    assert as_tokens(pa.nulls(1))[0] == [NO_TEXT]
    assert as_tokens(pa.array([[2**64 - 1]], pa.list_(pa.uint64())))[1] == [[-1]]


# ----------------------------------------------------------------------------------------------------- ids, per, score

UTC = dt.UTC


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([7, -1, None, 2**53 + 1]), [b"7", b"-1", None, b"9007199254740993"]),
        (pa.array([2**64 - 1], pa.uint64()), [b"18446744073709551615"]),
        (pa.array(["a", None, "é"]), [b'"a"', None, '"é"'.encode()]),
        (pa.array(['say "hi"', "a\\b\n", "\x01"]), [rb'"say \"hi\""', rb'"a\\b\n"', rb'"\u0001"']),
        (pa.array(["x", "y"]).dictionary_encode(), [b'"x"', b'"y"']),
        (pa.array([b"text", b"\xff\x00"]), [b'"text"', b'"0xff00"']),
        (pa.array([b"a\xed\xa0\x80"]), [rb'"a\ud800"']),
        (pa.array([1.0, 2.5, float("nan"), None]), [b"1.0", b"2.5", None, None]),
        (pa.array([True, False, None]), [b"true", b"false", None]),
        (pa.array([Decimal(12345678901234567890123)], pa.decimal128(38, 0)), [b"12345678901234567890123"]),
        (pa.array([dt.date(2024, 2, 29)]), [b'"2024-02-29"']),
        (pa.array([dt.datetime(2024, 2, 29, 1, 2, 3)], pa.timestamp("s")), [b'"2024-02-29T01:02:03"']),
        (pa.array([dt.datetime(2024, 2, 29, 1, 2, 3, tzinfo=UTC)], pa.timestamp("s", "UTC")), [b'"2024-02-29T01:02:03Z"']),
        (pa.array([[1, 2], None]), [b"[1,2]", None]),
        (pa.array([{"a": "é"}]), ['{"a":"é"}'.encode()]),
        (pa.nulls(2), [None, None]),
        (pa.array([uuid.UUID(int=1).bytes], pa.uuid()), [b'"00000000-0000-0000-0000-000000000001"']),
    ],
    ids=lambda value: str(value.type)[:30] if isinstance(value, pa.Array) else "",
)
def test_ids_as_json_text(column, expected) -> None:
    table = pa.table({"text": ["x"] * len(column), "id": column})
    records = of_table(table, Want(per="id"))
    assert records.id.to_pylist() == expected
    assert records.per.to_pylist() == expected
    for got in filter(None, expected):
        json.loads(got)


def test_no_id_column_gives_null_ids_and_none_wanted_gives_none() -> None:
    table = pa.table({"text": ["x", "y"]})
    assert of_table(table).id.to_pylist() == [None, None]
    assert of_table(table, Want(id=None)).id is None
    assert of_table(table, Want(per="lang")).per.to_pylist() == [None, None]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([1, None, 3]), [1.0, None, 3.0]),
        (pa.array([1.5, float("nan")]), [1.5, None]),
        (pa.array([2**64 - 1], pa.uint64()), [2.0**64]),
        (pa.array([Decimal("1.50")]), [1.5]),
        (pa.array([dt.date(1970, 1, 2), None]), [86400.0, None]),
        (pa.array([dt.datetime(1970, 1, 1, 0, 1)], pa.timestamp("ns")), [60.0]),
        (pa.array([dt.datetime(1970, 1, 1, 0, 1)], pa.timestamp("s", "UTC")), [60.0]),
        (pa.array(["3"]), [None]),
        (pa.array([True]), [None]),
        (pa.nulls(1), [None]),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else "",
)
def test_columns_as_scores(column, expected) -> None:
    score = of_table(pa.table({"text": ["x"] * len(column), "s": column}), Want(score="s")).score
    assert score.dtype == np.float64
    assert [None if math.isnan(value) else value for value in score.tolist()] == expected


# -------------------------------------------------------------------------------------------------------------- chunks


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("group", [1, 7, 1000, 100_000])
def test_chunks_are_the_same_rows_from_wherever_a_run_goes_on(tmp_path: Path, monkeypatch, suffix: str, group: int) -> None:
    monkeypatch.setattr(batches, "CHUNK_BYTES", 4000)
    monkeypatch.setattr(parquet, "CHUNK_BYTES", 4000)
    path = tmp_path / f"a{suffix}"
    n = 200 if group == 1 else 900
    table = pa.table({"id": range(n), "text": [f"row {i} " + "x" * (i % 90) for i in range(n)]})
    save(table, path, row_group_size=group)
    module = module_of(path)
    chunks = list(module.chunks(path, WANT))
    assert [chunk.start for chunk in chunks] == np.cumsum([0] + [len(chunk.data) for chunk in chunks])[:-1].tolist()
    assert pa.concat_tables(chunk.data.select(table.column_names) for chunk in chunks).equals(table)
    assert len(chunks) > 1
    assert all(chunk.data.nbytes < 9000 for chunk in chunks)
    for number in {1, 2, len(chunks) - 1} & set(range(len(chunks))):
        again = list(module.chunks(path, WANT, chunks[number].start))
        assert [chunk.start for chunk in again] == [chunk.start for chunk in chunks[number:]]
        assert all(a.data.equals(b.data) for a, b in zip(again, chunks[number:], strict=True))
    assert list(module.chunks(path, WANT, n)) == []
    assert rows(module, path, start=33)[2] == [str(i).encode() for i in range(33, n)]  # from within a chunk, too


def test_going_on_does_not_decode_the_row_groups_before(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(parquet, "CHUNK_BYTES", 100)
    path = tmp_path / "a.parquet"
    pq.write_table(
        pa.table({"text": ["first " * 50, "second " * 50]}),
        path,
        row_group_size=1,
        write_page_checksum=True,
        write_statistics=False,
        compression="none",
    )
    data = bytearray(path.read_bytes())
    data[data.find(b"first first") + 20] ^= 1
    path.write_bytes(data)
    with pytest.raises(DataError):
        rows(parquet, path)
    assert rows(parquet, path, start=1)[1] == [b"second " * 50]


def test_a_slice_of_views_does_not_drag_the_whole_along(tmp_path: Path, monkeypatch) -> None:
    """polars writes string views, whose slices share the buffers of the whole column."""
    monkeypatch.setattr(batches, "CHUNK_BYTES", 100_000)
    views = pa.array([f"a text of more than twelve bytes {i}" for i in range(100_000)], pa.string_view())
    part = pa.table({"text": views, "tags": pa.array([["a tag of more than twelve bytes", None]] * 100_000, pa.large_list(pa.string_view()))}).slice(
        5, 1000
    )
    assert part.nbytes > 3_000_000
    assert len(list(memory.chunks(part, WANT))) < 5
    keep = np.arange(1000) % 2 == 0
    for mask in (keep, keep | True):
        memory.write(part, tmp_path / "out.arrow", mask, mask, mask)
        assert (tmp_path / "out.arrow").stat().st_size < 300_000
        after = ipc.open_file(tmp_path / "out.arrow").read_all()
        assert after.schema.equals(part.schema)
        assert after.to_pylist() == [row for row, stays in zip(part.to_pylist(), mask, strict=True) if stays]


def test_many_small_batches_make_few_chunks() -> None:
    table = pa.concat_tables([pa.table({"text": ["x"]})] * 500)
    assert [len(chunk.data) for chunk in memory.chunks(table, WANT)] == [500]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_without_rows(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"none{suffix}"
    table = pa.table({"text": pa.array([], pa.string())})
    save(table, path)
    assert list(module_of(path).chunks(path, WANT)) == []
    module_of(path).write(path, tmp_path / f"out{suffix}", *kept([]))
    assert list(module_of(path).chunks(tmp_path / f"out{suffix}", WANT)) == []
