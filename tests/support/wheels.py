"""Wheels of this project."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def wheel_of(folder: Path, ahead: str) -> Path:
    """A wheel of this project. ahead: the levels and jobs whose kernels are compiled, by tools/wheel_hook.py."""
    command = [sys.executable, "-P", "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, env={**os.environ, "AHEAD": ahead})
    (wheel,) = folder.glob("*.whl")
    return wheel
