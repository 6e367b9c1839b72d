"""The state of an explorer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from likewise.service.limits import Limits
from likewise.service.logs import Log


class Exploring:
    """The state that all requests to an explorer share (`service.run.Served`)."""

    def __init__(self, log: Log, begin: Callable[[], None], limits: Limits | None = None):
        self.log, self.limits, self.leaving, self._begin = log, limits or Limits(), False, begin

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Read beside the first requests what most pages need."""
        loop.run_in_executor(None, self._begun)

    def _begun(self) -> None:
        try:
            self._begin()
        except Exception as error:  # said again, and better, by the page that needs it
            self.log.fault("tables could not be read ahead", error)

    def answered(self, endpoint: str, status: int, seconds: float) -> None: ...

    def reload(self) -> None: ...

    def close(self) -> None: ...
