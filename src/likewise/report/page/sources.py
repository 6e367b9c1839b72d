"""The sources: how much of each was removed, and which source duplicates which."""

from __future__ import annotations

from likewise.drawing.markup import Html, tag
from likewise.drawing.numbers import count, counted, share
from likewise.report.page.frame import Report, listing, noun, section

#: Maximum number of sources listed on the page; the rest is counted.
MOST_SOURCES = 200
#: Sources in the table that is open at first.
FIRST = 20


def sources(report: Report) -> Html:
    """Return the section on sources."""
    listed = sorted(report["sources"], key=lambda source: -source["removed"])
    n, names = report["counts"], ["read", "kept", "removed", "rejected"]
    names = names if n["rejected"] else names[:-1]
    columns = ["source", *names, "share removed"]
    rows = [[tag("bdi", s["source"]), *(s[name] for name in names), share(s["removed"], s["read"])] for s in listed[:MOST_SOURCES]]
    foot = [f"all {counted(len(listed), 'source')}", *(n[name] for name in names), share(n["removed"], n["read"])] if len(listed) != 1 else None
    counts = listing("Counts by source, most removals first", columns, rows, FIRST, "source", foot)
    more = len(listed) - MOST_SOURCES
    said = f"{counted(more, 'more source with fewer removals is', 'more sources with fewer removals are')} not listed; report.json has them all."
    note = tag("p", said) if more > 0 else None
    return section("Sources", tag("div", tag("div", counts, note), matrix(report), class_="abreast"), name="sources")


def matrix(report: Report) -> Html | None:
    """Return the table of which source duplicates which: the darker a cell, the more; None with a single source, or if each item is a source."""
    found = report.get("matrix")
    if not found or len(found["counts"]) < 2 or len(report["sources"]) >= report["counts"]["read"]:
        return None
    counts, names = found["counts"], [*found["sources"], *([f"{found['other']:,} others"] if found.get("other") else [])]
    most = max(number for row in counts for number in row)
    rows = [place for place, row in enumerate(counts) if any(row)]
    columns = [place for place in range(len(counts)) if any(row[place] for row in counts)]
    head = tag("tr", tag("th", "removed from", scope="col"), *(tag("th", tag("bdi", names[place]), scope="col") for place in columns))
    body = (tag("tr", tag("th", tag("bdi", names[row]), scope="row"), *(cell(counts[row][column], most) for column in columns)) for row in rows)
    grid = tag("table", tag("caption", "Which source duplicates which"), tag("thead", head), tag("tbody", *body), class_="matrix")
    scrolled = tag("div", grid, class_="wide", tabindex=0, role="region", aria_label="Which source duplicates which")
    return tag("div", scrolled, tag("p", within(report, counts, len(found["sources"])), class_="faint"))


def within(report: Report, counts: list[list[int]], named: int) -> str:
    """Return how many removals are within one source. named: the number of sources with a row of their own."""
    same, total = sum(row[place] for place, row in enumerate(counts[:named])), sum(map(sum, counts))
    least = "at least " if named < len(counts) else ""
    removed = counted(total, f"removed {noun(report)}", f"removed {noun(report, plural=True)}")
    said = f"Of {removed}, {least}{share(same, total)} are duplicates within one source. "
    return f"{said}Rows: sources of removed {noun(report, plural=True)}; columns: sources of the ones kept instead."


def cell(number: int, most: int) -> Html:
    """Return a cell of the matrix, shaded by its share of the largest number."""
    shade = f"--shade: {100 * number / most:.0f}%" if number else None
    return tag("td", count(number) if number else tag("span", "0", class_="faint"), class_="number", style=shade)
