#!/usr/bin/env python3
"""Sets of feature vectors: accuracy of ranking, bytes per set and time, of likewise and its peers.

    python benchmarks/features.py DATA [--tasks img ms] [--only NAME ...] [--sweep] [--json FILE]

DATA, all float32: img.npz, the RootSIFT features of images in six versions each (V[total, 128], ln the size of each set, lab its image), every
set a query for the other five of its image; fit.npz, the features V of other images, to which alone likewise is fitted; ms.S.npy [n, m, d],
planted sets, and ms.Q.npy, noisy copies of the first ones: the first 40 of these are queries, and likewise is fitted to the rest. Peers learn
their words from the gallery itself.
Peers run in the environment $BENCH_VENVS/vectors (numpy, numba, faiss-cpu, POT, muvera-python). Each contender is a separate process; the best of
three timings counts, or the only one if it takes seconds; imports and compiling are excluded. Pairs are timed on both cores unless stated.
mAP: the mean over queries of average precision. The time of contenders that answer a sample of queries is extrapolated.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import contest
from contest import CORES
from feature_peers import bag_of_words, chamfer_by_products, earth_mover, muvera, pooled, pyramid, vlad
from feature_sets import Task, row

PEERS = contest.VENVS / "vectors" / "bin" / "python"


def ours(task: Task) -> tuple[Any, Any]:
    """The sets in the form that likewise reads, and two threads."""
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
    seconds, made = task.timed(embed)
    asked = made[task.queries]
    matching.every(function, asked[:2], made)
    alone, _ = task.timed(lambda: matching.every(function, asked, made))
    matched, scores = task.timed(lambda: matching.every(function, asked, made, run=pool.map))
    measured = row(task, seconds, matched, made[0].nbytes, scores, one_core_us=alone / scores.size * 1e6)
    if not choices.get("best"):
        return measured
    return measured | reranked(task, sets, pool, scores, seconds + matched, **choices)


def reranked(task: Task, sets: Any, pool: Any, scores: np.ndarray, before: float, best: int, again: int, **_: Any) -> dict[str, Any]:
    """The best ones of each query compared exactly, by the Chamfer distance both ways, in a space of ``axes`` axes; 0: unchanged features."""
    from likewise.families import Space
    from likewise.measures.chamfer import chamfer

    scores = scores.copy()
    scores[task.apart] = -np.inf
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
    seconds, found = task.timed(job)
    pairs = best * len(task.queries)
    return {
        "mAP": task.precision(found),
        "rerank_us_per_pair": seconds / pairs * 1e6,
        "total_s": before + seconds,
        "rerank_s": seconds,
        "scores": found,
    }


def encoding(task: Task, axes: int, bits: int, tables: int) -> dict[str, Any]:
    from likewise.families import Encoding, Space

    sets, pool = ours(task)
    family = Encoding(bits, tables, space=Space.fit(task.sample, axes or None, unit=True))
    family.documents(sets)
    seconds, documents = task.timed(lambda: family.documents(sets, run=pool.map))
    values, offsets = sets
    asked = family.queries([values[offsets[query] : offsets[query + 1]] for query in task.queries])
    matched, scores = task.timed(lambda: asked @ documents.T)
    return row(task, seconds, matched, documents[0].nbytes, scores)


def exact(task: Task, count: int, both: bool, axes: int, function: str = "chamfer") -> dict[str, Any]:
    """Chamfer of some queries with all sets, or assignment with some of them."""
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
        seconds, _ = task.timed(lambda: measure(moved, moved, left[keep], right[keep], run=pool.map), 1)
        return row(task, 0, seconds, moved[0].nbytes // task.sets, None, pairs=len(keep))
    seconds, distances = task.timed(lambda: measure(moved, moved, left, right, run=pool.map, **more), 1)
    scores = -distances.reshape(len(chosen), -1)
    return row(task, 0, seconds, moved[0].nbytes // task.sets, scores, chosen)


def sweep(task: Task) -> list[dict[str, Any]]:
    """Accuracy, bytes and time by the bits of a bin, B, and the number of tables, N; a bit kept of each bin, and a byte with square roots."""
    measured = []
    for kept, more in (("bit", {"normalize": "none", "one_bit": True}), ("byte", {"normalize": "sqrt"})):
        for bits in (6, 7, 8, 9, 10, 11, 12, 13):
            for tables in (1, 2, 5, 10, 20, 40):
                if tables << bits <= 2**17:
                    found = histograms(task, 32, bits, tables, match="correlation", **more)
                    measured.append({"kept": kept, "bits": bits, "tables": tables, **found, "scores": None})
                    print(
                        f"{kept} B {bits:2} N {tables:2} {found['bytes']:7,} bytes mAP {found['mAP']:.4f} embed {found['embed_us_per_set']:.0f} us",
                        flush=True,
                    )
    return measured


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
    "likewise: encoding, centered": (encoding, {"axes": 0, "bits": 5, "tables": 5}),
    "likewise: encoding, whitened": (encoding, {"axes": 32, "bits": 5, "tables": 20}),
    "likewise: Chamfer both ways, all axes": (exact, {"count": 71, "both": True, "axes": 0}),
    "likewise: Chamfer both ways, 10 axes": (exact, {"count": 71, "both": True, "axes": 10}),
    "likewise: assignment": (exact, {"count": 30, "both": False, "axes": 0, "function": "assignment"}),
    "mean pooling": (pooled, {}),
    "bag of 1,000 words": (bag_of_words, {"count": 1000}),
    "VLAD 64": (vlad, {"count": 64}),
    "pyramid match, 6 axes": (pyramid, {}),
    "MUVERA (muvera-python)": (muvera, {"centered": False}),
    "MUVERA (muvera-python), centered": (muvera, {"centered": True}),
    "Chamfer, numpy": (chamfer_by_products, {"count": 71}),
    "EMD (POT)": (earth_mover, {"count": 40}),
}


def main() -> None:
    parser = contest.arguments(__doc__, rounds=None)
    parser.add_argument("data", type=Path)
    parser.add_argument("--tasks", nargs="*", default=["img", "ms"], choices=["img", "ms"])
    parser.add_argument("--only", nargs="*", default=list(CONTENDERS), metavar="NAME")
    parser.add_argument("--sweep", action="store_true", help="measure histograms of many sizes instead of the contenders")
    parser.add_argument("--work", metavar="CONTENDER", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        function, arguments = CONTENDERS[options.work]
        print(json.dumps(function(Task.read(options.data, options.tasks[0]), **arguments) | {"scores": None}))
        return
    table: dict[str, Any] = {}
    if options.sweep:
        table = {name: sweep(Task.read(options.data, name)) for name in options.tasks}
    for task in options.tasks if not options.sweep else ():
        for name in options.only:
            python = Path(sys.executable) if name.startswith("likewise") else PEERS
            if not contest.installed(name, python):
                continue
            measured = contest.answer(name, [str(python), __file__, str(options.data), "--tasks", task, "--work", name])
            table.setdefault(task, {})[name] = measured
            more = f"  one core {measured['one_core_us']:.3f} us" if "one_core_us" in measured else ""
            more += f"  reranked in {measured['rerank_s']:.2f} s" if "rerank_s" in measured else ""
            print(
                f"{task:3}  {name:46} mAP {measured['mAP']:.4f}  {measured['bytes']:7,} bytes  embed {measured['embed_us_per_set']:7.0f} us  "
                f"match {measured['match_us_per_pair']:10.3f} us  total {measured['total_s']:8.2f} s{more}",
                flush=True,
            )
    contest.keep(table, options.json)


if __name__ == "__main__":
    main()
