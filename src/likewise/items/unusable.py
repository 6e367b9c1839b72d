"""Values of another type than a run compares: descriptions of them, and of the texts, sets or vectors that are needed."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from likewise.items.given import shown
from likewise.kinds import of_payload
from likewise.messages import either, option
from likewise.records import Want

#: The message for rows of 0 and 1 in place of sets.
MATRIX = (
    "rows of equal length that hold only 0 and 1 look like a matrix, but as lists of elements they would all be sets of 0 and 1; "
    f"write the numbers of the columns that are 1{either(', or give booleans: M.astype(bool), or np.array(row, bool) for one row', '')}"
)
#: Types of single values, in the order in which they are tested: a bool is an int, and a datetime a date.
NOUNS: tuple[tuple[tuple[type, ...], str], ...] = (
    ((bool,), "booleans"),
    ((int,), "whole numbers"),
    ((float, Decimal), "floats"),
    ((str,), "strings"),
    ((bytes,), "bytes"),
    ((datetime.datetime, datetime.date, datetime.time, datetime.timedelta), "dates and times"),
    ((dict,), "records"),
)


#: Items of a list whose types are named.
LOOKED = 100


def noun(value: Any) -> str:
    """The plural noun for values of this type."""
    if isinstance(value, np.generic) and not isinstance(value, np.longdouble) and value.dtype.kind in "biufUS":
        return noun(value.item())
    if isinstance(value, np.ndarray):
        return noun(value.tolist()) if value.dtype.kind in "biufUTO" else f"arrays of {value.dtype}"
    if isinstance(value, list | tuple | range):
        nouns = list(dict.fromkeys(noun(item) for item in value[:LOOKED] if item is not None))
        return f"lists of {' and '.join(nouns)}" if nouns else "lists of nulls" if value else "empty lists"
    return next((name for types, name in NOUNS if isinstance(value, types)), f"values of type {type(value).__name__}")


def held(value: Any) -> str:
    """A description of a column by its first value: ``lists of floats, such as [0.5, 1.0]``."""
    return f"{noun(value)}, such as {shown(value)}"


def of_column(values: pa.Array, gone: NDArray[np.bool_]) -> str:
    """`held` of the first unusable value that is not null, or an empty string."""
    if not gone.any():
        return ""
    rows = np.flatnonzero(gone & values.is_valid().to_numpy(zero_copy_only=False))
    if not len(rows):
        return ""
    try:
        value = values[int(rows[0])].as_py()
    except ValueError:  # nanoseconds, which Python's times cannot hold
        return f"values of type {values.type}"
    if isinstance(values.type, pa.JsonType):
        return of_texts([value.encode("utf-8", "surrogatepass")], np.ones(1, bool)) if isinstance(value, str) else held(value)
    if isinstance(value, bytes):  # strings are read as bytes
        value = value.decode("utf-8", "replace")
    return held(value)


def of_texts(texts: Sequence[bytes | None], gone: NDArray[np.bool_]) -> str:
    """`held` of the first unusable JSON text that is not null, or an empty string."""
    for row in np.flatnonzero(gone).tolist():
        text = texts[row]
        if text is not None and text.strip() != b"null":
            try:
                return held(json.loads(text.decode("utf-8", "replace")))
            except (ValueError, RecursionError):
                return f"values such as {shown(text.decode('utf-8', 'replace'))}"
    return ""


def matrix(source: str, want: Want) -> str:
    """The message for a matrix of 0 and 1 in place of sets."""
    return f"{source}: the field {want.text!r}: {MATRIX}"


def needed(other: str, kind: str, by: str = "") -> str:
    """The values that are needed in place of such ones, with advice: ``by='elements' compares sets: ...``."""
    held, _, _ = other.partition(", such as ")
    wanted = of_payload(kind)
    advice = wanted.advice.get(held, "")
    if not by and "{field}" in advice:  # a batch in Python has no fields
        advice = "give the values of one field"
    compares = f"{option('by', by)} compares" if by else "expected"
    return f"{compares} {wanted.needed}{f'; {advice}' if advice else ''}"


def message(source: str, other: str, want: Want, by: str) -> str:
    """The message about a field with values of another type than ``by`` compares."""
    return f"{source}: the field {want.text!r} holds {other}; {needed(other, want.kind, by).replace('{field}', want.text)}"
