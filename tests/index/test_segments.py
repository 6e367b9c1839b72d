"""Segments: equal items make equal bytes however they came, sizes are as planned, and damage of files is found."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xxhash

from likewise.errors import FormatError, UsageError
from likewise.index import segment
from likewise.index.files import ENTRY, TRAILER, Arrays
from likewise.index.memory import MemoryStore
from likewise.index.parts import Parts, merged
from likewise.index.segment import Building, Form, Segment, files
from likewise.index.store import KEY_BITS, Change, Items
from likewise.index.tail import Tail
from likewise.kernels.checksums import BLOCK

BANDS = 3
FORMS = (Form(BANDS, "full", 64, 0), Form(BANDS, "compact", 48, 0), Form(BANDS, "none", 8, 7))
NO_NUMBERS = np.zeros(0, np.int64)
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
def test_any_flipped_byte_is_found_by_check_and_any_other_length_when_files_are_opened(form: Form, tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    whole.mkdir()
    numbers = np.arange(60) * 3
    sound = built(whole, 1, form, numbers, items(60, form, distinct=40))
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


def uses(all_: Items, some: slice) -> list[Callable[[Parts], Any]]:
    """All ways to read a view of items, for some of them."""
    numbers = np.arange(len(all_.ids))[some].copy()  # as kernels expect them
    return [
        lambda view: view.members(all_.keys[some], all_.copy[some]),
        lambda view: view.contents(numbers),
        lambda view: view.copies(numbers),
        lambda view: view.ids(numbers),
        lambda view: view.find(all_.ids[some]),
        lambda view: view.shares_after(all_.keys[some], all_.size[some], len(all_.ids) - 1 - numbers[0]),
    ]


def scanned(view: Parts) -> list[Any]:
    return [[numbers, each.ids, each.keys, each.copy, each.size, each.words, each.slots] for numbers, each in view.scan()]


def rebuilt(view: Parts) -> list[Any]:
    return [scanned(Parts.of(view.form, [part], NO_NUMBERS, view.last)) for part in merged(view, view.parts, lambda: Building(view.form))]


def plain(found: Any) -> Any:
    """An answer in Python's types."""
    if isinstance(found, (tuple, list)):
        return [plain(each) for each in found]
    return found.tolist() if isinstance(found, np.ndarray) else found


@each_form
@pytest.mark.parametrize("kind", segment.SUFFIXES)
def test_with_a_flipped_bit_anywhere_each_answer_is_right_or_an_error_that_names_the_file(form: Form, kind: str, tmp_path: Path) -> None:
    """In the first and last byte of each array, and between; arrays have up to several blocks."""
    count, random = 3000, np.random.default_rng(0)
    all_ = items(count, form, distinct=2500)
    all_.keys[: count // 3, 0] = random.integers(0, 1 << KEY_BITS, count // 3, np.uint64)  # else one bucket has blocks of its own
    made = built(tmp_path, 1, form, np.arange(count), all_)
    some = [*uses(all_, slice(0, 4)), *uses(all_, slice(1500, 1504)), *uses(all_, slice(2996, 3000)), *uses(all_, slice(0, 3000)), scanned, rebuilt]
    right = [plain(use(Parts.of(form, [made], NO_NUMBERS, count - 1))) for use in some]
    path = tmp_path / f"00000001{kind}"
    data, arrays = path.read_bytes(), Arrays(path, kind[1:], *segment.ARRAYS[segment.SUFFIXES.index(kind)])
    begins = [each.ctypes.data - arrays.blocks.data for each in arrays.arrays]
    places = [(begin, begin + each.nbytes - 1) for begin, each in zip(begins, arrays.arrays, strict=True) if len(each)]
    outcomes = set()
    for place in {*np.ravel(places).tolist(), *random.integers(0, len(data), 12).tolist()}:
        path.write_bytes(data[:place] + bytes([data[place] ^ 1 << place % 8]) + data[place + 1 :])
        failed = []
        try:
            view = Parts.of(form, [Segment.open(tmp_path, 1, form, made.checksum)], NO_NUMBERS, count - 1)
            assert [path.name in fault for fault in view.parts[0].check()] == [True]
        except FormatError as error:
            assert path.name in str(error)
            continue
        for number, use in enumerate(some):
            try:
                assert plain(use(view)) == right[number]
            except FormatError as error:
                failed.append(number)
                assert path.name in str(error)
                assert "restore the index from a backup" in str(error)
        assert failed or place not in np.ravel(places)
        outcomes.add(len(failed))
    assert max(outcomes) > 2 and min(outcomes) < len(some)


def test_a_block_of_any_array_is_compared_by_each_call_that_uses_it(tmp_path: Path) -> None:
    """In each array of more than two blocks, the first block that holds nothing else is damaged from begin to end."""
    count, form, random = 1 << 18, FORMS[1], np.random.default_rng(0)
    keys = random.integers(0, 1 << KEY_BITS, (count, BANDS), np.uint64)
    copy = np.stack([random.integers(0, 1 << 64, count, np.uint64), random.integers(0, 1 << 32, count, np.uint64)], axis=1)
    words = random.integers(0, 1 << 48, count, np.uint64) << np.uint64(16)
    all_ = Items([b"%d" % i for i in range(count)], keys, copy, np.ones(count, np.uint32), words, np.zeros((count, 0), np.uint8))
    made = built(tmp_path, 1, form, np.arange(count), all_, count)
    some = uses(all_, slice(0, None, 61))
    right = [plain(use(Parts.of(form, [made], NO_NUMBERS, count - 1))) for use in some]
    refused: dict[tuple[str, int], list[int] | str] = {}
    for path, (number, _) in zip(files(tmp_path, 1), segment.ARRAYS, strict=True):
        data, arrays = np.fromfile(path, np.uint8), Arrays(path, path.suffix[1:], number)
        for place, each in enumerate(arrays.arrays):
            at = each.ctypes.data - arrays.blocks.data
            begin = -(-at // BLOCK) * BLOCK
            end = begin + BLOCK
            if end > at + each.nbytes:
                continue
            wrong = data.copy()
            wrong[begin:end] ^= 1
            path.write_bytes(wrong.tobytes())
            said = f"{path.name} is damaged: bytes {begin + 1:,} to {end:,} are not what was written"
            try:
                view = Parts.of(form, [Segment.open(tmp_path, 1, form)], NO_NUMBERS, count - 1)
            except FormatError as error:
                assert said in str(error)
                refused[path.suffix, place] = "open"
                continue
            failed = refused[path.suffix, place] = []
            for number, use in enumerate(some):
                try:
                    assert plain(use(view)) == right[number]
                except FormatError as error:
                    assert said in str(error)
                    failed.append(number)
        path.write_bytes(data.tobytes())
    members, contents, copies, ids, find = range(5)
    of_bands = {(".bands", 1): "open", (".bands", 2): [members], (".bands", 4): [find]}
    of_items = {(".items", 4): [contents, copies], (".items", 5): [contents, copies], (".items", 6): [copies]}
    of_ids = {(".items", place): [ids, find] for place in (7, 8, 9)}
    of_sizes = {(".sets", place): [contents, copies] for place in (1, 2)}  # the copies of an item are found by its content
    of_sets = {(".sets", place): [contents] for place in (0, 3, 4)}
    assert refused == of_bands | of_items | of_ids | of_sizes | of_sets


def test_of_several_segments_the_one_that_is_damaged_is_named_and_the_others_answer(tmp_path: Path) -> None:
    all_, form = items(3000, FORMS[0]), FORMS[0]
    for name, begin in ((1, 0), (2, 1000), (3, 2000)):
        built(tmp_path, name, form, np.arange(begin, begin + 1000), all_.at(np.arange(begin, begin + 1000)))
    path = tmp_path / "00000002.sets"
    data = bytearray(path.read_bytes())
    data[BLOCK] ^= 1
    path.write_bytes(data)
    view = Parts.of(form, [Segment.open(tmp_path, name, form) for name in (1, 2, 3)], NO_NUMBERS, 2999)
    with pytest.raises(FormatError, match=r"00000002\.sets is damaged: bytes 16,385 to 32,768 are not what was written"):
        view.contents(np.arange(3000))
    others = np.array([*range(1000), *range(2000, 3000)])
    assert plain(view.contents(others).words) == plain(all_.at(others).words)
    assert view.find(all_.ids).tolist() == [*range(3000)]
    assert [path.name in fault for part in view.parts for fault in part.check()] == [True]


def sealed(data: bytes) -> bytes:
    """A file with the checksums that its bytes have."""
    magic, kind, length, count, *_ = TRAILER.unpack(data[-TRAILER.size :])
    lists = length - TRAILER.size - count * ENTRY.size
    end = lists - 8 * -(-lists // (BLOCK + 8))
    sums = [xxhash.xxh64_intdigest(data[begin : min(end, begin + BLOCK)]) | 1 for begin in range(0, end, BLOCK)]
    after = np.array(sums, np.uint64).tobytes() + data[lists : -TRAILER.size]
    trailer = TRAILER.pack(magic, kind, length, count, xxhash.xxh3_128_digest(after), bytes(16))[:48]
    return data[:end] + after + trailer + xxhash.xxh3_128_digest(trailer)


@each_form
def test_kernels_read_nothing_that_is_not_there(form: Form, tmp_path: Path) -> None:
    """Bytes are changed and have the right checksums: each call returns, or raises FormatError."""
    all_ = items(200, form, distinct=150)
    built(tmp_path, 1, form, np.arange(200), all_)
    random, raised = np.random.default_rng(0), 0
    for path in files(tmp_path, 1):
        data = path.read_bytes()
        assert sealed(data) == data
        for _ in range(150):
            places = random.integers(0, len(data) - 640, 8)
            changed = bytearray(data)
            for place in places.tolist():
                changed[place] = random.integers(0, 256)
            path.write_bytes(sealed(changed))
            try:
                view = Parts.of(form, [Segment.open(tmp_path, 1, form)], np.arange(0, 200, 9), 199)
                for use in (*uses(all_, slice(0, 200)), scanned):
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
