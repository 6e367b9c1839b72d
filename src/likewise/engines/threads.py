"""This machine: stages over chunks on threads, in order, with little in flight."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from likewise.progress import INTERRUPTED

A = TypeVar("A")
B = TypeVar("B")


class StoppedError(Exception):
    """Ends a task on a thread when the run has been stopped elsewhere; nobody waits for its result."""


class Threads:
    """Threads of this process. Kernels let go of the GIL, so threads are enough; results never depend on their number."""

    def __init__(self, threads: int | None = None):
        self.threads = threads or usable_cores()
        self.stopping = threading.Event()
        self._interrupts = False
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None

    def map(self, stage: Callable[[A], B], batches: Iterable[A], at_once: int | Callable[[], int] | None = None) -> Iterator[B]:
        """stage(batch) in the order of the batches, of which ``at_once`` are in work or wait for it, or two a thread, while the next is read.

        ``at_once`` may be a function, which is asked before each batch. With ``at_once=1`` the stage, too, runs batch by batch. What is read
        ahead is not yet wanted: if that fails, the results before it still come first. When this ends, the stage has ended. A stage must not map
        itself: all threads could be in stages that wait for others.
        """
        if self._pool is None:
            yield from map(stage, batches)
            return
        waiting: deque[Future[B]] = deque()
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
                while waiting and len(waiting) >= ((at_once() if callable(at_once) else at_once) or 2 * self.threads):
                    yield waiting[0].result()
                    waiting.popleft()
                waiting.append(self._submit(stage, batch))
            while waiting:
                yield waiting[0].result()
                waiting.popleft()
            if failure is not None:
                raise failure
        except KeyboardInterrupt:
            self.interrupt()
            raise
        finally:
            wait([future for future in waiting if not future.cancel()])

    def in_flight(self, memory: int, guess: int) -> InFlight:
        """For ``at_once`` of `map`: as many batches as fit into ``memory``, up to two a thread. guess: bytes of one until the first is known."""
        return InFlight(memory, 2 * self.threads, guess)

    def run(self, function: Callable[[A], B], values: Iterable[A], at_once: int | None = None) -> list[B]:
        """[function(value) for value in values], several at once, or so many at most."""
        if self._pool is None or at_once == 1:
            return list(map(function, values))
        results: list[B] = []
        values = list(values)
        step = at_once or len(values) or 1
        try:
            for begin in range(0, len(values), step):
                futures = [self._submit(function, value) for value in values[begin : begin + step]]
                results += [future.result() for future in futures]
        except KeyboardInterrupt:
            self.interrupt()
            raise
        except BaseException:
            self.stopping.set()
            raise
        return results

    def interrupt(self) -> None:
        """Ctrl-C is heard by the main thread alone; the others are told, until all have ended."""
        self.stopping.set()
        self._interrupts |= not INTERRUPTED.is_set()  # else it is for who set it to take back
        INTERRUPTED.set()

    def check(self) -> None:
        """Called by long tasks now and then: they end when the run is being stopped."""
        if self.stopping.is_set():
            raise StoppedError

    def _submit(self, function: Callable[[A], B], value: A) -> Future[B]:
        assert self._pool is not None
        try:
            return self._pool.submit(function, value)
        except RuntimeError as error:  # "can't start new thread": there is no room for its stack
            raise MemoryError(f"{error}: not enough memory for {self.threads} threads") from error

    def close(self) -> None:
        self.stopping.set()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        if self._interrupts:
            INTERRUPTED.clear()


def usable_cores() -> int:
    """Cores that this process may use: the affinity mask and the quotas of its cgroups count, not only the machine's number."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for quota, period in limits("cpu", ("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):
        cores = min(cores, quota // period) if quota > 0 and period > 0 else cores
    return max(1, cores)


def usable_memory() -> int:
    """Bytes that this process may use: the least of the machine's memory, the limits of its cgroups and the rlimits."""
    most = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")] if hasattr(os, "sysconf") else []
    most += [limit for (limit,) in limits("memory", ("memory.max",), ("memory.limit_in_bytes",))]
    try:
        import resource
    except ImportError:
        return min(most, default=4 * 2**30)
    most += [soft for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA) if (soft := resource.getrlimit(kind)[0]) != resource.RLIM_INFINITY]
    return min(most, default=4 * 2**30)


def limits(controller: str, unified: tuple[str, ...], classic: tuple[str, ...], root: Path = Path("/sys/fs/cgroup")) -> Iterator[tuple[int, ...]]:
    """The numbers in the files of a controller, for each cgroup that this process is in and those above it, as far as they set a limit.

    In a container the paths that the system tells may be of the machine outside, and the own cgroup is the root of what can be seen.
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
            except (OSError, ValueError):  # not there, or "max"
                continue


class InFlight:
    """How many batches may be in work at once, by the memory that the last ones took."""

    def __init__(self, memory: int, most: int, guess: int):
        self.memory, self.most, self.guess = memory, most, guess
        self.last: deque[int] = deque(maxlen=most)

    def __call__(self) -> int:
        return max(1, min(self.most, self.memory // max(self.last, default=self.guess)))

    def took(self, size: int) -> None:
        """Record the bytes that a batch took."""
        self.last.append(max(1, size))


def give_back() -> None:
    """Return freed memory to the system. If memory is plentiful it is better kept, because new pages cost time."""
    pa.default_memory_pool().release_unused()
    with suppress(OSError, TypeError, AttributeError):  # only glibc has it
        ctypes.CDLL(None).malloc_trim(0)


def resident_memory() -> int | None:
    """The resident bytes of this process; None if the system does not report them."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return None


def peak_memory() -> int | None:
    """The most bytes that this process has had resident; None where the system does not tell."""
    try:  # what rusage tells may be of the process that started this one
        status = Path("/proc/self/status").read_text()
        return 1024 * int(status.partition("VmHWM:")[2].split()[0])
    except (OSError, IndexError):
        pass
    try:
        import resource
    except ImportError:
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
