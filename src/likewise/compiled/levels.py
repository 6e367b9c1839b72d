"""Levels of processors that kernels are compiled ahead for, and the processor of this machine."""

from __future__ import annotations

import functools
import os
import platform

#: For each level, from the highest: the machine, and the features beyond it that code of this level may use.
V3 = ("avx", "avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3", "xsave")
V4 = ("avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl")
LEVELS = {"x86-64-v4": ("x86_64", (*V3, *V4)), "x86-64-v3": ("x86_64", V3), "aarch64": ("aarch64", ())}
#: The processor that LLVM compiles for, by level.
PROCESSORS = {"x86-64-v4": "x86-64-v4", "x86-64-v3": "x86-64-v3", "aarch64": "generic"}

#: Settings of Numba that change the code that it generates: what was compiled under them, for a debugger say, is not used without them.
SETTINGS = (
    *("NUMBA_OPT", "NUMBA_LOOP_VECTORIZE", "NUMBA_SLP_VECTORIZE", "NUMBA_ENABLE_AVX", "NUMBA_DISABLE_INTEL_SVML"),
    *("NUMBA_BOUNDSCHECK", "NUMBA_DEBUGINFO", "NUMBA_ENABLE_PROFILING"),
)


def here() -> list[str]:
    """The levels that this machine has, from the highest; none if the user has named others, for which no code was compiled ahead."""
    if os.environ.get("NUMBA_CPU_NAME") or os.environ.get("NUMBA_CPU_FEATURES"):
        return []
    return [level for level, (machine, needed) in LEVELS.items() if machine == machine_name() and features().issuperset(needed)]


def host() -> str:
    """The processor that Numba compiles for in this process: its name and features."""
    import llvmlite.binding as llvm

    name = os.environ.get("NUMBA_CPU_NAME") or llvm.get_host_cpu_name()
    chosen = [f"{setting}={os.environ[setting]}" for setting in SETTINGS if os.environ.get(setting)]
    return " ".join([machine_name(), name, os.environ.get("NUMBA_CPU_FEATURES") or " ".join(sorted(features())), *chosen])


def machine_name() -> str:
    name = platform.machine().lower()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(name, name)


@functools.cache
def features() -> frozenset[str]:
    """The features of this machine, as LLVM names them."""
    import llvmlite.binding as llvm

    return frozenset(name for name, has in llvm.get_host_cpu_features().items() if has)
