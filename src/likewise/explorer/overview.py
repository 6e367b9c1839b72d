"""The first page: what one wants to know about an output, from report.json alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from likewise.drawing.cards import Card, cards
from likewise.drawing.numbers import counted, ranged, share, spaced
from likewise.explorer.output import Output
from likewise.explorer.pages import File, Request, Shown
from likewise.report import wording
from likewise.report.measured import stored
from likewise.report.page.frame import by, limit_of, noun, threshold_name, value_of
from likewise.report.page.head import banner, headline, measured, recall, subtitle, to_review
from likewise.report.page.similarities import removed
from likewise.report.review import nearest
from likewise.service.problems import ProblemError

#: Clusters that are named.
LARGEST = 5
#: report.html brings its own style and script; here it may do nothing else, and is of no origin.
APART = "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def page(output: Output, _: Request) -> Shown:
    report = output.report
    values: dict[str, Any] = {"here": "/", "headline": headline(report), "subtitle": subtitle(report), "banner": banner(report)}
    values |= {"cards": cards(facts(report, stored(output.folder))), "warnings": report["warnings"], "review": report.get("needs_review") or []}
    values |= {"chart": removed(report), "largest": report.get("clusters", {}).get("largest", [])[:LARGEST], "noun": noun(report, plural=True)}
    values["linked"] = "units" not in report  # several parts of a document have its position
    return Shown("overview.html", values | {"has_report": (output.folder / "report.html").is_file()})


def report(output: Output, _: Request) -> File:
    """report.html as it is."""
    path = output.folder / "report.html"
    if path.is_symlink() or not path.is_file():
        raise ProblemError(404, "this output has no report.html; `likewise report OUT` writes it")
    return File(path.read_bytes(), "text/html; charset=utf-8", APART)


def facts(report: dict[str, Any], audit: dict[str, Any] | None) -> Iterator[Card]:
    """Yield the cards, each with a link to the page that says more."""
    n, (one, several) = wording.outcome(report), wording.compared(report)
    yield Card("Removed", f"{n['removed']:,}", (f"{share(n['removed'], n['read'])} of {counted(n['read'], one, several)}",), "/clusters")
    yield Card(threshold_name(report), limit_of(report), (f"by {by(report)}",))
    near = report.get("removals", {}).get("near", 0)
    if near and report["removals"]["by_value"]:
        low, high, number = nearest(report)
        yield Card(
            "Next to the threshold",
            f"{number:,}",
            (f"of {counted(near, 'near-duplicate')} have a {value_of(report)} of {spaced(ranged(low, high))}",),
            "/clusters?sort=least",
        )
    if found := report.get("clusters", {}).get("largest", []):
        yield Card("Largest cluster", f"{found[0]['items']:,}", (several,), "/clusters?sort=size")
    found_recall = recall(report) if audit is None or audit["recall"] is None else measured(report, audit)
    yield found_recall._replace(href="/report#recall")
    yield to_review(report)
