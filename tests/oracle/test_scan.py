"""Vectors that are compared each with each: the pairs that the scan finds are all there are, to the last bit."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.joins import norm_scan
from likewise.joins import scan as scanning
from likewise.joins.norm_scan import NormScan
from likewise.joins.pairs import Among, Counts, Join
from likewise.joins.scan import Scan
from likewise.joins.vector_join import prepare
from likewise.stages.workers import Workers
from near_vectors import LIMITS, all_pairs, function_of, listed, near

#: The orders of the distances that are scanned by coordinates. Powers of 3, 2.5 and 1 are summed as they are, that of 1.3 as one of 1.5.
ORDERS = {"l1": 1.0, "l1.3": 1.3, "l2.5": 2.5, "l3": 3.0, "l40": 40.0, "linf": np.inf}
SCANNED = LIMITS | {"l1.3": 12.0, "l2.5": 3.0, "l3": 2.5, "l40": 2.0, "linf": 2.0}


def scan(vectors: np.ndarray, by: str, limit: float, *how: Any, **more: Any) -> Join:
    return NormScan.of(vectors, ORDERS[by], limit, *how, **more) if by in ORDERS else Scan(prepare(vectors, by, limit), *how, **more)


@pytest.mark.parametrize("by", SCANNED)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dimension", [1, 5, 64, 300])
def test_the_scan_finds_all_to_the_last_bit(by, dtype, dimension, monkeypatch):
    """Limits are values that there are, in tiles of any size."""
    vectors = near(dimension, 120, dimension, dtype)
    left, right = np.triu_indices(len(vectors), 1)
    ordered = np.sort(function_of(by)(vectors[left], vectors[right]))
    for limit, tile in ((ordered[40], (7, 5)), (ordered[-200], (2048, 4096)), (SCANNED[by], (64, 33))):
        monkeypatch.setattr(scanning, "PRODUCTS", tile)
        monkeypatch.setattr(norm_scan, "TILE", tile)
        assert listed(scan(vectors, by, float(limit), workers=Workers(tasks=2)).pairs()) == all_pairs(vectors, by, float(limit))


@pytest.mark.parametrize(("by", "scale"), list(itertools.product(["l2", *ORDERS], (1e-200, 1e-30, 1e30, 1e200))))
def test_the_scan_at_any_scale(by, scale):
    """Beside vectors of an ordinary size as well."""
    vectors, limit = near(3, 80, 20, np.float64), SCANNED[by] * scale
    for some in (vectors * scale, np.concatenate([vectors * scale, vectors[:20]])):
        assert listed(scan(some, by, limit).pairs()) == all_pairs(some, by, limit)


@pytest.mark.parametrize("by", SCANNED)
def test_the_scan_of_what_float32_cannot_tell_apart(by):
    """A tight cluster far from 0; directions of lengths from 1e-300 to 1e300."""
    vectors = near(3, 80, 20, np.float64)
    vectors = vectors * 10.0 ** np.random.default_rng(0).integers(-300, 300, (80, 1)) if by in ("cosine", "angle") else 1e4 + 1e-5 * vectors
    limit = SCANNED[by] * (1 if by in ("cosine", "angle") else 1e-5)
    want = all_pairs(vectors, by, limit)
    assert len(want) > 10 and listed(scan(vectors, by, limit).pairs()) == want


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 60), st.sampled_from(list(SCANNED)), st.booleans(), st.booleans(), st.booleans())
def test_the_scan_of_some_of_the_items_across_and_inside_groups(seed, n, by, some, sided, grouped):
    draw = np.random.default_rng(seed)
    vectors = draw.integers(-1, 2, (n, 3)).astype(np.float32)  # zero vectors and copies among them
    items = np.flatnonzero(draw.random(n) < 0.7) if some else np.arange(n)
    side = draw.integers(0, 4, len(items)).astype(np.uint8) if sided else None
    per = draw.integers(0, 3, n).astype(np.uint64) if grouped else None
    limit = {"cosine": 0.5, "angle": 60.0, "l2": 1.5, "linf": 1.0}.get(by, 2.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanning, "PRODUCTS", (7, 4))
        patch.setattr(norm_scan, "TILE", (3, 8))
        got = listed(scan(vectors, by, limit, per).pairs(Among(items if some else None, side)))
    live = [place for place, item in enumerate(items.tolist()) if vectors[item].any() or by not in ("cosine", "angle")]
    want = {}
    for a, b in itertools.combinations(live, 2):
        if side is not None and (not side[a] or not side[b] or side[a] == side[b] != 3):
            continue
        if per is None or per[items[a]] == per[items[b]]:
            want[int(items[a]), int(items[b])] = float(function_of(by)(vectors[items[a]][None], vectors[items[b]][None])[0])
    assert got == {pair: value for pair, value in want.items() if (value >= limit if by == "cosine" else value <= limit)}


@pytest.mark.parametrize("by", ["l2", "linf"])
def test_the_scan_ends_once_there_are_too_many(by):
    vectors = np.ones((9000, 4), np.float32) + np.arange(9000, dtype=np.float32)[:, None] * np.float32(1e-6)
    counts = Counts()
    blocks = scan(vectors, by, 1.0).pairs(most=1000, counts=counts)
    assert 1000 < sum(len(block[0]) for block in blocks) < 2**21 and counts.found < 2**21
