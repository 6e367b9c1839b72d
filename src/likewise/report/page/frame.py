"""Common parts of the sections of report.html: the frame of a section, and the words for its items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from likewise.drawing.markup import Html, join, named, table, tag
from likewise.drawing.numbers import counted
from likewise.planning.plan import OPH_STEEP_ABOVE
from likewise.report import curve, wording

Report = dict[str, Any]


def section(title: object, *content: object, name: str | None = None) -> Html:
    """Return a section with a title; ``name``: its id, for links."""
    return tag("section", tag("h2", title), *content, id=name)


def folded(title: object, *content: object, name: str | None = None, opened: bool = False) -> Html:
    """Return a part of a section that is closed at first, unless ``opened``."""
    return tag("details", tag("summary", title), *content, id=name, open="" if opened else None)


def listing(caption: str, head: list[str], rows: Sequence[Sequence[object]], first: int, one: str, foot: Sequence[object] | None = None) -> Html:
    """Return a table of the first rows, and the others in a second one that is closed at first. one: the noun of a row."""
    shown = table(caption, head, rows[:first], foot)
    if len(rows) <= first:
        return shown
    more = counted(len(rows) - first, f"more {one}")
    return join([shown, folded(more, table(more.capitalize(), head, rows[first:]))])


def place(identity: object, source: str, position: int) -> Html:
    """Return an item by its id and place; a source that is an item has the name of the item."""
    where = tag("span", " in ", located(source, position), class_="faint") if str(identity) != source else None
    return join([named(identity), where])


def located(source: str, position: int) -> Html:
    """Return a place."""
    return join([tag("bdi", source), f", position {position:,}"])


def items(report: Report, number: int) -> str:
    """Return a number of items with their noun, such as documents or vectors."""
    return counted(number, *wording.compared(report))


def noun(report: Report, *, plural: bool = False) -> str:
    """Return the noun of one item, or of several."""
    return wording.compared(report)[plural]


def by(report: Report) -> str:
    """Return the method of the comparison."""
    return str(report["method"]["by"])


def value_of(report: Report) -> str:
    """Return what is compared with the threshold: "similarity" or "distance"."""
    return str(report.get("value", "similarity"))


def limit_of(report: Report) -> str:
    """Return the threshold or the maximum distance."""
    return wording.limit(report["threshold"], value_of(report), by(report))


def threshold_name(report: Report) -> str:
    """Return the name of the limit."""
    return "Maximum distance" if value_of(report) == "distance" else "Threshold"


def expected_recall(report: Report) -> float:
    """Return the recall at the threshold from the layout, else interpolated between the two nearest points of the curve."""
    recall = curve.layout(report).get("recall")
    return float(recall) if recall is not None else curve.between(report["curve"], report["threshold"])


def sure(report: Report) -> str:
    """Return "at least" if the recall at the threshold is a lower bound, else "about"."""
    guaranteed = expected_recall(report) >= OPH_STEEP_ABOVE or curve.layout(report).get("sketch") != "oph"
    return "at least" if guaranteed else "about"


def values(caption: str, data: dict[str, Any]) -> Html:
    """Return a table of names and values; nested names are joined by dots."""
    rows: list[list[object]] = []
    for name, value in data.items():
        nested = value.items() if isinstance(value, dict) else [("", value)]
        rows += [[f"{name}.{inner}".rstrip("."), tag("code", plain(item))] for inner, item in nested]
    return table(caption, ["name", "value"], rows)


def plain(value: object) -> str:
    """Return a value as text."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "not given"}[value]
    return (", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)) or "none"
