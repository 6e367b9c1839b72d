"""The structure of JSON text: ends of documents, names of an object's members, the list of records inside a wrapper.

Only brackets, quotes, colons and commas are examined, so values may be anything that `kernels.json` passes in fields that are not read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

BLANK = b" \t\r\n"
KEY, OPEN, CLOSE, VALUE = "key", "open", "close", "value"
_TOKEN = re.compile(rb'[ \t\r\n]*+("[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\]:,]|[^ \t\r\n"{}\[\]:,]++)', re.DOTALL)
_CLOSES = {b"}": b"{", b"]": b"["}


class BrokenError(ValueError):
    """Text that is not JSON from the byte ``at`` on."""

    def __init__(self, at: int):
        super().__init__(at)
        self.at = at


class Event(NamedTuple):
    """A key, a bracket or a plain value: text[at:end], inside of ``depth`` open brackets (not counting its own)."""

    kind: str
    at: int
    end: int
    depth: int


def events(text: bytes | bytearray, inside: Sequence[bytes] = (), at: int = 0) -> Iterator[Event]:
    """The events in ``text`` from ``at`` on, to its end or to the last whole token. ``inside``: brackets open at ``at``, which then follows a value.

    Raises BrokenError at the first unexpected token. Any number of documents may follow each other.
    """
    stack, needed = list(inside), "comma" if inside else "value"
    while match := _TOKEN.match(text, at):
        token, (begin, at) = bytes(match[1]), match.span(1)
        if token in _CLOSES:
            if not stack or stack[-1] != _CLOSES[token] or needed not in ("comma", "first", "first key"):
                raise BrokenError(begin)
            stack.pop()
            yield Event(CLOSE, begin, at, len(stack))
            needed = "comma"
        elif needed == "comma" and token == b"," and stack:
            needed = "key" if stack[-1] == b"{" else "value"
            continue
        elif needed == "colon" and token == b":":
            needed = "value"
            continue
        elif needed in ("key", "first key") and token[:1] == b'"':
            yield Event(KEY, begin, at, len(stack))
            needed = "colon"
            continue
        elif needed not in ("value", "first") or token in (b",", b":"):
            raise BrokenError(begin)
        elif token in (b"{", b"["):
            yield Event(OPEN, begin, at, len(stack))
            stack.append(token)
            needed = "first key" if token == b"{" else "first"
        else:
            yield Event(VALUE, begin, at, len(stack))
            needed = "comma"
        if not stack:
            needed = "value"


def end_of_first(text: bytes | bytearray) -> int | None:
    """The end of the first document; None if it continues after ``text``. Raises BrokenError."""
    return next((event.end for event in events(text) if event.depth == 0 and event.kind in (CLOSE, VALUE)), None)


def are_documents(text: bytes) -> bool:
    """True if a text that begins so does not hold one document per line: the first spans lines, or another follows in its line."""
    text = text.lstrip(BLANK)
    if text[:1] not in (b"{", b"["):
        return False
    try:
        end = end_of_first(text)
    except BrokenError:
        return False
    return b"\n" in text[:end] or (end is not None and text[end:].split(b"\n", 1)[0].lstrip(BLANK)[:1] in (b"{", b"["))


def opening(text: bytes | bytearray, path: Sequence[str]) -> int | None:
    """The beginning of the list at the end of a path of keys; None if there is no such list. Raises BrokenError."""
    passed, asked = 0, False  # keys that lead to the current object; whether the next value is that of the next key
    for event in events(text):
        if event.kind == KEY:
            asked = event.depth == passed + 1 and unquoted(bytes(text[event.at : event.end])) == path[passed]
            continue
        if event.kind == OPEN and asked and passed == len(path) - 1 and text[event.at : event.end] == b"[":
            return event.at
        if event.kind == OPEN and asked and passed < len(path) - 1 and text[event.at : event.end] == b"{":
            passed += 1
        elif event.kind == CLOSE and 0 < passed == event.depth:
            passed -= 1
        asked = False
    return None


def list_of_objects(text: bytes) -> str:
    """The first key of a document whose value is a list of objects, or an empty string, as far as the text goes."""
    key, before = "", ""
    with suppress(BrokenError):
        for event in events(text):
            if event.kind == KEY and event.depth == 1:
                key, before = unquoted(text[event.at : event.end]), KEY
            elif event.kind == OPEN and before == KEY and event.depth == 1 and text[event.at : event.end] == b"[":
                before = OPEN
            elif event.kind == OPEN and before == OPEN and event.depth == 2 and text[event.at : event.end] == b"{":
                return key
            else:
                before = ""
    return ""


def names(text: bytes, inside: int = 0, until: Container[str] = ()) -> list[str]:
    """The keys of the objects inside ``inside`` brackets, in order, up to the first of ``until`` or to damage."""
    found: dict[str, None] = {}
    with suppress(BrokenError):
        for event in events(text):
            if event.kind == KEY and event.depth == inside + 1:
                key = unquoted(text[event.at : event.end])
                found[key] = None
                if key in until:
                    break
    return list(found)


def unquoted(token: bytes) -> str:
    """The text of a string; unchanged if it is not JSON."""
    text = token.decode("utf-8", "replace")
    try:
        return str(json.loads(text))
    except ValueError:
        return text[1:-1]
