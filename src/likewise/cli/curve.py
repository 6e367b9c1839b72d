"""The S-curve in a terminal: what is found, what is missed, and what is compared for nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple


class Glyphs(NamedTuple):
    found: str  # at or above the threshold
    missed: str  # there
    needless: str  # below the threshold: compared for nothing
    empty: str
    side: str
    floor: str
    tick: str
    corner: str
    mark: str  # of the threshold


BLOCKS = Glyphs(*"█×░ │─┤└┴")
ASCII = Glyphs(*"#x. |-++^")


def glyphs(encoding: str | None) -> Glyphs:
    """Block characters where the encoding has them."""
    try:
        "".join(BLOCKS).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return BLOCKS


def draw(chance: Callable[[float], float], threshold: float, width: int, height: int, use: Glyphs = BLOCKS) -> Iterator[str]:
    """Lines of text. Each column is a similarity from 0 to 1, filled from below to the chance to be found there.

    ``width`` and ``height`` are those of the field inside the axes.
    """
    at = [column / (width - 1) for column in range(width)]
    mark = next(column for column, similarity in enumerate(at) if similarity >= threshold - 0.5 / (width - 1))
    filled = [round(chance(similarity) * height) for similarity in at]
    for level in range(height, 0, -1):
        label = f"{level / height:4.0%} {use.tick}" if level in (height, height // 2) else " " * 5 + use.side
        below = "".join(use.needless if full >= level else use.empty for full in filled[:mark])
        yield label + below + "".join(use.found if full >= level else use.missed for full in filled[mark:])
    yield "  0% " + use.corner + use.floor * mark + use.mark + use.floor * (width - mark - 1)
    yield " " * 6 + scale(threshold, mark, width)
    yield f"      {use.found} found   {use.missed} missed   {use.needless} compared below the threshold, then dropped"


def scale(threshold: float, mark: int, width: int) -> str:
    """0 and 1 at the ends, and the threshold under its mark."""
    line = [" "] * width
    line[0], line[-1] = "0", "1"
    label = f"{threshold:g}"
    start = max(0, min(width - len(label), mark - len(label) // 2))
    if start <= 1 or start + len(label) >= width - 1:
        line = [" "] * width
    line[start : start + len(label)] = label
    return "".join(line).rstrip()
