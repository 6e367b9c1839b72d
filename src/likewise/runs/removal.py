"""The removal of duplicates from inputs to output, on any engine: the part of `dedup` after the run has begun."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from likewise.engines.engine import Engine
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
from likewise.runs.results import Removal, Table
from likewise.runs.tables import clusters_rows, removed_rows, written


def remove(sources: Sequence[Source], run: Run, engine: Engine, target: Path | None) -> Removal:
    """Remove near-duplicates and write the folder ``target``; if it is None, return the result in memory. Raises the errors of `likewise.dedup`."""
    outputs.check(sources, run.job.options, written=target is not None)
    collection = pipeline.collect(sources, run, engine)
    items = pipeline.distinct(collection, run, engine)
    decision = pipeline.decide(items, run, engine)
    report = summary.summary(collection, decision, items.empty, items.short, run)
    keep = (collection.column("kind") != REJECTED) & ~decision.removed
    memory = len(sources) == 1 and isinstance(sources[0].path, pa.Table)
    kept = Table(lambda: take(sources[0].path, keep) if memory else outputs.placed(collection, np.flatnonzero(keep)).whole())
    removed, clusters = partial(removed_rows, collection, decision), partial(clusters_rows, collection, decision)
    if target is None:
        kept.to_arrow()  # while the work folder exists
        return Removal(kept, Table(removed().whole()), Table(clusters().whole()), report, decision.compared)
    if not outputs.published(target, run):
        check_still(target, overwrite=run.job.options.overwrite)
        staged = outputs.write(collection, decision, report, run, engine.write)
        run.progress.finish()
        facts = outputs.machine_facts(sources, decision, run)
        write_sealed(facts, staged / "run.json")
        page = render(report, facts, examples(collection, decision, run.job))
        write_text(page, staged / "report.html")
        outputs.publish_staged(staged, target, run)
    read = partial(written, typed=collection.json_ids(np.zeros(0, np.int64)) is not None)
    removed_table = read(target / "removed.parquet", report["counts"]["removed"], removed)
    clusters_table = read(target / "clusters.parquet", outputs.clustered(report), clusters)
    return Removal(kept, removed_table, clusters_table, report, decision.compared, target)
