"""The distribution of similarities at removal: was the threshold right? And the pairs nearest to it first."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from likewise.drawing.histogram import Bin as HistogramBin
from likewise.drawing.histogram import Histogram, histogram, of_steps, thresholds
from likewise.drawing.markup import Html, join, tag
from likewise.drawing.numbers import counted
from likewise.kinds import of_payload
from likewise.report import wording
from likewise.report.examples import Example, side_by_side
from likewise.report.page.frame import Report, by, folded, limit_of, noun, section, threshold_name, value_of
from likewise.report.pictures import Pictures

#: A histogram of so few bins shows its median well enough.
FEW = 5
#: Titles of groups of examples (`Example.group`).
GROUPS = {
    "borderline": "Nearest the threshold",
    "middle": "From the middle",
    "high": "Most similar",
    "other": "Copies, and others without a similarity",
}


def removed(report: Report) -> Html | None:
    """Return the section on the distribution of similarities at removal, or None."""
    found = report.get("removals")  # earlier versions did not write this
    if not found or not found["near"]:
        return None
    value, one, bars = value_of(report), noun(report), binned(report)
    middle = wording.amount(found["median"], value, by(report))
    said = f"The chart shows {counted(found['near'], 'near-duplicate')} by {value} to the {one} that was kept instead. The median is {middle}. "
    said += "Exact copies are not included."
    title = f"{value.capitalize()} of removed and kept {noun(report, plural=True)}"
    limit = f"{threshold_name(report).lower()} {limit_of(report)}"
    at = float(report["threshold"]) + (bars.falling and bars.whole)  # the far edge of a bin
    half = bars.whole / 2
    marks = [(at, limit), *([(found["median"] + half, f"median {middle}")] if len(bars.bins) > FEW else [])]
    chart = histogram(bars, f"Near-duplicates by {value}", sentence(report), marks)
    caption = "Below a higher threshold" if not bars.falling else "Beyond a stricter limit" if bars.whole else "At or beyond a distance"
    counts = thresholds(bars, caption, "near-duplicates")
    note = "The counts are exact for the pairs of this run. A stricter run may still remove some of these: "
    note += f"a removed {one} may also be similar to another kept one."
    several = tag("div", chart, counts, class_="beside") if counts else chart
    return section(title, tag("p", said), several, tag("p", note, class_="faint") if counts else None, name="threshold")


def binned(report: Report) -> Histogram:
    """Return the histogram of a report; of an earlier version, its ten bins."""
    found, falling = report["removals"], value_of(report) == "distance"
    if "histogram" in found:
        fine = found["histogram"]
        return of_steps(fine["first"], fine["step"], fine["counts"], falling=falling, whole=whole(report))
    return Histogram([HistogramBin(*one) for one in found["by_value"]], falling, whole(report))


def whole(report: Report) -> bool:
    """Return whether values are whole numbers, such as bits."""
    facts = wording.measured(by(report))
    return bool(facts and facts.whole)


def sentence(report: Report) -> str:
    """Return what the slider says. Distances that are no whole numbers may be equal to the edge of a bin, and are then counted as beyond it."""
    found, one = report["removals"], noun(report)
    place, reach = "a threshold of", "would not be similar enough to"
    if value_of(report) == "distance":
        place, reach = "an upper limit of" if whole(report) else "an upper limit just below", "would be too far from"
    return (
        f"At {place} {{threshold}}, {{number}} of the {counted(found['near'], 'near-duplicate')} ({{share}}) {reach} the {one} kept in their place."
    )


def pairs(report: Report, examples: Sequence[Example], pictures: Pictures) -> Html | None:
    """Return the section of examples, or None."""
    if not examples:
        return None
    one = noun(report)
    own = [tag("del", "struck through"), f" if only the removed {one} has them, ", tag("ins", "underlined"), " if only the kept one has them. "]
    what, remark = wording.GROUPS if examples[0].groups else of_payload(examples[0].kind).marked
    legend = [f"{what.capitalize()} that differ are marked: ", *own, remark] if what else []
    legend += [wording.UNGROUPED] if report["method"].get("groups") and not examples[0].groups else []
    if of_payload(examples[0].kind).made_of:
        legend.append("Pictures are reduced, on a white background, as in the comparison. ")
    said = tag("p", *legend, tag("code", "likewise show OUT ID"), f" shows any other removed {one}.")
    return section(f"Examples of removed {noun(report, plural=True)}", said, *grouped(report, examples, pictures), name="borderline")


def grouped(report: Report, examples: Sequence[Example], pictures: Pictures) -> list[Html]:
    """Return the examples, each group with its title; the first group is open."""
    shown: list[Html] = []
    numbered = enumerate(examples, 1)
    for group, members in groupby(numbered, lambda each: each[1].group):
        estimated = report["verified"] == "estimate"
        drawn = [side_by_side(example, number, estimated, pictures) for number, example in members]
        title = GROUPS.get(group)
        if shown and title:
            shown.append(folded(join([tag("span", title, class_="group"), f" ({len(drawn):,})"]), *drawn))
        else:
            shown.append(tag("div", tag("p", title, class_="group") if title else None, *drawn))
    return shown
