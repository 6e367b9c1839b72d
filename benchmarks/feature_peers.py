"""Other methods that compare sets of feature vectors: contenders of features.py, in a separate environment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from feature_sets import Task, row


def unit(table: np.ndarray) -> np.ndarray:
    return table / np.maximum(np.linalg.norm(table, axis=-1, keepdims=True), 1e-12)


def products(task: Task, embed: Callable[[], np.ndarray], trained: float = 0.0) -> dict[str, Any]:
    """A contender whose sets are vectors of length 1, compared by their products."""
    seconds, made = task.timed(embed, 1)
    made = np.ascontiguousarray(made, np.float32)
    asked = made[task.queries]
    matched, scores = task.timed(lambda: asked @ made.T)
    return row(task, seconds, matched, made[0].nbytes, scores, train_s=trained)


def pooled(task: Task) -> dict[str, Any]:
    return products(task, lambda: unit(np.add.reduceat(task.values, task.offsets[:-1])))


def words(task: Task, count: int) -> tuple[Any, float]:
    import faiss

    sample = task.learn[np.random.default_rng(3).choice(len(task.learn), min(len(task.learn), 100 * count), replace=False)]
    means = faiss.Kmeans(task.values.shape[1], count, niter=12, seed=1)
    return means, task.timed(lambda: means.train(sample), 1)[0]


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
    seconds, documents = task.timed(lambda: np.asarray(family.encode_documents(sets), np.float32), 1)
    asked = np.asarray(family.encode_queries([sets[query] for query in task.queries]), np.float32)
    matched, scores = task.timed(lambda: asked @ documents.T)
    return row(task, seconds, matched, documents[0].nbytes, scores)


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

    seconds, scores = task.timed(job, 1)
    return row(task, 0, seconds, values.nbytes // task.sets, scores, chosen)


def earth_mover(task: Task, count: int) -> dict[str, Any]:
    """The time for ``count`` random pairs of whole sets."""
    draw = np.random.default_rng(5)
    pairs = [(task.queries[draw.integers(len(task.queries))], draw.integers(task.sets)) for _ in range(count)]
    weights = [np.full(len(one), 1 / len(one)) for one in map(task.one, range(task.sets))]
    moved(task.one(0)[:1], np.ones(1), task.one(0)[:1], np.ones(1))  # imports POT
    seconds, _ = task.timed(lambda: [moved(task.one(a), weights[a], task.one(b), weights[b]) for a, b in pairs], 1)
    return row(task, 0, seconds, task.values.nbytes // task.sets, None, pairs=count)


def moved(x: np.ndarray, x_weights: np.ndarray, y: np.ndarray, y_weights: np.ndarray) -> float:
    """The least cost of moving weights from some vectors to others."""
    import ot

    x, y = x.astype(float), y.astype(float)
    costs = np.sqrt(np.maximum((x * x).sum(1)[:, None] + (y * y).sum(1) - 2 * x @ y.T, 0))
    return float(ot.emd2(x_weights, y_weights, costs))


def signatures(task: Task, count: int, clusters: int) -> dict[str, Any]:
    """Rubner, Tomasi and Guibas 2000: each set as some means with weights, its signature, and the earth mover's distance of signatures."""
    import faiss

    def signature(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        many = min(clusters, len(values))
        means = faiss.Kmeans(values.shape[1], many, niter=8, seed=1, min_points_per_centroid=1)
        means.train(np.ascontiguousarray(values))
        found = np.bincount(means.index.search(np.ascontiguousarray(values), 1)[1].ravel(), minlength=many)
        return means.centroids[found > 0], found[found > 0] / len(values)

    seconds, made = task.timed(lambda: [signature(task.one(item)) for item in range(task.sets)], 1)
    chosen = task.some(min(count, len(task.queries)))
    moved(*made[0], *made[0])  # imports POT
    matched, distances = task.timed(lambda: [[moved(*made[query], *other) for other in made] for query in task.queries[chosen]], 1)
    size = sum(means.nbytes + 4 * len(weights) for means, weights in made) // task.sets
    return row(task, seconds, matched, size, -np.array(distances), chosen)


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

    center = task.learn.mean(axis=0)
    turned = np.linalg.svd(task.learn[:: max(1, len(task.learn) // 40000)] - center, full_matrices=False)[2][:axes].T
    spread = (task.learn - center) @ turned
    low, high, shift = spread.min(axis=0), spread.max(axis=0), np.random.default_rng(2).random(axes)

    def embed() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        places = np.clip(((task.values - center) @ turned - low) / (high - low), 0, 1) * 2 ** (levels - 1)
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

    seconds, (keys, counts, ends) = task.timed(embed, 1)
    sizes = np.diff(task.offsets).astype(float)
    out = np.empty((len(task.queries), task.sets))
    match(keys, counts, ends, task.queries[:1], sizes, out[:1].copy())
    matched, _ = task.timed(lambda: match(keys, counts, ends, task.queries, sizes, out), 1)
    return row(task, seconds, matched, int(len(keys) * 9 / task.sets), out)
