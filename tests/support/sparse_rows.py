"""Sparse vectors as plain rows, and their similar pairs by brute force."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

Row = dict[int, float]
DIMENSION = 10**6
#: Recall high enough to miss no pair at these sizes; seeds are fixed.
SURE = {"recall": 0.9999, "exact": False}
LIMITS: dict[str, dict[str, float]] = {"cosine": {"threshold": 0.8}, "angle": {"within": 40}, "l1": {"within": 6}, "l2": {"within": 2}}
EACH = pytest.mark.parametrize("by", LIMITS)


def rows(n: int = 120, seed: int = 0, entries: int = 12) -> list[Row]:
    """Vectors over a million coordinates, some frequent; each third vector is near an earlier one; some are empty, or copies."""
    draw = np.random.default_rng(seed)
    made: list[Row] = []
    for place in range(n):
        if place % 3 == 2:
            row = {index: value * float(draw.uniform(0.7, 1.3)) for index, value in made[place // 2].items() if draw.random() < 0.9}
        else:
            index = (draw.zipf(1.3, entries) * 7919 % DIMENSION).tolist()
            row = {at: float(draw.normal()) for at in index}
        made.append({at: float(np.float32(value)) for at, value in row.items()})
    return [*made, {}, {}, made[4], {at: 2 * value for at, value in made[5].items()}, {3: 1e-170}, {3: 1e-170, 5: 1e-171}]


def mapping(row: Row, **more: Any) -> dict[str, Any]:
    return {"indices": list(row), "values": list(row.values()), **more}


def records(given_: list[Row], **more: list[Any]) -> list[dict[str, Any]]:
    named = [{name: column[place] for name, column in more.items()} for place in range(len(given_))]
    return [{"id": place, "vector": mapping(row, dim=DIMENSION), **named[place]} for place, row in enumerate(given_)]


def csr(given_: list[Row], width: int = DIMENSION, **changed: Any) -> Any:
    """The rows with the attributes of a CSR matrix of scipy."""
    parts = {
        "indptr": np.cumsum([0, *map(len, given_)]).astype(np.int32),
        "indices": np.array([index for row in given_ for index in row], np.int32),
        "data": np.array([value for row in given_ for value in row.values()]),
        "shape": (len(given_), width),
    }
    return SimpleNamespace(**{**parts, **changed})


def written_out(given_: list[Row]) -> np.ndarray:
    """The same vectors, dense over the coordinates that occur, each in its lane of eight (kernels.lanes)."""
    there = sorted({index for row in given_ for index in row})
    place: dict[int, int] = {}
    for index in there:
        place[index] = next(at for at in itertools.count(8 * (max(place.values(), default=-8) // 8 + 1) + index % 8))
    dense = np.zeros((len(given_), max(place.values(), default=0) + 1))
    for number, row in enumerate(given_):
        for index, value in row.items():
            dense[number, place[index]] = value
    return dense


def value(a: Row, b: Row, by: str) -> float:
    """The slow reference implementation, with sums that are rounded once."""
    both = sorted({*a, *b})
    if by in ("l1", "l2"):
        gaps = [abs(a.get(index, 0.0) - b.get(index, 0.0)) for index in both]
        return math.fsum(gaps) if by == "l1" else math.hypot(*gaps)
    x, y = ({index: number / max(map(abs, row.values())) for index, number in row.items()} for row in (a, b))
    lengths = [math.sqrt(math.fsum(number * number for number in row.values())) for row in (x, y)]
    cosine = math.fsum(x.get(index, 0.0) * y.get(index, 0.0) for index in both) / math.prod(lengths)
    return cosine if by == "cosine" else math.degrees(math.acos(max(-1.0, min(1.0, cosine))))


def similar(given_: list[Row], by: str, limit: float | None = None) -> dict[tuple[int, int], float]:
    """All pairs within the limit, by brute force."""
    bound = next(iter(LIMITS[by].values())) if limit is None else limit
    live = [place for place, row in enumerate(given_) if row or by in ("l1", "l2")]
    found = {(a, b): value(given_[a], given_[b], by) for a, b in itertools.combinations(live, 2)}
    assert all(abs(one - bound) > 1e-9 for one in found.values())  # otherwise rounding decides
    return {pair: one for pair, one in found.items() if (one >= bound if by == "cosine" else one <= bound)}


def pairs_of(table: pa.Table) -> dict[tuple[int, int], float]:
    return {(row["id_a"], row["id_b"]): row.get("similarity", row.get("distance")) for row in table.to_pylist()}


def same(got: dict, want: dict) -> None:
    assert sorted(got) == sorted(want)
    assert got == pytest.approx(want, rel=1e-12, abs=1e-6)  # an arc cosine near 0 has half its digits
