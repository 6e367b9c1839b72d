"""The verb `pairs`."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from likewise.choices import OfPairs, refuse_empty, refuse_others
from likewise.engines.local import Local
from likewise.errors import UsageError
from likewise.messages import option
from likewise.options import Options, resolve
from likewise.planning.spread import spread
from likewise.progress import Progress
from likewise.report import summary
from likewise.runs import pipeline
from likewise.runs.origin import Origin
from likewise.runs.results import Pairs
from likewise.runs.session import Inputs, started
from likewise.runs.tables import pairs_rows


def pairs(inputs: Inputs, *, against: Inputs | None = None, progress: Progress | bool | None = None, **choices: Unpack[OfPairs]) -> Pairs:
    """All pairs at or above the threshold, inside one collection or of ``inputs`` against ``against``; exactly verified.

    Columns id_a, id_b, similarity; also source_a, position_a, source_b, position_b where ids do not tell items apart. By containment, as with
    ``by="words:5/containment"``, a is contained in b, a row tells one direction, and none is missed; with ``against``, a is of ``inputs``.

    Choices: ``star`` lists members against their leader only, ``max_pairs`` refuses to list more (100,000,000); and as of `dedup` ``by``,
    ``threshold``, ``within``, ``recall``, ``exact``, ``normalize``, ``field``, ``records``, ``id``, ``per``, ``min_tokens``, ``groups``, ``verify``,
    ``bands``, ``rows``, ``slots``, ``sketch``, ``tune``, ``preset``, ``seed``, ``limit``, ``on_error``, ``max_record``, ``threads``, ``memory``,
    ``work``, ``copies``, and for who leads ``keep`` and ``prefer``. Raises what `dedup` raises.

    >>> import likewise as lw
    >>> lw.pairs(["a b c d", "A B C D", "x y"], by="words:2").to_arrow().to_pylist()
    [{'id_a': 0, 'id_b': 1, 'similarity': 1.0}]
    """
    refuse_others("pairs", choices)
    refuse_empty(inputs=inputs, against=against, **choices)
    return list_pairs(inputs, against, resolve(one_way=True, **choices), progress)


def list_pairs(inputs: Inputs, against: Inputs | None, options: Options, progress: Progress | bool | None) -> Pairs:
    """`pairs` by options that are checked. Raises UsageError for ``star`` of two collections."""
    if options.star and against is not None:
        raise UsageError(f"{option('star')} lists members of clusters inside one collection; leave it out with {option('against')}")
    with started(inputs, options, "pairs", None, progress, against) as (sources, run):
        collection = pipeline.collect(sources, run, Local(run))
        items = pipeline.distinct(collection, run, Local(run))
        job = run.job
        sides = None if against is None else (collection.source_of(np.arange(len(collection))) >= run.first_side).astype(np.uint8)
        rows, similarity = pipeline.star_pairs(items, run, Local(run)) if options.star else pipeline.find_pairs(items, run, sides)
        table = pairs_rows(collection, rows[:, 0], rows[:, 1], similarity, pipeline.value_of(job), sides=(0, int(against is not None))).whole()
        origin = Origin(collection, run)
        for said in summary.warnings(collection, items.empty, job, np.zeros(len(collection), bool)):
            run.warn(said)
        report = {
            "threshold": float(job.threshold),
            "value": pipeline.value_of(job).name,
            "recall": job.recall,
            "spread": spread(job.target, job.recall, len(rows)),
            "method": job.described(),
            "read": len(collection),
            "warnings": run.warnings,
        }
    return Pairs(table, report, origin=origin)
