"""The jobs that are run to compile kernels ahead: a kernel that none of them calls would be compiled in a user's run.

A build of a wheel has only the libraries that pyproject.toml requires.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import SOURCE
from likewise.cli import compiling
from likewise.compiled import levels, store
from likewise.compiled.notice import NOTICE

#: Kernels of steps that only engines other than the local one have.
OF_OTHER_ENGINES = {"greedy.decide", "heads.list_pairs", "walk.may_match"}
CODE = """
import pkgutil, sys
from importlib import import_module
from pathlib import Path

from likewise import kernels
from likewise.cli.common_jobs import JOBS, LIBRARIES
from likewise.compiled.jit import Kernel

OPTIONAL = {"rapidfuzz", "pandas", "polars", "cv2"}

class Missing:
    def find_spec(self, wanted, path=None, target=None):
        if wanted in OPTIONAL - {LIBRARIES.get(name)}:
            raise ModuleNotFoundError(wanted)

sys.meta_path.insert(0, Missing())
for name, job in JOBS.items():
    folder = Path(sys.argv[1], name)
    folder.mkdir()
    job(folder)
modules = [import_module(f"likewise.kernels.{found.name}") for found in pkgutil.iter_modules(kernels.__path__)]
found = {value.name: bool(value._versions) for module in modules for value in vars(module).values() if isinstance(value, Kernel)}
print(len(found), *(name for name, called in found.items() if not called))
"""


def test_the_jobs_call_every_kernel_and_need_no_library_that_they_do_not_name(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": SOURCE}
    done = subprocess.run([sys.executable, "-P", "-c", CODE, str(tmp_path)], env=env, check=True, stdout=subprocess.PIPE, text=True)
    number, *uncalled = done.stdout.split()
    assert int(number) > 90 and set(uncalled) == OF_OTHER_ENGINES


class InThisProcess:
    """Does what a process that compiles does."""

    def __init__(self, command: list[str], **_: object):
        self.folder = Path(command[-1])

    def wait(self) -> None:
        compiling.work(self.folder)

    def kill(self) -> None:
        pass


def makes(*names: str, fails: bool = False) -> Callable[[Path], None]:
    """A job that compiles kernels with these names."""

    def job(folder: Path) -> None:
        place = folder.parent / "store" / "edition"
        place.mkdir(parents=True, exist_ok=True)
        for name in names:
            (place / f"{name}{store.SUFFIX}").touch()
        if fails:
            raise ZeroDivisionError("of this job")

    return job


def test_a_job_without_its_library_and_one_that_fails_cost_no_other_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = {"documents": makes("a", "b"), "sets": makes("c", fails=True), "strings": makes("d"), "codes": makes("b", "e")}
    monkeypatch.setattr(compiling, "JOBS", jobs)
    monkeypatch.setattr(compiling, "LIBRARIES", {"strings": "nosuchlibrary"})
    monkeypatch.setattr(compiling.subprocess, "Popen", InThisProcess)
    monkeypatch.setattr(levels, "here", lambda: ["x86-64-v3"])
    with pytest.raises(RuntimeError, match=r"^not all kernels could be compiled: sets failed; see the messages above$"):
        compiling.build(tmp_path, "x86-64-v3")
    (folder,) = tmp_path.iterdir()
    assert folder.name == f"x86-64-v3-{store.edition('x86-64-v3')}"
    assert sorted(path.name for path in folder.glob(f"*{store.SUFFIX}")) == [f"{name}{store.SUFFIX}" for name in "abce"]
    assert compiling.finished_in(folder) == ["codes", "documents"]
    said = capsys.readouterr().err.splitlines()
    assert said[:2] == [
        "likewise: skipped the kernels of strings, because nosuchlibrary is not installed",
        "likewise: compiling the kernels of sets failed:",
    ]
    assert said[-1] == "ZeroDivisionError: of this job"

    jobs["sets"] = makes("c", "f")
    assert compiling.build(tmp_path, "x86-64-v3", ["sets"]) == 2  # beside those that are there
    assert sorted(path.name for path in folder.glob(f"*{store.SUFFIX}")) == [f"{name}{store.SUFFIX}" for name in "abcef"]
    assert compiling.finished_in(folder) == ["codes", "documents", "sets"]
    assert NOTICE.kernels == 0
