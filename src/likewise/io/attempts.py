"""Requests to stores, which are repeated if they fail."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable
from typing import TypeVar

from likewise.io.location import Location

T = TypeVar("T")
#: Attempts for a request, and seconds before the second one; each further wait is twice as long.
TRIES, WAIT = 5, 0.5
#: The number of the error if a store cannot be reached.
REMOTE = getattr(errno, "EREMOTEIO", errno.EIO)


class TransientError(Exception):
    """A failure that may pass: the network, the server, or an answer that was cut short."""


def retried(call: Callable[[], T], address: Location) -> T:
    """Return the result of ``call``, which is repeated while it raises TransientError. Raises OSError, a device error, after the last attempt."""
    said = ""
    for attempt in range(TRIES):
        if attempt:
            time.sleep(WAIT * 2 ** (attempt - 1))
        try:
            return call()
        except TransientError as error:
            said = str(error)  # the exception itself would keep the caller's buffer alive
    raise OSError(REMOTE, f"{said} (after {TRIES} attempts)", str(address))
