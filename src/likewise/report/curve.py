"""The curve of a run, computed from the layout in report.json: the probability to find a pair, by its similarity or distance."""

from __future__ import annotations

import inspect
from bisect import bisect_left
from collections.abc import Callable
from functools import partial
from typing import Any

from likewise.drawing.curves import Drawn, charted, for_page
from likewise.drawing.markup import Html
from likewise.planning import curves, probability
from likewise.planning.families import FAMILIES, MINHASH


def chart(report: dict[str, Any], note: str) -> Html:
    """Return the curve around the threshold. If the plan does not determine it, the points in the report are connected by straight lines."""
    plan, known = layout(report), report["curve"]
    falling = report.get("value") == "distance"
    found = of_plan(plan) or partial(between, known)
    axis = plan.get("measure") or "similarity of the pair"
    ends = (0.0, float(known[-1][0]))
    return for_page(charted([Drawn("", found)], float(report["threshold"]), axis=axis, span=ends, falling=falling, note=note))


def layout(report: dict[str, Any]) -> dict[str, Any]:
    """Return the plan of the run, or the facts of its join; {} if there is neither."""
    return report["method"].get("plan") or report.get("join") or {}


def of_plan(plan: dict[str, Any]) -> Callable[[float], float] | None:
    """Return the function from similarity or distance to the probability of being found; None if the plan does not determine it."""
    family = FAMILIES.get(plan.get("family", MINHASH.name))
    if family is None or "bands" not in plan:
        return None
    curve = family.collision(**{name: plan[name] for name in inspect.signature(family.collision).parameters if name in plan})
    if plan.get("measure") == "angle in degrees":
        curve = curves.in_degrees(curve)
    return lambda value: probability(curve.at(value), plan["bands"], plan["rows"])


def between(known: list[list[float]], value: float) -> float:
    """Return the probability at a value, interpolated linearly; outside the points that of the nearest one."""
    place = bisect_left([x for x, _ in known], value)
    (x1, y1), (x2, y2) = known[max(0, place - 1)], known[min(place, len(known) - 1)]
    return float(y1 if x1 == x2 else y1 + (y2 - y1) * (value - x1) / (x2 - x1))
