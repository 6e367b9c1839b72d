"""A plan: bands and rows, and their recall and cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, overload

from likewise.drawing.drawable import Drawable, Points
from likewise.drawing.numbers import counted, few, percent, shown
from likewise.messages import Message, option
from likewise.planning.advice import Advice
from likewise.planning.curves import Curve, jaccard, mapped, number_of
from likewise.planning.density import GRID, sets
from likewise.planning.families import BITS
from likewise.planning.model import Model, probability

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from likewise.drawing.curves import Chart

MANY_CANDIDATES = 10_000
#: Steps of a table, and how many thresholds it extends to for distances.
STEPS, BEYOND = 20, 4
#: Smallest probability that twelve digits can distinguish from 0.
LITTLE = 1e-12
#: OPH reaches the curve at this probability or higher (choose.py).
OPH_STEEP_ABOVE = 0.7
#: Default number of items for predictions.
ITEMS = 1_000_000


@dataclass(frozen=True, repr=False)
class Plan(Drawable):
    """A layout with its recall and cost. Made by `choose`; `likewise.families.from_plan` makes its family.

    >>> from likewise.planning import choose
    >>> choose("0.8")
    <Plan: 16 bands of 6 rows of MinHash, Jaccard similarity at 0.8, recall 0.9923>
    """

    bands: int  #: number of bands
    rows: int  #: slots in each band
    threshold: Fraction  #: minimum similarity, or maximum distance
    target: float  #: requested recall; a layout set by hand or tuned for error may have less
    sketch: str = "oph"  #: of MinHash: "oph" or "classic"; "" for other families
    tune: str = "recall"  #: "recall", or "error" for the least error
    chosen_by: str = "plan"  #: "plan", "hand" or "preset NAME"
    model: Model = field(default_factory=lambda: Model(jaccard(), sets(), ITEMS))
    ignored: tuple[tuple[str, Any], ...] = ()  #: options that a fixed layout ignores: ("recall", 0.9)
    others: tuple[Plan, ...] = ()  #: plans of other layouts, drawn over this one
    advice: Advice | None = None  #: of a plan for given data: how similar the items are to each other, and what several thresholds would keep

    def __repr__(self) -> str:
        recall = self.recall if self.recall == 1 else min(self.recall, 0.9999)  # rounding must not make it certain
        return f"<Plan: {self.layout} of {self.functions}, {self.collision.measure} {self.place}, recall {recall:.4g}>"

    def _repr_html_(self) -> str:
        from likewise.planning.notebook import html

        return html(self)

    @property
    def collision(self) -> Curve:
        """The collision probability of one function of the family."""
        return self.model.curve

    @property
    def functions(self) -> str:
        """The family, with the width of its buckets if it has one: ``Line of width 9``."""
        width = self.collision.parameters.get("width")
        return self.collision.family + (f" of width {width:.4g}" if width is not None else "")

    @property
    def items(self) -> int:
        """Number of items for which predictions are made."""
        return self.model.items

    @property
    def slots(self) -> int:
        """The length of a signature."""
        return self.bands * self.rows

    @property
    def recall(self) -> float:
        """The probability that a pair exactly at the threshold is found; more similar pairs are found with a higher probability."""
        return self.curve(float(self.threshold))

    @property
    def guaranteed(self) -> bool:
        """True if ``recall`` is a lower bound; else it is approximate, because slots of OPH are slightly dependent."""
        return self.sketch != "oph" or self.recall >= OPH_STEEP_ABOVE

    @property
    def error(self) -> float:
        """Mean distance of the curve from a step at the threshold, 0 to 1, which ``tune="error"`` minimizes."""
        found = [(probability(p, self.bands, self.rows), similar) for p, similar in around(self.collision, self.threshold)]
        return math.fsum(1 - p if similar else p for p, similar in found) / GRID

    @overload
    def curve(self, value: float | Fraction) -> float: ...
    @overload
    def curve(self, value: NDArray[Any] | Sequence[float]) -> NDArray[np.float64]: ...
    def curve(self, value: Any) -> Any:
        """Return the probability that a pair of this similarity or distance is found; for an array of values, float64 of its shape.

        Rounded to twelve digits, equal on every machine; 0 and 1 only if it is exact. Raises UsageError for values outside the measure.
        """

        def of_one(value: float) -> float:
            p = self.collision.at(value)
            found = round(probability(p, self.bands, self.rows), 12)
            return min(max(found, LITTLE), 1 - LITTLE) if 0 < p < 1 else found

        return mapped(of_one, value)

    @property
    def span(self) -> tuple[float, float]:
        """Range of similarities or distances in tables and charts."""
        if not self.collision.distances:
            return 0.0, 1.0
        return 0.0, min(self.collision.most, BEYOND * float(self.threshold) or 1.0)

    def table(self) -> list[tuple[float, float]]:
        """Return the S-curve as (similarity or distance, probability of being found), in about twenty steps; integers for codes."""
        end = self.span[1]
        if self.model.family.unit == BITS:
            values = [float(differ) for differ in range(0, math.ceil(end) + 1, math.ceil(end / STEPS))]
        else:
            values = [end * step / STEPS for step in range(0 if self.collision.distances else 1, STEPS + 1)]
        return [(value, self.curve(value)) for value in values]

    @property
    def approximate_threshold(self) -> float:
        """Value at which one function agrees with probability (1/bands)^(1/rows), near which the curve is steepest."""
        return self.collision.value(math.pow(1 / self.bands, 1 / self.rows))

    @property
    def candidates(self) -> float:
        """Predicted pairs to verify, per item."""
        return self.model.candidates(self.bands, self.rows)

    @property
    def memory_per_item(self) -> int:
        """Predicted bytes of memory per item, regardless of its length."""
        return self.model.memory(self.bands)

    @property
    def memory(self) -> int:
        """Predicted bytes of memory for all items, without fixed buffers."""
        return self.memory_per_item * self.items

    @property
    def disk_per_item(self) -> int:
        """Predicted bytes of the work folder per item."""
        return self.model.disk(self.bands)

    @property
    def disk(self) -> int:
        """Predicted bytes of the work folder for all items."""
        return self.disk_per_item * self.items

    @property
    def core_seconds(self) -> float:
        """Predicted seconds of one core for all items, within a factor of two or three."""
        return self.model.core_seconds(self.bands, self.rows)

    @property
    def place(self) -> str:
        """The threshold in words: ``at 0.8``, ``within 3``."""
        return f"{'within' if self.collision.distances else 'at'} {shown(float(self.threshold))}"

    @property
    def layout(self) -> str:
        """The layout in words: ``16 bands of 6 rows``."""
        return f"{counted(self.bands, 'band')} of {counted(self.rows, 'row')}"

    @property
    def warnings(self) -> list[str]:
        """Warnings before a run of ``items`` items."""
        return [Message(said) for said in (*self.about_layout, *self.about_items(self.items))]

    def about_items(self, items: int) -> list[str]:
        """Return a warning if each of ``items`` items becomes a candidate of very many others."""
        candidates = replace(self.model, items=items).candidates(self.bands, self.rows)
        if candidates <= MANY_CANDIDATES:
            return []
        faster = f"more rows or a {'smaller distance' if self.collision.distances else 'higher threshold'} are faster"
        return [f"{self.layout}: each of {items:,} items may be compared with {few(2 * candidates)} others; {faster}"]

    @property
    def about_layout(self) -> list[str]:
        """Warnings that do not depend on the number of items."""
        said = []
        if self.ignored:
            fixed = "set by hand" if self.chosen_by == "hand" else f"fixed by the {self.chosen_by}"
            ignored = " and ".join(option(name, value) for name, value in self.ignored)
            said.append(f"{self.layout}: the layout is {fixed}, so {ignored} has no effect; leave the layout to the plan to use it")
        if self.recall < min(0.5, self.target):
            instead = "leave the layout to the plan" if self.chosen_by != "plan" else f"leave out {option('tune', 'error')}"
            pair = f"a pair {'at a distance of' if self.collision.distances else 'at'} {shown(float(self.threshold))}"
            said.append(
                f"{self.layout}: {pair} is found with a probability of only {percent(self.recall)}; {instead} for a recall of {self.target:g}"
            )
        if self.sketch == "oph" and self.bands == 1 and self.recall < 1:
            small = "small sets are found less often than the curve predicts, by up to 0.12"
            said.append(f"{self.layout}: {small}; use two bands or more, or {option('sketch', 'classic')}")
        return said

    def chart(self, others: tuple[Any, ...], points: Points, threshold: float | None) -> Chart:
        from likewise.drawing.curves import Drawn, charted, check_others

        check_others(self, others, Plan, "plan", "plans")
        drawn = [Drawn(f"{plan.bands} × {plan.rows}", plan.curve) for plan in (self, *self.others, *others)]
        at = float(self.threshold) if threshold is None else number_of(threshold)
        return charted(drawn, at, axis=self.collision.measure, span=self.span, falling=self.collision.distances, points=points)

    @property
    def title(self) -> str:
        """The title of the chart: layout, measure and threshold."""
        return f"{self.layout}, {self.collision.measure} {self.place}"

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values for JSON, with None for infinite values.

        For example, the approximate threshold of a curve that does not fall so far is infinite.
        """
        values = {
            "family": self.collision.family,
            **self.collision.parameters,
            "measure": self.collision.measure,
            "bands": self.bands,
            "rows": self.rows,
            "slots": self.slots,
            "threshold": float(self.threshold),
            "threshold_exact": str(self.threshold),
            "recall": self.recall,
            "target": self.target,
            "sketch": self.sketch,
            "tune": self.tune,
            "chosen_by": self.chosen_by,
            "items": self.items,
            "sample": self.model.density.sample,
            "approximate_threshold": round(self.approximate_threshold, 6),
            "candidates_per_item": round(self.candidates, 6),
            "memory_per_item": self.memory_per_item,
            "disk_per_item": self.disk_per_item,
            "core_seconds": float(f"{self.core_seconds:.3g}"),
        }
        if self.advice is not None:
            of = {"sampled": self.advice.sampled, "compared": self.advice.compared}
            values["advice"] = {**of, "by_threshold": self.advice.to_list()}
        return {name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in values.items()}


def around(curve: Curve, threshold: Fraction) -> list[tuple[float, bool]]:
    """Return (probability of one function, whether such a pair is similar) at GRID evenly spaced values.

    These are similarities up to 1, or distances up to twice the threshold.
    """
    at = float(threshold)
    end = min(curve.most, 2 * at or 1.0) if curve.distances else 1.0
    values = [end * (step + 0.5) / GRID for step in range(GRID)]
    return [(curve.at(value), value <= at if curve.distances else value >= at) for value in values]
