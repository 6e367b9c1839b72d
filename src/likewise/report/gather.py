"""The examples of a report: a few removed items next to the items kept in their place."""

from __future__ import annotations

import numpy as np

from likewise.io.collection import Collection
from likewise.job import Job
from likewise.report.differences import groups_of
from likewise.report.examples import Example
from likewise.runs.results import Decision
from likewise.runs.shown import NEAR_THE_BEGINNING, read_again
from likewise.schema import REASONS

OF_LARGEST, OF_NEAR = 2, 4


def examples(collection: Collection, decision: Decision, job: Job) -> list[Example]:
    """Return one example of each of the largest clusters, and near-duplicates from the least to the most similar."""
    groups = groups_of(job.options.groups)
    start = collection.column("start")
    rows = np.flatnonzero(decision.removed & (start < NEAR_THE_BEGINNING))
    rows = rows[start[decision.kept_row[rows]] < NEAR_THE_BEGINNING]
    chosen = rows[choose(decision.kept_row[rows], ~decision.exact[rows], decision.similarity[rows], decision.value.name)]
    kept = decision.kept_row[chosen]
    texts = read_again(collection, [*chosen.tolist(), *kept.tolist()], job.want)
    sources, positions = collection.places(chosen)
    kept_sources, kept_positions = collection.places(kept)
    ids, kept_ids = collection.names(chosen), collection.names(kept, decision.kept_side)
    return [
        Example(
            kept_id=kept_ids[i],
            kept_source=kept_sources[i].as_py(),
            kept_position=int(kept_positions[i]),
            removed_id=ids[i],
            removed_source=sources[i].as_py(),
            removed_position=int(positions[i]),
            similarity=float(decision.similarity[row]),
            reason=REASONS[decision.reason[row]],
            kept_text=texts.get(int(kept[i]), ""),
            removed_text=texts.get(int(row), ""),
            kind=job.want.kind,
            value=decision.value.name,
            by=str(job.method),
            groups=groups,
        )
        for i, row in enumerate(chosen)
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
