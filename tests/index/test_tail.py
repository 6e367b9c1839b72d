"""Readers of a tail while one thread appends: each snapshot gives the same answers for ever."""

from __future__ import annotations

from threading import Event, Thread

import numpy as np

from likewise.index.parts import Parts
from likewise.index.segment import Form
from likewise.index.store import Items
from likewise.index.tail import Tail

FORM = Form(4, "full", 64, 0)


def items(begin: int, end: int) -> Items:
    """Item i has the content i % 500 and the words i % 500, i % 500 + 1, ..."""
    of = np.arange(begin, end) % 500
    keys = np.stack([of % (60 + 10 * band) for band in range(4)], axis=1).astype(np.uint64)
    size = (1 + of % 9).astype(np.uint32)
    words = np.concatenate([np.arange(one, one + 1 + one % 9) for one in of.tolist()]).astype(np.uint64)
    return Items(
        [b"%d" % i for i in range(begin, end)], keys, np.stack([of, of], axis=1).astype(np.uint64), size, words, np.zeros((len(of), 0), np.uint8)
    )


def answers(view: Parts, most: int) -> tuple:
    """The answers of a view of ``most`` items, as plain values."""
    asked = items(0, min(most, 500))
    met = view.members(asked.keys, asked.copy)
    contents = view.contents(met.content)
    offsets, numbers = view.copies(met.content)
    found = view.find([b"%d" % i for i in range(most + 50)])
    return (*(each.tolist() for each in (*met, *contents, offsets, numbers, found)), view.ids(found[:most]))


def test_snapshots_give_the_same_answers_while_one_thread_appends_and_others_read() -> None:
    tail, view, views = Tail(FORM), Parts(FORM, (), -1), list[Parts]()
    faults, seen, done = list[int](), list[dict[int, tuple]](), Event()

    def read(reader: int) -> None:
        known: dict[int, tuple] = {}
        while not (done.is_set() and known):
            if views:
                some = views[reader * (len(views) - 1) // 2]
                if known.setdefault(some.last, found := answers(some, some.last + 1)) != found:
                    faults.append(some.last)
        seen.append(known)

    readers = [Thread(target=read, args=(reader,)) for reader in range(3)]
    for thread in readers:
        thread.start()
    for begin in range(0, 6000, 40):
        tail.append(np.arange(begin, begin + 40), items(begin, begin + 40))
        view = view.with_tail(tail.snapshot(), begin + 39)
        views.append(view)
    done.set()
    for thread in readers:
        thread.join()
    assert faults == [] and len(seen) == 3
    for known in seen:
        for last, found in known.items():
            alone = Tail(FORM)
            alone.append(np.arange(last + 1), items(0, last + 1))
            assert answers(Parts(FORM, (), -1).with_tail(alone.snapshot(), last), last + 1) == found
