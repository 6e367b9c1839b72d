"""The decorators of kernels. Nothing is compiled, and no compiler imported, before a kernel is called with types that are not stored yet.

A kernel has one compiled version for each combination of types of its arguments (`compiled.signature`). The first call with a combination loads it
from a store (`compiled.store`), else compiles it (`compiled.compiler`).
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from likewise.compiled import locks, signature, store


class LazyModule:
    """A module that is imported when one of its attributes is first used: only the bodies of intrinsics use these, while they are compiled."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(importlib.import_module(self._name), attribute)


ir: Any = LazyModule("llvmlite.ir")
types: Any = LazyModule("numba.core.types")
cgutils: Any = LazyModule("numba.core.cgutils")


class Compiled:
    """A Python function that compiled code calls. Numba asks for the type of such a global object by its attribute ``_numba_type_``."""

    def __init__(self, function: Callable, **options: Any):
        self.__doc__, self.__name__, self.__module__ = function.__doc__, function.__name__, function.__module__
        self.py_func = function
        self.options = options

    @property
    def _numba_type_(self) -> Any:
        from likewise.compiled import compiler

        return compiler.type_of(self)


class Kernel(Compiled):
    """A function that Python calls, with positional arguments. Several threads may call it; it releases the GIL."""

    def __init__(self, function: Callable, **options: Any):
        super().__init__(function, **options)
        self.name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        self._versions: dict[tuple, Callable] = {}  # by the types of the arguments, as signature.key tells them apart
        self._loaded: dict[str, Callable] = {}  # by signature

    def __call__(self, *args: Any) -> Any:
        try:
            version = self._versions[tuple(map(signature.key, args))]
        except KeyError:
            version = self._version(args)
        return version(*args)

    def _version(self, args: tuple) -> Callable:
        wanted = signature.of(args)
        stored = self.is_stored and signature.is_stable(args)
        with locks.LOADING:
            version = self._find(wanted, stored)
        if version is None:
            with locks.COMPILING, store.alone(self.name, wanted) if stored else nullcontext():
                with locks.LOADING:
                    version = self._find(wanted, stored)  # another thread or process may have compiled it
                if version is None:
                    from likewise.compiled import compiler

                    version = self._loaded[wanted] = compiler.version(self, wanted, args, stored, OVERLOADS)
        self._versions[tuple(map(signature.key, args))] = version
        return version

    def _find(self, wanted: str, stored: bool) -> Callable | None:
        version = self._loaded.get(wanted)
        if version is None and stored:
            version = store.find(self.name, wanted)
            if version is not None:
                self._loaded[wanted] = version
        return version

    @property
    def is_stored(self) -> bool:
        """True if compiled versions are stored: those of `likewise.kernels`, whose files name the store."""
        return self.py_func.__module__.startswith("likewise.kernels.")


class Intrinsic:
    """A function that generates LLVM code where compiled code calls it."""

    def __init__(self, definition: Callable):
        self.__doc__, self.__name__ = definition.__doc__, definition.__name__
        self.definition = definition

    @property
    def _numba_type_(self) -> Any:
        from likewise.compiled import compiler

        return compiler.type_of_intrinsic(self.definition)


class External:
    """A function of the C library."""

    def __init__(self, symbol: str, result: str, *arguments: str):
        self.symbol, self.result, self.arguments = symbol, result, arguments

    @property
    def _numba_type_(self) -> Any:
        return types.ExternalFunction(self.symbol, getattr(types, self.result)(*(getattr(types, name) for name in self.arguments)))


#: (function, options, chooser) of each `overload` that the compiler does not know yet.
OVERLOADS: list[tuple[Callable, dict, Callable]] = []


def overload(function: Callable, **options: Any) -> Callable:
    """Decorates a function of types that returns the implementation of ``function`` for them, for compiled code that calls ``function``."""

    def decorate(chooser: Callable) -> Callable:
        OVERLOADS.append((function, options, chooser))
        return chooser

    return decorate


def kernel(function: Callable) -> Kernel:
    return Kernel(function, nogil=True, no_cfunc_wrapper=True)


def inline(function: Callable, **options: Any) -> Any:
    """For small functions that only other kernels call: compiled into them, never stored. Python cannot call them (tests/support/compiled.py can)."""
    return Compiled(function, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)


#: For small functions in the hottest loops. LLVM may leave a call in place, and a call passes each array as seven arguments, which takes 4 ns.
always = functools.partial(inline, forceinline=True)
intrinsic: Any = Intrinsic
