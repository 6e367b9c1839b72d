"""Exact joins of sets against brute force, with ties at the threshold, sides, groups, and any number of threads."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.engines.threads import Threads
from likewise.errors import UsageError
from likewise.joins import greedy, prefix
from likewise.joins import set_join as exact
from likewise.joins.greedy import removals
from likewise.joins.pairs import ALL, Among, Counts, PairBlock
from likewise.joins.set_join import SetJoin
from likewise.runs import pair_search as search
from likewise.stages import ranking
from likewise.stages.ranking import ranked
from likewise.stages.settle import Removals
from likewise.stages.workers import ALONE, Workers

Rows = list[tuple[int, int, float]]


def arrays(sets: Sequence[set[int]]) -> tuple[np.ndarray, np.ndarray]:
    values = np.array([x for one in sets for x in sorted(one)], np.uint64)
    return values, np.cumsum([0, *map(len, sets)], dtype=np.int64)


def pairs_of(sets: Sequence[set[int]], threshold: Fraction, **choices) -> Rows:
    counts, among = choices.pop("counts", Counts()), Among(choices.pop("items", None), choices.pop("side", None))
    ranking = ranked(*arrays(sets), side=among.side if among.items is None else None, workers=choices.get("workers", ALONE))
    return listed(SetJoin(ranking, threshold, among=among, **choices).pairs(among, counts=counts))


def listed(blocks: Iterator[PairBlock]) -> Rows:
    return sorted(row for block in blocks for row in zip(*(part.tolist() for part in block), strict=True))


def walk_of(sets: Sequence[set[int]], threshold: Fraction, counts: Counts | None = None, **choices) -> Removals:
    join = SetJoin(ranked(*arrays(sets), workers=choices.get("workers", ALONE)), threshold, **choices)
    return removals(join, len(sets), counts or Counts(), distances=False)


def at_least(common: int, union: int, threshold: Fraction) -> bool:
    return common > 0 and common * threshold.denominator >= threshold.numerator * union


def slow_pairs(sets: Sequence[set[int]], threshold: Fraction, side: Sequence[int] | None = None, per: Sequence[int] | None = None) -> Rows:
    out = []
    for a, b in itertools.combinations(range(len(sets)), 2):
        if side is not None and side[a] == side[b] != 3:
            continue
        if per is not None and per[a] != per[b]:
            continue
        common, union = len(sets[a] & sets[b]), len(sets[a] | sets[b])
        if at_least(common, union, threshold):
            out.append((a, b, common / union))
    return out


def slow_contained(sets: Sequence[set[int]], threshold: Fraction, per: Sequence[int] | None) -> Rows:
    out = []
    for a, b in itertools.permutations(range(len(sets)), 2):
        if per is not None and per[a] != per[b]:
            continue
        common = len(sets[a] & sets[b])
        if at_least(common, len(sets[a]), threshold):
            out.append((a, b, common / len(sets[a])))
    return sorted(out)


def slow_walk(sets: Sequence[set[int]], threshold: Fraction, per: Sequence[int]) -> tuple[list[int], list[Fraction], list[tuple[int, int]]]:
    """The definition of the greedy walk, with one bucket for each group: representatives, similarities, and all verified pairs."""
    representative: list[int] = []
    value: list[Fraction] = []
    matched = []
    for item, mine in enumerate(sets):
        best, at = Fraction(0), -1
        for kept in range(item):
            if representative[kept] < 0 and per[kept] == per[item]:
                common, union = len(mine & sets[kept]), len(mine | sets[kept])
                if at_least(common, union, threshold):
                    matched.append((item, kept))
                    if Fraction(common, union) > best:
                        best, at = Fraction(common, union), kept
        representative.append(at)
        value.append(best)
    return representative, value, matched


thresholds = st.sampled_from(["3/10", "1/3", "1/2", "2/3", "3/5", "4/5", "9/10", "1"]).map(Fraction)
small = st.lists(st.sets(st.integers(0, 9), max_size=7), max_size=30)
#: Sets that are large compared with their differences, so that prefixes are long and several words of signs are used.
large = st.lists(st.sets(st.integers(0, 11), max_size=12).map(lambda some: set(range(100, 160)) | some), max_size=12)
mixed = st.one_of(small, large, st.tuples(small, large).map(lambda both: both[0] + both[1]))


depths = st.sampled_from([1, 2, 3])


@contextmanager
def keys_of(depth: int) -> Iterator[None]:
    """Join by keys of ``depth`` elements, which otherwise only many sets use."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "depth_of", lambda *_: (depth, 0.0))
        yield


@settings(max_examples=300, deadline=None)
@given(mixed, thresholds, depths)
def test_pairs_equal_brute_force(sets, threshold, depth):
    with keys_of(depth):
        assert pairs_of(sets, threshold) == slow_pairs(sets, threshold)


@settings(max_examples=300, deadline=None)
@given(mixed, thresholds, st.data())
def test_pairs_across_sides_and_inside_groups_equal_brute_force(sets, threshold, data):
    side = data.draw(st.lists(st.integers(1, 3), min_size=len(sets), max_size=len(sets)))
    per = data.draw(st.none() | st.lists(st.integers(0, 2**64 - 1).map(lambda x: x % 3), min_size=len(sets), max_size=len(sets)))
    groups = None if per is None else np.array(per, np.uint64)
    with keys_of(data.draw(depths)):
        assert pairs_of(sets, threshold, side=np.array(side, np.uint8), per=groups) == slow_pairs(sets, threshold, side, per)
        assert pairs_of(sets, threshold, per=groups) == slow_pairs(sets, threshold, None, per)


@settings(max_examples=300, deadline=None)
@given(mixed, thresholds, st.data())
def test_contained_pairs_equal_brute_force(sets, threshold, data):
    per = data.draw(st.none() | st.lists(st.integers(0, 2), min_size=len(sets), max_size=len(sets)))
    groups = None if per is None else np.array(per, np.uint64)
    assert pairs_of(sets, threshold, contained=True, per=groups) == slow_contained(sets, threshold, per)


@settings(max_examples=200, deadline=None)
@given(mixed, thresholds, st.data())
def test_pairs_among_some_sets_equal_brute_force(sets, threshold, data):
    """All pairs of a selection of sets, or those across sides; sets of side 0 are in no pair."""
    items = data.draw(st.lists(st.integers(0, max(0, len(sets) - 1)), unique=True, max_size=len(sets)).map(sorted))
    side = data.draw(st.none() | st.lists(st.integers(0, 3), min_size=len(items), max_size=len(items)))
    among = Among(np.array(items, np.int64), None if side is None else np.array(side, np.uint8))
    join = SetJoin(ranked(*arrays(sets)), threshold)
    with keys_of(data.draw(depths)):
        found = listed(join.pairs(among))
    there = [place for place in range(len(items)) if side is None or side[place]]
    some = [items[place] for place in there]
    sides = None if side is None else [side[place] for place in there]
    assert found == [(some[a], some[b], value) for a, b, value in slow_pairs([sets[item] for item in some], threshold, sides)]


@contextmanager
def held(first: int, most: int) -> Iterator[None]:
    """Removal that holds at most ``most`` pairs at once, and begins with ``first`` items."""
    with pytest.MonkeyPatch.context() as patch:
        for name, number in (("EACH", 0), ("FEWEST", most), ("MOST", most), ("FIRST", first), ("SAMPLE", 4), ("REMEMBERED", 10**6)):
            patch.setattr(greedy, name, number)
        yield


@settings(max_examples=300, deadline=None)
@given(mixed, thresholds, st.data())
def test_removal_is_that_of_the_definition(sets, threshold, data):
    """Decided at once, or part by part down to single sets."""
    per = data.draw(st.lists(st.integers(0, 1), min_size=len(sets), max_size=len(sets)))
    with keys_of(data.draw(depths)), held(data.draw(st.integers(1, 9)), data.draw(st.sampled_from([1, 4, 20, 10**6]))):
        found = walk_of(sets, threshold, per=np.array(per, np.uint64))
    representative, value, matched = slow_walk(sets, threshold, per)
    assert found.representative.tolist() == representative
    assert found.value[found.representative >= 0].tolist() == [float(v) for v in value if v]
    assert np.isnan(found.value[found.representative < 0]).all()
    assert [tuple(row) for row in found.matches.tolist()] == matched
    assert found.values.tolist() == [len(sets[a] & sets[b]) / len(sets[a] | sets[b]) for a, b in matched]


@pytest.mark.parametrize(
    ("a", "b", "similarity"),
    [(10, 8, "4/5"), (3, 2, "2/3"), (1, 1, "1"), (10, 3, "3/10"), (1000, 999, "999/1000"), (7, 7, "1")],
)
def test_equality_with_the_threshold_counts(a, b, similarity):
    """The first b of a elements: a pair at exactly their similarity, not just above it."""
    threshold, sets = Fraction(similarity), [set(range(a)), set(range(b)), {5000}]
    assert pairs_of(sets, threshold) == [(0, 1, b / a)]
    assert walk_of(sets, threshold).representative.tolist() == [-1, 0, -1]
    above = threshold + Fraction(1, 10**9) if threshold < 1 else None
    if above:
        assert pairs_of(sets, above.limit_denominator(10**9)) == []
        assert walk_of(sets, above.limit_denominator(10**9)).representative.tolist() == [-1, -1, -1]


def test_a_third_is_a_third():
    """The threshold 1/3 is not 0.3333: {1} in {1, 2, 3} reaches it, overlap 3333 of 10000 does not."""
    assert pairs_of([{1}, {1, 2, 3}], Fraction(1, 3)) == [(0, 1, 1 / 3)]
    assert pairs_of([set(range(3333)), set(range(10000))], Fraction(1, 3)) == []
    assert pairs_of([set(range(3334)), set(range(10000))], Fraction(1, 3)) == [(0, 1, 3334 / 10000)]


def test_empty_sets_never_pair_and_no_sets_are_no_error():
    assert pairs_of([set(), set(), {1}, {1}], Fraction(1, 2)) == [(2, 3, 1.0)]
    assert walk_of([set(), set(), {1}, {1}], Fraction(1, 2)).representative.tolist() == [-1, -1, -1, 2]
    for sets in ([], [set()], [set(), set()], [{1}]):
        assert pairs_of(sets, Fraction(3, 10)) == []
        assert pairs_of(sets, Fraction(3, 10), contained=True) == []
        assert walk_of(sets, Fraction(3, 10)).representative.tolist() == [-1] * len(sets)
        assert SetJoin(ranked(*arrays(sets)), Fraction(3, 10)).cost >= 0


def test_elements_may_be_any_words_and_offsets_may_begin_anywhere():
    sets = [{0, 2**64 - 1, 7}, {0, 2**64 - 1, 7, 8}, {2**63, 1}, {2**63, 1}]
    values, offsets = arrays(sets)
    shifted = np.concatenate([np.array([99, 98], np.uint64), values, np.array([97], np.uint64)])
    want = [(0, 1, 3 / 4), (2, 3, 1.0)]
    assert pairs_of(sets, Fraction(3, 4)) == want
    assert listed(SetJoin(ranked(shifted, offsets + 2), Fraction(3, 4)).pairs()) == want


def large_group(n: int, seed: int = 5) -> list[set[int]]:
    """Baskets in which small numbers are common, with some near-duplicates of earlier ones."""
    draw = np.random.default_rng(seed)
    sets: list[set[int]] = []
    for _ in range(n):
        if sets and draw.random() < 0.3:
            one = set(sets[draw.integers(len(sets))])
            one -= set(draw.choice(sorted(one), 1).tolist())
            sets.append(one | {int(draw.integers(0, 400))})
        else:
            sets.append(set((draw.pareto(0.7, draw.integers(3, 30)) * 5).astype(int).clip(0, 5000).tolist()))
    return sets


@pytest.mark.parametrize("threads", [1, 3])
def test_results_and_counters_do_not_depend_on_threads(threads, monkeypatch):
    """Small parts, tasks and buffers, so that all of them are split and continued in the middle."""
    monkeypatch.setattr(ranking, "PIECE", 1000)
    monkeypatch.setattr(prefix, "MATCHES_AT_ONCE", 100)
    monkeypatch.setattr(prefix, "MATCHES_OF_A_TASK", 300)
    monkeypatch.setattr(prefix, "COMPARED_AT_ONCE", 200)
    sets = large_group(1000)
    engine = Threads(threads)
    done: list[int] = []
    choices = {"workers": Workers(engine.run, threads, done.append)}
    try:
        for threshold in (Fraction(4, 5), Fraction(1, 2)):
            counts, walked = Counts(), Counts()
            got = pairs_of(sets, threshold, counts=counts, **choices)
            assert got == slow_pairs(sets, threshold)
            assert sum(done) == sum(map(len, sets))
            done.clear()
            with held(64, 200):
                found = walk_of(sets, threshold, walked, **choices)
            done.clear()
            assert found.representative.tolist() == slow_walk(sets, threshold, [0] * len(sets))[0]
            assert found.compared == walked.compared
            assert [(each.visited, each.compared) for each in (counts, walked)] == COUNTED[threshold]
    finally:
        engine.close()


#: The work of a join of large_group(1000), and of removal part by part: index entries visited, overlaps counted. Higher numbers mean a weaker filter.
COUNTED = {
    Fraction(4, 5): [(1991, 283), (1744, 227)],  # 273 pairs
    Fraction(1, 2): [(60057, 1598), (49491, 1163)],  # 844 pairs
}


def common(n: int, seed: int = 7) -> list[set[int]]:
    """15 of 100 elements each, all about equally common; every tenth set repeats 13 of the set before it."""
    draw = np.random.default_rng(seed)
    sets: list[set[int]] = []
    for place in range(n):
        one = draw.choice(100, 15, replace=False).tolist()
        sets.append({*sorted(sets[-1])[:13], 100, 101} if place % 10 == 9 else set(one))
    return sets


def every_pair(sets: Sequence[set[int]], threshold: Fraction) -> Rows:
    """All pairs by a product of matrices."""
    held = np.zeros((len(sets), 1 + max(map(max, sets))), np.int64)
    for place, one in enumerate(sets):
        held[place, list(one)] = 1
    shared, size = held @ held.T, held.sum(axis=1)
    union = size[:, None] + size - shared
    at = np.argwhere(np.triu(shared * threshold.denominator >= threshold.numerator * union, 1))
    return [(int(a), int(b), float(shared[a, b] / union[a, b])) for a, b in at]


#: Index entries that a join of common(3000), and removal part by part, visit at 1/2: number of elements in a key -> entries.
VISITED = {1: (3_135_505, 2_954_227), 2: (1_269_735, 1_180_416), 3: (385_239, 352_813)}


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_keys_of_more_elements_visit_fewer_entries(depth):
    sets, threshold = common(3000), Fraction(1, 2)
    joined, walked = Counts(), Counts()
    with keys_of(depth):
        found = pairs_of(sets, threshold, counts=joined)
        with held(512, 300):
            walk = walk_of(sets, threshold, walked)
    pairs = every_pair(sets, threshold)
    assert found == pairs and len(pairs) > 300
    kept = walk.representative < 0
    matched = [(a, b) for a, b, _ in pairs if kept[a]]  # an item is removed exactly if an earlier similar item is kept
    assert np.flatnonzero(~kept).tolist() == sorted({b for _, b in matched})
    assert {(row[1], row[0]) for row in walk.matches.tolist()} == set(matched)
    assert (joined.visited, walked.visited) == VISITED[depth]


def test_the_number_of_elements_of_a_key_is_chosen_by_cost():
    """Two or three for 20,000 sets of common elements; one for rare elements, and for few sets."""
    threshold = Fraction(1, 2)

    def depth(sets: Sequence[set[int]]) -> int:
        return SetJoin(ranked(*arrays(sets)), threshold).ready(ALL).joined.keys[4] + 1

    draw = np.random.default_rng(1)
    assert depth(common(20_000)) >= 2
    assert depth(common(500)) == 1
    assert depth([set(draw.integers(0, 10**6, 15).tolist()) for _ in range(20_000)]) == 1


def test_rank_numbers_elements_by_how_many_sets_have_them():
    """7 is in three sets and has rank 1, 1 is in two and has rank 0; 5 and 6 are in one set each and have no rank."""
    got = ranked(*arrays([{1, 5, 7}, {1, 6, 7}, {7}]))
    rows = [got.tokens[begin : begin + count].tolist() for begin, count in zip(got.first, got.shared, strict=True)]
    assert (rows, got.size.tolist(), got.ranks) == ([[0, 1], [0, 1], [1]], [3, 3, 1], 2)


def test_rank_leaves_out_what_only_one_side_has():
    got = ranked(*arrays([{1, 5}, {1, 5, 6}, {6}, {5}]), side=np.array([1, 1, 2, 2], np.uint8))
    assert (got.shared.tolist(), got.ranks) == ([1, 2, 1, 1], 2)  # 1 is in two sets of A; 5 and 6 are in both


def test_strangers_are_distinguished_without_counting_their_overlap():
    """50 of 1,000 elements each: a million pairs share a rare element at random, and no pair is similar."""
    draw = np.random.default_rng(3)
    values = np.concatenate([np.sort(draw.choice(1000, 50, replace=False)) for _ in range(2000)]).astype(np.uint64)
    counts = Counts()
    sets = ranked(values, np.arange(0, 100_001, 50))
    assert listed(SetJoin(sets, Fraction(1, 2)).pairs(counts=counts)) == []
    assert counts.visited > 1_000_000
    assert counts.compared < 200


def test_stops_when_there_are_too_many_pairs():
    sets = [{1, 2, 3}] * 3000
    rows = sum(len(block.left) for block in SetJoin(ranked(*arrays(sets)), Fraction(1)).pairs(most=10_000))
    assert 10_000 < rows < 3000 * 2999 // 2


def test_too_many_elements_are_refused():
    with pytest.raises(UsageError, match="up to 4,294,967,294 elements"):
        ranked(np.empty(0, np.uint64), np.array([0, 2**32]))


def test_cost_grows_with_what_is_visited_and_falls_with_the_threshold():
    sets = ranked(*arrays(large_group(4000)))
    costs = [SetJoin(sets, Fraction(t, 10)).cost for t in (3, 5, 8, 10)]
    assert costs == sorted(costs, reverse=True)
    assert costs[0] > 3 * costs[3]
    assert SetJoin(sets, Fraction(4, 5)).cost == costs[2]


@pytest.mark.parametrize(("contained", "sided"), [(False, False), (False, True), (True, False)])
def test_what_a_join_costs_is_reported_before_it_begins(contained, sided, monkeypatch):
    """By the maximum number of visited entries: sets with too little in common are abandoned early."""
    rng = np.random.default_rng(3)
    sets = [set(np.minimum(rng.geometric(0.02, 12), 200).tolist()) for _ in range(500)]
    side = np.asarray(np.arange(500) % 2 + 1, np.uint8) if sided else None
    visits, counts, among = [], Counts(), Among(side=side)
    count = exact.kernels.expected
    monkeypatch.setattr(exact.kernels, "expected", lambda *given: visits.append(count(*given)) or visits[-1])
    join = SetJoin(ranked(*arrays(sets), side=side), Fraction(1, 2), among=among, contained=contained)
    assert join.cost > visits[-1] > 0
    list(join.pairs(among, counts=counts))
    assert counts.visited <= visits[-1] <= 2 * counts.visited


@pytest.mark.parametrize("choices", [{"by": "elements/containment"}, {"by": "elements", "exact": True}, {"by": "words:1/containment"}])
def test_a_long_join_is_announced(choices, monkeypatch):
    sets = [[f"w{place % 7}", f"w{place % 5}", f"v{place}"] for place in range(30)]
    items = sets if choices["by"].startswith("elements") else [" ".join(one) for one in sets]
    assert lw.pairs(items, threshold=0.5, **choices).report["warnings"] == []
    monkeypatch.setattr(search, "LONG", 5000)
    kind = "sets" if choices["by"].startswith("elements") else "texts"
    (said,) = lw.pairs(items, threshold=0.5, **choices).report["warnings"]
    assert said.startswith(f"30 {kind} will be joined; expect about 0 minutes on one core")


def test_a_long_join_of_an_audit_is_announced_once(monkeypatch):
    """An audit joins twice: for all pairs, and for those that the run finds."""
    monkeypatch.setattr(search, "LONG", 5000)
    sets = [[place % 7, place % 5 + 10, place + 100] for place in range(30)]
    (said,) = lw.audit(sets, by="elements", threshold=0.5, exact=True).warnings
    assert "30 sets will be joined" in said


@pytest.mark.parametrize("by", ["elements", "words:1", "weighted"])
@pytest.mark.parametrize("threshold", [1e-5, 1e-9])
def test_an_exact_join_needs_no_layout(by, threshold):
    """Thresholds far below the minimum of any layout. The first two sets share one of 2,001 elements."""
    sets = [list(range(1001)), [0, *range(2000, 3000)], [5000, 5001]]
    items = [" ".join(f"w{x}" for x in one) for one in sets] if by == "words:1" else sets
    items = [dict.fromkeys(map(str, one), 1.0) for one in sets] if by == "weighted" else items
    with pytest.raises(UsageError, match=r"no layout finds a pair .* or exact=True in dedup or pairs, which needs no layout"):
        lw.pairs(items, by=by, threshold=threshold)
    found = lw.pairs(items, by=by, threshold=threshold, exact=True)
    assert [(row["id_a"], row["id_b"]) for row in found.to_arrow().to_pylist()] == [(0, 1)]
    assert (found.report["recall"], found.report["method"]["plan"]) == (1.0, None)
    removal = lw.dedup(items, by=by, threshold=threshold, exact=True)
    assert (removal.report["counts"]["removed"], removal.report["curve"]) == (1, [])
    assert lw.audit(items, by=by, threshold=threshold, exact=True).recall == 1.0
