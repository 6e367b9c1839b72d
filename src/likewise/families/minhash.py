"""MinHash: two sets agree in a slot with the chance of their Jaccard similarity (SPEC 3)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.kernels import minhash as kernels

Slots = NDArray[np.uint32]
#: Sets end to end and where each begins: values uint64[m], offsets int64[n + 1]. Or one array or set of integers for each.
Batch = tuple[NDArray[Any], NDArray[Any]] | Sequence[Iterable[int]]

MODES = ("oph", "classic")


@dataclass(frozen=True, slots=True)
class MinHash:
    """Signatures of ``slots`` hashes. ``oph`` is near-linear in time, ``classic`` the textbook's independent functions.

    Two signatures compare when slots, mode and seed are the same. Elements are whole numbers of 64 bits, signed or unsigned (-1 is
    2^64 - 1); hash anything else first. They need no mixing, and may repeat.

    >>> family = MinHash(256)
    >>> a, b = family.signature([range(100), range(50, 150)])
    >>> abs(family.estimate(a, b) - 1 / 3) < 4 * family.standard_error(1 / 3)
    True
    """

    slots: int = 128
    mode: str = "oph"
    seed: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.slots, bool) or not isinstance(self.slots, int) or not 1 <= self.slots < 2**31:
            raise UsageError(f"MinHash slots {self.slots!r}: give a whole number of 1 or more, as in MinHash(128)")
        if self.mode not in MODES:
            raise UsageError(f"MinHash mode {self.mode!r}: choose one of {', '.join(MODES)}")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or not 0 <= self.seed < 2**64:
            raise UsageError(f"MinHash seed {self.seed!r}: give a whole number from 0 to 2^64-1")

    @property
    def scheme(self) -> str:
        """Names how slots are computed: signatures of another scheme do not compare."""
        return f"{kernels.SCHEME}/{self.mode}/{self.slots}"

    def signature(self, batch: Batch) -> Slots:
        """One row a set, uint32[n, slots]. All slots of an empty set are 2^32 - 1."""
        values, offsets = ragged(batch)
        signatures: Slots = kernels.sketch(values, offsets, self.slots, np.uint64(self.seed), self.mode == "classic")
        return signatures

    def band_keys(self, batch: Batch, bands: int, rows: int) -> NDArray[np.uint64]:
        """The keys of the first ``bands * rows`` slots in bands of so many rows, uint64[bands, n].

        Empty sets have keys like any other, and the same: it is for the caller to pair them or not (SPEC 8).
        """
        values, offsets = ragged(batch)
        check_layout(bands, rows, self.slots)
        keys: NDArray[np.uint64] = kernels.sketch_bands(values, offsets, self.slots, bands, rows, np.uint64(self.seed), self.mode == "classic")
        return keys

    def band_keys_of(self, signatures: Slots, bands: int, rows: int) -> NDArray[np.uint64]:
        """What `band_keys` gives for the sets that these signatures, uint32[n, slots], are of."""
        signatures = np.ascontiguousarray(np.atleast_2d(self.checked(signatures)))
        check_layout(bands, rows, self.slots)
        keys: NDArray[np.uint64] = kernels.band_keys(read_only(signatures), bands, rows, np.uint64(self.seed))
        return keys

    def probability(self, similarity: float) -> float:
        """The chance that two sets of this Jaccard similarity agree in a slot."""
        if not 0 <= similarity <= 1:
            raise UsageError(f"similarity {similarity!r}: give a number from 0 to 1")
        return float(similarity)

    def estimate(self, a: Slots, b: Slots) -> Any:
        """The share of slots that agree, an unbiased estimate of Jaccard similarity; NaN for two empty sets.

        One row each gives a float, rows give float64[n]; one row against rows compares it with each.
        """
        a, b = self.checked(a), self.checked(b)
        share = (a == b).mean(axis=-1)
        both_empty = (a == kernels.EMPTY).all(axis=-1) & (b == kernels.EMPTY).all(axis=-1)
        share = np.where(both_empty, np.nan, share)
        return float(share) if share.ndim == 0 else share

    def standard_error(self, similarity: float) -> float:
        """sqrt(J(1-J)/slots): of the estimate with independent slots; that of ``oph`` is at most so large."""
        chance = self.probability(similarity)
        return math.sqrt(chance * (1 - chance) / self.slots)

    def merge(self, a: Slots, b: Slots) -> Slots:
        """The signatures of the unions. The signature of an empty set changes nothing."""
        return np.minimum(self.checked(a), self.checked(b))

    def checked(self, signature: Slots) -> Slots:
        """Refuse what cannot be a signature of this family: a shorter one could be the beginning of a longer one, and compare well."""
        if not isinstance(signature, np.ndarray) or signature.dtype != np.uint32:
            kind = f"an array of {signature.dtype}" if isinstance(signature, np.ndarray) else type(signature).__name__
            raise UsageError(f"a signature is an array of uint32, here came {kind}")
        if signature.ndim not in (1, 2) or signature.shape[-1] != self.slots:
            raise UsageError(f"a signature of this family has {self.slots} slots, here came the shape {signature.shape}; use the family that made it")
        return signature


def check_layout(bands: int, rows: int, slots: int) -> None:
    if bands < 1 or rows < 1 or bands * rows > slots:
        raise UsageError(f"{bands} bands of {rows} rows do not fit a signature of {slots} slots")


def ragged(batch: Batch) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """A batch as values uint64[m] and offsets int64[n + 1]. A tuple is those two; anything else is a sequence of sets."""
    if isinstance(batch, tuple):
        if len(batch) != 2 or not all(isinstance(part, np.ndarray) for part in batch):
            raise UsageError("a tuple stands for (values, offsets), two arrays; give sets as a list")
        values, offsets = words(batch[0], "values"), np.ascontiguousarray(batch[1], np.int64)
        if offsets.ndim != 1 or offsets.size == 0 or offsets[0] < 0 or offsets[-1] > values.size or (np.diff(offsets) < 0).any():
            raise UsageError(f"offsets rise from 0 to the number of values, {values.size}, one more of them than sets; these do not")
        return read_only(values), read_only(offsets)
    if isinstance(batch, str | bytes | np.ndarray | AbstractSet) or not isinstance(batch, Sequence):
        raise UsageError(f"a batch is a list of sets, or (values, offsets); here came {type(batch).__name__}; one set alone is a batch of one: [set]")
    sets = [words(one, f"set {number}") for number, one in enumerate(batch)]
    offsets = np.cumsum([0, *(one.size for one in sets)], dtype=np.int64)
    return read_only(np.concatenate([np.empty(0, np.uint64), *sets])), read_only(offsets)


def words(elements: Iterable[int], name: str) -> NDArray[np.uint64]:
    """The elements of one set as uint64[n]."""
    array = elements if isinstance(elements, np.ndarray) else None
    if array is None:
        listed = list(elements)
        if all(isinstance(element, int) and -(2**63) <= element < 2**64 for element in listed):
            return np.fromiter((element & 0xFFFFFFFFFFFFFFFF for element in listed), np.uint64, len(listed))
        array = np.array(listed)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise UsageError(f"{name}: elements are whole numbers of 64 bits, here came {array.dtype} of shape {array.shape}; hash them first")
    return np.ascontiguousarray(array if array.dtype == np.uint64 else array.astype(np.int64).view(np.uint64))


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, for reading only: a kernel is compiled for arrays of that kind once, and Arrow's are."""
    view = array.view()
    view.setflags(write=False)
    return view
