"""JSON values of one kind as rows: decoded at once in C, and what that refuses one by one."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from likewise.items.elements import is_missing
from likewise.items.payloads import Fault, Rows, ends

Texts = Sequence[bytes | None]


def place(data: bytes, parts: Sequence[tuple[int, int]], item: int) -> int:
    """Where in ``data`` the number ``item`` of a vector stands, whose parts are numbers and lists of numbers at data[begin:end]."""
    for begin, end in parts:
        for number in data[begin:end].removeprefix(b"[").removesuffix(b"]").split(b","):
            begin += data[begin : begin + 1] == b"["
            if item == 0 and number.strip():
                return begin + len(number) - len(number.lstrip())
            item -= bool(number.strip())
            begin += len(number) + 1
    return parts[0][0]


def decoded(texts: Texts, kinds: Any, other: Callable[[Any], Any]) -> list[Any]:
    """The values, decoded as ``kinds`` in C; what that refuses goes to ``other``, which gives a value of them, None, or a Fault."""
    decode = msgspec.json.Decoder(kinds).decode
    values: list[Any] = []
    for text in texts:
        if text is None:
            values.append(None)
            continue
        try:
            values.append(decode(text))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):  # the second for lone surrogates
            values.append(otherwise(text, other))
    return values


def otherwise(text: bytes, other: Callable[[Any], Any]) -> Any:
    try:
        value = json.loads(text.decode("utf-8", "surrogatepass"))
    except json.JSONDecodeError as error:
        return Fault(f"is no JSON: {error}")
    except RecursionError:
        return Fault("is no value of this kind; its brackets nest too deep to tell more")
    except ValueError:  # Python refuses to read a whole number of so many digits, msgspec too
        return Fault("holds a whole number of thousands of digits; give it as a string")
    return other(value)


def rows_of(values: Sequence[Any], items: Sequence[Sequence[Any]], laid: Callable[[list[Any]], Any]) -> Rows:
    """Rows of ``items``; a value that is None or a Fault has none. ``laid`` makes an array of all items."""
    gone = np.array([value is None for value in values], bool)
    faults = {row: value for row, value in enumerate(values) if isinstance(value, Fault)}
    return Rows(gone, ends([len(each) for each in items]), laid(list(chain.from_iterable(items))), faults=faults)


def lists_of(values: Sequence[Any]) -> list[Any]:
    """The values that are lists; nothing in place of the others."""
    return [value if isinstance(value, list) else () for value in values]


def as_float(number: Any) -> float | None:
    """None for what is no number. A whole number beyond the range of float64 becomes an infinity, to be refused as one."""
    if isinstance(number, bool) or not isinstance(number, int | float):
        return None
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def floats(value: Any) -> list[float] | None:
    numbers = [as_float(number) for number in value] if isinstance(value, list) else [None]
    return None if None in numbers else numbers  # type: ignore[return-value]


class Thinned(list[Any]):
    """A list without the missing elements that it had."""

    nulls = 0


def thinned(items: list[Any], element: Callable[[Any], Any] = lambda item: item) -> Thinned:
    found = Thinned(item for item in items if not is_missing(element(item)))
    found.nulls = len(items) - len(found)
    return found


def nulls_of(values: Sequence[Any]) -> NDArray[np.int64]:
    return np.array([value.nulls if isinstance(value, Thinned) else 0 for value in values], np.int64)
