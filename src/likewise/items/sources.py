"""Where the characters of a normalized text come from, for the few texts that the kernel hands back.

Each step cuts a text into *runs* that it changes one by one. So the text after the step, and the number of characters that each run becomes, say
where a character comes from: from all characters of its run.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np

from likewise.items import unicode
from likewise.items.normalize import CHANGES, members, space_in_lines
from likewise.kernels.places import COPIED
from likewise.methods import STEPS

#: The begin of each run of a text, and the number of characters that it becomes: int64[r], int64[r].
Runs = tuple[np.ndarray, np.ndarray]
Change = Callable[[str], str]
LONGEST = 32  # characters of a run that is cut further; each cut is tried
#: Steps that compose characters -> the form in which no character is composed.
FORMS: dict[str, Literal["NFD", "NFKD"]] = {"nfc": "NFD", "nfkc": "NFKD", "accents": "NFD"}
DELETIONS = {"marks": unicode.vowel_marks, "invisible": unicode.invisible, "punct": unicode.punctuation}


def sources(text: str, steps: tuple[str, ...], *, in_lines: bool) -> tuple[str, np.ndarray, np.ndarray]:
    """`normalize`, and the characters text[begin[i]:end[i]] from which each character comes: int64[m], int64[m]. Not of masks."""
    begin, end = np.arange(len(text)), np.arange(1, len(text) + 1)
    for step in (step for step in STEPS if step in steps):
        starts, numbers = runs(text, step, in_lines)
        begin = np.repeat(begin[starts], numbers)
        end = np.repeat(end[np.append(starts[1:], len(text)) - 1] if len(starts) else end, numbers)
        text = space_in_lines(text) if step == "space" and in_lines else CHANGES[step](text)
    return text, begin, end


def runs(text: str, step: str, in_lines: bool) -> Runs:
    """Cut a text into runs that a step changes one by one."""
    if step in FORMS:
        return of_form(text, CHANGES[step], FORMS[step])
    if step in ("lower", "fold"):
        return np.arange(len(text)), sizes(text, CHANGES[step])
    codes = codes_of(text)
    if step == "digits":
        digit = members(unicode.digits)[codes]
        starts = np.flatnonzero(~(digit & np.append(False, digit[:-1])))
        return starts, np.ones(len(starts), np.int64)
    kept = is_kept(codes, in_lines) if step == "space" else ~members(DELETIONS[step])[codes]
    return np.arange(len(text)), kept.astype(np.int64)


def codes_of(text: str) -> np.ndarray:
    """The code points of a text: uint32[n]."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


def sizes(text: str, change: Change) -> np.ndarray:
    """The number of characters that each character becomes by itself: int64[n]."""
    return of_each(codes_of(text), lambda char: len(change(char)))


def of_each(codes: np.ndarray, function: Callable[[str], int]) -> np.ndarray:
    """A function of each character: int64[n]; 1 of ASCII."""
    found = np.ones(len(codes), np.int64)
    other = np.flatnonzero(codes > 0x7F)
    each, where = np.unique(codes[other], return_inverse=True)
    found[other] = np.array([function(chr(code)) for code in each.tolist()], np.int64)[where]
    return found


def is_kept(codes: np.ndarray, in_lines: bool) -> np.ndarray:
    """bool[n]: not white space that the step ``space`` removes. The first of several in a row stays, except at the ends of the text or of a line."""
    line_end = np.isin(codes, (10, 13)) & in_lines
    blank = members(unicode.white_space)[codes] & ~line_end
    edge = np.concatenate(([True], line_end, [True]))
    starts = np.flatnonzero(blank & ~np.append(False, blank[:-1]))
    ends = np.flatnonzero(blank & ~np.append(blank[1:], False)) + 1
    found = ~blank
    found[starts[~edge[starts] & ~edge[ends + 1]]] = True
    found[1:] &= ~(line_end[1:] & (codes[1:] == 10) & (codes[:-1] == 13))
    return found


def of_form(text: str, change: Change, decomposed: Literal["NFD", "NFKD"]) -> Runs:
    """The runs of a normal form: a character that combines with none before it, and those after it that do; cut further where that is possible."""
    unknown = members(unicode.unassigned)
    follows = (unicode.values("combining") != 0) | (unicode.values("composition") & 2 != 0)
    codes = codes_of(text)
    begins = of_each(codes, lambda char: unknown[ord(char)] or not follows[ord(unicodedata.normalize(decomposed, char)[0])]) == 1
    begins[1:] |= unknown[codes[:-1]]
    begins[:1] = True
    numbers = sizes(text, change)
    starts = np.flatnonzero(begins)
    ends = np.append(starts[1:], len(text))
    several = ends - starts > 1
    for low, high in zip(starts[several].tolist(), ends[several].tolist(), strict=True):
        for at, number in parted(text[low:high], change):
            begins[low + at], numbers[low + at] = True, number
    starts = np.flatnonzero(begins)
    return starts, numbers[starts]


def parted(run: str, change: Change) -> Iterator[tuple[int, int]]:
    """Cut a run where both parts become the same by themselves: the begin of each part, and the number of characters that it becomes."""
    changed, low = change(run), 0
    for cut in range(1, len(run)) if len(run) <= LONGEST else ():
        part, rest = change(run[low:cut]), change(run[cut:])
        if part + rest == changed:
            yield low, len(part)
            changed, low = rest, cut
    yield low, len(changed)


def in_bytes(text: str, changed: str, begin: np.ndarray, end: np.ndarray) -> tuple[bytes, np.ndarray]:
    """The changed text as UTF-8, and where its bytes come from, int64[m, 3]; see kernels.places."""
    of, to = places_of(text), places_of(changed)
    low, high = of[begin], of[end]
    same = high - low == np.diff(to)
    rows = np.column_stack([to[:-1], low, np.where(same, COPIED, high)])
    shift = low - to[:-1]
    new = np.ones(len(rows), bool)
    new[1:] = ~(same[1:] & same[:-1] & (shift[1:] == shift[:-1]))
    return changed.encode("utf-8", "surrogatepass"), rows[new]


def places_of(text: str) -> np.ndarray:
    """The place of each character in UTF-8, and the end: int64[n + 1]."""
    codes = codes_of(text)
    sizes = 1 + (codes > 0x7F).astype(np.int64) + (codes > 0x7FF) + (codes > 0xFFFF)
    return np.concatenate(([0], np.cumsum(sizes)))
