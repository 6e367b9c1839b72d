"""Exact similarities and distances, one file each: functions of two batches, the i-th item of one with the i-th of the other.

>>> from likewise.items.codes import codes
>>> from likewise.measures import measure
>>> measure("hamming")(codes([0b1101, 0]), codes([0b1011, 7]))
array([2, 3])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from likewise import kinds
from likewise.kinds.kind import loaded

CONTAINMENT = "/containment"


def measure(name: str) -> Callable[..., Any]:
    """The function of a measure, loaded on first use with its kernels: (a, b) -> float64[n], or int64[n] for integer values.

    Batches have the forms that likewise.items returns; "lr" also takes r. Raises KeyError for an unknown name.
    """
    facts = kinds.measure(name.removesuffix(CONTAINMENT))
    found: Callable[..., Any] = loaded(facts.containment if name.endswith(CONTAINMENT) else facts.function)
    return found
