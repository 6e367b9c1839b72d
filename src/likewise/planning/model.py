"""Predicted cost of a layout for a collection, with fixed coefficients, so that a plan depends only on the options and the sample."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from likewise.planning.curves import Curve, all_of, any_of, checked_probability
from likewise.planning.density import Density
from likewise.planning.families import DIMENSION, FAMILIES, FILLED, FamilyFacts, costs
from likewise.planning.families import SHINGLES as OF_SHINGLES

#: Nanoseconds of one core to write, read, sort and visit a band key.
BAND_COST = 60.0
#: Assumed number of shingles of a text or set.
SHINGLES = 300.0
# Bytes per item in the work folder: schema.ROW_COLUMNS take 61, and each band key 8. The item's content is counted by its family;
# the index and value of a coordinate of a sparse vector take 16.
BAND_BYTES, ROW_BYTES, ENTRY_BYTES = 8, 61, 16
# Bytes of memory per item, measured as the growth to ten million documents at 16 bands (237 per item): the walk holds a number of 4 bytes
# per band, and lists of items that share a bucket; the rest are row columns, odd sketches, orders and ids.
MEMORY_BYTES, MEMORY_BAND_BYTES = 109, 8


def probability(p: float, bands: int, rows: int) -> float:
    """Return the probability 1 - (1 - p^rows)^bands that two items share a band key, if one function agrees on them with probability p.

    Leskovec, Rajaraman and Ullman, Mining of Massive Datasets 3.4.2. For MinHash p is the similarity. Raises UsageError unless 0 <= p <= 1.

    >>> round(probability(0.8, 20, 5), 5)
    0.99964
    """
    return any_of(all_of(checked_probability(p), rows), bands)


@dataclass(frozen=True)
class Model:
    """Cost of layouts of one family for one collection."""

    curve: Curve  # of one function
    density: Density
    items: int
    dimension: int | None = None  # dimension of a vector, bits of a code; None: unknown
    shingles: float = SHINGLES  # of a set
    sparse: bool = False  # vectors are sparse, and ``dimension`` is their number of nonzero coordinates

    @property
    def numbers(self) -> int:
        """The dimension for which costs are predicted."""
        return self.dimension or (FILLED if self.sparse else DIMENSION)

    @cached_property
    def pairs_by_probability(self) -> tuple[tuple[float, float], ...]:
        """(probability that one function agrees, pairs per item)."""
        return self.density.pairs_by_probability(self.curve, self.items)

    def candidates(self, bands: int, rows: int) -> float:
        """Return the number of pairs that share a band key, per item."""
        return sum(pairs * any_of(all_of(p, rows), bands) for p, pairs in self.pairs_by_probability)

    def cost(self, bands: int, rows: int) -> float:
        """Return nanoseconds of one core per item: to sketch it, to handle its band keys, and to compare it with its candidates."""
        each = costs(self.curve.family, self.numbers, sparse=self.sparse)
        return BAND_COST * bands + each.slot * bands * rows + each.verify * self.candidates(bands, rows)

    @property
    def family(self) -> FamilyFacts:
        """The facts of the family."""
        return FAMILIES[self.curve.family]

    @property
    def of_sets(self) -> bool:
        """True if items are sets; else they are vectors or codes."""
        return self.family.unit == OF_SHINGLES

    def memory(self, bands: int) -> int:
        """Return bytes of memory per item, regardless of its length, without fixed buffers."""
        return MEMORY_BYTES + MEMORY_BAND_BYTES * bands

    def disk(self, bands: int) -> int:
        """Return bytes of the work folder per item: a set of shingles, a vector of 4-byte numbers, a sparse vector, or a code."""
        each = ENTRY_BYTES if self.sparse else self.family.bytes
        item = each * (self.shingles if self.of_sets else self.numbers) + self.family.extra
        return round(item + BAND_BYTES * bands + ROW_BYTES)

    def core_seconds(self, bands: int, rows: int) -> float:
        """Return seconds of one core for all items, within a factor of two or three, without reading vectors or codes from a file."""
        read = costs(self.curve.family, self.numbers).element * self.shingles if self.of_sets else 0.0
        return (read + self.cost(bands, rows)) * self.items / 1e9
