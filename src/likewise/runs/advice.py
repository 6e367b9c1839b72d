"""The exact comparison of some items of a collection with many of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from likewise.planning.advice import THRESHOLDS, Advice, Row

#: Sampled items that are compared with all others.
SAMPLED = 300
#: Distances for which advice is given, as multiples of the maximum distance.
MULTIPLES = (0.25, 0.5, 0.75, 1, 1.5, 2)
#: Words looked up at once.
AT_ONCE = 1 << 22


def advice(values: Iterable[np.ndarray], compared: int, limits: np.ndarray, *, distances: bool = False) -> Advice:
    """Count the similar items of each sampled one at several thresholds, or within several distances.

    values: for each sampled item the values of all items, itself among them, float64[m]; those of items that are not similar at all may be left out.
    compared: the number of all items. limits: float64[k], ascending.
    """
    degrees = [np.count_nonzero(value <= limits[:, None] if distances else value >= limits[:, None], axis=1) - 1 for value in values]
    degree = np.maximum(np.array(degrees).T, 0)  # without itself
    # a cluster of d + 1 equally similar items keeps one, of which each has a share of 1 / (d + 1)
    kept = (1 / (1 + degree)).mean(axis=1)
    rows = (Row(float(at), int(np.count_nonzero(near)), float(share)) for at, near, share in zip(limits, degree, kept, strict=True))
    return Advice(len(degrees), compared, tuple(rows))


def limits(threshold: float | None, *, distances: bool, whole: bool) -> np.ndarray:
    """Return the thresholds of the advice, ``threshold`` among them: the same ones for all similarities, multiples of it for distances.

    Without one, none of distances.

    >>> limits(0.8, distances=False, whole=False).tolist(), limits(6, distances=True, whole=True).tolist()
    ([0.5, 0.6, 0.7, 0.8, 0.9, 0.95], [2.0, 3.0, 4.0, 6.0, 9.0, 12.0])
    """
    if threshold is None or not distances:
        return np.unique([*THRESHOLDS * (not distances), *[threshold] * (threshold is not None)])
    some = threshold * np.array(MULTIPLES)
    return np.unique(np.rint(some) if whole else some)


def jaccard(words: np.ndarray, offsets: np.ndarray, sampled: int) -> Iterator[np.ndarray]:
    """Yield the Jaccard similarities of each of the first ``sampled`` sets and the sets that share a word with it.

    Set i has the distinct words words[offsets[i] : offsets[i + 1]], uint64.
    """
    size = np.diff(offsets)
    known = np.unique(words[: offsets[sampled]])
    item, word = found(known, words, np.repeat(np.arange(len(size)), size))
    has = np.zeros(len(known), bool)
    for own in range(sampled):
        places = np.searchsorted(known, words[offsets[own] : offsets[own + 1]])
        has[places] = True
        others, common = np.unique(item[has[word]], return_counts=True)
        has[places] = False
        yield common / (size[others] + size[own] - common)


def found(known: np.ndarray, words: np.ndarray, owner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the owners of the words that are among ``known`` ones, uint64[k] ascending, and their places there: int64[m] each."""
    items, places = [], []
    for begin in range(0, len(words), AT_ONCE):
        part = words[begin : begin + AT_ONCE]
        place = np.minimum(np.searchsorted(known, part), len(known) - 1)
        hit = known[place] == part
        items.append(owner[begin : begin + AT_ONCE][hit])
        places.append(place[hit])
    return np.concatenate(items), np.concatenate(places)
