"""report.html: a self-contained page for people who ask what was kept, what was removed, and whether to trust the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from likewise.drawing import charts
from likewise.drawing.markup import Html, join, named, table, tag
from likewise.kinds import kind_of, of_payload
from likewise.kinds.kind import MeasureFacts
from likewise.messages import at_least, by_reason, counted, percent, ranged, share
from likewise.planning import spread
from likewise.planning.choose import OPH_STEEP_ABOVE
from likewise.report import curve, wording
from likewise.report.examples import Example, side_by_side
from likewise.report.style import STYLE

Report = dict[str, Any]

AUDIT = join([tag("code", "likewise audit OUT"), " measures it."])

#: Maximum number of sources listed on the page; the rest is counted.
MOST_SOURCES = 200
#: Content security policy: the page loads and runs nothing, whatever the data contain.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def render(report: Report, run: dict[str, Any] | None, examples: Sequence[Example]) -> str:
    """Return the page as text.

    report, run: the content of report.json and run.json (None if it is missing). examples: a few removed items with their texts.
    """
    parts = [banner(report), warnings(report), counts(report), removed(report), similar(report), recall_section(report), clusters(report)]
    parts += [pairs(report, examples), buckets(report, run), sources(report), machine(report, run), choices(report)]
    header = tag("header", tag("h1", headline(report["counts"])), subtitle(report))
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", f"likewise: {headline(report['counts'])}"),
        tag("style", Html(STYLE)),
    )
    again = tag("code", "likewise report OUT")
    footer = tag("footer", "Written by likewise from report.json and run.json; ", again, " writes it again.", class_="faint")
    return "<!doctype html>\n" + tag("html", head, tag("body", tag("main", header, *parts, footer)), lang="en") + "\n"


def section(title: str, *content: object) -> Html:
    """Return a section with a title."""
    return tag("section", tag("h2", title), *content)


def headline(n: dict[str, int]) -> str:
    """Return the counts of the run in one line."""
    if not n["read"]:
        return "Nothing to deduplicate: no item was read"
    rejected = f", {n['rejected']:,} rejected" if n["rejected"] else ""
    return f"{counted(n['read'], 'item')} read: {n['kept']:,} kept, {n['removed']:,} removed{rejected}"


def subtitle(report: Report) -> Html | None:
    """Return the share of removed items by reason; None for an empty run."""
    n, number = report["counts"], report["clusters"]["number"]
    *first, last = by_reason(n)
    said = f"{share(n['removed'], n['read'])} of all items were removed: {', '.join(first)} and {last}, in {counted(number, 'cluster')}."
    return tag("p", said, class_="faint") if n["read"] else None


def banner(report: Report) -> Html | None:
    """Return a warning for the top of the page unless all pairs were checked exactly."""
    if report["verified"] == "exact":
        return None
    return tag("p", tag("strong", "Not exact. "), wording.VERIFIED.get(report["verified"], report["verified"]), class_="banner", role="note")


def warnings(report: Report) -> Html | None:
    """Return the warnings of the run, or None."""
    if not report["warnings"]:
        return None
    return tag("section", tag("h2", "Read this first"), tag("ul", *(tag("li", said) for said in report["warnings"])), class_="banner")


def counts(report: Report) -> Html:
    """Return the section on the outcome of all items."""
    n = report["counts"]
    parts = [("kept", "kept"), ("removed_exact", "exact"), ("removed_equal", "equal"), ("removed_near", "near"), ("rejected", "rejected")]
    parts = [(name, class_) for name, class_ in parts if name != "removed_equal" or n.get(name)]
    bar = charts.stacked_bar([(wording.COUNTS[name], n[name], class_) for name, class_ in parts], "What became of the items")
    copies = ". Those that hold nothing count as copies of each other" if report["method"].get("copies") == "empty" and n["empty"] else ""
    apart = wording.not_compared(n, str(report["method"]["by"]))
    described = tag("p", f"Not compared with others: {', '.join(apart)}{copies}.") if apart else None
    total = f"Nothing is lost: {n['kept']:,} kept + {n['removed']:,} removed + {n['rejected']:,} rejected = {n['read']:,} read."
    return section("What became of the items", bar, tag("p", total), described)


def removed(report: Report) -> Html | None:
    """Return the section on the distribution of similarities at removal, or None."""
    found = report.get("removals")  # earlier versions did not write this
    if not found or not found["near"]:
        return None
    value = report.get("value", "similarity")
    middle = wording.amount(found["median"], value, str(report["method"]["by"]))
    said = f"{counted(found['near'], 'near-duplicate')} by {value} to the item kept in its place. The median is {middle}. "
    said += "Exact copies are not in this chart."
    shown = [(ranged(first, last), number) for first, last, number in found["by_value"]]
    return section("How similar the removed items are", tag("p", said), charts.bars(shown, "item", f"Near-duplicates by {value}"), templates(report))


def templates(report: Report) -> Html | None:
    """Return the table of clusters that look like pages of a template, or None."""
    found = report["removals"].get("templates")
    if not found or not found["number"]:
        return None
    number = counted(found["number"], "cluster")
    said = f"{number}, with {found['removed']:,} removed items, may be pages of a template: most similarities lie just above the threshold. "
    said += "Look at some before you trust these removals."
    rows = [[named(c["representative"]), tag("bdi", c["source"]), c["position"], c["near"], share(c["low"], c["near"])] for c in found["largest"]]
    columns = ["kept item", "source", "position", "near-duplicates", "in the lower half"]
    return join([tag("p", said), table("Clusters that may be pages of a template", columns, rows)])


def measure(report: Report) -> MeasureFacts | None:
    """Return the measure of items other than texts; None for texts, which are cut into shingles."""
    return wording.measured(str(report["method"]["by"]))


def similar(report: Report) -> Html:
    """Return the section that defines similarity."""
    method = report["method"]
    falling = report.get("value") == "distance"
    steps: list[list[object]] = [["before cutting", ", ".join(wording.STEPS.get(step, step) for step in method["normalize"]) or "the text as it is"]]
    preferred = f"; items of files like {', '.join(method['prefer'])} come before others" if method["prefer"] else None
    by, facts = str(method["by"]), measure(report)
    limit = f"{limit_of(report)}, and equal to it counts as similar"
    kept = {name: getattr(kind_of(facts.name), name) for name in ("longest", "shortest")} if facts else {}
    keep = (wording.KEEP | kept).get(method["keep"], tag("code", method["keep"]))
    rows: list[list[object]] = [
        ["method", tag("code", by)],
        *(steps if facts is None else []),
        ["greatest distance" if falling else "threshold", limit],
        ["checked", wording.VERIFIED.get(report["verified"], report["verified"])],
        ["kept", join([keep, preferred])],
    ]
    return section("What “similar” means here", tag("p", defined(report)), table("How items were compared", ["choice", "value"], rows))


def defined(report: Report) -> str:
    """Return a sentence that defines the compared items and their similarity or distance."""
    by, facts = str(report["method"]["by"]), measure(report)
    if facts is not None:
        item = kind_of(facts.name).described(curve.layout(report).get("dimension"))
        value = wording.GROUPED if report["method"].get("groups") else facts.value
        return f"Each item is {item}. The {report.get('value', 'similarity')} of two items is {value}."
    unit, _, length = by.split("/")[0].partition(":")
    bag = by.endswith("/bag")
    pieces = (
        f"{'bag' if bag else 'set'} of its runs of {length} {wording.UNITS.get(unit, unit)}"
        if length != "1"
        else f"set of its {wording.UNITS.get(unit, unit)}"
    )
    between = "weighted Jaccard similarity of these bags" if bag else "Jaccard similarity of these sets"
    what = f"Each item stands for the {pieces} (shingles). The similarity of two items is the {between}: "
    return what + "what both hold, divided by what either holds; 1 is equal, 0 has nothing in common."


def limit_of(report: Report) -> str:
    """Return the threshold or the maximum distance."""
    return wording.limit(report["threshold"], report.get("value", "similarity"), str(report["method"]["by"]))


def expected_recall(report: Report) -> float:
    """Return the recall at the threshold from the layout, else interpolated between the two nearest points of the curve."""
    recall = curve.layout(report).get("recall")
    return float(recall) if recall is not None else curve.between(report["curve"], report["threshold"])


def recall_section(report: Report) -> Html:
    """Return the section on recall."""
    if "least_cosine" in report.get("join", {}):
        said = "Candidates were found by encodings of the sets. With what chance these find a pair at the threshold is not known beforehand: "
        return section("Recall", tag("p", said, "it is measured, not guaranteed. ", AUDIT))
    if not report["curve"]:
        return section("What was found", tag("p", "Similar items were looked for by an exact join, not by hashing: none is missed."))
    value = report.get("value", "similarity")
    rows = [[f"{x:g}", percent(found)] for x, found in report["curve"]]
    numbers = tag("details", tag("summary", "The curve in numbers"), table(f"Chance to be found by {value}", [value, "chance"], rows))
    calculated = tag("p", "This is a promise by calculation; it was not measured on these items. ", AUDIT)
    chart = curve.chart(report, "the table below has the numbers")
    described = spread.described(report["spread"]) if report.get("spread") else ""
    varies = tag("p", f"{described[0].upper()}{described[1:]}.") if described else None
    return section("Recall", tag("p", prediction(report)), varies, chart, calculated, numbers)


def prediction(report: Report) -> str:
    """Return a description of the curve."""
    plan, at, recall = curve.layout(report), limit_of(report), expected_recall(report)
    falling = report.get("value") == "distance"
    layout = f"{counted(plan['bands'], 'band')} of {counted(plan['rows'], 'row')}" if plan.get("rows") else "this layout"
    layout = f"codes of {plan['bits']:,} bits that were all compared" if plan.get("rows") == 0 else layout
    chosen_by = plan.get("chosen_by", "plan")
    by_hand = "" if chosen_by == "plan" else ", set by hand" if chosen_by == "hand" else f", of the {chosen_by}"
    guaranteed = recall >= OPH_STEEP_ABOVE or plan.get("sketch") != "oph"
    sure = f"of {'at least' if guaranteed else 'about'} {at_least(recall)}"
    pair, more = (f"at a distance of exactly {at}", "nearer") if falling else (f"of similarity exactly {at}", "more similar")
    missed, needless = ("left", "right") if falling else ("right", "left")
    unchecked = "are then sorted out by the check; they cost time only" if report["verified"] != "none" else "here they are removed without a check"
    said = f"With {layout}{by_hand}, a pair {pair} is found with a chance {sure}; a {more} pair with more. "
    said += f"The dotted area {missed} of the threshold is what may be missed. The hatched area {needless} of it stands for pairs "
    return said + f"{'farther apart' if falling else 'less similar'} than {at} that meet all the same, and {unchecked}."


def clusters(report: Report) -> Html:
    """Return the section on clusters."""
    found = report["clusters"]
    if not found["number"]:
        return section("What repeated", tag("p", "Nothing: there is no cluster of two or more items."))
    said = f"{counted(found['number'], 'cluster')}, each an item that was kept and what was removed for it; "
    said += f"{counted(found['components'], 'component')} when clusters that one item matched are joined."
    rows = [[named(c["representative"]), tag("bdi", c["source"]), c["position"], c["items"], c["items"] - 1] for c in found["largest"]]
    largest = table("The largest clusters", ["kept item", "source", "position", "items", "of them removed"], rows)
    sizes = charts.bars(charts.by_powers(found["by_size"]), "cluster", "Clusters by number of items")
    return section("What repeated", tag("p", said), largest, tag("h3", "Clusters by number of items"), sizes)


def pairs(report: Report, examples: Sequence[Example]) -> Html | None:
    """Return the section of examples, or None."""
    if not examples:
        return None
    own = [tag("del", "struck through"), " stands in the removed item only, ", tag("ins", "underlined"), " in the kept one only. "]
    what, remark = wording.GROUPS if examples[0].groups else of_payload(examples[0].kind).marked
    legend = [f"Marked are the {what} that differ: ", *own, remark] if what else []
    legend += [wording.UNGROUPED] if report["method"].get("groups") and not examples[0].groups else []
    said = tag("p", *legend, tag("code", "likewise show OUT ID"), " shows any other removed item.")
    shown = (side_by_side(example, number, report["verified"] == "estimate") for number, example in enumerate(examples, 1))
    return section("Removed items beside what was kept", said, *shown)


def buckets(report: Report, run: dict[str, Any] | None) -> Html | None:
    """Return the section on comparisons, buckets and skipped pairs, or None."""
    if "buckets" not in report:
        return None
    sizes, budget = report["buckets"], report["budget"]
    found = "found similar" if report["verified"] == "exact" else "taken for similar"
    distinct = counted(report["items"], "distinct item" if measure(report) else "distinct text")
    how = (
        f"met in {counted(sizes['number'], 'bucket')}, the largest of {counted(sizes['largest'], 'item')}"
        if report["curve"]
        else "were joined exactly"
    )
    how = "were proposed by their encodings, and compared as a whole" if "least_cosine" in report.get("join", {}) else how
    how = "were joined by bits of codes, which then were compared as a whole" if report["curve"] and "join" in report else how
    matched = f"{counted(report['matched'], 'pair was', 'pairs were')} {found}"
    if run and "compared" in run:  # earlier versions wrote it to report.json
        matched = f"{counted(run['compared'], 'pair was', 'pairs were')} compared, and {report['matched']:,} {found}"
    said = f"{distinct} {how}; {matched}."
    parts: list[object] = [tag("p", said)]
    if not report["curve"] or "join" in report:
        return section("Comparisons", *parts)
    if cut := budget["cut"]:
        lost = f"In overfull buckets {counted(cut, 'pair was', 'pairs were')} not compared; the stated recall falls to {at_least(budget['recall'])}."
        columns = [name for name in wording.BUCKET if any(name in bucket for bucket in budget["buckets"])]
        rows = [[bucket.get(name, "") for name in columns] for bucket in budget["buckets"]]
        parts += [
            tag("p", tag("strong", lost)),
            table("The overfull buckets that left out most pairs", [wording.BUCKET[name] for name in columns], rows),
        ]
    else:
        parts.append(tag("p", f"No bucket left out a pair: the stated recall is {at_least(budget['recall'])}."))
    if sizes["by_size"]:
        parts += [tag("h3", "Buckets by number of items"), charts.bars(list(sizes["by_size"].items()), "bucket", "Buckets by number of items")]
    return section("Buckets and budget", *parts)


def sources(report: Report) -> Html:
    """Return the table of sources."""
    listed = sorted(report["sources"], key=lambda source: -source["removed"])
    names = ["read", "kept", "removed", "rejected"]
    rows = [[tag("bdi", s["source"]), *(s[name] for name in names), share(s["removed"], s["read"])] for s in listed[:MOST_SOURCES]]
    n = report["counts"]
    foot = [f"all {counted(len(listed), 'source')}", *(n[name] for name in names), share(n["removed"], n["read"])]
    more = len(listed) - MOST_SOURCES
    note = tag("p", f"{counted(more, 'more source')} not listed, which lost no more than these; report.json has them all.") if more > 0 else None
    return section("By source", table("What each source lost, most first", ["source", *names, "share removed"], rows, foot), note)


def machine(report: Report, run: dict[str, Any] | None) -> Html | None:
    """Return the section on times and versions; None without run.json."""
    if run is None:
        return None
    seconds = run.get("seconds", {})
    total = sum(seconds.values())
    rows: list[list[object]] = [[stage, round(spent, 2), share(spent, total)] for stage, spent in seconds.items()]
    rate = f"{report['counts']['read'] / total:,.0f} items a second in all. " if total and report["counts"]["read"] else ""
    times = table("Seconds by stage", ["stage", "seconds", "share"], rows, ["all", round(total, 2), share(total, total)])
    facts = {name: value for name, value in run.items() if name not in ("seconds", "inputs", "compared")}  # other sections have them
    note = tag("p", f"{rate}Times and machine differ from run to run; nothing else on this page does.")
    return section("Time and machine", note, times, tag("details", tag("summary", "Machine and versions"), values("Machine and versions", facts)))


def choices(report: Report) -> Html:
    """Return the section of all options that determine the result."""
    table_of_all = values("Choices that fix the result", report["method"])
    return section("How to make it again", tag("details", tag("summary", "Every choice of this run"), table_of_all))


def values(caption: str, data: dict[str, Any]) -> Html:
    """Return a table of names and values; nested names are joined by dots."""
    rows: list[list[object]] = []
    for name, value in data.items():
        nested = value.items() if isinstance(value, dict) else [("", value)]
        rows += [[f"{name}.{inner}".rstrip("."), tag("code", plain(item))] for inner, item in nested]
    return table(caption, ["name", "value"], rows)


def plain(value: object) -> str:
    """Return a value as text."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "not given"}[value]
    return (", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)) or "none"
