"""The greedy walk over what a join or a scan of vectors and codes finds, against the walk word by word; crowds."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.joins import greedy
from likewise.joins.greedy import greedy_walk
from likewise.joins.hamming_join import Counts, code_finder
from likewise.joins.scan import Scan
from likewise.joins.vector_join import choose_layout, prepare, vector_finder
from likewise.kernels.compare import scores
from likewise.stages.workers import Workers
from near_vectors import LIMITS, all_pairs, listed, near, walked


def score(values: np.ndarray) -> np.ndarray:
    return scores(values, distances=True)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(0, 70),
    st.integers(0, 8),
    st.integers(0, 3),
    st.sampled_from([(0, 1, 1), (0, 4, 6), (2, 9, 30), (8, 2**17, 2**22)]),
)
def test_the_walk_over_codes_is_the_greedy_walk(seed, n, width, groups, steps):
    """Codes of a few bits, so that there are ties and crowds; decided at once, or halved down to single items."""
    draw = np.random.default_rng(seed)
    codes = draw.integers(0, 2**width, n, np.uint64) if n else np.zeros(0, np.uint64)
    per = draw.integers(0, groups, n).astype(np.uint64) if groups else None
    with pytest.MonkeyPatch.context() as patch:
        for name, number in zip(("EACH", "FEWEST", "MOST"), steps, strict=True):
            patch.setattr(greedy, name, number)
        with ThreadPoolExecutor(2) as pool:
            finder = code_finder(codes[:, None], 64, 2, walk=True, per=per, workers=Workers(pool.map, 2))
            found = greedy_walk(finder, n, score, Counts())
    alike = {(a, b): value for (a, b), value in all_pairs(codes, "hamming", 2).items() if per is None or per[a] == per[b]}
    want = walked(alike, list(range(n)), True)
    removed = np.flatnonzero(found.witness >= 0)
    assert {item: (int(found.witness[item]), item) for item in removed.tolist()} == {item: (witness, item) for item, (witness, _) in want.items()}
    assert found.overlap[removed].tolist() == score(np.array([want[item][1] for item in removed.tolist()])).tolist()
    assert sorted(map(tuple, found.matches[:, :2].tolist())) == sorted((b, a) for a, b in alike if a not in want)
    assert (np.diff(found.matches[:, 0] * max(n, 1) + found.matches[:, 1]) > 0).all()


@pytest.mark.parametrize("by", LIMITS)
@pytest.mark.parametrize("exact", [False, True])
def test_the_walk_over_vectors(by, exact, small_steps):
    """It decides over what the join finds, whatever is halved; by a scan that is all there is."""
    vectors = near(1, 300)
    prepared = prepare(vectors, by, LIMITS[by])
    finder = Scan(prepared) if exact else vector_finder(prepared, choose_layout(prepared, 0.9, walk=True))
    alike = listed(finder.pairs(Counts()))
    every = all_pairs(vectors, by, LIMITS[by])
    assert alike == every if exact else len(alike) > 30 and alike.items() <= every.items()
    found = greedy_walk(finder, len(vectors), lambda values: scores(values, distances=by != "cosine"), Counts())
    want = walked(alike, list(range(len(vectors))), by != "cosine")
    assert {item: witness for item, witness in enumerate(found.witness.tolist()) if witness >= 0} == {item: one for item, (one, _) in want.items()}


def test_of_many_matches_the_most_alike_are_remembered(monkeypatch):
    """Ten kept items, each two bits from the next, and one that is near them all: the three nearest are, and the nearest is its witness."""
    codes = np.array([0b11 << 2 * place for place in range(10)] + [0b1 << 6], np.uint64)
    finder = code_finder(codes[:, None], 64, 3)
    whole = greedy_walk(finder, 11, score, Counts())
    assert whole.matches[:, :2].tolist() == [[10, place] for place in range(10)] and whole.witness[10] == 3
    monkeypatch.setattr(greedy, "REMEMBERED", 3)
    for most in (1, 2**22):
        monkeypatch.setattr(greedy, "MOST", most)
        few = greedy_walk(finder, 11, score, Counts())
        assert few.matches[:, :2].tolist() == [[10, 0], [10, 1], [10, 3]] and few.witness.tolist() == whole.witness.tolist()


def test_of_fewer_than_two_there_are_no_pairs():
    for n in (0, 1):
        assert listed(code_finder(np.zeros((n, 1), np.uint64), 64, 3).pairs(Counts())) == {}


# crowds


class Counted:
    """A finder, and how many pairs it found in all, those that were then too many included."""

    def __init__(self, finder: Any):
        self.finder, self.found = finder, 0

    def pairs(self, counts: Counts, *args: Any, **more: Any) -> Iterator[Any]:
        seen = Counts()
        try:
            yield from self.finder.pairs(seen, *args, **more)
        finally:
            counts.add(seen)
            self.found += seen.found


@pytest.mark.parametrize("by", [*LIMITS, "hamming"])
def test_a_crowd_costs_its_members_a_few_comparisons(by, monkeypatch):
    """5,000 nearly equal items are 12 million pairs: each is found a few times in each of the few halvings, not 2,500 times."""
    monkeypatch.setattr(greedy, "FEWEST", 2**12)
    monkeypatch.setattr("likewise.joins.hamming_join.PAIRS_AT_ONCE", 2**12)
    monkeypatch.setattr("likewise.joins.scan.DECIDED", 2**12)
    n, draw = 5000, np.random.default_rng(0)
    if by == "hamming":
        codes = np.unique((np.uint64(1) << draw.integers(0, 300, (4 * n, 3), np.uint64) % 64).sum(axis=1, dtype=np.uint64))[:n]
        finder = code_finder(np.column_stack([codes, np.zeros_like(codes)]), 128, 6, walk=True)
    else:
        vectors = (5 * draw.normal(size=16) + draw.normal(0, 1e-3, (n, 16))).astype(np.float32)
        prepared = prepare(vectors, by, LIMITS[by])
        finder = vector_finder(prepared, choose_layout(prepared, walk=True)) if by != "l2" else Scan(prepared)
    counted, counts = Counted(finder), Counts()
    found = greedy_walk(counted, n, score, counts)
    assert (found.witness[1:] == 0).all() and len(found.matches) == n - 1
    assert counted.found < 40 * n  # each halving 8 an item or a few thousand more, each join with what is kept 1
    assert counts.found <= 6 * n


def test_a_crowd_in_the_command(tmp_path):
    """Two crowds of 2,500 each, in a file, and a report that says what was done."""
    draw = np.random.default_rng(1)
    crowds = np.repeat(draw.normal(size=(2, 32)), 2500, axis=0) + draw.normal(0, 1e-3, (5000, 32))
    np.save(tmp_path / "v.npy", draw.permutation(crowds).astype(np.float32))
    result = lw.dedup(tmp_path / "v.npy", by="cosine", threshold=0.9, out=tmp_path / "out")
    assert result.report["counts"]["kept"] == 2 and result.report["matched"] == 4998
    assert result.compared < 10**6 and result.report["budget"]["cut"] == 0
