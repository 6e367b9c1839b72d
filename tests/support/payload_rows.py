"""The output of readers for a few rows, as plain values."""

from __future__ import annotations

import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.io import formats
from likewise.io.formats import jsonl, memory
from likewise.items.words import Hasher
from likewise.records import REJECTED, TEXT, Records, Want

HASHER = Hasher(0)


def word(element: int | str, seed: int = 0) -> int:
    return int(Hasher(seed).listed([element])[0])


def of_table(table: pa.Table, want: Want) -> Records:
    (chunk,) = memory.chunks(table, want)
    return checked(memory.parse(chunk, want, "here"), want)


def of_column(column: pa.Array, kind: str, **options: Any) -> Records:
    want = Want("x", kind=kind, **options)
    return of_table(pa.table({"x": column}), want)


def of_file(path: Path, want: Want) -> Records:
    module = formats.load(formats.by_name(path))
    (chunk,) = module.chunks(path, want)
    return checked(module.parse(chunk, want, path.name), want)


def of_json(*values: str, kind: str, field: str = "x", **options: Any) -> Records:
    """One record for each JSON text, under the key x. field: the field to read."""
    return of_lines([f'{{"x": {value}}}' for value in values], Want(field, kind=kind, **options))


def of_lines(lines: list[str], want: Want) -> Records:
    from likewise.io.formats import lines as shared
    from likewise.records import Chunk

    chunk = Chunk(np.frombuffer(bytearray("\n".join(lines).encode()), np.uint8), 0, 1, shared.State(Path("x"), 0, ()))
    return checked(jsonl.parse(chunk, want, "x"), want)


def checked(records: Records, want: Want) -> Records:
    """Check the invariants of records of every kind."""
    n = len(records)
    assert len(records.text) == len(records.start) == len(records.length) == n
    assert records.text.null_count == 0
    sizes = pc.binary_length(records.text).to_numpy()
    assert not sizes[records.kind != TEXT].any()
    rejected = [entry.row for entry in records.rejected]
    assert rejected == np.flatnonzero(records.kind == REJECTED).tolist()
    assert all(entry.raw for entry in records.rejected)  # without bytes it would represent a failed source
    each = {"text": 1, "string": 1, "tokens": 8, "elements": 8, "weighted": 16, "sparse": 16, "code": 8, "features": 4}
    each = (each | {"vector": 8 if want.wide else 4})[want.kind]
    assert not (sizes % each).any()
    assert (records.width is not None) == (want.kind in ("vector", "sparse", "code", "features"))
    if want.kind == "vector":
        assert (records.width == sizes // each).all()
    return records


def kinds(records: Records) -> list[int]:
    return records.kind.tolist()


def words(records: Records) -> list[list[int]]:
    return [np.frombuffer(row, "<u8").tolist() for row in records.text.to_pylist()]


def numbers(records: Records, wide: bool = True) -> list[list[float]]:
    return [np.frombuffer(row, "<f8" if wide else "<f4").tolist() for row in records.text.to_pylist()]


def pairs(records: Records) -> list[list[tuple[int, float]]]:
    return [list(struct.iter_unpack("<Qd", row)) for row in records.text.to_pylist()]


def codes(records: Records) -> list[str]:
    return [row.hex() for row in records.text.to_pylist()]


def reasons(records: Records) -> list[str]:
    return [entry.reason for entry in records.rejected]


#: kind -> rows as Python values, and their Arrow type. The last two rows have no value.
ROWS: dict[str, tuple[list[Any], pa.DataType]] = {
    "tokens": ([[1, -2, 3], [], None, [4, None]], pa.list_(pa.int64())),
    "elements": ([[7, -1, 7], [], None, [4, None]], pa.list_(pa.int32())),
    "vector": ([[1.0, 0.5, -2.0], [], None, [4.0, None]], pa.list_(pa.float64())),
    "weighted": (
        [[{"element": "a", "weight": 1.5}, {"element": "b", "weight": 0.0}], [], None, [{"element": "a", "weight": None}]],
        pa.list_(pa.struct([("element", pa.string()), ("weight", pa.float64())])),
    ),
    "sparse": (
        [
            {"indices": [999999, 10, 5], "values": [3.0, 2.0, 1.0], "dim": 1000000},
            {"indices": [], "values": [], "dim": 1000000},
            None,
            {"indices": [1], "values": None, "dim": 1000000},
        ],
        pa.struct([("indices", pa.list_(pa.int64())), ("values", pa.list_(pa.float64())), ("dim", pa.int64())]),
    ),
    "code": ([[True, False, True], [], None, [True, None]], pa.list_(pa.bool_())),
    "features": ([[[1.0, 0.5], [-2.0, 4.0]], [], None, [[4.0, None]]], pa.list_(pa.list_(pa.float64()))),
    "string": (["Naïve ", "", None, None], pa.string()),
    "text": (["Naïve ", "", None, None], pa.string()),
}


def csr(kind: type = SimpleNamespace, **changed: Any) -> Any:
    """[[0, 2, 0, 1], [0, 0, 0, 0], [5, 0, 0, 0]] with the attributes of a CSR matrix of scipy."""
    parts = {"indptr": np.array([0, 2, 2, 3], np.int32), "indices": np.array([1, 3, 0], np.int32), "data": np.array([2.0, 1, 5], np.float32)}
    return kind(**{**parts, "shape": (3, 4), **changed})
