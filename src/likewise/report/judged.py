"""The section of report.html on test items that stand in training documents."""

from __future__ import annotations

from typing import Any

from likewise.drawing.judged import in_a_line, rule, run
from likewise.drawing.markup import Html, named, table, tag
from likewise.drawing.numbers import counted, share

Report = dict[str, Any]


def section(report: Report) -> Html:
    """The section of report.html."""
    found = report["leaks"]
    about = [rule(report)]
    if found["preset"]:
        about.append(f" This is the recipe {found['preset']}: {found['source']}. What differs: {found['differs']}.")
    if found["common_ngrams"]:
        about.append(f" Left out, since they are in too many documents: {counted(found['common_ngrams'], 'run')} of {run(report)}.")
    parts: list[object] = [tag("p", *about), tag("p", f"{in_a_line(report)}. seen.parquet has a row for each item.")]
    if found["most_seen"]:
        columns = ["test item", "source", "position", "tokens", "seen", "share", "longest stretch", "documents"]
        rows = [
            [*place(one), one["tokens"], one["tokens_seen"], share(one["tokens_seen"], one["tokens"]), one["longest"], one["documents"]]
            for one in found["most_seen"]
        ]
        parts.append(table("The test items with the largest share in documents", columns, rows))
    if found["short"]:
        rows = [[*place(one), one["tokens"]] for one in found["short"]]
        parts.append(table(f"Test items of fewer than {run(report)}, which were not judged", ["test item", "source", "position", "tokens"], rows))
    return tag("section", tag("h2", "Test items"), *parts, id="items")


def place(one: Report) -> list[object]:
    """Return the id and the place of a test item."""
    return [named(one["id"]), tag("bdi", one["source"]), one["position"]]
