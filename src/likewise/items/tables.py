"""The tables that the text kernels look characters up in, made from the pinned Unicode data and a list of steps."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

import numpy as np

from likewise.items import scripts, unicode
from likewise.items.unicode import MANY, NONE, SIZE
from likewise.kernels import text, tokens
from likewise.methods import STEPS

DELETIONS = {"marks": unicode.vowel_marks, "invisible": unicode.invisible, "punct": lambda: unicode.of_category("P")}
FORMS = {"nfc", "nfkc"}


def normalisation(steps: Collection[str], in_lines: bool = False) -> tuple[np.ndarray, int]:
    """The table of kernels.text for these steps, and how ASCII can be done.

    What each character becomes is followed from step to step. That is enough where a character does not depend on its
    neighbours; where it may, the entry says so, rather too often than not often enough.
    """
    target = np.arange(SIZE, dtype=np.int32)
    flags = np.zeros(SIZE, np.uint32)
    if {"nfc", "nfkc", "accents"} & set(steps):
        joins = unicode.values("composition")
        flags[unicode.values("combining") != 0] |= text.MARK
        flags[joins & 1 != 0] |= text.JOINS_ON
        flags[joins & 2 != 0] |= text.MARK | text.JOINS_BACK
    for step in STEPS:
        if step not in steps:
            continue
        alive = np.flatnonzero(target >= 0)
        if step in DELETIONS:
            target[alive[DELETIONS[step]()[target[alive]]]] = NONE
        elif step == "digits":
            digit = alive[unicode.of_category("Nd")[target[alive]]]
            target[digit] = ord("0")
            flags[digit] |= text.DIGIT
        elif step == "space":
            space = alive[unicode.white_space()[target[alive]]]
            flags[space] |= text.SPACE
            if in_lines:
                flags[[text.NEWLINE, text.RETURN]] ^= text.SPACE | text.LINE_END
        else:
            change = unicode.mapping(step)
            if step in FORMS:  # where the form is a mark, or begins with one, it may meet a mark or a starter before it
                changed = change != np.arange(SIZE)
                meets = (flags & text.MARK != 0)[np.maximum(change, 0)] | (flags & text.MARK != 0)
                change[changed & meets] = MANY
                flags[changed] |= text.JOINS_ON
            target[alive] = change[target[alive]]
    target[(target >= 0) & (_bytes(target) > _bytes(np.arange(SIZE)))] = MANY  # the kernel counts on texts that do not grow
    flags[target == MANY] |= text.HARD
    flags[target == NONE] |= text.DROP
    return np.maximum(target, 0).astype(np.uint32) | flags, _ascii(target[:128], flags[:128], steps, in_lines)


def _bytes(codes: np.ndarray) -> np.ndarray:
    """Bytes of each code point in UTF-8."""
    return np.searchsorted([0x80, 0x800, 0x10000], codes, side="right")


def _ascii(target: np.ndarray, flags: np.ndarray, steps: Collection[str], in_lines: bool) -> int:
    if not steps:
        return text.COPY
    if (flags & (text.HARD | text.DROP | text.DIGIT)).any():
        return 0
    lowered = text.LOWERED if target[ord("A")] == ord("a") else 0
    merged = text.MERGED if "space" in steps else 0
    return text.BLOCKS | lowered | merged | (text.LINES if in_lines else 0)


@cache
def classes(unit: str) -> np.ndarray:
    """uint8[SIZE]: what a character is to the tokeniser of a unit (kernels.tokens)."""
    if unit not in ("words", "stopwords", "code"):
        return np.where(unicode.white_space(), tokens.OTHER, tokens.LETTER).astype(np.uint8)
    # What Unicode does not know yet is a letter, among pictures a picture, among Han a Han: a new script must not make items empty.
    letter = unicode.of_category("L", "N", "Cn")
    picture = unicode.of_category("Cn") & unicode.within(scripts.PICTURES)
    kinds = np.full(SIZE, tokens.OTHER, np.uint8)
    kinds[letter] = tokens.LETTER
    kinds[letter & unicode.within(scripts.WITHOUT_SPACES) | picture | unicode.of_category("S", "Co", "Cs")] = tokens.ALONE
    kinds[unicode.of_category("M")] = tokens.MARK
    if unit == "code":
        kinds[unicode.of_category("P")] = tokens.ALONE
    kinds[ord("_")] = tokens.LETTER
    kinds[unicode.invisible()] = tokens.INVISIBLE
    return kinds
