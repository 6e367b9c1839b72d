"""Compiles kernels ahead when a wheel is built, for levels of processors (`likewise.compiled.levels`) that this machine can run.

The first runs of an installed wheel then compile nothing, as long as it runs with the Python and the Numba that it was built with. The wheel gets the
tag of this Python and platform. The variable AHEAD in the environment says what is compiled:

    not set       the kernels of documents and of indexes of them, for the lowest level: a minute
    all           all kernels, for every level: a few minutes
    NAME ...      the kernels of these jobs (`likewise.cli.common_jobs`), for the levels that are named, or every level
    empty         nothing: a wheel for every platform, whose kernels are compiled when they are first used, as where the compilation fails
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

VARIABLE = "AHEAD"
#: The jobs whose kernels are compiled by default.
JOBS = ("documents", "document_indexes", "indexes", "formats")
#: The folder in the wheel (`likewise.compiled.store.AHEAD`).
PLACE = "likewise/compiled/ahead"


class AheadHook(BuildHookInterface):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        wanted = os.environ.get(VARIABLE)
        if self.target_name != "wheel" or version == "editable" or wanted == "":
            return
        self.folder = Path(tempfile.mkdtemp(prefix="likewise-wheel-"))
        try:
            here = self.python("-c", "from likewise.compiled import levels; print(*levels.here())").split()
            named = [*here[-1:], *JOBS] if wanted is None else [] if wanted == "all" else wanted.split()
            jobs = [name for name in named if name not in here]
            for level in [level for level in here if level in named] or here:
                self.compile(level, jobs)
        except (OSError, subprocess.CalledProcessError) as error:
            self.app.display_warning(f"kernels are not compiled ahead, so the first use will wait for it: {error}")
        if any(self.folder.iterdir()):
            build_data["force_include"][str(self.folder)] = PLACE
            build_data |= {"pure_python": False, "infer_tag": True}

    def compile(self, level: str, jobs: list[str]) -> None:
        """Compile the kernels of jobs, or all, for a level. Those that were compiled before a job failed are kept."""
        began = time.perf_counter()
        try:
            kernels = self.python("-m", "likewise.cli.compiling", str(self.folder), "--level", level, "--jobs", *jobs)
        except subprocess.CalledProcessError:
            self.app.display_warning(f"some kernels for {level} are not compiled ahead, so their first use will wait for it")
        else:
            self.app.display_info(f"compiled {kernels.strip()} for {level} in {time.perf_counter() - began:.0f} s")

    def python(self, *arguments: str) -> str:
        """Run the likewise of this folder, with the packages that the build has; its output."""
        path = os.pathsep.join([str(Path(self.root) / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}  # nothing is added to the project
        return subprocess.run([sys.executable, "-P", *arguments], env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder, ignore_errors=True)
