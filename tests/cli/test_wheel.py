"""A wheel with kernels that were compiled when it was built: its first run, in an empty home, compiles nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from typing import Any

import pytest
import wheel_hook

from likewise.compiled import levels, store

ROOT = Path(__file__).resolve().parents[2]
LEVELS = levels.here()


def built(folder: Path, ahead: str) -> Path:
    """A wheel of this project. ahead: the levels and jobs whose kernels are compiled, by tools/wheel_hook.py."""
    command = [sys.executable, "-P", "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, env={**os.environ, "AHEAD": ahead})
    (wheel,) = folder.glob("*.whl")
    return wheel


class Build:
    """The part of hatchling that the hook uses: an interface that shows messages."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def display_info(self, message: str) -> None:
        self.said.append(message)

    display_warning = display_info


def test_a_job_that_fails_at_one_level_costs_no_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    def python(self: wheel_hook.AheadHook, *arguments: str) -> str:
        if arguments[0] == "-c":
            return "x86-64-v4 x86-64-v3"
        level = arguments[arguments.index("--level") + 1]
        (self.folder / level).mkdir()  # kernels of other jobs
        if level == "x86-64-v4":
            raise subprocess.CalledProcessError(1, "python")
        return "31 kernels"

    app = Build()
    monkeypatch.setenv("AHEAD", "all")
    monkeypatch.setattr(wheel_hook.AheadHook, "python", python)
    hook = wheel_hook.AheadHook(str(ROOT), {}, None, None, "", "wheel", app)  # type: ignore[arg-type]
    data: dict[str, Any] = {"force_include": {}}
    hook.initialize("standard", data)
    try:
        assert app.said == [
            "some kernels for x86-64-v4 are not compiled ahead, so their first use will wait for it",
            "compiled 31 kernels for x86-64-v3 in 0 s",
        ]
        assert sorted(path.name for path in hook.folder.iterdir()) == ["x86-64-v3", "x86-64-v4"]
        assert data == {"force_include": {str(hook.folder): "likewise/compiled/ahead"}, "pure_python": False, "infer_tag": True}
    finally:
        hook.finalize("standard", data, "")
    assert not hook.folder.exists()


@pytest.mark.skipif(not LEVELS, reason="this processor has no level that kernels are compiled ahead for")
def test_a_first_removal_and_a_first_index_of_an_installed_wheel_compile_nothing(tmp_path: Path) -> None:
    level = LEVELS[-1]
    wheel = built(tmp_path / "wheel", " ".join([level, *wheel_hook.JOBS]))
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    assert wheel.name.split("-")[2:4] == [python, python]
    assert wheel.stem.split("-")[4] == sysconfig.get_platform().replace("-", "_").replace(".", "_")
    site, home = tmp_path / "site", tmp_path / "home"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    home.mkdir()
    (kernels,) = (site / "likewise" / "compiled" / "ahead").iterdir()
    assert kernels.name == f"{level}-{store.edition(level)}"

    texts = ("one two three four five six", "one two three four five seven", "nothing like the others here")
    lines = "".join(json.dumps({"id": row, "text": text}) + "\n" for row, text in enumerate(texts))
    (tmp_path / "three.jsonl").write_text(lines)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "NUMBA_", "PYTHON"))}
    env = {**kept, "HOME": str(home), "PYTHONPATH": str(site)}
    command = [sys.executable, "-P", "-X", "importtime", "-m", "likewise"]
    similar = "--by words:2 --threshold 0.6"
    for arguments, said in {
        f"dedup three.jsonl -o out {similar}": "removed     1 ",
        f"index create seen {similar}": "",
        "index add seen three.jsonl": "3 added",
        "index query seen three.jsonl": "5 similar items found for 3 of 3 records",
        "index add-new seen -": "0 added, 3 not new",
        "index update seen three.jsonl": "3 replaced",
        "index compact seen": "",
        "index query seen three.jsonl -k 1": "3 similar items found for 3 of 3 records",
        f"index build more three.jsonl {similar}": "3 added",
        "index check more": "no fault found",
    }.items():
        done = subprocess.run([*command, *arguments.split()], cwd=tmp_path, env=env, input=lines, capture_output=True, text=True, check=True)
        assert said in done.stderr
        assert "compiling" not in done.stderr and "| numba" not in done.stderr  # in the list of imports
    assert not list(home.rglob(f"*{store.SUFFIX}"))


def test_a_wheel_may_be_built_for_every_platform(tmp_path: Path) -> None:
    wheel = built(tmp_path, "")
    assert wheel.name.endswith("-py3-none-any.whl")
    assert not [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(store.SUFFIX)]


def test_the_kernels_of_a_zip_archive_have_the_edition_of_its_files(tmp_path: Path) -> None:
    def edition(change: bytes) -> str:
        with zipfile.ZipFile(tmp_path / "likewise.zip", "w") as archive:
            for path in (ROOT / "src").rglob("*.py"):
                archive.writestr(str(path.relative_to(ROOT / "src")), path.read_bytes() + (change if path.name == "walk.py" else b""))
        code = "from likewise.compiled import store; print(store.edition('x86-64-v3'), store.__file__)"
        env = {**os.environ, "PYTHONPATH": str(tmp_path / "likewise.zip")}
        done = subprocess.run([sys.executable, "-P", "-c", code], env=env, capture_output=True, text=True, check=True)
        name, place = done.stdout.split()
        assert place.startswith(str(tmp_path))
        return name

    assert edition(b"") == store.edition("x86-64-v3") != edition(b"# changed\n")
