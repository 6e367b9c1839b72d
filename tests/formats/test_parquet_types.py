"""Columns of kept Parquet files have the types of the source, also those that Arrow lacks."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from columnar_rows import kept
from command_line import refused, run
from likewise.errors import DataError
from likewise.io import footer
from likewise.io.formats import parquet
from parquet_elements import annotate

pytestmark = pytest.mark.usefixtures("folder")

CONVERTED, LOGICAL = 6, 10
ROWS = 40
WORDS = pa.array([number.to_bytes(12, "big") for number in range(ROWS)], pa.binary(12))
TWICE = pa.array([number.to_bytes(16, "big") for number in range(ROWS)], pa.binary(16))
HALVES = pa.array([np.float16(number).tobytes() for number in range(ROWS)], pa.binary(2))
TEXTS = pa.array([b'{"a": 1}' if number % 3 else None for number in range(ROWS)], pa.binary())
SMALL, LARGE = pa.array([None, *range(1, ROWS)], pa.int32()), pa.array([None, *range(1, ROWS)], pa.int64())

#: Name of the logical type to pyarrow -> values as they are stored, and the fields of the schema that say the type.
TYPES = {
    "INTERVAL": (WORDS, {CONVERTED: 21}),
    "TIME": (LARGE, {CONVERTED: 8, LOGICAL: {7: {1: True, 2: {2: {}}}}}),
    "TIME of milliseconds": (SMALL, {CONVERTED: 7}),
    "TIME of nanoseconds": (LARGE, {LOGICAL: {7: {1: True, 2: {3: {}}}}}),
    "TIME without a zone": (LARGE, {LOGICAL: {7: {1: False, 2: {2: {}}}}}),
    "TIMESTAMP": (LARGE, {LOGICAL: {8: {1: False, 2: {1: {}}}}}),
    "TIMESTAMP in UTC": (LARGE, {CONVERTED: 10}),
    "DATE": (SMALL, {CONVERTED: 6}),
    "ENUM": (TEXTS, {CONVERTED: 4}),
    "JSON": (TEXTS, {CONVERTED: 19, LOGICAL: {12: {}}}),
    "BSON": (TEXTS, {CONVERTED: 20, LOGICAL: {13: {}}}),
    "STRING": (TEXTS, {CONVERTED: 0}),
    "UUID": (TWICE, {LOGICAL: {14: {}}}),
    "FLOAT16": (HALVES, {LOGICAL: {15: {}}}),
    "INT unsigned": (SMALL, {CONVERTED: 13}),
    "INT of 8 bits": (SMALL, {CONVERTED: 15}),
    "INT of 64 bits": (LARGE, {CONVERTED: 18, LOGICAL: {10: {1: bytes([64]), 2: True}}}),
    "INT unsigned of 64 bits": (LARGE, {CONVERTED: 14}),
    "DECIMAL": (LARGE, {CONVERTED: 5, 7: 2, 8: 18}),
    "GEOMETRY": (TEXTS, {LOGICAL: {17: {}}}),
    "GEOGRAPHY": (TEXTS, {LOGICAL: {18: {}}}),
}


def make(column: pa.Array, name: str, fields: dict, *, store_schema: bool = False) -> Path:
    table = pa.table({"id": range(ROWS), "text": [f"text {number}" for number in range(ROWS)], "column": column, "last": range(ROWS)})
    pq.write_table(table, "a.parquet", store_schema=store_schema, row_group_size=15)
    annotate(Path("a.parquet"), name, fields)
    return Path("a.parquet")


def write(path: Path, add: pa.Table | None = None) -> Path:
    keep = np.arange(ROWS) % 3 != 1
    parquet.check_written(path)
    assert parquet.write(path, Path("out.parquet"), *kept(keep.tolist()), add) == keep.sum()
    return Path("out.parquet")


def schema(path: Path) -> list[str]:
    """The lines of the schema as pyarrow shows it, without those of the root, and without how a timestamp's type is stated."""
    return [re.sub(", is_from_converted_type=(true|false)", "", line) for line in str(pq.ParquetFile(path).schema).splitlines()[2:]]


def printed(path: Path, number: int = 2) -> str:
    """The name of the logical type of a leaf."""
    return str(pq.ParquetFile(path).schema.column(number).logical_type).partition("(")[0].upper()


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("where", ["alone", "struct", "list", "map"])
def test_types_stay(kind: str, where: str):
    values, fields = TYPES[kind]
    column, name = {
        "alone": (values, "column"),
        "struct": (pa.StructArray.from_arrays([values, values], ["inner", "other"]), "inner"),
        "list": (pa.ListArray.from_arrays(np.arange(ROWS + 1, dtype=np.int32), values), "element"),
        "map": (pa.MapArray.from_arrays(np.arange(ROWS + 1, dtype=np.int32), pa.array(["key"] * ROWS), values), "value"),
    }[where]
    path = make(column, name, fields)
    number = 3 if where == "map" else 2
    assert printed(path, number) == kind.partition(" ")[0]
    out = write(path)
    assert schema(out) == schema(path)
    read = pq.read_table(path)
    assert pq.read_table(out).equals(read.filter(pa.array(np.arange(ROWS) % 3 != 1)))


@pytest.mark.parametrize("fields", [{CONVERTED: 21}, {LOGICAL: {17: {}}}])
def test_values_without_an_order_have_no_least_and_greatest(fields: dict):
    path = make(WORDS if CONVERTED in fields else TEXTS, "column", fields)
    footer_of_group = pq.ParquetFile(write(path)).metadata.row_group(0)
    stated = [bool(column.statistics and column.statistics.has_min_max) for column in map(footer_of_group.column, range(4))]
    assert stated == [True, True, False, True]


def test_variants_stay():
    texts = TEXTS.fill_null(b"")
    path = make(pa.StructArray.from_arrays([texts, texts], ["metadata", "value"]), "column", {LOGICAL: {16: {1: bytes([1])}}})
    assert "Variant" in " ".join(schema(path))
    out = write(path)
    assert schema(out) == schema(path)
    assert pq.read_table(out)["id"].to_pylist() == [number for number in range(ROWS) if number % 3 != 1]


def test_elements_are_those_of_the_source_byte_for_byte():
    path = make(WORDS, "column", {CONVERTED: 21})
    elements = []
    for file in (path, write(path)):
        with open(file, "rb") as opened:
            data = footer.read(opened)
        elements.append([data[element.begin : element.end] for element in footer.schema(data, file)[1:]])
    assert elements[0] == elements[1] and len(elements[0]) == 4


def test_added_columns_come_behind():
    path = make(WORDS, "column", {CONVERTED: 21})
    add = pa.table({"likewise_cluster": pa.array(np.arange(27))})
    out = write(path, add)
    assert schema(out)[:4] == schema(path)[:4] and pq.read_table(out)["likewise_cluster"].to_pylist() == list(range(27))


def test_files_without_such_columns_are_left_as_pyarrow_writes_them(monkeypatch):
    pq.write_table(pa.table({"text": ["a", "b", "c"], "n": [1, 2, 3], "t": pa.array([1, 2, 3], pa.timestamp("us"))}), "a.parquet")
    parquet.write(Path("a.parquet"), Path("one.parquet"), *kept([True, False, True]))
    monkeypatch.setattr("likewise.io.parquet_types.restore", lambda source, target: None)
    parquet.write(Path("a.parquet"), Path("two.parquet"), *kept([True, False, True]))
    assert Path("one.parquet").read_bytes() == Path("two.parquet").read_bytes()


@pytest.mark.parametrize("store_schema", [False, True])
def test_metadata_stays_whether_arrow_wrote_the_file_or_not(store_schema: bool):
    table = pa.table({"text": ["a", "b", "c"]}).replace_schema_metadata({"geo": "{}", "org.apache.spark.sql.parquet.row.metadata": "{}"})
    with pq.ParquetWriter("a.parquet", table.schema, store_schema=store_schema) as writer:
        writer.write_table(table)
        if not store_schema:
            writer.add_key_value_metadata(table.schema.metadata)
    parquet.write(Path("a.parquet"), Path("out.parquet"), *kept([True, False, True]))
    before, after = (pq.ParquetFile(path).metadata.metadata for path in ("a.parquet", "out.parquet"))
    assert before.keys() == after.keys() and after[b"geo"] == b"{}"
    add = pa.table({"more": [1, 2]})
    parquet.write(Path("a.parquet"), Path("out.parquet"), *kept([True, False, True]), add)
    assert pq.read_table("out.parquet").column_names == ["text", "more"]
    if not store_schema:  # Spark would read the columns that it lists there alone
        assert list(pq.ParquetFile("out.parquet").metadata.metadata) == [b"geo"]


def foreign_list() -> Path:
    """A list whose elements have a name that pyarrow changes, so that they are no longer found."""
    intervals = pa.ListArray.from_arrays(np.arange(4, dtype=np.int32), WORDS.slice(0, 3), type=pa.list_(pa.field("array_element", pa.binary(12))))
    texts = ["one two three four five six", "one two three four five six", "seven eight nine ten eleven"]
    table = pa.table({"id": [1, 2, 3], "text": texts, "spans": intervals})
    pq.write_table(table, "a.parquet", store_schema=False, use_compliant_nested_type=False)
    annotate(Path("a.parquet"), "array_element", {CONVERTED: 21})
    return Path("a.parquet")


def test_a_column_whose_type_would_be_lost_is_refused_by_name_before_the_run(monkeypatch):
    foreign_list()
    said = refused("dedup", "a.parquet", "-o", "out")
    assert "a.parquet: the column 'spans.list.array_element' has a type that Arrow lacks" in said and "--output ids" in said
    assert not Path("out").exists() and not Path("out.work").exists()
    assert run("dedup", "a.parquet", "-o", "ids", "--output", "ids").exit_code == 0
    refused("dedup", "a.parquet", "-o", "ids-2", "--output", "ids", "--removed-records")
    assert lw.dedup(Path("a.parquet")).report["counts"]["removed"] == 1


def test_other_lists_of_foreign_names_are_written():
    texts = pa.ListArray.from_arrays(
        np.arange(ROWS + 1, dtype=np.int32), pa.array(["x"] * ROWS), type=pa.list_(pa.field("array_element", pa.string()))
    )
    path = make(WORDS, "column", {CONVERTED: 21})
    table = pq.read_table(path).append_column("lists", texts)
    pq.write_table(table, path, store_schema=False, use_compliant_nested_type=False)
    annotate(path, "column", {CONVERTED: 21})
    assert printed(write(path)) == "INTERVAL"


def test_any_changed_byte_of_such_a_footer_ends_no_process():
    path = make(WORDS, "column", {CONVERTED: 21, LOGICAL: {9: {}}})
    raw = path.read_bytes()
    first = len(raw) - 8 - int.from_bytes(raw[-8:-4], "little")
    read = 0
    for at in range(first, min(first + 200, len(raw))):
        changed = bytearray(raw)
        changed[at] ^= 1 << at % 8
        path.write_bytes(changed)
        try:
            write(path)
            read += 1
        except (DataError, lw.UsageError) as error:
            assert "a.parquet" in str(error)
    assert read > 0
