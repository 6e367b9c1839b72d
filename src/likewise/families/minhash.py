"""MinHash: two sets agree in a slot with probability equal to their Jaccard similarity (Broder 1997)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.choices import CHOICES
from likewise.compiled.holding import Steady
from likewise.errors import UsageError
from likewise.families.checks import check_layout, one_of
from likewise.families.similarity import SimilarityFamily
from likewise.items.sets import Batch, ragged
from likewise.kernels import minhash as kernels
from likewise.planning.curves import Curve, jaccard

Slots = NDArray[np.uint32]
Ragged = tuple[NDArray[np.uint64], NDArray[np.int64]]

MODES = CHOICES["sketch"]


@dataclass(frozen=True, slots=True)
class MinHash(SimilarityFamily):
    """Signatures of ``slots`` hashes. ``oph`` takes near-linear time; ``classic`` is the textbook's independent functions.

    Slots of ``oph`` are slightly dependent for small sets: an AND alone agrees less often than its formula predicts, an OR alone more often. For sets
    of 2 elements with 1 in common, all_of(2) agrees with probability 0.027 instead of 0.111, any_of(4) with 0.897 instead of 0.803. AND followed by
    OR of two or more has its predicted probability where that is above 0.7, and `standard_error` is an upper bound. ``classic`` follows the formula
    at every size.

    Two signatures are comparable if slots, mode and seed are equal. Elements are whole numbers and strings, need no mixing, and may repeat. Numbers
    of 64 bits are used unchanged, signed or unsigned (-1 is 2^64 - 1); strings and larger numbers are hashed with the seed, so that "7" is not 7.

    >>> family = MinHash(256)
    >>> a, b = family.signature([range(100), range(50, 150)])
    >>> abs(family.estimate(a, b) - 1 / 3) < 4 * family.standard_error(1 / 3)
    True
    """

    slots: int = 128
    mode: str = "oph"
    seed: int = 0

    def __post_init__(self) -> None:
        SimilarityFamily.__post_init__(self)
        one_of(self, "mode", MODES)

    @property
    def collision(self) -> Curve:
        return jaccard()

    @property
    def scheme(self) -> str:
        """Identifies the computation of slots; signatures of different schemes are not comparable."""
        return f"{kernels.SCHEME}/{self.mode}/{self.slots}"

    def signature(self, batch: Batch) -> Slots:
        """Signatures, uint32[n, slots], one row per set. All slots of an empty set are 2^32 - 1."""
        values, offsets = sets_of(batch, self.seed)
        signatures: Slots = kernels.sketch(values, offsets, self.slots, np.uint64(self.seed), self.mode == "classic")
        return signatures

    def band_keys(self, batch: Batch, bands: int, rows: int) -> NDArray[np.uint64]:
        """The keys of the first ``bands * rows`` slots in bands of ``rows`` rows: uint64[bands, n].

        All empty sets have the same keys; the caller decides whether to pair them. Raises UsageError for more bands and rows than there are slots.
        """
        values, offsets = sets_of(batch, self.seed)
        bands, rows = check_layout(bands, rows, self.slots)
        keys: NDArray[np.uint64] = kernels.sketch_bands(values, offsets, self.slots, bands, rows, np.uint64(self.seed), self.mode == "classic")
        return keys

    def merge(self, a: Slots, b: Slots) -> Slots:
        """The signatures of the unions. The signature of an empty set is neutral. Raises UsageError for signatures of another family."""
        return np.minimum(self.checked(a), self.checked(b))


def sets_of(batch: Any, seed: int) -> Ragged:
    """The elements of sets, end to end, and offsets. Raises UsageError, which for texts names the function that cuts them into sets."""
    try:
        return ragged(batch, seed=seed)
    except UsageError as error:
        several = isinstance(batch, Iterable) and getattr(batch, "ndim", None) != 0  # an array of no dimension cannot be iterated
        first = next(iter(batch), None) if several else None
        if isinstance(getattr(first, "as_py", lambda: first)(), str):
            raise UsageError(f"{error.marked}; for signatures of texts call lw.sketch(texts, by='words:5')") from None
        raise


def banded(family: MinHash, bands: int, rows: int) -> Callable[[np.ndarray, np.ndarray], NDArray[np.uint64]]:
    """`MinHash.band_keys` for many small batches that need no checks: of uint64[m], and int64[n + 1], where each set begins, both writeable."""
    bands, rows = check_layout(bands, rows, family.slots)
    sketch, layout = Steady(kernels.sketch_bands), (family.slots, bands, rows, np.uint64(family.seed), family.mode == "classic")

    def keys(values: np.ndarray, offsets: np.ndarray) -> NDArray[np.uint64]:
        found: NDArray[np.uint64] = sketch(values, offsets, *layout)
        return found

    return keys
