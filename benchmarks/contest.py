"""What the benchmarks share: each contender is a process of its own, whose last line says what it took; tables are printed and kept as JSON."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

VENVS = Path(os.environ.get("BENCH_VENVS", "bench-data/venvs"))
CORES = len(os.sched_getaffinity(0))


def environment(contender: str = "") -> dict[str, str]:
    """All cores for all; no type of core for numpy's own BLAS, and this machine's for that in faiss's wheel.

    The OpenBLAS in that wheel takes new machines for old ones, which costs it up to four times its speed.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
    if contender.startswith("faiss"):
        flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
        kinds = [kind for flag, kind in (("avx512f", "SkylakeX"), ("avx2", "Haswell")) if flag in flags]
        kept |= {"OPENBLAS_CORETYPE": kinds[0]} if kinds else {}
    return kept | {"OMP_NUM_THREADS": str(CORES), "OPENBLAS_NUM_THREADS": str(CORES), "NUMBA_NUM_THREADS": str(CORES)}


def installed(contender: str, python: Path | str) -> bool:
    """Whether a contender can run; one that cannot is said, not hidden."""
    if not Path(python).exists():
        print(f"{contender}: not installed ({python})", file=sys.stderr)
    return Path(python).exists()


def answer(contender: str, command: Sequence[str]) -> Any:
    """Run a contender; what it said in its last line, which is JSON."""
    done = subprocess.run(command, env=environment(contender), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def middle(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The median of each figure."""
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def spread(seconds: Sequence[float]) -> str:
    return f"({min(seconds):.2f}-{max(seconds):.2f})"


def arguments(page: str | None, rounds: int | None = 3) -> argparse.ArgumentParser:
    """What all scripts understand. page: the script's own docstring."""
    parser = argparse.ArgumentParser(description=page, formatter_class=argparse.RawDescriptionHelpFormatter)
    if rounds:
        parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--json", type=Path)
    return parser


def keep(table: Any, path: Path | None) -> None:
    if path:
        path.write_text(json.dumps(table, indent=1) + "\n")
