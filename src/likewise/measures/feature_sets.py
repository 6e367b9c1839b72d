"""How alike two sets of feature vectors are, by the directions of their features: of histograms, or of the features themselves.

All take `items.features.Features`, and pairs of sets by number, or the i-th with the i-th; zero vectors have no direction and are left out. All
are symmetric, 1 for equal sets, and depend on the two sets alone: the histograms' functions are fixed.
"""

from __future__ import annotations

from functools import partial
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

#: Features of length 1 share a bin of 2^BITS with a chance of 0.74 where their cosine is 0.9995, of 0.37 at 0.995, 0.03 at 0.95 and 0.0003 at 0.5.
#: Wider stripes forgive more noise, but then features of pictures, which lie close together, meet by chance. Stripes need no centre, so nothing is
#: fitted to data; TABLES independent histograms average chance out.
WIDTH, BITS, TABLES = 1.0, 12, 10


def directed(sets: Features, run: Run = map) -> Features:
    """The same sets with all features of length 1, but for zero vectors, which are left out; a set of nothing else is empty then."""
    values, offsets = sets
    there = values.any(axis=1)
    if not there.all():
        values, offsets = values[there], np.concatenate([[0], np.cumsum(there, dtype=np.int64)])[offsets]
    unit = Space(np.zeros(max(1, values.shape[1]), np.float32), unit=True)
    return unit.moved(read_only(values), run) if len(values) else read_only(values), read_only(offsets)


def comparable(a: Features, b: Features) -> tuple[Features, Features]:
    """Both batches as they are compared. Raises UsageError where they do not go together, and with the row for a set without a direction."""
    same_size(len(a[1]) - 1, len(b[1]) - 1)
    if len(a[0]) and len(b[0]) and a[0].shape[1] != b[0].shape[1]:
        raise UsageError(f"features of {a[0].shape[1]} numbers on the left and of {b[0].shape[1]} on the right; they must be equally long")
    return nonempty(a), nonempty(b)


def nonempty(sets: Features) -> Features:
    found = directed(sets)
    empty = np.flatnonzero(np.diff(found[1]) == 0)
    if len(empty):
        raise UsageError(f"row {empty[0]}: all its features are zero vectors, which have no direction; leave it out")
    return found


def histograms(sets: Features, run: Run = map) -> Weighted:
    """The bins that features of length 1 fall into, and how many in each, as weighted sets; those of empty sets are empty."""
    values, offsets = sets
    sizes = np.diff(offsets)
    if not len(values):
        return np.zeros(0, np.uint64), np.zeros(0), np.zeros(len(offsets), np.int64)
    bins, counts, ends = Histograms(Stripe(WIDTH), BITS, TABLES).sparse((values, read_only(np.append(0, np.cumsum(sizes[sizes > 0])))), run=run)
    filled = np.zeros(len(sizes), np.int64)
    filled[sizes > 0] = np.diff(ends)
    return bins, counts, np.append(0, np.cumsum(filled))


def sparse_histograms(sets: Features, run: Run = map) -> Sparse:
    """The same as sparse vectors."""
    return Sparse(*histograms(sets, run))


def one_to_one(a: Features, b: Features) -> Floats:
    """Σ min / Σ max of the counts of bins: the share of the features of both that can be paired one with one. float64[n], 0 to 1

    It is what becomes of the sum of minima (Dong, Wang, Charikar and Li 2008) when it is measured against the most that it could be.

    >>> from likewise.items.features import features
    >>> x, y = [1.0, 0.0], [0.0, 1.0]
    >>> one_to_one(features([[x, y], [x]]), features([[y, x], [y]]))
    array([1., 0.])
    """
    left, right = comparable(a, b)
    return weighted_jaccard(histograms(left), histograms(right))


def one_to_many(a: Features, b: Features) -> Floats:
    """The cosine of the counts of bins: the match kernel, a sum over all pairs of features that share a bin, as a share of what each set has with
    itself. float64[n], 0 to 1; a feature that one set has often and the other once counts as well as one that both have once."""
    left, right = comparable(a, b)
    return np.minimum(cosines(sparse_histograms(left), sparse_histograms(right)), 1.0)


def chamfer(a: Features, b: Features) -> Floats:
    """The mean cosine of a feature and the nearest one of the other set, the mean of both ways. float64[n], -1 to 1"""
    return of_pairs(*comparable(a, b), name="features/chamfer")


def assignment(a: Features, b: Features) -> Floats:
    """The sum of the cosines of features that are paired one with one in the best way, divided by the size of the larger set. float64[n]"""
    return of_pairs(*comparable(a, b), name="features/assignment")


def of_pairs(a: Features, b: Features, left: Any = None, right: Any = None, *, name: str, run: Run = map) -> Floats:
    """The measure of sets left[k] of ``a`` with right[k] of ``b``, all of features of length 1 and none empty."""
    if name == "features/chamfer":
        return np.minimum(nearest(a, b, left, right, by="product", both=True, run=run) / 2, 1.0)
    sizes = [np.diff(side[1]) if numbers is None else np.diff(side[1])[numbers] for side, numbers in ((a, left), (b, right))]
    means = paired(a, b, left, right, by="product", run=run)
    return np.minimum(means * np.minimum(*sizes) / np.maximum(*sizes), 1.0)


#: Measures of what is made of sets -> what makes it, of sets of features of length 1.
MADE = {"features": histograms, "features/one-to-many": sparse_histograms}
#: Measures of the features themselves -> their values for pairs of sets.
WHOLE = {name: partial(of_pairs, name=name) for name in ("features/chamfer", "features/assignment")}
