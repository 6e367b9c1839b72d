"""A folder of data that holds Python files: likewise runs none of them, by whatever name, verb and start."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command_line import SOURCE, TEXTS
from copied_project import Project
from likewise.cli.verbs import VERBS

#: Each verb, on what lies in the folder.
COMMANDS = {
    "dedup": "dedup data.jsonl names.csv -o new --overwrite",
    "pairs": "pairs names.csv --by levenshtein --within 1 --json",
    "neighbors": "neighbors data.jsonl -k 1 -o nearest.csv --overwrite",
    "quotes": "quotes data.jsonl --in data.jsonl --page page.html --overwrite",
    "repeats": "repeats data.jsonl -o repeats.csv --overwrite",
    "index": "index build new.lw data.jsonl --overwrite",
    "serve": "serve --help",
    "features": "features data.jsonl --vectors vectors.txt -o features.parquet --overwrite",
    "plan": "plan data.jsonl --svg curve.svg --overwrite",
    "audit": "audit out",
    "show": "show out 1",
    "report": "report out",
    "doctor": "doctor",
    "demo": "demo --help",
    "completion": "completion bash",
    "help": "help dedup",
    "schema": "schema dedup",
}


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Ways to start likewise -> the command."""
    folder = tmp_path_factory.mktemp("start")
    project = Project(folder, package=True)
    assert project.run("--version").returncode == 0
    script = folder / "likewise"  # as pip writes it
    script.write_text(f"#!{sys.executable}\nimport sys\nfrom likewise.__main__ import run\nsys.exit(run())\n")
    script.chmod(0o755)
    path = f"PATH={project.folder / 'bin'}:{os.environ['PATH']}"
    installed = f"PYTHONPATH={SOURCE}"
    return {
        "run": ["env", path, "PYTHONPATH=.:", str(project.root / "run")],
        "installed": ["env", installed, str(script)],
        "python -P -m": ["env", installed, sys.executable, "-P", "-m", "likewise"],
        "python -m": ["env", installed, sys.executable, "-m", "likewise"],
    }


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, start: dict[str, list[str]]) -> Path:
    """Data and an output of them, and then a module for every name that could be imported; any of them leaves a file ``ran``."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "data.jsonl").write_text("".join(json.dumps({"id": i, "text": " ".join(words)}) + "\n" for i, words in enumerate(TEXTS.values())))
    (folder / "names.csv").write_text("id,text\n1,anna\n2,hanna\n")
    (folder / "vectors.txt").write_text("the 1 0\nquick 0 1\nsomething 1 1\n")
    subprocess.run([*start["installed"], "dedup", "data.jsonl", "-o", "out", "--by", "words:2", "--threshold", "0.7"], cwd=folder, check=True)
    for name in module_names():
        (folder / f"{name}.py").write_text(f"open({str(folder / 'ran')!r}, 'a').write({name!r} + ' ')\n")
    return folder


def module_names() -> set[str]:
    """All of the standard library and of what is installed."""
    installed = {name for name in importlib.metadata.packages_distributions() if name.isidentifier()}
    return set(sys.stdlib_module_names) | installed | {"likewise", "sitecustomize", "usercustomize", "cv2", "pandas"}


def ran(folder: Path, command: list[str]) -> str:
    """The names of the files that ran during a command, which must succeed."""
    (folder / "ran").unlink(missing_ok=True)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    found = (folder / "ran").read_text() if (folder / "ran").exists() else ""
    assert done.returncode == 0 or found, done.stderr
    return found


def test_there_is_a_command_for_every_verb() -> None:
    assert set(COMMANDS) == set(VERBS)


WAYS = ("run", "installed", "python -P -m")


@pytest.mark.parametrize("verb", COMMANDS)
def test_nothing_beside_the_data_is_run(hostile: Path, start: dict[str, list[str]], verb: str, scaled: Callable[[Any, Any], Any]) -> None:
    """Each verb in each way; without --all in the next way after that of the verb before."""
    turn = [*COMMANDS].index(verb) % len(WAYS)
    for way in scaled(WAYS, WAYS[turn : turn + 1]):
        assert ran(hostile, [*start[way], *COMMANDS[verb].split()]) == "", way


def test_the_files_do_run_where_python_searches_the_folder(hostile: Path) -> None:
    """Otherwise the tests above could not fail."""
    assert "csv" in ran(hostile, [sys.executable, "-c", "import csv"]).split()


def test_without_p_python_itself_runs_few_of_them(tmp_path: Path, start: dict[str, list[str]]) -> None:
    """Python imports some modules before the package starts. Later imports do not come from the folder."""
    for name in ("csv", "random", "json", "numpy", "pyarrow", "click", "tempfile", "subprocess", "secrets"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r} + ' ')\n")
    (tmp_path / "names.csv").write_text("id,text\n1,anna\n2,hanna\n")
    assert ran(tmp_path, [*start["python -m"], *COMMANDS["pairs"].split()]) == ""


@pytest.mark.parametrize(("flags", "passed_on"), [(["-I"], "-I"), (["-P"], "-P"), ([], "-P")])
def test_processes_that_compile_are_as_isolated(flags: list[str], passed_on: str) -> None:
    code = f"""
import sys
from pathlib import Path
sys.path.insert(0, {SOURCE!r})
from likewise.cli import compiling

class Started:
    def __init__(self, command, **_):
        print(command[1])
        Path(command[-1], "documents-finished").mkdir()
    def wait(self): return 0
    def kill(self): pass

compiling.subprocess.Popen = Started
compiling.build(jobs=list(compiling.JOBS)[:1], workers=1)
"""
    done = subprocess.run([sys.executable, *flags, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{passed_on}\n"
