"""The stages that read the two sides of a search: one is held, the other streams past it and is looked up.

`engines.local.Local.read` takes them. The table is one of `stages.known`. Memory depends on the held side alone.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pyarrow as pa

from likewise.items import binary
from likewise.items.normalized import buffers
from likewise.items.places import placer
from likewise.items.wrapped import wrapped
from likewise.job import Job
from likewise.kernels import places, winnow
from likewise.passages.prints import Tokens, hasher, masker, winnower
from likewise.passages.search import MOST_PLACES, Search
from likewise.records import TEXT, Records
from likewise.stages.known import Known
from likewise.stages.sketch import Columns, Stage, of_rows

#: Columns of tokens, of those rows that have common fingerprints: hashes, and first and last character. ``stored``: their number in each row.
TOKEN_COLUMNS = {"hash": "u8", "first": "u4", "last": "u4"}
#: Columns of the held side: fingerprints. ``prints``: their number in each row.
PRINT_COLUMNS = {"print-key": "u8", "print-token": "u4"}
#: Columns of the streamed side: fingerprints that are known, with the number of the key; ``hits``: their number in each row. And how often a key
#: occurs besides.
HIT_COLUMNS = {"hit-token": "u4", "hit-key": "u4"}
MORE_COLUMNS = {"more-key": "u4", "more-times": "u4"}
#: Bytes of text that are cut into tokens at once; each may be a token, which takes up to 64 bytes until it is stored.
AT_ONCE = 1 << 18


def some_at_a_time(job: Job, cut: Callable[[pa.LargeBinaryArray, np.ndarray], Columns]) -> Stage:
    """The stage that cuts the texts of a chunk into tokens, some at a time because of their memory. cut: texts, bool[n]: which to read -> columns."""

    def stage(records: Records) -> Columns:
        live = records.kind == TEXT
        group = binary.parts(records.text)[0][:-1] // AT_ONCE
        edges = [0, *(np.flatnonzero(np.diff(group)) + 1).tolist(), len(records)]
        parts = [cut(records.text[a:b], live[a:b]) for a, b in pairwise(edges)]
        return of_rows(records, job) | {name: np.concatenate([part.pop(name) for part in parts]) for name in tuple(parts[0])}

    return stage


def held(job: Job, search: Search, mark: np.uint64) -> Stage:
    """The stage of the held side: all tokens with their places, and the fingerprints."""
    placed, winnowed = in_characters(search, mark), winnower(search, mark)

    def cut(texts: pa.LargeBinaryArray, live: np.ndarray) -> Columns:
        tokens, chars, columns = placed(texts, live)
        found = winnowed(tokens)
        counts = np.diff(tokens.offsets).astype("u4")
        prints = {"prints": found.counts, "print-key": found.keys, "print-token": found.tokens}
        return {"tokens": counts, "chars": chars, "stored": counts} | columns | prints

    return some_at_a_time(job, cut)


def streamed(job: Job, search: Search, mark: np.uint64, known: Known, base: int, *, capped: bool) -> Stage:
    """The stage of the streamed side: the fingerprints that are known, and the tokens of rows that have any.

    base: the number of the first key of the table among those of all tables. capped: keep only the first MOST_PLACES places of a fingerprint in some
    texts, and the number of the others.
    """
    hashed, masked, winnowed, placed = hasher(search), masker(search, mark), winnower(search, mark), in_characters(search, mark)

    def cut(texts: pa.LargeBinaryArray, live: np.ndarray) -> Columns:
        tokens, chars = hashed(texts, live)
        masked(tokens)
        found = winnowed(tokens)
        places, keys = known.find(found.keys)
        more = {name: np.zeros(0, dtype) for name, dtype in MORE_COLUMNS.items()}
        if capped:
            kept = winnow.first_of_each(keys, MOST_PLACES, np.zeros(len(known.keys), np.uint32))
            beyond, times = np.unique(keys[~kept], return_counts=True)
            more = {"more-key": beyond + np.uint32(base), "more-times": times.astype("u4")}
            places, keys = places[kept], keys[kept]
        hits = np.bincount(np.repeat(np.arange(len(texts)), found.counts)[places], minlength=len(texts)).astype("u4")
        some = np.flatnonzero(hits)
        stored = np.zeros(len(texts), "u4")
        columns = {name: np.zeros(0, dtype) for name, dtype in TOKEN_COLUMNS.items()}
        if len(some):
            again, _, columns = placed(texts.take(wrapped(some)), np.ones(len(some), bool), chars[some])
            stored[some] = np.diff(again.offsets)
        counts = np.diff(tokens.offsets).astype("u4")
        found_here = {"hits": hits, "hit-key": keys + np.uint32(base), "hit-token": found.tokens[places], **more}
        return {"tokens": counts, "chars": chars, "stored": stored} | columns | found_here

    return some_at_a_time(job, cut)


def in_characters(search: Search, mark: np.uint64) -> Callable[..., tuple[Tokens, np.ndarray, Columns]]:
    """A function (texts, bool[n]: which to read) -> (Tokens, code points of each text or ids, TOKEN_COLUMNS).

    A third argument is the code points if they are known.
    """
    placed, masked = placer(search.method, search.seed), masker(search, mark)
    of_ids = search.method.unit == "tokens"

    def cut(texts: pa.LargeBinaryArray, live: np.ndarray, chars: np.ndarray | None = None) -> tuple[Tokens, np.ndarray, Columns]:
        offsets, hashes, begin, end = placed(texts, live)
        tokens = Tokens(hashes, offsets)
        masked(tokens)
        data, start, length = buffers(texts, live)
        if chars is None:
            chars = length // 8 if of_ids else places.code_points(data, start, np.arange(len(texts)), length)
        wide = np.repeat(np.flatnonzero(chars != length), np.diff(offsets)[chars != length])  # the texts of tokens in texts that are not ASCII
        if len(wide) and not of_ids:
            here = np.repeat(chars != length, np.diff(offsets))
            begin[here], end[here] = (places.code_points(data, start, wide, at[here]) for at in (begin, end))
        return tokens, chars.astype("u4"), {"hash": hashes, "first": begin.astype("u4"), "last": end.astype("u4")}

    return cut
