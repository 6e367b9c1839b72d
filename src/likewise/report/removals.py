"""How similar removed items are to the ones kept in their place; clusters that look like pages of one template; sources of removed and kept items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from likewise.drawing.numbers import counted
from likewise.engines.engine import Outcome
from likewise.io.source_names import printable
from likewise.job import Job
from likewise.messages import option
from likewise.methods import Text
from likewise.runs.results import Search
from likewise.stages.bins import Scales, scales_of
from likewise.stages.clusters import HALF_WAY, Clusters
from likewise.stages.facts import Facts

Report = dict[str, Any]

#: Clusters named in the warning.
NAMED = 3
#: Sources in the matrix.
SOURCES = 20


def scales(search: Search, job: Job) -> Scales:
    """Return the bins in which values are counted."""
    return scales_of(float(job.threshold), distances=job.distances, whole=pa.types.is_integer(search.value.type))


def half_way(job: Job) -> float | None:
    """Return the similarity below which most pages of a template lie; None if items have no templates."""
    limit = float(job.threshold)
    return limit + HALF_WAY * (1 - limit) if isinstance(job.method, Text) else None


def removals(outcomes: Facts, median: float | None, into: Scales, clusters: Clusters | None) -> Report:
    """Return ``removals`` of report.json. Exact copies and items with equal shingles are in ``counts`` instead.

    clusters: None if items have no templates.
    """
    edges = into.histogram.edges.tolist()
    histogram = {"first": edges[0], "step": shortest(edges), "counts": outcomes.sums["histogram"].tolist()}
    found: Report = {"near": outcomes.total("measured"), "median": median, "by_value": into.by_value.listed(outcomes.sums["by_value"])}
    found["histogram"] = histogram
    return found if clusters is None else found | {"templates": {"number": clusters.templates, "removed": clusters.templated}}


def shortest(edges: Sequence[float]) -> float:
    """Return the width of the bins between these edges, which are multiples of it."""
    return float(f"{edges[1] - edges[0]:.3g}")


def matrix(fate: Outcome, outcomes: Facts, clusters: Clusters) -> Report:
    """Return ``matrix`` of report.json: the items of each source removed for items of each source.

    If there are many sources, those of the first collection with the most removed items and those of the second with the most matched
    ones appear.
    """
    sources = fate.compared.sources
    weight = np.zeros(len(sources), np.int64)
    weight[outcomes.source] = outcomes.counts["removed"]
    weight[clusters.source] += clusters.matched
    chosen = np.sort(np.argsort(-weight, kind="stable")[:SOURCES])
    group = np.full(len(sources), len(chosen))
    group[chosen] = np.arange(len(chosen))
    names = [printable(sources[number].name) for number in chosen.tolist()]
    return {"sources": names, "other": len(sources) - len(chosen), "counts": fate.matrix(group).tolist()}


def warning(found: Report, suspicious: Sequence[Report], limit: float) -> Iterator[str]:
    """Yield the warning about clusters that look like pages of a template, if there are any.

    found: ``removals`` of report.json. suspicious: the suspicious clusters, templates first.
    """
    if not (number := found.get("templates", {}).get("number", 0)):
        return
    largest = suspicious[: min(NAMED, number)]
    named = ", ".join(f"{called(each)} ({each['near']:,} removed, {100 * each['low'] // each['near']}% in this range)" for each in largest)
    more = " and others" if number > NAMED else ""
    looks, kept = ("looks", "kept document is") if number == 1 else ("each look", "kept documents are")
    span = f"from {limit:.4g} to {limit + HALF_WAY * (1 - limit):.4g}"
    yield (
        f"{counted(number, 'large cluster')} {looks} like pages of one template rather than duplicates: "
        f"{counted(found['templates']['removed'], 'document')} were removed, most at a similarity {span}. The {kept} {named}{more}. "
        f"Check some with likewise show; if they are different pages, raise {option('threshold')} or remove the text that they share"
    )


def called(row: Report) -> str:
    """Return the representative of a cluster by id, or by its number in the source, from 1, if it has no id."""
    return f"record {row['position'] + 1} of {row['source']}" if row["representative"] is None else repr(row["representative"])
