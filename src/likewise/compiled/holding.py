"""Small calls of a kernel, of which looking at the types of the arguments would take the most time.

Not in `jit`: nothing that is compiled depends on it, and a change of that file makes all stored code outdated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from likewise.compiled import signature
from likewise.compiled.jit import Kernel


def holding(kernel: Kernel, *first: Any) -> Callable:
    """The kernel with these first arguments, whose types are looked at once."""
    known = tuple(map(signature.key, first))

    def call(*rest: Any) -> Any:
        version = kernel._versions.get((*known, *map(signature.key, rest))) or kernel._version(first + rest)
        return version(*first, *rest)

    return call
