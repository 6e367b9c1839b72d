"""The parts that stores on servers share: addresses, changes, and binary forms of items."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np

from likewise.errors import FormatError, UsageError
from likewise.index import embedded
from likewise.index.store import KEY_BITS, Change, Contents, Items, Store
from likewise.messages import option, quoted

#: The index at an address that names none.
DEFAULT = "likewise"
#: Names of indexes: no character in them has a meaning to a server.
NAME = re.compile(r"[A-Za-z0-9_-]{1,48}")


class Place(NamedTuple):
    """The address of an index."""

    url: str  # for the client of the server, without the name of the index; it may hold a password
    name: str
    shown: str  # for messages: without user and password

    def __repr__(self) -> str:
        return f"Place({self.shown!r})"


def place_of(where: str) -> Place:
    """Read an address: that of a database, with the name of the index as ``?index=NAME``. Raises UsageError for one that is not clear."""
    scheme, _, rest = where.partition("://")
    authority = re.split("[/?#]", rest, maxsplit=1)[0]
    if rest.count("@") > authority.count("@") or authority.count("@") > 1 or "#" in rest:
        raise UsageError(f"an address {scheme}://... of an index: write @ as %40, / as %2F, ? as %3F and # as %23 in names and passwords")
    path, _, query = rest[len(authority) :].partition("?")
    fields = query.split("&") if query else []
    names = [unquote(field.partition("=")[2]) for field in fields if field.startswith("index=")] or [DEFAULT]
    if len(names) > 1 or not NAME.fullmatch(names[0]):
        raise UsageError(f"index={quoted(names[-1])} in the address: the name of an index has 1 to 48 letters A-Z, a-z, digits, - and _")
    others = "&".join(field for field in fields if not field.startswith("index="))
    host = authority.rpartition("@")[2]
    return Place(f"{scheme}://{authority}{path}" + (others and f"?{others}"), names[0], f"{scheme}://{host}{path}?index={names[0]}")


class Sent(NamedTuple):
    """The items of a change as a server gets them: no two with the same id, unless that is refused."""

    change: Change
    items: Items
    places: np.ndarray  # int64[n]: theirs in the change
    twice: list[int]  # places of items whose id an earlier one has

    @classmethod
    def of(cls, change: Change) -> Sent:
        first, last = change.items.occurrences()
        if change.existing not in ("skip", "replace"):
            return cls(change, change.items, np.arange(len(first)), np.flatnonzero(~first).tolist())
        which = first if change.existing == "skip" else last
        return cls(change, change.items.at(which), np.flatnonzero(which), [])

    def numbers(self, given: Sequence[int] | np.ndarray) -> np.ndarray:
        """The numbers of the items of the change, int64[n], by those that the server gave; none if it wrote nothing."""
        count = len(self.change.items)
        if not len(given):
            return np.full(count, -1, np.int64)
        if self.change.existing == "replace":  # items that others of the change replaced have numbers too
            return np.arange(count) + given[0] - self.places[0]
        numbers = np.full(count, -1, np.int64)
        numbers[self.places] = given
        return numbers


def check_ready(shown: str, number: Any, wanted: Any, *, loading: bool) -> None:
    """Raises FormatError for an index of another format, and for one whose bulk load has not ended."""
    if loading:
        again = f"load it again with {option('overwrite', True)}"
        raise FormatError(f"{shown} is not an index yet: its bulk load goes on, or was interrupted; if it was, {again}")
    if number != wanted:
        raise FormatError(f"{shown} has the format {number}, and this version of likewise reads {wanted}; use the version that made it")


def backup(store: Store, path: Path) -> None:
    """Write the items of a store as an index in a new folder; they get new numbers."""
    copy, _ = embedded.build(path, store.settings, (items for _, items in store.view().scan()))
    copy.close()


#: Bytes of the copy hash: the second word has 32 bits.
COPY_BYTES = 12


def banded(keys: np.ndarray) -> np.ndarray:
    """Keys that differ between bands, int64[n, bands]: the band stands above the 48 bits of a key."""
    return (keys | np.arange(keys.shape[1], dtype=np.uint64) << np.uint64(KEY_BITS)).astype(np.int64)


def unbanded(keys: np.ndarray) -> np.ndarray:
    """The keys of `banded`."""
    return keys.astype(np.uint64) & np.uint64((1 << KEY_BITS) - 1)


def copy_bytes(copy: np.ndarray) -> np.ndarray:
    """The copy hashes of items as bytes, uint8[n, 12]."""
    return np.ascontiguousarray(copy, "<u8").view(np.uint8).reshape(len(copy), 16)[:, :COPY_BYTES]


def copies_of(raw: Sequence[bytes]) -> np.ndarray:
    """The copy hashes from their bytes, uint64[n, 2]."""
    found = np.zeros((len(raw), 16), np.uint8)
    found[:, :COPY_BYTES] = np.frombuffer(b"".join(raw), np.uint8).reshape(len(raw), COPY_BYTES)
    return found.view("<u8").astype(np.uint64)


def slots_of(raw: Sequence[bytes]) -> np.ndarray:
    """The shortened signatures of some items, uint8[n, slots]."""
    return np.frombuffer(b"".join(raw), np.uint8).reshape(len(raw), -1 if raw and raw[0] else 0)


class Words:
    """Words of items as bytes, of which the upper ones are kept. settings: those of an index (`settings.Settings`)."""

    def __init__(self, settings: dict[str, Any]):
        self.bytes = settings["bits"] // 8 if settings.get("sets") == "compact" else 8

    def packed(self, items: Items) -> list[bytes]:
        """The words of each item."""
        if not len(items.words):
            return [b""] * len(items)
        upper = np.ascontiguousarray(items.words, "<u8").view(np.uint8).reshape(-1, 8)[:, 8 - self.bytes :].tobytes()
        ends = (np.cumsum(items.size, dtype=np.int64) * self.bytes).tolist()
        return [upper[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]

    def contents(self, found: Sequence[Any]) -> Contents:
        """Contents of which a server sent copy, size, words and slots."""
        copy, size = copies_of([one.copy for one in found]), np.array([one.size for one in found], np.uint32)
        return Contents(copy, size, self.unpacked([one.words for one in found]), slots_of([one.slots for one in found]))

    def unpacked(self, raw: Sequence[bytes]) -> np.ndarray:
        """The words of items, one item after the other, uint64[m]."""
        kept = np.frombuffer(b"".join(raw), np.uint8).reshape(-1, self.bytes)
        found = np.zeros((len(kept), 8), np.uint8)
        found[:, 8 - self.bytes :] = kept
        return found.view("<u8").astype(np.uint64).reshape(-1)
