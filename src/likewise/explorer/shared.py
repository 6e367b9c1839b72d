"""Two texts with the passages that both have, wherever they stand."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from likewise.drawing.markup import Html, join, tag
from likewise.report.diff import split

#: Words and signs of the shortest passage, and places of its beginning in the left text that are tried.
LEAST, MOST_PLACES = 8, 50


class Passage(NamedTuple):
    """A run of equal words: its first word in both texts, and their number."""

    left: int
    right: int
    words: int


def passages(left: list[str], right: list[str]) -> list[Passage]:
    """The longest common run at each word of the right text that is in no run before it, from left to right; of equally long ones the first.

    >>> passages("a b c d e f g h i".split(), "x b c d e f g h i".split())
    [Passage(left=1, right=1, words=8)]
    """
    begins = defaultdict(list)
    for at in range(len(left) - LEAST + 1):
        begins[tuple(left[at : at + LEAST])].append(at)
    found, at = [], 0
    while at + LEAST <= len(right):
        places = begins.get(tuple(right[at : at + LEAST]), ())[:MOST_PLACES]
        length, place = max(((common(left, right, begin, at), -begin) for begin in places), default=(1, 0))
        if places:
            found.append(Passage(-place, at, length))
        at += length
    return found


def common(left: list[str], right: list[str], i: int, j: int) -> int:
    """The number of equal words from two places on."""
    most = min(len(left) - i, len(right) - j)
    return next((n for n in range(LEAST, most) if left[i + n] != right[j + n]), most)


def marked(left: str, right: str) -> tuple[Html, Html]:
    """Both texts, with each shared passage marked by its number, the same on both sides."""
    one, other = split(left), split(right)
    found = sorted(passages([word for word, _ in one], [word for word, _ in other]))
    here, there = ([(begin, begin + passage.words) for passage in found for begin in [passage[side]]] for side in range(2))
    return join(pieces(one, here)), join(pieces(other, there))


def pieces(words: list[tuple[str, str]], spans: list[tuple[int, int]]) -> Iterator[object]:
    """Yield a text in pieces, those in spans of words marked; each span has its number, from 1, where it begins."""
    numbers, more, depth = defaultdict(list), Counter[int](), 0
    for number, (begin, end) in enumerate(spans, 1):
        numbers[begin].append(number)
        more[begin] += 1
        more[end] -= 1
    for begin, end in pairwise(sorted({0, len(words), *more})):
        depth += more[begin]
        text = "".join(map("".join, words[begin:end])).removesuffix(space := words[end - 1][1])
        yield from (tag("sup", number) for number in numbers[begin])
        yield from (tag("mark", text) if depth else text, space)
