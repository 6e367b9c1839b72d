"""Every verb by L∞ and other L_r, which have no hash family: all pairs are compared."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likewise as lw
from command_line import run
from likewise.kernels import norms
from likewise.measures.norms import lr

#: By L∞: 0 and 1 differ by 1, 1 and 2 by 2, 0 and 2 by 3, 3 is far away. By L3: 9^(1/3) = 2.08, 16^(1/3) = 2.52, 35^(1/3) = 3.27 at least.
POINTS = np.array([[0.0, 0.0], [1.0, 1.0], [3.0, 2.0], [50.0, 0.0]])
ORDERS = {"linf": np.inf, "l3": 3.0, "l2.5": 2.5, "l1": 1.0, "l2": 2.0}


def sparse(rows: np.ndarray) -> list[dict[str, Any]]:
    """Each row by its nonzero coordinates."""
    return [{"vector": {"indices": np.flatnonzero(row).tolist(), "values": row[row != 0].tolist()}} for row in rows]


def as_rows(found: lw.Pairs) -> list[tuple[Any, ...]]:
    return list(zip(*(found[name].tolist() for name in ("id_a", "id_b", "distance")), strict=True))


@pytest.mark.parametrize("given", [POINTS, POINTS.astype(np.float32), sparse(POINTS)], ids=["float64", "float32", "sparse"])
def test_every_verb_by_hand(given: Any) -> None:
    assert as_rows(lw.pairs(given, by="linf", within=2)) == [(0, 1, 1.0), (1, 2, 2.0)]
    assert as_rows(lw.pairs(given, by="l3", within=2)) == [(0, 1, 2 ** (1 / 3))]
    assert as_rows(lw.pairs(given, by="l3", within="2.0801")) == [(0, 1, 2 ** (1 / 3)), (1, 2, pytest.approx(9 ** (1 / 3)))]
    assert as_rows(lw.pairs(given[:1], against=given[1:], by="linf", within=3)) == [(0, 0, 1.0), (0, 1, 3.0)]
    removal = lw.dedup(given, by="linf", within=2)
    assert removal.removed["id"].tolist() == [1] and removal.removed["distance"].tolist() == [1.0]
    assert as_rows(lw.neighbors(given, by="linf", k=1)) == [(0, 1, 1.0), (1, 0, 1.0), (2, 1, 2.0), (3, 2, 47.0)]
    assert as_rows(lw.neighbors(given, query=given[3:], by="linf", k=2, within=49)) == [(0, 3, 0.0), (0, 2, 47.0)]
    audit = lw.audit(given, by="linf", within=2)
    assert (audit.pairs, audit.found, audit.expected_recall) == (2, 2, 1.0)


@pytest.mark.parametrize("by", ORDERS)
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_pairs_and_neighbors_are_those_of_brute_force(by: str, form: str) -> None:
    """At limits that are distances of pairs, and inside groups."""
    draw = np.random.default_rng(len(by))
    rows = draw.normal(size=(90, 20)) * (draw.random((90, 20)) < 0.4)
    rows[60:] = rows[:30] + 0.01 * draw.normal(size=(30, 20)) * (rows[:30] != 0)
    given = rows if form == "dense" else sparse(rows)
    left, right = np.triu_indices(len(rows), 1)
    distance = lr(rows[left], rows[right], ORDERS[by])
    every = np.full((90, 90), np.inf)
    every[left, right] = every[right, left] = distance
    for limit in np.sort(distance)[[0, 25, 2000]].tolist():
        want = [(a, b, d) for a, b, d in zip(left.tolist(), right.tolist(), distance.tolist(), strict=True) if d <= limit]
        found = as_rows(lw.pairs(given, by=by, within=Fraction(limit), exact=True))
        assert [pair[:2] for pair in found] == [pair[:2] for pair in want]
        assert [pair[2] for pair in found] == pytest.approx([pair[2] for pair in want], rel=1e-14)
    nearest = lw.neighbors(given, by=by, k=4, exact=True)
    assert nearest["distance"] == pytest.approx(np.sort(every, axis=1)[:, :4].ravel(), rel=1e-14)
    both = [
        {"vector": row["vector"] if form == "sparse" else row["vector"].tolist(), "half": place % 2}
        for place, row in enumerate(sparse(rows) if form == "sparse" else [{"vector": row} for row in rows])
    ]
    grouped = as_rows(lw.pairs(both, by=by, within=Fraction(limit), exact=True, per="half"))
    assert [pair[:2] for pair in grouped] == [(a, b) for a, b, _ in want if a % 2 == b % 2]


def test_wide_angles_of_sparse_vectors_are_joined_exactly() -> None:
    """The first two are at a right angle, the third is opposite to the first, and the last has no direction."""
    rows = sparse(np.array([[1.0, 0], [0, 2.0], [-1.0, 0], [0, 0]]))
    assert as_rows(lw.pairs(rows, by="angle", within=90, exact=True)) == [(0, 1, 90.0), (1, 2, 90.0)]


def test_a_crowd_costs_no_more_than_its_items() -> None:
    """40,000 vectors within the limit of the first are 800 million pairs, of which dedup holds and compares few."""
    crowd = np.random.default_rng(0).random((40_000, 2))
    removal = lw.dedup(crowd, by="linf", within=1)
    assert len(removal.kept) == 1 and removal.report["counts"]["removed"] == 39_999
    assert removal.report["method"]["exact"] is True


def test_results_do_not_depend_on_threads() -> None:
    rows = np.random.default_rng(1).normal(size=(3_000, 6))
    one, other = (lw.pairs(rows, by="l3", within=0.5, threads=threads) for threads in (1, 3))
    assert len(one) > 100 and one == other


def test_the_command_line_needs_no_flag_and_says_what_is_done(folder: Path) -> None:
    np.save("points.npy", POINTS)
    assert [json.loads(line)["distance"] for line in run("pairs", "points.npy", "--by", "linf", "--within", "2").stdout.splitlines()] == [1.0, 2.0]
    done = run("dedup", "points.npy", "--by", "l2.5", "--within", "2", "-o", "out")
    assert done.exit_code == 0 and "100%" in done.stderr + done.stdout
    assert run("show", "out", "1").exit_code == run("report", "out").exit_code == run("audit", "out").exit_code == 0
    refused = run("pairs", "points.npy", "--by", "linf", "--within", "2", "--bands", "4")
    assert refused.exit_code == 2
    assert "--bands 4: --by linf compares all vectors, and finds every pair; leave out this option" in refused.stderr


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_pair_is_given_up_only_beyond_the_limit(dtype: Any) -> None:
    """Limits a little below and above each distance, from 1e-25 to 1e25: what the filter passes decides the measure."""
    draw = np.random.default_rng(2)
    for order, scale, dimension in itertools.product((1.0, 1.5, 2.7, 3.0, 3.5, 4.0, 7.0, 100.0, np.inf), (1e-25, 1.0, 1e25), (1, 17, 200)):
        rows = (draw.normal(size=(30, dimension)) * scale).astype(dtype)
        distance = lr(rows[:15], rows[15:], order)
        norm = norms.norm_of(order, dimension, rows.itemsize)
        for place, exact in enumerate(distance.tolist()):
            pair = np.array([place]), np.array([15 + place])
            numbers = norms.padded(rows[pair[0]]), norms.padded(rows[pair[1]])
            for limit, within in ((exact, 1), (np.nextafter(exact, 0), 0), (0.5 * exact, 0)):
                out = np.empty(1, np.int64), np.empty(1, np.int64), np.empty(1)
                window = np.zeros(1, np.int64), np.ones(1, np.int64), np.zeros(1, bool), np.zeros(1, bool)
                count, compared = norms.close(rows, norm, float(limit), *pair, *numbers, *window, *out)
                assert (count, compared) == (within, 1), (order, scale, dimension, limit)
