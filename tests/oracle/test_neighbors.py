"""The most similar items of a query: exact where that is asked for, at the expected recall otherwise, for all kinds of data."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.compiled.jit import kernel
from likewise.errors import UsageError
from likewise.kernels.scan import AT_ONCE, BLOCK, MOST, arrange, repeated, scan
from likewise.measures import measure
from likewise.nearest import by_vectors as stage
from likewise.nearest.by_codes import max_cosines_of, min_probabilities
from likewise.nearest.neighbors import neighbors
from likewise.stages.workers import ALONE, Workers

MEASURES = ("cosine", "angle", "l2", "l1", "elements", "weighted", "hamming")
DISTANCES = ("angle", "l2", "l1", "hamming")
SETS = ("elements", "weighted")
#: Measures by which vectors go by codes, and those by which only directions count.
CODED, DIRECTIONS = ("cosine", "angle", "l2"), ("cosine", "angle")


def sets(*given):
    """Sets as values and offsets."""
    ordered = [sorted(set(one)) for one in given]
    return np.array([x for one in ordered for x in one], np.uint64), np.cumsum([0, *map(len, ordered)], dtype=np.int64)


def weighted_sets(rng, *given):
    """Sets with weights: the elements of each, and then the bits of their weights."""
    rows = [(np.array(sorted(set(one)), np.uint64), rng.choice([0.25, 1.0, 1.5, 4.0], len(set(one)))) for one in given]
    return np.concatenate([np.empty(0, np.uint64), *(part.view(np.uint64) for row in rows for part in row)]), np.cumsum(
        [0, *(2 * len(elements) for elements, _ in rows)], dtype=np.int64
    )


def measurable(name, batch):
    """A batch as its measure takes it."""
    if name != "weighted":
        return (batch, 64 * batch.shape[1]) if name == "hamming" else batch
    words, offsets = batch
    middle = (offsets[:-1] + offsets[1:]) // 2
    elements = [words[begin:end] for begin, end in zip(offsets, middle, strict=False)]
    weights = [words[begin:end].view(float) for begin, end in zip(middle, offsets[1:], strict=True)]
    return np.concatenate([np.empty(0, np.uint64), *elements]), np.concatenate([np.empty(0), *weights]), offsets // 2


def length(name, batch):
    return len(batch[1]) - 1 if name in SETS else len(batch)


def take(name, batch, rows):
    """The items at these places."""
    if name not in SETS:
        return batch[rows]
    values, offsets = batch
    parts = [values[offsets[i] : offsets[i + 1]] for i in rows]
    return np.concatenate([np.empty(0, np.uint64), *parts]), np.cumsum([0, *map(len, parts)], dtype=np.int64)


def compared(name, base, queries, query, rows):
    """The measure's values of one query with some items."""
    if len(rows) == 0:
        return np.zeros(0)
    a, b = take(name, queries, np.full(len(rows), query)), take(name, base, rows)
    return np.asarray(measure(name)(measurable(name, a), measurable(name, b)), np.float64)


def empty(name, batch):
    """Items that are nobody's neighbors."""
    if name in SETS:
        return np.diff(batch[1]) == 0
    return ~batch.any(axis=1) if name in DIRECTIONS else np.zeros(len(batch), bool)


def brute(name, base, queries, k, *, limit=None, same=False):
    """(query, item, value), the obvious way."""
    found = []
    usable, asking = np.flatnonzero(~empty(name, base)), ~empty(name, queries)
    for query in np.flatnonzero(asking):
        rows = usable[usable != query] if same else usable
        values = compared(name, base, queries, query, rows)
        order = np.lexsort((rows, values if name in DISTANCES else -values))
        good = [i for i in order if name not in SETS or values[i] > 0]
        if limit is not None:
            good = [i for i in good if (values[i] <= limit if name in DISTANCES else values[i] >= limit)]
        found += [(int(query), int(rows[i]), float(values[i])) for i in good[:k]]
    return found


def rows_of(found):
    return list(zip(found.query.tolist(), found.item.tolist(), found.value.tolist(), strict=True))


def small(name, rng, n, dtype=np.float32):
    """Items with many ties, copies and empty ones."""
    if name == "elements":
        return sets(*(rng.integers(0, 8, rng.integers(0, 6)).tolist() for _ in range(n)))
    if name == "weighted":
        return weighted_sets(rng, *(rng.integers(0, 8, rng.integers(0, 6)).tolist() for _ in range(n)))
    if name == "hamming":
        return rng.integers(0, 4, (n, 2), dtype=np.uint64) << np.uint64(60)
    return rng.integers(-1, 2, (n, 3)).astype(dtype)


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(MEASURES), st.integers(0, 2**32), st.integers(0, 80), st.integers(0, 6), st.integers(1, 90), st.booleans(), st.booleans(),
    st.sampled_from([np.float32, np.float64]), st.sampled_from([None, 0.0, 0.5, 1.0, 2.0]),
)  # fmt: skip
def test_exact_is_brute_force(name, seed, n, m, k, same, threads, dtype, limit):
    rng = np.random.default_rng(seed)
    base = small(name, rng, n, dtype)
    queries = base if same else small(name, rng, m, dtype)
    limit = 60 * limit if name == "angle" and limit is not None else limit
    with ThreadPoolExecutor(2) as pool:
        found = neighbors(base, queries, name, k, exact=True, limit=limit, same=same, workers=Workers(pool.map, 2) if threads else ALONE)
    assert found.exact
    assert rows_of(found) == brute(name, base, queries, k, limit=limit, same=same)


@pytest.mark.parametrize("name", CODED)
def test_codes_of_few_vectors_find_all(name, monkeypatch):
    """If there are fewer items than wanted at first, all are found, ties, copies and zero vectors included."""
    monkeypatch.setattr(stage, "FEW_ITEMS", 0)
    monkeypatch.setattr(stage, "FEW_NUMBERS", 0)
    rng = np.random.default_rng(1)
    for n in (0, 1, 2, 17, 64, 65, 300):
        base, queries = small(name, rng, n), small(name, rng, 9)
        for same in (False, True):
            asked = base if same else queries
            found = neighbors(base, asked, name, 3 * n + 1, recall=0.9, same=same)
            assert found.exact == (n == 0)
            assert rows_of(found) == brute(name, base, asked, 3 * n + 1, same=same)


def gaussian(rng, n, d=48):
    return rng.standard_normal((n, d)).astype(np.float32)


def clustered(rng, n, d=48):
    """Groups of ten or so, all far from the origin."""
    return (3 + np.repeat(rng.standard_normal((-(-n // 10), d)), 10, axis=0)[:n] + 0.2 * rng.standard_normal((n, d))).astype(np.float32)


def positive(rng, n, d=48):
    return rng.gamma(1.0, 1.0, (n, d)).astype(np.float32)


def uneven(rng, n, d=48):
    """Lengths from 0.01 to 100, in float64."""
    return gaussian(rng, n, d) * 10 ** rng.uniform(-2, 2, (n, 1))


def sparse(rng, n, d=48):
    """Two or three coordinates that are not 0."""
    return (gaussian(rng, n, d) * (rng.random((n, d)) < 0.05) + np.eye(d, dtype=np.float32)[rng.integers(0, d, n)]).astype(np.float32)


SHAPES = {"gaussian": gaussian, "clustered": clustered, "positive": positive, "uneven": uneven, "sparse": sparse}


def shares_found(name, base, queries, found, k):
    """For each place 1 to k, in how many queries' results as many neighbors are as near as the true one of that place."""
    got = np.full((length(name, queries), k), np.inf if name in DISTANCES else -np.inf)
    place = np.arange(len(found.query)) - np.searchsorted(found.query, found.query)
    got[found.query, place] = found.value
    true = np.empty_like(got)
    for query in range(len(got)):
        values = np.sort(compared(name, base, queries, query, np.arange(length(name, base))))
        true[query] = values[:k] if name in DISTANCES else values[::-1][:k]
    return ((got <= true) if name in DISTANCES else (got >= true)).mean(axis=0)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", CODED)
def test_recall_is_as_expected(name, shape, scaled):
    """Each of the neighbors, the last as well, is found with the chance that was asked for; the bound is four standard errors below it."""
    rng, n, q, k, recall = np.random.default_rng(7), 4000, scaled(300, 60), 5, 0.9
    batch = rng.permutation(SHAPES[shape](rng, n + q))
    base, queries = batch[:n], batch[n:]
    least = recall - 4 * math.sqrt(recall * (1 - recall) / q)
    for seed in (0, 1):
        found = neighbors(base, queries, name, k, recall=recall, seed=seed)
        assert not found.exact
        assert shape == "sparse" or (found.scanned == n).all()  # which has copies
        assert (np.bincount(found.query, minlength=q) == k).all()
        assert shares_found(name, base, queries, found, k).min() >= least
        for query in range(0, q, 37):
            here = found.query == query
            assert found.value[here].tolist() == compared(name, base, queries, query, found.item[here]).tolist()
            assert len(set(found.item[here].tolist())) == k
            order = found.value[here] if name in DISTANCES else -found.value[here]
            assert (np.diff(order) >= 0).all()


def test_lists_end_early_and_miss_nothing():
    """Sets of popular and rare elements, some of them near copies; limits and k of all sizes."""
    rng, n = np.random.default_rng(11), 2000
    values = rng.zipf(1.4, (n, 25)) % 3000
    values[1::4] = np.where(rng.random((len(values[1::4]), 25)) < 0.25, values[1::4], values[::4])
    base = sets(*values.tolist())
    some = list(range(0, n, 50))
    for k, limit in ((1, None), (3, None), (40, None), (10, 0.4)):
        found = neighbors(base, take("elements", base, some), "elements", k, limit=limit)
        assert rows_of(found) == brute("elements", base, take("elements", base, some), k, limit=limit)
        if k < 40:
            assert found.scanned.mean() < 0.8 * sum(np.isin(base[0], list(set(values[i]))).sum() for i in some) / len(some)


def test_a_lower_recall_compares_less():
    rng = np.random.default_rng(3)
    batch = gaussian(rng, 5100, 64)
    compared = [neighbors(batch[:5000], batch[5000:], "l2", 10, recall=recall).compared.mean() for recall in (0.5, 0.9, 0.99, 0.9999)]
    assert compared == sorted(compared)
    assert compared[0] < compared[-1] / 4


@pytest.mark.parametrize("name", MEASURES)
def test_found_for_a_query_alone_and_on_threads(name):
    """The same rows for a query alone, in any batch, on any number of threads; and other chances, so other rows perhaps, by another seed."""
    rng, n, q = np.random.default_rng(5), 5000, 70
    base = {
        "elements": lambda: sets(*(rng.integers(0, 400, rng.integers(1, 30)).tolist() for _ in range(n + q))),
        "weighted": lambda: weighted_sets(rng, *(rng.integers(0, 400, rng.integers(1, 30)).tolist() for _ in range(n + q))),
        "hamming": lambda: rng.integers(0, 2**64, (n + q, 10), dtype=np.uint64),
    }.get(name, lambda: gaussian(rng, n + q))()
    base, queries = take(name, base, range(n)), take(name, base, range(n, n + q))
    whole = rows_of(neighbors(base, queries, name, 7))
    with ThreadPoolExecutor(2) as pool:
        done = []
        assert rows_of(neighbors(base, queries, name, 7, workers=Workers(pool.map, 2, done.append))) == whole
        assert sum(done) == q
    for query in (0, 33, 69):
        alone = rows_of(neighbors(base, take(name, queries, [query]), name, 7))
        assert [(query, item, value) for _, item, value in alone] == [row for row in whole if row[0] == query]
    backwards = rows_of(neighbors(base, take(name, queries, range(q)[::-1]), name, 7))
    assert sorted((q - 1 - query, item) for query, item, _ in backwards) == sorted(row[:2] for row in whole)


@pytest.mark.parametrize("name", MEASURES)
def test_among_themselves_no_item_is_its_own(name):
    rng = np.random.default_rng(9)
    base = small(name, rng, 120) if name in (*SETS, "hamming") else clustered(rng, 3000)
    found = neighbors(base, base, name, 4, same=True, recall=0.999)
    assert (found.query != found.item).all()
    assert {row for row in rows_of(found) if row[0] < 40} <= set(brute(name, base, take(name, base, range(40)), 5))


@pytest.mark.parametrize("name", CODED)
def test_copies_cost_nothing(name):
    """A collection of copies: the first k of each are neighbors, and the others are not looked at."""
    rng, n, k = np.random.default_rng(2), 6000, 4
    kinds = gaussian(rng, 3)
    base = kinds[rng.integers(0, 3, n)]
    found = neighbors(base, np.concatenate([kinds, gaussian(rng, 2)]), name, k)
    assert not found.exact
    assert (found.scanned <= 3 * (k + 1)).all()
    for query in range(3):
        assert found.item[found.query == query].tolist() == np.flatnonzero((base == kinds[query]).all(axis=1))[:k].tolist()
    among = neighbors(base, base, name, k, same=True)
    assert np.unique(among.query, return_counts=True)[1].tolist() == [k] * n
    last = n - 1
    assert among.item[among.query == last].tolist() == np.flatnonzero((base == base[last]).all(axis=1))[:k].tolist()
    equal = np.ones((n, 40), np.float32)
    assert rows_of(neighbors(equal, equal[:1], name, 2)) == [(0, i, 1.0 if name == "cosine" else 0.0) for i in range(2)]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", CODED)
def test_rounding_decides_nothing(name, dtype, monkeypatch):
    """Clusters so tight that products in float32 cannot tell their members apart; and sums of the same numbers in other orders."""
    rng = np.random.default_rng(10)
    tight = (np.repeat(rng.standard_normal((30, 20)), 100, axis=0) + 1e-5 * rng.standard_normal((3000, 20))).astype(dtype)
    found = neighbors(tight, tight[::300], name, 10, exact=True)
    assert rows_of(found) == brute(name, tight, tight[::300], 10)
    monkeypatch.setattr(stage, "FEW_ITEMS", 0)
    similar = rng.permuted(np.tile(rng.standard_normal(60), (110, 1)), axis=1).astype(dtype)
    for exact in (False, True):
        found = neighbors(similar, np.full((1, 60), 0.1, dtype), name, 60, exact=exact)
        assert rows_of(found) == brute(name, similar, np.full((1, 60), 0.1, dtype), 60)


def test_what_has_no_neighbors():
    base = np.eye(3, dtype=np.float32)
    zero = np.zeros((1, 3), np.float32)
    assert rows_of(neighbors(base, zero, "cosine", 2)) == []
    assert rows_of(neighbors(np.concatenate([zero, base]), base[:1], "cosine", 9)) == [(0, 1, 1.0), (0, 2, 0.0), (0, 3, 0.0)]
    assert rows_of(neighbors(sets([], [1, 2], [3]), sets([], [1], [9]), "elements", 9)) == [(1, 1, 0.5)]
    assert rows_of(neighbors(base[:0], base, "l2", 2)) == rows_of(neighbors(base, base[:0], "l2", 2)) == []
    assert rows_of(neighbors(base[:1], base[:1], "l2", 2, same=True)) == []
    many = np.zeros((3000, 40), np.float32)
    assert rows_of(neighbors(many, np.ones((2, 40), np.float32), "cosine", 2)) == []
    many[7] = 1
    assert rows_of(neighbors(many, many[6:8], "cosine", 2)) == [(1, 7, 1.0)]


def test_limit_is_inclusive_and_is_not_filled_up():
    base = sets([1, 2, 3, 4], [1, 2, 3, 5], [1, 2, 6, 7], [8])
    assert rows_of(neighbors(base, base, "elements", 3, same=True, limit=0.6)) == [(0, 1, 0.6), (1, 0, 0.6)]
    line = np.arange(10, dtype=np.float32)[:, None]
    assert rows_of(neighbors(line, line[:1], "l2", 9, limit=2.0)) == [(0, 0, 0.0), (0, 1, 1.0), (0, 2, 2.0)]
    rng = np.random.default_rng(4)
    batch = clustered(rng, 4000)
    found = neighbors(batch, batch, "l2", 20, same=True, limit=2.5, recall=0.999)
    assert 0 < len(found.query) < 20 * 4000
    assert (found.value <= 2.5).all()
    assert {row for row in rows_of(found) if row[0] < 30} <= set(brute("l2", batch, batch[:30], 30, limit=2.5))


@pytest.mark.parametrize(
    ("size", "dtype"),
    [(1e-30, "f4"), (1e30, "f4"), (1e-312, "f8"), (1e-300, "f8"), (1e-170, "f8"), (1e-30, "f8"), (1e60, "f8"), (1e170, "f8"), (1e300, "f8")],
)
@pytest.mark.parametrize("name", CODED)
def test_numbers_of_any_size(name, size, dtype, monkeypatch):
    """Squares may overflow or vanish; beside ordinary vectors too."""
    monkeypatch.setattr(stage, "FEW_ITEMS", 0)
    monkeypatch.setattr(stage, "FEW_NUMBERS", 0)
    rng = np.random.default_rng(6)
    ordinary, extreme = rng.standard_normal((60, 5)).astype(dtype), (rng.standard_normal((60, 5)) * size).astype(dtype)
    mixed = np.where(rng.random((60, 1)) < 0.5, ordinary, extreme)
    for base, queries in ((extreme, extreme[:9]), (ordinary, extreme[:9]), (ordinary, mixed[:9]), (mixed, mixed[:9])):
        for exact in (False, True):
            assert rows_of(neighbors(base, queries, name, 5, exact=exact)) == brute(name, base, queries, 5)


def test_maximum_cosines_hold_and_are_tight():
    """At the least chance for h differing bits, h or more differ with a chance of at most the miss; h - 1 or more with a chance of at least that."""
    for bits, miss in ((64, 0.01), (200, 0.004), (512, 0.05)):
        for h, p in enumerate(min_probabilities(bits, miss).tolist()):
            tail = [math.comb(bits, i) * p**i * (1 - p) ** (bits - i) for i in range(bits + 1)]
            assert h < 2 or sum(tail[h:]) <= miss * (1 + 1e-9)
            assert h < 2 or sum(tail[h - 1 :]) >= miss * (1 - 1e-9)
    first, whole = max_cosines_of(512, 1024, 0.99)
    assert len(first) == MOST + 1
    assert len(whole) == 1025
    assert (np.diff(first) <= 0).all()
    assert (np.diff(whole) <= 0).all()
    assert (first[0], whole[0]) == (1, 1)


@kernel
def counted(planes, blocks, codes, width, repeats, out):
    repeated(codes, 0, len(codes), width, repeats)
    scan(planes, 0, blocks, repeats, len(codes), width, out)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 300), st.integers(1, 9), st.integers(1, 9), st.integers(0, 8), st.integers(0, 2**32), st.booleans())
def test_scan_counts_bits(n, q, words, more, seed, opposite):
    rng = np.random.default_rng(seed)
    codes, queries = (rng.integers(0, 2**64, (size, words + more), dtype=np.uint64) for size in (n, q))
    if opposite:
        queries[0] = ~codes[0]
    order = rng.permutation(n)
    blocks, width = -(-n // BLOCK), 8 * words
    planes, rest = np.zeros(blocks * BLOCK * width, np.uint8), np.empty((n, more), np.uint64)
    half = n // 2 // BLOCK * BLOCK
    arrange(codes, order, 0, half, width, planes, rest)
    arrange(codes, order, half, n, width, planes, rest)
    assert (rest == codes[order, words:]).all()
    padded = -(-q // AT_ONCE) * AT_ONCE
    out = np.empty(padded * blocks * BLOCK, np.uint8)
    counted(planes, blocks, queries, width, np.empty(padded * width, np.uint32), out)
    expected = np.bitwise_count(queries[:, None, :words] ^ codes[order][None, :, :words]).sum(axis=2, dtype=np.int64)
    assert (out.reshape(padded, -1)[:q, :n] == np.minimum(expected, MOST)).all()


@pytest.mark.parametrize("words", [4, 5, 9])
def test_codes_that_differ_in_more_bits_than_the_scan_counts(words):
    """Codes of i, i - 1, ... ones: their distances to zero are these numbers, although the scan counts no further than MOST."""
    bits = 64 * words
    codes = np.tri(bits + 1, bits, -1, dtype=bool)[::-1]
    zero = np.zeros((1, bits), bool)
    codes, zero = (np.packbits(side, axis=1).view(np.uint64) for side in (codes, zero))
    found = neighbors(codes, zero, "hamming", bits + 1)
    assert found.item.tolist() == list(range(bits, -1, -1))
    assert found.value.tolist() == list(range(bits + 1))
    near = neighbors(codes[:1], zero, "hamming", 1, limit=bits - 1)
    assert near.item.tolist() == []


def test_work_grows_slower_than_the_collection():
    """Ten times the items of the same kind, and less than three times the comparisons."""
    rng, q = np.random.default_rng(8), 100
    centers = rng.standard_normal((4000, 64))
    batch = (centers[rng.integers(0, 4000, 30_000 + q)] + 0.5 * rng.standard_normal((30_000 + q, 64))).astype(np.float32)
    few, many = (neighbors(batch[q : q + n], batch[:q], "l2", 10) for n in (3000, 30_000))
    assert few.compared.mean() < 300
    assert many.compared.mean() < 200
    values = rng.zipf(1.5, (20_000, 20)) % 50_000
    found = neighbors(sets(*values.tolist()), sets(*values[:50].tolist()), "elements", 3)
    assert found.compared.mean() < 2000
    assert found.scanned.mean() < 60_000


def test_neighbors_refuses_wrong_arguments():
    ones = np.ones((3, 2), np.float32)
    for wrong in ({"k": 0}, {"k": True}, {"k": 1, "recall": 0.0}, {"k": 1, "recall": 1.5}):
        with pytest.raises(UsageError, match="recall"):
            neighbors(ones, ones, "l2", **wrong)
    with pytest.raises(UsageError, match="have 2 numbers and the queries 3"):
        neighbors(ones, np.ones((1, 3), np.float32), "l2", 1)
    with pytest.raises(UsageError, match="choose one of"):
        neighbors(ones, ones, "chebyshev", 1)
    with pytest.raises(UsageError, match="have 1 words and the queries 2"):
        neighbors(np.ones((1, 1), np.uint64), np.ones((1, 2), np.uint64), "hamming", 1)


def test_angles_tell_apart_what_cosines_cannot():
    """Cosines of 1 - 1e-20 and 1 - 1e-18 are both 1 in float64; angles are 8e-9 and 8e-8 degrees, and in their order."""
    base = np.array([[1.0, 1e-9 * place] for place in (10, 3, 1, 7)] + [[1.0, 1.0]])
    found = neighbors(base, base[-1:] * [[1.0, 0.0]], "angle", 3, exact=True)
    assert found.item.tolist() == [2, 1, 3]
    assert found.value == pytest.approx([math.degrees(1e-9), math.degrees(3e-9), math.degrees(7e-9)], rel=1e-9)
    by_cosine = neighbors(base, base[-1:] * [[1.0, 0.0]], "cosine", 3, exact=True)
    assert by_cosine.item.tolist() == [0, 1, 2] and by_cosine.value.tolist() == [1.0, 1.0, 1.0]


VERBS = {
    "angle": (lambda rng: rng.permutation(clustered(rng, 150, 12)).tolist(), "vector", 10),
    "l1": (lambda rng: rng.permutation(clustered(rng, 150, 12)).tolist(), "vector", 3),
    "weighted": (
        lambda rng: [{f"e{e}": float(rng.integers(1, 5)) for e in rng.choice(20, int(rng.integers(1, 9)), replace=False)} for _ in range(150)],
        "elements",
        0.3,
    ),
}


@pytest.mark.parametrize("by", VERBS)
@pytest.mark.parametrize("limited", [False, True])
def test_neighbors_through_the_verb(by, limited):
    """Neighbors of some items among others, and of each among all; a query that was compared with all items has a recall of 1."""
    make, field, limit = VERBS[by]
    values = make(np.random.default_rng(1))
    base, queries = values[:120], values[120:]
    rows = [{"id": place, field: value} for place, value in enumerate(values)]
    choices = {"by": by, "k": 4} | ({"threshold" if by == "weighted" else "within": limit} if limited else {})
    for inputs, query in ((rows[:120], rows[120:]), (rows, None)):
        result = lw.neighbors(inputs, query=query, **choices)
        got = [(row["id_a"], row["id_b"], row.get("similarity", row.get("distance"))) for row in result.to_arrow().to_pylist()]
        want = []
        for place, asked in enumerate(queries if query else values):
            place += 120 if query else 0
            others = [other for other in range(len(base if query else values)) if other != place]
            found = lw.similarity([asked] * len(others), [values[other] for other in others], by=by).tolist()
            near = sorted(zip(found, others, strict=True), key=lambda pair: (-pair[0] if by == "weighted" else pair[0], pair[1]))
            near = [(value, other) for value, other in near if (value > 0 or by != "weighted")]
            near = [(value, other) for value, other in near if not limited or (value >= limit if by == "weighted" else value <= limit)]
            want += [(place, other, pytest.approx(value, rel=1e-12)) for value, other in near[:4]]
        assert got == want and len(want) > 40
        assert result.report["recall"] == 1 and result.report["value"] == ("similarity" if by == "weighted" else "distance")


@pytest.mark.parametrize("asking", [True, False])
def test_neighbors_of_one_group(asking):
    """Only rows of the same shop are neighbors; a shop that has nothing to ask, or to find, has none."""
    values = VERBS["l1"][0](np.random.default_rng(2))
    shops = [place % 3 if place < 120 else place % 4 for place in range(150)]
    rows = [{"id": place, "vector": value, "shop": shop} for place, (value, shop) in enumerate(zip(values, shops, strict=True))]
    result = lw.neighbors(rows[:120] if asking else rows, query=rows[120:] if asking else None, by="l1", k=3, per="shop")
    want = []
    for place in range(120 if asking else 0, 150):
        others = [other for other in range(120 if asking else 150) if other != place and shops[other] == shops[place]]
        far = lw.similarity([values[place]] * len(others), [values[other] for other in others], by="l1") if others else []
        want += [(place, other) for _, other in sorted(zip(far, others, strict=True))[:3]]
    assert [(row["id_a"], row["id_b"]) for row in result.to_arrow().to_pylist()] == want
    assert result.report["with_fewer"] == (sum(shop == 3 for shop in shops) if asking else 0) and len(want) > 60
    assert not len(lw.neighbors([{"vector": None, "shop": 1}], by="l1", per="shop"))


def test_the_recall_of_neighbors_is_that_of_the_search():
    """Codes and sets are always searched exactly; among many vectors each neighbor is found with the requested recall."""
    many = clustered(np.random.default_rng(3), 3000)
    assert lw.neighbors(many, query=many[:5], by="angle", k=2, recall=0.9).report["recall"] == 0.9
    assert lw.neighbors(many, query=many[:5], by="angle", k=2, exact=True).report["recall"] == 1
    assert lw.neighbors(np.arange(50, dtype=np.uint64), by="hamming", k=2).report["recall"] == 1
