"""A plan: bands and rows, and what they promise and cost (SPEC 4 and 7)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from likewise.curves import Curve, jaccard
from likewise.drawing.curves import Drawn, s_curves
from likewise.drawing.svg import standalone
from likewise.planning.density import sets
from likewise.planning.model import Model, chance

MANY_CANDIDATES = 10_000
#: Steps of a table; it shows distances to so many thresholds.
STEPS, BEYOND = 20, 4
#: How many items predictions are for where that is not known.
ITEMS = 1_000_000


@dataclass(frozen=True)
class Plan:
    """A layout and what it promises. Made by `choose`."""

    bands: int
    rows: int
    threshold: Fraction  # the least similarity, or the greatest distance
    target: float  # the recall that was asked for; a layout set by hand or tuned for error may promise less
    sketch: str = "oph"  # of MinHash; empty for other families
    tune: str = "recall"
    chosen_by: str = "plan"  # or "hand"
    model: Model = field(default_factory=lambda: Model(jaccard(), sets(), ITEMS), repr=False)

    @property
    def collision(self) -> Curve:
        """The chance of one function of the family."""
        return self.model.curve

    @property
    def items(self) -> int:
        """How many items the predictions are for."""
        return self.model.items

    @property
    def slots(self) -> int:
        """The length of a signature."""
        return self.bands * self.rows

    @property
    def recall(self) -> float:
        """The chance that a pair exactly at the threshold is found; more similar pairs are found with more."""
        return self.curve(float(self.threshold))

    def curve(self, value: float) -> float:
        """The chance that a pair of this similarity or distance is found. Twelve digits, the same on every machine."""
        return round(chance(self.collision.at(value), self.bands, self.rows), 12)

    @property
    def span(self) -> tuple[float, float]:
        """The similarities, or the distances, that tables and pictures show."""
        if not self.collision.distances:
            return 0.0, 1.0
        return 0.0, min(self.collision.most, BEYOND * float(self.threshold) or 1.0)

    def table(self) -> list[tuple[float, float]]:
        """The S-curve: (similarity or distance, chance to be found), in about twenty steps; whole numbers for codes."""
        end = self.span[1]
        if self.collision.family == "Bits":
            values = [float(differ) for differ in range(0, math.ceil(end) + 1, math.ceil(end / STEPS))]
        else:
            values = [end * step / STEPS for step in range(0 if self.collision.distances else 1, STEPS + 1)]
        return [(value, self.curve(value)) for value in values]

    @property
    def approximate_threshold(self) -> float:
        """Where one function agrees with chance (1/bands)^(1/rows): the curve is steepest near it."""
        return self.collision.value(math.pow(1 / self.bands, 1 / self.rows))

    @property
    def candidates(self) -> float:
        """Predicted pairs to verify, for each item."""
        return self.model.candidates(self.bands, self.rows)

    @property
    def memory_per_item(self) -> int:
        """Predicted bytes of memory for each item, whatever its length."""
        return self.model.memory(self.bands)

    @property
    def memory(self) -> int:
        """Predicted bytes of memory for all items, beyond some fixed buffers."""
        return self.memory_per_item * self.items

    @property
    def disk_per_item(self) -> int:
        """Predicted bytes of the work folder for each item."""
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
        return f"{'within' if self.collision.distances else 'at'} {float(self.threshold):g}"

    @property
    def layout(self) -> str:
        return f"{counted(self.bands, 'band')} of {counted(self.rows, 'row')}"

    @property
    def warnings(self) -> list[str]:
        """What a user should know before the run."""
        said = []
        if self.recall < min(0.5, self.target):
            instead = "leave the layout to the plan" if self.chosen_by == "hand" else "leave out --tune error"
            pair = f"a pair {'at a distance of' if self.collision.distances else 'at'} {float(self.threshold):g}"
            said.append(f"{self.layout}: {pair} is found with chance {self.recall:.3g} only; {instead} to find it with {self.target:g}")
        if self.sketch == "oph" and self.bands == 1 and self.recall < 1:
            small = "small sets are found less often than the curve says, by up to 0.12"
            said.append(f"{self.layout}: {small}; take two bands or more, or --sketch classic")
        if self.candidates > MANY_CANDIDATES:
            faster = f"more rows or a {'smaller distance' if self.collision.distances else 'higher threshold'} are faster"
            said.append(f"{self.layout}: each of {self.items:,} items may meet {self.candidates:,.0f} others; {faster}")
        return said

    def svg(self, *others: Plan) -> str:
        """The S-curve as an SVG picture, with what is missed and what is compared in vain around the threshold; other plans' curves over it."""
        drawn = [Drawn(f"{plan.bands} × {plan.rows}", plan.curve) for plan in (self, *others)]
        picture = s_curves(drawn, float(self.threshold), axis=self.collision.measure, span=self.span, falling=self.collision.distances)
        return standalone(picture, f"{self.layout}, {self.collision.measure} {self.place}")

    _repr_svg_ = svg  # what a notebook shows

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
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


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + "s" * (number != 1)
