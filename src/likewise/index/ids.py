"""Ids of an index: the user's names of items, and the errors about those that are there, or missing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.errors import IdError, UsageError
from likewise.io.ids import as_json, compact, from_json, to_json
from likewise.items import binary
from likewise.items.arrow import chunked, is_arrow
from likewise.items.words import without_fractions
from likewise.messages import either, option, quoted
from likewise.options import integer

#: Bits of the greatest whole number that can be an id: Python refuses to write longer ones in decimal.
MOST_BITS = 14_000
#: Floats below this have a JSON text without an exponent.
MOST_FLOAT = 1e16
#: The JSON text of an id.
FORM = r'^("|-?[0-9]+$)'


def json_ids(ids: Any) -> list[bytes]:
    """Ids as JSON text, from a list, an array or a column; 1.0 is 1, as in files. Raises UsageError for values that are no ids."""
    texts = json_values(ids, "ids", json_id)
    if None in texts:
        raise UsageError(f"{option('ids')}: row {texts.index(None)} has none; give a string or a whole number for each item")
    if is_arrow(ids) and (row := unfit(binary.from_list(texts))) is not None:
        raise refused_value("ids", row, from_json(texts[row]))
    return texts


def json_groups(values: Any) -> list[bytes | None]:
    """Values of groups as JSON text, as `json_ids`: any strings and numbers; None stays None."""
    return json_values([values] if isinstance(values, str | int) else values, "per", json_value)


def json_values(values: Any, name: str, one: Callable[[Any, int, str], bytes | None]) -> list[Any]:
    """The values of an option as JSON text, each by the function ``one``."""
    if isinstance(values, str | bytes | Mapping) or not (is_arrow(values) or isinstance(values, Iterable)):
        raise UsageError(f"{option(name, values)}: give a list of strings or whole numbers, one for each item")
    if not is_arrow(values):
        return [one(value, row, name) for row, value in enumerate(values.tolist() if isinstance(values, np.ndarray) else values)]
    column = pa.concat_arrays(chunked(values).chunks) if len(chunked(values)) else pa.array([], pa.string())
    texts = to_json(column)
    if pa.types.is_decimal(column.type):  # 1.50 is 1.5
        texts = binary.from_list([None if text is None else compact(text) for text in texts.to_pylist()])
    found: list[Any] = without_fractions(texts).to_pylist()
    return found


def is_id(given: Any) -> bool:
    """True for values that can be ids: strings and whole numbers."""
    value = integer(given)
    if isinstance(value, float):
        return value.is_integer() and abs(value) < MOST_FLOAT
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool) and value.bit_length() <= MOST_BITS)


def unfit(texts: pa.LargeBinaryArray) -> int | None:
    """The place of the first JSON text that is not an id; None if all are."""
    good = pc.match_substring_regex(texts, FORM)
    return None if pc.all(good).as_py() is not False else pc.index(good, False).as_py()


def json_id(given: Any, row: int, name: str = "ids") -> bytes | None:
    """One id as JSON text; None for None. Raises UsageError."""
    if type(given) is str and given.isascii() and given.isprintable() and not {'"', "\\"} & {*given}:
        return b'"' + given.encode() + b'"'
    if given is not None and not is_id(given):
        raise refused_value(name, row, given)
    return json_value(given, row, name)


def json_value(given: Any, row: int, name: str = "ids") -> bytes | None:
    """One string or number as JSON text; None for None. Raises UsageError."""
    value = integer(given)
    if given is None:
        return None
    if isinstance(value, float) and math.isfinite(value):
        found: bytes = without_fractions(binary.from_list([as_json(value)]))[0].as_py()
        return found
    if isinstance(value, str) or (isinstance(value, int) and value.bit_length() <= MOST_BITS):
        return as_json(value)
    raise refused_value(name, row, value)


def refused_value(name: str, row: int, given: Any) -> UsageError:
    """The error about a value that is no id, or no value of a group."""
    given = given.item() if isinstance(given, np.generic) else given
    shown = f"a number of {given.bit_length():,} bits" if isinstance(given, int) and not isinstance(given, bool) else f"{given!r:.60}"
    return UsageError(f"{option(name)}: row {row} is {shown}; give strings or whole numbers")


def repeated(ids: Sequence[bytes]) -> list[int]:
    """The places of ids that stand earlier in the list too."""
    if len(set(ids)) == len(ids):
        return []
    seen: set[bytes] = set()
    return [place for place, one in enumerate(ids) if one in seen or seen.add(one)]  # type: ignore[func-returns-value]


def refused(ids: Sequence[bytes], rows: Sequence[int], *, there: bool, instead: str, first: int = 0) -> IdError:
    """The error about some ids of a batch: those at the places ``rows`` are in the index, or twice in the batch (``there``); or they are missing.

    first: the number of the first item of the batch, in messages.
    """
    row = rows[0]
    name = from_json(ids[row])
    if ids[row] in ids[:row]:
        what = f"is given twice, in the rows {list(ids).index(ids[row])} and {row}"
    else:
        place = f"(row {first + row}) "
        what = f"{either(place, '', place)}is {'already in the index' if there else 'not in the index'}"
    return IdError(
        f"the id {quoted(name)} {what}{and_others(rows)}; {instead}", [from_json(ids[place]) for place in rows], [first + place for place in rows]
    )


def and_others(rows: Sequence[int]) -> str:
    """For a message about the first of some rows: that it holds for the others, too."""
    others = len(rows) - 1
    return f", and so {'is' if others == 1 else 'are'} {others:,} more" if others else ""
