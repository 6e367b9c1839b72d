"""The greedy walk and the pair listing against the obvious sequential versions, on collections made to be nasty."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bucket_candidates import budget, candidates_in
from compiled import alone
from likewise.engines.threads import Threads
from likewise.kernels.compare import SetRule
from likewise.kernels.sets import fewest_apart, odd_sketches
from likewise.stages import candidates
from likewise.stages.buckets import group
from likewise.stages.budget import hottest, of_buckets, sampled_cut
from likewise.stages.components import components
from likewise.stages.scope import ALL, Scope
from likewise.stages.verify import all_pairs, verified
from likewise.stages.walk import MODES, Sets, empty_lists, independent, walk
from likewise.stages.workers import Workers

fewest_apart_alone = alone(fewest_apart)

THRESHOLD = Fraction(1, 2)


def batch(sets: list[set[int]], threshold: Fraction = THRESHOLD, verify: str = "exact") -> Sets:
    size = np.array([len(s) for s in sets], "u4")
    values = np.array([x for s in sets for x in sorted(s)], np.uint64)
    begin = np.cumsum(size, dtype=np.int64) - size
    odd = odd_sketches(values, np.append(begin, len(values)))
    return Sets(-1, values, begin, size, SetRule(threshold.numerator, threshold.denominator, MODES[verify]), odd, np.arange(len(size)))


def buckets_of(keys: np.ndarray, *, split: bool, scope: Scope = ALL):
    bands, n = keys.shape
    return group(lambda band: keys[band].astype(np.uint64), np.zeros(n, np.uint64), bands, split=split, scope=scope)


def slow_walk(sets: list[set[int]], keys: np.ndarray, threshold: Fraction, scope: Scope) -> tuple[list[int], list[Fraction], int]:
    """Greedy removal by the specification: (representatives, similarities, pairs of kept items that share a bucket and did not meet in it)."""
    named, n = keys.tolist(), len(sets)
    matched = [candidates_in(named, band, candidates.BUDGET, candidates.FINER, scope) for band in range(len(named))]
    mates: dict[int, set[int]] = {item: set() for item in range(n)}
    for later, earlier in set().union(*matched):
        mates[later].add(earlier)
    representative, value = [-1] * n, [Fraction(-1)] * n
    for item in range(n):
        for mate in sorted(mates[item]):
            similarity = Fraction(len(sets[item] & sets[mate]), len(sets[item] | sets[mate]))
            if representative[mate] < 0 and similarity >= threshold and similarity > value[item]:
                representative[item], value[item] = mate, similarity
    kept = [item for item in range(n) if representative[item] < 0]
    wanted = [(a, b) for a, b in itertools.combinations(kept, 2) if b >= scope.fixed and (scope.inside or a < scope.fixed)]
    cut = sum(named[band][a] == named[band][b] and (b, a) not in matched[band] for band in range(len(named)) for a, b in wanted)
    return representative, value, cut


def check_walk(sets: list[set[int]], keys: np.ndarray, threshold: Fraction = THRESHOLD, scope: Scope = ALL) -> None:
    buckets = buckets_of(keys, split=True, scope=scope)
    found = walk(batch(sets, threshold), buckets, Workers(tasks=3))
    alone = walk(batch(sets, threshold), buckets)
    assert (found.matches.tolist(), found.compared) == (alone.matches.tolist(), alone.compared)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("likewise.stages.walk.COMPARED_AT_ONCE", 3)
        patch.setattr("likewise.stages.walk.LARGE", 1)  # all that is remembered lies side by side
        steps = walk(batch(sets, threshold), buckets, Workers(tasks=2))
    assert (steps.matches.tolist(), steps.compared) == (alone.matches.tolist(), alone.compared)
    representative, value, cut = slow_walk(sets, keys, threshold, scope)
    assert found.representative.tolist() == representative
    removed = found.representative >= 0
    got = [Fraction(int(a), int(b)) for a, b in zip(found.overlap[removed], found.out_of[removed], strict=True)]
    assert got == [v for v, w in zip(value, representative, strict=True) if w >= 0]
    assert int(of_buckets(buckets, found.representative < 0).counts.cut.sum()) == cut


collections = st.lists(st.sets(st.integers(0, 7), min_size=1, max_size=5), min_size=1, max_size=40)


@settings(max_examples=150, deadline=None)
@given(collections, st.integers(1, 4), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_walk_equals_the_sequential_walk(sets, bands, variety, seed):
    keys = np.random.default_rng(seed).integers(0, variety, (bands, len(sets)))
    check_walk(sets, keys)


@settings(max_examples=100, deadline=None)
@given(collections, st.integers(1, 4), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_walk_equals_the_sequential_walk_when_every_bucket_is_overfull(sets, bands, variety, seed):
    with budget(2):
        check_walk(sets, np.random.default_rng(seed).integers(0, variety, (bands, len(sets))), Fraction(9, 10))


@settings(max_examples=200, deadline=None)
@given(collections, st.integers(1, 4), st.integers(1, 3), st.sampled_from([2, 128]), st.integers(0, 40), st.booleans(), st.integers(0, 2**32 - 1))
def test_walk_beside_items_that_stay_equals_the_sequential_walk(sets, bands, variety, most, fixed, inside, seed):
    scope = Scope(min(fixed, len(sets)), inside)
    with budget(most):
        check_walk(sets, np.random.default_rng(seed).integers(0, variety, (bands, len(sets))), scope=scope)


@pytest.mark.parametrize("threads", [1, 3])
def test_of_very_many_matches_the_most_similar_are_remembered(threads, monkeypatch):
    """220 items that stay, half of them in each band, and 40 items similar to all of them, 4 elements of 6 or 5 of 5: 128 of 220 matches each."""
    sets = [{1, 2, 3, 4, 5 if i % 3 == 0 else 100 + i} for i in range(220)] + [{1, 2, 3, 4, 5}] * 40
    keys = np.array([[0 if i < 120 or i >= 220 else i for i in range(260)], [0 if i >= 120 else i for i in range(260)]])
    buckets = buckets_of(keys, split=True, scope=Scope(220, False))
    whole = walk(batch(sets), buckets, Workers(tasks=threads))
    monkeypatch.setattr("likewise.stages.walk.MOST_MATCHES", 100)
    monkeypatch.setattr("likewise.stages.walk.MATCHES_AT_ONCE", 300)
    monkeypatch.setattr("likewise.stages.walk.COMPARED_AT_ONCE", 100)
    found = walk(batch(sets), buckets, Workers(tasks=threads))
    assert len(whole.matches) == 40 * 220 and found.compared == whole.compared
    assert found.representative.tolist() == whole.representative.tolist() == [-1] * 220 + [0] * 40
    nearest = sorted([i for i in range(220) if i % 3 == 0] + [i for i in range(220) if i % 3][: 128 - 74])
    assert found.matches[:, :2].tolist() == [[item, kept] for item in range(220, 260) for kept in nearest]


def test_a_long_chain_keeps_every_second_item():
    """x0 ~ x1 ~ x2 ...: each like its neighbors only (3 of 5 elements), all in one bucket: x1 goes for x0, x2 stays, x3 goes for x2."""
    chain = [{i, i + 1, i + 2, i + 3} for i in range(300)]
    keys = np.array([[i // 2 for i in range(300)], [(i + 1) // 2 for i in range(300)]])
    found = walk(batch(chain, Fraction(3, 5)), buckets_of(keys, split=True))
    assert found.representative.tolist() == [-1 if i % 2 == 0 else i - 1 for i in range(300)]


def test_members_of_a_bucket_that_match_its_first_cost_one_comparison_each():
    sets = [{1, 2, 3, 4, 5, 6, 7, 8, 9, i + 100} for i in range(5000)]
    found = walk(batch(sets, Fraction(4, 5)), buckets_of(np.zeros((3, 5000), int), split=True))
    assert (found.representative[1:] == 0).all()
    assert found.compared == 4999


def test_a_bucket_of_strangers_costs_at_most_its_budget_and_says_what_it_cut():
    sets = [{10 * i, 10 * i + 1} for i in range(1000)]
    found = walk(batch(sets), buckets_of(np.zeros((1, 1000), int), split=True))
    assert (found.representative == -1).all()
    assert found.compared == sum(min(i, candidates.BUDGET) for i in range(1000))
    cut = of_buckets(buckets_of(np.zeros((1, 1000), int), split=True), found.representative < 0).counts.cut
    assert found.compared + int(cut.sum()) == 1000 * 999 // 2


def test_representative_is_the_most_similar_and_among_equals_the_earlier():
    sets = [{1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 11, 12}, {1, 2, 3, 4, 5, 11}, {1, 2, 3, 4}]
    found = walk(batch(sets[:2] + sets[3:]), buckets_of(np.zeros((1, 3), int), split=True))
    assert found.representative.tolist() == [-1, 0, 0]  # {1..4} is 4/6 of the first
    far = [{1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 3, 4, 11, 12, 13}, {1, 2, 3, 4, 11, 12}]
    found = walk(batch(far), buckets_of(np.zeros((1, 3), int), split=True))
    assert found.representative.tolist() == [-1, -1, 1]


def test_equality_with_the_threshold_counts():
    sets = [set(range(10)), set(range(8))]  # 8/10
    for threshold, representative in ((Fraction(4, 5), [-1, 0]), (Fraction(81, 100), [-1, -1])):
        assert walk(batch(sets, threshold), buckets_of(np.zeros((1, 2), int), split=True)).representative.tolist() == representative


@settings(max_examples=100, deadline=None)
@given(collections, st.integers(1, 4), st.integers(1, 3), st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_all_pairs_lists_each_pair_once(sets, bands, variety, seed, shares):
    keys = np.random.default_rng(seed).integers(0, variety, (bands, len(sets)))
    blocks = list(all_pairs(batch(sets), buckets_of(keys, split=False), np.zeros(0, np.uint8), Workers(tasks=shares)))
    got = sorted(tuple(row) for block in blocks for row in block.tolist())
    want = []
    for a in range(len(sets)):
        for b in range(a + 1, len(sets)):
            inter, union = len(sets[a] & sets[b]), len(sets[a] | sets[b])
            if (keys[:, a] == keys[:, b]).any() and Fraction(inter, union) >= THRESHOLD:
                want.append((a, b, inter, union))
    assert got == want


def test_parts_that_walk_at_once_find_the_same():
    draw = np.random.default_rng(5)
    sets = [set(draw.integers(0, 30, 8).tolist()) for _ in range(3000)]
    keys = draw.integers(0, 700, (4, 3000)) + (np.arange(3000) // 300 * 1000)  # ten groups that share no bucket
    alone = walk(batch(sets), buckets_of(keys, split=True))
    engine = Threads(3)
    together = walk(batch(sets), buckets_of(keys, split=True), Workers(engine.run, 3))
    engine.close()
    assert len(independent(buckets_of(keys, split=True), 3)) == 3
    assert together.representative.tolist() == alone.representative.tolist()
    assert (together.matches.tolist(), together.compared) == (alone.matches.tolist(), alone.compared)


def test_parts_of_the_walk_share_no_bucket():
    n = 4000
    keys = np.array([[i // 4 for i in range(n)], [i // 2 for i in range(n - 2)] + [5000, 5001]])
    parts = independent(buckets_of(keys, split=True), 4)
    assert len(parts) == 4
    assert all(850 < len(part) < 1150 for part in parts)  # a thousand groups of four
    assert sorted(np.concatenate(parts).tolist()) == list(range(n))
    assert all((np.diff(part) > 0).all() for part in parts)
    for a, b in itertools.combinations(parts, 2):
        assert not (keys[:, a][:, :, None] == keys[:, b][:, None, :]).any()


def test_sketches_that_lie_side_by_side_are_no_more_than_the_items():
    """In each of seven bands a hundred buckets of 40 remember 28,000 items, which would be 448 bytes of sketches for each of 4,000."""
    keys = np.array([np.arange(4000) // 40] * 7)
    for rows, more in ((0, []), (candidates.BUDGET, [np.zeros(4000, int)])):
        buckets, sets = buckets_of(np.array([*keys, *more]), split=True), batch([{i} for i in range(4000)])
        lists, remembered, near = empty_lists(buckets, sets.odd, np.empty)
        assert near.shape == (rows, sets.odd.shape[1])
        room = np.minimum(np.bincount(np.concatenate([each[each >= 0] for each in (buckets.bucket, buckets.splits.bucket)], None)), candidates.BUDGET)
        order = np.argsort(lists["begin"])
        assert lists["begin"][order].tolist() == (np.cumsum(room[order]) - room[order]).tolist()  # each has its own
        assert len(remembered) == room.sum()


def test_sets_are_read_from_a_file_as_well(tmp_path):
    sets = [{i, i + 1, i + 2, i // 2 + 1000} for i in range(200)]
    inside = batch(sets, Fraction(1, 3))
    inside.values.tofile(tmp_path / "sets")
    keys = np.array([[i // 9 for i in range(200)], [i // 7 for i in range(200)]])
    buckets = buckets_of(keys, split=True)
    with open(tmp_path / "sets", "rb") as file:
        outside = replace(inside, file=file.fileno(), values=inside.values[:0])
        assert walk(outside, buckets).matches.tolist() == walk(inside, buckets).matches.tolist()
        (tmp_path / "sets").write_bytes(b"short")
        with pytest.raises(OSError, match="cannot be read"):
            walk(outside, buckets)


def test_components_join_representatives_that_one_item_matched():
    matches = np.array([[2, 0, 1, 2], [2, 1, 1, 2], [4, 3, 1, 2]])
    assert components(5, matches).tolist() == [0, 0, 2, 3, 4]


@pytest.mark.parametrize("verify", ["none"])
def test_unchecked_removal_takes_the_first_bucket_mate(verify):
    found = walk(batch([{1}, {2}, {3}], verify=verify), buckets_of(np.array([[0, 0, 1]]), split=True))
    assert found.representative.tolist() == [-1, 0, -1]


def test_what_the_budget_missed_is_estimated_from_a_sample():
    """400 items in one bucket of one band. Behind the 128 that are remembered come 136 pairs of equal sets that nothing else brings together."""
    sets = [{10 * i} for i in range(128)] + [{10 * (i // 2)} for i in range(1000, 1272)]
    buckets = buckets_of(np.zeros((1, 400), int), split=True)
    found = walk(batch(sets), buckets)
    assert (found.representative == -1).all()
    cut = sampled_cut(partial(verified, batch(sets)), buckets, of_buckets(buckets, found.representative < 0), 0)
    assert cut.cut == 272 * 271 // 2
    assert 136 * 0.6 < cut.cut * cut.similar / cut.sampled < 136 * 1.4  # 37 of 10,000 expected, standard deviation 6
    assert 136 < cut.missed < 250
    assert cut.recall(0.99, 1000) == 0.99 * 1000 / (1000 + cut.whole)
    assert replace(cut, missed=0.9).recall(0.99, 0) == 0.99  # no whole pair
    assert hottest(of_buckets(buckets, found.representative < 0).counts) == [(0, 0, 400, 272 * 271 // 2)]
    assert hottest(of_buckets(buckets, np.zeros(400, bool)).counts) == []


def test_without_skipped_pairs_the_expected_recall_stands():
    buckets = buckets_of(np.zeros((1, 50), int), split=True)
    found = walk(batch([{i} for i in range(50)]), buckets)
    assert (
        sampled_cut(partial(verified, batch([{i} for i in range(50)])), buckets, of_buckets(buckets, found.representative < 0), 0).recall(0.99, 7)
        == 0.99
    )


def test_an_odd_sketch_by_hand():
    """3, 515 and 1027 fall into bin 3 of 512, which is odd again with the third; 4 and 516 into bin 4, which is even; 511 into the last."""
    sketches = odd_sketches(np.array([3, 4, 511, 515, 516, 1027, 3, 515], np.uint64), np.array([0, 6, 6, 8]))
    assert sketches.tolist() == [[8, 0, 0, 0, 0, 0, 0, 2**63], [0] * 8, [0] * 8]
    assert fewest_apart_alone(sketches, 0, sketches, 1) == 2


@given(st.sets(st.integers(0, 2**64 - 1), max_size=40), st.sets(st.integers(0, 700), max_size=600), st.sets(st.integers(0, 700), max_size=600))
def test_sets_differ_by_no_less_than_their_odd_sketches_say(common, some, others):
    a, b = sorted(common | some), sorted(common | others)
    sketches = odd_sketches(np.array(a + b, np.uint64), np.array([0, len(a), len(a) + len(b)]))
    apart, printed = len(set(a) ^ set(b)), fewest_apart_alone(sketches, 0, sketches, 1)
    assert printed <= apart
    assert (apart - printed) % 2 == 0  # two elements in one bin are not seen, or all are
    assert printed == apart or len({value % 512 for value in set(a) ^ set(b)}) < apart
