"""Whether a family is as sensitive as it says, by how many pairs at each similarity agreed."""

from __future__ import annotations

from math import sqrt

SIMILARITIES = (0.0, 0.1, 0.2, 0.5, 0.8, 0.9, 1.0)


def wilson(count: float, trials: int, z: float = 4.0) -> tuple[float, float]:
    """Bounds of a chance by what was counted (Wilson 1927)."""
    share = count / trials
    centre = share + z * z / (2 * trials)
    half = z * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    return (centre - half) / (1 + z * z / trials) - 1e-12, (centre + half) / (1 + z * z / trials) + 1e-12  # for rounding


def assert_sensitive(family, shares: dict[float, float], trials: int) -> None:
    """(.2, .8, p1, p2): pairs within .2 agree with p1 or more, those from .8 on with p2 or less, and those at the two distances with just that.

    ``shares``: by similarity, how many of so many trials agreed."""
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
