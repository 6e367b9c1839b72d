"""Time and memory of a run."""

from __future__ import annotations

from typing import Any

from likewise.drawing.markup import Html, table, tag
from likewise.drawing.numbers import share, size
from likewise.report import wording
from likewise.report.page.frame import Report, folded, noun, section, values

#: Facts that other parts of the page show.
ELSEWHERE = ("seconds", "inputs", "against", "compared", "command", "finished")


def machine(report: Report, run: dict[str, Any] | None) -> Html | None:
    """Return the section on times and versions; None without run.json."""
    if run is None:
        return None
    seconds = run.get("seconds", {})
    total = sum(seconds.values())
    rows: list[list[object]] = [[stage, f"{spent:,.2f}", share(spent, total)] for stage, spent in seconds.items()]
    read = wording.outcome(report)["read"]
    rate = f"{read / total:,.0f} {noun(report, plural=True)} per second overall. " if total and read else ""
    times = table("Seconds by stage", ["stage", "seconds", "share"], rows, ["total", f"{total:,.2f}", share(total, total)])
    facts = {name: value for name, value in run.items() if name not in ELSEWHERE}
    note = tag("p", f"{rate}{memory(run)}Only this section and the head of the page differ between runs with the same input and options.")
    return section("Time and memory", note, times, folded("Machine and versions", values("Machine and versions", facts)), name="machine")


def memory(run: dict[str, Any]) -> str:
    """Return a sentence on the memory that the run took; empty where it is unknown."""
    peak, limit = run.get("peak_memory_bytes"), run.get("memory_bytes")
    if not peak:
        return ""
    return f"Memory: at most {size(peak)}" + (f" of {size(limit)} allowed. " if limit else ". ")
