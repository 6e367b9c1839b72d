"""The first run on a machine, which compiles."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import likewise as lw
from command_line import SOURCE, TEXTS, run
from likewise.cli.main import main, status_of, uninterruptible
from likewise.cli.progress import ScreenProgress
from likewise.cli.screen import Screen
from likewise.compiled import jit
from likewise.compiled.notice import NOTICE
from likewise.progress import INTERRUPTED
from likewise.service.logs import Log

#: The message of the command line in a first run.
ONCE = "(at their first use on this machine, up to half a minute); likewise doctor --compile does all at once"


def test_a_first_run_that_is_interrupted_compiles_no_more(tmp_path: Path) -> None:
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels"), "PYTHONPATH": SOURCE}
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"id": name, "text": " ".join(words)}) + "\n" for name, words in TEXTS.items()))
    command = [sys.executable, "-P", "-m", "likewise", "dedup", "a.jsonl", "-o", "o"]
    process = subprocess.Popen(command, env=env, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not any((tmp_path / "kernels").rglob("json.lines*.kernel")):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert "interrupted" in said
    assert said.count(f"compiling kernels for words:5 {ONCE}\n") == said.count("compiling kernels") == 1
    assert not any((tmp_path / "kernels").rglob("text.normali*.kernel"))


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_in_python_ends_compiling_and_leaves_nothing_behind(tmp_path: Path, threads: int) -> None:
    """Whichever thread compiles, no function is begun once the signal is noticed; and a later run in the process can be interrupted as before."""
    folder = tmp_path / "kernels"
    code = f"""if True:
        import os, signal, likewise as lw
        from likewise.progress import INTERRUPTED
        notice, noticed = INTERRUPTED.set, []

        def noting():
            noticed.append(sum(name.endswith(".kernel") for _, _, names in os.walk({str(folder)!r}) for name in names))
            notice()

        INTERRUPTED.set = noting
        try:
            lw.dedup(["a b c d e f", "g h i j k l"], threads={threads})
        except KeyboardInterrupt:
            print(INTERRUPTED.is_set(), signal.getsignal(signal.SIGINT) is signal.default_int_handler, noticed[0])
        """
    env = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": SOURCE}
    process = subprocess.Popen([sys.executable, "-P", "-c", code], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not any(folder.rglob("*.kernel")):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate()
    assert output.startswith("False True "), errors
    begun, ended = errors.splitlines()
    once = f"at their first use on this machine, up to half a minute; kept in {next(folder.iterdir()).resolve()}"
    assert begun == f"likewise: compiling kernels for words:5 ({once}); to compile all at once, run likewise doctor --compile in a shell"
    assert re.fullmatch(r"likewise: compiled \d+ kernels? in (\d\.\d|\d\d+) s", ended)
    assert len(list(folder.rglob("*.kernel"))) <= int(output.split()[2]) + threads  # those that were on their way


def fresh(added: int = 1) -> jit.Kernel:
    """A kernel that is not compiled yet."""

    def add(x):
        return x + added

    return jit.kernel(add)


@pytest.fixture
def listened() -> Iterator[list[str]]:
    """The calls that listeners get."""
    heard: list[str] = []
    before = NOTICE.listeners
    NOTICE.listeners = (lambda: heard.append("begun"), lambda seconds: heard.append("ended"))
    yield heard
    NOTICE.listeners = before


def test_ctrl_c_while_the_main_thread_compiles_is_put_off() -> None:
    """To the next function, or the end: an exception in the midst may leave a lock of LLVM taken."""
    noticed = []

    @jit.intrinsic
    def interrupted(typingctx, x):
        signal.raise_signal(signal.SIGINT)
        noticed.append(INTERRUPTED.is_set())
        return jit.types.int64(jit.types.int64), lambda context, builder, signature, args: args[0]

    @jit.kernel
    def calls(x):
        return interrupted(x)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # the command line, in earlier tests, sets another
    try:
        with pytest.raises(KeyboardInterrupt):
            calls(1)
        assert noticed[0] is True
        assert (INTERRUPTED.is_set(), signal.getsignal(signal.SIGINT)) == (False, signal.default_int_handler)
    finally:
        INTERRUPTED.clear()
        signal.signal(signal.SIGINT, before)
    assert fresh()(1) == 2


def test_compiling_is_announced_once_and_predicts_nothing(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    printed = ScreenProgress(Screen())
    monkeypatch.setattr(NOTICE, "listeners", (printed.compiling, printed.compiling_ended))
    printed.begin("reading", 100, "items")
    for added in (1, 2):
        assert fresh(added)(1) == 1 + added
        assert 0 < printed.compiled <= time.perf_counter() - printed._since
    assert capsys.readouterr().err == f"compiling kernels {ONCE}\n"
    assert re.fullmatch(r"\d+\.\d s \(compiled 2 kernels in \d+\.\d s\)", printed.time_in_all)
    now = time.perf_counter()
    monkeypatch.setattr("likewise.cli.progress.time.perf_counter", lambda: now)
    printed._since, printed.compiled, printed.done = now - 30, 20.0, 50
    assert printed.state() == "50% of 100 items, 5 items/s"


def test_after_a_failure_the_next_kernel_is_heard_again(listened: list[str]) -> None:
    @jit.kernel
    def wrong(x):
        return x.no_such_attribute

    with pytest.raises(Exception, match="no_such_attribute"):
        wrong(1)
    INTERRUPTED.set()
    try:
        with pytest.raises(KeyboardInterrupt):
            fresh()(1)
    finally:
        INTERRUPTED.clear()
    assert fresh()(1) == 2
    assert listened == ["begun", "ended"] * 3


@pytest.mark.parametrize("verb", ["dedup -o out", "pairs", "neighbors", "audit", "plan"])
def test_every_verb_that_reads_says_that_it_compiles(folder: Path, monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    monkeypatch.setattr(NOTICE, "method", "")  # of an earlier test
    monkeypatch.setattr(NOTICE, "listen", lambda begun, ended: begun())
    (folder / "docs.jsonl").write_text("".join(json.dumps({"text": " ".join(words)}) + "\n" for words in TEXTS.values()))
    assert run(*verb.split(), "docs.jsonl").stderr.count(f"compiling kernels {ONCE}\n") == 1


def test_each_action_on_an_index_says_once_that_it_compiles(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NOTICE, "method", "")
    monkeypatch.setattr(NOTICE, "listen", lambda begun, ended: (begun(), begun()))
    (folder / "docs.jsonl").write_text("".join(json.dumps({"id": id_, "text": " ".join(words)}) + "\n" for id_, words in TEXTS.items()))
    actions = ("create a", "build b docs.jsonl", "add a docs.jsonl", "add-new a docs.jsonl", "query a docs.jsonl", "update a docs.jsonl")
    actions += ("remove a 1", "merge a b --existing skip", "compact a", "check a", "backup a c", "info a")
    for action in actions:
        found = run("index", *action.split())
        assert found.exit_code == 0 and found.stderr.count("compiling kernels") == found.stderr.count(ONCE) == 1, action
        assert "compiling" not in run("index", *action.replace(" c", " d").replace("create a", "create e").split(), "-q").stderr


def test_kernels_of_an_index_are_not_counted_in_a_later_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    lw.pairs(["a b c"], by="words:2")  # whose kernels are compiled before any are counted
    monkeypatch.setattr(NOTICE, "listeners", None)
    NOTICE.summary()
    capsys.readouterr()
    with lw.Index.create(by="words:2"):
        for _ in range(3):
            with NOTICE.compiling():
                pass
    before = capsys.readouterr().err.splitlines()
    assert len(before) == 1 and before[0].startswith("likewise: compiling kernels for words:2 (")
    lw.pairs(["a b c"], by="words:2")
    assert re.fullmatch(r"likewise: compiled 3 kernels in \d\.\d s\n", capsys.readouterr().err)


def test_a_service_logs_that_it_compiles(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(NOTICE, "listeners", None)
    stream = io.BytesIO()

    def started(*_: object, log: Log, **__: object) -> None:
        NOTICE.run_begins("", silent=False)
        with NOTICE.compiling():
            pass
        NOTICE.summary()
        log.close()

    monkeypatch.setattr("likewise.service.start.start", started)
    monkeypatch.setattr("likewise.service.logs.Log", lambda *_: Log(stream))
    run("index", "create", "seen.lw")
    run("serve", "seen.lw")
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(line["event"], line["message"][:20]) for line in lines] == [("compiling", "compiling kernels (a"), ("compiling", "compiled 1 kernel in")]
    capsys.readouterr()
    NOTICE.tell("after it")
    assert capsys.readouterr().err == "likewise: after it\n"


def test_without_a_cache_no_later_run_is_announced_to_be_faster(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("likewise.compiled.store.cache", lambda: None)
    ScreenProgress(Screen()).compiling()
    said = capsys.readouterr().err
    assert said == "compiling kernels (in every run, because no cache folder is writable; see likewise doctor)\n"


def test_without_progress_a_run_compiles_in_silence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(NOTICE, "listeners", None)
    for progress, lines in ((False, 0), (None, 2)):

        def compiled(*_: object, **__: object) -> None:
            with NOTICE.compiling():
                pass

        monkeypatch.setattr("likewise.runs.session.warn", compiled)
        lw.dedup(["a b c d e f"], progress=progress)
        assert len(capsys.readouterr().err.splitlines()) == lines


def test_in_python_each_run_that_compiles_says_so_once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(NOTICE, "listeners", None)
    monkeypatch.setattr("likewise.compiled.store.cache", lambda: None)
    kept = "in each process, because no folder for compiled kernels is writable; set NUMBA_CACHE_DIR to a writable folder"
    NOTICE.summary()
    capsys.readouterr()
    for method, kernels in {"cosine": 2, "elements": 1, "": 1}.items():
        NOTICE.run_begins(method, silent=False)
        for _ in range(kernels):
            with NOTICE.compiling():
                pass
        NOTICE.seconds = 34.9 if kernels > 1 else 3.04
        assert NOTICE.summary() == ("compiled 2 kernels in 35 s" if kernels > 1 else "compiled 1 kernel in 3.0 s")
    assert capsys.readouterr().err.splitlines() == [
        f"likewise: compiling kernels for cosine, {kept}",
        "likewise: compiled 2 kernels in 35 s",
        f"likewise: compiling kernels for elements, {kept}",
        "likewise: compiled 1 kernel in 3.0 s",
        f"likewise: compiling kernels, {kept}",
        "likewise: compiled 1 kernel in 3.0 s",
    ]


def test_a_signal_stops_the_compiler() -> None:
    INTERRUPTED.set()
    try:
        with pytest.raises(KeyboardInterrupt):
            fresh()(1)
    finally:
        INTERRUPTED.clear()
    assert fresh()(1) == 2


def test_a_signal_that_comes_while_the_compiler_is_imported_ends_the_import() -> None:
    code = "from likewise.progress import INTERRUPTED; INTERRUPTED.set(); import likewise.compiled.compiler"
    done = subprocess.run([sys.executable, "-P", "-c", code], env={**os.environ, "PYTHONPATH": SOURCE}, capture_output=True, text=True)
    assert done.returncode != 0
    assert done.stderr.endswith("KeyboardInterrupt\n")


def test_a_signal_that_no_step_handles_is_reported_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
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
        assert uninterruptible(module["frame"](lambda: sys._getframe())) == inside
    assert not uninterruptible(None)


def test_no_exception_is_raised_while_the_lock_of_a_condition_is_taken_or_released() -> None:
    """The lock would stay taken, and a thread that waits for it hang."""
    found = []

    class Watched:
        acquire = release = __enter__ = __exit__ = lambda *_: found.append(uninterruptible(sys._getframe()))

    with threading.Condition(Watched()):
        Watched().acquire()
    assert found == [True, False, True]


def test_processes_that_start_at_once_compile_a_kernel_once(tmp_path: Path) -> None:
    """Each says how many kernels it compiled; all get the same result, of 3 rows of 2 words."""
    code = """if True:
        import sys
        import numpy as np
        from likewise.compiled.notice import NOTICE
        from likewise.kernels.rows import gather
        print(flush=True)
        sys.stdin.readline()
        found = np.zeros(4, np.uint64)
        gather(np.arange(6, dtype=np.uint64), np.array([4, 0]), np.array([0, 2, 4]), found)
        print(NOTICE.kernels, found.tolist())
    """
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels"), "PYTHONPATH": SOURCE}
    begun = [
        subprocess.Popen([sys.executable, "-P", "-c", code], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    for process in begun:
        process.stdout.readline()
    for process in begun:
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate(timeout=300)[0].strip() for process in begun]
    assert sorted(said) == ["0 [4, 5, 0, 1]"] * 2 + ["1 [4, 5, 0, 1]"]
