"""The list of clusters, and one cluster with any two of its members side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from likewise.explorer import pair
from likewise.explorer.output import Output
from likewise.explorer.pages import Moved, Request, Shown
from likewise.explorer.removals import SORTS
from likewise.report.pictures import SMALL
from likewise.service.problems import ProblemError

#: Clusters, and members, of a page.
ROWS = 50


class Paged(NamedTuple):
    """A page of a list. Pages count from 1."""

    number: int
    pages: int
    total: int

    @property
    def begin(self) -> int:
        return (self.number - 1) * ROWS


def paged(total: int, request: Request) -> Paged:
    pages = max(1, -(-total // ROWS))
    return Paged(min(request.number("page", 1, default=1), pages), pages, total)


def page(output: Output, request: Request) -> Shown:
    """The list of clusters."""
    removals = output.removals
    clusters, sort = removals.clusters, request.one_of("sort", SORTS, "size")
    order, source = clusters.orders(sort), request.query.get("source", "")
    if source:
        if source not in removals.sources:
            raise ProblemError(404, f"this output has no source {source!r}")
        order = order[clusters.with_source(removals.sources.index(source))[order]]
    place = paged(len(order), request)
    chosen = order[place.begin : place.begin + ROWS]
    of_kept = tuple(name for name in removals.schema.names if name.startswith("kept_"))
    rows = removals.rows([int(clusters.members(one)[0]) for one in chosen.tolist()], of_kept)
    listed = [
        {"number": one, "size": int(clusters.size[one]) + 1, "least": known(clusters.least[one]), "spread": known(clusters.spread[one])}
        | kept(output, row)
        for one, row in zip(chosen.tolist(), rows, strict=True)
    ]
    texts = output.beginnings([(one.place, one.span) for one in map(pair.kept_of, rows)])
    for one, text in zip(listed, texts, strict=True):
        one["text"] = text
    names = {name: words for name, (words, _) in SORTS.items()}
    values = {"here": "/clusters", "clusters": listed, "place": place, "sort": sort, "sorts": names, "source": source}
    return Shown("clusters.html", values | {"sources": [*output.originals.inputs], "value": output.value, "files": output.files})


def of(output: Output, request: Request) -> Moved:
    """The cluster of the kept item at a place."""
    removals = output.removals
    found = removals.at(("kept_source", "kept_position"), request.query.get("source", ""), request.number("position"), 1)
    if not found.rows:
        raise ProblemError(404, "No item was removed for the one at this place.")
    return Moved(f"/clusters/{removals.clusters.of[found.rows[0]]}")


def kept(output: Output, row: dict[str, Any]) -> dict[str, Any]:
    place = {"id": row["kept_id"], "source": row["kept_source"], "position": row["kept_position"], "start": row.get("kept_start")}
    return place | {"picture": output.pictures(row["kept_source"], SMALL)}


def known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def one(output: Output, request: Request) -> Shown:
    """One cluster. Its members count from 0, which is the kept item; those that are removed follow in the order of the input."""
    removals, number = output.removals, int(request.path["number"])
    clusters = removals.clusters
    if number >= len(clusters):
        raise ProblemError(404, f"there are {len(clusters):,} clusters, counted from 0")
    members = clusters.members(number)
    values = removals.values[members]
    left, right = request.number("a", 0, len(members)), request.number("b", 0, len(members), default=furthest(values, clusters.distances) + 1)
    place = paged(len(members), request)
    shown = range(place.begin, min(place.begin + ROWS, len(members)))
    rows = removals.rows(members[[*shown, max(left - 1, 0), max(right - 1, 0)]].tolist())
    sides = [pair.kept_of(row) if side == 0 else pair.removed_of(row) for side, row in zip((left, right), rows[-2:], strict=True)]
    beside = pair.beside(output, sides[0], sides[1], recorded(rows[-2:], (left, right), output.value), request)
    listed = [
        {"member": member + 1, "value": known(values[member]), "row": row, "picture": output.pictures(row["source"], SMALL)}
        for member, row in zip(shown, rows, strict=False)
    ]
    kept_item = kept(output, rows[0])
    about = {"here": "/clusters", "number": number, "kept": kept_item, "size": len(members) + 1, "members": listed, "place": place}
    about |= {"reasons": pair.ALL_REASONS, "files": output.files}
    return Shown("cluster.html", about | {"a": left, "b": right, "pair": beside, "value": output.value, "clusters": len(clusters)})


def recorded(rows: Sequence[dict[str, Any]], members: tuple[int, int], value: str) -> dict[str, Any] | None:
    """The removal that compared two members, if one of them is the kept item."""
    if 0 not in members or members[0] == members[1]:
        return None
    return next(row for row, member in zip(rows, members, strict=True) if member)


def furthest(values: np.ndarray, distances: bool) -> int:
    """The member that is least similar to the kept item."""
    filled = np.where(np.isnan(values), -np.inf if distances else np.inf, values)
    return int(filled.argmax() if distances else filled.argmin())
