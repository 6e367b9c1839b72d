"""Parquet, Arrow, text files and Python data as rows, and back."""

from __future__ import annotations

import datetime as dt
import json
import math
import os
import uuid
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import ipc

from likewise.errors import DataError, UsageError
from likewise.io import batches
from likewise.io.formats import arrow, memory, parquet, text
from likewise.io.formats.text import Files
from likewise.records import NO_TEXT, REJECTED, TEXT, Want

WANT = Want()


def rows(module, path, want: Want = WANT, start: int = 0):
    """(kinds, texts, ids) over all chunks."""
    kinds, texts, ids = [], [], []
    for chunk in module.chunks(path, want, start):
        records = module.parse(chunk, want, "here")
        assert len(records) == len(records.text) == len(chunk.data)
        assert records.text.null_count == 0
        kinds += records.kind.tolist()
        texts += records.text.to_pylist()
        ids += records.id.to_pylist() if records.id is not None else [None] * len(records)
    return kinds, texts, ids


def of_table(table: pa.Table, want: Want = WANT):
    (chunk,) = memory.chunks(table, want)
    return memory.parse(chunk, want, "here")


def text_of(column: pa.Array, want: Want = WANT):
    records = of_table(pa.table({"text": column}), want)
    return records.kind.tolist(), records.text.to_pylist()


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
    assert records.found  # the field is there; its values are no texts


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


def test_a_missing_field_is_told_with_the_names_that_are_there(tmp_path: Path) -> None:
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
def test_scores(column, expected) -> None:
    score = of_table(pa.table({"text": ["x"] * len(column), "s": column}), Want(score="s")).score
    assert score.dtype == np.float64
    assert [None if math.isnan(value) else value for value in score.tolist()] == expected


# -------------------------------------------------------------------------------------------------------------- chunks


def save(table: pa.Table, path: Path, **options) -> None:
    kind = path.suffix
    if kind == ".parquet":
        pq.write_table(table, path, **options)
    else:
        create = ipc.new_file if kind == ".arrow" else ipc.new_stream
        with create(path, table.schema, options=ipc.IpcWriteOptions(compression=options.get("compression"))) as writer:
            writer.write_table(table, max_chunksize=options.get("row_group_size"))


SUFFIXES = (".parquet", ".arrow", ".arrows")


def module_of(path: Path):
    return parquet if path.suffix == ".parquet" else arrow


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
    """What polars gives: string views, whose slices all share the buffers of the whole column."""
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


# -------------------------------------------------------------------------------------------------------------- damage


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_damaged_files_are_named(tmp_path: Path, suffix: str) -> None:
    whole = tmp_path / f"whole{suffix}"
    save(pa.table({"id": range(3000), "text": [f"row number {i}" for i in range(3000)]}), whole)
    data = whole.read_bytes()
    bad = tmp_path / f"bad{suffix}"
    for content in (
        b"",
        data[:6],
        data[: len(data) // 2],
        data[:-4] if suffix != ".arrows" else data[:-500],
        b"something else, long enough to have a footer",
    ):
        bad.write_bytes(content)
        with pytest.raises(DataError, match=f"bad{suffix}"):
            rows(module_of(bad), bad)
    bad.write_bytes(b"")
    with pytest.raises(DataError, match=r"is empty \(0 bytes\)"):
        rows(module_of(bad), bad)
    with pytest.raises(DataError, match="gone"):
        rows(module_of(bad), bad.with_stem("gone"))


def test_a_page_with_a_wrong_checksum_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(
        pa.table({"text": ["abcdefgh" * 100]}), path, compression="none", use_dictionary=False, write_page_checksum=True, write_statistics=False
    )
    data = bytearray(path.read_bytes())
    data[data.find(b"abcdefgh" * 100) + 400] ^= 1
    path.write_bytes(data)
    with pytest.raises(DataError, match="CRC"):
        rows(parquet, path)


def test_offsets_that_lead_out_of_an_arrow_file_are_damage(tmp_path: Path) -> None:
    wild = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(np.array([0, 10**6, 3], np.int32)), pa.py_buffer(b"abc")])
    with ipc.new_file(tmp_path / "a.arrow", pa.schema({"text": pa.string()})) as writer:
        writer.write_batch(pa.record_batch({"text": wild}))
    with pytest.raises(DataError):
        rows(arrow, tmp_path / "a.arrow")


def test_feather_1_is_refused_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "old.feather").write_bytes(b"FEA1" + bytes(100))
    with pytest.raises(DataError, match="write_feather"):
        rows(arrow, tmp_path / "old.feather")


# --------------------------------------------------------------------------------------------------------------- write


def kept(keep: list[bool]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.array(keep, bool), np.arange(len(keep)), np.zeros(len(keep), np.int64)


def rich_table(n: int) -> pa.Table:
    """All kinds of columns; with metadata on the schema and on a field."""
    return pa.table(
        {
            "id": pa.array(range(n), pa.uint32()),
            "text": [None if i % 5 == 4 else f"text {i}" for i in range(n)],
            "label": pa.array([f"l{i % 3}" for i in range(n)]).dictionary_encode(),
            "when": pa.array([dt.datetime(2024, 1, 1, tzinfo=UTC)] * n, pa.timestamp("us", "Europe/Paris")),
            "price": pa.array([Decimal("1.25")] * n, pa.decimal128(12, 2)),
            "tags": [[f"t{i}", None] if i % 2 else None for i in range(n)],
            "doc": [{"a": i, "b": [{"c": str(i)}]} for i in range(n)],
            "big": pa.array([str(i) for i in range(n)], pa.large_string()),
            "half": pa.array(np.arange(n, dtype=np.float16)),
        },
        schema=None,
    ).replace_schema_metadata({"made by": "a test", "huggingface": '{"info": {}}'})


def with_field_metadata(table: pa.Table) -> pa.Table:
    field = table.schema.field("text").with_metadata({"note": "kept too"})
    return table.cast(table.schema.set(1, field))


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("group", [7, 1000])
def test_kept_rows_have_the_schema_types_metadata_and_values_of_the_source(tmp_path: Path, suffix: str, group: int) -> None:
    table = with_field_metadata(rich_table(40))
    path, out = tmp_path / f"a{suffix}", tmp_path / f"out{suffix}"
    save(table, path, row_group_size=group)
    keep = [i % 3 == 0 or i > 35 for i in range(40)]
    module_of(path).write(path, out, *kept(keep))

    def load(path: Path) -> pa.Table:
        return pq.read_table(path) if suffix == ".parquet" else (ipc.open_file if suffix == ".arrow" else ipc.open_stream)(path).read_all()

    before, after = load(path), load(out)
    assert after.schema.equals(before.schema, check_metadata=True)
    assert after.equals(before.filter(pa.array(keep)))
    module_of(path).write(path, out, *kept([False] * 40))
    nothing = load(out)
    assert nothing.schema.equals(before.schema, check_metadata=True)
    assert len(nothing) == 0
    module_of(path).write(path, out, *kept([True] * 40))
    assert out.read_bytes() == path.read_bytes()


def test_parquet_keeps_codecs_groups_nested_names_and_stored_schema(tmp_path: Path) -> None:
    table = pa.table({"id": range(9), "text": ["x"] * 9, "tags": [["a"]] * 9, "raw": ["r"] * 9})
    codecs = {"id": "none", "text": "zstd", "tags.list.item": "gzip", "raw": "lz4"}
    path, out = tmp_path / "a.parquet", tmp_path / "out.parquet"
    pq.write_table(table, path, row_group_size=3, compression=codecs, use_dictionary=["text"], use_compliant_nested_type=False, store_schema=False)
    parquet.write(path, out, *kept([True, False, True, False, False, False, True, True, True]))
    before, after = pq.ParquetFile(path), pq.ParquetFile(out)
    assert [after.metadata.row_group(i).num_rows for i in range(after.num_row_groups)] == [2, 3]
    for i in range(4):
        a, b = before.metadata.row_group(0).column(i), after.metadata.row_group(0).column(i)
        assert (a.path_in_schema, a.compression, a.has_dictionary_page) == (b.path_in_schema, b.compression, b.has_dictionary_page)
    assert b"ARROW:schema" not in (after.metadata.metadata or {})
    assert after.schema_arrow.equals(before.schema_arrow, check_metadata=True)
    assert after.schema.equals(before.schema)


@pytest.mark.parametrize(
    ("moments", "unit", "readable"),
    [
        (["1970-01-01T00:00:00.123456789", "1969-12-31T23:59:59.999999999"], "ns", "ns"),
        (["0001-01-01T00:00:00.000001", "9999-12-31T23:59:59.999999", None], "us", "us"),
    ],
)
def test_int96_timestamps_come_through_whole(tmp_path: Path, moments, unit, readable) -> None:
    """Spark writes INT96; pyarrow reads it as nanoseconds, which wrap for the year 9999."""
    values = pa.array(np.array(moments, f"datetime64[{unit}]"))
    path, out = tmp_path / "a.parquet", tmp_path / "out.parquet"
    table = pa.table({"text": [str(i) for i in range(len(moments))], "at": values, "deep": pa.StructArray.from_arrays([values], ["at"])})
    pq.write_table(table, path, use_deprecated_int96_timestamps=True, store_schema=False)
    parquet.write(path, out, *kept([False] + [True] * (len(moments) - 1)))
    assert pq.ParquetFile(out).schema.equals(pq.ParquetFile(path).schema)
    after = pq.ParquetFile(out, coerce_int96_timestamp_unit=readable).read()
    assert after.column("at").combine_chunks().equals(values[1:])
    assert pc.struct_field(after.column("deep"), "at").combine_chunks().equals(values[1:])


def test_int96_timestamps_that_no_unit_holds_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    ns = pa.table({"at": pa.array(np.array(["1970-01-01T00:00:00.000000001"], "datetime64[ns]"))})
    us = pa.table({"at": pa.array(np.array(["9999-01-01"], "datetime64[us]"))})
    pq.write_table(us, path, use_deprecated_int96_timestamps=True)
    assert parquet._int96_unit(path) == "us"
    pq.write_table(ns, path, use_deprecated_int96_timestamps=True)
    assert parquet._int96_unit(path) == "ns"
    with pq.ParquetWriter(path, us.schema, use_deprecated_int96_timestamps=True) as writer:
        writer.write_table(us)
    data = path.read_bytes()
    midnight = bytes(8) + (5373120).to_bytes(4, "little")  # nanoseconds of the day, Julian day
    assert data.count(midnight) == 1
    path.write_bytes(data.replace(midnight, (1).to_bytes(8, "little") + midnight[8:]))
    with pytest.raises(DataError, match="INT96"):
        parquet._int96_unit(path)


def test_added_columns_stand_behind_the_others(tmp_path: Path) -> None:
    table = rich_table(6)
    keep = [True, False, True, False, False, True]
    add = pa.table({"cluster": ["c0", None, "c5"], "similarity": [1.0, 0.5, None]})
    for suffix in SUFFIXES:
        path, out = tmp_path / f"a{suffix}", tmp_path / f"out{suffix}"
        save(table, path, row_group_size=2)
        module_of(path).write(path, out, *kept(keep), add)
        after = pq.read_table(out) if suffix == ".parquet" else (ipc.open_file if suffix == ".arrow" else ipc.open_stream)(out).read_all()
        assert after.column_names == [*table.column_names, "cluster", "similarity"]
        assert after.select(table.column_names).equals(table.filter(pa.array(keep)))
        assert after.select(add.column_names).equals(add)
        assert after.schema.metadata == table.schema.metadata
        with pytest.raises(UsageError, match="'text'"):
            module_of(path).write(path, out, *kept(keep), pa.table({"text": ["a", "b", "c"]}))


def test_a_file_that_lost_rows_meanwhile_is_noticed(tmp_path: Path) -> None:
    for suffix in SUFFIXES:
        path = tmp_path / f"a{suffix}"
        save(rich_table(5), path)
        with pytest.raises(DataError, match="has fewer rows than when it was first read"):
            module_of(path).write(path, tmp_path / "out", *kept([True, False, False, False, False, True]))


@pytest.mark.parametrize("keep", [[True] * 3, [True, False], [], [True, True, True, False, False]])
def test_what_follows_the_last_kept_row_is_not_written(tmp_path: Path, keep: list[bool]) -> None:
    """So --limit can end inside a file."""
    for suffix in SUFFIXES:
        path, out = tmp_path / f"a{suffix}", tmp_path / f"out{suffix}"
        save(rich_table(5), path)
        module_of(path).write(path, out, *kept(keep))
        after = pq.read_table(out) if suffix == ".parquet" else (ipc.open_file if suffix == ".arrow" else ipc.open_stream)(out).read_all()
        assert after.equals(rich_table(5).filter(pa.array((keep + [False] * 5)[:5])))


@pytest.mark.parametrize("suffix", [".arrow", ".arrows"])
@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
def test_arrow_stays_what_it_was(tmp_path: Path, suffix: str, compression: str | None) -> None:
    path, out = tmp_path / f"a{suffix}", tmp_path / f"out{suffix}"
    save(rich_table(100), path, compression=compression, row_group_size=10)
    arrow.write(path, out, *kept([True] * 50 + [False] * 50))
    assert out.read_bytes()[:6] == path.read_bytes()[:6]
    assert arrow._first_batch(path).codec == arrow._first_batch(out).codec == compression
    arrow.write(path, out, *kept([False] * 50 + [True] * 50))
    assert arrow._first_batch(out).codec == compression


def test_arrow_metadata_of_file_and_batches_stays(tmp_path: Path) -> None:
    path, out = tmp_path / "a.arrow", tmp_path / "out.arrow"
    batch = pa.record_batch({"text": ["a", "b"]})
    with ipc.new_file(path, batch.schema, metadata={"file": "f"}) as writer:
        writer.write_batch(batch, custom_metadata={"batch": "one"})
        writer.write_batch(batch, custom_metadata={"batch": "two"})
    arrow.write(path, out, *kept([True, False, False, True]))
    reader = ipc.open_file(out)
    assert reader.metadata[b"file"] == b"f"
    assert [reader.get_batch_with_custom_metadata(i)[1][b"batch"] for i in range(2)] == [b"one", b"two"]


@pytest.mark.parametrize("suffix", [".arrow", ".arrows"])
def test_columns_that_cannot_be_filtered_and_growing_dictionaries(tmp_path: Path, suffix: str) -> None:
    path, out = tmp_path / f"a{suffix}", tmp_path / f"out{suffix}"
    parts = [
        pa.record_batch(
            {
                "text": pa.array([*names, "a text of more than twelve bytes"], pa.string_view()),
                "run": pc.run_end_encode(pa.array(["r", "r", "s"])),
                "label": pa.DictionaryArray.from_arrays(pa.array([0, len(words) - 1, 0], pa.int32()), words),
            }
        )
        for names, words in ((["a", None], ["x"]), (["c", "d"], ["x", "y"]))
    ]
    create = ipc.new_file if suffix == ".arrow" else ipc.new_stream
    with create(path, parts[0].schema, options=ipc.IpcWriteOptions(emit_dictionary_deltas=True)) as writer:
        for part in parts:
            writer.write_batch(part)
    assert rows(arrow, path)[1] == [b"a", b"", b"a text of more than twelve bytes", b"c", b"d", b"a text of more than twelve bytes"]
    arrow.write(path, out, *kept([True, False, True, False, True, True]))
    after = (ipc.open_file if suffix == ".arrow" else ipc.open_stream)(out).read_all()
    assert after.schema.equals(parts[0].schema)
    assert after["text"].to_pylist() == ["a", "a text of more than twelve bytes", "d", "a text of more than twelve bytes"]
    assert after["run"].to_pylist() == ["r", "s", "r", "s"]
    assert after["label"].to_pylist() == ["x", "x", "y", "x"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_names_that_are_not_utf8(tmp_path: Path, suffix: str) -> None:
    path, out = (tmp_path / os.fsdecode(b"a \xff\n" + part + suffix.encode()) for part in (b"in", b"out"))
    plain = tmp_path / f"plain{suffix}"
    save(pa.table({"text": ["x", "y"]}), plain)
    plain.rename(path)
    assert rows(module_of(path), path)[1] == [b"x", b"y"]
    module_of(path).write(path, out, *kept([False, True]))
    assert rows(module_of(path), out)[1] == [b"y"]


@settings(max_examples=30, deadline=None)
@given(keep=st.lists(st.booleans(), min_size=1, max_size=60), group=st.integers(1, 20), suffix=st.sampled_from(SUFFIXES))
def test_writing_equals_filtering(tmp_path_factory, keep: list[bool], group: int, suffix: str) -> None:
    folder = tmp_path_factory.mktemp("filter")
    path, out = folder / f"a{suffix}", folder / f"out{suffix}"
    save(pa.table({"id": range(len(keep)), "text": [f"t{i}" for i in range(len(keep))]}), path, row_group_size=group)
    module_of(path).write(path, out, *kept(keep))
    assert rows(module_of(out), out)[2] == [str(i).encode() for i, stays in enumerate(keep) if stays]


# ---------------------------------------------------------------------------------------------------------- text files


def files(folder: Path, **contents: bytes) -> Files:
    paths = tuple(folder / f"{name}.txt" for name in contents)
    for path, content in zip(paths, contents.values(), strict=True):
        path.write_bytes(content)
    return Files(paths, tuple(f"sub/{path.name}" for path in paths))


def test_a_file_is_an_item(tmp_path: Path) -> None:
    given = files(tmp_path, a=b"one\ntwo", empty=b"", marked="\ufeffdrei".encode(), nul=b"a\0b")
    assert rows(text, given) == (
        [TEXT] * 4,
        [b"one\ntwo", b"", b"drei", b"a\0b"],
        [b'"sub/a.txt"', b'"sub/empty.txt"', b'"sub/marked.txt"', b'"sub/nul.txt"'],
    )
    (chunk,) = text.chunks(given, WANT)
    records = text.parse(chunk, Want(per="lang", score="n"), "text files")
    assert (records.start.tolist(), records.length.tolist()) == ([0, 1, 2, 3], [7, 0, 7, 3])
    assert records.found
    assert records.per.to_pylist() == [None] * 4
    assert np.isnan(records.score).all()
    assert not text.parse(chunk, Want("content"), "text files").found


def test_a_file_that_is_not_utf8_is_rejected_with_line_and_column(tmp_path: Path) -> None:
    given = files(tmp_path, good=b"good", latin="ä line\nsecond \u00e9".encode() + b"\xe9t\xe9", wide="wide".encode("utf-16"))
    (chunk,) = text.chunks(given, WANT)
    records = text.parse(chunk, WANT, "text files")
    assert records.kind.tolist() == [TEXT, REJECTED, REJECTED]
    assert records.text.to_pylist() == [b"good", b"", b""]
    first, second = records.rejected
    assert first.reason == "line 2, column 9 (0xe9): this byte is not UTF-8"
    assert first.raw == given.paths[1].read_bytes()
    assert "UTF-16" in second.reason


def test_a_file_that_cannot_be_opened_is_one_rejected_item(tmp_path: Path) -> None:
    given = files(tmp_path, a=b"a", b=b"b", c=b"c\xff")
    given.paths[1].unlink()
    given.paths[1].mkdir()
    (chunk,) = text.chunks(given, WANT)
    records = text.parse(chunk, WANT, "text files")
    assert records.kind.tolist() == [TEXT, REJECTED, REJECTED]
    assert [entry.row for entry in records.rejected] == [1, 2]
    assert "b.txt" in records.rejected[0].reason


def test_text_files_chunk_and_go_on(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(text, "CHUNK_BYTES", 5)
    given = files(tmp_path, a=b"123", b=b"456", c=b"78901234", d=b"", e=b"1")
    chunks = list(text.chunks(given, WANT))
    assert [(chunk.start, len(chunk.data)) for chunk in chunks] == [(0, 2), (2, 1), (3, 2)]
    assert [chunk.start for chunk in text.chunks(given, WANT, 2)] == [2, 3]
    assert rows(text, given, start=3)[1] == [b"", b"1"]
    given.paths[4].unlink()
    with pytest.raises(DataError, match=r"e\.txt: cannot be read"):  # what has gone is not set aside, but waited for
        rows(text, given)
    given.paths[4].mkdir()
    assert rows(text, given)[0] == [TEXT] * 4 + [REJECTED]


def test_text_files_have_no_tokens(tmp_path: Path) -> None:
    kinds, texts, _ = rows(text, files(tmp_path, a=b"1 2 3"), Want(kind="tokens"))
    assert (kinds, texts) == ([NO_TEXT], [b""])


def test_kept_text_files_are_copied_byte_for_byte(tmp_path: Path) -> None:
    given = files(tmp_path, a="\ufeffa\r\n".encode(), b=b"b", c=b"\xff")
    text.write(given, tmp_path / "kept", *kept([True, False, True]))
    assert {path.relative_to(tmp_path / "kept").as_posix(): path.read_bytes() for path in (tmp_path / "kept").rglob("*.txt")} == {
        "sub/a.txt": "\ufeffa\r\n".encode(),
        "sub/c.txt": b"\xff",
    }
    with pytest.raises(UsageError, match="--output"):
        text.write(given, tmp_path / "kept", *kept([True, False, False]), pa.table({"cluster": ["x"]}))


# -------------------------------------------------------------------------------------------------------------- memory


def of_python(given, want: Want = WANT):
    records = of_table(memory.table(given), want)
    return records.kind.tolist(), records.text.to_pylist(), records.id.to_pylist()


def test_a_list_of_str() -> None:
    assert of_python(["a", None, ""]) == ([TEXT, NO_TEXT, TEXT], [b"a", b"", b""], [None] * 3)
    assert of_python(word for word in ("x", "y"))[1] == [b"x", b"y"]
    assert memory.table([]).num_rows == 0
    assert memory.table([None]).column_names == ["text"]


def test_a_lone_surrogate_in_a_str_survives() -> None:
    kinds, texts, _ = of_python(["a\udc80", "b"])
    assert kinds == [TEXT, TEXT]
    assert [text.decode("utf-8", "surrogatepass") for text in texts] == ["a\udc80", "b"]


def test_rows_keep_all_their_fields() -> None:
    given = [{"id": 1, "text": "a", "extra": [1]}, {"text": "b", "more": {"x": 1}}, {"id": 3, "text": None}]
    table = memory.table(given)
    assert table.column_names == ["id", "text", "extra", "more"]
    assert of_python(given) == ([TEXT, TEXT, NO_TEXT], [b"a", b"b", b""], [b"1", None, b"3"])
    assert memory.take(table, np.array([False, True, False])).to_pylist() == [{"id": None, "text": "b", "extra": None, "more": {"x": 1}}]


def test_ids_of_several_types_are_not_made_one() -> None:
    """The number 1 and the string "1" are two documents, and 1.5 makes no float of 9007199254740993."""
    given = [{"id": i, "text": "x"} for i in (1, "1", 9007199254740993, 1.5, None, True, "a\ud800", "é")]
    assert of_python(given)[2] == [b"1", b'"1"', b"9007199254740993", b"1.5", None, b"true", rb'"a\ud800"', '"é"'.encode()]
    assert of_python([{"id": i, "text": "x"} for i in (1, 2.5)])[2] == [b"1", b"2.5"]
    ints = [{"id": i, "text": "x"} for i in (2**53 + 1, 2**64 - 1, -1)]
    assert of_python(ints)[2] == [b"9007199254740993", b"18446744073709551615", b"-1"]
    assert memory.table(ints[:2]).schema.field("id").type == pa.uint64()


def test_texts_that_are_absent_null_a_number_or_a_list_are_no_texts() -> None:
    """Rows as a careless crawl has them: four without a usable text among six."""
    given = [{"text": "good"}, {"text": None}, {"other": 1}, {"text": 5}, {"text": ["no"]}, {"text": "good \udfff"}]
    kinds, texts, _ = of_python(given)
    assert kinds == [TEXT, NO_TEXT, NO_TEXT, NO_TEXT, NO_TEXT, TEXT]
    assert texts[5] == "good \udfff".encode("utf-8", "surrogatepass")
    records = of_table(memory.table([{"text": "x", "score": s} for s in (1, 2.5, "3", None, True)]), Want(score="score"))
    assert np.nan_to_num(records.score, nan=-1).tolist() == [1.0, 2.5, -1.0, -1.0, -1.0]


def test_token_lists_from_python() -> None:
    records = of_table(memory.table([[1, 2], None, [3]]), Want(kind="tokens"))
    assert records.kind.tolist() == [TEXT, NO_TEXT, TEXT]
    assert np.frombuffer(records.text[0].as_py(), "<i8").tolist() == [1, 2]


class Capsule:
    """Somebody else's table: known by its Arrow interface alone."""

    def __init__(self, inner):
        self.inner = inner

    def __arrow_c_stream__(self, requested_schema=None):
        return self.inner.__arrow_c_stream__(requested_schema)


class ArrayCapsule:
    def __init__(self, inner):
        self.inner = inner

    def __arrow_c_array__(self, requested_schema=None):
        return self.inner.__arrow_c_array__(requested_schema)


@pytest.mark.parametrize(
    "given",
    [
        pa.table({"text": ["a", "b"]}),
        pa.record_batch({"text": ["a", "b"]}),
        pa.table({"text": ["a", "b"]}).to_reader(),
        Capsule(pa.table({"text": ["a", "b"]})),
        Capsule(pa.chunked_array([["a"], ["b"]])),
        ArrayCapsule(pa.record_batch({"text": ["a", "b"]})),
        pa.array(["a", "b"]),
        pa.chunked_array([["a"], ["b"]]),
        {"text": ["a", "b"]},
        np.array(["a", "b"]),
        ("a", "b"),
    ],
    ids=lambda given: type(given).__name__,
)
def test_anything_with_an_arrow_interface(given) -> None:
    table = memory.table(given)
    assert isinstance(table, pa.Table)
    assert of_table(table).text.to_pylist() == [b"a", b"b"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (5, "int 5"),
        (["a", 5], "row 1 .* is int 5"),
        (["a", {"text": "b"}], "row 0 .* is str 'a'"),
        ([{"text": "a"}, "b"], "row 1 .* is str 'b'"),
        ([{1: "a"}], "key 1"),
        ([{"a": object()}], "column 'a'"),
    ],
)
def test_what_is_no_table_is_refused(given, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        memory.table(given)


def test_python_data_is_written_as_an_arrow_file(tmp_path: Path) -> None:
    table = memory.table([{"id": 1, "text": "a"}, {"id": "1", "text": "b"}, {"id": 2, "text": "c"}])
    memory.write(table, tmp_path / "out.arrow", *kept([True, False, True]), pa.table({"cluster": [None, "c"]}))
    after = ipc.open_file(tmp_path / "out.arrow").read_all()
    assert after["id"].type == pa.json_(pa.large_string())
    assert after["text"].to_pylist() == ["a", "c"]
    assert after["cluster"].to_pylist() == [None, "c"]
