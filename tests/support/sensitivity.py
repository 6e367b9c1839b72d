"""A check of a family's sensitivity, by the share of agreeing pairs at each similarity."""

from __future__ import annotations

from math import sqrt

SIMILARITIES = (0.0, 0.1, 0.2, 0.5, 0.8, 0.9, 1.0)


def wilson(count: float, trials: int, z: float = 4.0) -> tuple[float, float]:
    """Confidence bounds of a probability (Wilson 1927)."""
    share = count / trials
    center = share + z * z / (2 * trials)
    half = z * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    return (center - half) / (1 + z * z / trials) - 1e-12, (center + half) / (1 + z * z / trials) + 1e-12  # slack for rounding


def assert_sensitive(family, shares: dict[float, float], trials: int) -> None:
    """(.2, .8, p1, p2): pairs within .2 agree with probability p1 or more, from .8 on with p2 or less, and at these two distances with exactly that.

    shares: similarity -> share of ``trials`` that agreed."""
    d1, d2, p1, p2 = family.sensitivity(0.2, 0.8)
    for j, share in shares.items():
        low, high = wilson(share * trials, trials)
        assert low <= family.probability(j) <= high
        if 1 - j <= d1 + 1e-9:
            assert high >= p1
        if 1 - j >= d2 - 1e-9:
            assert low <= p2
    bounds = {j: wilson(shares[j] * trials, trials) for j in (0.8, 0.2)}
    assert bounds[0.8][0] <= p1 <= bounds[0.8][1]
    assert bounds[0.2][0] <= p2 <= bounds[0.2][1] < p1
