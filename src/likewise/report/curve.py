"""The curve of a run, from its layout as report.json has it: with what chance a pair is found, by how alike it is."""

from __future__ import annotations

import inspect
from bisect import bisect_left
from collections.abc import Callable
from functools import partial
from typing import Any

from likewise.drawing.curves import Drawn, s_curves
from likewise.drawing.markup import Html
from likewise.planning import chance, curves
from likewise.planning.families import FAMILIES, MINHASH


def picture(report: dict[str, Any], note: str) -> Html:
    """The curve around the threshold. Without a plan that tells it in full, straight lines between the points that the report has."""
    plan, known = layout(report), report["curve"]
    falling = report.get("value") == "distance"
    found = of_plan(plan) or partial(between, known)
    axis = plan.get("measure") or "similarity of the pair"
    ends = (0.0, float(known[-1][0]))
    return s_curves([Drawn("", found)], float(report["threshold"]), axis=axis, span=ends, falling=falling, note=note)


def layout(report: dict[str, Any]) -> dict[str, Any]:
    """The bands and rows, and what they are of: as they were planned, or as a join took them; nothing where it had none."""
    return report["method"].get("plan") or report.get("join") or {}


def of_plan(plan: dict[str, Any]) -> Callable[[float], float] | None:
    """The chance to be found, by similarity or distance; None where the plan does not tell it."""
    family = FAMILIES.get(plan.get("family", MINHASH.name))
    if family is None or "bands" not in plan:
        return None
    curve = family.collision(**{name: plan[name] for name in inspect.signature(family.collision).parameters if name in plan})
    if plan.get("measure") == "angle in degrees":
        curve = curves.in_degrees(curve)
    return lambda value: chance(curve.at(value), plan["bands"], plan["rows"])


def between(known: list[list[float]], value: float) -> float:
    """The chance at a value, between the two nearest points; that of the nearest one outside of them."""
    place = bisect_left([x for x, _ in known], value)
    (x1, y1), (x2, y2) = known[max(0, place - 1)], known[min(place, len(known) - 1)]
    return float(y1 if x1 == x2 else y1 + (y2 - y1) * (value - x1) / (x2 - x1))
