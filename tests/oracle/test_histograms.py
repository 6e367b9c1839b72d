"""Random histograms of sets of vectors: by slow reference implementations, by the closed form of what matches are on average, and what adds up."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from feature_sets import DIMENSION, some_sets
from likewise.errors import UsageError
from likewise.families import BBit, Histograms, Hyperplane, Space, Stripe, Threshold
from likewise.families.compact import most_varied, occupied, packed, unpacked
from likewise.families.partition import MASKS
from likewise.items.features import features, spans
from likewise.kernels.hashing import derive
from likewise.measures.matching import one_to_many, one_to_one
from likewise.measures.weighted_jaccard import weighted_jaccard

FAMILIES = {
    "hyperplanes": Histograms(Hyperplane(seed=3), bits=4, tables=5, store="float32"),
    "rotated": Histograms(Hyperplane(seed=3, mode="rotated"), bits=4, tables=5, store="float32"),
    "stripes": Histograms(Stripe(30.0, seed=3), bits=4, tables=5, store="float32"),
    "thresholds": Histograms(Threshold(-50, 50, DIMENSION, seed=3), bits=4, tables=5, store="float32"),
    "summed": Histograms(Stripe(30.0, seed=3), bits=3, tables=2, sums=4, store="float32"),
}
named = pytest.mark.parametrize("name", FAMILIES)


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
def test_counts_by_a_slow_reference(name):
    family, sets = FAMILIES[name], some_sets()
    assert (family.counts(sets) == by_hand(family, sets)).all()
    assert (family.embed(sets) == by_hand(family, sets)).all()
    weights = [np.random.default_rng(len(one)).integers(0, 5, len(one)) / 4 for one in sets]
    assert (family.counts(sets, weights) == by_hand(family, sets, weights)).all()
    assert (family.counts(sets, np.concatenate(weights)) == by_hand(family, sets, weights)).all()


@named
def test_counts_are_those_of_the_item_alone(name):
    """A histogram does not depend on the rest of the batch, the number of threads, or the form of the sets."""
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


@pytest.mark.parametrize(("width", "step"), [(1, 1), (7, 1), (7, 3), (40, 1), (40, 5), (41, 1), (90, 2)])
def test_windows_are_their_parts_together(width, step):
    """Over forty frames, to the last bit; no window is wider than all frames."""
    family = Histograms(Stripe(30.0), bits=4, tables=3, normalize="sqrt")
    frames = some_sets(40, seed=5)
    found = family.windows(family.counts(frames), width, step)
    starts = range(0, 40 - width + 1, step)
    assert found.shape == (len(starts), family.bins)
    for at, row in zip(starts, found, strict=True):
        assert (row == family.embed([np.concatenate(frames[at : at + width])])[0]).all()


def test_refused_windows():
    family = Histograms(Stripe(30.0), bits=2, tables=1)
    for arguments, said in (
        ((np.ones((3, 4)), 0), "windows width 0: give a whole number from 1"),
        ((np.ones((3, 4)), 2, 0), "windows step 0: give a whole number from 1"),
        ((np.ones((3, 4)), 1.5), "windows width 1.5: give a whole number from 1"),
        ((np.ones((3, 5)), 2), r"counts of this family have 4 bins, got the shape \(3, 5\)"),
        ((np.ones(4), 2), r"counts of this family have 4 bins, got the shape \(4,\)"),
    ):
        with pytest.raises(UsageError, match=said):
            family.windows(*arguments)


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


def test_normalizations():
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
    """Two sets whose features are from 0 to 40 apart, some at right angles, some equal."""
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
        with pytest.raises(UsageError, match="bins, got the shape"):
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
    with pytest.raises(UsageError, match="use `sparse`"):
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
    with pytest.raises(UsageError, match="histograms must be an array of numbers"):
        occupied([[1, 2]])


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
        ([GOOD, []], "row 1 has no features"),
        ([GOOD, np.empty((0, 2))], "row 1 has no features"),
        ([GOOD, [[1.0, 2.0, 3.0]]], "row 1: has features of 3 numbers, but the first item .row 0. has features of 2 numbers"),
        ([GOOD, [[1.0, 2.0], [3.0]]], "row 1: feature 2 of 2 has 1 number and the first has 2"),
        ([GOOD, [[1.0, math.nan]]], "row 1: feature 1 of 1 holds nan"),
        ([GOOD, [[1.0, "a"]]], "row 1 holds lists of lists of floats and strings"),
        ([GOOD, GOOD[0]], "row 1: a list of numbers is one feature"),
        ([GOOD, np.ones(2)], "row 1: a list of numbers is one feature"),
        ([GOOD, [[1e300, 1.0]]], "row 1: feature 1 of 1 holds inf; give finite numbers, within the range of float32"),
        (np.ones((3, 2)), "one set of features alone is a batch of one"),
        ((np.ones((3, 2)), np.array([0, 2, 2, 3])), "row 1 has no features"),
        ((np.ones((3, 2)), np.array([0, 4])), "offset 1 is 4"),
        ((np.array([[1, 2], [3, math.inf]]), np.array([0, 1, 2])), "row 1: feature 1 of 1 holds inf"),
        (pa.array([[[1.0, 2.0]], []], pa.list_(pa.list_(pa.float64()))), "row 1 has no features"),
        (pa.array([[[1.0, 2.0]], None]), "row 1 is None; expected a set of features"),
        (pa.array([[[1.0, 2.0]], [[3.0, 4.0], [math.nan, 4.0]]]), "row 1: feature 2 of 2 holds nan"),
    ],
)
def test_refused_sets(sets, said):
    with pytest.raises(UsageError, match=said):
        Histograms(Stripe(1.0), 2, 2).embed(sets)


def test_refused_features_are_named():
    sets = [np.ones((9000, 2)), np.ones((3, 2)), [[1.0, 1.0], [0.0, 0.0]]]
    with pytest.raises(UsageError, match="row 2: feature 2 of 2 is the zero vector"):
        Histograms(Hyperplane(), 2, 2).embed(sets)
    with pytest.raises(UsageError, match=r"row 0: feature 1 of 9000 is the zero vector.*relative to the center"):
        Histograms(Hyperplane(), 2, 2, space=Space(np.ones(2))).embed(sets)
    with pytest.raises(UsageError, match="row 1: feature 3 of 3: its coordinates add up to"):
        Histograms(Stripe(1e-20), 2, 2).embed([[[0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0], [1.0, 1.0]]])
    with pytest.raises(UsageError, match=r"row 1: feature 1 of 1: 7\.0 in column 1 is not between 0 and 5"):
        Histograms(Threshold(0, 5, 2), 2, 2).embed([GOOD, [[1.0, 7.0]]])


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([1.0], "weights of shape .1,. for 2 features"),
        ([1.0, -1.0], r"the weight of feature 1 \(of all sets\) is -1.0"),
        ([1.0, math.nan], r"feature 1 \(of all sets\) is nan"),
        (["a", "b"], "weights must be one number per feature"),
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
        ({"tables": 2**20, "bits": 32}, "give at most 262,144"),
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
