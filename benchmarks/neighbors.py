#!/usr/bin/env python3
"""The k most similar vectors: likewise and its peers, from arrays to neighbors, building included, with recall.

    python benchmarks/neighbors.py DATA [--rounds 3] [--tasks fm wl] [--only NAME ...] [--peers PYTHON] [--json FILE]

DATA holds fm.X.npy, fm.Q.npy and fm.l2.npz (Fashion-MNIST: 60,000 x 784, 10,000 queries, k = 10 by L2), wl.X.npy, wl.Q.npy and wl.cos.npz (text
embeddings: 117,000 x 256, 5,000 queries, by cosine); the truth's S are the exact squared distances, or cosines, of the k nearest.
made: the vectors of made.py, by cosine.
Each contender is a separate process; all run in turn for several rounds, with median, minimum and maximum. Imports, reading and compiling are
not timed. Peers run in the environment of PYTHON ($BENCH_VENVS/vectors by default); a missing one is reported.

A graph (hnswlib) pays off if it is kept: once built, it answers a query in a fraction of a millisecond. likewise keeps no index and
encodes all items first, a tenth of a second here: use it for many queries at once, or if the recall must be known in advance.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import contest

TASKS = {"fm": ("l2", "fm.l2.npz"), "wl": ("cosine", "wl.cos.npz"), "made": ("cosine", "made.cos.npz")}
K = 10
#: Settings at which a peer reaches a recall of 0.99, or its best: probed lists of 256; candidates of the graph.
PROBES, BREADTH = {"fm": 8, "wl": 128, "made": 8}, {"fm": 40, "wl": 320, "made": 40}


def unit(vectors):
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


# Contenders: (items, queries, task) -> seconds to build, seconds to query, ids [q, K], -1 for none. Each scales directions to length 1.


def likewise(items, queries, task, **more):
    from likewise.engines.threads import Threads
    from likewise.nearest.neighbors import neighbors
    from likewise.stages.workers import Workers

    engine = Threads()
    some = {"workers": Workers(engine.run, engine.number), **more}
    neighbors(items[:4000], queries[:40], TASKS[task][0], K, **some)  # compiles
    began = time.perf_counter()
    found = neighbors(items, queries, TASKS[task][0], K, **some)
    took = time.perf_counter() - began
    ids = np.full((len(queries), K), -1)
    ids[found.query, np.arange(len(found.query)) - np.searchsorted(found.query, found.query)] = found.item
    return 0.0, took, ids


def likewise_exact(items, queries, task):
    return likewise(items, queries, task, exact=True)


def faiss(items, queries, task, kind, probes=None):
    import faiss

    cosine = TASKS[task][0] == "cosine"
    began = time.perf_counter()
    if cosine:
        items, queries = unit(items), unit(queries)
    index = faiss.index_factory(items.shape[1], kind, faiss.METRIC_INNER_PRODUCT if cosine else faiss.METRIC_L2)
    if not index.is_trained:
        index.train(items)
        index.nprobe = probes
    index.add(items)
    built = time.perf_counter()
    ids = index.search(queries, K)[1]
    return built - began, time.perf_counter() - built, ids


def faiss_flat(items, queries, task):
    return faiss(items, queries, task, "Flat")


def faiss_ivf(items, queries, task):
    return faiss(items, queries, task, "IVF256,Flat", PROBES[task])


def hnswlib(items, queries, task):
    import hnswlib

    began = time.perf_counter()
    index = hnswlib.Index(space="cosine" if TASKS[task][0] == "cosine" else "l2", dim=items.shape[1])
    index.init_index(max_elements=len(items), M=16, ef_construction=100)
    index.add_items(items)
    index.set_ef(BREADTH[task])
    built = time.perf_counter()
    ids = index.knn_query(queries, k=K)[0].astype(np.int64)
    return built - began, time.perf_counter() - built, ids


def numpy_(items, queries, task):
    began = time.perf_counter()
    if TASKS[task][0] == "cosine":
        items, queries = unit(items), unit(queries)
    squares = (items * items).sum(1)
    ids = np.empty((len(queries), K), np.int64)
    for at in range(0, len(queries), 1000):
        costs = queries[at : at + 1000] @ items.T
        costs *= -2
        costs += squares
        ids[at : at + 1000] = np.argpartition(costs, K, axis=1)[:, :K]
    return 0.0, time.perf_counter() - began, ids


CONTENDERS = {
    "likewise": likewise,
    "likewise exact": likewise_exact,
    "faiss Flat": faiss_flat,
    "faiss IVF256": faiss_ivf,
    "hnswlib": hnswlib,
    "numpy": numpy_,
}
OURS = ("likewise", "likewise exact", "numpy")


def contend(name: str, data: Path, task: str, target: Path) -> None:
    """Run one contender in this process: its measurements go to standard output, its ids to a file."""
    items, queries = (np.load(data / f"{task}.{side}.npy") for side in "XQ")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    build, ask, ids = CONTENDERS[name](items, queries, task)
    np.save(target, ids)
    print(
        json.dumps(
            {"build": build, "ask": ask, "whole": build + ask, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before / 1024}
        )
    )


def recall(data: Path, task: str, ids: np.ndarray) -> float:
    """The share of neighbors found: an id counts once, if it is as near as the true k-th up to float32 rounding."""
    measure, truth = TASKS[task]
    items, queries, last = np.load(data / f"{task}.X.npy"), np.load(data / f"{task}.Q.npy"), np.load(data / truth)["S"][:, K - 1]
    if measure == "cosine":
        items, queries = unit(items), unit(queries)
    hits = 0
    for query, row in enumerate(ids):
        mine = np.unique(row[row >= 0])
        if measure == "cosine":
            hits += int((items[mine] @ queries[query] >= last[query] - 1e-5).sum())
        else:
            hits += int((((items[mine] - queries[query]) ** 2).sum(axis=1) <= last[query] * (1 + 1e-5)).sum())
    return hits / ids.size


def main() -> None:
    parser = contest.arguments(__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--tasks", nargs="*", default=["fm", "wl"])
    parser.add_argument("--only", nargs="*", default=list(CONTENDERS))
    parser.add_argument("--peers", type=Path, default=contest.VENVS / "vectors" / "bin" / "python")
    parser.add_argument("--contend", nargs=3, help=argparse.SUPPRESS)  # name, task and file of ids: one contender, in this process
    options = parser.parse_args()
    if options.contend:
        name, task, target = options.contend
        contend(name, options.data, task, Path(target))
        return
    records: dict[str, dict[str, dict]] = {}
    for task in options.tasks:
        runs: dict[str, list[dict]] = {}
        found: dict[str, float] = {}
        for _ in range(options.rounds):
            for name in options.only:
                python = sys.executable if name in OURS else str(options.peers)
                if not contest.installed(name, python):
                    continue
                with tempfile.TemporaryDirectory() as folder:
                    target = f"{folder}/ids.npy"
                    command = [python, __file__, str(options.data), "--contend", name, task, target]
                    runs.setdefault(name, []).append(contest.answer(name, command))
                    if name not in found:
                        found[name] = recall(options.data, task, np.load(target))
        records[task] = report(task, runs, found)
    contest.keep(records, options.json)


def report(task: str, runs: dict[str, list[dict]], found: dict[str, float]) -> dict[str, dict]:
    """Print the table of a task. Ratios are to likewise's median."""
    table = {}
    for name, some in runs.items():
        whole = [run["whole"] for run in some]
        table[name] = {**contest.middle(some), "least": min(whole), "most": max(whole), "recall": found[name]}
    base = table.get("likewise", {}).get("whole")
    print(f"{task}, k = {K} by {TASKS[task][0]}")
    for name, row in table.items():
        ratio = f"{row['whole'] / base:6.2f} x" if base else ""
        times = f"build {row['build']:6.2f} s  ask {row['ask']:6.2f} s  whole {row['whole']:6.2f} s ({row['least']:.2f}-{row['most']:.2f})"
        print(f"  {name:15} {times:65} {ratio}  recall {row['recall']:.4f}  + {row['peak_mb']:5.0f} MB")
    return table


if __name__ == "__main__":
    main()
