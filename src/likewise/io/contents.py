"""Digests of the contents of sources, which do not depend on how a source is cut into chunks.

The digest is a polynomial modulo 2^64, computed twice with different bases (two lanes). Its coefficients are words of the rows, so it depends on the
order of rows. The digest of two consecutive parts is that of the first part, plus that of the second part multiplied by a power of the base. The
digest detects accidental changes, not deliberate ones: inputs with equal digests can be constructed.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np
import xxhash

from likewise.items.words import Hasher
from likewise.records import Records

#: The bases of the two lanes, which are odd, and the factor of words in the second lane.
BASES, SECOND = (0x9E37_79B9_7F4A_7C15, 0xD6E8_FEB8_6659_FD93), np.uint64(0xFF51_AFD7_ED55_8CCD)
LIMIT = 1 << 64


@cache
def hasher() -> Hasher:
    """The hasher of rows, the same for every seed of a run. It is not made at import, because it may compile a kernel."""
    return Hasher(0)


def words(records: Records) -> np.ndarray:
    """A word for each row, from its kind and its text, or from its digests if it comes from an index: uint64[n]."""
    found = hasher().strings(records.text)
    if records.sketched is not None:
        copy = records.sketched["copy"]
        found = found + copy[:, 0] * SECOND + copy[:, 1]
    return found + (records.kind + np.uint64(1)) * np.uint64(BASES[0])


def digest(rows: np.ndarray) -> bytes:
    """The digest of the words of rows: 16 bytes."""
    return b"".join(lane(values, base).to_bytes(8, "little") for values, base in zip((rows, second(rows)), BASES, strict=True))


def second(rows: np.ndarray) -> np.ndarray:
    """The words for the second lane."""
    return (rows ^ rows >> np.uint64(29)) * SECOND


def lane(rows: np.ndarray, base: int) -> int:
    """The sum of the words, the i-th one multiplied by base^i, modulo 2^64."""
    powers = np.full(len(rows), base, np.uint64)
    powers[:1] = 1
    return int((rows * np.multiply.accumulate(powers)).sum(dtype=np.uint64)) if len(rows) else 0


def joined(parts: Iterable[tuple[bytes, int]]) -> str:
    """The digest of a source in hexadecimal, from those of consecutive parts and their numbers of rows."""
    lanes, count = [0, 0], 0
    for part, rows in parts:
        for number, base in enumerate(BASES):
            value = int.from_bytes(part[8 * number : 8 * number + 8], "little")
            lanes[number] = (lanes[number] + value * pow(base, count, LIMIT)) % LIMIT
        count += rows
    return xxhash.xxh3_128_hexdigest(b"".join(each.to_bytes(8, "little") for each in (*lanes, count)))
