"""How histograms match: sums of minima, of products, and correlation, by numpy and by hand."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from likewise.errors import UsageError
from likewise.families.compact import occupied
from likewise.measures.matching import correlation, every, one_to_many, one_to_one


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
        (np.zeros(4, np.uint8), np.zeros(5, np.uint8), "cannot be compared"),
        (np.zeros(4, np.uint8), np.zeros(4, np.uint16), "cannot be compared"),
        (np.zeros(4, np.int64), np.zeros(4, np.int64), "got int64 of shape .* on the left"),
        ([1, 2], np.zeros(2, np.uint8), "got list on the left"),
        (np.zeros(4, np.uint8), np.zeros((1, 1, 4), np.uint8), "got uint8 of shape .* on the right"),
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
