"""Lists of token ids: 64-bit integers in order, unchanged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from likewise.items.arrow import filled, integers_of, listed
from likewise.items.json_values import Texts, decoded, lists_of, rows_of
from likewise.items.payloads import Rows
from likewise.items.python_values import typed
from likewise.items.reader import Reader
from likewise.items.words import is_word
from likewise.records import Want


def from_python(rows: list[Any]) -> pa.Array:
    """A column of lists of integers, or of JSON texts."""
    return typed(rows, pa.types.is_integer)


def from_arrow(values: pa.Array, want: Want) -> Rows | None:
    """Token ids from lists of integers; None for other types."""
    if (lists := listed(values)) is None or (tokens := integers_of(lists[1])) is None:
        return None
    return filled(lists[0], tokens.astype(np.int64, copy=False), lists[1])  # above 2^63 they wrap, but remain distinct


def from_json(texts: Texts, want: Want) -> Rows:
    """Token ids from lists of integers."""
    values = decoded(texts, list[int], lambda value: None)
    values = [value if isinstance(value, list) and all(is_word(number) for number in value) else None for value in values]
    return rows_of(values, lists_of(values), lambda flat: np.array([number % 2**64 for number in flat], np.uint64).view(np.int64))


#: A payload is int64, one a token.
READER = Reader(
    "tokens",
    "list of token ids",
    "token ids: a list of lists of whole numbers, a 2-D array, or (values, offsets)",
    from_python,
    from_arrow,
    from_json,
    dimensions="2",
    numbers="iu",
    arrays=2,
    in_kernel=True,
)
