"""The outcome of a removal, from the content of report.json: lines for a terminal, HTML for a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from likewise.drawing import judged
from likewise.drawing.charts import bars, stacked_bar
from likewise.drawing.controls import in_line
from likewise.drawing.markup import Html, join, tag
from likewise.drawing.numbers import by_reason, counted, ranged, share
from likewise.drawing.preview import Preview, as_text, grid, listed, output
from likewise.kinds import measures
from likewise.schema import BINS
from likewise.stages.bins import bins_of

Report = dict[str, Any]

#: Bins that a line joins.
TOGETHER = 2
#: Near-duplicates from which on bars show them.
FEWEST = 10
#: Parts of the bar: the count in report.json, its name, and its class.
PARTS = (
    ("kept", "kept", "kept"),
    ("removed_exact", "exact copies", "exact"),
    ("removed_equal", "same shingles", "equal"),
    ("removed_near", "near-duplicates", "near"),
    ("dropped", "in documents that became too short", "rejected"),
    ("rejected", "rejected", "rejected"),
)
#: Those of the bar of characters, where passages are removed.
CHARACTERS = (("kept", "kept", "kept"), ("removed", "characters in removed passages", "exact"), PARTS[-2])


def headline(report: Report) -> str:
    """The counts in one line."""
    n, units = report["counts"], report.get("units")
    if units:
        lines = f"{units['level']}s: {units['read']:,} read, {units['kept']:,} kept, {removed_of(units)}"
        lines = f"passages: {removed_of(units)}" if "leaks" in report else lines
        shorter = f"{n['kept']:,} kept ({n['shortened']:,} of them shortened), {n['removed']:,} removed"
        return f"{lines}; documents: {n['read']:,} read, {shorter}, {n['rejected']:,} rejected"
    return f"{n['read']:,} read, {n['kept']:,} kept, {removed_of(n)}, {n['rejected']:,} rejected"


def removed_of(counts: dict[str, Any]) -> str:
    """The number of removed items, with the reasons."""
    reasons = [said for said in by_reason(counts) if not said.startswith("0 ")]
    return f"{counts['removed']:,} removed" + (f" ({', '.join(reasons)})" if reasons else "")


def in_a_line(report: Report) -> str | None:
    """The near-duplicates by similarity or distance in one line; None without any, and for the report of an earlier version."""
    found = report.get("removals")
    if not found or not found["near"]:
        return None
    shown = found["by_value"]
    if len(shown) == BINS:
        shown = [[shown[i][0], shown[i + TOGETHER - 1][1], sum(each[2] for each in shown[i : i + TOGETHER])] for i in range(0, BINS, TOGETHER)]
    facts = measures().get(report["method"]["by"]) if report.get("value") == "distance" else None
    unit = facts.units if facts else ("", "")
    return ", ".join(f"{ranged(first, last)} {unit[last != 1]}".rstrip() + f": {number:,}" for first, last, number in shown if number)


def against(report: Report) -> str | None:
    """How much of the inputs was in the second collection, in one line; None without one."""
    if "leaks" in report:
        return judged.in_a_line(report)
    found, units = report.get("against"), report.get("units")
    if not found:
        return None
    part, whole, read = (units["level"], "document", units["read"]) if units else ("item", "item", report["counts"]["read"])
    collection = f"the second collection of {counted(found['read'], whole)} from {counted(len(found['sources']), 'source')}"
    return f"{found['removed']:,} of {counted(read, part)} ({share(found['removed'], read)}) removed as duplicates of {collection}"


def next_calls(out: Path | None, removed: str | None) -> Iterator[tuple[str, str]]:
    """(purpose, what to write) of the next steps. removed: the method that gives removed records; None without any."""
    if out is not None:
        yield "report", str(out / "report.html")
        yield "kept records", str(out)
    else:
        yield "kept records", "result.kept, with to_native(), to_pandas(), to_polars() and write(path)"
    if removed:
        yield "removed records", f"result.removed.{removed}()"


def text(report: Report, out: Path | None, examples: Preview | None, removed: str = "with_text") -> str:
    """The outcome as lines for a terminal. removed: the method that gives removed records."""
    lines = [f"Removal: {headline(report)}"]
    if beside := against(report):
        lines.append(f"against: {beside}")
    if spread := in_a_line(report):
        lines.append(f"near-duplicates by {report.get('value', 'similarity')}: {spread}")
    lines += [f"warning: {in_line(said)}" for said in report["warnings"]]
    lines += [f"{purpose}: {in_line(call)}" for purpose, call in next_calls(out, removed if examples else None)]
    return "\n".join([*lines, as_text(examples)] if examples else lines)


def html(report: Report, out: Path | None, examples: Preview | None, removed: str = "with_text") -> str:
    """The outcome as HTML for a notebook, with its own style; every value is escaped."""
    n = report["units"] if "units" in report else report["counts"]
    n, of = (n["characters"], CHARACTERS) if "leaks" in report else (n, PARTS)
    parts = [(name, n[count], class_) for count, name, class_ in of if n.get(count)]
    bar = tag("div", stacked_bar(parts, "Outcome"), style="max-width: 46em")
    calls = (tag("li", f"{purpose}: ", tag("code", call)) for purpose, call in next_calls(out, removed if examples else None))
    shown = None
    if examples is not None:
        shown = grid(examples, join([tag("b", examples.title), f", {len(examples.rows):,} of {examples.total:,}"]))
    return output(
        "Removal",
        tag("p", tag("b", "Removal"), f": {headline(report)}"),
        tag("p", beside) if (beside := against(report)) else None,
        bar,
        by_value(report),
        listed(report["warnings"]),
        shown,
        tag("ul", *calls),
    )


def by_value(report: Report) -> Html | None:
    """Bars of the near-duplicates by similarity or distance; None if there are few, since the examples show them."""
    found = report.get("removals")
    if not found or found["near"] < FEWEST:
        return None
    name = f"Near-duplicates by {report.get('value', 'similarity')} to the record kept in their place"
    return join([tag("p", name), bars([(ranged(first, last), number) for first, last, number in found["by_value"]], "record", name)])


def spread(values: np.ndarray, limit: float | None, value: str) -> Html | None:
    """Bars of the similarities or distances of pairs; None if there are few. limit: the threshold of the search, None without one."""
    if len(values) < FEWEST or not np.isfinite(values).all():
        return None
    end = float(values.max() if value == "distance" else min(0.0, values.min())) if limit is None else limit
    bins = bins_of(end, distances=value == "distance", whole=values.dtype.kind in "iu")
    name = f"Pairs by {value}"
    return join([tag("p", name), bars([(ranged(first, last), int(number)) for first, last, number in bins.listed(bins.count(values))], "pair", name)])
