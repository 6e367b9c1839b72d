"""Hash collisions forged with the known seed, and floods of dissimilar items that collide: bounded, and useless under another seed."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
import xxhash

import likewise as lw
from compiled import distinct, repeats
from likewise import methods
from likewise.io.ids import repeated
from likewise.items.documents import BYTE_KEYS, PLACE_FACTORS, shingler
from likewise.items.words import ELEMENT_KEYS, Hasher
from likewise.kernels.digest import KEYS
from likewise.kernels.hashing import derive
from likewise.kernels.minhash import BAND, FOLD, GOLDEN, band_keys
from likewise.methods import Text
from likewise.stages.buckets import Buckets, no_splits
from likewise.stages.candidates import BUDGET, FINER
from reference import WORD, folded, mix

KNOWN, OTHER = 7, 8  # a seed that the attacker knows, and one that the user drew

pytestmark = pytest.mark.usefixtures("folder")


# --- hash collisions, forged by who knows the seed


def keys_of(seed: int, purpose: np.uint64, count: int) -> list[int]:
    return [int(key) for key in derive(np.uint64(seed), purpose, count)]


def signed(word: int) -> int:
    return word - 2**64 if word >> 63 else word


def forged_text(seed: int, target: str) -> str:
    """Another text of as many letters, 40, with the same shingle by chars:40: sums of 4 times 10 letters that give the target's.

    A fingerprint is a bijection of a sum, and the sum is linear in what each character stands for. So this is a 4-list problem (Wagner, A
    generalized birthday problem, CRYPTO 2002): 2^22 sums a list, joined on their low 22 bits, then on all.
    """
    half, bits = 11, 22
    factors = derive(np.uint64(seed), PLACE_FACTORS, 42)
    letters = np.arange(ord("a"), ord("z") + 1, dtype=np.uint64) * derive(np.uint64(seed), BYTE_KEYS, KEYS)[0]
    letters ^= letters >> np.uint64(32)
    wanted = sum(int(letters[ord(char) - 97]) * int(factors[i]) for i, char in enumerate(target)) & WORD
    draw = np.random.default_rng(10)
    halves = draw.integers(0, 26, (8, 1 << half, 5), np.uint8)  # a list has all combinations of two halves of a part
    sums_of = [(letters[texts] * factors[5 * place : 5 * place + 5]).sum(axis=1) for place, texts in enumerate(halves)]
    sums = [(sums_of[2 * part][:, None] + sums_of[2 * part + 1]).ravel() for part in range(4)]
    low, index = np.uint64((1 << bits) - 1), np.arange(1 << bits, dtype=np.uint64)

    def joined(left: np.ndarray, right: np.ndarray, total: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pairs of sums whose low bits are those of the total: places in both, and what they sum up to."""
        needed = np.sort((np.uint64(total) - left & low) << np.uint64(32) | index)
        there = np.sort((right & low) << np.uint64(32) | index)
        begin = np.searchsorted(there, needed & ~np.uint64(0xFFFFFFFF))
        number = np.searchsorted(there, needed | np.uint64(0xFFFFFFFF)) - begin
        at = np.repeat(needed & np.uint64(0xFFFFFFFF), number)
        other = there[np.arange(len(at)) - np.repeat(np.cumsum(number) - number - begin, number)] & np.uint64(0xFFFFFFFF)
        return at, other, left[at] + right[other]

    a, b, ab = joined(sums[0], sums[1], 0)
    c, d, cd = joined(sums[2], sums[3], wanted)
    rest = np.uint64(wanted) - cd
    every = np.sort(np.concatenate([ab, rest]))
    common = next(word for word in every[1:][every[1:] == every[:-1]] if (ab == word).any() and (rest == word).any())
    first, second = np.flatnonzero(ab == common)[0], np.flatnonzero(rest == common)[0]
    places = [int(place) for whole in (a[first], b[first], c[second], d[second]) for place in divmod(int(whole), 1 << half)]
    return "".join(chr(97 + letter) for texts, place in zip(halves, places, strict=True) for letter in texts[place])


def test_a_text_forged_to_look_like_another_does_so_under_one_seed_only():
    target = "thequickbrownfoxjumpsoverthelazydogagain"
    forged = forged_text(KNOWN, target)
    assert len(forged) == 40 and sum(a == b for a, b in zip(forged, target, strict=True)) < 12
    shingle = {seed: shingler(Text("chars", 40, ()), seed) for seed in (KNOWN, OTHER, 0)}
    both = pa.array([target.encode(), forged.encode()], pa.large_binary())
    values = {seed: each(both, np.ones(2, bool)).values.tolist() for seed, each in shingle.items()}
    assert values[KNOWN][0] == values[KNOWN][1]  # the attack is real
    assert values[OTHER][0] != values[OTHER][1] and values[0][0] != values[0][1]
    removed = {seed: len(lw.dedup([target, forged], by="chars:40", normalize="none", seed=seed).removed) for seed in (KNOWN, OTHER)}
    assert removed == {KNOWN: 1, OTHER: 0}


def test_token_ids_that_zero_the_product_under_one_seed():
    """hash_bytes of eight bytes w is (w ^ k2)(w ^ k0) folded: nothing for k0 and for k2."""
    keys = keys_of(KNOWN, BYTE_KEYS, KEYS)
    ids = [signed(keys[0]), signed(keys[2])]
    texts = pa.array([np.array([number], "<i8").tobytes() for number in ids], pa.large_binary())
    values = {seed: shingler(methods.parse("tokens:1"), seed)(texts, np.ones(2, bool)).values for seed in (KNOWN, OTHER)}
    assert values[KNOWN][0] == values[KNOWN][1]
    assert values[OTHER][0] != values[OTHER][1]


def test_copies_forged_under_one_seed():
    """Both lanes of the 128 bits forget what came before at a block that makes one operand 1."""
    keys = keys_of(KNOWN, BYTE_KEYS, KEYS)
    blocks = [signed(keys[6] ^ 1), 0, signed(keys[7] ^ 1), 5, 6]
    rows = pa.table({"text": pa.array([[blocks[0], free, *blocks[2:]] for free in range(4)], pa.list_(pa.int64()))})
    removed = {seed: lw.dedup(rows, by="tokens:2", seed=seed).removed.to_arrow()["reason"].to_pylist() for seed in (KNOWN, OTHER)}
    assert removed == {KNOWN: ["exact"] * 3, OTHER: []}


def test_elements_forged_under_one_seed():
    """Numbers of 64 bits are mixed after an XOR with one of two keys; a string whose first half is a key has no second half."""
    keys = keys_of(KNOWN, ELEMENT_KEYS, KEYS + 4)
    plain, negative = keys[KEYS], keys[KEYS + 1]
    number = 5 if (5 ^ plain ^ negative) >> 63 else 5 | 1 << 63
    pair = [[number], [signed(number ^ plain ^ negative)]]
    assert [len(lw.pairs(pair, by="elements", threshold=1, seed=seed)) for seed in (KNOWN, OTHER)] == [1, 0]
    strings = pa.array([keys[2].to_bytes(8, "little") + half for half in (b"one half", b"or other")], pa.large_binary())
    words = {seed: Hasher(seed).strings(strings).tolist() for seed in (KNOWN, OTHER)}
    assert words[KNOWN][0] == words[KNOWN][1] and words[OTHER][0] != words[OTHER][1]


def test_band_keys_forged_under_one_seed():
    """The second of two pairs of slots can undo the difference that the first one made."""
    key = mix(KNOWN ^ GOLDEN)
    state = mix(mix(key ^ BAND) + GOLDEN & WORD)
    first = [(1, 2), (3, 4)]
    second = [folded(state ^ first[0][0] << 32 ^ first[0][1], FOLD) ^ folded(state ^ x << 32 ^ y, FOLD) ^ 9 << 32 ^ 9 for x, y in first]
    slots = np.array([[*start, then >> 32, then & 0xFFFFFFFF] for start, then in zip(first, second, strict=True)], np.uint32)
    found = {seed: band_keys(slots, 1, 4, np.uint64(seed))[0].tolist() for seed in (KNOWN, OTHER)}
    assert found[KNOWN][0] == found[KNOWN][1] and found[OTHER][0] != found[OTHER][1]


def test_no_text_enters_another_group_by_a_hash_that_has_no_key():
    """XXH3 without a seed: two differences in blocks whose secrets agree there undo each other, in 64 bits and in 128, in plain ASCII."""
    groups = []
    for one, two in (b"()", b")("):
        text = bytearray(b'"' + b"-" * 510 + b'"')  # what stands for a group is its JSON text
        text[32:36], text[36], text[96:100], text[100] = b"aaaa", one, b"(BWR", two
        groups.append(text.decode())
    assert groups[0] != groups[1]
    assert xxhash.xxh3_64_intdigest(groups[0].encode()) == xxhash.xxh3_64_intdigest(groups[1].encode())
    assert xxhash.xxh3_128_hexdigest(groups[0].encode()) == xxhash.xxh3_128_hexdigest(groups[1].encode())
    rows = [{"text": "one two three four five six", "shop": json.loads(group)} for group in groups]
    assert [json.dumps(row["shop"]) for row in rows] == groups
    assert len(lw.dedup(rows).removed) == 1
    assert len(lw.dedup(rows, per="shop").removed) == 0


def test_ids_that_share_arrows_hash_are_counted_by_another():
    """Arrow's hash of 16 bytes is an XOR of two bijections of 8: so ids that share it can be written down, and counting them took time squared."""
    one, two = np.array([11400714785074694791], np.uint64), np.array([14029467366897019727], np.uint64)
    undo = np.array([pow(int(one[0]), -1, 2**64)], np.uint64)
    found: list[bytes] = []
    draw = np.random.default_rng(1)
    common = (np.frombuffer(b"abcdefgh", "<u8") * two).byteswap() ^ (np.frombuffer(b"ABCDEFGH", "<u8") * one).byteswap()
    while len(found) < 300:
        first = draw.integers(48, 91, (200_000, 8)).astype(np.uint8)
        last = ((common ^ (first.view("<u8")[:, 0] * two).byteswap()).byteswap() * undo).view(np.uint8).reshape(-1, 8)
        fit = ((last >= 48) & (last < 127) & (last != 92)).all(axis=1)
        found += [row.tobytes() for row in np.concatenate([first[fit], last[fit]], axis=1)]
    ids = [raw.decode() for raw in found]
    hashes = {int(np.bitwise_xor.reduce((np.frombuffer(raw, "<u8") * np.concatenate([two, one])).byteswap())) for raw in found}
    assert len(hashes) == 1  # they do share it
    assert repeated(pa.array(ids)) == (0, [])
    assert repeated(pa.array([*ids, ids[5], ids[3], ids[5]])) == (2, [ids[3], ids[5]])  # two ids, one of them three times


def test_characters_that_differ_by_powers_of_two_collide_no_more_often_than_others():
    """Sums of differences that all have 20 zeros at their end would be 0 with a chance of 2^-44 instead of 2^-64."""
    zeros = Counter()
    for seed in range(400):
        key = keys_of(seed, BYTE_KEYS, KEYS)[0]
        a, b = ((word := number * key & WORD) ^ word >> 32 for number in (0x41, 0x100041))
        zeros[((a - b & WORD) & -(a - b & WORD)).bit_length() - 1] += 1
    assert sum(times for count, times in zeros.items() if count >= 5) < 40  # 12.5 expected, 400 as the numbers are
    texts = ["".join(chr(0x41 + i + plane) for i in range(30)) for plane in (0, 0x100000)]
    for seed in range(20):
        assert len(lw.pairs(texts, by="chars:9", normalize="none", threshold="1/100", seed=seed)) == 0


def test_padding_length_order_and_repeats_make_other_shingles():
    """Nothing that needs no seed: NUL before and behind, the same bytes in more or fewer words, tokens swapped, empty strings."""
    texts = ["a", "\0a", "a\0", "\0\0a", "aa", "a" * 8, "a" * 9, "a" * 16, "a" * 17, "a" * 32, "a" * 33, "a" * 15 + "\0", "\0" * 8, "\0" * 16]
    texts += ["a a", "a \0a", "aa a", "a aa", "a\u200b a", "a a a"]
    encoded = pa.array([text.encode() for text in texts], pa.large_binary())
    for by in ("whitespace:1", "whitespace:3", "chars:2", "bytes:3", "lines:1"):
        for seed in (0, 1):
            found = shingler(methods.parse(by, "none"), seed)(encoded, np.ones(len(texts), bool))
            sets = [frozenset(found.values[a:b].tolist()) for a, b in zip(found.offsets[:-1], found.offsets[1:], strict=True)]
            expected = [frozenset(shingles(text, by)) for text in texts]
            assert [[a == b for b in sets] for a in sets] == [[a == b for b in expected] for a in expected]
            assert len({tuple(row) for row in found.copy.tolist()}) == len(texts)
    words = Hasher(3).listed(["", "\0", "\0\0", 0, -1, 2**64 - 1, 2**64, -(2**63), 2**63, "0", -(2**64), 10**5000])
    assert len(set(words.tolist())) == 12


def shingles(text: str, by: str) -> list[tuple]:
    unit, k = by.split(":")
    tokens: list = {"whitespace": text.split, "chars": lambda: list(text), "bytes": lambda: list(text.encode()), "lines": lambda: [text]}[unit]()
    return [tuple(tokens[i : i + int(k)]) for i in range(len(tokens) - int(k) + 1)] or [("few", *tokens)]


def test_fingerprints_chosen_to_fill_one_place_are_sorted_nevertheless():
    """Who knows the seed can have any number of shingles in one bucket of the sort; by insertion these would take minutes."""
    n = 1_000_000
    values = np.random.default_rng(0).integers(0, 2**30, n, np.uint64) + np.uint64(2**63)
    out = np.empty(n, np.uint64)
    found = distinct(values, n, np.empty(n, np.uint32), out)
    assert (out[:found] == np.unique(values)).all()
    large_group = np.concatenate([values[:50_000], values[:50_000]])
    before = large_group.copy()
    repeats(large_group, len(large_group), np.empty(2 * len(large_group), np.uint64), np.empty(2 * len(large_group), np.uint32))
    assert len(np.unique(large_group)) == len(np.unique(np.stack([before, large_group]), axis=1)[0]) == len(large_group)


# --- floods: many dissimilar items in one bucket


def test_comparisons_in_an_overfull_bucket_are_bounded():
    """1,500 sets that share 7 elements of 10 meet in hundreds of buckets; a walk compares each with BUDGET others in a bucket and its splits."""
    n, bands = 1500, 4
    rows = pa.table({"elements": [[*range(7), *(1000 + 3 * i + j for j in range(3))] for i in range(n)]})
    found = lw.dedup(rows, by="elements", threshold=0.8, bands=bands, rows=1)
    assert len(found.removed) == 0
    assert found.compared <= n * bands * BUDGET * (1 + FINER) < n * (n - 1) // 2 * bands
    assert found.report["budget"]["cut"] > 0
    assert found.report["budget"]["missed_at_most"] > 0


def test_a_walk_is_weighed_by_its_budget():
    buckets = Buckets(np.zeros((1, 0), np.int32), np.array([2, 100, 10**6]), np.zeros(3, np.int64), no_splits(1))
    assert buckets.pairs() == 1 + 4950 + 10**6 * (10**6 - 1) // 2
    assert buckets.pairs(walk=True) == 1 + 4950 + 10**6 * BUDGET * (1 + FINER)


def test_one_shingle_that_all_share_and_one_bucket_that_holds_all():
    texts = [f"shared w{i}" for i in range(3000)]
    found = lw.dedup(texts, by="words:1", threshold=0.8)
    assert len(found.removed) == 0 and found.compared < 3000 * 20
    similar = lw.dedup([f"{'a b c d e f g h i j k l m n o p q r s t ' * 3} w{i}" for i in range(3000)], by="words:1", threshold=0.8)
    assert len(similar.kept) == 1 and similar.compared < 3 * 3000
