"""The outcome of every row from the outcomes of distinct rows, by the driver."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from likewise.engines.engine import Found
from likewise.io import bands as band_files
from likewise.io.collection import BOTH
from likewise.io.numbered import Numbered
from likewise.job import Job
from likewise.runs.items import Items, Run
from likewise.runs.results import Decision
from likewise.runs.shown import SHOWN, UNREAD, in_brief, read_again, shortened
from likewise.schema import DECISION_COLUMNS, DISTANCE, SIMILARITY, WHOLE_DISTANCE
from likewise.stages.budget import Hot
from likewise.stages.components import components
from likewise.stages.settle import Removals


def decide(items: Items, run: Run, settle: Callable[[Items], tuple[Removals, Found]]) -> Decision:
    """Store the removals that ``settle`` finds in the work folder, and delete the sets and band keys there."""
    work = run.work
    if not work.done("decide"):
        decision = decided(items, *settle(items), run)
        work.append({name: getattr(decision, name) for name in DECISION_COLUMNS}, step="decide", facts=decision.facts, compared=decision.compared)
    written = run.job.options.sketches  # the sets and band keys are written to the output later
    work.discard("odd", *([] if written else ["sets", *(band_files.names(run.job.plan.bands) if run.job.plan else ())]))
    columns: dict[str, Any] = {name: work.column(name, dtype) for name, dtype in DECISION_COLUMNS.items()}
    done = work.done("decide")[0]
    columns |= {"facts": done["facts"], "compared": done["compared"]}
    return Decision(**columns, value=value_of(run.job), counted=counted(run.job), kept_side=kept_side(run))


def kept_side(run: Run) -> int:
    """The side of the rows that others are duplicates of."""
    return 0 if run.alone else BOTH if run.job.options.also_inside else 1


def value_of(job: Job) -> pa.Field:
    """The column of similarities or distances."""
    if not job.distances:
        return SIMILARITY
    return WHOLE_DISTANCE if job.base.whole else DISTANCE


def counted(job: Job) -> bool:
    """True if similarities are ratios of counted shingles (`Decision.counted`)."""
    return bool(job.compared.cut) and job.verify == "exact" and not job.contained


def decided(items: Items, removals: Removals, found: Found, run: Run) -> Decision:
    """The outcome of every row from that of the items: kept, or removed as a duplicate of which kept row."""
    job, n, member, first = run.job, len(items.collection), items.member, items.first
    representative, value, matches, values, compared = removals
    counters = facts(items.collection, len(member), len(matches), found, member[[bucket.first for bucket in found.hottest]], run)
    removed = np.flatnonzero(representative >= 0)
    kept_row, similarity = np.full(n, -1, np.int64), np.full(n, np.nan)
    kept_row[member[removed]] = member[representative[removed]]
    similarity[member[removed]] = value[removed]
    del removals, representative, value, removed  # frees memory, which matters with many items

    border = items.collection.rows_of_sides[0].stop
    copies = np.flatnonzero((first != np.arange(n))[:border])  # rows of a second collection stay
    original = first[copies]
    stays = kept_row[original] < 0
    if not items.scope.inside:
        gone = ~stays | (original >= border)
        copies, original, stays = copies[gone], original[gone], stays[gone]
    kept_row[copies] = np.where(stays, original, kept_row[original])
    similarity[copies] = np.where(stays, 0.0 if job.distances else 1.0, similarity[original])
    exact = np.zeros(n, bool)
    exact[copies[stays]] = True

    component, head = np.arange(n), components(len(member), matches)
    joined = np.unique(matches[:, 1])
    component[member[joined]] = member[head[joined]]
    return Decision(kept_row, similarity, exact, component, member[matches], values, counters, compared, value_of(job), counted(job))


def facts(rows: Numbered, items: int, matched: int, found: Found, of_items: np.ndarray, run: Run) -> dict[str, Any]:
    """The counters of a removal, for the report.

    items, matched: the numbers of items and of matches. of_items: int64[k], the rows of the first items of ``found.hottest``.
    """
    cut = found.cut
    missed = {"missed_at_most": float(cut.whole), "recall": found.recall, "buckets": overfull(rows, of_items, found.hottest, run.job)}
    return {
        "items": items,
        "buckets": found.buckets,
        "matched": matched,
        "budget": {"cut": cut.cut, "sampled": cut.sampled, "similar": cut.similar, **missed},
        **found.facts,
    }


def overfull(rows: Numbered, first: np.ndarray, hottest: list[Hot], job: Job) -> list[dict[str, Any]]:
    """The facts about overfull buckets for the report: where the first item of each is, how it begins, and what all items have in common.

    first: int64[k], the rows of these items.
    """
    source, position = rows.places(first)
    places, texts = zip(source.to_pylist(), position.tolist(), strict=True), read_again(rows, first.tolist(), job.want)
    return [
        {
            "items": bucket.size,
            "cut": bucket.cut,
            "source": name,
            "position": at,
            "text": shortened(job.want.kind, texts.get(row, ""))[:SHOWN],
            "shared": shared(texts.get(row, UNREAD), bucket.band, job),
        }
        for row, bucket, (name, at) in zip(first.tolist(), hottest, places, strict=True)
    ]


def shared(text: str, band: int, job: Job) -> list[str]:
    """The parts of an item that give it its key in a band, for display. text: that of `shown.read_again`."""
    return [in_brief(job.want.kind, part) for part in job.kind.deciding(text, band, job)] if text != UNREAD else []
