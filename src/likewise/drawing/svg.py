"""Charts as SVG, drawn by our own code: for a page, or as a separate file."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from likewise.drawing.markup import Html, tag
from likewise.drawing.style import ALONE

Point = tuple[float, float]
Span = tuple[float, float]


def svg(width: int, height: int, label: str, *children: Html | None, class_: str = "chart") -> Html:
    """A chart that scales with the page; ``label`` describes it in words. Its colors come from the page's style sheet."""
    return tag("svg", *children, viewBox=f"0 0 {width} {height}", role="img", aria_label=label, class_=class_, style=f"max-width: {width}px")


#: The opening tag that `svg` writes.
OPENING = re.compile(r'<svg viewBox="0 0 (\d+) (\d+)" role="img" aria-label="([^"]*)" [^>]*>')


def standalone(chart: Html, title: str) -> str:
    """A chart of `svg` as a complete file for any browser or notebook, with its own colors and background, light and dark.

    Raises ValueError for markup that `svg` did not make.
    """
    opening = OPENING.match(chart)
    if not opening:
        raise ValueError("a chart that `svg` made was expected")
    width, height, label = opening.groups()
    return (
        tag(
            "svg",
            tag("title", title),
            tag("desc", Html(label)),
            tag("style", Html(ALONE)),
            tag("rect", width=width, height=height, class_="page"),
            Html(chart[opening.end() :].removesuffix("</svg>")),
            xmlns="http://www.w3.org/2000/svg",
            width=width,
            height=height,
            viewBox=f"0 0 {width} {height}",
            role="img",
            class_="chart",
            style="max-width: 100%",
        )
        + "\n"
    )


def patterns(*, narrow: bool = False) -> Html:
    """Dots and slanted lines, which distinguish two areas without color. Ids apply to the whole page, hence their prefix and suffix."""
    suffix = "_narrow" if narrow else ""
    dots = tag("circle", cx=3, cy=3, r=1.7, class_="dots")
    lines = tag("path", d="M0 6 L6 0 M-1 1 L1 -1 M5 7 L7 5", class_="lines")
    tile = {"width": 6, "height": 6, "patternUnits": "userSpaceOnUse"}
    return tag("defs", tag("pattern", dots, id=f"likewise_dots{suffix}", **tile), tag("pattern", lines, id=f"likewise_lines{suffix}", **tile))


@dataclass(frozen=True, slots=True)
class Plane:
    """Coordinates of a chart of width x height with margins: values of a span across, probabilities from 0 to 1 upwards."""

    span: Span = (0.0, 1.0)
    width: int = 640
    height: int = 344
    left: int = 54
    right: int = 16
    top: int = 30
    bottom: int = 46

    def at(self, x: float, y: float) -> Point:
        """The pixel of a point, rounded to hide the last digits of a machine's arithmetic."""
        across, down = self.width - self.left - self.right, self.height - self.top - self.bottom
        low, high = self.span
        return round(self.left + (x - low) / (high - low) * across, 2), round(self.height - self.bottom - y * down, 2)

    def path(self, points: Sequence[Point]) -> str:
        """The pixels of points, in the syntax of SVG."""
        return " ".join("{:g},{:g}".format(*self.at(*point)) for point in points)

    def line(self, start: Point, end: Point, class_: str) -> Html:
        """A straight line."""
        (x1, y1), (x2, y2) = self.at(*start), self.at(*end)
        return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)

    def words(self, said: str, at: Point, anchor: str = "middle", dx: float = 0, dy: float = 0, class_: str | None = None) -> Html:
        """A text at a point, shifted by dx, dy pixels."""
        x, y = self.at(*at)
        return tag("text", said, x=round(x + dx, 2), y=round(y + dy, 2), text_anchor=anchor, class_=class_)

    def axes(self, across: str, up: str) -> list[Html]:
        """Grid lines, numbers and names of both axes."""
        low, high = self.span
        levels, middle = ticks(0, 1), self.at(low, 0.5)[1]
        return [
            *(self.line((low, level), (high, level), "grid") for level in levels),
            *(self.words(f"{level:g}", (low, level), "end", -8, 4) for level in levels),
            *(self.tick(value) for value in ticks(low, high)),
            self.words(across, ((low + high) / 2, 0), dy=38, class_="axis"),
            tag("text", up, x=14, y=middle, text_anchor="middle", class_="axis", transform=f"rotate(-90 14 {middle:g})"),
        ]

    def tick(self, value: float) -> Html:
        """A number below the axis; a long one at the right end is moved so that it fits."""
        said = f"{value:,.10g}"
        over = self.at(value, 0)[0] + 4 * len(said) - self.width
        return self.words(said, (value, 0), dx=-max(0, over), dy=18)


def ticks(low: float, high: float) -> list[float]:
    """Three to seven round numbers from low to high, with both ends among them if possible.

    >>> ticks(-1, 1), ticks(0, 180)
    ([-1.0, -0.5, 0.0, 0.5, 1.0], [0.0, 30.0, 60.0, 90.0, 120.0, 150.0, 180.0])
    """
    near = 1e-9
    power = math.floor(math.log10(high - low))
    steps = [float(f"{first}e{scale}") for scale in (power - 1, power) for first in (1, 2, 2.5, 3, 5)]
    few = [step for step in steps if (high - low) / step <= 6 + near]
    ending = [step for step in few if (high - low) / step > 2 and all(abs(end / step - round(end / step)) < near for end in (low, high))]
    step = (ending or few)[0]
    return [place * step for place in range(math.ceil(low / step - near), math.floor(high / step + near) + 1)]
