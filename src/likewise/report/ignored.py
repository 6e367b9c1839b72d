"""The ignored shingles of a run, for its report: their number, their share of all, and the most common passages that they form."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from likewise.drawing.numbers import share
from likewise.io.numbered import Numbered
from likewise.items.elements import element
from likewise.items.pieces import fingerprints, joined, runs
from likewise.items.words import Hasher
from likewise.job import Job
from likewise.methods import Text
from likewise.report.read import Read
from likewise.runs.items import Run
from likewise.runs.shown import NEAR_THE_BEGINNING, read_again

#: Passages in the report, and the characters of each. Longer texts are not searched for them.
PASSAGES, SHOWN, LONGEST = 10, 200, 1 << 18


def facts(read: Read, run: Run) -> dict[str, Any]:
    """The part of a report about ignored shingles; empty if the run ignores nothing."""
    job = run.job
    if job.ignored is None:
        return {}
    of, occurrences = totals(read)
    found: dict[str, Any] = {
        "shingles": len(job.ignored.words),
        "occurrences": occurrences,
        "of": of,
        "items_without_others": read.total("bare"),
    }
    if run.common is not None:
        common, items = run.common
        found["common"] = {"share": str(job.options.ignore_common), "items": items, "shingles": len(common.words), "most": passages(read.rows, run)}
    return {"ignored": found}


def totals(read: Read) -> tuple[int, int]:
    """The number of shingles of all items, and of the ignored ones among them; repeats count."""
    of, occurrences = (sum(int(side.sums["shingles"][place]) for side in read.sides) for place in range(2))
    return of, occurrences


def passages(collection: Numbered, run: Run) -> list[dict[str, Any]]:
    """The most common passages, each with the number and share of the items that have its most common shingle.

    The text is None if it was not searched for: it is far from the beginning of its source, or in a long item.
    """
    assert run.common is not None
    (words, number, named, first), items = run.common
    near = first[collection.starts(first) < NEAR_THE_BEGINNING]
    texts = read_again(collection, np.unique(near).tolist(), run.job.want) if len(near) else {}
    found, shown = [], set()
    for word, row in zip(named.tolist(), first.tolist(), strict=True):
        if word not in shown:
            text, of = passage(word, texts.get(row, ""), words, run.job)
            shown |= of
            has = int(number[np.searchsorted(words, np.uint64(word))])
            found.append({"text": text, "items": has, "share": has / items})
    return found[:PASSAGES]


def passage(word: int, text: str, common: np.ndarray, job: Job) -> tuple[str | None, set[int]]:
    """The consecutive common shingles of a text around one of them: their text, or None if it is not found, and the shingles.

    word: the shingle. common: all common ones, uint64[m], ascending. Elements of a set have no neighbors.
    """
    names, words, overlap = pieces(text, job) if text and len(text) <= LONGEST else ([], [], 0)
    if word not in words:
        return None, {word}
    low = high = words.index(word)
    if overlap:
        place = np.searchsorted(common, np.array(words, np.uint64))
        known = common[np.minimum(place, len(common) - 1)] == words
        while low and known[low - 1]:
            low -= 1
        while high + 1 < len(words) and known[high + 1]:
            high += 1
    part = [*names[low], *chain.from_iterable(name[overlap:] for name in names[low + 1 : high + 1])]
    whole = joined(part, job.method) if isinstance(job.method, Text) else "".join(map(str, part))
    if isinstance(job.method, Text) and job.method.unit == "bytes":
        whole = bytes.fromhex(whole).decode("utf-8", "backslashreplace")
    return whole if len(whole) <= SHOWN else f"{whole[: SHOWN - 2]} …", set(words[low : high + 1])


def pieces(text: str, job: Job) -> tuple[list[Any], list[int], int]:
    """The shingles of a text as shown to people, or the elements of a set: each as its tokens, its word, and how many tokens neighbors share."""
    if not isinstance(job.method, Text):
        try:
            elements = [one for one in map(element, json.loads(text)) if one is not None]
        except (ValueError, TypeError, RecursionError):
            return [], [], 0
        words = Hasher(job.seed).listed(elements)
        return [[one] for one in elements], (words if job.grouped is None else job.grouped(words)).tolist(), 0
    names = runs(text, job.method)
    return names, fingerprints(names, job.method, job.seed), 0 if job.method.unit == "stopwords" else job.method.k - 1


def warnings(read: Read, job: Job) -> Iterator[str]:
    """Yield a warning if most shingles are ignored."""
    if job.ignored is None:
        return
    of, occurrences = totals(read)
    if occurrences * 2 > of:
        what = "shingles" if isinstance(job.method, Text) else "elements"
        yield f"{share(occurrences, of)} of all {what} are ignored ({occurrences:,} of {of:,}); similarities are computed without them"
