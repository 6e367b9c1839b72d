"""Settings of an index: the meaning of "similar", the bands, and the part of each item that is kept. They never change."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from likewise import __version__
from likewise.choices import CHOICES, Kept
from likewise.errors import UsageError
from likewise.io.groups import Groups
from likewise.job import Job
from likewise.messages import option
from likewise.methods import Measure, parse
from likewise.options import Options, resolve
from likewise.planning import Facts, Plan, choose
from likewise.runs.inspection import job_of

#: Upper bits of a shingle that ``sets="compact"`` keeps. Two shingles of a pair of sets of 200 agree in them by chance with a probability of 1.4e-10.
COMPACT_BITS = 48
#: Bits of each slot that ``sets="none"`` keeps.
SLOT_BITS = 8
#: The greatest dimension of vectors and features, and number of bits of codes.
MOST_NUMBERS = 1 << 20
#: The format of stored settings.
FORMAT = 1
#: Below this probability of finding a pair at the threshold, a query is refused unless it is forced.
LEAST_RECALL = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of an index. Made by `settings_of` from the options of a user, and by `index.stored_settings` from what a store keeps."""

    options: Options
    facts: Facts
    plan: Plan
    sets: Kept
    grouped: Groups | None = None

    @property
    def bands(self) -> int:
        """The number of keys of an item."""
        return self.plan.bands

    @property
    def bits(self) -> int:
        """The kept bits of each word, or of each slot."""
        return {"full": 64, "compact": COMPACT_BITS, "none": SLOT_BITS}[self.sets]

    @property
    def slots(self) -> int:
        """The bytes of the shortened signature of an item; 0 if its words are kept."""
        return self.plan.slots if self.sets == "none" else 0

    @property
    def exact(self) -> bool:
        """True if similarities are exact, not estimates."""
        return self.sets != "none"

    def job(self) -> Job:
        """The job that sketches and compares the items."""
        return replace(job_of(self.options, facts=self.facts, grouped=self.grouped), plan=self.plan, exact=False)

    def described(self) -> dict[str, Any]:
        """The settings as plain values."""
        options, facts = self.options, self.facts
        family = {"name": self.plan.collision.family, **self.plan.collision.parameters}
        layout = {"bands": self.plan.bands, "rows": self.plan.rows, "sketch": self.plan.sketch, "tune": self.plan.tune}
        return {
            "format": FORMAT,
            "likewise": __version__,
            "by": str(options.method),
            "normalize": list(options.method.normalize),
            "within" if options.method.facts.distance else "threshold": str(options.bound),
            "recall": self.plan.target,
            "seed": options.seed,
            "per": options.per,
            "groups": None if self.grouped is None else {name: packed(getattr(self.grouped, name)) for name in ("words", "of")},
            "facts": {"dimension": facts.dimension or facts.features, "wide": facts.wide, "sparse": facts.sparse and not facts.features},
            "family": family,
            "plan": {**layout, "chosen_by": self.plan.chosen_by},
            **{name: getattr(self, name) for name in ("sets", "bands", "bits", "slots")},
        }

    def keeping(self, sets: Kept) -> Settings:
        """The same settings for an index that keeps this of each item. Raises UsageError for items that cannot be kept so."""
        if sets not in CHOICES["sets"]:
            raise UsageError(f"{option('sets', sets)}: choose one of {', '.join(CHOICES['sets'])}")
        compared = self.options.method.compared.seen(self.facts)
        if sets != "full" and not compared.sets:
            what = "only sets of shingles or elements can be kept so"
            raise UsageError(f"{option('sets', sets)}: {what}; leave it out to compare {compared.name} exactly")
        return replace(self, sets=sets)

    def difference(self, other: Settings) -> str:
        """The first setting in which two indexes differ, for a message; empty if items of one can be kept in the other."""
        mine, yours = ({name: value for name, value in one.described().items() if name != "likewise"} for one in (self, other))
        for name in [*mine, *(name for name in yours if name not in mine)]:
            if mine.get(name) != yours.get(name):
                return f"{name} is {shown(mine.get(name))} in the one and {shown(yours.get(name))} in the other"
        return ""


def settings_of(
    *, sets: Kept = "full", dimension: int | None = None, wide: bool = False, sparse: bool = False, groups: Any = None, **choices: Any
) -> Settings:
    """The settings from a user's options. choices: those of `resolve` that are not None. Raises UsageError for what cannot be in an index."""
    given = {name: value for name, value in choices.items() if value is not None}
    if groups is not None:
        given["groups"] = groups
    check_bands(given.get("by"))
    options = resolve(**given)
    facts = facts_of(options, dimension, wide=wide, sparse=sparse)
    grouped = None if options.groups is None else Groups(options.groups, options.seed)
    settings = settings_for(options, facts, options.plan, grouped).keeping(sets)
    options.method.kind.seen(facts).check(settings.job())
    return settings


def settings_of_job(job: Job) -> Settings:
    """The settings of an index of the items of a run. Raises UsageError for a measure without bands."""
    check_bands(job.options.method)
    return settings_for(job.options, job.facts, job.plan, job.grouped)


def settings_for(options: Options, facts: Facts, plan: Plan | None, grouped: Any) -> Settings:
    """The settings. Without a plan one is made: items of an index always have bands."""
    made = plan or choose(method=options.method, facts=facts, **options.asked)
    return Settings(options=replace(options, groups=None), facts=facts, plan=made, sets="full", grouped=grouped)


def check_bands(by: Any) -> None:
    """Raises UsageError for a measure without bands. by: a method or its name."""
    method = None if by is None else parse(by)
    if isinstance(method, Measure) and method.bandless:
        why = "items of an index are found by their bands, and this measure has no hash family"
        raise UsageError(f"{option('by', str(method))}: {why}; {method.kind.banded or 'choose another measure'}")


def facts_of(options: Options, dimension: int | None, *, wide: bool, sparse: bool) -> Facts:
    """The facts about the items of an index, which must be known before the first one. Raises UsageError for those that are missing or do not fit."""
    method = options.method
    kind, name = method.kind, option("by", str(method))
    for flag, value in (("wide", wide), ("sparse", sparse)):
        if value and kind.name != "vectors":
            raise UsageError(f"{option(flag, value)}: only vectors have it; {name} compares {kind.name}; leave it out")
    if sparse and (wide or dimension is not None):
        raise UsageError(f"{option('sparse', True)}: sparse vectors have 8-byte numbers and no fixed dimension; give it alone")
    if sparse:
        return Facts(sparse=True)
    if not kind.needs_data:
        if dimension is not None:
            raise UsageError(f"{option('dimension', dimension)}: {kind.name} have none; leave it out")
        return Facts()
    if isinstance(dimension, bool) or not isinstance(dimension, int | np.integer) or dimension < 1:
        other = f"; or {option('sparse', True)} for sparse vectors" * kind.numbered
        given = "" if dimension is None else f"{option('dimension', dimension)}: "
        raise UsageError(f"{given}{name} needs {option('dimension', placeholder='N')}, {kind.sized_by}{other}")
    if dimension > MOST_NUMBERS:
        raise UsageError(f"{option('dimension', dimension)}: give at most {MOST_NUMBERS:,}")
    if kind.in_parts:
        return Facts(features=int(dimension), sparse=method.compared.sparse)
    return Facts(int(dimension), wide=wide)


def packed(words: np.ndarray) -> str:
    """Words as text: uint64[m], little endian, in base64."""
    return base64.b64encode(np.ascontiguousarray(words, "<u8").tobytes()).decode()


def shown(value: Any) -> str:
    """A setting for a message, in few characters."""
    text = ", ".join(f"{name} {one}" for name, one in value.items()) if isinstance(value, Mapping) else str(value)
    return text if len(text) <= 80 else text[:77] + "..."
