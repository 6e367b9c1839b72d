"""likewise doctor"""

from __future__ import annotations

import functools
import os
import platform
import re
import sqlite3
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import click

from likewise import __version__
from likewise.cli.screen import Screen, counted, duration, in_line, size
from likewise.cli.verbs import verb
from likewise.errors import LikewiseError, install

#: The required distributions, and the optional ones with their purposes.
ESSENTIAL = ("numpy", "numba", "pyarrow", "msgspec", "xxhash", "click", "rich")
OPTIONAL = {
    "rapidfuzz": "--by edit and --by levenshtein, also with /ratio",
    "polars": "to_polars()",
    "pandas": "to_pandas()",
    "pillow": "images",
    "opencv-python-headless": "features of images and of videos",
    "resiliparse": "web pages in archives",
    "brotli": "web pages compressed by Brotli",
    "matplotlib": "plot()",
    "huggingface-hub": "hf:// addresses",
    **dict.fromkeys(("starlette", "uvicorn", "uvloop", "httptools", "prometheus-client", "jinja2"), "likewise serve"),
    "psycopg": "indexes in PostgreSQL",
    "valkey": "indexes in Valkey",
    "pyspark": "--engine spark",
}
#: The argument of pip for those of these that need more than the distribution; the errors for missing parts say the same.
WITH_EXTRA = {
    **dict.fromkeys((name for name, purpose in OPTIONAL.items() if purpose == "likewise serve"), "'likewise[serve]'"),
    "psycopg": "'psycopg[binary]'",
    "pyspark": "'likewise[spark]'",
}
COLORS = {"ok": "green", "missing": "yellow", "old": "yellow", "slow": "yellow", "broken": "red"}


class Check(NamedTuple):
    name: str
    status: str  # a key of COLORS; only "broken" means that likewise does not work
    detail: str
    fix: str = ""


@verb("doctor", "", examples=("doctor", "doctor --compile"), flags="compile json quiet color")
def command(screen: Screen, compile: bool = False) -> int:
    if compile:
        compile_ahead(screen)
    found = []
    for check in checks():
        found.append(check)
        if not screen.json:
            status = click.style(check.status.ljust(8), fg=COLORS[check.status])
            screen.data(status + in_line(f"{check.name.ljust(9)} {check.detail}" + (f"; {check.fix}" if check.fix else "")))
    working = all(check.status != "broken" for check in found)
    if screen.json:
        screen.document({"schema": "likewise/doctor/1", "ok": working, "checks": [check._asdict() for check in found]})
    else:
        screen.say("likewise works here" if working else "likewise does not work here; see the broken parts above")
    return 0 if working else 2


def compile_ahead(screen: Screen) -> None:
    """Compile all kernels, side by side, and say where they are kept. Raises LikewiseError if that fails.

    If this user may write to the installed package, they are compiled for every processor of the lowest level that this machine has, for all users
    and for copies of the installation, such as an image. Otherwise, and in a clone, they are compiled for this machine, into the user's cache.
    """
    from likewise.cli import compiling
    from likewise.compiled import levels, store

    folder = store.ahead()
    shared = bool(folder or levels.here()) and may_install()
    finished = [name for place in (folder, None if shared else store.cache()) if place for name in compiling.finished_in(place)]
    jobs = [name for name in compiling.runnable(compiling.JOBS) if name not in finished]
    if not jobs:
        place = folder or store.cache()
        assert place  # it names the finished jobs
        screen.say(f"{counted(stored(place), 'kernel')} already compiled ahead, in {place}")
        return
    began = time.perf_counter()
    screen.say("compiling all kernels, which takes a minute or two")
    level = [folder.name.rpartition("-")[0]] if folder else levels.here()[-1:]  # kernels are read from one folder
    try:
        number = compiling.build(store.AHEAD, level[0], jobs) if shared else compiling.build(jobs=jobs)
    except RuntimeError as error:
        raise LikewiseError(str(error)) from error
    store.ahead.cache_clear()
    place = store.AHEAD if shared else store.cache()
    kept = f"kept in {place}" if place else "but no folder can keep them"
    screen.say(f"compiled {counted(number, 'kernel')} in {duration(time.perf_counter() - began)}, {kept}")


def may_install() -> bool:
    """True if the package is installed, not used from a clone, and this user may write to it."""
    from likewise.compiled import store

    installed = any(store.AHEAD.is_relative_to(sysconfig.get_path(name)) for name in ("purelib", "platlib"))
    return installed and os.access(store.AHEAD.parent, os.W_OK)


def stored(folder: Path) -> int:
    from likewise.compiled import store

    return sum(1 for _ in folder.glob(f"*{store.SUFFIX}"))


def checks() -> Iterator[Check]:
    yield Check("likewise", "ok", __version__)
    yield Check("python", "ok", f"{platform.python_version()} at {sys.executable}, {platform.system()} {platform.machine()}")
    for name in ESSENTIAL:
        yield version(name, "broken", install(name))
    for step in (kernels, cores, memory, cache, sqlite):
        try:
            yield step()
        except Exception as error:  # whatever is wrong is what was asked for
            yield Check(step.__name__, "broken", f"{type(error).__name__}: {error}")
    for name, purpose in OPTIONAL.items():
        yield version(name, "missing", f"for {purpose}: {install(WITH_EXTRA.get(name, name))}")


def version(name: str, otherwise: str, fix: str) -> Check:
    try:
        found = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Check(name, otherwise, "not installed", fix)
    least = bounds().get(name, "0")
    if numbers(found) < numbers(least):
        return Check(name, "broken" if name in ESSENTIAL else "old", f"{found}, and likewise needs {least} or newer", install(f"'{name}>={least}'"))
    return Check(name, "ok", found)


@functools.cache
def bounds() -> dict[str, str]:
    """The lowest version of each distribution that the installed package allows; none in a clone, which has no metadata."""
    try:
        wanted = metadata.requires("likewise") or []
    except metadata.PackageNotFoundError:
        return {}
    return {found[1]: found[2] for line in wanted if (found := re.match(r"([\w.-]+)(?:\[\w+\])?>=([\d.]+)", line))}


def numbers(version: str) -> list[int]:
    """The first three numbers of a version, for comparison: [2, 2, 3] of "2.2.3rc1", [26, 0, 0] of "26.0"."""
    return [*map(int, re.findall(r"\d+", version)), 0, 0][:3]


def kernels() -> Check:
    """Compile what a small job needs, and compare its results with what can be worked out by hand."""
    began = time.perf_counter()
    wrong = [what for what, agrees in SELF_TESTS.items() if not agrees()]
    took = time.perf_counter() - began
    if wrong:
        return Check("kernels", "broken", f"wrong results: {', '.join(wrong)}", "please report this with the lines above")
    return Check("kernels", "ok", f"{counted(len(SELF_TESTS), 'result')} correct in {duration(took)}")


def similarity_agrees() -> bool:
    """Jaccard of word pairs against Python's sets."""
    from likewise.verbs.similarity import similarity

    texts = ["the cat sat on the mat", "The cat sat on a mat.", "a dog sat on the mat", "über cafés naïve"]
    sets = [set(zip(words := text.lower().rstrip(".").split(), words[1:], strict=False)) for text in texts]
    pairs = [(a, b) for a in range(len(texts)) for b in range(len(texts))]
    return all(similarity(texts[a], texts[b], by="words:2") == len(sets[a] & sets[b]) / len(sets[a] | sets[b]) for a, b in pairs)


def signatures_agree() -> bool:
    """Two sets of 300 numbers that share 200: the share of equal slots is near 200/400 for either kind of signature."""
    from likewise.verbs.similarity import sketch

    texts = [" ".join(map(str, range(300))), " ".join(map(str, range(100, 400)))]
    signatures = [sketch(texts, by="words:1", slots=1024, mode=mode) for mode in ("oph", "classic")]
    return all(abs(float((a == b).mean()) - 0.5) < 0.1 for a, b in signatures)


def removal_agrees() -> bool:
    from likewise.verbs.dedup import dedup

    result = dedup(["one two three four five six", "seven eight nine", "One, two three four five six!"], by="words:3", threads=1)
    return result.removed.to_arrow().select(["id", "kept_id", "reason"]).to_pylist() == [{"id": 2, "kept_id": 0, "reason": "equal"}]


SELF_TESTS: dict[str, Callable[[], bool]] = {"similarity": similarity_agrees, "signatures": signatures_agree, "removal": removal_agrees}


def cores() -> Check:
    from likewise.engines.threads import usable_cores

    return Check("threads", "ok", f"{usable_cores()}, on a machine with {counted(os.cpu_count() or 1, 'core')}")


def memory() -> Check:
    from likewise.engines.threads import default_memory, usable_memory

    most = usable_memory()
    return Check("memory", "ok", f"{size(most)} available; a run uses up to {size(default_memory())} by default")


def cache() -> Check:
    """Kernels that are not kept have to be compiled again in each run."""
    from likewise.cli import compiling
    from likewise.compiled import store

    ahead, folder = store.ahead(), store.cache()
    complete = any(place and compiling.is_complete(place) for place in (ahead, folder))
    if ahead:
        found = [f"{counted(stored(ahead), 'kernel')} for this machine in the package, in {ahead}"]
        if not complete:
            found = [f"{found[0]}: `likewise doctor --compile` adds those of other data types"]
    else:
        found = ["no kernels in the package"]
        if store.AHEAD.is_dir():
            found = ["the kernels in the package do not fit, because they are for another version of Python or Numba, or another processor"]
        if not complete:
            found = [f"{found[0]}: `likewise doctor --compile` compiles them now"]
    if folder is not None:
        found.append(f"{counted(stored(folder), 'kernel')} compiled on this machine in {folder}")
        return Check("cache", "ok", ", ".join(found))
    nowhere = "no folder can be written to, so each run compiles its kernels again"
    return Check("cache", "ok" if ahead else "slow", ", ".join([*found, nowhere]), "set NUMBA_CACHE_DIR to a folder that you can write to")


def sqlite() -> Check:
    """An index in a folder needs it. Its fault is avoided, but other programs that write to ``index.db`` could meet it."""
    from likewise.index.embedded.database import has_reset_fault

    version, parts = sqlite3.sqlite_version, sqlite3.sqlite_version_info
    if has_reset_fault(parts):
        return Check("sqlite", "ok", f"{version}, which has the WAL-reset fault (fixed in 3.51.3); an index in a folder is not affected")
    return Check("sqlite", "ok", version)
