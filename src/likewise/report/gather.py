"""The examples of a report: a few removed items next to the items kept in their place."""

from __future__ import annotations

import numpy as np

from likewise.engines.engine import Outcome
from likewise.job import Job
from likewise.report.differences import groups_of
from likewise.report.examples import Example
from likewise.runs.shown import NEAR_THE_BEGINNING, read_again
from likewise.schema import REASONS

OF_LARGEST, OF_NEAR = 2, 4


def examples(fate: Outcome, job: Job) -> list[Example]:
    """Return one example of each of the largest clusters, and near-duplicates from the least to the most similar."""
    groups, value, collection = groups_of(job.options.groups), fate.search.value.name, fate.compared
    removed = fate.near_beginnings(NEAR_THE_BEGINNING)
    at = choose(removed.kept_row, removed.reason != REASONS.index("exact"), removed.value, value)
    chosen, kept = removed.row[at], removed.kept_row[at]
    texts = read_again(collection, [*chosen.tolist(), *kept.tolist()], job.want)
    items, others = collection.named(chosen.tolist(), 0), collection.named(kept.tolist(), fate.search.kept_side)
    return [
        Example(
            kept_id=others[i].id,
            kept_source=others[i].source,
            kept_position=others[i].position,
            removed_id=items[i].id,
            removed_source=items[i].source,
            removed_position=items[i].position,
            similarity=float(removed.value[place]),
            reason=REASONS[removed.reason[place]],
            kept_text=texts.get(int(kept[i]), ""),
            removed_text=texts.get(int(chosen[i]), ""),
            kind=job.want.kind,
            value=value,
            by=str(job.method),
            groups=groups,
        )
        for i, place in enumerate(at.tolist())
    ]


def choose(head: np.ndarray, near: np.ndarray, value: np.ndarray, name: str) -> np.ndarray:
    """Return the indices of removed items to show, int64[k]: one of each of the largest clusters, and near-duplicates spread over ``value``.

    head: int64[m], row of the kept item. near: bool[m], whether the item is a near-duplicate. value: float64[m], its similarity or distance.
    name: "similarity" or "distance".
    """
    heads, first, sizes = np.unique(head, return_index=True, return_counts=True)
    largest = first[np.lexsort((heads, -sizes))[:OF_LARGEST]]
    others = np.setdiff1d(np.flatnonzero(near), largest)
    others = others[np.argsort(-value[others] if name == "distance" else value[others], kind="stable")]
    spread = others[np.unique(np.linspace(0, len(others) - 1, OF_NEAR).astype(int))] if len(others) else others
    return np.concatenate((largest, spread))
