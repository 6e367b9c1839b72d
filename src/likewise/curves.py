"""With what chance one function of a family agrees on two items, by how alike they are, and what ANDs and ORs make of it (SPEC 5).

Pure arithmetic that loads no kernel: families state their chance by it, plans are made from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from likewise.errors import UsageError

#: ("all", 5): five functions must agree, an AND; ("any", 20): one of twenty, an OR.
Step = tuple[str, int]


def all_of(p: float, count: int) -> float:
    """AND: the chance that ``count`` independent functions all agree."""
    return math.pow(p, count)


def any_of(p: float, count: int) -> float:
    """OR: the chance that at least one of ``count`` independent functions agrees; exact for small p as well."""
    return 1.0 if p >= 1.0 else -math.expm1(count * math.log1p(-p))


STEPS = {"all": all_of, "any": any_of}


def amplified(p: float, steps: Iterable[Step]) -> float:
    """The chance after each step in turn (Gionis, Indyk and Motwani 1999; Leskovec, Rajaraman and Ullman, Mining of Massive Datasets 3.6.3).

    >>> round(amplified(0.8, [("all", 4), ("any", 4)]), 4), round(amplified(0.8, [("any", 4), ("all", 4)]), 4)
    (0.8785, 0.9936)
    """
    for kind, count in steps:
        p = STEPS[kind](p, count)
    return p


@dataclass(frozen=True)
class Curve:
    """The collision probability of one function, by the measure's own value: a similarity where the measure is one, else a distance."""

    family: str
    measure: str  # in words, as "Jaccard similarity"
    chance: Callable[[float], float] = field(compare=False)  # of a value from least to most
    distances: bool = False  # values are distances: the chance falls with them
    least: float = 0.0
    most: float = 1.0
    as_distance: Callable[[float], float] = field(default=lambda value: 1 - value, compare=False)  # of a similarity,
    from_distance: Callable[[float], float] = field(default=lambda distance: 1 - distance, compare=False)  # and back
    unit: str = ""  # of that distance: "degrees"
    parameters: dict[str, Any] = field(default_factory=dict, hash=False)  # what the family is made with, as {"width": 4.0}

    def at(self, value: float) -> float:
        """The chance at a value. Raises UsageError for what the measure cannot be."""
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not self.least <= number <= self.most:
            span = f"from {self.least:g} to {self.most:g}" if math.isfinite(self.most) else f"{self.least:g} or more"
            hint = "; an angle is given as distance=DEGREES" if self.unit == "degrees" and number > self.most else ""
            raise UsageError(f"{self.measure} {value!r}: give a number {span}{hint}")
        return self.chance(number)

    def at_distance(self, distance: float) -> float:
        """The chance at a distance, in ``unit``: 1 - J for a Jaccard similarity, degrees for a cosine."""
        return self.at(self.of_distance(distance))

    def of_distance(self, distance: float) -> float:
        """The measure's value at a distance. Raises UsageError for what cannot be one."""
        if self.distances:
            return distance
        most = self.as_distance(self.least)
        try:
            number = float(distance)
        except (TypeError, ValueError):
            number = math.nan
        if not 0 <= number <= most:
            raise UsageError(f"distance {distance!r}: give a number from 0 to {most:g}{' ' * bool(self.unit)}{self.unit}")
        return self.from_distance(number)

    def value(self, chance: float) -> float:
        """The value at which a function agrees with this chance; the end of the range where the chance lies beyond it, which may be infinite."""
        low, high = self.least, self.most
        if math.isinf(high):
            high = 1.0
            while self.chance(high) > chance and high < FAR:
                high *= 2
            if high >= FAR:
                return math.inf
        rising = not self.distances
        if chance <= self.chance(low if rising else high):
            return low if rising else self.most
        if chance >= self.chance(high if rising else low):
            return high if rising else low
        for _ in range(200):  # by halves, until the middle is one of the ends
            middle = (low + high) / 2
            if middle in (low, high):
                break
            if (self.chance(middle) < chance) == rising:
                low = middle
            else:
                high = middle
        return (low + high) / 2


#: A distance beyond which nothing is told apart.
FAR = 2.0**100


def jaccard(family: str = "MinHash", measure: str = "Jaccard similarity") -> Curve:
    """MinHash and consistent weighted sampling: the similarity itself (Broder 1997; Ioffe 2010)."""
    return Curve(family, measure, float)


def b_bit(bits: int) -> Curve:
    """The lowest b bits of a MinHash: other values agree in them by chance, with 2^-b (Li and König 2010, for sets small in their universe)."""
    by_chance = 2.0**-bits
    return Curve("BBit", "Jaccard similarity", lambda j: by_chance + (1 - by_chance) * j, parameters={"bits": bits})


def angle(family: str = "Hyperplane", chance: Callable[[float], float] | None = None, **parameters: Any) -> Curve:
    """A random hyperplane: 1 - angle/180 (Goemans and Williamson 1995; Charikar 2002), or another chance by degrees. Values are cosines."""
    by_degrees = chance or (lambda degrees: 1 - degrees / 180)
    return Curve(
        family,
        "cosine",
        lambda cosine: by_degrees(degrees_of(cosine)),
        least=-1.0,
        as_distance=degrees_of,
        from_distance=cosine_of,
        unit="degrees",
        parameters=parameters,
    )


def cross_polytope(dimension: int) -> Curve:
    """The nearest of the axes, + or -, after a random turn (Andoni, Indyk, Laarhoven, Razenshteyn and Schmidt 2015), by quadrature: no closed form.

    For the padded dimension D. At 90 degrees it is a little below the 1/(2D) of independent directions, at 180 nothing.
    """
    return angle("CrossPolytope", nearest_axis(padded(dimension)), dimension=dimension)


def padded(dimension: int) -> int:
    """The dimension that cross-polytope hashing turns vectors in: a power of two, and so many that signs and additions turn them well."""
    return 1 << max(7, (dimension - 1).bit_length())


@cache
def nearest_axis(size: int) -> Callable[[float], float]:
    """The chance by degrees that two vectors at that angle have the same nearest axis after a uniformly random turn in so many dimensions.

    Let the turn have independent Gaussian entries first. Each axis then sees a pair (u, v) of standard normals with the angle's cosine as
    correlation: coordinates along two unit vectors e, f at that angle of one point z = r·(cos φ, sin φ) of a plane. With both positive, no other
    axis is nearer to either where the other size - 1 points lie in the parallelogram |e·z| < u, |f·z| < v:

        G(θ) = 2·size · ∫ ∫ (r/2π) exp(-r²/2) inside(u, v)^(size - 1) dφ dr,   u = r cos φ, v = r cos(φ - θ), both above 0.

    A Gaussian turn is a uniform one that also blurs the angle, by a variance of sin²θ/size and no bias to that order; hence for a uniform
    one G - sin²θ/(2·size)·G'', whose error falls with 1/size² (0.003 at 16, 0.00005 at 128). The quadrature is good to 10^-6. Agreement of
    vectors of 2 to 512 dimensions, those with two coordinates that are not 0 included, was measured from 1 to 120 degrees: at most 0.001 off
    (2.9 standard errors), by 0.0004 ± 0.00015 at 1 degree in 2 dimensions. Beyond 100 degrees the chance is below 10^-3 and only roughly known.
    """
    import numpy as np
    from numpy.polynomial import Chebyshev
    from numpy.polynomial.legendre import leggauss

    (radial, radial_weights), (turning, turning_weights), (along, along_weights) = leggauss(40), leggauss(24), leggauss(16)
    low, high = math.sqrt(2 * math.log(max(1, size / 40))), math.sqrt(2 * math.log(size)) + 6  # nothing is nearest outside
    r = (low + (high - low) * (radial + 1) / 2)[:, None]
    masses = radial_weights[:, None] * (high - low) / 2 * r * np.exp(-r * r / 2) / (2 * math.pi)

    def beyond(distance: Any, turn: Any) -> Any:
        """Mass of the plane beyond a line at a distance, from the foot of its perpendicular turning by so much."""
        cosines = np.cos(turn[..., None] * (along + 1) / 2)
        return np.exp(-((distance[..., None] / cosines) ** 2) / 2) @ along_weights * turn / (4 * math.pi)

    def gaussian(theta: float) -> float:
        phi = theta / 2 + (math.pi - theta) / 4 * (turning + 1)  # from the bisector on; the other half is its mirror image
        u, v = r * np.cos(phi), r * np.cos(phi - theta)
        corners = np.arctan2(v + u * math.cos(theta), u * math.sin(theta)), np.arctan2(u + v * math.cos(theta), v * math.sin(theta))
        outside = 2 * (beyond(u, phi + 0 * r) + beyond(u, corners[0]) + beyond(v, theta - phi + 0 * r) + beyond(v, corners[1]))
        return float(4 * size * (masses * np.maximum(1 - outside, 0) ** (size - 1) @ turning_weights).sum() * (math.pi - theta) / 4)

    blurred = Chebyshev.interpolate(np.vectorize(gaussian), 32, domain=[0, math.pi])
    angles = np.linspace(0, math.pi, 4001)
    chances = blurred(angles) - np.sin(angles) ** 2 / (2 * size) * blurred.deriv(2)(angles)
    chances[0], chances[-1] = 1, 0
    chances = np.minimum.accumulate(np.clip(chances, 0, 1))
    return lambda degrees: float(np.interp(degrees, np.degrees(angles), chances))


def degrees_of(cosine: float) -> float:
    return math.degrees(math.acos(cosine))


def cosine_of(degrees: float) -> float:
    return math.cos(math.radians(degrees))


def distances(family: str, measure: str, chance: Callable[[float], float], most: float = math.inf, **parameters: Any) -> Curve:
    """A curve whose values are distances."""
    return Curve(family, measure, chance, distances=True, most=most, parameters=parameters)


def gaussian_line(width: float) -> Curve:
    """A line of Gaussian direction cut into buckets, floor((a·x + u)/w), for L2 (Datar, Immorlica, Indyk and Mirrokni 2004, section 4.1)."""

    def chance(ratio: float) -> float:
        inside = math.erf(ratio / math.sqrt(2))  # 1 - 2Φ(-w/d)
        return inside + 2 / (math.sqrt(2 * math.pi) * ratio) * math.expm1(-ratio * ratio / 2)

    return distances("Line", "L2 distance", by_ratio(width, chance), width=width, norm="l2")


def cauchy_line(width: float) -> Curve:
    """A line of Cauchy direction cut into buckets, for L1 (Datar, Immorlica, Indyk and Mirrokni 2004, section 4.1)."""

    def chance(ratio: float) -> float:
        logarithm = math.log1p(ratio * ratio) if ratio < 1 else 2 * math.log(ratio) + math.log1p(ratio**-2)  # of 1 + ratio², which may be infinite
        return (2 * math.atan(ratio) - logarithm / ratio) / math.pi

    return distances("Line", "L1 distance", by_ratio(width, chance), width=width, norm="l1")


def by_ratio(width: float, chance: Callable[[float], float]) -> Callable[[float], float]:
    """By distance, what is known by width / distance; 1 where that is infinite, 0 where it is nothing."""

    def by_distance(distance: float) -> float:
        ratio = width / distance if distance else math.inf
        return 1.0 if ratio > FAR else chance(ratio) if ratio > 0 else 0.0

    return by_distance


def density(x: float) -> float:
    """Of the standard normal distribution."""
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def stripe(width: float) -> Curve:
    """The parity of a Gaussian line's bucket, one bit: 1/2 + 4/π² · Σ over odd m of exp(-m²π²d²/2w²)/m² (SPEC 5). Far points agree half the time."""

    def chance(distance: float) -> float:
        spread = distance / width
        if spread < 0.5:  # the series ends slowly here; the mean of the wave |1 - z| (period 2) over normal z, corner by corner, does at once
            corners = (spread * density(k / spread) - k * math.erfc(k / spread / math.sqrt(2)) / 2 if spread else 0.0 for k in range(1, 6))
            return 1 - math.sqrt(2 / math.pi) * spread + 4 * sum(corner * (-1) ** k for k, corner in enumerate(corners))
        return 0.5 + 4 / math.pi**2 * sum(math.exp(-m * m * math.pi**2 * spread * spread / 2) / m**2 for m in (1, 3, 5, 7))

    return distances("Stripe", "L2 distance", chance, width=width)


def threshold_bit(low: float, high: float, dimension: int) -> Curve:
    """One random coordinate against a random threshold: 1 - ‖x-y‖₁ / (dimension · (high - low)), for values within low and high."""
    most = dimension * (high - low)
    return distances("Threshold", "L1 distance", lambda distance: 1 - distance / most, most, low=low, high=high, dimension=dimension)


def bit_sampling(dimension: int) -> Curve:
    """One random position of codes of ``dimension`` bits: 1 - d/n (Indyk and Motwani 1998)."""
    return distances("Bits", "Hamming distance", lambda distance: 1 - distance / dimension, float(dimension), dimension=dimension)


def by_degrees(curve: Curve) -> Curve:
    """A curve of cosines as one of angles in degrees, which are distances."""
    return distances(curve.family, "angle in degrees", curve.at_distance, 180.0, **curve.parameters)
