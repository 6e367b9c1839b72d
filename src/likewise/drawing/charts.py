"""Numbers as bars: the stacked bar, bars by size."""

from __future__ import annotations

from collections.abc import Sequence

from likewise.drawing.markup import Html, join, tag
from likewise.drawing.numbers import count, counted, share
from likewise.drawing.svg import svg


def stacked_bar(parts: Sequence[tuple[str, int, str]], label: str) -> Html:
    """Return one bar cut into (name, number, class), with a legend of the numbers. Each nonzero part is visibly wide."""
    width, height = 920, 34
    total = sum(number for _, number, _ in parts)
    shown = [(number, class_) for _, number, class_ in parts if number]
    free = width - 3.0 * len(shown)
    x, drawn = 0.0, []
    for number, class_ in shown:
        wide = 3 + free * number / total
        drawn.append(tag("rect", x=f"{x:.2f}", y=0, width=f"{max(wide - 1, 1):.2f}", height=height, class_=class_))
        x += wide
    if not shown:
        drawn.append(tag("rect", x=0, y=0, width=width, height=height, class_="nothing"))
    said = ", ".join(f"{name} {number:,}" for name, number, _ in parts)
    legend = [
        tag("li", swatch(class_), f" {name} ", tag("b", count(number)), " ", tag("span", share(number, total), class_="faint"))
        for name, number, class_ in parts
    ]
    return join([svg(width, height, f"{label}: {said}", *drawn), tag("ul", *legend, class_="legend")])


def swatch(class_: str) -> Html:
    """Return the color sample of a legend entry."""
    return tag("svg", tag("rect", width=14, height=14, class_=class_), viewBox="0 0 14 14", class_="swatch", aria_hidden="true")


def bars(numbers: Sequence[tuple[str, int]], unit: str, label: str) -> Html:
    """Return horizontal bars of one scale, each with its name (a size or a range of sizes) and number."""
    step, left, width = 24, 110, 640
    most = max((number for _, number in numbers), default=1)
    drawn: list[Html] = []
    for place, (name, number) in enumerate(numbers):
        y = place * step
        wide = max(1.5, (width - left - 110) * number / most) if number else 0
        drawn += [
            tag("text", name, x=left - 8, y=y + 16, text_anchor="end"),
            tag("rect", x=left, y=y + 3, width=f"{wide:.1f}", height=step - 7, class_="bar"),
            tag("text", count(number), x=f"{left + wide + 7:.1f}", y=y + 16, class_="strong"),
        ]
    said = ", ".join(f"{name}: {counted(number, unit)}" for name, number in numbers)
    return svg(width, max(len(numbers), 1) * step, f"{label}. {said}", *drawn)


def by_powers(by_size: dict[str, int]) -> list[tuple[str, int]]:
    """Sum counts by exact size into powers of two; empty steps in between are kept.

    >>> by_powers({"2": 5, "3": 1, "4": 1, "9": 2})
    [('2', 5), ('3-4', 2), ('5-8', 0), ('9-16', 2)]
    """
    steps: dict[int, int] = {}
    for size, number in by_size.items():
        power = max(int(size) - 1, 1).bit_length()
        steps[power] = steps.get(power, 0) + number
    span = range(min(steps), max(steps) + 1) if steps else ()
    return [("2" if power == 1 else f"{2 ** (power - 1) + 1}-{2**power}", steps.get(power, 0)) for power in span]
