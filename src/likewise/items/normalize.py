"""The normalization steps on a Python string: their definition, and the path for texts that the kernel does not handle."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection
from functools import cache
from typing import Literal

import numpy as np

from likewise.items import masks, unicode
from likewise.items.unicode_data import UNICODE_VERSION
from likewise.methods import STEPS

LINE_END = re.compile("\r\n|\r|\n")


@cache
def members(characters: Callable[[], np.ndarray]) -> np.ndarray:
    """The characters as bool[SIZE], computed once."""
    return characters()


@cache
def _run(characters: Callable[[], np.ndarray]) -> re.Pattern[str]:
    """A pattern for a run of such characters; compiled when a text first needs it."""
    return re.compile(f"{unicode.pattern(characters())}+")


def _pinned(change: Callable[[str], str], text: str) -> str:
    """Apply a change that Python's own tables define, except to characters that the pinned Unicode version does not know.

    A newer Unicode never changes the result for characters of ours, and unknown ones take part in no composition or case rule of ours.
    """
    if unicodedata.unidata_version == UNICODE_VERSION or text.isascii():
        return change(text)
    unknown = _run(unicode.unassigned)
    parts = unknown.split(text)
    return "".join(change(part) + kept for part, kept in zip(parts, [*unknown.findall(text), ""], strict=True))


def _form(name: Literal["NFC", "NFD", "NFKC"]) -> Callable[[str], str]:
    """A function that applies a Unicode normal form, except to characters that the pinned version does not know."""
    return lambda text: _pinned(lambda part: unicodedata.normalize(name, part), text)


def without(characters: Callable[[], np.ndarray]) -> Callable[[str], str]:
    """A function that removes such characters from a string."""

    def change(text: str) -> str:
        """Remove the characters by array: a regular expression takes ten times as long."""
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
        return codes[~members(characters)[codes]].tobytes().decode("utf-32-le", "surrogatepass")

    return change


_without_accents = without(unicode.accents)


def _accents(text: str) -> str:
    """Decompose, remove the marks of Latin, Greek and Cyrillic, compose again."""
    return _form("NFC")(_without_accents(_form("NFD")(text)))


def _space(text: str) -> str:
    """Replace runs of white space by one space, and remove it at both ends."""
    return " ".join(text.split())


def space_in_lines(text: str) -> str:
    """Apply `_space` within each line; line ends become \\n."""
    return "\n".join(_space(line) for line in LINE_END.split(text))


#: The steps after the masks, each of which changes characters.
CHANGES: dict[str, Callable[[str], str]] = {
    "nfc": _form("NFC"),
    "nfkc": _form("NFKC"),
    "lower": lambda text: _pinned(str.lower, text),
    "fold": lambda text: _pinned(str.casefold, text),
    "accents": _accents,
    "marks": without(unicode.vowel_marks),
    "invisible": without(unicode.invisible),
    "punct": without(unicode.punctuation),
    "digits": lambda text: _run(unicode.digits).sub("0", text),
    "space": _space,
}


def normalize(text: str, steps: Collection[str], *, in_lines: bool = False) -> str:
    """Apply the steps in their fixed order. With ``in_lines``, ``space`` keeps line ends (units lines and paragraphs).

    >>> normalize("Stra\\u00dfe\\u200b  ΟΔΟΣ", ("lower", "invisible", "space"))
    'straße οδος'
    """
    text = masks.masked(text, steps)
    for step in STEPS:
        if step in steps and step in CHANGES:
            text = space_in_lines(text) if step == "space" and in_lines else CHANGES[step](text)
    return text
