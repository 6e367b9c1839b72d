"""What a layout costs, predicted for a collection: fixed coefficients, so that a plan depends on what was asked and on nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from likewise.planning.curves import Curve, all_of, any_of, checked_chance
from likewise.planning.density import Density
from likewise.planning.families import DIMENSION, FAMILIES, FILLED, FamilyFacts, costs
from likewise.planning.families import SHINGLES as OF_SHINGLES

#: Nanoseconds of one core: to write, read, sort and walk a band key.
BAND_COST = 60.0
#: Texts and sets of which nothing is known are taken to have so many shingles.
SHINGLES = 300.0
# Bytes for each item in the work folder: 61 are schema.ROW_COLUMNS, and a band has a key of 8. Those of its content are of the family;
# the index and value of a coordinate of a sparse vector take 16.
BAND_BYTES, ROW_BYTES, ENTRY_BYTES = 8, 61, 16
# Bytes of memory for each item, measured as the growth to ten million documents at 16 bands (237 an item): the walk holds a number of 4 bytes
# a band, and lists of those that share a bucket; the rest are row columns, odd sketches, orders and ids.
MEMORY_BYTES, MEMORY_BAND_BYTES = 109, 8


def chance(p: float, bands: int, rows: int) -> float:
    """The chance 1 - (1 - p^rows)^bands that two items share a band key, where one function of the family agrees on them with chance p.

    Leskovec, Rajaraman and Ullman, Mining of Massive Datasets 3.4.2. For MinHash p is the similarity itself. Raises UsageError for no chance.

    >>> round(chance(0.8, 20, 5), 5)
    0.99964
    """
    return any_of(all_of(checked_chance(p), rows), bands)


@dataclass(frozen=True)
class Model:
    """One family over one collection."""

    curve: Curve  # of one function
    density: Density
    items: int
    dimension: int | None = None  # numbers of a vector, bits of a code; None: not known
    shingles: float = SHINGLES  # of a set
    sparse: bool = False  # vectors are, and ``dimension`` is how many numbers of one are not 0

    @property
    def numbers(self) -> int:
        """The dimension that costs are predicted for."""
        return self.dimension or (FILLED if self.sparse else DIMENSION)

    @cached_property
    def met(self) -> tuple[tuple[float, float], ...]:
        """(chance of one function to agree, pairs an item)."""
        return self.density.met(self.curve, self.items)

    def candidates(self, bands: int, rows: int) -> float:
        """Pairs that share a band key, for each item."""
        return sum(pairs * any_of(all_of(p, rows), bands) for p, pairs in self.met)

    def cost(self, bands: int, rows: int) -> float:
        """Nanoseconds of one core for each item: to sketch it, to handle its band keys, and to compare it with its candidates."""
        each = costs(self.curve.family, self.numbers, sparse=self.sparse)
        return BAND_COST * bands + each.slot * bands * rows + each.verify * self.candidates(bands, rows)

    @property
    def family(self) -> FamilyFacts:
        """The family, as plans know it."""
        return FAMILIES[self.curve.family]

    @property
    def of_sets(self) -> bool:
        """Whether items are sets; else they are vectors or codes."""
        return self.family.unit == OF_SHINGLES

    def memory(self, bands: int) -> int:
        """Bytes of memory for each item, whatever its length, beyond some fixed buffers."""
        return MEMORY_BYTES + MEMORY_BAND_BYTES * bands

    def disk(self, bands: int) -> int:
        """Bytes of the work folder for each item: a set of shingles, a vector of 4-byte numbers, or of indices and values, or a code."""
        each = ENTRY_BYTES if self.sparse else self.family.bytes
        item = each * (self.shingles if self.of_sets else self.numbers) + self.family.extra
        return round(item + BAND_BYTES * bands + ROW_BYTES)

    def core_seconds(self, bands: int, rows: int) -> float:
        """Seconds of one core for all items, within a factor of two or three; reading vectors or codes from a file is not in it."""
        read = costs(self.curve.family, self.numbers).element * self.shingles if self.of_sets else 0.0
        return (read + self.cost(bands, rows)) * self.items / 1e9
