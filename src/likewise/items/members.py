"""The elements of a set from its JSON text, which people see in place of the words that are stored."""

from __future__ import annotations

import json
from typing import Any


def members(text: str) -> list[tuple[Any, float | None]] | None:
    """The elements with their weights, None if they have none, in the order of the text; None for other JSON values.

    >>> members('["milk", 7]'), members('{"milk": 2}'), members('[["milk", 2.5], ["milk", 1]]'), members("3 elements")
    ([('milk', None), (7, None)], [('milk', 2.0)], [('milk', 2.5), ('milk', 1.0)], None)
    """
    try:
        value = json.loads(text or "[]")
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict):
        indices = value.get("indices")
        value = indices if isinstance(indices, list) else list(value.items())
    return [member(part) for part in value] if isinstance(value, list) else None


def member(part: Any) -> tuple[Any, float | None]:
    """An element with its weight."""
    if isinstance(part, dict):
        part = [part["element"], part["weight"]] if {"element", "weight"} <= part.keys() else list(part.values())
    element, weight = part if isinstance(part, list | tuple) and len(part) == 2 else (part, None)
    return element, None if weight is None else float(weight)


def named(element: Any) -> str:
    """An element as text; strings of digits are quoted, because 7 and "7" are different elements.

    >>> named(7), named("7"), named("milk")
    ('7', '"7"', 'milk')
    """
    return json.dumps(element) if isinstance(element, str) and element.removeprefix("-").isdecimal() else str(element)
