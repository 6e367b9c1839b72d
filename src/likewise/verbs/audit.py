"""The verb `audit`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Never

from likewise.choices import Html, Level, Number, OnError, Sketch, Tune, given
from likewise.engines.local import Local
from likewise.errors import DataError, UsageError
from likewise.index.source import Indexed
from likewise.io.address import place
from likewise.io.inputs import Source
from likewise.io.manifest import is_output
from likewise.messages import option
from likewise.methods import Measure, Text
from likewise.options import integer
from likewise.progress import Progress
from likewise.report import warned
from likewise.report.made import Made, as_made, compared_with, facts_of, unlike
from likewise.report.own_files import as_written
from likewise.report.precision import Judged, of_people
from likewise.report.read import read_by
from likewise.runs import pipeline
from likewise.runs.audit import Audit
from likewise.runs.audit import audit as measured
from likewise.runs.items import Run
from likewise.runs.planting import Planted
from likewise.runs.session import Inputs, resolved, started
from likewise.verbs.planted import plant_leaks


def audit(
    inputs: Inputs,
    *,
    sample: int | None = None,
    plant: int | None = None,
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
    level: Level | None = None,
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
    **unknown: Never,
) -> Audit | Planted:
    """Measure the recall of `dedup` or `pairs`: find all similar pairs of ``sample`` random items exactly, and count those that a run finds.

    inputs: an output folder of `dedup`, whose run is repeated with the same options and input files; or inputs as for `pairs`.
    sample: number of items in the sample (1000).
    plant: for an output with ``level="passage"`` and ``against``, whose run compared no pairs: plant this many test items in copies of training
    documents, in each of several forms (verbatim, with other line ends, edited, ...), and return how many are found and how much of their text is
    removed (`Planted`).

    If people reviewed the output (`likewise serve OUT`), ``people`` has the share of near-duplicates that they judged the same, in total and by
    value, with exact intervals.

    Other options are those of `dedup`: ``by``, ``threshold``, ``within``, ``recall``, ``exact``, ``normalize``, ``field``, ``records``, ``html``,
    ``id``, ``per``, ``min_tokens``, ``ignore``, ``ignore_common``, ``groups``, ``level``, ``bands``, ``rows``, ``slots``, ``sketch``, ``tune``,
    ``preset``, ``seed``, ``limit``, ``on_error``, ``max_record``, ``threads``, ``memory``, ``work``, ``progress``. Raises the errors of `dedup`.

    >>> import likewise as lw
    >>> lw.audit(["a b c d e", "a b c d x", "p q r s t"], by="words:1", threshold=0.6).recall
    1.0
    """
    typed = given("audit", locals(), own="sample plant")
    sample = 1000 if sample is None else integer(sample)
    if isinstance(sample, bool) or not isinstance(sample, int) or sample < 1:
        raise UsageError(f"{option('sample', sample)}: give a whole number of 1 or more")
    output = inputs if isinstance(inputs, str | os.PathLike) and is_output(place(inputs)) else None
    made = None if output is None else repeatable(output, typed)
    if made and made.choices.get("level") == "passage":
        if not made.against:
            raise UsageError(f"{output}: this run removed every passage that its collection repeats, so there is no recall to measure")
        if plant is None:
            raise UsageError(f"{output}: this run removed passages, and compared no pairs; give {option('plant', 200)} to measure what it finds")
        return plant_leaks(made, made.choices | typed, plant, progress)
    if plant is not None:
        needs = f"{option('level', 'passage')} and {option('against', placeholder='TEST')}"
        raise UsageError(f"{option('plant', plant)}: give an output folder of dedup with {needs}; leaks are planted for such a run only")
    judged, remarks = ([], []) if output is None else verdicts_on(output)
    against, choices = compared_with(made.against or None, made.choices | typed) if made else (None, typed)
    inputs = made.inputs if made else inputs
    options = resolved([inputs, against], choices)
    if isinstance(against, Indexed) and options.per:
        raise UsageError(
            f"{option('against', against.name)}: the index does not keep the groups of its items, so a run that compares with it cannot be audited"
        )
    with started(inputs, options, "audit", None, progress, against) as (sources, run):
        found = of_run(sources, run, made, sample)
        for said in remarks:
            run.warn(said)
        found.warnings, found.people = run.warnings, [one.to_dict() for one in judged]
    return found


def repeatable(output: Any, typed: dict[str, Any]) -> Made:
    """The run of an output folder. typed: options of the audit. Raises UsageError and DataError for a run that cannot be repeated."""
    with as_written(place(output)):
        made = as_made(place(output))
    table = (made.choices | typed).get("groups")
    if made.groups is not None and isinstance(table, Path) and not table.is_file():
        raise UsageError(f"{output}: the groups that this output was made with ({table}) are missing; give {option('groups')}")
    if made.ignores_data and "ignore" not in typed:
        raise UsageError(f"{output}: the texts that this output ignores came from Python and are not stored; give {option('ignore')}")
    if made.lost:
        raise DataError(f"{output}: this output was made from {made.lost}, which is not stored; audit the data with the same options")
    return made


def verdicts_on(output: Any) -> tuple[list[Judged], list[str]]:
    """The verdicts of people on an output folder, and remarks on lines that do not count."""
    folder = place(output)
    with as_written(folder):
        return of_people(folder, *facts_of(folder))


def of_run(sources: Sequence[Source], run: Run, made: Made | None, sample: int) -> Audit:
    """Read the inputs and audit the run. made: the run that is repeated. Raises DataError if its inputs have changed."""
    grouped = run.job.grouped
    if made and made.groups is not None and (grouped is None or grouped.digest != made.groups):
        remedy = f"run dedup again, or give the groups of the output with {option('groups')}"
        raise DataError(f"these are not the groups of the output; {remedy}")
    collection = pipeline.collected(sources, run, Local(run))
    job = run.job  # which knows the common shingles now
    if made and unlike(made, collection.digests()):
        raise DataError("the inputs have changed since the output was made; run dedup again, or audit the input files")
    if made and made.ignored != (None if job.ignored is None else job.ignored.digest):
        remedy = f"run dedup again, or give what it ignores with {option('ignore')}"
        raise DataError(f"the ignored shingles are not those of the output; {remedy}")
    items = Local(run).distinct(pipeline.compared(collection, job), removing=True)
    found = measured(items, run, sample, walk=bool(made))
    of_layout = job.plan.about_layout if job.plan else []  # the recall is measured, so a prediction of it is not needed
    for said in warned.warnings(read_by(collection, job), job, read_by(items.collection, job)):
        if said not in of_layout:
            run.warn(said)
    if made and made.verify != "exact":
        found.precision = float("nan")
        how = option("verify", made.verify)
        run.warn(f"the output was made with {how}: removed items were not compared exactly, and may be less similar than the threshold")
    return found
