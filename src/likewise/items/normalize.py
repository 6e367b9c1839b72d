"""The normalisation steps on a Python string: what each means, and the way for texts that the kernel hands back."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection
from functools import cache

from likewise.items import unicode
from likewise.items.scripts import ACCENTS
from likewise.items.unicode_data import UNICODE_VERSION
from likewise.methods import STEPS

LINE_END = re.compile("\r\n|\r|\n")


@cache
def _characters(name: str) -> re.Pattern[str]:
    """A run of characters of one kind; compiled when a text first needs it."""
    members = {
        "unknown": lambda: unicode.of_category("Cn"),
        "accents": lambda: unicode.within(ACCENTS),
        "marks": unicode.vowel_marks,
        "invisible": unicode.invisible,
        "punct": lambda: unicode.of_category("P"),
        "digits": lambda: unicode.of_category("Nd"),
        "space": unicode.white_space,
    }[name]()
    return re.compile(f"{unicode.pattern(members)}+")


def _pinned(change: Callable[[str], str], text: str) -> str:
    """Apply a change that Python's own tables define. A newer Unicode never changes what it does to characters that ours
    knows, so it is enough to leave out the others; they take no part in any composition or case rule of ours."""
    if unicodedata.unidata_version == UNICODE_VERSION or text.isascii():
        return change(text)
    unknown = _characters("unknown")
    parts = unknown.split(text)
    return "".join(change(part) + kept for part, kept in zip(parts, [*unknown.findall(text), ""], strict=True))


def _form(name: str) -> Callable[[str], str]:
    return lambda text: _pinned(lambda part: unicodedata.normalize(name, part), text)


def _without(name: str) -> Callable[[str], str]:
    return lambda text: _characters(name).sub("", text)


def _accents(text: str) -> str:
    """Decompose, take off the marks of Latin, Greek and Cyrillic, compose again."""
    return _form("NFC")(_without("accents")(_form("NFD")(text)))


def _space(text: str) -> str:
    """Runs of white space become one space; none at the ends."""
    return _characters("space").sub(" ", text).strip(" ")


def _space_in_lines(text: str) -> str:
    """The same within each line; line ends become \\n."""
    return "\n".join(_space(line) for line in LINE_END.split(text))


CHANGES: dict[str, Callable[[str], str]] = {
    "nfc": _form("NFC"),
    "nfkc": _form("NFKC"),
    "lower": lambda text: _pinned(str.lower, text),
    "fold": lambda text: _pinned(str.casefold, text),
    "accents": _accents,
    "marks": _without("marks"),
    "invisible": _without("invisible"),
    "punct": _without("punct"),
    "digits": lambda text: _characters("digits").sub("0", text),
    "space": _space,
}


def normalize(text: str, steps: Collection[str], *, in_lines: bool = False) -> str:
    """Apply the steps in their fixed order. ``in_lines``: ``space`` leaves line ends standing (units lines and paragraphs).

    >>> normalize("Stra\\u00dfe\\u200b  ΟΔΟΣ", ("lower", "invisible", "space"))
    'straße οδος'
    """
    for step in STEPS:
        if step in steps:
            text = _space_in_lines(text) if step == "space" and in_lines else CHANGES[step](text)
    return text
