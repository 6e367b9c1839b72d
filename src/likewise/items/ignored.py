"""The shingles of texts, or elements of sets, that a run ignores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import xxhash
from numpy.typing import NDArray

from likewise.kernels import ignored


class Ignored(NamedTuple):
    """Ignored shingles, as the sets of items hold them."""

    words: NDArray[np.uint64]  # ascending, distinct
    begins: NDArray[np.int64]  # of the buckets that they are looked up in (`kernels.ignored`)

    @property
    def digest(self) -> str:
        """Identifies the shingles."""
        return xxhash.xxh3_128_hexdigest(self.words.tobytes())

    def without(self, values: NDArray[np.uint64], offsets: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Sets, as values and offsets, without the ignored elements."""
        return ignored.without(values, offsets, *self) if len(self.words) else (values, offsets)


def ignoring(words: NDArray[np.uint64]) -> Ignored:
    """The Ignored of these shingles, uint64[m], in any order, with repeats."""
    distinct = np.unique(words)
    distinct.setflags(write=False)
    begins = np.empty(max(1, len(distinct)) + 1, np.int64)
    ignored.begins_of(distinct, begins)
    begins.setflags(write=False)
    return Ignored(distinct, begins)


#: Ignores nothing.
NOTHING = Ignored(np.zeros(0, np.uint64), np.zeros(2, np.int64))
for part in NOTHING:
    part.setflags(write=False)
