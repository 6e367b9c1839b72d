"""How similar removed items are to the ones kept in their place, and clusters that look like pages of one template.

Pages of one template share a header, a menu and a license. Where that is most of their text, pages about different things pass the threshold, and
only one of them is kept. Their similarities show it: each page differs from the kept one by its own text, so they lie close above the threshold.
Copies that were edited lie close to 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from likewise.drawing.numbers import counted
from likewise.io.collection import Collection
from likewise.job import Job
from likewise.messages import option
from likewise.methods import Text
from likewise.runs.results import Decision
from likewise.schema import BINS

Report = dict[str, Any]

#: Minimum near-duplicates removed for one item in a cluster of template pages: revisions of a text are fewer, and a smaller cluster does little
#: harm.
LARGE = 30
#: Minimum share of them that is less similar than half-way from the threshold to 1: most edited copies lie in the upper half. The share is
#: below 1 because a template has its own near-duplicates, which lie higher.
MOSTLY, HALF_WAY = 0.75, 0.5
#: Clusters listed in report.json and named in the warning.
LISTED, NAMED = 10, 3


def removals(collection: Collection, decision: Decision, job: Job) -> Report:
    """Return ``removals`` of report.json. Exact copies and items with equal shingles are in ``counts`` instead."""
    rows = np.flatnonzero(decision.removed & ~decision.exact & ~decision.equal & ~np.isnan(decision.similarity))
    value, limit = decision.similarity[rows], float(job.threshold)
    found: Report = {"near": len(rows), "median": float(np.median(value)) if len(rows) else None}
    found["by_value"] = whole_bins(value, int(limit)) if pa.types.is_integer(decision.value.type) else bins(value, limit, job.distances)
    return found | ({"templates": templates(collection, decision, rows, limit)} if isinstance(job.method, Text) else {})


def bins(value: np.ndarray, limit: float, distances: bool) -> list[list[float]]:
    """Return [from, to, number of items] from the threshold to equality; ``to`` is exclusive except in the last bin."""
    low, high = (0.0, limit) if distances else (limit, 1.0)
    edges = np.unique(np.round(np.linspace(low, high, BINS + 1), 12))
    if len(edges) == 1:
        return [[low, high, len(value)]]
    edges[0], edges[-1] = low, high
    counts, _ = np.histogram(np.clip(value, low, high), edges)
    return [[float(first), float(last), int(number)] for (first, last), number in zip(pairwise(edges), counts, strict=True)]


def whole_bins(value: np.ndarray, limit: int) -> list[list[int]]:
    """Return [from, to, number of items] for integer distances from 0 to the maximum; both ends are inclusive."""

    width = -(-(limit + 1) // BINS)
    counts = np.bincount((value // width).astype(np.int64), minlength=-(-(limit + 1) // width))
    return [[first, min(first + width - 1, limit), int(counts[first // width])] for first in range(0, limit + 1, width)]


def templates(collection: Collection, decision: Decision, rows: np.ndarray, limit: float) -> Report:
    """Return the clusters of near-duplicates ``rows`` (int64[m]) that look like pages of a template, largest first."""
    heads, cluster, near = np.unique(decision.kept_row[rows], return_inverse=True, return_counts=True)
    low = np.bincount(cluster, decision.similarity[rows] < limit + HALF_WAY * (1 - limit), len(heads)).astype(np.int64)
    chosen = np.flatnonzero((near >= LARGE) & (low >= MOSTLY * near) & (limit < 1))
    chosen = chosen[np.lexsort((heads[chosen], -near[chosen]))]
    first = chosen[:LISTED]
    names, positions = collection.places(heads[first])
    places = zip(
        collection.names(heads[first], decision.kept_side),
        names.to_pylist(),
        positions.tolist(),
        near[first].tolist(),
        low[first].tolist(),
        strict=True,
    )
    listed = [dict(zip(("representative", "source", "position", "near", "low"), place, strict=True)) for place in places]
    return {"number": len(chosen), "removed": int(near[chosen].sum()), "largest": listed}


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
