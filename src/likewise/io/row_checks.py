"""Checks after all rows were read: sources without the wanted field, or with values of another kind."""

from __future__ import annotations

from typing import NamedTuple

from likewise.io import presence
from likewise.io.numbered import Numbered, files_of
from likewise.io.presence import Lack
from likewise.io.source_names import printable
from likewise.items import unusable
from likewise.records import Want
from likewise.stages.facts import Facts


class Counts(NamedTuple):
    """The rows of each source."""

    read: list[int]
    readable: list[int]
    texts: list[int]


def counts(rows: Numbered, facts: tuple[Facts, Facts]) -> Counts:
    """Count the rows of each source of both sides."""
    sides = list(zip(facts, rows.sources_of_sides, strict=True))
    names = ("read", "rejected", "without_text")
    read, rejected, without = ([count for side, numbers in sides for count in side.by_source(name, numbers)] for name in names)
    readable = [all_of - bad for all_of, bad in zip(read, rejected, strict=True)]
    return Counts(read, readable, [some - none for some, none in zip(readable, without, strict=True)])


def fields_missing(rows: Numbered, facts: tuple[Facts, Facts], want: Want, *, limited: bool) -> str | None:
    """Return a message if no row of some source has the wanted field, else None.

    limited: only some rows were read, so the message requires that no row of one of the two collections has it.
    """
    found = {entry["source"] for entry in rows.chunks if entry["found"]}
    sources, count = rows.sources, counts(rows, facts)
    # if some source has it, a source with texts has it too, such as a text file, which has no fields
    lacking = [n for n in range(len(sources)) if n not in found and count.readable[n] and not (found and count.texts[n])]
    if limited:
        sides = (side for side, of in zip(rows.sources_of_sides, facts, strict=True) if of.readable)
        lacking = next(([*side] for side in sides if {*side} <= {*lacking}), [])
    if not lacking:
        return None
    seen = {n: dict.fromkeys(field for entry in rows.chunks if entry["source"] == n for field in entry["fields"]) for n in lacking}
    names = [name for source in sources for name in files_of([source])]
    files = [(n, name) for n in lacking for name in files_of([sources[n]])]
    lacks = [Lack(name, [*seen[n]], presence.inside(sources[n]), not sources[n].files) for n, name in files]
    return presence.message(lacks, names, want)


def not_usable(rows: Numbered, facts: tuple[Facts, Facts], want: Want, by: str) -> str | None:
    """Return a message if no row of a source has a value of the wanted kind, and some have one of another kind; else None."""
    count = counts(rows, facts)
    others = {entry["source"]: entry["other"] for entry in reversed(rows.chunks) if entry.get("other")}  # first one of each source
    for number, other in sorted(others.items()):
        if count.readable[number] == count.read[number] and not count.texts[number]:
            source = rows.sources[number]
            return unusable.message(printable(source.name), other, source.asked(want), by)
    return matrix(rows, count, want)


def matrix(rows: Numbered, count: Counts, want: Want) -> str | None:
    """Return a message if the rows of a source look like those of a matrix of 0 and 1, else None."""
    if not any(entry.get("matrix") for entry in rows.chunks):
        return None
    widths: dict[int, set[int]] = {}
    for entry in rows.chunks:
        if entry.get("texts", entry["rows"]):  # journals of earlier versions have no "texts"
            widths.setdefault(entry["source"], set()).add(entry.get("matrix", 0))
    for number, (width, *others) in widths.items():
        source = rows.sources[number]
        if width and not others and count.texts[number] > 1:
            return unusable.matrix(printable(source.name), source.asked(want))
    return None
