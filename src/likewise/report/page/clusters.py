"""Clusters: the suspicious ones, which may not be duplicates, the largest, and all by size."""

from __future__ import annotations

from typing import Any

from likewise.drawing import charts
from likewise.drawing.markup import Html, join, named, table, tag
from likewise.drawing.numbers import counted, figure, share
from likewise.report import wording
from likewise.report.examples import MARKS
from likewise.report.page.frame import Report, by, folded, items, listing, noun, place, section, value_of
from likewise.report.pictures import SMALL, Pictures, none

#: Why a cluster may be none of duplicates.
REASONS = {
    "template": "a template? Most of its members are just similar enough",
    "large": "large",
    "sources": "from many sources",
}
#: Rows of the table of the largest clusters that are open at first.
FIRST = 8
#: Why a member was removed.
MEMBERS = {"exact": "exact copy", "equal": "same shingles", "near": "near-duplicate"}


def suspicious(report: Report, pictures: Pictures = none) -> Html | None:
    """Return the section on clusters that a reader should check, or None."""
    found = report.get("suspicious")
    if not found:
        return templates(report)
    several = noun(report, plural=True)
    said = f"These clusters removed many {several} for one, or {several} that barely reach the threshold. If they are pages of one template rather "
    said += "than duplicates, raise the threshold or remove the text that they share."
    differ = any(each.get("difference") for one in found for each in one.get("members") or ())
    marks = [
        " In pages of a template, text that is ",
        tag("del", "struck through"),
        " is only in the removed one, text that is ",
        tag("ins", "underlined"),
        " only in the kept one.",
    ]
    return section(
        "Clusters to check", tag("p", said, *(marks if differ else [])), *(cluster(report, each, pictures) for each in found), name="suspicious"
    )


def cluster(report: Report, found: dict[str, Any], pictures: Pictures = none) -> Html:
    """Return a cluster: what it is like, how similar its members are, and the members, closed at first unless they say how they differ."""
    one, several = wording.compared(report)
    reasons = ", ".join(REASONS.get(reason, reason) for reason in found.get("reasons", ()))
    size = counted(found["items"], one, several)
    head = tag("p", tag("b", size), tag("span", f" {reasons}", class_="reason") if reasons else None, class_="size")
    text = tag("blockquote", tag("bdi", found["text"]), dir="auto") if found.get("text") else None
    kept = tag("p", "Kept: ", place(found["representative"], found["source"], found["position"]))
    facts = tag("p", *spread(report, found), class_="facts")
    members = found.get("members") or []
    rest = found["items"] - 1 - len(members)
    more = tag("p", f"and {rest:,} more; ", tag("code", "likewise show OUT ID"), " lists them.", class_="faint") if rest > 0 else None
    listed = tag("ul", *(member(report, each, found.get("text"), pictures) for each in members), class_="members")
    differ = any(each.get("difference") for each in members)
    shown = folded(f"The {counted(len(members), 'least similar member')}", listed, more, opened=differ) if members else None
    return tag("article", head, pictures(found["source"], SMALL), text, facts, kept, shown, class_="cluster")


def spread(report: Report, found: dict[str, Any]) -> list[object]:
    """Return the least and median similarity of a cluster, and the number of its sources."""
    value = value_of(report)
    extreme = "Greatest" if value == "distance" else "Least"
    known = [(f"{extreme} {value}", found.get("least")), ("median", found.get("median"))]
    said: list[str] = [f"{name} {wording.amount(number, value, by(report))}" for name, number in known if number is not None]
    if found.get("near") and found.get("low") is not None:  # None: such items have no templates
        said.append(f"{share(found['low'], found['near'])} of {counted(found['near'], 'near-duplicate')} in the lower half")
    if found.get("sources"):
        said.append(counted(found["sources"], "source"))
    return ["; ".join(said), "."] if said else []


def member(report: Report, found: dict[str, Any], kept: str | None, pictures: Pictures) -> Html:
    """Return a removed member of a cluster, with the beginning of its text unless it is that of the kept item."""
    value = value_of(report)
    number = found.get(value)
    known = number is not None and found["reason"] == "near"
    how = f"{value} {wording.amount(float(number or 0), value, by(report))}" if known else MEMBERS.get(found["reason"], found["reason"])
    text = tag("bdi", found["text"], class_="snippet", dir="auto") if found.get("text") not in (None, "", kept) else None
    if found.get("difference"):
        text = tag("span", *(tag(MARKS[what], said) if what in MARKS else said for what, said in found["difference"]), class_="snippet", dir="auto")
    return tag("li", pictures(found["source"], SMALL), tag("b", how), " ", place(found["id"], found["source"], found["position"]), text)


def templates(report: Report) -> Html | None:
    """Return the table of clusters that look like pages of a template in a report of an earlier version, or None."""
    found = report.get("removals", {}).get("templates")
    if not found or not found["number"] or not found.get("largest"):
        return None
    number = counted(found["number"], "cluster")
    said = f"{number}, with {items(report, found['removed'])} removed, may be pages of one template: most similarities are just above the threshold. "
    said += "Check some of them before you trust these removals."
    rows = [[named(c["representative"]), tag("bdi", c["source"]), c["position"], c["near"], share(c["low"], c["near"])] for c in found["largest"]]
    columns = [f"kept {noun(report)}", "source", "position", "near-duplicates", "share in the lower half"]
    return section("Clusters to check", tag("p", said), table("Clusters that may be pages of one template", columns, rows), name="suspicious")


def clusters(report: Report, pictures: Pictures = none) -> Html:
    """Return the section on all clusters."""
    found = report["clusters"]
    if not found["number"]:
        return section("Clusters", tag("p", f"There are no clusters: no {noun(report)} was removed."), name="clusters")
    one, several = wording.compared(report)
    role = f"{one}, its representative, which was kept or is in the second collection" if "against" in report else f"kept {one}, its representative"
    said = f"{counted(found['number'], 'cluster')}, each with one {role}, and the {several} removed as its duplicates. "
    if found["components"] < found["number"]:
        joined = f"joining the clusters that one {one} matches gives {counted(found['components'], 'component')}"
        said += f"Some {several} are similar to several kept ones; {joined}."
    title = f"Clusters by number of {several}"
    sizes = charts.bars(charts.by_powers(found["by_size"]), "cluster", title)
    listed = None if report.get("largest_parts") else largest(report, pictures)  # the outcome shows those parts already
    return section("Clusters", tag("p", said), tag("h3", title), sizes, listed, name="clusters")


def largest(report: Report, pictures: Pictures) -> Html:
    """Return the table of the largest clusters."""
    found, value = report["clusters"]["largest"], value_of(report)

    def row(c: dict[str, Any]) -> list[object]:
        text = tag("span", tag("bdi", c["text"]), class_="snippet", dir="auto") if c.get("text") else None
        kept = [pictures(c["source"], SMALL), place(c["representative"], c["source"], c["position"]), text]
        known = ["" if c.get(name) is None else figure(c[name], value) for name in ("median", "least") if name in found[0]]
        return [join(kept), c["items"] - 1, *known]

    extreme = "greatest" if value == "distance" else "least"
    columns = [
        f"kept {noun(report)}",
        "removed",
        *(f"{said} {value}" for name, said in (("median", "median"), ("least", extreme)) if name in found[0]),
    ]
    return listing("The largest clusters", columns, [row(c) for c in found], FIRST, "cluster")
