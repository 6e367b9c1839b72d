"""The measurements of likewise for benchmarks/index.py, each in a process of its own: python benchmarks/index_tasks.py TASK [ARGUMENT ...]

The last line has the figures as JSON: wall and processor seconds, and what else a task finds. Imports and stored kernels are not counted.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import likewise as lw
from index_data import read
from likewise.index.store import Items

AT_ONCE = 256


@contextmanager
def timed(found: dict[str, Any], name: str) -> Iterator[None]:
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    found[name] = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def middle(calls: list[Callable[[], Any]]) -> dict[str, float]:
    """The median and the maximum of the milliseconds of calls."""
    spent = []
    for call in calls:
        began = time.perf_counter()
        call()
        spent.append((time.perf_counter() - began) * 1e3)
    return {"median": float(np.median(spent)), "most": max(spent)}


def build(documents: str, folder: str, sets: str) -> dict[str, Any]:
    """An index of all documents of a file."""
    found: dict[str, Any] = {}
    with timed(found, "build"), lw.Index.build(folder, Path(documents), by="words:5", threshold=0.8, sets=sets, overwrite=True) as index:
        found["items"] = len(index)
    found["bytes"] = sum(path.stat().st_size for path in Path(folder).iterdir()) / found["items"]
    return found


def dedup(documents: str, folder: str) -> dict[str, Any]:
    """The removal of near-duplicates from the same file."""
    found: dict[str, Any] = {}
    with timed(found, "dedup"):
        lw.dedup(Path(documents), by="words:5", threshold=0.8, out=folder, overwrite=True, progress=False)
    return found


def query(folder: str, asked: str, alone: str, answers: str) -> dict[str, Any]:
    """Queries one at a time and in batches, and what they find."""
    texts, found = read(Path(asked)), {}
    with timed(found, "open"):
        index = lw.Index.open(folder, read_only=True)
    with timed(found, "open again"), lw.Index.open(folder, read_only=True):
        pass
    with timed(found, "first"):
        index.query(texts[:1])
    batches = [texts[begin : begin + AT_ONCE] for begin in range(0, len(texts), AT_ONCE)]
    ones = texts[: int(alone)]
    with timed(found, "in batches, from files that were not read before"):
        tables = [index.query(batch) for batch in batches]
    with timed(found, "in batches"):
        for batch in batches:
            index.query(batch)
    for text in ones[:100]:
        index.query([text])
    with timed(found, "one at a time"):
        for text in ones:
            index.query([text])
    rows = [(row["query"] + AT_ONCE * place, row["id"]) for place, table in enumerate(tables) for row in table.to_dicts()]
    Path(answers).write_text(json.dumps(rows))
    found["ms"] = middle([lambda text=text: index.query([text]) for text in ones[:1000]])
    index.close()
    return found | {"queries": len(texts), "alone": len(ones)}


def keyed(rng: np.random.Generator, count: int, bands: int, start: int, words: np.ndarray | None = None) -> Items:
    """Items whose first key is the same, and nothing else; or whose everything is, if words are given."""
    keys = rng.integers(0, 2**48, (count, bands), np.uint64)
    own = np.sort(rng.integers(0, 2**64, (count, 196), np.uint64), axis=1)
    copy = np.stack([rng.integers(0, 2**64, count, np.uint64), rng.integers(0, 2**32, count, np.uint64)], axis=1)
    if words is not None:
        keys[:], own[:], copy[:] = 7, words, 7
    keys[:, 0] = 7
    return Items(
        [b"%d" % (start + place) for place in range(count)], keys, copy, np.full(count, 196, np.uint32), own.ravel(), np.empty((count, 0), np.uint8)
    )


def crowd(folder: str, count: str) -> dict[str, Any]:
    """Queries of many equal items, and of many different ones in one bucket: milliseconds."""
    rng, found = np.random.default_rng(1), {}
    one = np.sort(rng.integers(0, 2**64, 196, np.uint64))
    for name, words in (("equal", one), ("crowded", None)):
        with lw.Index.create(Path(folder) / name, by="words:5", threshold=0.8, overwrite=True) as index:
            bands = index.settings.bands
            index.store.load(keyed(rng, 1000, bands, begin, words) for begin in range(0, int(count), 1000))
            asked = [keyed(rng, 1, bands, 0, words) for _ in range(50)]
            index.query(asked[0], k=1)
            found[name] = middle([lambda one=one: index.query(one, k=1) for one in asked])
            if words is None:
                met = index.store.view().members(asked[0].keys, asked[0].copy)
                found["met"] = len(met.content)
    return found


def served(address: str, documents: str, most: str, asked: str, count: str, answers: str) -> dict[str, Any]:
    """An index in a database that syncs nothing: documents are added one a call and 64 a call, and queries are answered one at a time."""
    texts, queries, found = read(Path(documents), int(most)), read(Path(asked), int(count)), {}
    index = lw.Index.create(address, by="words:5", threshold=0.8, durability="relaxed", overwrite=True)
    few = len(texts) // 10
    with timed(found, "adds one at a time"):
        for row, text in enumerate(texts[:few]):
            index.add([text], [row])
    with timed(found, "adds in batches"):
        for begin in range(few, len(texts), 64):
            index.add(texts[begin : begin + 64], range(begin, min(begin + 64, len(texts))))
    index.query(queries[:1])
    with timed(found, "query"):
        tables = [index.query([text]) for text in queries]
    with timed(found, "query in batches"):
        for begin in range(0, len(queries), 64):
            index.query(queries[begin : begin + 64])
    Path(answers).write_text(json.dumps([(place, row["id"]) for place, table in enumerate(tables) for row in table.to_dicts()]))
    index.close()
    return found | {"alone": few, "documents": len(texts), "queries": len(queries)}


TASKS: dict[str, Callable[..., dict[str, Any]]] = {"build": build, "dedup": dedup, "query": query, "crowd": crowd, "served": served}

if __name__ == "__main__":
    print(json.dumps(TASKS[sys.argv[1]](*sys.argv[2:])))
