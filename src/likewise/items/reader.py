"""The one reader of items, for every verb, measure and family: turns values of Python, Arrow and JSON into the payload of a kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from likewise.errors import UsageError
from likewise.items import unusable
from likewise.items.arrow import PAIR, chunked, is_arrow, is_string, plain, valid
from likewise.items.given import borders, is_number, refuse_masked, shown
from likewise.items.given import rows as rows_of_batch
from likewise.items.json_values import Texts
from likewise.items.payloads import Rows, fit, item, joined, nothing
from likewise.items.python_values import of_csr, of_lists, of_numbers
from likewise.items.sparse_names import SPARSE, are_parts
from likewise.records import Want

#: Parts that a matrix in rows has (scipy's CSR).
CSR = ("indptr", "indices", "data", "shape")


@dataclass(frozen=True, slots=True)
class Reader:
    """How items of one kind are read."""

    kind: str  # a key of records.PAYLOADS
    item: str  # one of them, in messages
    forms: str  # what a batch of them may be given as in Python, beside a table
    from_python: Callable[[list[Any]], pa.Array]  # a column of items, None being none; TypeError for values that no column holds
    from_arrow: Callable[[pa.Array, Want], Rows | None]  # None where values of that type are no items
    from_json: Callable[[Texts, Want], Rows]
    dimensions: str = ""  # that an array of items may have
    numbers: str = ""  # and the kinds of its numbers, numpy's letters
    single: tuple[type, ...] = ()  # types of one item that are no batch
    strings: int = 0  # dimensions of an array of strings that holds items; 0: none does
    arrays: int = 0  # how many arrays stand for a batch, as in (values, offsets)
    from_strings: Callable[[pa.Array], Rows] | None = None  # of a column of strings, where those are items
    from_array: Callable[[np.ndarray], pa.Array] = of_numbers  # of an array that `fits`
    checked: Callable[[Rows, Want], Rows] = lambda rows, want: rows  # once the parts of each row are joined
    whole: bool = False  # a row that lacks one of its parts has no value
    joins: bool = True  # a row may have several parts

    def fits(self, shape: tuple[int, ...], dtype: np.dtype) -> bool:
        """True if an array of this shape and type holds items, a row each."""
        whole = dtype.itemsize <= 8 and 0 not in shape[1:] and (len(shape) > 1 or dtype.kind != "b")
        return str(len(shape)) in self.dimensions and dtype.kind in self.numbers and whole

    def is_one(self, array: Any) -> bool:
        """True if a rejected array, or its header, is a single item: it has numbers of the kind, and one dimension too few."""
        return len(array.shape) == int(self.dimensions[-1:] or 0) - 1 and array.dtype.kind in self.numbers

    def column(self, given: Any) -> pa.Array | None:
        """The items of an array, of a matrix, or of the parts of one; None where ``given`` is something else."""
        if (matrix := csr_of(given)) is not None:
            return of_csr(matrix, self.kind, self.forms)
        if isinstance(given, tuple) and given and all(isinstance(part, np.ndarray) for part in given):
            return self._of_parts(given)
        refuse_masked(given, f"give {self.forms}")
        if not hasattr(given, "__array__") or is_arrow(given) or (array := np.asarray(given)).dtype == object:
            return None
        if (array.dtype.kind in "UT" and array.ndim == self.strings) or array.shape == (0,):
            return self.items(array.tolist())
        if not self.fits(array.shape, array.dtype):
            alone = f"; one {self.item} alone is a batch of one: [{self.item}]" if self.is_one(array) else ""
            raise UsageError(f"give {self.forms}; here came an array of {array.dtype} of shape {array.shape}{alone}")
        if self.kind == "elements":
            refuse_flags(array)
        return self.from_array(array)

    def items(self, rows: list[Any]) -> pa.Array:
        """A column of these items, None being none."""
        try:
            return self.from_python(rows)
        except TypeError as error:
            raise UsageError(f"{error}; give {self.forms}") from error

    def listed(self, rows: list[Any]) -> pa.Array:
        """The same of a list of items. A list of numbers is one vector, and no batch of vectors of one number."""
        if self.kind == "vector" and (numbers := [row for row in rows if is_number(row)]):
            where = f"row {next(place for place, row in enumerate(rows) if row is numbers[0])} is the number {shown(numbers[0])}"
            raise UsageError(f"{where}; give {self.forms}; one {self.item} alone is a batch of one: [{self.item}]")
        return self.items(rows)

    def _of_parts(self, given: tuple[np.ndarray, ...]) -> pa.Array:
        """(values, offsets), of sets of features with a feature a row; of weighted sets (values, weights, offsets)."""
        *parts, offsets = given
        for part in given:
            refuse_masked(part, f"give {self.forms}")
        dimension = 2 if self.kind == "features" else 1
        good = [part.ndim == dimension and part.dtype.kind in "iuf" + "UO" * (self.kind == "elements") and 0 not in part.shape[1:] for part in parts]
        if len(given) != self.arrays or not all(good):
            came = ", ".join(f"{part.dtype} of shape {part.shape}" for part in given)
            raise UsageError(f"give {self.forms}; here came a tuple of {len(given)} arrays, {came}")
        offsets = borders(offsets, min(map(len, parts)))
        values = [pa.array(part.tolist()) if part.dtype.kind in "UO" else of_numbers(part) for part in parts]
        return of_lists(offsets, values[0] if len(values) == 1 else pa.StructArray.from_arrays(values, PAIR))


def refuse_flags(array: np.ndarray) -> None:
    """Raises UsageError for a 2-D array of 0 and 1. One of two columns is a matrix too, although two such lists may be sets."""
    if array.dtype != bool and array.shape[1] > 1 and (array == 1).any() and (array == 0).any() and ((array == 0) | (array == 1)).all():
        raise UsageError(unusable.MATRIX)


def csr_of(given: Any) -> Any | None:
    """A CSR matrix: scipy's, or whatever has its parts or can become one. None for anything else."""
    if hasattr(given, "tocsr"):
        return given.tocsr()
    return given if all(hasattr(given, part) for part in CSR) and getattr(given, "format", "csr") == "csr" else None


def from_arrow(columns: Sequence[pa.Array | None], names: Sequence[str], reader: Reader, want: Want, n: int, strings: bool) -> Rows:
    """Rows from the columns that hold the items or their parts; a column may be missing (None). ``strings``: the first is a column of strings."""
    if reader.kind in ("sparse", "elements") and are_parts(names):
        there = [(column, name) for column, name in zip(columns, SPARSE, strict=False) if column is not None]
        columns = [pa.StructArray.from_arrays(*zip(*there, strict=True)) if there else None]
    return compared([_with_others(column, reader, want, n, strings) for column in columns], reader, want)


def from_json(parts: Sequence[Texts], reader: Reader, want: Want) -> Rows:
    """Rows from the JSON texts of the parts of items; a text may be missing (None). A row with a value of another type has no value."""
    found = []
    for texts in parts:
        rows = reader.from_json(texts, want)
        rows.other = unusable.of_texts(texts, rows.gone)
        found.append(rows)
    return compared(found, reader, want)


def compared(parts: Sequence[Rows], reader: Reader, want: Want) -> Rows:
    """The rows that are compared, joined from their parts."""
    if not reader.joins and len(parts) > 1:
        raise UsageError(f"--field: {reader.item} is one field; name it alone, without +")
    rows = reader.checked(joined(parts, whole=reader.whole), want)
    if rows.width is None and reader.kind in ("sparse", "code", "features"):
        rows.width = np.zeros(len(rows), np.int64)
    return rows


def part(values: pa.Array, reader: Reader, want: Want, strings: bool) -> Rows | None:
    """The rows of a column; None where values are of another type."""
    if isinstance(values.type, pa.JsonType):
        texts = [None if text in (None, "null") else text.encode("utf-8", "surrogatepass") for text in values.storage.to_pylist()]
        return from_json([texts], reader, want)
    if strings and reader.from_strings and pa.types.is_large_binary(values.type):
        return reader.from_strings(values)
    return reader.from_arrow(values, want)


def _with_others(values: pa.Array | None, reader: Reader, want: Want, n: int, strings: bool) -> Rows:
    """The rows of a column, with a description of values of other kinds; without a column, rows without a value."""
    found = None if values is None else part(values, reader, want, strings)
    if found is None:
        found = nothing(n, item(want))
    if values is not None and not found.other:
        found.other = unusable.of_column(values, found.gone)
    return found


def read(batch: Any, reader: Reader, want: Want | None = None) -> Rows:
    """All items of a batch from Python: a list, an array, a matrix, arrays of parts, or what hands itself over as an Arrow array.

    Raises UsageError with the row, counted from 0, for the first that has no value, or one that has no meaning or another width.
    """
    return read_column(column_of(batch, reader), reader, want or Want(kind=reader.kind))


def column_of(batch: Any, reader: Reader) -> pa.ChunkedArray:
    """The items of a batch as a column."""
    if is_arrow(batch):
        return valid(chunked(batch, SPARSE[:2] if reader.kind == "sparse" else ()))
    if (found := reader.column(batch)) is None:
        given = rows_of_batch(batch, f"give {reader.forms}", (reader.single, f"one {reader.item} alone is a batch of one: [{reader.item}]"))
        found = reader.listed([*given])
    return pa.chunked_array([found])


def read_column(column: pa.ChunkedArray, reader: Reader, want: Want) -> Rows:
    """The items of a column, as `read` has them."""
    chunks = [plain(chunk) for chunk in column.chunks] or [plain(pa.array([], column.type))]
    values = chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)
    rows = from_arrow([values], [want.text], reader, want, len(values), is_string(column.type))
    if rows.width is not None and rows.width.any():
        first = int(np.argmax(rows.width > 0))
        fit(rows, want._replace(width=int(rows.width[first]), first=f"row {first}"))
    refuse(rows, values, reader)
    return rows


def refuse(rows: Rows, values: pa.Array, reader: Reader) -> None:
    """Raises UsageError for the first row without a value, or with one that has no meaning."""
    bad = rows.gone.copy()
    bad[list(rows.faults)] = True
    if not bad.any():
        return
    row = int(bad.argmax())
    if (fault := rows.faults.get(row)) is not None:
        where = f"row {row}" + (f", item {fault.item + 1} of {fault.of}" if fault.item >= 0 else "")
        raise UsageError(f"{where}: {fault.what}")
    other = unusable.of_column(values.slice(row, 1), np.ones(1, bool))
    raise UsageError(f"row {row} " + (f"holds {other}; {unusable.needed(other, reader.kind)}" if other else f"is None; a {reader.item} is wanted"))
