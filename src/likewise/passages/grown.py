"""Passages from the fingerprints that suspects and corpus have in common.

The fingerprints of the suspects are ordered by row and token, those of the corpus by key. Nothing depends on which side was held in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from likewise.kernels import passages as kernels
from likewise.kernels import winnow
from likewise.passages.prints import Tokens
from likewise.passages.search import MOST_PLACES, Search
from likewise.stages.workers import ALONE, Workers

#: Common k-grams of a task, unless one pair of texts has more.
AT_ONCE = 1 << 20
NO_PASSAGES = np.zeros((0, 7), np.int64)


class Suspects(NamedTuple):
    """The fingerprints of suspects that stand in the corpus. Row i has those from offsets[i] to offsets[i + 1]."""

    offsets: np.ndarray  # int64[n + 1]
    tokens: np.ndarray  # uint32[m], ascending in a row
    keys: np.ndarray  # uint32[m]: their numbers among the keys of the held side


class Places(NamedTuple):
    """The places in the corpus that are followed. Key q has those from begins[q] to begins[q + 1], in input order."""

    begins: np.ndarray  # int64[keys + 1]
    rows: np.ndarray  # uint32[m]
    tokens: np.ndarray  # uint32[m]


class Batch(NamedTuple):
    """Some suspects, and the rows of the corpus that they are compared with."""

    rows: np.ndarray  # int64[n]
    low: int
    high: int
    hits: int  # common k-grams


def near_repeats(suspects: Suspects, keys: int, search: Search) -> np.ndarray:
    """bool[m]: fingerprints of suspects that are not followed, since the text repeats itself: after MOST_PLACES of a key each ``run`` tokens or less
    from the one before. Without this a text of one repeated word would take quadratic time."""
    last, times = np.full(keys, -1, np.int64), np.zeros(keys, np.uint32)
    return kernels.near_repeats(*suspects, search.run, MOST_PLACES, last, times)


def first_places(offsets: np.ndarray, tokens: np.ndarray, keys: np.ndarray, many: int) -> Places:
    """The first MOST_PLACES places of each key in the corpus, whose fingerprints are ordered as in `Suspects`. many: the number of keys."""
    most = np.minimum(np.bincount(keys, minlength=many), MOST_PLACES)
    begins = np.concatenate(([0], np.cumsum(most, dtype=np.int64)))
    out = np.empty(begins[-1], np.uint32), np.empty(begins[-1], np.uint32)
    winnow.by_key(offsets, tokens, keys, begins[:-1].copy(), begins[1:], *out)
    return Places(begins, *out)


def batches(suspects: Suspects, left_out: np.ndarray, places: Places, corpus: int) -> Iterator[Batch]:
    """Yield suspects with together at most AT_ONCE common k-grams; one with more comes with some rows of the corpus at a time."""
    hits = kernels.hits_of_texts(suspects.offsets, suspects.keys, left_out, places.begins)
    total, begin = 0, 0
    ends = np.cumsum(hits)
    while begin < len(hits):
        end = int(np.searchsorted(ends, total + AT_ONCE, side="right"))
        if end > begin:
            rows = begin + np.flatnonzero(hits[begin:end])
            if len(rows):
                yield Batch(rows, 0, corpus, int(ends[end - 1] - total))
        else:
            end = begin + 1
            each = np.zeros(corpus, np.int64)
            kernels.hits_of_rows(begin, suspects.offsets, suspects.keys, left_out, places.begins, places.rows, each)
            up_to = np.cumsum(each)
            low = 0
            while low < corpus and up_to[-1] > (before := up_to[low - 1] if low else 0):
                high = max(low + 1, int(np.searchsorted(up_to, before + AT_ONCE, side="right")))
                yield Batch(np.array([begin]), low, high, int(up_to[high - 1] - before))
                low = high
        total, begin = int(ends[end - 1]), end


def grown(
    suspects: Suspects,
    places: Places,
    same: np.ndarray,
    a: Tokens,
    b: Tokens,
    search: Search,
    *,
    left_out: np.ndarray,
    workers: Workers = ALONE,
) -> np.ndarray:
    """The passages: int64[m, 7] of suspect, first token and end, row of the corpus, first token and end, agreed tokens; in this order.

    same: int64[suspects], the row of the corpus that is the same record, or -1. a, b: the tokens of suspects and of the corpus; rows without common
    fingerprints may have none. Advances by the suspects' fingerprints.
    """
    corpus = len(b.offsets) - 1
    limits = (search.run, search.gap, search.sync, search.threshold.numerator, search.threshold.denominator)

    def task(batch: Batch) -> np.ndarray:
        text, where, at = np.empty(batch.hits, np.uint32), np.empty(batch.hits, np.uint64), np.empty(batch.hits, np.uint32)
        met = kernels.meet(batch.rows, *suspects, left_out, same, *places, batch.low, batch.high, search.k, text, where, at)
        text, where, at = text[:met], where[:met], at[:met]
        order = np.lexsort((where, text))  # stable: by token last
        found = kernels.grow(text[order], where[order], at[order], batch.rows, *a, *b, *limits)
        workers.advance(int((suspects.offsets[batch.rows + 1] - suspects.offsets[batch.rows]).sum()) if batch.high == corpus else 0)
        return found

    found = np.concatenate([NO_PASSAGES, *workers.run(task, batches(suspects, left_out, places, corpus))])
    return found[np.lexsort(found[:, [5, 2, 4, 3, 1, 0]].T)]
