"""Test items in report.json: how many stand in the training documents, which ones most, and which are too short to judge."""

from __future__ import annotations

from typing import Any

import numpy as np

from likewise.drawing.numbers import counted
from likewise.messages import option
from likewise.methods import Text
from likewise.planning.recipes import DOCUMENTS, PASSAGES
from likewise.runs.decontamination import Cleaned, recipe_of
from likewise.runs.items import Run

#: Items listed, and items that a warning names.
LISTED, NAMED = 20, 5
#: The effect of each kind of recipe, in words.
REMOVES = {PASSAGES: "passages", DOCUMENTS: "documents"}


def facts(fate: Cleaned, run: Run) -> dict[str, Any]:
    """The part of a report about test items. Warns of those that are too short."""
    leaks, recipe, method = fate.leaks, recipe_of(run.job), run.job.method
    assert isinstance(method, Text)
    found, some = leaks.seen, np.flatnonzero(leaks.seen.documents)
    share = found.tokens_seen[some] / leaks.tokens[some]
    most = some[np.lexsort((some, -share))][:LISTED]
    short = np.flatnonzero(leaks.short)
    if len(short):
        names = ", ".join(called(fate, short[:NAMED])) + " and others" * (len(short) > NAMED)
        fewer = f"{'has' if len(short) == 1 else 'have'} fewer than {counted(method.k, 'token')} and {'is' if len(short) == 1 else 'are'}"
        less = f"; a smaller {option('min_run', placeholder='N')} judges more of them, and finds more by chance"
        run.warn(f"{len(short):,} of {counted(len(leaks.tokens), 'test item')} {fewer} too short to judge: {names}{less}")
    return {
        "preset": run.job.options.preset,
        "removes": REMOVES.get(recipe.decides),
        "unit": method.unit,
        "ngram": method.k,
        "around": recipe.around,
        "least_piece": recipe.piece,
        "most_pieces": recipe.pieces,
        "most_documents": recipe.common,
        "source": recipe.source,
        "differs": recipe.differs,
        "items": len(leaks.tokens),
        "too_short": len(short),
        "seen": len(some),
        "contaminated": int(leaks.contaminated.sum()),
        "common_ngrams": leaks.common,
        "in_too_many_pieces": int(leaks.split),
        "most_seen": [row(fate, each) for each in most.tolist()],
        "short": [row(fate, each) for each in short[:LISTED].tolist()],
    }


def row(fate: Cleaned, item: int) -> dict[str, Any]:
    """One test item."""
    collection, leaks = fate.documents, fate.leaks
    number = np.array([item + collection.rows_of_sides[1].start])
    (source,), (position,) = collection.places(number)
    (name,) = collection.names(number, 1)
    tokens, seen = int(leaks.tokens[item]), int(leaks.seen.tokens_seen[item])
    counts = {"longest": int(leaks.seen.longest[item]), "documents": int(leaks.seen.documents[item])}
    return {"id": name, "source": source.as_py(), "position": int(position), "tokens": tokens, "tokens_seen": seen} | counts


def called(fate: Cleaned, items: np.ndarray) -> list[str]:
    """The ids of the items, or the places of items without ids."""
    return [
        f"record {one['position'] + 1} of {one['source']}" if one["id"] is None else repr(one["id"]) for one in (row(fate, each) for each in items)
    ]
