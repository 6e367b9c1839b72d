"""Charts as SVG that our own Python draws: the stacked bar, the S-curve, bars by size. Colours come from the page's style sheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from likewise.report.markup import Html, count, counted, join, share, tag

Point = tuple[float, float]


def svg(width: int, height: int, label: str, *children: Html) -> Html:
    """A picture that scales with the page; ``label`` says in words what it shows."""
    return tag("svg", *children, viewBox=f"0 0 {width} {height}", role="img", aria_label=label, class_="chart", style=f"max-width: {width}px")


def stacked_bar(parts: Sequence[tuple[str, int, str]], label: str) -> Html:
    """One bar cut into (name, number, class), with a legend that has the numbers. What is there is at least a hair wide."""
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
    return tag("svg", tag("rect", width=14, height=14, class_=class_), viewBox="0 0 14 14", class_="swatch", aria_hidden="true")


def patterns() -> Html:
    """Dots and slanted lines, so that two areas are told apart without colour."""
    dots = tag("circle", cx=3, cy=3, r=1.7, class_="dots")
    lines = tag("path", d="M0 6 L6 0 M-1 1 L1 -1 M5 7 L7 5", class_="lines")
    tile = {"width": 6, "height": 6, "patternUnits": "userSpaceOnUse"}
    return tag("defs", tag("pattern", dots, id="dots", **tile), tag("pattern", lines, id="lines", **tile))


@dataclass(frozen=True, slots=True)
class Plane:
    """The unit square on a picture of width x height with margins; the origin is below on the left."""

    width: int = 640
    height: int = 330
    left: int = 54
    right: int = 16
    top: int = 16
    bottom: int = 46

    def at(self, x: float, y: float) -> Point:
        across, down = self.width - self.left - self.right, self.height - self.top - self.bottom
        return round(self.left + x * across, 2), round(self.height - self.bottom - y * down, 2)

    def path(self, points: Sequence[Point]) -> str:
        return " ".join("{:g},{:g}".format(*self.at(*point)) for point in points)

    def line(self, start: Point, end: Point, class_: str) -> Html:
        (x1, y1), (x2, y2) = self.at(*start), self.at(*end)
        return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)

    def words(self, said: str, at: Point, anchor: str = "middle", dx: float = 0, dy: float = 0, class_: str | None = None) -> Html:
        x, y = self.at(*at)
        return tag("text", said, x=x + dx, y=y + dy, text_anchor=anchor, class_=class_)


def s_curve(curve: Sequence[Point], threshold: float, recall: float) -> Html:
    """The chance that a pair is compared by its similarity, with what is missed above the threshold and met in vain below it.

    ``curve`` ascends in similarity; ``recall`` is its value at the threshold, which need not be one of its points.
    """
    plane = Plane()
    here = (threshold, recall)
    points = sorted({*((float(x), float(y)) for x, y in curve), here})
    below, above = [p for p in points if p <= here], [p for p in points if p >= here]
    in_vain = [(below[0][0], 0.0), *below, (threshold, 0.0)]
    missed = [(threshold, 1.0), *above, (above[-1][0], 1.0)]
    label = f"The chance that a pair is found, by its similarity: {recall:.4g} at the threshold {threshold:g}; the table below has the numbers"
    left_side = threshold > 0.5
    return svg(
        plane.width,
        plane.height,
        label,
        patterns(),
        *axes(plane),
        tag("polygon", points=plane.path(in_vain), class_="vain"),
        tag("polygon", points=plane.path(missed), class_="missed"),
        plane.line((threshold, 0), (threshold, 1), "threshold"),
        tag("polyline", points=plane.path(points), class_="curve"),
        tag("circle", cx=plane.at(*here)[0], cy=plane.at(*here)[1], r=4.5, class_="dot"),
        plane.words(f"threshold {threshold:g}", (threshold, 0.06), "end" if left_side else "start", -7 if left_side else 7, class_="strong"),
    )


def axes(plane: Plane) -> list[Html]:
    ticks = [step / 5 for step in range(6)]
    middle = plane.at(0, 0.5)[1]
    return [
        *(plane.line((0, tick), (1, tick), "grid") for tick in ticks),
        *(plane.words(f"{tick:g}", (0, tick), "end", -8, 4) for tick in ticks),
        *(plane.words(f"{tick:g}", (tick, 0), "middle", 0, 18) for tick in ticks),
        plane.words("similarity of the pair", (0.5, 0), dy=38, class_="axis"),
        tag("text", "chance to be found", x=14, y=middle, text_anchor="middle", class_="axis", transform=f"rotate(-90 14 {middle:g})"),
    ]


def bars(numbers: Sequence[tuple[str, int]], unit: str, label: str) -> Html:
    """Horizontal bars of one scale, each with its name (a size or a range of sizes) and number."""
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
    """Counts by exact size, put together in powers of two; empty steps in between are kept.

    >>> by_powers({"2": 5, "3": 1, "4": 1, "9": 2})
    [('2', 5), ('3-4', 2), ('5-8', 0), ('9-16', 2)]
    """
    steps: dict[int, int] = {}
    for size, number in by_size.items():
        power = max(int(size) - 1, 1).bit_length()
        steps[power] = steps.get(power, 0) + number
    span = range(min(steps), max(steps) + 1) if steps else ()
    return [("2" if power == 1 else f"{2 ** (power - 1) + 1}-{2**power}", steps.get(power, 0)) for power in span]
