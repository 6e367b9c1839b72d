"""Bands and rows: what a layout finds, what it costs, and the choice of one for a threshold and a recall target (SPEC 4 and 7).

Pure arithmetic in fixed coefficients: a plan depends on what was asked and on nothing else, so that every machine makes the same one.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from likewise.errors import UsageError

#: A threshold is a ratio of whole numbers up to this, so that overlap * denominator fits 64 bits.
MAX_DENOMINATOR = 10**9
#: What a plan may use when --slots is not given; more only where the target cannot be met otherwise.
PLANNED_SLOTS = 1024
MAX_SLOTS = 65_536
MAX_ROWS = 64
#: What datasketch users know as num_perm, for ``tune="error"``.
ERROR_SLOTS = 128

# Predicted cost, in nanoseconds, of one core of 2026: to write, read, sort and walk a band key; to fill and hash a slot; to read and
# compare two sets of a few hundred shingles. Only their ratios matter, and a wrong one makes a plan dearer, never less complete.
BAND_COST = 60.0
SLOT_COST = 2.0
VERIFY_COST = 2000.0
# Unlike pairs have density Beta(1, 60), mean 1/61: on the safe side, for character n-grams and templates. Word 5-grams lie far below (of 40,000
# texts under 72 bands of 4 rows it predicts 2.2 candidates an item; 0.04 were found below 0.3). Alike pairs: one an item, evenly on 0..1.
BACKGROUND = 60
ALIKE_PER_ITEM = 1.0
GRID = 200
MANY_CANDIDATES = 10_000

# Bytes for each item in the work folder: 61 are schema.ROW_COLUMNS, and a band has a key of 8.
SHINGLE_BYTES, BAND_BYTES, ROW_BYTES = 8, 8, 61
# Bytes of memory for each item, measured as the growth from 100 thousand to a million documents at 16 bands (480 an item): the walk holds two
# numbers of 4 bytes a band, the rest are row columns, orders and ids.
MEMORY_BYTES, MEMORY_BAND_BYTES = 350, 8

# The slots of an OPH signature are slightly dependent, which matters for small sets: with two bands or more the curve is steeper than
# 1 - (1 - s^r)^b. Measured for unions of 4 to 400 elements and 2,000 combinations with layouts: where the curve says 0.7 or more, it is
# reached within the noise of the measurement (16 x 6 at 0.8 promises .9923 and finds .9925 at 5 elements, .9950 at 50, .9958 at 100, .9935
# at 1000); below, it falls short by up to .011 (.6 to .7), .021 (.5 to .6), .048 (.3 to .5). One band alone has no other to make up for it:
# 1 x 3 at 0.8 finds .432 of .512 at 5 elements. So a plan has two bands, and asks for a little more of a low target.
OPH_BANDS = 2
OPH_STEEP_ABOVE = 0.7
OPH_MARGIN = 0.05


def chance(similarity: float, bands: int, rows: int) -> float:
    """The chance 1 - (1 - s^rows)^bands that two items of similarity s share a band key (SPEC 4).

    ``similarity`` stands for the chance that one function of the family agrees, whatever the family.

    >>> round(chance(0.8, 20, 5), 5)
    0.99964
    """
    agree = math.pow(similarity, rows)
    return 1.0 if agree >= 1.0 else -math.expm1(bands * math.log1p(-agree))


@dataclass(frozen=True, slots=True)
class Plan:
    """A layout and what it promises. Made by `choose`."""

    bands: int
    rows: int
    threshold: Fraction
    target: float  # the recall that was asked for; a layout set by hand or tuned for error may promise less
    sketch: str = "oph"
    tune: str = "recall"
    chosen_by: str = "plan"  # or "hand"
    items: int = 1_000_000  # how many the predictions assume

    @property
    def slots(self) -> int:
        """The length of a signature."""
        return self.bands * self.rows

    @property
    def recall(self) -> float:
        """The chance that a pair exactly at the threshold is found; pairs above it are found with more."""
        return self.curve(float(self.threshold))

    def curve(self, similarity: float) -> float:
        """The chance that a pair of this similarity is found. Twelve digits, the same on every machine."""
        return round(chance(similarity, self.bands, self.rows), 12)

    def table(self) -> list[tuple[float, float]]:
        """The S-curve: (similarity, chance to be found) in steps of 0.05."""
        return [(step / 20, self.curve(step / 20)) for step in range(1, 21)]

    @property
    def approximate_threshold(self) -> float:
        """(1/bands)^(1/rows): where the curve is steepest."""
        return math.pow(1 / self.bands, 1 / self.rows)

    @property
    def candidates(self) -> float:
        """Predicted pairs to verify, for each item."""
        return predicted_candidates(self.bands, self.rows, self.items)

    @property
    def memory_per_item(self) -> int:
        """Predicted bytes of memory for each item, whatever its length."""
        return MEMORY_BYTES + MEMORY_BAND_BYTES * self.bands

    @property
    def memory(self) -> int:
        """Predicted bytes of memory for all items, beyond some fixed buffers."""
        return self.memory_per_item * self.items

    def disk_per_item(self, shingles: float = 300) -> int:
        """Predicted bytes of the work folder for each item of so many distinct shingles."""
        return round(SHINGLE_BYTES * shingles + BAND_BYTES * self.bands + ROW_BYTES)

    @property
    def warnings(self) -> list[str]:
        """What a user should know before the run."""
        said = []
        layout, at = f"{counted(self.bands, 'band')} of {counted(self.rows, 'row')}", float(self.threshold)
        if self.recall < min(0.5, self.target):
            instead = "leave out --bands and --rows" if self.chosen_by == "hand" else "leave out --tune error"
            said.append(f"{layout}: a pair at {at:g} is found with chance {self.recall:.3g} only; {instead} to find it with {self.target:g}")
        if self.sketch == "oph" and self.bands == 1 and self.recall < 1:
            said.append(f"{layout}: small sets are found less often than the curve says, by up to 0.12; take two bands or more, or --sketch classic")
        if self.candidates > MANY_CANDIDATES:
            said.append(f"{layout}: each of {self.items:,} items may meet {self.candidates:,.0f} others; more rows or a higher threshold are faster")
        return said

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "bands": self.bands,
            "rows": self.rows,
            "slots": self.slots,
            "threshold": float(self.threshold),
            "threshold_exact": str(self.threshold),
            "recall": self.recall,
            "target": self.target,
            "sketch": self.sketch,
            "tune": self.tune,
            "chosen_by": self.chosen_by,
            "items": self.items,
            "approximate_threshold": round(self.approximate_threshold, 6),
            "candidates_per_item": round(self.candidates, 6),
            "memory_per_item": self.memory_per_item,
            "disk_per_item": self.disk_per_item(),
        }


@dataclass(frozen=True, slots=True)
class Asked:
    """What a layout is wanted for."""

    threshold: Fraction
    recall: float
    bands: int | None
    rows: int | None
    slots: int | None
    sketch: str
    items: int

    @property
    def at(self) -> float:
        return float(self.threshold)

    @property
    def fewest(self) -> int:
        """The fewest bands. Equal sets agree in every slot, so at a threshold of 1 there is nothing to make up for."""
        return OPH_BANDS if self.sketch == "oph" and self.threshold < 1 else 1

    @property
    def target(self) -> float:
        """The chance that the curve must show for the recall to be had."""
        return max(self.recall, min(self.recall + OPH_MARGIN, OPH_STEEP_ABOVE)) if self.sketch == "oph" else self.recall


def choose(
    threshold: object,
    recall: float = 0.99,
    *,
    bands: int | None = None,
    rows: int | None = None,
    slots: int | None = None,
    sketch: str = "oph",
    tune: str = "recall",
    items: int = 1_000_000,
) -> Plan:
    """The plan for a threshold.

    ``tune="recall"``: the layout of least predicted cost that finds a pair at the threshold with at least the chance ``recall``.
    ``tune="error"``: datasketch's rule, the layout that makes the area of false positives below the threshold plus that of false negatives
    above it least; it promises no recall, and says so. ``slots`` bounds the length of the signature. Bands and rows both given, or one of
    them and ``slots`` as their product: taken as they are. One given alone: the other is planned. Raises UsageError.
    """
    threshold = parse_threshold(threshold)
    if isinstance(recall, bool) or not isinstance(recall, int | float) or not 0 < recall < 1:
        hint = "; hashing comes close to 1 but never reaches it" if recall == 1 else ""
        raise UsageError(f"--recall {recall!r}: give a number above 0 and below 1, as in 0.99{hint}")
    for name, number, most in (("bands", bands, MAX_SLOTS), ("rows", rows, MAX_SLOTS), ("slots", slots, MAX_SLOTS), ("items", items, sys.maxsize)):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= most):
            raise UsageError(f"--{name} {number!r}: give a whole number from 1 to {most:,}")
    for name, choice, choices in (("sketch", sketch, ("oph", "classic")), ("tune", tune, ("recall", "error"))):
        if choice not in choices:
            raise UsageError(f"--{name} {choice!r}: choose one of {', '.join(choices)}")
    bands, rows = by_hand(bands, rows, slots)
    if bands and rows:
        return Plan(bands, rows, threshold, recall, sketch, tune, "hand", items)
    asked = Asked(threshold, recall, bands, rows, slots, sketch, items)
    bands, rows = least_error(asked) if tune == "error" else least_cost(asked)
    return Plan(bands, rows, threshold, recall, sketch, tune, "plan", items)


def by_hand(bands: int | None, rows: int | None, slots: int | None) -> tuple[int | None, int | None]:
    """Bands and rows as far as they are fixed: a product and one factor fix the other."""
    if bands and rows:
        if bands * rows > (slots or MAX_SLOTS):
            raise UsageError(f"--bands {bands} --rows {rows} take {bands * rows} slots, more than {slots or MAX_SLOTS}; give fewer, or more --slots")
        return bands, rows
    given = bands or rows
    if slots is None or given is None:
        return bands, rows
    if slots % given:
        near = [str(number) for number in (slots // given * given, (slots // given + 1) * given) if number]
        raise UsageError(f"--slots {slots} is not a multiple of --{'bands' if bands else 'rows'} {given}; give --slots {' or '.join(near)}")
    return (given, slots // given) if bands else (slots // given, given)


def least_cost(asked: Asked) -> tuple[int, int]:
    """The layout of least predicted cost among those that reach the recall; ties go to fewer slots."""
    for limit in [asked.slots] if asked.slots else [PLANNED_SLOTS, MAX_SLOTS]:
        layouts = [(bands, rows) for bands, rows in sufficient(asked) if bands * rows <= limit]
        if layouts:
            return min(layouts, key=lambda layout: (cost(layout[0], layout[1], asked.items), layout[0] * layout[1]))
    raise UsageError(unreachable(asked))


def sufficient(asked: Asked) -> Iterator[tuple[int, int]]:
    """For each number of rows the fewest bands that reach the target; the given bands, where those are given and reach it."""
    for rows in [asked.rows] if asked.rows else range(1, MAX_ROWS + 1):
        needed = bands_needed(asked.at, asked.target, rows)
        if asked.bands is None:
            yield max(needed, asked.fewest), rows
        elif needed <= asked.bands:
            yield asked.bands, rows


def bands_needed(at: float, target: float, rows: int) -> int:
    """The fewest bands of so many rows whose chance at a similarity reaches the target."""
    agree = at**rows
    if agree >= target:
        return 1
    if agree < 1e-9:
        return sys.maxsize  # billions of bands
    bands = max(1, math.ceil(math.log1p(-target) / math.log1p(-agree)) - 1)  # one less, against rounding
    while chance(at, bands, rows) < target:
        bands += 1
    return bands


def cost(bands: int, rows: int, items: int) -> float:
    """Predicted nanoseconds for each item."""
    return BAND_COST * bands + SLOT_COST * bands * rows + VERIFY_COST * predicted_candidates(bands, rows, items)


def predicted_candidates(bands: int, rows: int, items: int) -> float:
    """Pairs that share a band key, for each item: the assumed densities of similarities under the curve."""
    total = 0.0
    for step in range(GRID):
        s = ((step + 0.5) / GRID) ** 2  # finer near 0, where the background is
        width = 2 * (step + 0.5) / GRID**2
        background = items / 2 * BACKGROUND * (1 - s) ** (BACKGROUND - 1)
        total += width * (background + ALIKE_PER_ITEM) * chance(s, bands, rows)
    return total


def least_error(asked: Asked) -> tuple[int, int]:
    """The layout with the least area between the curve and a step at the threshold, both sides weighted equally."""
    limit = asked.slots or max(ERROR_SLOTS, asked.bands or 0, asked.rows or 0)
    grid = [(step + 0.5) / GRID for step in range(GRID)]
    best = (math.inf, 0, 0)
    for rows in [asked.rows] if asked.rows else range(1, limit // (asked.bands or 1) + 1):
        passes = [1 - s**rows for s in grid]
        missed = [1.0] * GRID
        for bands in range(1, (asked.bands or limit // rows) + 1):
            missed = [before * one for before, one in zip(missed, passes, strict=True)]
            if asked.bands in (None, bands):
                error = sum(miss if s >= asked.at else 1 - miss for s, miss in zip(grid, missed, strict=True))
                best = min(best, (error, bands, rows))
    return best[1:]


def unreachable(asked: Asked) -> str:
    """Why no layout will do, the best that could be had, and what to type instead."""
    wish = f"no layout finds a pair at {asked.at:g} with chance {asked.recall:g}"
    if asked.bands:
        needed = bands_needed(asked.at, asked.target, 1)
        best = chance(asked.at, asked.bands, 1)
        return f"--bands {asked.bands}: {wish}; the most is {best:.4g}, at one row; give --bands {needed} or more, or a lower --recall"
    rows, limit = asked.rows or 1, asked.slots or MAX_SLOTS
    needed = max(bands_needed(asked.at, asked.target, rows), asked.fewest) * rows
    given = f"--slots {asked.slots}" if asked.slots else f"--rows {rows}" if asked.rows else f"--threshold {asked.at:g}"
    more = f"--slots {needed} or more" if needed <= MAX_SLOTS else "fewer --rows" if asked.rows else "a higher --threshold"
    best = chance(asked.at, limit // rows, rows)
    return f"{given}: {wish}; the most is {best:.4g}, with {limit:,} slots as {limit // rows:,} x {rows}; give {more}, or a lower --recall"


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + "s" * (number != 1)


def parse_threshold(value: object) -> Fraction:
    """A similarity above 0 and up to 1, as an exact ratio of whole numbers up to 10^9. Raises UsageError.

    >>> parse_threshold("0.8"), parse_threshold(2 / 3), parse_threshold("4/5")
    (Fraction(4, 5), Fraction(2, 3), Fraction(4, 5))
    """
    try:
        if isinstance(value, bool) or ("/" not in str(value) and not 0 < float(str(value)) <= 1):
            raise ValueError  # before Fraction sees it, which would write out 1e999999999 digit by digit
        ratio = Fraction(str(value)).limit_denominator(MAX_DENOMINATOR)
        if not 0 < ratio <= 1:
            raise ValueError
    except (ValueError, ZeroDivisionError, OverflowError):
        raise UsageError(f"--threshold {str(value)!r}: give a similarity above 0 and up to 1, as in 0.8") from None
    return ratio
