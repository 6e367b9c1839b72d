"""The verbs `similarity` and `sketch`, which compare items and compute signatures directly, without a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise import methods
from likewise.choices import refuse_empty
from likewise.errors import UsageError
from likewise.io.groups import Groups
from likewise.messages import option
from likewise.methods import Measure, Text

if TYPE_CHECKING:
    from likewise.items.documents import Shingled
    from likewise.items.ignored import Ignored


def sketch(
    texts: Any, *, by: str = "words:5", normalize: str | Sequence[str] | None = None, slots: int = 128, mode: str = "oph", seed: int = 0
) -> np.ndarray:
    """Return MinHash signatures of texts, uint32[n, slots]. The share of equal slots of two signatures estimates the similarity.

    texts: a list of str, None or UTF-8 bytes, or an Arrow array of strings; with ``by="tokens:k"`` lists of token ids. All slots of an empty item are
    2^32-1. slots: length of a signature. mode: "oph" for one permutation, "classic" for many.

    Raises UsageError for values that are not texts and DataError for bytes that are not UTF-8, with the row, counted from 0.
    """
    from likewise.families.minhash import MinHash

    shingled = shingle(texts, by, normalize, seed)
    return MinHash(slots, mode, seed).signature((shingled.values, shingled.offsets))


def similarity(
    a: Any,
    b: Any,
    *,
    by: str | Text | Measure = "words:5",
    normalize: str | Sequence[str] | None = None,
    ignore: Any = None,
    groups: Mapping[Any, Any] | None = None,
) -> Any:
    """Return the exact similarity or distance of two items (float or int), or of two batches row by row (float64[n] or int64[n]).

    ====================  ==========================================================  ==============================================
    ``by``                one item                                                    value
    ====================  ==========================================================  ==============================================
    words:5, chars:9 ..   a text                                                      Jaccard similarity of the sets of shingles
    tokens:5              a list of token ids, whole numbers                          the same
    .../bag               a text                                                      weighted Jaccard similarity of the bags
    .../containment       a text                                                      share of the first that the second contains
    elements              a set, list or 1-D array of whole numbers or strings        Jaccard similarity; of groups with ``groups``
    elements/containment  the same                                                    share of the first that the second contains
    weighted              a mapping element -> weight, or a list of such pairs        weighted Jaccard similarity
    cosine                a list or 1-D array of numbers                              cosine similarity, -1 to 1
    angle                 the same                                                    distance in degrees, 0 to 180
    l1, l2, linf, l2.5    the same                                                    distance
    hamming               bytes, a whole number, a 1-D array of bool, or              distance: number of different bits
                          a string of hexadecimal digits
    edit, levenshtein     a string                                                    distance: inserts and deletes; and substitutions
    .../ratio             the same                                                    similarity: 1 - distance / its maximum for these lengths
    jaro-winkler          the same                                                    Jaro-Winkler similarity
    features              a 2-D array, one row per feature                            similarity of histograms of the features' directions
    .../one-to-many       the same                                                    the same; a feature matches all similar features
    .../chamfer           the same                                                    similarity: mean cosine of nearest features, both ways
    .../assignment        the same                                                    similarity: cosines of features matched one to one
    image                 a path, bytes of an image file, an image of Pillow,         similarity of aligned small pictures
                          or an array of height x width, x 3 for colors
    .../region            the same                                                    similarity: share of one image found in the other
    ====================  ==========================================================  ==============================================

    A list of elements is a set, not a row of bits: write a binary vector as a 1-D array of bool, or as the numbers of its columns that are 1.

    A batch is a list of items, or an array with one row per item (docs/reference/measures.md). A single item is compared with a single item, a batch
    with a batch of the same length. The value of two empty sets or texts is NaN, and so is the containment of an empty item. ``ignore`` names inputs,
    or gives texts or sets, whose shingles or elements are left out of both items, as in `dedup`; an item without others counts as empty.

    Raises UsageError for values that are not items or have no value by this measure, and DataError for bytes that are not UTF-8, with the row,
    counted from 0.

    >>> import likewise as lw
    >>> lw.similarity("abcab", "bcab", by="chars:2"), lw.similarity([1, 0], [1, 1], by="l1")
    (1.0, 1.0)
    >>> lw.similarity([{1, 2}, {"1"}], [{2, 3}, {1}], by="elements").tolist()
    [0.3333333333333333, 0.0]
    """
    from likewise.measures.similarity import values_of

    refuse_empty(by=by, normalize=normalize)
    method = methods.parse(by, normalize)
    if groups is not None and not (isinstance(groups, Mapping) and method.kind.grouped):
        raise UsageError(f"{option('groups')}: give a mapping from element to group, with {option('by', 'elements')}")
    grouped = None if groups is None else Groups(groups, 0)
    return values_of(method, a, b, grouped, None if ignore is None else ignored(ignore, method, groups))


def ignored(given: Any, method: Text | Measure, groups: Mapping[Any, Any] | None) -> Ignored:
    """The shingles or elements of what a caller wants to be ignored. Raises the errors of `dedup`."""
    from likewise.options import resolve
    from likewise.runs.inspection import job_of
    from likewise.runs.session import ignored_by

    options = resolve(by=method, ignore=given, limited=False, one_way=True)
    return ignored_by(options, job_of(options, grouped=None if groups is None else Groups(groups, 0)))


def shingle(texts: Any, by: str | Text, normalize: str | Sequence[str] | None, seed: int) -> Shingled:
    """A batch of texts, or of lists of token ids under ``tokens:k``, or one text alone, as sets of shingles."""
    refuse_empty(by=by, normalize=normalize)
    method = methods.parse(by, normalize)
    if isinstance(method, Measure):
        raise UsageError(f"{option('by', str(method))}: give shingles of texts, such as words:5; likewise.families has signatures of other items")
    return method.kind.shingled(texts, method, seed)
