"""Random histograms of sets of vectors: by slow twins, by the closed form of what matches are on average, and what adds up."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from likewise.errors import UsageError
from likewise.families import BBit, Histograms, Hyperplane, Space, Stripe, Threshold
from likewise.families.compact import most_varied, occupied, packed, unpacked
from likewise.families.partition import MASKS
from likewise.items.features import features, spans
from likewise.kernels.hashing import derive
from likewise.measures.matching import correlation, every, one_to_many, one_to_one
from likewise.measures.weighted_jaccard import weighted_jaccard

DIMENSION = 6


def some_sets(count: int = 9, seed: int = 1, least: int = 1, most: int = 12) -> list[np.ndarray]:
    """Sets of 1 to 11 features of 6 numbers from -50 to 50."""
    draw = np.random.default_rng(seed)
    return [draw.uniform(-50, 50, (draw.integers(least, most), DIMENSION)).astype(np.float32) for _ in range(count)]


FAMILIES = {
    "hyperplanes": Histograms(Hyperplane(seed=3), bits=4, tables=5, store="float32"),
    "rotated": Histograms(Hyperplane(seed=3, mode="rotated"), bits=4, tables=5, store="float32"),
    "stripes": Histograms(Stripe(30.0, seed=3), bits=4, tables=5, store="float32"),
    "thresholds": Histograms(Threshold(-50, 50, DIMENSION, seed=3), bits=4, tables=5, store="float32"),
    "summed": Histograms(Stripe(30.0, seed=3), bits=3, tables=2, sums=4, store="float32"),
}
named = pytest.mark.parametrize("name", FAMILIES)


# matching


def test_the_worked_value():
    """g(X) = (2, 4, 2, 3) and g(Y) = (1, 2, 2, 2): S1 = 1+2+2+2, S2 = 2+8+4+6."""
    for kind in (np.uint8, np.uint16, np.float32, np.float64):
        x, y = np.array([2, 4, 2, 3], kind), np.array([1, 2, 2, 2], kind)
        assert one_to_one(x, y) == 7
        assert one_to_many(x, y) == 20


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.float32, np.float64])
@pytest.mark.parametrize("bins", [1, 2, 31, 32, 63, 64, 65, 100, 128, 193, 1000])
def test_sums_by_numpy(kind, bins):
    """The largest counts among them, of every size of what is left over behind whole vectors."""
    draw = np.random.default_rng(bins)
    top = np.iinfo(kind).max if np.issubdtype(kind, np.integer) else 1000
    a, b = (draw.integers(0, top, (rows, bins), endpoint=True).astype(kind) for rows in (5, 7))
    a[0] = b[0] = top
    wide, others = a.astype(float), b.astype(float)
    minima, products = np.minimum(wide[:, None], others).sum(2), wide @ others.T
    exact = kind in (np.uint8, np.uint16)
    for function, expected in ((one_to_one, minima), (one_to_many, products)):
        found = every(function, a, b)
        assert found.dtype == (np.int64 if exact else np.float64)
        np.testing.assert_allclose(found, expected, rtol=1e-13)
        assert (every(function, a, b)[:, 3] == function(a, b[3])).all()
        assert (function(a, b[:5]) == np.diag(found)).all()
        assert function(a[1], b[2]) == found[1, 2]
    np.testing.assert_allclose(every(correlation, a, a), pearson(wide), atol=1e-9)
    assert correlation(a[1], a[2]) == every(correlation, a, a)[1, 2]


def pearson(table: np.ndarray) -> np.ndarray:
    """0 where a row is constant."""
    apart = table - table.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(apart, axis=1)
    return apart @ apart.T / np.maximum(np.outer(lengths, lengths), 1e-300)


@pytest.mark.parametrize("bins", [1, 63, 64, 65, 640, 700])
def test_bits_by_numpy(bins):
    """Of bits both sums are the bins that are filled in both; correlation is that of zeros and ones."""
    filled = np.random.default_rng(bins).random((6, bins)) < 0.3
    filled[0] = True
    words = occupied(filled.astype(np.uint8))
    assert words.shape == (6, -(-bins // 64))
    shared = filled.astype(int) @ filled.T.astype(int)
    assert (every(one_to_one, words, words) == shared).all()
    assert (every(one_to_many, words, words) == shared).all()
    np.testing.assert_allclose(every(correlation, words, words, bins=bins), pearson(filled.astype(float)), atol=1e-12)
    assert correlation(words[1], words[2], bins=bins) == every(correlation, words, words, bins=bins)[1, 2]


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 90), st.sampled_from([np.uint8, np.uint16]))
def test_matches_of_any_counts(data, bins, kind):
    a, b = (data.draw(arrays(kind, bins)) for _ in range(2))
    low, product = one_to_one(a, b), one_to_many(a, b)
    assert low == sum(map(min, a.tolist(), b.tolist()))
    assert product == sum(x * y for x, y in zip(a.tolist(), b.tolist(), strict=True))
    assert (low, product) == (one_to_one(b, a), one_to_many(b, a))


def test_matches_do_not_depend_on_threads_or_blocks():
    histograms = np.random.default_rng(0).integers(0, 200, (300, 512)).astype(np.uint8)
    with ThreadPoolExecutor(4) as pool:
        for function in (one_to_one, one_to_many, correlation):
            whole = every(function, histograms, histograms)
            assert (every(function, histograms, histograms, run=pool.map) == whole).all()
            assert (every(function, histograms[100:101], histograms[7:9]) == whole[100:101, 7:9]).all()


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        (np.zeros(4, np.uint8), np.zeros(5, np.uint8), "do not compare"),
        (np.zeros(4, np.uint8), np.zeros(4, np.uint16), "do not compare"),
        (np.zeros(4, np.int64), np.zeros(4, np.int64), "on the left came int64"),
        ([1, 2], np.zeros(2, np.uint8), "on the left came list"),
        (np.zeros(4, np.uint8), np.zeros((1, 1, 4), np.uint8), "on the right came uint8 of shape"),
        (np.zeros((2, 4), np.uint8), np.zeros((3, 4), np.uint8), "2 histograms cannot be compared with 3"),
    ],
)
def test_refused_histograms(a, b, said):
    with pytest.raises(UsageError, match=said):
        one_to_one(a, b)


def test_none_to_match():
    nothing, some = np.zeros((0, 8), np.uint8), np.ones((3, 8), np.uint8)
    assert one_to_one(nothing, nothing).shape == one_to_many(nothing, some[:1]).shape == (0,)
    assert every(correlation, nothing, some).shape == (0, 3)
    with pytest.raises(UsageError, match="give one_to_one"):
        every(np.minimum, some, some)


# embedding


def by_hand(family: Histograms, sets: list[np.ndarray], weights: list[np.ndarray] | None = None) -> np.ndarray:
    """Counts, feature by feature: bits in rows of ``bits``, the first the lowest; ``sums`` rows to a table, all but the first renumbered."""
    functions = family.tables * family.sums
    masks = derive(np.uint64(family.bit.seed), MASKS, functions) >> np.uint64(64 - family.bits)
    out = np.zeros((len(sets), family.bins))
    for item, one in enumerate(sets):
        bits = family.bit.with_slots(functions * family.bits).signature(one).reshape(len(one), functions, family.bits)
        for row, rows in enumerate(bits):
            for function, code in enumerate(rows):
                number = sum(int(bit) << place for place, bit in enumerate(code))
                number ^= int(masks[function]) if function % family.sums else 0
                out[item, (function // family.sums << family.bits) + number] += 1 if weights is None else weights[item][row]
    return out


@named
def test_counts_by_a_slow_twin(name):
    family, sets = FAMILIES[name], some_sets()
    assert (family.counts(sets) == by_hand(family, sets)).all()
    assert (family.embed(sets) == by_hand(family, sets)).all()
    weights = [np.random.default_rng(len(one)).integers(0, 5, len(one)) / 4 for one in sets]
    assert (family.counts(sets, weights) == by_hand(family, sets, weights)).all()
    assert (family.counts(sets, np.concatenate(weights)) == by_hand(family, sets, weights)).all()


@named
def test_counts_are_those_of_the_item_alone(name):
    """Whatever else is in the batch, on however many threads, and in whatever form sets are given."""
    family, sets = FAMILIES[name], some_sets(400, most=60)
    assert len(spans(features(sets)[1], 2**13)) > 1
    whole = family.counts(sets)
    with ThreadPoolExecutor(3) as pool:
        assert (family.counts(sets, run=pool.map) == whole).all()
    assert (family.counts(sets[17:19]) == whole[17:19]).all()
    values, offsets = features(sets)
    assert (family.counts((values, offsets)) == whole).all()
    listed = [one.tolist() for one in sets[:5]]
    assert (family.counts(listed) == whole[:5]).all()
    assert (family.counts(pa.array(listed, pa.list_(pa.list_(pa.float32())))) == whole[:5]).all()
    assert (family.counts(np.stack([sets[0], sets[0]])) == whole[[0, 0]]).all()


def test_many_small_sets_of_many_bins():
    """Sets of one feature, more bins than counts that are held at once: as the codes say."""
    values = np.random.default_rng(2).uniform(-50, 50, (70, DIMENSION)).astype(np.float32)
    family = Histograms(Stripe(30.0), bits=15, tables=2)
    sets = (values, np.arange(71))
    weights = np.arange(70) % 5
    found = family.embed(sets, weights)
    bins, counts, offsets = family.sparse(sets, weights)
    assert found.sum() == 2 * weights.sum() == counts.sum()
    assert (found[np.repeat(np.arange(70), np.diff(offsets)), bins] == counts).all()


@named
def test_counts_add_up(name):
    """A set's counts are the sum of those of its parts, in any order."""
    family, sets = FAMILIES[name], some_sets(6)
    assert (family.counts([np.concatenate(sets)])[0] == family.counts(sets).sum(axis=0)).all()
    assert (family.counts([np.concatenate(sets[::-1])])[0] == family.counts(sets).sum(axis=0)).all()


def test_a_window_slides_in_constant_work():
    """Over forty frames: what comes is added, what goes is subtracted, and the window is what its frames together would be, to the last bit."""
    family = Histograms(Stripe(30.0), bits=4, tables=3, normalize="sqrt")
    frames = some_sets(40, seed=5)
    each = family.counts(frames)
    window, length = np.zeros(family.bins), 7
    for now in range(len(frames)):
        window += each[now]
        if now >= length:
            window -= each[now - length]
        whole = family.embed([np.concatenate(frames[max(0, now - length + 1) : now + 1])])[0]
        assert (family.finish(window) == whole).all()


def test_summed_histograms_are_sums():
    """M = 4 histograms in one: the sum of four, three of them with bins renumbered, so of the same counts in another order."""
    family, sets = FAMILIES["summed"], some_sets()
    single = replace(family, tables=8, sums=1).counts(sets).reshape(len(sets), 2, 4, 8)
    masks = (derive(np.uint64(3), MASKS, 8) >> np.uint64(61)).astype(int).reshape(2, 4)
    masks[:, 0] = 0
    expected = np.zeros((len(sets), 2, 8))
    for table in range(2):
        for part in range(4):
            expected[:, table, np.arange(8) ^ masks[table, part]] += single[:, table, part]
    assert (family.counts(sets).reshape(expected.shape) == expected).all()
    assert len(set(map(tuple, masks[:, 1:]))) > 1


def test_normalisations():
    """(3, 1) of one table with one bit: shares 3/4 and 1/4."""
    counts = np.array([3.0, 1.0, 0.0, 4.0])
    family = Histograms(Stripe(1.0), bits=1, tables=2)
    assert family.finish(counts).tolist() == [3, 1, 0, 4]
    assert replace(family, normalize="l1", store="float32").finish(counts).tolist() == [0.75, 0.25, 0, 1]
    np.testing.assert_allclose(replace(family, normalize="sqrt", store="float32").finish(counts), [0.75**0.5, 0.5, 0, 1], rtol=1e-7)
    assert replace(family, normalize="l1").finish(counts).tolist() == [191, 64, 0, 255]  # 191.25 and 63.75
    assert replace(family, normalize="l1", scale=10).finish(counts).tolist() == [8, 2, 0, 10]  # 7.5 and 2.5: halves go to the even number
    assert replace(family, normalize="sqrt", store="uint16").finish(counts).tolist() == [56755, 32768, 0, 65535]
    assert replace(family, normalize="l1").finish(np.zeros(4)).tolist() == [0, 0, 0, 0]


def test_counts_beyond_the_type_stay_at_the_greatest():
    family = Histograms(Stripe(1e6), bits=1, tables=1)  # so wide that near features are all in one bin
    many = [np.random.default_rng(0).uniform(0, 1, (300, 2))]
    assert family.embed(many).max() == 255
    assert replace(family, store="uint16").embed(many).max() == 300
    assert replace(family, store="uint16").embed(many, np.full(300, 1000.0)).max() == 65535
    assert replace(family, scale=0.5).embed(many).max() == 150
    assert family.counts(many).max() == 300


# what matches are on average


def near_sets(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two sets whose features lie from 0 to 40 apart, some at right angles, some alike."""
    draw = np.random.default_rng(seed)
    a = draw.uniform(-20, 20, (4, DIMENSION))
    return a, np.concatenate([a[:2] + draw.normal(0, 3, (2, DIMENSION)), draw.uniform(-20, 20, (3, DIMENSION))])


@pytest.mark.parametrize("sums", [1, 3])
@pytest.mark.parametrize("bit", [Hyperplane(), Stripe(25.0), Threshold(-50, 50, DIMENSION)], ids=["hyperplane", "stripe", "threshold"])
def test_one_to_many_is_the_match_kernel_on_average(bit, sums):
    """Over 400 seeds, within four standard errors of N M Σ p^B + N M (M - 1) |a| |b| 2^-B, and the estimate of that of Σ p^B."""
    a, b = near_sets(2)
    found, estimates = [], []
    for seed in range(400):
        family = Histograms(replace(bit, seed=seed), bits=3, tables=2, sums=sums, store="float32")
        x, y = family.embed([a, b])
        found.append(one_to_many(x, y))
        estimates.append(family.estimate(x, y))
    expected = family.expected(a, b)
    kernel = (expected - family.by_chance(len(a), len(b))) / (2 * sums)
    assert abs(np.mean(found) - expected) < 4 * np.std(found) / math.sqrt(len(found))
    assert abs(np.mean(estimates) - kernel) < 4 * np.std(estimates) / math.sqrt(len(found))
    assert np.std(found) / math.sqrt(len(found)) < 0.05 * expected  # so that the first would notice a wrong exponent


def test_the_closed_form_by_hand():
    """Hyperplanes, two features at 60 degrees and one at 90 from the other set's one: p = 2/3 and 1/2; (2/3)^3 + (1/2)^3 for each table."""
    family = Histograms(Hyperplane(), bits=3, tables=10)
    a = [[1.0, 0.0]]
    b = [[math.cos(math.pi / 3), math.sin(math.pi / 3)], [0.0, 2.0]]
    assert family.expected(a, b) == pytest.approx(10 * (8 / 27 + 1 / 8))
    summed = replace(family, sums=4)
    assert summed.expected(a, b) == pytest.approx(10 * (4 * (8 / 27 + 1 / 8) + 12 * 2 / 8))
    assert summed.by_chance(1, 2) == 10 * 12 * 2 / 8


def test_more_tables_vary_less():
    """The estimate's variance falls with one over the number of tables: from 1 to 16, by 16 but for chance."""
    a, b = near_sets(4)
    spread = {}
    for tables in (1, 16):
        estimates = [Histograms(Stripe(25.0, seed=seed), bits=3, tables=tables, store="float32") for seed in range(200)]
        spread[tables] = np.var([family.estimate(*family.embed([a, b])) for family in estimates])
    assert 10 < spread[1] / spread[16] < 26


def test_summing_varies_less_in_as_many_bins():
    """M = 8 against M = 1, as many bins: the estimate's variance is smaller, by less than eight because of what meets by chance."""
    a, b = near_sets(4)
    spread = {}
    for sums in (1, 8):
        made = [Histograms(Stripe(25.0, seed=seed), bits=6, tables=1, sums=sums, store="float32") for seed in range(300)]
        spread[sums] = np.var([family.estimate(*family.embed([a, b])) for family in made])
    assert spread[8] < spread[1] / 1.5


def test_estimates_by_rows():
    family, sets = FAMILIES["stripes"], some_sets(5)
    counts = family.counts(sets)
    rows = family.estimate(counts, counts[::-1])
    assert rows.shape == (5,)
    assert family.estimate(counts[0], counts[4]) == rows[0]
    assert (family.estimate(counts, counts[2]) == family.estimate(counts[2], counts)).all()
    for wrong in (counts[:, :-1], counts[None]):
        with pytest.raises(UsageError, match="bins, here came the shape"):
            family.estimate(wrong, counts)
    with pytest.raises(UsageError, match="5 sets cannot be compared with 3"):
        family.estimate(counts, counts[:3])


# compact forms


@named
def test_sparse_is_dense_without_zeros(name):
    family, sets = FAMILIES[name], some_sets()
    dense = family.counts(sets)
    values, weights, offsets = family.sparse(sets)
    for item, row in enumerate(dense):
        here = slice(offsets[item], offsets[item + 1])
        assert values[here].tolist() == np.flatnonzero(row).tolist()
        assert weights[here].tolist() == row[row > 0].tolist()
    a, b = family.sparse(sets[:-1]), family.sparse(sets[1:])
    shares = one_to_one(dense[:-1], dense[1:]) / np.maximum(dense[:-1], dense[1:]).sum(1)
    np.testing.assert_allclose(weighted_jaccard(a, b), shares, rtol=1e-12)


def test_sparse_takes_bins_that_no_array_would_hold():
    family = Histograms(Hyperplane(), bits=32, tables=3)
    values, weights, _ = family.sparse(some_sets(3))
    assert values.max() > 2**32
    assert weights.sum() == 3 * sum(map(len, some_sets(3)))
    with pytest.raises(UsageError, match="take `sparse`"):
        family.embed(some_sets(3))


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_packed_counts(bits):
    counts = np.random.default_rng(bits).integers(0, 20, (5, 37)).astype(np.uint8)
    codes = packed(counts, bits)
    assert codes.shape == (5, -(-37 * bits // 8))
    assert (unpacked(codes, bits, 37) == np.minimum(counts, 2**bits - 1)).all()
    assert (unpacked(packed(counts[2], bits), bits, 37) == np.minimum(counts[2], 2**bits - 1)).all()
    if bits == 1:
        assert (codes == np.packbits(counts > 0, axis=1, bitorder="little")).all()


def test_the_bins_that_vary():
    counts = np.array([[1, 9, 0, 4], [1, 0, 0, 8], [1, 5, 0, 4]], np.uint8)
    assert most_varied(counts, 2).tolist() == [1, 3]
    assert most_varied(counts, 3).tolist() == [0, 1, 3]  # of equals the first
    with pytest.raises(UsageError, match="a whole number from 1 to 4"):
        most_varied(counts, 5)
    with pytest.raises(UsageError, match="choose one of 1, 2, 4"):
        packed(counts, 3)
    with pytest.raises(UsageError, match="histograms are an array of numbers"):
        occupied([[1, 2]])


# space


def test_a_centre_and_axes():
    """Whitened features have variance 1 along each axis, and no two go together."""
    draw = np.random.default_rng(3)
    sample = draw.normal(size=(2000, 5)) @ draw.normal(size=(5, 5)) + 100
    moved = Space.fit(sample, 3).moved(features([sample])[0])
    np.testing.assert_allclose(moved.mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(np.cov(moved.T, bias=True), np.eye(3), atol=1e-4)
    centred = Space.fit(sample).moved(features([sample])[0])
    np.testing.assert_allclose(centred, (sample - sample.mean(axis=0)).astype(np.float32), atol=1e-4)
    unit = Space.fit(sample, 4, unit=True)
    np.testing.assert_allclose(np.linalg.norm(unit.moved(features([sample])[0]), axis=1), 1, atol=1e-6)
    assert unit.dimension == 4
    sets = [sample[:7].astype(np.float32), sample[7:9].astype(np.float32)]
    values, offsets = unit(sets)
    assert offsets.tolist() == [0, 7, 9]
    assert (values[7:] == unit([sets[1]])[0]).all()
    with ThreadPoolExecutor(3) as pool:
        assert (unit((np.tile(sample, (12, 1)), np.array([0, 24000])), pool.map)[0] == np.tile(unit([sample])[0], (12, 1))).all()


def test_a_sample_in_any_form_gives_one_space():
    sample = np.random.default_rng(3).normal(size=(40, 3)).astype(np.float32)
    spaces = [Space.fit(given, 2) for given in (sample, sample.tolist(), [sample[:9], sample[9:]], [sample[:9].tolist(), sample[9:].tolist()])]
    for other in spaces[1:]:
        assert (other.centre == spaces[0].centre).all()
        assert (other.axes == spaces[0].axes).all()
    assert (spaces[0].axes[abs(spaces[0].axes).argmax(axis=0), [0, 1]] > 0).all()


def test_refused_spaces():
    flat = np.zeros((10, 3))
    flat[:, 0] = range(10)
    with pytest.raises(UsageError, match="from 1 to 1, the axes along which this sample varies"):
        Space.fit(flat, 2)
    with pytest.raises(UsageError, match="from 1 to 0"):
        Space.fit(np.ones((3, 3)), 1)
    with pytest.raises(UsageError, match="no features"):
        Space.fit(np.ones((0, 3)))
    with pytest.raises(UsageError, match="2 numbers, and the axes have 3 rows"):
        Space(np.zeros(2), np.zeros((3, 1)))
    with pytest.raises(UsageError, match="features of 4 numbers, and this space is for 3"):
        Space(np.zeros(3))([np.ones((2, 4))])


def test_histograms_in_a_space_are_those_of_what_was_moved():
    sets = some_sets()
    space = Space.fit(sets, 3)
    family = Histograms(Hyperplane(), bits=4, tables=3, space=space)
    assert (family.counts(sets) == replace(family, space=None).counts(space(sets))).all()
    assert family.expected(sets[0], sets[1]) == pytest.approx(replace(family, space=None).expected(*np.split(space(sets[:2])[0], [len(sets[0])])))


def test_a_centre_tells_features_without_negative_numbers_apart():
    """Sixty sets of colours, each twice with noise: without a centre the second of a set is not found."""
    draw = np.random.default_rng(8)
    base = [np.abs(draw.normal(3, 0.1, (20, 8))) for _ in range(60)]
    again = [np.abs(one + draw.normal(0, 0.02, one.shape)) for one in base]
    found = {}
    for name, space in (("none", None), ("centre", Space.fit(base))):
        family = Histograms(Hyperplane(), bits=6, tables=10, space=space)
        found[name] = (every(correlation, family.embed(base), family.embed(again)).argmax(axis=1) == np.arange(60)).mean()
    assert found["centre"] > 0.95
    assert found["none"] < 0.6


# what is refused


def test_spans_cover_all_sets_once():
    for sizes in ([1], [5, 5, 5], [1] * 30, [20, 1, 1, 50, 3], []):
        offsets = np.cumsum([0, *sizes], dtype=np.int64)
        covered = [item for begin, end in spans(offsets, 7) for item in range(begin, end)]
        assert covered == list(range(len(sizes)))


GOOD = [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize(
    ("sets", "said"),
    [
        ([GOOD, []], "item 1 has no features"),
        ([GOOD, np.empty((0, 2))], "item 1 has no features"),
        ([GOOD, [[1.0, 2.0, 3.0]]], "item 1 has features of 3 numbers, item 0 of 2"),
        ([GOOD, [[1.0, 2.0], [3.0]]], "item 1: row 1 has 1 numbers"),
        ([GOOD, [[1.0, math.nan]]], "item 1: row 0: nan in column 1"),
        ([GOOD, [[1.0, "a"]]], "item 1: row 0: 'a' in column 1"),
        ([GOOD, GOOD[0]], "item 1: row 0 is the number 1.0"),
        ([GOOD, np.ones(2)], r"item 1 is an array of shape \(2,\)"),
        ([GOOD, [[1e300, 1.0]]], "item 1, feature 0: 1e[+]300 in column 0; beyond the range of float32"),
        (np.ones((3, 2)), "one set alone is a batch of one"),
        ((np.ones((3, 2)), np.array([0, 2, 2, 3])), "item 1 has no features"),
        ((np.ones((3, 2)), np.array([0, 4])), "offset 1 is 4"),
        ((np.array([[1, 2], [3, math.inf]]), np.array([0, 1, 2])), "item 1, feature 0: inf in column 1"),
        (pa.array([[[1.0, 2.0]], []], pa.list_(pa.list_(pa.float64()))), "item 1 has no features"),
        (pa.array([[[1.0, 2.0]], None]), "row 1 is null"),
        (pa.array([[[1.0, 2.0]], [[3.0, 4.0], [math.nan, 4.0]]]), "item 1, feature 1: nan in column 0"),
    ],
)
def test_refused_sets(sets, said):
    with pytest.raises(UsageError, match=said):
        Histograms(Stripe(1.0), 2, 2).embed(sets)


def test_refused_features_are_named():
    sets = [np.ones((9000, 2)), np.ones((3, 2)), [[1.0, 1.0], [0.0, 0.0]]]
    with pytest.raises(UsageError, match="item 2, feature 1 is the zero vector"):
        Histograms(Hyperplane(), 2, 2).embed(sets)
    with pytest.raises(UsageError, match=r"item 0, feature 0 is the zero vector.*from the centre"):
        Histograms(Hyperplane(), 2, 2, space=Space(np.ones(2))).embed(sets)
    with pytest.raises(UsageError, match="item 1, feature 2: its coordinates add up to"):
        Histograms(Stripe(1e-20), 2, 2).embed([[[0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0], [1.0, 1.0]]])
    with pytest.raises(UsageError, match=r"item 1, feature 0: 7\.0 in column 1 is not from 0 to 5"):
        Histograms(Threshold(0, 5, 2), 2, 2).embed([GOOD, [[1.0, 7.0]]])


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([1.0], "weights of shape .1,. for 2 features"),
        ([1.0, -1.0], "the weight of feature 1 of all is -1.0"),
        ([1.0, math.nan], "feature 1 of all is nan"),
        (["a", "b"], "weights are a number for each feature"),
    ],
)
def test_refused_weights(weights, said):
    with pytest.raises(UsageError, match=said):
        Histograms(Stripe(1.0), 2, 2).embed([GOOD], weights)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"bit": BBit()}, "give a family of one bit"),
        ({"bit": "stripe"}, "give a family of one bit"),
        ({"bits": 0}, "Histograms bits 0"),
        ({"bits": 33}, "Histograms bits 33"),
        ({"tables": 2**20, "bits": 32}, "give fewer, 262,144 at most"),
        ({"store": "int8"}, "choose one of uint8, uint16, float32"),
        ({"normalize": "l2"}, "choose one of none, l1, sqrt"),
        ({"scale": 0}, "scale 0: give a number above 0"),
        ({"space": np.zeros(2)}, "give a Space"),
    ],
)
def test_refused_fields(fields, said):
    with pytest.raises(UsageError, match=said):
        Histograms(**{"bit": Stripe(1.0), **fields})


def test_no_sets():
    family = Histograms(Hyperplane(), 2, 2)
    assert family.embed([]).shape == (0, 8)
    assert [len(part) for part in family.sparse([])] == [0, 0, 1]
