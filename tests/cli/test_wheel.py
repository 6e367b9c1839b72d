"""Builds of a wheel: the kernels that they compile. tests/cli/test_compiled_ahead.py runs what was built."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import wheel_hook

from likewise.compiled import store
from wheels import ROOT, wheel_of


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


def test_a_wheel_may_be_built_for_every_platform(tmp_path: Path) -> None:
    wheel = wheel_of(tmp_path, "")
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
