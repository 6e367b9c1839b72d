"""The histogram of values at removal, with a slider that moves the threshold; and the counts at some thresholds as a table, which needs no script."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from likewise.drawing.markup import Html, table, tag
from likewise.drawing.numbers import counted, ranged, share, shown, spaced
from likewise.drawing.svg import ticks

#: Rows of the table at least, where the bins allow it.
FEWEST = 4
#: Columns drawn at most, values in a column on average, and how many neighboring bins a column may join.
MOST_COLUMNS, IN_COLUMN, JOINED = 80, 10, (1, 2, 5, 10, 20, 25, 50)


class Bin(NamedTuple):
    """A number of values from ``low`` up to ``high``: ``high`` belongs to the next bin, unless bins are whole numbers or there is no next one."""

    low: float
    high: float
    number: int


class Level(NamedTuple):
    """A stricter threshold at an edge of a bin, and the number of values that do not reach it."""

    threshold: float
    number: int


class Histogram(NamedTuple):
    """Values in bins of equal width, ascending. falling: they are distances, so lower thresholds are stricter. whole: bins are whole numbers."""

    bins: Sequence[Bin]
    falling: bool = False
    whole: bool = False

    @property
    def total(self) -> int:
        """The number of values."""
        return sum(one.number for one in self.bins)

    def levels(self) -> list[Level]:
        """A threshold for each bin; no value of the bin, or of one that is more similar, is counted.

        >>> Histogram([Bin(.8, .9, 5), Bin(.9, 1, 2)]).levels()
        [Level(threshold=0.8, number=0), Level(threshold=0.9, number=5)]
        >>> Histogram([Bin(0, 0, 4), Bin(1, 1, 5)], falling=True, whole=True).levels()
        [Level(threshold=0, number=5), Level(threshold=1, number=0)]
        """
        sums = [0, *accumulate(one.number for one in self.bins)]
        if self.falling:
            return [Level(one.high, sums[-1] - below) for one, below in zip(self.bins, sums[1:], strict=True)]
        return [Level(one.low, below) for one, below in zip(self.bins, sums[:-1], strict=True)]

    def at(self, value: float) -> float:
        """The place of a value from the left end, in per cent."""
        low, high = self.bins[0].low, self.bins[-1].high + self.whole
        return round(100 * min(max((value - low) / (high - low), 0), 1), 2) if high > low else 0.0


def histogram(found: Histogram, label: str, sentence: str, marks: Sequence[tuple[float, str]] = ()) -> Html:
    """The columns, an axis, and a slider that is hidden without a script.

    sentence: what the slider says, with {threshold}, {number} and {share} to be replaced. marks: (value, name) of lines across the columns.
    """
    drawn = grouped(found.bins, width_of(found))
    most = max(one.number for one in drawn)
    tallest = max(drawn, key=lambda one: one.number)
    number = len(found.bins)
    columns = [tag("span", style=f"height:{100 * one.number / most:.1f}%", class_=None if one.number else "none") for one in drawn]
    described = grouped(found.bins, -(-number // 20))
    filled = ", ".join(f"{ranged(one.low, one.high)}: {counted(one.number, 'near-duplicate')}" for one in described if one.number)
    middle = found.at((tallest.low + tallest.high + found.whole) / 2)
    peak = f"{counted(tallest.number, 'removal')} at {spaced(ranged(tallest.low, tallest.high))}"
    top = tag("span", peak, class_=placed("top", middle), style=f"left:{middle:.2f}%")
    lines = [mark(found.at(value), name, lower=place > 0) for place, (value, name) in enumerate(marks)]
    plot = tag("div", *columns, role="img", aria_label=f"{label}. {filled}", class_="columns")
    inset = 100 / number if found.falling else 0
    attributes = {"min": 0, "max": number - 1, "value": number - 1 if found.falling else 0, "aria_label": "Threshold", "autocomplete": "off"}
    place = f"width:calc({100 - 100 / number:.3f}% + 16px);margin-left:calc({inset:.3f}% - 8px)"
    slider = tag("input", type="range", id="slider", style=place, **attributes)
    levels = json.dumps([[short(level.threshold), level.number] for level in found.levels()], separators=(",", ":"))
    said = tag("output", "Move the slider to try a stricter threshold.", for_="slider")
    tried = tag("div", slider, tag("p", said), class_="slider", hidden="")
    return tag(
        "figure",
        tag("div", top, plot, *lines, class_="plot"),
        axis(found),
        tried,
        class_="histogram",
        data_levels=levels,
        data_width=width_of(found),
        data_falling="yes" if found.falling else None,
        data_total=found.total,
        data_sentence=sentence,
    )


def width_of(found: Histogram) -> int:
    """The bins of a column: as few as possible, but so many that there are few columns, each with some values on average."""
    number = len(found.bins)
    few = [width for width in JOINED if number / width <= MOST_COLUMNS]
    enough = [width for width in few if found.total * width >= IN_COLUMN * number or number / width <= 2 * IN_COLUMN]
    return [*enough, few[-1]][0]


def grouped(bins: Sequence[Bin], step: int) -> list[Bin]:
    """Neighboring bins joined."""
    parts = [bins[at : at + step] for at in range(0, len(bins), step)]
    return [Bin(part[0].low, part[-1].high, sum(one.number for one in part)) for part in parts]


def mark(at: float, name: str, *, lower: bool) -> Html:
    """A line across the columns with its name; ``lower``: below the name of another line."""
    return tag("span", tag("span", name), class_=placed("line lower" if lower else "line", at), style=f"left:{at}%")


def placed(name: str, at: float, room: float = 35) -> str:
    """The class of a label at this place. room: per cent on either side below which it is moved inside."""
    return name + (" left" if at < room else " right" if at > 100 - room else "")


def axis(found: Histogram) -> Html:
    """Numbers below the columns."""
    low, high = found.bins[0].low, found.bins[-1].high
    places = [float(round(value)) for value in ticks(low, high) if not found.whole or value == round(value)] if found.whole else []
    places = places or (ticks(low, high) if high > low else [low])
    width = 100 / len(found.bins) if found.whole else 0
    said = ((value, found.at(value) + width / 2) for value in places if low <= value <= high)
    return tag("div", *(tag("span", short(value), style=f"left:{at:.2f}%", class_=placed("tick", at, 5)) for value, at in said), class_="axis")


def thresholds(found: Histogram, caption: str, column: str) -> Html | None:
    """A table of some thresholds with the number of values that do not reach each; None if there is no stricter one."""
    rows = [[short(level.threshold), level.number, share(level.number, found.total)] for level in some(found)]
    return table(caption, ["distance" if found.falling else "threshold", column, "share"], rows) if rows else None


def some(found: Histogram) -> Iterator[Level]:
    """The levels at round numbers, or evenly spaced ones where bins have other edges, without the weakest."""
    stricter = found.levels()[:-1] if found.falling else found.levels()[1:]
    if not stricter:
        return
    low, high = found.bins[0].low, found.bins[-1].high
    near = [level for level in stricter if any(abs(level.threshold - value) < 1e-9 for value in ticks(low, high))]
    if len(near) >= min(FEWEST, len(stricter)) - 1:
        yield from near
    else:
        yield from stricter[:: max(1, len(stricter) // FEWEST)]


def short(value: float) -> str:
    """A value at an edge of a bin.

    >>> short(0.8500000001), short(3.0)
    ('0.85', '3')
    """
    return shown(round(value, 6))


def of_steps(first: float, step: float, counts: Sequence[int], *, falling: bool, whole: bool) -> Histogram:
    """The histogram of bins that begin at ``first`` and have the same width."""
    edges = [round(first + place * step, 12) for place in range(len(counts) + 1)]
    ends = [edge - 1 for edge in edges[1:]] if whole else edges[1:]
    return Histogram([Bin(*one) for one in zip(edges, ends, counts, strict=False)], falling, whole)
