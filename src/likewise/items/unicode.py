"""Character properties of the Unicode version pinned by unicode_data: arrays over all code points.

Results must not depend on the Python version, so nothing here uses the running Python's tables.
"""

from __future__ import annotations

import base64
import zlib
from functools import cache

import numpy as np

from likewise.items import scripts
from likewise.items.scripts import Ranges
from likewise.items.unicode_data import CATEGORIES, TABLES

SIZE = 0x110000
#: Targets of ``mapping`` that are not one character: several, or dependent on the neighbors; and removed.
MANY, NONE = -1, -2


def _columns(name: str) -> np.ndarray:
    """The two columns, int32[2, n], of a packed table."""
    planes = np.frombuffer(zlib.decompress(base64.b64decode(TABLES[name])), np.uint8)
    return np.ascontiguousarray(planes.reshape(4, -1).T).view("<i4").reshape(2, -1)


@cache
def values(name: str) -> np.ndarray:
    """A property of each character, uint8[SIZE].

    ``combining``: the combining class. ``composition``, flags: 1 may compose with a character after it, 2 with one before it, 4 NFC changes it as
    NFKC does, 8 NFC changes it to something else. ``case``, flags: 1 a cased letter, 2 ignored next to one.
    """
    sizes, each = _runs(name)
    return np.repeat(each.astype(np.uint8), sizes)


@cache
def _runs(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The length of each run of equal values, and its value."""
    steps, each = _columns(name)
    return np.diff(np.cumsum(steps), append=SIZE), each


def mapping(name: str) -> np.ndarray:
    """The character that ``nfc``, ``nfkc``, ``lower``, ``fold`` or ``accents`` makes of each character in isolation: int32[SIZE]; or MANY or NONE."""
    targets = np.arange(SIZE, dtype=np.int32)
    if name == "nfc":
        composition = values("composition")
        as_nfkc = composition & 4 != 0
        targets[as_nfkc] = mapping("nfkc")[as_nfkc]
        targets[composition & 8 != 0] = MANY
    else:
        sources, changed = np.cumsum(_columns(name), axis=1)
        targets[sources] = changed
    return targets


def within(ranges: Ranges) -> np.ndarray:
    """The characters of these ranges: bool[SIZE]."""
    members = np.zeros(SIZE, bool)
    for low, high in ranges:
        members[low : high + 1] = True
    return members


def of_category(*names: str) -> np.ndarray:
    """The characters of these general categories: bool[SIZE]. One letter stands for all categories that begin with it."""
    sizes, category = _runs("category")
    return np.repeat(np.array([name.startswith(names) for name in CATEGORIES.split()])[category], sizes)


def unassigned() -> np.ndarray:
    """Characters that the pinned version does not assign: bool[SIZE]."""
    return of_category("Cn")


def punctuation() -> np.ndarray:
    """Punctuation: bool[SIZE]."""
    return of_category("P")


def digits() -> np.ndarray:
    """Decimal digits: bool[SIZE]."""
    return of_category("Nd")


def white_space() -> np.ndarray:
    """The separators of str.split(), equal in every version of Python: bool[SIZE]."""
    return of_category("Z") | within(scripts.CONTROL_SPACES)


def invisible() -> np.ndarray:
    """Format characters (zero-width, soft hyphen, bidi marks) and variation selectors: bool[SIZE]."""
    return of_category("Cf") | within(scripts.VARIATION_SELECTORS)


def accents() -> np.ndarray:
    """The marks that `accents` removes, of Latin, Greek and Cyrillic: bool[SIZE]."""
    return within(scripts.ACCENTS)


def vowel_marks() -> np.ndarray:
    """The vowel marks of Arabic and Hebrew, and the tatweel: bool[SIZE]."""
    return of_category("Mn") & within(scripts.VOWEL_MARKS) | within(((scripts.TATWEEL, scripts.TATWEEL),))


def pattern(members: np.ndarray) -> str:
    """The character class of ``re`` for bool[SIZE]."""
    edges = np.flatnonzero(np.diff(members, prepend=False, append=False)).reshape(-1, 2)
    return "[" + "".join(f"\\U{low:08x}-\\U{after - 1:08x}" for low, after in edges.tolist()) + "]"
