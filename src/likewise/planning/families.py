"""Facts of hash families for planning: their measures, collision probabilities and costs. The registry is FAMILIES.

Costs were measured on a core of 2026: dedup reads and cuts a shingle in 50 ns; WeightedMinHash takes 290 ns per element to sort elements
and throw their darts (93 to 107 µs for 300 elements and 128 slots, 289 µs for 1,000, from arrays; four times that from Python mappings).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction

from likewise.errors import UsageError
from likewise.kinds import measures
from likewise.messages import either, option
from likewise.methods import Measure, Text
from likewise.planning import curves
from likewise.planning.curves import Curve
from likewise.planning.density import Density, angles, binomial, cosines, far_points, sets, sparse_cosines

#: Assumed dimension of vectors, and number of nonzero coordinates of sparse ones.
DIMENSION, FILLED = 384, 100
#: Widths of a line's buckets to try, in thresholds.
WIDTHS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0)

#: Range of the maximum L1 distance in data for which thresholds can be drawn.
NARROWEST, WIDEST = 1e-290, 1e300

#: Units of an item's length.
SHINGLES, NUMBERS, BITS = "shingles", "numbers", "bits"
#: Bytes of the odd sketch of a set in the work folder.
ODD_BYTES = 64


@dataclass(frozen=True, slots=True)
class Facts:
    """Known facts of the items before they are read."""

    dimension: int | None = None
    low: float | None = None  # minimum, and below maximum, coordinate
    high: float | None = None
    wide: bool = False  # vectors are float64, not float32
    decimal: bool = False  # codes in CSV files that could be hexadecimal or decimal are decimal
    features: int | None = None  # dimension of the features in sets of them
    first: str = ""  # place of the item that determined the dimension
    sparse: bool = False  # vectors are sparse, with varying numbers of coordinates


@dataclass(frozen=True, slots=True)
class Costs:
    """Nanoseconds of one core of 2026. Only their ratios matter; a wrong one makes a plan slower, never less complete."""

    slot: float  # to fill and hash a slot
    verify: float  # to read and compare two items
    slots: int  # maximum for a plan without ``slots``, exceeded only if the target cannot be reached otherwise
    element: float = 0.0  # to read an element of a set, regardless of the layout


Method = Text | Measure


@dataclass(frozen=True)
class FamilyFacts:
    """A hash family, without its kernels."""

    name: str  # name of the class
    module: str  # module of the class
    collision: Callable[..., Curve]  # collision probability of one function, by the family's parameters
    measures: tuple[str, ...]  # measures for which it is planned, as in ``by=``
    curves: Callable[[Method, float, Facts], Iterable[Curve]]  # curves to choose from. Raises UsageError if the items must be known
    costs: Callable[[int], Costs]  # by the length of an item
    assumed: Callable[[Curve, Fraction, bool], Density]  # density without a sample, by the threshold, and whether vectors are sparse
    unit: str = NUMBERS  # unit of an item's length
    bytes: float = 4  # bytes in the work folder per unit
    extra: int = 0  # and per item
    modes: bool = False  # its slots can be filled by one permutation or by many (``sketch``)
    sparse: bool = False  # supports sparse vectors


def of_jaccard(family: str) -> Callable[[Method, float, Facts], Iterable[Curve]]:
    """Return a function that makes the curve of a family for Jaccard similarity, weighted or not."""

    def found(method: Method, threshold: float, facts: Facts) -> Iterator[Curve]:
        weighted = method.facts.real or (isinstance(method, Text) and method.bag)
        yield curves.jaccard(family, "weighted Jaccard similarity" if weighted else "Jaccard similarity")

    return found


def of_hyperplanes(method: Method, threshold: float, facts: Facts) -> Iterator[Curve]:
    """Yield the curve of random hyperplanes."""
    yield in_units_of(method, curves.angle())


def of_axes(method: Method, threshold: float, facts: Facts) -> Iterator[Curve]:
    """Yield the curve of cross-polytope hashing. Raises UsageError if the dimension is unknown or too large."""
    if needed(facts, method) > curves.GREATEST_DIMENSION:
        most = f"vectors may have up to {curves.GREATEST_DIMENSION:,} numbers, not {facts.dimension:,}"
        raise UsageError(f"{option('family', 'CrossPolytope')}: {most}; leave it out")
    yield in_units_of(method, curves.cross_polytope(needed(facts, method)))


def in_units_of(method: Method, curve: Curve) -> Curve:
    """Return a curve of cosines, converted to degrees if the measure is in degrees."""
    return curves.in_degrees(curve) if method.facts.distance else curve


def of_widths(made: Callable[[str, float], Curve]) -> Callable[[Method, float, Facts], Iterable[Curve]]:
    """Return a function that makes a curve for each width of buckets to try; ``made`` makes one by the measure and a width."""
    return lambda method, threshold, facts: (made(str(method), width * (threshold or 1.0)) for width in WIDTHS)


def line(width: float, norm: str) -> Curve:
    """Return the curve of a line with buckets of this width; ``norm``: "l1" or "l2"."""
    return {"l1": curves.cauchy_line, "l2": curves.gaussian_line}[norm](width)


def of_thresholds(method: Method, threshold: float, facts: Facts) -> Iterator[Curve]:
    """Yield the curve of random thresholds. Raises UsageError if the range of coordinates is unknown or unsuitable."""
    if facts.low is None or facts.high is None:
        raise UsageError(f"{option('family', 'Threshold')}: give the data as an array, because the minimum and maximum coordinate must be known")
    dimension = needed(facts, method)
    if not NARROWEST <= dimension * (facts.high - facts.low) <= WIDEST:
        span = f"coordinates from {facts.low:g} to {facts.high:g} are too {'close together' if facts.high - facts.low < 1 else 'far apart'}"
        raise UsageError(f"{option('family', 'Threshold')}: {span} for thresholds between them; scale the data, or leave out {option('family')}")
    yield curves.threshold_bit(facts.low, facts.high, dimension)


def of_bits(method: Method, threshold: float, facts: Facts) -> Iterator[Curve]:
    """Yield the curve of sampled bits. Raises UsageError if the number of bits is unknown."""
    yield curves.bit_sampling(needed(facts, method, "bits of a code"))


def needed(facts: Facts, method: Method, what: str = "numbers of a vector") -> int:
    """Return the dimension. Raises UsageError if it is unknown."""
    if facts.dimension is None:
        raise UsageError(f"{option('by', str(method))}: give the data, or {option('dimension', placeholder='N')}, the number of {what}")
    return facts.dimension


def dissimilar_vectors(curve: Curve, threshold: Fraction, sparse: bool) -> Density:
    """Return the assumed density of vectors, of cosines or of angles."""
    found = sparse_cosines() if sparse else cosines()
    return angles(found) if curve.distances else found


def dissimilar_points(curve: Curve, threshold: Fraction, sparse: bool) -> Density:
    """Return the assumed density of points, of distances."""
    return far_points(float(threshold), curve)


def flat(costs: Costs) -> Callable[[int], Costs]:
    """Return costs of a set of a few hundred elements, or of a code, regardless of its length."""
    return lambda length: costs


def a_slot_takes(each: float, constant: float = 0.0) -> Callable[[int], Costs]:
    """Return costs of vectors: filling a slot takes ``constant`` plus ``each`` nanoseconds per number."""
    return lambda numbers: Costs(constant + each * numbers, 100 + 0.2 * numbers, 8192)


def axes_take(numbers: int) -> Costs:
    """Return costs of cross-polytope hashing: a rotation of the padded dimension D takes D log D."""
    padded = curves.padded(numbers)
    return replace(a_slot_takes(0.0)(numbers), slot=0.22 * padded * math.log2(padded))


MINHASH = FamilyFacts(
    "MinHash",
    "likewise.families.minhash",
    curves.jaccard,
    ("elements",),
    of_jaccard("MinHash"),
    flat(Costs(2.0, 2000.0, 1024, 50.0)),
    lambda curve, threshold, sparse: sets(),
    SHINGLES,
    bytes=8,
    extra=ODD_BYTES,
    modes=True,
)
WEIGHTED = replace(
    MINHASH,
    name="WeightedMinHash",
    module="likewise.families.weighted",
    measures=("weighted",),
    curves=of_jaccard("WeightedMinHash"),
    costs=flat(Costs(100.0, 3000.0, 1024, 300.0)),
    extra=0,
    modes=False,
)
#: Stores signatures compactly; no measure is planned with it.
BBIT = replace(MINHASH, name="BBit", module="likewise.families.bbit", collision=curves.b_bit, measures=())
HYPERPLANE = FamilyFacts(
    "Hyperplane",
    "likewise.families.hyperplane",
    curves.angle,
    ("cosine", "angle"),
    of_hyperplanes,
    a_slot_takes(0.04),
    dissimilar_vectors,
    sparse=True,
)
AXES = replace(
    HYPERPLANE,
    name="CrossPolytope",
    module="likewise.families.crosspolytope",
    collision=curves.cross_polytope,
    curves=of_axes,
    costs=axes_take,
    sparse=False,
)
LINE = FamilyFacts(
    "Line",
    "likewise.families.line",
    line,
    ("l1", "l2"),
    of_widths(lambda norm, width: line(width, norm)),
    a_slot_takes(0.08),
    dissimilar_points,
    sparse=True,
)
STRIPE = replace(LINE, name="Stripe", collision=curves.stripe, measures=("l2",), curves=of_widths(lambda norm, width: curves.stripe(width)))
THRESHOLD = FamilyFacts(
    "Threshold",
    "likewise.families.threshold",
    curves.threshold_bit,
    ("l1",),
    of_thresholds,
    a_slot_takes(0.0, 2.0),
    dissimilar_points,
)
CODE_BITS = FamilyFacts(
    "Bits",
    "likewise.families.bits",
    curves.bit_sampling,
    ("hamming",),
    of_bits,
    flat(Costs(1.0, 50.0, 8192)),
    lambda curve, threshold, sparse: binomial(round(curve.most)),
    BITS,
    bytes=0.125,
)
#: The registry. For a measure with several families the first is the default.
FAMILIES = {one.name: one for one in (MINHASH, WEIGHTED, BBIT, HYPERPLANE, AXES, LINE, STRIPE, THRESHOLD, CODE_BITS)}


@contextmanager
def registered(family: FamilyFacts) -> Iterator[FamilyFacts]:
    """Context manager: add a family to the registry for the duration of a ``with`` block."""
    FAMILIES[family.name] = family
    try:
        yield family
    finally:
        del FAMILIES[family.name]


def costs(family: str, length: int, *, sparse: bool = False) -> Costs:
    """Return the costs of a family for items of ``length`` numbers, or entries of sparse vectors. MinHash assumes a few hundred shingles."""
    return Costs(1.4 * length, 200 + 20 * length, 8192) if sparse else FAMILIES[family].costs(length)


def families_of(method: Method) -> list[str]:
    """Return the names of the families for a method."""
    sparse = method.compared.sparse
    return [one.name for one in FAMILIES.values() if method.base.name in one.measures and not method.containment and (one.sparse or not sparse)]


def family_for(method: Method, family: str | None = None) -> FamilyFacts:
    """Return the family to plan for: the requested one, or the measure's first. Raises UsageError."""
    names = families_of(method)
    if not names:
        valid = ", ".join(name for name in measures() if families_of(Measure(name)))
        why = f"this measure has no hash family, so bands cannot be planned; {either('lw.dedup and lw.pairs need', 'dedup and pairs need')} none"
        raise UsageError(f"{option('by', str(method))}: {why}. For a plan use a unit of text, such as words:5, or one of {valid}")
    if family is not None and family not in names:
        raise UsageError(f"{option('family', family)}: for {method} choose {' or '.join(names)}")
    return FAMILIES[family or names[0]]
