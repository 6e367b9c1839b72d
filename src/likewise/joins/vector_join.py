"""All pairs of vectors within a limit: codes propose (joins.sign_codes), the exact measure decides.

Codes meet in bands of rows of their bits. Two that meet and differ in more bits than a pair within the limit would, but for a small chance
(`MISS`), are dropped; the others' vectors are computed. So a pair is found with the chance of the bands, and what is reported is exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise.items.lengths import lengths_of, squared_lengths
from likewise.items.sets import read_only
from likewise.joins.hamming_join import Check, TableJoin, Tables
from likewise.joins.pairs import PairBlock
from likewise.joins.sign_codes import BITS, Coding, centre_of, encode, of_angles, of_coordinates, of_points
from likewise.kernels.codejoin import distance_histogram
from likewise.kernels.vectorjoin import ANGLE, COSINE, L1, L2, decide
from likewise.kinds import measure as facts_of
from likewise.planning.choose import bands_needed
from likewise.stages.workers import ALONE, Workers

#: Bits that are compared first, alone.
FIRST = 256
#: The chance of the first bits, and of all, to differ in more places than are let through, for a pair exactly at the limit.
MISS = 5e-5
#: Vectors that layouts are tried on. Lifts that are tried for L2, in median lengths.
SAMPLE = 1024
LIFTS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
MOST_ROWS, MOST_BITS = 64, 2**16
#: Steps of a curve; it shows distances to so many limits.
STEPS, BEYOND = 40, 4

# Nanoseconds of one core of 2026: an entry of a table, to sort it and bring its code; a comparison of the first bits, and then of each word of
# all; a near pair, to look whether an earlier band has it; a pair of vectors, and each of their numbers; a bit of a code.
ENTRY_COST, COMPARE_COST, WORD_COST, NEAR_COST, PAIR_COST, NUMBER_COST, BIT_COST = 50.0, 0.25, 0.6, 25.0, 20.0, 0.14, 1.5


@dataclass(frozen=True)
class Prepared:
    """Vectors, C-contiguous float32[n, d] or float64[n, d] and finite, and what is known of each."""

    vectors: np.ndarray
    measure: str
    limit: float
    centre: np.ndarray  # [d], of the vectors' type: of distances some place among them, of directions 0
    squares: np.ndarray  # float64[n]: squared lengths, from the centre,
    lengths: np.ndarray  # and lengths
    live: np.ndarray  # bool[n]: a zero vector has no angle, and is never paired by it
    codings: tuple[Coding, ...]  # to choose from

    @property
    def angles(self) -> bool:
        return facts_of(self.measure).directed

    @property
    def distances(self) -> bool:
        return facts_of(self.measure).distance

    @property
    def power(self) -> float:
        """The r of L_r; 0 where directions are compared."""
        return facts_of(self.measure).power

    def differ(self, coding: Coding, value: float) -> float:
        """The greatest chance of a bit to differ between two vectors of this cosine, angle or distance."""
        return coding.differs(value if facts_of(self.measure).distance else degrees_of(value))

    def decider(self) -> Check:
        """What computes pairs, and leaves those that are within the limit."""
        vectors, squared, measure, limit = self.vectors, self.squares, number_of(self.measure), self.limit

        def check(left: np.ndarray, right: np.ndarray) -> tuple[PairBlock, int]:
            found, values = np.empty(len(left), np.int64), np.empty(len(left))
            count, computed = decide(vectors, squared, measure, limit, left, right, found, values)
            places = found[:count]
            return PairBlock(left[places], right[places], values[:count]), computed

        return check


@dataclass(frozen=True)
class Layout:
    """Bands of rows of bits of a coding."""

    coding: Coding
    bands: int
    rows: int  # 0: all meet
    cost: float = 0.0  # predicted, in nanoseconds of one core, for all pairs

    @property
    def bits(self) -> int:
        """Of a code."""
        return max(self.coding.bits, Tables.bits_of_bands(self.bands, self.rows))

    @property
    def recall(self) -> float:
        """The chance that a pair exactly at the limit is found."""
        return self.chance(self.coding.differ)

    def chance(self, differ: float) -> float:
        """The chance that a pair is found whose bits differ with this one."""
        agree: float = (1 - differ) ** self.rows
        return (1 - (1 - agree) ** self.bands) * (1 - MISS) ** 2


def number_of(measure: str) -> int:
    """The number of a measure in kernels.vectorjoin."""
    facts = facts_of(measure)
    if facts.directed:
        return ANGLE if facts.distance else COSINE
    return L2 if facts.power == 2 else L1


def prepare(vectors: np.ndarray, measure: str, limit: float, seed: int = 0, workers: Workers = ALONE) -> Prepared:
    """Measure the vectors, and say how they could be coded. limit: a least cosine; a greatest angle in degrees, L2 or L1 distance."""
    vectors = read_only(np.asarray(vectors))
    count, dimension = vectors.shape
    angles, distance = facts_of(measure).directed, facts_of(measure).distance
    centre = read_only(np.zeros(dimension, vectors.dtype)) if angles or not count else centre_of(vectors)
    squared = squared_lengths(vectors, centre, workers.run)
    lengths = lengths_of(vectors, centre, squared)
    live = lengths > 0 if angles else np.ones(count, bool)
    codings: tuple[Coding, ...]
    if count < 2 or angles:
        codings = (of_angles(lengths, dimension, limit if distance else degrees_of(limit), seed),)
    elif facts_of(measure).power == 2:
        middle = np.partition(lengths, [(count - 1) // 2, count // 2])[[(count - 1) // 2, count // 2]] if count else np.zeros(2)
        typical = float(middle[0] / 2 + middle[1] / 2)  # the median, whose sum may be beyond float64
        codings = tuple(of_points(lengths, centre, limit, lift * (typical or limit), seed) for lift in LIFTS)
    else:
        codings = (of_coordinates(vectors, limit, seed, workers),)
    codings += tuple(coding.with_bits(2 * BITS) for coding in codings)
    return Prepared(vectors, measure, float(limit), centre, squared, lengths, live, codings)


def vector_join(prepared: Prepared, layout: Layout, *, workers: Workers = ALONE, **how: Any) -> TableJoin:
    """All pairs that meet and are within the limit, by the measure's exact value. ``how``: per, as for `joins.hamming_join.TableJoin`."""
    tables = Tables.bands(layout.bands, layout.rows)
    coding = layout.coding.with_bits(layout.bits)
    codes, cuts = read_only(encode(coding, prepared.vectors, workers)), (cut(coding.bits, coding.differ), cut(FIRST, coding.differ))
    given: dict[str, Any] = {"cost": layout.cost, "recall": layout.recall, "told": facts(prepared, layout), "counted": "proposed"}
    return TableJoin(codes, tables, *cuts, prepared.decider(), prepared.live, workers=workers, **given | how)


def facts(prepared: Prepared, layout: Layout) -> dict[str, Any]:
    """For report.json: the layout, named as in a plan (`planning.Plan.to_dict`), and the chance that a pair meets, by its similarity or distance."""
    distance = facts_of(prepared.measure).distance
    measure = f"{prepared.measure}{' in degrees' * distance}" if prepared.angles else f"{prepared.measure.upper()} distance"
    by, chosen = "bits of vectors", {"bands": layout.bands, "rows": layout.rows, "bits": layout.bits, "recall": layout.recall}
    join = {"by": by, "dimension": prepared.vectors.shape[1], "family": "Hyperplane" if prepared.angles else by, "measure": measure, **chosen}
    end = min(BEYOND * prepared.limit or 1.0, 180.0 if prepared.angles else math.inf) if distance else 1.0
    values = [end * step / STEPS for step in range(STEPS + 1)]
    return {"join": join, "curve": [[value, layout.chance(prepared.differ(layout.coding, value))] for value in values]}


def degrees_of(cosine: float) -> float:
    return math.degrees(math.acos(max(-1.0, min(1.0, cosine))))


def cut(bits: int, differ: float) -> int:
    """The fewest bits so that more of them differ with a chance of `MISS` at most, where each does with that one. (Bits of a rotation vary less.)"""
    if differ >= 1:
        return bits
    beyond = 0.0
    for places in range(bits, 0, -1):
        ways = math.lgamma(bits + 1) - math.lgamma(places + 1) - math.lgamma(bits - places + 1)
        beyond += math.exp(ways + places * math.log(differ) + (bits - places) * math.log1p(-differ))
        if beyond > MISS:
            return places
    return 0


def choose_layout(
    prepared: Prepared, recall: float = 0.99, seed: int = 0, *, walk: bool = False, bands: int | None = None, rows: int | None = None
) -> Layout:
    """The coding, bands and rows of least predicted cost that find a pair at the limit with at least this chance, by how a sample's codes differ.

    walk: most vectors that are like an earlier one will be left out, so it is chosen for the others.
    Bands and rows both given: those, whatever they find, with the coding that would have been chosen.
    """
    items = np.flatnonzero(prepared.live)
    sample = items[np.unique(np.random.default_rng(seed).integers(0, max(1, len(items)), SAMPLE))] if len(items) else items
    layout = min((one for coding in prepared.codings for one in priced(coding, prepared, sample, recall, walk)), key=lambda one: one.cost)
    return layout if bands is None or rows is None else Layout(layout.coding, bands, rows)


def priced(coding: Coding, prepared: Prepared, items: np.ndarray, recall: float, walk: bool) -> Iterator[Layout]:
    """For each number of rows the fewest bands that are enough; items: the sample's."""
    bits, live, dimension = coding.bits, int(prepared.live.sum()), prepared.vectors.shape[1]
    codes = encode(coding.of(items), read_only(prepared.vectors[items]))
    share = distance_histogram(codes) / max(1, len(items) * (len(items) - 1) / 2)
    differ = np.arange(bits + 1)
    if walk:
        share[differ <= coding.differ * bits] = 0
    near, first_near = differ <= cut(bits, coding.differ), differ <= cut(FIRST, coding.differ) * bits / FIRST
    target = recall / (1 - MISS) ** 2
    meet = np.ones(bits + 1)  # the chance to agree in so many of the rows, by how many of all bits differ
    for rows in range(MOST_ROWS + 1):
        if rows:
            meet *= np.maximum(bits - differ - rows + 1, 0) / (bits - rows + 1)
        if rows and target >= 1:
            return
        bands = bands_needed(1 - coding.differ, target, rows) if rows else 1
        made = max(bits, Tables.bits_of_bands(bands, rows))
        if made > MOST_BITS:
            continue
        met = share * meet
        each = bands * (met.sum() * COMPARE_COST + met[first_near].sum() * bits / 64 * WORD_COST + met[near].sum() * NEAR_COST)
        each += (share * (1 - (1 - meet) ** bands))[near].sum() * (PAIR_COST + NUMBER_COST * dimension)
        yield Layout(coding, bands, rows, float(live * (bands * ENTRY_COST + made * BIT_COST) + live * live / 2 * each))
