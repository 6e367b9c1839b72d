"""Compilation by Numba. `compiled.jit` imports this module when a version must be compiled, and not before: importing Numba takes half a second.

Kernels are compiled for a target of their own, which shares Numba's knowledge of types and functions but generates code in another way: functions
that kernels call are compiled into them and never on their own, and the object code of a kernel exports nothing but its entry. Numba's own target,
for the functions of the caller, is left as it is.
"""

from __future__ import annotations

import hashlib
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import update_wrapper, wraps
from pathlib import Path
from types import FunctionType
from typing import Any, Protocol

import llvmlite.binding as llvm
import numba
import numpy as np
from numba.core import codegen, config, cpu, event, pythonapi, registry, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.lowering import Environment
from numba.extending import intrinsic, overload

from likewise.compiled import loader, locks, store
from likewise.compiled.notice import NOTICE
from likewise.progress import INTERRUPTED, raise_if_interrupted


class Library(codegen.JITCodeLibrary):
    """Optimized code of one function. `emitted` makes machine code of it."""

    def _finalize_specific(self) -> None:
        pass

    def get_pointer_to_function(self, name: str) -> int:
        return 0


class Codegen(codegen.JITCPUCodegen):
    """Numba's code generator, without machine code for every function."""

    _library_class = Library

    def _add_module(self, module: Any) -> None:
        pass

    def set_env(self, name: str, environment: Any) -> None:
        pass


class PythonAPI(pythonapi.PythonAPI):
    """Calls of Python. The class of returned arrays has a symbol; Numba pickles it, and imports itself to read it."""

    def serialize_object(self, value: Any) -> Any:
        return np.ndarray if value is np.ndarray else super().serialize_object(value)

    def unserialize(self, pickled: Any) -> Any:
        return self.get_c_object(loader.NDARRAY) if pickled is np.ndarray else super().unserialize(pickled)


class Context(cpu.CPUContext):
    def get_python_api(self, builder: Any) -> PythonAPI:
        return PythonAPI(self, builder)


class Target(registry.CPUTarget):
    @property
    def typing_context(self) -> Any:
        return registry.cpu_target.typing_context

    @property
    def target_context(self) -> Any:
        return CONTEXT


class Dispatcher(registry.CPUDispatcher):
    targetdescr = Target("cpu")


registry.cpu_target.target_context.refresh()  # before it is copied: what is initialized once must be in Numba's own target
CODEGEN = Codegen("likewise")
CONTEXT = registry.cpu_target.target_context.subtarget(_internal_codegen=CODEGEN)
CONTEXT.__class__ = Context


class Function(Protocol):
    """A Python function, and the options that it is compiled with."""

    py_func: Callable
    options: dict[str, Any]


class Kernel(Function, Protocol):
    name: str


#: Numba's objects for functions, and for the definitions of intrinsics.
DISPATCHERS: dict[Function, Dispatcher] = {}
INTRINSICS: dict[Callable, Any] = {}


def version(kernel: Kernel, wanted: str, args: tuple, stored: bool, overloads: list[tuple[Callable, dict, Callable]]) -> Callable:
    """Compile a kernel for the types of ``args``, named ``wanted`` in stores, and store the result if ``stored``.

    overloads: those that are new, which are taken out.
    """
    with NOTICE.compiling(), interruptible(), global_compiler_lock, enabled():
        while overloads:
            function, options, chooser = overloads.pop()
            overload(function, jit_options=options)(wraps(chooser)(lambda *kinds, chooser=chooser: placed(chooser(*kinds))))
        made = kept = None
        with locks.LOADING:
            can_load = loader.linker() is not None
        if can_load:
            kinds = tuple(map(numba.typeof, args))
            dispatcher = dispatcher_of(kernel)
            dispatcher.compile(kinds)
            with suppress(AttributeError, TypeError):  # of another version of Numba
                kept = emitted(f"{kernel.name}.{hashlib.blake2b(wanted.encode(), digest_size=8).hexdigest()}", dispatcher.overloads[kinds])
            with locks.LOADING:
                made = kept and loader.load(kernel.name, *kept)
        if made is None:  # as Numba does it; nothing is stored
            return numba.njit(**kernel.options)(kernel.py_func)
    if kept and stored:
        store.write(kernel.name, wanted, kept)
    return made


def emitted(symbol: str, result: Any) -> store.Kept | None:
    """The object code of a compiled function, with ``symbol`` as its entry; None if it holds what no file can keep."""
    if result.lifted or result.library.has_dynamic_globals:
        return None
    module = result.library._final_module.clone()
    entry, own = result.fndesc.llvm_cpython_wrapper_name, result.environment.env_name
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and value.name not in (entry, own):
            value.linkage = "internal"
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, CODEGEN._pass_builder())
    module.get_function(entry).name = symbol
    environments: dict[str, list[str]] = {}
    needed = []
    for value in sorted(module.global_variables, key=lambda value: value.name != own):  # a function's own environment first
        environment = Environment._memo.get(value.name)
        if environment is not None:
            dtypes = [constant.str if isinstance(constant, np.dtype) and constant.names is None else "" for constant in environment.consts]
            if not all(dtypes):
                return None
            value.name, value.linkage = f"{symbol}.{len(environments)}", "external"
            environments[value.name] = dtypes
        elif value.is_declaration:
            needed.append(value.name)
    for function in module.functions:
        if function.is_declaration and not function.name.startswith("llvm."):
            needed.append(function.name)
    return store.Kept(symbol, environments, sorted(needed), CODEGEN._tm.emit_object(module))


def dispatcher_of(compiled: Function) -> Dispatcher:
    if compiled not in DISPATCHERS:
        options = {"nopython": True, "boundscheck": None, **compiled.options}
        DISPATCHERS[compiled] = Dispatcher(py_func=placed(compiled.py_func), locals={}, targetoptions=options)
    return DISPATCHERS[compiled]


def placed(function: Any) -> Any:
    """The function with the name of its file shortened, which exceptions put into the code: stored code must not depend on where it was compiled."""
    code = function.__code__.replace(co_filename="/".join(Path(function.__code__.co_filename).parts[-3:]))
    copy = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    return update_wrapper(copy, function)


def type_of(compiled: Function) -> Any:
    """The type of a function that compiled code calls."""
    return types.Dispatcher(dispatcher_of(compiled))


def type_of_intrinsic(definition: Callable) -> Any:
    typing = registry.cpu_target.typing_context
    if definition not in INTRINSICS:
        INTRINSICS[definition] = intrinsic(definition)
        typing.refresh()
    return typing.resolve_value_type(INTRINSICS[definition])


@contextmanager
def enabled() -> Iterator[None]:
    """Compiles although NUMBA_DISABLE_JIT is set, which is for functions of the caller: intrinsics have no form in Python."""
    given, config.DISABLE_JIT = config.DISABLE_JIT, 0
    try:
        yield
    finally:
        config.DISABLE_JIT = given


class Stopping(event.Listener):
    """Stops between two functions if the run was interrupted."""

    def on_start(self, event: event.Event) -> None:
        raise_if_interrupted()

    def on_end(self, event: event.Event) -> None:
        pass


@contextmanager
def interruptible() -> Iterator[None]:
    """Lets an interruption stop the compiler, which may have seconds of work, between two functions.

    Python's own way, an exception at any point of the main thread, may leave a lock of LLVM taken, and all threads would wait for it for ever. So
    while the main thread compiles, Ctrl-C is deferred to the next function, as the command line defers all signals (cli/main.py).
    """
    put_off = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if put_off:
        signal.signal(signal.SIGINT, lambda *_: INTERRUPTED.set())
    try:
        with event.install_listener("numba:compile", Stopping()):
            raise_if_interrupted()
            yield
    finally:
        if put_off:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if INTERRUPTED.is_set():
                INTERRUPTED.clear()  # another run may follow in this process
                raise KeyboardInterrupt


raise_if_interrupted()  # a signal may have come while Numba was imported
