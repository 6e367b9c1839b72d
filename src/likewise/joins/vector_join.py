"""All pairs of vectors within a limit: codes generate candidates (joins.sign_codes), the exact measure decides.

Codes collide in bands of rows of their bits. Pairs that collide but differ in more bits than a pair within the limit does, except with a small
probability (`MISS`), are dropped; the vectors of the others are compared. So the recall is that of the bands, and all reported values are exact.
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
from likewise.joins.sign_codes import BITS, Coding, center_of, encode, of_angles, of_coordinates, of_points
from likewise.kernels.codejoin import distance_histogram
from likewise.kernels.vectorjoin import ANGLE, COSINE, L1, L2, decide
from likewise.kinds import measure as facts_of
from likewise.planning.choose import bands_needed
from likewise.stages.workers import ALONE, Workers

#: Bits of a first, cheaper comparison.
FIRST = 256
#: The probability that a pair exactly at the limit differs in too many of the first bits, and of all bits.
MISS = 5e-5
#: Size of the sample that layouts are tried on. Lifts that are tried for L2, in median lengths.
SAMPLE = 1024
LIFTS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
MOST_ROWS, MOST_BITS = 64, 2**16
#: Steps of a curve, and its range of distances as a multiple of the limit.
STEPS, BEYOND = 40, 4

# Nanoseconds of one core of 2026: to sort an entry of a table and load its code; to compare the first bits, and each word of all bits; to check if an
# earlier band has a near pair; to compare two vectors, and each of their numbers; to compute a bit of a code.
ENTRY_COST, COMPARE_COST, WORD_COST, NEAR_COST, PAIR_COST, NUMBER_COST, BIT_COST = 50.0, 0.25, 0.6, 25.0, 20.0, 0.14, 1.5


@dataclass(frozen=True)
class Prepared:
    """Vectors, C-contiguous and finite float32[n, d] or float64[n, d], with their lengths and possible codings."""

    vectors: np.ndarray
    measure: str
    limit: float
    center: np.ndarray  # [d], of the vectors' dtype: a place among them for distances, 0 for directions
    squares: np.ndarray  # float64[n]: squared lengths from the center
    lengths: np.ndarray  # float64[n]: lengths from the center
    live: np.ndarray  # bool[n]: False for zero vectors if directions are compared; they are in no pair
    codings: tuple[Coding, ...]  # the choices

    @property
    def angles(self) -> bool:
        return facts_of(self.measure).directed

    @property
    def distances(self) -> bool:
        return facts_of(self.measure).distance

    @property
    def power(self) -> float:
        """The r of L_r; 0 if directions are compared."""
        return facts_of(self.measure).power

    def differ(self, coding: Coding, value: float) -> float:
        """The maximum probability of a differing bit for two vectors of this cosine, angle or distance."""
        return coding.differs(value if facts_of(self.measure).distance else degrees_of(value))

    def decider(self) -> Check:
        """The check that computes the values of pairs and passes those within the limit."""
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
    rows: int  # 0: all vectors collide
    cost: float = 0.0  # predicted, in nanoseconds of one core, for all pairs

    @property
    def bits(self) -> int:
        """The bits of a code."""
        return max(self.coding.bits, Tables.bits_of_bands(self.bands, self.rows))

    @property
    def recall(self) -> float:
        """The probability of finding a pair exactly at the limit."""
        return self.probability(self.coding.differ)

    def probability(self, differ: float) -> float:
        """The probability of finding a pair whose bits differ with probability ``differ``."""
        agree: float = (1 - differ) ** self.rows
        return (1 - (1 - agree) ** self.bands) * (1 - MISS) ** 2


def number_of(measure: str) -> int:
    """The constant for a measure in kernels.vectorjoin."""
    facts = facts_of(measure)
    if facts.directed:
        return ANGLE if facts.distance else COSINE
    return L2 if facts.power == 2 else L1


def prepare(vectors: np.ndarray, measure: str, limit: float, seed: int = 0, workers: Workers = ALONE) -> Prepared:
    """Measure the vectors and collect possible codings. limit: a minimum cosine; or a maximum angle in degrees, L2 or L1 distance."""
    vectors = read_only(np.asarray(vectors))
    count, dimension = vectors.shape
    angles, distance = facts_of(measure).directed, facts_of(measure).distance
    center = read_only(np.zeros(dimension, vectors.dtype)) if angles or not count else center_of(vectors)
    squared = squared_lengths(vectors, center, workers.run)
    lengths = lengths_of(vectors, center, squared)
    live = lengths > 0 if angles else np.ones(count, bool)
    codings: tuple[Coding, ...]
    if count < 2 or angles:
        codings = (of_angles(lengths, dimension, limit if distance else degrees_of(limit), seed),)
    elif facts_of(measure).power == 2:
        middle = np.partition(lengths, [(count - 1) // 2, count // 2])[[(count - 1) // 2, count // 2]] if count else np.zeros(2)
        typical = float(middle[0] / 2 + middle[1] / 2)  # the median, without overflow of the sum
        codings = tuple(of_points(lengths, center, limit, lift * (typical or limit), seed) for lift in LIFTS)
    else:
        codings = (of_coordinates(vectors, limit, seed, workers),)
    codings += tuple(coding.with_bits(2 * BITS) for coding in codings)
    return Prepared(vectors, measure, float(limit), center, squared, lengths, live, codings)


def vector_join(prepared: Prepared, layout: Layout, *, workers: Workers = ALONE, **how: Any) -> TableJoin:
    """All colliding pairs within the limit, by the measure's exact value. ``how``: per, as for `joins.hamming_join.TableJoin`."""
    tables = Tables.bands(layout.bands, layout.rows)
    coding = layout.coding.with_bits(layout.bits)
    codes, cuts = read_only(encode(coding, prepared.vectors, workers)), (cut(coding.bits, coding.differ), cut(FIRST, coding.differ))
    given: dict[str, Any] = {"cost": layout.cost, "recall": layout.recall, "reported": facts(prepared, layout), "counted": "proposed"}
    return TableJoin(codes, tables, *cuts, prepared.decider(), prepared.live, workers=workers, **given | how)


def facts(prepared: Prepared, layout: Layout) -> dict[str, Any]:
    """The facts for report.json: the layout, as in `planning.Plan.to_dict`, and the probability of finding a pair by its value."""
    distance = facts_of(prepared.measure).distance
    measure = f"{prepared.measure}{' in degrees' * distance}" if prepared.angles else f"{prepared.measure.upper()} distance"
    by, chosen = "bits of vectors", {"bands": layout.bands, "rows": layout.rows, "bits": layout.bits, "recall": layout.recall}
    join = {"by": by, "dimension": prepared.vectors.shape[1], "family": "Hyperplane" if prepared.angles else by, "measure": measure, **chosen}
    end = min(BEYOND * prepared.limit or 1.0, 180.0 if prepared.angles else math.inf) if distance else 1.0
    values = [end * step / STEPS for step in range(STEPS + 1)]
    return {"join": join, "curve": [[value, layout.probability(prepared.differ(layout.coding, value))] for value in values]}


def degrees_of(cosine: float) -> float:
    """The angle in degrees."""
    return math.degrees(math.acos(max(-1.0, min(1.0, cosine))))


def cut(bits: int, differ: float) -> int:
    """The minimum number of bits such that more bits differ with probability `MISS` at most, if each differs with probability ``differ``.

    (Bits of a rotation vary less.)
    """
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
    """The coding, bands and rows of minimum predicted cost whose recall at the limit is at least ``recall``, by the codes of a sample.

    walk: a greedy walk will skip most vectors similar to an earlier one, so the layout is chosen for the others. bands and rows, if both are given,
    are used whatever their recall, with the coding that would have been chosen.
    """
    items = np.flatnonzero(prepared.live)
    sample = items[np.unique(np.random.default_rng(seed).integers(0, max(1, len(items)), SAMPLE))] if len(items) else items
    layout = min((one for coding in prepared.codings for one in priced(coding, prepared, sample, recall, walk)), key=lambda one: one.cost)
    return layout if bands is None or rows is None else Layout(layout.coding, bands, rows)


def priced(coding: Coding, prepared: Prepared, items: np.ndarray, recall: float, walk: bool) -> Iterator[Layout]:
    """Yield for each number of rows the layout with the fewest sufficient bands. items: the sample."""
    bits, live, dimension = coding.bits, int(prepared.live.sum()), prepared.vectors.shape[1]
    codes = encode(coding.of(items), read_only(prepared.vectors[items]))
    share = distance_histogram(codes) / max(1, len(items) * (len(items) - 1) / 2)
    differ = np.arange(bits + 1)
    if walk:
        share[differ <= coding.differ * bits] = 0
    near, first_near = differ <= cut(bits, coding.differ), differ <= cut(FIRST, coding.differ) * bits / FIRST
    target = recall / (1 - MISS) ** 2
    collide = np.ones(bits + 1)  # the probability that all rows agree, by the number of differing bits
    for rows in range(MOST_ROWS + 1):
        if rows:
            collide *= np.maximum(bits - differ - rows + 1, 0) / (bits - rows + 1)
        if rows and target >= 1:
            return
        bands = bands_needed(1 - coding.differ, target, rows) if rows else 1
        made = max(bits, Tables.bits_of_bands(bands, rows))
        if made > MOST_BITS:
            continue
        collisions = share * collide
        each = bands * (collisions.sum() * COMPARE_COST + collisions[first_near].sum() * bits / 64 * WORD_COST + collisions[near].sum() * NEAR_COST)
        each += (share * (1 - (1 - collide) ** bands))[near].sum() * (PAIR_COST + NUMBER_COST * dimension)
        yield Layout(coding, bands, rows, float(live * (bands * ENTRY_COST + made * BIT_COST) + live * live / 2 * each))
