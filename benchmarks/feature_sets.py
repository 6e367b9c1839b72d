"""Ranking of sets of feature vectors: the tasks, and the measurements of a contender (features.py, histograms.py)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Task:
    """Sets, the queries among them, the right answers for each, and samples to fit to."""

    values: np.ndarray  # float32[total, d], the features of all sets one after another
    offsets: np.ndarray  # int[sets + 1]
    queries: np.ndarray  # int[queries], numbers of sets
    right: np.ndarray  # bool[queries, sets]
    apart: np.ndarray  # bool[queries, sets]: neither right nor wrong, such as the query itself
    sample: np.ndarray  # float32[n, d], to which likewise is fitted
    learn: np.ndarray  # float32[n, d], from which peers learn words and axes
    clock: Callable[[], float] = time.perf_counter

    @classmethod
    def read(cls, folder: Path, name: str) -> Task:
        """A task of features.py."""
        if name == "img":
            stored, sample = np.load(folder / "img.npz"), np.load(folder / "fit.npz")
            values, many = stored["V"], len(stored["ln"])
            right = (stored["lab"][:, None] == stored["lab"]) & ~np.eye(many, dtype=bool)
            offsets = np.concatenate([[0], np.cumsum(stored["ln"])])
            return cls(values, offsets, np.arange(many), right, np.eye(many, dtype=bool), sample["V"], values)
        copies, base = np.load(folder / "ms.Q.npy"), np.load(folder / "ms.S.npy")
        both = np.concatenate([base, copies[:40]])
        values, queries = both.reshape(-1, both.shape[2]), np.arange(len(base), len(both))
        apart = np.zeros((40, len(both)), bool)
        apart[:, queries] = True
        offsets = np.arange(len(both) + 1) * both.shape[1]
        return cls(values, offsets, queries, np.eye(40, len(both), dtype=bool), apart, copies[40:].reshape(-1, both.shape[2]), values)

    @property
    def sets(self) -> int:
        return len(self.offsets) - 1

    def some(self, count: int) -> np.ndarray:
        """This many queries, evenly spaced: for images, each version in turn."""
        return np.unique(np.linspace(0, len(self.queries) - 1, count).astype(int))

    def one(self, item: int) -> np.ndarray:
        return self.values[self.offsets[item] : self.offsets[item + 1]]

    def precision(self, scores: np.ndarray, chosen: np.ndarray | None = None) -> float:
        """mAP of scores [queries, sets], larger is nearer. Sets that are neither right nor wrong, and those without a score, come last."""
        rows = np.arange(len(self.queries)) if chosen is None else chosen
        found = []
        for score, row in zip(np.array(scores, float), rows, strict=True):
            score[self.apart[row]] = -np.inf
            places = np.flatnonzero(self.right[row][np.argsort(-score, kind="stable")])
            found.append(np.mean(np.arange(1, len(places) + 1) / (places + 1)))
        return float(np.mean(found))

    def timed(self, job: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
        """The best of several timings, and the result."""
        best, result = np.inf, None
        for _ in range(times):
            began = self.clock()
            result = job()
            best = min(best, self.clock() - began)
        return best, result


def row(
    task: Task, embed: float, match: float, size: int, scores: np.ndarray | None, chosen: Any = None, pairs: int = 0, **more: Any
) -> dict[str, Any]:
    """The measurements of a contender: seconds to embed all sets and to match the pairs, bytes per set, and the scores with their mAP.

    chosen: the queries of the scores, if not all. pairs: the number of pairs that were timed, if there are no scores.
    """
    every, timed = len(task.queries) * task.sets, pairs if scores is None else scores.size
    return {
        "embed_us_per_set": embed / task.sets * 1e6,
        "match_us_per_pair": match / timed * 1e6,
        "total_s": embed + match * every / timed,
        "bytes": size,
        "mAP": float("nan") if scores is None else task.precision(scores, chosen),
        "pairs": timed,
        "scores": scores,
        **more,
    }
