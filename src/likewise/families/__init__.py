"""Locality-sensitive hash families, one file each: how an item becomes slots, and with what chance two items agree in one.

A family is a frozen dataclass with ``slots``, ``signature(batch)``, ``band_keys(batch, bands, rows)``, ``probability(similarity)``,
``estimate(a, b)`` and ``standard_error(similarity)``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from likewise.families.minhash import MinHash

#: The registry: name of a family -> its module here. Loaded on first use, because a family brings its kernels along.
FAMILIES = {"MinHash": "minhash"}

__all__ = ["FAMILIES", "MinHash"]


def __getattr__(name: str) -> Any:
    if name in FAMILIES:
        return getattr(import_module(f"likewise.families.{FAMILIES[name]}"), name)
    raise AttributeError(f"module 'likewise.families' has no attribute {name!r}")
