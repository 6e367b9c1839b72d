"""Candidates and buckets: how pairs were found, and which buckets were too full."""

from __future__ import annotations

from typing import Any

from likewise.drawing import charts
from likewise.drawing.markup import Html, join, table, tag
from likewise.drawing.numbers import counted, percent
from likewise.kinds import kind_of
from likewise.report import wording
from likewise.report.page.frame import Report, by, items, located, section
from likewise.report.page.recall import proposed_by

#: Passages or elements that are shown of a bucket.
MOST = 12


def buckets(report: Report, run: dict[str, Any] | None) -> Html | None:
    """Return the section on comparisons, buckets and skipped pairs, or None."""
    if "buckets" not in report:
        return None
    sizes = report["buckets"]
    parts: list[object] = [tag("p", compared(report, run))]
    if not report["curve"] or "join" in report:
        return section("Comparisons", *parts, name="crowded")
    parts += overfull(report)
    if sizes["by_size"]:
        title = f"Buckets by number of {wording.compared(report)[1]}"
        parts += [tag("h3", title), charts.bars(list(sizes["by_size"].items()), "bucket", title)]
    return section("Candidates and buckets", *parts, name="crowded")


def compared(report: Report, run: dict[str, Any] | None) -> str:
    """Return how candidates were found, and how many pairs were compared."""
    sizes = report["buckets"]
    found = "similar" if report["verified"] == "exact" else "accepted as similar"
    one, several = wording.compared(report)
    distinct = counted(report["items"], f"distinct {one}", f"distinct {several}")
    how = (
        f"collided in {counted(sizes['number'], 'bucket')}, the largest of {items(report, sizes['largest'])}"
        if report["curve"]
        else "were all compared with each other"
        if wording.compares_all(report)
        else "were joined exactly"
    )
    how = f"became candidates by {proposed} and were then compared in full" if (proposed := proposed_by(report)) else how
    how = "were joined by bit codes and then compared in full" if report["curve"] and "join" in report else how
    matched = f"{counted(report['matched'], 'pair is', 'pairs are')} {found}"
    if run and "compared" in run:  # earlier versions wrote it to report.json
        matched = f"{counted(run['compared'], 'pair was', 'pairs were')} compared, and {counted(report['matched'], 'is', 'are')} {found}"
    return f"{distinct} {how}; {matched}."


def overfull(report: Report) -> list[Html]:
    """Return what was skipped in overfull buckets, and the buckets with what all of their items have in common."""
    budget = report["budget"]
    if not (cut := budget["cut"]):
        return [tag("p", f"No pair was skipped; the expected recall is {percent(budget['recall'], down=True)}.")]
    skipped = f"{counted(cut, 'pair')} in overfull buckets {'was' if cut == 1 else 'were'} skipped"
    missed = int(budget.get("missed_at_most", cut))
    lost = f"{skipped}; {'this lowers the expected recall to' if missed else 'the expected recall is still'} {percent(budget['recall'], down=True)}."
    if (sampled := budget.get("sampled")) and "similar" in budget:  # earlier versions had another name
        bound = f"at most {counted(missed, 'pair')}" if missed else "no pair"
        lost += f" {counted(sampled, 'skipped pair')} were compared as a sample, and {budget['similar']:,} were similar: "
        lost += f"{bound} missed, with 95% confidence."
    return [tag("p", tag("strong", lost)), *crowded(report, budget["buckets"])]


def crowded(report: Report, buckets: list[dict[str, Any]]) -> list[Html]:
    """Return the table of the overfull buckets with the most skipped pairs; ``shared``: earlier versions and some kinds of items have none."""
    facts = wording.measured(by(report))  # None: texts, which are sets of shingles
    several, some = wording.compared(report)[1], any(bucket.get("shared") for bucket in buckets)
    head = [*(["in common"] if some else []), f"first of the {several}", several, "skipped pairs"]
    rows = [[*([in_common(report, bucket)] if some else []), first(bucket), bucket["items"], bucket["cut"]] for bucket in buckets]
    said = f"The {several} of a bucket are in it because they have some {wording.parts(by(report))} in common. If these say nothing about a "
    said += f"{wording.compared(report)[0]}, such as a notice at the end of each page, leave them out of the comparison (option "
    ignore = tag("p", said, tag("code", "ignore"), ").") if some and (facts is None or kind_of(facts.name).sets) else None
    made = table("The overfull buckets with the most skipped pairs", head, rows) if buckets else None
    return [part for part in (ignore, made) if part is not None]


def in_common(report: Report, bucket: dict[str, Any]) -> Html:
    """Return the first passages or elements that all items of a bucket have."""
    found, between = bucket.get("shared") or [], wording.between(by(report))
    more = tag("span", f"{between}and {len(found) - MOST:,} more", class_="faint") if len(found) > MOST else None
    return tag("span", join((tag("bdi", part) for part in found[:MOST]), between), more, class_="shared", dir="auto")


def first(bucket: dict[str, Any]) -> Html:
    """Return the place and the beginning of the first item of a bucket."""
    where = located(bucket["source"], bucket["position"]) if "source" in bucket else None
    return join([where, tag("span", tag("bdi", bucket.get("text", "")), class_="snippet", dir="auto")])
