"""What a run does: made once, after its inputs were looked at (runs/inspection.py), and never changed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from likewise.kinds.kind import ASKED, NEVER, NOT_PROMISED, TARGET, Kind, MeasureFacts
from likewise.methods import Measure, Text
from likewise.options import MADE, OF_THE_MACHINE, Options
from likewise.planning import Facts, Plan, choose
from likewise.planning.choose import check_plain
from likewise.records import Want

if TYPE_CHECKING:
    import numpy as np


class Grouping(Protocol):
    """The groups of elements, once they are read (io.groups)."""

    @property
    def digest(self) -> str:
        """Stands for the mapping."""

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Words of elements to words of their groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    options: Options  # what was asked for
    field: str  # the column that is compared
    fields: tuple[str, ...] = ()  # NAME@GLOB: the field of sources that match the glob, in place of ``field``
    want: Want  # what is read of each row
    plan: Plan | None  # the bands in which similar items meet; None: items are joined without, or the nearest are wanted
    exact: bool  # no similar pair is missed
    facts: Facts
    grouped: Grouping | None = None  # what maps elements to their groups

    @property
    def method(self) -> Text | Measure:
        return self.options.method

    @property
    def measure(self) -> Measure:
        """The measure by which items are compared; of texts that of their sets of shingles."""
        return self.method if isinstance(self.method, Measure) else Measure(self.method.facts.name, containment=self.method.containment)

    @property
    def kind(self) -> Kind:
        """What is read: vectors may have turned out to be sparse."""
        return self.method.kind.seen(self.facts)

    @property
    def compared(self) -> Kind:
        """What is compared: what is read, or what is made of it beforehand."""
        return self.method.compared.seen(self.facts)

    @property
    def base(self) -> MeasureFacts:
        """The measure by which that is compared."""
        return self.method.base

    @property
    def threshold(self) -> Fraction:
        """The least similarity of a pair, or the greatest distance; 0, and of no meaning, where the nearest are wanted however far they are."""
        return self.options.bound or Fraction(0)

    @property
    def target(self) -> float:
        """The recall that was asked for."""
        return float(self.options.asked["recall"])

    @property
    def recall(self) -> float | None:
        """The probability with which a pair exactly at the threshold is found; None: nothing is promised, and only an audit measures it."""
        if self.plan:
            return self.plan.recall
        if self.exact or self.compared.recall not in (TARGET, NOT_PROMISED):
            return 1.0
        return self.target if self.compared.recall == TARGET else None

    @property
    def joined(self) -> bool:
        """Whether pairs are found by a join and not in buckets."""
        return self.plan is None

    @property
    def seed(self) -> int:
        return self.options.seed

    @property
    def verify(self) -> str:
        return self.options.verify

    @property
    def dimension(self) -> int:
        """Numbers of a vector, or bits of a code; 0 where that is not known."""
        return self.facts.dimension or 0

    @property
    def contained(self) -> bool:
        """Whether pairs are ordered: of an item and another that holds enough of it."""
        return self.method.containment

    @property
    def distances(self) -> bool:
        """Whether values are distances: small where items are similar."""
        return self.method.facts.distance

    def described(self) -> dict[str, Any]:
        """All that fixes the bytes of the result, as plain values for the manifest; nothing about where it ran."""
        chosen = {f.name: getattr(self.options, f.name) for f in fields(self.options) if f.name not in OF_THE_MACHINE | MADE}
        chosen |= {"exact": self.exact, "field": (self.field, *self.fields) if self.fields else self.field}
        text = {"by": str(self.method), "normalize": list(self.method.normalize) if isinstance(self.method, Text) else []}
        sparse = {"sparse": True} if self.kind.sparse else {}  # as they were given
        limit: dict[str, Any] = {"threshold_exact": str(self.threshold)} if self.plan is None and self.options.bound is not None else {}
        if limit and self.recall != 1:
            limit["target"] = self.target
        plan = self.plan.to_dict() if self.plan else None
        return {**text, **sparse, "plan": plan, **limit, **{name: plain(value) for name, value in chosen.items()}}


def is_joined(options: Options, kind: Kind) -> bool:
    """Whether items of a kind are joined, without bands: strings and sets of features always, vectors and codes unless bands were asked for, others
    exactly and where that is asked for. A join misses none, but one of vectors or of sets of features that is not asked to be exact."""
    if kind.bands == ASKED:
        return bool(options.exact) or not options.by_hand
    return kind.bands == NEVER or bool(options.exact)


def plan_of(options: Options, facts: Facts) -> Plan | None:
    """The bands in which items meet, once what a plan must know of them is known; None where there are none. Raises UsageError."""
    method = options.method
    if options.bound is None or not method.kind.needs_data or method.compared.bands == NEVER:
        return options.plan
    if not options.limited or is_joined(options, method.compared.seen(facts)):
        check_plain(method, options.bound, facts, *(options.asked[name] for name in ("recall", "sketch", "tune")))
        return None
    return choose(method=method, facts=facts, **options.asked)


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, Mapping):
        return f"a mapping in Python, {hashlib.blake2b(repr(sorted(map(repr, value.items()))).encode(), digest_size=16).hexdigest()}"
    return list(value) if isinstance(value, tuple) else str(value) if isinstance(value, Path) else value
