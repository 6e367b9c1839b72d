"""Objects that draw themselves as a curve: as SVG, in a notebook, and with matplotlib."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from likewise.drawing.curves import Chart

Points = Iterable[tuple[float, float]]


class Drawable(ABC):
    """A curve of probabilities by similarity or distance, with others over it and with measured points."""

    __slots__ = ()

    @abstractmethod
    def chart(self, others: tuple[Any, ...], points: Points, threshold: float | None) -> Chart:
        """The curves of this object and of others of the same measure. Raises UsageError for those of another."""

    @property
    @abstractmethod
    def title(self) -> str:
        """The title of the chart."""

    def svg(self, *others: Any, points: Points = (), threshold: float | None = None) -> str:
        """Return the curve as an SVG chart, with areas for false negatives and false positives around a threshold; others are drawn over it.

        points: measured (similarity or distance, share of such pairs); `likewise.lecture.measured` measures them on given items. threshold: that
        of a plan by default; without one, no areas are drawn. To write a file: ``Path("curve.svg").write_text(plan.svg(), encoding="utf-8")``.
        Raises UsageError for others of another measure, whose axis differs, and for points or a threshold outside the chart.
        """
        from likewise.drawing.curves import drawn
        from likewise.drawing.svg import standalone

        return standalone(drawn(self.chart(others, points, threshold)), self.title)

    def plot(self, *others: Any, points: Points = (), threshold: float | None = None, ax: Any = None) -> Any:
        """Draw the chart of `svg` with matplotlib (``likewise[plot]``), on ``ax`` or on new axes, which are returned.

        Raises MissingPartError without matplotlib, and the errors of `svg`.
        """
        from likewise.drawing.plots import plot

        return plot(self.chart(others, points, threshold), self.title, ax)

    def _repr_svg_(self) -> str:  # shown by notebooks
        return self.svg()
