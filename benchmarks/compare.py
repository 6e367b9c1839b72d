#!/usr/bin/env python3
"""likewise and its peers on one corpus: whole processes, run in turn, with medians, recall and precision.

    python benchmarks/compare.py CORPUS.jsonl TRUTH.npz [--rounds 3] [--only NAME ...] [--json FILE]

CORPUS: rows with ``id`` (the row's number) and ``text``: JSON lines for the peers; .jsonl.zst and .parquet for the floor and for likewise, too.
TRUTH: every pair of rows whose word 5-grams (runs between white space) have Jaccard similarity 0.5 or more, exact: arrays i, j, inter, si, sj
(sizes of the intersection and of both sets).
A peer runs in the environment $BENCH_VENVS/NAME; a missing one is reported. Each process starts with warm caches: one
round that is not counted goes first. Wall time is from start to exit; memory is the sum over the process tree, sampled ten times a second.
System time is listed separately: a virtual machine returns unused memory to its host, and fetching a gigabyte
again takes up to ten times as long as reusing memory that another process has just freed, so it also depends on the order of runs.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import contest
from contest import VENVS

HERE = Path(__file__).resolve().parent
LIKEWISE = [sys.executable, "-P", "-m", "likewise"]
SETTING = ["--by", "whitespace:5", "--threshold", "0.8", "-q"]


def contenders(corpus: Path, folder: Path) -> dict[str, list[str]]:
    peers = HERE / "peers"
    return {
        "likewise dedup": [*LIKEWISE, "dedup", str(corpus), "-o", str(folder / "out"), *SETTING],
        "likewise pairs": [*LIKEWISE, "pairs", str(corpus), "-o", str(folder / "pairs.parquet"), *SETTING],
        "floor: read and write": floor(corpus, folder),
        **({} if corpus.suffix == ".jsonl" else {"floor: read and encode": [*floor(corpus, folder), "encode"]}),
        "daft": [str(VENVS / "daft" / "bin" / "python"), str(peers / "daft_pairs.py"), str(corpus), str(folder / "pairs.npy")],
        "daft and numpy": [str(VENVS / "daft" / "bin" / "python"), str(peers / "daft_pairs.py"), str(corpus), str(folder / "pairs.npy"), "numpy"],
        "rensa": [str(VENVS / "rensa" / "bin" / "python"), str(peers / "rensa_pairs.py"), str(corpus), str(folder / "pairs.npy")],
        "datasketch": [str(VENVS / "datasketch" / "bin" / "python"), str(peers / "datasketch_pairs.py"), str(corpus), str(folder / "pairs.npy")],
    }


def floor(corpus: Path, folder: Path) -> list[str]:
    return [str(VENVS / "floor" / "bin" / "python"), str(HERE / "peers" / "floor.py"), str(corpus), str(folder / "floor")]


def run(command: list[str], env: dict[str, str] | None = None, cwd: Path | None = None) -> dict[str, float]:
    """Wall, CPU and system seconds and peak memory in MB of one process with its children."""
    peak, over = [0], threading.Event()
    began = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said, env=env or contest.environment(), cwd=cwd)
        watch = threading.Thread(target=lambda: watch_memory(process.pid, peak, over))
        watch.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        over.set()
        watch.join()
        if status:
            said.seek(0)
            raise SystemExit(f"{' '.join(command)} failed:\n{said.read().decode(errors='replace')[-2000:]}")
    before_exec = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # a new process begins with the memory of this one
    peak_mb = max(peak[0] / 2**20, usage.ru_maxrss / 1024 if usage.ru_maxrss > before_exec else 0)
    return {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "system": usage.ru_stime, "peak_mb": peak_mb}


def watch_memory(root: int, peak: list[int], over: threading.Event) -> None:
    while not over.wait(0.1):
        children: dict[int, list[tuple[int, int]]] = {}
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    fields = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                children.setdefault(int(fields[1]), []).append((int(entry), int(fields[21])))
                if int(entry) == root:
                    children.setdefault(-1, []).append((root, int(fields[21])))
        pages, waiting = 0, list(children.get(-1, []))
        while waiting:
            process, resident = waiting.pop()
            pages += resident
            waiting += children.get(process, [])
        peak[0] = max(peak[0], pages * os.sysconf("SC_PAGE_SIZE"))


def score(truth: Path, folder: Path) -> dict[str, float]:
    """Recall and precision at 0.8 of the pairs a contender wrote; if it reports similarities, also whether each is exact."""
    if (folder / "pairs.parquet").exists():
        import pyarrow.parquet as pq

        table = pq.read_table(folder / "pairs.parquet")
        found, similarity = np.stack([table["id_a"].to_numpy(), table["id_b"].to_numpy()], axis=1), table["similarity"].to_numpy()
    elif (folder / "pairs.npy").exists():
        found, similarity = np.load(folder / "pairs.npy"), None
    else:
        return {}
    known = np.load(truth)
    n = int(known["n"])
    keys = known["i"].astype(np.int64) * n + known["j"]
    exact = known["inter"] / (known["si"].astype(float) + known["sj"] - known["inter"])
    mine = np.sort(found, axis=1)
    mine = np.unique(mine[:, 0] * n + mine[:, 1], return_index=True)
    place = np.minimum(np.searchsorted(keys, mine[0]), len(keys) - 1)
    value = np.where(keys[place] == mine[0], exact[place], 0.0)
    hit = np.isin(keys, mine[0])
    near = (exact >= 0.8) & (exact < 0.82)
    out = {
        "pairs": len(mine[0]),
        "recall": float(hit[exact >= 0.8].mean()),
        "recall_at_0.80-0.82": float(hit[near].mean()),
        "precision": float((value >= 0.8).mean()),
    }
    if similarity is not None:
        out["values_exact"] = float((similarity[mine[1]] == value).mean())
    return out


def main() -> None:
    parser = contest.arguments(__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("truth", type=Path)
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    subprocess.run(["cat", options.corpus], stdout=subprocess.DEVNULL, check=True)  # into the page cache
    rows: dict[str, list[dict[str, float]]] = {}
    scores: dict[str, dict[str, float]] = {}
    for turn in range(-1, options.rounds):
        with tempfile.TemporaryDirectory(dir=options.corpus.parent) as name:
            for contender, command in contenders(options.corpus, Path(name)).items():
                if options.only and contender not in options.only:
                    continue
                if not contest.installed(contender, command[0]):
                    continue
                folder = Path(name)
                measured = run(command)
                scores.setdefault(contender, score(options.truth, folder))
                for path in folder.iterdir():
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
                if turn >= 0:
                    rows.setdefault(contender, []).append(measured)
    table = {}
    for contender, runs in rows.items():
        middle, walls = contest.middle(runs), [run["wall"] for run in runs]
        spread = contest.spread(walls)
        table[contender] = {**middle, "walls": walls, **scores[contender]}
        quality = "  ".join(f"{name} {value:.4f}" if isinstance(value, float) else f"{name} {value}" for name, value in scores[contender].items())
        cpu = f"cpu {middle['cpu']:7.1f} s, {middle['system']:.1f} of them the system's"
        print(f"{contender:22} wall {middle['wall']:7.2f} s {spread:15} {cpu}  peak {middle['peak_mb']:6.0f} MB  {quality}", flush=True)
    contest.keep(table, options.json)


if __name__ == "__main__":
    main()
