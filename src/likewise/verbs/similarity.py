"""The verbs `similarity` and `sketch`, which compare and sign items at once, without a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise import methods
from likewise.choices import refuse_empty
from likewise.errors import UsageError
from likewise.io.groups import Groups
from likewise.methods import Measure, Text

if TYPE_CHECKING:
    from likewise.items.documents import Shingled


def sketch(texts: Any, *, by: str = "words:5", normalize: str | None = None, slots: int = 128, mode: str = "oph", seed: int = 0) -> np.ndarray:
    """MinHash signatures of texts: uint32[n, slots]; the share of equal slots estimates the similarity of two.

    texts: a list of str, None or bytes of UTF-8, one an item, or an Arrow array of strings; under ``tokens:k`` lists of token ids. An empty item
    has all slots 2^32-1. Raises UsageError with the row, counted from 0, for what is no text, DataError for bytes that are not UTF-8.
    """
    from likewise.families.minhash import MinHash

    shingled = shingle(texts, by, normalize, seed)
    return MinHash(slots, mode, seed).signature((shingled.values, shingled.offsets))


def similarity(a: Any, b: Any, *, by: str | Text | Measure = "words:5", normalize: str | None = None, groups: Mapping[Any, Any] | None = None) -> Any:
    """The exact similarity, or distance, of two items: a float or int; or of two equally long batches item by item: float64[n] or int64[n].

    ===================  ==========================================================  ==============================================
    ``by``               one item                                                    value
    ===================  ==========================================================  ==============================================
    words:5, chars:9 ..  a text                                                      Jaccard similarity of the sets of shingles
    tokens:5             a list of token ids, whole numbers                          the same
    .. /bag              a text                                                      weighted Jaccard similarity of the bags
    .. /containment      a text                                                      share of the first that the second holds
    elements             a set, list or 1-D array of whole numbers or strings        Jaccard similarity; of groups with ``groups``
    elements/containment the same                                                    share of the first held; of groups too
    weighted             a mapping element -> weight, or a list of such pairs        weighted Jaccard similarity
    cosine               a list or 1-D array of numbers                              cosine similarity, -1 to 1
    angle                the same                                                    distance in degrees, 0 to 180
    l1, l2, linf, l2.5   the same                                                    distance
    hamming              bytes, a whole number, a 1-D array of bool, or              distance: bits that differ
                         a string of hexadecimal digits
    edit, levenshtein    a string                                                    distance: inserts and deletes; and substitutions
    features             a 2-D array, a feature a row                                similarity of histograms of the features' directions
    .. /one-to-many      the same                                                    the same, with each feature matched with all alike
    .. /chamfer          the same                                                    similarity: mean cosine of nearest features, both ways
    .. /assignment       the same                                                    similarity: cosines of features paired one with one
    ===================  ==========================================================  ==============================================

    A batch is a list of items, or an array with an item a row: docs/reference/measures.md. One item goes with one item only. Two empty sets
    or texts have no similarity, and of an empty one no share: NaN. What else has no value is refused: UsageError names the row, counted from 0;
    DataError too, for bytes that are not UTF-8.

    >>> import likewise as lw
    >>> lw.similarity("abcab", "bcab", by="chars:2"), lw.similarity([1, 0], [1, 1], by="l1")
    (1.0, 1.0)
    >>> lw.similarity([{1, 2}, {"1"}], [{2, 3}, {1}], by="elements").tolist()
    [0.3333333333333333, 0.0]
    """
    from likewise.measures.similarity import values_of

    check_steps(normalize)
    refuse_empty(by=by, normalize=normalize)
    method = methods.parse(by, normalize)
    if groups is not None and not (isinstance(groups, Mapping) and method.kind.grouped):
        raise UsageError("groups= is a mapping from element to group, and goes with by='elements'")
    return values_of(method, a, b, None if groups is None else Groups(groups, 0))


def shingle(texts: Any, by: str | Text, normalize: str | None, seed: int) -> Shingled:
    """A batch of texts, or of lists of token ids under ``tokens:k``, or one text alone, as sets of shingles."""
    check_steps(normalize)
    refuse_empty(by=by, normalize=normalize)
    method = methods.parse(by, normalize)
    if isinstance(method, Measure):
        raise UsageError(f"by={str(method)!r}: texts are cut into shingles, as by words:5; what signs other items is in likewise.families")
    return method.kind.shingled(texts, method, seed)


def check_steps(normalize: object) -> None:
    if not isinstance(normalize, str | None):
        raise UsageError(f"normalize={normalize!r}: give the names of steps in one str, as in 'nfc,lower', or 'none'")
