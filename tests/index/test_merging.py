"""Which segments of an index are merged."""

from __future__ import annotations

import pytest

from index_stores import FULL, some
from likewise.index import merging
from likewise.index.memory import MemoryStore
from likewise.index.merging import named, to_merge
from likewise.index.store import Change


@pytest.mark.parametrize(
    ("items", "removed", "merged"),
    [
        ([], [], []),
        ([10] * 8, [0] * 8, []),
        ([10] * 9, [0] * 9, [10] * 9),
        ([100] + [10] * 8, [0] * 9, [10] * 8),
        ([1000, 800, 400, 200, 100, 50, 25, 12, 5], [0] * 9, [12, 5]),
        ([30, 30, 20, 10, 10, 10, 10, 10, 10], [0] * 9, [30, 30, 20, 10, 10, 10, 10, 10, 10]),
        ([500, 64, 8, 8, 8, 8, 8, 8, 8], [0] * 9, [8] * 7),
        ([10, 10], [0, 3], [10]),  # more than a quarter was removed
        ([12, 12], [0, 3], []),
        ([1 << 24] * 9, [0] * 9, []),  # as large as can be
        ([1 << 24] * 8 + [10, 5], [0] * 10, [10, 5]),
    ],
)
def test_which_segments_are_merged(items, removed, merged):
    begin, end = to_merge(items, removed)
    assert items[begin:end] == merged and (end == len(items) or not merged or merged == [10])


def test_segments_stay_few_and_items_are_seldom_written_again():
    """1,000 flushes of equal size: each item is written again 4 times on average, where 8 segments at most are there."""
    sizes: list[int] = []
    written = 0
    for _ in range(1000):
        sizes.append(1)
        begin, end = to_merge(sizes, [0] * len(sizes))
        if end > begin:
            written += sum(sizes[begin:end])
            sizes[begin:end] = [sum(sizes[begin:end])]
        assert len(sizes) <= merging.SEGMENTS
    assert written / 1000 < 5


def test_segments_in_memory_follow_the_same_rule(monkeypatch):
    """Of four segments the newest are merged, and one of which more than a quarter was removed is written again."""
    monkeypatch.setattr(merging, "TAIL", 4)
    monkeypatch.setattr(merging, "SEGMENTS", 3)
    store = MemoryStore(FULL)
    sizes = []
    for begin in range(0, 28, 4):
        store.write(Change(some(*range(begin, begin + 4))))
        sizes.append([one.items for one in named(store.view())])
    assert sizes == [[4], [4, 4], [4, 4, 4], [16], [16, 4], [16, 4, 4], [16, 12]]
    store.write(Change(some(), remove=[b"%d" % one for one in range(5)]))
    store.write(Change(some(*range(28, 32))))
    assert [one.items for one in named(store.view())] == [11, 12, 4] and len(store.view()) == 27
