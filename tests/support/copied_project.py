"""A copy of the project's ./run, with a python3 first in PATH whose pip downloads nothing and records its calls."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from typing import Any

from command_line import SOURCE

ROOT = Path(__file__).resolve().parents[2]
#: The installed packages of this Python, used by the environments of copies.
INSTALLED = sysconfig.get_path("purelib")
#: A package that prints how it was started.
PACKAGE = "import os, sys\nprint(sys.executable, sys.flags.isolated, os.getcwd(), sys.argv[1:], sys.stdin.read())\n"
#: Its compiler, which records its calls, and fails while a file `no compiler` exists.
COMPILER = """import pathlib, sys
folder = pathlib.Path({folder!r})
with open(folder / "compiled", "a") as calls:
    print(*sys.argv[1:], file=calls)
sys.exit(1) if (folder / "no compiler").exists() else print(3, "kernels")
"""
#: A Python whose pip records its calls, waits while a file `wait` exists, and fails while a file `fail` exists.
PYTHON = """#!/bin/bash
folder={folder} self={self} python={python} installed={installed}
case " $* " in
    *" -m pip "*)
        echo called >>"$folder/pip"
        while [ -e "$folder/wait" ]; do sleep 0.02; done
        [ -e "$folder/fail" ] && exit 7
        echo "$installed" >"$(echo "${{5%/bin/python}}"/lib/python3*/site-packages)/installed.pth"
        exit ;;
    *" tools/make_environment.py "*)
        exec "$python" -I -B -c 'import runpy, sys
sys._base_executable = sys.argv.pop(1)
del sys.argv[:2]
runpy.run_path(sys.argv[0], run_name="__main__")' "$self" "$@" ;;
esac
exec "$python" "$@"
"""


#: Seconds in which a busy machine has done it.
PATIENCE = 300


class Project:
    """A copy in ``folder``/project; its python3 writes its records to ``folder``."""

    def __init__(self, folder: Path, *, package: bool = False) -> None:
        """package: with the original likewise, whose kernels are compiled; if False, with a package that prints how it was started."""
        self.folder, self.root = folder, folder / "project"
        (self.root / "tools").mkdir(parents=True)
        for name in ("run", "tools/environment", "tools/make_environment.py"):
            shutil.copy(ROOT / name, self.root / name)
        (self.root / "requirements.txt").write_text("a==1\n")
        self.paths = [SOURCE, INSTALLED] if package else [INSTALLED]  # searched before src/
        if not package:
            (self.root / "src" / "likewise" / "cli").mkdir(parents=True)
            (self.root / "src" / "likewise" / "__main__.py").write_text(PACKAGE)
            (self.root / "src" / "likewise" / "cli" / "compiling.py").write_text(COMPILER.format(folder=str(self.folder)))
        self.python("bin")

    def python(self, name: str) -> Path:
        """A new folder of this name with its own python3."""
        place = self.folder / name / "python3"
        place.parent.mkdir()
        names = {"folder": self.folder, "self": place, "python": sys.executable, "installed": "\n".join(self.paths)}
        place.write_text(PYTHON.format(**{name: shlex.quote(str(path)) for name, path in names.items()}))
        place.chmod(0o755)
        return place.parent

    def begun(self, *arguments: str, command: str | Path | None = None, python: str = "bin", **how: Any) -> subprocess.Popen[str]:
        env = {**os.environ, "PATH": f"{self.folder / python}:{os.environ['PATH']}", **how.pop("env", {})}
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen([command or self.root / "run", *arguments], env=env, text=True, **streams, **how)  # type: ignore[call-overload]

    def run(self, *arguments: str, given: str = "", **how: Any) -> subprocess.CompletedProcess[str]:
        process = self.begun(*arguments, **how)
        out, err = process.communicate(given, timeout=PATIENCE)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def calls(self) -> int:
        """The number of calls of pip."""
        return len((self.folder / "pip").read_text().splitlines()) if (self.folder / "pip").exists() else 0

    def until(self, calls: int) -> None:
        """Wait until pip has been called ``calls`` times."""
        end = time.monotonic() + PATIENCE
        while self.calls() < calls:
            assert time.monotonic() < end
            time.sleep(0.01)

    def environments(self) -> list[Path]:
        """The complete environments."""
        return sorted(stamp.parent for stamp in (self.root / ".venv.d").glob("*/.installed"))
