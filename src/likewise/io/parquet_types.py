"""Types of Parquet that Arrow lacks, kept in the files that likewise writes.

Arrow reads an interval as 12 bytes, and a time of the day in UTC as one without a zone. So pyarrow writes the right values under a poorer type.
Where both files store the values in the same way, the schema element in the new file's footer is replaced by that of the source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from likewise.errors import UsageError
from likewise.io import footer
from likewise.io.footer import Element
from likewise.messages import option

#: Fields of SchemaElement (parquet.thrift), and the fields that define how values are stored.
TYPE, TYPE_LENGTH, REPETITION, NAME, CHILDREN, CONVERTED, SCALE, PRECISION, LOGICAL = 1, 2, 3, 4, 5, 6, 7, 8, 10
STORED = (TYPE, TYPE_LENGTH, REPETITION, NAME, CHILDREN)
#: Numbers of LogicalType. For intervals only the number 9 is reserved.
MAP, LIST, DECIMAL, TIME, TIMESTAMP, INTERVAL, INTEGER, GEOMETRY, GEOGRAPHY = 2, 3, 5, 7, 8, 9, 10, 17, 18
#: The logical types of the numbers of ConvertedType; that of decimals has parameters. MAP_KEY_VALUE (2) is not a type of values.
CONVERTED_TYPES: dict[int, dict[int, Any]] = {
    0: {1: {}},
    1: {MAP: {}},
    3: {LIST: {}},
    4: {4: {}},
    6: {6: {}},
    **{number: {TIME: {1: True, 2: {unit: {}}}} for number, unit in ((7, 1), (8, 2))},
    **{number: {TIMESTAMP: {1: True, 2: {unit: {}}}} for number, unit in ((9, 1), (10, 2))},
    **{11 + power: {INTEGER: {1: 8 << power, 2: False}} for power in range(4)},
    **{15 + power: {INTEGER: {1: 8 << power, 2: True}} for power in range(4)},
    19: {12: {}},
    20: {13: {}},
    21: {INTERVAL: {}},
}
#: Types whose values have no order, so the minimum and maximum of a page mean nothing to readers.
UNORDERED = (INTERVAL, GEOMETRY, GEOGRAPHY)
INT96 = 3
#: Logical types that Arrow has, too: strings, decimals, dates, timestamps, integers, and float16.
SHARED = frozenset((1, DECIMAL, 6, TIMESTAMP, INTEGER, 15))


class Column(NamedTuple):
    """A group or a leaf of a schema, with its counterpart in the other file, if there is one."""

    path: tuple[str, ...]
    mine: Element
    other: Element | None

    @property
    def name(self) -> str:
        """The path with dots."""
        return ".".join(self.path)


def logical(element: Element) -> dict[int, Any]:
    """The logical type of an element, {number: parameters}, in either notation of the format; {} for none."""
    if found := element.fields.get(LOGICAL):
        return found
    converted = element.fields.get(CONVERTED)
    if converted == DECIMAL:  # the same number as of the logical type
        return {DECIMAL: {1: element.fields.get(SCALE, 0), 2: element.fields.get(PRECISION, 0)}}
    return CONVERTED_TYPES.get(converted, {}) if converted is not None else {}


def restore(source: Path, target: Path) -> None:
    """Give the columns of ``target``, which was written from ``source``, their logical types back. Raises DataError for a damaged footer."""
    with source.open("rb") as file:
        old = footer.read(file)
    with open(target, "r+b") as file:
        new = footer.read(file)
        changed = _restored(old, new, source)
        if changed != new:
            file.seek(-len(new) - len(footer.MAGIC) - 4, 2)
            file.write(changed + len(changed).to_bytes(4, "little") + footer.MAGIC)
            file.truncate()


def _restored(old: bytes, new: bytes, place: Path) -> bytes:
    """The new footer with the schema elements of the old one where values are stored in the same way."""
    pieces, at = [], 0
    for column in _changed(old, new, place):
        if column.other is not None and _is_stored_equally(column):
            pieces += [new[at : column.other.begin], old[column.mine.begin : column.mine.end]]
            at = column.other.end
    return b"".join((*pieces, new[at:]))


def are_lacking(source: Path) -> bool:
    """True if some column of a file has a type that Arrow does not have. Raises DataError for a damaged footer."""
    with source.open("rb") as file:
        data = footer.read(file)
    with footer.undamaged(source):
        return any(_is_lacking(element) for element in footer.schema(data, source))


def check(source: Path, arrow: pa.Schema, options: dict[str, Any]) -> None:
    """Raise UsageError for a file with a column that could not be written with its type.

    arrow: the schema of the rows, which are written with ``options``.
    """
    with source.open("rb") as file:
        old = footer.read(file)
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, arrow, **options):
        pass  # without rows
    for column in _changed(old, footer.read(BytesIO(sink.getvalue())), source):
        if _is_lacking(column.mine) and not _is_stored_equally(column):
            raise UsageError(
                f"{source}: the column {column.name!r} has a type that Arrow lacks, so kept records would lose it. Drop the column or "
                f"change its type there, or write no records: {option('output', 'ids')} or mask, without {option('removed_records')}"
            )


def _is_lacking(element: Element) -> bool:
    """True for types that Arrow does not have. Arrow has times of the day, but only without a zone. Lists and maps are left to pyarrow."""
    return any(number not in (*SHARED, LIST, MAP) and not (number == TIME and not kind.get(1)) for number, kind in logical(element).items())


def unordered(source: Path) -> list[str]:
    """The columns of a file whose values have no order, as paths with dots."""
    with source.open("rb") as file:
        data = footer.read(file)
    with footer.undamaged(source):
        return [column.name for column in _pairs(footer.schema(data, source), []) if not logical(column.mine).keys().isdisjoint(UNORDERED)]


def _is_stored_equally(column: Column) -> bool:
    """True if both files store the values of a column in the same way."""
    other = column.other
    return other is not None and all(column.mine.fields.get(field) == other.fields.get(field) for field in STORED)


def _changed(old: bytes, new: bytes, place: Path) -> list[Column]:
    """The columns and groups of the old file whose logical type differs in the new one. Lists, maps and timestamps of 96 bits are left to Arrow."""
    with footer.undamaged(place):
        return [column for column in _pairs(footer.schema(old, place), footer.schema(new, place)) if _is_changed(column)]


def _is_changed(column: Column) -> bool:
    """True if the logical type of a column differs and is not left to Arrow."""
    was, now = (logical(element) if element is not None else {} for element in (column.mine, column.other))
    if CHILDREN in column.mine.fields and (not was or MAP in was or LIST in was):
        return False
    return was != now and column.mine.fields.get(TYPE) != INT96


def _pairs(old: Sequence[Element], new: Sequence[Element]) -> list[Column]:
    """Each element of a schema except its root, with the element of the other schema in the same place."""
    places = dict(_places(new))
    names: dict[tuple[int, ...], tuple[str, ...]] = {(): ()}
    found = []
    for place, element in _places(old):
        if place:
            names[place] = (*names[place[:-1]], element.fields[NAME].decode("utf-8", "replace"))
            found.append(Column(names[place], element, places.get(place)))
    return found


def _places(elements: Sequence[Element]) -> Iterator[tuple[tuple[int, ...], Element]]:
    """Each element with its place in the tree: its number in its group, after those of the groups around it; () for the root."""
    around: list[list[Any]] = []  # groups: the place of each, the number of its elements so far, and of all
    for element in elements:
        while around and around[-1][1] == around[-1][2]:
            around.pop()
        place = (*around[-1][0], around[-1][1]) if around else ()
        if around:
            around[-1][1] += 1
        yield place, element
        if children := element.fields.get(CHILDREN):
            around.append([place, 0, children])
