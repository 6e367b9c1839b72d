"""N-grams of documents that stand in test items, too: what is cut out of the documents for them, and how much of each item was seen.

Two stages read the collections: `named` the test items, whose n-grams become a table, then `collided` both, which keeps what stands in the table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from likewise.items.normalized import buffers
from likewise.items.places import placer
from likewise.items.wrapped import wrapped
from likewise.job import Job
from likewise.kernels import collisions as kernels
from likewise.kernels.places import code_points
from likewise.passages.prints import CORPUS, Prints, hasher, masker, winnower
from likewise.passages.search import Search
from likewise.records import TEXT, Records
from likewise.stages.known import Known
from likewise.stages.sketch import Columns, Stage, of_rows

#: Columns of the n-grams that stand in the table: the number of the key, the first token, and the bytes between which they are cut out.
#: ``hits``: their number in each row.
HIT_COLUMNS = {"hit-key": "u4", "hit-token": "u4", "hit-low": "u4", "hit-high": "u4"}
#: Columns of the tokens of rows with such n-grams: first character and end. ``stored``: their number in each row.
TOKEN_COLUMNS = {"token-first": "u4", "token-last": "u4"}
#: Pairs of n-grams of documents and items that are compared at once.
AT_ONCE = 1 << 22


class Hits(NamedTuple):
    """N-grams of rows that stand in the table, by row and token. Places are those of the whole n-gram."""

    row: np.ndarray  # int64[m]
    token: np.ndarray  # int64[m]
    key: np.ndarray  # uint32[m]
    first: np.ndarray  # int64[m]: characters
    last: np.ndarray  # int64[m]
    low: np.ndarray  # int64[m]: bytes, with the characters around
    high: np.ndarray  # int64[m]

    def where(self, chosen: np.ndarray | slice) -> Hits:
        """Some of them, int64[k] or bool[m]."""
        return Hits(*(column[chosen] for column in self))


def hashed_grams(search: Search) -> Callable[[Records], tuple[np.ndarray, np.ndarray, Prints]]:
    """A function of records: (numbers of tokens uint32[n], of characters uint32[n], their n-grams)."""
    hashed, masked, winnowed = hasher(search), masker(search, CORPUS), winnower(search, CORPUS)

    def found(records: Records) -> tuple[np.ndarray, np.ndarray, Prints]:
        tokens, chars = hashed(records.text, records.kind == TEXT)
        masked(tokens)
        return np.diff(tokens.offsets).astype("u4"), chars, winnowed(tokens)

    return found


def named(job: Job, search: Search) -> Stage:
    """The stage that reads the n-grams of test items, ``gram``."""
    grams = hashed_grams(search)

    def stage(records: Records) -> Columns:
        tokens, chars, found = grams(records)
        return of_rows(records, job) | {"tokens": tokens, "chars": chars, "gram": found.keys}

    return stage


def collided(job: Job, search: Search, known: Known, around: int) -> Stage:
    """The stage that keeps the n-grams that are in the table, with the places of ``around`` characters before and after each."""
    grams, placed = hashed_grams(search), placer(search.method, search.seed)

    def stage(records: Records) -> Columns:
        n = len(records)
        tokens, chars, found = grams(records)
        places, keys = known.find(found.keys)
        hits = np.bincount(np.repeat(np.arange(n), found.counts)[places], minlength=n).astype("u4")
        some = np.flatnonzero(hits)
        stored = np.zeros(n, "u4")
        columns = {name: np.zeros(0, dtype) for name, dtype in (TOKEN_COLUMNS | HIT_COLUMNS).items()}
        if len(some):
            texts = records.text.take(wrapped(some))
            offsets, _, begin, end = placed(texts, np.ones(len(some), bool))
            stored[some] = np.diff(offsets)
            data, start, length = buffers(texts, np.ones(len(some), bool))
            of_token = np.repeat(np.arange(len(some)), np.diff(offsets))
            first, last = code_points(data, start, of_token, begin), code_points(data, start, of_token, end)
            row = np.repeat(np.arange(len(some)), hits[some])
            begins = offsets[row] + found.tokens[places]
            window = (
                np.maximum(first[begins] - around, 0),
                np.minimum(last[begins + search.run - 1] + around, chars[some].astype(np.int64)[row]),
            )
            low, high = (kernels.bytes_of(data, start, length, row, at) for at in window)
            made = (first, last, keys, found.tokens[places], low, high)
            columns = {name: values.astype(dtype) for (name, dtype), values in zip((TOKEN_COLUMNS | HIT_COLUMNS).items(), made, strict=True)}
        sizes = {"bytes": buffers(records.text, records.kind == TEXT)[2].astype("i8"), "hits": hits, "stored": stored}
        return of_rows(records, job) | {"tokens": tokens, "chars": chars} | sizes | columns

    return stage


class Cuts(NamedTuple):
    """The parts that are cut out of documents, by row and place; nothing overlaps."""

    row: np.ndarray  # int64[m]
    begin: np.ndarray  # int64[m]: characters
    end: np.ndarray  # int64[m]
    low: np.ndarray  # int64[m]: bytes
    high: np.ndarray  # int64[m]; -1: the end of the text
    hit: np.ndarray  # int64[m]: the first n-gram in it; of a piece that is too short, that of a passage beside it
    ends: np.ndarray  # int64[m]: the end of the n-grams in it
    short: np.ndarray  # bool[m]: such a piece


def cuts(hits: Hits, chars: np.ndarray, around: int, piece: int) -> tuple[Cuts, np.ndarray]:
    """The cuts, and the number of pieces into which each row falls, int64[rows]: 0 without a cut.

    chars: int64[rows]. Each n-gram goes with ``around`` characters on both sides; what overlaps or touches is one cut. Of the pieces between, those
    of fewer than ``piece`` characters are cut out too; all that are not empty count.
    """
    n = len(hits.row)
    begin, end = np.maximum(hits.first - around, 0), np.minimum(hits.last + around, chars[hits.row])
    opens = np.ones(n, bool)
    opens[1:] = (hits.row[1:] != hits.row[:-1]) | (begin[1:] > end[:-1])
    a = np.flatnonzero(opens)
    ends = np.append(a[1:], n)[: len(a)]
    b = ends - 1
    whole = Cuts(hits.row[a], begin[a], end[b], hits.low[a], hits.high[b], a, ends, np.zeros(len(a), bool))
    of_row = np.ones(len(a), bool)
    of_row[1:] = whole.row[1:] != whole.row[:-1]
    last = np.append(of_row[1:], True)[: len(a)]
    before = np.where(of_row, 0, np.append(0, whole.end[:-1])[: len(a)]), np.where(of_row, 0, np.append(0, whole.high[:-1])[: len(a)])
    front = Cuts(whole.row, before[0], whole.begin, before[1], whole.low, a, ends, np.ones(len(a), bool))
    size = chars[whole.row[last]]
    back = Cuts(*(column[last] for column in whole))._replace(begin=whole.end[last], end=size, low=whole.high[last], short=np.ones(len(size), bool))
    back = back._replace(high=np.full(len(size), -1))
    pieces = np.zeros(len(chars), np.int64)
    found = [whole]
    for each in (front, back):
        length = each.end - each.begin
        pieces += np.bincount(each.row[length > 0], minlength=len(chars))
        found.append(Cuts(*(column[(length > 0) & (length < piece)] for column in each)))
    joined = Cuts(*(np.concatenate(columns) for columns in zip(*found, strict=True)))
    order = np.lexsort((joined.begin, joined.row))
    return Cuts(*(column[order] for column in joined)), pieces


def documents_of(hits: Hits, keys: int) -> np.ndarray:
    """The number of rows that have each key: int64[keys]."""
    order = np.lexsort((hits.row, hits.key))
    row, key = hits.row[order], hits.key[order]
    new = np.ones(len(row), bool)
    new[1:] = (row[1:] != row[:-1]) | (key[1:] != key[:-1])
    return np.bincount(key[new], minlength=keys)


class Seen(NamedTuple):
    """How much of each test item was seen in documents."""

    ngrams: np.ndarray  # int64[n]
    ngrams_seen: np.ndarray  # int64[n]
    tokens_seen: np.ndarray  # int64[n]: in n-grams that were seen
    longest: np.ndarray  # int64[n]: tokens of the longest stretch of such tokens
    documents: np.ndarray  # int64[n]: that have one of the n-grams
    at: np.ndarray  # int64[n]: the first n-gram of documents that the item has, of the first document; -1: none
    there: np.ndarray  # int64[n]: the first n-gram of the item that is equal to it


def seen(items: Hits, tokens: np.ndarray, run: int, live: np.ndarray, documents: Hits) -> Seen:
    """How much of each test item was seen.

    items: all n-grams of the items, whose rows count from 0; tokens: int64[n], of each. live: bool[keys], which n-grams were seen. documents: those
    n-grams of documents.
    """
    n = len(tokens)
    there = live[items.key]
    offsets = np.concatenate(([0], np.cumsum(tokens)))
    edges = np.zeros(int(offsets[-1]) + run + 1, np.int64)
    first = (offsets[items.row] + items.token)[there]
    np.add.at(edges, first, 1)
    np.add.at(edges, first + run, -1)
    covered = np.cumsum(edges[: int(offsets[-1])]) > 0
    row = np.repeat(np.arange(n), tokens)
    opens = covered.copy()
    opens[1:] &= ~covered[:-1] | (row[1:] != row[:-1])
    longest = np.zeros(n, np.int64)
    if covered.any():
        stretch = np.cumsum(opens)[covered] - 1
        np.maximum.at(longest, row[opens], np.bincount(stretch))
    number, at, place = shared(items.where(there), np.flatnonzero(there), n, documents)
    return Seen(
        np.bincount(items.row, minlength=n),
        np.bincount(items.row[there], minlength=n),
        np.bincount(row[covered], minlength=n),
        longest,
        number,
        at,
        place,
    )


def shared(items: Hits, numbers: np.ndarray, n: int, documents: Hits) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each item the number of documents with one of its n-grams, the first such n-gram of the first document, and that of the item (-1: none).

    numbers: int64[m], the places of ``items`` among all n-grams of items, which are returned. Advances through documents in order.
    """
    order = np.lexsort((np.arange(len(items.row)), items.row, items.key))
    key, row = items.key[order], items.row[order]
    new = np.ones(len(key), bool)
    new[1:] = (key[1:] != key[:-1]) | (row[1:] != row[:-1])
    key, row, number = key[new], row[new], numbers[order[new]]
    begins, ends = (np.searchsorted(key, documents.key, side=side) for side in ("left", "right"))
    total = np.zeros(n, np.int64)
    at, there = np.full(n, -1), np.full(n, -1)
    counts = np.cumsum(ends - begins)
    borders = np.flatnonzero(np.append(True, documents.row[1:] != documents.row[:-1])) if len(documents.row) else np.zeros(0, np.int64)
    borders = np.append(borders, len(documents.row))
    begin = 0
    while begin < len(borders) - 1:  # some documents at a time
        done = counts[borders[begin] - 1] if borders[begin] else 0
        end = max(begin + 1, int(np.searchsorted(counts[borders[begin + 1 :] - 1], done + AT_ONCE, side="right")) + begin)
        hits = np.arange(borders[begin], borders[end])
        each = ends[hits] - begins[hits]
        hit = np.repeat(hits, each)
        held = np.arange(len(hit)) - np.repeat(np.cumsum(each) - each, each) + begins[hit]
        pair = documents.row[hit] * n + row[held]
        _, firsts = np.unique(pair, return_index=True)
        item = row[held[firsts]]
        total += np.bincount(item, minlength=n)
        item, place = np.unique(item, return_index=True)  # by document, so of the first one
        without = at[item] < 0
        at[item[without]], there[item[without]] = hit[firsts[place[without]]], number[held[firsts[place[without]]]]
        begin = end
    return total, at, there
