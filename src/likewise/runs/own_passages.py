"""The removal of passages that a collection repeats: runs of tokens that occur before, in another document or in the same one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from likewise.io.collection import Collection
from likewise.io.inputs import Source
from likewise.io.units import Pieces
from likewise.methods import Text
from likewise.passages.repeats import settings_of
from likewise.runs.fate import Fate, fate_of
from likewise.runs.items import Items, Run
from likewise.runs.repeats import Found, search
from likewise.runs.results import Decision
from likewise.stages.buckets import spread

#: Passages that the report shows.
MOST = 20
#: Facts about buckets of a search that has none.
NOTHING_SKIPPED = {"cut": 0, "sampled": 0, "similar": 0, "missed_at_most": 0.0, "recall": 1.0, "buckets": []}


def without_repeats(sources: Sequence[Source], run: Run) -> Fate:
    """Find the runs of ``min_run`` tokens or more that occur before, and what becomes of the documents. Raises the errors of `pipeline.collect`.

    Tokens of later occurrences are cut out, with what lies between them. Those that overlap the first occurrence stay.
    """
    job = run.job
    assert isinstance(job.method, Text) and job.options.min_run is not None
    found = search(sources, run, settings_of(job.method, job.seed, job.options.min_run))
    documents = found.collection
    begin, end = found.repeats.cut.T
    row = found.stretches.rows[np.searchsorted(found.stretches.offsets, begin, side="right") - 1]
    units, cut = pieces(documents, row, *found.characters(begin, end), end - begin)
    units.most = most_repeated(found)
    kept_row = np.full(len(units), -1)
    kept_row[cut] = kept_pieces(units, cut, *first_places(found, begin, end))
    n, nothing = len(units), np.zeros(len(units), bool)
    facts = {"items": n, "buckets": spread(np.zeros(0, np.int64)), "matched": len(cut), "budget": NOTHING_SKIPPED}
    similarity = np.where(kept_row < 0, np.nan, 1.0)
    decision = Decision(kept_row, similarity, nothing, np.arange(n), np.zeros((0, 2), np.int64), np.zeros(0), facts)
    items = Items(units, np.arange(n), np.flatnonzero(kept_row < 0))
    fate = fate_of(documents, items, decision, run)
    return replace(fate, decision=replace(fate.decision, exact=fate.decision.removed))


def most_repeated(found: Found) -> tuple[np.ndarray, np.ndarray]:
    """The passages that occur most often, where they occur first, as in `Pieces.most`."""
    of = found.repeats
    number = np.lexsort((np.arange(len(of.times)), -of.times))[:MOST]
    place = of.first[number]
    begin, end = found.characters(of.begin[place], of.end[place])
    return found.stretches.rows[of.stretch[place]], np.stack([begin, end, of.times[number], of.documents[number]])


def pieces(documents: Collection, row: np.ndarray, low: np.ndarray, high: np.ndarray, tokens: np.ndarray) -> tuple[Pieces, np.ndarray]:
    """The documents in pieces, and the numbers of those that are cut out: the characters low[i]:high[i] of row row[i], with tokens[i].

    The other tokens of a document belong to the first piece of it that stays.
    """
    chars = documents.column("chars").astype(np.int64)
    opens = np.append(True, row[1:] != row[:-1])[: len(row)]
    closes = np.append(opens[1:], True)[: len(row)]
    before = np.where(opens, 0, np.append(0, high[:-1])[: len(row)])
    rest = np.setdiff1d(np.arange(len(chars)), row)
    gaps = np.concatenate([[row, before, low], [row[closes], high[closes], chars[row[closes]]], [rest, np.zeros_like(rest), chars[rest]]], axis=1)
    gaps = gaps[:, gaps[1] < gaps[2]]
    every = np.concatenate([gaps, [row, low, high]], axis=1)
    order = np.lexsort(every[1::-1])
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    cut, every = rank[gaps.shape[1] :], every[:, order]
    of_units = np.zeros(len(order), np.int64)
    of_units[cut] = tokens
    stays = np.setdiff1d(np.arange(len(order)), cut)
    first = stays[np.append(True, np.diff(every[0, stays]) != 0)[: len(stays)]]
    left = documents.column("tokens").astype(np.int64) - np.bincount(row, tokens, len(chars)).astype(np.int64)
    of_units[first] = left[every[0, first]]
    number = np.bincount(every[0], minlength=len(chars))
    return Pieces(documents, number, every[1:].T, None, of_units.astype(np.uint32)), cut


def first_places(found: Found, begin: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For runs of tokens that are cut out, where the passage that covers most of the beginning of each occurs first: (row, character)."""
    places = found.repeats
    at = np.searchsorted(places.begin, begin, side="right") - 1
    after = np.minimum(at + 1, len(places.begin) - 1)
    covered = [np.minimum(places.end[some], end) - np.maximum(places.begin[some], begin) for some in (at, after)]
    first = places.first[places.passage[np.where(covered[0] >= covered[1], at, after)]]
    token = places.begin[first]
    return found.stretches.rows[places.stretch[first]], found.first[token].astype(np.int64)


def kept_pieces(units: Pieces, cut: np.ndarray, row: np.ndarray, char: np.ndarray) -> np.ndarray:
    """The pieces that stay, for each piece that is cut out: the piece at a character of a row, or the one that represents it."""
    begin = units.spans(np.arange(len(units)))[0]
    step = int(begin.max(initial=0)) + 2
    there = np.searchsorted(units.document * step + begin, row * step + char, side="right") - 1
    there = np.minimum(there, cut - 1)  # an earlier one, also where a passage overlaps its first occurrence
    to = np.arange(len(units))
    to[cut] = there
    while (again := to[to] != to).any():
        to = np.where(again, to[to], to)
    return to[cut]
