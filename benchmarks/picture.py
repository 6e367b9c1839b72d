"""The picture of all.py: for each task, a bar for each other tool, from the time of likewise to its own, in powers of ten."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from likewise.drawing.markup import Html, tag
from likewise.drawing.svg import standalone, svg

WIDTH, NAMES, LINE, HEAD, FOOT, RIGHT = 760, 250, 18, 30, 40, 90


def drawn(rows: Sequence[dict[str, Any]]) -> str:
    """Rows of all.py as a complete SVG file. Tasks without another tool are left out."""
    rows = [row for row in rows if not row["contender"].startswith(("likewise", "floor"))]
    tasks = [(key, list(group)) for key, group in groupby(rows, lambda row: (row["subject"], row["case"]))]
    ratios = [row["ratio"] for row in rows if row["ratio"] > 0]
    low, high = math.floor(math.log10(min(ratios))), math.ceil(math.log10(max(ratios)))
    height = HEAD * len(tasks) + LINE * len(rows) + FOOT

    def across(ratio: float) -> float:
        return round(NAMES + (math.log10(ratio) - low) / max(1, high - low) * (WIDTH - NAMES - RIGHT), 1)

    children: list[Html] = []
    for power in range(low, high + 1):
        x = across(10.0**power)
        children.append(tag("line", x1=x, x2=x, y1=8, y2=height - FOOT + 8, class_="grid"))
        children.append(tag("text", f"{10.0**power:g}", x=x, y=height - FOOT + 24, text_anchor="middle"))
    y = 0.0
    for (subject, case), group in tasks:
        y += HEAD
        children.append(tag("text", f"{subject}: {case}", x=8, y=y - 8, class_="strong"))
        for row in group:
            ends = sorted((across(1), across(row["ratio"])))
            children.append(tag("text", row["contender"], x=NAMES - 8, y=y + 9, text_anchor="end"))
            line = {"x1": ends[0] - 2, "x2": ends[1] + 2, "y1": y + 5, "y2": y + 5, "stroke_width": 9}
            children.append(tag("line", **line, class_="curve" if row["ratio"] > 1 else "curve second"))
            children.append(tag("text", f"{row['ratio']:.3g}", x=ends[1] + 8, y=y + 9))
            y += LINE
    children.append(tag("text", "time, in multiples of that of likewise", x=across(1), y=height - 4, class_="axis"))
    said = "; ".join(f"{row['subject']}, {row['case']}, {row['contender']}: {row['ratio']:.3g}" for row in rows)
    return standalone(svg(WIDTH, int(height), f"Times in multiples of that of likewise. {said}", *children), "likewise and its peers")
