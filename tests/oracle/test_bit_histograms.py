"""Random histograms of features of 0 and 1, by bits of codes and by bits of MinHash."""

from __future__ import annotations

import numpy as np
import pytest

from likewise.errors import UsageError
from likewise.families import BBit, Bits, Histograms
from likewise.measures.matching import one_to_many

A = np.array([[1, 1, 0, 0, 1, 0], [0, 0, 0, 1, 0, 0], [1, 1, 1, 1, 1, 1]], np.float32)
B = np.array([[1, 1, 0, 0, 1, 1], [0, 0, 1, 1, 0, 0]], np.float32)


def agree_in_bits(x: np.ndarray, y: np.ndarray) -> float:
    """1 - Hamming distance / 6."""
    return float(1 - (x != y).mean())


def agree_in_minhash(x: np.ndarray, y: np.ndarray) -> float:
    """Equal MinHashes have the same bit, others half of the time: (1 + J) / 2."""
    shared, either = np.minimum(x, y).sum(), np.maximum(x, y).sum()
    return float((1 + shared / either) / 2)


CASES = pytest.mark.parametrize(
    ("family", "agree"), [(Bits(6), agree_in_bits), (BBit(bits=1, mode="classic"), agree_in_minhash)], ids=["bits", "minhash"]
)


@CASES
def test_the_expected_match_is_the_sum_over_pairs(family, agree):
    expected = 3 * sum(agree(x, y) ** 2 for x in A for y in B)
    assert Histograms(family, bits=2, tables=3).expected(A, B) == pytest.approx(expected)


@CASES
def test_the_mean_match_over_tables_is_the_expected_one(family, agree):
    histograms = Histograms(family, bits=2, tables=4000, store="float32")
    a, b = histograms.counts([A, B])
    each = (a.reshape(-1, 4) * b.reshape(-1, 4)).sum(axis=1)  # tables are independent
    assert one_to_many(a, b) == each.sum()
    error = each.std() / len(each) ** 0.5
    assert abs(each.mean() - sum(agree(x, y) ** 2 for x in A for y in B)) < 4 * error


def test_features_are_codes_or_sets():
    for family in (Bits(6), BBit(bits=1)):
        with pytest.raises(UsageError, match="row 0: feature 2 of 2: 2 in column 0; the features of this family have the numbers 0 and 1"):
            Histograms(family, 2, 2).embed([[[1, 0, 0, 0, 0, 0], [2, 0, 0, 0, 0, 0]]])
    with pytest.raises(UsageError, match="dimension"):
        Histograms(Bits(5), 2, 2).embed([A])
    with pytest.raises(UsageError, match="BBit"):
        Histograms(BBit(bits=2), 2, 2)
