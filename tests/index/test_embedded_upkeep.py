"""Flush and compaction of an embedded index, its readers in other processes, its backups, and the damage that is found."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from threading import Event, Thread

import pytest

from index_stores import FULL, ids_of, some
from likewise.errors import FormatError, UsageError
from likewise.index import embedded, merging
from likewise.index.embedded import database, upkeep, writer
from likewise.index.merging import named
from likewise.index.segment import Segment
from likewise.index.store import Change
from plain_store import parted


def files_of(place: Path) -> set[str]:
    return {path.name[:8] for path in place.glob("0*")}


# --- flush and compaction


def test_a_full_tail_becomes_a_segment_and_segments_stay_few(store, monkeypatch):
    monkeypatch.setattr(merging, "TAIL", 10)
    for own in range(40):
        store.write(Change(some(*range(5 * own, 5 * own + 5))))
    store.upkeep.wait()
    view = store.view()
    assert ids_of(view) == list(range(200)) and 1 <= len(named(view)) <= merging.SEGMENTS + 1
    assert files_of(store.folder) == {f"{one.name:08d}" for one in named(view)} == {f"{one.name:08d}" for one in store.state.segments}
    assert store.check() == []


@pytest.mark.parametrize("each", [1, 3, 5])
def test_writers_that_are_open_for_one_commit_each_leave_few_segments(store, monkeypatch, each):
    """As a scheduled job does. What a writer begins is finished when it closes; what it leaves to do, the next one begins."""
    monkeypatch.setattr(merging, "TAIL", 4)
    monkeypatch.setattr(merging, "SEGMENTS", 3)
    store.close()
    for own in range(0, 60 * each, each):
        with closing(embedded.open(store.folder)) as job:
            job.write(Change(some(*range(own, own + each))))
        with closing(embedded.open(store.folder, read_only=True)) as reader:
            assert reader.info()["segments"] <= merging.SEGMENTS + 1 and reader.info()["in_log"] < 4 + each
    assert ids_of(reader.found.parts) == list(range(60 * each)) and embedded.open(store.folder, read_only=True).check() == []


def test_a_closing_writer_refuses_changes_and_finishes_its_flush(store, monkeypatch):
    monkeypatch.setattr(merging, "TAIL", 4)
    begun, going_on, merged = Event(), Event(), upkeep.merged

    def slowly(*args):
        begun.set()
        assert going_on.wait(30)
        return merged(*args)

    monkeypatch.setattr(upkeep, "merged", slowly)
    store.write(Change(some(1, 2, 3, 4)))
    assert begun.wait(30)
    closer = Thread(target=store.close)
    closer.start()
    while not store.closing:
        pass
    with pytest.raises(UsageError, match="this index is closed"):
        store.write(Change(some(5)))
    going_on.set()
    closer.join()
    with closing(embedded.open(store.folder, read_only=True)) as reader:
        assert reader.info()["segments"] == 1 and ids_of(reader.view()) == [1, 2, 3, 4]


def test_a_flush_deletes_its_rows_and_keeps_later_ones(store, monkeypatch):
    """While a flush writes its files, items are added and removed, of the tail that becomes a segment and of the new one.

    Two of eight are removed from the segment: of more than a quarter, it would be compacted right after the flush.
    """
    store.write(Change(some(1, 2, 3, 4, 5, 6, 7, 8)))
    left = [2, 4, 5, 6, 7, 8, 10, 3]
    writing, going_on = Event(), Event()
    merged = upkeep.merged

    def slowly(*args):
        writing.set()
        assert going_on.wait(30)
        return merged(*args)

    monkeypatch.setattr(upkeep, "merged", slowly)
    flush = Thread(target=store.flush)
    flush.start()
    assert writing.wait(30)
    store.write(Change(some(9, 10)))
    store.write(Change(some(3), "replace", remove=[b"1", b"9"]))
    assert ids_of(store.view()) == left
    going_on.set()
    flush.join()
    assert ids_of(store.view()) == left and store.info()["segments"] == 1 and store.info()["removed"] == 3
    assert [one[0] for one in store.db.connection.execute("select number from log")] == [2, 3]
    store.close()
    with closing(embedded.open(store.folder)) as again:
        assert ids_of(again.view()) == left and again.check() == []
        again.compact()
        assert ids_of(again.view()) == left and again.info()["removed"] == 0


def test_writers_wait_where_the_tail_is_full_and_the_one_before_is_not_yet_a_segment(store, monkeypatch):
    monkeypatch.setattr(merging, "TAIL", 4)
    going_on, merged = Event(), upkeep.merged

    def slowly(*args):
        assert going_on.wait(30)
        return merged(*args)

    monkeypatch.setattr(upkeep, "merged", slowly)
    store.write(Change(some(1, 2, 3, 4)))
    while not store.shown.frozen:
        pass
    store.write(Change(some(5, 6, 7, 8)))
    waits, wait = Event(), store.upkeep.flushed.wait
    monkeypatch.setattr(store.upkeep.flushed, "wait", lambda: (waits.set(), wait()))
    late = Thread(target=store.write, args=[Change(some(9))])
    late.start()
    assert waits.wait(30) and len(store.view()) == 8
    going_on.set()
    late.join()
    assert ids_of(store.view()) == list(range(1, 10))


def test_numbers_are_never_given_twice(store):
    store.write(Change(some(1, 2, 3)))
    store.write(Change(some(), remove=[b"2", b"3"]))
    store.compact()
    store.close()
    with closing(embedded.open(store.folder)) as again:
        assert again.view().last == 2 and again.write(Change(some(4))).numbers.tolist() == [3]
        again.write(Change(some(), remove=[b"1", b"4"]))
        again.compact()
        assert files_of(store.folder) == set() and len(again.view()) == 0
    with closing(embedded.open(store.folder)) as again:
        assert again.write(Change(some(5))).numbers.tolist() == [4]


def test_a_segment_of_which_a_quarter_was_removed_is_written_anew(store):
    store.write(Change(some(*range(100))))
    store.flush()
    store.write(Change(some(), remove=[b"%d" % one for one in range(26)]))
    store.flush()
    store.upkeep.wait()
    assert store.info()["removed"] == 0 and ids_of(store.view()) == list(range(26, 100))
    assert files_of(store.folder) == {"00000002"}


def test_a_failing_flush_is_the_error_of_each_later_write(store, monkeypatch):
    monkeypatch.setattr(merging, "TAIL", 4)

    def failing(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(upkeep, "merged", failing)
    store.write(Change(some(1, 2, 3, 4)))
    store.upkeep.wait()
    with pytest.raises(OSError, match=r"an earlier write failed .No space left"):
        store.write(Change(some(5)))
    assert ids_of(store.view()) == [1, 2, 3, 4]
    store.close()
    monkeypatch.undo()
    with closing(embedded.open(store.folder)) as again:
        assert ids_of(again.view()) == [1, 2, 3, 4] and again.check() == []


def test_files_that_nothing_names_go_when_a_writer_opens(store):
    store.write(Change(some(1)))
    store.flush()
    for suffix in ("bands", "items", "sets"):
        (store.folder / f"00000009.{suffix}").write_bytes(b"of a flush that was killed")
    store.close()
    with closing(embedded.open(store.folder, read_only=True)) as reader:
        assert len(reader.view()) == 1 and files_of(store.folder) == {"00000001", "00000009"}
    with closing(embedded.open(store.folder)) as again:
        assert len(again.view()) == 1 and files_of(store.folder) == {"00000001"}


def test_the_log_of_sqlite_is_written_over_and_not_cut(store, monkeypatch):
    monkeypatch.setattr(database, "LOG", 1 << 20)
    log = Path(f"{store.folder / 'index.db'}-wal")
    sizes = []
    for own in range(600):
        store.write(Change(some(own)))
        sizes.append(log.stat().st_size)
    assert sizes == sorted(sizes) and sizes[300] == sizes[-1] <= 3 << 20  # it has its room early, and keeps it
    assert store.db.connection.execute("pragma wal_autocheckpoint").fetchone()[0] == 0


# --- readers

READER = """
import sys
from likewise.index import embedded, merging
store = embedded.open(sys.argv[1], read_only=True)
for line in sys.stdin:
    print(" ".join(one.decode() for _, items in store.view().scan() for one in items.ids), flush=True)
"""


def test_another_process_sees_each_commit_and_follows_flush_and_compaction(store):
    with subprocess.Popen(
        [sys.executable, "-P", "-c", READER, str(store.folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def read() -> str:
            assert process.stdin and process.stdout
            print(file=process.stdin, flush=True)
            return process.stdout.readline().strip()

        assert read() == ""
        store.write(Change(some(1, 2)))
        assert read() == "1 2"
        store.write(Change(some(3), remove=[b"1"]))
        assert read() == read() == "2 3"
        store.flush()
        assert read() == "2 3"
        store.write(Change(some(4), remove=[b"2"]))
        assert read() == "3 4"
        store.compact()
        store.write(Change(some(5)))
        assert read() == "3 4 5"
        store.close()
        assert read() == "3 4 5"
        with closing(embedded.open(store.folder)) as again:
            again.write(Change(some(6)))
            assert read() == "3 4 5 6"
        process.stdin.close()


def test_a_reader_that_misses_a_file_takes_the_next_catalog(store, monkeypatch):
    """Between the catalog and its files the segments are merged, and the old files deleted."""
    for own in range(3):
        store.write(Change(some(own)))
        store.flush()
    reader = embedded.open(store.folder, read_only=True)
    store.write(Change(some(7)))
    store.flush()
    opened, merged = Segment.open, []

    def late(folder, name, *args):
        if not merged and name == 4:
            merged.append(name)
            store.compact()
        return opened(folder, name, *args)

    monkeypatch.setattr(Segment, "open", late)
    assert ids_of(reader.view()) == [0, 1, 2, 7] and merged == [4] and files_of(store.folder) == {"00000005"}
    reader.close()


def test_an_old_view_outlives_its_files(store):
    store.write(Change(some(1, 2)))
    store.flush()
    old = store.view()
    store.write(Change(some(), remove=[b"1"]))
    store.compact()
    assert ids_of(old) == [1, 2] and files_of(store.folder) == {"00000002"}


def test_a_reader_writes_nothing(store):
    store.write(Change(some(1)))
    with closing(embedded.open(store.folder, read_only=True)) as reader:
        for call in (lambda: reader.write(Change(some(2))), lambda: reader.load(iter([some(2)])), reader.flush, reader.compact):
            with pytest.raises(UsageError, match=r"open for reading; open it without read_only=True"):
                call()
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader.db.connection.execute("delete from log")
        assert reader.info()["read_only"] is True and reader.check() == []


def test_readers_on_threads_beside_a_writer_see_a_growing_prefix(store, monkeypatch):
    monkeypatch.setattr(merging, "TAIL", 16)
    wrong: list[list[int]] = []
    done = Event()

    def read() -> None:
        with closing(embedded.open(store.folder, read_only=True)) as reader:
            last = 0
            while not done.is_set():
                found = ids_of(reader.view())
                if found != list(range(len(found))) or len(found) < last:
                    wrong.append(found)
                last = len(found)

    threads = [Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for own in range(200):
        store.write(Change(some(own)))
    done.set()
    for thread in threads:
        thread.join()
    assert not wrong and ids_of(store.view()) == list(range(200))


# --- backups


def test_a_backup_is_a_whole_index_of_one_moment_beside_writes(store, tmp_path, monkeypatch):
    """Each write adds one item and removes the one three before, so a consistent copy has three items that follow each other."""
    monkeypatch.setattr(merging, "TAIL", 8)
    store.write(Change(some(0, 1, 2)))
    done = Event()

    def write() -> None:
        for own in range(3, 1000):
            store.write(Change(some(own), remove=[b"%d" % (own - 3)]))
            if done.is_set():
                return

    thread = Thread(target=write)
    thread.start()
    try:
        for own in range(5):
            place = tmp_path / f"copy{own}"
            store.backup(place)
            with closing(embedded.open(place)) as copy:
                found = ids_of(copy.view())
                assert copy.check() == [] and len(found) == 3 and found == list(range(found[0], found[0] + 3))
                assert copy.settings == FULL and copy.write(Change(some(5000))).numbers.tolist() == [copy.view().last]
    finally:
        done.set()
        thread.join()
    assert sorted(path.name for path in tmp_path.iterdir()) == [*(f"copy{own}" for own in range(5)), "seen.lw"]


def test_a_backup_replaces_nothing(store, tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "mine").touch()
    for place in (tmp_path / "there", store.folder):
        with pytest.raises(UsageError, match="this path exists, and a backup replaces nothing"):
            store.backup(place)


# --- damage


def damaged_index(tmp_path: Path) -> Path:
    """An index of a segment, two rows of the log and a removed item, closed."""
    place = tmp_path / "seen.lw"
    with closing(embedded.create(place, FULL)) as store:
        store.write(Change(some(*range(20))))
        store.flush()
        store.write(Change(some(30), remove=[b"3"]))
        store.write(Change(some(31)))
    return place


def changed(place: Path, statement: str) -> None:
    with closing(sqlite3.connect(place / "index.db")) as connection:
        connection.execute(statement)
        connection.commit()


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("update log set data = zeroblob(length(data)) where number = 3", "row 3 of the log"),
        ("delete from log where number = 2", "rows of the log in index.db are missing"),
        ("delete from log where number = 3", "the last 1 rows of the log"),
        ("update log set number = 4 where number = 3", "rows of the log in index.db are missing"),
        ("update state set value = cast(replace(value, '\"next\":20', '\"next\":10') as blob)", "the catalog in index.db"),
        ("delete from state", "the catalog in index.db"),
        ("insert into gone values (1, zeroblob(8), zeroblob(8))", "the removed items of segment 1"),
        ("drop table log", "no such table: log"),
    ],
)
def test_a_damaged_database_is_refused(tmp_path, statement, words):
    place = damaged_index(tmp_path)
    changed(place, statement)
    for read_only in (True, False):
        with pytest.raises(FormatError, match=words):
            embedded.open(place, read_only=read_only)


def test_no_changed_page_of_the_database_becomes_an_answer(tmp_path):
    """A byte of each 64 is changed: the index is refused, or it has what was written."""
    place = damaged_index(tmp_path)
    right = (place / "index.db").read_bytes()
    with closing(embedded.open(place, read_only=True)) as store:
        wanted = [item for _, items in store.view().scan() for item in parted(items)]
    refused = 0
    for at in range(0, len(right), 64):
        (place / "index.db").write_bytes(right[:at] + bytes([right[at] ^ 0x55]) + right[at + 1 :])
        try:
            with closing(embedded.open(place, read_only=True)) as store:
                assert [item for _, items in store.view().scan() for item in parted(items)] == wanted
        except FormatError:
            refused += 1
    assert refused > 10


@pytest.mark.parametrize("suffix", [".bands", ".items", ".sets"])
def test_a_missing_or_cut_file_is_refused_by_name(tmp_path, suffix):
    place = damaged_index(tmp_path)
    path = place / f"00000001{suffix}"
    data = path.read_bytes()
    for change in (lambda: path.write_bytes(data[:-1]), path.unlink):
        change()
        for read_only in (True, False):
            with pytest.raises(FormatError, match=path.name):
                embedded.open(place, read_only=read_only)


def test_check_names_each_fault_and_a_damaged_index_has_no_backup(tmp_path):
    place = damaged_index(tmp_path)
    store = embedded.open(place)
    assert store.check() == []
    path = place / "00000001.sets"
    data = bytearray(path.read_bytes())
    data[8] ^= 1
    path.chmod(0o644)
    copy = path.with_suffix(".copy")
    copy.write_bytes(data)
    copy.rename(path)
    found = store.check()
    assert len(found) == 1 and "00000001.sets" in found[0]
    with pytest.raises(FormatError, match="so there is no backup of it"):
        store.backup(tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    store.close()


def test_a_log_that_ends_too_early_is_found_by_the_note(tmp_path):
    """SQLite takes damage in its log for the end of it. The writer was killed, so the log is all there is of three commits."""
    place = tmp_path / "seen.lw"
    embedded.create(place, FULL).close()
    child = os.fork()
    if child == 0:
        store = embedded.open(place)
        for own in range(3):
            store.write(Change(some(own)))
        os._exit(0)
    os.waitpid(child, 0)
    log = place / "index.db-wal"
    with closing(embedded.open(shutil.copytree(place, tmp_path / "copy"), read_only=True)) as store:
        assert ids_of(store.view()) == [0, 1, 2]
    data = log.read_bytes()
    for at in (0, 100, 9000):
        shutil.rmtree(tmp_path / "copy", ignore_errors=True)
        shutil.copytree(place, tmp_path / "copy")
        (tmp_path / "copy" / "index.db-wal").write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        (tmp_path / "copy" / "index.db-shm").unlink()
        for read_only in (True, False, False):
            with pytest.raises(FormatError, match=r"rows of the log in index\.db are missing"):
                embedded.open(tmp_path / "copy", read_only=read_only)


def test_a_note_that_is_not_whole_says_nothing(tmp_path):
    place = damaged_index(tmp_path)
    data = (place / "writer.lock").read_bytes()
    for note in (data[:-1], data[:520] + b"9" + data[521:], b""):
        (place / "writer.lock").write_bytes(note)
        with closing(embedded.open(place)) as store:
            assert len(store.view()) == 21
    assert writer.GROUP == 512
