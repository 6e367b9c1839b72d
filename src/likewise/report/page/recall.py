"""The recall: what the method finds with which probability."""

from __future__ import annotations

from typing import Any

from likewise.drawing.markup import Html, join, table, tag
from likewise.drawing.numbers import counted, percent
from likewise.kinds import kind_of
from likewise.planning import spread
from likewise.report import curve, wording
from likewise.report.page.frame import Report, by, expected_recall, folded, limit_of, noun, sure, value_of

AUDIT = join([tag("code", "likewise audit OUT"), " measures it."])


def recall(report: Report, audit: dict[str, Any] | None) -> Html:
    """Return the part on recall."""
    return tag("div", tag("h3", "Recall"), audited(audit) if audit else None, *explained(report, audit is not None), id="recall")


def audited(audit: dict[str, Any]) -> Html:
    """Return what an audit of the output found."""
    sampled = f"An audit compared {audit['sampled']:,} of {audit['items']:,} distinct items exactly with all others: "
    if audit["recall"] is None:
        return tag("p", f"{sampled}none of them is in a similar pair.")
    share = f"{audit['found']:,} of {counted(audit['pairs'], 'similar pair')} are found, {percent(audit['recall'])}"
    return tag("p", f"{sampled}{share} ({percent(audit['low'])} to {percent(audit['high'])} with 95% confidence).")


def explained(report: Report, measured: bool) -> list[Html | None]:
    """Return the parts that explain the recall."""
    if proposed := proposed_by(report):
        said = f"Candidates were proposed by {proposed}. The probability that they find a pair is unknown: "
        return [tag("p", said, "recall is measured, not guaranteed. ", AUDIT)]
    if not report["curve"]:
        way = "comparing all pairs" if wording.compares_all(report) else "an exact similarity join"
        said = f"Similar {noun(report, plural=True)} were found by {way}, not by hashing. The recall is 1: no pair is missed."
        return [tag("p", said)]
    value = value_of(report)
    rows = [[f"{x:g}", percent(found)] for x, found in report["curve"]]
    numbers = folded("The curve in numbers", table(f"Probability of being found, by {value}", [value, "probability"], rows))
    calculated = None if measured else tag("p", f"This recall is calculated; it was not measured on these {noun(report, plural=True)}. ", AUDIT)
    chart = curve.chart(report, "the table below has the numbers")
    described = spread.described(report["spread"]) if report.get("spread") else ""
    varies = tag("p", f"{described[0].upper()}{described[1:]}.") if described else None
    return [tag("p", prediction(report)), varies, chart, calculated, numbers]


def proposed_by(report: Report) -> str:
    """Return what proposed the candidates if the recall is not guaranteed, else ""."""
    return kind_of(by(report)).proposed_by if "join" in report and report["budget"]["recall"] is None else ""


def prediction(report: Report) -> str:
    """Return a description of the curve."""
    plan, at = curve.layout(report), limit_of(report)
    falling = value_of(report) == "distance"
    layout = f"{counted(plan['bands'], 'band')} of {counted(plan['rows'], 'row')}" if plan.get("rows") else "this layout"
    layout = f"codes of {plan['bits']:,} bits, all compared" if plan.get("rows") == 0 else layout
    chosen_by = plan.get("chosen_by", "plan")
    by_hand = "" if chosen_by == "plan" else " (set by hand)" if chosen_by == "hand" else f" ({chosen_by})"
    pair, more = (f"at distance {at}", "closer") if falling else (f"at similarity {at}", "more similar")
    missed, needless = ("Left", "right") if falling else ("Right", "left")
    unchecked = "cost time but are rejected by the check" if report["verified"] != "none" else "are removed without a check"
    said = f"With {layout}{by_hand}, a pair {pair} is found with a probability of {sure(report)} {percent(expected_recall(report), down=True)}; "
    said += (
        f"{more} pairs are found with a higher probability. {missed} of the threshold, dotted: pairs that may be missed. On the {needless}, hatched: "
    )
    return said + f"pairs {'beyond' if falling else 'below'} {at} that become candidates anyway (false positives). They {unchecked}."
