"""Numbers as bars: the stacked bar, bars by size, and the histogram of values."""

from __future__ import annotations

from collections.abc import Sequence

from likewise.drawing.markup import Html, join, tag
from likewise.drawing.numbers import count, counted, share, spaced

#: Width beside the longest bar, for its number.
BESIDE = "5.5rem"


def stacked_bar(parts: Sequence[tuple[str, int, str]], label: str) -> Html:
    """Return one bar cut into (name, number, class), and a legend of the first number and of others above zero. Each such part is visibly wide."""
    total = sum(number for _, number, _ in parts)
    drawn = [tag("span", class_=class_, style=f"flex: {number}") for _, number, class_ in parts if number] or [tag("span", class_="nothing")]
    said = ", ".join(f"{name} {number:,}" for name, number, _ in parts)
    legend = [
        tag("li", swatch(class_), f" {name} ", tag("b", count(number)), " ", tag("span", share(number, total), class_="faint"))
        for place, (name, number, class_) in enumerate(parts)
        if number or not place
    ]
    return join([tag("div", *drawn, role="img", aria_label=f"{label}: {said}", class_="stacked"), tag("ul", *legend, class_="legend")])


def swatch(class_: str) -> Html:
    """Return the color sample of a legend entry."""
    return tag("span", class_=f"swatch {class_}", aria_hidden="true")


def bars(numbers: Sequence[tuple[str, int]], unit: str, label: str) -> Html:
    """Return horizontal bars of one scale, each with its name (a size or a range of sizes) and number."""
    most = max((number for _, number in numbers), default=0)
    drawn: list[Html] = []
    for name, number in numbers:
        wide = f"max(2px, (100% - {BESIDE}) * {number / most:.4f})" if number else "0"
        bar = tag("span", class_="bar", style=f"width: {wide}")
        drawn += [tag("span", spaced(name), class_="name"), tag("span", bar, tag("span", count(number), class_="number"), class_="value")]
    said = ", ".join(f"{name}: {counted(number, unit)}" for name, number in numbers)
    return tag("div", *drawn, role="img", aria_label=f"{label}. {said}", class_="bars")


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
