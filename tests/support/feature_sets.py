"""Sets of features for histograms."""

from __future__ import annotations

import numpy as np

DIMENSION = 6


def some_sets(count: int = 9, seed: int = 1, least: int = 1, most: int = 12) -> list[np.ndarray]:
    """Sets of 1 to 11 features with 6 dimensions, values from -50 to 50."""
    draw = np.random.default_rng(seed)
    return [draw.uniform(-50, 50, (draw.integers(least, most), DIMENSION)).astype(np.float32) for _ in range(count)]
