"""Draw docs/images/s-curve.svg for the README. tests/docs/test_docs.py checks that the file is up to date."""

from __future__ import annotations

from pathlib import Path

from likewise import plan
from likewise.drawing.markup import Html, tag
from likewise.drawing.svg import Plane, Point, patterns, standalone, svg

FILE = Path(__file__).resolve().parent.parent / "docs/images/s-curve.svg"
THRESHOLD, STEPS = 0.8, 160


def chart() -> str:
    """The S-curve that likewise plans for a threshold of 0.8, and that of a published layout for the same threshold."""
    plane = Plane((0.2, 1.0), width=760, height=340)
    planned, published = plan(threshold=THRESHOLD), plan(preset="slimpajama")
    ours, theirs = ([(x, curve.curve(x)) for x in steps()] for curve in (planned, published))
    found, usual = planned.curve(THRESHOLD), published.curve(THRESHOLD)
    words = (
        f"Probability that a pair is found, by its similarity. At the threshold 0.8 the plan of likewise finds {found:.1%} of the pairs, "
        f"a published layout for the same threshold {usual:.1%}. Shaded: pairs above the threshold that the published layout misses, and pairs "
        "below it that likewise compares and rejects"
    )
    drawing = svg(
        plane.width,
        plane.height,
        words,
        patterns(),
        *plane.axes("Jaccard similarity of a pair", "probability that it is found"),
        area(plane, [point for point in theirs if point[0] >= THRESHOLD], 1.0, "missed"),
        area(plane, [point for point in ours if point[0] <= THRESHOLD], 0.0, "needless"),
        plane.line((THRESHOLD, 0), (THRESHOLD, 1), "threshold"),
        plane.words("threshold 0.8", (THRESHOLD, 1), dy=-12, class_="strong"),
        tag("polyline", points=plane.path(ours), class_="curve"),
        tag("polyline", points=plane.path(theirs), class_="curve second", stroke_dasharray="9 4"),
        *(tag("circle", cx=x, cy=y, r=4.5, class_="dot") for x, y in (plane.at(THRESHOLD, found), plane.at(THRESHOLD, usual))),
        plane.words(f"likewise, {planned.bands} bands × {planned.rows} rows: {found:.1%} found", (0.6, 0.9), "end", class_="strong"),
        plane.words("every candidate is then compared exactly", (0.6, 0.9), "end", dy=18),
        label(plane, "compared, then rejected", (0.645, 0.3)),
        plane.words(f"{published.bands} × {published.rows}, published:", (0.815, 0.16), "start", class_="strong"),
        plane.words(f"{usual:.0%} found", (0.815, 0.09), "start", class_="strong"),
        label(plane, "missed", (0.842, 0.84)),
    )
    return standalone(drawing, "What is found at a threshold of 0.8")


def steps() -> list[float]:
    """Similarities from 0.2 to 1, the threshold among them."""
    return [0.2 + 0.8 * step / STEPS for step in range(STEPS + 1)]


def area(plane: Plane, points: list[Point], base: float, style: str) -> Html:
    """The area between a curve and a level."""
    return tag("polygon", points=plane.path([(points[0][0], base), *points, (points[-1][0], base)]), class_=style)


def label(plane: Plane, said: str, at: Point) -> Html:
    """Words on a shaded area, on a plate in the color of the page."""
    x, y = plane.at(*at)
    width = 7.6 * len(said) + 16
    return tag("g", tag("rect", x=x - width / 2, y=y - 14, width=width, height=20, rx=3, class_="page"), plane.words(said, at, class_="strong"))


if __name__ == "__main__":
    FILE.write_text(chart())
