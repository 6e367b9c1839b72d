"""The first page: what one wants to know about an output, from report.json alone."""

from __future__ import annotations

from typing import Any

from likewise.drawing import charts
from likewise.drawing.numbers import counted, percent, ranged, share
from likewise.explorer.output import Output
from likewise.explorer.pages import File, Request, Shown
from likewise.report import wording
from likewise.report.html import conditions, headline, subtitle
from likewise.service.problems import ProblemError

#: Clusters that are named.
LARGEST = 5
#: report.html brings its own style and script; here it may do nothing else, and is of no origin.
APART = "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def page(output: Output, _: Request) -> Shown:
    report = output.report
    values: dict[str, Any] = {"here": "/", "headline": headline(report), "subtitle": subtitle(report), "conditions": conditions(report)}
    values |= {"facts": facts(report), "warnings": report["warnings"], "chart": chart(report), "largest": largest(report), "value": output.value}
    values |= {"has_report": (output.folder / "report.html").is_file(), "exact": report["verified"] == "exact"}
    return Shown("overview.html", values)


def report(output: Output, _: Request) -> File:
    """report.html as it is."""
    path = output.folder / "report.html"
    if path.is_symlink() or not path.is_file():
        raise ProblemError(404, "this output has no report.html; `likewise report OUT` writes it")
    return File(path.read_bytes(), "text/html; charset=utf-8", APART)


def facts(report: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """What one wants to know: a question, its answer in short and in words, and the page that says more."""
    n, (one, several) = wording.outcome(report), wording.compared(report)
    removed = f"{counted(n['removed'], one, several)} of {n['read']:,}"
    made = [("How much was removed?", share(n["removed"], n["read"]), removed, "/clusters")]
    near = report.get("removals", {}).get("near", 0)
    if near and (bins := report["removals"]["by_value"]):
        low, high, number = bins[0]
        place = (
            f"{counted(number, 'near-duplicate')} of {near:,} have a {report.get('value', 'similarity')} of {ranged(min(low, high), max(low, high))}"
        )
        made.append(("Is the threshold right?", share(number, near), f"{place}, next to the threshold", "/clusters?sort=least"))
    found = report.get("clusters", {}).get("largest", [])
    if found:
        made.append(("What needs a look?", f"{found[0]['items']:,}", f"{several} are in the largest cluster", "/clusters?sort=size"))
    recall = report.get("budget", {}).get("recall")
    if recall is not None:
        words = "no similar pair is missed" if recall == 1 else "of the pairs at the threshold are found, at least; `likewise audit OUT` measures it"
        made.append(("How much was missed?", percent(recall, down=True), words, ""))
    return made


def chart(report: dict[str, Any]) -> Any:
    """The removals by similarity."""
    found = report.get("removals", {}).get("by_value", [])
    return charts.bars([(ranged(min(a, b), max(a, b)), n) for a, b, n in found], "item", "Near-duplicates") if found else None


def largest(report: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = report.get("clusters", {}).get("largest", [])[:LARGEST]
    return found
