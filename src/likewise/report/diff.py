"""Word differences of two texts, in near-linear time for any texts, of which long ones are compared in part."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

#: A word and the white space after it. A word is a run of letters and digits, each character of a script written without spaces, or one sign.
WORD = re.compile(r"([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|\w+|[^\w\s])(\s*)")
#: Maximum number of word pairs of two stretches aligned by difflib, whose time is at least quadratic.
MOST_PAIRS = 250_000
#: Length in words of phrases that, if equally frequent in both texts, are matched to each other.
ANCHOR = 3
#: Maximum number of characters of a text that are compared and split into words. Of longer texts that many are compared, from the last
#: equal word before the first difference on.
MOST = 200_000
#: Characters in which the beginning of a word is looked for.
NEAR = 1000

Runs = list[tuple[str, str]]


def split(text: str) -> list[tuple[str, str]]:
    """Split a text into (word, white space after it); white space at the beginning follows an empty word.

    >>> split("one two, 東京")
    [('one', ' '), ('two', ''), (',', ' '), ('東', ''), ('京', '')]
    """
    begin = text[: len(text) - len(text.lstrip())]
    return [("", begin)] * bool(begin) + WORD.findall(text, len(begin))


def words(left: str, right: str) -> Runs:
    """Return how ``right`` differs from ``left``: runs of ("equal" | "delete" | "insert", text), no two neighbors of one kind.

    The equal and deleted runs joined are ``left``, the equal and inserted ones ``right``, except for white space: between equal words the white
    space of ``left`` is given. Long repetitive texts may get more differences than necessary, never wrong ones. What is `not_compared` counts as
    different.

    >>> words("the red cat", "the cat sat")
    [('equal', 'the '), ('delete', 'red '), ('equal', 'cat'), ('insert', ' sat')]
    """
    begin, end = same_ends(left, right)
    a, b = (text[begin : len(text) - end] for text in (left, right))
    rests = [("delete", a[MOST:]), ("insert", b[MOST:])]
    return joined([("equal", left[:begin]), *aligned(a[:MOST], b[:MOST]), *rests, ("equal", left[len(left) - end :])])


def not_compared(left: str, right: str) -> tuple[int, int]:
    """Return how many characters of each text are not compared: those more than `MOST` behind the first difference, up to the equal ends."""
    same = sum(same_ends(left, right))
    return max(0, len(left) - same - MOST), max(0, len(right) - same - MOST)


def same_ends(left: str, right: str) -> tuple[int, int]:
    """Return the lengths of the equal beginnings and ends of two texts, up to the border of a word; (0, 0) if both are compared as they are."""
    if max(len(left), len(right)) <= MOST:
        return 0, 0
    same = same_beginning(left, right)
    begin = max((word.start() for word in WORD.finditer(left, max(0, same - NEAR), same)), default=same)
    same = same_beginning(left[begin:][::-1], right[begin:][::-1])
    cut = WORD.search(left, len(left) - same)  # perhaps in the middle of a word
    return begin, len(left) - cut.end() if cut else 0


def same_beginning(left: str, right: str) -> int:
    """Return the number of equal characters at the beginning, found by halves, which takes as long as comparing the texts."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if left[low:middle] == right[low:middle] else (low, middle - 1)
    return low


def aligned(left: str, right: str) -> Runs:
    """Return the runs of two texts of at most `MOST` characters, some of them empty."""
    a, b = split(left), split(right)
    runs: Runs = []
    done_a = done_b = 0
    for i, j in [*matches([word for word, _ in a], [word for word, _ in b]), (len(a), len(b))]:
        runs += replaced("".join(map("".join, a[done_a:i])), "".join(map("".join, b[done_b:j])))
        if i < len(a):
            word, space = a[i]
            same = bool(space) == bool(b[j][1])
            runs += [("equal", word + space)] if same else [("equal", word), ("delete", space), ("insert", b[j][1])]
        done_a, done_b = i + 1, j + 1
    return runs


def shortened(text: str, first: int, last: int, least: int, kind: str) -> tuple[str, str, str] | None:
    """Return the first and the last words of a text, and between them how much is left out; None for fewer than ``least`` words.

    >>> shortened("a b c d e f", 1, 2, 3, "equal")
    ('a ', '3 equal words', 'e f')
    """
    long = len(text) > MOST
    head, tail = (split(text[: MOST // 2]), split(text[-(MOST // 2) :])) if long else (split(text),) * 2
    begin, end = ("".join(map("".join, part)) for part in (head[:first], tail[len(tail) - last :]))
    if long:
        return begin, f"{len(text) - len(begin) - len(end):,} {kind} characters", end
    between = len(head) - first - last
    return (begin, f"{between:,} {kind} words", end) if between >= least else None


def replaced(gone: str, new: str) -> Runs:
    """Return the runs of a stretch that differs; common white space at the end counts as equal."""
    words_gone, words_new = gone.rstrip(), new.rstrip()
    space = gone[len(words_gone) :]
    if space != new[len(words_new) :]:
        return [("delete", gone), ("insert", new)]
    return [("delete", words_gone), ("insert", words_new), ("equal", space)]


def matches(a: Sequence[str], b: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield places (i, j) of equal words, ascending in both."""
    shorter = min(len(a), len(b))
    begin = next((i for i in range(shorter) if a[i] != b[i]), shorter)
    end = next((i for i in range(shorter - begin) if a[-1 - i] != b[-1 - i]), shorter - begin)
    yield from ((i, i) for i in range(begin))
    last_a, last_b = len(a) - end, len(b) - end
    small = (last_a - begin) * (last_b - begin) <= MOST_PAIRS
    i = j = begin
    for next_i, next_j in [*([] if small else anchors(a, b, range(begin, last_a), range(begin, last_b))), (last_a, last_b)]:
        if 0 < (next_i - i) * (next_j - j) <= MOST_PAIRS:
            for block in SequenceMatcher(None, a[i:next_i], b[j:next_j], autojunk=False).get_matching_blocks():
                yield from ((i + block.a + k, j + block.b + k) for k in range(block.size))
        if next_i < last_a and next_j < last_b:
            yield next_i, next_j
        i, j = next_i + 1, next_j + 1
    yield from ((last_a + k, last_b + k) for k in range(end))


def anchors(a: Sequence[str], b: Sequence[str], range_a: range, range_b: range) -> list[tuple[int, int]]:
    """Return matching places of phrases that are equally frequent in both ranges: the longest list that ascends in both.

    The n-th occurrence in ``a`` is matched to the n-th in ``b``.
    """
    in_a, in_b = phrases(a, range_a), phrases(b, range_b)
    pairs = sorted(
        pair for phrase, places in in_a.items() if len(places) == len(in_b.get(phrase, ())) for pair in zip(places, in_b[phrase], strict=True)
    )
    ends: list[int] = []  # smallest last j of an ascending list, by its length
    at: list[int] = []  # the pair that it belongs to
    before: list[int] = []
    for number, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        ends[length : length + 1] = [j]
        at[length : length + 1] = [number]
        before.append(at[length - 1] if length else -1)
    chain: list[tuple[int, int]] = []
    number = at[-1] if at else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]


def phrases(tokens: Sequence[str], places: range) -> dict[tuple[str, ...], list[int]]:
    """Return the places in ``places`` at which each phrase begins."""
    where: dict[tuple[str, ...], list[int]] = {}
    for place in places:
        where.setdefault(tuple(tokens[place : place + ANCHOR]), []).append(place)
    return where


def joined(runs: Runs) -> Runs:
    """Return the runs without empty ones, with at most one deletion and then one insertion between two equal runs."""
    out: Runs = []
    parts: dict[str, list[str]] = {"equal": [], "delete": [], "insert": []}

    def close(*kinds: str) -> None:
        for kind in kinds:
            if whole := "".join(parts[kind]):
                out.append((kind, whole))
            parts[kind].clear()

    for kind, text in runs:
        if text:
            close(*(("delete", "insert") if kind == "equal" else ("equal",)))
            parts[kind].append(text)
    close("equal", "delete", "insert")
    return out
