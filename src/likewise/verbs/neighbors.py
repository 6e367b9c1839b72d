"""The verb `neighbors`."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from likewise.choices import OfNeighbors, refuse_empty, refuse_others
from likewise.engines.local import Local
from likewise.errors import UsageError
from likewise.kinds.kind import NOT_GUARANTEED
from likewise.messages import option
from likewise.methods import Measure
from likewise.options import Options, integer, resolve
from likewise.planning.families import findable
from likewise.progress import Progress
from likewise.records import REJECTED
from likewise.report import summary
from likewise.runs import pipeline
from likewise.runs.origin import Origin
from likewise.runs.results import Pairs
from likewise.runs.session import Inputs, started
from likewise.runs.tables import pairs_rows


def neighbors(
    inputs: Inputs, *, query: Inputs | None = None, k: int = 10, progress: Progress | bool | None = None, **choices: Unpack[OfNeighbors]
) -> Pairs:
    """The ``k`` most similar items of ``inputs`` for each item of ``query``, or for each of ``inputs`` itself; similarities are exact.

    Columns id_a (the query), id_b, similarity or distance, nearest first; also source_a, position_a, source_b, position_b where ids do not tell
    items apart. A query with fewer than k neighbors (at or above ``threshold``, or ``within`` a distance, where one is given) has fewer rows.
    ``recall`` is the least chance that each of the true k is among them; with ``exact`` none is missed.

    Other choices as of `dedup`: ``by``, ``normalize``, ``field``, ``records``, ``id``, ``per``, ``groups``, ``seed``, ``limit``, ``on_error``,
    ``max_record``, ``threads``, ``memory``, ``work``. Raises what `dedup` raises.

    >>> import likewise as lw
    >>> lw.neighbors(["a b c d", "a b c x", "p q"], query=["a b c"], by="words:2", k=2).to_arrow().to_pylist()
    [{'id_a': 0, 'id_b': 0, 'similarity': 0.6666666666666666}, {'id_a': 0, 'id_b': 1, 'similarity': 0.6666666666666666}]
    """
    refuse_others("neighbors", choices)
    refuse_empty(inputs=inputs, query=query, **choices)
    return find_neighbors(inputs, query, resolve(limited=False, **choices), k, progress)


def find_neighbors(inputs: Inputs, query: Inputs | None, options: Options, k: int, progress: Progress | bool | None) -> Pairs:
    """`neighbors` by options that are checked. Raises UsageError for ``k``, and for items of which there are no neighbors."""
    k = integer(k)
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise UsageError(f"{option('k', k)}: give a whole number of 1 or more")
    if not options.method.compared.looked_for:
        heads = dict.fromkeys(name.partition("/")[0] for name in findable() if Measure(name).compared.looked_for)
        *most, last = heads
        names = f"texts, {', '.join(most)} and {last}"
        raise UsageError(f"{option('by', str(options.method))}: nearest neighbors are available for {names}")
    with started(inputs, options, "neighbors", None, progress, query) as (sources, run):
        collection = pipeline.collect(sources, run, Local(run))
        rows, value, all_of_them = pipeline.nearest(collection, run, k)
        sides = (int(query is not None), 0)
        table = pairs_rows(collection, rows[:, 0], rows[:, 1], value, pipeline.value_of(run.job), sides=sides, ordered=True).whole()
        origin = Origin(collection, run)
        none = np.zeros(len(collection), bool)
        empty = (collection.column("kind") != REJECTED) & (collection.column("tokens") == 0)
        for said in summary.warnings(collection, empty, run.job, none):
            run.warn(said)
        queries = int((collection.source_of(np.arange(len(collection))) >= run.first_side).sum()) if query is not None else len(collection)
        report = {
            "k": k,
            "value": pipeline.value_of(run.job).name,
            "threshold": None if options.bound is None else float(options.bound),
            "recall": 1.0 if all_of_them else None if run.job.compared.recall == NOT_GUARANTEED else run.job.target,
            "method": run.job.described(),
            "read": len(collection),
            "queries": queries,
            "with_fewer": queries - int((np.unique(rows[:, 0], return_counts=True)[1] >= k).sum()),
            "warnings": run.warnings,
        }
    return Pairs(table, report, origin=origin)
