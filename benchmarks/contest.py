"""Shared code of the benchmarks: each contender is a separate process whose last line has its measurements; tables are printed and saved as JSON."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

VENVS = Path(os.environ.get("BENCH_VENVS", "bench-data/venvs"))
CORES = len(os.sched_getaffinity(0))


def environment(contender: str = "") -> dict[str, str]:
    """All cores for every contender; a CPU type for the BLAS in faiss's wheel only.

    The OpenBLAS in that wheel does not recognize new CPUs, which makes it up to four times slower.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
    if contender.startswith("faiss"):
        flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
        kinds = [kind for flag, kind in (("avx512f", "SkylakeX"), ("avx2", "Haswell")) if flag in flags]
        kept |= {"OPENBLAS_CORETYPE": kinds[0]} if kinds else {}
    return kept | {"OMP_NUM_THREADS": str(CORES), "OPENBLAS_NUM_THREADS": str(CORES), "NUMBA_NUM_THREADS": str(CORES)}


def installed(contender: str, python: Path | str) -> bool:
    """True if a contender can run; one that cannot is reported."""
    if not Path(python).exists():
        print(f"{contender}: not installed ({python})", file=sys.stderr)
    return Path(python).exists()


def answer(contender: str, command: Sequence[str]) -> Any:
    """Run a contender and return its last line, which is JSON."""
    done = subprocess.run(command, env=environment(contender), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def pairs_of(blocks: Iterable[Sequence[np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """The pairs in the blocks of a join, possibly none."""
    left, right, *_ = zip((np.zeros(0, np.int64),) * 2, *(block[:2] for block in blocks), strict=True)
    return np.concatenate(left), np.concatenate(right)


def middle(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The median of each figure."""
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def spread(seconds: Sequence[float]) -> str:
    return f"({min(seconds):.2f}-{max(seconds):.2f})"


def arguments(page: str | None, rounds: int | None = 3) -> argparse.ArgumentParser:
    """The options of all scripts. page: the script's docstring."""
    parser = argparse.ArgumentParser(description=page, formatter_class=argparse.RawDescriptionHelpFormatter)
    if rounds:
        parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--json", type=Path)
    return parser


def keep(table: Any, path: Path | None) -> None:
    if path:
        path.write_text(json.dumps(table, indent=1) + "\n")
