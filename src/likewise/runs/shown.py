"""What an item holds as people read it, by kind of item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from likewise import methods
from likewise.io.collection import Collection
from likewise.io.field_names import mapped
from likewise.kinds import of_payload
from likewise.kinds.kind import DIGITS, NUMBERS
from likewise.options import MOST_BYTES
from likewise.planning import Facts
from likewise.records import TEXT, Records, Want

#: Elements or bits of many that are shown; numbers of a long vector, and hexadecimal digits of a long code or of a stretch of one.
FIRST, BEGINNING, ENDS = 12, 8, 64
#: Characters of what an item holds, where that is only to be recognised.
SHOWN = 200


def wanted(method: dict[str, Any]) -> Want:
    """What to read of a record to show what was compared; ``method`` as manifest.json has it."""
    kind = methods.parse(method["by"]).kind.seen(Facts(sparse=bool(method.get("sparse")))).payload
    field, *some = [method["field"]] if isinstance(method["field"], str) else method["field"]
    most = method.get("max_record", MOST_BYTES)
    return showing(Want(field, method["id"] or "id", kind=kind, wide=True, most=most, mapped=mapped(some), records=method.get("records")))


def showing(want: Want) -> Want:
    """The same, and sets as they stand in the record too: of their elements only words are read, which say nothing."""
    return want._replace(per=want.text) if of_payload(want.kind).hashed and not {"+", "|"} & {*want.text} else want


def written(records: Records, row: int, want: Want) -> str:
    """What a row holds, as people read it; nothing where it has no value. ``records`` are read by a want of `showing`."""
    raw = records.text[row].as_py() or b""
    if records.kind[row] != TEXT:
        return ""
    kind = of_payload(want.kind)
    if kind.hashed and want.per == want.text and records.per is not None and (said := records.per[row].as_py()) is not None:
        return said.decode("utf-8", "surrogatepass")
    return kind.written(raw, want, 0 if records.width is None else int(records.width[row]))


def shortened(kind: str, text: str) -> str:
    """What `written` made; of a long vector the beginning, in few digits, and of a long code both ends."""
    look = of_payload(kind).look
    return "  ".join(rounded(text)) if look == NUMBERS else ends(text) if look == DIGITS else text


def rounded(text: str) -> list[str]:
    """The numbers of a vector, of many the first in few digits.

    >>> rounded("0.25 -1.0"), rounded("0.123456 " * 100)[-2:]
    (['0.25', '-1.0'], ['0.1235', '... and 92 more numbers'])
    """
    numbers = text.split()
    if len(numbers) <= FIRST:
        return numbers
    return [*(f"{float(number):.4g}" for number in numbers[:BEGINNING]), f"... and {len(numbers) - BEGINNING:,} more numbers"]


def ends(digits: str) -> str:
    """The digits of a code, or the first and the last of many."""
    if len(digits) <= 2 * ENDS:
        return digits
    half = ENDS // 2
    return f"{digits[:half]}...{len(digits) - 2 * half:,} digits...{digits[-half:]}"


def listed(names: Sequence[str], unit: str) -> str:
    """All of a few, else the first of them and how many more there are.

    >>> listed(["a", "b"], "element"), listed(["0"] * 100, "bit")
    ('a, b', '0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ... and 88 more bits')
    """
    if len(names) <= 2 * FIRST:
        return ", ".join(names)
    return f"{', '.join(names[:FIRST])}, ... and {len(names) - FIRST:,} more {unit}s"


def read_again(collection: Collection, rows: Sequence[int], want: Want) -> dict[int, str]:
    """The contents of rows, as people read them, read again from their sources."""
    found: dict[int, str] = {}
    ascending = np.unique(rows)
    numbers = collection.source_of(ascending)
    for number in np.unique(numbers).tolist():
        source, here = collection.sources[number], ascending[numbers == number]
        asked = showing(source.asked(want))
        left = dict(zip(collection.column("start")[here].tolist(), here.tolist(), strict=True))
        for chunk in source.chunks_of(asked, [*left], collection.start_of_chunk(int(here[0]), number)):
            if held := [at for at in left if chunk.start <= at < chunk.start + len(chunk.data)]:
                records = source.parse(chunk, asked)
                found |= {left.pop(at): written(records, int(np.searchsorted(records.start, at)), asked) for at in held}
            if not left:
                break
    return found


def beginning(collection: Collection, row: int, want: Want) -> str:
    """The beginning of what a row holds."""
    return shortened(want.kind, read_again(collection, [row], want).get(row, ""))[:SHOWN]
