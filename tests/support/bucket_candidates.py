"""The candidate pairs by definition: a slow reference implementation for the tests of buckets and of the walk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest


def candidates_of(bucket: list[int], keys: Sequence[Sequence[int]], band: int, budget: int, finer: int, level: int = 0) -> Iterator[tuple[int, int]]:
    """Yield the candidate pairs (later, earlier) of a bucket in priority order, possibly repeated. keys: by band and by item."""
    if len(bucket) <= budget or level == min(finer, len(keys) - 1):
        for i, x in enumerate(bucket):
            for y in bucket[: min(i, budget)]:
                yield x, y
        return
    parts: dict[int, list[int]] = {}
    for x in bucket:
        parts.setdefault(keys[(band + level + 1) % len(keys)][x], []).append(x)
    heads = [part[0] for part in parts.values()][:budget]
    for x in bucket:
        for y in heads:
            if y < x:
                yield x, y
    for part in parts.values():
        yield from candidates_of(part, keys, band, budget, finer, level + 1)


def buckets(keys: Sequence[int]) -> list[list[int]]:
    """The buckets of one band, including singletons."""
    found: dict[int, list[int]] = {}
    for item, key in enumerate(keys):
        found.setdefault(key, []).append(item)
    return list(found.values())


def candidates_in(keys: Sequence[Sequence[int]], band: int, budget: int, finer: int) -> set[tuple[int, int]]:
    """The candidate pairs (later, earlier) of one band."""
    return {pair for bucket in buckets(keys[band]) for pair in candidates_of(bucket, keys, band, budget, finer)}


@contextmanager
def budget(most: int) -> Iterator[None]:
    """Buckets of more than ``most`` items are overfull."""
    with pytest.MonkeyPatch.context() as patch:
        for module in ("candidates", "buckets", "walk"):
            patch.setattr(f"likewise.stages.{module}.BUDGET", most)
        yield
