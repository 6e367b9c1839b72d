"""The result of `repeats`: the places of repeated passages as a table, the passages, and the facts for the report."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from likewise import schema
from likewise.drawing.numbers import counted
from likewise.messages import in_document
from likewise.passages.repeats import joined
from likewise.passages.search import Search
from likewise.records import NO_TEXT, REJECTED, TEXT
from likewise.runs.items import Run
from likewise.runs.origin import Origin
from likewise.runs.repeats import Found
from likewise.runs.shown import SHOWN, behind, part_of, read_again
from likewise.runs.table import Contents, Data, Table

#: Passages that the report shows with their text, those in the most documents.
SHOWN_PASSAGES = 10
#: The column of ids, with the prefix of its places.
SIDES = {"id": ""}


class Repeats(Table):
    """The result of ``repeats``: the places of repeated passages, in input order. `lw.repeats` and docs/reference/outputs.md explain the columns.

    ``passages`` has a row for each passage: passage, times, documents, tokens, characters, and the place where it occurs first: id, source, position,
    start, end. ``report`` has the facts.
    """

    def __init__(self, table: Data, report: dict[str, Any], passages: Table, origin: Contents):
        super().__init__(table, origin=origin)
        self.report: dict[str, Any] = report
        self.passages: Table = passages

    @property
    def _warnings(self) -> list[str]:
        said: list[str] = self.report["warnings"]
        return said

    def _behind(self) -> list[str]:
        return behind(self.to_arrow(), SIDES)


def result(found: Found, run: Run, settings: Search, method: dict[str, Any]) -> Repeats:
    """The result of a search. method: the options of the run."""
    of, documents = found.repeats, len(found.collection)
    share = run.job.options.common
    listed = np.ones(len(of.times), bool) if share is None else of.documents > share * documents
    number = np.cumsum(listed) - 1
    places = np.flatnonzero(listed[of.passage])
    firsts = of.first[listed]
    rows, start, end = places_of(found, places)
    tokens = of.end[places] - of.begin[places]
    passage = of.passage[places]
    is_first = np.zeros(len(of.begin), bool)
    is_first[of.first] = True
    more = [number[passage], of.times[passage], of.documents[passage], is_first[places]]
    table = of_rows(found, rows, [start, end, tokens, *more], schema.REPEATS)
    rows, start, end = places_of(found, firsts)
    tokens, size = of.end[firsts] - of.begin[firsts], end - start
    each = of_rows(found, rows, [start, end, tokens, size, np.arange(len(firsts)), of.times[listed], of.documents[listed]], schema.REPEATED)
    origin = Origin(found.collection, run)
    return Repeats(table, facts(found, run, settings, method, listed), Table(each, origin=origin), origin)


def places_of(found: Found, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rows, first characters and ends of places."""
    of = found.repeats
    return (found.stretches.rows[of.stretch[places]], *found.characters(of.begin[places], of.end[places]))


def of_rows(found: Found, rows: np.ndarray, columns: list[np.ndarray], more: list[tuple[str, pa.DataType]]) -> Data:
    """A table of rows by id and place, with more columns."""
    collection = found.collection
    fields = [*schema.placed(collection.id_type()), *(pa.field(name, kind) for name, kind in more)]
    typed = collection.json_ids(rows)
    made = pa.table([collection.ids(rows), *collection.places(rows), *columns], schema=pa.schema(fields))
    return Data(made, {} if typed is None else {"id": typed})


def facts(found: Found, run: Run, settings: Search, method: dict[str, Any], listed: np.ndarray) -> dict[str, Any]:
    """The report: the settings, counts, and the passages in the most documents. Warns of documents in which nothing can be found."""
    collection, of = found.collection, found.repeats
    warn(found, run, settings)
    share = run.job.options.common
    most = np.flatnonzero(listed)
    most = most[np.lexsort((most, -of.times[most], -of.documents[most]))[:SHOWN_PASSAGES]]
    return {
        "min_run": settings.run,
        **({} if share is None else {"common": str(share)}),
        "method": method,
        "read": len(collection),
        "tokens": int(collection.column("tokens").sum(dtype=np.int64)),
        "characters": int(collection.column("chars").sum(dtype=np.int64)),
        "documents": len(np.unique(found.stretches.rows[of.stretch])),
        "passages": int(np.count_nonzero(listed)),
        "repeated": sizes(found, joined(of.stretch, of.begin, of.end)),
        "later": sizes(found, of.cut),
        "most": [shown(found, int(number), run) for number in most],
        "warnings": run.warnings,
    }


def sizes(found: Found, runs: np.ndarray) -> dict[str, int]:
    """The numbers of tokens and of characters in runs of tokens, int64[r, 2]."""
    begin, end = runs.T
    first, last = found.characters(begin, end)
    return {"tokens": int((end - begin).sum()), "characters": int((last - first).sum())}


def shown(found: Found, number: int, run: Run) -> dict[str, Any]:
    """A passage with the beginning of its text, for the report."""
    of = found.repeats
    (row,), (start,), (end,) = places_of(found, of.first[number : number + 1])
    (source,), (position,) = found.collection.places(np.array([row]))
    text = part_of(read_again(found.collection, [row], run.job.want).get(row, ""), int(start), int(end), run.job.want.kind)
    place = {"source": source.as_py(), "position": int(position), "start": int(start), "end": int(end)}
    return {"documents": int(of.documents[number]), "times": int(of.times[number]), **place, "text": in_document(text[:SHOWN])}


def warn(found: Found, run: Run, settings: Search) -> None:
    """Warn of documents that are too short or hold no text."""
    kind, tokens = found.collection.column("kind"), found.collection.column("tokens")
    usable = int(np.count_nonzero(kind != REJECTED))
    short, none = int(np.count_nonzero((kind == TEXT) & (tokens < settings.run))), int(np.count_nonzero(kind == NO_TEXT))
    if not usable:
        run.warn("there are no documents, so nothing can repeat")
    elif short + none == usable and short:
        run.warn(f"no document has {settings.run} {settings.tokens}, so nothing can repeat")
    if none:
        has = "has" if none == 1 else "have"
        run.warn(f"{none:,} of {counted(usable, 'document')} {has} no text in the field {run.job.field!r} (null, missing or not a text)")
