"""Documents for benchmarks/spark.py with their similar pairs, which are known because they are planted, without the code of likewise.

Documents have 150 to 500 words, drawn by Zipf's law from 50,000. A third of the base documents have one to five copies: 5% of these are equal, 10%
have blocks of 40 words in another order, and in the others words are replaced, removed and added at a rate that spreads the similarity over 0.4 to 1.
Documents of different families share next to no run of five words (two runs are equal with probability 2e-12), so similar pairs are pairs of a
family, and those are compared by their sets of runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import index_data

SHORTEST, LONGEST, RUN, PARAGRAPH, BLOCK = 150, 500, 5, 40, 20_000


def copied(draw: np.random.Generator, words: np.ndarray) -> np.ndarray:
    """A near-copy of a document."""
    kind = draw.random()
    if kind < 0.05:
        return words
    if kind < 0.15:
        parts = np.split(words, range(PARAGRAPH, len(words), PARAGRAPH))
        return np.concatenate([parts[place] for place in draw.permutation(len(parts))])
    similarity = draw.uniform(0.4, 1)
    share = 1 - (2 * similarity / (1 + similarity)) ** (1 / RUN)  # each changed word changes up to RUN runs
    changed = np.flatnonzero(draw.random(len(words)) < share)
    how = draw.random(len(changed))
    words = words.copy()
    words[changed[how < 0.5]] = draw.integers(0, index_data.WORDS, int((how < 0.5).sum()))
    added = changed[how >= 0.75]
    words = np.insert(words, added, draw.integers(0, index_data.WORDS, len(added)))
    removed = changed[(how >= 0.5) & (how < 0.75)]
    return np.delete(words, removed + np.searchsorted(added, removed, side="right"))


def families(n: int) -> Iterator[tuple[list[np.ndarray], np.ndarray]]:
    """The words of n documents, BLOCK at a time, and the families that they are of: a base document and its copies."""
    chance = np.cumsum(1 / (np.arange(index_data.WORDS) + 2.7))
    for begin in range(0, n, BLOCK):
        draw, size = np.random.default_rng(begin), min(BLOCK, n - begin)
        sizes = np.where(draw.random(size) < 1 / 3, draw.integers(2, 7, size), 1)
        family = np.repeat(np.arange(size), sizes)[:size]
        documents: list[np.ndarray] = []
        for number in range(size):
            if number == 0 or family[number] != family[number - 1]:
                base = np.searchsorted(chance / chance[-1], draw.random(draw.integers(SHORTEST, LONGEST + 1))).astype(np.int32)
                documents.append(base)
            else:
                documents.append(copied(draw, base))
        order = draw.permutation(size)
        yield [documents[place] for place in order], family[order]


def runs(words: np.ndarray) -> np.ndarray:
    """64 bits for each different run of words, ascending."""
    mixed = np.zeros(len(words) - RUN + 1, np.uint64)
    for place in range(RUN):
        mixed = (mixed ^ words[place : place + len(mixed)].astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return np.unique(mixed)


def pairs(documents: list[np.ndarray], family: np.ndarray) -> Iterator[tuple[int, int, int, int, int]]:
    """The pairs of documents with a similarity of 0.5 or more: earlier, later, runs in common, runs of the earlier and of the later one."""
    order = np.argsort(family, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(family[order])) + 1):
        sets = [runs(documents[member]) for member in members] if len(members) > 1 else []
        for later, there in enumerate(sets):
            for earlier in range(later):
                both = len(np.intersect1d(sets[earlier], there, assume_unique=True))
                if 2 * both >= len(sets[earlier]) + len(there) - both:
                    yield int(members[earlier]), int(members[later]), both, len(sets[earlier]), len(there)


def prepared(folder: Path, n: int) -> tuple[Path, Path]:
    """The file of n documents, and the file of their similar pairs, as compare.py reads it; both are made if they are not there."""
    file, truth = folder / f"families-{n}.jsonl", folder / f"families-{n}.npz"
    if not truth.exists():
        known, row, found = index_data.vocabulary(), 0, []
        with file.open("w") as out:
            for documents, family in families(n):
                found += [(row + earlier, row + later, *counts) for earlier, later, *counts in pairs(documents, family)]
                for words in documents:
                    out.write(json.dumps({"id": row, "text": " ".join(known[words])}) + "\n")
                    row += 1
        i, j, inter, si, sj = np.array(sorted(found), np.int64).reshape(-1, 5).T
        np.savez(truth, n=n, i=i, j=j, inter=inter, si=si, sj=sj)
    return file, truth


def similar(truth: Path) -> np.ndarray:
    """The pairs of similarity 0.8 or more, int64[m, 2]."""
    known = np.load(truth)
    near = 5 * known["inter"] >= 4 * (known["si"] + known["sj"] - known["inter"])
    return np.stack([known["i"], known["j"]], axis=1)[near]
