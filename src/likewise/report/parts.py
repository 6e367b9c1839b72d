"""Parts of documents in report.json: how many were removed, and the ones that were repeated most."""

from __future__ import annotations

from typing import Any

import numpy as np

from likewise.io.units import Pieces, Units
from likewise.job import Job
from likewise.report.read import Read
from likewise.runs.fate import Fate
from likewise.runs.items import Run
from likewise.runs.results import Decision
from likewise.runs.shown import NEAR_THE_BEGINNING, in_brief, read_again

#: Parts listed.
LARGEST = 20


def counts(fate: Fate, read: Read, run: Run) -> dict[str, Any]:
    """Return the counts of parts and of their characters. Raises AssertionError if they do not add up.

    removed: for a part that stays; dropped: with a document that became too short.
    """
    units = units_of(fate)
    rows = units.rows_of_sides[0]  # those of a second collection are not counted
    removed = fate.decision.removed[rows]
    dropped = fate.removed[units.document[rows]] & ~removed
    groups = {"read": np.ones(rows.stop, bool), "kept": ~removed & ~dropped, "removed": removed, "dropped": dropped}
    chars = units.column("chars")[rows].astype(np.int64)
    found = {name: int(np.count_nonzero(group)) for name, group in groups.items()}
    of_chars = {name: int(chars[group].sum()) for name, group in groups.items()}
    for each in (found, of_chars):
        if each["kept"] + each["removed"] + each["dropped"] != each["read"]:
            raise AssertionError(f"parts were lost: {each}; this is a bug in likewise, please report it")
    pieces = isinstance(units, Pieces)  # all are of passages, or lie between them
    others = {name: 0 if pieces else read.sides[0].total(of) for name, of in (("empty", "empty"), ("too_short_to_judge", "short"))}
    return {"level": run.job.options.level, **found, **others, "characters": of_chars}


def shortened(fate: Fate) -> int:
    """Return how many documents were written without some of their parts."""
    return len(np.unique(units_of(fate).document[fate.cut]))


def largest(fate: Fate, job: Job) -> list[dict[str, Any]]:
    """Return the parts with the most duplicates, the most common first: the text of the one that stays, its place, and how often it occurred.

    Of passages, the place and the text are those of the first occurrence. The text is None where it lies far from the beginning of its source.
    """
    units = units_of(fate)
    most = units.most if isinstance(units, Pieces) else None
    document, numbers = most_common(units, fate.decision) if most is None else most
    near = document[fate.documents.column("start")[document] < NEAR_THE_BEGINNING]
    texts = read_again(fate.documents, near.tolist(), job.want) if len(near) else {}
    source, position = fate.documents.places(document)
    found = zip(document.tolist(), source.to_pylist(), position.tolist(), *numbers.tolist(), strict=True)
    return [
        {"text": in_brief(job.want.kind, texts[row][begin:end]) if row in texts else None, "times": times, "documents": of}
        | {"source": name, "position": at, "start": begin, "end": end}
        for row, name, at, begin, end, times, of in found
    ]


def most_common(units: Units, decision: Decision) -> tuple[np.ndarray, np.ndarray]:
    """Return the parts that stand for the most others, as `Pieces.most`."""
    removed = np.flatnonzero(decision.removed)
    kept, times = np.unique(decision.kept_row[removed], return_counts=True)
    first = np.lexsort((kept, -times))[:LARGEST]
    chosen = kept[first]
    documents = [len(np.unique(units.document[[row, *removed[decision.kept_row[removed] == row]]])) for row in chosen.tolist()]
    return units.document[chosen], np.array([*units.spans(chosen), times[first] + 1, documents], np.int64)


def units_of(fate: Fate) -> Units:
    assert isinstance(fate.compared, Units)
    return fate.compared
