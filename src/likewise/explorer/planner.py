"""The planner: what another threshold, recall or layout would find and cost for the items of an output."""

from __future__ import annotations

from fractions import Fraction
from threading import Lock
from typing import Any

import numpy as np

from likewise import methods
from likewise.drawing.curves import for_page
from likewise.drawing.numbers import few, percent, size
from likewise.errors import LikewiseError, UsageError
from likewise.explorer.output import Output
from likewise.explorer.pages import Request, Shown
from likewise.messages import in_document
from likewise.planning import Plan, choose
from likewise.planning.families import family_for
from likewise.report import curve
from likewise.runs.pilot import sampled
from likewise.runs.sample import Pilot


class Planner:
    """The plans for an output."""

    def __init__(self, output: Output):
        self._output, self._lock = output, Lock()
        self._pilot: Pilot | None = None
        self.layout = curve.layout(output.report)
        self.limit = "within" if output.value == "distance" else "threshold"

    def page(self, request: Request) -> Shown:
        """The planner, or its result alone (``part``), which the script of the page puts into it."""
        report, query = self._output.report, request.query
        given = {name: query[name].strip() for name in ("limit", "recall", "bands", "rows") if query.get(name, "").strip()}
        given = {"limit": self._threshold, "recall": str(self.layout.get("target", 0.99)), **given}
        sample = query.get("sample") == "yes"
        values: dict[str, Any] = {"here": "/plan", "given": given, "limit": self.limit, "sample": sample, "fault": "", "by": self._output.by}
        values |= {"end": 1.0 if self.limit == "threshold" else max(1.0, 2 * float(report["threshold"])), "chart": None, "rows": [], "columns": []}
        try:
            values |= self._result(given, self.pilot() if sample else None)
        except LikewiseError as error:
            values["fault"] = in_document(error)
        return Shown("plan_result.html" if query.get("part") else "plan.html", values)

    @property
    def _threshold(self) -> str:
        """The limit of the run, as a decimal number if that is exact."""
        decimal = f"{self._output.report['threshold']:g}"
        exact = self.layout.get("threshold_exact") or decimal
        return decimal if Fraction(decimal) == Fraction(exact) else str(exact)

    def pilot(self) -> Pilot:
        """The similarities of pairs of a sample of the inputs, which is read once."""
        with self._lock:
            if self._pilot is None:
                originals, method = self._output.originals, self._output.originals.method
                family_for(methods.parse(method["by"]))  # before the inputs are read for nothing
                if changed := originals.changed():
                    raise UsageError(f"{changed[0]} has changed since the run, so there is no sample of it")
                reading = {name: method.get(name) for name in ("records", "html")}
                self._pilot = sampled([*originals.paths.values()], methods.parse(method["by"]), method["field"], 0, **reading)
            return self._pilot

    def plan(self, limit: str, recall: float, bands: int | None, rows: int | None, pilot: Pilot | None) -> Plan:
        """A plan for the items of the output."""
        method = methods.parse(self._output.by)
        known: dict[str, Any] = {"items": max(1, self._output.report["items"]), "dimension": self.layout.get("dimension")}
        if pilot is not None:
            known = {"items": pilot.items, "sample": pilot.density, "facts": pilot.facts, "shingles": pilot.shingles}
        return choose(**{self.limit: limit}, recall=recall, bands=bands, rows=rows, method=method, **known)  # type: ignore[arg-type]

    def _result(self, given: dict[str, str], pilot: Pilot | None) -> dict[str, Any]:
        recall, (bands, rows) = number(given, "recall", float), (number(given, name, int) for name in ("bands", "rows"))
        plans = {"this plan": self.plan(given["limit"], recall or 0.99, bands, rows, pilot)}
        if "bands" in self.layout and self.layout.get("rows"):
            run = self.plan(str(self._output.report["threshold"]), 0.99, self.layout["bands"], self.layout["rows"], pilot)
            plans["the run"] = run
        first, *others = plans.values()
        facts = [["layout", *(f"{plan.bands:,} × {plan.rows:,}" for plan in plans.values())]]
        facts.append(["recall at the limit", *(percent(plan.recall, down=True) for plan in plans.values())])
        facts.append(["comparisons per item", *(few(plan.candidates) for plan in plans.values())])
        facts.append(["memory", *(size(plan.memory) for plan in plans.values())])
        facts.append(["disk", *(size(plan.disk) for plan in plans.values())])
        facts.append(["seconds of one core", *(few(plan.core_seconds) for plan in plans.values())])
        different = [plan for plan in others if (plan.bands, plan.rows) != (first.bands, first.rows)]
        chart = for_page(first.chart(tuple(different), (), None))
        return {"chart": chart, "rows": facts, "columns": [*plans], "items": first.items, "stay": self._stay(first), "warnings": first.warnings}

    def _stay(self, plan: Plan) -> tuple[int, int] | None:
        """The near-duplicates of the run beyond the limit of a plan, and all; None if the limit is not stricter than that of the run."""
        limit, then = float(plan.threshold), float(self._output.report["threshold"])
        if (limit >= then) if self.limit == "within" else (limit <= then):
            return None
        near = self._output.removals.near
        values = near.values[near.near]
        return int(np.count_nonzero(values > limit if self.limit == "within" else values < limit)), len(values)


def number(given: dict[str, str], name: str, kind: type) -> Any:
    """A number of the form, or None. Raises UsageError."""
    try:
        return kind(given[name]) if name in given else None
    except ValueError:
        raise UsageError(f"{name}: expected a number, got {given[name][:20]!r}") from None
