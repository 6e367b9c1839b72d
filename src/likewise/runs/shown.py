"""The content of items as shown to people, by kind of item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise import methods
from likewise.io.field_names import mapped
from likewise.io.numbered import Numbered
from likewise.io.units import Units
from likewise.kinds import of_payload
from likewise.kinds.kind import DIGITS, NUMBERS
from likewise.options import MOST_BYTES
from likewise.planning import Facts
from likewise.records import TEXT, Records, Want

#: How many are shown of many elements or bits, of the numbers of a long vector, and of the digits of a long code or stretch of one.
FIRST, BEGINNING, ENDS = 12, 8, 64
#: Characters shown of an item that only has to be recognized.
SHOWN = 200
#: Stands for the content of an item of an index.
UNREAD = "(not kept in the index)"
#: Maximum offset of items that a report reads again, because a compressed source must be read up to them.
NEAR_THE_BEGINNING = 2**28


def wanted(method: dict[str, Any]) -> Want:
    """Return the Want that reads items of a run for display; ``method`` as in manifest.json."""
    kind = methods.parse(method["by"]).kind.seen(Facts(sparse=bool(method.get("sparse")))).payload
    field, *some = [method["field"]] if isinstance(method["field"], str) else method["field"]
    most = method.get("max_record", MOST_BYTES)
    reading = {"records": method.get("records"), "html": method.get("html", "text")}
    return showing(Want(field, method["id"] or "id", kind=kind, wide=True, most=most, mapped=mapped(some), **reading))


def showing(want: Want) -> Want:
    """Return the Want, which for hashed sets also reads the JSON text of the record, because their elements are read only as hashes."""
    return want._replace(per=want.text) if of_payload(want.kind).hashed and not {"+", "|"} & {*want.text} else want


def written(records: Records, row: int, want: Want) -> str:
    """Return the content of a row as shown to people; "" if it has no value. ``records`` must be read with a Want of `showing`."""
    raw = records.text[row].as_py() or b""
    if records.kind[row] != TEXT:
        return ""
    kind = of_payload(want.kind)
    if kind.hashed and want.per == want.text and records.per is not None and (said := records.per[row].as_py()) is not None:
        return said.decode("utf-8", "surrogatepass")
    return kind.written(raw, want, 0 if records.width is None else int(records.width[row]))


def part_of(text: str, start: int, end: int, kind: str) -> str:
    """Return a part of the text of `written`, from character ``start`` up to ``end``; of token ids, from one id to another."""
    return of_payload(kind).part_of(text, start, end)


def shortened(kind: str, text: str) -> str:
    """Return the text of `written`, shortened to the first numbers of a long vector, with few digits, or to both ends of a long code."""
    look = of_payload(kind).look
    return "  ".join(rounded(text)) if look == NUMBERS else ends(text) if look == DIGITS else text


def rounded(text: str) -> list[str]:
    """Return the numbers of a vector; only the first ones, with few digits, of a long one.

    >>> rounded("0.25 -1.0"), rounded("0.123456 " * 100)[-2:]
    (['0.25', '-1.0'], ['0.1235', '... and 92 more numbers'])
    """
    numbers = text.split()
    if len(numbers) <= FIRST:
        return numbers
    return [*(f"{float(number):.4g}" for number in numbers[:BEGINNING]), f"... and {len(numbers) - BEGINNING:,} more numbers"]


def ends(digits: str) -> str:
    """Return the digits of a code, shortened in the middle if there are many."""
    if len(digits) <= 2 * ENDS:
        return digits
    half = ENDS // 2
    return f"{digits[:half]}...{len(digits) - 2 * half:,} digits...{digits[-half:]}"


def in_brief(kind: str, text: str) -> str:
    """Return the beginning of the text of `written` on one line."""
    line = " ".join(shortened(kind, text)[: 100 * SHOWN].split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 2]} …"


def listed(names: Sequence[str], unit: str) -> str:
    """Join a few names; of many, the first and the number of the others.

    >>> listed(["a", "b"], "element"), listed(["0"] * 100, "bit")
    ('a, b', '0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ... and 88 more bits')
    """
    if len(names) <= 2 * FIRST:
        return ", ".join(names)
    return f"{', '.join(names[:FIRST])}, ... and {len(names) - FIRST:,} more {unit}s"


def read_again(collection: Numbered, rows: Sequence[int], want: Want) -> dict[int, str]:
    """Return the contents of rows as shown to people, by row, read again from their sources."""
    if isinstance(collection, Units):
        return parts_read_again(collection, np.unique(np.asarray(rows, np.int64)), want)
    found: dict[int, str] = {}
    ascending = np.unique(rows)
    numbers = collection.source_of(ascending)
    for number in np.unique(numbers).tolist():
        source, here = collection.sources[number], ascending[numbers == number]
        if source.blank:
            found |= dict.fromkeys(here.tolist(), UNREAD)
            continue
        asked = showing(source.asked(want))
        left = dict(zip(collection.starts(here).tolist(), here.tolist(), strict=True))
        for chunk in source.chunks_of(asked, [*left], collection.start_of_chunk(int(here[0]), number)):
            if held := [at for at in left if chunk.start <= at < chunk.start + len(chunk.data)]:
                records = source.parse(chunk, asked)
                found |= {left.pop(at): written(records, int(np.searchsorted(records.start, at)), asked) for at in held}
            if not left:
                break
    return found


def parts_read_again(units: Units, rows: np.ndarray, want: Want) -> dict[int, str]:
    """`read_again` for parts of documents."""
    document, spans = units.document[rows], zip(*units.spans(rows), strict=True)
    texts = read_again(units.documents, document.tolist(), want)
    return {row: texts.get(of, "")[begin:end] for row, of, (begin, end) in zip(rows.tolist(), document.tolist(), spans, strict=True)}


def behind(table: pa.Table, sides: Mapping[str, str]) -> list[str]:
    """The columns of sources and positions that say nothing to people: an id, or the only source, says the same.

    sides: the columns of ids, each with the prefix of its places.
    """
    found: list[str] = []
    for name, prefix in sides.items():
        source, position = f"{prefix}source", f"{prefix}position"
        if not {name, source, position} <= {*table.column_names}:
            continue
        is_source = pc.all(pc.equal(pc.cast(table[name], pa.string()), table[source])).as_py()  # a file of one text
        alone = is_source or pc.count_distinct(table[source]).as_py() < 2
        found += [source] * alone + [position] * (alone or table.schema.field(name).type == pa.int64())
    return found
