"""Curves of families of vectors and codes: by integration, by sampling, by hand, at their ends, and what estimates make of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from likewise.families import Bits, CrossPolytope, Hyperplane, Line, Stripe
from likewise.planning import curves
from vector_families import ALL, OF_VECTORS, batch_for, named


def mean_over(density: np.ndarray, probability: np.ndarray, step: float) -> float:
    """The integral of their product by Simpson's rule."""
    values = density * probability
    return float((values[0] + values[-1] + 4 * values[1:-1:2].sum() + 2 * values[2:-1:2].sum()) * step / 3)


@pytest.mark.parametrize("distance", [0.01, 0.3, 1.0, 2.0, 5.0, 40.0])
@pytest.mark.parametrize("width", [0.5, 3.0])
def test_lines_by_integration(width, distance):
    """Two points t apart on a line share a bucket with chance 1 - t/w; t is |normal| or |Cauchy| times the distance."""
    t = np.linspace(0, width, 200_001)
    scaled = t / distance
    shared = 1 - t / width
    gaussian = mean_over(2 / math.sqrt(2 * math.pi) * np.exp(-scaled * scaled / 2) / distance, shared, t[1])
    cauchy = mean_over(2 / math.pi / (1 + scaled * scaled) / distance, shared, t[1])
    assert Line(width).probability(distance) == pytest.approx(gaussian, abs=1e-9)
    assert Line(width, norm="l1").probability(distance) == pytest.approx(cauchy, abs=1e-9)


@pytest.mark.parametrize("distance", [0.01, 0.3, 1.0, 1.49, 1.51, 2.0, 5.0, 40.0])
def test_stripes_by_integration(distance):
    """Two points t apart are in stripes of one color with chance |1 - (t/w mod 2)|; and the series of curves.stripe, term by term."""
    width = 3.0
    t = np.linspace(0, 9 * distance, 400_001)
    probability = mean_over(2 / math.sqrt(2 * math.pi) * np.exp(-((t / distance) ** 2) / 2) / distance, abs(1 - t / width % 2), t[1])
    odd = np.arange(1, 40_001, 2)
    series = 0.5 + 4 / math.pi**2 * (np.exp(-(odd**2) * math.pi**2 * distance**2 / (2 * width**2)) / odd**2).sum()
    assert Stripe(width).probability(distance) == pytest.approx(probability, abs=1e-8)
    assert Stripe(width).probability(distance) == pytest.approx(series, abs=1e-12 if distance > 0.1 else 3e-5)


@pytest.mark.parametrize(("size", "planes"), [(128, 15_000), (512, 4_000)])
def test_cross_polytopes_by_sampling(size, planes):
    """36 directions ten degrees apart in planes through the origin, uniform ones: how many have one nearest axis. No rotation and no quadrature."""
    rng = np.random.default_rng(size)
    x, z = rng.standard_normal((2, planes, size), np.float32)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    z -= (z * x).sum(axis=1, keepdims=True) * x
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    nearest = np.empty((36, planes), int)
    for turn in range(36):
        v = math.cos(math.radians(10 * turn)) * x + math.sin(math.radians(10 * turn)) * z
        axis = abs(v).argmax(axis=1)
        nearest[turn] = np.where(v[np.arange(planes), axis] < 0, -1 - axis, axis)
    for turns in (1, 2, 3, 4, 5, 6, 8, 9):
        shares = (nearest == np.roll(nearest, turns, axis=0)).mean(axis=0)
        p = CrossPolytope(size).probability(distance=10 * turns)
        assert abs(shares.mean() - p) < 4 * shares.std() / math.sqrt(planes), turns


def test_cross_polytope_curve():
    """1 at no angle, 0 at 180 degrees; falling all the way; one table for one padded dimension; smaller dimensions agree more often."""
    family = CrossPolytope(100)
    assert (family.probability(1), family.probability(-1)) == (1, 0)
    probabilities = family.probability(distance=np.linspace(0, 180, 500))
    assert (np.diff(probabilities) <= 0).all()
    assert (np.diff(probabilities[:300]) < 0).all()
    for dimension, size in ((1, 128), (65, 128), (129, 256)):
        assert CrossPolytope(dimension).probability(0.3) == CrossPolytope(size).probability(0.3)
    assert CrossPolytope(1).probability(0.3) > CrossPolytope(300).probability(0.3)
    assert [curves.padded(d) for d in (1, 128, 129, 1024)] == [128, 128, 256, 1024]
    for probability in (0.9, 0.3, 0.01):
        assert family.probability(family.collision.value(probability)) == pytest.approx(probability, abs=1e-9)


@pytest.mark.parametrize("name", ["line l2", "line l1", "stripe"])
def test_ends_of_curves(name):
    """From nothing to infinity without a slip of floating point; 1 - √(2/π)·d/w and half of nothing at the ends."""
    family = OF_VECTORS[name]
    floor = 0.5 if name == "stripe" else 0.0
    assert [family.probability(d) for d in (0, 5e-324, 1e-200)] == [1, 1, 1]
    assert [family.probability(d) for d in (1e308, math.inf)] == pytest.approx([floor, floor], abs=1e-300)
    grid = np.concatenate([10.0 ** np.arange(-12, 12, 0.01), [math.inf]])
    assert (np.diff(family.probability(grid)) <= 1e-15).all()
    if name != "line l1":
        assert family.probability(1e-6) == pytest.approx(1 - math.sqrt(2 / math.pi) * 1e-6 / 3, abs=1e-14)
    if name == "line l2":  # far: the density at 0 times the width, 2/√(2π)·w/d/2
        assert family.probability(1e12) == pytest.approx(3 / math.sqrt(2 * math.pi) / 1e12, rel=1e-9)
    if name == "line l1":
        assert family.probability(1e12) == pytest.approx(3 / math.pi / 1e12, rel=1e-9)


def test_worked_probabilities():
    """By hand: 1 - 60/180; 1 - 3/7; 1 - 350/1400; and w = d, where Φ(-1) = 0.158655: 1 - 0.317311 - 0.797885·0.393469 = 0.368746."""
    assert OF_VECTORS["gaussian"].probability(0.5) == pytest.approx(2 / 3)
    assert Hyperplane().probability(distance=60) == 2 / 3  # of the angle itself, not of the angle of its cosine
    assert Bits(3).probability(1) == 2 / 3
    for degrees in (1e-3, 1e-7, 1e-12):  # their cosines are 1 but for the last digits
        assert 1 - Hyperplane().probability(distance=degrees) == pytest.approx(degrees / 180, abs=2e-16)
        assert curves.in_degrees(curves.angle()).at(degrees) == Hyperplane().probability(distance=degrees)
        assert CrossPolytope(64).probability(distance=degrees) < 1 or degrees == 1e-12
    assert ALL["bits"].probability(3) == pytest.approx(4 / 7)
    assert OF_VECTORS["threshold"].probability(350) == 0.75
    assert Line(1.0).probability(1.0) == pytest.approx(0.368746, abs=1e-6)
    assert Line(1.0, norm="l1").probability(1.0) == pytest.approx(0.5 - math.log(2) / math.pi)
    assert OF_VECTORS["gaussian"].sensitivity(18, 90) == pytest.approx((18, 90, 0.9, 0.5))


def test_standard_errors():
    """The share's over the slope: degrees have slope 1/180 a degree; a distance of infinity, or of a level curve, is not told at all."""
    family = Hyperplane(100)
    assert family.standard_error(0.0) == pytest.approx(math.sqrt(0.25 / 100) * 180 / math.degrees(1))  # a cosine of 0 changes by π/180 a degree
    assert (family.standard_error(1.0), family.standard_error(-1.0)) == (0, 0)
    assert Bits(10, 100).standard_error(5) == pytest.approx(0.5)
    assert (Bits(10).standard_error(0), Bits(10).standard_error(10)) == (0, 0)
    for scale in (1e-9, 1.0, 1e9):  # in one proportion at every scale
        assert Line(4 * scale, 100).standard_error(2 * scale) == pytest.approx(Line(4.0, 100).standard_error(2.0) * scale)
    assert Line(1.0).standard_error(0) == 0
    near = math.sqrt(2 / math.pi)  # the slope of a line's curve at 0, over the width
    for width in (1e3, 1e9, 1e12):
        expected = math.sqrt(near / width / 128) * width / near  # of p = 1 - near/width
        assert Line(width).standard_error(1) == pytest.approx(expected, rel=1e-3)
    assert Line(1e40).standard_error(1) == 0  # no estimate will ever differ from 0
    assert Stripe(1e12).standard_error(1) == pytest.approx(Line(1e12, 256).standard_error(1), rel=1e-3)
    for degrees in (1e-3, 1, 179):
        cosine, p = math.cos(math.radians(degrees)), 1 - degrees / 180
        expected = math.sqrt(p * (1 - p) / 100) * math.radians(180) * math.sin(math.radians(degrees))
        assert family.standard_error(cosine) == pytest.approx(expected, rel=1e-3)
    assert (Line(1.0).standard_error(math.inf), Stripe(1.0).standard_error(50.0)) == (math.inf, math.inf)


@named
def test_estimates_invert_the_curve(name):
    """The curve at the estimate is the share of equal slots; shares below the end of the curve give an infinite distance."""
    family = ALL[name]
    base = family.signature(batch_for(name))[:1]
    for agreeing in range(51):
        other = base.copy()
        other[0, agreeing:] = 1 - other[0, agreeing:] if family.dtype == np.uint8 else other[0, agreeing:] + 1
        estimate = family.estimate(base[0], other[0])
        if agreeing <= {"stripe": 25, "line l2": 0, "line l1": 0}.get(name, -1):
            assert estimate == math.inf
        else:
            assert family.probability(estimate) == pytest.approx(agreeing / 50, abs=1e-6)
