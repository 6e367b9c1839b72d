"""Quality of rankings and of decisions: average precision, equal error rate, accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from likewise.errors import UsageError


def average_precision(ranked: Sequence[Any], relevant: int | None = None) -> float:
    """The mean of i / rank of the i-th relevant result, over all relevant items; those that are not in the ranking count as 0.

    ranked: for each result, best first, whether it is relevant. relevant: the number of relevant items; by default those in the ranking.
    Manning, Raghavan and Schütze, Introduction to Information Retrieval, section 8.4. Raises UsageError without relevant items.

    >>> average_precision([True, False, False, True]), average_precision([True, False, False, True], relevant=4)
    (0.75, 0.375)
    """
    ranks = np.flatnonzero(np.asarray(ranked, bool)) + 1
    total = len(ranks) if relevant is None else relevant
    if total < max(1, len(ranks)):
        raise UsageError(f"average precision over {total} relevant items, of which {len(ranks)} are in the ranking: give 1 or more, and all of them")
    return float((np.arange(1, len(ranks) + 1) / ranks).sum() / total)


class EqualError(NamedTuple):
    """The rate of both errors, and the score from which on pairs are accepted there."""

    rate: float
    threshold: float


def equal_error_rate(scores: Any, similar: Any) -> EqualError:
    """The rate at which as many similar pairs are rejected as dissimilar ones are accepted, as a share of each.

    scores: float[n], high for similar pairs. similar: bool[n]. Between two scores the rates change linearly, as on a curve of the
    receiver operating characteristic (Fawcett 2006, An introduction to ROC analysis). Raises UsageError without a pair of each sort, and for NaN.

    >>> equal_error_rate([0.9, 0.8, 0.7, 0.6, 0.5, 0.4], [True, True, False, True, False, False])
    EqualError(rate=0.3333333333333333, threshold=0.7)
    """
    values, labels = np.asarray(scores, float), np.asarray(similar, bool)
    if values.shape != labels.shape or values.ndim != 1 or labels.all() or not labels.any() or np.isnan(values).any():
        raise UsageError("equal error rate: give one score per pair, none of them NaN, with at least one similar and one dissimilar pair")
    order = np.argsort(-values, kind="stable")
    last = np.append(np.flatnonzero(np.diff(values[order])), len(values) - 1)  # pairs of equal score are accepted together
    counts = [np.append(0, np.cumsum(some[order])[last]) for some in (labels, ~labels)]
    totals = [int(labels.sum()), int((~labels).sum())]
    at = int(np.argmax(counts[1] * totals[0] >= (totals[0] - counts[0]) * totals[1]))  # in whole numbers; not 0, where all are rejected
    accepted, rejected = counts[1] / totals[1], (totals[0] - counts[0]) / totals[0]
    before, after = rejected[at - 1] - accepted[at - 1], accepted[at] - rejected[at]
    rate = accepted[at - 1] + before / (before + after) * (accepted[at] - accepted[at - 1])
    return EqualError(float(rate), float(values[order][last[at - 1]]))


def accuracy(predicted: Sequence[Any], actual: Sequence[Any]) -> float:
    """The share of equal labels. Raises UsageError for no labels, and for different numbers of them.

    >>> accuracy(["car", "bus", "car"], ["car", "car", "car"])
    0.6666666666666666
    """
    if len(predicted) != len(actual) or not len(actual):
        raise UsageError(f"accuracy of {len(predicted)} labels against {len(actual)}: give the same number, 1 or more")
    return sum(one == other for one, other in zip(predicted, actual, strict=True)) / len(actual)
