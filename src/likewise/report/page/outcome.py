"""The outcome of all items, of their parts, and of a second collection."""

from __future__ import annotations

from likewise.drawing import charts
from likewise.drawing.markup import Html, join, table, tag
from likewise.drawing.numbers import counted, share
from likewise.report import wording
from likewise.report.page.frame import Report, by, items, listing, located, noun, section
from likewise.report.page.sources import MOST_SOURCES

#: Parts of documents that are listed before the others are opened.
FIRST = 8


def counts(report: Report) -> Html:
    """Return the section on the outcome of all items."""
    n = report["units"]["characters"] if "leaks" in report else wording.outcome(report)
    parts = [("kept", "kept"), ("removed_exact", "exact"), ("removed_equal", "equal"), ("removed_near", "near")]
    if "leaks" in report:
        parts = [("kept", "kept"), ("removed", "exact")]
    parts = [(name, class_) for name, class_ in parts if name != "removed_equal" or n.get(name)]
    parts += [(name, "rejected") for name in ("dropped", "rejected") if n.get(name)]
    bar = charts.stacked_bar([(wording.COUNTS[name], n[name], class_) for name, class_ in parts], "Outcome")
    copies = ". Empty ones count as copies of each other" if report["method"].get("copies") == "empty" and n.get("empty") else ""
    apart = wording.not_compared({"without_text": 0} | wording.outcome(report), by(report))
    described = tag("p", f"Kept without comparison: {', '.join(apart)}{copies}.") if apart else None
    return section("Outcome", bar, tag("p", accounted(report)), described, most_repeated(report), name="outcome")


def accounted(report: Report) -> str:
    """Return the sums of documents, and of their parts if these were compared."""
    n, units = report["counts"], report.get("units")
    sums = f"{n['kept']:,} kept + {n['removed']:,} removed + {n['rejected']:,} rejected = {n['read']:,} read"
    one = wording.nouns(by(report))[0]
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
    rows = [
        [
            join([tag("bdi", c["text"] or "(not read)"), tag("span", located(c["source"], c["position"]), class_="snippet")]),
            c["times"],
            c["documents"],
        ]
        for c in found
    ]
    title = f"The {noun(report, plural=True)} repeated most, with the place of the one that was kept"
    return listing(title, ["text", "times", "documents"], rows, FIRST, noun(report))


def against(report: Report) -> Html | None:
    """Return the section on the second collection, or None."""
    found = report.get("against")
    if not found:
        return None
    several, outcome, nouns = noun(report, plural=True), wording.outcome(report), wording.nouns(by(report))
    inside, read = outcome["removed"] - found["removed"], outcome["read"]
    said = f"The second collection has {counted(found['read'], *nouns)}, which stay unchanged. "
    said += f"Removed because of these: {found['removed']:,} of {items(report, read)} ({share(found['removed'], read)}). "
    said += f"Of the second collection, {counted(found['matched'], *nouns)} had such duplicates. "
    said += f"Removed because of a kept {noun(report)}: {inside:,}." if report["method"].get("also_inside") else ""
    said += "" if report["method"].get("also_inside") else f"Duplicates among the other {several} were not removed."
    names = ["read", "rejected", "matched"]
    rows = [[tag("bdi", s["source"]), *(s[name] for name in names)] for s in found["sources"][:MOST_SOURCES]]
    columns = ["source", "read", "rejected", "with a duplicate"]
    foot = [f"all {counted(len(found['sources']), 'source')}", *(found[name] for name in names)] if len(found["sources"]) > 1 else None
    return section("Second collection", tag("p", said), table("Counts of the second collection by source", columns, rows, foot))
