"""Greedy removal over joins, compared with the definition; many similar items."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.items.sparse import sparse
from likewise.joins import greedy
from likewise.joins.greedy import removals
from likewise.joins.hamming_join import code_join
from likewise.joins.norm_scan import NormScan
from likewise.joins.pairs import ALL, UNBOUNDED, Among, Counts, Join, PairBlock
from likewise.joins.scan import Scan
from likewise.joins.set_join import SetJoin
from likewise.joins.sparse_join import SparseJoin
from likewise.joins.string_join import StringJoin
from likewise.joins.vector_join import choose_layout, prepare, vector_join
from likewise.kernels.compare import SparseRule
from likewise.kernels.sparse import COSINE
from likewise.stages.ranking import ranked
from likewise.stages.scope import Scope
from likewise.stages.workers import Workers
from near_vectors import LIMITS, all_pairs, listed, near, walked
from sparse_rows import csr


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(0, 70),
    st.integers(0, 8),
    st.integers(0, 3),
    st.sampled_from([(0, 1, 1), (0, 4, 6), (2, 9, 30), (8, 2**17, 2**22)]),
)
def test_the_walk_over_codes_is_the_greedy_walk(seed, n, width, groups, steps):
    """Codes of a few bits, with ties and many similar items; decided at once, or split down to single items."""
    draw = np.random.default_rng(seed)
    codes = draw.integers(0, 2**width, n, np.uint64) if n else np.zeros(0, np.uint64)
    per = draw.integers(0, groups, n).astype(np.uint64) if groups else None
    with pytest.MonkeyPatch.context() as patch:
        for name, number in zip(("EACH", "FEWEST", "MOST"), steps, strict=True):
            patch.setattr(greedy, name, number)
        with ThreadPoolExecutor(2) as pool:
            join = code_join(codes[:, None], 64, 2, walk=True, per=per, workers=Workers(pool.map, 2))
            found = removals(join, n, Counts(), distances=True)
    similar = {(a, b): value for (a, b), value in all_pairs(codes, "hamming", 2).items() if per is None or per[a] == per[b]}
    want = walked(similar, list(range(n)), True)
    removed = np.flatnonzero(found.representative >= 0)
    assert {item: (int(found.representative[item]), item) for item in removed.tolist()} == {
        item: (representative, item) for item, (representative, _) in want.items()
    }
    assert found.value[removed].tolist() == [want[item][1] for item in removed.tolist()]
    assert [similar[kept, item] for item, kept in found.matches.tolist()] == found.values.tolist()
    assert sorted(map(tuple, found.matches.tolist())) == sorted((b, a) for a, b in similar if a not in want)
    assert (np.diff(found.matches[:, 0] * max(n, 1) + found.matches[:, 1]) > 0).all()


@settings(max_examples=80, deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(0, 60),
    st.integers(0, 60),
    st.integers(1, 8),
    st.booleans(),
    st.sampled_from([(0, 1, 1), (0, 4, 6), (2, 9, 30), (8, 2**17, 2**22)]),
)
def test_items_beside_others_that_stay(seed, n, fixed, width, inside, steps):
    """The first items stay, whatever is similar to them; the others are removed for them, and for kept others if ``inside``."""
    fixed = min(fixed, n)
    codes = np.random.default_rng(seed).integers(0, 2**width, n, np.uint64)
    with pytest.MonkeyPatch.context() as patch:
        for name, number in zip(("EACH", "FEWEST", "MOST"), steps, strict=True):
            patch.setattr(greedy, name, number)
        found = removals(code_join(codes[:, None], 64, 2), n, Counts(), distances=True, scope=Scope(fixed, inside))
    similar = all_pairs(codes, "hamming", 2)
    kept, representative, value = list(range(fixed)), [-1] * n, [-1.0] * n
    for item in range(fixed, n):
        if options := [(similar[other, item], other) for other in kept if (other, item) in similar]:
            value[item], representative[item] = min(options)
        elif inside:
            kept.append(item)
    assert found.representative.tolist() == representative
    assert np.nan_to_num(found.value, nan=-1.0).tolist() == value
    assert sorted(map(tuple, found.matches.tolist())) == sorted((b, a) for a, b in similar if a in kept and representative[b] >= 0)


@pytest.mark.parametrize("by", LIMITS)
@pytest.mark.parametrize("exact", [False, True])
def test_the_walk_over_vectors(by, exact, small_steps):
    """Removal decides over the pairs that the join finds, whatever the parts; a scan finds all pairs."""
    vectors = near(1, 300)
    prepared = prepare(vectors, by, LIMITS[by])
    scan = NormScan.of(vectors, 1.0, LIMITS[by]) if by == "l1" else Scan(prepared)
    join = scan if exact else vector_join(prepared, choose_layout(prepared, 0.9, walk=True))
    similar = listed(join.pairs())
    every = all_pairs(vectors, by, LIMITS[by])
    assert similar == every if exact else len(similar) > 30 and similar.items() <= every.items()
    found = removals(join, len(vectors), Counts(), distances=by != "cosine")
    want = walked(similar, list(range(len(vectors))), by != "cosine")
    assert {item: representative for item, representative in enumerate(found.representative.tolist()) if representative >= 0} == {
        item: one for item, (one, _) in want.items()
    }


def test_of_too_many_matches_the_most_similar_are_remembered(monkeypatch):
    """Ten kept items and one removed item that is similar to all: the three nearest are remembered, and the nearest is the representative."""
    codes = np.array([0b11 << 2 * place for place in range(10)] + [0b1 << 6], np.uint64)
    join = code_join(codes[:, None], 64, 3)
    monkeypatch.setattr(greedy, "REMEMBERED", 3)
    for most, remembered in ((1, [0, 1, 3]), (9, [0, 1, 3]), (10, range(10)), (2**22, range(10))):
        monkeypatch.setattr(greedy, "MOST", most)
        found = removals(join, 11, Counts(), distances=True)
        assert found.matches.tolist() == [[10, place] for place in remembered]
        assert found.representative.tolist() == [-1] * 10 + [3]
        assert found.value[10] == 1 and np.isnan(found.value[:10]).all()


def test_of_fewer_than_two_there_are_no_pairs():
    for n in (0, 1):
        assert listed(code_join(np.zeros((n, 1), np.uint64), 64, 3).pairs()) == {}


# many similar items


class Counted:
    """A join that counts all pairs that it finds, including those of searches that were given up."""

    def __init__(self, join: Join):
        self.join, self.found = join, 0

    def pairs(self, among: Among = ALL, most: int = UNBOUNDED, counts: Counts | None = None) -> Iterator[PairBlock]:
        seen = Counts()
        try:
            yield from self.join.pairs(among, most, seen)
        finally:
            if counts is not None:
                counts.add(seen)
            self.found += seen.found


def large_group(kind: str, n: int) -> tuple[Join, bool]:
    """A join of n nearly equal items of a kind; and True if its values are distances."""
    draw = np.random.default_rng(0)
    if kind == "hamming":
        codes = np.unique((np.uint64(1) << draw.integers(0, 300, (4 * n, 3), np.uint64) % 64).sum(axis=1, dtype=np.uint64))[:n]
        return code_join(np.column_stack([codes, np.zeros_like(codes)]), 128, 6, walk=True), True
    if kind == "sets":
        rows = np.column_stack([np.tile(np.arange(40, dtype=np.uint64), (n, 1)), np.arange(100, 100 + n, dtype=np.uint64)])
        return SetJoin(ranked(rows.ravel(), 41 * np.arange(n + 1)), Fraction(4, 5)), False
    if kind == "strings":
        return StringJoin([f"{'product ' * 2}{number:02x}" for number in range(n)], "levenshtein", 6), True
    if kind == "sparse":
        rows = csr([{1: 8.0, 2: 9.0, 3: 7.0, 4 + place: 1.0} for place in range(n)], n + 4)
        return SparseJoin.of(sparse(rows), SparseRule(0.9, COSINE, 0.0, 0)), False
    vectors = (5 * draw.normal(size=16) + draw.normal(0, 1e-3, (n, 16))).astype(np.float32)
    prepared = prepare(vectors, kind, LIMITS[kind])
    return vector_join(prepared, choose_layout(prepared, walk=True)) if kind != "l2" else Scan(prepared), kind != "cosine"


@pytest.mark.parametrize("kind", [*LIMITS, "hamming", "sets", "strings", "sparse"])
def test_a_large_group_costs_its_members_a_few_comparisons(kind, monkeypatch):
    """5,000 nearly equal items have 12 million pairs; most items are compared only with the kept item, not with 2,500 others."""
    monkeypatch.setattr(greedy, "FEWEST", 2**12)
    monkeypatch.setattr(greedy, "FIRST", 2**6)
    monkeypatch.setattr("likewise.joins.hamming_join.PAIRS_AT_ONCE", 2**12)
    monkeypatch.setattr("likewise.joins.scan.DECIDED", 2**12)
    monkeypatch.setattr("likewise.joins.prefix.MATCHES_AT_ONCE", 2**12)
    monkeypatch.setattr("likewise.joins.string_join.HELD", 2**12)
    monkeypatch.setattr("likewise.joins.sparse_join.ROWS", 2**12)
    n, counts = 5000, Counts()
    join, distances = large_group(kind, n)
    counted = Counted(join)
    found = removals(counted, n, counts, distances=distances)
    assert (found.representative[1:] == 0).all() and len(found.matches) == n - 1
    assert counts.found <= 2 * n  # the pairs of the first part, and one pair of each other item
    assert counted.found < 20 * n  # and those of samples and parts with too many pairs


def test_a_large_group_in_the_command(tmp_path):
    """Two groups of 2,500 similar vectors in a file: the counts in the report."""
    draw = np.random.default_rng(1)
    large_groups = np.repeat(draw.normal(size=(2, 32)), 2500, axis=0) + draw.normal(0, 1e-3, (5000, 32))
    np.save(tmp_path / "v.npy", draw.permutation(large_groups).astype(np.float32))
    result = lw.dedup(tmp_path / "v.npy", by="cosine", threshold=0.9, out=tmp_path / "out")
    assert result.report["counts"]["kept"] == 2 and result.report["matched"] == 4998
    assert result.compared < 10**6 and result.report["budget"]["cut"] == 0
