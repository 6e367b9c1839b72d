"""The specification of a run, made once after its inputs were inspected (runs/inspection.py) and never changed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from likewise.choices import TAKES
from likewise.kinds.kind import ASKED, NEVER, NOT_GUARANTEED, TARGET, Kind, MeasureFacts
from likewise.methods import Measure, Text
from likewise.options import MADE, OF_THE_MACHINE, Options
from likewise.planning import Facts, Plan, choose
from likewise.planning.choose import check_plain
from likewise.records import Want

if TYPE_CHECKING:
    import numpy as np

    from likewise.items.ignored import Ignored


#: Options that a description of a run has only if they were given.
WHERE_GIVEN = {"ignore", "ignore_common", "also_inside", "level", "min_left", "min_run", "gap", "common", "preset", "sketches"}


class Grouping(Protocol):
    """The groups of elements, as read from a file or a mapping (io.groups)."""

    @property
    def digest(self) -> str:
        """A digest of the mapping."""

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """The words of groups for the words of elements, uint64[m] both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    options: Options  # as given by the user
    field: str  # the compared column
    fields: tuple[str, ...] = ()  # NAME@GLOB: the field of sources that match the glob, instead of ``field``
    want: Want  # the fields to read, and how
    plan: Plan | None  # the bands for candidates; None: items are joined without bands, or nearest neighbors are searched
    exact: bool  # the recall must be 1
    facts: Facts
    grouped: Grouping | None = None  # maps elements to groups
    ignored: Ignored | None = None  # shingles or elements that are left out of all sets; None: nothing is to be ignored
    kept: int | None = None  # items are compared with those of an index, which keeps so many upper bits of each word (`stages.kept`)

    @property
    def method(self) -> Text | Measure:
        return self.options.method

    @property
    def measure(self) -> Measure:
        """The measure that compares items; for texts, the measure of their sets of shingles."""
        return self.method if isinstance(self.method, Measure) else Measure(self.method.facts.name, containment=self.method.containment)

    @property
    def kind(self) -> Kind:
        """The kind of the items that are read; vectors may have turned out to be sparse."""
        return self.method.kind.seen(self.facts)

    @property
    def compared(self) -> Kind:
        """The kind of the items that are compared: those that are read, or those derived from them."""
        return self.method.compared.seen(self.facts)

    @property
    def base(self) -> MeasureFacts:
        """The measure of the compared items."""
        return self.method.base

    @property
    def counting(self) -> Job:
        """The job that reads all shingles of the items, to count them: without bands, and without repeats."""
        method = replace(self.method, bag=False, containment=False) if isinstance(self.method, Text) else self.method
        return replace(self, plan=None, ignored=None, options=replace(self.options, method=method, verify="exact"))

    @property
    def power(self) -> float:
        """The r of L_r; 0 for other measures."""
        return self.measure.power

    @property
    def threshold(self) -> Fraction:
        """The minimum similarity of a pair, or the maximum distance; a meaningless 0 for a nearest-neighbor search without a limit."""
        return self.options.bound or Fraction(0)

    @property
    def target(self) -> float:
        """The requested recall."""
        return float(self.options.asked["recall"])

    @property
    def recall(self) -> float | None:
        """The probability of finding a pair exactly at the threshold; None: unknown, only an audit measures it."""
        if self.plan:
            return self.plan.recall
        if self.exact or self.compared.recall not in (TARGET, NOT_GUARANTEED):
            return 1.0
        return self.target if self.compared.recall == TARGET else None

    @property
    def joined(self) -> bool:
        """True if pairs are found by a join, not in buckets."""
        return self.plan is None

    @property
    def seed(self) -> int:
        return self.options.seed

    @property
    def verify(self) -> str:
        return self.options.verify

    @property
    def dimension(self) -> int:
        """Dimensions of a vector, or bits of a code; 0 if unknown."""
        return self.facts.dimension or 0

    @property
    def contained(self) -> bool:
        """True if pairs are ordered: the second item contains enough of the first."""
        return self.method.containment

    @property
    def distances(self) -> bool:
        """True if values are distances: small for similar items."""
        return self.method.facts.distance

    def described(self) -> dict[str, Any]:
        """All settings that determine the bytes of the result, as plain values for the manifest; nothing about the machine."""
        chosen = {f.name: getattr(self.options, f.name) for f in fields(self.options) if f.name not in OF_THE_MACHINE | MADE}
        chosen = {name: value for name, value in chosen.items() if (value is not None and value is not False) or name not in WHERE_GIVEN}
        if self.options.ignore is not None and not isinstance(self.options.ignore, tuple):
            chosen["ignore"] = "data in Python"
        chosen |= {"html": self.options.html or "text", "exact": self.exact, "field": (self.field, *self.fields) if self.fields else self.field}
        text = {"by": str(self.method), "normalize": list(self.method.normalize)}
        sparse = {"sparse": True} if self.kind.sparse else {}  # the given items are sparse
        limit: dict[str, Any] = {"threshold_exact": str(self.threshold)} if self.plan is None and self.options.bound is not None else {}
        if limit and self.recall != 1:
            limit["target"] = self.target
        plan = self.plan.to_dict() if self.plan else None
        return {**text, **sparse, "plan": plan, **limit, **{name: plain(value) for name, value in chosen.items()}}

    def described_for(self, verb: str, *more: str) -> dict[str, Any]:
        """`described` without the options that only other verbs take. more: options of others that this one sets."""
        others = set(" ".join(TAKES.values()).split()) - {*TAKES[verb].split(), *more}
        return {name: value for name, value in self.described().items() if name not in others}


def is_joined(options: Options, kind: Kind) -> bool:
    """True if items of this kind are joined without bands.

    Strings and feature sets always are, vectors and codes unless the user asked for bands, other kinds only with --exact. The recall of a join is 1,
    except for vectors and feature sets without --exact.
    """
    if kind.bands == ASKED:
        return bool(options.exact) or not options.by_hand
    return kind.bands == NEVER or bool(options.exact)


def plan_of(options: Options, facts: Facts) -> Plan | None:
    """The bands of a job once the facts about its items are known; None if items are joined. Raises UsageError if no plan meets the options."""
    method = options.method
    if options.bound is None or not method.kind.needs_data or method.bandless:
        return options.plan
    if not options.limited or is_joined(options, method.compared.seen(facts)):
        check_plain(method, options.bound, facts, *(options.asked[name] for name in ("recall", "sketch", "tune")))
        return None
    return choose(method=method, facts=facts, **options.asked)


def plain(value: Any) -> Any:
    """The value as JSON can hold it."""
    if isinstance(value, Mapping):
        return f"a mapping in Python, {hashlib.blake2b(repr(sorted(map(repr, value.items()))).encode(), digest_size=16).hexdigest()}"
    if isinstance(value, tuple):
        return list(map(plain, value))
    return str(value) if isinstance(value, Path | Fraction) else value
