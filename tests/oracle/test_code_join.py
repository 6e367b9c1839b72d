"""All pairs of codes within a Hamming distance: against comparing all with all."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.joins import hamming_join as stage
from likewise.joins.hamming_join import Check, TableJoin, Tables, code_join
from likewise.joins.pairs import Among, Counts, PairBlock
from likewise.kernels import codejoin
from likewise.kernels.codejoin import sort_table, split_rows
from likewise.stages.workers import Workers

NONE = np.zeros(0, np.uint8), np.zeros(0, np.uint64)


def random_codes(rng: np.random.Generator, count: int, bits: int, apart: int = 3) -> np.ndarray:
    """uint64[count, words]: a few centers, and codes around them in which some bits are changed; and equal ones."""
    kinds = rng.random((max(1, count // 6), bits)) < 0.5
    flags = kinds[rng.integers(0, len(kinds), count)]
    for row in flags:
        row[rng.integers(0, bits, rng.integers(0, apart + 1))] ^= True
    octets = np.zeros((count, -(-bits // 64) * 8), np.uint8)
    octets[:, : -(-bits // 8)] = np.packbits(flags, axis=1, bitorder="little")
    return octets.view("<u8").astype(np.uint64)


def brute(codes: np.ndarray, within: int, side: Any = None, per: Any = None) -> set[tuple[int, int, int]]:
    """One by one."""
    found = set()
    for i, j in itertools.combinations(range(len(codes)), 2):
        distance = sum(int(a ^ b).bit_count() for a, b in zip(codes[i].tolist(), codes[j].tolist(), strict=True))
        across = side is None or (side[i] | side[j] == 3 and 0 not in (side[i], side[j]))
        if distance <= within and across and (per is None or per[i] == per[j]):
            found.add((i, j, distance))
    return found


def listed(blocks: Any) -> list[tuple[int, int, int]]:
    return [triple for block in blocks for triple in zip(*(part.tolist() for part in block), strict=True)]


def exactly(found: list[tuple[int, int, int]], expected: set[tuple[int, int, int]]) -> None:
    """The same, each once."""
    assert len(found) == len(set(found))
    assert set(found) == expected


def measured(codes: np.ndarray) -> Check:
    """A check that every pair passes."""
    return lambda left, right: (PairBlock(left, right, codejoin.distances_of(codes, left, right).astype(float)), len(left))


BITS = st.sampled_from([8, 16, 24, 64, 72, 128, 136, 192, 256, 320, 576, 640])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 50), BITS, st.integers(0, 9))
def test_as_comparing_all_with_all(seed, count, bits, within):
    codes = random_codes(np.random.default_rng(seed), count, bits)
    exactly(listed(code_join(codes, bits, within).pairs()), brute(codes, within))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), BITS, st.integers(0, 5), st.integers(0, 4), st.booleans(), st.booleans())
def test_any_layout_gives_the_same(seed, bits, within, more, sides, groups):
    """The join is exact for any number of blocks, across collections, within groups, and both."""
    rng = np.random.default_rng(seed)
    codes = random_codes(rng, 40, bits)
    side = rng.integers(0, 4, 40).astype(np.uint8) if sides else None
    per = rng.integers(0, 3, 40).astype(np.uint64) if groups else None
    tables = Tables.pigeonhole(bits, min(bits, max(1, within + more)), within)
    join = TableJoin(codes, tables, within, within, measured(codes), per=per)
    exactly(listed(join.pairs(Among(side=side))), brute(codes, within, side, per))
    items = np.flatnonzero(rng.integers(0, 3, 40))
    some = set(items.tolist())
    among = Among(items, None if side is None else side[items])
    exactly(listed(join.pairs(among)), {pair for pair in brute(codes, within, side, per) if some.issuperset(pair[:2])})


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 200), st.integers(0, 6))
def test_pigeonhole(data, bits, within):
    """Flip as many bits as may differ, any ones: one of the keys stays as it was."""
    blocks = max(1, data.draw(st.integers(within, max(within, min(bits, within + 3)))))
    flipped = data.draw(st.lists(st.integers(0, bits - 1), max_size=within))
    tables = Tables.pigeonhole(bits, blocks, within)
    spans = [[range(64 * word + shift, 64 * word + shift + width) for word, shift, width in key if width] for key in tables.pieces.tolist()]
    assert any(all(bit not in span for span in key for bit in flipped) for key in spans)
    assert tables.widths.tolist() == [sum(map(len, key)) for key in spans]


def test_pairs_of_three_codes_worked_by_hand():
    """10111 and 10011 differ in one bit; 0 in four and three."""
    codes = np.array([[0b10111], [0b10011], [0]], np.uint64)
    assert sorted(listed(code_join(codes, 8, 3).pairs())) == [(0, 1, 1), (1, 2, 3)]
    assert sorted(listed(code_join(codes, 8, 4).pairs())) == [(0, 1, 1), (0, 2, 4), (1, 2, 3)]
    assert listed(code_join(codes, 8, 0).pairs()) == []


@pytest.mark.parametrize("count", [0, 1])
def test_one_code_or_none_has_no_pairs(count):
    assert listed(code_join(np.zeros((count, 2), np.uint64), 128, 3).pairs()) == []


@pytest.mark.parametrize("within", [8, 9, 1000])
def test_everything_is_within_all_bits(within):
    codes = np.arange(30, dtype=np.uint64).reshape(-1, 1)
    assert len(listed(code_join(codes, 8, within).pairs())) == 30 * 29 // 2


def test_equal_codes_are_pairs():
    codes = np.repeat(random_codes(np.random.default_rng(2), 3, 128, 0), 4, axis=0)
    exactly(listed(code_join(codes, 128, 0).pairs()), brute(codes, 0))


@pytest.mark.parametrize(("bits", "within"), [(64, 2), (128, 4), (1024, 30)])
@pytest.mark.parametrize("shares", [1, 2, 3, 4])
def test_runs_longer_than_a_tile(bits, within, shares, monkeypatch):
    """9,000 codes in one run, found the same whatever the number of parts and the room for pairs; so are the counts."""
    monkeypatch.setattr(stage, "PAIRS_AT_ONCE", 100)
    rng = np.random.default_rng(bits)
    codes = rng.integers(0, 2**64, (9000, bits // 64), np.uint64)
    left, right = rng.permutation(9000)[:4000].reshape(2, -1)
    codes[right] = codes[left]
    for row in right:  # up to one bit more than may differ
        for bit in rng.integers(0, bits, rng.integers(0, within + 2)):
            codes[row, bit // 64] ^= np.uint64(1 << int(bit) % 64)
    distance = np.bitwise_count(codes[left] ^ codes[right]).sum(axis=1)
    expected = {(min(i, j), max(i, j), d) for i, j, d in zip(left.tolist(), right.tolist(), distance.tolist(), strict=True) if d <= within}
    counts, expecting, advanced = Counts(), [], []
    with ThreadPoolExecutor(shares) as pool:
        workers = Workers(pool.map, shares, advanced.append, expecting.append)
        join = TableJoin(codes, Tables.bands(1, 0), within, within, measured(codes), workers=workers)
        exactly(listed(join.pairs(counts=counts)), expected)
    assert sum(expecting) == sum(advanced) == counts.collisions == counts.compared == 9000 * 8999 // 2
    assert counts.near == counts.proposed == counts.computed == counts.found == len(expected) > 1500


def test_as_many_comparisons_as_the_tables_predict():
    """2^14 random codes of 64 bits, 3 apart: four tables of 16 bits, so 2^14 · 2^14 / 2 / 2^16 = 2,048 meet in each. Ten of 25 bits are dearer."""
    codes = np.random.default_rng(1).integers(0, 2**64, (2**14, 1), np.uint64)
    counts = Counts()
    assert len(stage.cheapest(codes[stage.sample_of(len(codes))], len(codes), 64, 3)[0]) == 4
    assert listed(code_join(codes, 64, 3).pairs(counts=counts)) == []
    assert abs(counts.compared - 4 * 2048) < 5 * (4 * 2048) ** 0.5


def test_what_is_listed_can_be_bounded():
    """30,000 equal codes would be 450 million pairs. Each part gives up soon after its first thousand."""
    codes = np.full((30_000, 1), 7, np.uint64)
    counts = Counts()
    found = sum(len(block[0]) for block in code_join(codes, 64, 3, workers=Workers(tasks=2)).pairs(most=1000, counts=counts))
    assert 1000 < found == counts.found < 2 * 4 * (stage.PAIRS_AT_ONCE + codejoin.SIFTED)


# the kernels


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 300), st.integers(1, 70), st.integers(0, 60), st.booleans(), st.booleans())
def test_sorted_table(seed, count, width, begin, sides, groups):
    """By key, by side, by number; those of equal keys and groups lie together; a hashed key keeps them together as well."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, (count, 3), np.uint64) * np.uint64(0x0123456789ABCDEF)
    side = rng.integers(0, 4, count).astype(np.uint8) if sides else NONE[0]
    per = rng.integers(0, 3, count).astype(np.uint64) if groups else NONE[1]
    [pieces] = Tables.of([[(begin, begin + width)]]).pieces
    entries = sort_table(codes, pieces, side, per)
    numbers = (entries & np.uint64(0xFFFFFFFF)).astype(int).tolist()
    live = [i for i in range(count) if not sides or side[i]]
    assert sorted(numbers) == live
    assert (np.diff((entries >> np.uint64(codejoin.NUMBER)).astype(np.int64)) >= 0).all()

    def key(i: int) -> int:
        whole = sum(int(word) << 64 * place for place, word in enumerate(codes[i].tolist()))
        return whole >> begin & (1 << width) - 1

    whole = [(key(i), int(per[i]) if groups else 0) for i in numbers]
    order = [{1: 0, 3: 1, 2: 2}[int(side[i])] if sides else 0 for i in numbers]
    starts = [place for place in range(len(whole)) if place == 0 or whole[place] != whole[place - 1]]
    assert len(starts) == len(set(whole))
    for a, b in itertools.pairwise([*starts, len(whole)]):
        assert list(zip(order[a:b], numbers[a:b], strict=True)) == sorted(zip(order[a:b], numbers[a:b], strict=True))
    if width <= codejoin.KEY and begin % 64 + width <= 64 and not groups:
        assert [whole[start][0] for start in starts] == sorted(key for key, _ in set(whole))


def test_groups_whose_hashes_collide_stay_apart():
    """Among 200,000 group numbers some have the same 30 bits of a key; all codes are equal, all groups different: no pairs."""
    codes, per = np.zeros((200_000, 1), np.uint64), np.arange(1, 200_001, dtype=np.uint64)
    entries = sort_table(codes, Tables.bands(1, 0).pieces[0], NONE[0], per)
    assert (np.diff(entries >> np.uint64(codejoin.NUMBER)) == 0).sum() > 5
    assert listed(TableJoin(codes, Tables.bands(1, 0), 0, 0, measured(codes), per=per).pairs()) == []


def test_many_entries_take_more_passes():
    """Digits of nine bits, as for a million entries, sort like those of twelve."""
    codes = np.random.default_rng(0).integers(0, 2**64, (2**20, 1), np.uint64)
    [pieces] = Tables.of([[(3, 31)]]).pieces
    keys = codes[:, 0] >> np.uint64(3) & np.uint64(2**28 - 1)
    assert (sort_table(codes, pieces, *NONE) == np.sort(keys << np.uint64(32) | np.arange(2**20, dtype=np.uint64))).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 400), st.integers(1, 9), st.sampled_from([50, 10**9]), st.booleans())
def test_parts_cover_all_rows(seed, count, parts, limit, sides):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 5, (count, 1), np.uint64)
    side = rng.integers(1, 4, count).astype(np.uint8) if sides else NONE[0]
    entries = sort_table(codes, Tables.bands(1, 8).pieces[0], side, NONE[1])
    places, collisions = split_rows(entries, sides, parts, limit)
    assert places[0] == 0 and places[-1] == count and (np.diff(places) >= 0).all()
    assert len(places) == parts + 1 if limit > 10**6 else len(places) >= parts + 1
    pairs = itertools.combinations(range(count), 2)
    assert collisions == sum(codes[i, 0] == codes[j, 0] and (not sides or side[i] | side[j] == 3) for i, j in pairs)
