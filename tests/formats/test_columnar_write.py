"""Properties of the source that Parquet and Arrow files keep when rows are left out."""

from __future__ import annotations

import datetime as dt
import os
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

from columnar_rows import SUFFIXES, kept, module_of, rows, save
from likewise.errors import DataError, UsageError
from likewise.io.arrow_messages import first_batch
from likewise.io.formats import arrow, parquet
from likewise.records import Want


def rich_table(n: int) -> pa.Table:
    """All kinds of columns; with metadata on the schema and on a field."""
    return pa.table(
        {
            "id": pa.array(range(n), pa.uint32()),
            "text": [None if i % 5 == 4 else f"text {i}" for i in range(n)],
            "label": pa.array([f"l{i % 3}" for i in range(n)]).dictionary_encode(),
            "when": pa.array([dt.datetime(2024, 1, 1, tzinfo=dt.UTC)] * n, pa.timestamp("us", "Europe/Paris")),
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


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_dictionaries_inside_lists_and_structs_may_differ_from_group_to_group(tmp_path: Path, suffix: str) -> None:
    """Each row group of a Parquet file has its own, and pyarrow refuses to read two such groups at once."""
    names = [["a", "b"], ["c"], [], ["d", "a"], None, ["e"]]
    flat = pa.array([name for row in names for name in row or []]).dictionary_encode()
    lists = pa.ListArray.from_arrays(pa.array([0, 2, 3, 3, 5, 5, 6], pa.int32()), flat, mask=pa.array([row is None for row in names]))
    inside = pa.StructArray.from_arrays([pa.array(["t", "u", "v", "w", "x", "y"]).dictionary_encode()], ["text"])
    path, out = tmp_path / f"in{suffix}", tmp_path / f"out{suffix}"
    save(pa.table({"id": range(6), "elements": lists, "doc": inside}), path, row_group_size=2)
    module = module_of(path)
    assert rows(module, path, Want("doc.text"))[1] == [b"t", b"u", b"v", b"w", b"x", b"y"]
    assert [len(row) // 8 for row in rows(module, path, Want("elements", kind="elements"))[1]] == [2, 1, 0, 2, 0, 1]
    assert module.write(path, out, *kept([True, False, True, True, False, True])) == 4
    parts = [row for names in ("elements", "doc") for chunk in module.chunks(out, Want(names)) for row in chunk.data.to_pylist()]
    assert [row["elements"] for row in parts if "elements" in row] == [["a", "b"], [], ["d", "a"], ["e"]]
    assert [row["doc"]["text"] for row in parts if "doc" in row][-4:] == ["t", "v", "w", "y"]


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
    assert first_batch(path).codec == first_batch(out).codec == compression
    arrow.write(path, out, *kept([False] * 50 + [True] * 50))
    assert first_batch(out).codec == compression


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
