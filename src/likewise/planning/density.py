"""The distribution of similarities in a collection, of a shape that is assumed; `expected` chooses one, or measures it on a sample.

Pairs come in two kinds. Unlike pairs are a share of all pairs, so an item meets more of them in a larger collection. Alike pairs, the
duplicates, are so many an item, whatever the size of the collection; a small sample holds hardly any, so they are always assumed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from likewise.planning.curves import Curve, degrees_of

GRID = 200
ALIKE_PER_ITEM = 1.0
# Unlike pairs have density Beta(1, 60), mean 1/61: on the safe side, for character n-grams and templates. Word 5-grams lie far below (of 40,000
# texts under 72 bands of 4 rows it predicts 2.2 candidates an item; 0.04 were found below 0.3).
BACKGROUND = 60
#: Unlike vectors have cosines of about this mean and standard deviation: text embeddings, which are not centred.
COSINE_MEAN, COSINE_SPREAD = 0.2, 0.15
#: Sparse ones have little in common: words that are weighted by how rare they are.
SPARSE_MEAN, SPARSE_SPREAD = 0.05, 0.08
#: Unlike points lie about so many thresholds apart, give or take a factor of e^SPREAD.
FAR, FAR_SPREAD = 4.0, 0.3
#: Codes of more bits are counted in GRID bins of distances around their half, so many standard deviations to either side.
MOST_BITS, DEVIATIONS = 4096, 8


@dataclass(frozen=True, slots=True)
class Density:
    """Pairs by the measure's value: (value, share of all pairs, pairs an item that do not grow with the collection)."""

    points: tuple[tuple[float, float, float], ...]
    sample: int = 0  # items that were sampled; 0: assumed

    def met(self, curve: Curve, items: int) -> tuple[tuple[float, float], ...]:
        """(chance of one function to agree, pairs an item) for each point, in a collection of so many items."""
        return tuple((curve.at(value), items / 2 * share + alike) for value, share, alike in self.points)


def sets() -> Density:
    """Sets: Beta(1, BACKGROUND), and alike pairs evenly on 0..1."""
    points = []
    for step in range(GRID):
        s = ((step + 0.5) / GRID) ** 2  # finer near 0, where the background is
        width = 2 * (step + 0.5) / GRID**2
        points.append((s, width * BACKGROUND * (1 - s) ** (BACKGROUND - 1), width * ALIKE_PER_ITEM))
    return Density(tuple(points))


def cosines(mean: float = COSINE_MEAN, spread: float = COSINE_SPREAD) -> Density:
    """Vectors: normally distributed cosines, and alike pairs evenly on 0..1."""
    values = [-1 + 2 * (step + 0.5) / GRID for step in range(GRID)]
    shares = shared([math.exp(-(((value - mean) / spread) ** 2) / 2) for value in values])
    return with_alike(values, shares, [value > 0 for value in values])


def sparse_cosines() -> Density:
    return cosines(SPARSE_MEAN, SPARSE_SPREAD)


def angles(cosines: Density) -> Density:
    """The same as angles in degrees."""
    return Density(tuple((degrees_of(cosine), share, alike) for cosine, share, alike in cosines.points))


def far_points(threshold: float, curve: Curve) -> Density:
    """Points: log-normal distances around FAR thresholds, and alike pairs evenly up to twice the threshold."""
    scale = threshold or 1.0
    values = [min(curve.most, scale * 10 * (step + 0.5) / GRID) for step in range(GRID)]
    shares = shared([math.exp(-((math.log(value / (FAR * scale)) / FAR_SPREAD) ** 2) / 2) / value for value in values])
    return with_alike(values, shares, [value < 2 * scale for value in values])


def binomial(bits: int) -> Density:
    """Codes of random bits: half of the bits differ, binomially; alike pairs evenly on the smaller half of those distances."""
    if bits > MOST_BITS:
        return normal(bits)
    values = [float(differ) for differ in range(bits + 1)]
    log_all = bits * math.log(2)
    shares = [math.exp(math.lgamma(bits + 1) - math.lgamma(d + 1) - math.lgamma(bits - d + 1) - log_all) for d in range(bits + 1)]
    return with_alike(values, shares, [value <= bits / 4 for value in values])


def normal(bits: int) -> Density:
    """The same for many bits: normally distributed around their half."""
    half, deviation = bits / 2, math.sqrt(bits) / 2
    around = [DEVIATIONS * (2 * (step + 0.5) / GRID - 1) for step in range(GRID)]
    unlike = zip(shared([math.exp(-z * z / 2) for z in around]), around, strict=True)
    alike = [bits / 4 * (step + 0.5) / GRID for step in range(GRID)]
    return Density((*((value, 0.0, ALIKE_PER_ITEM / GRID) for value in alike), *((half + deviation * z, share, 0.0) for share, z in unlike)))


def shared(weights: list[float]) -> list[float]:
    total = sum(weights)
    return [weight / total for weight in weights]


def with_alike(values: list[float], shares: list[float], alike: list[bool]) -> Density:
    each = ALIKE_PER_ITEM / max(1, sum(alike))
    return Density(tuple((value, share, each * some) for value, share, some in zip(values, shares, alike, strict=True)))
