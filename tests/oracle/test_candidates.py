"""The candidate pairs of a bucket, compared with the reference implementation."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bucket_candidates import buckets, budget, candidates_in
from likewise.stages import candidates
from likewise.stages.buckets import Buckets, Splits, group
from likewise.stages.budget import are_candidates, drawn, merged, of_buckets, overfull, pair_in, pair_of, skipped
from likewise.stages.scope import ALL, Scope

#: The scope of n items: all pairs; or some or all of them, or none, are those of a second collection, which stay.
scopes = st.just(ALL) | st.builds(Scope, st.integers(0, 40), st.booleans())


def grouped(keys: np.ndarray, scope: Scope = ALL) -> Buckets:
    bands, n = keys.shape
    return group(lambda band: keys[band].astype(np.uint64), np.zeros(n, np.uint64), bands, split=True, scope=scope)


def pairs_of(keys: np.ndarray, band: int, scope: Scope = ALL) -> list[tuple[int, int]]:
    levels = min(candidates.FINER, len(keys) - 1)
    finer = np.array([keys[(band + level) % len(keys)] for level in range(1, 1 + levels)], np.uint64).reshape(levels, keys.shape[1])
    found = candidates.candidate_pairs(keys[band].astype(np.uint64), finer, np.arange(keys.shape[1]), scope)
    return sorted(zip(found.later.tolist(), found.earlier.tolist(), strict=True))


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 60), st.integers(1, 4), st.integers(1, 4), st.integers(1, 5), scopes, st.integers(0, 2**32 - 1))
def test_items_collide_as_the_rule_says(n, bands, variety, most, scope, seed):
    keys = np.random.default_rng(seed).integers(0, variety, (bands, n))
    with budget(most):
        for band in range(bands):
            wanted = sorted(candidates_in(keys.tolist(), band, most, candidates.FINER, scope))
            assert pairs_of(keys, band, scope) == wanted  # each pair once


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 5), max_size=40), st.booleans(), st.integers(1, 50), st.integers(0, 2**32 - 1))
def test_whole_buckets_list_all_pairs(keys, crossing, most, seed):
    rng = np.random.default_rng(seed)
    rank = rng.permutation(100)[: len(keys)]
    side = rng.integers(0, 4, len(keys)).astype(np.uint8) if crossing else np.zeros(0, np.uint8)
    blocks = list(candidates.whole_pairs(np.array(keys, np.uint64), rank, side, most))
    found = [pair for later, earlier in blocks for pair in zip(later.tolist(), earlier.tolist(), strict=True)]
    wanted = [
        (max(rank[i], rank[j]), min(rank[i], rank[j]))
        for i in range(len(keys))
        for j in range(i)
        if keys[i] == keys[j] and (not crossing or (side[i] & 1 and side[j] & 2) or (side[i] & 2 and side[j] & 1))
    ]
    assert sorted(found) == sorted(wanted)
    assert all(len(later) <= max(most, len(keys) - 1) for later, _ in blocks)


def test_a_bucket_within_the_budget_makes_all_candidates():
    assert pairs_of(np.array([[7, 7, 1, 7]]), 0) == [(1, 0), (3, 0), (3, 1)]


def test_an_overfull_bucket_by_hand():
    """Budget 2. The second band's keys of the six items are a, a, b, b, b, c: all later items are compared with the heads 0 (a) and 2 (b), none with
    the third head, 5 (c). The parts a and c have at most two items. b has three, so the third band splits it into 2, 3 and into 4, with heads 2 and
    4; then 3 and 2 are a pair again, in their part."""
    keys = np.array([[0] * 6, [1, 1, 2, 2, 2, 3], [0, 0, 5, 5, 6, 0]])
    with budget(2):
        assert pairs_of(keys, 0) == [(1, 0), (2, 0), (3, 0), (3, 2), (4, 0), (4, 2), (5, 0), (5, 2)]


def test_at_the_last_level_all_are_candidates_with_the_first_members():
    with budget(2):
        assert pairs_of(np.array([[3, 3, 3, 3]]), 0) == [(1, 0), (2, 0), (2, 1), (3, 0), (3, 1)]


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 60), st.integers(1, 3), st.integers(1, 4), scopes, st.integers(0, 2**32 - 1))
def test_partitions_of_whole_buckets_give_the_pairs_of_all(n, bands, parts, scope, seed):
    """Each bucket of a band goes to one partition, with its members in any order and gaps in their ranks; the facts about buckets agree too."""
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 4, (bands, n))
    rank = np.sort(rng.choice(10 * n + 1, n, replace=False))
    partition = rng.integers(0, parts, 4)[keys[0]]
    with budget(3):
        wanted = {(int(rank[b]), int(rank[a])) for b, a in candidates_in(keys.tolist(), 0, 3, candidates.FINER, scope)}
        fixed = Scope(int(rank[scope.fixed]) if scope.fixed < n else 10 * n + 1, scope.inside)
        pairs, sizes, overfull = [], [], []
        for part in range(parts):
            here = rng.permutation(np.flatnonzero(partition == part))
            finer = keys[1 : 1 + candidates.FINER, here].astype(np.uint64)
            found = candidates.candidate_pairs(keys[0, here].astype(np.uint64), finer, rank[here], fixed)
            pairs += zip(found.later.tolist(), found.earlier.tolist(), strict=True)
            sizes += found.sizes.tolist()
            overfull += found.overfull.members.tolist()
        assert len(pairs) == len(wanted) and set(pairs) == wanted
        named = [each for each in buckets(keys[0].tolist()) if size_of(each, scope) > 1]
        assert sorted(sizes) == sorted(size_of(each, scope) for each in named)
        assert sorted(overfull) == sorted(int(rank[item]) for each in named if size_of(each, scope) > 3 for item in each)


def size_of(bucket: list[int], scope: Scope) -> int:
    """The size of a bucket as the rule counts it; 0 if no pair in it is compared."""
    first = sum(item < scope.fixed for item in bucket)
    others = len(bucket) - first
    return 0 if not others or not (first or scope.inside) else len(bucket) if scope.inside else first + 1


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 60), st.integers(1, 4), st.integers(1, 3), scopes, st.integers(0, 2**32 - 1))
def test_overfull_buckets_count_the_pairs_of_kept_items_that_are_no_candidates(n, bands, variety, scope, seed):
    rng = np.random.default_rng(seed)
    keys, kept = rng.integers(0, variety, (bands, n)), (rng.random(n) < 0.7) | (np.arange(n) < scope.fixed)
    with budget(2):
        found = grouped(keys, scope)
        full = of_buckets(found, kept)
        wanted = [(band, bucket) for band in range(bands) for bucket in buckets(keys[band].tolist()) if size_of(bucket, scope) > 2]
        members = [sorted(item for item in bucket if kept[item]) for _, bucket in wanted]
        places = np.split(full.places, full.begin[1:-1])
        assert [found.splits.items[part].tolist() for part in places] == (members or [[]])
        assert [*zip(full.counts.band.tolist(), full.counts.first.tolist(), strict=True)] == [(band, bucket[0]) for band, bucket in wanted]
        assert full.counts.size.tolist() == [size_of(bucket, scope) for _, bucket in wanted]
        named = [candidates_in(keys.tolist(), band, 2, candidates.FINER, scope) for band in range(bands)]
        pairs = [{(b, a) for i, a in enumerate(mine) for b in mine[i + 1 :] if is_compared(b, a, scope)} for mine in members]
        assert full.counts.pairs.tolist() == list(map(len, pairs))
        for at, each in enumerate(pairs):
            later, earlier = pair_in(full.counts, np.full(len(each), at), np.arange(len(each)))
            assert {(members[at][b], members[at][a]) for b, a in zip(later.tolist(), earlier.tolist(), strict=True)} == each
        assert full.counts.candidates.tolist() == [len(here & named[band]) for (band, _), here in zip(wanted, pairs, strict=True)]
        for (band, _), part, here in zip(wanted, places, pairs, strict=False):
            for later, earlier in ((b, a) for i, a in enumerate(part) for b in part[i + 1 :]):
                pair = int(found.splits.items[later]), int(found.splits.items[earlier])
                assert (pair in here) == is_compared(*pair, scope)
                if pair not in here:
                    continue
                assert are_candidates(found.splits, np.array([later]), np.array([earlier])).tolist() == [pair in named[band]]


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 80), st.integers(1, 3), st.integers(1, 4), scopes, st.integers(0, 2**32 - 1))
def test_overfull_buckets_are_counted_and_sampled_where_they_lie(n, bands, parts, scope, seed):
    """Each bucket lies in one partition: the counts, and the pairs that the sample has, are those of all buckets in one place."""
    rng = np.random.default_rng(seed)
    keys, kept = rng.integers(0, 4, (bands, n)), (rng.random(n) < 0.7) | (np.arange(n) < scope.fixed)
    with budget(2):
        found = grouped(keys, scope)
        whole = of_buckets(found, kept)
        places = []
        for part in range(parts):
            members = []
            for band in range(bands):
                items, levels, listed = found.overfull(band)
                mine = (keys[band, items] + band) % parts == part
                members.append((items[mine], levels[:, mine], listed[:, mine]))
            items, levels, listed = (np.concatenate(each, axis=-1) for each in zip(*members, strict=True))
            begin = np.concatenate(([0], np.cumsum([len(each) for each, _, _ in members])))
            places.append((Splits(items, begin, levels[1:], listed), overfull(members, lambda items: kept[items], scope)))
    counts = merged([full.counts for _, full in places])
    assert all(np.array_equal(one, other) for one, other in zip(counts, whole.counts, strict=True))
    bucket, number = drawn(counts, 1)
    pairs = []
    for splits, full in places:
        here = np.flatnonzero(np.isin(counts.name[bucket], full.counts.name))
        pairs.append(np.array(skipped(splits, full, np.searchsorted(full.counts.name, counts.name[bucket[here]]), number[here])))
    pairs = np.concatenate(pairs, axis=1)
    assert sorted(map(tuple, pairs.T.tolist())) == sorted(zip(*map(np.ndarray.tolist, skipped(found.splits, whole, bucket, number)), strict=True))


def is_compared(later: int, earlier: int, scope: Scope) -> bool:
    return later >= scope.fixed and (scope.inside or earlier < scope.fixed)


def test_pairs_are_numbered_through():
    later, earlier = pair_of(np.arange(15))
    assert list(zip(later.tolist(), earlier.tolist(), strict=True)) == [(i, j) for i in range(6) for j in range(i)]


@pytest.mark.parametrize("index", [2**40, 2**55 + 12345, 2**61 - 1])
def test_large_numbers_of_pairs(index):
    later, earlier = (int(each[0]) for each in pair_of(np.array([index])))
    assert 0 <= earlier < later
    assert later * (later - 1) // 2 + earlier == index


def test_the_sample_is_drawn_evenly_from_the_pairs_that_are_no_candidates():
    """Budget 2, one band, buckets of 5 and 4: 7 of 10 pairs are candidates (those with the first two items), and 5 of 6. So (3, 2), (4, 2), (4, 3)
    and (8, 7) are skipped, each a quarter of the sample: 2,500 of 10,000, standard deviation 43."""
    with budget(2):
        found = grouped(np.array([[0] * 5 + [1] * 4]))
        full = of_buckets(found, np.ones(9, bool))
        left, right = skipped(found.splits, full, *drawn(full.counts, 0))
    assert full.counts.cut.tolist() == [3, 1]
    counts = Counter(zip(left.tolist(), right.tolist(), strict=True))
    assert sorted(counts) == [(2, 3), (2, 4), (3, 4), (7, 8)]
    assert sum(counts.values()) > 9_000
    assert all(0.23 < count / sum(counts.values()) < 0.27 for count in counts.values())
