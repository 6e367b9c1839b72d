"""The tokens of one text as strings, equal to those that kernels hash, found by regular expressions. For display, and for tests."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from likewise.items import tables, unicode
from likewise.items.normalize import LINE_END, normalize, without
from likewise.kernels import tokens
from likewise.methods import Text

IN_LINES = {"lines", "paragraphs"}  # the step `space` keeps line ends for these

#: A letter for each class of characters; code also distinguishes digits and the point, for numbers.
LETTERS = {tokens.OTHER: "o", tokens.LETTER: "l", tokens.ALONE: "a", tokens.MARK: "m", tokens.INVISIBLE: "i"}
WORD = re.compile("am*|[lm]+")
CODE = re.compile(r"d(?:[ldm]|\.(?=d))*|[ldm]+|[a.]m*")
LITERAL = re.compile("|".join(rf"{quote}(?:[^{quote}\\\r\n]|\\[^\r\n]|\\(?=[\r\n]))*{quote}" for quote in "\"'`"))


def token_texts(text: str, method: Text) -> list[str]:
    """The tokens of a text under a method, in order. Not for the unit ``tokens``, whose items have no text.

    >>> from likewise import methods
    >>> token_texts("A rose, is a\\u00a0ROSE: 5€", methods.parse("words"))
    ['a', 'rose', 'is', 'a', 'rose', '5', '€']
    """
    normal = normalize(text, method.normalize, in_lines=method.unit in IN_LINES)
    return CUTS[method.unit](normal) if method.signs or method.unit != "words" else _words(normal, signs=False)


def _kinds(text: str, unit: str, signs: bool = True) -> str:
    """The letter of each character's class for a unit."""
    classes = tables.classes(unit, signs)[np.array([ord(char) for char in text], np.int64)]
    return "".join(LETTERS[kind] for kind in classes.tolist())


def _words(text: str, signs: bool = True) -> list[str]:
    """Runs of letters and marks, and characters that are words of their own."""
    visible = without(unicode.invisible)(text)
    return [visible[slice(*found.span())] for found in WORD.finditer(_kinds(visible, "words", signs))]


def _code(text: str) -> list[str]:
    """String literals, identifiers, numbers and operators."""
    visible = without(unicode.invisible)(text)
    each = zip(visible, _kinds(visible, "code"), strict=True)
    kinds = "".join("d" if char in "0123456789" else "." if char == "." else kind for char, kind in each)
    found, at = [], 0
    while at < len(visible):
        if match := LITERAL.match(visible, at) or CODE.match(kinds, at):
            found.append(visible[slice(*match.span())])
        at = match.end() if match else at + 1
    return found


def _lines(text: str) -> list[str]:
    """Lines that are not blank."""
    return [line for line in LINE_END.split(text) if line.strip()]


def _paragraphs(text: str) -> list[str]:
    """Blocks of lines that are not blank."""
    found: list[str] = []
    begin, joined = 0, False  # begin of the paragraph; True if the previous line is part of it
    for line in re.finditer("(.*?)(?:\r\n|\r|\n|\\Z)", text, re.DOTALL):
        if not line[1].strip():
            joined = False
        elif joined:
            found[-1] = text[begin : line.end(1)]
        else:
            begin, joined = line.start(), True
            found.append(line[1])
    return found


CUTS: dict[str, Callable[[str], list[str]]] = {
    "words": _words,
    "stopwords": _words,
    "whitespace": str.split,
    "chars": list,
    "bytes": lambda text: [f"{byte:02x}" for byte in text.encode("utf-8", "surrogatepass")],
    "lines": _lines,
    "paragraphs": _paragraphs,
    "code": _code,
}
