"""Charts of curves by matplotlib, an optional dependency. Only this module imports it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from likewise.drawing.numbers import shown
from likewise.errors import missing_part

if TYPE_CHECKING:
    from likewise.drawing.curves import Chart


def plot(chart: Chart, title: str, ax: Any = None) -> Any:
    """Draw a chart on ``ax``, or on new axes, and return the axes. Raises MissingPartError if matplotlib is not installed."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise missing_part("charts are drawn with", "matplotlib", "matplotlib") from error
    if ax is None:
        _, ax = pyplot.subplots(layout="constrained")
    for line in chart.lines:
        ax.plot(*zip(*line.points, strict=True), label=line.label or None)
    if chart.threshold is not None:
        for points, what, label in chart.areas():
            base = 1.0 if what == "missed" else 0.0
            values, heights = zip(*points, strict=True)
            ax.fill_between(values, heights, base, alpha=0.25, hatch="..." if what == "missed" else "//", label=label)
        ax.axvline(chart.threshold, linestyle="--", color="black", linewidth=1)
        ax.annotate(f"threshold {shown(chart.threshold)}", (chart.threshold, 1.01), ha="center", annotation_clip=False)
    if chart.points:
        ax.plot(*zip(*chart.points, strict=True), "o", color="black", label="measured")
    ax.set(xlabel=chart.axis, ylabel=chart.event.axis, xlim=chart.span, ylim=(0, 1))
    ax.set_title(title, pad=20, wrap=True)
    if ax.get_legend_handles_labels()[1]:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), frameon=False)  # below: the curves use all of the chart
    return ax
