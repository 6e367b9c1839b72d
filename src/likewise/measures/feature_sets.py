"""Similarity of two sets of feature vectors, by the directions of their features: of histograms, or of the features themselves.

All functions take `items.features.Features`, and compare pairs of sets by number, or the i-th with the i-th; zero vectors have no direction and are
left out. All are symmetric, 1 for equal sets, and depend on the two sets alone: the functions of the histograms are fixed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.families.histograms import Histograms
from likewise.families.line import Stripe
from likewise.families.space import Space
from likewise.items.features import Features
from likewise.items.sets import read_only
from likewise.items.sparse import Sparse
from likewise.items.weighted import Weighted
from likewise.measures.assignment import assignment as paired
from likewise.measures.chamfer import Run
from likewise.measures.chamfer import chamfer as nearest
from likewise.measures.checks import same_size
from likewise.measures.sparse import cosines
from likewise.measures.weighted_jaccard import weighted_jaccard

Floats = NDArray[np.float64]

#: Features of length 1 share a bin of 2^BITS with probability 0.74 where their cosine is 0.9995, 0.37 at 0.995, 0.03 at 0.95 and 0.0003 at 0.5. Wider
#: stripes tolerate more noise, but then features of images, which lie close together, share bins by chance. Stripes need no center, so nothing is
#: fitted to data; TABLES independent histograms reduce the variance.
WIDTH, BITS, TABLES = 1.0, 12, 10


def directed(sets: Features, run: Run = map) -> Features:
    """The same sets with all features scaled to length 1 and zero vectors left out; a set of zero vectors becomes empty."""
    values, offsets = sets
    there = values.any(axis=1)
    if not there.all():
        values, offsets = values[there], np.concatenate([[0], np.cumsum(there, dtype=np.int64)])[offsets]
    unit = Space(np.zeros(max(1, values.shape[1]), np.float32), unit=True)
    return unit.moved(read_only(values), run) if len(values) else read_only(values), read_only(offsets)


def comparable(a: Features, b: Features) -> tuple[Features, Features]:
    """Both batches as `directed` returns them.

    Raises UsageError for different numbers of sets or dimensions, and with the row for a set of zero vectors.
    """
    same_size(len(a[1]) - 1, len(b[1]) - 1)
    if len(a[0]) and len(b[0]) and a[0].shape[1] != b[0].shape[1]:
        raise UsageError(f"features of {a[0].shape[1]} dimensions on the left and {b[0].shape[1]} on the right; both sides must have the same number")
    return nonempty(a), nonempty(b)


def nonempty(sets: Features) -> Features:
    """The sets as `directed` returns them. Raises UsageError with the row for a set of zero vectors."""
    found = directed(sets)
    empty = np.flatnonzero(np.diff(found[1]) == 0)
    if len(empty):
        raise UsageError(f"row {empty[0]}: all its features are zero vectors, which have no direction; leave it out")
    return found


def histograms(sets: Features, run: Run = map) -> Weighted:
    """The bins of features of length 1 and their counts, as weighted sets; empty sets give empty ones."""
    values, offsets = sets
    sizes = np.diff(offsets)
    if not len(values):
        return np.zeros(0, np.uint64), np.zeros(0), np.zeros(len(offsets), np.int64)
    bins, counts, ends = Histograms(Stripe(WIDTH), BITS, TABLES).sparse((values, read_only(np.append(0, np.cumsum(sizes[sizes > 0])))), run=run)
    filled = np.zeros(len(sizes), np.int64)
    filled[sizes > 0] = np.diff(ends)
    return bins, counts, np.append(0, np.cumsum(filled))


def sparse_histograms(sets: Features, run: Run = map) -> Sparse:
    """The bins of features of length 1 and their counts, as sparse vectors."""
    return Sparse(*histograms(sets, run))


def one_to_one(a: Features, b: Features) -> Floats:
    """Σ min / Σ max of the counts of bins, the fraction of all features that can be paired one to one: float64[n], 0 to 1.

    It is the sum of minima (Dong, Wang, Charikar and Li 2008) divided by its maximum.

    >>> from likewise.items.features import features
    >>> x, y = [1.0, 0.0], [0.0, 1.0]
    >>> one_to_one(features([[x, y], [x]]), features([[y, x], [y]]))
    array([1., 0.])
    """
    left, right = comparable(a, b)
    return weighted_jaccard(histograms(left), histograms(right))


def one_to_many(a: Features, b: Features) -> Floats:
    """The cosine of the counts of bins: float64[n], 0 to 1.

    It is the match kernel, a sum over all pairs of features that share a bin, relative to that of each set with itself. A feature that one set has
    often and the other once counts as well as one that both have once.
    """
    left, right = comparable(a, b)
    return np.minimum(cosines(sparse_histograms(left), sparse_histograms(right)), 1.0)


def chamfer(a: Features, b: Features) -> Floats:
    """The mean cosine of each feature and its nearest one of the other set, averaged over both ways: float64[n], -1 to 1."""
    return chamfer_of_pairs(*comparable(a, b))


def assignment(a: Features, b: Features) -> Floats:
    """The sum of cosines over the best one-to-one pairing of features, divided by the size of the larger set: float64[n]."""
    return assignment_of_pairs(*comparable(a, b))


def chamfer_of_pairs(a: Features, b: Features, left: Any = None, right: Any = None, *, run: Run = map) -> Floats:
    """`chamfer` of sets left[k] of ``a`` with right[k] of ``b``, float64[m]. All features must have length 1, and sets must not be empty."""
    return np.minimum(nearest(a, b, left, right, by="product", both=True, run=run) / 2, 1.0)


def assignment_of_pairs(a: Features, b: Features, left: Any = None, right: Any = None, *, run: Run = map) -> Floats:
    """`assignment` of sets left[k] of ``a`` with right[k] of ``b``, as `chamfer_of_pairs`."""
    sizes = [np.diff(side[1]) if numbers is None else np.diff(side[1])[numbers] for side, numbers in ((a, left), (b, right))]
    means = paired(a, b, left, right, by="product", run=run)
    return np.minimum(means * np.minimum(*sizes) / np.maximum(*sizes), 1.0)
