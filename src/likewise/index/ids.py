"""Ids of an index: the user's names of items, and the errors about those that are there, or missing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from likewise.errors import IdError, UsageError
from likewise.io.ids import as_json, compact, from_json, to_json
from likewise.items import binary
from likewise.items.arrow import chunked, is_arrow
from likewise.items.words import without_fractions
from likewise.messages import either, option, quoted
from likewise.options import integer

#: Bits of the greatest whole number that can be an id: Python refuses to write longer ones in decimal.
MOST_BITS = 14_000


def json_ids(ids: Any, name: str = "ids", *, missing: bool = False) -> list[Any]:
    """Ids as JSON text, from a list, an array or a column; 1.0 is 1, as in files. Raises UsageError for values that are no ids.

    name: the option, for messages. missing: None stays None.
    """
    if isinstance(ids, str | bytes | Mapping) or not (is_arrow(ids) or isinstance(ids, Iterable)):
        raise UsageError(f"{option(name, ids)}: give a list of strings or whole numbers, one for each item")
    if is_arrow(ids):
        column = pa.concat_arrays(chunked(ids).chunks) if len(chunked(ids)) else pa.array([], pa.string())
        texts = to_json(column)
        if pa.types.is_decimal(column.type):  # 1.50 is 1.5
            texts = binary.from_list([None if one is None else compact(one) for one in texts.to_pylist()])
        values = without_fractions(texts).to_pylist()
    else:
        values = [json_id(one, row, name) for row, one in enumerate(ids.tolist() if isinstance(ids, np.ndarray) else ids)]
    if not missing and None in values:
        raise UsageError(f"{option(name)}: row {values.index(None)} has none; give a string or a whole number for each item")
    return values


def is_id(given: Any) -> bool:
    """True for values that can be ids: strings and numbers."""
    value = integer(given)
    if isinstance(value, int):
        return value.bit_length() <= MOST_BITS
    return isinstance(value, str) or (isinstance(value, float) and math.isfinite(value))


def json_id(given: Any, row: int, name: str = "ids") -> bytes | None:
    """One id as JSON text; None for None. Raises UsageError."""
    if type(given) is str and given.isascii() and given.isprintable() and not {'"', "\\"} & {*given}:
        return b'"' + given.encode() + b'"'
    if is_id(given):
        value = integer(given)
        return without_fractions(binary.from_list([as_json(value)]))[0].as_py() if isinstance(value, float) else as_json(value)
    if given is None:
        return None
    shown = f"a number of {given.bit_length():,} bits" if isinstance(given, int) else f"{given!r:.60}"
    raise UsageError(f"{option(name)}: row {row} is {shown}; give strings or whole numbers")


def repeated(ids: Sequence[bytes]) -> list[int]:
    """The places of ids that stand earlier in the list too."""
    if len(set(ids)) == len(ids):
        return []
    seen: set[bytes] = set()
    return [place for place, one in enumerate(ids) if one in seen or seen.add(one)]  # type: ignore[func-returns-value]


def refused(ids: Sequence[bytes], rows: Sequence[int], *, there: bool, instead: str) -> IdError:
    """The error about some ids of a batch: those at the places ``rows`` are in the index, or twice in the batch (``there``); or they are missing."""
    row = rows[0]
    name = from_json(ids[row])
    if ids[row] in ids[:row]:
        what = f"is given twice, in the rows {list(ids).index(ids[row])} and {row}"
    else:
        what = f"{either(f'(row {row}) ', '', f'(row {row}) ')}is {'in the index already' if there else 'not in the index'}"
    return IdError(f"the id {quoted(name)} {what}{and_others(rows)}; {instead}", [from_json(ids[place]) for place in rows], list(rows))


def and_others(rows: Sequence[int]) -> str:
    """For a message about the first of some rows: that it holds for the others, too."""
    others = len(rows) - 1
    return f", and so {'is' if others == 1 else 'are'} {others:,} more" if others else ""
