"""Sparse vectors as arrays: the nonzero coordinates, vector after vector."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.items.arrow import all_refused, filled, integers_of, is_list, listed, numbers_of
from likewise.items.given import SINGLE
from likewise.items.json_values import Texts, decoded, floats, rows_of
from likewise.items.payloads import ENTRY, Fault, Rows, ends
from likewise.items.python_values import UNFIT, as_json, as_vectors
from likewise.items.reader import Reader, csr_of, read
from likewise.items.sparse_names import LIST_AMONG_SPARSE, SPARSE
from likewise.items.words import is_word
from likewise.records import Want


@dataclass(frozen=True, slots=True, eq=False)
class Sparse:
    """n sparse vectors: vector i has the coordinates values[offsets[i] : offsets[i + 1]] at these indices, and 0 everywhere else."""

    indices: NDArray[np.uint64]  # [m], ascending and distinct within a vector
    values: NDArray[np.float64]  # [m], finite and nonzero
    offsets: NDArray[np.int64]  # [n + 1], from 0

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, rows: NDArray[np.int64]) -> Sparse:
        """The vectors of these rows, in the given order."""
        sizes = self.sizes[rows]
        ends = np.concatenate(([0], np.cumsum(sizes)))
        places = np.repeat(self.offsets[rows] - ends[:-1], sizes) + np.arange(ends[-1])
        return Sparse(self.indices[places], self.values[places], ends)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of nonzero coordinates of each: int64[n]."""
        return np.diff(self.offsets)

    def sums(self, of: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums over the entries of each vector: float64[n]. of: float64[m]."""
        return self.reduced(np.add, of)

    def reduced(self, join: np.ufunc, of: NDArray[np.float64]) -> NDArray[np.float64]:
        """A reduction, such as a maximum, over the entries of each vector, 0 without entries: float64[n]. of: float64[m]."""
        found, full = np.zeros(len(self)), self.sizes > 0
        if full.any():
            found[full] = join.reduceat(of, self.offsets[:-1][full])
        return found

    @property
    def arrays(self) -> tuple[NDArray[np.uint64], NDArray[np.float64], NDArray[np.int64]]:
        """(indices, values, offsets), as kernels take them."""
        return self.indices, self.values, self.offsets


class Entries(msgspec.Struct):
    """A sparse vector in JSON."""

    indices: list[int]
    values: list[float]
    dim: int | None = None


def of_words(words: NDArray[np.uint64], offsets: NDArray[np.int64]) -> Sparse:
    """Sparse vectors from the words of the work folder: for each vector the indices, followed by the values."""
    size = np.diff(offsets) // 2
    ends = np.concatenate(([0], np.cumsum(size)))
    place = np.arange(ends[-1]) + np.repeat(offsets[:-1] - ends[:-1], size)
    return Sparse(words[place], words[place + np.repeat(size, size)].view(np.float64), ends)


def words_of(vectors: Sparse) -> NDArray[np.uint64]:
    """The words for the work folder, uint64[2 m]: for each vector the indices, followed by the values."""
    size, ends = vectors.sizes, vectors.offsets
    place = np.arange(ends[-1]) + np.repeat(ends[:-1], size)
    words = np.empty(2 * len(place), np.uint64)
    words[place] = vectors.indices
    words[place + np.repeat(size, size)] = vectors.values.view(np.uint64)
    return words


def summed(row: NDArray[np.int64], index: NDArray[np.uint64], value: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """(row, index, value) sorted by row and index, with the values of repeated indices added up.

    Repeats are added in ascending order of values, so that their order in the input does not change the rounded sum.
    """
    if ((row[1:] > row[:-1]) | (index[1:] > index[:-1])).all():
        return row, index, value
    order = np.lexsort((value, index, row))
    row, index, value = row[order], index[order], value[order]
    first = np.flatnonzero(np.concatenate(([True], (row[1:] != row[:-1]) | (index[1:] != index[:-1]))))
    with np.errstate(over="ignore"):
        return row[first], index[first], np.add.reduceat(value, first)


def sparse(batch: Any) -> Sparse:
    """A batch of sparse vectors. Indices in any order; values of repeated ones add up, zeros are left out, as in scipy.

    batch: a CSR matrix, or a list of mappings with ``indices``, ``values`` and, optionally, ``dim``. Raises UsageError with the row.
    """
    if isinstance(batch, Sparse):
        return batch
    rows = read(batch, READER)
    return Sparse(rows.used["index"].copy(), rows.used["value"].copy(), rows.begins)


def nonempty(vectors: Sparse, what: str) -> Sparse:
    """Return the vectors. Raises UsageError with the row of the first without coordinates; ``what`` names what needs a direction, as "its angle"."""
    empty = vectors.sizes == 0
    if empty.any():
        raise UsageError(f"row {int(empty.argmax())} is the zero vector, which has no direction: {what} is undefined; remove such rows first")
    return vectors


def from_python(rows: list[Any]) -> pa.Array:
    """A column of structs, or of JSON texts."""
    rows = [{**row} if isinstance(row, Mapping) else row for row in rows]
    try:
        made = pa.array(rows)
    except UNFIT:
        return as_json(rows)
    return made if pa.types.is_struct(made.type) and not holds_none(made.type) else as_json(rows)


def holds_none(kind: pa.DataType) -> bool:
    """True for structs meant as sparse vectors with unsuitable types: a single index of 1.0 makes all indices float64."""
    if not pa.types.is_struct(kind) or not set(SPARSE[:2]) <= set(kind.names):
        return False
    indices, values, *dim = (kind.field(name).type for name in SPARSE if name in kind.names)
    lists = is_list(indices) and is_list(values)
    return not lists or not all(pa.types.is_integer(each) or pa.types.is_null(each) for each in (indices.value_type, *dim))


def from_arrow(values: pa.Array, want: Want) -> Rows | None:
    """Sparse vectors from structs of a list of indices, a list of values, and the dimension; None for other types."""
    if is_list(values.type) and (pa.types.is_integer(values.type.value_type) or pa.types.is_floating(values.type.value_type)):
        return all_refused(values, want, LIST_AMONG_SPARSE)
    if not pa.types.is_struct(values.type) or not set(SPARSE[:2]) <= set(values.type.names):
        return None
    fields = {name: pc.struct_field(values, [values.type.names.index(name)]) for name in SPARSE if name in values.type.names}
    dim = fields.get(SPARSE[2], pa.nulls(len(values), pa.int64()))
    indices, numbers = (listed(fields[name]) for name in SPARSE[:2])
    if indices is None or numbers is None:
        return None
    index, value, size = integers_of(indices[1]), numbers_of(numbers[1], np.float64), integers_of(dim)
    if index is None or value is None or size is None:
        return None
    said = dim.is_valid().to_numpy(zero_copy_only=False)
    return entries(filled(indices[0], index, indices[1]), filled(numbers[0], value, numbers[1]), size.astype(np.int64), said)


def from_json(texts: Texts, want: Want) -> Rows:
    """Sparse vectors from objects with indices, values and dim."""

    def other(value: Any) -> Any:
        return Fault(LIST_AMONG_SPARSE) if isinstance(value, list) and value and floats(value) else as_sparse(value)

    return rows_of_vectors(decoded(texts, Entries, other))


def as_sparse(value: Any) -> Entries | None:
    """A sparse vector with numbers that are too large for msgspec; None for other values."""
    if not isinstance(value, dict):
        return None
    indices, values, dim = (value.get(name) for name in SPARSE)
    whole = [*indices, 0 if dim is None else dim] if isinstance(indices, list) else [None]
    numbers = floats(values)
    if numbers is None or not isinstance(indices, list) or not all(isinstance(number, int) and not isinstance(number, bool) for number in whole):
        return None
    return Entries(indices, numbers, dim)


def rows_of_vectors(values: Sequence[Any]) -> Rows:
    """Rows of ENTRY from `Entries`, faults and None."""
    values = [in_words(value) if isinstance(value, Entries) else value for value in values]
    there = [value if isinstance(value, Entries) else Entries([], []) for value in values]
    indices = rows_of(values, [value.indices for value in there], lambda flat: np.array(flat, np.uint64))
    numbers = rows_of(values, [value.values for value in there], lambda flat: np.array(flat, np.float64))
    dim = np.array([max(-1, min(value.dim or 0, 2**63 - 1)) for value in there], np.int64)
    return entries(indices, numbers, dim, np.array([value.dim is not None for value in there], bool))


def in_words(vector: Entries) -> Entries | Fault:
    """Return the vector; a Fault if an index is out of range."""
    if vector.indices and (min(vector.indices) < 0 or not is_word(max(vector.indices))):
        item = next(place for place, index in enumerate(vector.indices) if index < 0 or not is_word(index))
        return Fault(f"index {vector.indices[item]} is out of range; indices go from 0 to 2^64 - 1", item, len(vector.indices))
    return vector


def entries(indices: Rows, values: Rows, dim: NDArray[np.int64], said: NDArray[np.bool_]) -> Rows:
    """Rows of ENTRY from rows of indices and rows of float64: ascending, repeats added up, without zeros.

    dim: int64[n], valid where ``said``.
    """
    gone = indices.gone | values.gone
    faults = {**indices.faults, **values.faults}
    uneven = ~gone & (indices.sizes != values.sizes)
    for at in np.flatnonzero(uneven).tolist():
        faults.setdefault(at, Fault(f"{indices.sizes[at]} indices and {values.sizes[at]} values; a sparse vector needs one value per index"))
    for at in np.flatnonzero(~gone & said & (dim < 0)).tolist():
        faults.setdefault(at, Fault(f"dim={dim[at]}; give 0 or more"))
    bad = gone | uneven
    indices, values = indices.without(bad), values.without(bad)
    index, value = (part.used for part in (indices, values))
    found = Rows(gone, ends(indices.sizes), np.zeros(0, ENTRY), np.where(said, dim, 0), faults)
    row = np.repeat(np.arange(len(gone)), indices.sizes)
    word = index.astype(np.uint64)
    below = index < 0 if index.dtype.kind == "i" else np.zeros(len(index), bool)
    out = below | (said[row] & (word >= dim.astype(np.uint64)[row]))
    found.refuse(below, lambda at: f"index {index[at]} is out of range: it counts from 0")
    found.refuse(out, lambda at: f"index {index[at]} is out of range: the dimension is {dim[row[at]]}")
    found.refuse(~np.isfinite(value), lambda at: f"{value[at]} is not a coordinate of a vector; give a finite number")
    good = np.ones(len(gone), bool)
    good[list(faults)] = False
    return merged(found, row[good[row]], word[good[row]], value[good[row]])


def merged(found: Rows, row: NDArray[np.int64], index: NDArray[np.uint64], value: NDArray[np.float64]) -> Rows:
    """``found`` with the entries (row, index, value), rows ascending. A sum beyond float64 is a fault."""
    row, index, value = summed(row, index, value)
    for at in np.flatnonzero(np.isinf(value)).tolist():
        found.faults.setdefault(int(row[at]), Fault(f"the values at index {index[at]} add up beyond the range of float64; scale the vectors"))
    some = value != 0
    found.values = np.empty(int(some.sum()), ENTRY)
    found.values["index"], found.values["value"] = index[some], value[some]
    found.offsets = ends(np.bincount(row[some], minlength=len(found)))
    return found


def positions(rows: Rows, words: Callable[[NDArray[np.uint64]], NDArray[np.uint64]]) -> Rows:
    """The indices of sparse vectors as elements of sets."""
    return replace(rows, values=words(rows.values["index"]), width=None)


def alone(given: Any) -> bool:
    """True for a single sparse vector."""
    return isinstance(given, Mapping) and {"indices", "values"} <= given.keys()


def is_sparse(batch: Any) -> bool:
    """True for a batch of sparse vectors: a matrix, or a list of mappings."""
    if isinstance(batch, Sparse):
        return True
    if isinstance(batch, Sequence) and not isinstance(batch, SINGLE):
        return len(batch) > 0 and isinstance(batch[0], Mapping)
    return csr_of(batch) is not None


#: A payload is pairs of a uint64 index and a float64 value; indices ascending and distinct, values finite and not 0.
READER = Reader(
    "sparse",
    "sparse vector",
    'sparse vectors: a CSR matrix, or a list of mappings {"indices": [..], "values": [..]}',
    from_python,
    from_arrow,
    from_json,
    from_csr=as_vectors,
    by_parts=True,
    columns=SPARSE[:2],
)
