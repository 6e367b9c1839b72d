"""The choice of bands and rows for a threshold and a target recall, with the lowest predicted cost.

Pure arithmetic: a plan depends only on the options, and on the sample if there is one, so that every machine makes the same plan.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from likewise.choices import check_choices
from likewise.drawing.numbers import counted, shown
from likewise.errors import UsageError
from likewise.messages import option
from likewise.methods import Measure, Text, text
from likewise.planning.curves import Curve, number_of
from likewise.planning.density import Density
from likewise.planning.expected import assumed
from likewise.planning.families import SHINGLES as OF_SHINGLES
from likewise.planning.families import Facts, costs, family_for
from likewise.planning.model import SHINGLES, Model, probability
from likewise.planning.plan import ITEMS, OPH_STEEP_ABOVE, Plan, around
from likewise.planning.threshold import parse_similarity_within, parse_threshold, parse_within

MAX_SLOTS = 65_536
MAX_ROWS = 64
#: Number of slots for ``tune="error"``; num_perm of datasketch.
ERROR_SLOTS = 128

# The slots of an OPH signature are slightly dependent, which matters for small sets: with two bands or more the curve is steeper than
# 1 - (1 - s^r)^b. Measured for unions of 4 to 400 elements and 2,000 combinations with layouts: where the curve is 0.7 or more, it is
# reached within the noise of the measurement (16 x 6 at 0.8 predicts .9923 and finds .9925 at 5 elements, .9950 at 50, .9958 at 100, .9935
# at 1000); below, it falls short by up to .011 (.6 to .7), .021 (.5 to .6), .048 (.3 to .5). A single band has no other to compensate:
# 1 x 3 at 0.8 finds .432 instead of .512 at 5 elements. So a plan has at least two bands, and a low target is raised a little.
OPH_BANDS = 2
OPH_MARGIN = 0.05

#: The default method.
TEXTS = text("words:5")


class NoLayoutError(UsageError):
    """Raised if no layout finds a pair at the threshold with the requested recall. A join needs no layout."""


@dataclass(frozen=True)
class Asked:
    """The requirements of a layout."""

    model: Model
    threshold: Fraction
    recall: float
    bands: int | None
    rows: int | None
    slots: int | None
    sketch: str

    @cached_property
    def p(self) -> float:
        """The probability that one function agrees at the threshold."""
        return self.model.curve.at(float(self.threshold))

    @property
    def place(self) -> str:
        """The threshold in words."""
        return f"{'within' if self.model.curve.distances else 'at'} {shown(float(self.threshold))}"

    @property
    def fewest(self) -> int:
        """The minimum number of bands. Equal sets agree in every slot, so at a threshold of 1 one band is enough."""
        return OPH_BANDS if self.sketch == "oph" and self.p < 1 else 1

    @property
    def target(self) -> float:
        """The value that the curve must reach for the requested recall."""
        return max(self.recall, min(self.recall + OPH_MARGIN, OPH_STEEP_ABOVE)) if self.sketch == "oph" else self.recall

    @property
    def limits(self) -> list[int]:
        """The maximum number of slots to search, and a higher maximum if none suffices."""
        return [self.slots] if self.slots else [costs(self.model.curve.family, self.model.numbers).slots, MAX_SLOTS]


def choose(
    threshold: object = None,
    recall: float = 0.99,
    *,
    within: object = None,
    method: Text | Measure = TEXTS,
    family: str | None = None,
    bands: int | None = None,
    rows: int | None = None,
    slots: int | None = None,
    sketch: str = "oph",
    tune: str = "recall",
    items: int = ITEMS,
    dimension: int | None = None,
    sample: Callable[[Curve, Fraction], Density] | None = None,
    facts: Facts | None = None,
    shingles: float | None = None,
) -> Plan:
    """Return the plan for a minimum similarity ``threshold``, or a maximum distance ``within``.

    ``tune="recall"``: the layout of lowest predicted cost that finds a pair at the threshold with at least the probability ``recall``.
    ``tune="error"``: datasketch's rule, the layout that minimizes the area of false positives on one side of the threshold plus that of false
    negatives on the other; it guarantees no recall.
    ``slots`` limits the length of the signature. Bands and rows, or one of them and ``slots`` as their product, are used unchanged; if only one
    is given, the other is planned.
    ``family`` selects one of several families for a measure. ``dimension`` is that of vectors, 384 by default, or the bits of a code.
    A sample provides ``sample``, the similarities of its pairs, ``facts`` and ``shingles``.
    Raises UsageError, and NoLayoutError if no layout reaches the recall.
    """
    check(recall, sketch, tune)
    recall = float(recall)
    bands, rows, slots = (whole(name, number, MAX_SLOTS) for name, number in (("bands", bands), ("rows", rows), ("slots", slots)))
    items, dimension = whole("items", items) or ITEMS, whole("dimension", dimension)
    chosen = family_for(method, family)
    facts = facts or Facts(dimension, sparse=method.compared.sparse)
    if dimension and (chosen.unit == OF_SHINGLES or facts.sparse):
        why = "sparse vectors have" if facts.sparse else f"{option('by', str(method))} compares texts or sets, which have"
        raise UsageError(f"{option('dimension', dimension)}: {why} no fixed dimension; leave it out")
    if dimension and facts.dimension and dimension != facts.dimension:
        raise UsageError(f"{option('dimension', dimension)}: the data have {facts.dimension:,} {chosen.unit} each; leave it out")
    at = limit_of(method, threshold, within)
    sketch = sketch if chosen.modes else ""
    bands, rows = by_hand(bands, rows, slots)
    plans = []
    for curve in chosen.curves(method, float(at), facts):
        refuse_beyond(curve, at)
        model = Model(
            curve,
            sample(curve, at) if sample else assumed(curve, at, sparse=facts.sparse),
            items,
            facts.dimension,
            SHINGLES if shingles is None else shingles,
            facts.sparse,
        )
        asked = Asked(model, at, recall, bands, rows, slots, sketch)
        layout = (bands, rows) if bands and rows else least_error(asked) if tune == "error" else least_cost(asked)
        if layout:
            chosen_by = "hand" if bands and rows else "plan"
            plans.append(Plan(*layout, at, recall, sketch, tune, chosen_by, model))
    if not plans:
        raise NoLayoutError(unreachable(asked))
    return best(plans)


def best(plans: Sequence[Plan]) -> Plan:
    """Return the best of plans for several curves.

    That is the one of least error if tuned for error; else the cheapest that reaches the target, else the one with the highest recall.
    """
    if plans[0].tune == "error":
        return min(plans, key=lambda plan: plan.error)
    enough = [plan for plan in plans if plan.recall >= plan.target]
    if enough:
        return min(enough, key=lambda plan: (plan.model.cost(plan.bands, plan.rows), plan.slots))
    return max(plans, key=lambda plan: plan.recall)


def check(recall: object, sketch: str, tune: str) -> None:
    """Raise UsageError for invalid options."""
    if isinstance(recall, bool | str) or not 0 < number_of(recall) < 1:
        hint = f"; hashing never reaches 1, but {option('exact')} does" if recall == 1 else ""
        raise UsageError(f"{option('recall', recall)}: give a number above 0 and below 1, for example 0.99{hint}")
    check_choices({"sketch": sketch, "tune": tune})


def refuse_beyond(curve: Curve, at: Fraction) -> None:
    """Raise UsageError for a distance that the measure cannot have."""
    if curve.distances and at > curve.most:
        raise UsageError(f"{option('within', placeholder=shown(float(at)))}: the maximum {curve.measure} is {curve.most:g}")


def check_plain(method: Text | Measure, at: Fraction, facts: Facts, recall: object, sketch: str, tune: str) -> None:
    """Raise UsageError for invalid options if no layout has to be planned."""
    check(recall, sketch, tune)
    for curve in family_for(method).curves(method, float(at), facts):
        refuse_beyond(curve, at)


def whole(name: str, number: Any, most: int = sys.maxsize) -> int | None:
    """Return a whole number from 1 as an int, numpy's types included; None for None. Raises UsageError."""
    if number is None:
        return None
    try:
        count = 0 if isinstance(number, bool) else operator.index(number)
    except TypeError:
        count = 0
    if not 1 <= count <= most:
        raise UsageError(f"{option(name, number)}: give a whole number from 1 to {most:,}")
    return count


def limit_of(method: Text | Measure, threshold: object, within: object) -> Fraction:
    """Return the threshold as a value of the measure: the minimum similarity or the maximum distance. Raises UsageError."""
    if threshold is not None and within is not None:
        raise UsageError(f"{option('threshold', threshold)} and {option('within', within)} set the same limit; give only one of them")
    if method.facts.distance:
        if within is None:
            unit = f"number of {method.facts.units[1]}" if method.facts.units[1] else "distance"
            instead = f" instead of {option('threshold', threshold)}" if threshold is not None else ""
            other = f"; {method.facts.instead}" if method.facts.instead else ""
            raise UsageError(f"{method} is a distance: use {option('within', placeholder='D')} (maximum {unit}){instead}{other}")
        return parse_within(within)
    real = method.facts.real
    if within is None:
        return parse_threshold(method.facts.threshold if threshold is None else threshold, real=real)
    if method.containment:
        instead = f"use {option('threshold', placeholder='S')}, the minimum share of an item that another contains"
        raise UsageError(f"{option('within', within)}: containment is a similarity; {instead}")
    if method.facts.instead:
        raise UsageError(f"{option('within', within)}: {method.facts.instead}")
    return parse_similarity_within(within, real=real)


def by_hand(bands: int | None, rows: int | None, slots: int | None) -> tuple[int | None, int | None]:
    """Return bands and rows as far as they are fixed: a product and one factor fix the other. Raises UsageError."""
    if bands and rows:
        if bands * rows > (slots or MAX_SLOTS):
            both, most = f"{option('bands', bands)} and {option('rows', rows)}", slots or MAX_SLOTS
            more = f", or more {option('slots')}" if slots else ""
            raise UsageError(f"{both} take {bands * rows:,} slots, more than {most:,}; give fewer bands or rows{more}")
        return bands, rows
    given = bands or rows
    if slots is None or given is None:
        return bands, rows
    if slots % given:
        near = " or ".join(str(number) for number in (slots // given * given, (slots // given + 1) * given) if number)
        factor = option("bands" if bands else "rows", given)
        raise UsageError(f"{option('slots', slots)} is not a multiple of {factor}; give {option('slots', placeholder=near)}")
    return (given, slots // given) if bands else (slots // given, given)


def least_cost(asked: Asked) -> tuple[int, int] | None:
    """Return the layout of lowest predicted cost among those that reach the recall; ties go to fewer slots. None if there is no such layout."""
    for limit in asked.limits:
        layouts = [(bands, rows) for bands, rows in sufficient(asked) if bands * rows <= limit]
        if layouts:
            return min(layouts, key=lambda layout: (asked.model.cost(*layout), layout[0] * layout[1]))
    return None


def sufficient(asked: Asked) -> Iterator[tuple[int, int]]:
    """Yield for each number of rows the minimum of bands that reach the target, or the given bands if they reach it."""
    for rows in [asked.rows] if asked.rows else range(1, MAX_ROWS + 1):
        needed = bands_needed(asked.p, asked.target, rows)
        if asked.bands is None:
            yield max(needed, asked.fewest), rows
        elif needed <= asked.bands:
            yield asked.bands, rows


def bands_needed(p: float, target: float, rows: int) -> int:
    """Return the minimum number of bands of ``rows`` that reach the target, if one function agrees with probability p."""
    agree = p**rows
    if agree >= target:
        return 1
    if agree < 1e-9:
        return sys.maxsize  # billions of bands
    bands = max(1, math.ceil(math.log1p(-target) / math.log1p(-agree)) - 1)  # one less, because of rounding
    while probability(p, bands, rows) < target:
        bands += 1
    return bands


def least_error(asked: Asked) -> tuple[int, int]:
    """Return the layout with the least area between the curve and a step at the threshold, both sides weighted equally.

    One more band adds Σ ± q^bands (1 - q), where q = 1 - p^rows is the probability to miss, - for the smaller q of similar pairs and + for the
    larger ones of others. Such a sum changes its sign once, from - to +, so the best number of bands is found by bisection.
    """
    limit = asked.slots or max(ERROR_SLOTS, asked.bands or 0, asked.rows or 0)
    probabilities, similar = zip(*around(asked.model.curve, asked.threshold), strict=True)
    best = (math.inf, 0, 0)
    for rows in [asked.rows] if asked.rows else row_counts(limit // (asked.bands or 1)):
        misses = [(1 - p**rows, is_similar) for p, is_similar in zip(probabilities, similar, strict=True)]
        low, high = (asked.bands, asked.bands) if asked.bands else (1, limit // rows)
        while low < high:
            middle = (low + high) // 2
            more = sum((-1 if is_similar else 1) * miss**middle * (1 - miss) for miss, is_similar in misses)
            low, high = (low, middle) if more >= 0 else (middle + 1, high)
        error = sum(miss**low if is_similar else 1 - miss**low for miss, is_similar in misses)
        best = min(best, (error, low, rows))
    return best[1:]


def row_counts(most: int) -> Iterator[int]:
    """Yield numbers of rows to try: each up to ERROR_SLOTS, then in steps of 2%."""
    rows = 1
    while rows <= most:
        yield rows
        rows += 1 if rows < ERROR_SLOTS else rows // 50


def unreachable(asked: Asked) -> str:
    """Return the message that no layout suffices, with the best possible one and the options to change."""
    wish = f"no layout finds a pair {asked.place} with probability {asked.recall:g}"
    if asked.bands:
        needed = bands_needed(asked.p, asked.target, 1)
        best = probability(asked.p, asked.bands, 1)
        return f"{option('bands', asked.bands)}: {wish}; the maximum is {best:.4g}, with one row; give {needed:,} bands or more, or a lower recall"
    rows, limit = asked.rows or 1, asked.slots or MAX_SLOTS
    needed = max(bands_needed(asked.p, asked.target, rows), asked.fewest) * rows
    falling = asked.model.curve.distances
    at = option("within" if falling else "threshold", placeholder=shown(float(asked.threshold)))
    given = option("slots", asked.slots) if asked.slots else option("rows", rows) if asked.rows else at
    more = (
        f"{needed:,} slots or more"
        if needed <= MAX_SLOTS
        else "fewer rows"
        if asked.rows
        else f"a {'smaller distance' if falling else 'higher threshold'}"
    )
    best = probability(asked.p, limit // rows, rows)
    best_layout = f"{best:.4g}, with {counted(limit, 'slot')} as {limit // rows:,} x {rows}"
    more = f"{more}, a lower recall, or {option('exact')} in dedup or pairs, which needs no layout"
    return f"{given}: {wish}; the maximum is {best_layout}; give {more}"
