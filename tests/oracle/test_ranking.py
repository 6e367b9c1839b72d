"""Measures of rankings against their definitions by brute force."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import UsageError
from likewise.measures.ranking import accuracy, average_precision, equal_error_rate


@given(st.lists(st.booleans(), min_size=1, max_size=12).filter(any), st.integers(0, 3))
def test_average_precision_is_the_mean_precision_at_relevant_results(ranked, missing):
    precisions = [Fraction(sum(ranked[: rank + 1]), rank + 1) for rank, relevant in enumerate(ranked) if relevant]
    expected = sum(precisions) / (len(precisions) + missing)
    assert average_precision(ranked, len(precisions) + missing) == pytest.approx(float(expected))


def test_the_best_ranking_has_the_average_precision_1():
    assert average_precision([1, 1, 1, 0, 0]) == 1
    assert average_precision([0, 0, 1, 1]) == pytest.approx((1 / 3 + 2 / 4) / 2)


@pytest.mark.parametrize(
    ("scores", "similar", "rate"),
    [
        ([2, 1], [True, False], 0),  # separated
        ([1, 2], [True, False], 1),  # the wrong way round
        ([1, 1], [True, False], 0.5),  # not separated
        ([4, 3, 2, 1], [True, False, True, False], 0.5),
        ([5, 4, 3, 2, 1], [True, True, False, True, False], 1 / 3),
    ],
)
def test_equal_error_rates_by_hand(scores, similar, rate):
    assert equal_error_rate(scores, similar).rate == pytest.approx(rate)


def equal_by_lines(scores, similar) -> float:
    """The crossing of both error rates along the curve through the points of all thresholds."""
    positives = sum(similar)
    points = [(0.0, 1.0)]
    for threshold in sorted(set(scores), reverse=True):
        accepted = [label for score, label in zip(scores, similar, strict=True) if score >= threshold]
        points.append(((len(accepted) - sum(accepted)) / (len(similar) - positives), 1 - sum(accepted) / positives))
    for (x0, y0), (x1, y1) in pairwise(points):
        if x1 >= y1:
            part = (y0 - x0) / ((y0 - x0) + (x1 - y1))
            return x0 + part * (x1 - x0)
    raise AssertionError


@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=2, max_size=20))
def test_equal_error_rates_are_where_the_curve_crosses(pairs):
    scores, similar = zip(*pairs, strict=True)
    if all(similar) or not any(similar):
        with pytest.raises(UsageError, match="one similar and one dissimilar"):
            equal_error_rate(scores, similar)
    else:
        assert equal_error_rate(scores, similar).rate == pytest.approx(equal_by_lines(scores, similar))


def test_wrong_values_are_refused():
    with pytest.raises(UsageError, match="give 1 or more"):
        average_precision([False])
    with pytest.raises(UsageError, match="all of them"):
        average_precision([True, True], 1)
    with pytest.raises(UsageError, match="NaN"):
        equal_error_rate([float("nan"), 1], [True, False])
    with pytest.raises(UsageError, match="the same number"):
        accuracy([1], [1, 2])
    assert accuracy([1, 2], [1, 3]) == 0.5
