"""The probability that one function of a family agrees on two items, by their similarity or distance, and AND-OR constructions of it.

Pure arithmetic that loads no kernel: families define their collision probability by it, and plans are made from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from likewise.errors import UsageError
from likewise.messages import quoted

#: ("all", 5): five functions must agree, an AND; ("any", 20): at least one of twenty, an OR.
Step = tuple[str, int]


def all_of(p: float, count: int) -> float:
    """Return the probability that ``count`` independent functions all agree (AND)."""
    return math.pow(p, count)


def any_of(p: float, count: int) -> float:
    """Return the probability that at least one of ``count`` independent functions agrees (OR); exact for small p as well."""
    return 1.0 if p >= 1.0 else -math.expm1(count * math.log1p(-p))


STEPS = {"all": all_of, "any": any_of}


def amplified(p: float, steps: Iterable[Step]) -> float:
    """Return the probability after all steps in turn.

    Gionis, Indyk and Motwani 1999; Leskovec, Rajaraman and Ullman, Mining of Massive Datasets 3.6.3. Raises UsageError unless 0 <= p <= 1, and for
    invalid steps.

    >>> round(amplified(0.8, [("all", 4), ("any", 4)]), 4), round(amplified(0.8, [("any", 4), ("all", 4)]), 4)
    (0.8785, 0.9936)
    """
    p = checked_probability(p)
    for kind, count in steps:
        p = STEPS[checked_kind(kind)](p, count)
    return p


def checked_probability(p: Any) -> float:
    """Return a probability as a float. Raises UsageError unless it is a number from 0 to 1."""
    number = number_of(p)
    if not 0 <= number <= 1:
        raise UsageError(f"a probability of {quoted(p)}: give a number from 0 to 1")
    return number


def checked_kind(kind: Any) -> str:
    """Return a key of STEPS. Raises UsageError for any other value."""
    if not isinstance(kind, str) or kind not in STEPS:
        raise UsageError(f"step {kind!r}: give ('all', r), of which all must agree, or ('any', b), of which one must")
    return kind


def number_of(value: Any) -> float:
    """Return a value as a float; NaN if it is not a number."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def mapped(function: Callable[[Any], float], given: Any) -> Any:
    """Return the function of a value, or float64 of the shape of an array or of nested lists. Raises its UsageError with the place of the value."""
    if not (isinstance(given, list | tuple) or getattr(given, "ndim", hasattr(given, "__array__"))):
        return function(given)
    import numpy as np

    try:
        table = given if isinstance(given, np.ndarray) else np.array(given, object)
    except ValueError:  # arrays that differ in all but their first dimensions
        raise UsageError("lists of different lengths; give an array, or lists of equal length") from None
    found = np.empty(table.shape)
    for place, value in np.ndenumerate(table):
        try:
            found[place] = function(value)
        except UsageError as error:
            raise UsageError(f"at index {', '.join(map(str, place))}: {error.marked}") from None
    return found


def complement(value: float) -> float:
    """Return 1 - value."""
    return 1 - value


@dataclass(frozen=True)
class Curve:
    """The collision probability of one function, by the value of the measure: a similarity or a distance.

    Its functions are named functions of this module or `partial` of such, so that it can be pickled.
    """

    family: str
    measure: str  # in words, such as "Jaccard similarity"
    probability: Callable[[float], float] = field(compare=False)  # by a value from least to most
    distances: bool = False  # values are distances: the probability falls with them
    least: float = 0.0
    most: float = 1.0
    as_distance: Callable[[float], float] = field(default=complement, compare=False)  # from a similarity
    from_distance: Callable[[float], float] = field(default=complement, compare=False)  # and back
    by_distance: Callable[[float], float] | None = field(default=None, compare=False)  # the probability, if it is defined by the distance
    unit: str = ""  # unit of that distance: "degrees"
    parameters: dict[str, Any] = field(default_factory=dict, hash=False)  # parameters of the family, such as {"width": 4.0}

    def at(self, value: float) -> float:
        """Return the probability at a value. Raises UsageError for values outside the measure."""
        number = number_of(value)
        if not self.least <= number <= self.most:
            span = f"from {self.least:g} to {self.most:g}" if math.isfinite(self.most) else f"{self.least:g} or more"
            hint = "; an angle is given as distance=DEGREES" if self.unit == "degrees" and number > self.most else ""
            raise UsageError(f"{self.measure} {quoted(value)}: give a number {span}{hint}")
        return self.probability(number)

    def at_distance(self, distance: float) -> float:
        """Return the probability at a distance, in ``unit``: 1 - J for a Jaccard similarity, degrees for a cosine. Raises UsageError."""
        if self.by_distance is None:
            return self.at(self.of_distance(distance))
        return self.by_distance(self.checked_distance(distance))

    def of_distance(self, distance: float) -> float:
        """Return the measure's value at a distance. Raises UsageError for an impossible distance."""
        return distance if self.distances else self.from_distance(self.checked_distance(distance))

    def checked_distance(self, distance: Any) -> float:
        """Return a distance as a float. Raises UsageError for an impossible one."""
        number, most = number_of(distance), self.as_distance(self.least)
        if not 0 <= number <= most:
            raise UsageError(f"distance {quoted(distance)}: give a number from 0 to {most:g}{' ' * bool(self.unit)}{self.unit}")
        return number

    def value(self, probability: float) -> float:
        """Return the value at which a function agrees with this probability; beyond the curve's range its end, which may be infinite."""
        low, high = self.least, self.most
        if math.isinf(high):
            high = 1.0
            while self.probability(high) > probability and high < FAR:
                high *= 2
            if high >= FAR:
                return math.inf
        rising = not self.distances
        if probability <= self.probability(low if rising else high):
            return low if rising else self.most
        if probability >= self.probability(high if rising else low):
            return high if rising else low
        for _ in range(200):  # bisection, until the middle is one of the ends
            middle = (low + high) / 2
            if middle in (low, high):
                break
            if (self.probability(middle) < probability) == rising:
                low = middle
            else:
                high = middle
        return (low + high) / 2


#: Distance beyond which values are not distinguished.
FAR = 2.0**100


def jaccard(family: str = "MinHash", measure: str = "Jaccard similarity") -> Curve:
    """MinHash and consistent weighted sampling: the similarity itself (Broder 1997; Ioffe 2010)."""
    return Curve(family, measure, float)


def b_bit(bits: int) -> Curve:
    """b bits of each MinHash: different values agree in them with probability 2^-b (Li and König 2010)."""
    return Curve("BBit", "Jaccard similarity", partial(or_else_by_chance, 2.0**-bits), parameters={"bits": bits})


def or_else_by_chance(by_chance: float, p: float) -> float:
    """Return the probability of agreement with probability p, or else by chance."""
    return by_chance + (1 - by_chance) * p


def angle(family: str = "Hyperplane", probability: Callable[[float], float] | None = None, **parameters: Any) -> Curve:
    """A random hyperplane: 1 - angle/180 (Goemans and Williamson 1995; Charikar 2002), or another probability by degrees. Values are cosines."""
    of_angle = probability or partial(falling, 180)
    return Curve(
        family,
        "cosine",
        partial(of_cosine, of_angle),
        least=-1.0,
        as_distance=degrees_of,
        from_distance=cosine_of,
        by_distance=of_angle,
        unit="degrees",
        parameters=parameters,
    )


def of_cosine(of_angle: Callable[[float], float], cosine: float) -> float:
    """Return the probability at the angle of a cosine."""
    return of_angle(degrees_of(cosine))


def falling(most: float, distance: float) -> float:
    """Return the linear function from 1 at distance 0 to 0 at ``most``."""
    return (most - distance) / most


#: Maximum dimension of vectors for cross-polytope hashing.
GREATEST_DIMENSION = 2**16


def cross_polytope(dimension: int) -> Curve:
    """The nearest of the axes, + or -, after a random rotation (Andoni, Indyk, Laarhoven, Razenshteyn and Schmidt 2015).

    Computed by quadrature, for the padded dimension D; there is no closed form. At 90 degrees it is a little below the 1/(2D) of independent
    directions, at 180 it is 0.
    """
    return angle("CrossPolytope", partial(nearest_axis, padded(dimension)), dimension=dimension)


def padded(dimension: int) -> int:
    """Return the dimension in which cross-polytope hashing rotates vectors.

    It is a power of two, large enough that random signs and additions rotate them well.
    """
    return 1 << max(7, (dimension - 1).bit_length())


def nearest_axis(size: int, degrees: float) -> float:
    """Return the probability that two vectors at this angle have the same nearest axis after a uniformly random rotation in ``size`` dimensions."""
    import numpy as np

    return float(np.interp(degrees, *nearest_axes(size)))


@cache
def nearest_axes(size: int) -> tuple[Any, Any]:
    """Return a table of `nearest_axis`: degrees and probabilities, float64[4001] each.

    First let the rotation have independent Gaussian entries. Each axis then sees a pair (u, v) of standard normals with the angle's cosine as
    correlation: coordinates along two unit vectors e, f at that angle of one point z = r·(cos φ, sin φ) of a plane. If both are positive, no other
    axis is nearer to either if the other size - 1 points lie in the parallelogram |e·z| < u, |f·z| < v:

        G(θ) = 2·size · ∫ ∫ (r/2π) exp(-r²/2) inside(u, v)^(size - 1) dφ dr,   u = r cos φ, v = r cos(φ - θ), both above 0.

    A Gaussian rotation is a uniform one that also blurs the angle, by a variance of sin²θ/size and no bias to that order; hence for a uniform
    one G - sin²θ/(2·size)·G'', whose error falls with 1/size² (0.003 at 16, 0.00005 at 128). The quadrature is accurate to 10^-6. Agreement of
    vectors of 2 to 512 dimensions, including those with only two nonzero coordinates, was measured from 1 to 120 degrees: at most 0.001 off
    (2.9 standard errors), by 0.0004 ± 0.00015 at 1 degree in 2 dimensions. Beyond 100 degrees the probability is below 10^-3 and known only
    roughly.
    """
    import numpy as np
    from numpy.polynomial import Chebyshev
    from numpy.polynomial.legendre import leggauss

    (radial, radial_weights), (turning, turning_weights), (along, along_weights) = leggauss(40), leggauss(24), leggauss(16)
    low, high = math.sqrt(2 * math.log(max(1, size / 40))), math.sqrt(2 * math.log(size)) + 6  # no axis outside is nearest
    r = (low + (high - low) * (radial + 1) / 2)[:, None]
    masses = radial_weights[:, None] * (high - low) / 2 * r * np.exp(-r * r / 2) / (2 * math.pi)

    def beyond(distance: Any, turn: Any) -> Any:
        """Return the mass of the plane beyond a line at a distance, from the foot of its perpendicular through the angle ``turn``."""
        cosines = np.cos(turn[..., None] * (along + 1) / 2)
        return np.exp(-((distance[..., None] / cosines) ** 2) / 2) @ along_weights * turn / (4 * math.pi)

    def gaussian(theta: float) -> float:
        phi = theta / 2 + (math.pi - theta) / 4 * (turning + 1)  # from the bisector; the other half is its mirror image
        u, v = r * np.cos(phi), r * np.cos(phi - theta)
        corners = np.arctan2(v + u * math.cos(theta), u * math.sin(theta)), np.arctan2(u + v * math.cos(theta), v * math.sin(theta))
        outside = 2 * (beyond(u, phi + 0 * r) + beyond(u, corners[0]) + beyond(v, theta - phi + 0 * r) + beyond(v, corners[1]))
        return float(4 * size * (masses * np.maximum(1 - outside, 0) ** (size - 1) @ turning_weights).sum() * (math.pi - theta) / 4)

    blurred = Chebyshev.interpolate(np.vectorize(gaussian), 32, domain=[0, math.pi])
    angles = np.linspace(0, math.pi, 4001)
    probabilities = blurred(angles) - np.sin(angles) ** 2 / (2 * size) * blurred.deriv(2)(angles)
    probabilities[0], probabilities[-1] = 1, 0
    probabilities = np.minimum.accumulate(np.clip(probabilities, 0, 1))
    return np.degrees(angles), probabilities


def degrees_of(cosine: float) -> float:
    """Return the angle of a cosine in degrees."""
    return math.degrees(math.acos(cosine))


def cosine_of(degrees: float) -> float:
    """Return the cosine of an angle in degrees."""
    return math.cos(math.radians(degrees))


def distances(family: str, measure: str, probability: Callable[[float], float], most: float = math.inf, **parameters: Any) -> Curve:
    """Return a curve whose values are distances."""
    return Curve(family, measure, probability, distances=True, most=most, parameters=parameters)


def gaussian_line(width: float) -> Curve:
    """A line of Gaussian direction cut into buckets, floor((a·x + u)/w), for L2 (Datar, Immorlica, Indyk and Mirrokni 2004, section 4.1)."""
    return distances("Line", "L2 distance", partial(by_ratio, of_gaussian, width), width=width, norm="l2")


def of_gaussian(ratio: float) -> float:
    """Return the probability by ``ratio``, width / distance."""
    inside = math.erf(ratio / math.sqrt(2))  # 1 - 2Φ(-w/d)
    return inside + 2 / math.sqrt(2 * math.pi) * (math.expm1(-ratio * ratio / 2) / ratio)


def cauchy_line(width: float) -> Curve:
    """A line of Cauchy direction cut into buckets, for L1 (Datar, Immorlica, Indyk and Mirrokni 2004, section 4.1)."""
    return distances("Line", "L1 distance", partial(by_ratio, of_cauchy, width), width=width, norm="l1")


def of_cauchy(ratio: float) -> float:
    """Return the probability by ``ratio``, width / distance."""
    logarithm = math.log1p(ratio * ratio) if ratio < 1 else 2 * math.log(ratio) + math.log1p(ratio**-2)  # log(1 + ratio²) without overflow
    return (2 * math.atan(ratio) - logarithm / ratio) / math.pi


def by_ratio(probability: Callable[[float], float], width: float, distance: float) -> float:
    """Return the probability by width / distance, with the limits 1 for an infinite ratio and 0 for a ratio of 0."""
    ratio = width / distance if distance else math.inf
    return 1.0 if ratio > FAR else probability(ratio) if ratio > 0 else 0.0


def density(x: float) -> float:
    """Return the density of the standard normal distribution."""
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def stripe(width: float) -> Curve:
    """The parity of a Gaussian line's bucket, one bit: 1/2 + 4/π² · Σ over odd m of exp(-m²π²d²/2w²)/m². Distant points agree half the time."""
    return distances("Stripe", "L2 distance", partial(same_parity, width), width=width)


def same_parity(width: float, distance: float) -> float:
    """Return the probability of `stripe` at a distance."""
    spread = distance / width
    if spread < 0.5:  # the series converges slowly here; the mean of the wave |1 - z| (period 2) over normal z, corner by corner, converges at once
        corners = (spread * density(k / spread) - k * math.erfc(k / spread / math.sqrt(2)) / 2 if spread else 0.0 for k in range(1, 6))
        return 1 - math.sqrt(2 / math.pi) * spread + 4 * sum(corner * (-1) ** k for k, corner in enumerate(corners))
    return 0.5 + 4 / math.pi**2 * sum(math.exp(-m * m * math.pi**2 * spread * spread / 2) / m**2 for m in (1, 3, 5, 7))


def threshold_bit(low: float, high: float, dimension: int) -> Curve:
    """One random coordinate against a random threshold: 1 - ‖x-y‖₁ / (dimension · (high - low)), for values within low and high."""
    most = dimension * (high - low)
    return distances("Threshold", "L1 distance", partial(falling, most), most, low=low, high=high, dimension=dimension)


def bit_sampling(dimension: int) -> Curve:
    """One random position of codes of ``dimension`` bits: 1 - d/n (Indyk and Motwani 1998)."""
    return distances("Bits", "Hamming distance", partial(falling, dimension), float(dimension), dimension=dimension)


def in_degrees(curve: Curve) -> Curve:
    """Return a curve of cosines as one of angles in degrees, which are distances."""
    return distances(curve.family, "angle in degrees", curve.at_distance, 180.0, **curve.parameters)
