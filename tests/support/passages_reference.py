"""Passages found step by step in plain Python: the reference of `kernels.winnow` and `kernels.passages`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple


class Passage(NamedTuple):
    """Tokens a[a0:a1] and b[b0:b1], and the runs of equal tokens in them: (place in a, place in b, tokens)."""

    a0: int
    a1: int
    b0: int
    b1: int
    runs: tuple[tuple[int, int, int], ...]

    @property
    def agreed(self) -> int:
        """Tokens in runs, each counted once, on the side that has fewer."""
        of_a = {place + i for place, _, size in self.runs for i in range(size)}
        of_b = {place + i for _, place, size in self.runs for i in range(size)}
        return min(len(of_a), len(of_b))

    def similarity(self) -> Fraction:
        return Fraction(2 * self.agreed, self.a1 - self.a0 + self.b1 - self.b0)


def winnowed(prints: Sequence[int], window: int) -> list[int]:
    """The places of the least of each window, the last of equals."""
    chosen = set()
    for begin in range(len(prints) - window + 1):
        least = min(prints[begin : begin + window])
        chosen.add(max(place for place in range(begin, begin + window) if prints[place] == least))
    return sorted(chosen)


def agreeing(a: Sequence, b: Sequence, x: int, y: int, step: int) -> int:
    count = 0
    while 0 <= x < len(a) and 0 <= y < len(b) and a[x] == b[y]:
        x, y, count = x + step, y + step, count + 1
    return count


def onward(a: Sequence, b: Sequence, x: int, y: int, gap: int, sync: int, step: int) -> tuple[int, int, int]:
    """The nearest run beyond the difference at (x, y): by the tokens between on both sides, then by those of a."""
    every = [(dx + dy, dx, dy) for dx in range(gap + 1) for dy in range(gap + 1) if dx + dy]
    for _, dx, dy in sorted(every):
        if (size := agreeing(a, b, x + step * dx, y + step * dy, step)) >= sync:
            return dx, dy, size
    return 0, 0, 0


def from_seed(a: Sequence, b: Sequence, x: int, y: int, gap: int, sync: int, threshold: Fraction) -> Passage:
    """The passage that grows from equal tokens at (x, y): after it as far as possible, then before it, and so on until neither goes on."""
    back, on = agreeing(a, b, x - 1, y - 1, -1), agreeing(a, b, x, y, 1)
    found = Passage(x - back, x + on, y - back, y + on, ((x - back, y - back, back + on),))
    while True:
        dx, dy, size = onward(a, b, found.a1, found.b1, gap, sync, 1)
        more = Passage(found.a0, found.a1 + dx + size, found.b0, found.b1 + dy + size, (*found.runs, (found.a1 + dx, found.b1 + dy, size)))
        if size and more.similarity() >= threshold:
            found = more
            continue
        dx, dy, size = onward(a, b, found.a0 - 1, found.b0 - 1, gap, sync, -1)
        low, under = found.a0 - dx - size, found.b0 - dy - size
        more = Passage(low, found.a1, under, found.b1, (*found.runs, (low, under, size)))
        if size and more.similarity() >= threshold:
            found = more
            continue
        return found


def holds(passage: Passage, a: Sequence, b: Sequence, run: tuple[int, int, int], *, on_a_run: bool) -> bool:
    """True if a run lies in the bounds of the passage; on_a_run: and if one of the passage's runs is a part of it."""
    x, y, size = run
    inside = passage.a0 <= x and x + size <= passage.a1 and passage.b0 <= y and y + size <= passage.b1
    return inside and (not on_a_run or any(p - q == x - y and x <= p and p + of <= x + size for p, q, of in passage.runs))


def joined(found: list[Passage], gap: int, threshold: Fraction) -> list[Passage]:
    """Passages at most ``gap`` tokens apart on both sides made one, if they are similar enough together, until nothing changes."""
    changed = True
    while changed:
        changed, kept = False, list[Passage]()
        for one in sorted(found, key=lambda passage: (passage.a0, passage.b0)):
            for place, other in enumerate(kept):
                both = Passage(min(one.a0, other.a0), max(one.a1, other.a1), min(one.b0, other.b0), max(one.b1, other.b1), (*other.runs, *one.runs))
                apart = (max(one.a0, other.a0) - min(one.a1, other.a1), max(one.b0, other.b0) - min(one.b1, other.b1))
                if max(apart) <= gap and both.similarity() >= threshold:
                    kept[place], changed = both, True
                    break
            else:
                kept.append(one)
        found = kept
    return found


def passages(
    a: Sequence, b: Sequence, prints_a: Sequence[int], prints_b: Sequence[int], *, run: int, k: int, gap: int, sync: int, threshold: Fraction
) -> list[tuple[int, int, int, int, int]]:
    """(first token of a, end, first token of b, end, agreed) of each passage, ascending. prints: a number for each k-gram."""
    window = run - k + 1
    seeds = {(x, y) for x in winnowed(prints_a, window) for y in winnowed(prints_b, window) if prints_a[x] == prints_b[y]}
    common = set()
    for x, y in seeds:
        back, on = agreeing(a, b, x - 1, y - 1, -1), agreeing(a, b, x, y, 1)
        common.add((x - back, y - back, back + on))
    found: list[Passage] = []
    tried: list[Passage] = []
    for one in sorted(common, key=lambda one: (-one[2], one[0] - one[1], one[0])):
        if not any(holds(passage, a, b, one, on_a_run=True) for passage in tried) and not any(
            holds(passage, a, b, one, on_a_run=False) for passage in found[:64]
        ):
            tried.append(from_seed(a, b, *one[:2], gap, sync, threshold))
            found += [tried[-1]] if tried[-1].agreed >= run else []
    return sorted((one.a0, one.a1, one.b0, one.b1, one.agreed) for one in joined(found, 2 * gap, threshold))


def runs(a: Sequence, b: Sequence, least: int) -> list[tuple[int, int, int]]:
    """(place in a, place in b, tokens) of every run of at least ``least`` equal tokens that no longer one contains."""
    found = []
    for x in range(len(a)):
        for y in range(len(b)):
            if not agreeing(a, b, x - 1, y - 1, -1) and (size := agreeing(a, b, x, y, 1)) >= least:
                found.append((x, y, size))
    return found
