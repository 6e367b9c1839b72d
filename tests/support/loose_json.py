"""Conditions for accepting a record: JSON where a value is read; elsewhere only correct brackets, quotes, commas and colons."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

STRING, WORD = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL), re.compile(r"[-+.#_0-9A-Za-z]+")
Paths = Sequence[Sequence[str]]


def is_json(text: str) -> bool:
    """True if Python's json accepts the text, and it has no NaN or Infinity."""
    try:
        json.loads(text.encode("latin-1").decode("utf-8", "surrogatepass"), parse_constant=refuse, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return False
    return True


def refuse(word: str) -> None:
    raise ValueError(word)


def accepted(line: bytes, names: Sequence[str]) -> bool:
    """True if a record is accepted when these fields are read."""
    text = line.decode("latin-1").strip(" \t\r\n")
    if not text.startswith("{"):
        return is_json(text)
    paths = [path for name in names for path in {(name,), tuple(name.split("."))}]
    return value_end(text, 0, paths) == len(text)


def value_end(text: str, at: int, paths: Paths) -> int:
    """The end of the value at ``at``, or -1. An empty path means that all of the value is read; other paths lead to values inside."""
    at = blank_end(text, at)
    if at >= len(text):
        return -1
    if () in map(tuple, paths) or (paths and text[at] != "{"):
        end = value_end(text, at, ())
        value = text[at:end]
        if text[at] == '"' and () not in map(tuple, paths):  # nothing of a string on the way to a value is read, so its bytes need not be UTF-8
            value = re.sub("[\x80-\xff]", "x", value)
        return end if is_json(value) else -1
    if text[at] not in "[{":
        match = STRING.match(text, at) or WORD.match(text, at)
        return match.end() if match else -1
    closing, is_object = {"[": "]", "{": "}"}[text[at]], text[at] == "{"
    at = blank_end(text, at + 1)
    if text[at : at + 1] == closing:
        return at + 1
    while True:
        inside: Paths = ()
        if is_object:
            key = STRING.match(text, at)
            if not key or not is_json(re.sub("[\x80-\xff]", "x", key[0])):
                return -1
            name = json.loads(key[0].encode("latin-1").decode("utf-8", "replace"))
            inside = [path[1:] for path in paths if path[0] == name]
            at = blank_end(text, key.end())
            if text[at : at + 1] != ":":
                return -1
            at += 1
        at = value_end(text, at, inside)
        if at < 0:
            return -1
        at = blank_end(text, at)
        if text[at : at + 1] == closing:
            return at + 1
        if text[at : at + 1] != ",":
            return -1
        at = blank_end(text, at + 1)


def blank_end(text: str, at: int) -> int:
    while text[at : at + 1] in (" ", "\t", "\r", "\n"):
        at += 1
    return at


def texts_at(value: Any, path: list[str], strings: bool) -> list[str]:
    """All texts at the end of a path, which goes through lists. strings: the path leads to a list of texts."""
    if isinstance(value, list) and (path or strings):
        return [text for item in value for text in texts_at(item, path, strings)]
    if path:
        return texts_at(value[path[0]], path[1:], strings) if isinstance(value, dict) and path[0] in value else []
    return [value] if isinstance(value, str) else []
