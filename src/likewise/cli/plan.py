"""likewise plan"""

from __future__ import annotations

import sys
from typing import Any

from likewise.cli import curve
from likewise.cli.screen import Screen, counted, percent, size, width
from likewise.cli.verbs import verb

COLUMNS_OF_TABLE = 4


@verb(
    "plan",
    "",
    examples=("plan --threshold 0.8 --recall 0.99", "plan --threshold 0.7 --bands 20 --rows 5 --items 50000000"),
    flags="by normalize threshold recall bands rows slots sketch tune items config json quiet color",
)
def command(screen: Screen, by: str = "words:5", normalize: str | None = None, threshold: str = "0.8", **choices: Any) -> None:
    from likewise import methods
    from likewise.plan import choose

    method = methods.parse(by, normalize)
    plan = choose(threshold, **choices)
    if screen.json:
        curve_of = [list(point) for point in plan.table()]
        screen.document({"schema": "likewise/plan/1", "by": str(method), **plan.to_dict(), "curve": curve_of, "warnings": plan.warnings})
        return
    for line in described(plan, str(method)):
        screen.data(line)
    for message in plan.warnings:
        screen.warn(message)


def described(plan: Any, by: str) -> list[str]:
    at = float(plan.threshold)
    marks = curve.glyphs(getattr(sys.stdout, "encoding", None))
    lines = [
        f"{by} at {at:g}: {counted(plan.bands, 'band')} of {counted(plan.rows, 'row')}, {counted(plan.slots, 'slot')} "
        f"({plan.sketch}, {'by hand' if plan.chosen_by == 'hand' else 'planned for ' + ('least error' if plan.tune == 'error' else f'recall {plan.target:g}')})",
        f"A pair at exactly {at:g} is found with at least {percent(plan.recall, down=True)}, pairs above it with more.",
        "",
        *curve.draw(plan.curve, at, min(61, width(78) - 8), 10, marks),
        "      " + "   ".join(f"{mark} {name}" for mark, name in zip(marks, curve.NAMES, strict=False)),
        "",
        *table(plan, at),
        "",
        f"for {counted(plan.items, 'item')}   {plan.candidates * plan.items:,.0f} pairs compared ({plan.candidates:.2g} an item), predicted",
        f"a million items     {size(plan.memory_per_item * 1e6)} of memory, {size(plan.disk_per_item() * 1e6)} of disk while it runs (300 shingles each)",
    ]
    return lines


def table(plan: Any, at: float) -> list[str]:
    """Similarity and the chance to be found, in columns to be read downwards; the threshold is marked."""
    points = sorted({*plan.table(), (at, plan.curve(at))})
    cells = [f"{'>' if abs(similarity - at) < 1e-12 else ' '} {similarity:.4g}".ljust(8) + percent(chance).rjust(11) for similarity, chance in points]
    columns = max(1, min(COLUMNS_OF_TABLE, (width() + 4) // 23))
    rows = -(-len(cells) // columns)
    head = "  ".join(["  alike      found"] * (-(-len(cells) // rows)))
    return [head, *("  ".join(cells[row::rows]).rstrip() for row in range(rows))]
