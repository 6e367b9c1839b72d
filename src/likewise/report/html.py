"""report.html: a self-contained page for people who ask what was kept, what was removed, and whether to trust the result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from likewise.drawing import charts
from likewise.drawing.markup import Html, join, named, table, tag
from likewise.drawing.numbers import by_reason, counted, percent, ranged, share
from likewise.kinds import kind_of, of_payload
from likewise.kinds.kind import MeasureFacts
from likewise.planning import spread
from likewise.planning.choose import OPH_STEEP_ABOVE
from likewise.report import curve, judged, wording
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
    if "leaks" in report:
        parts = [banner(report), warnings(report), counts(report), judged.section(report), pairs(report, examples), sources(report)]
        parts += [machine(report, run), choices(report)]
        return page(report, tag("header", tag("h1", headline(report))), parts)
    parts = [
        banner(report),
        warnings(report),
        counts(report),
        against(report),
        removed(report),
        clusters(report),
        pairs(report, examples),
        sources(report),
    ]
    parts += [similar(report), left_out(report), recall_section(report), buckets(report, run), machine(report, run), choices(report)]
    return page(report, tag("header", tag("h1", headline(report)), subtitle(report), conditions(report)), parts)


def page(report: Report, header: Html, parts: Sequence[Html | None]) -> str:
    """Return the page with its header and sections."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", f"likewise: {headline(report)}"),
        tag("style", Html(STYLE)),
    )
    again = tag("code", "likewise report OUT")
    footer = tag("footer", "Written by likewise from report.json and run.json. ", again, " writes it again.", class_="faint")
    return "<!doctype html>\n" + tag("html", head, tag("body", tag("main", header, *parts, footer)), lang="en") + "\n"


def section(title: str, *content: object) -> Html:
    """Return a section with a title."""
    return tag("section", tag("h2", title), *content)


def items(report: Report, number: int) -> str:
    """Return a number of items with their noun, such as documents or vectors."""
    return counted(number, *wording.compared(report))


def noun(report: Report, *, plural: bool = False) -> str:
    """Return the noun of one item, or of several."""
    return wording.compared(report)[plural]


def headline(report: Report) -> str:
    """Return the counts of the run in one line."""
    n = report["counts"]
    names = wording.nouns(str(report["method"]["by"]))
    if not n["read"]:
        return f"Nothing to deduplicate: no {names[0]} was read"
    rejected = f", {n['rejected']:,} rejected" if n["rejected"] else ""
    shorter = f" ({said})" if (said := wording.shortened(report)) else ""
    return f"{counted(n['read'], *names)} read: {n['kept']:,} kept{shorter}, {n['removed']:,} removed{rejected}"


def subtitle(report: Report) -> Html | None:
    """Return the share of removed items by reason; None for an empty run."""
    n, number = wording.outcome(report), report["clusters"]["number"]
    *first, last = by_reason(n)
    removed = f"{share(n['removed'], n['read'])} of the {noun(report, plural=True)} were removed"
    return tag("p", f"{removed}: {', '.join(first)} and {last}, in {counted(number, 'cluster')}.", class_="faint") if n["read"] else None


def conditions(report: Report) -> Html:
    """Return the method, the threshold and the expected recall in one line."""
    name = "Maximum distance" if report.get("value") == "distance" else "Threshold"
    recall = report.get("budget", {}).get("recall")
    said = "recall not guaranteed" if recall is None else f"expected recall {'1' if recall == 1 else f'{sure(report)} {percent(recall, down=True)}'}"
    return tag("p", f"Method: {report['method']['by']}. {name}: {limit_of(report)} ({said}).", class_="faint")


def banner(report: Report) -> Html | None:
    """Return a warning for the top of the page unless all pairs were checked exactly."""
    if report["verified"] == "exact":
        return None
    return tag("p", tag("strong", "Not exact. "), wording.VERIFIED.get(report["verified"], report["verified"]), class_="banner", role="note")


def warnings(report: Report) -> Html | None:
    """Return the warnings of the run, or None."""
    if not report["warnings"]:
        return None
    return tag("section", tag("h2", "Warnings"), tag("ul", *(tag("li", said) for said in report["warnings"])), class_="banner")


def counts(report: Report) -> Html:
    """Return the section on the outcome of all items."""
    n = report["units"]["characters"] if "leaks" in report else wording.outcome(report)
    parts = [("kept", "kept"), ("removed_exact", "exact"), ("removed_equal", "equal"), ("removed_near", "near")]
    if "leaks" in report:
        parts = [("kept", "kept"), ("removed", "exact")]
    parts = [(name, class_) for name, class_ in parts if name != "removed_equal" or n.get(name)]
    parts += [(name, "rejected") for name in ("dropped", "rejected") if name in n]
    bar = charts.stacked_bar([(wording.COUNTS[name], n[name], class_) for name, class_ in parts], "Outcome")
    copies = ". Empty ones count as copies of each other" if report["method"].get("copies") == "empty" and n.get("empty") else ""
    apart = wording.not_compared({"without_text": 0} | wording.outcome(report), str(report["method"]["by"]))
    described = tag("p", f"Kept without comparison: {', '.join(apart)}{copies}.") if apart else None
    return section("Outcome", bar, tag("p", accounted(report)), described, most_repeated(report))


def accounted(report: Report) -> str:
    """Return the sums of documents, and of their parts if these were compared."""
    n, units = report["counts"], report.get("units")
    sums = f"{n['kept']:,} kept + {n['removed']:,} removed + {n['rejected']:,} rejected = {n['read']:,} read"
    one = wording.nouns(str(report["method"]["by"]))[0]
    if not units:
        return f"Every {one} is accounted for: {sums}."
    if "leaks" in report:
        return accounted_by_characters(report)
    parts = f"{units['kept']:,} kept + {units['removed']:,} removed + {units['dropped']:,} in removed documents = {units['read']:,} read"
    gone = f" Removed documents are those {wording.too_short(report)}." if n["removed"] else ""
    chars = units["characters"]
    return (
        f"Every {one} is accounted for: {sums}. So is every {noun(report)}: {parts}. "
        f"{share(chars['read'] - chars['kept'], chars['read'])} of all characters were removed.{gone}"
    )


def accounted_by_characters(report: Report) -> str:
    """Return the sums of documents and of their characters."""
    n, chars = report["counts"], report["units"]["characters"]
    sums = f"{n['kept']:,} kept + {n['removed']:,} removed + {n['rejected']:,} rejected = {n['read']:,} read"
    of_chars = f"{chars['kept']:,} kept + {chars['removed']:,} removed + {chars['dropped']:,} in removed documents = {chars['read']:,} read"
    gone = f" Removed documents are those {wording.too_short(report)}." if n["removed"] else ""
    return f"Every document is accounted for: {sums}. So is every character: {of_chars}.{gone}"


def most_repeated(report: Report) -> Html | None:
    """Return the table of the parts of documents that were repeated most, or None."""
    found = report.get("largest_parts")
    if not found:
        return None
    rows = [[tag("bdi", c["text"] or "(not read)"), c["times"], c["documents"], tag("bdi", c["source"]), c["position"]] for c in found]
    title, columns = f"The {noun(report, plural=True)} repeated most", ["text", "times", "documents", "source", "position"]
    return join([tag("h3", title), table(f"{title}, with the place of the one that was kept", columns, rows)])


def against(report: Report) -> Html | None:
    """Return the section on the second collection, or None."""
    found = report.get("against")
    if not found:
        return None
    several, outcome, nouns = noun(report, plural=True), wording.outcome(report), wording.nouns(str(report["method"]["by"]))
    inside, read = outcome["removed"] - found["removed"], outcome["read"]
    said = f"The second collection has {counted(found['read'], *nouns)}, which stay unchanged. "
    said += f"Removed because of these: {found['removed']:,} of {items(report, read)} ({share(found['removed'], read)}). "
    said += f"Of the second collection, {counted(found['matched'], *nouns)} had such duplicates. "
    said += f"Removed because of a kept {noun(report)}: {inside:,}." if report["method"].get("also_inside") else ""
    said += "" if report["method"].get("also_inside") else f"Duplicates among the other {several} were not removed."
    names = ["read", "rejected", "matched"]
    rows = [[tag("bdi", s["source"]), *(s[name] for name in names)] for s in found["sources"][:MOST_SOURCES]]
    columns = ["source", "read", "rejected", "with a duplicate"]
    foot = [f"all {counted(len(found['sources']), 'source')}", *(found[name] for name in names)]
    return section("Second collection", tag("p", said), table("Counts of the second collection by source", columns, rows, foot))


def removed(report: Report) -> Html | None:
    """Return the section on the distribution of similarities at removal, or None."""
    found = report.get("removals")  # earlier versions did not write this
    if not found or not found["near"]:
        return None
    value = report.get("value", "similarity")
    middle = wording.amount(found["median"], value, str(report["method"]["by"]))
    said = (
        f"The chart shows {counted(found['near'], 'near-duplicate')} by {value} to the {noun(report)} that was kept instead. The median is {middle}. "
    )
    said += "Exact copies are not included."
    shown = [(ranged(first, last), number) for first, last, number in found["by_value"]]
    title = f"{value.capitalize()} of removed and kept {noun(report, plural=True)}"
    return section(title, tag("p", said), charts.bars(shown, "near-duplicate", f"Near-duplicates by {value}"), templates(report))


def templates(report: Report) -> Html | None:
    """Return the table of clusters that look like pages of a template, or None."""
    found = report["removals"].get("templates")
    if not found or not found["number"]:
        return None
    number = counted(found["number"], "cluster")
    said = f"{number}, with {items(report, found['removed'])} removed, may be pages of one template: most similarities are just above the threshold. "
    said += "Check some of them before you trust these removals."
    rows = [[named(c["representative"]), tag("bdi", c["source"]), c["position"], c["near"], share(c["low"], c["near"])] for c in found["largest"]]
    columns = [f"kept {noun(report)}", "source", "position", "near-duplicates", "share in the lower half"]
    return join([tag("p", said), table("Clusters that may be pages of one template", columns, rows)])


def measure(report: Report) -> MeasureFacts | None:
    """Return the measure of items other than texts; None for texts, which are cut into shingles."""
    return wording.measured(str(report["method"]["by"]))


def similar(report: Report) -> Html:
    """Return the section that defines similarity."""
    method = report["method"]
    falling = report.get("value") == "distance"
    steps: list[list[object]] = [["normalization", ", ".join(map(wording.step, method["normalize"])) or "none"]]
    preferred = f"; sources that match {', '.join(method['prefer'])} take precedence" if method["prefer"] else None
    by, facts = str(method["by"]), measure(report)
    kept = {name: getattr(kind_of(facts.name), name) for name in ("longest", "shortest")} if facts else {}
    keep = (wording.KEEP | kept).get(method["keep"], tag("code", method["keep"]))
    rows: list[list[object]] = [
        ["method", tag("code", by)],
        *(steps if facts is None else []),
        ["maximum distance" if falling else "threshold", f"{limit_of(report)} (inclusive)"],
        ["verification", wording.VERIFIED.get(report["verified"], report["verified"])],
        [f"kept {noun(report)} of a cluster", join([keep, preferred])],
    ]
    return section("Method", tag("p", defined(report)), table("Options of the comparison", ["option", "value"], rows))


def defined(report: Report) -> str:
    """Return a sentence that defines the compared items and their similarity or distance."""
    by, facts = str(report["method"]["by"]), measure(report)
    one, several = wording.compared(report)
    if facts is not None:
        item = kind_of(facts.name).described(curve.layout(report).get("dimension"))
        value = wording.GROUPED if report["method"].get("groups") else facts.value
        return f"Each item is {item}. The {report.get('value', 'similarity')} of two {several} is {value}.{wording.without_ignored(report)}"
    unit, _, length = by.split("/")[0].partition(":")
    tokens = wording.UNITS.get(unit, unit)
    shingles, parts = (f"sequences of {length} {tokens} (shingles)", "shingles") if length != "1" else (tokens, tokens)
    if by.endswith("/bag"):
        held, value = (
            "bag (a set with repetitions)",
            "weighted Jaccard similarity of their bags: the sum of the smaller counts divided by that of the larger",
        )
    else:
        held, value = "set", f"Jaccard similarity of their sets: the number of common {parts} divided by the number of {parts} in either"
    said = f"Each {one} is represented by the {held} of its {shingles}. The similarity of two {several} is the {value}. "
    return f"{said}1 means equal; 0 means nothing in common.{wording.without_ignored(report)}"


def left_out(report: Report) -> Html | None:
    """Return the section on what the run ignored, or None."""
    found = report.get("ignored")
    if not found:
        return None
    what = wording.parts(str(report["method"]["by"]))
    said = f"{found['occurrences']:,} of all {found['of']:,} {what} ({share(found['occurrences'], found['of'])}) were left out: "
    said += f"those equal to {counted(found['shingles'], f'ignored {what[:-1]}')}. "
    if without := found["items_without_others"]:
        said += f"{items(report, without)} had no others, so only their exact copies were removed. "
    title, common = f"Ignored {what}", found.get("common")
    if not common:
        return section(title, tag("p", said))
    said += f"{counted(common['shingles'], what[:-1])} occurred in more than {percent(float(Fraction(common['share'])))} of "
    said += f"{counted(common['items'], f'distinct {noun(report)}', f'distinct {noun(report, plural=True)}')}."
    rows = [[tag("bdi", each["text"] or "(far from the beginning)"), each["items"], share(each["share"], 1)] for each in common["most"]]
    return section(title, tag("p", said), table(f"The most common {what}", ["content", noun(report, plural=True), "share"], rows) if rows else None)


def limit_of(report: Report) -> str:
    """Return the threshold or the maximum distance."""
    return wording.limit(report["threshold"], report.get("value", "similarity"), str(report["method"]["by"]))


def expected_recall(report: Report) -> float:
    """Return the recall at the threshold from the layout, else interpolated between the two nearest points of the curve."""
    recall = curve.layout(report).get("recall")
    return float(recall) if recall is not None else curve.between(report["curve"], report["threshold"])


def recall_section(report: Report) -> Html:
    """Return the section on recall."""
    if proposed := proposed_by(report):
        said = f"Candidates were proposed by {proposed}. The probability that they find a pair is unknown: "
        return section("Recall", tag("p", said, "recall is measured, not guaranteed. ", AUDIT))
    if not report["curve"]:
        way = "comparing all pairs" if wording.compares_all(report) else "an exact similarity join"
        said = f"Similar {noun(report, plural=True)} were found by {way}, not by hashing. The recall is 1: no pair is missed."
        return section("Recall", tag("p", said))
    value = report.get("value", "similarity")
    rows = [[f"{x:g}", percent(found)] for x, found in report["curve"]]
    numbers = tag("details", tag("summary", "The curve in numbers"), table(f"Probability of being found, by {value}", [value, "probability"], rows))
    calculated = tag("p", f"This recall is calculated; it was not measured on these {noun(report, plural=True)}. ", AUDIT)
    chart = curve.chart(report, "the table below has the numbers")
    described = spread.described(report["spread"]) if report.get("spread") else ""
    varies = tag("p", f"{described[0].upper()}{described[1:]}.") if described else None
    return section("Recall", tag("p", prediction(report)), varies, chart, calculated, numbers)


def proposed_by(report: Report) -> str:
    """Return what proposed the candidates if the recall is not guaranteed, else ""."""
    return kind_of(str(report["method"]["by"])).proposed_by if "join" in report and report["budget"]["recall"] is None else ""


def sure(report: Report) -> str:
    """Return "at least" if the recall at the threshold is a lower bound, else "about"."""
    guaranteed = expected_recall(report) >= OPH_STEEP_ABOVE or curve.layout(report).get("sketch") != "oph"
    return "at least" if guaranteed else "about"


def prediction(report: Report) -> str:
    """Return a description of the curve."""
    plan, at = curve.layout(report), limit_of(report)
    falling = report.get("value") == "distance"
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


def clusters(report: Report) -> Html:
    """Return the section on clusters."""
    found = report["clusters"]
    if not found["number"]:
        return section("Clusters", tag("p", f"There are no clusters: no {noun(report)} was removed."))
    one, several = wording.compared(report)
    role = f"{one}, its representative, which was kept or is in the second collection" if "against" in report else f"kept {one}, its representative"
    said = f"{counted(found['number'], 'cluster')}, each with one {role}, and the {several} removed as its duplicates. "
    if found["components"] < found["number"]:
        joined = f"joining the clusters that one {one} matches gives {counted(found['components'], 'component')}"
        said += f"Some {several} are similar to several kept ones; {joined}."
    rows = [[named(c["representative"]), tag("bdi", c["source"]), c["position"], c["items"], c["items"] - 1] for c in found["largest"]]
    largest = table("The largest clusters", [f"kept {one}", "source", "position", several, "removed"], rows)
    title = f"Clusters by number of {several}"
    sizes = charts.bars(charts.by_powers(found["by_size"]), "cluster", title)
    return section("Clusters", tag("p", said), largest, tag("h3", title), sizes)


def pairs(report: Report, examples: Sequence[Example]) -> Html | None:
    """Return the section of examples, or None."""
    if not examples:
        return None
    one = noun(report)
    own = [tag("del", "struck through"), f" if only the removed {one} has them, ", tag("ins", "underlined"), " if only the kept one has them. "]
    what, remark = wording.GROUPS if examples[0].groups else of_payload(examples[0].kind).marked
    legend = [f"{what.capitalize()} that differ are marked: ", *own, remark] if what else []
    legend += [wording.UNGROUPED] if report["method"].get("groups") and not examples[0].groups else []
    said = tag("p", *legend, tag("code", "likewise show OUT ID"), f" shows any other removed {one}.")
    shown = (side_by_side(example, number, report["verified"] == "estimate") for number, example in enumerate(examples, 1))
    return section(f"Examples of removed {noun(report, plural=True)}", said, *shown)


def buckets(report: Report, run: dict[str, Any] | None) -> Html | None:
    """Return the section on comparisons, buckets and skipped pairs, or None."""
    if "buckets" not in report:
        return None
    sizes, budget = report["buckets"], report["budget"]
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
    said = f"{distinct} {how}; {matched}."
    parts: list[object] = [tag("p", said)]
    if not report["curve"] or "join" in report:
        return section("Comparisons", *parts)
    if cut := budget["cut"]:
        skipped = f"{counted(cut, 'pair')} in overfull buckets {'was' if cut == 1 else 'were'} skipped"
        lost = f"{skipped}; this lowers the expected recall to {percent(budget['recall'], down=True)}."
        if (sampled := budget.get("sampled")) and "similar" in budget:  # earlier versions had another name
            missed = f"at most {counted(math.ceil(budget['missed_at_most']), 'pair')} missed, with 95% confidence"
            lost += f" {counted(sampled, 'skipped pair')} were compared as a sample, and {budget['similar']:,} were similar: {missed}."
        columns = [name for name in wording.BUCKET if any(name in bucket for bucket in budget["buckets"])]
        rows = [[bucket.get(name, "") for name in columns] for bucket in budget["buckets"]]
        parts += [
            tag("p", tag("strong", lost)),
            table("The overfull buckets with the most skipped pairs", [wording.BUCKET[name] for name in columns], rows),
        ]
    else:
        parts.append(tag("p", f"No pair was skipped; the expected recall is {percent(budget['recall'], down=True)}."))
    if sizes["by_size"]:
        title = f"Buckets by number of {several}"
        parts += [tag("h3", title), charts.bars(list(sizes["by_size"].items()), "bucket", title)]
    return section("Candidates and buckets", *parts)


def sources(report: Report) -> Html:
    """Return the table of sources."""
    listed = sorted(report["sources"], key=lambda source: -source["removed"])
    names = ["read", "kept", "removed", "rejected"]
    rows = [[tag("bdi", s["source"]), *(s[name] for name in names), share(s["removed"], s["read"])] for s in listed[:MOST_SOURCES]]
    n = report["counts"]
    foot = [f"all {counted(len(listed), 'source')}", *(n[name] for name in names), share(n["removed"], n["read"])]
    more = len(listed) - MOST_SOURCES
    note = (
        tag(
            "p",
            f"{counted(more, 'more source with fewer removals is', 'more sources with fewer removals are')} not listed; report.json has them all.",
        )
        if more > 0
        else None
    )
    return section("Sources", table("Counts by source, most removals first", ["source", *names, "share removed"], rows, foot), note)


def machine(report: Report, run: dict[str, Any] | None) -> Html | None:
    """Return the section on times and versions; None without run.json."""
    if run is None:
        return None
    seconds = run.get("seconds", {})
    total = sum(seconds.values())
    rows: list[list[object]] = [[stage, round(spent, 2), share(spent, total)] for stage, spent in seconds.items()]
    read = wording.outcome(report)["read"]
    rate = f"{read / total:,.0f} {noun(report, plural=True)} per second overall. " if total and read else ""
    times = table("Seconds by stage", ["stage", "seconds", "share"], rows, ["total", round(total, 2), share(total, total)])
    facts = {name: value for name, value in run.items() if name not in ("seconds", "inputs", "against", "compared")}  # other sections have them
    note = tag("p", f"{rate}Only this section differs between runs with the same input and options.")
    return section("Time and machine", note, times, tag("details", tag("summary", "Machine and versions"), values("Machine and versions", facts)))


def choices(report: Report) -> Html:
    """Return the section of all options that determine the result."""
    table_of_all = values("Options that determine the result", report["method"])
    return section("Reproduction", tag("details", tag("summary", "All options of this run"), table_of_all))


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
