"""The verb `neighbors`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Never

import numpy as np

from likewise.choices import Engine, Html, Number, OnError, given
from likewise.engines.chosen import chosen
from likewise.errors import UsageError
from likewise.kinds import measures
from likewise.kinds.kind import NOT_GUARANTEED
from likewise.messages import option
from likewise.methods import Measure, Text
from likewise.options import Options, integer
from likewise.progress import Progress
from likewise.report import ignored, warned
from likewise.report.read import read_by
from likewise.runs import frames, pipeline
from likewise.runs.decided import value_of
from likewise.runs.origin import Origin
from likewise.runs.results import Pairs
from likewise.runs.session import Inputs, resolved, started
from likewise.runs.tables import pairs_rows


def neighbors(
    inputs: Inputs,
    *,
    query: Inputs | None = None,
    k: int = 10,
    order: str | Sequence[str] | None = None,
    progress: Progress | bool | None = None,
    by: str | Text | Measure | None = None,
    threshold: Number | None = None,
    within: Number | None = None,
    recall: float | None = None,
    exact: bool | None = None,
    normalize: str | Sequence[str] | None = None,
    field: str | Sequence[str] | None = None,
    records: str | None = None,
    html: Html | None = None,
    id: str | None = None,
    per: str | None = None,
    ignore: Inputs | None = None,
    ignore_common: Number | None = None,
    groups: str | Path | Mapping[Any, Any] | None = None,
    seed: int | str | None = None,
    limit: int | None = None,
    on_error: OnError | None = None,
    max_record: int | str | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    work: str | Path | None = None,
    engine: Engine | None = None,
    master: str | None = None,
    **unknown: Never,
) -> Pairs:
    """Find the ``k`` most similar items of ``inputs`` for each item of ``query``, or for each item of ``inputs``. Similarities are exact.

    Columns: id_a (the query), id_b, similarity or distance, nearest first; also source_a, position_a, source_b, position_b if ids do not identify the
    items. With ``threshold`` or ``within``, only neighbors within this limit are listed, so a query may have fewer than k rows.
    ``recall`` is the minimum probability that each of the true k nearest items is found; with ``exact``, all are found.

    With a Spark DataFrame and ``order`` (as in `dedup`), ``to_native()`` returns a DataFrame; its file is deleted when the process ends.

    Other options are those of `dedup`: ``by``, ``normalize``, ``field``, ``records``, ``html``, ``id``, ``per``, ``ignore``, ``ignore_common``,
    ``groups``, ``seed``, ``limit``, ``on_error``, ``max_record``, ``threads``, ``memory``, ``work``, ``engine``, ``master``, ``progress``.
    Raises the errors of `dedup`.

    >>> import likewise as lw
    >>> lw.neighbors(["a b c d", "a b c x", "p q"], query=["a b c"], by="words:2", k=2).to_arrow().to_pylist()
    [{'id_a': 0, 'id_b': 0, 'similarity': 0.6666666666666666}, {'id_a': 0, 'id_b': 1, 'similarity': 0.6666666666666666}]
    """
    choices = given("neighbors", locals(), own="query k")
    inputs, query, choices = frames.given(inputs, query, order, choices)
    options = resolved([inputs, query], choices, limited=False)
    if (frame := frames.frame_of(inputs, query)) is None:
        return find_neighbors(inputs, query, options, k, progress)
    with frames.folder(options) as folder:
        return frames.pairs(find_neighbors(inputs, query, options, k, progress), frame, folder)


def find_neighbors(inputs: Inputs, query: Inputs | None, options: Options, k: int, progress: Progress | bool | None) -> Pairs:
    """`neighbors` by options that are checked. Raises UsageError for ``k``, and for items of which there are no neighbors."""
    k = integer(k)
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise UsageError(f"{option('k', k)}: give a whole number of 1 or more")
    if not options.method.compared.looked_for:
        heads = dict.fromkeys(name.partition("/")[0] for name in measures() if Measure(name).compared.looked_for)
        *most, last = heads
        names = f"texts, {', '.join(most)} and {last}"
        raise UsageError(f"{option('by', str(options.method))}: nearest neighbors are available for {names}")
    with started(inputs, options, "neighbors", None, progress, query) as (sources, run):
        run.job.compared.scans(run.job)  # raises UsageError for measures by which these items have no neighbors
        with chosen(sources, run) as engine:
            collection = pipeline.collected(sources, run, engine)
            rows, value, all_of_them = engine.nearest(collection, k)
        sides = (int(query is not None), 0)
        table = pairs_rows(collection, rows[:, 0], rows[:, 1], value, value_of(run.job), sides=sides, ordered=True).whole()
        origin = Origin(collection, run)
        read = read_by(collection, run.job)
        for said in warned.warnings(read, run.job):
            run.warn(said)
        queries = int((collection.source_of(np.arange(len(collection))) >= run.first_side).sum()) if query is not None else len(collection)
        report = {
            "k": k,
            "value": value_of(run.job).name,
            "threshold": None if options.bound is None else float(options.bound),
            "recall": 1.0 if all_of_them else None if run.job.compared.recall == NOT_GUARANTEED else run.job.target,
            "method": run.job.described(),
            "read": len(collection),
            "queries": queries,
            "with_fewer": queries - int((np.unique(rows[:, 0], return_counts=True)[1] >= k).sum()),
            **ignored.facts(read, run),
            "warnings": run.warnings,
        }
    return Pairs(table, report, origin=origin)
