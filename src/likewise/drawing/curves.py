"""S-curves: the probability that a pair is found, by similarity or distance, with areas for missed pairs and false-positive candidates."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from likewise.drawing.markup import Html, join, tag
from likewise.drawing.numbers import percent, shown
from likewise.drawing.svg import Plane, Point, Span, patterns, svg
from likewise.errors import UsageError
from likewise.messages import quoted


class Drawn(NamedTuple):
    """A curve to draw."""

    label: str
    probability: Callable[[float], float]  # probability of being found, by a value within the span


class Line(NamedTuple):
    """A curve as points with ascending values; ``here`` is its probability at the threshold."""

    label: str
    points: list[Point]
    here: float | None


class Event(NamedTuple):
    """The event whose probability a curve shows, in words for the axis and for the description."""

    axis: str
    description: str


class Chart(NamedTuple):
    """Curves with all that a chart of them shows."""

    lines: list[Line]
    threshold: float | None
    axis: str
    span: Span
    falling: bool
    note: str
    event: Event
    points: list[Point]  # measured

    def areas(self) -> Iterator[tuple[list[Point], str, str]]:
        """The points of the first curve on both sides of the threshold, the class of the area there, and its name."""
        assert self.threshold is not None
        points = self.lines[0].points
        before, after = [p for p in points if p[0] <= self.threshold], [p for p in points if p[0] >= self.threshold]
        of = " by 1" if len(self.lines) > 1 else ""
        missed, needless = f"may be missed{of}", f"false positives{of}, {'beyond' if self.falling else 'below'} the threshold"
        sides = ((before, "missed", missed), (after, "needless", needless))
        yield from sides if self.falling else ((before, "needless", needless), (after, "missed", missed))


FOUND = Event("probability of being found", "The probability that a pair is found")
COLLISION = Event("probability of a collision", "The probability that a pair collides")
#: Points of a curve after its first. Steep curves need many; more than one in three pixels would not be visible.
STEPS = 200
#: Curves take these in turn; where there are more, a number on each distinguishes them.
CLASSES = ("curve", "curve second", "curve third")
DASHES = (None, "9 4", "2 4", "14 4 2 4", "5 3 1 3")
#: The size and the margins of a chart for a phone.
NARROW = {"width": 340, "height": 300, "left": 54, "right": 10}
#: Height of a legend row in pixels, and maximum length of a label in it.
ROW, LONGEST = 24, 48


def s_curves(curves: Sequence[Drawn], threshold: float | None, **given: Any) -> Html:
    """An SVG chart of the curves: `drawn` of what `charted` makes of the same arguments."""
    return drawn(charted(curves, threshold, **given))


def charted(
    curves: Sequence[Drawn],
    threshold: float | None,
    *,
    axis: str = "similarity of the pair",
    span: Span = (0.0, 1.0),
    falling: bool = False,
    note: str = "",
    event: Event = FOUND,
    points: Iterable[Point] = (),
) -> Chart:
    """The curves as points. On both sides of the threshold the first is shaded, for pairs it misses and for false-positive candidates.

    falling: values are distances, and pairs up to the threshold count. A span to infinity ends at `reach`. note: added to the description for those
    who cannot see the chart. points: measured (value, probability). Raises UsageError if there is nothing to draw, and for points outside the chart.
    """
    span = visible(curves, threshold, span)
    lines = [sampled(curve, threshold, span) for curve in curves]
    return Chart(lines, threshold, axis, span, falling, note, event, measured(points, span))


def measured(points: Iterable[Point], span: Span) -> list[Point]:
    """Points as floats. Raises UsageError for points that are not pairs of numbers, or lie outside the chart."""
    try:
        found = [(float(value), float(share)) for value, share in points]
    except (TypeError, ValueError):
        raise UsageError("points to draw: give pairs (similarity or distance, share of such pairs)") from None
    for value, share in found:
        if not (span[0] <= value <= span[1] and 0 <= share <= 1):
            raise UsageError(f"point ({value:g}, {share:g}): give a value from {span[0]:g} to {span[1]:g}, and a share from 0 to 1")
    return found


def check_others(one: Any, others: Sequence[Any], kind: Any, noun: str, nouns: str) -> None:
    """Raise UsageError for anything but plans, or families, of the same measure as the one that they are drawn over."""
    for other in others:
        if not isinstance(other, kind):
            how = f'; svg() returns the chart as text, which pathlib.Path("{other}").write_text(svg, encoding="utf-8") writes'
            raise UsageError(f"svg({quoted(other)}): give {nouns} to draw over this one{how if isinstance(other, str) else ''}")
        if other.collision.measure != one.collision.measure:
            measures = f"{other.collision.measure} cannot be drawn over one by {one.collision.measure}"
            raise UsageError(f"a {noun} by {measures}; draw them separately")


def visible(curves: Sequence[Drawn], threshold: float | None, span: Span) -> Span:
    """The span with a finite end. Raises UsageError for no curves, an empty span, or a threshold outside of it."""
    if not curves:
        raise UsageError("no curves to draw; give at least one")
    low, high = span if math.isfinite(span[1]) else (span[0], reach(curves, threshold))
    if not low < high:
        raise UsageError(f"a chart from {low:g} to {high:g}: the end must be above the beginning")
    if threshold is not None and not low <= threshold <= high:
        raise UsageError(f"threshold {shown(threshold)} is outside the chart, which goes from {low:g} to {high:g}")
    return low, high


#: First digits of the end of an axis.
ROUND = (1, 1.5, 2, 3, 4, 5, 6, 8)


def reach(curves: Sequence[Drawn], threshold: float | None) -> float:
    """A round distance past the threshold where all curves have mostly come down; at most about ten thresholds.

    Raises UsageError if a curve never does.

    >>> reach([Drawn("", lambda distance: 2 ** -distance)], threshold=1)
    5.0
    """

    def down(probability: Callable[[float], float], end: float) -> bool:
        lowest = probability(2.0**100)
        return probability(end) - lowest <= 0.05 * (probability(0.0) - lowest)

    for end in (float(f"{first}e{power}") for power in range(-12, 30) for first in ROUND):
        if threshold and end < threshold * 1.25:
            continue
        if (threshold and end >= 10 * threshold) or all(down(curve.probability, end) for curve in curves):
            return end
    raise UsageError("a curve does not fall at any distance; give the end of the span")


def sampled(curve: Drawn, threshold: float | None, span: Span) -> Line:
    """The points of a curve, the threshold among them."""
    low, high = span
    values = {low + (high - low) * step / STEPS for step in range(STEPS)} | {high}
    points = {value: within(curve.probability(value)) for value in (values if threshold is None else values | {threshold})}
    return Line(curve.label, sorted(points.items()), None if threshold is None else points[threshold])


def within(probability: float) -> float:
    """A probability clipped to 0..1."""
    return min(max(probability, 0.0), 1.0)


def for_page(chart: Chart) -> Html:
    """The chart twice, for a screen and for a phone; the style sheet of pages hides one of them."""
    return join([drawn(chart), drawn(chart, narrow=True)])


def drawn(chart: Chart, *, narrow: bool = False) -> Html:
    """The SVG chart: axes, curves, areas and legend. narrow: for a page as wide as a phone, where letters keep their size."""
    lines, threshold = chart.lines, chart.threshold
    areas = shades(chart, abreast=not narrow) if threshold is not None else []
    rows = [*legend(lines, len(lines) > 1), *areas, *([measured_row()] if chart.points else [])]
    base = Plane(chart.span, **(NARROW if narrow else {}))
    plane = replace(base, height=base.height + ROW * len(rows), bottom=base.bottom + ROW * len(rows))
    below = plane.height - ROW * (len(rows) - 0.5)
    return svg(
        plane.width,
        plane.height,
        in_words(chart),
        *([patterns(narrow=narrow)] if threshold is not None else []),
        *plane.axes(chart.axis, chart.event.axis),
        *(around(plane, chart, threshold) if threshold is not None else []),
        *(drawn_line(plane.path(line.points), place) for place, line in enumerate(lines)),  # dashes above the solid first curve, where they coincide
        *marks(plane, lines, threshold),
        *(cross(plane.at(*point)) for point in chart.points),
        *(tag("g", *row, transform=f"translate({0 if narrow else plane.left} {below + ROW * place:g})") for place, row in enumerate(rows)),
        class_="chart narrow" if narrow else "chart",
    )


def around(plane: Plane, chart: Chart, threshold: float) -> Iterator[Html]:
    """The areas on both sides of the threshold: missed pairs and false-positive candidates."""
    for points, what, _ in chart.areas():
        base = 1.0 if what == "missed" else 0.0
        corners = [(points[0][0], base), *points, (points[-1][0], base)]
        yield tag("polygon", points=plane.path(corners), class_=what)
    yield plane.line((threshold, 0), (threshold, 1), "threshold")
    low, high = plane.span
    share = (threshold - low) / (high - low)
    anchor = "start" if share < 0.15 else "end" if share > 0.85 else "middle"
    yield plane.words(f"threshold {shown(threshold)}", (threshold, 1), anchor, dy=-12, class_="strong")


def cross(at: Point) -> Html:
    """A measured point."""
    (x, y), half = at, 4.5
    return tag("path", d=f"M{x - half:g} {y - half:g} l9 9 m-9 0 l9 -9", class_="curve third")


def measured_row() -> list[Html]:
    """The legend row of measured points."""
    return [cross((22, 0)), tag("text", "measured", x=54, y=4)]


def drawn_line(path: str, place: int) -> Html:
    """A curve as a polyline in the style of its place."""
    return tag("polyline", points=path, class_=class_of(place), stroke_dasharray=DASHES[place % len(DASHES)])


def class_of(place: int, kind: str = "curve") -> str:
    """The CSS class of the curve at this place."""
    return CLASSES[place % len(CLASSES)].replace("curve", kind)


def marks(plane: Plane, lines: Sequence[Line], threshold: float | None) -> Iterator[Html]:
    """A dot on each curve at the threshold, and the number of each curve if there are several."""
    dots = [plane.at(threshold, line.here) for line in lines if threshold is not None and line.here is not None]
    for place, (x, y) in reversed([*enumerate(dots)]):
        yield tag("circle", cx=x, cy=y, r=4.5, class_=class_of(place, "marker") if place else "dot")
    if len(lines) > 1:
        for place, at in enumerate(apart(plane, lines, dots)):
            yield from numbered(at, place)


#: Pixels between the centers of two numbers, and from a number to either end of the axis.
APART, FROM_END = 26, 14


def apart(plane: Plane, lines: Sequence[Line], dots: Sequence[Point]) -> Iterator[Point]:
    """A place on each curve for its number, near a separate level and away from other numbers and dots."""
    taken = list(dots)
    for place, line in enumerate(lines):
        level = plane.at(plane.span[0], 0.75 - 0.5 * place / (len(lines) - 1))[1]
        points = [plane.at(*point) for point in line.points]
        inside = [point for point in points if plane.left + FROM_END <= point[0] <= plane.width - plane.right - FROM_END]
        free = [point for point in inside if all(math.dist(point, other) >= APART for other in taken)]
        taken.append(min(free or inside, key=lambda point: (abs(point[1] - level), abs(point[0] - plane.width / 2))))
        yield taken[-1]


def numbered(at: Point, place: int) -> Iterator[Html]:
    """The number of a curve in a circle."""
    x, y = at
    yield tag("circle", cx=x, cy=y, r=9, class_=class_of(place, "marker"))
    yield tag("text", place + 1, x=x, y=round(y + 4, 2), text_anchor="middle", class_="number")


def legend(lines: Sequence[Line], several: bool) -> Iterator[list[Html]]:
    """A legend row for each curve: a piece of it, its number and label, and its probability at the threshold."""
    for place, line in enumerate(lines):
        if several or line.label:
            label = line.label if len(line.label) <= LONGEST else line.label[: LONGEST - 1] + "…"
            found = "" if line.here is None else f"{': ' * bool(label)}{percent(line.here)} at the threshold"
            number = numbered((22, 0), place) if several else ()
            yield [drawn_line("0,0 44,0", place), *number, tag("text", label + found, x=54, y=4)]


def shades(chart: Chart, *, abreast: bool) -> list[list[Html]]:
    """The legend row that names the two areas, or a row for each, in fewer words."""
    names = {what: name if abreast else name.partition(",")[0] for _, what, name in chart.areas()}
    boxes = ((0, "missed"), (220 if abreast else 0, "needless"))
    rects = [tag("rect", x=x, y=-8, width=44, height=16, class_=what) for x, what in boxes]
    texts = [tag("text", names[what], x=x + 54, y=4) for x, what in boxes]
    return [[*rects, *texts]] if abreast else [[*both] for both in zip(rects, texts, strict=True)]


def in_words(chart: Chart) -> str:
    """The description of the chart for those who cannot see it."""
    lines = chart.lines
    found = [f"{line.label} {percent(line.here)}".strip() for line in lines if line.here is not None]
    at = f"; at the threshold {shown(chart.threshold)}: {', '.join(found)}" if chart.threshold is not None else ""
    names = [line.label for line in lines if line.label]
    at = at or (f": {', '.join(names)}" if names else "")
    points = "; measured: " + ", ".join(f"{percent(share)} at {value:g}" for value, share in chart.points) if chart.points else ""
    return f"{chart.event.description}, by {chart.axis}{at}{points}{'; ' * bool(chart.note)}{chart.note}"
