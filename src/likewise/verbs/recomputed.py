"""The similarity or distance of two items of an output folder, computed again from their content."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

from likewise.errors import LikewiseError
from likewise.kinds import of_payload
from likewise.report.originals import Originals
from likewise.verbs.similarity import similarity


def value_now(originals: Originals, one: Any, other: Any) -> float | None:
    """The value of two items as they are in the sources now; NaN if both are empty, None if they cannot be compared."""
    method = originals.method
    if all(isinstance(item, Sized) and not len(item) for item in (one, other)):
        return float("nan")
    kind = of_payload(originals.want.kind)
    steps = method["normalize"] or "none" if kind.cut or kind.normalized else None
    try:
        return similarity(one, other, by=method["by"], normalize=steps)
    except LikewiseError:  # such as for zero vectors, or vectors of different lengths
        return None
