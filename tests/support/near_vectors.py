"""Vectors, some near others; and by brute force, all similar pairs of vectors or codes, and the greedy walk over them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from likewise.measures import measure
from likewise.methods import parse

#: Limits within which many vectors of `near` are similar.
LIMITS = {"cosine": 0.9, "angle": 25.0, "l2": 4.0, "l1": 22.0}


def function_of(by: str) -> Any:
    """The function of a measure, also of l3 and the like."""
    method = parse(by)
    return partial(measure("lr"), order=method.power) if method.facts.order else measure(by)


def near(seed: int, n: int, dimension: int = 24, dtype: Any = np.float32) -> np.ndarray:
    """Vectors of length around 10, half of them near an earlier one, at all distances."""
    draw = np.random.default_rng(seed)
    out = draw.normal(0, 10 / math.sqrt(dimension), (n, dimension))
    for place in range(1, n, 2):
        out[place] = out[draw.integers(0, place)] + draw.normal(0, draw.random(), dimension)
    return out.astype(dtype)


def clustered(seed: int, count: int, dimension: int, dtype: Any = np.float32) -> np.ndarray:
    """Vectors at all distances from a few centers of length around 10."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(0, 10 / math.sqrt(dimension), (max(1, count // 8), dimension))
    noise = rng.normal(0, 4 / math.sqrt(dimension), (count, dimension)) * rng.random((count, 1)) ** 2
    return (centers[rng.integers(0, len(centers), count)] + noise).astype(dtype)


def all_pairs(values: Any, by: str, limit: float) -> dict[tuple[int, int], float]:
    """All similar pairs with their values, by the measure."""
    left, right = np.triu_indices(len(values), 1)
    if by == "hamming":
        value = np.bitwise_count(values[left] ^ values[right]).astype(float)
    else:
        value = function_of(by)(values[left], values[right])
    good = value >= limit if by == "cosine" else value <= limit
    return {(a, b): v for a, b, v in zip(left[good].tolist(), right[good].tolist(), value[good].tolist(), strict=True)}


def walked(similar: dict[tuple[int, int], float], order: list[int], falling: bool) -> dict[int, tuple[int, float]]:
    """The definition of the greedy walk: removed item -> its representative, and their value."""
    place, kept, removed = {item: at for at, item in enumerate(order)}, set(), {}
    for item in order:
        met = [(value if falling else -value, place[a + b - item], a + b - item) for (a, b), value in similar.items() if item in (a, b)]
        if best := min((one for one in met if one[2] in kept), default=None):
            removed[item] = (best[2], abs(best[0]))
        else:
            kept.add(item)
    return removed


def listed(blocks: Iterator[Any]) -> dict[tuple[int, int], float]:
    """The pairs of a join or a scan, each once, the lower item first."""
    rows = [row for block in blocks for row in zip(*(part.tolist() for part in block), strict=True)]
    found = {(a, b): value for a, b, value in rows}
    assert len(found) == len(rows) and all(a < b for a, b in found)
    return found
