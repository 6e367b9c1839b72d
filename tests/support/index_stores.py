"""All stores of an index, for the tests of what must hold for each; and items made for them, with few keys, so that many share a bucket."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xxhash

from index_servers import SERVED, server
from likewise.index import embedded, memory, opened
from likewise.index.store import KEY_BITS, Items, Store, View
from likewise.stages import candidates
from plain_store import PlainStore

#: Bands, and bytes of slots without sets, of items made here.
BANDS, SLOTS = 3, 5


class Place(NamedTuple):
    """A kind of store."""

    create: Callable[[dict[str, Any], Path], Store]  # a new store, for which a folder is free
    reopen: Callable[[Store, Path], Store] | None = None  # closes it and opens it again; None: it ends with the process
    kept: bool = True  # a view shows items that are removed later


def plain(settings: dict[str, Any], folder: Path) -> Store:
    return PlainStore(settings, settings["bands"], budget=candidates.BUDGET)


def in_memory(settings: dict[str, Any], folder: Path) -> Store:
    return memory.create(None, settings)


def in_folder(settings: dict[str, Any], folder: Path) -> Store:
    return embedded.create(folder / "embedded", settings)


def in_folder_again(store: Store, folder: Path) -> Store:
    store.close()
    return embedded.open(folder / "embedded")


def on_server(name: str) -> Place:
    """A store on a server of the tests. Its index has a name of its own for each folder."""

    def address(folder: Path) -> str:
        return server(name).address(f"in-{xxhash.xxh3_64_hexdigest(bytes(folder))}")

    def create(settings: dict[str, Any], folder: Path) -> Store:
        return opened.created(address(folder), settings, durability="relaxed")

    def reopen(store: Store, folder: Path) -> Store:
        store.close()
        return opened.opened(address(folder), durability="relaxed")

    return Place(create, reopen, kept=name != "valkey")


#: Owners of stores add theirs.
STORES: dict[str, Place] = {
    "plain": Place(plain),
    "memory": Place(in_memory),
    "embedded": Place(in_folder, in_folder_again),
    **{name: on_server(name) for name in SERVED},
}


def settings_for(sets: str) -> dict[str, Any]:
    """The settings that a store reads."""
    return {"bands": BANDS, "sets": sets, "bits": {"full": 64, "compact": 48, "none": 8}[sets], "slots": SLOTS * (sets == "none")}


def made(contents: Sequence[int], ids: Sequence[bytes], sets: str) -> Items:
    """Items with the contents of these numbers: those of equal numbers are copies. Contents 0, 11, 22... are empty."""
    draws = [np.random.default_rng(content) for content in contents]
    keys = np.array([draw.integers(0, 3, BANDS) for draw in draws], np.uint64).reshape(-1, BANDS)
    keys = keys * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(64 - KEY_BITS)
    copy = np.array([(draw.integers(2**64, dtype=np.uint64), draw.integers(2**32)) for draw in draws], np.uint64).reshape(-1, 2)
    size = np.array([content % 11 for content in contents], np.uint32)
    keys[size == 0] = 0
    words = [np.unique(draw.integers(2**64, size=n + 9, dtype=np.uint64))[:n] for draw, n in zip(draws, size.tolist(), strict=True)]
    kept = np.concatenate([np.zeros(0, np.uint64), *words]) & np.uint64(2**64 - 2**16 if sets == "compact" else 2**64 - 1)
    slots = np.array([draw.integers(0, 256, SLOTS) for draw in draws], np.uint8).reshape(-1, SLOTS)
    none = sets == "none"
    return Items(list(ids), keys, copy, size, kept[:0] if none else kept, slots if none else slots[:, :0])


#: Settings of a store that keeps whole sets, for `some`.
FULL = settings_for("full")


def some(*ids: int, content: int | None = None) -> Items:
    """Items with these ids, each with a content of its own, or all with one."""
    return made([content or one + 1 for one in ids], [b"%d" % one for one in ids], "full")


def ids_of(view: View) -> list[int]:
    return [int(one) for _, items in view.scan() for one in items.ids]
