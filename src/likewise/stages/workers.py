"""What a stage, join or search needs of whoever runs it: several tasks at once, progress, and memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


def unheard(amount: int) -> None:
    """Progress that nobody follows."""


@dataclass(frozen=True)
class Workers:
    """Results depend on none of this.

    run: ``run(function, values)`` gives function(value) for each value, in order, several at once where it can.
    tasks: about so many are run at once. Work is cut into at least as many parts.
    advance: called from any thread with the work that is done, 0 included; raises where the run is being stopped.
    expect: called with work that is to come, in the unit of ``advance``.
    allocate: ``allocate(shape, dtype)`` gives an array as `numpy.empty` does, or one that lies in the work folder.
    """

    run: Callable[..., Any] = map
    tasks: int = 1
    advance: Callable[[int], None] = unheard
    expect: Callable[[int], None] = unheard
    allocate: Callable[..., Any] = np.empty


#: The calling thread: for tests and small jobs.
ALONE = Workers()
