"""Write src/likewise/items/unicode_data.py from the Unicode tables of the Python that runs this.

    python tools/make_unicode_data.py

The tables are kept so that results do not depend on the Python version. A newer version of Unicode changes tokens and so fingerprints: run this only
together with a new hash scheme id.
"""

from __future__ import annotations

import base64
import sys
import textwrap
import unicodedata
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from likewise.items.scripts import ACCENTS  # noqa: E402

CODES = range(0x110000)
CATEGORIES = sorted({unicodedata.category(chr(code)) for code in CODES})
EITHER = "either"  # stands for a change that depends on the neighbors
MANY, NONE = -1, -2  # targets: several characters, or dependent on the neighbors; nothing

HEADER = '''"""Unicode {version}, packed by tools/make_unicode_data.py; read by items/unicode.py. Do not edit."""

from __future__ import annotations

UNICODE_VERSION = "{version}"
CATEGORIES = "{categories}"
TABLES = {{
'''


def pack(*columns: np.ndarray) -> str:
    """Pack columns of small numbers: int32, byte planes (equal bytes side by side), deflated, base64."""
    planes = np.stack(columns).astype("<i4").view(np.uint8).reshape(-1, 4).T
    return base64.b64encode(zlib.compress(np.ascontiguousarray(planes).tobytes(), 9)).decode()


def runs(values: list[int]) -> str:
    """Pack a value for each code point as the places where it changes (differences), and the new values."""
    every = np.array(values)
    starts = np.flatnonzero(np.diff(every, prepend=-1))
    return pack(np.diff(starts, prepend=0), every[starts])


def mapping(change: Callable[[str], str]) -> str:
    """Pack a function of characters as the code points that it changes, and the code point that each becomes (differences both)."""
    pairs = []
    for code in CODES:
        target = change(chr(code))
        if target != chr(code):
            pairs.append((code, ord(target) if len(target) == 1 else MANY if target else NONE))
    return pack(*np.diff(np.array(pairs).T, prepend=0))


def is_accent(char: str) -> bool:
    """True for a mark that the step `accents` removes."""
    return any(low <= ord(char) <= high for low, high in ACCENTS)


def lower(char: str) -> str:
    """The lower case of a character; EITHER for Σ."""
    return EITHER if char == "Σ" else char.lower()  # σ or, at the end of a word, ς


def without_accents(text: str) -> str:
    """A character without its accents; EITHER if the result depends on its neighbors."""
    if is_accent(text) and unicodedata.combining(text) == 0:
        return EITHER  # it separated the marks on both sides, which are then put into order
    bare = (char for char in unicodedata.normalize("NFD", text) if not is_accent(char))
    return unicodedata.normalize("NFC", "".join(bare))


def composition() -> list[int]:
    """Flags of each code point. 1: may compose with a mark after it, or come apart for one. 2: may compose with a character before it
    (NFC_Quick_Check=Maybe). 4: NFC changes it as NFKC does. 8: NFC changes it to something else.
    """
    flags = [0] * len(CODES)
    for code in CODES:
        parts = unicodedata.normalize("NFD", chr(code))
        composed = unicodedata.normalize("NFC", chr(code))
        if composed != chr(code):
            flags[code] |= 4 if composed == unicodedata.normalize("NFKC", chr(code)) else 8
        if len(parts) > 1:
            flags[code] |= 1  # é and a dot below become ẹ and an acute
        if len(parts) > 1 and composed == chr(code):  # a composition that NFC makes
            flags[ord(unicodedata.normalize("NFC", parts[:-1]))] |= 1
            flags[ord(parts[-1])] |= 2
    return flags


def case() -> list[int]:
    """Flags of each code point, by the rule for the sigma at the end of a word. 1: a cased letter. 2: ignored next to one."""
    cased = [f"{chr(code)}Σ".lower().endswith("ς") for code in CODES]
    either = [f"A{chr(code)}Σ".lower().endswith("ς") for code in CODES]
    return [1 if one else 2 * two for one, two in zip(cased, either, strict=True)]


def main() -> None:
    """Write the module."""
    tables = {
        "category": runs([CATEGORIES.index(unicodedata.category(chr(code))) for code in CODES]),
        "combining": runs([unicodedata.combining(chr(code)) for code in CODES]),
        "composition": runs(composition()),
        "case": runs(case()),
        "nfkc": mapping(lambda text: unicodedata.normalize("NFKC", text)),
        "lower": mapping(lower),
        "fold": mapping(str.casefold),
        "accents": mapping(without_accents),
    }
    text = HEADER.format(version=unicodedata.unidata_version, categories=" ".join(CATEGORIES))
    for name, packed in tables.items():
        text += f'    "{name}": (\n' + "".join(f'        "{line}"\n' for line in textwrap.wrap(packed, 138)) + "    ),\n"
    text += "}\n"
    path = ROOT / "src" / "likewise" / "items" / "unicode_data.py"
    path.write_text(text, encoding="ascii")
    print(f"{path}: Unicode {unicodedata.unidata_version}, {len(text):,} bytes")


if __name__ == "__main__":
    main()
