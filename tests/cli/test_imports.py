"""The modules that a run imports, if other libraries are installed that it could import. Each module costs every run time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import SOURCE

#: Libraries that packages import where they find them. Their import is seen even if it is undone.
INSTALLED = ("pandas", "polars", "torch", "tensorflow", "jax", "fsspec", "IPython")
STUB = "import pathlib\n(pathlib.Path(__file__).parent.parent / f'{__name__}.imported').touch()\n__version__ = '9'\n"
#: The packages that a run uses.
USED = {"click", "llvmlite", "msgspec", "numpy", "pyarrow", "xxhash"}
#: Modules of Python, of likewise and of the packages above that take milliseconds and are not used by runs on a few documents.
SLOW = {
    *(
        "asyncio",
        "email",
        "html",
        "http",
        "importlib.metadata",
        "multiprocessing",
        "secrets",
        "sqlite3",
        "ssl",
        "subprocess",
        "tomllib",
        "unittest",
        "xml",
    ),
    *("likewise.joins.set_join", "likewise.nearest", "likewise.runs.join_choice"),
    *("numpy.random", "pandas", "pyarrow.fs", "pyarrow.parquet", "rich"),
}
CHILD = """
import json, sys
before = set(sys.modules)
from likewise.__main__ import run
try:
    run()
finally:
    with open("loaded.json", "w") as file:
        json.dump(sorted(set(sys.modules) - before), file)
"""


@pytest.fixture
def installed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stubs of the libraries, and three documents in the current folder."""
    for name in INSTALLED:
        (folder / "stubs" / name).mkdir(parents=True)
        (folder / "stubs" / name / "__init__.py").write_text(STUB)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder / "stubs"), SOURCE]))
    texts = ("one two three four five six", "one two three four five seven", "nothing like the others here")
    Path("three.jsonl").write_text("".join(json.dumps({"id": f"{row}", "text": text}) + "\n" for row, text in enumerate(texts)))
    return folder


def loaded(*arguments: str) -> set[str]:
    """The modules that a command loads once its kernels are compiled."""
    for _ in range(2):
        done = subprocess.run([sys.executable, "-P", "-c", CHILD, *arguments], check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return set(json.loads(Path("loaded.json").read_text()))


def others(modules: set[str]) -> set[str]:
    """The packages of modules, other than Python's and likewise; without those that Cython makes, and those that msgspec and pyarrow import if they
    are installed."""
    found = {name.partition(".")[0] for name in modules if not name.startswith("_")}
    return found - sys.stdlib_module_names - {"likewise", "cython_runtime", "typing_extensions", "cloudpickle"}


def test_pairs_import_the_packages_that_they_use_and_no_others(installed: Path) -> None:
    modules = loaded("pairs", "three.jsonl")
    assert others(modules) == USED
    assert modules & SLOW == set()
    assert not [*(installed / "stubs").glob("*.imported")]


def test_a_removal_also_imports_parquet_and_charts_but_no_other_package(installed: Path) -> None:
    modules = loaded("dedup", "three.jsonl", "-o", "out", "--overwrite")
    assert others(modules) == USED
    parquet, charts, run_json = {"pyarrow.parquet", "pyarrow.fs", "ssl"}, {"html"}, {"importlib.metadata", "email", "subprocess"}
    assert modules & SLOW == parquet | charts | run_json
    assert not [*(installed / "stubs").glob("*.imported")]


def test_importing_likewise_imports_no_package(installed: Path) -> None:
    code = "import json, sys; before = set(sys.modules); import likewise; print(json.dumps(sorted(set(sys.modules) - before)))"
    done = subprocess.run([sys.executable, "-P", "-c", code], check=True, capture_output=True, text=True)
    assert others(set(json.loads(done.stdout))) == set()
