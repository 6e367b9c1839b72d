"""likewise plan"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from likewise.cli import curve
from likewise.cli.screen import Screen, counted, percent, size, width
from likewise.cli.verbs import verb

if TYPE_CHECKING:
    from likewise.planning import Plan

#: Columns of the table, and the characters that each takes.
MOST_COLUMNS, COLUMN = 4, 23


@verb(
    "plan",
    "",
    examples=("plan --threshold 0.8 --recall 0.99", "plan --threshold 0.7 --bands 20 --rows 5 --items 50000000"),
    flags="by normalize threshold recall bands rows slots sketch tune items config json quiet color",
)
def command(screen: Screen, by: str = "words:5", normalize: str | None = None, threshold: str = "0.8", **choices: Any) -> None:
    from likewise import methods
    from likewise.planning import choose

    method = methods.parse(by, normalize)
    plan = choose(threshold, **choices)
    if screen.json:
        points = [list(point) for point in plan.table()]
        screen.document({"schema": "likewise/plan/1", "by": str(method), **plan.to_dict(), "curve": points, "warnings": plan.warnings})
        return
    for line in described(plan, str(method)):
        screen.data(line)
    for message in plan.warnings:
        screen.warn(message)


def promised(threshold: float, recall: float) -> str:
    return f"a pair at {threshold:g} is found with at least {percent(recall, down=True)}"


def described(plan: Plan, by: str) -> Iterator[str]:
    at = float(plan.threshold)
    layout = f"{counted(plan.bands, 'band')} of {counted(plan.rows, 'row')}, {counted(plan.slots, 'slot')}"
    yield f"{by} at {at:g}: {layout} ({plan.sketch}, {purpose(plan)})"
    yield f"{promised(at, plan.recall).capitalize()}{', pairs above it with more' if plan.recall < 1 else ''}."
    yield ""
    glyphs = curve.glyphs(sys.stdout.encoding)
    yield from curve.draw(plan.curve, at, min(61, width(78) - 8), 10, glyphs)
    yield ""
    yield from table(plan, at)
    yield ""
    pairs = f"{plan.candidates * plan.items:,.0f} pairs ({plan.candidates:,.2f} an item)"
    yield f"{counted(plan.items, 'item')}: about {pairs} are compared, if few are alike"
    disk = f"{size(plan.disk_per_item() * plan.items)} of disk while it runs, if they have 300 shingles each"
    yield f"they need about {size(plan.memory)} of memory beyond some fixed buffers, and {disk}"


def purpose(plan: Plan) -> str:
    if plan.chosen_by == "hand":
        return "set by hand"
    return "planned for least error" if plan.tune == "error" else f"planned for a recall of {plan.target:g}"


def table(plan: Plan, at: float) -> Iterator[str]:
    """Similarity and the chance to be found, in columns to be read downwards; the threshold is marked."""
    points = sorted({*plan.table(), (at, plan.curve(at))})
    cells = [
        f"{'>' if similarity == at else ' '} {written(similarity)}".ljust(8) + percent(chance, down=similarity == at).rjust(11)
        for similarity, chance in points
    ]
    columns = max(1, min(MOST_COLUMNS, (width() + 4) // COLUMN))
    rows = -(-len(cells) // columns)
    yield "    ".join(["  alike      found"] * len(range(0, len(cells), rows)))
    for row in range(rows):
        yield "  ".join(cells[row::rows])


def written(similarity: float) -> str:
    return f"{similarity:.2f}" if round(similarity, 2) == similarity else f"{similarity:.4g}"
