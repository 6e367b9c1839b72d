"""Ranking of sets of feature vectors: the tasks, and the measurements of a contender (features.py)."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


class Task:
    """Sets, the queries among them, the right answers for each, and a sample to fit to."""

    def __init__(self, folder: Path, name: str):
        self.name = name
        if name == "img":
            stored, sample = np.load(folder / "img.npz"), np.load(folder / "fit.npz")
            self.values, self.offsets = stored["V"], np.concatenate([[0], np.cumsum(stored["ln"])])
            self.queries = np.arange(len(stored["ln"]))
            self.right = stored["lab"][:, None] == stored["lab"]
            np.fill_diagonal(self.right, False)
            self.sample = sample["V"]
        else:
            copies, base = np.load(folder / "ms.Q.npy"), np.load(folder / "ms.S.npy")
            both = np.concatenate([base, copies[:40]])
            self.values = both.reshape(-1, both.shape[2])
            self.offsets = np.arange(len(both) + 1) * both.shape[1]
            self.queries = np.arange(len(base), len(both))
            self.right = np.eye(40, len(both), dtype=bool)
            self.sample = copies[40:].reshape(-1, both.shape[2])
        self.sets = len(self.offsets) - 1

    def some(self, count: int) -> np.ndarray:
        """This many queries, evenly spaced: for images, each version in turn."""
        return np.unique(np.linspace(0, len(self.queries) - 1, count).astype(int))

    def one(self, item: int) -> np.ndarray:
        return self.values[self.offsets[item] : self.offsets[item + 1]]

    def precision(self, scores: np.ndarray, chosen: np.ndarray | None = None) -> float:
        """mAP of scores [queries, sets], larger is nearer. Queries themselves, and sets without a score, come last."""
        rows = np.arange(len(self.queries)) if chosen is None else chosen
        found = []
        for score, row in zip(np.array(scores, float), rows, strict=True):
            score[self.queries if self.name == "ms" else self.queries[row]] = -np.inf
            places = np.flatnonzero(self.right[row][np.argsort(-score, kind="stable")])
            found.append(np.mean(np.arange(1, len(places) + 1) / (places + 1)))
        return float(np.mean(found))


def timed(job: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
    """The best of several timings, and the result."""
    best, result = np.inf, None
    for _ in range(times):
        began = time.perf_counter()
        result = job()
        best = min(best, time.perf_counter() - began)
    return best, result


def row(task: Task, embed: float, match: float, pairs: int, size: int, precision: float, **more: Any) -> dict[str, Any]:
    """The measurements of a contender: seconds to embed all sets and to match the pairs, bytes per set."""
    every = len(task.queries) * task.sets
    return {
        "embed_us_per_set": embed / task.sets * 1e6,
        "match_us_per_pair": match / pairs * 1e6,
        "total_s": embed + match * every / pairs,
        "bytes": size,
        "mAP": precision,
        "pairs": pairs,
        **more,
    }
