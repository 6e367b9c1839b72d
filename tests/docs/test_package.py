"""The package as it is installed, and rules that hold for all of it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
import trove_classifiers

import likewise
import likewise as lw
import likewise.stages

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A wheel without kernels (tests/cli/test_wheel.py has one with them) and a source distribution, for a project at an address."""
    folder = tmp_path_factory.mktemp("built")
    environment = {**os.environ, "AHEAD": "", "PROJECT_URL": "https://example.org/likewise/"}
    build = [sys.executable, "-P", "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, env=environment)
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, source


def files_in(*folders: str) -> set[str]:
    """The files of the project in these folders, without what runs leave there."""
    made = {"__pycache__", "ahead"}
    paths = (path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file() and not made & set(path.parts))
    return {str(path.relative_to(ROOT)) for path in paths}


def test_the_wheel_holds_the_package_and_its_command(built):
    with zipfile.ZipFile(built[0]) as archive:
        names = archive.namelist()
        (entry_points,) = [archive.read(name).decode() for name in names if name.endswith("entry_points.txt")]
    assert {name for name in names if ".dist-info/" not in name} == {name.removeprefix("src/") for name in files_in("src")}
    assert {"likewise/py.typed", "likewise/cli/schemas.json", "likewise/index/valkey.lua", "likewise/drawing/page.js"} <= set(names)
    assert not [name for name in names if "test" in name]
    assert "likewise = likewise.__main__:run" in entry_points


def test_the_source_distribution_holds_what_its_tests_need(built):
    with tarfile.open(built[1]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    at_the_top = {"README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml", "requirements.txt", "requirements-test.txt", "run", "test", "PKG-INFO"}
    assert files_in("src", "tests", "docs", "tools", "benchmarks") | at_the_top <= names
    assert not [name for name in names if name.endswith((".pyc", ".kernel")) or name.startswith((".venv", ".mypy_cache", "dist"))]


def test_the_metadata_are_complete(built):
    with zipfile.ZipFile(built[0]) as archive, tarfile.open(built[1]) as source:
        (name,) = [name for name in archive.namelist() if name.endswith("/METADATA")]
        about = Parser().parsestr(archive.read(name).decode())
        (given,) = [source.extractfile(member) for member in source if member.name.count("/") == 1 and member.name.endswith("PKG-INFO")]
        assert given and Parser().parsestr(given.read().decode()).items() == about.items(), "wheels that are built from it say the same"
    assert (about["Name"], about["Version"], about["License-Expression"]) == ("likewise", lw.__version__, "Apache-2.0")
    assert about["Requires-Python"] == ">=3.11" and about["Description-Content-Type"] == "text/markdown"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert about.get_all("Classifier") == project["classifiers"] == sorted(project["classifiers"])
    assert set(project["classifiers"]) <= set(trove_classifiers.classifiers)
    assert about.get_all("Provides-Extra") == sorted(project["optional-dependencies"])
    page = f"https://example.org/likewise/blob/v{lw.__version__}/"
    assert about.get_all("Project-URL") == [
        "Source, https://example.org/likewise",
        f"Documentation, {page}docs/README.md",
        f"Changelog, {page}CHANGELOG.md",
        "Issues, https://example.org/likewise/issues",
    ]
    text = about.get_payload()
    assert isinstance(text, str)
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert len(targets) > 40 and not [target for target in targets if not target.startswith("https://")], "a registry has no other files"
    assert f"]({page}docs/tutorial.md)" in text and "/raw/v" in text


def test_public_names_exist_and_no_others_are_listed():
    assert sorted(lw.__all__) == sorted(name for name in lw._HOMES)
    for name in lw.__all__:
        assert getattr(lw, name).__doc__, f"{name} has no docstring"
    assert callable(lw.plan)  # a module of that name would hide the verb once it is imported
    for module in (lw, lw.families):
        assert {name for name in dir(module) if not name.startswith("__")} == set(module.__all__)


def test_importing_the_package_loads_nothing_heavy():
    heavy = "{'numpy', 'numba', 'pyarrow', 'click', 'rich'}"
    code = f"import sys, likewise; print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-P", "-c", code], check=True, capture_output=True, text=True).stdout.strip() == "[]"


def test_a_plan_without_inputs_loads_neither_arrays_nor_kernels():
    code = "import sys, likewise; likewise.plan(threshold=0.8); print(sorted({'numpy', 'numba', 'pyarrow', 'likewise.kernels'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-P", "-c", code], check=True, capture_output=True, text=True).stdout.strip() == "[]"


def test_house_rules():
    for path in (ROOT / "src").rglob("*.py"):
        code = path.read_text()
        assert path.stem not in ("utils", "core", "common", "helpers", "misc"), path
        assert len(code.splitlines()) <= 500, f"{path}: is there a second idea in it?"
        for word in ("import pickle", " hash(", "np.random.seed", "datetime.now"):
            assert word not in code, f"{path}: {word}"


def test_child_processes_do_not_import_from_the_current_folder():
    """A Python that is started with ``-m`` or ``-c`` has -P or -I before that."""
    for folder in ("src", "tests", "benchmarks", "tools"):
        for path in (ROOT / folder).rglob("*.py"):
            if path.name != "test_hostile_modules.py":  # which shows what happens without
                assert not re.search(r'sys\.executable, *"-[mc]"', path.read_text()), path


def test_a_record_has_one_limit():
    from likewise.options import MOST_BYTES
    from likewise.records import Want

    assert Want("text", "id").most == MOST_BYTES


def test_what_the_functions_give_back_can_be_named():
    texts = ["a b c d e f", "a b c d e f", "x y z u v w"]
    removal, index = lw.dedup(texts), lw.Index.create()
    given_back = {
        "Removal": removal,
        "Table": removal.kept,
        "Pairs": lw.neighbors(texts),
        "Quotes": lw.quotes(texts, texts),
        "Repeats": lw.repeats(texts),
        "Plan": lw.plan(),
        "Audit": lw.audit(texts),
        "Added": index.add(texts[:1]),
        "Answers": index.query(texts),
        "FrequentPairs": lw.frequent([["milk", "tea"]], support=1),
    }
    page = (ROOT / "docs/reference/outputs.md").read_text()
    for name, result in given_back.items():
        assert name in lw.__all__ and type(result) is getattr(lw, name)
        assert f"| `lw.{name}` |" in page
    assert issubclass(lw.Pairs, lw.Table) and issubclass(lw.FrequentPairs, lw.Table) and issubclass(lw.Answers, lw.Table)


def test_every_exception_can_be_caught_by_name():
    from likewise import errors

    made = {name for name, one in vars(errors).items() if isinstance(one, type) and one.__module__ == errors.__name__}
    assert made <= set(lw.__all__)


def test_a_part_that_is_not_installed_is_named_with_the_command_that_installs_it(monkeypatch):
    pairs = lw.pairs(["a b c", "a b c"], by="words:1")
    for name, give in {"pandas": pairs.to_pandas, "polars": pairs.to_polars}.items():
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(lw.MissingPartError, match=f"(?i){name}, which is not installed: pip .* install {name}$"):
            give()


def test_stages_are_listed_in_the_order_of_a_run():
    listed = re.findall(r"^- (\w+): ", likewise.stages.__doc__, re.M)
    there = sorted(path.stem for path in Path(likewise.stages.__file__).parent.glob("*.py") if path.stem != "__init__")
    assert sorted(listed) == there


def test_few_modules_are_outside_of_folders():
    loose = [path.stem for path in Path(likewise.__file__).parent.glob("*.py") if not path.stem.startswith("__")]
    assert len(loose) <= 10, loose


def test_calls_below_the_command_stay_in_one_chunk_of_frames():
    """At some depth a loop of 1,000 calls would cross the end of a chunk of frames, each call mapping a page: 1,000 faults at least."""
    code = """
import resource
import likewise.cli.main
from likewise.__main__ import run

def leaf(): pass

def calls(depth):
    if depth:
        return calls(depth - 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(1000): leaf()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

likewise.cli.main.main = lambda: print(max(calls(depth) for depth in range(400)))
run()
"""
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 500
