"""The S-curve on a terminal: pairs found, pairs missed, and false-positive candidates; and several curves in one chart."""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from likewise.cli.screen import harmless, percent
from likewise.drawing.curves import Drawn, visible
from likewise.drawing.numbers import shown
from likewise.drawing.svg import Span
from likewise.errors import UsageError


class Glyphs(NamedTuple):
    found: str  # on the side of the threshold that counts
    missed: str  # there
    needless: str  # on the other side: false-positive candidates
    empty: str
    side: str
    floor: str
    tick: str
    corner: str
    mark: str  # of the threshold


BLOCKS = Glyphs(*"█×░ │─┤└┴")
ASCII = Glyphs(*"#x. |-++^")
#: The characters that draw curves, one for each.
NUMBERS = "123456789" + string.ascii_letters


def glyphs(encoding: str | None) -> Glyphs:
    """Block characters if the encoding has them, else ASCII."""
    try:
        "".join(BLOCKS).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return BLOCKS


def draw(
    probability: Callable[[float], float],
    threshold: float,
    width: int,
    height: int,
    use: Glyphs = BLOCKS,
    span: Span = (0.0, 1.0),
    falling: bool = False,
) -> Iterator[str]:
    """The lines of a chart. Each column is a value of the span, filled from below up to the probability of becoming a candidate.

    width, height: of the area inside the axes. falling: values are distances, and similar pairs are at or left of the threshold. An infinite span
    ends at `drawing.curves.reach`. Raises UsageError.
    """
    span = visible([Drawn("", probability)], threshold, span)
    mark = nearest(threshold, width, span, falling)
    filled = levels(probability, width, height, span)
    counts = [column <= mark if falling else column >= mark for column in range(width)]
    meaning = {(True, True): use.found, (True, False): use.missed, (False, True): use.needless, (False, False): use.empty}
    area = ["".join(meaning[wanted, full >= level] for wanted, full in zip(counts, filled, strict=True)) for level in range(height, 0, -1)]
    for level, row in zip(range(height, 0, -1), area, strict=True):
        yield side(level, height, use) + row
    yield from ground(threshold, mark, width, span, use)
    words = {use.found: "found", use.missed: "missed", use.needless: "false-positive candidates (compared, then rejected)"}
    yield "      " + "   ".join(f"{glyph} {word}" for glyph, word in words.items() if any(glyph in row for row in area))


def draw_many(
    curves: Sequence[Drawn],
    threshold: float | None,
    width: int,
    height: int,
    use: Glyphs = BLOCKS,
    span: Span = (0.0, 1.0),
    falling: bool = False,
) -> Iterator[str]:
    """The lines of a chart with one line per curve, drawn with its number, and a legend. Curves that overlap alternate. Otherwise as `draw`."""
    if len(curves) > len(NUMBERS):
        raise UsageError(f"{len(curves)} curves: give at most {len(NUMBERS)}, or draw fewer at once")
    span = visible(curves, threshold, span)
    mark = None if threshold is None else nearest(threshold, width, span, falling)
    columns = [strokes(levels(curve.probability, width, height, span)) for curve in curves]
    for level in range(height, 0, -1):
        row = side(level, height, use)
        for column in range(width):
            here = [number for number, stroke in zip(NUMBERS, columns, strict=False) if level in stroke[column]]
            row += here[column % len(here)] if here else use.side if column == mark else use.empty
        yield row.rstrip()
    yield from ground(threshold, mark, width, span, use)
    yield from legend(curves, threshold)


def legend(curves: Sequence[Drawn], threshold: float | None) -> Iterator[str]:
    """One line per curve: its number, label, and probability at the threshold."""
    labels = [harmless(curve.label) for curve in curves]
    found = [percent(curve.probability(threshold)) if threshold is not None else "" for curve in curves]
    at = "" if threshold is None else f" at {shown(threshold)}"
    for number, label, probability in zip(NUMBERS, labels, found, strict=False):
        yield f"      {number} = {label:{max(map(len, labels))}}   {probability:>{max(map(len, found))}}{at}".rstrip()


def nearest(threshold: float, width: int, span: Span, falling: bool) -> int:
    """The column of the threshold; between two columns, the one on the side of dissimilar pairs."""
    low, high = span
    place = (threshold - low) / (high - low) * (width - 1)
    return math.floor(place + 0.5) if falling else math.ceil(place - 0.5)


def levels(probability: Callable[[float], float], width: int, height: int, span: Span) -> list[int]:
    """The level of the curve in each column, from 0 to the height."""
    low, high = span
    values = [low + (high - low) * column / (width - 1) for column in range(width - 1)] + [high]
    return [round(probability(value) * height) for value in values]


def strokes(heights: Sequence[int]) -> list[range]:
    """The levels of a line in each column: its own, and those down to a lower neighbor, so that steep lines have no gaps."""
    lowest = [min(own, *(beside + 1 for beside in heights[max(0, place - 1) : place + 2])) for place, own in enumerate(heights)]
    return [range(low, own + 1) for low, own in zip(lowest, heights, strict=True)]


def side(level: int, height: int, use: Glyphs) -> str:
    return f"{level / height:4.0%} {use.tick}" if level in (height, height // 2) else " " * 5 + use.side


def ground(threshold: float | None, mark: int | None, width: int, span: Span, use: Glyphs) -> Iterator[str]:
    line = [use.floor] * width
    if mark is not None:
        line[mark] = use.mark
    yield "  0% " + use.corner + "".join(line)
    yield " " * 6 + scale(threshold, mark, width, span)


def scale(threshold: float | None, mark: int | None, width: int, span: Span) -> str:
    """The labels of the axis: both ends, and the threshold under its mark."""
    low, high = (f"{end:g}" for end in span)
    ends = low + high.rjust(width - len(low))
    if threshold is None or mark is None:
        return ends
    label = shown(threshold)
    start = max(0, min(width - len(label), mark - len(label) // 2))
    end = start + len(label)
    left = ends[:start] if start > len(low) else " " * start
    right = ends[end:] if end < width - len(high) else ""
    return (left + label + right).rstrip()
