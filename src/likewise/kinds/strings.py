"""Strings of characters, compared by edits."""

from __future__ import annotations

from likewise.kinds.kind import NEVER, Kind, MeasureFacts

EDITS = ("edit", "edits")
EDIT = MeasureFacts(
    "edit",
    "likewise.measures.edit:edit",
    "the least number of characters to delete from one and to insert into it to make the other of it",
    units=EDITS,
    distance=True,
)
LEVENSHTEIN = MeasureFacts(
    "levenshtein",
    "likewise.measures.edit:levenshtein",
    "the least number of characters to delete, insert or replace to make one out of the other",
    units=EDITS,
    distance=True,
)


class Strings(Kind):
    """Strings as they are, code point by code point."""

    name, noun, item = "strings", "string", "a string"
    field = holds = "text"
    payload = "string"
    measures = (EDIT, LEVENSHTEIN)
    bands = NEVER
    searched = False


KIND = Strings()
