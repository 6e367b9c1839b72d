"""A check before any work that every source has the compared field, by schemas, headers and the first records."""

from __future__ import annotations

import difflib
import glob
import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from likewise.choices import AT
from likewise.errors import DataError, UsageError
from likewise.io import fields
from likewise.io.field_names import mapped, mentioned, of_source, top
from likewise.io.source_names import printable
from likewise.items.readers import reader_of
from likewise.kinds import of_payload
from likewise.messages import option
from likewise.records import REJECTED, Chunk, Want

if TYPE_CHECKING:
    from likewise.io.inputs import Source

#: Usual names of the compared field, most likely first, for suggestions.
USUAL = "text content body document raw_content page_content markdown code message title embedding embeddings vector emb features elements".split()  # noqa: SIM905
SHOWN = 20


class Lack(NamedTuple):
    """A source without the wanted field, and the fields that it has."""

    source: str
    fields: Sequence[str]
    inside: str = ""  # the field with a list of objects, in a file of one JSON document
    table: bool = False  # it is data in memory


def check(sources: Sequence[Source], want: Want) -> None:
    """Raise DataError for sources without the field, as far as their beginnings show."""
    if lacking := [Lack(source.name, there, table=not source.files) for source in sources if (there := _without(source, want)) is not None]:
        by_name = {source.name: source for source in sources}
        lacking = [lack._replace(inside=inside(by_name[lack.source])) for lack in lacking]
        raise DataError(message(lacking, [source.name for source in sources], want))


def seen(sources: Iterable[Source], want: Want) -> str:
    """Return the fields at the beginnings of sources, for the end of a message: "; fields seen: id, text", or "" without fields."""
    names: dict[str, None] = {}
    for source in sources:
        with suppress(DataError):
            names |= dict.fromkeys(_names(source, want)[0])
    return f"; fields seen: {', '.join([*names][:SHOWN])}" if names else ""


def lacks(source: Source, name: str, want: Want) -> bool:
    """Return True if a source has no field with this name, as far as its beginning shows."""
    with suppress(DataError):
        there, whole = _names(source, want)
        return whole and top(name, [*there]) not in there
    return False


def _names(source: Source, want: Want) -> tuple[Sequence[str], bool]:
    """Return the fields at the beginning of a source, and True if these are all."""
    asked = source.asked(want)._replace(text="", whole=True)  # no field is "", so all names are listed
    format: Any = source.format
    return (format.schema(source.path, asked).names, True) if hasattr(format, "schema") else format.glance(source.path, asked)


def settled(sources: Sequence[Source], field: str, some: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return the field of all sources, and the entries NAME@GLOB. Raises UsageError for a glob that matches no source.

    A single entry that matches no source and contains no wildcard is the name of a field that contains @.
    """
    idle = [one for one, (_, pattern) in zip(some, mapped(some), strict=True) if not any(fnmatchcase(source.name, pattern) for source in sources)]
    if len(idle) == len(some) == 1 and not glob.has_magic(idle[0]):
        return idle[0], ()
    if idle:
        there = ", ".join(printable(source.name) for source in sources[:5])
        raise UsageError(f"{option('field', idle[0])}: no input matches {idle[0].rpartition(AT)[2]!r}; the inputs are {there}")
    return field, tuple(some)


def _without(source: Source, want: Want) -> Sequence[str] | None:
    """Return the fields of a source that has rows but not the wanted field; None if it has the field, or damage hides it."""
    asked = source.asked(want)
    format: Any = source.format
    if hasattr(format, "holds"):
        return None
    try:
        if hasattr(format, "schema"):
            schema = format.schema(source.path, asked)
            return schema.names if not _has_column(source, asked, schema) and _has_rows(source, want) else None
        there, whole = format.glance(source.path, asked)
        return there if whole and not _has_name(asked, there) and _lacks(source, want) else None
    except DataError:
        return None


def _has_column(source: Source, asked: Want, schema: Any) -> bool:
    table = pa.table([pa.nulls(0, field.type) for field in schema], schema)  # pyarrow's empty_table cannot make dictionaries of every type
    nothing = Chunk(table, 0, 0, tuple(schema.names))
    reader = reader_of(asked.kind)
    some = reader is None or not (reader.whole or reader.columns)  # a row with one of the parts has a value
    parts = [asked._replace(text=name) for name in fields.every(asked, schema.names)] if some else [asked]
    return any(source.parse(nothing, part).found for part in parts)


def _has_name(asked: Want, there: Sequence[str]) -> bool:
    """Return True if some part of the field may be among these names; paths are identified by their first key."""
    return asked.text in there or any(top(name, there) in there for name in mentioned(asked.text)) or _is_numbered(asked, there)


def _is_numbered(asked: Want, there: Sequence[str]) -> bool:
    return of_payload(asked.kind).numbered and any(name in there for name in fields.every(asked, there))


def _lacks(source: Source, want: Want) -> bool:
    """Return True if some row can be read, and none has the field. Reads all of a short source, because a glance ends at damage."""
    parts = [source.parse(chunk, want) for chunk in source.chunks(want)]
    return any((part.kind != REJECTED).any() for part in parts) and not any(part.found for part in parts)


def _has_rows(source: Source, want: Want) -> bool:
    """Return True if some row can be read."""
    return any((source.parse(chunk, want).kind != REJECTED).any() for chunk in source.chunks(want))


def inside(source: Source) -> str:
    """Return the field of a source's only JSON document that may hold its records, or ""."""
    look: Any = getattr(source.format, "inside", None)
    with suppress(DataError):
        return look(source.path) if look is not None else ""
    return ""


def message(lacking: Sequence[Lack], names: Sequence[str], want: Want) -> str:
    """Return the message about sources without the field; ``names``: those of all sources."""
    first = lacking[0]
    field = of_source(want, first.source).text
    shown = [printable(lack.source) for lack in lacking[:3]]
    *before, last = [*shown, f"{len(lacking) - 3:,} more"] if len(lacking) > 3 else shown
    where = f"{', '.join(before)} {'and' if len(lacking) > 3 else 'or'} {last}" if before else last
    alone = first.table and len(set(names)) == 1
    where = "the data" if alone else where
    seen = list(dict.fromkeys(name for lack in lacking for name in lack.fields))
    if not seen:
        return f'no row of {where} has fields; each row must be an object, such as {{"id": 1, {json.dumps(field)}: ...}}, not a bare value'
    said = f"no row of {where} has the field {field!r}; fields seen: {', '.join(seen[:SHOWN])}; name the right one with"
    any_name = option("field", placeholder="F")
    if alone and mentioned(field) == [field] and top(field, []) == field:
        known = f"its columns: {', '.join(seen[:SHOWN])}"
        return f"the data has no column {field!r}; {known}; name one with {any_name}, such as {option('field', suggested(field, seen, want))}"
    if first.inside:
        return f"{said} {any_name}; if the records are in the list {first.inside!r}, add {option('records', first.inside)}"
    if "," in field:
        parts = [part.strip() for part in field.split(",")]
        return f"{said} {any_name}: {'|'.join(parts)!r} takes the first one that a record has; {'+'.join(parts)!r} joins them"
    others = set(names) - {lack.source for lack in lacking}
    if not others:
        return f"{said} {any_name}"
    meant = suggested(field, first.fields, want)
    here, everywhere = option("field", meant + AT + pattern(first.source, others)), option("field", f"{field}|{meant}")
    return f"{said} {here} for this source alone, or with {everywhere} for all"


def suggested(field: str, there: Sequence[str], want: Want) -> str:
    """Return the name in a source that was most likely meant."""
    near = difflib.get_close_matches(field, there, 1)
    usual = [name for name in USUAL if name in there]
    others = [name for name in there if name not in (want.id, want.per, want.score)]
    return (near or usual or others or list(there))[0]


def pattern(name: str, others: Iterable[str]) -> str:
    """Return a glob for a source: its extension if no other source has that, else its exact name."""
    suffix = PurePosixPath(name).suffix
    return f"*{suffix}" if suffix and not any(other.endswith(suffix) for other in others) else glob.escape(name)
