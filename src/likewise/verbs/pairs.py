"""The verb `pairs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Never

import numpy as np

from likewise.choices import Copies, Engine, Html, Number, OnError, Sketch, Tune, Verify, given
from likewise.engines.chosen import chosen
from likewise.errors import UsageError
from likewise.messages import option
from likewise.methods import Measure, Text
from likewise.options import Options
from likewise.planning.spread import spread
from likewise.progress import Progress
from likewise.report import ignored, warned
from likewise.report.made import compared_with
from likewise.report.read import read_by
from likewise.runs import frames, pipeline
from likewise.runs.decided import value_of
from likewise.runs.items import Items
from likewise.runs.origin import Origin
from likewise.runs.results import Pairs
from likewise.runs.session import Inputs, resolved, started
from likewise.runs.tables import pairs_rows


def pairs(
    inputs: Inputs,
    *,
    against: Inputs | None = None,
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
    min_tokens: int | None = None,
    ignore: Inputs | None = None,
    ignore_common: Number | None = None,
    groups: str | Path | Mapping[Any, Any] | None = None,
    verify: Verify | None = None,
    keep: str | None = None,
    prefer: str | Sequence[str] | None = None,
    copies: Copies | None = None,
    star: bool | None = None,
    max_pairs: int | None = None,
    bands: int | None = None,
    rows: int | None = None,
    slots: int | None = None,
    sketch: Sketch | None = None,
    tune: Tune | None = None,
    preset: str | None = None,
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
    """List all pairs at or above the threshold, within ``inputs`` or between ``inputs`` and ``against``, and verify them exactly.

    Columns: id_a, id_b, similarity or distance; also source_a, position_a, source_b, position_b if ids do not identify the items. An
    item without an id is named by its position, not by the label of a data frame's index: use ``frame.iloc[id]``, or pass ``id``. With containment,
    such as ``by="words:5/containment"``, each row gives the share of a that b contains, and all pairs are found; with ``against``, a is an item of
    ``inputs``. ``report["not_judged"]`` counts the items that are shorter than a shingle: containment is not defined for them.

    With a Spark DataFrame and ``order`` (as in `dedup`), ``to_native()`` returns a DataFrame; its file is deleted when the process ends.

    ``star`` lists only the pairs of each cluster's members with its leader, chosen by ``keep`` and ``prefer``. ``max_pairs`` is the maximum number of
    pairs (100,000,000); more are an error.

    Other options are those of `dedup`: ``by``, ``threshold``, ``within``, ``recall``, ``exact``, ``normalize``, ``field``, ``records``, ``html``,
    ``id``, ``per``, ``min_tokens``, ``ignore``, ``ignore_common``, ``groups``, ``verify``, ``copies``, ``bands``, ``rows``, ``slots``, ``sketch``,
    ``tune``, ``preset``, ``seed``, ``limit``, ``on_error``, ``max_record``, ``threads``, ``memory``, ``work``, ``engine``, ``master``, ``progress``.
    With ``against``, ``ignore_common`` counts the items of both collections together. Raises the errors of `dedup`.

    >>> import likewise as lw
    >>> lw.pairs(["a b c d", "A B C D", "x y"], by="words:2").to_arrow().to_pylist()
    [{'id_a': 0, 'id_b': 1, 'similarity': 1.0}]
    """
    choices = given("pairs", locals(), own="against")
    inputs, against, choices = frames.given(inputs, against, order, choices)
    against, choices = compared_with(against, choices)
    options = resolved([inputs, against], choices, one_way=True)
    if (frame := frames.frame_of(inputs, against)) is None:
        return list_pairs(inputs, against, options, progress)
    with frames.folder(options) as folder:
        return frames.pairs(list_pairs(inputs, against, options, progress), frame, folder)


def list_pairs(inputs: Inputs, against: Inputs | None, options: Options, progress: Progress | bool | None) -> Pairs:
    """`pairs` by options that are checked. Raises UsageError for ``star`` of two collections."""
    if options.star and against is not None:
        raise UsageError(f"{option('star')} lists members of clusters inside one collection; leave it out with {option('against')}")
    with started(inputs, options, "pairs", None, progress, against) as (sources, run), chosen(sources, run) as engine:
        if run.job.contained and against is not None:
            from likewise.runs import streamed  # loads exact joins

            collection, rows, similarity = streamed.search(sources, run)
        else:
            collection = pipeline.collected(sources, run, engine)
            items = engine.distinct(collection)
            assert isinstance(items, Items)
            sides = None if against is None else (collection.source_of(np.arange(len(collection))) >= run.first_side).astype(np.uint8)
            rows, similarity = pipeline.star_pairs(items, run, engine) if options.star else pipeline.find_pairs(items, run, engine, sides)
        job = run.job
        table = pairs_rows(collection, rows[:, 0], rows[:, 1], similarity, value_of(job), sides=(0, int(against is not None))).whole()
        origin = Origin(collection, run)
        read = read_by(collection, job)
        for said in warned.warnings(read, job):
            run.warn(said)
        report = {
            "threshold": float(job.threshold),
            "value": value_of(job).name,
            "recall": job.recall,
            "spread": spread(job.target, job.recall, len(rows)),
            "method": job.described(),
            "read": len(collection),
            "not_judged": read.sides[0].total("not_judged") if job.contained else 0,
            **ignored.facts(read, run),
            "warnings": run.warnings,
        }
    return Pairs(table, report, origin=origin)
