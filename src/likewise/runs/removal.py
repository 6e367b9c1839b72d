"""The removal of duplicates from inputs to output, on any engine: the part of `dedup` after the run has begun."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from likewise.engines.engine import Engine
from likewise.io.collection import Collection
from likewise.io.formats.memory import take
from likewise.io.inputs import Source
from likewise.io.output import check_still, write_sealed, write_text
from likewise.records import REJECTED
from likewise.report import summary
from likewise.report.gather import examples
from likewise.report.html import render
from likewise.runs import pipeline
from likewise.runs import writing as outputs
from likewise.runs.items import Run
from likewise.runs.origin import Origin
from likewise.runs.results import Removal
from likewise.runs.table import ITSELF, Data, LazyData, Table
from likewise.runs.tables import clusters_rows, removed_rows, written


def remove(sources: Sequence[Source], run: Run, engine: Engine, target: Path | None, given: Any = None) -> Removal:
    """Remove near-duplicates and write the folder ``target``; if it is None, return the result in memory. Raises the errors of `likewise.dedup`.

    given: the object of which the sources were made, for `Table.to_native`.
    """
    outputs.check(sources[: run.first_side], run.job.options, written=target is not None)
    collection = pipeline.collect(sources, run, engine)
    items = pipeline.distinct(collection, run, engine, removing=True)
    decision = pipeline.decide(items, run, engine)
    report = summary.summary(collection, decision, items.empty, items.short, run)
    keep = (collection.column("kind") != REJECTED) & ~decision.removed
    keep[collection.rows_of_sides[1]] = False
    origin = Origin(collection, run)
    kept = kept_table(collection, keep, origin, given)
    removed, clusters = partial(removed_rows, collection, decision), partial(clusters_rows, collection, decision)
    if target is None:
        kept.to_arrow()  # while the work folder exists
        removed_table, clusters_table = (Table(made().whole(), origin=origin) for made in (removed, clusters))
        return Removal(kept, removed_table, clusters_table, report, decision.compared)
    if not outputs.published(target, run):
        check_still(target, overwrite=outputs.may_replace(target, run))
        staged = outputs.write(collection, decision, report, run, engine.write)
        run.progress.finish()
        facts = outputs.machine_facts(sources, decision, run)
        write_sealed(facts, staged / "run.json")
        page = render(report, facts, examples(collection, decision, run.job))
        write_text(page, staged / "report.html")
        outputs.publish_staged(staged, target, run)
    read = partial(written, typed=collection.id_note(0, decision.kept_side, decision.member_side) is not None)
    removed_table = Table(read(target / "removed.parquet", report["counts"]["removed"], removed), origin=origin)
    clusters_table = Table(read(target / "clusters.parquet", outputs.clustered(report), clusters), origin=origin)
    return Removal(kept, removed_table, clusters_table, report, decision.compared, target)


def kept_table(collection: Collection, keep: np.ndarray, origin: Origin, given: Any) -> Table:
    """Return the kept rows (``keep``: bool[n]): the records of a table in memory, or ids and places."""
    count, source = int(np.count_nonzero(keep)), collection.sources[0].path if collection.first_side == 1 else None
    if not isinstance(source, pa.Table):
        placed = partial(outputs.placed, collection)
        made = placed(np.zeros(0, np.int64)).schema
        later = LazyData(count, made, lambda rows: placed(beginning(keep, rows)).whole(), lambda: placed(np.flatnonzero(keep)).whole())
        return Table(later, origin=origin)

    def records(rows: int) -> Data:
        chosen = beginning(keep, rows)
        mask = np.zeros(int(chosen[-1]) + 1 if len(chosen) else 0, bool)
        mask[chosen] = True
        return Data(take(source, mask), rows={ITSELF: lambda: chosen})

    return Table(LazyData(count, source.schema, records, lambda: records(count)), given=given)


def beginning(keep: np.ndarray, count: int) -> np.ndarray:
    """Return the numbers of the first ``count`` kept rows, int64[count]; all if there are fewer."""
    size = 4 * count + 1024
    while size < len(keep) and np.count_nonzero(keep[:size]) < count:
        size *= 4
    return np.flatnonzero(keep[:size])[:count]
