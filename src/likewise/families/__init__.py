"""Locality-sensitive hash families, one file each: how an item becomes slots, and the probability that two items agree in one.

A family is a frozen dataclass: ``signature(batch)``, ``probability(value)``, ``sensitivity(d1, d2)``, ``estimate(a, b)`` and
``standard_error(value)``; ``all_of(r)`` and ``any_of(b)`` amplify it (family.py). ``value`` is a similarity if the family's measure is one (Jaccard,
cosine), else a distance.

>>> from likewise.families import MinHash
>>> MinHash().all_of(5).any_of(20).sensitivity(0.2, 0.8)._asdict()
{'d1': 0.2, 'd2': 0.8, 'p1': 0.999643..., 'p2': 0.0063...}
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from likewise.planning.families import FAMILIES

if TYPE_CHECKING:
    from likewise.families.bbit import BBit
    from likewise.families.bits import Bits
    from likewise.families.crosspolytope import CrossPolytope
    from likewise.families.encoding import Encoding
    from likewise.families.family import Amplified, Family, Sensitivity
    from likewise.families.histograms import Histograms
    from likewise.families.hyperplane import Hyperplane
    from likewise.families.line import Line, Stripe
    from likewise.families.minhash import MinHash
    from likewise.families.space import Space
    from likewise.families.threshold import Threshold
    from likewise.families.weighted import WeightedMinHash
    from likewise.planning import Plan

#: Classes that turn a set of vectors into one row.
EMBEDDINGS = {"Histograms": "histograms", "Encoding": "encoding", "Space": "space"}
_HOMES = {name: f"likewise.families.{module}" for name, module in (EMBEDDINGS | {"Amplified": "family", "Sensitivity": "family"}).items()}

__all__ = [
    "FAMILIES",
    "Amplified",
    "BBit",
    "Bits",
    "CrossPolytope",
    "Encoding",
    "Histograms",
    "Hyperplane",
    "Line",
    "MinHash",
    "Sensitivity",
    "Space",
    "Stripe",
    "Threshold",
    "WeightedMinHash",
    "from_plan",
]


def from_plan(plan: Plan, seed: int = 0) -> Family:
    """The hash family of a plan, with its slots and parameters: ``band_keys_of(signatures, plan.bands, plan.rows)`` gives the keys of buckets.

    >>> import likewise as lw
    >>> from_plan(lw.plan(by="l2", within=3))
    Line(width=9.0, slots=3289, norm='l2', seed=0)
    """
    mode = {"mode": plan.sketch} if plan.sketch else {}
    made: Family = __getattr__(plan.collision.family)(slots=plan.slots, seed=seed, **plan.collision.parameters, **mode)
    return made


def __dir__() -> list[str]:
    return [*__all__, "__doc__", "__file__", "__name__", "__path__"]  # includes classes that are not loaded yet


def __getattr__(name: str) -> Any:
    home = FAMILIES[name].module if name in FAMILIES else _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'likewise.families' has no attribute {name!r}")
    return getattr(import_module(home), name)  # loaded on first use, because a family imports its kernels
