"""Pages for users of other tools: the code of the tool runs, too, from the page, and finds what the page says.

That of datasketch and faiss runs in one process with the code of likewise, and compares what both find. datatrove and text-dedup need environments of
their own, and run with --all. The code of MLlib runs on the cluster of tests/spark.
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from command_line import SOURCE
from index_servers import server
from pages import blocks_of, said_by

ROOT = Path(__file__).resolve().parents[2]
PEERS = ROOT / "benchmarks/peers/environments.toml"
#: Tools that are installed for the tests, with the names of their packages, and tools with environments of their own.
INSTALLED, APART = {"datasketch": "datasketch", "faiss": "faiss-cpu"}, ("datatrove", "text-dedup")
EACH = pytest.mark.parametrize("tool", [*INSTALLED, *APART, "mllib"])


def page_of(tool: str) -> str:
    return (ROOT / f"docs/how-to/from-{tool}.md").read_text()


def theirs_of(tool: str) -> dict[str, str]:
    """The code of the tool on its page, by language."""
    blocks = [(language, content) for language, title, content in blocks_of(page_of(tool)) if title.lower() == f"with {tool}"]
    return {language: "\n".join(content for other, content in blocks if other == language) for language, _ in blocks}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "tool_run" in metafunc.fixturenames:
        metafunc.parametrize("tool_run", [*INSTALLED, *(APART if metafunc.config.getoption("--all") else ())])


@pytest.fixture
def python_of(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], str]]:
    """A function that makes the environment of a tool, as for benchmarks, on a disk; it returns the path of its Python."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    folder = Path(tempfile.mkdtemp(prefix="likewise-tools-", dir="/var/tmp"))

    def made(tool: str) -> str:
        importlib.import_module("all").environments(folder, {tool})
        return str(folder / tool / "bin" / "python")

    yield made
    shutil.rmtree(folder)


def test_the_code_of_the_tool_prints_what_the_page_says(tool_run: str, tmp_path: Path, python_of: Callable[[str], str]) -> None:
    """A file with this code, in an empty folder; with that of likewise between it, if both are installed."""
    code, python = theirs_of(tool_run), sys.executable
    if tool_run in INSTALLED:
        code["python"] = "\n".join(content for language, _, content in blocks_of(page_of(tool_run)) if language == "python")
    else:
        python = python_of(tool_run)
    if "6379" in code["python"]:
        code["python"] = code["python"].replace("6379", str(server("valkey").port))
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    (tmp_path / "code.py").write_text(code["python"])
    paths = {"PATH": f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}", "HF_HOME": str(tmp_path / "hub")}
    environment = {**os.environ, **paths, "PYTHONPATH": SOURCE if tool_run in INSTALLED else ""}
    for command in (["bash", "-ec", code.get("bash", "")], [python, "-P", "code.py"]):
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-5000:]
    assert done.stdout.splitlines() == said_by(code["python"])


@EACH
def test_a_page_has_the_code_of_the_tool_in_blocks_that_run(tool: str) -> None:
    """Indented lines, which run nowhere, are commands of likewise."""
    assert theirs_of(tool)["python"]
    prose = re.sub(r"(?ms)^```.*?^```", "", page_of(tool))
    assert [line for line in re.findall(r"(?m)^    (.+)$", prose) if not line.startswith("likewise ")] == []


@EACH
def test_a_page_names_the_version_that_runs(tool: str) -> None:
    """It is that of the environments for benchmarks."""
    [named] = re.findall(rf"(?i:with {tool}) (?:of Spark )?([\d.]*\d)(?=:|, | and )", page_of(tool))
    if tool == "mllib":
        assert version("pyspark").startswith(f"{named}.")
    else:
        package = INSTALLED.get(tool, tool)
        pinned = [pin for pins in tomllib.loads(PEERS.read_text()).values() for pin in pins if re.match(rf"{package}\b(?!-)", pin)]
        assert {pin.partition("==")[2] for pin in pinned} == {named}
        assert tool in APART or version(package) == named


def listed(tool: str, title: str) -> set[str]:
    """The ids that blocks with a title say they print, on lines of their own."""
    blocks = "\n".join(content for language, found, content in blocks_of(page_of(tool)) if found == title and language == "python")
    return {line for line in said_by(blocks) if re.fullmatch(r"[a-z]+/CVE-\d+-\d+", line)}


def test_datatrove_removes_dissimilar_texts_and_misses_a_similar_one() -> None:
    theirs, ours = listed("datatrove", "With datatrove"), listed("datatrove", "")
    assert (len(theirs), len(ours)) == (12, 6)
    assert ours - theirs == {"django/CVE-2022-36359"}


def test_text_dedup_removes_one_text_of_four_of_the_eight_similar_pairs() -> None:
    """The first of each, which likewise keeps."""
    theirs, page = listed("text-dedup", "With text-dedup"), page_of("text-dedup")
    similar = {kept: value for value, kept in re.findall(r"(?m)^# (0\.\d+|1\.000) \S+ for (\S+)$", page)}
    [stated] = re.findall(r"text-dedup removed five texts: one of each pair at ([\d., and]+), and `([\w/-]+)`", page)
    assert len(similar) == 8 and len(theirs) == 5
    assert sorted(similar[kept] for kept in theirs & similar.keys()) == re.findall(r"[\d.]+\d", stated[0])
    assert theirs - similar.keys() == {stated[1]}
