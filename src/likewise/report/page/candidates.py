"""Candidates and buckets: how pairs were found, and which buckets were too full."""

from __future__ import annotations

import math
from typing import Any

from likewise.drawing import charts
from likewise.drawing.markup import Html, table, tag
from likewise.drawing.numbers import counted, percent
from likewise.report import wording
from likewise.report.page.frame import Report, items, section
from likewise.report.page.recall import proposed_by


def buckets(report: Report, run: dict[str, Any] | None) -> Html | None:
    """Return the section on comparisons, buckets and skipped pairs, or None."""
    if "buckets" not in report:
        return None
    sizes = report["buckets"]
    parts: list[object] = [tag("p", compared(report, run))]
    if not report["curve"] or "join" in report:
        return section("Comparisons", *parts, name="crowded")
    parts += overfull(report["budget"])
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


def overfull(budget: dict[str, Any]) -> list[Html]:
    """Return what was skipped in overfull buckets, and the buckets with the text that fills them."""
    if not (cut := budget["cut"]):
        return [tag("p", f"No pair was skipped; the expected recall is {percent(budget['recall'], down=True)}.")]
    skipped = f"{counted(cut, 'pair')} in overfull buckets {'was' if cut == 1 else 'were'} skipped"
    lost = f"{skipped}; this lowers the expected recall to {percent(budget['recall'], down=True)}."
    if (sampled := budget.get("sampled")) and "similar" in budget:  # earlier versions had another name
        missed = f"at most {counted(math.ceil(budget['missed_at_most']), 'pair')} missed, with 95% confidence"
        lost += f" {counted(sampled, 'skipped pair')} were compared as a sample, and {budget['similar']:,} were similar: {missed}."
    headings = {**wording.BUCKET, "shared": "text in common"}
    columns = [name for name in headings if any(bucket.get(name) is not None for bucket in budget["buckets"])]
    rows = [["" if bucket.get(name) is None else bucket[name] for name in columns] for bucket in budget["buckets"]]
    caption = "The overfull buckets with the most skipped pairs"
    return [tag("p", tag("strong", lost)), table(caption, [headings[name] for name in columns], rows)]
