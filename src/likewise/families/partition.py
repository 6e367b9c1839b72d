"""Bins for features: some bits of a one-bit hash family together form the number of a bin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.families.onebit import OneBit
from likewise.families.space import Space
from likewise.items.features import Features, place, renamed, spans
from likewise.items.sets import read_only
from likewise.kernels.features import codes_of
from likewise.kernels.hashing import derive

#: Features that a task processes at a time, roughly, and bits of them; a set is not divided.
AT_ONCE, BITS_AT_ONCE = 2**13, 2**25
#: Separates the masks of codes from the other constants of a seed (kernels.hashing.derive).
MASKS = 0x6D61736B

Run = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Partition:
    """``tables`` times ``sums`` independent partitions of the space into 2^bits bins each, by a one-bit family.

    Bins of the partitions that are summed in one table are renumbered at random, except those of the first: then features in different partitions
    share a bin with probability 2^-bits, whatever the features are.
    """

    bit: OneBit
    bits: int
    tables: int
    sums: int = 1
    space: Space | None = None

    def codes(self, values: NDArray[np.float32], name: Callable[[int], str]) -> NDArray[np.uint32]:
        """The bins, uint32[n, tables * sums], of features that are already in the space. ``name`` gives the name of a row's feature for a message.

        Raises UsageError with that name for an invalid feature.
        """
        functions = self.tables * self.sums
        try:
            found = self.bit.with_slots(functions * self.bits).bits_of(values)
        except UsageError as error:
            raise UsageError(renamed(error, name) + " (relative to the center of the space)" * (self.space is not None)) from None
        masks = (derive(np.uint64(self.bit.seed), MASKS, functions) >> np.uint64(64 - self.bits)).astype(np.uint32)
        masks[:: self.sums] = 0
        codes: NDArray[np.uint32] = codes_of(found, self.bits, read_only(masks))
        return codes

    def each(self, sets: Features, work: Callable[..., None], run: Run = map) -> None:
        """Call work(begin, end, offsets, values, codes) for blocks of whole sets: values in the space, offsets of these sets, starting at 0."""
        values, offsets = sets

        def one(rows: tuple[int, int]) -> None:
            begin, end = rows
            first, last = int(offsets[begin]), int(offsets[end])
            moved = values[first:last] if self.space is None else self.space.moved(values[first:last])
            codes = self.codes(moved, lambda row: place(offsets, first + row))
            work(begin, end, read_only(offsets[begin : end + 1] - first), moved, codes)

        list(run(one, spans(offsets, max(1, min(AT_ONCE, BITS_AT_ONCE // (self.bits * self.tables * self.sums))))))
