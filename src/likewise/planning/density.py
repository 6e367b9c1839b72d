"""Distribution of similarities in a collection, of an assumed shape; `expected` selects one, or measures it on a sample.

There are two kinds of pairs. Dissimilar pairs are a share of all pairs, so their number per item grows with the collection. Similar pairs, the
duplicates, have a fixed number per item; a small sample contains hardly any, so they are always assumed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from likewise.planning.curves import Curve, degrees_of

GRID = 200
SIMILAR_PER_ITEM = 1.0
# Dissimilar pairs have density Beta(1, 60), mean 1/61: on the safe side, for character n-grams and templates. Word 5-grams lie far below (for
# 40,000 texts and 72 bands of 4 rows it predicts 2.2 candidates per item; 0.04 were found below 0.3).
BACKGROUND = 60
#: Assumed mean and standard deviation of the cosines of dissimilar vectors: text embeddings, which are not centered.
COSINE_MEAN, COSINE_SPREAD = 0.2, 0.15
#: Those of sparse vectors, which have little in common: words weighted by their rarity.
SPARSE_MEAN, SPARSE_SPREAD = 0.05, 0.08
#: Assumed distance of dissimilar points in thresholds, and the standard deviation of its logarithm.
FAR, FAR_SPREAD = 4.0, 0.3
#: Codes of more bits than this are counted in GRID bins, up to this many standard deviations to either side of half their bits.
MOST_BITS, DEVIATIONS = 4096, 8


@dataclass(frozen=True, slots=True)
class Density:
    """Pairs by the measure's value: (value, share of all pairs, pairs per item regardless of the collection's size)."""

    points: tuple[tuple[float, float, float], ...]
    sample: int = 0  # sampled items; 0: assumed

    def pairs_by_probability(self, curve: Curve, items: int) -> tuple[tuple[float, float], ...]:
        """Return (probability that one function agrees, pairs per item) for each point, in a collection of ``items``."""
        return tuple((curve.at(value), items / 2 * share + similar) for value, share, similar in self.points)


def sets() -> Density:
    """Sets: Beta(1, BACKGROUND), and similar pairs uniformly on 0..1."""
    points = []
    for step in range(GRID):
        s = ((step + 0.5) / GRID) ** 2  # finer near 0, where the background is
        width = 2 * (step + 0.5) / GRID**2
        points.append((s, width * BACKGROUND * (1 - s) ** (BACKGROUND - 1), width * SIMILAR_PER_ITEM))
    return Density(tuple(points))


def cosines(mean: float = COSINE_MEAN, spread: float = COSINE_SPREAD) -> Density:
    """Vectors: normally distributed cosines, and similar pairs uniformly on 0..1."""
    values = [-1 + 2 * (step + 0.5) / GRID for step in range(GRID)]
    shares = shared([math.exp(-(((value - mean) / spread) ** 2) / 2) for value in values])
    return with_similar(values, shares, [value > 0 for value in values])


def sparse_cosines() -> Density:
    """Sparse vectors: as `cosines`, with their mean and standard deviation."""
    return cosines(SPARSE_MEAN, SPARSE_SPREAD)


def angles(cosines: Density) -> Density:
    """Return a density of cosines as one of angles in degrees."""
    return Density(tuple((degrees_of(cosine), share, similar) for cosine, share, similar in cosines.points))


def far_points(threshold: float, curve: Curve) -> Density:
    """Points: log-normal distances around FAR thresholds, and similar pairs uniformly up to twice the threshold."""
    scale = threshold or 1.0
    values = [min(curve.most, scale * 10 * (step + 0.5) / GRID) for step in range(GRID)]
    shares = shared([math.exp(-((math.log(value / (FAR * scale)) / FAR_SPREAD) ** 2) / 2) / value for value in values])
    return with_similar(values, shares, [value < 2 * scale for value in values])


def binomial(bits: int) -> Density:
    """Codes of random bits: the number of differing bits is binomial; similar pairs uniformly up to a quarter of the bits."""
    if bits > MOST_BITS:
        return normal(bits)
    values = [float(differ) for differ in range(bits + 1)]
    log_all = bits * math.log(2)
    shares = [math.exp(math.lgamma(bits + 1) - math.lgamma(d + 1) - math.lgamma(bits - d + 1) - log_all) for d in range(bits + 1)]
    return with_similar(values, shares, [value <= bits / 4 for value in values])


def normal(bits: int) -> Density:
    """Codes of many bits: as `binomial`, approximated by a normal distribution."""
    half, deviation = bits / 2, math.sqrt(bits) / 2
    around = [DEVIATIONS * (2 * (step + 0.5) / GRID - 1) for step in range(GRID)]
    dissimilar = zip(shared([math.exp(-z * z / 2) for z in around]), around, strict=True)
    similar = [bits / 4 * (step + 0.5) / GRID for step in range(GRID)]
    return Density((*((value, 0.0, SIMILAR_PER_ITEM / GRID) for value in similar), *((half + deviation * z, share, 0.0) for share, z in dissimilar)))


def shared(weights: list[float]) -> list[float]:
    """Return weights divided by their sum."""
    total = sum(weights)
    return [weight / total for weight in weights]


def with_similar(values: list[float], shares: list[float], similar: list[bool]) -> Density:
    """Return the density with ALIKE_PER_ITEM similar pairs spread over the marked values."""
    each = SIMILAR_PER_ITEM / max(1, sum(similar))
    return Density(tuple((value, share, each * some) for value, share, some in zip(values, shares, similar, strict=True)))
