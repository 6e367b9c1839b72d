"""Repeats against their definition in plain Python."""

from __future__ import annotations

import tracemalloc
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.kernels import repeats as kernels
from likewise.kernels.hashing import derive
from likewise.kernels.winnow import winnow
from likewise.passages.repeats import Stretches, counters, gram, joined, repeats
from likewise.stages.workers import ALONE, Workers

WORDS = np.random.default_rng(0).integers(1, 2**63, 40, dtype=np.uint64)  # the hashes of tokens
DOCUMENTS = st.lists(st.lists(st.integers(0, 3), max_size=25).map(tuple), max_size=6)
PARTS = st.lists(st.lists(st.integers(0, 39), min_size=1, max_size=9).map(tuple), min_size=1, max_size=4)


@st.composite
def shared(draw: st.DrawFn) -> list[tuple[int, ...]]:
    """Documents of a few parts that occur again and again, and of other tokens."""
    part = st.sampled_from(draw(PARTS))
    other = st.lists(st.integers(0, 39), max_size=6).map(tuple)
    return draw(st.lists(st.lists(st.one_of(part, other), max_size=8).map(lambda parts: sum(parts, ())), max_size=6))


def defined(documents: list[tuple[int, ...]], n: int) -> dict[str, Any]:
    """The repeats by their definition: places (document, begin, end, passage), passages (times, documents), and the tokens to cut."""
    at = defaultdict(list)
    for d, tokens in enumerate(documents):
        for i in range(len(tokens) - n + 1):
            at[tokens[i : i + n]].append((d, i))

    def window(d: int, i: int) -> tuple[int, ...]:
        return documents[d][i : i + n] if i + n <= len(documents[d]) else ()

    def together(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
        return len(at[other]) > 1 and [(d, i + 1) for d, i in at[one]] == at[other]

    places: list[list[Any]] = []
    passages: dict[tuple[int, ...], list[Any]] = {}
    cut = [[False] * len(tokens) for tokens in documents]
    for d, tokens in enumerate(documents):
        i = 0
        while i + n <= len(tokens):
            first = at[window(d, i)]
            if len(first) < 2:
                i += 1
                continue
            begin = i
            while together(window(d, i), window(d, i + 1)):
                i += 1
            text = tokens[begin : i + n]
            passages.setdefault(text, [len(first), {d}])[1].add(d)
            earlier = [place for place in places if place[3] == text and place[0] == d and place[2] > begin]
            if earlier:
                earlier[-1][2] = i + n
            else:
                places.append([d, begin, i + n, text])
            i += 1
        for i in range(len(tokens) - n + 1):
            if at[window(d, i)][0] != (d, i):
                source, first = at[window(d, i)][0]
                for token in range(max(i, first + n) if source == d else i, i + n):
                    cut[d][token] = True
    order = list(passages)
    return {
        "places": [(d, begin, end, order.index(text)) for d, begin, end, text in places],
        "passages": [(times, len(inside)) for times, inside in passages.values()],
        "cut": cut,
    }


def found(
    documents: list[tuple[int, ...]], n: int, words: np.ndarray = WORDS, memory: int = 1 << 30, workers: Workers = ALONE, *, marked: bool = True
) -> dict[str, Any]:
    """The repeats of documents, in the stretches around common fingerprints, or in whole documents."""
    hashes = words[np.array(sum(documents, ()), np.int64)]
    offsets = np.concatenate(([0], np.cumsum([*map(len, documents)], dtype=np.int64)))
    first, size, numbers = np.zeros(len(documents), np.int64), np.diff(offsets), np.ones(len(documents), np.int64)
    if marked:
        k = gram(n)
        keys, tokens = np.empty(len(hashes), np.uint64), np.empty(len(hashes), np.uint32)
        counts = winnow(hashes, offsets, k, n - k + 1, derive(np.uint64(0), np.uint64(1), k + 2), np.uint64(0), keys, tokens)
        seen = counters(64, memory)
        kernels.tally(keys[: counts.sum()], seen)
        first, size = np.empty(len(hashes), np.uint32), np.empty(len(hashes), np.uint32)
        numbers = kernels.mark(counts, keys, tokens, np.diff(offsets), seen, k, n, first, size)
        first, size = first[: numbers.sum()].astype(np.int64), size[: numbers.sum()].astype(np.int64)
    rows = np.repeat(np.arange(len(documents)), numbers)
    begins = offsets[rows] + first
    where = np.concatenate([np.zeros(0, np.int64), *(np.arange(begin, begin + length) for begin, length in zip(begins, size, strict=True))])
    made = repeats(Stretches(rows, np.concatenate(([0], np.cumsum(size))), hashes[where]), n, 0, memory, workers=workers)
    row, token = rows[made.stretch], where - np.repeat(offsets[rows], size)
    cut = [[False] * len(tokens) for tokens in documents]
    for begin, end in made.cut.tolist():
        for at in range(begin, end):
            cut[np.searchsorted(offsets, where[at], side="right") - 1][token[at]] = True
    assert [made.passage[place] for place in made.first] == list(range(len(made.first)))
    return {
        "places": list(zip(row.tolist(), token[made.begin].tolist(), (token[made.end - 1] + 1).tolist(), made.passage.tolist(), strict=True)),
        "passages": list(zip(made.times.tolist(), made.documents.tolist(), strict=True)),
        "cut": cut,
    }


@settings(max_examples=400, deadline=None)
@given(documents=st.one_of(DOCUMENTS, shared()), n=st.integers(1, 9), at_once=st.integers(1, 12))
def test_repeats(documents, n, at_once):
    want = defined(documents, n)
    assert found(documents, n) == want
    assert found(documents, n, marked=False) == want
    with pytest.MonkeyPatch.context() as patch:  # in blocks of few windows, and in parts of few
        patch.setattr("likewise.passages.repeats.AT_ONCE", at_once)
        assert found(documents, n, memory=200, workers=Workers(tasks=3)) == want


def test_repeats_by_hand():
    """Two documents share 3 4 5 6 7, of which 5 6 7 8 is elsewhere, too; dashes repeat themselves."""
    documents = [(1, 3, 4, 5, 6, 7, 8), (2, 3, 4, 5, 6, 7, 9), (5, 6, 7, 8)]
    got = found(documents, 3)
    assert got["places"] == [(0, 1, 5, 0), (0, 3, 6, 1), (0, 4, 7, 2), (1, 1, 5, 0), (1, 3, 6, 1), (2, 0, 3, 1), (2, 1, 4, 2)]
    assert got["passages"] == [(2, 2), (3, 3), (2, 2)]  # 3 4 5 6; 5 6 7; 6 7 8
    assert got["cut"] == [[False] * 7, [False, True, True, True, True, True, False], [True] * 4]
    dashes = found([(0,) * 10], 3)
    assert dashes == {"places": [(0, 0, 10, 0)], "passages": [(8, 1)], "cut": [[False] * 3 + [True] * 7]}


@pytest.mark.parametrize("documents", [[], [()], [(1, 2, 3)], [(), (1,), (1,)]])
def test_nothing_repeats(documents):
    assert found(documents, 2) == {"places": [], "passages": [], "cut": [[False] * len(one) for one in documents]}


def test_equal_documents():
    got = found([tuple(range(40))] * 5, 20)
    assert got["places"] == [(d, 0, 40, 0) for d in range(5)] and got["passages"] == [(5, 5)]
    assert got["cut"] == [[d > 0] * 40 for d in range(5)]


@pytest.mark.parametrize("n", [1, 64, 65, 128, 200])
def test_long_repeats(n):
    """Windows longer than a fingerprint: a run of n tokens is found, one of n - 1 is not, wherever it differs."""
    random = np.random.default_rng(n)
    run = [*random.permutation(2**20)[:n].tolist()]
    other = iter(range(2**21, 2**22))
    documents = [tuple(next(other) for _ in range(50)) + tuple(run) + (next(other),) for _ in range(3)]
    for at in (0, n // 2, n - 1):
        documents.append((next(other), *run[:at], next(other), *run[at + 1 :], next(other)))
    got = found(documents, n, np.random.default_rng(1).integers(1, 2**63, 2**22, dtype=np.uint64))
    assert got["places"] == [(d, 50, 50 + n, 0) for d in range(3)]


def test_memory_does_not_grow_with_the_windows(monkeypatch, tmp_path):
    """Half a million windows in arrays of files: grouped at once, they would take 84 bytes each. All other arrays are counted."""
    test_repeats_by_hand()  # loads the kernels
    monkeypatch.setattr("likewise.passages.repeats.AT_ONCE", 1 << 12)
    size, memory, files = 1 << 18, 4 << 20, iter(range(9))
    document = np.random.default_rng(1).integers(1, 2**63, size, dtype=np.uint64)
    stretches = Stretches(np.arange(2), np.array([0, size, 2 * size]), np.concatenate([document, document]))
    workers = Workers(tasks=2, allocate=lambda shape, dtype: np.memmap(tmp_path / str(next(files)), dtype, "w+", shape=shape))
    tracemalloc.start()
    try:
        found = repeats(stretches, 20, 0, memory, workers=workers)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.begin.tolist() == [0, size] and found.end.tolist() == [size, 2 * size] and found.cut.tolist() == [[size, 2 * size]]
    assert most < memory


def test_runs_that_overlap_or_touch_are_joined_within_a_stretch():
    stretch, begin, end = np.array([0, 0, 0, 0, 1, 1, 2]), np.array([0, 1, 5, 7, 10, 12, 13]), np.array([4, 3, 7, 9, 12, 13, 15])
    assert joined(stretch, begin, end).tolist() == [[0, 4], [5, 9], [10, 13], [13, 15]]
    assert joined(*np.zeros((3, 0), np.int64)).shape == (0, 2)
