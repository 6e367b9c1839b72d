"""Writes to an embedded index: commits of groups, failures, forks, and what each leaves to readers."""

from __future__ import annotations

import errno
import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Thread

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from index_stores import FULL, ids_of, made, some
from likewise.errors import UsageError
from likewise.index import embedded
from likewise.index.embedded import database, rows, shown, writer
from likewise.index.embedded.writer import Writer
from likewise.index.store import Change, Outcome
from plain_store import parted


def rows_in(store: Writer) -> int:
    return store.db.connection.execute("select count(*) from log").fetchone()[0]


# --- rows of the log

blocks = st.lists(
    st.tuples(st.lists(st.integers(0, 1000), max_size=4), st.lists(st.tuples(st.integers(0, 30), st.binary(max_size=5)), max_size=5)),
    min_size=1,
    max_size=4,
)


@pytest.mark.parametrize("sets", ["full", "none"])
@given(blocks=blocks, number=st.integers(1, 2**40))
def test_a_row_gives_back_what_was_written(sets, blocks, number):
    parts = []
    for gone, items in blocks:
        batch = made([content for content, _ in items], [one for _, one in items], sets)
        parts.append((np.array(gone, np.int64), np.arange(len(batch)) + 7, batch))
    found = rows.decoded(number, rows.encoded(number, parts))
    assert found is not None and found.number == number
    assert found.gone.tolist() == [one for gone, _, _ in parts for one in gone.tolist()]
    assert found.numbers.tolist() == [one for _, numbers, _ in parts for one in numbers.tolist()]
    assert parted(found.items) == [one for _, _, items in parts for one in parted(items)]


def test_each_changed_byte_of_a_row_is_found():
    data = rows.encoded(3, [(np.array([1]), np.arange(2), some(4, 5))])
    assert rows.decoded(3, data) is not None and rows.decoded(4, data) is None
    for place in range(len(data)):
        assert rows.decoded(3, data[:place] + bytes([data[place] ^ 16]) + data[place + 1 :]) is None
        assert rows.decoded(3, data[:place]) is None


# --- groups


def test_changes_that_wait_are_one_commit_in_their_order(store):
    """Ten threads wait while the lock is held; the first that gets it commits for all. Two ask for the same id: one of them is refused."""
    outcomes: list[Outcome | None] = [None] * 10

    def write(place: int) -> None:
        outcomes[place] = store.write(Change(some(min(place, 8), 100 + place)))

    threads = [Thread(target=write, args=[place]) for place in range(10)]
    with store.lock:
        for thread in threads:
            thread.start()
        while len(store.turns.waiting) < 10:
            pass
        assert len(store.view()) == 0
    for thread in threads:
        thread.join()
    assert rows_in(store) == 1
    refused = [list(one.refused) for one in outcomes if one is not None and len(one.refused)]
    assert refused == [[0]]
    assert sorted(number for one in outcomes if one is not None for number in one.numbers.tolist() if number >= 0) == list(range(18))


def test_a_group_is_no_larger_than_the_limits_but_for_one_large_change(store, monkeypatch):
    monkeypatch.setattr(writer, "GROUP", 4)
    threads = [Thread(target=store.write, args=[Change(some(*range(3 * own, 3 * own + 3)))]) for own in range(6)]
    with store.lock:
        for thread in threads:
            thread.start()
        while len(store.turns.waiting) < 6:
            pass
    for thread in threads:
        thread.join()
    assert len(store.view()) == 18 and rows_in(store) == 3
    store.write(Change(some(*range(50, 70))))
    assert rows_in(store) == 4


def test_after_is_checked_against_those_before_in_the_group(store):
    """Three changes with the same keys, decided on the same view: one is written, the others conflict."""
    outcomes: list[Outcome] = []
    last = store.view().last
    threads = [Thread(target=lambda own=own: outcomes.append(store.write(Change(some(own, content=5), after=last)))) for own in range(3)]
    with store.lock:
        for thread in threads:
            thread.start()
        while len(store.turns.waiting) < 3:
            pass
    for thread in threads:
        thread.join()
    assert sorted(one.conflict for one in outcomes) == [False, True, True] and len(store.view()) == 1


def test_plain_additions_meet_ids_everywhere(store):
    """In a segment, in a tail that becomes one, in the tail, and twice in a change."""
    store.write(Change(some(1)))
    store.flush()
    store.write(Change(some(2)))
    assert [list(store.write(Change(some(one, 9))).refused) for one in (1, 2, 9)] == [[0], [0], [1]]
    store.write(Change(some(), remove=[b"1", b"2"]))
    assert store.write(Change(some(1, 2))).numbers.tolist() == [2, 3]
    assert store.write(Change(some(2, 3), "skip")).numbers.tolist() == [-1, 4]
    assert ids_of(store.view()) == [1, 2, 3]


def test_a_view_waits_for_nothing_and_shows_nothing_before_its_commit(store, monkeypatch):
    seen = []
    append = database.Database.append

    def slowly(self, number, data):
        seen.append(ids_of(store.view()))
        append(self, number, data)
        seen.append(ids_of(store.view()))

    monkeypatch.setattr(database.Database, "append", slowly)
    store.write(Change(some(1)))
    store.write(Change(some(1, 2), "replace"))  # decided in the other way
    assert seen == [[], [], [1], [1]] and ids_of(store.view()) == [1, 2]


@pytest.mark.parametrize("most", [1, 3, 10**6])
def test_items_that_wait_for_the_tail_show_whenever_a_view_is_asked_for(store, monkeypatch, most):
    monkeypatch.setattr(shown, "MOST", most)
    old = store.view()
    for own in range(7):
        store.write(Change(some(own)))
        if own % 3 == 0:
            assert ids_of(store.view()) == list(range(own + 1))
    assert len(old) == 0 and len(store.view()) == 7


def test_items_of_another_form_are_refused(store):
    right = some(1)
    for wrong in (made([1], [b"1"], "none"), replace(right, keys=right.keys[:, :2]), replace(right, ids=[]), replace(right, words=right.words[:-1])):
        with pytest.raises(ValueError, match="other shapes"):
            store.write(Change(wrong))
    assert store.write(Change(right)).numbers.tolist() == [0]


# --- failures


@pytest.mark.parametrize(("name", "number"), [("disk I/O error", errno.EIO), ("database or disk is full", errno.ENOSPC)])
def test_after_a_failed_commit_nothing_is_written_until_it_is_opened_again(store, monkeypatch, name, number):
    store.write(Change(some(1)))

    def failing(self, row, data):
        raise OSError(number, name)

    with monkeypatch.context() as patch:
        patch.setattr(database.Database, "append", failing)
        with pytest.raises(OSError, match=name):
            store.write(Change(some(2)))
    for call in (lambda: store.write(Change(some(3))), store.flush, store.compact):
        with pytest.raises(OSError, match=f"an earlier write failed .{name}") as raised:
            call()
        assert raised.value.errno == number
    assert ids_of(store.view()) == [1] and store.info()["items"] == 1
    store.close()
    with closing(embedded.open(store.folder)) as again:
        assert ids_of(again.view()) == [1] and again.write(Change(some(2, 3))).numbers.tolist() == [1, 2]


@pytest.mark.parametrize("code", [sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY])
def test_errors_of_sqlite_about_the_disk_are_those_of_the_system(tmp_path, code):
    error = sqlite3.OperationalError("words of SQLite")
    error.sqlite_errorcode = code
    found = database.told(tmp_path, error)
    wanted = {sqlite3.SQLITE_FULL: errno.ENOSPC, sqlite3.SQLITE_IOERR: errno.EIO, sqlite3.SQLITE_BUSY: errno.EBUSY}[code]
    assert isinstance(found, OSError) and found.errno == wanted and "index.db: words of SQLite" in str(found)


def test_an_interruption_is_an_error_for_all_that_wait(store, monkeypatch):
    """The thread that commits is interrupted; the one that waited for it gets an error, and does not hang."""
    errors: list[BaseException] = []

    def interrupted(self, row, data):
        raise KeyboardInterrupt

    def write(own: int) -> None:
        try:
            store.write(Change(some(own)))
        except BaseException as error:
            errors.append(error)

    monkeypatch.setattr(database.Database, "append", interrupted)
    threads = [Thread(target=write, args=[own]) for own in range(2)]
    with store.lock:
        for thread in threads:
            thread.start()
        while len(store.turns.waiting) < 2:
            pass
    for thread in threads:
        thread.join()
    assert sorted(type(error).__name__ for error in errors) == ["InterruptedError", "KeyboardInterrupt"]


def test_a_closed_index_says_so(store):
    store.write(Change(some(1)))
    view = store.view()
    store.close()
    store.close()
    for call in (
        store.view,
        store.flush,
        store.compact,
        store.check,
        store.info,
        lambda: store.write(Change(some(2))),
        lambda: store.backup(Path("x")),
    ):
        with pytest.raises(UsageError, match="this index is closed"):
            call()
    assert ids_of(view) == [1]


def test_an_index_that_was_replaced_says_so(store):
    store.folder.rename(store.folder.with_name("moved"))
    embedded.create(store.folder, FULL).close()
    for call in (store.view, lambda: store.write(Change(some(2)))):
        with pytest.raises(UsageError, match="another index is at this path"):
            call()


def test_a_forked_process_cannot_use_the_index_and_takes_nothing_from_its_parent(store):
    store.write(Change(some(1)))
    reader = embedded.open(store.folder, read_only=True)
    child = os.fork()
    if child == 0:
        right = 0
        for call in (lambda: store.write(Change(some(2))), store.view, reader.view, store.flush, store.check):
            try:
                call()
            except UsageError as error:
                right += "opened before the process was forked" in str(error)
        store.close()
        reader.close()
        with closing(embedded.open(store.folder, read_only=True)) as own:
            right += len(own.view())
        os._exit(right)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 6
    assert store.write(Change(some(2))).numbers.tolist() == [1]
    assert len(reader.view()) == 2
    with pytest.raises(UsageError, match="has this index open for writing"):
        embedded.open(store.folder)
    reader.close()
    store.close()
    embedded.open(store.folder).close()


def test_relaxed_says_what_it_gives_up(tmp_path):
    with closing(embedded.create(tmp_path / "x", FULL, durability="relaxed")) as store:
        assert store.db.connection.execute("pragma synchronous").fetchone()[0] == 1
        assert store.info()["durability"] == "a change survives the end of the process but not power loss"
        store.write(Change(some(1)))
        store.flush()
        assert store.db.connection.execute("pragma synchronous").fetchone()[0] == 1
    with closing(embedded.open(tmp_path / "x")) as store:
        assert store.db.connection.execute("pragma synchronous").fetchone()[0] == 2 and len(store.view()) == 1
        assert store.info()["durability"] == "a change survives the end of the process and power loss"
