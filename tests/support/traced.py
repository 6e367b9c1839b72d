"""Records the system calls by which a process changes files: its writes, syncs and names, in order. Faults can strike at each of them.

It uses ptrace, on Linux for x86-64, so it sees the calls of SQLite and of compiled code too. The process is a fork of this one. All its threads are
recorded, processes that it starts are not. A call that changes files and is not known here ends the recording with an error.
"""

from __future__ import annotations

import ctypes
import errno
import os
import pickle
import platform
import signal
import struct
import tempfile
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

SEIZE, INTERRUPT, CONTINUE, SYSCALL, POKE_REGISTER, SYSCALL_INFO = 0x4206, 0x4207, 7, 24, 6, 0x420E
OPTIONS = 0x1 | 0x8 | 0x100000  # marked stops of system calls; new threads are traced too; all end with the tracer
ALL_CHILDREN = 0x40000000  # __WALL: threads, too
NUMBER_REGISTER, RESULT_REGISTER = 15 * 8, 10 * 8  # orig_rax and rax in struct user
ENTERED, LEFT = 1, 2
SECONDS = 300  # after which a recording is ended

#: Number of a system call -> its name, its effect, and the letters of its arguments: d a folder, p a path, f an open file, o flags, b n a buffer,
#: v c vectors, @ an offset, l a length, m a mode, q s the protection and flags of a mapping, x others; D and P are the second folder and path.
SYSTEM = {
    85: ("creat", "open", "p"), 2: ("open", "open", "po"), 257: ("openat", "open", "dpo"),
    1: ("write", "write", "fbn"), 18: ("pwrite64", "write", "fbn@"), 20: ("writev", "write", "fvc"), 296: ("pwritev", "write", "fvc@"),
    328: ("pwritev2", "write", "fvc@"),
    77: ("ftruncate", "size", "fl"), 76: ("truncate", "size", "pl"), 285: ("fallocate", "room", "fm@l"),
    74: ("fsync", "sync", "f"), 75: ("fdatasync", "sync", "f"),
    82: ("rename", "rename", "pP"), 264: ("renameat", "rename", "dpDP"), 316: ("renameat2", "rename", "dpDPm"),
    86: ("link", "link", "pP"), 265: ("linkat", "link", "dpDP"),
    87: ("unlink", "unlink", "p"), 84: ("rmdir", "unlink", "p"), 263: ("unlinkat", "unlink", "dp"),
    83: ("mkdir", "mkdir", "p"), 258: ("mkdirat", "mkdir", "dp"),
    9: ("mmap", "map", "xnqsf"),
    40: ("sendfile", "copy", "f"), 326: ("copy_file_range", "unknown", "xxf"), 277: ("sync_file_range", "unknown", "f"),
    306: ("syncfs", "sync all", "f"), 437: ("openat2", "unknown", "dp"), 88: ("symlink", "unknown", "xp"), 266: ("symlinkat", "unknown", "xdp"),
    275: ("splice", "unknown", "xxf"), 425: ("io_uring_setup", "unknown", ""),
}  # fmt: skip
HERE = 2**32 - 100  # AT_FDCWD
EXCHANGE = 2  # RENAME_EXCHANGE


@dataclass(frozen=True)
class Call:
    """A system call. Moments count from 0 and order the beginnings and ends of all calls; a call that never ended has the end -1."""

    what: str  # open, write, size, sync, sync all, rename, link, unlink, mkdir, said
    system: str  # its own name
    thread: int
    begin: int
    end: int = -1
    path: str = ""  # relative to the root
    file: int = -1  # a number for each file or folder that ever was
    to: str = ""  # the second path
    other: int = -1  # the file at the second path, if both exchange their names
    offset: int = 0
    data: bytes = b""
    size: int = 0
    new: bool = False  # it makes the file
    result: int = 0


#: Decides about a call: 0 lets it happen; an errno makes it fail without effect; minus a signal ends the process before it.
Strike = Callable[[Call, int], int]


class Trace(NamedTuple):
    calls: list[Call]  # by their ends
    status: int  # the exit status, minus the signal if one ended it
    error: str  # the traceback, if the work failed

    @property
    def said(self) -> list[bytes]:
        """The lines of ``say``, in order."""
        return [line for call in self.calls if call.what == "said" for line in call.data.splitlines()]


def traced(root: Path, work: Callable[[Callable[[str], None]], object], strike: Strike = lambda call, number: 0) -> Trace:
    """Do ``work(say)`` in a fork, and record its changes below ``root``; ``say`` writes a line into the record.

    strike: is asked at each call that changes something, with the number of such calls before it.
    """
    assert (platform.system(), platform.machine()) == ("Linux", "x86_64"), "a recording of system calls needs Linux on x86-64"
    with tempfile.TemporaryDirectory(prefix="likewise-traced-") as aside, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork where there are threads
        told = Path(aside) / "told"
        if not (tracer := os.fork()):
            status = 1
            try:
                signal.alarm(SECONDS)
                told.write_bytes(pickle.dumps(Tracer(root, Path(aside), strike).run(work)))
                status = 0
            except BaseException:
                (Path(aside) / "failed").write_text(traceback.format_exc())
            finally:
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(tracer, 0)[1])
        failed = Path(aside) / "failed"
        assert status == 0, failed.read_text() if failed.exists() else f"the recording ended with {status}"
        return pickle.loads(told.read_bytes())


@dataclass
class Tracer:
    root: Path
    aside: Path
    strike: Strike
    pid: int = 0
    moment: int = 0
    steps: int = 0
    calls: list[Call] = field(default_factory=list)
    going: dict[int, tuple[Call, dict[str, int], int]] = field(default_factory=dict)  # by thread: a call, its arguments, its errno
    files: dict[tuple[int, int], int] = field(default_factory=dict)  # device and inode -> number
    known: int = 0
    system: ctypes.CDLL = field(default_factory=lambda: ctypes.CDLL(None, use_errno=True))

    def run(self, work: Callable[[Callable[[str], None]], object]) -> Trace:
        self.root = self.root.resolve()
        for place in [self.root, *sorted(self.root.rglob("*"))]:
            self.number(place)
        ready, go = os.pipe()
        said = os.open(self.aside / "said", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        if not (child := os.fork()):
            status = 1
            try:
                os.read(ready, 1)
                work(lambda line: os.write(said, line.encode() + b"\n"))
                status = 0
            except BaseException:
                (self.aside / "error").write_text(traceback.format_exc())
            finally:
                os._exit(status)
        self.pid = child
        self.ptrace(SEIZE, child, OPTIONS)
        self.ptrace(INTERRUPT, child)
        os.write(go, b".")
        status = self.follow()
        error = self.aside / "error"
        unfinished = [call for call, *_ in self.going.values()]
        return Trace([*self.calls, *unfinished], status, error.read_text() if error.exists() else "")

    def ptrace(self, request: int, thread: int, data: int = 0, address: int = 0) -> None:
        result = self.system.ptrace(ctypes.c_long(request), ctypes.c_long(thread), ctypes.c_void_p(address), ctypes.c_void_p(data))
        if result < 0 and (code := ctypes.get_errno()) != errno.ESRCH:  # it has ended, as waitpid will report
            raise OSError(code, f"{os.strerror(code)} (ptrace, request {request:#x}: may processes be traced here?)")

    def follow(self) -> int:
        """Let the process run from call to call until it has ended; returns its status."""
        ended = None
        while True:
            try:
                thread, status = os.waitpid(-1, ALL_CHILDREN)
            except ChildProcessError:
                assert ended is not None
                return ended
            if os.WIFEXITED(status) or os.WIFSIGNALED(status):
                if thread == self.pid:
                    ended = os.waitstatus_to_exitcode(status)
                continue
            number, event, deliver = os.WSTOPSIG(status), status >> 16, 0
            if number == signal.SIGTRAP | 0x80:
                self.stopped(thread)
            elif not event:
                deliver = number
            self.ptrace(SYSCALL, thread, deliver)

    def stopped(self, thread: int) -> None:
        info = (ctypes.c_uint8 * 88)()
        if self.system.ptrace(ctypes.c_long(SYSCALL_INFO), ctypes.c_long(thread), ctypes.c_void_p(88), info) < 0:
            return
        kind = info[0]
        try:
            if kind == ENTERED:
                number, *arguments = struct.unpack_from("<7Q", info, 24)
                if number in SYSTEM:
                    self.entered(thread, number, arguments)
            elif kind == LEFT and thread in self.going:
                self.left(thread, struct.unpack_from("<q", info, 24)[0])
        except (FileNotFoundError, ProcessLookupError):  # it was killed meanwhile
            if Path(f"/proc/{thread}/stat").exists() and Path(f"/proc/{thread}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX":
                raise

    def tick(self) -> int:
        self.moment += 1
        return self.moment - 1

    # --- one call

    def entered(self, thread: int, number: int, values: list[int]) -> None:
        system, what, letters = SYSTEM[number]
        arguments = dict(zip(letters, values, strict=False))
        call = self.described(Call(what, system, thread, 0), arguments)
        if call is None:
            return
        call = replace(call, begin=self.tick())
        code = 0
        if call.what != "said":
            code = self.strike(call, self.steps)
            self.steps += 1
        self.going[thread] = call, arguments, code
        if code > 0:
            self.ptrace(POKE_REGISTER, thread, 2**64 - 1, NUMBER_REGISTER)
        elif code < 0:
            os.kill(self.pid, -code)

    def left(self, thread: int, result: int) -> None:
        call, arguments, code = self.going.pop(thread)
        if code > 0:
            self.ptrace(POKE_REGISTER, thread, 2**64 - code, RESULT_REGISTER)
            result = -code
        call = replace(call, end=self.tick(), result=result)
        if result >= 0:
            call = self.done(call, arguments)
        self.calls.append(call)

    def described(self, call: Call, given: dict[str, int]) -> Call | None:
        """The call with its file; None if it changes nothing below the root."""
        if "p" in given:
            path = self.path(given.get("d", HERE), given["p"])
            if not self.covers(path):
                return None
            exists = os.path.lexists(path)
            number = self.number(Path(path)) if exists and call.what != "open" else -1
            call = replace(call, path=self.relative(path), file=number, new=not exists)
        if "f" in given:
            if call.what == "map" and not (given["q"] & 2 and given["s"] & 1):
                return None
            place = self.opened(given["f"])
            if place == str(self.aside / "said"):
                return replace(call, what="said", data=self.memory(given["b"], given["n"]))
            if not self.covers(place):
                return None
            call = replace(call, path=self.relative(place.removesuffix(" (deleted)")), file=self.number(Path(f"/proc/{self.pid}/fd/{given['f']}")))
        if "P" in given:
            target = self.path(given.get("D", HERE), given["P"])
            call = replace(call, to=self.relative(target))
            if call.what == "rename" and given.get("m") == EXCHANGE and os.path.lexists(target):
                call = replace(call, other=self.number(Path(target)))
        if call.what == "open" and not self.changes(call, given):
            return None
        if call.what == "map":
            if call.path.endswith("-shm"):  # SQLite initializes it when a first process opens the database
                return None
            raise ValueError(f"{call.path} is written by way of mapped memory, which no system call shows")
        if call.what == "unknown" or (call.what == "rename" and given.get("m", 0) > EXCHANGE):
            raise ValueError(f"{call.system} of {call.path or 'something'}: the model of the disk does not know it")
        return call

    @staticmethod
    def changes(call: Call, given: dict[str, int]) -> bool:
        flags = given.get("o", os.O_CREAT | os.O_TRUNC)
        if flags & (os.O_DSYNC | os.O_SYNC) and flags & (os.O_WRONLY | os.O_RDWR):
            raise ValueError(f"{call.path} is opened with O_SYNC, which the model of the disk does not know")
        return bool(flags & os.O_TRUNC) or bool(flags & os.O_CREAT and call.new)

    def done(self, call: Call, given: dict[str, int]) -> Call:
        """The call with what it did."""
        if call.what == "open":
            return replace(call, file=self.number(Path(f"/proc/{self.pid}/fd/{call.result}"), new=call.new))
        if call.what == "mkdir":
            return replace(call, file=self.number(self.root / call.path, new=True))
        if call.what == "write":
            if "b" in given:
                data = self.memory(given["b"], call.result)
            else:
                vectors = struct.unpack(f"<{2 * given['c']}Q", self.memory(given["v"], 16 * given["c"]))
                data = b"".join(self.memory(at, size) for at, size in zip(vectors[::2], vectors[1::2], strict=True))[: call.result]
            return replace(call, data=data, offset=given["@"] if "@" in given else self.position(given["f"]) - len(data))
        if call.what == "copy":
            with open(f"/proc/{self.pid}/fd/{given['f']}", "rb") as file:
                file.seek(self.position(given["f"]) - call.result)
                return replace(call, what="write", offset=file.tell(), data=file.read(call.result))
        if call.what == "room":
            if given["m"] & ~1:
                raise ValueError(f"fallocate of {call.path} in another mode than that of making room")
            size = os.stat(f"/proc/{self.pid}/fd/{given['f']}").st_size
            return replace(call, what="size", size=size)
        return replace(call, size=given.get("l", 0))

    # --- files

    def number(self, place: Path, new: bool = False) -> int:
        found = os.stat(place)
        key = found.st_dev, found.st_ino
        if new or key not in self.files:
            self.files[key] = self.known
            self.known += 1
        return self.files[key]

    def memory(self, address: int, size: int) -> bytes:
        with open(f"/proc/{self.pid}/mem", "rb", buffering=0) as memory:
            memory.seek(address)
            parts = bytearray()
            while len(parts) < size and (part := memory.read(size - len(parts))):
                parts += part
        return bytes(parts)

    def position(self, descriptor: int) -> int:
        return int(Path(f"/proc/{self.pid}/fdinfo/{descriptor}").read_text().split()[1])

    def path(self, folder: int, address: int) -> str:
        text = b""
        while b"\0" not in text:  # read up to the next multiple of 64: the page after it may not exist
            text += self.memory(address + len(text), 64 - (address + len(text)) % 64)
        name = os.fsdecode(text.partition(b"\0")[0])
        base = os.readlink(f"/proc/{self.pid}/cwd") if folder & (2**32 - 1) == HERE else self.opened(folder)
        return os.path.normpath(os.path.join(base, name))

    def opened(self, descriptor: int) -> str:
        try:
            return os.readlink(f"/proc/{self.pid}/fd/{descriptor & (2**32 - 1)}")
        except FileNotFoundError:
            return ""  # a wrong descriptor: the call will fail

    def covers(self, path: str) -> bool:
        return path == str(self.root) or path.startswith(f"{self.root}/")

    def relative(self, path: str) -> str:
        return os.path.relpath(path, self.root) if self.covers(path) else f"../{path}"
