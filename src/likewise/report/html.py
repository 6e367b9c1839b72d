"""report.html: a self-contained page for people who ask what was kept, what was removed, and whether to trust the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from likewise.drawing import page
from likewise.drawing.markup import tag
from likewise.report import judged
from likewise.report.examples import Example
from likewise.report.page.candidates import buckets
from likewise.report.page.clusters import clusters, suspicious
from likewise.report.page.frame import Report
from likewise.report.page.head import banner, header, headline, warnings
from likewise.report.page.machine import machine
from likewise.report.page.method import method
from likewise.report.page.outcome import against, counts
from likewise.report.page.similarities import pairs, removed
from likewise.report.page.sources import sources
from likewise.report.pictures import pictures_of
from likewise.report.style import STYLE


def render(report: Report, run: dict[str, Any] | None, examples: Sequence[Example], audit: dict[str, Any] | None = None) -> str:
    """Return the page as text.

    report, run: the content of report.json and run.json (None if it is missing). examples: a few removed items with their texts. audit: the stored
    audit of the output. Where items are image files, the page has small pictures of the items that it shows, which are read again.
    """
    pictures = pictures_of(report, run)
    top = [header(report, run, audit), banner(report), warnings(report), counts(report)]
    if "leaks" in report:
        middle = [judged.section(report), pairs(report, examples, pictures), sources(report)]
    else:
        middle = [against(report), removed(report), pairs(report, examples, pictures), suspicious(report, pictures)]
        middle += [clusters(report, pictures), sources(report), buckets(report, run)]
    footer = tag(
        "footer", "Written by likewise from report.json and run.json. ", tag("code", "likewise report OUT"), " writes it again.", class_="faint"
    )
    body = [*top, *middle, machine(report, run), method(report, audit), footer]
    return "".join(page.document(f"likewise: {headline(report)}", body, style=STYLE, script=page.script()))
