"""The types of a kernel's arguments: a quick key to look a compiled version up in a dict, and a text that names it in a store.

Numba tells the same types apart: arrays by dtype, dimensions, layout and whether they can be written to; numbers by type; tuples by their members.
"""

from __future__ import annotations

from typing import Any

import numpy as np

#: The bits of an array's flags that its type depends on: C order, Fortran order, writeable.
FLAGS = 0x1 | 0x2 | 0x400
#: Greater integers are unsigned.
MOST = 2**63 - 1
#: Kinds of numbers of numpy, whose Python type says all: others have units or fields.
NUMBERS = "biufc"


def key(value: Any) -> Any:
    """Equal for values of the same type. Values of one type may have several keys."""
    kind = type(value)
    if kind is np.ndarray:
        return value.dtype, value.ndim, value.flags.num & FLAGS
    if kind is int:
        return kind if value <= MOST else "uint64"
    if issubclass(kind, tuple):
        return kind, *map(key, value)
    if issubclass(kind, np.ndarray):  # a memory map
        return value.dtype, value.ndim, value.flags.num & FLAGS
    return kind


def of(args: tuple) -> str:
    """The types of all arguments."""
    return ", ".join(map(text, args))


def text(value: Any) -> str:
    """The type of one value."""
    if isinstance(value, np.ndarray):
        flags = value.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return f"{_dtype(value.dtype)}[{value.ndim}{layout}{'' if flags.writeable else ' readonly'}]"
    if isinstance(value, tuple):
        kind = type(value)
        names = getattr(kind, "_fields", None)
        if names is None:
            return f"({', '.join(map(text, value))})"
        return f"{kind.__module__}.{kind.__qualname__}({', '.join(f'{name}: {text(member)}' for name, member in zip(names, value, strict=True))})"
    if value is None or isinstance(value, bool):
        return type(value).__name__
    if type(value) is int:
        return "int64" if value <= MOST else "uint64"
    if type(value) is float:
        return "float64"
    if isinstance(value, np.generic) and value.dtype.kind in NUMBERS:
        return _dtype(value.dtype)
    raise TypeError(f"a kernel takes arrays, numbers and tuples of them, not {type(value).__name__}")


def is_stable(value: Any) -> bool:
    """False if the type has a class of another package: a store cannot know when it changes."""
    if not isinstance(value, tuple):
        return True
    return (type(value) is tuple or type(value).__module__.startswith("likewise.")) and all(map(is_stable, value))


def _dtype(dtype: np.dtype) -> str:
    return dtype.name if dtype.names is None and dtype.isnative else repr(dtype)
