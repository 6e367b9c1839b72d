"""Stores of compiled kernels: object code in files, one for each kernel and combination of types.

Two folders may have a version: the package's own, if it was compiled ahead for a level of processors that this machine has (`compiled.levels`), and
the user's cache, for what was compiled on this machine. A file that is damaged, or made for another edition of the kernels, is not used.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.machinery
import importlib.util
import json
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from likewise.compiled import levels, loader

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

#: The beginning of each file, with the version of its format.
MAGIC = b"likewise kernel 1\n"
SUFFIX = ".kernel"
#: An empty file of the user's cache. A version that is being compiled is a byte that is locked, at a place made from its name.
LOCKS = "locks"
#: Folders LEVEL-EDITION of versions that were compiled ahead.
AHEAD = Path(__file__).parent / "ahead"
#: The files of this folder that decide what machine code is generated, and how it is called.
GENERATORS = {f"{name}.{suffix}" for name in ("jit", "signature", "loader", "compiler") for suffix in ("py", "pyc")}
#: Write permission of the group and of all others.
OTHERS = stat.S_IWGRP | stat.S_IWOTH


class Kept(NamedTuple):
    """The contents of a file: object code, and the symbols by which it is loaded."""

    entry: str  # symbol of the function that Python calls
    environments: dict[str, list[str]]  # symbols of pointers to environments, and the dtypes of the arrays that each makes
    needed: list[str]  # symbols of other libraries
    code: bytes


def find(name: str, wanted: str) -> Callable | None:
    """The version of a kernel for a signature, from the first folder that has it; None if no folder has, or its code cannot be used here."""
    for place in (ahead, cache):
        if folder := place():
            kept = read(folder / file_name(name, wanted), wanted)
            version = kept and loader.load(name, kept.entry, kept.environments, kept.needed, kept.code)
            if version:
                return version
    return None


def file_name(name: str, wanted: str) -> str:
    return f"{name}-{hashlib.blake2b(wanted.encode(), digest_size=8).hexdigest()}{SUFFIX}"


def read(path: Path, wanted: str) -> Kept | None:
    """Read a file; None if it does not exist or is damaged."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        data = path.read_bytes()
        if data.startswith(MAGIC):
            line, _, code = data[len(MAGIC) :].partition(b"\n")
            head = json.loads(line)
            if head["signature"] == wanted and head["digest"] == digest(head, code):
                return Kept(head["entry"], head["environments"], head["needed"], code)
    return None


def write(name: str, wanted: str, kept: Kept) -> None:
    """Keep a version in the user's cache, if there is one. Other processes may write the same file: the last one wins, and all are equal."""
    folder = cache()
    if folder is None:
        return
    head = {"signature": wanted, **kept._asdict()}
    del head["code"]
    line = json.dumps({**head, "digest": digest(head, kept.code)}).encode()
    path = folder / file_name(name, wanted)
    with suppress(OSError):  # then the next process compiles again
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=".")
        try:
            with open(handle, "wb") as file:
                file.write(MAGIC + line + b"\n" + kept.code)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink()
            raise


@contextmanager
def alone(name: str, wanted: str) -> Iterator[None]:
    """Inside, no other process of this user compiles the version. So processes that start at once, as on a cluster, share the work."""
    folder = cache()
    with ExitStack() as held:
        if folder is not None and fcntl is not None:
            with suppress(OSError):  # some file systems have no locks
                file = held.enter_context(open(folder / LOCKS, "ab"))
                fcntl.lockf(file, fcntl.LOCK_EX, 1, int.from_bytes(hashlib.blake2b(f"{name} {wanted}".encode(), digest_size=6).digest()))
        yield


def digest(head: dict, code: bytes) -> str:
    described = json.dumps([head[name] for name in ("signature", "entry", "environments", "needed")]).encode()
    return hashlib.blake2b(described + b"\n" + code, digest_size=16).hexdigest()


@functools.cache
def ahead() -> Path | None:
    """The folder of versions that were compiled ahead for this machine."""
    for level in levels.here() if sources() else ():
        folder = AHEAD / f"{level}-{edition(level)}"
        if folder.is_dir():
            return folder
    return None


@functools.cache
def cache() -> Path | None:
    """The user's cache, or None."""
    return cache_folder()


def cache_folder() -> Path | None:
    """The first folder that can hold compiled kernels. Without one the result is None, and each process compiles them.

    Loading a file there runs its code. So nobody else may be able to write to the folder, or to put another in its place.
    """
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if not sources():
        return None
    for place in [Path(chosen)] if chosen else places():
        try:
            place.mkdir(parents=True, exist_ok=True)
            place = place.resolve()  # a link could lead elsewhere later
            if not chosen and mine(place) and not is_private(place):
                place.chmod(0o700)  # the umask may have given others access
            folder = place / edition(levels.host())
            folder.mkdir(exist_ok=True, mode=0o700)
            if (mine(place) or chosen) and is_guarded(place) and mine(folder) and is_private(folder) and os.access(folder, os.W_OK):
                return folder
        except OSError:
            continue
    return None


def places() -> Iterator[Path]:
    """The user's folder for caches, if it has one, and a folder of this user among temporary files, if there are such."""
    home = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not home.is_absolute():  # XDG's rule: such a value is ignored
        home = Path(os.path.expanduser("~/.cache"))  # noqa: PTH111 - Path.expanduser raises without a home
    if home.is_absolute():
        yield home / "likewise"
    with suppress(OSError):
        yield Path(tempfile.gettempdir()) / f"likewise-{os.getuid() if hasattr(os, 'getuid') else 0}"


def edition(level: str) -> str:
    """A name that changes with all that compiled code depends on: any kernel's file, for kernels call each other; Python, Numba, the processor."""
    name = hashlib.blake2b(_common(), digest_size=6)
    name.update(level.encode())
    return name.hexdigest()


@functools.cache
def _common() -> bytes:
    found = importlib.util.find_spec("numba")
    version = b""
    if found and found.origin:
        try:
            version = Path(found.origin).with_name("_version.py").read_bytes()
        except OSError:  # takes ten times as long
            from importlib import metadata

            version = metadata.version("numba").encode()
    parts = [MAGIC, importlib.machinery.EXTENSION_SUFFIXES[0].encode(), version]
    parts += [part for file in sources() for part in (file.name.encode(), file.read_bytes())]
    return b"".join(len(part).to_bytes(8, "little") + part for part in parts)


@functools.cache
def sources() -> list[Traversable]:
    """The files that compiled code depends on, by name, also in an archive. Without them editions cannot be told apart, and nothing is stored."""
    files = [*resources.files("likewise.kernels").iterdir(), *(file for file in resources.files(__package__).iterdir() if file.name in GENERATORS)]
    return sorted((file for file in files if file.name.endswith((".py", ".pyc"))), key=lambda file: file.name)


def mine(folder: Path) -> bool:
    """True if this user owns the folder: code that another user put into a shared one must not be loaded."""
    return not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()


def is_private(folder: Path) -> bool:
    """True if nobody else can write to the folder."""
    return not hasattr(os, "getuid") or not folder.stat().st_mode & OTHERS


def is_guarded(place: Path) -> bool:
    """True if nobody else can replace a folder of this user in ``place``: in a sticky folder only owners may rename their entries."""
    return is_private(place) or bool(place.stat().st_mode & stat.S_ISVTX)
