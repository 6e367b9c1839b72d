"""The examples of a report: a few removed items beside what they were removed for."""

from __future__ import annotations

import numpy as np

from likewise.io.collection import Collection
from likewise.records import Want
from likewise.report.examples import Example
from likewise.results import Decision

#: Texts are read again for the examples, so they are taken from the beginning of each source: a compressed one must be read up to them.
NEAR_THE_BEGINNING = 2**28
OF_LARGEST, OF_NEAR = 2, 4


def examples(collection: Collection, decision: Decision, want: Want) -> list[Example]:
    """One from each of the largest clusters, and near ones from the least similar to the most similar."""
    start = collection.column("start")
    rows = np.flatnonzero(decision.removed & (start < NEAR_THE_BEGINNING))
    rows = rows[start[decision.kept_row[rows]] < NEAR_THE_BEGINNING]
    chosen = rows[choose(decision.kept_row[rows], ~decision.exact[rows], decision.similarity[rows])]
    kept = decision.kept_row[chosen]
    texts = collection.texts([*chosen.tolist(), *kept.tolist()], want)
    sources, positions = collection.places(chosen)
    kept_sources, kept_positions = collection.places(kept)
    ids, kept_ids = collection.ids(chosen).to_pylist(), collection.ids(kept).to_pylist()
    return [
        Example(
            kept_id=kept_ids[i],
            kept_source=kept_sources[i].as_py(),
            kept_position=int(kept_positions[i]),
            removed_id=ids[i],
            removed_source=sources[i].as_py(),
            removed_position=int(positions[i]),
            similarity=float(decision.similarity[row]),
            reason="exact" if decision.exact[row] else "near",
            kept_text=texts.get(int(kept[i]), ""),
            removed_text=texts.get(int(row), ""),
        )
        for i, row in enumerate(chosen)
    ]


def choose(head: np.ndarray, near: np.ndarray, similarity: np.ndarray) -> np.ndarray:
    """Of removed items, by the number of their kept one, whether they are near-duplicates, and their similarity to it: which to show. int64[m]"""
    heads, first, sizes = np.unique(head, return_index=True, return_counts=True)
    largest = first[np.lexsort((heads, -sizes))[:OF_LARGEST]]
    others = np.setdiff1d(np.flatnonzero(near), largest)
    others = others[np.argsort(similarity[others], kind="stable")]
    spread = others[np.unique(np.linspace(0, len(others) - 1, OF_NEAR).astype(int))] if len(others) else others
    return np.concatenate((largest, spread))
