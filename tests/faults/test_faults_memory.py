"""Memory that ends: a run ends in words or by the kernel's kill, without an output, and goes on with more."""

from __future__ import annotations

import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import jobs
import pytest
from runs import LIKEWISE, command, go_on

from likewise.engines import threads


def limited(megabytes: int, *arguments: object) -> subprocess.CompletedProcess[str]:
    size = megabytes * 2**20
    two_cores = os.environ | {"OPENBLAS_NUM_THREADS": "1"}  # numpy's library takes address space by the core
    return command(*arguments, env=two_cores, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size)))


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited on Linux only")
def test_with_less_and_less_memory_a_run_ends_in_words_and_goes_on_with_more(tmp_path, corpus):
    """Where a library of the system or of C++ is the one that gets none, it ends the process itself, and says why."""
    given, want = corpus
    for megabytes in (250, 450, 550, 650, 750, 4000):
        more = ["--resume"] if (tmp_path / "out.work/description.json").exists() else []
        done = limited(megabytes, "dedup", given, "-o", tmp_path / "out", "--threads", "2", *more)
        if done.returncode == 0:
            break
        said = "out of memory; set a lower --memory or --threads" if done.returncode == 2 else "(?i)memory|bad_alloc"
        assert re.search(said, done.stderr) or done.returncode == -signal.SIGSEGV, (megabytes, done.stderr)  # LLVM looks at no result
        assert ("Traceback" in done.stderr, (tmp_path / "out").exists()) == (False, False), (megabytes, done.stderr)
    assert (done.returncode, megabytes > 250) == (0, True)
    assert jobs.snapshot(tmp_path / "out") == want


MEMORY_CGROUPS = [Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")]


def test_killed_for_memory_a_run_goes_on(tmp_path, corpus):
    """A real cgroup where one may be made; elsewhere the kills of `test_drawn_faults` stand for it: what the kernel kills, it kills as any kill."""
    given, want = corpus
    names = {"memory.limit_in_bytes": "cgroup.procs", "memory.max": "cgroup.procs"}
    for root in MEMORY_CGROUPS:
        group = root / f"likewise-faults-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        limit = next((group / name for name in names if (group / name).exists()), None)
        if limit is not None:
            break
        group.rmdir()
    else:
        pytest.skip("no cgroup can be made here")
    run = ["sh", "-c", f"echo $$ > {group}/cgroup.procs && exec {shlex.join([*LIKEWISE, 'dedup', str(given), '-o', str(tmp_path / 'out')])}"]
    try:
        for megabytes in (170, 150, 130, 110, 90, 75, 60):  # libraries that another process holds are not counted
            limit.write_text(str(megabytes * 2**20))
            done = subprocess.run(run, capture_output=True, text=True)
            if done.returncode:
                break
            shutil.rmtree(tmp_path / "out")
    finally:
        group.rmdir()
    assert (done.returncode, (tmp_path / "out").exists()) in ((-signal.SIGKILL, False), (2, False)), done.stderr
    more = ["--resume"] if (tmp_path / "out.work/description.json").exists() else []
    assert command("dedup", given, "-o", tmp_path / "out", *more).returncode == 0
    assert jobs.snapshot(tmp_path / "out") == want


@pytest.mark.parametrize("unified", [False, True])
def test_the_limits_of_all_cgroups_above_count(tmp_path, monkeypatch, unified):
    """As under systemd, where the limit of a service is in a folder of its own and the root has none."""
    lines = ["0::/a.slice/b.scope"] if unified else ["4:memory:/a.slice/b.scope", "3:cpu,cpuacct:/a.slice"]
    root = tmp_path if unified else tmp_path / "memory"
    (root / "a.slice/b.scope").mkdir(parents=True)
    name = "memory.max" if unified else "memory.limit_in_bytes"
    (root / "a.slice" / name).write_text("3000\n")
    (root / "a.slice/b.scope" / name).write_text("max\n" if unified else "9223372036854771712\n")
    read = Path.read_text
    monkeypatch.setattr(Path, "read_text", lambda self, *args: "\n".join(lines) if str(self) == "/proc/self/cgroup" else read(self, *args))
    found = list(threads.limits("memory", ("memory.max",), ("memory.limit_in_bytes",), tmp_path))
    assert min(found) == (3000,)


def test_threads_that_cannot_be_had_are_a_lack_of_memory(likewise, tmp_path, monkeypatch):
    jobs.texts(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("threading.Thread.start", lambda _: (_ for _ in ()).throw(RuntimeError("can't start new thread")))
        status, said = likewise("dedup", "a.jsonl", "-o", "out", "--threads", "2")
    assert (status, "out of memory; set a lower --memory or --threads" in said) == (2, True)
    assert likewise(*go_on(said))[0] == 0
