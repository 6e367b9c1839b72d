"""The time for which somebody waits for a page: the thread that makes it stops reading files when it is over."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_LIMIT = threading.local()


@contextmanager
def waited_for(seconds: float) -> Iterator[None]:
    """Context manager: `still_waited_for` raises TimeoutError in this thread once so many seconds have passed."""
    _LIMIT.end = time.monotonic() + seconds
    try:
        yield
    finally:
        _LIMIT.end = math.inf


def still_waited_for() -> None:
    """Raise TimeoutError if nobody waits for this thread any longer."""
    if time.monotonic() > getattr(_LIMIT, "end", math.inf):
        raise TimeoutError
