"""Overfull buckets of segments: the candidates of a query by the definition on arrays, and the share of the files that it reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from likewise.errors import FormatError
from likewise.index.meeting import met
from likewise.index.overfull import Heads
from likewise.index.parts import Parts
from likewise.index.segment import Building, Form, Segment
from likewise.index.store import Items
from likewise.stages import candidates

BANDS, MANY = 4, 20_000
FORM = Form(BANDS, "none", 64, 1)
NAMES = np.arange(1, 1 + BANDS, dtype=np.uint64) << np.uint64(40)  # the keys of the query


def items(first: int, count: int, share: float) -> Items:
    """Items that have each key of the query with this probability, and else one of few others."""
    draw = np.random.default_rng(first)
    keys = np.where(draw.random((count, BANDS)) < share, NAMES, draw.integers(0, 1 << 12, (count, BANDS), np.uint64) << np.uint64(36))
    copy = np.stack([np.arange(first + 1, first + count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15), np.zeros(count, np.uint64)], axis=1)
    ids = [b"%d" % number for number in range(first, first + count)]
    return Items(ids, keys, copy, np.ones(count, np.uint32), np.zeros(0, np.uint64), np.zeros((count, 1), np.uint8))


def segments(folder: Path, blocks: list[Items]) -> list[Segment]:
    made, first = [], 0
    for name, block in enumerate(blocks):
        building = Building(FORM, folder, name)
        building.add(np.arange(first, first + len(block)), block)
        building.finish()
        made.append(Segment.open(folder, name, FORM))
        first += len(block)
    return made


def by_definition(blocks: list[Items], gone: np.ndarray) -> list[int]:
    keys, copy = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("keys", "copy"))
    left = np.setdiff1d(np.arange(len(keys)), gone)
    return met(left, keys[left], copy[left], NAMES[None], np.zeros((1, 2), np.uint64)).content.tolist()


def answer(parts: list[Segment], gone: np.ndarray) -> list[int]:
    found = Parts.of(FORM, parts, gone, MANY).members(NAMES[None], np.zeros((1, 2), np.uint64))
    assert found.crowded.tolist() == [True]
    return found.content.tolist()


def no_scan(*_: object) -> np.ndarray:
    raise AssertionError("a whole band was read for the keys of a bucket")


@pytest.mark.parametrize("share", [1, 0.9, 0.5])
def test_a_first_query_reads_hardly_more_than_it_needs(share, tmp_path, monkeypatch):
    """The bucket is overfull in all bands. Each of these is 10 blocks long."""
    blocks = [items(0, MANY, share)]
    (segment,) = segments(tmp_path, blocks)
    file = segment._held[0]
    monkeypatch.setattr(Segment, "keys", no_scan)
    unread = np.count_nonzero(file._unread)
    found = answer([segment], np.zeros(0, np.int64))
    assert found == by_definition(blocks, np.zeros(0, np.int64)) and len(found) >= candidates.BUDGET
    assert np.count_nonzero(file._unread) >= unread - 4 * BANDS > 4 * BANDS
    others = np.setdiff1d(np.arange(MANY), found)[::2]  # who is met stays, so nothing else is needed
    assert answer([segment], others) == found


@pytest.mark.parametrize("share", [1, 0.9, 0.5])
@pytest.mark.parametrize("removed", [slice(0, 1), slice(3, None, 7), slice(0, None)])
def test_those_that_were_removed_are_replaced_by_the_next(share, removed, tmp_path):
    blocks = [items(0, 3000, share), items(3000, 50, share), items(3050, 2000, share)]
    parts = segments(tmp_path, blocks)
    before = answer(parts, np.zeros(0, np.int64))
    assert before == by_definition(blocks, np.zeros(0, np.int64))
    gone = np.array(before, np.int64)[removed]
    assert answer(parts, gone) == by_definition(blocks, gone) != before


def test_a_segment_of_another_budget_gives_the_same(tmp_path, monkeypatch):
    blocks = [items(0, 3000, 0.5)]
    parts = segments(tmp_path, blocks)
    for budget, finer in ((64, 2), (128, 1)):
        monkeypatch.setattr(candidates, "BUDGET", budget)
        monkeypatch.setattr(candidates, "FINER", finer)
        assert answer(parts, np.zeros(0, np.int64)) == by_definition(blocks, np.zeros(0, np.int64))


def test_lists_that_do_not_fit_together_are_refused(tmp_path):
    rows, keys = np.arange(3, dtype=np.uint32), np.arange(3, dtype=np.uint64)
    names = np.ones(4, np.uint64)
    assert Heads([names, np.array([0, 3], np.uint64), rows, keys], 4).range_of(1, (0, 0, 0)) == (0, 3)
    for ends, some in (([0, 2], rows), ([1, 3], rows), ([0, 3], rows[:2]), ([0, 1, 3], rows)):
        with pytest.raises(ValueError):
            Heads([names, np.array(ends, np.uint64), some, keys], 4)
    with pytest.raises(ValueError):
        Heads([names[:3], np.array([0, 3], np.uint64), rows, keys], 4)


def test_a_part_of_an_array_is_compared_before_it_is_read(tmp_path):
    segments(tmp_path, [items(0, MANY, 0.5)])
    path = tmp_path / "00000000.bands"
    data = bytearray(path.read_bytes())
    kept = Segment.open(tmp_path, 0, FORM)._held[0]
    data[kept.arrays[2].ctypes.data - kept._bytes.ctypes.data + 8 * MANY] ^= 1  # of entry 20,000
    path.write_bytes(data)
    damaged = Segment.open(tmp_path, 0, FORM)._held[0]
    assert damaged.read(2, 10, 2000).tolist() == kept.read(2, 10, 2000).tolist() == kept.arrays[2][10:2000].tolist()
    for begin, end in ((MANY, MANY + 1), (10, 3 * MANY)):
        with pytest.raises(FormatError, match=r"00000000\.bands is damaged: bytes [\d,]+ to [\d,]+ are not what was written"):
            damaged.read(2, begin, end)
