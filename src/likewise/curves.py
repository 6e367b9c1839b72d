"""With what chance one function of a family agrees on two items, by how alike they are, and what ANDs and ORs make of it (SPEC 5).

Pure arithmetic that loads no kernel: families state their chance by it, plans are made from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
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
    chance: Callable[[float], float]  # of a value from least to most
    distances: bool = False  # values are distances: the chance falls with them
    least: float = 0.0
    most: float = 1.0
    as_distance: Callable[[float], float] = field(default=lambda value: 1 - value)  # of a similarity; the distance that is meant with it,
    from_distance: Callable[[float], float] = field(default=lambda distance: 1 - distance)  # and back
    unit: str = ""  # of that distance: "degrees"
    parameters: dict[str, Any] = field(default_factory=dict)  # what the family is made with, as {"width": 4.0}

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


def degrees_of(cosine: float) -> float:
    return math.degrees(math.acos(cosine))


def cosine_of(degrees: float) -> float:
    return math.cos(math.radians(degrees))


def distances(family: str, measure: str, chance: Callable[[float], float], most: float = math.inf, **parameters: Any) -> Curve:
    """A curve whose values are distances."""
    return Curve(family, measure, chance, distances=True, most=most, parameters=parameters)


def gaussian_line(width: float) -> Curve:
    """A line of Gaussian direction cut into buckets, floor((a·x + u)/w), for L2 (Datar, Immorlica, Indyk and Mirrokni 2004, section 4.1)."""

    def chance(distance: float) -> float:
        if distance == 0:
            return 1.0
        ratio = width / distance
        outside = math.erfc(ratio / math.sqrt(2))  # 2Φ(-w/d)
        near = 2 / (math.sqrt(2 * math.pi) * ratio) * -math.expm1(-ratio * ratio / 2)
        return max(0.0, 1 - outside - near)

    return distances("Line", "L2 distance", chance, width=width, norm="l2")


def cauchy_line(width: float) -> Curve:
    """A line of Cauchy direction cut into buckets, for L1 (Datar, Immorlica, Indyk and Mirrokni 2004, section 4.1)."""

    def chance(distance: float) -> float:
        if distance == 0:
            return 1.0
        ratio = width / distance
        return max(0.0, 2 * math.atan(ratio) / math.pi - math.log1p(ratio * ratio) / (math.pi * ratio))

    return distances("Line", "L1 distance", chance, width=width, norm="l1")


def stripe(width: float) -> Curve:
    """The parity of a Gaussian line's bucket, one bit: 1/2 + 4/π² · Σ over odd m of exp(-m²π²d²/2w²)/m² (SPEC 5). Far points agree half the time."""

    def chance(distance: float) -> float:
        steep = math.pi * distance / width
        if steep < 1e-3:  # the series ends slowly here; its limit 1 - √(2/π)·d/w is exact to e^(-w²/2d²)
            return 1 - math.sqrt(2 / math.pi) * distance / width
        total = 0.0
        for m in range(1, 20_001, 2):
            term = math.exp(-((m * steep) ** 2) / 2) / m**2
            total += term
            if term < 1e-17:
                break
        return 0.5 + 4 / math.pi**2 * total

    return distances("Stripe", "L2 distance", chance, width=width)


def threshold_bit(low: float, high: float, dimension: int) -> Curve:
    """One random coordinate against a random threshold: 1 - ‖x-y‖₁ / (dimension · (high - low)), for values within low and high."""
    most = dimension * (high - low)
    return distances("Threshold", "L1 distance", lambda distance: 1 - distance / most, most, low=low, high=high, dimension=dimension)


def bit_sampling(dimension: int) -> Curve:
    """One random position of codes of ``dimension`` bits: 1 - d/n (Indyk and Motwani 1998)."""
    return distances("Bits", "Hamming distance", lambda distance: 1 - distance / dimension, float(dimension), dimension=dimension)
