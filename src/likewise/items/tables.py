"""Character tables of the text kernels, computed from the pinned Unicode data and a list of steps."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache, lru_cache

import numpy as np

from likewise.items import scripts, unicode
from likewise.items.unicode import MANY, NONE, SIZE
from likewise.kernels import text, tokens
from likewise.methods import STEPS

DELETIONS = {"marks": unicode.vowel_marks, "invisible": unicode.invisible, "punct": unicode.punctuation}
FORMS = {"nfc", "nfkc"}
SIGMA, DOTTED_I = ord("Σ"), ord("İ")

#: Characters that a step may change. The rest, most of the code space, is left out of the computation.
TOUCHED = np.concatenate([np.arange(low, high, dtype=np.int32) for low, high in ((0, 0x20000), (0x2F800, 0x2FA20), (0xE0000, 0xE0200))])


@lru_cache(maxsize=16)
def normalization(steps: tuple[str, ...], in_lines: bool = False) -> tuple[np.ndarray, int]:
    """The table of kernels.text for these steps, uint32[SIZE], and its flags COPY to LOWERED. Read-only, because it is cached: it takes some 10 ms.

    The result for each character is computed step by step. That suffices for a character that does not depend on its neighbors; if it may, the entry
    is HARD, rather too often than too rarely.
    """
    target = TOUCHED.copy()
    flags = np.zeros(len(target), np.uint32)
    if {"nfc", "nfkc", "accents"} & set(steps):
        joins = unicode.values("composition")[TOUCHED]
        flags[unicode.values("combining")[TOUCHED] != 0] |= text.MARK
        flags[joins & 1 != 0] |= text.JOINS_ON
        flags[joins & 2 != 0] |= text.MARK | text.JOINS_BACK
    for step in STEPS:
        if step not in steps:
            continue
        if step in DELETIONS:
            target[members(DELETIONS[step], target)] = NONE
        elif step == "digits":
            digit = members(unicode.digits, target)
            target[digit] = ord("0")
            flags[digit] |= text.DIGIT
        elif step == "space":
            flags[members(unicode.white_space, target)] |= text.SPACE
            if in_lines:
                flags[[text.NEWLINE, text.RETURN]] ^= text.SPACE | text.LINE_END
        else:
            change = unicode.mapping(step)
            if step in FORMS:
                changed = change[TOUCHED] != TOUCHED
                flags[changed] |= text.JOINS_ON
                change[TOUCHED[changed & involves_marks(change)]] = MANY
            target = np.where(target >= 0, change[target], target)
    if "lower" in steps and "nfkc" not in steps:  # the kernel checks the neighbors in the raw text
        cases = unicode.values("case")[TOUCHED]
        flags[cases & 1 != 0] |= text.CASED
        flags[cases & 2 != 0] |= text.IGNORED
        flags[SIGMA] |= text.CASE
        target[SIGMA] = SIGMA
        flags[DOTTED_I] |= 0 if "accents" in steps else text.CASE
        target[DOTTED_I] = ord("i")
    flags[target == MANY] |= text.HARD
    flags[target == NONE] |= text.DROP
    table = np.arange(SIZE, dtype=np.uint32)
    table[TOUCHED] = np.maximum(target, 0).astype(np.uint32) | flags
    return table, manner(steps, in_lines, target[:128], flags[:128])


def members(characters: Callable[[], np.ndarray], target: np.ndarray) -> np.ndarray:
    """bool[n]: the targets that are such characters; False for MANY and NONE."""
    return characters()[target] & (target >= 0)


def involves_marks(form: np.ndarray) -> np.ndarray:
    """bool[n]: the TOUCHED characters that are marks or become one; their form depends on the characters before them."""
    mark = (unicode.values("combining") != 0) | (unicode.values("composition") & 2 != 0)
    return mark[TOUCHED] | mark[form[TOUCHED]]


def manner(steps: Collection[str], in_lines: bool, target: np.ndarray, flags: np.ndarray) -> int:
    """The flags of kernels.text for these steps, including how they treat ASCII."""
    if not steps:
        return text.COPY
    merged = text.MERGED if "space" in steps else 0
    lines = text.LINES if in_lines else 0
    if (flags & (text.HARD | text.DROP | text.DIGIT)).any():
        return merged | lines
    return merged | lines | text.BLOCKS | (text.LOWERED if target[ord("A")] == ord("a") else 0)


@cache
def classes(unit: str, signs: bool = True) -> np.ndarray:
    """The class of each character for the tokenizer of a unit: uint8[SIZE] (kernels.tokens). signs: see `methods.Text`."""
    if unit not in ("words", "stopwords", "code"):
        return np.where(unicode.white_space(), tokens.OTHER, tokens.LETTER).astype(np.uint8)
    # Unassigned characters are letters, pictographs in their block, Han in theirs: a new script must not make items empty.
    letter = unicode.of_category("L", "N", "Cn")
    pictograph = unicode.of_category("Cn") & unicode.within(scripts.PICTOGRAPHS)
    kinds = np.full(SIZE, tokens.OTHER, np.uint8)
    kinds[letter] = tokens.LETTER
    kinds[letter & unicode.within(scripts.WITHOUT_SPACES) | pictograph | unicode.of_category("S", "Co", "Cs")] = tokens.ALONE
    if unit == "words" and not signs:
        kinds[unicode.of_category("Sm", "Sc", "Sk")] = tokens.OTHER
    kinds[unicode.of_category("M")] = tokens.MARK
    if unit == "code":
        kinds[unicode.punctuation()] = tokens.ALONE
    kinds[ord("_")] = tokens.LETTER
    kinds[unicode.invisible()] = tokens.INVISIBLE
    return kinds
