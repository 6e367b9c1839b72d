"""Kernels of the parts of an index beside slow definitions."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
import xxhash
from hypothesis import example, given, settings

from compiled import alone
from likewise.compiled.jit import kernel
from likewise.kernels import compact_sets, segments, sorted_bands
from likewise.kernels.checksums import BLOCK, IN_MEMORY, Blocks, is_right
from likewise.kernels.segments import Copies
from likewise.kernels.sorted_bands import KEY_BITS, range_of

decode = alone(compact_sets.decode)


def code(words: list[int], bits: int) -> bytes:
    """The code of Elias and Fano of one set, bit by bit (lowest first): lower parts, then upper parts in unary."""
    if not words:
        return b""
    low = min(max(bits - (len(words) - 1).bit_length(), 0), 56)
    kept = [word >> 64 - bits for word in words]
    lower = "".join(f"{word % 2**low:0{low}b}"[::-1] if low else "" for word in kept)
    upper, at = "", 0
    for word in kept:
        upper += "0" * ((word >> low) - at) + "1"
        at = word >> low
    return b"".join(sum(1 << i for i, bit in enumerate(part) if bit == "1").to_bytes((len(part) + 7) // 8, "little") for part in (lower, upper))


@given(
    st.lists(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 9), max_size=70).map(sorted), max_size=5), st.sampled_from([8, 32, 40, 48, 63, 64])
)
@example([[0], [2**64 - 1], [5] * 3, [], [0, 2**64 - 1]], 64)
@settings(max_examples=200, deadline=None)
def test_sets_in_few_bits_are_codes_of_elias_and_fano_and_come_back(sets: list[list[int]], bits: int) -> None:
    words = np.array([word for one in sets for word in one], np.uint64)
    sizes, ends = np.array([len(one) for one in sets], np.uint32), np.zeros(len(sets), np.int64)
    assert compact_sets.measure(words, sizes, bits, ends)
    data = np.zeros(int(ends[-1]) if sets else 0, np.uint8)
    compact_sets.encode(words, sizes, bits, ends, data)
    assert data.tobytes() == b"".join(code(one, bits) for one in sets)
    padded, out = np.concatenate([data, np.full(compact_sets.SPARE, 255, np.uint8)]), np.empty(len(words), np.uint64)
    begins = np.concatenate([[0], ends[:-1]]).astype(np.int64)[: len(ends)]
    spans = [*zip(begins.tolist(), ends.tolist(), sizes.tolist(), strict=True)]
    for i, (begin, end, size) in enumerate(spans):
        to = int(sizes[:i].sum())
        assert decode(padded, begin, end, size, bits, out[to : to + size])
        assert not size or not decode(padded, begin, end - 1, size, bits, np.empty(size, np.uint64))  # a byte less is too short
    assert out.tolist() == [word >> 64 - bits << 64 - bits for word in words.tolist()]


def test_a_set_of_196_words_takes_the_bytes_that_theory_gives() -> None:
    """Of 48 bits: 40 below the upper part, one for each word, and one for each of at most 256 upper parts."""
    words, ends = np.sort(np.random.default_rng(0).integers(0, 1 << 64, 196, np.uint64)), np.zeros(1, np.int64)
    assert compact_sets.measure(words, np.array([196], np.uint32), 48, ends)
    assert 196 * 40 / 8 + (196 + 250) / 8 < ends[0] <= 196 * 40 / 8 + (196 + 256) / 8 + 1
    assert not compact_sets.measure(words[::-1].copy(), np.array([196], np.uint32), 48, ends)


@kernel
def fill_ranges(blocks, borders, entries, keys, out):
    for place in range(keys.size):
        out[place, 0], out[place, 1] = range_of(blocks, borders, entries, keys[place])


def ranges(band: sorted_bands.Band, keys: np.ndarray) -> list[list[int]]:
    """Where the entries of each key begin and end."""
    out = np.empty((len(keys), 2), np.int64)
    fill_ranges(IN_MEMORY, band.borders, band.entries, keys, out)
    return out.tolist()


@pytest.mark.parametrize(("count", "spread"), [(0, 2**48), (1, 2**48), (5000, 2**48), (5000, 3), (5000, 300), (200_000, 2**20)])
def test_a_band_has_the_rows_of_each_key_in_order_and_gives_back_the_keys(count: int, spread: int) -> None:
    """Few keys make long buckets; keys that are multiples of a large number make all lengths."""
    random = np.random.default_rng(0)
    keys = random.integers(0, spread, count, np.uint64) * np.uint64(2**KEY_BITS // spread)
    rows = np.flatnonzero(random.integers(0, 4, 2 * count) < 3).astype(np.uint32)[:count]
    keys = keys[: len(rows)]
    band = sorted_bands.band_of(keys, rows)
    assert band.entries.size == len(keys) and band.borders[0] == 0 and band.borders[-1] == len(keys)
    rows_by_key: dict[int, list[int]] = {}
    for key, row in zip(keys.tolist(), rows.tolist(), strict=True):
        rows_by_key.setdefault(key, []).append(row)
    asked = np.array([*list(rows_by_key)[:500], *random.integers(0, 2**KEY_BITS, 100).tolist(), 0, 2**KEY_BITS - 1], np.uint64)
    places = ranges(band, asked)
    found = [(band.entries[begin:end] & sorted_bands.ROW).tolist() for begin, end in places]
    assert found == [rows_by_key.get(key, []) for key in asked.tolist()]
    wanted, slot, out = np.zeros(2 * count // 64 + 1, np.uint64), np.zeros(2 * count + 1, np.int32), np.zeros(len(rows), np.uint64)
    for place, row in enumerate(rows.tolist()[::2]):
        wanted[row // 64] |= np.uint64(1 << row % 64)
        slot[row] = place
    assert sorted_bands.keys_of(IN_MEMORY, band.borders, band.entries, wanted, slot, out) == 0
    assert out[: len(rows[::2])].tolist() == keys[::2].tolist() and not out[len(rows[::2]) :].any()


def test_the_greatest_key_of_all_has_all_its_rows() -> None:
    keys = np.full(100, 2**KEY_BITS - 1, np.uint64)
    band = sorted_bands.band_of(keys, np.arange(100, dtype=np.uint32))
    assert ranges(band, keys[:1]) == [[0, 100]]


@pytest.mark.parametrize(("high", "low"), [(1, 0), (2**64 - 1, 2**32 - 1)])
def test_the_search_for_a_copy_ends_however_wrong_its_first_guess_is(high: int, low: int) -> None:
    """All copies are zeros, as no whole file has them, and so many that its steps would grow above 64 bits."""
    rows, out = 1 << 24, np.empty(1, np.int64)
    copies = Copies(np.zeros(rows, np.uint64), np.zeros(rows, np.uint32), np.zeros(rows, np.uint32))
    assert segments.rows_with(IN_MEMORY, copies, np.array([[high, low]], np.uint64), out) == 0
    assert out.tolist() == [-1]


@given(st.lists(st.tuples(st.integers(0, 2) | st.integers(0, 2**64 - 1), st.integers(0, 2) | st.integers(0, 2**32 - 1)), max_size=60))
@settings(max_examples=100, deadline=None)
def test_copies_are_numbered_and_found_by_their_hashes(given_: list[tuple[int, int]]) -> None:
    copy = np.array([*given_, *given_[::-1]], np.uint64).reshape(-1, 2)
    firsts = [*dict.fromkeys(map(tuple, copy.tolist()))]
    high, low, table = np.empty(len(copy), np.uint64), np.empty(len(copy), np.uint32), np.zeros(256, np.int32)
    rows = np.empty(len(copy), np.int32)
    half = len(given_)
    count = segments.share(copy[:half], high, low, 0, table, rows)
    larger = np.zeros(512, np.int32)
    segments.fill(high, low, count, larger)
    assert segments.share(copy[half:], high, low, count, larger, rows[half:]) == len(firsts)
    assert rows.tolist() == [firsts.index(one) for one in map(tuple, copy.tolist())]
    high, low = high[: len(firsts)], low[: len(firsts)]
    copies = Copies(high, low, np.lexsort((low, high)).astype(np.uint32))
    others = np.array([[0, 0], [0, 3], [2**64 - 1, 0], [2**63, 1]], np.uint64)
    out = np.empty(len(copy) + len(others), np.int64)
    assert segments.rows_with(IN_MEMORY, copies, np.concatenate([copy, others]), out) == 0
    assert out.tolist() == [firsts.index(one) if one in firsts else -1 for one in map(tuple, [*copy.tolist(), *others.tolist()])]


@given(st.lists(st.integers(0, 5) | st.integers(0, 2**48 - 1), max_size=50), st.integers(1, 9))
@settings(max_examples=100, deadline=None)
def test_heads_are_the_first_of_each_key(keys: list[int], most: int) -> None:
    out, table = np.empty(most, np.int64), np.zeros((1 << (4 * most).bit_length(), 2), np.uint64)
    count = segments.heads(np.array(keys, np.uint64), table, out)
    assert out[:count].tolist() == sorted(keys.index(key) for key in set(keys))[:most]


@kernel
def comparison(blocks, values, begin, end):
    return is_right(blocks, values, begin, end)


def test_a_block_is_compared_once_with_its_xxh64_when_something_in_it_is_used() -> None:
    data = np.random.default_rng(0).integers(0, 256, 3 * BLOCK + 96, np.uint8)
    sums = [xxhash.xxh64_intdigest(data[begin : begin + BLOCK].tobytes()) | 1 for begin in range(0, len(data), BLOCK)]
    unread = np.array([*sums, 0], np.uint64)
    blocks, values = Blocks.of(data, unread), data.view(np.uint32)
    each = BLOCK // 4
    assert comparison(blocks, values, 5, 5) and unread.tolist() == [*sums, 0]
    assert comparison(blocks, values, each - 1, each) and unread.tolist() == [0, *sums[1:], 0]
    data[[0, BLOCK]] ^= 1  # the first block was compared
    assert comparison(blocks, values, 0, each) and comparison(blocks, values, 2 * each, len(values)) and unread.tolist() == [0, sums[1], 0, 0, 0]
    assert not comparison(blocks, values, 0, len(values)) and unread.tolist() == [0, sums[1], 0, 0, 2]
    assert not comparison(blocks, values, each, each + 1) and comparison(blocks, values, 2 * each, 2 * each + 1)
    assert comparison(IN_MEMORY, values, each, each + 1)


def test_a_copy_is_found_or_missing_only_if_what_proves_it_was_compared() -> None:
    """Each array has a block of its own. A bit of a value is flipped: each answer is right, or the block is named."""
    random, n = np.random.default_rng(0), 50
    high, low = np.sort(random.integers(0, 1 << 64, 25, np.uint64)).repeat(2), random.permutation(1 << 20)[:n].astype(np.uint32)
    order = np.lexsort((low, high)).astype(np.uint32)
    copy = np.stack([high, low.astype(np.uint64)], axis=1)
    wanted, right = np.concatenate([copy, copy + np.array([0, 1], np.uint64), copy + np.array([1, 0], np.uint64)]), [*range(n), *[-1] * 2 * n]
    data, out, outcomes = np.zeros(3 * BLOCK, np.uint8), np.empty(1, np.int64), {True: 0, False: 0}
    values = [data[at : at + n * each.itemsize].view(each.dtype) for at, each in zip(range(0, 3 * BLOCK, BLOCK), (high, low, order), strict=True)]
    for array, each in zip(values, (high, low, order), strict=True):
        array[:] = each
    sums = [xxhash.xxh64_intdigest(data[begin : begin + BLOCK].tobytes()) | 1 for begin in range(0, len(data), BLOCK)]
    for block, i in np.ndindex(3, n):
        bit = values[block].dtype.type(1 << int(random.integers(0, (64, 32, 6)[block])))
        values[block][i] ^= bit
        for one, row in zip(wanted, right, strict=True):
            unread = np.array([*sums, 0], np.uint64)
            result = segments.rows_with(Blocks.of(data, unread), Copies(*values), one[None], out)
            assert unread[-1] == block + 1 if result else out[0] == row
            outcomes[result == 0] += 1
        values[block][i] ^= bit
    assert min(outcomes.values()) > 1000
