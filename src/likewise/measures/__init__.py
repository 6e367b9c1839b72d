"""Exact similarities and distances, one file each: functions of two batches, the i-th item of one with the i-th of the other.

>>> from likewise.items.codes import codes
>>> from likewise.measures import measure
>>> measure("hamming")(codes([0b1101, 0]), codes([0b1011, 7]))
array([2, 3])
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

#: Name in ``by=``, as in methods.MEASURES -> module here, and function in it. Loaded on first use, because a measure brings its kernels along.
FUNCTIONS = {
    "elements": ("jaccard", "jaccard"),
    "elements/containment": ("containment", "containment"),
    "weighted": ("weighted_jaccard", "weighted_jaccard"),
    "cosine": ("cosine", "cosine"),
    "angle": ("cosine", "angle"),
    "l1": ("norms", "l1"),
    "l2": ("norms", "l2"),
    "linf": ("norms", "linf"),
    "lr": ("norms", "lr"),
    "hamming": ("hamming", "hamming"),
    "edit": ("edit", "edit"),
    "levenshtein": ("edit", "levenshtein"),
    "features": ("feature_sets", "one_to_one"),
    "features/one-to-many": ("feature_sets", "one_to_many"),
    "features/chamfer": ("feature_sets", "chamfer"),
    "features/assignment": ("feature_sets", "assignment"),
}


def measure(name: str) -> Callable[..., Any]:
    """The function of a measure: (a, b) -> float64[n], or int64[n] of whole values. Batches are as likewise.items makes them; "lr" takes r too."""
    module, function = FUNCTIONS[name]
    found: Callable[..., Any] = getattr(import_module(f"likewise.measures.{module}"), function)
    return found
