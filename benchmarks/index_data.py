"""Documents for benchmarks/index.py, and the exact similar pairs of queries by brute force, without the code of likewise.

Documents have 200 words drawn by Zipf's law from 50,000, so that nearly all of their 196 runs of five words differ. 9.9% of them are an earlier
document with one to six words replaced, 10 apart: a replaced word changes five of the 196 runs, so one with k of them has a similarity of
(196 - 5k) / (196 + 5k), which is 0.81 for 4 and 0.77 for 5. Half of the queries are such variants of documents, the others are new.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

WORDS, LENGTH, RUN, SHARE, BLOCK = 50_000, 200, 5, 0.099, 50_000


def vocabulary() -> np.ndarray:
    """Words of five to nine letters; the first four alone differ."""
    letters = [np.arange(WORDS) * 7919 % 26**4 // 26**place % 26 for place in range(4)]
    return np.array(["".join(chr(97 + each[i]) for each in letters) + "aeiou"[: 1 + i % 5] for i in range(WORDS)], object)


def drawn(draw: np.random.Generator, n: int) -> np.ndarray:
    """The words of n documents, int32[n, LENGTH]."""
    chance = np.cumsum(1 / (np.arange(WORDS) + 2.7))
    return np.searchsorted(chance / chance[-1], draw.random((n, LENGTH))).astype(np.int32)


def varied(draw: np.random.Generator, words: np.ndarray) -> np.ndarray:
    """The documents, each with one to six words replaced."""
    found = words.copy()
    for place, changes in enumerate(draw.integers(1, 7, len(words)).tolist()):
        found[place, 10 + draw.choice(18, changes, replace=False) * 10] = draw.integers(0, WORDS, changes)
    return found


def blocks(n: int) -> Iterator[np.ndarray]:
    """The words of n documents, BLOCK at a time. A variant is of a document of the same block."""
    for begin in range(0, n, BLOCK):
        draw = np.random.default_rng(begin)
        words = drawn(draw, min(BLOCK, n - begin))
        copies = np.flatnonzero(draw.random(len(words)) < SHARE)[1:]
        words[copies] = varied(draw, words[(draw.random(len(copies)) * copies).astype(np.int64)])
        yield words


def queries(n: int, count: int) -> np.ndarray:
    """The words of queries, int32[count, LENGTH]; every second one is a variant of a document."""
    draw = np.random.default_rng(2**40)
    found, chosen = drawn(draw, count), np.sort(draw.integers(0, n, count))
    for number, words in enumerate(blocks(n)):
        here = np.flatnonzero((chosen // BLOCK == number) & (np.arange(count) % 2 == 0))
        found[here] = varied(draw, words[chosen[here] - number * BLOCK])
    return found[draw.permutation(count)]


def written(words: Iterator[np.ndarray], path: Path) -> None:
    known, row = vocabulary(), 0
    with path.open("w") as file:
        for some in words:
            for each in known[some].tolist():
                file.write(f'{{"id":{row},"text":"{" ".join(each)}"}}\n')
                row += 1


def read(path: Path, most: int | None = None) -> list[str]:
    with path.open() as file:
        return [json.loads(line)["text"] for _, line in zip(range(most or 1 << 60), file, strict=False)]


def runs(words: np.ndarray) -> np.ndarray:
    """64 bits for each run of five words, uint64[n, 196], ascending in each row; those that occur again in a row are 0."""
    mixed = np.zeros((len(words), LENGTH - RUN + 1), np.uint64)
    for place in range(RUN):
        mixed = (mixed ^ words[:, place : place + mixed.shape[1]].astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    mixed.sort(axis=1)
    mixed[:, 1:][mixed[:, 1:] == mixed[:, :-1]] = 0
    return mixed


def truth(n: int, asked: np.ndarray, least: float) -> dict[tuple[int, int], float]:
    """All pairs of a query and one of n documents with at least this similarity: the common runs of every query with every document are counted."""
    own = runs(asked)
    sizes = (own > 0).sum(axis=1)
    value, query = own[own > 0], np.nonzero(own)[0]
    order = np.argsort(value, kind="stable")
    value, query = value[order], query[order]
    found: dict[tuple[int, int], float] = {}
    for number, words in enumerate(blocks(n)):
        theirs = runs(words)
        document, flat = np.nonzero(theirs)[0], theirs[theirs > 0]
        first, last = np.searchsorted(value, flat, "left"), np.searchsorted(value, flat, "right")
        hit = np.flatnonzero(last > first)
        times = (last - first)[hit]
        which = np.repeat(first[hit] - np.cumsum(times) + times, times) + np.arange(int(times.sum()))
        pairs, common = np.unique(query[which] * BLOCK + np.repeat(document[hit], times), return_counts=True)
        a, b = pairs // BLOCK, pairs % BLOCK
        similarity = common / (sizes[a] + (theirs > 0).sum(axis=1)[b] - common)
        good = similarity >= least
        found |= dict(zip(zip(a[good].tolist(), (b[good] + number * BLOCK).tolist(), strict=True), similarity[good].tolist(), strict=True))
    return found
