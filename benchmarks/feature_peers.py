"""Other methods that compare sets of feature vectors: contenders of features.py, in a separate environment."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from contest import CORES
from feature_sets import Task, row, timed


def unit(table: np.ndarray) -> np.ndarray:
    return table / np.maximum(np.linalg.norm(table, axis=-1, keepdims=True), 1e-12)


def products(task: Task, embed: Callable[[], np.ndarray], trained: float = 0.0) -> dict[str, Any]:
    """A contender whose sets are vectors of length 1, compared by their products."""
    seconds, made = timed(embed, 1)
    made = np.ascontiguousarray(made, np.float32)
    asked = made[task.queries]
    matched, scores = timed(lambda: asked @ made.T)
    return row(task, seconds, matched, scores.size, made[0].nbytes, task.precision(scores), train_s=trained)


def pooled(task: Task) -> dict[str, Any]:
    return products(task, lambda: unit(np.add.reduceat(task.values, task.offsets[:-1])))


def words(task: Task, count: int) -> tuple[Any, float]:
    import faiss

    faiss.omp_set_num_threads(CORES)
    sample = task.values[np.random.default_rng(3).choice(len(task.values), min(len(task.values), 100 * count), replace=False)]
    means = faiss.Kmeans(task.values.shape[1], count, niter=12, seed=1)
    began = time.perf_counter()
    means.train(sample)
    return means, time.perf_counter() - began


def vlad(task: Task, count: int) -> dict[str, Any]:
    """Jégou and others 2010, each word's part of length 1, square roots, length 1."""
    means, trained = words(task, count)

    def embed() -> np.ndarray:
        nearest = means.index.search(task.values, 1)[1].ravel()
        apart = task.values - means.centroids[nearest]
        out = np.zeros((task.sets * count, task.values.shape[1]), np.float32)
        bins = np.repeat(np.arange(task.sets) * count, np.diff(task.offsets)) + nearest
        order = np.argsort(bins, kind="stable")
        first = np.flatnonzero(np.r_[True, np.diff(bins[order]) > 0])
        out[bins[order][first]] = np.add.reduceat(apart[order], first)
        out = unit(out).reshape(task.sets, -1)
        return unit(np.sign(out) * np.sqrt(abs(out)))

    return products(task, embed, trained)


def bag_of_words(task: Task, count: int) -> dict[str, Any]:
    means, trained = words(task, count)

    def embed() -> np.ndarray:
        nearest = means.index.search(task.values, 1)[1].ravel()
        bins = np.repeat(np.arange(task.sets) * count, np.diff(task.offsets)) + nearest
        table = np.bincount(bins, minlength=task.sets * count).reshape(task.sets, count)
        return unit(table * np.log(task.sets / np.maximum((table > 0).sum(axis=0), 1)))

    return products(task, embed, trained)


def muvera(task: Task, centered: bool) -> dict[str, Any]:
    from muvera import Muvera

    center = task.values.mean(axis=0) if centered else 0
    sets = [unit(task.one(item) - center).astype(np.float32) for item in range(task.sets)]
    family = Muvera(num_repetitions=5, num_simhash_projections=5, dimension=task.values.shape[1], seed=42)
    seconds, documents = timed(lambda: np.asarray(family.encode_documents(sets), np.float32), 1)
    asked = np.asarray(family.encode_queries([sets[query] for query in task.queries]), np.float32)
    matched, scores = timed(lambda: asked @ documents.T)
    return row(task, seconds, matched, scores.size, documents[0].nbytes, task.precision(scores))


def chamfer_by_products(task: Task, count: int) -> dict[str, Any]:
    """A matrix product of a query and forty sets at a time, the maximum of each row, and their mean."""
    values = unit(task.values).astype(np.float32)
    chosen = task.some(count)

    def job() -> np.ndarray:
        scores = np.empty((len(chosen), task.sets), np.float32)
        for at, query in enumerate(task.queries[chosen]):
            mine = values[task.offsets[query] : task.offsets[query + 1]]
            for begin in range(0, task.sets, 40):
                end = min(begin + 40, task.sets)
                table = mine @ values[task.offsets[begin] : task.offsets[end]].T
                starts = task.offsets[begin:end] - task.offsets[begin]
                scores[at, begin:end] = np.maximum.reduceat(table, starts, axis=1).mean(axis=0)
        return scores

    seconds, scores = timed(job, 1)
    return row(task, 0, seconds, scores.size, values.nbytes // task.sets, task.precision(scores, chosen))


def earth_mover(task: Task, count: int) -> dict[str, Any]:
    import ot

    draw = np.random.default_rng(5)
    pairs = [(task.queries[draw.integers(len(task.queries))], draw.integers(task.sets)) for _ in range(count)]

    def job() -> list[float]:
        found = []
        for a, b in pairs:
            x, y = task.one(a).astype(float), task.one(b).astype(float)
            costs = np.sqrt(np.maximum((x * x).sum(1)[:, None] + (y * y).sum(1) - 2 * x @ y.T, 0))
            found.append(ot.emd2(np.full(len(x), 1 / len(x)), np.full(len(y), 1 / len(y)), costs))
        return found

    seconds, _ = timed(job, 1)
    return row(task, 0, seconds, count, task.values.nbytes // task.sets, float("nan"))


def pyramid(task: Task, axes: int = 6, levels: int = 6) -> dict[str, Any]:
    """Grauman and Darrell 2005: bins of widths 1, 2, 4 and so on along some principal axes; new matches of each level weigh half of those before."""
    import numba as nb

    @nb.njit(parallel=True, nogil=True)
    def match(keys, counts, ends, asked, own, out):
        for right in nb.prange(out.shape[1]):
            for at in range(asked.size):
                total, before, weight = 0.0, 0.0, 1.0
                for level in range(levels):
                    i, last = ends[asked[at], level], ends[asked[at], level + 1]
                    j, end = ends[right, level], ends[right, level + 1]
                    shared = 0.0
                    while i < last and j < end:
                        if keys[i] == keys[j]:
                            shared += min(counts[i], counts[j])
                            i += 1
                            j += 1
                        elif keys[i] < keys[j]:
                            i += 1
                        else:
                            j += 1
                    total += weight * (shared - before)
                    before, weight = shared, weight / 2
                out[at, right] = total / np.sqrt(own[asked[at]] * own[right])

    center = task.values.mean(axis=0)
    turned = np.linalg.svd(task.values[:: max(1, len(task.values) // 40000)] - center, full_matrices=False)[2][:axes].T
    spread = (task.values - center) @ turned
    low, high, shift = spread.min(axis=0), spread.max(axis=0), np.random.default_rng(2).random(axes)

    def embed() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        places = ((task.values - center) @ turned - low) / (high - low) * 2 ** (levels - 1)
        keys, counts, ends, at = [], [], np.zeros((task.sets, levels + 1), np.int64), 0
        for item in range(task.sets):
            mine = places[task.offsets[item] : task.offsets[item + 1]]
            for level in range(levels):
                ends[item, level] = at
                bins = (np.floor(mine / 2**level + shift).astype(np.int64) * 64 ** np.arange(axes)).sum(axis=1)
                key, count = np.unique(bins, return_counts=True)
                keys.append(key)
                counts.append(count)
                at += len(key)
            ends[item, levels] = at
        return np.concatenate(keys), np.concatenate(counts).astype(np.float64), ends

    seconds, (keys, counts, ends) = timed(embed, 1)
    sizes = np.diff(task.offsets).astype(float)
    out = np.empty((len(task.queries), task.sets))
    match(keys, counts, ends, task.queries[:1], sizes, out[:1].copy())
    matched, _ = timed(lambda: match(keys, counts, ends, task.queries, sizes, out), 1)
    return row(task, seconds, matched, out.size, int(len(keys) * 9 / task.sets), task.precision(out))
