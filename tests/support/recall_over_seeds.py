"""Recall of pairs, measured over seeds. As a program, prints the table of docs/explanation/guarantees.md."""

from __future__ import annotations

import math

import numpy as np

import likewise as lw


def alone(pairs: int) -> list[list[int]]:
    """Sets of 30 elements in pairs of similarity 20/40; different pairs share nothing."""
    return [list(range(1000 * pair + begin, 1000 * pair + begin + 30)) for pair in range(pairs) for begin in (0, 10)]


def clumps(number: int) -> np.ndarray:
    """Vectors around 20 centers that are far apart: float32[number, 16]."""
    draw = np.random.default_rng(0)
    centers = draw.normal(size=(20, 16)) * 40
    return (centers[np.arange(number) % 20] + draw.normal(size=(number, 16)) * 1.7).astype(np.float32)


def recalls_alone(pairs: int, seeds: int) -> np.ndarray:
    """The share of the pairs that each seed finds with 4 bands of 2 rows: float64[seeds]."""
    sets = alone(pairs)
    given = {"by": "elements", "threshold": 0.5, "bands": 4, "rows": 2, "exact": False}
    return np.array([len(lw.pairs(sets, seed=seed, **given)) / pairs for seed in range(seeds)])


def recalls_in_clumps(number: int, seeds: int) -> tuple[np.ndarray, int]:
    """The same for vectors within 8, with ``recall=0.5``; and the number of pairs."""
    vectors = clumps(number)
    apart = np.sqrt(((vectors[:, None].astype(float) - vectors[None]) ** 2).sum(axis=2))
    pairs = int((apart[np.triu_indices(number, 1)] <= 8).sum())
    found = [len(lw.pairs(vectors, by="l2", within=8, recall=0.5, seed=seed)) for seed in range(seeds)]
    return np.array(found) / pairs, pairs


def deviation(recall: float, pairs: int) -> float:
    """The standard deviation of the found share of independent pairs."""
    return math.sqrt(recall * (1 - recall) / pairs)


if __name__ == "__main__":
    shares, pairs = recalls_alone(400, 40), 400
    for name in ("alone", "in clumps"):
        mean, spread = shares.mean(), shares.std(ddof=1)
        print(f"{name}: {pairs} pairs, mean {mean:.3f}, from {shares.min():.2f} to {shares.max():.2f}, deviation {spread:.3f}; ", end="")
        print(f"independent {deviation(mean, pairs):.3f}, at most {deviation(mean, 1):.2f}")
        if name == "alone":
            shares, pairs = recalls_in_clumps(600, 30)
