#!/usr/bin/env python3
"""Sets, vectors and fingerprints on the command line, from file to file: whole processes, with the time of each step.

    python benchmarks/files.py DATA [--rounds 3] [--tasks wl fm fp lic .8 ...] [--json FILE]

DATA: the files of vectors.py, sets.py and neighbors.py; the Parquet files for the command line (license texts as lists of numbers) are made
once. Wall time runs from the start of the process to its end; `start` is the time outside its steps: Python, imports, loading kernels.
Pairs are read back from the output file and scored against the truth. Neighbors are scored with ties: one counts if it is no
farther than the true k-th.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import contest

K = 10


def lists(data: Path) -> None:
    """The sets of license texts as a Parquet file with a column of lists."""
    if not (path := data / "lic.parquet").exists():
        sets = np.load(data / "lic.sets.npz")
        offsets, values = pa.array(sets["ptr"].astype(np.int32)), pa.array(sets["tok"])
        pq.write_table(pa.table({"elements": pa.ListArray.from_arrays(offsets, values)}), path)


def against(truth: str, least: float | None = None) -> Callable[[Path, pa.Table, int], float]:
    """Recall of pairs of row numbers."""

    def score(data: Path, found: pa.Table, n: int) -> float:
        known = np.load(data / truth)
        if "K" in known:
            keys = known["K"]
        else:
            keep = slice(None) if least is None else known["v"] >= least - 1e-9
            i, j = known["i"][keep].astype(np.int64), known["j"][keep].astype(np.int64)
            keys = np.unique(np.minimum(i, j) * n + np.maximum(i, j))
        a, b = (found[name].to_numpy().astype(np.int64) for name in ("id_a", "id_b"))
        return float(np.isin(keys, np.minimum(a, b) * n + np.maximum(a, b)).mean())

    return score


def nearest(truth: str, measure: str) -> Callable[[Path, pa.Table, int], float]:
    def score(data: Path, found: pa.Table, n: int) -> float:
        known = np.load(data / truth)["S"][:, K - 1]
        query = found["id_a"].to_numpy()
        value = found["similarity" if measure == "cosine" else "distance"].to_numpy()
        good = value >= known[query] - 1e-5 if measure == "cosine" else value**2 <= known[query] * (1 + 1e-5)
        return float(good.sum() / (K * len(known)))

    return score


#: task -> (the arguments of `likewise`, the files that replace {}, the function that scores the result)
TASKS: dict[str, tuple[str, Callable[[Path, pa.Table, int], float]]] = {
    "wl": ("pairs {data}/wl.X.npy --by cosine --threshold 0.9", against("wl.pairs.npz")),
    "fm": ("pairs {data}/fm.X.npy --by cosine --threshold 0.975", against("fm.pairs.npz")),
    "fp": ("pairs {data}/fp.npy --by hamming --within 3", against("fp.pairs.npz")),
    "lic .8": ("pairs {data}/lic.parquet --by elements --threshold 0.8", against("lic.pairs.npz", 0.8)),
    "lic .5": ("pairs {data}/lic.parquet --by elements --threshold 0.5", against("lic.pairs.npz", 0.5)),
    "wl k=10": ("neighbors {data}/wl.X.npy --query {data}/wl.Q.npy --by cosine -k 10", nearest("wl.cos.npz", "cosine")),
    "fm k=10": ("neighbors {data}/fm.X.npy --query {data}/fm.Q.npy --by l2 -k 10", nearest("fm.l2.npz", "l2")),
}
#: The child prints its wall time and peak memory.
CHILD = "import resource as r, subprocess, sys; code = subprocess.call(sys.argv[1:]); print(r.getrusage(r.RUSAGE_CHILDREN).ru_maxrss); sys.exit(code)"


def once(data: Path, task: str) -> dict[str, float]:
    """One whole process and its result."""
    typed, score = TASKS[task]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "found.parquet"
        command = [sys.executable, "-P", "-m", "likewise", *(word.format(data=data) for word in typed.split()), "-o", str(out), "-v"]
        began = time.perf_counter()
        done = subprocess.run([sys.executable, "-P", "-c", CHILD, *command], capture_output=True, text=True, check=False)
        wall = time.perf_counter() - began
        if done.returncode:
            raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
        found = pq.read_table(out)
    steps = {name: float(seconds) for name, seconds in re.findall(r"^(\w.*?)  +([\d.]+) s$", done.stderr, re.MULTILINE)}
    reading = steps.pop("reading and sketching")
    n = int(re.search(r"([\d,]+) items? read", done.stderr)[1].replace(",", ""))  # type: ignore[index]
    row = {"wall": wall, "reading": reading, "finding": sum(steps.values()), "start": wall - reading - sum(steps.values())}
    return row | {"peak_mb": int(done.stdout) / 1024, "rows": found.num_rows, "recall": score(data, found, n)}


def main() -> None:
    parser = contest.arguments(__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--tasks", nargs="*", default=list(TASKS), choices=list(TASKS))
    options = parser.parse_args()
    lists(options.data)
    table = {}
    for task in options.tasks:
        runs = [once(options.data, task) for _ in range(options.rounds + 1)][1:]  # the first may compile
        row = table[task] = contest.middle(runs)
        steps = f"start {row['start']:5.2f}  reading {row['reading']:5.2f}  finding {row['finding']:5.2f}"
        print(
            f"{task:8} {row['wall']:6.2f} s  {steps}  peak {row['peak_mb']:5.0f} MB  rows {row['rows']:11,.0f}  recall {row['recall']:.4f}",
            flush=True,
        )
    contest.keep(table, options.json)


if __name__ == "__main__":
    main()
