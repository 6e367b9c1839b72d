"""The parts that the members of a bucket have in common, such as shingles: those that give an item its key in a band."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from likewise import families
from likewise.families.similarity import SimilarityFamily
from likewise.items import binary
from likewise.items.documents import shingler
from likewise.items.elements import element, hasher
from likewise.items.ignored import NOTHING
from likewise.items.members import members, named
from likewise.items.payloads import LEAST
from likewise.items.places import WITHOUT, placer
from likewise.items.weighted import merged
from likewise.job import Job
from likewise.methods import Text

#: Parts that are signed at once, and bytes of a text whose parts are looked at.
AT_ONCE, LONGEST = 1 << 12, 1 << 18


def deciding(whole: Any, parts: Callable[[slice], Any], n: int, band: int, job: Job) -> list[int]:
    """The first part of an item that has its value in each slot of a band, without repeats, ascending.

    In families of sets, one element gives the item its value in a slot, and has that value there by itself. Members of a bucket have equal values, so
    that all of them have these elements, but for collisions. whole: a batch of the item. parts: some of its n parts as a batch.
    """
    plan = job.plan
    family: Any = families.from_plan(plan, job.seed) if plan else None
    if plan is None or not isinstance(family, SimilarityFamily):
        return []
    slots = slice(band * plan.rows, (band + 1) * plan.rows)
    sought, first = family.signature(whole)[0, slots], np.full(plan.rows, n)
    for at in range(0, n, AT_ONCE):
        equal = family.signature(parts(slice(at, min(n, at + AT_ONCE))))[:, slots] == sought
        first = np.minimum(first, np.where(equal.any(axis=0), at + equal.argmax(axis=0), n))
    return np.unique(first[first < n]).tolist()


def passages(text: bytes, band: int, job: Job) -> list[bytes]:
    """The passages of a text that give it its key in a band: its deciding shingles, joined where they overlap or follow each other.

    A shingle is found by the part of the text between its first and last token, which gives the same shingle again unless a step of normalization
    depends on what is around. Only the first LONGEST bytes are searched.
    """
    method = job.method
    assert isinstance(method, Text)
    shingle = shingler(method, job.seed, job.ignored or NOTHING)

    def cut(texts: Sequence[bytes]) -> tuple[np.ndarray, np.ndarray]:
        found = shingle(binary.from_list(texts), np.ones(len(texts), bool))
        return found.values, found.offsets

    ids = method.unit == "tokens"
    placed = placer(replace(method, unit=WITHOUT.get(method.unit, method.unit)), job.seed)(beginning(text, ids=ids), np.ones(1, bool))
    begin, end = (each * 8 if ids else each for each in (placed.begin, placed.end))
    n, width = len(begin), method.k + (method.unit == "stopwords")
    stop = np.arange(min(width, n), n + 1)  # after the last token of each window
    if method.unit == "bytes":  # of whole characters; a shingle may begin with the last byte of the first, and end with the first of the last
        stop = np.minimum(np.searchsorted(end, end - 1 + method.k) + 1, n)
    windows = list(zip(begin[: len(stop)].tolist(), end[stop - 1].tolist(), strict=True)) if n else []
    found = deciding(cut([text]), lambda part: cut([text[a:b] for a, b in windows[part]]), len(windows), band, job)
    joined: list[tuple[int, int]] = []  # windows by their numbers, which are those of their first tokens
    for place in found:
        follows = joined and place <= stop[joined[-1][1]]
        joined.append((joined.pop()[0] if follows else place, place))
    return [*dict.fromkeys(text[windows[first][0] : windows[final][1]] for first, final in joined)]


def beginning(text: bytes, *, ids: bool) -> pa.LargeBinaryArray:
    """The first LONGEST bytes of a text, up to a whole character. ids: of token ids."""
    end = LONGEST
    while not ids and end < len(text) and text[end] & 0xC0 == 0x80:
        end -= 1
    return binary.from_list([text[:end]])


def elements(text: str, band: int, job: Job) -> list[str]:
    """The elements of a set that give it its key in a band, in the order of its JSON text. Of groups all their elements."""
    given = [(known, named(one), weight) for one, weight in members(text) or () if (known := element(one)) is not None]
    words = hasher(job.want).listed([known for known, _, _ in given])
    words = words if job.grouped is None else job.grouped(words)
    weights = np.array([1.0 if weight is None else weight for *_, weight in given])
    values, weights, offsets = merged(words, weights, np.array([0, len(given)]))
    if job.compared.sets:
        values, offsets = (job.ignored or NOTHING).without(values, offsets)
    elif not (weights >= LEAST).all():
        return []  # such an element has no signature by itself

    def batch(part: slice, offsets: np.ndarray) -> tuple[np.ndarray, ...]:
        return (values[part], offsets) if job.compared.sets else (values[part], weights[part], offsets)

    def parts(part: slice) -> tuple[np.ndarray, ...]:
        return batch(part, np.arange(part.stop - part.start + 1))

    chosen = {*values[deciding(batch(slice(None), offsets), parts, len(values), band, job)].tolist()}
    return [*dict.fromkeys(name for word, (_, name, _) in zip(words.tolist(), given, strict=True) if word in chosen)]
