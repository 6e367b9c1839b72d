"""The stages of a search for exact repeats: the first counts fingerprints, the second keeps the tokens around those that occur twice."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from likewise.items.places import characters, placer
from likewise.items.wrapped import wrapped
from likewise.job import Job
from likewise.kernels import repeats as kernels
from likewise.passages.prints import SUSPECT, hasher, winnower
from likewise.passages.search import Search
from likewise.passages.streams import TOKEN_COLUMNS, some_at_a_time
from likewise.stages.sketch import Columns, Stage

#: Columns of stretches: the first token and the number of tokens. ``stretches``: their number in each row; TOKEN_COLUMNS has their tokens.
STRETCH_COLUMNS = {"stretch-first": np.dtype("u4"), "stretch-size": np.dtype("u4")}
PRINT = np.dtype("u8")
#: No token has this hash.
NOTHING = SUSPECT


def counted(job: Job, search: Search) -> Stage:
    """The first stage: the column ``print``, the fingerprints of all rows."""
    hashed, winnowed = hasher(search), winnower(search, NOTHING)

    def cut(texts: pa.LargeBinaryArray, live: np.ndarray) -> Columns:
        tokens, chars = hashed(texts, live)
        return {"tokens": np.diff(tokens.offsets).astype("u4"), "chars": chars, "print": winnowed(tokens).keys}

    return some_at_a_time(job, cut)


def stretched(job: Job, search: Search, seen: np.ndarray) -> Stage:
    """The second stage: the stretches around fingerprints of which there are two. seen: uint8, counts (kernels.repeats.tally)."""
    hashed, winnowed, placed = hasher(search), winnower(search, NOTHING), placer(search.method, search.seed)
    of_ids = search.method.unit == "tokens"

    def cut(texts: pa.LargeBinaryArray, live: np.ndarray) -> Columns:
        tokens, chars = hashed(texts, live)
        found, counts = winnowed(tokens), np.diff(tokens.offsets)
        first, size = np.empty(len(found.keys), np.uint32), np.empty(len(found.keys), np.uint32)
        numbers = kernels.mark(found.counts, found.keys, found.tokens, counts, seen, search.k, search.run, first, size)
        stretches = int(numbers.sum())
        first, size = first[:stretches].copy(), size[:stretches].copy()
        some = np.flatnonzero(numbers)
        columns = {name: np.zeros(0, dtype) for name, dtype in TOKEN_COLUMNS.items()}
        if len(some):
            columns = tokens_of(texts.take(wrapped(some)), numbers[some], first, size)
        return {"tokens": counts.astype("u4"), "chars": chars, "stretches": numbers, "stretch-first": first, "stretch-size": size} | columns

    def tokens_of(texts: pa.LargeBinaryArray, numbers: np.ndarray, first: np.ndarray, size: np.ndarray) -> Columns:
        """The tokens of the stretches of some texts, numbers of each."""
        offsets, hashes, begin, end = placed(texts, np.ones(len(texts), bool))
        rows = np.repeat(np.arange(len(texts)), numbers)
        ends = np.cumsum(size, dtype=np.int64)
        where = np.arange(int(ends[-1])) + np.repeat(offsets[rows] + first - (ends - size), size)
        hashes, begin, end = hashes[where], begin[where], end[where]
        if not of_ids:
            rows = np.repeat(rows, size)
            begin, end = characters(texts, rows, begin), characters(texts, rows, end)
        return {"hash": hashes, "first": begin.astype("u4"), "last": end.astype("u4")}

    return some_at_a_time(job, cut)
