#!/usr/bin/env python3
"""Which of 2,000 queries are contained in which documents of a corpus: whole processes, in turn, with recall, precision and peak memory.

    python benchmarks/containment.py TEXTS.jsonl FOLDER [--documents 25000 50000 100000] [--rounds 3] [--only NAME ...] [--json FILE]

TEXTS: records with ``text``, such as `texts.py` writes. They are cut to documents of 350 words; if there are too few, others have the words of one in
random order. cut: queries of 50 to 500 words of a document and the one after it, in a third of which one word in 40 is replaced. template: the
queries are one text of 400 words, each with 4 others of its own; every fifth document has 100 words of that text, and one in 200 has 345. Truth is
the result of the dictionary, a peer in plain Python. likewise runs in the environment that runs this; datasketch in $BENCH_VENVS/datasketch.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from multiprocessing import Process
from pathlib import Path

import numpy as np

import contest
from compare import LIKEWISE, run
from contest import VENVS

QUERIES, LENGTH, THRESHOLD = 2000, 350, "0.8"
PEERS = Path(__file__).resolve().parent / "peers"
Words = list[str]


def documents(texts: Path, number: int, draw: random.Random) -> list[Words]:
    found: list[Words] = []
    with texts.open() as lines:
        for line in lines:
            words = json.loads(line)["text"].lower().split()
            found += [words[at : at + LENGTH] for at in range(0, len(words) - LENGTH // 2, LENGTH)]
    draw.shuffle(found)
    return found[:number] + [draw.sample(words := draw.choice(found), len(words)) for _ in range(number - len(found))]


def cut(corpus: list[Words], draw: random.Random) -> Iterator[Words]:
    for query in range(QUERIES):
        place = draw.randrange(len(corpus) - 1)
        at, words = draw.randrange(100), [*corpus[place], *corpus[place + 1]]
        words = words[at : at + draw.randint(50, 500)]
        if query % 3 == 0:
            words[::40] = [f"{draw.random()}" for _ in words[::40]]
        yield words


def template(corpus: list[Words], draw: random.Random) -> Iterator[Words]:
    text = [f"template{draw.randrange(10**6)}" for _ in range(400)]
    for number, document in enumerate(corpus[::5]):
        size = 100 if number % 40 else 345
        at, start = draw.randrange(400 - size), 50 if number % 40 else 0
        document[start : start + size] = text[at : at + size]
    for _ in range(QUERIES):
        words = text.copy()
        for place in draw.sample(range(400), 4):
            words[place] = f"{draw.random()}"
        yield words


KINDS = {"cut": cut, "template": template}


def write(path: Path, texts: Iterator[Words] | list[Words]) -> None:
    with path.open("w") as file:
        file.writelines(json.dumps({"id": number, "text": " ".join(words)}, ensure_ascii=False) + "\n" for number, words in enumerate(texts))


def made(texts: Path, folder: Path, kind: str, number: int) -> None:
    """Write the queries and the corpus."""
    draw = random.Random(number)
    found = documents(texts, number, draw)
    write(folder / "queries.jsonl", KINDS[kind](found, draw))
    write(folder / "corpus.jsonl", found)


def contenders(queries: Path, corpus: Path, folder: Path) -> dict[str, list[str]]:
    setting = ["--by", "whitespace:5/containment", "--threshold", THRESHOLD, "-q"]
    given = [str(queries), str(corpus), THRESHOLD, str(folder / "pairs.npy")]
    return {
        "dictionary": [sys.executable, str(PEERS / "dictionary_pairs.py"), *given],
        "likewise": [*LIKEWISE, "pairs", str(queries), "--against", str(corpus), "-o", str(folder / "pairs.parquet"), *setting],
        "LSH Ensemble": [
            str(VENVS / "datasketch" / "bin" / "python"),
            str(PEERS / "ensemble_containment.py"),
            str(corpus),
            str(queries),
            str(folder / "pairs.npy"),
        ],
    }


def pairs(folder: Path) -> np.ndarray:
    """The pairs that a contender wrote, as one number each, ascending."""
    if (table := folder / "pairs.parquet").exists():
        import pyarrow.parquet as pq

        read = pq.read_table(table)
        a, b = read["id_a"].to_numpy(), read["id_b"].to_numpy()
    else:
        a, b = np.load(folder / "pairs.npy").T
    return np.unique(a.astype(np.int64) << 32 | b.astype(np.int64))


def main() -> None:
    parser = contest.arguments(__doc__)
    parser.add_argument("texts", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, nargs="*", default=[25_000, 50_000, 100_000])
    parser.add_argument("--kinds", nargs="*", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    table = []
    for kind in options.kinds:
        for number in options.documents:
            making = Process(target=made, args=(options.texts, options.folder, kind, number))  # its memory would count as that of the contenders
            making.start()
            making.join()
            queries, corpus = (options.folder / f"{name}.jsonl" for name in ("queries", "corpus"))
            subprocess.run(["cat", corpus], stdout=subprocess.DEVNULL, check=True)  # into the page cache
            megabytes, truth = corpus.stat().st_size / 1e6, np.zeros(0, np.int64)
            runs: dict[str, list[dict[str, float]]] = {}
            for turn in range(options.rounds):
                for name in contenders(queries, corpus, options.folder):
                    if (options.only and name not in options.only) or (turn and name != "likewise"):
                        continue
                    with tempfile.TemporaryDirectory(dir=options.folder) as out:
                        command = contenders(queries, corpus, Path(out))[name]
                        if not contest.installed(name, command[0]):
                            continue
                        figures = run(command)
                        found = pairs(Path(out))
                    truth = found if name == "dictionary" else truth
                    hits = len(np.intersect1d(found, truth, assume_unique=True))
                    score = {"pairs": len(found), "recall": hits / max(1, len(truth)), "precision": hits / max(1, len(found))}
                    runs.setdefault(name, []).append({**figures, **score})
            for name, each in runs.items():
                row = contest.middle(each)
                table.append({"kind": kind, "documents": number, "MB": megabytes, "contender": name, **row})
                cost = f"{row['wall']:7.2f} s {megabytes / row['wall']:6.1f} MB/s  CPU {row['cpu']:7.2f} s  {row['peak_mb']:6.0f} MB"
                quality = f"{row['pairs']:9,.0f} pairs  recall {row['recall']:.4f}  precision {row['precision']:.4f}"
                print(f"{kind:9}{number:8,} {name:14}{cost}  {quality}", flush=True)
    contest.keep(table, options.json)


if __name__ == "__main__":
    main()
