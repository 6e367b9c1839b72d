"""Stores on servers against the store by definition, where they ask in small steps; bulk loads; and threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.errors import FormatError, UsageError
from likewise.index import opened
from likewise.index.store import Change, Items
from plain_store import PlainStore, parted

BUDGET = 3
#: The kept content of an item: (settings, the lowest word).
KEPT = {
    "full": ({"sets": "full", "bits": 64, "bands": 4, "slots": 0}, 1),
    "compact": ({"sets": "compact", "bits": 48, "bands": 2, "slots": 0}, 1 << 16),
    "none": ({"sets": "none", "bits": 8, "bands": 1, "slots": 4}, 0),
}
#: Numbers of rows and numbers that stores on servers handle at once: {module: {name: small}}.
LIMITS = {
    "postgres_view": {"TOGETHER": 5, "ROWS": 4, "ROWS_OF_ONE": 5},
    "valkey_view": {"TOGETHER": 5, "AT_ONCE": 3, "COPIES": 1},
    "valkey": {"LOADED": 2},
}
contents = st.integers(0, 11)  # each has keys, words and slots of its own; 0: empty
names = st.integers(0, 6)
batches = st.lists(st.tuples(names, contents), max_size=6)
changes = st.tuples(
    batches, st.sampled_from(["refuse", "skip", "skip", "replace", "replace", "require"]), st.none() | st.integers(-1, 5), st.lists(names, max_size=2)
)


def items_of(batch: list[tuple[int, int]], kept: str) -> Items:
    """Contents 1 to 11 share keys in many ways: of each band there are two keys, and bands have equal ones."""
    about, word = KEPT[kept]
    which = np.array([content for _, content in batch], np.uint64)
    keys = np.stack([which >> np.uint64(band) & np.uint64(1) for band in range(about["bands"])], axis=1) + np.uint64((1 << 48) - 2)
    size = which.astype(np.uint32)
    words = np.concatenate([np.zeros(0, np.uint64), *(np.arange(1, own + 1, dtype=np.uint64) * np.uint64(word * (own + 1)) for own in size.tolist())])
    copy = np.stack([which << np.uint64(60), which + np.uint64((1 << 32) - 20)], axis=1)
    values = np.repeat(which.astype(np.uint8)[:, None], about["slots"], axis=1)
    return Items([b'"%d"' % name for name, _ in batch], keys, copy, size, words if word else words[:0], values)


def same_view(view: Any, plain: Any, kept: str) -> None:
    assert (len(view), view.last) == (len(plain), plain.last)
    ids = [b'"%d"' % name for name in range(8)]
    assert view.find(ids).tolist() == plain.find(ids).tolist()
    queries = items_of([(0, content) for content in range(1, 13)], kept)
    found, expected = (one.members(queries.keys, queries.copy) for one in (view, plain))
    assert [column.tolist() for column in found] == [column.tolist() for column in expected]
    for got, wanted in zip(view.contents(found.content), plain.contents(found.content), strict=True):
        assert got.tolist() == wanted.tolist() or not got.size == wanted.size == 0
    assert [column.tolist() for column in view.copies(found.content)] == [column.tolist() for column in plain.copies(found.content)]
    numbers = np.array(sorted(plain.items), np.int64)
    assert view.ids(numbers) == plain.ids(numbers)
    for most in (2, 4096):
        assert listed(view.scan(most=most), most) == listed(plain.scan(most=most), most)
    assert listed(view.scan(after=3), 4096) == listed(plain.scan(after=3), 4096)


def listed(blocks: Iterator[tuple[np.ndarray, Items]], most: int) -> list[tuple[int, Any]]:
    found = []
    for numbers, items in blocks:
        assert 0 < len(items) <= most
        found += zip(numbers.tolist(), parted(items), strict=True)
    return found


@pytest.fixture
def crowding(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Buckets of more than three are overfull."""
    monkeypatch.setattr("likewise.stages.candidates.BUDGET", BUDGET)


@pytest.mark.parametrize("kept", KEPT)
def test_views_are_those_of_the_definition_however_many_answers_they_take(
    kept: str, created: Callable[..., Any], crowding: None, monkeypatch: Any, scaled: Any
) -> None:
    for module, limits in LIMITS.items():
        for name, limit in limits.items():
            monkeypatch.setattr(f"likewise.index.{module}.{name}", limit)

    @settings(max_examples=scaled(100, 10))
    @given(steps=st.lists(changes, min_size=1, max_size=12))
    def check(steps: list[Any]) -> None:
        about = KEPT[kept][0]
        store, plain = created(about), PlainStore(about, about["bands"], budget=BUDGET)
        for batch, existing, back, remove in steps:
            before = (store.view(), plain.view()) if store.info()["store"] == "postgresql" else None
            after = None if back is None else plain.next - 1 - back
            change = Change(items_of(batch, kept), existing, after, [b'"%d"' % name for name in remove])
            outcome, expected = store.write(change), plain.write(change)
            assert outcome.numbers.tolist() == expected.numbers.tolist()
            assert (outcome.removed, list(outcome.refused), outcome.conflict) == (expected.removed, list(expected.refused), expected.conflict)
            same_view(store.view(), plain.view(), kept)
            if before is not None:
                same_view(*before, kept)
        assert store.check() == []
        assert store.info()["items"] == len(plain.items)
        store.flush()
        store.compact()
        same_view(store.view(), plain.view(), kept)

    check()


def test_a_bulk_load_gives_the_index_that_changes_give(created: Callable[..., Any]) -> None:
    rng = np.random.default_rng(5)
    batches = [[(10 * at + place, int(content)) for place, content in enumerate(rng.integers(0, 12, 9))] for at in range(4)]
    about = KEPT["full"][0]
    store, plain = created(about), PlainStore(about, about["bands"])
    blocks = [items_of(batch, "full") for batch in batches]
    assert store.load(iter(blocks)) == plain.load(iter(blocks)) == 36
    same_view(store.view(), plain.view(), "full")
    assert store.check() == [] and store.info()["items"] == 36
    change = Change(items_of([(3, 7), (50, 12)], "full"), "replace", remove=[b'"12"'])
    assert store.write(change).numbers.tolist() == plain.write(change).numbers.tolist() == [36, 37]
    same_view(store.view(), plain.view(), "full")
    with pytest.raises(UsageError, match="only an empty index takes a bulk load"):
        store.load(iter(blocks))


def test_a_load_that_breaks_leaves_no_index(created: Callable[..., Any], address: str) -> None:
    store = created(KEPT["full"][0])

    def blocks() -> Iterator[Items]:
        yield items_of([(1, 1)], "full")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.load(blocks())
    with pytest.raises(FormatError, match=r"is not an index yet: its bulk load goes on, or was interrupted; .*overwrite=True"):
        opened.opened(address, durability="relaxed")
    assert len(created(KEPT["full"][0]).view()) == 0


def test_threads_that_add_the_same_contents_add_each_once(created: Callable[..., Any]) -> None:
    """Each thread looks, decides, and writes only if nothing came meanwhile, as `add_new` does."""
    store = created(KEPT["full"][0])

    def add(thread: int) -> int:
        added = 0
        for content in range(1, 12):
            item = items_of([(100 * thread + content, content)], "full")
            while True:
                view = store.view()
                met = view.members(item.keys, item.copy)
                if (view.contents(met.content).copy == item.copy[0]).all(1).any():
                    break
                if not store.write(Change(item, after=view.last)).conflict:
                    added += 1
                    break
        return added

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(add, range(6))) == 11
    assert len(store.view()) == 11 and store.check() == []


def test_an_index_is_seen_by_all_under_each_scheme(address: str) -> None:
    choices = {"durability": "relaxed"}
    other = address.replace("valkey:", "redis:").replace("postgresql:", "postgres:")
    with lw.Index.create(address, by="words:2", **choices) as ix:
        ix.add(["a b c d e", "a b c d e f", "p q r s"], ids=["x", "y", 3])
        with lw.Index.open(other, **choices) as second, lw.Index.open(address, read_only=True, **choices) as reader:
            assert second.add_new(["p q r s", "k l m"], ids=["again", "new"]).to_dicts() == [
                {"row": 0, "added": False, "id": 3, "similarity": 1.0},
                {"row": 1, "added": True, "id": "new", "similarity": None},
            ]
            assert [row["id"] for row in reader.query("a b c d e")] == ["x", "y"] and len(reader) == 4
            with pytest.raises(UsageError, match="was opened to be read only; open it without read_only=True"):
                reader.remove(["x"])
        assert list(ix.ids()) == ["x", "y", 3, "new"] and ix.check() == []


def test_a_run_against_an_open_index_names_it(address: str) -> None:
    """An index on a server that the caller opened has its name in the report, as one that is given by its address."""
    texts, name = ["a b c d e f", "p q r s"], address.rpartition("index=")[2]
    with lw.Index.create(address, by="words:2", durability="relaxed") as ix:
        ix.add(["a b c d e f"], ids=["x"])
        reports = [lw.dedup(texts, against=against).report["against"]["sources"] for against in (ix, address)]
    assert [[one["source"] for one in found] for found in reports] == [[name]] * 2
