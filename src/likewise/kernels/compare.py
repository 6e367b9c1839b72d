"""Decides if two items of the work folder are similar: a rule for each kind of item, and `compare`, which is compiled for the rule it gets.

An item is words of 64 bits: a set its elements, ascending; a weighted set its elements, ascending, followed by their weights; a sparse vector its
indices, ascending, followed by its values; a vector its numbers, a code its bits, both padded with zeros. A similarity is returned as two integers
whose ratio orders pairs: (overlap, out of) for sets; (score, 1) for others, where a score is an integer in the order of a float64 (`score`), greater
for more similar items.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from likewise.compiled.jit import inline, overload
from likewise.kernels.blocks import count_bits
from likewise.kernels.distances import angle, cosine, distance
from likewise.kernels.sets import fewest_apart, needed, overlap
from likewise.kernels.sparse import COSINE, measured
from likewise.kernels.weights import weighted_jaccard

#: How a candidate is checked: exactly; by equal slots of two signatures; or not at all.
EXACT, ESTIMATE, UNCHECKED = 0, 1, 2
#: The bits of infinity. The score of a distance is this minus the distance's bits, so that nearer is greater.
FARTHEST = 0x7FF0_0000_0000_0000


@inline
def within(value, rule):
    """The score of two sparse vectors with this value; -1 if they are not similar by the rule."""
    if rule.measure == COSINE:
        return score(value) if value >= rule.limit else np.int64(-1)
    return nearness(value) if value <= rule.limit else np.int64(-1)


@inline
def score(similarity):
    """A similarity >= 0 as an integer in the order of similarities."""
    return np.float64(similarity).view(np.int64)


@inline
def nearness(distance):
    """A distance as an integer, greater for nearer items."""
    return np.int64(FARTHEST) - np.float64(distance).view(np.int64)


#: A rule is a tuple of the values that compiled code needs. ``distance``: its scores stand for distances. ``compiled``: the body of `compare` for it.


class SetRule(NamedTuple):
    """Jaccard similarity of at least numerator/denominator; with ESTIMATE the share of equal slots of two signatures."""

    numerator: int
    denominator: int
    mode: int

    @property
    def distance(self) -> bool:
        return False

    @staticmethod
    def compiled(a, b, rule):
        need = needed(len(a), len(b), rule.numerator, rule.denominator, rule.mode == ESTIMATE)
        common = overlap(a, b, need)
        if common < 0:
            return np.int64(-1), np.int64(0)
        return common, np.int64(len(a)) if rule.mode == ESTIMATE else len(a) + len(b) - common


class WeightedRule(NamedTuple):
    """Weighted Jaccard similarity of at least ``least``."""

    least: float
    mode: int

    @property
    def distance(self) -> bool:
        return False

    @staticmethod
    def compiled(a, b, rule):
        m, n = len(a) // 2, len(b) // 2
        similarity = weighted_jaccard(a[:m], a[m:].view(np.float64), b[:n], b[n:].view(np.float64))
        return (score(similarity), np.int64(1)) if similarity >= rule.least else (np.int64(-1), np.int64(0))


class DirectionRule(NamedTuple):
    """A cosine of at least ``limit``, or an angle of at most ``limit`` degrees.

    Vectors have ``dimension`` numbers, of 8 bytes if ``wide``, else 4.
    """

    limit: float
    angle: bool
    dimension: int
    wide: bool
    mode: int

    @staticmethod
    def compiled(a, b, rule):
        if rule.wide:
            x, y = a.view(np.float64)[: rule.dimension], b.view(np.float64)[: rule.dimension]
            value = np.degrees(angle(x, y)) if rule.angle else cosine(x, y)
        else:
            u, v = a.view(np.float32)[: rule.dimension], b.view(np.float32)[: rule.dimension]
            value = np.degrees(angle(u, v)) if rule.angle else cosine(u, v)
        if rule.angle:
            return (nearness(value), np.int64(1)) if value <= rule.limit else (np.int64(-1), np.int64(0))
        return (score(value), np.int64(1)) if value >= rule.limit else (np.int64(-1), np.int64(0))

    @property
    def distance(self) -> bool:
        return self.angle


class NormRule(NamedTuple):
    """An L_order distance of at most ``limit``. Vectors as for `DirectionRule`."""

    limit: float
    order: float
    dimension: int
    wide: bool
    mode: int

    @property
    def distance(self) -> bool:
        return True

    @staticmethod
    def compiled(a, b, rule):
        if rule.wide:
            value = distance(a.view(np.float64)[: rule.dimension], b.view(np.float64)[: rule.dimension], rule.order)
        else:
            value = distance(a.view(np.float32)[: rule.dimension], b.view(np.float32)[: rule.dimension], rule.order)
        return (nearness(value), np.int64(1)) if value <= rule.limit else (np.int64(-1), np.int64(0))


class SparseRule(NamedTuple):
    """A cosine of at least ``limit``, or an angle or L_order distance of at most ``limit``, of sparse vectors. measure: of kernels.sparse."""

    limit: float
    measure: int
    order: float
    mode: int

    @staticmethod
    def compiled(a, b, rule):
        m, n = len(a) // 2, len(b) // 2
        found = within(measured(a[:m], a[m:].view(np.float64), b[:n], b[n:].view(np.float64), rule.measure, rule.order), rule)
        return found, np.int64(found >= 0)

    @property
    def distance(self) -> bool:
        return self.measure != COSINE


class CodeRule(NamedTuple):
    """A Hamming distance of at most ``within`` bits."""

    within: int
    mode: int

    @property
    def distance(self) -> bool:
        return True

    @staticmethod
    def compiled(a, b, rule):
        differ = 0
        for word in range(len(a)):
            differ += count_bits(a[word] ^ b[word])
        return (nearness(np.float64(differ)), np.int64(1)) if differ <= rule.within else (np.int64(-1), np.int64(0))


def compare(a, b, rule):
    """(overlap, out of) or (score, 1) of two similar items, uint64 words; (-1, 0) if they are not similar by the rule. Compiled code only."""
    raise NotImplementedError


def cannot_match(size_a, odd_a, a, size_b, odd_b, b, rule):
    """True if items of these numbers of words, with odd sketches odd_a[a] and odd_b[b], cannot be similar. Compiled code only."""
    raise NotImplementedError


@overload(cannot_match, forceinline=True)
def _cannot_match(size_a, odd_a, a, size_b, odd_b, b, rule):
    return _sets_cannot_match if rule.instance_class is SetRule else lambda size_a, odd_a, a, size_b, odd_b, b, rule: False


def _sets_cannot_match(size_a, odd_a, a, size_b, odd_b, b, rule):
    if rule.mode != EXACT:
        return False
    size_a, size_b = np.int64(size_a), np.int64(size_b)
    need = needed(size_a, size_b, rule.numerator, rule.denominator, False)
    if need > min(size_a, size_b):
        return True
    # overlap = (size_a + size_b - difference) / 2
    return len(odd_a) > 0 and size_a + size_b - fewest_apart(odd_a, a, odd_b, b) < 2 * need


@overload(compare)
def _compare(a, b, rule):
    return rule.instance_class.compiled


def scores(values: np.ndarray, *, distances: bool) -> np.ndarray:
    """The scores, int64[n], of similarities or distances, float64[n]."""
    bits = np.ascontiguousarray(values, np.float64).view(np.int64)
    return np.int64(FARTHEST) - bits if distances else bits


def values(scores: np.ndarray, *, distances: bool) -> np.ndarray:
    """The similarities or distances, float64[n], that the scores, int64[n], stand for."""
    bits = np.int64(FARTHEST) - scores if distances else scores
    return np.ascontiguousarray(bits, np.int64).view(np.float64)
