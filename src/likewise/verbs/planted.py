"""`audit` of an output of decontamination: leaks are planted, and searched for as its run did."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from likewise.engines.local import Local
from likewise.errors import DataError, UsageError
from likewise.io.collection import Collection
from likewise.messages import option
from likewise.options import integer
from likewise.planning.recipes import ITEMS
from likewise.progress import Progress
from likewise.records import TEXT
from likewise.report.made import Made, unlike
from likewise.runs import decontamination
from likewise.runs.items import Run
from likewise.runs.planting import KINDS, LONGEST, Planted, outcome, planted
from likewise.runs.session import resolved, started
from likewise.runs.shown import read_again
from likewise.verbs.dedup import deduplicate

#: The column of planted documents, which no input is likely to have.
COLUMN = "likewise_planted"


def plant_leaks(made: Made, choices: dict[str, Any], plant: object, progress: Progress | bool | None) -> Planted:
    """Plant ``plant`` leaks of each kind in copies of training documents, in memory. Raises the errors of `dedup`."""
    number = integer(plant)
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise UsageError(f"{option('plant', plant)}: give a whole number of 1 or more")
    options = resolved([made.inputs, made.against], choices)
    with started(made.inputs, options, "audit", None, progress, made.against) as (sources, run):
        recipe = decontamination.recipe_of(run.job)
        documents, _ = decontamination.read(sources, run, Local(run), recipe.around)
        if unlike(made, documents.digests()):
            raise DataError("the inputs have changed since the output was made; run dedup again")
        border, kind, tokens = documents.rows_of_sides[0].stop, documents.column("kind"), documents.column("tokens")
        long = np.flatnonzero((kind[border:] == TEXT) & (tokens[border:] >= decontamination.search_of(run.job).run))
        hits = documents.work.column("hits", "u4")
        clean = np.flatnonzero((kind[:border] == TEXT) & (hits[:border] == 0) & (tokens[:border] > 0))
        numbers = random.Random(run.job.seed)  # noqa: S311 - not for secrets
        items = contents(documents, border + drawn(long, number, numbers), run)
        hosts = [text[:LONGEST] for text in contents(documents, drawn(clean, number, numbers), run).values()]
        rows = {row - border: text for row, text in items.items()}
        result = Planted(len(long), len(clean), recipe.decides != ITEMS, [], run.warnings)
    plain = replace(options, limit=None, id=None, removed_records=False, output="copy", fields=(f"{COLUMN}@memory.arrow", *options.fields))
    for name in KINDS:
        leaks = list(planted(name, rows, hosts, options.seed))
        if leaks:
            found = deduplicate(pa.table({COLUMN: [leak.text for leak in leaks]}), made.against, plain, None, False)
            assert found.seen is not None and found.dropped is not None
            cut = [(row["position"], row["start"], row["end"]) for row in found.removed.to_dicts()]
            judged = None if result.removes else {place: row["contaminated"] is True for place, row in enumerate(found.seen.to_dicts())}
            result.kinds.append(outcome(name, leaks, cut, set(map(int, found.dropped["position"])), judged))
    return result


def drawn(rows: np.ndarray, number: int, numbers: random.Random) -> np.ndarray:
    """Some of the rows, ascending: int64[m]."""
    return rows[sorted(numbers.sample(range(len(rows)), min(number, len(rows))))] if len(rows) else rows


def contents(documents: Collection, rows: np.ndarray, run: Run) -> dict[int, str]:
    """The texts of rows, by row."""
    return dict(sorted(read_again(documents, rows.tolist(), run.job.want).items())) if len(rows) else {}
