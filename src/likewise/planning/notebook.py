"""A plan in a notebook: its curve, what it finds at some values, and what it costs."""

from __future__ import annotations

import re
from base64 import b64encode
from html import unescape
from typing import TYPE_CHECKING

from likewise.drawing.markup import Html, tag
from likewise.drawing.numbers import counted, few, percent, shown, size
from likewise.drawing.preview import Preview, grid, listed, output

if TYPE_CHECKING:
    from likewise.planning.advice import Advice
    from likewise.planning.plan import Plan

#: Probabilities between which the table of the curve has rows.
RARE, SURE = 0.001, 0.9999


def html(plan: Plan) -> str:
    """The plan as HTML, with its own style."""
    heading = tag("p", tag("b", "Plan"), f": {plan.layout} of {plan.functions}, {plan.collision.measure} {plan.place}")
    parts = [heading, listed(plan.warnings), picture(plan.svg()), grid(curve(plan)), grid(cost(plan))]
    if plan.advice is not None:
        parts.append(grid(advised(plan, plan.advice)))
    return output("Plan", *parts)


def picture(chart: str) -> Html:
    """A complete chart as an image, so that neither its style nor that of the notebook changes the other."""
    described = re.search("<desc>(.*?)</desc>", chart)
    return tag("img", src=f"data:image/svg+xml;base64,{b64encode(chart.encode()).decode()}", alt=unescape(described[1]) if described else "")


def curve(plan: Plan) -> Preview:
    """The probability that a pair is found, around the threshold, for this plan and for those drawn beside it."""
    at = float(plan.threshold)
    values = sorted({at, *(value for value, found in plan.table() if RARE <= found <= SURE)}, reverse=plan.collision.distances)
    plans = [plan, *plan.others]
    names = ["pairs found"] if len(plans) == 1 else [f"found by {one.bands} × {one.rows}" for one in plans]
    rows = [[shown(value) + (" (threshold)" if value == at else ""), *(percent(one.curve(value)) for one in plans)] for value in values]
    return Preview("Pairs found, by similarity", [plan.collision.measure, *names], rows, len(rows))


def advised(plan: Plan, advice: Advice) -> Preview:
    """How similar the items are to each other, and what several thresholds would keep."""
    at, limit = float(plan.threshold), "distance" if plan.collision.distances else "threshold"
    rows = [
        [
            shown(row["threshold"]) + (f" ({limit})" if row["threshold"] == at else ""),
            f"{percent(row['similar'])} ({percent(row['low'])} to {percent(row['high'])})",
            f"about {percent(row['kept'])}",
        ]
        for row in advice.to_list()
    ]
    title = f"{counted(advice.sampled, 'sampled item')}, each compared with {counted(advice.compared, 'different item')}"
    return Preview(title, [plan.collision.measure, "have a similar one, with 95% confidence", "a removal keeps"], rows, len(rows))


def cost(plan: Plan) -> Preview:
    """The predicted cost of a run."""
    rows = [
        ["hash values per item", f"{plan.slots:,}"],
        ["pairs to compare per item", few(plan.candidates)],
        ["memory", size(plan.memory)],
        ["disk during the run", size(plan.disk)],
        ["seconds on one core", few(plan.core_seconds)],
    ]
    return Preview(f"Predicted for {counted(plan.items, 'item')}", ["prediction", "about"], rows, len(rows))
