"""The removal of duplicates from inputs to output, on any engine: the part of `dedup` after the run has begun."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from likewise.engines.engine import Engine, Outcome
from likewise.errors import UsageError
from likewise.io.formats.memory import take
from likewise.io.inputs import Source
from likewise.io.output import check_still, write_sealed, write_text
from likewise.io.source_names import printable
from likewise.job import Job
from likewise.messages import option
from likewise.report import summary
from likewise.report.html import render
from likewise.runs import pipeline
from likewise.runs import writing as outputs
from likewise.runs.decontamination import decontaminated
from likewise.runs.fate import Fate
from likewise.runs.items import Run
from likewise.runs.origin import Origin
from likewise.runs.own_passages import without_repeats
from likewise.runs.results import Removal
from likewise.runs.table import ITSELF, Data, LazyData, Table
from likewise.runs.tables import BLOCK_ROWS, written
from likewise.stages.facts import first_true


def remove(sources: Sequence[Source], run: Run, engine: Engine, target: Path | None, given: Any = None) -> Removal:
    """Remove near-duplicates and write the folder ``target``; if it is None, return the result in memory. Raises the errors of `likewise.dedup`.

    given: the object of which the sources were made, for `Table.to_native`.
    """
    outputs.check_sketches(run.job)
    outputs.check(sources[: run.first_side], run.job.options, run.job.want, written=target is not None)
    fate = outcome(sources, run, engine)
    documents, search = fate.documents, fate.search
    report, examples = summary.summary(fate, run)
    origin = Origin(documents, run)
    kept = kept_table(fate, run.job, origin, given)
    tables = {name: (outputs.number_of(name, report), make) for name, make in fate.tables().items()}
    found: dict[str, Any]
    if target is None:
        kept.to_arrow()  # while the work folder exists
        found = {name: Table(make().whole(), origin=origin) for name, (_, make) in tables.items()}
        return Removal(kept, report=report, compared=search.compared, **found)
    if not outputs.published(target, run):
        check_still(target, overwrite=outputs.may_replace(target, run))
        staged = outputs.write(fate, report, run, engine.write, tables)
        run.progress.finish()
        facts = outputs.machine_facts(sources, search, run, staged)
        write_sealed(facts, staged / "run.json")
        page = render(report, facts, examples)
        write_text(page, staged / "report.html")
        outputs.publish_staged(staged, target, run)
    read = partial(written, typed=documents.id_note(0, search.kept_side, search.member_side) is not None)
    found = {name: Table(read(target / f"{name}.parquet", number, make), origin=origin) for name, (number, make) in tables.items()}
    if not isinstance(fate, Fate):
        kept = Table(kept_places(fate, run.job, target), origin=origin)
    return Removal(kept, report=report, compared=search.compared, out=target, **found)


def outcome(sources: Sequence[Source], run: Run, engine: Engine) -> Outcome:
    """Read the inputs and decide what becomes of the documents."""
    if run.job.options.level == "passage":
        return without_repeats(sources, run) if run.alone else decontaminated(sources, run, engine)
    read = pipeline.collect if run.job.options.level is None else pipeline.collected
    documents = read(sources, run, engine)
    items = engine.distinct(pipeline.compared(documents, run.job), removing=True)
    return engine.outcome(documents, items)


def kept_table(fate: Outcome, job: Job, origin: Origin, given: Any) -> Table:
    """Return the kept documents: the records of a table in memory, without what was cut out of them, or ids and places."""
    collection = fate.documents
    count, source = fate.outcomes.total("kept"), collection.sources[0].path if collection.first_side == 1 else None
    if not isinstance(source, pa.Table) or not isinstance(fate, Fate):
        later = LazyData(count, fate.kept_rows(0).schema, lambda rows: fate.kept_rows(rows).whole(), lambda: fate.kept_rows().whole())
        return Table(later, origin=origin)

    def records(rows: int) -> Data:
        chosen = first_true(keep, rows)
        mask = np.zeros(int(chosen[-1]) + 1 if len(chosen) else 0, bool)
        mask[chosen] = True
        return Data(take(source, mask, edits=None if edits is None else edits.of(0, len(mask))), rows={ITSELF: lambda: chosen})

    keep, edits = fate.kept, fate.edits(0, job)
    return Table(LazyData(count, source.schema, records, lambda: records(count)), given=given if edits is None else None)


def kept_places(fate: Outcome, job: Job, target: Path) -> Data | LazyData:
    """Return the ids and places of kept documents after the run, whose work folder has them: of very many only the first, unless a file has all."""
    count = fate.outcomes.total("kept")
    if count <= BLOCK_ROWS or job.options.output == "ids":
        return written(target / "kept.parquet", count, fate.kept_rows, typed=fate.documents.id_note(0) is not None)
    some = fate.kept_rows(BLOCK_ROWS).whole()

    def whole() -> Data:
        raise UsageError(
            f"kept: only the first {BLOCK_ROWS:,} of {count:,} kept documents can be read here after a run on a cluster; read the files of "
            f"{printable(target)}, or add {option('output', 'ids')}, which writes the ids and places of all of them"
        )

    return LazyData(count, some.table.schema, lambda rows: some.slice(0, rows) if rows <= BLOCK_ROWS else whole(), whole)
