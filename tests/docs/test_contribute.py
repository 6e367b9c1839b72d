"""The worked examples of docs/contribute/: the code of all pages, applied to a copy of the project, passes the tests that the pages list."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from applied_pages import apply, blocks, copied
from pages import without_blocks

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs/contribute").glob("add-*.md"))
EACH = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
#: Tests of registries, which fail if an addition is incomplete.
REGISTRIES = ["is_the_registry", *(f"every_{one}_has" for one in ("measure", "format", "store", "engine")), "every_module_of_kinds", "loads_on_use"]
THEIRS = [
    "tests/docs/test_docs.py",
    "tests/kinds/test_toy_kind.py",
    "tests/formats/test_every_format.py",
    "tests/index/test_conformance.py",
    "tests/oracle/test_minhash.py",
]


def listed(page: Path) -> tuple[str, list[str], set[str]]:
    """The name and the paths of the command at the end of a page, and the tests that it lists."""
    [(title, content)] = [(title, content) for language, title, content in blocks(page.read_text()) if language == "text"]
    test, only, flag, name, *paths = shlex.split(title)
    assert (test, only, flag) == ("./test", "--collect-only", "-k")
    return name, paths, set(content.splitlines())


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = copied(tmp_path_factory.mktemp("project"))
    for page in PAGES:
        apply(page.read_text(), project)
    fixtures = project / "tests/conftest.py"  # the tests of the project draw more
    fixtures.write_text(fixtures.read_text().replace("full if whole else small", "full if whole else max(1, small // 6)"))
    subprocess.run([sys.executable, "-I", project / "tools/make_flags_page.py"], env=env(project), check=True, capture_output=True)
    return project


def env(project: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(project / "src")}


@pytest.fixture(scope="module")
def passed(project: Path) -> set[str]:
    """The tests of all names in one run of pytest."""
    names, paths = zip(*((name, paths) for name, paths, _ in map(listed, PAGES)), strict=True)
    command = [sys.executable, "-P", "-m", "pytest", "-vv", "-p", "no:cacheprovider", "-k", " or ".join([*names, *REGISTRIES])]
    done = subprocess.run([*command, *sorted({*THEIRS}.union(*paths))], cwd=project, env=env(project), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr
    return set(re.findall(r"(?m)^(tests/\S+::.+?) PASSED", done.stdout))


@EACH
def test_the_tests_at_the_end_of_a_page_are_those_of_its_name(page, passed):
    name, paths, tests = listed(page)
    assert tests == {test for test in passed if name.lower() in test.lower() and any(test.startswith(path) for path in paths)}
    assert len(tests) > 1


def test_the_code_of_the_pages_has_the_style_of_the_project(project):
    for command in (["check", "--quiet"], ["format", "--check", "--quiet"]):
        done = subprocess.run([sys.executable, "-I", "-m", "ruff", *command, "src", "tests"], cwd=project, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


@EACH
def test_a_page_names_each_file_that_it_changes(page):
    """In its title, from which the test takes it; and every other file or folder that the text names exists."""
    text = page.read_text()
    made = {title for _, title, _ in blocks(text)}
    for name in re.findall(r"`((?:src|tests|tools|docs|benchmarks)/[\w./-]+)`", without_blocks(text)):
        assert name in made or (ROOT / name).exists(), name
