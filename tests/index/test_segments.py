"""Segments: equal items make equal bytes however they came, sizes are as planned, and damage of files is found."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likewise.errors import FormatError, UsageError
from likewise.index import segment
from likewise.index.memory import MemoryStore
from likewise.index.parts import Parts, merged
from likewise.index.segment import Building, Form, Segment, files
from likewise.index.store import KEY_BITS, Change, Items
from likewise.index.tail import Tail

BANDS = 3
FORMS = (Form(BANDS, "full", 64, 0), Form(BANDS, "compact", 48, 0), Form(BANDS, "none", 8, 7))
each_form = pytest.mark.parametrize("form", FORMS, ids=[form.sets for form in FORMS])


def items(count: int, form: Form, *, distinct: int | None = None, first: int = 0, seed: int = 0) -> Items:
    """Items of which the later ones are copies of the first ``distinct``, with a few empty ones."""
    random = np.random.default_rng(seed)
    many = distinct or count
    of = np.concatenate([np.arange(many), random.integers(0, many, count - many)])
    sizes = random.integers(0, 40, many)
    sets = [np.sort(random.integers(0, 1 << 48, size, np.uint64)) << np.uint64(16) for size in sizes.tolist()]
    keys = random.integers(0, 1 << KEY_BITS, (many, form.bands), np.uint64)
    keys[: many // 3, 0] = 5
    copy = np.stack([random.integers(0, 1 << 64, many, np.uint64), random.integers(0, 1 << 32, many, np.uint64)], axis=1)
    words = np.concatenate([sets[one] for one in of.tolist()]) if form.sets != "none" else np.zeros(0, np.uint64)
    slots = random.integers(0, 256, (many, form.slots), np.uint8)
    return Items([b'"%d"' % (first + i) for i in range(count)], keys[of], copy[of], sizes[of].astype(np.uint32), words, slots[of])


def built(folder: Path | None, name: int, form: Form, numbers: np.ndarray, all_: Items, block: int = 1000) -> Segment:
    making = Building(form, folder, name)
    for begin in range(0, len(all_), block):
        some = all_.since(begin)
        ends = int(some.size[:block].sum()) if len(some.words) else 0
        some = Items(some.ids[:block], some.keys[:block], some.copy[:block], some.size[:block], some.words[:ends], some.slots[:block])
        assert making.add(numbers[begin : begin + block], some) == len(some)
    return making.finish()


def bytes_of(folder: Path, name: int) -> list[bytes]:
    return [path.read_bytes() for path in files(folder, name)]


@each_form
def test_equal_items_make_equal_bytes_whatever_the_blocks_and_whatever_they_were_merged_from(form: Form, tmp_path: Path) -> None:
    """Two segments and a tail, of which every fifth item was removed, merged; and the items that are left, in one go and in blocks of 37."""
    all_ = items(3000, form, distinct=2000)
    numbers = np.arange(3000) * 2 + 10
    parts: list[Any] = []
    for name, (begin, end) in enumerate(((0, 1000), (1000, 2500))):
        some = selected(all_, np.arange(begin, end))
        parts.append(built(tmp_path, name, form, numbers[begin:end], some))
    tail = Tail(form)
    for begin in range(2500, 3000, 77):
        end = min(3000, begin + 77)
        tail.append(numbers[begin:end], selected(all_, np.arange(begin, end)))
    view = Parts.of(form, parts, np.zeros(0, np.int64), 6008).with_tail(tail.snapshot(), 6008)
    view = view.with_gone(numbers[::5])
    (made,) = merged(view, view.parts, lambda: Building(form, tmp_path, 7))
    left = np.setdiff1d(np.arange(3000), np.arange(0, 3000, 5))
    for name, block in ((8, 3000), (9, 37)):
        built(tmp_path, name, form, numbers[left], selected(all_, left), block)
        assert bytes_of(tmp_path, name) == bytes_of(tmp_path, 7)
    assert (made.items, made.first, made.last, made.contents) == (2400, 12, 6008, len(np.unique(all_.copy[left], axis=0)))
    assert made.bytes == sum(map(len, bytes_of(tmp_path, 7))) and made.check() == []
    again = view.exchanged(view.parts, [made])
    assert [(n.tolist(), i.ids) for n, i in again.scan(-1, 10**6)] == [(numbers[left].tolist(), selected(all_, left).ids)]
    assert len(again) == 2400 and again.removed == 0


def selected(all_: Items, places: np.ndarray) -> Items:
    ends = np.cumsum(all_.size, dtype=np.int64)
    words = [all_.words[ends[i] - all_.size[i] : ends[i]] for i in places.tolist()] if len(all_.words) else []
    return Items(
        [all_.ids[i] for i in places.tolist()],
        all_.keys[places],
        all_.copy[places],
        all_.size[places],
        np.concatenate([all_.words[:0], *words]),
        all_.slots[places],
    )


def test_what_was_removed_while_parts_were_merged_stays_removed() -> None:
    form = FORMS[0]
    first, second = (built(None, 0, form, np.arange(100) + 100 * part, items(100, form, first=100 * part, seed=part)) for part in (0, 1))
    before = Parts.of(form, [first, second], np.array([3, 150]), 199)
    (made,) = merged(before, before.parts, lambda: Building(form))
    after = before.with_gone(np.array([4, 199])).exchanged(before.parts, [made])
    assert made.items == 198 and len(after) == 196 and after.gone().tolist() == [4, 199]
    assert after.find([b'"3"', b'"4"', b'"5"', b'"150"', b'"151"', b'"199"']).tolist() == [-1, -1, 5, -1, 151, -1]
    none_left = before.with_gone(np.setdiff1d(np.arange(200), [3, 150]))
    assert merged(none_left, none_left.parts, lambda: Building(form)) == [] and len(none_left.exchanged(none_left.parts, []).parts) == 0


def test_more_items_than_a_segment_holds_go_into_several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment, "MOST", 64)
    form = FORMS[1]
    store, all_ = MemoryStore(form._asdict()), items(200, form, distinct=50)
    assert store.load(iter([selected(all_, np.arange(0, 90)), selected(all_, np.arange(90, 200))])) == 200
    assert [part.items for part in store.view().parts] == [64, 64, 64, 8]
    met = store.view().members(all_.keys[:50], all_.copy[:50])
    full = np.flatnonzero(all_.size[:50] > 0)
    assert {(query, number) for query, number in zip(met.query.tolist(), met.content.tolist(), strict=True)} >= {(one, one) for one in full.tolist()}
    offsets, numbers = store.view().copies(full)
    assert [numbers[offsets[i] : offsets[i + 1]].tolist() for i in range(len(full))] == [
        np.flatnonzero((all_.copy == all_.copy[one]).all(axis=1)).tolist() for one in full.tolist()
    ]
    store.write(Change(Items([], all_.keys[:0], all_.copy[:0], all_.size[:0], all_.words[:0], all_.slots[:0]), remove=all_.ids[:150]))
    store.compact()
    assert [part.items for part in store.view().parts] == [50] and store.view().ids(np.arange(150, 200)) == all_.ids[150:]


def test_a_document_takes_the_bytes_that_were_planned(tmp_path: Path) -> None:
    """Of 196 shingles, with 16 bands and a number as its id; in each file a few hundred bytes more, and the borders of small segments."""
    count, random = 1 << 16, np.random.default_rng(0)
    keys = random.integers(0, 1 << KEY_BITS, (count, 16), np.uint64)
    copy = np.stack([random.integers(0, 1 << 64, count, np.uint64), random.integers(0, 1 << 32, count, np.uint64)], axis=1)
    words = np.sort(random.integers(0, 1 << 48, (count, 196), np.uint64) << np.uint64(16), axis=1).ravel()
    ids = [b"%d" % (10**5 + i) for i in range(count)]
    sizes = np.full(count, 196, np.uint32)
    for name, (sets, most) in enumerate((("none", 260), ("compact", 1210), ("full", 1740))):
        slots = np.zeros((count, 96 if sets == "none" else 0), np.uint8)
        all_ = Items(ids, keys, copy, sizes, words[:0] if sets == "none" else words, slots)
        made = built(tmp_path, name, Form(16, sets, 48, slots.shape[1]), np.arange(count), all_, count)
        assert made.bytes / count < most - 0.2


@each_form
def test_any_flipped_byte_is_found_by_check_and_any_other_length_when_files_are_opened(
    form: Form, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    whole.mkdir()
    numbers = np.arange(60) * 3
    sound = built(whole, 1, form, numbers, items(60, form, distinct=40))
    monkeypatch.setattr("likewise.index.files.SMALL", 0)  # what is large is read by `check` alone
    shutil.copytree(whole, broken)
    for path in files(broken, 1):
        data = path.read_bytes()
        for place in [*range(0, len(data), 997), *range(max(0, len(data) - 700), len(data))]:
            path.write_bytes(data[:place] + bytes([data[place] ^ 1 << place % 8]) + data[place + 1 :])
            try:
                found = Segment.open(broken, 1, form, sound.checksum).check()
            except FormatError as error:
                found = [str(error)]
            assert len(found) == 1 and str(broken) in found[0] and "restore the index from a backup" in found[0]
        for length in {0, 1, 63, 64, len(data) // 2, len(data) - 64, len(data) - 1, len(data) + 1, len(data) + 64}:
            path.write_bytes((data + bytes(64))[:length])
            with pytest.raises(FormatError, match="is damaged"):
                Segment.open(broken, 1, form)
        path.unlink()
        with pytest.raises(FormatError, match="there is no such file"):
            Segment.open(broken, 1, form)
        path.write_bytes(data)
    assert Segment.open(broken, 1, form, sound.checksum).check() == []
    with pytest.raises(FormatError, match="not the files that the index names"):
        Segment.open(broken, 1, form, bytes(16))


@each_form
def test_kernels_read_nothing_that_is_not_there(form: Form, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes are flipped in arrays that are not compared with their checksums: each call returns, or raises FormatError."""
    made, all_ = built(tmp_path, 1, form, np.arange(200), items(200, form, distinct=150)), items(200, form, distinct=150)
    monkeypatch.setattr("likewise.index.files.SMALL", 0)
    random, raised = np.random.default_rng(0), 0
    for path in files(tmp_path, 1):
        data = path.read_bytes()
        for _ in range(150):
            places = random.integers(0, len(data) - 640, 8)
            changed = bytearray(data)
            for place in places.tolist():
                changed[place] = random.integers(0, 256)
            path.write_bytes(changed)
            try:
                part = Segment.open(tmp_path, 1, form, made.checksum)
                view = Parts.of(form, [part], np.arange(0, 200, 9), 199)
                for use in (
                    lambda view: view.members(all_.keys, all_.copy),
                    lambda view: view.contents(np.arange(200)),
                    lambda view: view.copies(np.arange(200)),
                    lambda view: view.ids(np.arange(200)),
                    lambda view: view.find(all_.ids),
                    lambda view: view.shares_after(all_.keys, all_.size, 100),
                    lambda view: [*view.scan()],
                ):
                    try:
                        use(view)
                    except FormatError:
                        raised += 1
            except FormatError:
                raised += 1
        path.write_bytes(data)
    assert raised > 100


def test_sets_that_do_not_ascend_cannot_be_kept_in_few_bits() -> None:
    words = np.array([3, 2], np.uint64) << np.uint64(16)
    one = Items([b"1"], np.ones((1, BANDS), np.uint64), np.ones((1, 2), np.uint64), np.array([2], np.uint32), words, np.zeros((1, 0), np.uint8))
    with pytest.raises(UsageError, match="need sets=full or sets=none"):
        Building(FORMS[1]).add(np.arange(1), one)


def test_a_building_that_is_abandoned_leaves_no_file(tmp_path: Path) -> None:
    making = Building(FORMS[0], tmp_path, 3)
    making.add(np.arange(50), items(50, FORMS[0]))
    assert len([*tmp_path.iterdir()]) == 3
    making.abandon()
    assert [*tmp_path.iterdir()] == []
