#!/usr/bin/env python3
"""Sets of feature vectors: how well sets rank, how large what is kept of one is, and what it costs; likewise beside its peers.

    python benchmarks/features.py DATA [--tasks img ms] [--only NAME ...] [--json FILE]

DATA, all float32: img.npz, the RootSIFT features of pictures in six versions each (V[total, 128], ln the size of each set, lab its picture), every
set a query for the other five of its picture; fit.npz, the features V of other pictures, which is all that likewise fits to; ms.S.npy [n, m, d],
planted sets, and ms.Q.npy, noisy copies of the first ones: of these the first 40 are queries, and the rest is what likewise fits to. Peers learn
their words from the gallery itself.
Peers run in the environment $BENCH_VENVS/vectors (numpy, numba, faiss-cpu, POT, muvera-python). Each contender is a process of its own; the best of
three timings, and one of what takes seconds; imports and compiling lie outside of them. Pairs are timed on both cores, and on one where it says so.
mAP: the mean over queries of average precision. Contenders that answer a sample of queries have their time multiplied.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

VENVS = Path(os.environ.get("BENCH_VENVS", "bench-data/venvs"))
PEERS = VENVS / "vectors" / "bin" / "python"
CORES = len(os.sched_getaffinity(0))


class Task:
    """Sets, which of them are queries, what is right for each, and a sample to fit to."""

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
        """So many queries, evenly: of pictures each version in turn."""
        return np.unique(np.linspace(0, len(self.queries) - 1, count).astype(int))

    def one(self, item: int) -> np.ndarray:
        return self.values[self.offsets[item] : self.offsets[item + 1]]

    def precision(self, scores: np.ndarray, chosen: np.ndarray | None = None) -> float:
        """mAP of scores [queries, sets], larger is nearer. Queries themselves, and what has no score, come last."""
        rows = np.arange(len(self.queries)) if chosen is None else chosen
        found = []
        for score, row in zip(np.array(scores, float), rows, strict=True):
            score[self.queries if self.name == "ms" else self.queries[row]] = -np.inf
            places = np.flatnonzero(self.right[row][np.argsort(-score, kind="stable")])
            found.append(np.mean(np.arange(1, len(places) + 1) / (places + 1)))
        return float(np.mean(found))


def timed(job: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
    """The best of so many timings, and the result."""
    best, result = np.inf, None
    for _ in range(times):
        began = time.perf_counter()
        result = job()
        best = min(best, time.perf_counter() - began)
    return best, result


def row(task: Task, embed: float, match: float, pairs: int, size: int, precision: float, **more: Any) -> dict[str, Any]:
    """What is told of a contender: seconds to embed all sets and to match so many pairs, bytes of a set."""
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


# likewise


def ours(task: Task) -> tuple[Any, Any]:
    """The sets as likewise reads them, and two threads."""
    from likewise.items.features import features

    return features((task.values, task.offsets)), ThreadPoolExecutor(CORES)


def histograms(task: Task, axes: int, bits: int, tables: int, normalize: str, match: str, **choices: Any) -> dict[str, Any]:
    from likewise.families import Histograms, Hyperplane, Space
    from likewise.families.compact import occupied
    from likewise.measures import matching

    sets, pool = ours(task)
    space = Space.fit(task.sample, axes or None)
    family = Histograms(Hyperplane(seed=2), bits, tables, space=space, normalize=normalize, scale=choices.get("scale"))
    one_bit = choices.get("one_bit", False)

    def embed() -> np.ndarray:
        made = family.embed(sets, run=pool.map)
        return occupied(made) if one_bit else made

    function = getattr(matching, match)
    made = embed()
    seconds, made = timed(embed)
    asked = made[task.queries]
    matching.every(function, asked[:2], made)
    alone, _ = timed(lambda: matching.every(function, asked, made))
    matched, scores = timed(lambda: matching.every(function, asked, made, run=pool.map))
    told = row(task, seconds, matched, scores.size, made[0].nbytes, task.precision(scores), one_core_us=alone / scores.size * 1e6)
    if not choices.get("best"):
        return told
    return told | reranked(task, sets, pool, scores, seconds + matched, **choices)


def reranked(task: Task, sets: Any, pool: Any, scores: np.ndarray, before: float, best: int, again: int, **_: Any) -> dict[str, Any]:
    """The best ones of each query compared exactly, by the Chamfer distance both ways, in a space of so many axes; 0 for features as they are."""
    from likewise.families import Space
    from likewise.measures.chamfer import chamfer

    scores = scores.copy()
    for at, query in enumerate(task.queries):
        scores[at, task.queries if task.name == "ms" else query] = -np.inf
    place = Space.fit(task.sample, again) if again else None

    def job() -> np.ndarray:
        moved = place(sets, pool.map) if place else sets
        chosen = np.argpartition(-scores, best, axis=1)[:, :best]
        left, right = np.repeat(task.queries, best), chosen.ravel()
        distances = chamfer(moved, moved, left, right, both=True, run=pool.map)
        found = scores - 1e6
        np.put_along_axis(found, chosen, -distances.reshape(chosen.shape), axis=1)
        return found

    job()
    seconds, found = timed(job)
    pairs = best * len(task.queries)
    return {"mAP": task.precision(found), "rerank_us_per_pair": seconds / pairs * 1e6, "total_s": before + seconds, "rerank_s": seconds}


def encoding(task: Task, axes: int, bits: int, tables: int) -> dict[str, Any]:
    from likewise.families import Encoding, Space

    sets, pool = ours(task)
    family = Encoding(bits, tables, space=Space.fit(task.sample, axes or None, unit=True))
    family.documents(sets)
    seconds, documents = timed(lambda: family.documents(sets, run=pool.map))
    values, offsets = sets
    asked = family.queries([values[offsets[query] : offsets[query + 1]] for query in task.queries])
    matched, scores = timed(lambda: asked @ documents.T)
    return row(task, seconds, matched, scores.size, documents[0].nbytes, task.precision(scores))


def exact(task: Task, count: int, both: bool, axes: int, function: str = "chamfer") -> dict[str, Any]:
    """Chamfer or assignment of some queries with all sets, or for assignment with some."""
    from importlib import import_module

    from likewise.families import Space

    sets, pool = ours(task)
    moved = Space.fit(task.sample, axes)(sets) if axes else sets
    measure = getattr(import_module(f"likewise.measures.{function}"), function)
    chosen = task.some(count)
    others = np.arange(task.sets)
    left, right = np.repeat(task.queries[chosen], len(others)), np.tile(others, len(chosen))
    more = {"both": both} if function == "chamfer" else {}
    measure(moved, moved, left[:2], right[:2], **more)
    if function != "chamfer":
        keep = np.random.default_rng(1).choice(len(left), 80, replace=False)
        seconds, _ = timed(lambda: measure(moved, moved, left[keep], right[keep], run=pool.map), 1)
        return row(task, 0, seconds, len(keep), moved[0].nbytes // task.sets, float("nan"))
    seconds, distances = timed(lambda: measure(moved, moved, left, right, run=pool.map, **more), 1)
    scores = -distances.reshape(len(chosen), -1)
    return row(task, 0, seconds, scores.size, moved[0].nbytes // task.sets, task.precision(scores, chosen))


# peers


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


def muvera(task: Task, centred: bool) -> dict[str, Any]:
    from muvera import Muvera

    centre = task.values.mean(axis=0) if centred else 0
    sets = [unit(task.one(item) - centre).astype(np.float32) for item in range(task.sets)]
    family = Muvera(num_repetitions=5, num_simhash_projections=5, dimension=task.values.shape[1], seed=42)
    seconds, documents = timed(lambda: np.asarray(family.encode_documents(sets), np.float32), 1)
    asked = np.asarray(family.encode_queries([sets[query] for query in task.queries]), np.float32)
    matched, scores = timed(lambda: asked @ documents.T)
    return row(task, seconds, matched, scores.size, documents[0].nbytes, task.precision(scores))


def chamfer_by_products(task: Task, count: int) -> dict[str, Any]:
    """A product of matrices for a query and forty sets at a time, the greatest of each row, and their mean."""
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

    centre = task.values.mean(axis=0)
    turned = np.linalg.svd(task.values[:: max(1, len(task.values) // 40000)] - centre, full_matrices=False)[2][:axes].T
    spread = (task.values - centre) @ turned
    low, high, shift = spread.min(axis=0), spread.max(axis=0), np.random.default_rng(2).random(axes)

    def embed() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        places = ((task.values - centre) @ turned - low) / (high - low) * 2 ** (levels - 1)
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


ROOTS = {"axes": 32, "bits": 8, "tables": 10, "normalize": "sqrt", "match": "correlation"}
BITS = {"axes": 32, "bits": 11, "tables": 10, "normalize": "none", "match": "correlation", "one_bit": True}
#: contender -> function, its arguments.
CONTENDERS: dict[str, tuple[Callable[..., dict[str, Any]], dict[str, Any]]] = {
    "likewise: bytes, one-to-one": (histograms, {**ROOTS, "axes": 0, "normalize": "l1", "match": "one_to_one", "scale": 500}),
    "likewise: bytes, whitened, roots, correlation": (histograms, ROOTS),
    "likewise: bits, whitened, correlation": (histograms, BITS),
    "likewise: bits, best 20 by Chamfer, 10 axes": (histograms, {**BITS, "best": 20, "again": 10}),
    "likewise: bits, best 50 by Chamfer, 10 axes": (histograms, {**BITS, "best": 50, "again": 10}),
    "likewise: bits, best 50 by Chamfer, all axes": (histograms, {**BITS, "best": 50, "again": 0}),
    "likewise: encoding, centred": (encoding, {"axes": 0, "bits": 5, "tables": 5}),
    "likewise: encoding, whitened": (encoding, {"axes": 32, "bits": 5, "tables": 20}),
    "likewise: Chamfer both ways, all axes": (exact, {"count": 71, "both": True, "axes": 0}),
    "likewise: Chamfer both ways, 10 axes": (exact, {"count": 71, "both": True, "axes": 10}),
    "likewise: assignment": (exact, {"count": 30, "both": False, "axes": 0, "function": "assignment"}),
    "mean pooling": (pooled, {}),
    "bag of 1,000 words": (bag_of_words, {"count": 1000}),
    "VLAD 64": (vlad, {"count": 64}),
    "pyramid match, 6 axes": (pyramid, {}),
    "MUVERA (muvera-python)": (muvera, {"centred": False}),
    "MUVERA (muvera-python), centred": (muvera, {"centred": True}),
    "Chamfer, numpy": (chamfer_by_products, {"count": 71}),
    "EMD (POT)": (earth_mover, {"count": 40}),
}


def environment() -> dict[str, str]:
    """Both cores for all, and numpy's own choice of the type of core."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
    return kept | {"OMP_NUM_THREADS": str(CORES), "OPENBLAS_NUM_THREADS": str(CORES), "NUMBA_NUM_THREADS": str(CORES)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--tasks", nargs="*", default=["img", "ms"], choices=["img", "ms"])
    parser.add_argument("--only", nargs="*", default=list(CONTENDERS), metavar="NAME")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--work", metavar="CONTENDER", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        function, arguments = CONTENDERS[options.work]
        print(json.dumps(function(Task(options.data, options.tasks[0]), **arguments)))
        return
    table: dict[str, dict[str, Any]] = {}
    for task in options.tasks:
        for name in options.only:
            python = Path(sys.executable) if name.startswith("likewise") else PEERS
            if not python.exists():
                print(f"{name}: not installed ({python})", file=sys.stderr)
                continue
            command = [str(python), __file__, str(options.data), "--tasks", task, "--work", name]
            done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
            if done.returncode:
                raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
            told = json.loads(done.stdout.splitlines()[-1])
            table.setdefault(task, {})[name] = told
            more = f"  one core {told['one_core_us']:.3f} us" if "one_core_us" in told else ""
            more += f"  reranked in {told['rerank_s']:.2f} s" if "rerank_s" in told else ""
            print(
                f"{task:3}  {name:46} mAP {told['mAP']:.4f}  {told['bytes']:7,} bytes  embed {told['embed_us_per_set']:7.0f} us  "
                f"match {told['match_us_per_pair']:10.3f} us  total {told['total_s']:8.2f} s{more}",
                flush=True,
            )
    if options.json:
        options.json.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
