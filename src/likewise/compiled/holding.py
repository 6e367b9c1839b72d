"""Small calls of a kernel, of which looking at the types of the arguments would take the most time.

Not in `jit`: nothing that is compiled depends on it, and a change of that file makes all stored code outdated.
"""

from __future__ import annotations

from typing import Any

from likewise.compiled.jit import Kernel


class Steady:
    """A kernel whose arguments have the same types in each call of these callers, so that they are looked at in the first one.

    The types are those of `compiled.signature`; arrays that are only read may be writeable or not.
    """

    def __init__(self, kernel: Kernel):
        self._kernel = kernel
        self._call: Any = self._first

    def __call__(self, *args: Any) -> Any:
        return self._call(*args)

    def _first(self, *args: Any) -> Any:
        self._call = self._kernel._version(args)
        return self._call(*args)
