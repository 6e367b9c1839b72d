"""Sparse vectors as arrays: the coordinates that are not 0, vector after vector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.items.given import SINGLE, borders, is_number, is_whole, shown

FORMS = 'sparse vectors are a CSR matrix, or a list of mappings {"indices": [..], "values": [..]}'
PARTS = ("indptr", "indices", "data", "shape")


@dataclass(frozen=True, slots=True, eq=False)
class Sparse:
    """Vector i has the coordinates values[offsets[i] : offsets[i + 1]] at these indices, and 0 everywhere else."""

    indices: NDArray[np.uint64]  # [m], ascending and distinct within a vector
    values: NDArray[np.float64]  # [m], finite and not 0
    offsets: NDArray[np.int64]  # [n + 1], from 0

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, rows: NDArray[np.int64]) -> Sparse:
        """The vectors of these rows, in this order."""
        sizes = self.sizes[rows]
        ends = np.concatenate(([0], np.cumsum(sizes)))
        places = np.repeat(self.offsets[rows] - ends[:-1], sizes) + np.arange(ends[-1])
        return Sparse(self.indices[places], self.values[places], ends)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many coordinates of each are not 0."""
        return np.diff(self.offsets)

    def sums(self, of: NDArray[np.float64]) -> NDArray[np.float64]:
        """Σ over the entries of each vector; of: float64[m]."""
        return self.reduced(np.add, of)

    def reduced(self, join: np.ufunc, of: NDArray[np.float64]) -> NDArray[np.float64]:
        """Such as Σ or max over the entries of each vector, 0 of none; of: float64[m]."""
        found, full = np.zeros(len(self)), self.sizes > 0
        if full.any():
            found[full] = join.reduceat(of, self.offsets[:-1][full])
        return found

    @property
    def arrays(self) -> tuple[NDArray[np.uint64], NDArray[np.float64], NDArray[np.int64]]:
        """As kernels take them."""
        return self.indices, self.values, self.offsets


def of_words(words: NDArray[np.uint64], offsets: NDArray[np.int64]) -> Sparse:
    """From the words of the work folder: of each vector the indices, and then the values."""
    size = np.diff(offsets) // 2
    ends = np.concatenate(([0], np.cumsum(size)))
    place = np.arange(ends[-1]) + np.repeat(offsets[:-1] - ends[:-1], size)
    return Sparse(words[place], words[place + np.repeat(size, size)].view(np.float64), ends)


def words_of(vectors: Sparse) -> NDArray[np.uint64]:
    """The words of the work folder, uint64[2 m]."""
    size, ends = vectors.sizes, vectors.offsets
    place = np.arange(ends[-1]) + np.repeat(ends[:-1], size)
    words = np.empty(2 * len(place), np.uint64)
    words[place] = vectors.indices
    words[place + np.repeat(size, size)] = vectors.values.view(np.uint64)
    return words


def summed(row: NDArray[np.int64], index: NDArray[np.uint64], value: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Entries in order of row and index, those of one index added up, from the least value up, so that their order changes nothing."""
    if ((row[1:] > row[:-1]) | (index[1:] > index[:-1])).all():
        return row, index, value
    order = np.lexsort((value, index, row))
    row, index, value = row[order], index[order], value[order]
    first = np.flatnonzero(np.concatenate(([True], (row[1:] != row[:-1]) | (index[1:] != index[:-1]))))
    with np.errstate(over="ignore"):
        return row[first], index[first], np.add.reduceat(value, first)


def csr_of(given: Any) -> Any | None:
    """A CSR matrix: scipy's, or whatever has its parts or can become one. None for anything else."""
    if hasattr(given, "tocsr"):
        return given.tocsr()
    return given if all(hasattr(given, part) for part in PARTS) and getattr(given, "format", "csr") == "csr" else None


def alone(given: Any) -> bool:
    """Whether this is one sparse vector and not a batch."""
    return isinstance(given, Mapping) and {"indices", "values"} <= given.keys()


def is_sparse(batch: Any) -> bool:
    """Whether this is a batch of sparse vectors: a matrix, or a list of mappings."""
    if isinstance(batch, Sparse):
        return True
    if isinstance(batch, Sequence) and not isinstance(batch, SINGLE):
        return len(batch) > 0 and isinstance(batch[0], Mapping)
    return csr_of(batch) is not None


def sparse(batch: Any) -> Sparse:
    """A batch of sparse vectors. Indices in any order; the values of repeated ones add up, zeros are left out, as scipy has it.

    batch: a CSR matrix, or a list of mappings with ``indices``, ``values`` and, if wanted, ``dim``. Raises UsageError with the row.
    """
    if isinstance(batch, Sparse):
        return batch
    index, value, offsets, dim = of_matrix(csr_of(batch)) if not isinstance(batch, Sequence) else of_mappings(batch)
    row = np.repeat(np.arange(len(dim)), np.diff(offsets))
    below = index < 0 if index.dtype.kind == "i" else np.zeros(len(index), bool)
    out = below | ((dim[row] >= 0) & (index.astype(np.uint64) >= dim[row].astype(np.uint64)))
    if out.any():
        at = int(out.argmax())
        why = "it counts from 0" if below[at] else f"the dimension is {dim[row[at]]}"
        raise UsageError(f"row {row[at]}: index {index[at]} is out of range: {why}")
    if (odd := ~np.isfinite(value)).any():
        raise UsageError(f"row {row[odd.argmax()]}: {value[odd.argmax()]} is no coordinate of a vector; give a finite number")
    row, index, value = summed(row, index.astype(np.uint64), value)
    if (infinite := np.isinf(value)).any():
        raise UsageError(f"row {row[infinite.argmax()]}: the values of one index add up beyond the range of float64; scale the vectors")
    some = value != 0
    return Sparse(index[some], value[some], np.concatenate(([0], np.cumsum(np.bincount(row[some], minlength=len(dim))))))


Parts = tuple[NDArray[Any], NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]  # indices, values, offsets, dimension of each or -1


def of_matrix(given: Any) -> Parts:
    offsets, index, value = (np.asarray(part) for part in (given.indptr, given.indices, given.data))
    if len(given.shape) != 2 or value.dtype.kind not in "iufb" or index.dtype.kind not in "iu":
        raise UsageError(f"a CSR matrix holds numbers and has two dimensions; here came one of {value.dtype} of shape {tuple(given.shape)}")
    offsets = borders(offsets, min(len(index), len(value)))
    used = slice(int(offsets[0]), int(offsets[-1]))
    return index[used], value[used].astype(np.float64), offsets - offsets[0], np.full(len(offsets) - 1, given.shape[1], np.int64)


def of_mappings(batch: Sequence[Any]) -> Parts:
    index: list[int] = []
    value: list[float] = []
    sizes, dims = [0], []
    for row, one in enumerate(batch):
        indices, values, dim = (one.get(name) for name in ("indices", "values", "dim")) if isinstance(one, Mapping) else (None, None, None)
        if indices is None or values is None:
            raise UsageError(f"row {row} is {shown(one)}; {FORMS}")
        indices, values = list(indices), list(values)
        if len(indices) != len(values):
            raise UsageError(f"row {row}: {len(indices)} indices and {len(values)} values; a sparse vector has a value for each index")
        if odd := [number for number in [*indices, 0 if dim is None else dim] if not is_whole(number) or not 0 <= number < 2**64]:
            raise UsageError(f"row {row}: index {shown(odd[0])} is out of range; indices are whole numbers from 0 to 2^64 - 1")
        if odd := [number for number in values if not is_number(number)]:
            raise UsageError(f"row {row}: {shown(odd[0])}; a coordinate is a number (int or float)")
        index += indices
        value += values
        sizes.append(len(index))
        dims.append(-1 if dim is None else min(int(dim), 2**63 - 1))
    try:
        numbers = np.array(value, np.float64)
    except OverflowError:
        raise UsageError("a sparse vector holds a whole number beyond the range of float64; scale the vectors") from None
    return np.array(index, np.uint64), numbers, np.array(sizes, np.int64), np.array(dims, np.int64)


def nonempty(vectors: Sparse, what: str) -> Sparse:
    """The same vectors. Raises UsageError with the row of the first without a coordinate; ``what`` says what needs a direction, as "its angle"."""
    empty = vectors.sizes == 0
    if empty.any():
        raise UsageError(f"row {int(empty.argmax())} is the zero vector, which has no direction: {what} is undefined; take such rows out first")
    return vectors
