#!/usr/bin/env python3
"""`dedup NEW --against OLD` beside `dedup` of both: user CPU time, wall time, memory, recall and precision; each run in a separate process.

    python benchmarks/against.py FOLDER [--documents 100000] [--rounds 3] [--json FILE]

Two files of synthetic documents of 100 words. plain: three in ten new ones are an old one, two of them with a word replaced, so that 91 of 101
shingles agree. hot: half of each document is the same boilerplate (banner), so buckets are overfull with dissimilar documents; a word replaced in the
other half leaves 91 of 101 shingles. Recall: the share of these documents that is removed; precision: the share of the removed ones that are such.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

import contest
from compare import LIKEWISE, run
from growth import WORDS, vocabulary

BUILD = "import pathlib, sys, likewise as lw; lw.Index.build(sys.argv[1], pathlib.Path(sys.argv[2]), by='words:5', threshold=0.8, overwrite=True)"
LENGTH, SETTING = 100, ["--by", "words:5", "--threshold", "0.8", "-q"]


def sides(kind: str, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The words of the old and of the new documents, int64[n, LENGTH], and bool[n]: the new ones that are an old one, or nearly so."""
    draw = np.random.default_rng(n)
    old, new = (draw.integers(0, WORDS, (n, LENGTH)) for _ in range(2))
    known = draw.random(n) < 0.3
    new[known] = old[draw.integers(0, n, int(known.sum()))]
    changed = np.flatnonzero(known & (draw.random(n) < 2 / 3))
    new[changed, draw.integers(LENGTH // 2 + 5, LENGTH - 5, len(changed))] = draw.integers(0, WORDS, len(changed))
    if kind == "hot":
        old[:, : LENGTH // 2] = new[:, : LENGTH // 2] = np.arange(LENGTH // 2)
    return old, new, known


def lines(words: np.ndarray) -> Iterator[str]:
    known = vocabulary()
    for row, each in enumerate(words):
        yield json.dumps({"id": row, "text": " ".join(known[each])}) + "\n"


def made(kind: str, n: int, files: dict[str, Path]) -> np.ndarray:
    """Write both files, and return `sides`[2]. Their words are freed: a process that is started counts this one's memory as its own."""
    old, new, known = sides(kind, n)
    for name, words in (("old", old), ("new", new)):
        with files[name].open("w") as file:
            file.writelines(lines(words))
    return known


def main() -> None:
    parser = contest.arguments(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=100_000)
    options = parser.parse_args()
    table = []
    for kind in ("plain", "hot"):
        files = {name: options.folder / f"{name}.jsonl" for name in ("old", "new")}
        known = made(kind, options.documents, files)
        out, both = options.folder / "against.out", [str(path) for path in files.values()]
        index = options.folder / "old.lw"
        run([sys.executable, "-P", "-c", BUILD, str(index), str(files["old"])])
        against = [*LIKEWISE, "dedup", both[1], "--against", both[0], "-o", str(out), *SETTING]
        contenders = {
            "dedup of both": [*LIKEWISE, "dedup", *both, "-o", str(out), *SETTING],
            "dedup of the new ones": [*LIKEWISE, "dedup", both[1], "-o", str(out), *SETTING],
            "--against": against,
            "--against --also-inside": [*against, "--also-inside"],
            "--against an index": [*LIKEWISE, "dedup", both[1], "--against", str(index), "-o", str(out), "-q"],
            "pairs --against": [*LIKEWISE, "pairs", both[1], "--against", both[0], "-o", str(out.with_suffix(".parquet")), "--overwrite", *SETTING],
        }
        runs: dict[str, list[dict[str, float]]] = {name: [] for name in contenders}
        for _ in range(options.rounds + 1):  # the first, with cold caches, is not counted
            for name, command in contenders.items():
                shutil.rmtree(out, ignore_errors=True)
                runs[name].append(run(command) | scores(out, known))
        first = contest.middle(runs["dedup of both"][1:])
        for name, found in runs.items():
            row = {"kind": kind, "run": name, **contest.middle(found[1:])}
            ratio = (row["cpu"] - row["system"]) / (first["cpu"] - first["system"])
            table.append({**row, "ratio": ratio})
            said = f"recall {row['recall']:.4f}  precision {row['precision']:.4f}" if name.startswith("--") else ""
            print(
                f"{kind:6} {name:24} {row['wall']:6.2f} s  {row['cpu'] - row['system']:6.2f} s CPU  {ratio:.2f}  {row['peak_mb']:5.0f} MB  {said}",
                flush=True,
            )
    for path in (*files.values(), out.with_suffix(".parquet")):
        path.unlink()
    for folder in (out, index):
        shutil.rmtree(folder, ignore_errors=True)
    contest.keep(table, options.json)


def scores(out: Path, known: np.ndarray) -> dict[str, float]:
    """Recall and precision of the removal of new documents that are an old one; 0 for runs that write no folder."""
    if not (out / "removed.parquet").exists():
        return {"recall": 0.0, "precision": 0.0}
    found = pq.read_table(out / "removed.parquet", columns=["id", "source"])
    removed = found["id"].to_numpy()[np.asarray(found["source"].to_pylist(), object) == "new.jsonl"]
    right = int(known[removed].sum())
    return {"recall": right / int(known.sum()), "precision": right / max(1, len(removed))}


if __name__ == "__main__":
    sys.exit(main())
