"""JSON values of one kind as rows: decoded by msgspec, and the values it rejects one by one in Python."""

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
    """The place in ``data`` of the number ``item`` of a vector, whose parts are numbers and lists of numbers at data[begin:end]."""
    for begin, end in parts:
        for number in data[begin:end].removeprefix(b"[").removesuffix(b"]").split(b","):
            begin += data[begin : begin + 1] == b"["
            if item == 0 and number.strip():
                return begin + len(number) - len(number.lstrip())
            item -= bool(number.strip())
            begin += len(number) + 1
    return parts[0][0]


def decoded(texts: Texts, kinds: Any, other: Callable[[Any], Any]) -> list[Any]:
    """The values, decoded as ``kinds`` by msgspec. Values it rejects are passed to ``other``, which returns a value, None, or a Fault."""
    decode = msgspec.json.Decoder(kinds).decode
    values: list[Any] = []
    for text in texts:
        if text is None:
            values.append(None)
            continue
        try:
            values.append(decode(text))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):  # UnicodeDecodeError for lone surrogates
            values.append(otherwise(text, other))
    return values


def otherwise(text: bytes, other: Callable[[Any], Any]) -> Any:
    """Parse a text that msgspec rejected, and pass the value to ``other``. Returns a Fault for invalid JSON."""
    try:
        value = json.loads(text.decode("utf-8", "surrogatepass"))
    except json.JSONDecodeError as error:
        return Fault(f"is not JSON: {error}")
    except RecursionError:
        return Fault("is nested too deeply")
    except ValueError:  # Python and msgspec refuse to read an integer of that many digits
        return Fault("holds a whole number with thousands of digits; give it as a string")
    return other(value)


def rows_of(values: Sequence[Any], items: Sequence[Sequence[Any]], laid: Callable[[list[Any]], Any]) -> Rows:
    """Rows of ``items``, empty for values that are None or a Fault. laid: makes an array of all items."""
    gone = np.array([value is None for value in values], bool)
    faults = {row: value for row, value in enumerate(values) if isinstance(value, Fault)}
    return Rows(gone, ends([len(each) for each in items]), laid(list(chain.from_iterable(items))), faults=faults)


def lists_of(values: Sequence[Any]) -> list[Any]:
    """The values that are lists, and () in place of the others."""
    return [value if isinstance(value, list) else () for value in values]


def as_float(number: Any) -> float | None:
    """The number as float; None if it is not a number. An integer beyond float64 becomes an infinity, which is rejected later."""
    if isinstance(number, bool) or not isinstance(number, int | float):
        return None
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def floats(value: Any) -> list[float] | None:
    """The numbers of a list as floats; None if it is not a list of numbers."""
    numbers = [as_float(number) for number in value] if isinstance(value, list) else [None]
    return None if None in numbers else numbers  # type: ignore[return-value]


class Thinned(list[Any]):
    """A list without its missing elements; ``nulls`` counts them."""

    nulls = 0


def thinned(items: list[Any], element: Callable[[Any], Any] = lambda item: item) -> Thinned:
    """The items without missing ones. element: gets the element of an item."""
    found = Thinned(item for item in items if not is_missing(element(item)))
    found.nulls = len(items) - len(found)
    return found


def nulls_of(values: Sequence[Any]) -> NDArray[np.int64]:
    """The number of missing elements that were left out of each value: int64[n]."""
    return np.array([value.nulls if isinstance(value, Thinned) else 0 for value in values], np.int64)
