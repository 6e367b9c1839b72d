"""The jobs that are run to compile kernels ahead: a kernel that none of them calls would be compiled in a user's run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from command_line import SOURCE

#: Kernels of steps that only engines other than the local one have.
OF_OTHER_ENGINES = {"heads.list_pairs", "walk.may_match"}
CODE = """
import pkgutil, sys
from importlib import import_module
from pathlib import Path

from likewise import kernels
from likewise.cli.common_jobs import JOBS
from likewise.kernels.jit import Kernel

for name, job in JOBS.items():
    folder = Path(sys.argv[1], name)
    folder.mkdir()
    job(folder)
modules = [import_module(f"likewise.kernels.{found.name}") for found in pkgutil.iter_modules(kernels.__path__)]
found = {value.name: bool(value._versions) for module in modules for value in vars(module).values() if isinstance(value, Kernel)}
print(len(found), *(name for name, called in found.items() if not called))
"""


def test_the_jobs_call_every_kernel(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": SOURCE}
    done = subprocess.run([sys.executable, "-P", "-c", CODE, str(tmp_path)], env=env, check=True, stdout=subprocess.PIPE, text=True)
    number, *uncalled = done.stdout.split()
    assert int(number) > 90 and set(uncalled) == OF_OTHER_ENGINES
