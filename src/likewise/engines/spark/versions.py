"""Versions of the software that decides the bytes of a result: they must be equal on the driver and on executors."""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping

KERNELS = "kernels of likewise"


@functools.cache
def here() -> dict[str, str]:
    """The versions in this process, by name."""
    from importlib import metadata

    import numpy
    import pyarrow

    from likewise import __version__
    from likewise.compiled import store
    from likewise.items.unicode_data import UNICODE_VERSION

    return {
        "Python": f"{sys.version_info[0]}.{sys.version_info[1]}",
        "likewise": __version__,
        "numpy": numpy.__version__,
        "pyarrow": pyarrow.__version__,
        "numba": metadata.version("numba"),
        "Unicode": UNICODE_VERSION,
        KERNELS: store.edition(""),
    }


def differences(there: Mapping[str, str], wanted: Mapping[str, str]) -> str:
    """The names whose versions differ, with both versions, for a message; empty if all are equal."""
    names = [name for name in wanted if there.get(name) != wanted[name]]
    if len(names) > 1:
        names = [name for name in names if name != KERNELS]  # they differ with Python, Numba and likewise
    return ", ".join(f"{name} {there.get(name, 'is missing')} there and {wanted[name]} here" for name in names)
