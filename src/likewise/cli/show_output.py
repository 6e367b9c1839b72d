"""The result of a run as `likewise show OUT` prints it: what was removed, the recall, what is next to the threshold, and what needs review."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from likewise.cli.beside import view
from likewise.cli.dedup import pair_of, recall_lines, show_command, spelled
from likewise.cli.screen import Screen, counted, harmless
from likewise.cli.show_names import SCHEMA
from likewise.drawing.numbers import by_reason, share

#: Removals next to the threshold that are printed.
MOST = 3


def show_output(screen: Screen, originals: Any) -> None:
    """Print the result of a run as a whole."""
    report = originals.report
    nearest = [example for example in report.get("examples", ()) if example["group"] == "borderline"]
    if screen.json:
        facts = {name: report[name] for name in ("counts", "units", "threshold", "value", "removals") if name in report}
        facts |= {"clusters": report["clusters"]["number"], "recall": report["budget"]["recall"]}
        screen.document({"schema": SCHEMA, "status": "output", **facts, "borderline": nearest, "needs_review": report.get("needs_review", [])})
        return
    screen.rows(rows(report, originals.out, nearest[:MOST]), data=True)


def rows(report: dict[str, Any], out: Any, nearest: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield names and texts. nearest: removals next to the threshold, the least similar first."""
    from likewise.report import wording
    from likewise.runs.outcome import in_a_line

    n, (one, several) = wording.outcome(report), wording.compared(report)
    clusters = f", in {counted(report['clusters']['number'], 'cluster')}" if "clusters" in report else ""
    gone = f": {', '.join(by_reason(n))}{clusters}" if n["removed"] else ""
    yield "removed", f"{n['removed']:,} of {counted(n['read'], one, several)} ({share(n['removed'], n['read'])}){gone}"
    if spread := in_a_line(report):
        yield "similar" if report.get("value", "similarity") == "similarity" else "distance", spread
    if "leaks" not in report:
        yield from recall_lines(report)
    for example in nearest:
        yield "borderline", pair_of(example, report)
        if example["difference"]:
            runs = [(what, text.replace("\n", " ") if what == "equal" else text) for what, text in example["difference"]]
            yield "", harmless("".join(view(runs, False, whole=True)))
    review = [each["text"] for each in report.get("needs_review", ())] or ["no finding"]
    yield from (("review", text) for text in review)
    if nearest and nearest[0]["removed"]["id"] is not None:
        yield "next", show_command(out, spelled(nearest[0]["removed"]["id"], out))
