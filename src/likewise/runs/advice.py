"""The exact comparison of some items of a sample with all items that were read for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from likewise.planning.advice import THRESHOLDS, Advice, Row

#: Sampled items that are compared with all others.
SAMPLED = 300
#: Words looked up at once.
AT_ONCE = 1 << 22


def advice(sampled: Sequence[np.ndarray], every: Sequence[np.ndarray], threshold: float) -> Advice:
    """Compare each sampled set with each of all distinct sets by Jaccard similarity, and count the similar ones at several thresholds.

    sampled, every: sets of distinct words, uint64[k] each; all contain the sampled ones. threshold: one more threshold.
    """
    size = np.array([len(words) for words in every])
    known = np.unique(np.concatenate(list(sampled)))
    item, word = found(known, np.concatenate(list(every)), np.repeat(np.arange(len(every)), size))
    thresholds = np.unique([*THRESHOLDS, threshold])
    degree = np.zeros((len(thresholds), len(sampled)), np.int64)
    has = np.zeros(len(known), bool)
    for number, own in enumerate(sampled):
        places = np.searchsorted(known, own)
        has[places] = True
        others, common = np.unique(item[has[word]], return_counts=True)
        has[places] = False
        value = common / (size[others] + len(own) - common)
        degree[:, number] = (value >= thresholds[:, None]).sum(axis=1) - 1  # without itself
    # a cluster of d + 1 equally similar items keeps one, of which each has a share of 1 / (d + 1)
    kept = (1 / (1 + degree)).mean(axis=1)
    rows = (Row(float(at), int(np.count_nonzero(near)), float(share)) for at, near, share in zip(thresholds, degree, kept, strict=True))
    return Advice(len(sampled), len(every), tuple(rows))


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
