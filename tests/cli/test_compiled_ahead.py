"""Kernels that were compiled ahead, when a wheel was built, and the stores that they are in, in separate processes."""

from __future__ import annotations

import compileall
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import wheel_hook

from command_line import SOURCE, TEXTS
from likewise.compiled import levels, store
from wheels import ROOT, wheel_of

HERE = levels.here()
#: Says which of the heavy modules a run has imported, and how many kernels it has compiled.
TOLD = """
import sys, likewise as lw
from likewise.compiled.notice import NOTICE
found = lw.pairs(sys.argv[1]).to_arrow().num_rows, lw.dedup(sys.argv[1]).removed.to_arrow().num_rows
print(*found, "numba" in sys.modules, NOTICE.kernels)
"""

pytestmark = pytest.mark.skipif(not HERE, reason="no kernels are compiled ahead for this machine")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel with the kernels of the default jobs, compiled ahead for the lowest level that this machine has."""
    return wheel_of(tmp_path_factory.mktemp("wheel"), " ".join([HERE[-1], *wheel_hook.JOBS]))


@pytest.fixture(scope="module")
def built(wheel: Path) -> Path:
    """The package in the wheel, as it is installed."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(wheel.parent / "site")
    return wheel.parent / "site" / "likewise"


@pytest.fixture
def run(built: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run code with the built package and an empty cache; its argument is a file of four documents."""
    file = tmp_path / "a.jsonl"
    file.write_text("".join(json.dumps({"id": name, "text": " ".join(words)}) + "\n" for name, words in TEXTS.items()))

    def runs(code: str, package: Path = built, **environment: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "PYTHONPATH": str(package.parent), "NUMBA_CACHE_DIR": str(tmp_path / "cache"), **environment}
        return subprocess.run([sys.executable, "-P", "-c", code, str(file)], env=env, capture_output=True, text=True, check=True)

    return runs


def test_nothing_is_compiled_and_numba_is_not_imported(run, tmp_path: Path) -> None:
    done = run(TOLD)
    assert (done.stdout, done.stderr) == ("3 2 False 0\n", "")
    assert not list((tmp_path / "cache").rglob("*.kernel"))


def test_a_first_removal_and_a_first_index_of_an_installed_wheel_compile_nothing(wheel: Path, built: Path, tmp_path: Path) -> None:
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    assert wheel.name.split("-")[2:4] == [python, python]
    assert wheel.stem.split("-")[4] == sysconfig.get_platform().replace("-", "_").replace(".", "_")
    home = tmp_path / "home"
    home.mkdir()
    (kernels,) = (built / "compiled/ahead").iterdir()
    assert kernels.name == f"{HERE[-1]}-{store.edition(HERE[-1])}"

    texts = ("one two three four five six", "one two three four five seven", "nothing like the others here")
    lines = "".join(json.dumps({"id": row, "text": text}) + "\n" for row, text in enumerate(texts))
    (tmp_path / "three.jsonl").write_text(lines)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "NUMBA_", "PYTHON"))}
    env = {**kept, "HOME": str(home), "PYTHONPATH": str(built.parent)}
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


def test_the_jobs_that_were_compiled_ahead_compile_nothing(run, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    code = f"""
from pathlib import Path
from likewise.cli.common_jobs import JOBS
from likewise.compiled.notice import NOTICE
JOBS["documents"](Path({str(tmp_path / "work")!r}))
print(NOTICE.kernels)
"""
    done = run(code)
    assert (done.stdout.splitlines()[-1], done.stderr) == ("0", "")


def test_kernels_for_classes_of_other_packages_are_not_stored(run, tmp_path: Path) -> None:
    """Only the files of likewise make an edition."""
    (tmp_path / "other.py").write_text("""
from typing import NamedTuple

class Rule(NamedTuple):
    numerator: int
    denominator: int
    mode: int

    @staticmethod
    def compiled(a, b, rule):
        return 1, 1
""")
    code = f"""
import sys
import numpy as np
sys.path.append({str(tmp_path)!r})
from other import Rule
from likewise.compiled.notice import NOTICE
from likewise.kernels.walk import may_match
out = np.zeros(1, bool)
may_match(np.ones(1, np.uint32), np.zeros((1, 1), np.uint64), np.ones(1, np.uint32), np.zeros((1, 1), np.uint64), Rule(1, 2, 0), out)
print(out, NOTICE.kernels)
"""
    for _ in range(2):
        assert run(code).stdout == "[ True] 1\n"
    assert not list((tmp_path / "cache").rglob("walk.*"))


def test_the_command_says_nothing_of_compiling(run) -> None:
    code = "import sys; from likewise.cli.main import main; main(['pairs', sys.argv[1]])"
    assert run(code).stderr.count("compiling") == 0


def test_code_of_another_edition_is_not_used(run, built: Path, tmp_path: Path) -> None:
    """Any change of a kernel's file makes another edition, whatever the file's time."""
    changed = tmp_path / "changed" / "likewise"
    shutil.copytree(built, changed)
    with (changed / "kernels" / "greedy.py").open("a") as file:
        file.write("# changed\n")
    code = "from likewise.compiled import store; from pathlib import Path; print(store.ahead() and Path(store.ahead()).name)"
    assert run(code, changed).stdout == "None\n"
    touched = built / "kernels" / "greedy.py"
    os.utime(touched, (1, 1))
    assert run(code).stdout == f"{HERE[-1]}-{next((built / 'compiled/ahead').iterdir()).name.rpartition('-')[2]}\n"


def test_a_named_processor_wants_its_own_code(run) -> None:
    assert run("from likewise.compiled import store; print(store.ahead())", NUMBA_CPU_NAME="generic").stdout == "None\n"


def test_a_kernel_that_was_not_compiled_ahead_is_compiled_once(run) -> None:
    """And then comes from the cache."""
    code = """
import numpy as np
from likewise.compiled.notice import NOTICE
from likewise.kernels.bits import differing
from likewise.kernels.rows import digests
codes = np.array([[0b101], [0b110]], np.uint64)
print(differing(codes, codes[::-1].copy()), NOTICE.kernels)
"""
    first, second = run(code), run(code)
    assert (first.stdout, second.stdout) == ("[2 2] 1\n", "[2 2] 0\n")
    assert first.stderr.startswith("likewise: compiling kernels (at their first use on this machine, up to half a minute; kept in ")
    assert second.stderr == ""


SUM = """
from pathlib import Path
import numpy as np
from likewise.compiled import store
from likewise.compiled.notice import NOTICE
from likewise.kernels.bits import differing
codes = np.array([[0b101], [0b110]], np.uint64)
{before}
print(differing(codes, codes[::-1].copy()), NOTICE.kernels)
"""


@pytest.mark.parametrize(
    "damage", ["data[:-100]", "data[:200]", "b''", "store.MAGIC + b'[]'", "data.replace(b'uint64', b'int64', 1)", "data[:-50] + b'x' + data[-49:]"]
)
def test_a_damaged_file_is_compiled_again_and_replaced(run, damage: str) -> None:
    before = f"""
for path in store.cache().glob("*.kernel"):
    data = path.read_bytes()
    path.write_bytes({damage})
"""
    assert run(SUM.format(before="")).stdout == "[2 2] 1\n"
    assert run(SUM.format(before=before)).stdout == "[2 2] 1\n"
    assert run(SUM.format(before="")).stdout == "[2 2] 0\n"


@pytest.mark.parametrize(("place", "error"), [("loader.extension", "ImportError"), ("compiler.emitted", "AttributeError")])
def test_where_numba_is_another_kernels_are_called_as_numba_does(run, place: str, error: str) -> None:
    before = f"""
from likewise.compiled import {place.partition(".")[0]}
def missing(*_):
    raise {error}
{place} = missing
"""
    for _ in range(2):
        assert run(SUM.format(before=before)).stdout == "[2 2] 1\n"


def test_code_that_needs_a_missing_symbol_is_compiled_again(run) -> None:
    """LLVM would end the process."""
    before = """
import json
for path in store.cache().glob("*.kernel"):
    magic, line, code = path.read_bytes().split(b"\\n", 2)
    head = json.loads(line)
    head["needed"].append("no_such_symbol")
    head["digest"] = store.digest(head, code)
    path.write_bytes(b"\\n".join([magic, json.dumps(head).encode(), code]))
"""
    assert run(SUM.format(before="")).stdout == "[2 2] 1\n"
    assert run(SUM.format(before=before)).stdout == "[2 2] 1\n"


def test_the_callers_own_functions_of_numba_work_before_and_after(run) -> None:
    """In the same process, for the same processor."""
    code = """
import numba, numpy as np
from numba.core.registry import cpu_target
from likewise.kernels.bits import differing
codes = np.array([[0b101], [0b110]], np.uint64)

@numba.njit
def doubled(values):
    return values + values.copy(), values.sum()

{first}
context = cpu_target.target_context
print(type(context).__name__, type(context.codegen()).__name__, context.codegen()._get_host_cpu_name() == numba.core.codegen.ll.get_host_cpu_name())
print(doubled(np.arange(3)), doubled(np.arange(3.0)))
"""
    expected = "CPUContext JITCPUCodegen True\n(array([0, 2, 4]), 3) (array([0., 2., 4.]), 3.0)\n"
    for first in (
        "differing(codes, codes)",
        "doubled(np.arange(3)); differing(codes, codes)",
        "differing(codes, codes); differing(codes[:1], codes)",
    ):
        assert run(code.format(first=first)).stdout.replace("np.int64(3)", "3").replace("np.float64(3.0)", "3.0") == expected
    later = """
import numpy as np
from likewise.kernels.bits import differing
codes = np.array([[0b101], [0b110]], np.uint64)
differing(codes, codes)
import sys
assert "numba" not in sys.modules
import numba, numba._dynfunc, numba.core.runtime._nrt_python

@numba.njit
def doubled(values):
    return values + values.copy()

print(doubled(np.arange(3)), differing(codes, codes))
"""
    assert run(later).stdout == "[0 2 4] [0 0]\n"


def test_threads_and_forks_share_loaded_kernels(run) -> None:
    code = """
import os, threading
import numpy as np
from likewise.compiled.notice import NOTICE
from likewise.kernels.bits import differing
codes = np.array([[0b101], [0b110]], np.uint64)
results = []
threads = [threading.Thread(target=lambda: results.append(differing(codes, codes[::-1].copy()).tolist())) for _ in range(8)]
for each in threads: each.start()
for each in threads: each.join()
print(results == [[2, 2]] * 8, NOTICE.kernels, flush=True)
if not os.fork():
    print(differing(codes, codes), flush=True)
    os._exit(0)
os.wait()
"""
    assert run(code).stdout == "True 1\n[0 0]\n"


def test_a_fork_waits_until_another_thread_has_compiled_or_loaded(run) -> None:
    """In the child nobody would release the locks of Numba, LLVM and Python's imports."""
    code = """
import os, signal, threading
import numpy as np
from likewise.compiled import jit
from likewise.kernels.bits import differing
codes = np.array([[0b101], [0b110]], np.uint64)
find = jit.store.find
started = threading.Event()
jit.store.find = lambda *wanted: started.set() or find(*wanted)
thread = threading.Thread(target=differing, args=(codes, codes))
thread.start()
started.wait()
if not os.fork():
    signal.alarm(300)  # ends a child that waits for ever
    print(differing(codes, codes), flush=True)
    os._exit(0)
print(os.wait()[1])
thread.join()
"""
    for _ in range(2):  # compiled, then loaded
        assert run(code).stdout == "[0 0]\n0\n"


def test_kernels_are_compiled_although_the_caller_has_disabled_numba(run) -> None:
    """NUMBA_DISABLE_JIT is for functions of the caller, which stay functions of Python."""
    before = """
import numba
differing(codes, codes)
assert not hasattr(numba.njit(lambda: 1), "py_func")
"""
    assert run(SUM.format(before=before), NUMBA_DISABLE_JIT="1").stdout == "[2 2] 1\n"


def test_settings_that_change_the_code_have_their_own_store(run) -> None:
    code = "from likewise.compiled import store; print(store.cache().name)"
    plain = run(code).stdout
    assert run(code, NUMBA_NUM_THREADS="1").stdout == plain
    found = [run(code, **{name: "1"}).stdout for name in ("NUMBA_OPT", "NUMBA_BOUNDSCHECK", "NUMBA_DEBUGINFO")]
    assert len({plain, *found}) == 4
    assert run("from likewise.compiled import store; print(store.ahead())", NUMBA_CPU_FEATURES="-avx512f").stdout == "None\n"


@pytest.mark.parametrize("form", ["archive", "without sources"])
def test_editions_go_by_the_code_in_every_form_of_the_package(run, tmp_path: Path, form: str) -> None:
    """An archive or a package of compiled modules has no files of its sources: two of them must not share kernels."""
    code = "from likewise.compiled import store; print(store.cache().name)"
    names = set()
    for change in ("", "CHANGED = True\n"):
        made = tmp_path / f"made{len(names)}" / "likewise"
        shutil.copytree(Path(SOURCE) / "likewise", made, ignore=shutil.ignore_patterns("__pycache__", "ahead"))
        with (made / "kernels/greedy.py").open("a") as file:
            file.write(change)
        if form == "archive":
            made = Path(shutil.make_archive(str(made), "zip", made.parent, "likewise")) / "likewise"
        else:
            compileall.compile_dir(made, quiet=1, legacy=True)
            for path in made.rglob("*.py"):
                path.unlink()
        names.add(run(code, made).stdout)
    assert len(names) == 2 and "None\n" not in names


def test_a_file_holds_no_path_of_the_package_that_was_compiled(built: Path) -> None:
    files = list((built / "compiled/ahead").rglob("*.kernel"))
    assert len(files) > 20
    for file in files:
        assert str(ROOT / "src").encode() not in file.read_bytes(), file
    assert {file.name.split("-")[0] for file in files} >= {"json.lines", "text.normalize", "walk.greedy_walk", "shingles.shingle"}
    assert store.SUFFIX == ".kernel"


def test_processes_that_compile_the_same_kernel_leave_one_file(built: Path, tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(built.parent), "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-P", "-c", SUM.format(before="")]
    processes = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for _ in range(3)]
    assert all(process.communicate()[0].startswith("[2 2] ") for process in processes)
    (folder,) = tmp_path.iterdir()
    file, locks = sorted(folder.iterdir())  # no temporary file either
    assert file.name.startswith("bits.differing-") and (locks.name, locks.read_bytes()) == (store.LOCKS, b"")
