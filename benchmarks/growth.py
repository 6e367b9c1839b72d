#!/usr/bin/env python3
"""Growth of time and memory with the number of documents: `likewise dedup` of synthetic documents, each run in a separate process.

    python benchmarks/growth.py FOLDER [--most 1000000] [--kinds short hot same] [--rounds 1] [--json FILE]

short: 30 words each; one in five is an earlier one with a word replaced. hot: half of each document is the same boilerplate, so buckets are
overfull with dissimilar documents. same: nine in ten are copies of one in a thousand. Time per document is the time of a run minus that of one on
three documents, which is nearly all start-up. The table also has user CPU time and the time of the floor
(compare.py). FOLDER needs 600 bytes per document.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import contest
from compare import LIKEWISE, floor, run

WORDS, LENGTH, BLOCK = 50_000, 30, 100_000
SETTING = ["--by", "words:5", "--threshold", "0.8", "-q"]


def vocabulary() -> np.ndarray:
    draw = np.random.default_rng(0)
    letters = draw.integers(97, 123, (WORDS, 9), dtype=np.uint8)
    return np.array(["".join(map(chr, row[: 3 + i % 7])) for i, row in enumerate(letters)], object)


def short(draw: np.random.Generator, n: int) -> np.ndarray:
    words = draw.zipf(1.3, (n, LENGTH)) % WORDS
    copies = np.flatnonzero(draw.random(n) < 0.2)[1:]
    words[copies] = words[(draw.random(len(copies)) * copies).astype(np.int64)]
    words[copies, draw.integers(0, LENGTH, len(copies))] = draw.integers(0, WORDS, len(copies))
    return words


def hot(draw: np.random.Generator, n: int) -> np.ndarray:
    words = short(draw, n)
    words[:, : LENGTH // 2] = np.arange(LENGTH // 2)
    return words


def same(draw: np.random.Generator, n: int) -> np.ndarray:
    words, originals = short(draw, n), short(np.random.default_rng(1), 1000)
    copies = np.flatnonzero(draw.random(n) < 0.9)
    words[copies] = originals[draw.integers(0, len(originals), len(copies))]
    return words


KINDS = {"short": short, "hot": hot, "same": same}


def lines(kind: str, n: int) -> Iterator[str]:
    known, draw = vocabulary(), np.random.default_rng(n)
    for begin in range(0, n, BLOCK):
        for row, words in enumerate(known[KINDS[kind](draw, min(BLOCK, n - begin))], begin):
            yield f'{{"id":{row},"text":"{" ".join(words)}"}}\n'


def main() -> None:
    parser = contest.arguments(__doc__, rounds=1)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--most", type=int, default=10**6)
    parser.add_argument("--kinds", nargs="*", default=list(KINDS))
    options = parser.parse_args()
    sizes = [3, *(size for size in (10**5, 10**6, 10**7) if size <= options.most)]
    if not contest.installed("floor", floor(options.folder, options.folder)[0]):
        raise SystemExit(1)
    corpus, out = options.folder / "growth.jsonl", options.folder / "growth.out"
    dedup = [*LIKEWISE, "dedup", str(corpus), "-o", str(out), *SETTING]
    table, start, floor_start = [], None, None
    for kind in options.kinds:
        for size in sizes if start is None else sizes[1:]:
            with corpus.open("w") as file:
                file.writelines(lines(kind, size))
            runs, floors = [], []
            for _ in range(options.rounds + (start is None)):  # the first, with cold caches, is not counted
                floors.append(run(floor(corpus, options.folder)))
                runs.append(run(dedup))
                shutil.rmtree(out)
            found, below = contest.middle(runs[-options.rounds :]), contest.middle(floors[-options.rounds :])
            start, floor_start = start or found, floor_start or below
            row = {"kind": kind, "documents": size, "bytes": corpus.stat().st_size, **found, **each(found, start, size)}
            table.append({**row, "floor_us_each": each(below, floor_start, size)["us_each"]})
            said = f"{kind:6} {size:10,} {found['wall']:8.2f} s {found['peak_mb']:7.0f} MB "
            print(said + "  ".join(f"{name} {value:.2f}" for name, value in table[-1].items() if name.endswith("_each")), flush=True)
    corpus.unlink()
    (options.folder / "floor").unlink()
    contest.keep(table, options.json)


def each(found: dict[str, float], start: dict[str, float], size: int) -> dict[str, float]:
    """The cost of a document: microseconds of wall time and of user CPU time, and bytes of memory."""
    more = {name: (found[name] - start[name]) / size for name in found}
    return {"us_each": 1e6 * more["wall"], "own_us_each": 1e6 * (more["cpu"] - more["system"]), "bytes_each": 2**20 * more["peak_mb"]}


if __name__ == "__main__":
    sys.exit(main())
