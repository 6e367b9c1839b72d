"""The MinHash kernels, compared bit for bit with slow reference implementations in plain Python; and their family."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise import families
from likewise.errors import UsageError
from likewise.families import BBit, MinHash
from likewise.io.formats.memory import chunks, parse, table
from likewise.items.words import Hasher
from likewise.kernels.minhash import BAND, EMPTY, FILL, FOLD, GOLDEN
from likewise.options import resolve
from likewise.runs.inspection import job_of
from likewise.stages.sketch import sketcher
from reference import WORD, mix

WORDS = st.integers(0, WORD)
SETS = st.lists(st.sets(WORDS | st.integers(0, 300), max_size=40), max_size=6)


def reference(elements, slots: int, seed: int, mode: str) -> list[int]:
    """One signature, slot by slot, as the docstring of kernels/minhash.py defines it."""
    key = mix(seed ^ GOLDEN)
    words = [mix(x ^ key) for x in elements]
    if not words:
        return [EMPTY] * slots
    signature = []
    for j in range(slots):
        bits = mix(mix(key ^ FILL) + GOLDEN * (j + 1) & WORD)
        multiplier, addend = bits & 0xFFFFFFFF | 1, bits >> 32
        filled = min((multiplier * (mix(word ^ FILL) >> 32) + addend) % 2**32 for word in words)
        hits = [word % 2**31 for word in words if (word >> 32) * slots >> 32 == j]
        signature.append(filled if mode == "classic" else min(hits) if hits else filled >> 1 | 1 << 31)
    return signature


def reference_key(slots: list[int], band: int, seed: int) -> int:
    """The key of one band: two slots at a time enter a 128-bit product, whose halves are combined by XOR."""
    state = mix(mix(mix(seed ^ GOLDEN) ^ BAND) + GOLDEN * (band + 1) & WORD)
    pairs = [slots[i] << 32 | slots[i + 1] for i in range(0, len(slots) - 1, 2)] + ([slots[-1]] if len(slots) % 2 else [])
    for word in pairs:
        product = (state ^ word) * FOLD
        state = product >> 64 ^ product & WORD
    return mix(state)


@settings(max_examples=80, deadline=None)
@given(SETS, st.integers(1, 70), WORDS, st.sampled_from(["oph", "classic"]))
def test_signatures_against_the_reference(sets, slots, seed, mode):
    signatures = MinHash(slots, mode, seed).signature(sets)
    assert signatures.shape == (len(sets), slots)
    assert signatures.dtype == np.uint32
    assert signatures.tolist() == [reference(one, slots, seed, mode) for one in sets]


@pytest.mark.parametrize("mode", ["oph", "classic"])
@pytest.mark.parametrize("n", [1, 3, 4, 255, 256, 257, 511, 1000])
def test_sizes_around_the_chunks(n, mode):
    """Elements are mixed in chunks of 256, and entered four at a time."""
    values = np.random.default_rng(n).integers(0, 2**64, n, np.uint64)
    assert MinHash(20, mode).signature([values])[0].tolist() == reference(values.tolist(), 20, 0, mode)


@settings(max_examples=60, deadline=None)
@given(SETS, st.integers(1, 9), st.integers(1, 9), st.integers(0, 5), WORDS, st.sampled_from(["oph", "classic"]))
def test_band_keys_against_the_reference(sets, bands, rows, unused, seed, mode):
    family = MinHash(bands * rows + unused, mode, seed)
    signatures = family.signature(sets)
    keys = family.band_keys(sets, bands, rows)
    assert keys.shape == (bands, len(sets))
    assert keys.tolist() == [[reference_key(one.tolist()[b * rows : (b + 1) * rows], b, seed) for one in signatures] for b in range(bands)]
    assert (family.band_keys_of(signatures, bands, rows) == keys).all()


def test_golden_signatures():
    """Stored sketches contain these values: a change of any needs another SCHEME."""
    sets = [range(1000), [1], [], [2**64 - 1, -1, 5]]
    assert MinHash(8, "oph", 0).signature(sets).tolist() == GOLDEN_OPH
    assert MinHash(4, "classic", 1).signature(sets).tolist() == GOLDEN_CLASSIC
    assert MinHash(8, "oph", 0).band_keys(sets, 2, 4).tolist() == GOLDEN_KEYS
    assert (MinHash(8).scheme, MinHash(8, "classic").scheme) == ("oph-fill-1/oph/8", "oph-fill-1/classic/8")


GOLDEN_OPH: list[list[int]] = [
    [5844802, 864597, 9791638, 603016, 13835530, 6631561, 28350207, 11971017],
    [3619134865, 4149912428, 2164837229, 2863833449, 435510612, 3636749247, 2193272230, 2237371061],
    [4294967295, 4294967295, 4294967295, 4294967295, 4294967295, 4294967295, 4294967295, 4294967295],
    [2206308122, 2745143356, 2391450150, 2609543248, 2410990810, 1076373753, 2406368313, 335900986],
]
GOLDEN_CLASSIC: list[list[int]] = [
    [7481183, 550197, 3206671, 2241964],
    [1586962101, 1476358878, 2047418183, 635993985],
    [4294967295, 4294967295, 4294967295, 4294967295],
    [1837819753, 788183266, 799791387, 29136885],
]
GOLDEN_KEYS: list[list[int]] = [
    [507639580703201444, 1547838399411039654, 9787496025401162545, 15675932323780847082],
    [454056512196741380, 6270416761231745139, 14608982201475910451, 14934449308521837520],
]


# invariance of signatures


@settings(max_examples=60, deadline=None)
@given(st.sets(WORDS, min_size=1, max_size=60), st.randoms(use_true_random=False), st.sampled_from(["oph", "classic"]))
def test_order_and_repeats_do_not_matter(elements, random, mode):
    family = MinHash(32, mode)
    ordered = sorted(elements)
    shuffled = ordered + random.choices(ordered, k=5)
    random.shuffle(shuffled)
    a, b = family.signature([ordered, shuffled])
    assert a.tolist() == b.tolist()


@settings(max_examples=60, deadline=None)
@given(st.sets(WORDS, max_size=80), st.sets(WORDS, max_size=80), st.sets(WORDS, max_size=5), st.sampled_from(["oph", "classic"]))
def test_a_union_is_the_minimum(a, b, common, mode):
    family = MinHash(24, mode)
    left, right, both = family.signature([a | common, b | common, a | b | common])
    assert family.merge(left, right).tolist() == both.tolist() == family.merge(right, left).tolist()
    assert family.merge(both, left).tolist() == both.tolist()
    assert family.merge(both, family.signature([[]])[0]).tolist() == both.tolist()


def test_a_batch_is_its_items():
    rng = np.random.default_rng(3)
    sets = [rng.integers(0, 2**64, n, np.uint64) for n in (0, 5, 700, 1, 0, 80)]
    family = MinHash(48)
    values, offsets = np.concatenate(sets), np.cumsum([0, *(len(one) for one in sets)])
    whole = family.signature((values, offsets))
    assert (whole == np.concatenate([family.signature([one]) for one in sets])).all()
    assert (whole[2:4] == family.signature((values, offsets[2:5]))).all(), "offsets need not begin at 0"
    values.setflags(write=False)
    assert (whole == family.signature((values, offsets.astype(np.int32)))).all()


def test_seeds_give_other_signatures_and_keys():
    sets = [range(50)]
    by_seed = [MinHash(32, "oph", seed).signature(sets)[0] for seed in range(50)]
    assert max((a == b).sum() for i, a in enumerate(by_seed) for b in by_seed[:i]) == 0
    assert len({MinHash(4, "oph", seed).band_keys([[]], 1, 4)[0, 0] for seed in range(50)}) == 50


def test_slots_are_of_32_bits():
    """Values reach both ends of their ranges: an overflow or a lost bit would leave a gap."""
    rng = np.random.default_rng(0)
    sets = (rng.integers(0, 2**64, 40_000, np.uint64), np.arange(40_001))
    for mode, low, high in (("oph", 0, 2**31), ("oph", 2**31, 2**32), ("classic", 0, 2**32)):
        slots = MinHash(16, mode).signature(sets).ravel()
        part = slots[(slots >= low) & (slots < high)].astype(float)
        assert abs(part.mean() - (low + high) / 2) < 5 * (high - low) / np.sqrt(12 * len(part))
        assert part.min() < low + (high - low) * 1e-3
        assert part.max() > high - (high - low) * 1e-3


# band keys


def random_slots(n: int, slots: int, below: int) -> np.ndarray:
    return np.random.default_rng(11).integers(0, below, (n, slots)).astype(np.uint32)


@pytest.mark.parametrize("rows", [2, 3, 6])
@pytest.mark.parametrize("shift", [0, 20, 40], ids=["low", "middle", "high"])
def test_narrow_keys_collide_as_probability_says(rows, shift):
    """24 bits of a key: n^2 / 2^25 pairs collide in each band. The slots are small, like minima of large sets, so their sums would concentrate."""
    n, bands = 20_000, 16
    keys = MinHash(bands * rows).band_keys_of(random_slots(n, bands * rows, 2**16), bands, rows)
    narrow = np.sort(keys >> np.uint64(shift) & np.uint64(2**24 - 1), axis=1)
    same = sum(int((counts * (counts - 1) // 2).sum()) for counts in (np.unique(band, return_counts=True)[1] for band in narrow))
    # rows of 16-bit slots that are equal by chance collide too
    expected = bands * n * (n - 1) / 2 * (2.0**-24 + 2.0 ** (-16 * rows))
    assert abs(same - expected) < 5 * np.sqrt(expected)


def test_keys_know_the_order_of_slots():
    family = MinHash(6)
    orders = [[1, 2, 3, 4, 5, 6], [2, 1, 3, 4, 5, 6], [3, 4, 1, 2, 5, 6], [1, 2, 3, 4, 6, 5], [2, 3, 1, 4, 5, 6], [0, 3, 3, 4, 5, 6]]
    slots = np.array(orders, np.uint32)
    assert len(set(family.band_keys_of(slots, 1, 6)[0].tolist())) == len(slots)


def test_equal_slots_in_other_bands_have_other_keys():
    keys = MinHash(12).band_keys_of(np.full((1, 12), 7, np.uint32), 6, 2)
    assert len(set(keys[:, 0].tolist())) == 6


# the family


def test_estimates():
    family = MinHash(4)
    a, b, c = np.array([[1, 2, 3, 4], [1, 2, 3, 9], [5, 6, 7, 8]], np.uint32)
    none = np.full(4, EMPTY, np.uint32)
    assert (family.estimate(a, b), family.estimate(a, c), family.estimate(a, a)) == (0.75, 0, 1)
    assert family.estimate(np.stack([a, b, c]), np.stack([a, a, a])).tolist() == [1, 0.75, 0]
    assert family.estimate(np.stack([a, b, c]), b).tolist() == [0.75, 1, 0]
    assert np.isnan(family.estimate(none, none))
    assert family.estimate(none, a) == 0


def test_what_theory_says():
    family = MinHash(256)
    assert [family.probability(s) for s in (0, 0.3, 1)] == [0, 0.3, 1]
    assert family.standard_error(1 / 3) == pytest.approx(0.02946, abs=5e-6)
    assert (family.standard_error(0), family.standard_error(1)) == (0, 0)
    with pytest.raises(UsageError, match="from 0 to 1"):
        family.probability(1.1)


def test_elements_are_64_bit_integers_of_any_kind():
    family = MinHash(16)
    numpy_integers = [np.int64(-1), np.int64(5), np.int64(7)]
    same = [[-1, 5, 7], np.array([-1, 5, 7]), {7, 5, 2**64 - 1}, np.array([-1, 5, 7], np.int8), numpy_integers, (-1, 5, 7)]
    signatures = family.signature(same)
    assert (signatures == signatures[0]).all()
    assert (family.signature([[], set(), np.array([])]) == EMPTY).all()
    assert family.signature([]).shape == (0, 16)


@pytest.mark.parametrize("mode", ["oph", "classic"])
def test_strings_and_large_numbers_are_hashed_by_the_seed(mode):
    """A set has the slots of its words, the same as in a run over a column of strings; the integer 7 is the word 7, the string "7" is not."""
    words = Hasher(5).listed(["a", "é", "7", "\ud800", 2**64, -(2**70)]).tolist()
    family = MinHash(30, mode, 5)
    assert family.signature([["a", "é", "7", "\ud800", 2**64, -(2**70)]])[0].tolist() == reference(words, 30, 5, mode)
    assert family.signature([{7, "7", -1}])[0].tolist() == reference([7, words[2], WORD], 30, 5, mode)
    assert not (family.signature([["7"]]) == family.signature([[7]])).any()
    assert not (family.signature([["7"]]) == MinHash(30, mode, 6).signature([["7"]])).any()


@pytest.mark.parametrize(
    "form",
    [
        lambda sets: [set(one) for one in sets],
        lambda sets: [tuple(one) for one in sets],
        lambda sets: [np.array(one, str) for one in sets],
        lambda sets: [np.array(one, object) for one in sets],
        lambda sets: (np.array([element for one in sets for element in one]), np.cumsum([0, *map(len, sets)])),
        lambda sets: pa.array(sets),
        lambda sets: pa.array(sets, pa.list_(pa.dictionary(pa.int32(), pa.string()))),
        lambda sets: [pa.array(one, pa.string()) for one in sets],
    ],
)
def test_sets_of_strings_in_every_form(form):
    sets = [["a", "bc"], [], ["é", "7", "a"]]
    expected = MinHash(16).signature(sets)
    assert len(np.unique(expected, axis=0)) == 3
    assert (MinHash(16).signature(form(sets)) == expected).all()
    assert (MinHash(16).band_keys(form(sets), 4, 4) == MinHash(16).band_keys_of(expected, 4, 4)).all()
    assert (BBit(16, 8).signature(form(sets)) == BBit(16, 8).of(expected)).all()


def test_keys_of_strings_are_those_of_a_run():
    """The band keys of a column of strings in a run with the same seed."""
    job = job_of(resolve(by="elements", threshold=0.8, bands=4, rows=3, seed=9))
    sets = [["a", "b"], ["c"], ["a", "b", "x"]]
    records = parse(next(chunks(table(sets, job.want), job.want)), job.want, "memory")
    keys = sketcher(job)(records)["band_keys"]
    assert (MinHash(12, "oph", 9).band_keys(sets, 4, 3) == keys).all()


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ([[1], [b"a"]], "row 1 holds a value of type bytes; give sets"),
        ([[1.5]], r"row 0 holds lists of floats, such as .1.5."),
        ([[True]], "row 0 holds lists of booleans"),
        ([np.zeros((2, 2), int)], "row 0 holds lists of lists of whole numbers"),
        ({1, 2}, "one set alone is a batch of one"),
        ("abc", "give sets: a list of sets .*; got str"),
        (np.arange(3), "one set alone is a batch of one"),
        ((np.arange(3), np.array([0, 4])), "offsets rise from 0 to the number of values, 3"),
        ((np.arange(3), np.array([0, 2, 1])), "offsets rise"),
        ((np.arange(3), np.array([], int)), "offsets rise"),
        ((np.arange(3), np.array([-1, 2])), "offsets rise"),
        ((np.arange(3) / 2, np.array([0, 3])), r"row 0 holds lists of floats, such as .0.0, 0.5, 1.0."),
    ],
)
def test_what_is_no_batch(batch, message):
    with pytest.raises(UsageError, match=message):
        MinHash(8).signature(batch)


def test_signatures_of_another_length_are_refused():
    """Even if one is the beginning of the other."""
    long, short = MinHash(128).signature([range(9)]), MinHash(64).signature([range(9)])
    for call in (MinHash(128).estimate, MinHash(128).merge, MinHash(64).estimate):
        with pytest.raises(UsageError, match=r"has (128|64) slots, got the shape \(1, (64|128)\)"):
            call(long, short)
    with pytest.raises(UsageError, match="array of uint32, got an array of int64"):
        MinHash(128).estimate(long, long.astype(np.int64))
    with pytest.raises(UsageError, match="got list"):
        MinHash(2).merge([1, 2], [3, 4])
    for bands, rows in ((5, 26), (0, 1), (1, 0)):
        with pytest.raises(UsageError, match=f"{bands} bands of {rows} rows do not fit a signature of 128 slots"):
            MinHash(128).band_keys([[1]], bands, rows)


@pytest.mark.parametrize("wrong", [{"slots": 0}, {"slots": 1.5}, {"mode": "fast"}, {"seed": -1}, {"seed": 2**64}, {"seed": None}])
def test_what_is_no_family(wrong):
    with pytest.raises(UsageError, match=f"MinHash {next(iter(wrong))}"):
        MinHash(**wrong)


def test_the_registry_loads_on_use():
    assert {name: getattr(families, name).__name__ for name in families.FAMILIES} == {name: name for name in families.FAMILIES}
    with pytest.raises(AttributeError, match="has no attribute 'SimHash'"):
        _ = families.SimHash
    code = "import sys, likewise.families; print('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "False"


@pytest.mark.parametrize("texts", ["a b", ["a b", "c d"], np.array(["a b"]), pa.array(["a b"])])
def test_texts_are_no_sets_and_the_error_names_the_function_for_texts(texts):
    for make in (MinHash().signature, lambda given: MinHash().band_keys(given, 2, 2)):
        with pytest.raises(UsageError, match=r"for signatures of texts call lw\.sketch\(texts, by='words:5'\)$"):
            make(texts)
    with pytest.raises(UsageError) as caught:
        MinHash().signature([1.5])
    assert "sketch" not in str(caught.value)
