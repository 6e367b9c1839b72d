"""Families for vectors and codes, and items for them."""

from __future__ import annotations

import numpy as np
import pytest

from likewise.families import Bits, CrossPolytope, Hyperplane, Line, Stripe, Threshold

DIMENSION = 7
#: One family of each type, for vectors of 7 dimensions with values from -100 to 100.
OF_VECTORS = {
    "gaussian": Hyperplane(50),
    "signs": Hyperplane(50, "signs"),
    "orthogonal": Hyperplane(50, "orthogonal", spread=4),
    "cross-polytope": CrossPolytope(DIMENSION, 50),
    "line l2": Line(3.0, 50),
    "line l1": Line(3.0, 50, "l1"),
    "stripe": Stripe(3.0, 50),
    "threshold": Threshold(-100, 100, DIMENSION, 50),
}
OF_DIRECTIONS = {name: OF_VECTORS[name] for name in ("gaussian", "signs", "orthogonal", "cross-polytope")}
ALL = OF_VECTORS | {"bits": Bits(DIMENSION, 50)}

named = pytest.mark.parametrize("name", ALL)
of_vectors = pytest.mark.parametrize("name", OF_VECTORS)
of_directions = pytest.mark.parametrize("name", OF_DIRECTIONS)


def items(n: int = 40, dimension: int = DIMENSION, seed: int = 1) -> np.ndarray:
    """float32[n, dimension]; float64 represents the same values."""
    return np.random.default_rng(seed).uniform(-100, 100, (n, dimension)).astype(np.float32)


def batch_for(name: str) -> np.ndarray:
    return items() > 0 if name == "bits" else items()
