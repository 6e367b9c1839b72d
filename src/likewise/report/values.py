"""What an item holds as people read it, and in what two items differ, by kind of item."""

from __future__ import annotations

import json
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

import numpy as np

from likewise import methods
from likewise.io import payloads
from likewise.io.collection import readable
from likewise.methods import Text
from likewise.records import TEXT, Records, Want
from likewise.report import diff
from likewise.stages.kinds import KINDS

#: Kinds of payload (records.PAYLOADS) whose parts can be laid beside each other: words, characters, elements. Of vectors and codes no part says much.
WORDS, SIGNS, MEMBERS = ("text", "tokens"), ("string",), ("elements", "weighted")
#: Pairs of characters up to which strings are aligned by character; longer ones are texts, and are aligned by word.
MOST_PAIRS = 250_000
#: Elements or numbers of a long list, and hexadecimal digits of a code, that are shown.
FIRST, DIGITS = 12, 64


class Parts(NamedTuple):
    """Two sets, as people read their elements: those in both, and those in one of them only."""

    both: list[str]
    removed: list[str]
    kept: list[str]


def wanted(method: dict[str, Any]) -> Want:
    """What to read of a record to show what was compared; ``method`` as manifest.json has it."""
    by = methods.parse(method["by"])
    kind = KINDS[by.name].want if not isinstance(by, Text) else "tokens" if by.unit == "tokens" else "text"
    return showing(Want(method["field"], method["id"] or "id", kind=kind, wide=True))


def showing(want: Want) -> Want:
    """The same, and sets as they stand in the record too: of their elements only words are read, which say nothing."""
    return want._replace(per=want.text) if want.kind in ("elements", "weighted") and "+" not in want.text else want


def written(records: Records, row: int, want: Want) -> str:
    """What a row holds, as people read it; nothing where it has no value. ``records`` are read by a want of `showing`."""
    raw = records.text[row].as_py() or b""
    if records.kind[row] != TEXT:
        return ""
    if want.kind in ("elements", "weighted") and want.per == want.text and records.per is not None and (said := records.per[row].as_py()) is not None:
        return said.decode("utf-8", "surrogatepass")
    if want.kind == "vector":
        numbers = np.frombuffer(raw, payloads.item(want))
        with np.errstate(over="ignore"):
            narrow = numbers.astype(np.float32)
        return " ".join(map(str, narrow if (narrow == numbers).all() else numbers))  # float32 in its own few digits
    if want.kind == "code" and records.width is not None:
        return raw[: -(-int(records.width[row]) // 8)].hex()
    return readable(raw, want)


def item(raw: bytes, want: Want) -> Any:
    """A payload as `measures` take an item. The words of elements are as good as the elements."""
    if want.kind in ("text", "string"):
        return raw.decode("utf-8", "surrogatepass")
    if want.kind == "code":
        return raw
    values = np.frombuffer(raw, payloads.item(want))
    return [(int(word), float(weight)) for word, weight in values.tolist()] if want.kind == "weighted" else values


def plain(kind: str, text: str) -> Any:
    """What `written` made, as JSON has it."""
    if kind == "vector":
        return [float(number) for number in text.split()]
    if kind not in MEMBERS:
        return text
    try:
        return json.loads(text or "null")
    except ValueError:
        return text


def shortened(kind: str, text: str) -> str:
    """What `written` made, of a long vector or code the beginning."""
    if kind == "vector":
        return listed(text.split(" "), "number", " ")
    if kind == "code" and len(text) > 2 * DIGITS:
        return f"{text[:DIGITS]} ... and {len(text) - DIGITS:,} more hexadecimal digits"
    return text


def listed(names: Sequence[str], unit: str, between: str = ", ") -> str:
    """All of a few, else the first of them and how many more there are.

    >>> listed(["a", "b"], "element"), listed(["0"] * 100, "number", " ")
    ('a, b', '0 0 0 0 0 0 0 0 0 0 0 0 ... and 88 more numbers')
    """
    if len(names) <= 2 * FIRST:
        return between.join(names)
    return f"{between.join(names[:FIRST])}{between}... and {len(names) - FIRST:,} more {unit}s"


def parts(kind: str, removed: str, kept: str) -> Parts | None:
    """Two sets element by element, in the order of the record; None where they are no sets, or their elements are not to be had."""
    if kind not in MEMBERS:
        return None
    gone, stays = elements(removed), elements(kept)
    if gone is None or stays is None:
        return None
    left, right = dict.fromkeys(gone), dict.fromkeys(stays)
    return Parts([name for name in left if name in right], [name for name in left if name not in right], [name for name in right if name not in left])


def elements(text: str) -> list[str] | None:
    """The elements of a set as JSON has it, each as it is named: ``milk``, or of a weighted set ``milk: 2``; None where it is none.

    >>> elements('["milk", 7, "7"]'), elements('{"milk": 2}'), elements('[["milk", 2.5]]'), elements("3 elements")
    (['milk', '7', '"7"'], ['milk: 2'], ['milk: 2.5'], None)
    """
    try:
        value = json.loads(text or "[]")
    except ValueError:
        return None
    if isinstance(value, dict):
        value = list(value.items())
    if not isinstance(value, list):
        return None
    return [named(part) for part in value]


def named(part: Any) -> str:
    if isinstance(part, dict):
        part = list(part.values())
    if isinstance(part, list | tuple):
        return ": ".join(map(named, part))
    if isinstance(part, float):
        return f"{part:g}"
    return json.dumps(part) if isinstance(part, str) and part.removeprefix("-").isdecimal() else str(part)  # 7 and "7" are two elements


def runs(kind: str, removed: str, kept: str) -> diff.Runs | None:
    """How the kept item differs from the removed one, as runs of `diff.words`; None where no part of one can be laid beside one of the other."""
    if kind in WORDS:
        return diff.words(removed, kept)
    if kind in SIGNS:
        return signs(removed, kept)
    if (found := parts(kind, removed, kept)) is None:
        return None
    sides = [("equal", found.both), ("delete", found.removed), ("insert", found.kept)]
    return [(what, listed(names, "element") + "\n" * (what == "equal")) for what, names in sides if names]


def signs(removed: str, kept: str) -> diff.Runs:
    """Two strings character by character.

    >>> signs("kitten", "sitting")
    [('delete', 'k'), ('insert', 's'), ('equal', 'itt'), ('delete', 'e'), ('insert', 'i'), ('equal', 'n'), ('insert', 'g')]
    """
    if len(removed) * len(kept) > MOST_PAIRS:
        return diff.words(removed, kept)
    found: diff.Runs = []
    for kind, i, j, k, m in SequenceMatcher(None, removed, kept, autojunk=False).get_opcodes():
        if kind == "equal":
            found.append((kind, removed[i:j]))
        else:
            found += [(what, text) for what, text in (("delete", removed[i:j]), ("insert", kept[k:m])) if text]
    return found
