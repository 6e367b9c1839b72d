"""The candidate pairs by definition: a slow reference implementation for the tests of buckets and of the walk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from likewise.stages.scope import ALL, Scope


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


def candidates_in(keys: Sequence[Sequence[int]], band: int, budget: int, finer: int, scope: Scope = ALL) -> set[tuple[int, int]]:
    """The candidate pairs (later, earlier) of one band. Items that are not compared with each other are in one bucket with the fixed ones each."""
    found = set()
    for bucket in buckets(keys[band]):
        first, others = [x for x in bucket if x < scope.fixed], [x for x in bucket if x >= scope.fixed]
        for mine in [bucket] if scope.inside else [[*first, x] for x in others]:
            found |= {(x, y) for x, y in candidates_of(mine, keys, band, budget, finer) if x >= scope.fixed}
    return found


@contextmanager
def budget(most: int) -> Iterator[None]:
    """Buckets of more than ``most`` items are overfull."""
    with pytest.MonkeyPatch.context() as patch:
        for module in ("candidates", "buckets", "walk"):
            patch.setattr(f"likewise.stages.{module}.BUDGET", most)
        yield
