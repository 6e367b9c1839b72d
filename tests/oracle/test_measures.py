"""Each measure against a slow, obvious reference implementation; the axioms of a distance where they hold, and a counterexample where they do not."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise import kinds, measures
from likewise.items.codes import codes
from likewise.items.sets import distinct, ragged
from likewise.items.vectors import vectors
from likewise.items.weighted import weighted
from likewise.measures.containment import containment
from likewise.measures.cosine import angle, cosine
from likewise.measures.edit import edit, levenshtein
from likewise.measures.hamming import hamming
from likewise.measures.jaccard import jaccard
from likewise.measures.norms import l1, l2, linf, lr
from likewise.measures.weighted_jaccard import weighted_jaccard

FEW = settings(max_examples=60, deadline=None)

ELEMENTS = st.integers(-3, 12)
SETS = st.lists(st.frozensets(ELEMENTS), max_size=6)
WEIGHTED = st.lists(st.dictionaries(st.integers(0, 6), st.floats(0, 1e6)), max_size=6)
NUMBERS = st.floats(-1e6, 1e6, width=32)
STRINGS = st.text(st.sampled_from("ab\0é\ud800\U0001f600"), max_size=9)


def sets(batch):
    return distinct(*ragged([list(one) for one in batch]))


def pairs_of(items):
    """Two equally long batches from a list of items: each with each."""
    both = list(product(items, items))
    return [a for a, _ in both], [b for _, b in both]


def equal(values, expected):
    """The same numbers; None stands for NaN."""
    assert values.tolist() == pytest.approx([math.nan if value is None else float(value) for value in expected], rel=0, abs=0, nan_ok=True)


def test_every_measure_has_a_function():
    for name in [*kinds.measures(), "lr", "elements/containment"]:
        assert callable(measures.measure(name)), name


# sets


@FEW
@given(SETS)
def test_jaccard_and_containment_of_sets(items):
    a, b = pairs_of(items)
    equal(jaccard(sets(a), sets(b)), [Fraction(len(x & y), len(x | y)) if x | y else None for x, y in zip(a, b, strict=True)])
    equal(containment(sets(a), sets(b)), [Fraction(len(x & y), len(x)) if x else None for x, y in zip(a, b, strict=True)])


@FEW
@given(st.integers(1, 140).flatmap(lambda bits: st.lists(st.lists(st.booleans(), min_size=bits, max_size=bits), min_size=1, max_size=5)))
def test_sets_as_bits_and_hamming(rows):
    a, b = pairs_of(rows)
    left, right = codes(np.array(a)), codes(np.array(b))
    columns = [(set(np.flatnonzero(x)), set(np.flatnonzero(y))) for x, y in zip(a, b, strict=True)]
    equal(jaccard(left, right), [Fraction(len(x & y), len(x | y)) if x | y else None for x, y in columns])
    equal(containment(left, right), [Fraction(len(x & y), len(x)) if x else None for x, y in columns])
    distances = hamming(left, right)
    assert distances.dtype == np.int64
    equal(distances, [len(x ^ y) for x, y in columns])


def test_the_worked_sets_groups_and_bits():
    a, b = sets([{0, 1, 2, 5, 6}]), sets([{0, 2, 3, 5, 7, 9}])
    assert jaccard(a, b) == 3 / 8
    bits = [codes(np.array([[bit == "1" for bit in row]])) for row in ("10111", "10011")]
    assert jaccard(*bits) == 3 / 4


@FEW
@given(SETS, st.dictionaries(ELEMENTS, st.integers(0, 3), min_size=1))
def test_clustered_jaccard_is_that_of_the_sets_of_groups(items, groups):
    a, b = pairs_of(items)
    of = {element: ("group", groups[element]) if element in groups else ("own", element) for element in range(-3, 13)}
    grouped = [({of[e] for e in x}, {of[e] for e in y}) for x, y in zip(a, b, strict=True)]
    equal(lw.similarity(a, b, by="elements", groups=groups), [Fraction(len(x & y), len(x | y)) if x | y else None for x, y in grouped])


# weighted sets


@FEW
@given(WEIGHTED)
def test_weighted_jaccard(items):
    a, b = pairs_of(items)
    expected = []
    for x, y in zip(a, b, strict=True):
        low, high = (sum(choose(Fraction(x.get(e, 0)), Fraction(y.get(e, 0))) for e in x | y) for choose in (min, max))
        expected.append(float(low / high) if high else math.nan)
    assert weighted_jaccard(weighted(a), weighted(b)).tolist() == pytest.approx(expected, rel=1e-14, nan_ok=True)


@FEW
@given(st.lists(st.lists(st.integers(0, 5), max_size=12), max_size=5))
def test_with_whole_weights_it_is_jaccard_of_the_multisets(items):
    a, b = pairs_of(items)
    expanded = [[{(e, i) for e, count in Counter(one).items() for i in range(count)} for one in side] for side in (a, b)]
    expected = [Fraction(len(x & y), len(x | y)) if x | y else None for x, y in zip(*expanded, strict=True)]
    equal(weighted_jaccard(weighted([Counter(one) for one in a]), weighted([Counter(one) for one in b])), expected)


def test_weights_near_the_end_of_the_range():
    a, b = weighted([{1: 1e308, 2: 1e308}, {1: 5e-324}]), weighted([{1: 1e308, 3: 1e308}, {1: 1e-323}])
    assert weighted_jaccard(a, b).tolist() == [1 / 3, 0.5]


def test_repeated_elements_add_up_in_whatever_order_they_come():
    one, other = [(1, 0.1), (1, 0.2), (1, 0.3)], [(1, 0.3), (1, 0.2), (1, 0.1)]
    assert weighted_jaccard(weighted([one]), weighted([other])) == 1.0


# vectors


def exact(x, y):
    """(x·x, x·y, y·y) of floats."""
    return tuple(sum((Decimal(p) * Decimal(q) for p, q in zip(u, v, strict=True)), Decimal(0)) for u, v in ((x, x), (x, y), (y, y)))


@FEW
@given(
    st.integers(1, 20).flatmap(lambda d: st.lists(st.lists(NUMBERS, min_size=d, max_size=d), min_size=1, max_size=4)),
    st.sampled_from([np.float32, np.float64]),
)
def test_vectors_against_decimals(rows, kind):
    a, b = pairs_of(rows)
    left, right = vectors(np.array(a, kind)), vectors(np.array(b, kind))
    with localcontext() as context:
        context.prec = 1000
        differences = [[abs(Decimal(p) - Decimal(q)) for p, q in zip(x, y, strict=True)] for x, y in zip(a, b, strict=True)]
        assert l1(left, right).tolist() == pytest.approx([float(sum(row)) for row in differences], rel=1e-14, abs=0)
        assert l2(left, right).tolist() == pytest.approx([float(sum(d * d for d in row).sqrt()) for row in differences], rel=1e-14, abs=0)
        cubes = [float(sum(d**3 for d in row)) ** (1 / 3) for row in differences]
        assert lr(left, right, 3).tolist() == pytest.approx(cubes, rel=1e-13, abs=1e-100)
        assert linf(left, right).tolist() == [float(max(row)) for row in differences]
        some = [i for i, (x, y) in enumerate(zip(a, b, strict=True)) if any(x) and any(y)]
        if some:
            products = [exact(a[i], b[i]) for i in some]
            expected = [float(xy / (xx * yy).sqrt()) for xx, xy, yy in products]
            cosines = cosine(left[some], right[some])
            assert cosines.tolist() == pytest.approx(expected, rel=0, abs=1e-15)
            assert np.abs(cosines).max() <= 1
            assert angle(left[some], right[some]).tolist() == pytest.approx(
                [math.degrees(math.atan2((xx * yy - xy * xy).sqrt(), xy)) for xx, xy, yy in products], rel=1e-14, abs=2e-14
            )


def test_direction_and_length_disagree():
    """The nearest by L2 is not the nearest by cosine, and no length is made 1 on the way."""
    q, others = vectors([[2, 2, 2]] * 3), vectors([[2, 2, 2.5], [0.25, 0.25, 0.25], [-2, -2, -2]])
    assert l2(q, others).tolist() == [0.5, 3.031088913245535, 6.928203230275509]
    assert cosine(q, others).tolist() == pytest.approx([0.9941348467724345, 1, -1], rel=0, abs=2e-16)
    assert cosine(q, others).tolist()[1:] == [1, -1]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-30, 1e-20, 3.0, 1e30])
def test_neither_tiny_nor_huge_vectors_are_lost(kind, scale):
    v = np.array([[1, 2, 3, 4]], kind)
    t = vectors((v * kind(scale)).astype(kind))
    assert cosine(vectors(v), t) == pytest.approx(1, rel=0, abs=1e-15)
    assert angle(vectors(v), t) < 1e-5  # scaling rounds, float32 by 1e-7
    assert cosine(t, vectors(v[:, ::-1].copy())) == pytest.approx(20 / 30, rel=1e-7)
    assert l2(t, vectors(-v * kind(scale))) == pytest.approx(2 * math.sqrt(30) * scale, rel=1e-6)


def test_the_ends_of_float64():
    for size in (1e-320, 1e-200, 1e200, 1.7e308):
        x, y = vectors([[3 * (size / 4), size]]), vectors([[0.0, 0.0]])
        assert l2(x, y) == pytest.approx(1.25 * size if size < 1.5e308 else math.inf, rel=1e-3 if size < 1e-300 else 1e-15)
        assert lr(x, y, 7) == pytest.approx((1 + 0.75**7) ** (1 / 7) * size, rel=1e-3 if size < 1e-300 else 1e-14)
        assert cosine(x, vectors([[3.0, 4.0]])) == pytest.approx(1, abs=1e-6)
        assert cosine(x, vectors([[-4.0, 3.0]])) == pytest.approx(0, abs=1e-3 if size < 1e-300 else 1e-15)
    assert l1(vectors([[1.7e308]]), vectors([[-1.7e308]])) == math.inf  # undefined


def test_equal_directions_have_cosine_1_and_angle_0():
    rng = np.random.default_rng(5)
    x = rng.integers(-1000, 1000, (200, 13)) + rng.integers(0, 2, (200, 1)) * 0.5
    for factor in (1, 2, 3, 7, 0.25, 2.0**-600, 2.0**600):
        a, b = vectors(x), vectors(x * factor)
        assert (cosine(a, b) == 1).all()
        assert (angle(a, b) == 0).all()
        assert (cosine(a, vectors(-x * factor)) == -1).all()
        assert (angle(a, vectors(-x * factor)) == 180).all()


@pytest.mark.parametrize("tiny", [1e-3, 1e-8, 1e-12, 1e-150, 1e-300])
def test_small_angles_keep_their_digits(tiny):
    """The arc cosine of what is rounded to 1 would be 0."""
    x, y = vectors([[1.0, 0.0, 0.0]]), vectors([[1.0, 0.0, tiny]])
    assert angle(x, y) == pytest.approx(math.degrees(math.atan(tiny)), rel=1e-12)
    assert 180 - angle(x, vectors([[-1.0, 0.0, 0.0]])) == 0


def test_right_angles_and_60_degrees():
    x = vectors([[1, 0, 0], [1, 2, 0], [1, 1, 0], [1, 0, 0]])
    y = vectors([[0, 5, 0], [-2, 1, 0], [1, 0, 1], [1, 1, 0]])
    assert angle(x, y).tolist() == pytest.approx([90, 90, 60, 45], rel=1e-15)
    assert cosine(x, y).tolist()[:2] == [0, 0]


def test_large_r_tends_to_the_largest_difference():
    x, y = vectors([[1, 5, -2]]), vectors([[4, 1, -2.5]])
    values = [float(lr(x, y, r)[0]) for r in (1, 2, 4, 16, 64, 1000)]
    assert values == sorted(values, reverse=True)
    assert values[-1] == pytest.approx(4, abs=1e-12)
    assert values[:2] == [l1(x, y)[0], l2(x, y)[0]] == [7.5, math.sqrt(9 + 16 + 0.25)]
    assert lr(x, y, math.inf) == linf(x, y) == 4
    with pytest.raises(lw.UsageError, match="r must be at least 1"):
        lr(x, y, 0.5)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("dimension", [1, 7, 8, 9, 64, 67])
def test_a_value_does_not_depend_on_its_batch(kind, dimension):
    rng = np.random.default_rng(dimension)
    a, b = (rng.normal(size=(33, dimension)).astype(kind) for _ in range(2))
    for function in (cosine, angle, l1, l2, linf):
        whole = function(vectors(a), vectors(b))
        alone = [function(vectors(a[i : i + 1]), vectors(b[i : i + 1]))[0] for i in range(33)]
        assert whole.tolist() == alone
        assert whole.tolist() == function(vectors(b), vectors(a)).tolist()
        later = np.empty((34, dimension), kind)[1:]  # at another place in memory
        later[:] = a
        assert whole.tolist() == function(later, vectors(b)).tolist()


def test_a_weighted_value_does_not_depend_on_its_batch():
    rng = np.random.default_rng(3)
    items = [{str(e): w for e, w in zip(rng.permutation(9).tolist(), rng.uniform(0, 1, 9).tolist(), strict=True)} for _ in range(20)]
    words = [{int(e): w for e, w in one.items()} for one in items]
    a, b = pairs_of(items)
    whole = lw.similarity(a, b, by="weighted").tolist()
    assert whole == lw.similarity(b, a, by="weighted").tolist()
    assert whole == [lw.similarity(x, y, by="weighted") for x, y in zip(a, b, strict=True)]
    found = lw.pairs(a, against=b, by="weighted", threshold=0.01, exact=True).to_arrow().to_pylist()
    assert whole == [row["similarity"] for row in found if row["id_a"] == row["id_b"]]  # in the order of the words, in every verb
    assert whole == pytest.approx(weighted_jaccard(*map(weighted, pairs_of(words))), rel=1e-15)


# strings


def edit_reference(a: str, b: str, substitute: int) -> int:
    """The textbook's recursion over the last characters."""

    @cache
    def cost(i: int, j: int) -> int:
        if i == 0 or j == 0:
            return i + j
        return min(cost(i - 1, j) + 1, cost(i, j - 1) + 1, cost(i - 1, j - 1) + (substitute if a[i - 1] != b[j - 1] else 0))

    return cost(len(a), len(b))


@FEW
@given(st.lists(STRINGS, max_size=5))
def test_edit_distances(items):
    a, b = pairs_of(items)
    inserts, substitutions = edit(a, b), levenshtein(a, b)
    assert inserts.dtype == substitutions.dtype == np.int64
    equal(inserts, [edit_reference(x, y, 2) for x, y in zip(a, b, strict=True)])
    equal(substitutions, [edit_reference(x, y, 1) for x, y in zip(a, b, strict=True)])


def test_the_worked_strings():
    """Delete b, insert f after c, insert g: the longest common subsequence is acde."""
    assert edit(["abcde", "kitten"], ["acfdeg", "sitting"]).tolist() == [len("abcde") + len("acfdeg") - 2 * len("acde"), 5]
    assert levenshtein(["abcde", "kitten"], ["acfdeg", "sitting"]).tolist() == [3, 3]
    long = "x" * 5000
    assert edit([long], ["y" + long[:-2]]).tolist() == [3]


@FEW
@given(st.integers(1, 9).flatmap(lambda n: st.lists(st.text("0123456789abcdefABCDEF", min_size=2 * n, max_size=2 * n), max_size=5)))
def test_hamming_of_strings_is_that_of_the_bits_of_their_hexadecimal_digits(items):
    a, b = pairs_of(items)
    equal(hamming(codes(a), codes(b)), [(int(x, 16) ^ int(y, 16)).bit_count() for x, y in zip(a, b, strict=True)])


def test_rapidfuzz_is_asked_for_by_name(monkeypatch, tmp_path):
    damaged = tmp_path / "a.jsonl"
    damaged.write_text('{"text": "a"}\n{"text": "b\n')
    monkeypatch.setitem(__import__("sys").modules, "rapidfuzz", None)
    with pytest.raises(lw.MissingPartError, match=r"pip --python .* install rapidfuzz"):
        edit(["a"], ["b"])
    with pytest.raises(lw.MissingPartError, match=r"install rapidfuzz"):  # before the file is read: it is damaged
        lw.pairs(damaged, by="levenshtein", within=1)
    source = Path(lw.__file__).parent
    assert [path.name for path in source.rglob("*.py") if "import rapidfuzz" in path.read_text()] == ["edit.py"]


# axioms

WORDS = st.integers(0, 2**64 - 1)
COORDINATES = st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3)


def distance(by, of=lambda value: value):
    return lambda x, y: of(lw.similarity([x], [y], by=by)[0])


METRICS = {
    "elements": (st.frozensets(ELEMENTS, min_size=1), distance("elements", lambda s: 1 - s)),
    "weighted": (st.dictionaries(ELEMENTS, st.integers(1, 9000).map(lambda n: n / 8), min_size=1), distance("weighted", lambda s: 1 - s)),
    "hamming": (WORDS, distance("hamming")),
    "edit": (STRINGS, distance("edit")),
    "levenshtein": (STRINGS, distance("levenshtein")),
    **{by: (COORDINATES, distance(by)) for by in ("l1", "l2", "linf", "l1.5", "l3", "l7")},
}


@pytest.mark.parametrize("by", METRICS)
def test_the_axioms_of_a_distance(by):
    items, d = METRICS[by]

    @settings(max_examples=40, deadline=None)
    @given(items, items, items)
    def holds(x, y, z):
        assert d(x, x) == 0
        assert (d(x, y) > 0) == (x != y)
        assert d(x, y) == d(y, x)
        assert d(x, z) <= (d(x, y) + d(y, z)) * (1 + 1e-12) + 1e-15

    holds()


@FEW
@given(*[st.lists(st.integers(-9, 9), min_size=3, max_size=3).filter(any)] * 3, st.integers(1, 5))
def test_the_angle_is_a_distance_between_directions(x, y, z, factor):
    d = distance("angle")
    direction = [tuple(Fraction(number, max(map(abs, v))) for number in v) for v in (x, y)]
    assert d(x, [factor * number for number in x]) == 0
    assert (d(x, y) == 0) == (direction[0] == direction[1])
    assert d(x, y) == d(y, x) >= 0
    assert d(x, z) <= d(x, y) + d(y, z) + 1e-12


def test_what_is_no_distance():
    """Containment and cosine are similarities: 1 minus them breaks an axiom."""
    assert lw.similarity({1}, {1, 2}, by="elements/containment") == 1  # though the sets differ
    assert lw.similarity({1, 2}, {1}, by="elements/containment") == 0.5  # and the other way it is another
    x, y, z = [1, 0], [1, 1], [0, 1]
    d = distance("cosine", lambda cos: 1 - cos)
    assert d(x, z) > d(x, y) + d(y, z) + 0.4
    assert lw.similarity({1}, {2}, by="elements", groups={1: 0, 2: 0}) == 1  # between sets of groups, not of elements
