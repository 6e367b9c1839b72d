"""The method, closed at first: what similar means, what was ignored, the recall, and all options."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from likewise.drawing.markup import Html, join, table, tag
from likewise.drawing.numbers import counted, percent, share
from likewise.kinds import kind_of
from likewise.report import curve, wording
from likewise.report.page.frame import Report, by, folded, items, limit_of, noun, section, sure, threshold_name, value_of, values
from likewise.report.page.recall import recall


def method(report: Report, audit: dict[str, Any] | None) -> Html:
    """Return the section on the method."""
    parts = [*similar(report), *left_out(report)] if "leaks" not in report else []
    explained = folded("The meaning of similar, and the recall", *parts, recall(report, audit), name="explained") if parts else None
    options = folded("All options of this run", values("Options that determine the result", report["method"]))
    return section("Method", summary(report), explained, options, name="method")


def summary(report: Report) -> Html | None:
    """Return the method in one line; None where the rule of the run is a section of its own."""
    if "leaks" in report:
        return None
    found = report.get("budget", {}).get("recall")
    expected = "recall not guaranteed" if found is None else f"expected recall {'1' if found == 1 else f'{sure(report)} {percent(found, down=True)}'}"
    return tag(
        "p", f"Method: {by(report)}. {threshold_name(report)}: {limit_of(report)} ({expected}). {wording.VERIFIED.get(report['verified'], '')}"
    )


def similar(report: Report) -> list[Html]:
    """Return the parts that define similarity."""
    chosen = report["method"]
    steps: list[list[object]] = [["normalization", ", ".join(map(wording.step, chosen["normalize"])) or "none"]]
    preferred = f"; sources that match {', '.join(chosen['prefer'])} take precedence" if chosen["prefer"] else None
    facts = wording.measured(by(report))
    kept = {name: getattr(kind_of(facts.name), name) for name in ("longest", "shortest")} if facts else {}
    keep = (wording.KEEP | kept).get(chosen["keep"], tag("code", chosen["keep"]))
    rows: list[list[object]] = [
        ["method", tag("code", by(report))],
        *(steps if facts is None else []),
        [threshold_name(report).lower(), f"{limit_of(report)} (inclusive)"],
        ["verification", wording.VERIFIED.get(report["verified"], report["verified"])],
        [f"kept {noun(report)} of a cluster", join([keep, preferred])],
    ]
    return [tag("p", defined(report)), table("Options of the comparison", ["option", "value"], rows)]


def defined(report: Report) -> str:
    """Return a sentence that defines the compared items and their similarity or distance."""
    facts = wording.measured(by(report))
    one, several = wording.compared(report)
    if facts is not None:
        item = kind_of(facts.name).described(curve.layout(report).get("dimension"))
        value = wording.GROUPED if report["method"].get("groups") else facts.value
        return f"Each item is {item}. The {value_of(report)} of two {several} is {value}.{wording.without_ignored(report)}"
    unit, _, length = by(report).split("/")[0].partition(":")
    tokens = wording.UNITS.get(unit, unit)
    shingles, parts = (f"sequences of {length} {tokens} (shingles)", "shingles") if length != "1" else (tokens, tokens)
    if by(report).endswith("/bag"):
        held, value = (
            "bag (a set with repetitions)",
            "weighted Jaccard similarity of their bags: the sum of the smaller counts divided by that of the larger",
        )
    else:
        held, value = "set", f"Jaccard similarity of their sets: the number of common {parts} divided by the number of {parts} in either"
    said = f"Each {one} is represented by the {held} of its {shingles}. The similarity of two {several} is the {value}. "
    return f"{said}1 means equal; 0 means nothing in common.{wording.without_ignored(report)}"


def left_out(report: Report) -> list[Html]:
    """Return the parts on what the run ignored; none if it ignored nothing."""
    found = report.get("ignored")
    if not found:
        return []
    what = wording.parts(by(report))
    said = f"{found['occurrences']:,} of all {found['of']:,} {what} ({share(found['occurrences'], found['of'])}) were left out: "
    said += f"those equal to {counted(found['shingles'], f'ignored {what[:-1]}')}. "
    if without := found["items_without_others"]:
        said += f"{items(report, without)} had no others, so only their exact copies were removed. "
    title, common = tag("h3", f"Ignored {what}"), found.get("common")
    return [title, tag("p", said), *(most_common(report, common, what) if common else [])]


def most_common(report: Report, common: dict[str, Any], what: str) -> list[Html]:
    """Return the parts on shingles that were ignored because they are common."""
    said = f"{counted(common['shingles'], what[:-1])} occurred in more than {percent(float(Fraction(common['share'])))} of "
    said += f"{counted(common['items'], f'distinct {noun(report)}', f'distinct {noun(report, plural=True)}')}."
    rows = [[tag("bdi", each["text"] or "(far from the beginning)"), each["items"], share(each["share"], 1)] for each in common["most"]]
    listed = [table(f"The most common {what}", ["content", noun(report, plural=True), "share"], rows)] if rows else []
    return [tag("p", said), *listed]
