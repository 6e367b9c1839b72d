"""Removal, components and candidate pairs in rounds, compared with the results of one process."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bucket_candidates import budget
from likewise.kernels.greedy import KEPT, REMOVED, UNDECIDED
from likewise.stages import lazy
from likewise.stages.candidates import FINER, Lists, candidate_pairs, collisions, ordinary, pruned
from likewise.stages.components import components, contracted, links
from likewise.stages.rounds import matched, settle_round
from likewise.stages.scope import Scope
from likewise.stages.settle import settled


def in_blocks(later: np.ndarray, earlier: np.ndarray, block: np.ndarray, apart: int = 10_000) -> tuple[np.ndarray, int]:
    """The states of all items after as many rounds as are needed, and their number.

    block: int[n], ascending. apart: rounds after which one place does the rest.
    """
    states, open_, rounds = np.full(len(block), KEPT, np.uint8), np.ones(len(later), bool), 0
    known = np.full(len(block), UNDECIDED, np.uint8)  # what a round says to the next one
    while open_.any():
        block = block if rounds < apart else np.zeros_like(block)
        rounds, told, more = rounds + 1, known.copy(), []
        for number in np.unique(block):
            mine = np.flatnonzero(open_ & (block[later] == number))
            found = settle_round(later[mine], earlier[mine], told[earlier[mine]], block[earlier[mine]] == number)
            states[found.item] = known[found.item] = found.state
            more += mine[found.open].tolist()
        open_[:] = False
        open_[more] = True
        known[np.setdiff1d(np.arange(len(block)), later)] = KEPT  # an item without pairs is in no answer
    return states, rounds


def random_pairs(rng: np.random.Generator, n: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    ends = np.sort(rng.integers(0, n, (number, 2)), axis=1)
    return tuple(ends[ends[:, 0] < ends[:, 1]].T[::-1])


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 60), st.integers(0, 150), st.integers(1, 8), st.integers(0, 9), st.integers(0, 2**32 - 1))
def test_blocks_decide_in_rounds_what_one_place_decides(n, number, blocks, apart, seed):
    rng = np.random.default_rng(seed)
    later, earlier = random_pairs(rng, n, number)
    overlap, out_of = rng.integers(1, 4, len(later)), rng.integers(4, 7, len(later))
    states, rounds = in_blocks(later, earlier, np.sort(rng.integers(0, blocks, n)), apart)
    wanted = settled(later, earlier, overlap, out_of, n)
    assert ((states == REMOVED) == (wanted.representative >= 0)).all()
    assert UNDECIDED not in states and rounds <= min(blocks, apart + 1)
    some = np.flatnonzero(states[earlier] == KEPT)
    some = some[np.unique(np.stack([later[some], earlier[some]]), axis=1, return_index=True)[1]]  # each pair once
    order, best, previous = matched(*(each[some] for each in (later, earlier, overlap, out_of)))
    kept_pairs = list(zip(later[some][order].tolist(), earlier[some][order].tolist(), strict=True))
    assert kept_pairs == sorted(kept_pairs)
    once = settled(*(each[some] for each in (later, earlier, overlap, out_of)), n)
    removed = np.flatnonzero(wanted.representative >= 0)
    assert [pair for pair, here in zip(kept_pairs, best, strict=True) if here] == list(
        zip(removed.tolist(), once.representative[removed].tolist(), strict=True)
    )
    connected = [(kept, before) for (_, kept), before in zip(kept_pairs, previous.tolist(), strict=True) if before >= 0]
    assert sorted(connected) == sorted(zip(*map(np.ndarray.tolist, links(later[some], earlier[some])), strict=True))


@pytest.mark.parametrize("blocks", [1, 7])
def test_a_chain_of_versions_takes_as_many_rounds_as_blocks(blocks):
    """10,000 versions, each similar to the next: every second one stays, whatever the blocks."""
    chain = np.arange(1, 10_000)
    states, rounds = in_blocks(chain, chain - 1, np.arange(10_000) * blocks // 10_000)
    assert states.tolist() == [KEPT, REMOVED] * 5_000
    assert rounds == blocks


def components_in_blocks(later: np.ndarray, earlier: np.ndarray, block: np.ndarray) -> tuple[np.ndarray, int]:
    rounds, sent = 0, True
    while sent:
        rounds, sent, pairs = rounds + 1, False, [np.empty((2, 0), np.int64)]
        for number in np.unique(block):
            mine = block[later] == number
            pairs.append(np.array(contracted(later[mine], earlier[mine])))
            sent |= bool((block[pairs[-1][0]] != number).any())
        later, earlier = np.concatenate(pairs, axis=1)
    assert len(np.unique(later)) == len(later)
    first = np.arange(len(block))
    first[later] = earlier
    while (first[first] != first).any():
        first = first[first]
    return first, rounds


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 60), st.integers(0, 80), st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_blocks_find_components_in_rounds(n, number, blocks, seed):
    rng = np.random.default_rng(seed)
    item, kept = rng.integers(100, 120, number), rng.integers(0, n, number)
    matches = np.unique(np.stack([item, kept], axis=1), axis=0)
    found, rounds = components_in_blocks(*links(*matches.T), np.sort(rng.integers(0, blocks, n)))
    assert found.tolist() == components(n, matches).tolist()
    assert rounds <= blocks + 1


def test_links_connect_the_kept_items_of_each_item():
    """Item 9 matches 1, 4 and 2; item 7 matches 5 alone; item 8 matches 4 and 6."""
    later, earlier = links(np.array([9, 8, 9, 7, 9, 8]), np.array([1, 4, 4, 5, 2, 6]))
    assert list(zip(later.tolist(), earlier.tolist(), strict=True)) == [(6, 4), (2, 1), (4, 2)]
    assert [each.tolist() for each in contracted(later, earlier)] == [[2, 4, 6], [1, 1, 1]]


def lists_in(keys: np.ndarray, scope: Scope) -> list[Lists]:
    """The lists of each band."""
    bands, n = keys.shape
    keys = keys.astype(np.uint64)
    finer = [[(band + level) % bands for level in range(1, 1 + min(FINER, bands - 1))] for band in range(bands)]
    return [collisions(keys[band], keys[finer[band]].reshape(len(finer[band]), n), np.arange(n), scope).lists for band in range(bands)]


@pytest.mark.parametrize("scope", [Scope(), Scope(1200, False), Scope(1200, True)])
def test_overfull_buckets_can_be_taken_apart(scope):
    """A bucket of about 400 items, one of about 260, and small ones, in an order that is not that of priority."""
    rng = np.random.default_rng(4)
    keys, rank = rng.choice([7, 8, *range(100, 600)], 2000, p=[0.2, 0.13, *[0.67 / 500] * 500]).astype(np.uint64), rng.permutation(2000)
    finer = rng.integers(0, 30, (2, 2000)).astype(np.uint64)
    wanted = collisions(keys, finer, rank, scope)
    lists, sizes, over = ordinary(keys, rank, scope)
    rest = collisions(keys[over], finer[:, over], rank[over], scope)
    assert set(keys[over].tolist()) == {7, 8} and len(over) == np.isin(keys, [7, 8]).sum()
    assert sorted([*sizes, *rest.sizes]) == sorted(wanted.sizes)
    found = [lists.item[place] for place in lists.places()], [rest.lists.item[place] for place in rest.lists.places()]
    assert pairs(*found[0]) | pairs(*found[1]) == pairs(*(wanted.lists.item[place] for place in wanted.lists.places()))
    assert rest.overfull.members.tolist() == wanted.overfull.members.tolist()
    assert rest.overfull.listed.tolist() == wanted.overfull.listed.tolist()


def pairs(later: np.ndarray, earlier: np.ndarray) -> set[tuple[int, int]]:
    return set(zip(later.tolist(), earlier.tolist(), strict=True))


def of_all(function, lists: list[Lists], *columns: np.ndarray) -> set[tuple[int, int]]:
    """The pairs that a function makes of the lists of all bands. columns: int[n], handed over as values of the entries."""
    return set().union(*(pairs(*function(each, *(column[each.item] for column in columns))) for each in lists))


def lazily(lists: list[Lists], similar: np.ndarray, rounds: int, fixed: int = 0) -> tuple[np.ndarray, set[tuple[int, int]], int]:
    """The removed items, the similar pairs with kept ones, and the number of comparisons."""
    n, compared, found = len(similar), 0, set()
    removed, decided = np.zeros(n, bool), np.full(n, rounds + 1)

    def compare(candidates: set[tuple[int, int]]) -> list[tuple[int, int]]:
        nonlocal compared
        compared += len(candidates)
        good = [pair for pair in candidates if similar[pair]]
        assert not found & candidates
        found.update(good)
        return good

    left = lists
    for number in range(1, rounds + 1):
        first = of_all(lazy.first_pairs, left)
        waiting = {later for later, _ in first}
        certain = {(later, earlier) for later, earlier in first if earlier not in waiting and later >= fixed}
        kept = np.zeros(n, bool)
        kept[[earlier for _, earlier in certain]] = True
        decided[kept] = number
        for later, _ in compare(certain):
            removed[later], decided[later] = True, number
        marks = [lazy.left(each.listed, each.reads, removed[each.item], kept[each.item]) for each in left]
        left = [pruned(each._replace(listed=listed, reads=reads)) for each, (listed, reads) in zip(left, marks, strict=True)]
    rest = np.array(compare(of_all(lambda each: each.item[each.places()], left)), np.int64).reshape(-1, 2)
    removed |= settled(*rest.T, np.ones(len(rest), int), np.ones(len(rest), int), n).representative >= 0
    compare(of_all(lazy.late_pairs, lists, removed, decided))
    return removed, {(later, earlier) for later, earlier in found if not removed[earlier]}, compared


scopes = st.builds(Scope, st.integers(0, 30), st.booleans())


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 60), st.integers(1, 4), st.integers(1, 4), st.integers(0, 3), scopes, st.floats(0, 1), st.integers(0, 2**32 - 1))
def test_lazy_rounds_find_what_all_candidate_pairs_give(n, bands, variety, rounds, scope, share, seed):
    rng = np.random.default_rng(seed)
    keys, similar = rng.integers(0, variety, (bands, n)), rng.random((n, n)) < share
    with budget(3):
        lists = lists_in(keys, scope)
        removed, found, compared = lazily([lazy.cut(each, 4) for each in lists], similar, rounds, scope.fixed)
    every = sorted(of_all(lambda each: each.item[each.places()], lists))
    edges = np.array([pair for pair in every if similar[pair]], np.int64).reshape(-1, 2)
    wanted = settled(*edges.T, np.ones(len(edges), int), np.ones(len(edges), int), n).representative >= 0
    assert removed.tolist() == wanted.tolist()
    assert found == {(later, earlier) for later, earlier in edges.tolist() if not wanted[earlier]}
    assert compared <= len(every)


def test_many_similar_items_cost_one_comparison_each():
    """5,000 similar items in three buckets: the first one stays. Its buckets list 128 of them; all pairs would be 128 times as many."""
    lists = lists_in(np.zeros((3, 5000), int), Scope())
    removed, found, compared = lazily(lists, np.ones((5000, 5000), bool), 1)
    assert removed.tolist() == [False] + [True] * 4999
    assert compared == len(found) == 4999
    assert len(of_all(lambda each: each.item[each.places()], lists)) > 100 * compared


def test_a_list_is_cut_into_pieces_of_a_few_readers():
    """One bucket of 1,000 dissimilar items, of which 128 are listed: pieces of at most 100 readers have the pairs of the whole."""
    (whole,) = lists_in(np.zeros((1, 1000), int), Scope())
    pieces = lazy.cut(whole, 100)
    assert len(pieces.begin) == 1 + 10 and np.diff(pieces.begin).max() <= 100 + 128
    assert max(np.add.reduceat(pieces.reads, pieces.begin[:-1])) <= 100
    all_pairs = [tuple(each) for each in pieces.item[pieces.places()].T.tolist()]
    assert len(all_pairs) == len(set(all_pairs)) and set(all_pairs) == pairs(*whole.item[whole.places()])


def test_the_same_pairs_in_one_list_each():
    found = candidate_pairs(np.array([5, 5, 1, 5], np.uint64), np.empty((0, 4), np.uint64), np.array([10, 40, 20, 30]))
    assert pairs(found.later, found.earlier) == {(30, 10), (40, 10), (40, 30)}
