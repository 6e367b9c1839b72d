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
from likewise.runs.shown import beginning
from likewise.schema import DECISION_COLUMNS, DISTANCE, SIMILARITY, WHOLE_DISTANCE
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
    counters = facts(items.collection, len(member), len(matches), found, member[[first for first, _, _ in found.hottest]], run)
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
    worst = [bucket_facts(rows, row, *bucket[1:], run) for row, bucket in zip(of_items.tolist(), found.hottest, strict=True)]
    missed = {"missed_at_most": round(cut.missed, 1), "recall": found.recall, "buckets": worst}
    return {
        "items": items,
        "buckets": found.buckets,
        "matched": matched,
        "budget": {"cut": cut.cut, "sampled": cut.sampled, "similar": cut.similar, **missed},
        **found.facts,
    }


def bucket_facts(rows: Numbered, row: int, size: int, cut: int, run: Run) -> dict[str, Any]:
    """The facts about an overfull bucket that left out pairs, with the beginning of its first item, for the report."""
    source, position = rows.places(np.array([row]))
    text = beginning(rows, row, run.job.want)
    return {"items": size, "cut": cut, "source": source[0].as_py(), "position": int(position[0]), "text": text}
