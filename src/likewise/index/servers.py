"""The parts that stores on servers share: addresses, binary forms of items, and the rule of overfull buckets for items that a server sent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np

from likewise.errors import UsageError
from likewise.index.store import KEY_BITS, Items, Members
from likewise.messages import quoted
from likewise.stages import candidates

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


def met(numbers: np.ndarray, keys: np.ndarray, copy: np.ndarray, own: np.ndarray, own_copy: np.ndarray) -> Members:
    """The members that queries meet, among contents that include all members of their buckets and all their copies.

    numbers: int64[n], ascending. keys: uint64[n, bands]. copy: uint64[n, 2]. own, own_copy: the same of the queries.
    """
    shared = keys[None] == own[:, None]  # a chunk of queries is small
    mine = shared & (budgeted(keys, shared, own) if (shared.sum(1) >= candidates.BUDGET).any() else True)
    query, place = np.nonzero(mine.any(2) | (copy[None] == own_copy[:, None]).all(2))
    return Members(query, numbers[place], (mine != shared).any((1, 2)))


def budgeted(keys: np.ndarray, shared: np.ndarray, own: np.ndarray) -> np.ndarray:
    """The members of buckets that the rule of overfull buckets lets a query meet: bool[queries, n, bands], as ``shared``."""
    bands = keys.shape[1]
    found = shared.copy()
    for query, band in zip(*np.nonzero(shared.sum(1) >= candidates.BUDGET), strict=True):
        bucket = np.flatnonzero(shared[query, :, band])
        next_bands = [(band + 1 + level) % bands for level in range(min(candidates.FINER, bands - 1))]
        found[query, bucket, band] = first_met(keys[bucket][:, next_bands].T, own[query, next_bands])
    return found


def first_met(finer: np.ndarray, own: np.ndarray) -> np.ndarray:
    """The members of one bucket, in order of arrival, that a query meets (`stages.candidates`): bool[n].

    finer: uint64[levels, n], the keys of the members in the next bands. own: uint64[levels], those of the query.
    """
    n = finer.shape[1]
    if n < candidates.BUDGET or not len(finer):
        return np.arange(n) < candidates.BUDGET
    found = np.zeros(n, bool)
    found[np.sort(np.unique(finer[0], return_index=True)[1])[: candidates.BUDGET]] = True
    part = np.flatnonzero(finer[0] == own[0])
    found[part] |= first_met(finer[1:, part], own[1:])
    return found


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

    def unpacked(self, raw: Sequence[bytes]) -> np.ndarray:
        """The words of items, one item after the other, uint64[m]."""
        kept = np.frombuffer(b"".join(raw), np.uint8).reshape(-1, self.bytes)
        found = np.zeros((len(kept), 8), np.uint8)
        found[:, 8 - self.bytes :] = kept
        return found.view("<u8").astype(np.uint64).reshape(-1)
