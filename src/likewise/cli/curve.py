"""The S-curve in a terminal: what is found, what is missed, and what is compared for nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

#: found at or above the threshold; missed there; candidates below it; empty; the threshold's mark; axes and corner
GLYPHS = "█×░ │─┤└┴"
PLAIN_GLYPHS = "#x. |-++^"
NAMES = ("found", "missed", "compared below the threshold, then dropped")


def glyphs(encoding: str | None) -> str:
    """Block characters where the encoding has them."""
    try:
        GLYPHS.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return PLAIN_GLYPHS
    return GLYPHS


def draw(chance: Callable[[float], float], threshold: float, width: int, height: int, marks: str = GLYPHS) -> Iterator[str]:
    """Lines of text. Each column is a similarity from 0 to 1, filled from below to the chance to be found there.

    ``width`` and ``height`` are those of the field inside the axes.
    """
    found, missed, needless, empty, _, dash, tick, corner, here = marks
    at = [column / (width - 1) for column in range(width)]
    mark = next(column for column, similarity in enumerate(at) if similarity >= threshold - 0.5 / (width - 1))
    filled = [round(chance(similarity) * height) for similarity in at]
    for level in range(height, 0, -1):
        label = f"{level / height:4.0%} {tick}" if level in (height, height // 2) else " " * 5 + marks[4]
        yield label + "".join(
            (found if full >= level else missed) if column >= mark else (needless if full >= level else empty) for column, full in enumerate(filled)
        )
    yield "  0% " + corner + dash * mark + here + dash * (width - mark - 1)
    yield " " * 6 + scale(threshold, mark, width)


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
