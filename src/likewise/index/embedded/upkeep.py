"""Flush and compaction, on threads beside the writers: the tail becomes a segment, and segments become fewer.

Both write the files of a new segment without any lock, sync them and their folder, and then publish it with one commit under the lock of the store.
Files that no catalogue names any more are deleted after that commit; views that use them keep them open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Condition, Lock, Thread
from typing import TYPE_CHECKING

from likewise.index import segment as segments
from likewise.index.embedded.shown import MANY, recents
from likewise.index.parts import Parts, merged
from likewise.index.segment import Segment
from likewise.index.tail import Recent
from likewise.io import disk

if TYPE_CHECKING:
    from likewise.index.embedded.writer import Writer

#: The tail becomes a segment when it has this many items, or bytes.
TAIL, TAIL_BYTES = 8192, 16 << 20
#: Segments beyond this number are merged.
SEGMENTS = 8


class Upkeep:
    def __init__(self, writer: Writer):
        self.writer = writer
        self.flushing, self.compacting = Lock(), Lock()  # one of each at a time; taken before the lock of the store
        self.flushed = Condition(writer.lock)
        self.threads: dict[str, Thread] = {}  # that run now, by what they do

    # --- called by writers, under the lock of the store

    def begin(self) -> None:
        """Begin what an earlier writer left to do: writers that are open for one item each merge no fewer segments than one that stays."""
        if self.full():
            self.start("flush", self.flush)
        elif self.due():
            self.start("compact", self.compact_tiers)

    def after_commit(self) -> None:
        if self.full():
            self.start("flush", self.flush)
        elif self.writer.shown.waiting >= MANY:
            self.start("show", self.writer.shown.view)
        if self.writer.db.long:
            self.writer.db.checkpoint()

    def wait_for_room(self) -> None:
        """Wait while a tail becomes a segment and the next one is full."""
        while "flush" in self.threads and self.full(1 if self.writer.shown.frozen else 2) and not self.writer.failed:
            self.flushed.wait()

    def start(self, what: str, task: Callable[[], object]) -> None:
        """Do it on a thread of its own, unless that runs. If the system gives no thread, the next commit tries again."""
        if what in self.threads or self.writer.closing or self.writer.failed:
            return
        thread = Thread(target=self.run, args=(what, task), name=f"likewise-{what}")
        self.threads[what] = thread
        try:
            thread.start()
        except RuntimeError:
            del self.threads[what]

    # --- on threads of their own, or that of a caller

    def run(self, what: str, task: Callable[[], object]) -> None:
        try:
            with suppress(Exception):  # noted: it is the error of each later write
                task()
        finally:
            with self.writer.lock:
                del self.threads[what]
                self.flushed.notify_all()

    def wait(self) -> None:
        """Wait for the threads. Not under the lock of the store."""
        for thread in [*self.threads.values()]:
            thread.join()

    def flush(self) -> None:
        """Turn the tail into a segment, and fold what was removed into the catalogue."""
        writer = self.writer
        with self.flushing:
            with writer.lock:
                writer.sound()
                row = writer.row
                if row == writer.state.folded:
                    return
                view = writer.shown.freeze()
            self.replace(view, recents(view), folded=row)
        with writer.lock:
            if self.due():
                self.start("compact", self.compact_tiers)

    def compact_tiers(self) -> None:
        """Merge segments while there are too many, or one holds too many removed items; once if the index is being closed."""
        with self.compacting:
            while True:
                with self.writer.lock:
                    self.writer.sound()
                    view, old = self.writer.shown.view(), self.due()
                if not old:
                    return
                self.replace(view, old)
                if self.writer.closing:
                    return

    def compact(self) -> None:
        """Merge all segments into one, without removed items."""
        self.flush()
        with self.compacting:
            with self.writer.lock:
                self.writer.sound()
                view = self.writer.shown.view()
            old = named(view)
            if len(old) > 1 or any(view.removed_of(one) for one in old):
                self.replace(view, old)
            with self.writer.lock, self.noting():
                self.writer.db.shrink()

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Inside, an error is that of each later write."""
        try:
            yield
        except BaseException as error:
            self.writer.fail(error)
            raise

    def full(self, times: int = 1) -> bool:
        """True if the tail is to become a segment, or is so many times as large."""
        return self.writer.shown.items >= times * TAIL or self.writer.shown.bytes >= times * TAIL_BYTES

    def due(self) -> list[Segment]:
        """The segments to merge next. Under the lock of the store."""
        view = self.writer.shown.view()
        found = named(view)
        begin, end = to_merge([one.items for one in found], [view.removed_of(one) for one in found])
        return found[begin:end]

    def replace(self, view: Parts, old: Sequence[Segment | Recent], **changes: int) -> None:
        """Write the living items of neighbors as a segment, and publish it in their place."""
        writer = self.writer
        with self.noting():
            new = merged(view, old, writer.building)
            disk.force_file(writer.folder)
        with writer.lock, self.noting():
            writer.publish(writer.shown.view().exchanged(old, new), **changes)
            if changes:
                writer.shown.frozen = set()
            if writer.db.long:
                writer.db.checkpoint()
        for one in old:
            if isinstance(one, Segment):
                for path in segments.files(writer.folder, one.name):
                    path.unlink(missing_ok=True)


def named(view: Parts) -> list[Segment]:
    """The segments of a view, in order."""
    return [part for part in view.parts if isinstance(part, Segment)]


def to_merge(items: Sequence[int], removed: Sequence[int]) -> tuple[int, int]:
    """The neighbors to merge among some segments, from one place to another: none if these are equal.

    A segment of which more than a quarter was removed is written again alone. If there are too many segments, the newest are merged, with each older
    one that has no more items than those after it. So in 1,000 flushes an item is written again fewer than five times.
    """
    for place, (count, gone) in enumerate(zip(items, removed, strict=True)):
        if 4 * gone > count:
            return place, place + 1
    begin, end = max(0, len(items) - 2), len(items)
    if end <= SEGMENTS or sum(items[begin:]) > segments.MOST:
        return end, end
    while begin and items[begin - 1] <= sum(items[begin:]) <= segments.MOST - items[begin - 1]:
        begin -= 1
    return begin, end
