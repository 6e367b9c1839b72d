"""Which families there are for a measure, and what each costs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from likewise.errors import UsageError
from likewise.methods import Measure, Text
from likewise.planning import curves
from likewise.planning.curves import Curve

#: Vectors of unknown dimension are taken to have so many numbers, sparse ones so many that are not 0.
DIMENSION, FILLED = 384, 100
#: Widths of a line's buckets that are tried, in thresholds.
WIDTHS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0)

#: The greatest L1 distance of data that thresholds can be set for.
NARROWEST, WIDEST = 1e-290, 1e300

#: measure -> the families for it, the one that is planned for first.
FAMILIES_FOR: dict[str, tuple[str, ...]] = {
    "elements": ("MinHash",),
    "weighted": ("WeightedMinHash",),
    "cosine": ("Hyperplane", "CrossPolytope"),
    "angle": ("Hyperplane", "CrossPolytope"),
    "l2": ("Line", "Stripe"),
    "l1": ("Line", "Threshold"),
    "hamming": ("Bits",),
    "features": ("WeightedMinHash",),
    "features/one-to-many": ("Hyperplane",),
}


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of the items beforehand."""

    dimension: int | None = None
    low: float | None = None  # the least and greatest coordinate
    high: float | None = None
    wide: bool = False  # numbers are float64, not float32
    decimal: bool = False  # codes in CSV files that may be hexadecimal or decimal are decimal
    features: int | None = None  # the numbers of a feature, of sets of them
    first: str = ""  # the place of the item that set the dimension or the features
    sparse: bool = False  # vectors are sparse; how many coordinates one has differs, and is not known


@dataclass(frozen=True, slots=True)
class Costs:
    """Nanoseconds of one core of 2026. Only their ratios matter, and a wrong one makes a plan dearer, never less complete."""

    slot: float  # to fill and hash a slot
    verify: float  # to read and compare two items
    slots: int  # what a plan may use when --slots is not given; more only where the target cannot be met otherwise
    element: float = 0.0  # to read an element of a set, whatever the layout


def costs(family: str, dimension: int, *, sparse: bool = False) -> Costs:
    """By family. A slot of MinHash is that of sets of a few hundred shingles; a vector's is so many multiplications, a sparse one's so many entries.

    Measured on a core of 2026: dedup reads and cuts a shingle in 50 ns; WeightedMinHash takes 290 ns an element to put elements in order and throw
    their darts (93 to 107 µs for 300 elements and 128 slots, 289 µs for 1,000, from arrays; from Python's mappings four times that).
    """
    padded = curves.padded(dimension)
    if sparse:
        return Costs(1.4 * dimension, 200 + 20 * dimension, 8192)
    return {
        "MinHash": Costs(2.0, 2000.0, 1024, 50.0),
        "WeightedMinHash": Costs(100.0, 3000.0, 1024, 300.0),
        "Hyperplane": Costs(0.04 * dimension, 100 + 0.2 * dimension, 8192),
        "CrossPolytope": Costs(0.22 * padded * math.log2(padded), 100 + 0.2 * dimension, 8192),
        "Line": Costs(0.08 * dimension, 100 + 0.2 * dimension, 8192),
        "Stripe": Costs(0.08 * dimension, 100 + 0.2 * dimension, 8192),
        "Threshold": Costs(2.0, 100 + 0.2 * dimension, 8192),
        "Bits": Costs(1.0, 50.0, 8192),
    }[family]


def family_for(method: Text | Measure, family: str | None = None) -> str:
    """The name of the family to plan for: the measure's first, or the one asked for. Raises UsageError."""
    name = "elements" if isinstance(method, Text) else method.name
    if method.containment or name not in FAMILIES_FOR:
        can = ", ".join(FAMILIES_FOR)
        raise UsageError(f"--by {method}: there is no hash family for it, so nothing to plan; there is one for text and for {can}")
    choices = FAMILIES_FOR[name]
    if family is not None and family not in choices:
        raise UsageError(f"--family {family!r}: for {method} choose {' or '.join(choices)}")
    return family or choices[0]


def curves_for(method: Text | Measure, family: str, threshold: float, facts: Facts) -> Iterator[Curve]:
    """The curves to choose from: one, or one for each width of a line's buckets. Raises UsageError where the items must be known."""
    if family in ("MinHash", "WeightedMinHash"):
        weighted = (isinstance(method, Text) and method.bag) or family == "WeightedMinHash"
        yield curves.jaccard(family, "weighted Jaccard similarity" if weighted else "Jaccard similarity")
    elif family in ("Hyperplane", "CrossPolytope"):
        if family == "CrossPolytope" and needed(facts.dimension, method) > curves.GREATEST_DIMENSION:
            raise UsageError(f"--family CrossPolytope: it takes up to {curves.GREATEST_DIMENSION:,} numbers, not {facts.dimension:,}; leave it out")
        curve = curves.angle() if family == "Hyperplane" else curves.cross_polytope(needed(facts.dimension, method))
        yield curves.in_degrees(curve) if str(method) == "angle" else curve
    elif family == "Bits":
        yield curves.bit_sampling(needed(facts.dimension, method))
    elif family == "Threshold":
        yield threshold_bit(facts, method)
    else:
        line = {"Stripe": curves.stripe, "Line": curves.gaussian_line if str(method) == "l2" else curves.cauchy_line}[family]
        yield from (line(width * (threshold or 1.0)) for width in WIDTHS)


def threshold_bit(facts: Facts, method: Text | Measure) -> Curve:
    if facts.low is None or facts.high is None:
        raise UsageError("--family Threshold: give the data as an array, for it must know the least and greatest coordinate")
    dimension = needed(facts.dimension, method)
    if not NARROWEST <= dimension * (facts.high - facts.low) <= WIDEST:
        span = f"coordinates from {facts.low:g} to {facts.high:g} are too {'close together' if facts.high - facts.low < 1 else 'far apart'}"
        raise UsageError(f"--family Threshold: {span} to set thresholds between; scale the data, or leave --family out")
    return curves.threshold_bit(facts.low, facts.high, dimension)


def needed(dimension: int | None, method: Text | Measure) -> int:
    if dimension is None:
        what = "bits a code has" if str(method) == "hamming" else "numbers a vector has"
        raise UsageError(f"--by {method}: give the data, or --dimension, how many {what}")
    return dimension
