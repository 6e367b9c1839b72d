"""Build the package, and try it in fresh environments as a stranger would: with the lowest and the highest allowed versions of its dependencies.

    python tools/try_package.py FOLDER [--python 3.11 ...] [--resolution lowest-direct ...] [--tests tests/kinds ...]

FOLDER gets the two files, an environment for each Python and resolution, and a log. `uv` and a package registry are needed. Each step prints a line;
the status is 1 if one failed. docs/contribute/release.md says when to run it.
"""

from __future__ import annotations

import argparse
import filecmp
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
#: Extras that most machines can install, and what is imported to see that they work: a library may be there and refuse this numpy.
EXTRAS = {
    "edit": "rapidfuzz.distance",
    "polars": "polars",
    "pandas": "pandas",
    "images": "cv2, PIL.Image",
    "web": "resiliparse.extract.html2text, brotli",
    "plot": "matplotlib.pyplot",
    "remote": "huggingface_hub",
    "serve": "likewise.service.metrics, starlette.applications, uvicorn, httptools, jinja2",
    "postgres": "psycopg",
    "valkey": "valkey",
}
#: Packages of the group `test` that the tests of one environment leave out: checkers, browsers, Spark, other tools.
LEFT_OUT = re.compile(r"ruff|mypy|import-linter|sphinx|myst|pydata|pyspark|playwright|axe-|datasketch|faiss")
EPOCH = "1700000000"


class Trial:
    """Runs commands one after the other, and prints a line about each."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.log = open(folder / "log.txt", "w")  # noqa: SIM115 - open as long as the run
        self.failed: list[str] = []

    def step(self, what: str, *command: object, cwd: Path | None = None, **environment: str) -> str:
        """Run a command; its output. A failure is printed and counted."""
        environment = {**os.environ, "PYTHONPATH": "", "HOME": str(self.folder / "home"), **environment}
        done = subprocess.run([*map(str, command)], cwd=cwd or self.folder, env=environment, capture_output=True, text=True, check=False)
        self.log.write(f"$ {' '.join(map(str, command))}\n{done.stdout}{done.stderr}\n")
        self.log.flush()
        self.told(what, done.returncode == 0, (done.stdout + done.stderr).strip().rpartition("\n")[2])
        return done.stdout

    def told(self, what: str, good: bool, more: str = "") -> None:
        print(f"{'ok' if good else 'FAILED':8}{what}" + (f": {more:.120}" if more else ""), flush=True)
        if not good:
            self.failed.append(what)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", action="append", help="a version, or the path of a Python (this one)")
    parser.add_argument("--resolution", action="append", choices=["lowest-direct", "lowest", "highest"], help="(lowest-direct and highest)")
    parser.add_argument("--tests", action="append", default=[], help="files or folders of tests to run")
    given = parser.parse_args()
    folder = given.folder.absolute()
    (folder / "home").mkdir(parents=True, exist_ok=True)
    trial = Trial(folder)
    wheel, source = built(trial)
    for python in given.python or [sys.executable]:
        for resolution in given.resolution or ["lowest-direct", "highest"]:
            tried(trial, wheel, source, python, resolution, given.tests)
    print(f"{len(trial.failed)} steps failed; {folder / 'log.txt'} has their output" if trial.failed else "all steps worked")
    return 1 if trial.failed else 0


def built(trial: Trial) -> tuple[Path, Path]:
    """Build both files twice, and the wheel from the source distribution, too: the bytes are equal. The wheel, and the folder of the sources."""
    folders = [trial.folder / name for name in ("first", "second", "from-source")]
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    build = (sys.executable, "-P", "-m", "hatchling", "build", "-d")
    for folder in folders[:2]:
        trial.step(f"build {folder.name}", *build, folder, cwd=ROOT, AHEAD="", SOURCE_DATE_EPOCH=EPOCH)
    (wheel,), (archive,) = folders[0].glob("*.whl"), folders[0].glob("*.tar.gz")
    unpacked = trial.folder / archive.name.removesuffix(".tar.gz")
    shutil.rmtree(unpacked, ignore_errors=True)
    with tarfile.open(archive) as file:
        file.extractall(trial.folder, filter="data")
    trial.step("build from the source distribution", *build, folders[2], "-t", "wheel", cwd=unpacked, AHEAD="", SOURCE_DATE_EPOCH=EPOCH)
    for name, other in ((wheel.name, folders[1]), (archive.name, folders[1]), (wheel.name, folders[2])):
        same = (other / name).is_file() and filecmp.cmp(folders[0] / name, other / name, shallow=False)
        trial.told(f"{other.name}/{name} has the same bytes", same)
    return wheel, unpacked


def tried(trial: Trial, wheel: Path, source: Path, python: str, resolution: str, tests: list[str]) -> None:
    """Install the wheel with all extras into a fresh environment, and use it."""
    named = f"{Path(python).parent.parent.name if os.sep in python else python}, {resolution}"
    place = trial.folder / re.sub(r"[^\w.]+", "-", named)
    here = place / "bin" / "python"
    trial.step(f"{named}: environment", "uv", "venv", "--clear", "--python", python, place)
    pins = place / "pins.txt"
    bounds = [
        "uv",
        "pip",
        "compile",
        ROOT / "pyproject.toml",
        "--python",
        here,
        "--resolution",
        resolution,
        "--only-binary",
        ":all:",
        "--no-annotate",
    ]
    trial.step(f"{named}: versions", *bounds, "-o", pins, *(word for extra in EXTRAS for word in ("--extra", extra)))
    install = ["uv", "pip", "install", "--python", here]
    trial.step(f"{named}: install", *install, "--only-binary", ":all:", "-r", pins, wheel)
    likewise = place / "bin" / "likewise"
    trial.step(f"{named}: likewise doctor", likewise, "doctor")
    for extra, modules in EXTRAS.items():
        trial.step(f"{named}: extra {extra}", here, "-P", "-c", f"import {modules}")
    work = trial.folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    for command in commands_of((source / "README.md").read_text()):
        trial.step(f"{named}: {command}", "bash", "-c", command, cwd=work, PATH=f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}")
    if tests:
        extras = PROJECT["project"]["optional-dependencies"]
        direct = {name_of(each) for each in (*PROJECT["project"]["dependencies"], *(one for extra in EXTRAS for one in extras[extra]))}
        (place / "kept.txt").write_text("".join(f"{line}\n" for line in pins.read_text().splitlines() if name_of(line) in direct))
        others = [each for each in PROJECT["dependency-groups"]["test"] if name_of(each) not in direct and not LEFT_OUT.match(each)]
        trial.step(f"{named}: install what tests need", *install, "--only-binary", ":all:", "-r", place / "kept.txt", *others)
        options = ("-q", "-p", "no:cacheprovider", "-W", "default")
        trial.step(f"{named}: {' '.join(tests)}", here, "-P", "-m", "pytest", *options, *tests, cwd=source)


def name_of(requirement: str) -> str:
    """The name of the distribution in a line of requirements."""
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0]


def commands_of(page: str) -> list[str]:
    """The commands of the README that a reader can type in an empty folder, in order: those behind a prompt."""
    return [
        line.removeprefix("$ ") for block in re.findall(r"```console\n(.*?)```", page, re.S) for line in block.splitlines() if line.startswith("$ ")
    ]


if __name__ == "__main__":
    sys.exit(main())
