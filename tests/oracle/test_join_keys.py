"""Joins in parts, by keys of items: against comparing all with all."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.joins import keys as of_items
from likewise.joins.hamming_join import Tables, sample_of
from likewise.joins.keys import Keyed, Keys, PrefixKeys, TableKeys, in_groups, joined, sliced
from likewise.kernels.bands import MIX
from likewise.stages.candidates import in_parts, lists_of_pairs, whole_lists
from likewise.stages.scope import Scope

NO_COUNTS = np.zeros(0, np.int64)


def near_sets(rng: np.random.Generator, number: int, elements: int, most: int) -> list[set[int]]:
    """Sets of up to ``most`` of so many elements. Half of them are others with a few elements changed."""
    made = [set(rng.integers(0, elements, int(rng.integers(1, most))).tolist()) for _ in range(number // 2)]
    for each in made[:]:
        kept = list(each)[int(rng.integers(0, 3)) :]
        made.append({*kept, *rng.integers(0, elements, int(rng.integers(0, 3))).tolist()} or each)
    return made


def keys_of_sets(sets: list[set[int]], threshold: Fraction) -> tuple[Keys, Keyed]:
    """The keys of sets, and how they are made of elements that two or more sets have."""
    word = np.arange(max(max(each) for each in sets) + 1).astype(np.uint64) * MIX
    times = np.bincount([element for each in sets for element in each], minlength=len(word))
    shared = [[element for element in each if times[element] > 1] for each in sets]
    element = np.array([one for each in shared for one in each], np.int64)
    size, offsets = np.array(list(map(len, sets))), np.cumsum([0, *map(len, shared)])
    keys = PrefixKeys.of_size(threshold, float(size.mean()))
    return keys, keys.of(word[element], offsets, size, times[element])


def pairs_of(keys: Keys, found: Keyed, items: int) -> set[tuple[int, int]]:
    """The pairs that pass in some group of whole buckets."""
    found = sliced(found, np.arange(items))
    groups = list(in_groups(found.key))
    assert sum(len(np.unique(found.key[group])) for group in groups) == np.count_nonzero(np.unique(found.key, return_counts=True)[1] > 1)
    blocks = (found.item[group[np.stack(block)]] for group in groups for block in joined(keys, found.key[group], found.mark[group]))
    return {(min(pair), max(pair)) for block in blocks for pair in block.T.tolist()}


@pytest.fixture(params=[1 << 16, 16])
def slice_of(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """The items of a slice: buckets are whole, or cut into pairs of slices; and the number of items whose buckets are joined at once."""
    monkeypatch.setattr(of_items, "SLICE", request.param)
    monkeypatch.setattr(of_items, "GROUP", 2 * request.param)
    return int(request.param)


@pytest.mark.parametrize("threshold", [Fraction(1, 3), Fraction(4, 5), Fraction(1)])
@pytest.mark.parametrize("elements", [25, 90, 2000])
def test_similar_sets_share_a_key_and_pass(slice_of: int, threshold: Fraction, elements: int) -> None:
    sets = near_sets(np.random.default_rng(elements), 240, elements, 30)
    every = {pair: Fraction(len(sets[pair[0]] & sets[pair[1]]), len(sets[pair[0]] | sets[pair[1]])) for pair in itertools.combinations(range(240), 2)}
    similar = {pair for pair, value in every.items() if value >= threshold}
    found = pairs_of(*keys_of_sets(sets, threshold), 240)
    assert len(similar) > 12 and similar <= found
    assert len(found) < len(similar) + 0.05 * len(every)


def test_sets_with_an_element_of_all_have_no_key_of_it() -> None:
    """It is the last in the order; of ten elements the first three are keys at 4/5, and a set without shared ones has none."""
    sets = [{0, *range(1 + 9 * i, 10 + 9 * i)} for i in range(40)] + [{0, 1, 2, 3, 4, 5, 6, 7, 8, 400}]
    keys, found = keys_of_sets(sets, Fraction(4, 5))
    assert sorted(found.item.tolist()) == [0, 0, 40, 40] and 0 not in found.key
    assert pairs_of(keys, found, 41) == {(0, 40)}


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([16, 64, 100, 256]), st.integers(0, 9))
def test_close_codes_share_a_key(seed: int, bits: int, within: int) -> None:
    rng = np.random.default_rng(seed)
    flags = (rng.random((12, bits)) < 0.5)[rng.integers(0, 12, 80)] ^ (rng.random((80, bits)) < 4 / bits)
    octets = np.zeros((80, -(-bits // 64) * 8), np.uint8)
    octets[:, : -(-bits // 8)] = np.packbits(flags, axis=1, bitorder="little")
    codes = octets.view("<u8").astype(np.uint64)
    similar = {(i, j) for i, j in itertools.combinations(range(80), 2) if np.count_nonzero(flags[i] != flags[j]) <= within}
    chosen = TableKeys.of_sample(codes[sample_of(80)], 80, bits, within, walk=False)
    for keys in (chosen, replace(chosen, tables=Tables.pigeonhole(bits, within + 2, within))):
        found = keys.of(codes.ravel(), np.arange(81) * codes.shape[1], np.full(80, codes.shape[1]), NO_COUNTS)
        assert len(found.key) == 80 * len(keys.tables)
        assert pairs_of(keys, found, 80) == similar


def test_keys_of_very_many_codes_are_cut_into_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """400 codes that each differ from one in two bits share keys, among 1,600 others. A sample shows them, and no bucket has more than two slices."""
    monkeypatch.setattr(of_items, "SLICE", 50)
    monkeypatch.setattr(of_items, "ENTRY_COST", 1e-3)  # many tables
    bits = np.array(list(itertools.combinations(range(64), 2))[::5], np.uint64)[:400]
    close = np.uint64(0xABCDEF) ^ np.uint64(1) << bits[:, 0] ^ np.uint64(1) << bits[:, 1]
    codes = np.concatenate([close, np.random.default_rng(1).integers(0, 2**64, 1600, np.uint64)])[:, np.newaxis]
    keys = TableKeys.of_sample(codes[sample_of(2000)], 2000, 64, 4, walk=False)
    found = keys.of(codes.ravel(), np.arange(2001), np.ones(2000, np.int64), NO_COUNTS)
    largest, in_slices = (np.unique(each.key, return_counts=True)[1].max() for each in (found, sliced(found, np.arange(2000))))
    assert len(keys.tables) > 4 and largest > 200 and in_slices < 150
    assert pairs_of(keys, found, 2000) == set(itertools.combinations(range(400), 2))


@pytest.mark.parametrize("scope", [Scope(), Scope(9, True), Scope(9, False)])
def test_lists_of_pairs_and_of_whole_buckets_in_parts(scope: Scope) -> None:
    rng = np.random.default_rng(3)
    keys, item = rng.integers(0, 5, 40).astype(np.uint64), rng.permutation(40)
    lists = whole_lists(keys, item, scope)
    wanted = {
        (max(a, b), min(a, b))
        for (a, own), (b, other) in itertools.combinations(zip(item.tolist(), keys.tolist(), strict=True), 2)
        if own == other and max(a, b) >= scope.fixed and (scope.inside or min(a, b) < scope.fixed)
    }
    for most in (1, 7, 1000):
        parts = [part.item[part.places()].T.tolist() for part in in_parts(lists, most)]
        pairs = [tuple(pair) for part in parts for pair in part]
        assert set(pairs) == wanted and len(pairs) == len(wanted)
        assert max(map(len, parts)) <= max(most, 15) and (len(parts) > 1 or most == 1000)
    again = lists_of_pairs(*np.array([*pairs, *pairs[::3]]).T)
    assert sorted(map(tuple, again.item[again.places()].T.tolist())) == sorted(wanted)
    assert lists_of_pairs(item[:0], item[:0]).item.tolist() == []
