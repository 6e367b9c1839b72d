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
from likewise.items.given import borders, is_number, refuse_deep, refuse_masked, shown
from likewise.items.given import rows as rows_of_batch
from likewise.items.json_values import Texts
from likewise.items.payloads import Rows, fit, item, joined, nothing
from likewise.items.python_values import of_csr, of_lists, of_numbers
from likewise.items.sparse_names import SPARSE, are_parts
from likewise.kinds import of_payload
from likewise.messages import option
from likewise.records import Want

#: The parts of a CSR matrix (scipy's).
CSR = ("indptr", "indices", "data", "shape")


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads items of one kind."""

    kind: str  # the payload of the kind (Kind.payload)
    item: str  # one item, in messages
    forms: str  # the accepted forms of a batch in Python, for messages
    from_python: Callable[[list[Any]], pa.Array]  # a column of items, None for a missing one; raises TypeError for values that no column can hold
    from_arrow: Callable[[pa.Array, Want], Rows | None]  # None if values of that type are not items
    from_json: Callable[[Texts, Want], Rows]
    dimensions: str = ""  # valid numbers of dimensions of an array of items
    numbers: str = ""  # the kinds of its numbers, as numpy's letters
    single: tuple[type, ...] = ()  # types of a single item, not a batch
    strings: int = 0  # dimensions of an array of strings that is a batch; 0: not supported
    arrays: int = 0  # the number of arrays that represent a batch, as in (values, offsets)
    from_strings: Callable[[pa.Array], Rows] | None = None  # reads a column of strings, if those are items
    from_array: Callable[[np.ndarray], pa.Array] = of_numbers  # reads an array that `fits`
    checked: Callable[[Rows, Want], Rows] = lambda rows, want: rows  # checks rows once their parts are joined
    from_csr: Callable[[np.ndarray, pa.Array, pa.Array, int], pa.Array] | None = (
        None  # a column of the offsets, indices and values of a CSR matrix, and its number of columns
    )
    refuse_array: Callable[[np.ndarray], None] = lambda array: None  # raises UsageError for an array that is not meant as items
    from_cells: Callable[[pa.LargeBinaryArray, int, Want, bool], Rows] | None = (
        None  # of cells of a CSV file, that many columns per item; True: decimal
    )
    decimal: bool = False  # the cells of a column may be hexadecimal or decimal
    in_kernel: bool = False  # JSON lists of these items are parsed by kernels.json
    by_parts: bool = False  # the parts of sparse vectors (items.sparse_names) may be columns or fields of their own
    columns: tuple[str, ...] = ()  # the columns of a table that is a batch of items
    whole: bool = False  # a row without one of its parts has no value
    joins: bool = True  # a row may have several parts

    def fits(self, shape: tuple[int, ...], dtype: np.dtype) -> bool:
        """True if an array of this shape and dtype is a batch, an item a row."""
        whole = dtype.itemsize <= 8 and 0 not in shape[1:] and (len(shape) > 1 or dtype.kind != "b")
        return str(len(shape)) in self.dimensions and dtype.kind in self.numbers and whole

    @property
    def part_dimension(self) -> int:
        """The dimension of the arrays that hold the values of all items end to end: one less than that of an array of items."""
        return max(1, int(self.dimensions[-1:] or 0) - 1)

    def is_one(self, array: Any) -> bool:
        """True if a rejected array, or its header, is a single item: numbers of the kind, and one dimension too few."""
        return len(array.shape) == int(self.dimensions[-1:] or 0) - 1 and array.dtype.kind in self.numbers

    def column(self, given: Any) -> pa.Array | None:
        """The items of an array, of a matrix, or of the parts of one; None for other types. Raises UsageError for unsuitable arrays."""
        if (matrix := csr_of(given)) is not None:
            if self.from_csr is None:
                raise UsageError(f"give {self.forms}; got a sparse matrix of {np.asarray(matrix.data).dtype} of shape {tuple(matrix.shape)}")
            return of_csr(matrix, self.from_csr, self.forms)
        if self.arrays and isinstance(given, tuple) and given and all(isinstance(part, np.ndarray) for part in given):
            return self._of_parts(given)
        refuse_masked(given, f"give {self.forms}")
        if not hasattr(given, "__array__") or is_arrow(given) or (array := np.asarray(given)).dtype == object:
            return None
        if (array.dtype.kind in "UT" and array.ndim == self.strings) or array.shape == (0,):
            return self.items(array.tolist())
        if not self.fits(array.shape, array.dtype):
            alone = f"; one {self.item} alone is a batch of one: [{self.item}]" if self.is_one(array) else ""
            raise UsageError(f"give {self.forms}; got an array of {array.dtype} of shape {array.shape}{alone}")
        self.refuse_array(array)
        return self.from_array(array)

    def items(self, rows: list[Any]) -> pa.Array:
        """A column of these items, in which None stands for a missing one. Raises UsageError for values that cannot be items."""
        refuse_deep(rows)
        try:
            return self.from_python(rows)
        except TypeError as error:
            raise UsageError(f"{error}; give {self.forms}") from error

    def listed(self, rows: list[Any]) -> pa.Array:
        """A column of a list of items. Raises UsageError for a list of numbers if items are vectors: it is one vector."""
        if of_payload(self.kind).numbered and (numbers := [row for row in rows if is_number(row)]):
            where = f"row {next(place for place, row in enumerate(rows) if row is numbers[0])} is the number {shown(numbers[0])}"
            raise UsageError(f"{where}; give {self.forms}; one {self.item} alone is a batch of one: [{self.item}]")
        return self.items(rows)

    def _of_parts(self, given: tuple[np.ndarray, ...]) -> pa.Array:
        """A column from (values, offsets), for sets of features with one feature per row; for weighted sets from (values, weights, offsets)."""
        *parts, offsets = given
        for part in given:
            refuse_masked(part, f"give {self.forms}")
        good = [
            part.ndim == self.part_dimension and part.dtype.kind in "iuf" + "UO" * bool(self.strings) and 0 not in part.shape[1:] for part in parts
        ]
        if len(given) != self.arrays or not all(good):
            came = ", ".join(f"{part.dtype} of shape {part.shape}" for part in given)
            raise UsageError(f"give {self.forms}; got a tuple of {len(given)} arrays, {came}")
        offsets = borders(offsets, min(map(len, parts)))
        values = [pa.array(part.tolist()) if part.dtype.kind in "UO" else of_numbers(part) for part in parts]
        return of_lists(offsets, values[0] if len(values) == 1 else pa.StructArray.from_arrays(values, PAIR))


def csr_of(given: Any) -> Any | None:
    """The CSR matrix, from scipy or any object with its parts or a conversion; None for anything else."""
    if hasattr(given, "tocsr"):
        return given.tocsr()
    return given if all(hasattr(given, part) for part in CSR) and getattr(given, "format", "csr") == "csr" else None


def from_arrow(columns: Sequence[pa.Array | None], names: Sequence[str], reader: Reader, want: Want, n: int, strings: bool) -> Rows:
    """Rows from the columns of the items or their parts; a column may be missing (None). strings: the first is a column of strings."""
    if reader.by_parts and are_parts(names):
        there = [(column, name) for column, name in zip(columns, SPARSE, strict=False) if column is not None]
        columns = [pa.StructArray.from_arrays(*zip(*there, strict=True)) if there else None]
    return compared([_with_others(column, reader, want, n, strings) for column in columns], reader, want)


def from_json(parts: Sequence[Texts], reader: Reader, want: Want) -> Rows:
    """Rows from the JSON texts of the parts of items; a text may be missing (None). A value of another type is missing."""
    found = []
    for texts in parts:
        rows = reader.from_json(texts, want)
        rows.other = unusable.of_texts(texts, rows.gone)
        found.append(rows)
    return compared(found, reader, want)


def compared(parts: Sequence[Rows], reader: Reader, want: Want) -> Rows:
    """The rows to compare, joined from their parts. Raises UsageError for several parts if the kind has one field."""
    if not reader.joins and len(parts) > 1:
        raise UsageError(f"{option('field')}: {reader.item} must be in one field; name a single field, without +")
    rows = reader.checked(joined(parts, whole=reader.whole), want)
    if rows.width is None and of_payload(reader.kind).wide:
        rows.width = np.zeros(len(rows), np.int64)
    return rows


def part(values: pa.Array, reader: Reader, want: Want, strings: bool) -> Rows | None:
    """The rows of a column; None if its values have another type."""
    if isinstance(values.type, pa.JsonType):
        texts = [None if text in (None, "null") else text.encode("utf-8", "surrogatepass") for text in values.storage.to_pylist()]
        return from_json([texts], reader, want)
    if strings and reader.from_strings and pa.types.is_large_binary(values.type):
        return reader.from_strings(values)
    return reader.from_arrow(values, want)


def _with_others(values: pa.Array | None, reader: Reader, want: Want, n: int, strings: bool) -> Rows:
    """The rows of a column, with a description of values of other types; without a column, rows without values."""
    found = None if values is None else part(values, reader, want, strings)
    if found is None:
        found = nothing(n, item(want))
    if values is not None and not found.other:
        found.other = unusable.of_column(values, found.gone)
    return found


def read(batch: Any, reader: Reader, want: Want | None = None) -> Rows:
    """All items of a batch from Python: a list, an array, a matrix, arrays of parts, or an object that exports an Arrow array.

    Raises UsageError with the row, counted from 0, for the first missing or invalid value, or one of another width.
    """
    return read_column(column_of(batch, reader), reader, want or Want(kind=reader.kind))


def column_of(batch: Any, reader: Reader) -> pa.ChunkedArray:
    """The items of a batch as a column. Raises UsageError for objects that are not batches."""
    if is_arrow(batch):
        found = valid(chunked(batch, reader.columns))
        numbers = pa.types.is_integer(found.type) or pa.types.is_floating(found.type) or pa.types.is_decimal(found.type)
        if numbers and of_payload(reader.kind).numbered:
            alone = f"one {reader.item} alone is a batch of one: [{reader.item}]"
            raise UsageError(f"give {reader.forms}; got an Arrow array of {found.type}; {alone}")
        return found
    if (found := reader.column(batch)) is None:
        given = rows_of_batch(batch, f"give {reader.forms}", (reader.single, f"one {reader.item} alone is a batch of one: [{reader.item}]"))
        found = reader.listed([*given])
    return pa.chunked_array([found])


def read_column(column: pa.ChunkedArray, reader: Reader, want: Want) -> Rows:
    """The items of a column. Raises UsageError like `read`."""
    chunks = [plain(chunk) for chunk in column.chunks] or [plain(pa.nulls(0, column.type))]
    values = chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)
    rows = from_arrow([values], [want.text], reader, want, len(values), is_string(column.type))
    if rows.width is not None and rows.width.any():
        first = int(np.argmax(rows.width > 0))
        fit(rows, want._replace(width=int(rows.width[first]), first=f"row {first}"))
    refuse(rows, values, reader)
    return rows


def refuse(rows: Rows, values: pa.Array, reader: Reader) -> None:
    """Raises UsageError for the first row with a missing or invalid value."""
    bad = rows.gone.copy()
    bad[list(rows.faults)] = True
    if not bad.any():
        return
    row = int(bad.argmax())
    if (fault := rows.faults.get(row)) is not None:
        where = f"row {row}" + (f", item {fault.item + 1} of {fault.of}" if fault.item >= 0 else "")
        raise UsageError(f"{where}: {fault.what}")
    other = unusable.of_column(values.slice(row, 1), np.ones(1, bool))
    raise UsageError(f"row {row} " + (f"holds {other}; {unusable.needed(other, reader.kind)}" if other else f"is None; expected a {reader.item}"))
