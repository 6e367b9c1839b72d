"""Threads of this machine, which run stages over chunks in order with few chunks in flight."""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
from _thread import start_new_thread
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, Generic, TypeVar
from weakref import WeakSet

import pyarrow as pa

from likewise.progress import INTERRUPTED

A = TypeVar("A")
B = TypeVar("B")
#: Bytes for Python, the libraries and the compiler: a run of a few items peaks at 170 MB, 364 MB if it compiles (peak_memory_bytes in run.json).
OVERHEAD = 384 << 20


class StoppedError(Exception):
    """Ends a task on a thread after the run has been stopped elsewhere; its result is discarded."""


class Task(Generic[B]):
    """A call on another thread, for which the main thread can wait although Ctrl-C may raise KeyboardInterrupt anywhere in it.

    Inside a condition, that exception may leave the condition's lock taken, and the thread that is waited for hangs. Futures, events and
    `Thread.start` wait on conditions. A task has flags, of which each side sets its own before it reads the other's, and a lock that is taken in C.
    """

    def __init__(self, call: Callable[[], B], unfinished: set[Task[Any]]):
        """unfinished: contains the task until its call has ended."""
        self._call, self._unfinished = call, unfinished
        self._error: BaseException | None = None
        self.begun = self.ended = self.canceled = False
        self._running = Lock()
        self._running.acquire()
        unfinished.add(self)

    def run(self) -> None:
        """Make the call. It is made on the other thread, unless the task was canceled before."""
        self.begun = True
        try:
            if self.canceled:
                raise StoppedError
            self._result = self._call()
        except BaseException as error:
            self._error = error
        del self._call  # and the batch
        self._unfinished.discard(self)
        self.ended = True
        self._running.release()

    def wait(self) -> None:
        """Wait for the end of the call."""
        if not self.ended:  # set before the lock is released, so it does no harm if an interruption leaves the lock taken
            with self._running:
                pass

    def result(self) -> B:
        """Wait for the end of the call, and return its result or raise its error."""
        self.wait()
        if self._error is not None:
            raise self._error
        return self._result


def work(tasks: SimpleQueue[Task[Any] | None]) -> None:
    """Run tasks until None comes, which the other threads get, too."""
    while (task := tasks.get()) is not None:
        task.run()
        del task  # and its result
    tasks.put(None)


def finish(tasks: Iterable[Task[Any]]) -> None:
    """Let none of the tasks begin any more, and wait for those that have begun."""
    tasks = list(tasks)
    for task in tasks:
        task.canceled = True
    for task in tasks:
        if task.begun:
            task.wait()


class Threads:
    """Threads of this process. Kernels release the GIL, so threads suffice; results never depend on their number.

    A thread is started when a task comes while all others are busy. Threads end with `close`, or with this object.
    """

    def __init__(self, threads: int | None = None):
        self.number = threads or usable_cores()
        self.stopping = self._interrupts = False
        self._tasks: SimpleQueue[Task[Any] | None] = SimpleQueue()
        self._unfinished: set[Task[Any]] = set()
        self._threads: list[Thread] = []
        _unclosed.add(self)

    def __del__(self) -> None:
        self._tasks.put(None)

    def map(self, stage: Callable[[A], B], batches: Iterable[A], at_once: int | Callable[[], int] | None = None) -> Iterator[B]:
        """Yield stage(batch) in the order of the batches; ``at_once`` of them, or two a thread, run or wait while the next is read.

        ``at_once`` may be a function, called before each batch. With ``at_once=1`` the stage also runs batch by batch. An error while reading ahead
        is raised only after the results before it. The stage has ended when this ends. A stage must not call `map` itself: all threads could be in
        stages that wait for others.
        """
        if self.number == 1:
            yield from map(stage, batches)
            return
        try:
            yield from self._in_order(stage, batches, at_once)
        except KeyboardInterrupt:
            self.interrupt()
            raise

    def _in_order(self, stage: Callable[[A], B], batches: Iterable[A], at_once: int | Callable[[], int] | None) -> Iterator[B]:
        waiting: deque[Task[B]] = deque()
        source, failure = iter(batches), None
        try:
            while failure is None:
                try:
                    batch = next(source)
                except StopIteration:
                    break
                except Exception as error:
                    failure = error
                    break
                while waiting and len(waiting) >= ((at_once() if callable(at_once) else at_once) or 2 * self.number):
                    yield waiting[0].result()
                    waiting.popleft()
                waiting.append(self._submit(stage, batch))
            while waiting:
                yield waiting[0].result()
                waiting.popleft()
            if failure is not None:
                raise failure
        finally:
            finish(waiting)

    def in_flight(self, memory: int, guess: int) -> InFlight:
        """``at_once`` for `map`: as many batches as fit into ``memory``, up to two a thread. guess: bytes of an unmeasured batch."""
        return InFlight(memory, 2 * self.number, guess)

    def run(self, function: Callable[[A], B], values: Iterable[A], at_once: int | None = None) -> list[B]:
        """[function(value) for value in values], several at once, at most ``at_once``."""
        if self.number == 1 or at_once == 1:
            return list(map(function, values))
        results: list[B] = []
        values = list(values)
        step = at_once or len(values) or 1
        try:
            for begin in range(0, len(values), step):
                tasks = [self._submit(function, value) for value in values[begin : begin + step]]
                results += [task.result() for task in tasks]
        except KeyboardInterrupt:
            self.interrupt()
            raise
        except BaseException:
            self.stop()
            raise
        return results

    def interrupt(self) -> None:
        """Stop all tasks after Ctrl-C, which only the main thread receives, and wait for them; other threads see the flags set here."""
        self._interrupts |= not INTERRUPTED.is_set()  # otherwise whoever set the flag clears it
        INTERRUPTED.set()
        self.stop()

    def stop(self) -> None:
        """Let no task begin any more, and wait for those that have begun."""
        self.stopping = True
        finish(self._unfinished.copy())

    def check(self) -> None:
        """Raises StoppedError if the run is being stopped. Long tasks call this from time to time."""
        if self.stopping:
            raise StoppedError

    def _submit(self, function: Callable[[A], B], value: A) -> Task[B]:
        task = Task(partial(function, value), self._unfinished)
        self.check()
        if len(self._threads) < min(self.number, len(self._unfinished)):
            self._start()
        self._tasks.put(task)
        return task

    def _start(self) -> None:
        """Start a thread. `Thread.start` is called where no exception interrupts it."""
        thread = Thread(target=work, args=(self._tasks,), name="likewise-stage", daemon=True)
        starting = Task(thread.start, self._unfinished)
        try:
            start_new_thread(starting.run, ())
            starting.result()
        except RuntimeError as error:  # "can't start new thread": no memory for its stack
            raise MemoryError(f"{error}: not enough memory for {self.number} threads") from error
        self._threads.append(thread)

    def close(self) -> None:
        try:
            self.stop()
            self._tasks.put(None)
            for thread in self._threads:
                thread.join()
        finally:
            if self._interrupts:
                INTERRUPTED.clear()
        _unclosed.discard(self)


_unclosed: WeakSet[Threads] = WeakSet()


def _close_all() -> None:
    """End the tasks before Python ends: it would take down memory that their kernels use."""
    for threads in list(_unclosed):
        threads.close()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unclosed.clear)  # a child process has no threads


def usable_cores() -> int:
    """The number of cores that this process may use, by its affinity mask and the quotas of its cgroups."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for quota, period in limits("cpu", ("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):
        cores = min(cores, quota // period) if quota > 0 and period > 0 else cores
    return max(1, cores)


def usable_memory() -> int:
    """Bytes that this process may use: the minimum of the machine's memory, the limits of its cgroups and the rlimits."""
    most = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")] if hasattr(os, "sysconf") else []
    most += [limit for (limit,) in limits("memory", ("memory.max",), ("memory.limit_in_bytes",))]
    try:
        import resource
    except ImportError:
        return min(most, default=4 * 2**30)
    most += [soft for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA) if (soft := resource.getrlimit(kind)[0]) != resource.RLIM_INFINITY]
    return min(most, default=4 * 2**30)


def default_memory() -> int:
    """Bytes for the data of a run: three quarters of the usable memory, less where the rest would be smaller than OVERHEAD, at least a quarter."""
    usable = usable_memory()
    return max(usable // 4, min(usable * 3 // 4, usable - OVERHEAD))


def limits(controller: str, unified: tuple[str, ...], classic: tuple[str, ...], root: Path = Path("/sys/fs/cgroup")) -> Iterator[tuple[int, ...]]:
    """Yield the numbers in the files of a controller, for each cgroup of this process and those above it that sets a limit.

    In a container /proc may list the host's paths, while the container's own cgroup is the visible root.
    """
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for _, controllers, path in (line.split(":", 2) for line in lines):
        if controllers and controller not in controllers.split(","):
            continue
        base, names = (root / controller, classic) if controllers else (root, unified)
        inside = base / path.strip("/")
        for folder in dict.fromkeys((base, *(up for up in (inside, *inside.parents) if up.is_relative_to(base)))):
            try:
                yield tuple(int(number) for name in names for number in (folder / name).read_text().split())
            except (OSError, ValueError):  # the file is missing, or says "max"
                continue


class InFlight:
    """The number of batches that may run at once, from the memory that recent ones took."""

    def __init__(self, memory: int, most: int, guess: int):
        self.memory, self.most, self.guess = memory, most, guess
        self.last: deque[int] = deque(maxlen=most)

    def __call__(self) -> int:
        return max(1, min(self.most, self.memory // max(self.last, default=self.guess)))

    def took(self, size: int) -> None:
        """Record the bytes that a batch took."""
        self.last.append(max(1, size))


def give_back() -> None:
    """Return freed memory to the system. With plenty of memory it is better kept, because new pages cost time."""
    pa.default_memory_pool().release_unused()
    with suppress(OSError, TypeError, AttributeError):  # only in glibc
        ctypes.CDLL(None).malloc_trim(0)


def resident_memory() -> int | None:
    """The resident bytes of this process; None if the system does not report them."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return None


def peak_memory() -> int | None:
    """The peak resident bytes of this process; None if the system does not report them."""
    try:  # rusage may include the process that started this one
        status = Path("/proc/self/status").read_text()
        return 1024 * int(status.partition("VmHWM:")[2].split()[0])
    except (OSError, IndexError):
        pass
    try:
        import resource
    except ImportError:
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
