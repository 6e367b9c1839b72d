#!/usr/bin/env python3
"""likewise and its peers on all pairs of vectors and of fingerprints: each contender a separate process, in turn, with medians and recall.

    python benchmarks/vectors.py DATA [--tasks wl fm fp made] [--rounds 3] [--only NAME ...] [--slow] [--json FILE]

DATA: arrays of vectors wl.X.npy (cosine of 0.9 or more) and fm.X.npy (0.975), and of fingerprints fp.npy, uint64[n] (3 bits or fewer); and every
pair of them, exact: wl.pairs.npz and fm.pairs.npz with i, j and t, the threshold, fp.pairs.npz with K = i * n + j, i < j, ascending.
made: the vectors of made.py, which makes fp, too.
Peers run in the environment $BENCH_VENVS/vectors (faiss-cpu, hnswlib, numpy). The time, measured inside the process, is from arrays in
memory to pairs in memory, without imports, reading and compiling. Both cores; --slow adds contenders that take a minute or more.
"half product" is a lower bound, not a contender: the float32 products of each vector with those after it, and nothing else.
BLAS: the OpenBLAS in faiss's wheel does not recognize new CPUs and is then up to four times slower, so the CPU type is set here.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import contest
from contest import CORES

PEERS = contest.VENVS / "vectors" / "bin" / "python"
#: Queries in a sample, if all would take too long; the time is then extrapolated.
SAMPLE = 20_000

Pairs = tuple[np.ndarray, np.ndarray]


def unit(folder: Path, task: str) -> tuple[np.ndarray, float]:
    """The vectors, of length 1, and the threshold."""
    vectors = np.load(folder / f"{task}.X.npy").astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True), float(np.load(folder / f"{task}.pairs.npz")["t"])


# The contenders. Each loads what it needs, warms up, and returns the job that is timed: () -> (i, j) or None where there is nothing to score.


def likewise_join(folder: Path, task: str, recall: float) -> Callable[[], Pairs]:
    from likewise.engines.threads import Threads
    from likewise.joins.vector_join import choose_layout, prepare, vector_join
    from likewise.stages.workers import Workers

    workers = Workers(Threads(CORES).run, CORES)

    def job(vectors: np.ndarray) -> Pairs:
        prepared = prepare(vectors, "cosine", threshold, workers=workers)
        return contest.pairs_of(vector_join(prepared, choose_layout(prepared, recall), workers=workers).pairs())

    vectors, threshold = unit(folder, task)
    job(vectors[:3000])
    return lambda: job(vectors)


def faiss_join(folder: Path, task: str, lists: int, probes: int) -> Callable[[], Pairs]:
    import faiss

    faiss.omp_set_num_threads(CORES)
    vectors, threshold = unit(folder, task)

    def job() -> Pairs:
        index = faiss.index_factory(vectors.shape[1], f"IVF{lists},Flat" if lists else "Flat", faiss.METRIC_INNER_PRODUCT)
        if lists:
            index.train(vectors)
            index.nprobe = probes
        index.add(vectors)
        limits, _, ids = index.range_search(vectors, threshold - 1e-5)
        left = np.repeat(np.arange(len(vectors)), np.diff(limits.astype(np.int64)))
        keys = np.unique(np.minimum(left, ids) * len(vectors) + np.maximum(left, ids))
        i, j = keys // len(vectors), keys % len(vectors)
        exact = np.concatenate([np.einsum("ij,ij->i", vectors[i[a : a + 200_000]], vectors[j[a : a + 200_000]]) for a in range(0, len(i), 200_000)])
        good = (i != j) & (exact >= threshold)
        return i[good], j[good]

    return job


def graph_join(folder: Path, task: str, k: int) -> Callable[[], Pairs]:
    """A graph returns the k nearest of each, regardless of how many are at or above the threshold."""
    import hnswlib

    vectors, threshold = unit(folder, task)

    def job() -> Pairs:
        index = hnswlib.Index("ip", vectors.shape[1])
        index.init_index(len(vectors), ef_construction=100, M=16)
        index.add_items(vectors, num_threads=CORES)
        index.set_ef(k)
        ids, distances = index.knn_query(vectors, k, num_threads=CORES)
        left, near = np.repeat(np.arange(len(vectors)), k), 1 - distances.ravel() >= threshold
        return left[near], ids.ravel()[near].astype(np.int64)

    return job


def half_product(folder: Path, task: str) -> Callable[[], None]:
    vectors, _ = unit(folder, task)
    out = np.empty((2000, len(vectors)), np.float32)

    def job() -> None:
        for begin in range(0, len(vectors), 2000):
            rows, others = vectors[begin : begin + 2000], vectors[begin:]
            np.matmul(rows, others.T, out=out.reshape(-1)[: len(rows) * len(others)].reshape(len(rows), len(others)))

    return job


def numpy_join(folder: Path, task: str) -> Callable[[], Pairs]:
    vectors, threshold = unit(folder, task)

    def job() -> Pairs:
        found = []
        for begin in range(0, len(vectors), 2000):
            i, j = np.nonzero(vectors[begin : begin + 2000] @ vectors[begin:].T >= threshold)
            found.append(np.stack([i[j > i], j[j > i]]) + begin)
        i, j = np.concatenate(found, axis=1)
        return i, j

    return job


def likewise_codes(folder: Path, task: str) -> Callable[[], Pairs]:
    from likewise.engines.threads import Threads
    from likewise.joins.hamming_join import code_join
    from likewise.stages.workers import Workers

    workers = Workers(Threads(CORES).run, CORES)
    codes = np.load(folder / f"{task}.npy").reshape(-1, 1)

    def job(codes: np.ndarray) -> Pairs:
        return contest.pairs_of(code_join(codes, 64, 3, workers=workers).pairs())

    job(np.concatenate([codes[:3000], codes[:1]]))
    return lambda: job(codes)


def faiss_codes(folder: Path, task: str, bits: int, flips: int) -> Callable[[], Pairs]:
    """A sample of queries, half of them members of true pairs, to measure recall."""
    import faiss

    faiss.omp_set_num_threads(CORES)
    codes = np.load(folder / f"{task}.npy")
    octets = codes.view(np.uint8).reshape(-1, 8)
    index = faiss.IndexBinaryHash(64, bits)
    began = time.perf_counter()
    index.add(octets)
    built = time.perf_counter() - began
    index.nflip = flips
    queries = sampled(folder, task)

    def job() -> Pairs:
        limits, _, ids = index.range_search(octets[queries], 4)
        return np.repeat(queries, np.diff(limits.astype(np.int64))), ids

    job.built = built  # type: ignore[attr-defined]
    job.times = len(codes) / len(queries)  # type: ignore[attr-defined]
    return job


def sampled(folder: Path, task: str) -> np.ndarray:
    n, keys = len(np.load(folder / f"{task}.npy", mmap_mode="r")), np.load(folder / f"{task}.pairs.npz")["K"]
    rng = np.random.default_rng(5)
    ends = np.unique(np.concatenate([keys // n, keys % n]))
    ends = rng.choice(ends, min(len(ends), SAMPLE // 2), replace=False)
    return np.unique(np.concatenate([ends, rng.integers(0, n, SAMPLE // 2)]))


#: task -> contender -> (function, its arguments, whether it is slow). The others are compared with the first.
JOINS = {
    "likewise, recall 0.99": (likewise_join, (0.99,), False),
    "likewise, recall 0.95": (likewise_join, (0.95,), False),
    "faiss IVF 256, 2 probes": (faiss_join, (256, 2), False),
    "faiss IVF 256, 4 probes": (faiss_join, (256, 4), False),
    "faiss IVF 1024, 2 probes": (faiss_join, (1024, 2), False),
    "half product (numpy)": (half_product, (), False),
    "numpy, exact": (numpy_join, (), True),
    "faiss flat range search": (faiss_join, (0, 0), True),
    "hnswlib, 128 nearest": (graph_join, (128,), True),
}
TASKS: dict[str, dict] = {
    "wl": JOINS,
    "fm": JOINS,
    "made": JOINS,
    "fp": {"likewise": (likewise_codes, (), False), "faiss BinaryHash 24, 2 flips": (faiss_codes, (24, 2), False)},
}


def work(folder: Path, task: str, contender: str) -> None:
    """Run one contender in this process and print its measurements; its pairs are scored outside the timed part."""
    function, arguments, _ = TASKS[task][contender]
    job = function(folder, task, *arguments)
    began, used = time.perf_counter(), time.process_time()
    pairs = job()
    seconds, cpu = time.perf_counter() - began, time.process_time() - used
    row = {"seconds": getattr(job, "built", 0) + seconds * getattr(job, "times", 1), "cpu": cpu, "extrapolated": hasattr(job, "times")}
    row["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if pairs is not None:
        row |= score(folder, task, *pairs, sampled(folder, task) if hasattr(job, "times") else None)
    print(json.dumps(row))


def score(folder: Path, task: str, i: np.ndarray, j: np.ndarray, queries: np.ndarray | None) -> dict[str, float]:
    truth = np.load(folder / f"{task}.pairs.npz")
    n = len(np.load(folder / f"{task}{'' if task == 'fp' else '.X'}.npy", mmap_mode="r"))
    known = truth["K"] if "K" in truth else np.unique(pair_keys(truth["i"], truth["j"], n))
    if queries is not None:
        known = known[np.isin(known // n, queries) | np.isin(known % n, queries)]
    found = np.unique(pair_keys(i, j, n))
    hits = np.isin(found, known, assume_unique=True).sum()
    return {"pairs": len(found), "recall": hits / len(known), "precision": hits / max(1, len(found))}


def pair_keys(i: np.ndarray, j: np.ndarray, n: int) -> np.ndarray:
    i, j = i.astype(np.int64), j.astype(np.int64)
    return (np.minimum(i, j) * n + np.maximum(i, j))[i != j]


def main() -> None:
    parser = contest.arguments(__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--tasks", nargs="*", default=["wl", "fm", "fp"], choices=list(TASKS))
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--work", metavar="CONTENDER", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.data, options.tasks[0], options.work)
        return
    chosen = [
        (task, name)
        for task in options.tasks
        for name, (_, _, slow) in TASKS[task].items()
        if (name in options.only if options.only else options.slow or not slow)
    ]
    rows: dict[tuple[str, str], list[dict]] = {}
    for _ in range(options.rounds):
        for task, name in chosen:
            python = PEERS if name.startswith(("faiss", "hnswlib")) else Path(sys.executable)
            if contest.installed(name, python):
                command = [str(python), __file__, str(options.data), "--tasks", task, "--work", name]
                rows.setdefault((task, name), []).append(contest.answer(name, command))
    table = {}
    for (task, name), runs in rows.items():
        middle, seconds = contest.middle(runs), [run["seconds"] for run in runs]
        table.setdefault(task, {})[name] = {**middle, "all": seconds}
        first = next(iter(table[task].values()))["seconds"]
        spread = contest.spread(seconds)
        quality = f"recall {middle['recall']:.4f}  precision {middle['precision']:.4f}  pairs {middle['pairs']:,.0f}" if "recall" in middle else ""
        much = f"{middle['seconds'] / first:7.1f} x{'*' if middle['extrapolated'] else ' '}"
        print(
            f"{task}  {name:28} {middle['seconds']:8.2f} s {spread:15} {much} cpu {middle['cpu']:7.2f} s  peak {middle['peak_mb']:5.0f} MB  {quality}"
        )
    if any(run["extrapolated"] for runs in rows.values() for run in runs):
        print(f"* from the time of {SAMPLE:,} queries")
    contest.keep(table, options.json)


if __name__ == "__main__":
    main()
