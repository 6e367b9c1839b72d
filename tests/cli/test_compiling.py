"""The first run on a machine, which compiles."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from command_line import SOURCE, TEXTS, run
from likewise.cli.main import in_compiler, main, status_of
from likewise.cli.progress import ScreenProgress
from likewise.cli.screen import Screen
from likewise.engines.threads import usable_cores
from likewise.kernels import jit
from likewise.progress import INTERRUPTED

#: All that a run on JSON lines needs beside what the second process compiles.
OWN = {"json.lines", "json.read", "json_strings.identities", "elements.hash_strings", "text.normalize", "bytes.gather"}


def test_the_second_process_compiles_what_the_run_needs(tmp_path: Path) -> None:
    """Kernels are compiled for the types of what they are given. Were those of the second process others than the run's, it would help in nothing.

    Which kernels a process needs, Numba says also of those that are on disk; so nothing is compiled here that an earlier test has compiled.
    """
    env = {**os.environ, "PYTHONPATH": SOURCE, "NUMBA_DEBUG_CACHE": "1"}

    def needed(*command: str) -> set[str]:
        done = subprocess.run([sys.executable, "-P", "-m", *command], env=env, cwd=tmp_path, check=True, capture_output=True, text=True)
        return set(re.findall(r"^\[cache\] data (?:loaded from|saved to) '.*/(.+\.nbc)'", done.stdout, re.MULTILINE))

    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"id": name, "text": " ".join(words)}) + "\n" for name, words in TEXTS.items()))
    second = needed("likewise.cli.compiling", str(tmp_path / "work"))
    assert not (tmp_path / "work").exists()
    assert second
    run = needed("likewise", "dedup", "a.jsonl", "-o", "o")
    assert {name.split("-")[0] for name in run - second} == OWN
    assert not {name.split("-")[0] for name in second} & OWN


def test_the_first_run_leaves_no_process_and_no_folder_behind(tmp_path: Path) -> None:
    (tmp_path / "temporary").mkdir()
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels"), "PYTHONPATH": SOURCE, "TMPDIR": str(tmp_path / "temporary")}
    command = [sys.executable, "-P", "-m", "likewise", "dedup", "-", "-o", "o"]  # nothing is compiled that an empty input does not need
    subprocess.run(command, env=env, cwd=tmp_path, check=True, capture_output=True, input=b"")
    others = [Path(f"/proc/{pid}/cmdline") for pid in os.listdir("/proc") if pid.isdigit()] if usable_cores() > 1 else []
    assert not [line for path in others if path.exists() and os.fsencode(tmp_path) in (line := path.read_bytes())]
    assert not list((tmp_path / "temporary").iterdir())


def test_a_first_run_that_is_interrupted_compiles_no_more(tmp_path: Path) -> None:
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels"), "PYTHONPATH": SOURCE}
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"id": name, "text": " ".join(words)}) + "\n" for name, words in TEXTS.items()))
    command = [sys.executable, "-P", "-m", "likewise", "dedup", "a.jsonl", "-o", "o"]
    process = subprocess.Popen(command, env=env, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not any((tmp_path / "kernels").rglob("json.lines*.nbc")):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert "interrupted" in said
    assert said.count("compiling for this machine, which only the first run of its kind waits for\n") == 1
    assert not any((tmp_path / "kernels").rglob("text.normalize*.nbc"))


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_in_python_ends_compiling_and_leaves_nothing_behind(tmp_path: Path, threads: int) -> None:
    """Whichever thread compiles, no function is begun once the signal is noticed; and a later run in the process can be interrupted as before."""
    folder = tmp_path / "kernels"
    code = f"""if True:
        import pathlib, signal, likewise as lw
        from likewise.progress import INTERRUPTED
        notice, noticed = INTERRUPTED.set, []

        def noting():
            noticed.append(len(list(pathlib.Path({str(folder)!r}).rglob("*.nbc"))))
            notice()

        INTERRUPTED.set = noting
        try:
            lw.dedup(["a b c d e f", "g h i j k l"], threads={threads})
        except KeyboardInterrupt:
            print(INTERRUPTED.is_set(), signal.getsignal(signal.SIGINT) is signal.default_int_handler, noticed[0])
        """
    env = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": SOURCE}
    process = subprocess.Popen([sys.executable, "-P", "-c", code], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not any(folder.rglob("*.nbc")):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate()
    assert output.startswith("False True ") and not errors
    assert len(list(folder.rglob("*.nbc"))) <= int(output.split()[2]) + threads  # those that were on their way


def test_ctrl_c_while_the_main_thread_compiles_is_put_off() -> None:
    """To the next function, or the end: an exception in the midst may leave a lock of LLVM taken."""
    begun_after = []

    def begun() -> None:
        signal.raise_signal(signal.SIGINT)
        begun_after.append(INTERRUPTED.is_set())

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # the command line, in earlier tests, sets another
    try:
        with jit.heard(begun, lambda seconds: None), pytest.raises(KeyboardInterrupt):
            jit.nb.njit(lambda x: x + 1)(1)
        assert begun_after == [True]
        assert (INTERRUPTED.is_set(), signal.getsignal(signal.SIGINT)) == (False, signal.default_int_handler)
    finally:
        INTERRUPTED.clear()
        signal.signal(signal.SIGINT, before)
    assert jit.nb.njit(lambda x: x + 1)(1) == 2


def test_what_is_compiled_is_told_once_and_foretells_nothing(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("likewise.cli.progress.heard", jit.heard)  # as without tests
    told = ScreenProgress(Screen())
    told.begin("reading", 100, "items")
    for added in (1, 2):
        inner = jit.nb.njit(lambda x, added=added: x + added)
        assert jit.nb.njit(lambda x, inner=inner: inner(x))(1) == 1 + added
        assert 0 < told.compiled <= time.perf_counter() - told._since
    assert capsys.readouterr().err == "compiling for this machine, which only the first run of its kind waits for\n"
    told._since, told.compiled, told.done = time.perf_counter() - 30, 20.0, 50
    assert told.state() == "50 % of 100 items, 5 items/s"
    told.finish()
    before = told.compiled
    jit.nb.njit(lambda x: x + 1)(1)
    assert told.compiled == before


def test_after_a_failure_the_next_kernel_is_heard_again() -> None:
    """Numba tells of an end even where a listener has refused the start, or where it began before anyone listened."""
    heard: list[str] = []

    def begun() -> None:
        heard.append("begun")
        if len(heard) == 1:
            raise OSError("no room for a message")

    def compiled() -> int:
        return int(jit.nb.njit(lambda x: x + 1)(1))

    jit.event.start_event("numba:compile")
    with jit.heard(begun, lambda _: heard.append("ended")):
        jit.event.end_event("numba:compile")
        with pytest.raises(OSError, match="no room"):
            compiled()
        INTERRUPTED.set()
        try:
            with pytest.raises(KeyboardInterrupt):
                compiled()
        finally:
            INTERRUPTED.clear()
        assert compiled() == 2
    assert heard == ["begun", "ended", "begun", "ended"]


@pytest.mark.parametrize("verb", ["dedup -o out", "pairs", "neighbors", "audit", "plan"])
def test_every_verb_that_reads_says_that_it_compiles(folder: Path, monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    def heard(begun: Callable[[], None], _: object) -> AbstractContextManager[None]:
        begun()
        return nullcontext()

    monkeypatch.setattr("likewise.cli.progress.heard", heard)
    (folder / "docs.jsonl").write_text("".join(json.dumps({"text": " ".join(words)}) + "\n" for words in TEXTS.values()))
    assert run(*verb.split(), "docs.jsonl").stderr.count("compiling for this machine") == 1


def test_where_nothing_can_be_kept_no_later_run_is_promised_to_be_faster(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("likewise.cli.progress.CACHE", None)
    ScreenProgress(Screen()).compiling()
    said = capsys.readouterr().err
    assert "each run" in said and "first" not in said


def test_the_compiler_heeds_a_signal_to_stop() -> None:
    INTERRUPTED.set()
    try:
        with pytest.raises(KeyboardInterrupt):
            jit.nb.njit(lambda x: x + 1)(1)
    finally:
        INTERRUPTED.clear()
    assert jit.nb.njit(lambda x: x + 1)(1) == 2


def test_a_signal_that_comes_while_the_compiler_is_imported_ends_the_import() -> None:
    code = "from likewise.progress import INTERRUPTED; INTERRUPTED.set(); import likewise.kernels.jit"
    done = subprocess.run([sys.executable, "-P", "-c", code], env={**os.environ, "PYTHONPATH": SOURCE}, capture_output=True, text=True)
    assert done.returncode != 0
    assert done.stderr.endswith("KeyboardInterrupt\n")


def test_a_signal_that_no_step_heeds_is_told_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    INTERRUPTED.set()
    try:
        assert status_of(main, ["--version"]) == 130
    finally:
        INTERRUPTED.clear()
    assert "interrupted" in capsys.readouterr().err
    assert status_of(main, ["--version"]) == 0


def test_no_exception_is_raised_inside_the_compiler() -> None:
    """It would leave a lock of LLVM taken: all threads would wait for it, and for ever."""
    calls = "import sys\ndef frame(inner):\n    return inner()\n"
    for name, inside in {"numba.core.caching": True, "llvmlite.binding.ffi": True, "numbat": False, "likewise.cli": False}.items():
        module: dict[str, Any] = {"__name__": name}
        exec(calls, module)
        assert in_compiler(module["frame"](lambda: sys._getframe())) == inside
    assert not in_compiler(None)
