"""The groups of elements (--groups): a table of two columns, element and group, or a mapping in Python."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import xxhash

from likewise.errors import DataError, UsageError
from likewise.io import address, storage
from likewise.io.batches import reading
from likewise.items.elements import element
from likewise.items.given import shown
from likewise.items.words import Hasher
from likewise.messages import either, option

#: Added to the seed, so that words of groups differ from those of elements.
GROUPS = 0x6709_5EED
FORMS = "give a .parquet, .csv or .jsonl file with the columns element and group, or a .json object that maps one to the other"


class Groups:
    """Ascending element words, and the group word of each."""

    def __init__(self, given: Path | Mapping[Any, Any], seed: int):
        elements, groups = zip(*pairs_of(given), strict=True)
        words = np.array(Hasher(seed).listed(list(elements)))
        self.of = np.array(Hasher(seed ^ GROUPS).listed(list(groups)))
        order = np.argsort(words, kind="stable")
        self.words, self.of = words[order], self.of[order]
        again = np.flatnonzero((self.words[1:] == self.words[:-1]) & (self.of[1:] != self.of[:-1]))
        if len(again):
            raise DataError(f"{name_of(given)}: {elements[order[again[0]]]!r} is in two groups; each element must have one group")

    @classmethod
    def of_words(cls, words: np.ndarray, of: np.ndarray) -> Groups:
        """The groups with these arrays, as an index keeps them."""
        found = object.__new__(cls)
        found.words, found.of = words, of
        return found

    @property
    def digest(self) -> str:
        """Identifies the mapping, wherever it was read."""
        return xxhash.xxh3_128_hexdigest(self.words.tobytes() + self.of.tobytes())

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Return the group words of element words; an element without a group forms its own group."""
        place = np.searchsorted(self.words, values).clip(max=len(self.words) - 1)
        return np.where(self.words[place] == values, self.of[place], values)


def pairs_of(given: Path | Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    """Return (element, group) pairs. Raises UsageError or DataError."""
    given = address.place(given) if isinstance(given, Path) else given
    if isinstance(given, Mapping):
        pairs = list(given.items())
    elif not isinstance(given, os.PathLike):
        raise UsageError(f"{option('groups', given)}: {FORMS}{either('; a mapping also works', '')}")
    elif given.suffix == ".json":
        try:
            found = msgspec.json.decode(given.read_bytes())
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise DataError(f"{given}: cannot be read: {error}; {FORMS}") from error
        if not isinstance(found, dict):
            raise DataError(f"{given}: is not a JSON object; {FORMS}")
        pairs = [pair for key, group in found.items() for pair in ((key, group), *((number, group) for number in numbers(key)))]
    else:
        with reading(given, "a table of groups"):  # invalid UTF-8 in names and values shows only when they are used
            table = table_of(given)
            if not all(table.column_names.count(name) == 1 for name in ("element", "group")):
                raise DataError(f"{given}: has the columns {', '.join(table.column_names)}; {FORMS}")
            pairs = list(zip(table["element"].to_pylist(), table["group"].to_pylist(), strict=True))
    words = [(element(one), element(group)) for one, group in pairs]
    for place, pair in enumerate(words):
        if None in pair:
            kind = UsageError if isinstance(given, Mapping) else DataError
            raise kind(f"{name_of(given)}, pair {place + 1}: {shown(pairs[place])}; elements and groups must be integers or strings")
    if not pairs:
        raise DataError(f"{name_of(given)}: is empty; {FORMS}")
    return words


def numbers(key: str) -> list[int]:
    """Return in a list the integer that a key of a JSON object can also stand for, because such keys are always strings.

    >>> numbers("7"), numbers("-7"), numbers("07"), numbers("milk")
    ([7], [-7], [], [])
    """
    return [int(key)] if len(key) < 400 and key.isascii() and key.removeprefix("-").isdecimal() and str(int(key)) == key else []


def table_of(path: Path) -> pa.Table:
    """Return the table in a file. Raises UsageError for other extensions."""
    from pyarrow import csv, json, parquet

    readers = {".parquet": parquet.read_table, ".csv": csv.read_csv, ".jsonl": json.read_json, ".ndjson": json.read_json}
    if path.suffix not in readers:
        raise UsageError(f"{option('groups', path)}: {FORMS}")
    return readers[path.suffix](storage.arrow(path, stream=True))


def name_of(given: Path | Mapping[Any, Any]) -> str:
    """Return the name of the groups for messages."""
    return str(given) if isinstance(given, os.PathLike) else "groups"
