"""Sets and vectors whose values a user can check by hand: nearest ones, layouts that cannot reach, queries without a direction."""

from __future__ import annotations

import numpy as np
import pytest

import likewise as lw
from likewise.errors import DataError, UsageError


def test_similarities_are_those_of_the_sets_and_no_placeholder():
    """A stored set that is equal, one that shares 57 of 64, one that shares a single element, and one that shares none."""
    stored = {"same": range(64), "near": range(7, 64), "far": [0], "none": range(900, 960)}
    rows = [{"id": name, "elements": list(elements)} for name, elements in stored.items()]
    query = [{"id": "q", "elements": list(range(64))}]
    found = lw.neighbors(rows, query=query, by="elements", k=4).to_arrow().to_pylist()
    assert [(row["id_b"], row["similarity"]) for row in found if row["similarity"]] == [("same", 1.0), ("near", 57 / 64), ("far", 1 / 64)]
    assert all(row["id_b"] == "none" for row in found[3:])
    pairs = lw.pairs(rows, by="elements", threshold=0.5).to_arrow().to_pylist()
    assert [(row["id_a"], row["id_b"], row["similarity"]) for row in pairs] == [("same", "near", 57 / 64)]


def test_a_layout_that_cannot_reach_the_threshold_does_not_look_like_a_clean_corpus():
    """200 pairs of 4/5. 60 bands of 13 rows find each with 0.966, 193 of them, give or take 2.6; 13 bands of 60 find none, and say so."""
    rows = [{"elements": list(range(1000 * i + shift, 1000 * i + shift + 90))} for i in range(200) for shift in (0, 10)]
    asked = {"by": "elements", "threshold": 0.8, "exact": False}
    assert len(lw.pairs(rows, **asked)) >= 190
    steep = lw.pairs(rows, **asked, bands=60, rows=13)
    assert len(steep) >= 170 and set(steep.to_arrow()["similarity"].to_pylist()) == {0.8}
    flat = lw.pairs(rows, **asked, bands=13, rows=60)
    assert len(flat) <= 1
    assert any("a pair at 0.8 is found with a probability of only 0.0020%" in said for said in flat.report["warnings"])


@pytest.mark.parametrize(("by", "order", "values"), [("l2", "prs", [0.5, 27**0.5 * 7 / 12, 48**0.5]), ("cosine", "rps", [1, 13 / 171**0.5, -1])])
def test_direction_and_length_disagree_about_who_is_nearest(by, order, values):
    """q = (2, 2, 2); p = (2, 2, 2.5): 1/2 away, cosine 13/√171; r = q/8: 7√12/8 = 7√27/12 away; s = -q: √48 away."""
    rows = [{"id": name, "vector": vector} for name, vector in zip("prs", [[2, 2, 2.5], [0.25] * 3, [-2] * 3], strict=True)]
    found = lw.neighbors(rows, query=[{"id": "q", "vector": [2, 2, 2]}], by=by, k=3).to_arrow().to_pylist()
    value = "distance" if by == "l2" else "similarity"
    assert "".join(row["id_b"] for row in found) == order
    assert [row[value] for row in found] == pytest.approx(values, abs=1e-12)
    with pytest.raises(UsageError, match="inner"):
        lw.neighbors(rows, by="inner", k=3)


def test_a_query_without_a_direction_has_no_neighbors_and_one_of_nan_is_refused():
    rows = np.array([[1, 2, 3, 4], [4, 3, 2, 1]], np.float32)
    found = lw.neighbors(rows, query=np.zeros((1, 4), np.float32), by="cosine", k=2)
    assert len(found) == 0 and any("zero vector" in said for said in found.report["warnings"])
    with pytest.raises(DataError, match="nan is not a coordinate of a vector"):
        lw.neighbors(rows, query=np.array([[1, np.nan, 0, 0]], np.float32), by="cosine", k=2)
    with pytest.raises(DataError, match="nan is not a coordinate of a vector"):
        lw.pairs(np.array([[1, np.nan, 0, 0], [1, 2, 3, 4]], np.float32), by="cosine", threshold=0.99)
