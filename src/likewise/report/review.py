"""Findings that people should review before they trust a result: sentences for report.json, each with the section of the page that shows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from likewise.drawing.numbers import counted, percent, share
from likewise.report import wording

Report = dict[str, Any]

#: Near the threshold are the values in the first tenth of the range to equality. So many of them, and such a share of all, are worth a look.
MANY, LARGE_SHARE = 10, 0.25
#: Recall that overfull buckets may cost without a finding.
LOST = 0.005


def needs_review(report: Report) -> list[dict[str, str]]:
    """Return ``needs_review`` of report.json."""
    return [{"text": text, "target": target} for text, target in found(report)]


def found(report: Report) -> Iterator[tuple[str, str]]:
    """Yield sentences, the most important first, with the names of sections."""
    one, several = wording.compared(report)
    if report["verified"] != "exact":
        yield f"Similarities were not computed exactly (verification: {report['verified']})", "method"
    templates = report["removals"].get("templates", {"number": 0})
    if number := templates["number"]:
        looks = "looks" if number == 1 else "look"
        yield f"{counted(number, 'cluster')} {looks} like pages of one template: {counted(templates['removed'], one, several)} removed", "suspicious"
    if others := [cluster for cluster in report["suspicious"] if "template" not in cluster["reasons"]]:
        most = max(cluster["items"] for cluster in others)
        yield f"{counted(len(others), 'other cluster' if number else 'cluster')} with many items or sources, up to {most:,} {several}", "suspicious"
    if said := borderline(report):
        yield said, "borderline"
    budget = report["budget"]
    if budget["recall"] is None:
        yield "The recall is not known; likewise audit measures it", "recall"
    elif budget["cut"] and report.get("curve") and budget["recall"] < expected(report) - LOST:
        yield f"Overfull buckets lower the expected recall to {percent(budget['recall'], down=True)}", "crowded"
    if report["counts"]["rejected"]:
        yield f"{counted(report['counts']['rejected'], 'record')} could not be read", "sources"
    if report["warnings"]:
        yield f"The run gave {counted(len(report['warnings']), 'warning')}", "warnings"


def expected(report: Report) -> float:
    """Return the recall of the layout at the threshold."""
    plan = report["method"].get("plan") or report.get("join") or {}
    return float(plan.get("recall") or 0)


def borderline(report: Report) -> str:
    """Return how many near-duplicates are next to the threshold, if they are many, else ""."""
    near = report["removals"]["near"]
    low, high, number = nearest(report)
    if number < MANY or number < LARGE_SHARE * near or low == high:
        return ""
    return f"{number:,} of {counted(near, 'near-duplicate')} ({share(number, near)}) are next to the threshold, from {low:.4g} to {high:.4g}"


def nearest(report: Report) -> tuple[float, float, int]:
    """Return the bin of ``by_value`` next to the threshold: its least and largest value, and the near-duplicates in it."""
    first, last, number = report["removals"]["by_value"][-1 if report["value"] == "distance" else 0]
    return min(first, last), max(first, last), number
