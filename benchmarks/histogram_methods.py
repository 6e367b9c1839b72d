"""The methods of the study of random histograms (histograms.py): functions of a task, which measure themselves. feature_peers.py has the peers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from feature_peers import bag_of_words, pooled, pyramid, signatures, vlad
from feature_sets import Task, row
from likewise.families import Histograms, Hyperplane, Space
from likewise.families.compact import occupied
from likewise.items.features import features
from likewise.measures import matching
from likewise.measures.assignment import assignment
from likewise.measures.chamfer import chamfer

Method = Callable[[Task], dict[str, Any]]
#: Queries of slow methods, where not all are needed; clusters of a set.
SOME, MOST, CLUSTERS = 40, 2**31 - 1, 16


def histograms(
    task: Task, bits: int = 8, tables: int = 20, normalize: str = "sqrt", match: str = "correlation", axes: int | None = 0, bit: Any = None
) -> dict[str, Any]:
    """Random histograms of bytes. axes: those of a space fitted to the sample; 0: only its center, None: features as they are.

    normalize "one bit" keeps a bit of each bin.
    """
    space = None if axes is None else Space.fit(task.sample, axes or None)
    one_bit = normalize == "one bit"
    family = Histograms(bit or Hyperplane(seed=1), bits, tables, normalize="none" if one_bit else normalize, space=space)

    def embed() -> np.ndarray:
        made = family.embed((task.values, task.offsets))
        return occupied(made) if one_bit else made

    function = getattr(matching, match)
    made = embed()
    matching.every(function, made[:1], made[:1])
    seconds, made = task.timed(embed)
    matched, scores = task.timed(lambda: matching.every(function, made[task.queries], made))
    return row(task, seconds, matched, made[0].nbytes, scores.astype(float))


def exact(task: Task, count: int, function: Callable[..., Any] = chamfer, **more: Any) -> dict[str, Any]:
    """Chamfer or assignment of ``count`` queries with all sets."""
    sets, chosen = features((task.values, task.offsets)), task.some(min(count, len(task.queries)))
    left, right = np.repeat(task.queries[chosen], task.sets), np.tile(np.arange(task.sets), len(chosen))
    function(sets, sets, left[:1], right[:1], **more)
    seconds, distances = task.timed(lambda: function(sets, sets, left, right, **more), 1)
    return row(task, 0, seconds, sets[0].nbytes // task.sets, -distances.reshape(len(chosen), -1), chosen)


def reranked(task: Task, best: int = 20, **choices: Any) -> dict[str, Any]:
    """The best sets of each query by histograms, compared again by Chamfer."""
    first, sets = histograms(task, **choices), features((task.values, task.offsets))
    scores = np.where(task.apart, -np.inf, first["scores"])
    chosen = np.argpartition(-scores, best, axis=1)[:, :best]
    seconds, distances = task.timed(lambda: chamfer(sets, sets, np.repeat(task.queries, best), chosen.ravel(), both=True))
    np.put_along_axis(scores, chosen, 1e6 - distances.reshape(chosen.shape), axis=1)
    matched = first["match_us_per_pair"] / 1e6 * scores.size + seconds
    return row(task, first["embed_us_per_set"] / 1e6 * task.sets, matched, first["bytes"] + task.values.nbytes // task.sets, scores)


def whole_clip(task: Task) -> dict[str, Any]:
    """SIG_CH of Wu, Hauptmann and Ngo 2007: the mean color histogram of a clip, compared by L2 distance. Features are roots of histograms."""
    seconds, means = task.timed(lambda: np.add.reduceat(task.values**2, task.offsets[:-1]) / np.diff(task.offsets)[:, None])
    matched, scores = task.timed(lambda: 2 * means[task.queries] @ means.T - (means**2).sum(axis=1))
    return row(task, seconds, matched, means[0].nbytes, scores)


def methods(suited: dict[str, Any], all_pairs: bool) -> dict[str, Method]:
    """The methods of all tasks. suited: what suits the features in all histograms. all_pairs: each set is a query, and all scores are needed."""
    fine = {**suited, "bits": 11, "normalize": "one bit"}
    count = MOST if all_pairs else SOME
    return {
        "histograms, one-to-one": partial(histograms, normalize="l1", match="one_to_one", **suited),
        "histograms, one-to-many": partial(histograms, normalize="l1", match="one_to_many", **suited),
        "histograms, correlation": partial(histograms, **suited),
        "histograms, a bit per bin": partial(histograms, **fine),
        **({} if all_pairs else {"the best 20 of these by Chamfer": partial(reranked, **fine)}),
        "Chamfer, both directions": partial(exact, count=MOST, both=True),
        "EMD of 16 clusters": partial(signatures, count=count, clusters=CLUSTERS),
        "pyramid match, 6 axes": pyramid,
        "bag of 500 words": partial(bag_of_words, count=500),
        "VLAD, 64 words": partial(vlad, count=64),
        "mean pooling": pooled,
    }


#: Assignment takes too long for the larger sets of other tasks.
OF_FACES: dict[str, Method] = {"assignment (EMD)": partial(exact, count=MOST, function=assignment)}
OF_CLIPS: dict[str, Method] = {"one mean histogram per clip (SIG_CH)": whole_clip}
