"""Loads object code and makes functions of it, without the compiler.

Numba emits a function that takes Python's arguments, converts them, and calls the kernel. Its C extensions hold what such a function calls at run
time (reference counts of arrays, errors). They are loaded from their files, since the package that they are in takes half a second to import.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

#: Functions of the C library that compiled code calls without a prefix.
NAMES = "acos acosh asin asinh atan atan2 atanh ceil cos cosh exp expm1 fabs floor fmod log log10 log1p pow round sin sinh sqrt tan tanh trunc"
MATH = {name + suffix for name in NAMES.split() for suffix in ("", "f")}


#: The symbol of the class of arrays.
NDARRAY = "likewise_ndarray"


class Linker(NamedTuple):
    engine: Any  # llvmlite's
    functions: ModuleType  # Numba's, which makes Python functions of addresses
    memory: Any  # what must stay: the functions' environments


def load(name: str, entry: str, environments: dict[str, list[str]], needed: list[str], code: bytes) -> Callable | None:
    """The function with the symbol ``entry``; None if it cannot be loaded here. Not for several threads at once."""
    linked = linker()
    if linked is None:
        return None
    import llvmlite.binding as llvm

    if not all(llvm.address_of_symbol(symbol) for symbol in needed):  # LLVM would end the process
        return None
    engine = linked.engine
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    own = None
    for symbol, dtypes in environments.items():
        environment = linked.functions.Environment({})
        environment.consts.extend(map(np.dtype, dtypes))
        ctypes.c_void_p.from_address(engine.get_global_value_address(symbol)).value = id(environment)
        linked.memory.append(environment)
        own = own or environment
    address = engine.get_function_address(entry)
    return linked.functions.make_function(sys.modules[__name__], name.rpartition(".")[2], f"compiled {name}", address, own, (linked,))


@functools.cache
def linker() -> Linker | None:
    """The linker of object code into this process; None where Numba's extensions cannot be loaded."""
    try:
        functions, helpers, memory = (extension(name) for name in ("_dynfunc", "_helperlib", "core.runtime._nrt_python"))
    except (ImportError, OSError):
        return None
    import llvmlite.binding as llvm

    memory.memsys_use_cpython_allocator()  # as Numba does
    add_symbols(llvm, functions.c_helpers, helpers.c_helpers, memory.c_helpers)
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(jit=True)
    return Linker(llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine), functions, [])


def extension(name: str) -> Any:
    """An extension module of Numba, which stays as unknown to Python's imports as it was: the caller may import Numba later."""
    full = f"numba.{name}"
    if full in sys.modules:
        return sys.modules[full]
    package = importlib.util.find_spec("numba")
    if package is None or not package.origin:
        raise ImportError("Numba is not installed")
    folder = Path(package.origin).parent.joinpath(*name.split(".")[:-1])
    for suffix in importlib.machinery.EXTENSION_SUFFIXES:
        path = folder / (name.rpartition(".")[2] + suffix)
        if path.exists():
            spec = importlib.util.spec_from_file_location(full, path)
            assert spec and spec.loader
            try:
                module = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(module)
            finally:
                sys.modules.pop(full, None)
            return module
    raise ImportError(f"{full} has no extension for this Python")


def add_symbols(llvm: Any, functions: dict, helpers: dict, memory: dict) -> None:
    """Give LLVM the addresses of the functions that compiled code calls, by the names that Numba gives them."""
    import builtins

    llvm.add_symbol("_Py_NoneStruct", id(None))
    llvm.add_symbol(NDARRAY, id(np.ndarray))
    for name, address in {**helpers, **functions}.items():
        llvm.add_symbol(f"numba_{name}", address)
    for name, address in memory.items():
        llvm.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)
    for name, kind in vars(builtins).items():
        if isinstance(kind, type) and issubclass(kind, BaseException):
            llvm.add_symbol(f"PyExc_{name}", id(kind))
    for name in MATH & helpers.keys():
        llvm.add_symbol(name, helpers[name])
