"""Flush and compaction, on threads beside the writers: the tail becomes a segment, and segments become fewer.

Both write the files of a new segment without any lock, sync them and their folder, and then publish it with one commit under the lock of the store.
Files that no catalog names any more are deleted after that commit; views that use them keep them open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Condition, Lock, Thread

from likewise.index import segment as segments
from likewise.index.embedded.shown import MANY, recents
from likewise.index.embedded.written import Written
from likewise.index.merging import due, full, named
from likewise.index.parts import Parts, merged
from likewise.index.segment import Segment
from likewise.index.tail import Recent
from likewise.io import disk


class Upkeep:
    def __init__(self, store: Written):
        self.store = store
        self.flushing, self.compacting = Lock(), Lock()  # one of each at a time; taken before the lock of the store
        self.flushed = Condition(store.lock)
        self.threads: dict[str, Thread] = {}  # that run now, by what they do

    # --- called by writers, under the lock of the store

    def begin(self) -> None:
        """Begin what an earlier writer left to do: writers that are open for one item each merge no fewer segments than one that stays."""
        if self.full():
            self.start("flush", self.flush)
        elif due(self.store.shown.view()):
            self.start("compact", self.compact_tiers)

    def after_commit(self) -> None:
        if self.full():
            self.start("flush", self.flush)
        elif self.store.shown.waiting >= MANY:
            self.start("show", self.store.shown.view)
        if self.store.db.long:
            self.store.db.checkpoint()

    def wait_for_room(self) -> None:
        """Wait while a tail becomes a segment and the next one is full."""
        while "flush" in self.threads and self.full(1 if self.store.shown.frozen else 2) and not self.store.failed:
            self.flushed.wait()

    def start(self, what: str, task: Callable[[], object]) -> None:
        """Do it on a thread of its own, unless that runs. If the system gives no thread, the next commit tries again."""
        if what in self.threads or self.store.closing or self.store.failed:
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
            with self.store.lock:
                del self.threads[what]
                self.flushed.notify_all()

    def wait(self) -> None:
        """Wait for the threads, and for those that they start. Not under the lock of the store."""
        while threads := [*self.threads.values()]:
            for thread in threads:
                thread.join()

    def flush(self) -> None:
        """Turn the tail into a segment, and fold what was removed into the catalog."""
        store = self.store
        with self.flushing:
            with store.lock:
                store.sound()
                row = store.row
                if row == store.state.folded:
                    return
                view = store.shown.freeze()
            self.replace(view, recents(view), folded=row)
        with store.lock:
            if due(store.shown.view()):
                self.start("compact", self.compact_tiers)

    def compact_tiers(self) -> None:
        """Merge segments while there are too many, or one holds too many removed items; once if the index is being closed."""
        with self.compacting:
            while True:
                with self.store.lock:
                    self.store.sound()
                    view = self.store.shown.view()
                    old = due(view)
                if not old:
                    return
                self.replace(view, old)
                if self.store.closing:
                    return

    def compact(self) -> None:
        """Merge all segments into one, without removed items."""
        self.flush()
        with self.compacting:
            with self.store.lock:
                self.store.sound()
                view = self.store.shown.view()
            old = named(view)
            if len(old) > 1 or any(view.removed_of(one) for one in old):
                self.replace(view, old)
            with self.store.lock, self.noting():
                self.store.db.shrink()

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Inside, an error is that of each later write."""
        try:
            yield
        except BaseException as error:
            self.store.fail(error)
            raise

    def full(self, times: int = 1) -> bool:
        """True if the tail is to become a segment, or is so many times as large."""
        return full(self.store.shown.items, self.store.shown.bytes, times)

    def replace(self, view: Parts, old: Sequence[Segment | Recent], **changes: int) -> None:
        """Write the living items of neighbors as a segment, and publish it in their place."""
        store = self.store
        with self.noting():
            new = merged(view, old, store.building)
            disk.force_file(store.folder)
        with store.lock, self.noting():
            store.publish(store.shown.view().exchanged(old, new), **changes)
            if changes:
                store.shown.frozen = set()
            if store.db.long:
                store.db.checkpoint()
        for one in old:
            if isinstance(one, Segment):
                for path in segments.files(store.folder, one.name):
                    path.unlink(missing_ok=True)
