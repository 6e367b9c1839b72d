"""How similar removed items are to the ones kept in their place, and clusters that look like pages of one template (`stages.clusters`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from likewise.drawing.numbers import counted
from likewise.io.numbered import Named
from likewise.job import Job
from likewise.messages import option
from likewise.methods import Text
from likewise.runs.results import Search
from likewise.stages.bins import Bins, bins_of
from likewise.stages.clusters import HALF_WAY, Clusters
from likewise.stages.facts import Facts

Report = dict[str, Any]

#: Clusters named in the warning.
NAMED = 3


def bins(search: Search, job: Job) -> Bins:
    """Return the bins in which values are counted."""
    return bins_of(float(job.threshold), distances=job.distances, whole=pa.types.is_integer(search.value.type))


def half_way(job: Job) -> float | None:
    """Return the similarity below which most pages of a template lie; None if items have no templates."""
    limit = float(job.threshold)
    return limit + HALF_WAY * (1 - limit) if isinstance(job.method, Text) else None


def removals(outcomes: Facts, median: float | None, into: Bins, clusters: Clusters | None, named: Sequence[Named]) -> Report:
    """Return ``removals`` of report.json. Exact copies and items with equal shingles are in ``counts`` instead.

    clusters: None if items have no templates. named: the representatives of the templates that are listed.
    """
    found: Report = {"near": outcomes.total("measured"), "median": median, "by_value": into.listed(outcomes.sums["by_value"])}
    return found if clusters is None else found | {"templates": templates(clusters, named)}


def templates(clusters: Clusters, named: Sequence[Named]) -> Report:
    """Return the clusters of near-duplicates that look like pages of a template, largest first."""
    listed = [
        {"representative": row.id, "source": row.source, "position": row.position, "near": near, "low": low}
        for row, (_, near, low) in zip(named, clusters.listed.tolist(), strict=True)
    ]
    return {"number": clusters.templates, "removed": clusters.templated, "largest": listed}


def warning(found: Report, limit: float) -> Iterator[str]:
    """Yield the warning about clusters that look like pages of a template, if there are any."""
    if not (number := found.get("templates", {}).get("number", 0)):
        return
    largest = found["templates"]["largest"][:NAMED]
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
