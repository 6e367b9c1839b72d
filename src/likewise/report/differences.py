"""Differences between two items, by kind of item: words, characters, elements or groups of them, numbers, bits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from likewise.drawing.numbers import counted
from likewise.errors import LikewiseError
from likewise.io.groups import pairs_of
from likewise.items.members import members, named
from likewise.kinds import of_payload
from likewise.kinds.kind import DIGITS, MEMBERS, NUMBERS, SIGNS, WORDS
from likewise.report import diff
from likewise.runs.shown import ends, listed

#: Maximum number of character pairs for an alignment by character; longer strings are aligned by word.
MOST_PAIRS = 250_000
#: Numbers of two vectors that are listed because they differ most.
FARTHEST = 6

Groups = Mapping[str, str]
#: (group, ""), or (None, element) for an element without a group.
Key = tuple[str | None, str]


class Parts(NamedTuple):
    """The common and differing elements of two sets, or the groups of these elements, as shown to people."""

    unit: str  # element, group or coordinate
    both: list[str]  # with the same weight, if they have weights
    other: list[tuple[str, str, str]]  # in both with different weights: element, weight in the removed item, weight in the kept one
    removed: list[str]  # in the removed item only; below, in the kept one only
    kept: list[str]


def remark(kind: str, removed: str, kept: str) -> str:
    """Return how many numbers or bits differ, and which, because two long rows do not show it at a glance; how much of long texts is not compared;
    "" for other kinds.
    """
    look = of_payload(kind).look
    if look in (WORDS, SIGNS):
        return rests(*diff.not_compared(removed, kept))
    if look == NUMBERS:
        return numbers_apart(removed.split(), kept.split())
    return bits_apart(removed, kept) if look == DIGITS else ""


def rests(removed: int, kept: int) -> str:
    """Return in words how many characters of two texts are not compared."""
    if not removed and not kept:
        return ""
    rest = f"{removed:,} characters of the removed item and {kept:,} of the kept one"
    return f"{diff.MOST:,} characters from the first difference on were compared; the {rest} after them were not, and are marked as different"


def numbers_apart(removed: Sequence[str], kept: Sequence[str]) -> str:
    """
    >>> numbers_apart(["1.0", "2.0"], ["1.0", "2.5"])
    '1 of 2 numbers differs, at index 1: 2.0 in the removed item and 2.5 in the kept one'
    """
    if len(removed) != len(kept) or not kept:
        return ""
    gap = np.abs(np.array(removed, np.float64) - np.array(kept, np.float64))
    number, at = int(np.count_nonzero(gap)), int(gap.argmax())
    if not number:
        return "all numbers are the same"
    where = f"differs, at index {at:,}" if number == 1 else f"differ, most of all at index {at:,}"
    return f"{number:,} of {counted(len(kept), 'number')} {where}: {removed[at]} in the removed item and {kept[at]} in the kept one"


def farthest(kind: str, removed: str, kept: str) -> list[list[object]]:
    """Return the FARTHEST numbers of two vectors that differ most: index, both numbers, and their difference; [] for other kinds.

    >>> farthest("vector", "1.0 2.0 3.5", "1.0 2.5 3.0")
    [[1, 2.0, 2.5, -0.5], [2, 3.5, 3.0, 0.5]]
    """
    left, right = removed.split(), kept.split()
    if of_payload(kind).look != NUMBERS or len(left) != len(right) or not left:
        return []
    gap = np.array(left, np.float64) - np.array(right, np.float64)
    order = np.argsort(-np.abs(gap), kind="stable")[:FARTHEST]
    return [[at, float(left[at]), float(right[at]), float(gap[at])] for at in order.tolist() if gap[at]]


def bits_apart(removed: str, kept: str) -> str:
    """
    >>> bits_apart("0f01", "0d81"), bits_apart("ff", "ff")
    ('2 bits differ: 1, 15', 'all bits are the same')
    """
    if len(removed) != len(kept) or not kept:
        return ""
    left, right = (np.frombuffer(bytes.fromhex(code), np.uint8) for code in (removed, kept))
    places = np.flatnonzero(np.unpackbits(left ^ right, bitorder="little")).tolist()
    if not places:
        return "all bits are the same"
    return f"{counted(len(places), 'bit differs', 'bits differ')}: {listed([f'{place:,}' for place in places], 'bit')}"


def parts(kind: str, removed: str, kept: str, groups: Groups | None = None) -> Parts | None:
    """Compare two sets by element, or by group if ``groups`` are given, in the order of the record; None for other kinds and unreadable sets."""
    if of_payload(kind).look != MEMBERS:
        return None
    gone, stays = elements(removed), elements(kept)
    if gone is None or stays is None:
        return None
    if groups:
        return by_group(list(gone), list(stays), groups)
    weighed = not of_payload(kind).sets
    both = [name for name in gone if name in stays]
    same = [name for name in both if gone[name] == stays[name]]
    other = [(name, f"{gone[name]:.12g}", f"{stays[name]:.12g}") for name in both if gone[name] != stays[name]]
    left, right = ({name: f"{name}: {weight:.12g}" if weighed else name for name, weight in side.items()} for side in (gone, stays))
    only = [[said for name, said in side.items() if name not in beside] for side, beside in ((left, stays), (right, gone))]
    return Parts(of_payload(kind).part, [left[name] for name in same], other, *only)


def by_group(removed: Sequence[str], kept: Sequence[str], groups: Groups) -> Parts:
    """Compare two lists of elements by their groups; an element without a group forms its own group."""
    left: dict[Key, list[str]] = {}
    right: dict[Key, list[str]] = {}
    for side, names in ((left, removed), (right, kept)):
        for name in names:
            side.setdefault((groups.get(name), "" if name in groups else name), []).append(name)

    def said(key: Key) -> str:
        own = dict.fromkeys(", ".join(side[key]) for side in (left, right) if key in side)
        return key[1] if key[0] is None else key[0] if [*own] == [key[0]] else f"{key[0]} ({' beside '.join(own)})"

    both = [said(key) for key in left if key in right]
    return Parts("group", both, [], [said(key) for key in left if key not in right], [said(key) for key in right if key not in left])


def groups_of(given: Path | Mapping[Any, Any] | None) -> Groups | None:
    """Return the group name of each element name; None if no groups are given or they can no longer be read."""
    try:
        return {named(element): named(group) for element, group in pairs_of(given)} if given is not None else None
    except (LikewiseError, OSError):
        return None


def elements(text: str) -> dict[str, float] | None:
    """Return the elements of a set in JSON with their weights, 1 if they have none; None for other JSON values.

    >>> elements('["milk", 7, "7"]'), elements('{"milk": 2}'), elements('[["milk", 2.5], ["milk", 1]]'), elements("3 elements")
    ({'milk': 1.0, '7': 1.0, '"7"': 1.0}, {'milk': 2.0}, {'milk': 3.5}, None)
    """
    if (listed := members(text)) is None:
        return None
    found: dict[str, float] = {}
    for element, weight in listed:
        found[named(element)] = 1.0 if weight is None else found.get(named(element), 0.0) + weight  # added up, as in comparisons
    return found


def runs(kind: str, removed: str, kept: str, groups: Groups | None = None) -> diff.Runs | None:
    """Return the differences as runs of `diff.words`, or None if the parts of the two items cannot be aligned."""
    look = of_payload(kind).look
    if look in BESIDE:
        return BESIDE[look](removed, kept)
    if (found := parts(kind, removed, kept, groups)) is None:
        return None
    gone, stays = ([*(f"{name}: {weights[side]}" for name, *weights in found.other), *only] for side, only in enumerate((found.removed, found.kept)))
    sides = [("equal", found.both), ("delete", gone), ("insert", stays)]
    return [(what, listed(names, found.unit) + "\n" * (what == "equal")) for what, names in sides if names]


def hexadecimal(removed: str, kept: str) -> diff.Runs | None:
    """Compare two codes digit by digit; None if their lengths differ.

    >>> hexadecimal("ff01", "fe01")
    [('equal', 'f'), ('delete', 'f'), ('insert', 'e'), ('equal', '01')]
    """
    if len(removed) != len(kept):
        return None
    found: diff.Runs = []
    for same, run in groupby(zip(removed, kept, strict=True), lambda digits: digits[0] == digits[1]):
        left, right = map("".join, zip(*run, strict=True))
        found += [("equal", ends(left))] if same else [("delete", left), ("insert", right)]
    return found


def signs(removed: str, kept: str) -> diff.Runs:
    """Compare two strings character by character, with as few differences as possible.

    >>> signs("kitten", "sitting")
    [('delete', 'k'), ('insert', 's'), ('equal', 'itt'), ('delete', 'e'), ('insert', 'i'), ('equal', 'n'), ('insert', 'g')]
    """
    n, m = len(removed), len(kept)
    if n * m > MOST_PAIRS:
        return diff.words(removed, kept)
    common = [[0] * (m + 1) for _ in range(n + 1)]  # length of the longest common subsequence from (i, j) on
    for i in reversed(range(n)):
        for j in reversed(range(m)):
            common[i][j] = common[i + 1][j + 1] + 1 if removed[i] == kept[j] else max(common[i + 1][j], common[i][j + 1])
    found: diff.Runs = []
    i = j = 0
    while i < n or j < m:
        if i < n and j < m and removed[i] == kept[j]:
            found.append(("equal", removed[i]))
            i, j = i + 1, j + 1
        elif j == m or (i < n and common[i + 1][j] >= common[i][j + 1]):
            found.append(("delete", removed[i]))
            i += 1
        else:
            found.append(("insert", kept[j]))
            j += 1
    return diff.joined(found)


#: Alignment function by the look of an item.
BESIDE: dict[str, Callable[[str, str], diff.Runs | None]] = {WORDS: diff.words, SIGNS: signs, DIGITS: hexadecimal}
