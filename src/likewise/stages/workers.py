"""The tasks, progress and memory that stages, joins and searches use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


def ignored(amount: int) -> None:
    """Ignore progress."""


@dataclass(frozen=True)
class Workers:
    """How work is run, reported and stored. Results never depend on it.

    run: ``run(function, values)`` gives function(value) for each value, in order, possibly several at once.
    tasks: about how many run at once. Work is cut into at least as many parts.
    advance: called from any thread with the amount of finished work, possibly 0; raises if the run is being stopped.
    expect: called with the amount of work to come, in the unit of ``advance``.
    allocate: ``allocate(shape, dtype)`` gives an array like `numpy.empty`, possibly stored in the work folder.
    """

    run: Callable[..., Any] = map
    tasks: int = 1
    advance: Callable[[int], None] = ignored
    expect: Callable[[int], None] = ignored
    allocate: Callable[..., Any] = np.empty


#: The calling thread, for tests and small jobs.
ALONE = Workers()
