"""The head of report.html: the result in a line, when and how it was made, the cards, and what needs review."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from likewise.drawing.cards import Card, cards
from likewise.drawing.markup import Html, join, tag
from likewise.drawing.numbers import by_reason, counted, percent, share, size
from likewise.report import wording
from likewise.report.page.frame import Report, by, expected_recall, limit_of, noun, sure, threshold_name


def headline(report: Report) -> str:
    """Return the counts of the run in one line."""
    n = report["counts"]
    names = wording.nouns(by(report))
    if not n["read"]:
        return f"Nothing to deduplicate: no {names[0]} was read"
    rejected = f", {n['rejected']:,} rejected" if n["rejected"] else ""
    shorter = f" ({said})" if (said := wording.shortened(report)) else ""
    return f"{counted(n['read'], *names)} read: {n['kept']:,} kept{shorter}, {n['removed']:,} removed{rejected}"


def header(report: Report, run: dict[str, Any] | None, audit: dict[str, Any] | None) -> Html:
    """Return the head of the page."""
    parts = re.split("(?<=[:,]) ", headline(report))
    title = tag("h1", join((tag("span", part) for part in parts), " "))
    if "leaks" in report:
        return tag("header", kicker(run), title, typed(run), cards(of_leaks(report)))
    return tag("header", kicker(run), title, subtitle(report), typed(run), cards(numbers(report, run or {}, audit)))


def kicker(run: dict[str, Any] | None) -> Html:
    """Return the line above the headline: the program, its version, and when the run ended."""
    facts = run or {}
    version = facts.get("versions", {}).get("likewise")
    return tag("p", tag("b", "likewise"), f" {version}" if version else None, when(facts.get("finished")), class_="kicker")


def when(finished: object) -> Html | None:
    """Return the time at which the run ended; None if earlier versions did not write it."""
    try:
        time = datetime.fromisoformat(str(finished))
    except ValueError:
        return None
    zone = f" {time.tzinfo}" if time.tzinfo else ""
    said = f"{time.day} {time:%B %Y, %H:%M}{zone}"
    return join([" · ", tag("time", said, datetime=time.isoformat())])


def subtitle(report: Report) -> Html | None:
    """Return the share of removed items by reason; None for an empty run."""
    n, number = wording.outcome(report), report["clusters"]["number"]
    if not n["read"]:
        return None
    if not n["removed"]:
        return tag("p", f"No {noun(report)} was found to be a copy or a near-duplicate of another.", class_="deck")
    *first, last = [said for said in by_reason(n) if not said.startswith("0 ")]
    reasons = f"{', '.join(first)} and {last}" if first else last
    said = f"{share(n['removed'], n['read'])} of the {noun(report, plural=True)} were removed: {reasons}, in {counted(number, 'cluster')}."
    return tag("p", said, class_="deck")


def typed(run: dict[str, Any] | None) -> Html | None:
    """Return the command line of the run with a button that copies it; None if it was not run on a command line."""
    command = (run or {}).get("command")
    if not command:
        return None
    button = tag("button", "Copy", type="button", hidden="", data_copy="command")
    return tag("p", tag("code", command, id="command"), " ", button, class_="command")


def numbers(report: Report, run: dict[str, Any], audit: dict[str, Any] | None) -> Iterator[Card]:
    """Yield the cards."""
    n = wording.outcome(report)
    yield Card("Removed", f"{n['removed']:,}", (f"{share(n['removed'], n['read'])} of {counted(n['read'], *wording.compared(report))}",))
    if "units" in report:
        yield of_text(report)
    elif read := run.get("input_bytes"):
        yield in_files(read, run.get("output_bytes"))
    yield Card(threshold_name(report), limit_of(report), (f"by {by(report)}",), "#method")
    yield recall(report) if not audit or audit["recall"] is None else measured(report, audit)
    yield to_review(report)


def of_leaks(report: Report) -> Iterator[Card]:
    """Yield the cards of a run that removed test data from training data."""
    found, n = report["leaks"], report["counts"]
    items = counted(found["items"], "test item")
    yield Card("Seen", f"{found['seen']:,}", (f"{share(found['seen'], found['items'])} of {items}",), "#items")
    if found["preset"]:
        yield Card("Contaminated", f"{found['contaminated']:,}", (f"by {found['preset']}",), "#items")
    yield of_text(report)
    yield Card("Documents removed", f"{n['removed']:,}", (f"of {n['read']:,}; {n['shortened']:,} others shortened",))
    yield to_review(report)


def of_text(report: Report) -> Card:
    """Return the card of the text that was removed."""
    chars = report["units"]["characters"]
    return Card("Text removed", share(chars["read"] - chars["kept"], chars["read"]), (f"of {counted(chars['read'], 'character')}",))


def to_review(report: Report) -> Card:
    """Return the card of what needs review."""
    review = report["needs_review"] if "needs_review" in report else report["warnings"]
    what = "see the list below" if review else "no finding"
    return Card("Needs review", f"{len(review):,}", (what,), "#warnings" if review else None, urgent=bool(review))


def in_files(read: int, left: int | None) -> Card:
    """Return the card of the size of the input files, and of the kept ones if these are copies of them."""
    if left is None or left > read:
        return Card("Read", size(read))
    return Card("Size removed", size(read - left), (f"{share(read - left, read)} of {size(read)} of files",))


def recall(report: Report) -> Card:
    """Return the card of recall: measured, or expected."""
    found = report.get("budget", {}).get("recall")
    if found is None:
        return Card("Recall", "not known", ("likewise audit OUT measures it",), "#recall")
    if found == 1:
        return Card("Expected recall", "100%", ("no pair is missed",), "#recall")
    at_least = sure(report) if report["curve"] or "join" in report else "about"
    note = f"of pairs at the threshold, calculated; from the layout {percent(expected_recall(report), down=True)}" if report["budget"]["cut"] else ""
    return Card("Expected recall", percent(found, down=True), (f"{at_least}, {note or 'of pairs at the threshold; calculated'}",), "#recall")


def measured(report: Report, audit: dict[str, Any]) -> Card:
    """Return the card of a measured recall, with its interval and the expected recall."""
    expected = report.get("budget", {}).get("recall")
    said = "" if expected is None else f"; expected {percent(expected, down=True)}"
    note = f"{percent(audit['low'])} to {percent(audit['high'])} with 95% confidence{said}"
    return Card("Measured recall", percent(audit["recall"]), (note,), "#recall")


def banner(report: Report) -> Html | None:
    """Return a warning for the top of the page unless all pairs were checked exactly."""
    if report["verified"] == "exact":
        return None
    return tag("p", tag("strong", "Not exact. "), wording.VERIFIED.get(report["verified"], report["verified"]), class_="banner", role="note")


def warnings(report: Report) -> Html | None:
    """Return what needs review, with links to the parts that show it, and the warnings of the run; None without any."""
    said = report["warnings"]
    review = [one for one in report.get("needs_review") or [] if one["target"] != "warnings"]  # they stand below
    if not review and not said:
        return None
    parts: list[object] = []
    if review:
        links = (tag("li", tag("a", one["text"], href=f"#{one['target']}")) for one in review)
        parts += [tag("h2", "Needs review"), tag("ul", *links)]
    if said:
        parts += [tag("h2", "Warnings"), tag("ul", *(tag("li", one) for one in said))]
    return tag("section", *parts, class_="banner", id="warnings")
