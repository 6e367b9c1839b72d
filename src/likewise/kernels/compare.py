"""When two items of the work folder are alike: one rule a kind of item, and `compare`, which a kernel is compiled with for the rule that it gets.

An item is words of 64 bits: a set its elements, ascending; a weighted set its elements, ascending, and then their weights; a sparse vector its
indices, ascending, and then its values; a vector its numbers, a code its bits, both with zeros up to the last word. How alike two items are is
told as two whole numbers whose ratio orders pairs: (overlap, out of) for sets; for the others (score, 1), where a score is a float64 as a whole
number of the same order (`score`), greater for the more alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import overload

from likewise.kernels.blocks import count_bits
from likewise.kernels.distances import angle, cosine, distance
from likewise.kernels.jit import inline
from likewise.kernels.sets import fewest_apart, needed, overlap
from likewise.kernels.sparse import COSINE, measured
from likewise.kernels.weights import weighted_jaccard

#: How a candidate is checked: exactly; by equal slots of two signatures; not at all.
EXACT, ESTIMATE, UNCHECKED = 0, 1, 2
#: The bits of infinity. The score of a distance is by so much less as the distance has bits, so that nearer is more.
FARTHEST = 0x7FF0_0000_0000_0000


class SetRule(NamedTuple):
    """Jaccard similarity of numerator/denominator or more; with ESTIMATE the share of equal slots of two signatures."""

    numerator: int
    denominator: int
    mode: int


class WeightedRule(NamedTuple):
    """Weighted Jaccard similarity of ``least`` or more."""

    least: float
    mode: int


class DirectionRule(NamedTuple):
    """A cosine of ``limit`` or more, or an angle of ``limit`` degrees or less. Vectors have ``dimension`` numbers, of 8 bytes where ``wide``."""

    limit: float
    angle: bool
    dimension: int
    wide: bool
    mode: int


class NormRule(NamedTuple):
    """An L_order distance of ``limit`` or less."""

    limit: float
    order: float
    dimension: int
    wide: bool
    mode: int


class SparseRule(NamedTuple):
    """A cosine of ``limit`` or more, or an angle or L_order distance of ``limit`` or less, of sparse vectors: ``measure`` as in kernels.sparse."""

    limit: float
    measure: int
    order: float
    mode: int


class CodeRule(NamedTuple):
    """A Hamming distance of ``within`` bits or less."""

    within: int
    mode: int


def is_distance(rule) -> bool:
    """Whether scores stand for distances."""
    if isinstance(rule, SparseRule):
        return rule.measure != COSINE
    return isinstance(rule, NormRule | CodeRule) or (isinstance(rule, DirectionRule) and rule.angle)


def compare(a, b, rule):
    """(overlap, out of) or (score, 1) of two items, uint64 words, when they are alike by the rule, else (-1, 0). Compiled code only."""
    raise NotImplementedError


def hopeless(size_a, odd_a, a, size_b, odd_b, b, rule):
    """Whether items of so many words, whose odd sketches are odd_a[a] and odd_b[b], cannot be alike. Compiled code only."""
    raise NotImplementedError


@overload(hopeless, jit_options={"forceinline": True})
def _hopeless(size_a, odd_a, a, size_b, odd_b, b, rule):
    return _sets_hopeless if rule.instance_class is SetRule else lambda size_a, odd_a, a, size_b, odd_b, b, rule: False


def _sets_hopeless(size_a, odd_a, a, size_b, odd_b, b, rule):
    if rule.mode != EXACT:
        return False
    size_a, size_b = np.int64(size_a), np.int64(size_b)
    need = needed(size_a, size_b, rule.numerator, rule.denominator, False)
    if need > min(size_a, size_b):
        return True
    # What they have in common is half of what their sizes exceed their difference by.
    return len(odd_a) > 0 and size_a + size_b - fewest_apart(odd_a, a, odd_b, b) < 2 * need


@overload(compare)
def _compare(a, b, rule):
    return {
        SetRule: _sets,
        WeightedRule: _weighted,
        DirectionRule: _directions,
        NormRule: _norms,
        SparseRule: _sparse,
        CodeRule: _codes,
    }[rule.instance_class]


def _sets(a, b, rule):
    need = needed(len(a), len(b), rule.numerator, rule.denominator, rule.mode == ESTIMATE)
    common = overlap(a, b, need)
    if common < 0:
        return np.int64(-1), np.int64(0)
    return common, np.int64(len(a)) if rule.mode == ESTIMATE else len(a) + len(b) - common


def _weighted(a, b, rule):
    m, n = len(a) // 2, len(b) // 2
    similarity = weighted_jaccard(a[:m], a[m:].view(np.float64), b[:n], b[n:].view(np.float64))
    return (score(similarity), np.int64(1)) if similarity >= rule.least else (np.int64(-1), np.int64(0))


def _directions(a, b, rule):
    if rule.wide:
        x, y = a.view(np.float64)[: rule.dimension], b.view(np.float64)[: rule.dimension]
        value = np.degrees(angle(x, y)) if rule.angle else cosine(x, y)
    else:
        u, v = a.view(np.float32)[: rule.dimension], b.view(np.float32)[: rule.dimension]
        value = np.degrees(angle(u, v)) if rule.angle else cosine(u, v)
    if rule.angle:
        return (nearness(value), np.int64(1)) if value <= rule.limit else (np.int64(-1), np.int64(0))
    return (score(value), np.int64(1)) if value >= rule.limit else (np.int64(-1), np.int64(0))


def _norms(a, b, rule):
    if rule.wide:
        value = distance(a.view(np.float64)[: rule.dimension], b.view(np.float64)[: rule.dimension], rule.order)
    else:
        value = distance(a.view(np.float32)[: rule.dimension], b.view(np.float32)[: rule.dimension], rule.order)
    return (nearness(value), np.int64(1)) if value <= rule.limit else (np.int64(-1), np.int64(0))


def _sparse(a, b, rule):
    m, n = len(a) // 2, len(b) // 2
    told = within(measured(a[:m], a[m:].view(np.float64), b[:n], b[n:].view(np.float64), rule.measure, rule.order), rule)
    return told, np.int64(told >= 0)


def _codes(a, b, rule):
    differ = 0
    for word in range(len(a)):
        differ += count_bits(a[word] ^ b[word])
    return (nearness(np.float64(differ)), np.int64(1)) if differ <= rule.within else (np.int64(-1), np.int64(0))


@inline
def within(value, rule):
    """The score of two sparse vectors that have this value; -1 where they are not alike by the rule."""
    if rule.measure == COSINE:
        return score(value) if value >= rule.limit else np.int64(-1)
    return nearness(value) if value <= rule.limit else np.int64(-1)


@inline
def score(similarity):
    """A similarity of 0 or more as a whole number of the same order."""
    return np.float64(similarity).view(np.int64)


@inline
def nearness(distance):
    """A distance as a whole number, greater for the nearer."""
    return np.int64(FARTHEST) - np.float64(distance).view(np.int64)


def scores(values: np.ndarray, *, distances: bool) -> np.ndarray:
    """The scores of similarities or distances: int64[n] of float64[n]."""
    bits = np.ascontiguousarray(values, np.float64).view(np.int64)
    return np.int64(FARTHEST) - bits if distances else bits


def values(scores: np.ndarray, *, distances: bool) -> np.ndarray:
    """The similarities or distances that scores stand for: float64[n] of int64[n]."""
    bits = np.int64(FARTHEST) - scores if distances else scores
    return np.ascontiguousarray(bits, np.int64).view(np.float64)
