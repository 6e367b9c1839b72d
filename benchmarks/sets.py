#!/usr/bin/env python3
"""All pairs of similar sets, exactly: likewise, SetSimilaritySearch and a sparse matrix product, in turn, in one run.

    python benchmarks/sets.py DATA [--thresholds 0.8 0.5] [--rounds 3] [--only NAME ...] [--json FILE]

DATA holds lic.sets.npz (sets: offsets ptr, elements tok, and voc, how many elements there are) and lic.pairs.npz (every pair with Jaccard
similarity 0.5 or more, by exact counting: i, j, and its similarity v); made.py makes such files. Each contender runs in a separate process; the
clock runs from sets in memory, as arrays or lists, to all pairs in memory as arrays. Reading, imports and compiling are excluded, the last by one
uncounted run on a few sets. Peers run in the environment $BENCH_VENVS/sets; likewise runs in the one that runs this.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np

import contest

PEERS = contest.VENVS / "sets" / "bin" / "python"
Pairs = tuple[np.ndarray, np.ndarray]
#: Sets of the uncounted run.
FEW = 200


def likewise(offsets: np.ndarray, elements: np.ndarray, different: int) -> Callable[[str, int], Pairs]:
    from likewise.engines.threads import Threads
    from likewise.joins.set_join import SetJoin
    from likewise.stages.ranking import ranked
    from likewise.stages.workers import Workers

    values, engine = elements.astype(np.uint64), Threads()

    def pairs(threshold: str, sets: int) -> Pairs:
        workers = Workers(engine.run, engine.number)
        join = SetJoin(ranked(values, offsets[: sets + 1], workers=workers), Fraction(threshold), workers=workers)
        return contest.pairs_of(join.pairs())

    return pairs


def set_similarity_search(offsets: np.ndarray, elements: np.ndarray, different: int) -> Callable[[str, int], Pairs]:
    from SetSimilaritySearch import all_pairs

    lists = [elements[begin:end].tolist() for begin, end in itertools.pairwise(offsets)]

    def pairs(threshold: str, sets: int) -> Pairs:
        found = np.array([(a, b) for a, b, _ in all_pairs(lists[:sets], "jaccard", float(threshold))], np.int64).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    return pairs


def sparse_product(offsets: np.ndarray, elements: np.ndarray, different: int) -> Callable[[str, int], Pairs]:
    import scipy.sparse

    size = np.diff(offsets)

    def pairs(threshold: str, sets: int) -> Pairs:
        ends = int(offsets[sets])
        matrix = scipy.sparse.csr_matrix((np.ones(ends, np.int32), elements[:ends], offsets[: sets + 1]), shape=(sets, different))
        columns, left, right = matrix.T.tocsr(), [], []
        for begin in range(0, sets, 500):
            common = (matrix[begin : begin + 500] @ columns).tocoo()
            a, b = common.row + begin, common.col
            wanted = (b > a) & (common.data >= float(threshold) * (size[a] + size[b] - common.data))
            left.append(a[wanted])
            right.append(b[wanted])
        return np.concatenate(left), np.concatenate(right)

    return pairs


CONTENDERS: dict[str, Callable[[np.ndarray, np.ndarray, int], Callable[[str, int], Pairs]]] = {
    "likewise exact": likewise,
    "scipy product": sparse_product,
    "SetSimilaritySearch": set_similarity_search,
}


def contend(name: str, data: Path, threshold: str, out: Path) -> None:
    """Run one contender in a separate process: seconds go to standard output, the pairs to a file."""
    held = np.load(data / "lic.sets.npz")
    offsets = held["ptr"].astype(np.int64)
    pairs = CONTENDERS[name](offsets, held["tok"], int(held["voc"]))
    pairs(threshold, FEW)
    began = time.perf_counter()
    a, b = pairs(threshold, len(offsets) - 1)
    print(time.perf_counter() - began)
    np.save(out, np.stack([a, b], axis=1))


def score(data: Path, threshold: str, found: np.ndarray) -> dict[str, float]:
    """Recall and precision of a contender's pairs; a pair that it lists twice counts once."""
    known = np.load(data / "lic.pairs.npz")
    true = known["v"] >= float(threshold)
    keys = np.sort(known["i"][true].astype(np.int64) << 32 | known["j"][true])
    mine = np.unique(found.min(axis=1).astype(np.int64) << 32 | found.max(axis=1))
    hit = np.isin(mine, keys, assume_unique=True)
    return {"pairs": len(mine), "recall": float(hit.sum() / len(keys)), "precision": float(hit.mean()) if len(mine) else 1.0}


def main() -> None:
    parser = contest.arguments(__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--thresholds", nargs="*", default=["0.8", "0.5"])
    parser.add_argument("--only", nargs="*", choices=list(CONTENDERS))
    parser.add_argument("--contend", nargs=2, metavar=("NAME", "OUT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.contend:
        contend(options.contend[0], options.data, options.thresholds[0], Path(options.contend[1]))
        return
    table = []
    for threshold in options.thresholds:
        seconds: dict[str, list[float]] = {}
        scores: dict[str, dict[str, float]] = {}
        for _ in range(options.rounds):
            for name in options.only or CONTENDERS:
                python = sys.executable if name.startswith("likewise") else str(PEERS)
                with tempfile.TemporaryDirectory() as folder:
                    out = Path(folder) / "pairs.npy"
                    command = [python, __file__, str(options.data), "--thresholds", threshold, "--contend", name, str(out)]
                    seconds.setdefault(name, []).append(contest.answer(name, command))
                    scores.setdefault(name, score(options.data, threshold, np.load(out)))
        first = statistics.median(next(iter(seconds.values())))
        for name, runs in seconds.items():
            middle = statistics.median(runs)
            table.append({"threshold": threshold, "contender": name, "seconds": runs, "median": middle, "ratio": middle / first, **scores[name]})
            spread = f"({min(runs):.3f}-{max(runs):.3f})"
            quality = f"pairs {scores[name]['pairs']:9,}  recall {scores[name]['recall']:.4f}  precision {scores[name]['precision']:.4f}"
            print(f"{threshold:>5} {name:20} {middle:8.3f} s {spread:17} ratio {middle / first:7.1f}  {quality}", flush=True)
    contest.keep(table, options.json)


if __name__ == "__main__":
    main()
