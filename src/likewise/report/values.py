"""What an item holds as people read it, by kind of item."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from likewise import methods
from likewise.io.collection import readable
from likewise.io.field_names import mapped
from likewise.items import payloads
from likewise.options import MOST_BYTES
from likewise.planning import Facts
from likewise.records import TEXT, Records, Want

#: Kinds of payload (records.PAYLOADS) whose parts can be laid beside each other: words, characters, elements. Of vectors no part says much.
WORDS, SIGNS, MEMBERS = ("text", "tokens"), ("string",), ("elements", "weighted", "sparse")
#: Elements or bits of many that are shown; numbers of a long vector, and hexadecimal digits of a long code or of a stretch of one.
FIRST, NUMBERS, DIGITS = 12, 8, 64


def wanted(method: dict[str, Any]) -> Want:
    """What to read of a record to show what was compared; ``method`` as manifest.json has it."""
    kind = methods.parse(method["by"]).kind.seen(Facts(sparse=bool(method.get("sparse")))).payload
    field, *some = [method["field"]] if isinstance(method["field"], str) else method["field"]
    most = method.get("max_record", MOST_BYTES)
    return showing(Want(field, method["id"] or "id", kind=kind, wide=True, most=most, mapped=mapped(some), records=method.get("records")))


def showing(want: Want) -> Want:
    """The same, and sets as they stand in the record too: of their elements only words are read, which say nothing."""
    return want._replace(per=want.text) if want.kind in ("elements", "weighted") and not {"+", "|"} & {*want.text} else want


def written(records: Records, row: int, want: Want) -> str:
    """What a row holds, as people read it; nothing where it has no value. ``records`` are read by a want of `showing`."""
    raw = records.text[row].as_py() or b""
    if records.kind[row] != TEXT:
        return ""
    if want.kind in ("elements", "weighted") and want.per == want.text and records.per is not None and (said := records.per[row].as_py()) is not None:
        return said.decode("utf-8", "surrogatepass")
    if want.kind == "features" and records.width is not None:
        numbers = np.frombuffer(raw, payloads.item(want))
        wide = max(1, int(records.width[row]))
        beginning = " ".join(f"{number:.4g}" for number in numbers[:NUMBERS])
        return f"{len(numbers) // wide:,} features of {wide:,} numbers, the first from {beginning}" if len(numbers) else "no features"
    if want.kind == "vector":
        numbers = np.frombuffer(raw, payloads.item(want))
        with np.errstate(over="ignore"):
            narrow = numbers.astype(np.float32)
        return " ".join(map(str, narrow if (narrow == numbers).all() else numbers))  # float32 in its own few digits
    if want.kind == "sparse":
        return json.dumps(np.frombuffer(raw, payloads.item(want)).tolist())
    if want.kind == "code" and records.width is not None:
        return raw[: -(-int(records.width[row]) // 8)].hex()
    return readable(raw, want)


def item(raw: bytes, want: Want, width: int = 0) -> Any:
    """A payload as `measures` take an item; width: the numbers of a feature. The words of elements are as good as the elements."""
    if want.kind in ("text", "string"):
        return raw.decode("utf-8", "surrogatepass")
    if want.kind == "code":
        return raw
    values = np.frombuffer(raw, payloads.item(want))
    if want.kind == "features":
        return values.reshape(-1, max(1, width))
    if want.kind == "sparse":
        return {"indices": values["index"], "values": values["value"]}
    return [(int(word), float(weight)) for word, weight in values.tolist()] if want.kind == "weighted" else values


def plain(kind: str, text: str) -> Any:
    """What `written` made, as JSON has it."""
    if kind == "vector":
        return [float(number) for number in text.split()]
    if kind not in MEMBERS:
        return text
    try:
        value = json.loads(text or "null")
    except (ValueError, RecursionError):
        return text
    return {"indices": [index for index, _ in value or ()], "values": [number for _, number in value or ()]} if kind == "sparse" else value


def shortened(kind: str, text: str) -> str:
    """What `written` made; of a long vector the beginning, in few digits, and of a long code both ends."""
    if kind == "vector":
        return "  ".join(rounded(text))
    return ends(text) if kind == "code" else text


def rounded(text: str) -> list[str]:
    """The numbers of a vector, of many the first in few digits.

    >>> rounded("0.25 -1.0"), rounded("0.123456 " * 100)[-2:]
    (['0.25', '-1.0'], ['0.1235', '... and 92 more numbers'])
    """
    numbers = text.split()
    if len(numbers) <= FIRST:
        return numbers
    return [*(f"{float(number):.4g}" for number in numbers[:NUMBERS]), f"... and {len(numbers) - NUMBERS:,} more numbers"]


def ends(digits: str) -> str:
    """The digits of a code, or the first and the last of many."""
    if len(digits) <= 2 * DIGITS:
        return digits
    half = DIGITS // 2
    return f"{digits[:half]}...{len(digits) - 2 * half:,} digits...{digits[-half:]}"


def listed(names: Sequence[str], unit: str) -> str:
    """All of a few, else the first of them and how many more there are.

    >>> listed(["a", "b"], "element"), listed(["0"] * 100, "bit")
    ('a, b', '0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ... and 88 more bits')
    """
    if len(names) <= 2 * FIRST:
        return ", ".join(names)
    return f"{', '.join(names[:FIRST])}, ... and {len(names) - FIRST:,} more {unit}s"
