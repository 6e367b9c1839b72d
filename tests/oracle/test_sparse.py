"""Sparse vectors: to the last bit what the same vectors written out are, and through the pipeline what brute force gives."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from command_line import run
from likewise import kinds
from likewise.families import Hyperplane, from_plan
from likewise.io import batches
from likewise.io.formats import lines as byte_formats
from likewise.items.sparse import sparse
from likewise.joins.pairs import Among, Counts
from likewise.joins.sparse_join import SparseJoin
from likewise.kernels.compare import SparseRule
from likewise.measures.sparse import kernel_of
from likewise.nearest.sparse import close
from near_vectors import listed
from sparse_rows import EACH, LIMITS, SURE, Row, csr, mapping, pairs_of, records, rows, same, similar, value, written_out
from stopping import StoppedError, Stops, snapshot

# all pairs


@EACH
def test_pairs_are_those_of_brute_force(by):
    made = rows()
    want = similar(made, by)
    assert len(want) > 25
    same(pairs_of(lw.pairs(records(made), by=by, **LIMITS[by], **SURE).to_arrow()), want)
    if by in ("cosine", "angle"):
        joined = lw.pairs(records(made), by=by, exact=True, **LIMITS[by])
        same(pairs_of(joined.to_arrow()), want)
        assert joined.report["recall"] == 1


@EACH
def test_values_are_those_of_dense_rows(by):
    """The same bits, though dense vectors are found by other codes."""
    made = rows()[:-2]  # whose lengths are below what these were measured for
    found = pairs_of(lw.pairs(records(made), by=by, **LIMITS[by], **SURE).to_arrow())
    assert found == pairs_of(lw.pairs(written_out(made), by=by, **LIMITS[by], recall=0.9999).to_arrow())


@pytest.mark.parametrize("exact", [True, False])
def test_pairs_across_and_inside_groups(exact):
    made = rows()
    half, want = len(made) // 2, similar(made, "cosine")
    how = {**SURE, "exact": exact, "by": "cosine", **LIMITS["cosine"]}
    across = pairs_of(lw.pairs(records(made)[:half], against=records(made)[half:], **how).to_arrow())
    same(across, {pair: one for pair, one in want.items() if pair[0] < half <= pair[1]})
    inside = pairs_of(lw.pairs(records(made, shop=[place % 3 for place in range(len(made))]), per="shop", **how).to_arrow())
    same(inside, {pair: one for pair, one in want.items() if pair[0] % 3 == pair[1] % 3})
    assert len(across) > 5 and len(inside) > 5
    with pytest.raises(lw.UsageError, match="raise max_pairs="):
        lw.pairs(records(made), max_pairs=3, **how)


@pytest.mark.parametrize("exact", [True, False])
def test_a_value_equal_to_the_threshold_counts(exact):
    """1 / (√2 √2), which float64 has exactly, and lengths of whole numbers."""
    made = [{1: 1.0, 2: 1.0}, {1: 1.0, 3: 1.0}, {7: 1.0}, {7: 1.0, 8: 3.0, 9: 4.0}]
    assert pairs_of(lw.pairs(records(made), by="cosine", threshold=0.5, recall=0.9999, exact=exact).to_arrow()) == {(0, 1): 0.5}
    assert not len(lw.pairs(records(made), by="cosine", threshold=math.nextafter(0.5, 1), recall=0.9999, exact=exact))
    if not exact:
        assert pairs_of(lw.pairs(records(made[2:]), by="l2", within=5, **SURE).to_arrow()) == {(0, 1): 5.0}
        assert pairs_of(lw.pairs(records(made[2:]), by="l1", within=7, **SURE).to_arrow()) == {(0, 1): 7.0}


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32), st.sampled_from([0.999, 0.9, 0.7, 0.4, 0.05]), st.sampled_from(["cosine", "angle"]), st.integers(2, 30), st.integers(1, 3)
)
def test_the_join_misses_nothing(seed, least, by, indices, groups):
    """Few indices and values, so that vectors share some, and are equal; against all pairs by the measure."""
    draw = np.random.default_rng(seed)
    vectors = sparse(csr([{int(i): float(draw.integers(-3, 4)) for i in draw.integers(0, indices, 6)} for _ in range(40)], indices))
    vectors = vectors[np.flatnonzero(vectors.sizes)]
    limit = least if by == "cosine" else math.degrees(math.acos(least))
    left, right = np.triu_indices(len(vectors), 1)
    every = lw.similarity(vectors[left], vectors[right], by=by)
    good = every >= limit if by == "cosine" else every <= limit
    want = sorted(zip(left[good].tolist(), right[good].tolist(), every[good].tolist(), strict=True))
    per = draw.integers(0, groups, len(vectors)).astype(np.uint64)
    join, counts = SparseJoin.of(vectors, SparseRule(limit, *kernel_of(kinds.measure(by)), 0), per), Counts()
    inside = {(a, b): value for a, b, value in want if per[a] == per[b]}
    assert listed(join.pairs(counts=counts)) == inside
    assert len(inside) == counts.found <= counts.compared <= join.visits
    items, side = np.flatnonzero(draw.integers(0, 4, len(vectors))), draw.integers(0, 4, len(vectors)).astype(np.uint8)
    some, sides = set(items.tolist()), side.tolist()
    across = [(a, b) for a, b in inside if {a, b} <= some and 0 not in (sides[a], sides[b]) and (sides[a] != sides[b] or sides[a] == 3)]
    assert sorted(listed(join.pairs(Among(items, side[items])))) == across
    blocks = [np.stack(block[:2]) for block in close(vectors, np.arange(len(vectors)), by, limit)]
    assert {*map(tuple, np.concatenate(blocks, axis=1).T.tolist())} >= {pair[:2] for pair in want}


def test_rare_coordinates_by_hand():
    """Index 1 is in all three, so it comes first: 0.64 of the squared length of each. Alone it cannot make 0.9, but 0.7."""
    vectors = sparse([mapping({1: 4.0, 2: 3.0}), mapping({1: 4.0, 2: 3.0}), mapping({1: 4.0, 5: 3.0})])
    of = [SparseJoin.of(vectors, SparseRule(limit, *kernel_of(kinds.measure("cosine")), 0)) for limit in (0.9, 0.7)]
    assert [np.diff(one.offsets).tolist() for one in of] == [[1, 1, 1], [2, 2, 2]]
    assert [one.visits for one in of] == [1, 4]


def test_what_is_cheaper_is_done():
    """Rare coordinates in common: an exact join. Every vector with every coordinate: bands, unless no miss is allowed."""
    draw = np.random.default_rng(4)
    rare = [{int(index): 1.0 for index in draw.choice(10**6, 20)} for _ in range(300)]
    full = [{index: float(number) for index, number in enumerate(row)} for row in draw.normal(size=(3000, 6))]
    assert lw.pairs(records(rare), by="cosine", threshold=0.9).report["recall"] == 1
    many = lw.pairs(records(full), by="cosine", threshold=0.97)
    every = lw.pairs(records(full), by="cosine", threshold=0.97, exact=True)
    assert 0.99 <= many.report["recall"] < 1 == every.report["recall"]
    assert len(every) > 500 and 0.98 * len(every) < len(many) <= len(every)
    assert lw.pairs(records(rare), by="cosine", threshold=0.9, bands=20, rows=5).report["recall"] < 1


# removal


def walked(given_: list[Row], by: str, order: list[int]) -> dict[int, int]:
    """The greedy walk by brute force: removed item -> representative. A copy follows its first."""
    found, kept, removed = similar(given_, by), [], {}
    for item in order:
        near = [(-one if by == "cosine" else one, order.index(sum(pair) - item), sum(pair) - item) for pair, one in found.items() if item in pair]
        near = [(round(one, 9), place, other) for one, place, other in near if other in kept]
        if near:
            removed[item] = min(near)[2]
        else:
            kept.append(item)
    return removed


@pytest.mark.parametrize(("by", "exact"), [("cosine", True), ("cosine", False), ("angle", True), ("l1", False), ("l2", False)])
def test_dedup_is_the_greedy_walk(tmp_path, by, exact):
    made = rows()
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in records(made)))
    result = lw.dedup(path, out=tmp_path / "out", by=by, exact=exact, **({} if exact else {"recall": 0.9999}), **LIMITS[by])
    want = walked(made, by, list(range(len(made))))
    assert len(want) > 15
    assert {row["id"]: row["kept_id"] for row in result.removed.to_arrow().to_pylist()} == want
    lines = path.read_bytes().splitlines(keepends=True)
    assert (tmp_path / "out/kept/in.jsonl").read_bytes() == b"".join(line for place, line in enumerate(lines) if place not in want)
    assert result.report["counts"]["empty"] == (2 if by in ("cosine", "angle") else 0)
    last = lw.dedup(path, by=by, exact=exact, keep="last", **({} if exact else {"recall": 0.9999}), **LIMITS[by])
    order = list(reversed(range(len(made))))
    assert {row["id"]: row["kept_id"] for row in last.removed.to_arrow().to_pylist()} == walked(made, by, order)
    star = lw.pairs(path, by=by, exact=exact, star=True, **({} if exact else {"recall": 0.9999}), **LIMITS[by]).to_arrow()
    assert {row["id_b"]: row["id_a"] for row in star.to_pylist()} == want


def at_the_threshold(by: str, count: int) -> tuple[list[Row], dict[str, Any]]:
    """Pairs exactly at the limit, but for rounding within it, and unlike all others: of a few coordinates, where signs would be worst."""
    draw = np.random.default_rng([6, sum(map(ord, by))])
    made: list[Row] = []
    for pair in range(count):
        index = (2000 * pair + draw.choice(2000, 3, replace=False)).tolist()
        x, z = draw.normal(size=(2, 3))
        if by == "cosine":
            x /= np.linalg.norm(x)
            z -= z @ x * x
            y = 0.9 * x + math.sqrt(0.19) * z / np.linalg.norm(z)
        else:
            x = x + 20 * (pair + 1)
            y = x + z / np.linalg.norm(z, 1 if by == "l1" else 2)
        made += [dict(zip(index, map(float, side), strict=True)) for side in (x, y)]
    return made, {"threshold": 0.9 - 1e-9} if by == "cosine" else {"within": 1 + 1e-9}


@pytest.mark.parametrize("by", ["cosine", "l1", "l2"])
def test_pairs_at_the_threshold_are_found_as_often_as_expected(by):
    """The share of pairs found is that of the plan, within four standard errors."""
    count = 400
    made, limit = at_the_threshold(by, count)
    found = lw.pairs(records(made), by=by, recall=0.8, exact=False, **limit)
    expected_recall = found.report["recall"]
    assert 0.8 <= expected_recall < 0.95
    assert all(b == a + 1 and a % 2 == 0 for a, b in pairs_of(found.to_arrow()))
    assert len(found) == pytest.approx(count * expected_recall, abs=4 * math.sqrt(count * expected_recall * (1 - expected_recall)))


def test_directions_of_signs_would_not_do():
    """(1, 0) and (2, 1) always agree under signs, 26.6 degrees apart, and agree with chance 0.852 under Gaussians."""
    both = [mapping({10**9: 1.0}), mapping({10**9: 2.0, 7: 1.0})]
    for mode, low, high in (("signs", 1, 1), ("gaussian", 0.852 - 0.03, 0.852 + 0.03)):
        a, b = Hyperplane(4000, mode).signature(both)
        assert low <= (a == b).mean() <= high


# neighbors


@pytest.mark.parametrize("by", ["cosine", "l2"])
def test_neighbors_are_those_of_brute_force(by):
    made = rows()[:-2]  # whose distances no rounded one tells apart
    for k, same_, limit in ((3, True, {}), (40, True, {}), (3, False, {}), (5, True, {"threshold": 0.5} if by == "cosine" else {"within": 3})):
        base = made if same_ else made[20:]
        result = lw.neighbors(records(base), query=None if same_ else records(made[:20]), by=by, k=k, **limit).to_arrow()
        got: dict[int, list[tuple[int, float]]] = {}
        for row in result.to_pylist():
            got.setdefault(row["id_a"], []).append((row["id_b"], row.get("similarity", row.get("distance"))))
        for query, row in enumerate(made if same_ else made[:20]):
            every = [] if by == "cosine" and not row else [(value(row, other, by), at) for at, other in enumerate(base) if other or by == "l2"]
            every = [pair for pair in every if not (same_ and pair[1] == query)]
            if by == "cosine":
                every = [(-one, at) for one, at in every if one > 1e-12 and one >= limit.get("threshold", 0) - 1e-12]
            else:
                every = [(one, at) for one, at in every if one <= limit.get("within", math.inf)]
            want = sorted((round(one, 9), at) for one, at in every)[:k]
            assert [(round(-one if by == "cosine" else one, 9) + 0.0, at) for at, one in got.get(query, [])] == want


def test_neighbors_by_other_measures_and_of_nothing():
    with pytest.raises(lw.UsageError, match="nearest neighbors of sparse vectors are available for"):
        lw.neighbors(records(rows()), by="angle", k=1)
    assert len(lw.neighbors(records([{}, {}]), by="cosine", k=1)) == 0
    assert len(lw.neighbors(records([{1: 1.0}, {2: 1.0}]), by="cosine", k=1)) == 0  # nothing in common
    assert len(lw.neighbors(records([{1: 1.0}, {2: 1.0}]), by="l2", k=5)) == 2


# the audit


@EACH
def test_the_audit_counts_what_brute_force_counts(by):
    made = rows()
    want = similar(made, by)
    firsts = {place for place, row in enumerate(made) if row not in made[:place]}  # copies are collapsed before
    true = [pair for pair in want if set(pair) <= firsts]
    found = lw.audit(records(made), by=by, sample=len(made), recall=0.7, exact=False, **LIMITS[by])
    listed = pairs_of(lw.pairs(records(made), by=by, recall=0.7, exact=False, **LIMITS[by]).to_arrow())
    assert (found.pairs, found.found) == (len(true), len(set(listed) & set(true)))
    some = lw.audit(records(made), by=by, sample=20, **LIMITS[by])
    assert some.sampled == 20 and some.pairs < found.pairs


def test_an_audit_measures_the_recall_of_a_layout():
    """5 bands of 8 rows find a pair at cosine 0.9 with chance 1 - (1 - (1 - 25.84/180)^8)^5 = 0.817."""
    made, limit = at_the_threshold("cosine", 300)
    found = lw.audit(records(made), by="cosine", bands=5, rows=8, sample=600, **limit)
    theory = 1 - (1 - (1 - math.degrees(math.acos(0.9)) / 180) ** 8) ** 5
    assert found.pairs == 300 and found.expected_recall == pytest.approx(theory, abs=1e-6)
    assert abs(found.recall - theory) < 4 * math.sqrt(theory * (1 - theory) / 300)


def test_an_output_is_audited_and_shown_as_it_was_made(tmp_path):
    path = tmp_path / "in.jsonl"
    lines = [{"id": "a", **mapping({1: 2.0, 5: 1.0})}, {"id": "b", **mapping({9: 1.0, 5: 1.0, 1: 2.5})}, {"id": "z", **mapping({})}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    made = run("dedup", path, "-o", tmp_path / "out", "--by", "cosine", "--threshold", "0.9")
    assert made.exit_code == 0, made.stderr
    assert "1 pair with a sampled item" in run("audit", tmp_path / "out").stdout
    shown = run("show", tmp_path / "out", "b")
    assert shown.stderr == ""
    assert "1 coordinate: 5: 1" in shown.stdout and "1: 2.5 in removed, 2 in kept" in shown.stdout and "9: 1" in shown.stdout
    printed = json.loads(run("show", tmp_path / "out", "b", "--json").stdout)
    assert printed["removed"]["value"] == {"indices": [1, 5, 9], "values": [2.5, 1.0, 1.0]}
    assert printed["similarity"] == pytest.approx(value({1: 2.0, 5: 1.0}, {9: 1.0, 5: 1.0, 1: 2.5}, "cosine"))
    assert "its values are all 0" in run("show", tmp_path / "out", "z").stdout
    assert json.loads((tmp_path / "out/manifest.json").read_text())["method"]["sparse"] is True


# order, chunks, threads


@pytest.mark.parametrize("exact", [True, False])
def test_order_changes_no_pair(exact):
    made = rows()
    order = np.random.default_rng(3).permutation(len(made)).tolist()
    how = {"by": "cosine", "threshold": 0.8, **({"exact": True} if exact else {"bands": 3, "rows": 12})}  # some are missed, and the same ones
    plain = pairs_of(lw.pairs(records(made), **how).to_arrow())
    mixed = pairs_of(lw.pairs([records(made)[place] for place in order], **how).to_arrow())
    assert {(min(pair), max(pair)): one for pair, one in mixed.items()} == plain
    assert (len(plain) == len(similar(made, "cosine"))) == exact


@pytest.mark.parametrize(("by", "exact"), [("cosine", True), ("cosine", False), ("l2", False)])
def test_threads_and_chunks_change_no_byte(tmp_path, monkeypatch, by, exact):
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in records(rows())))
    how = {"by": by, "exact": exact, "recall": 0.8, **LIMITS[by]}
    lw.dedup(path, out=tmp_path / "one", threads=1, pairs=True, **how)
    listed = lw.pairs(path, threads=1, **how).to_arrow()
    for module in (batches, byte_formats):
        monkeypatch.setattr(module, "CHUNK_BYTES", 2000)
    monkeypatch.setattr("likewise.joins.sparse_join.ITEMS", 5)
    monkeypatch.setattr("likewise.joins.sparse_join.ROWS", 1)
    lw.dedup(path, out=tmp_path / "two", threads=2, pairs=True, **how)
    names = ("kept/in.jsonl", "removed.parquet", "clusters.parquet", "pairs.parquet", "report.json")
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name
    assert lw.pairs(path, threads=2, **how).to_arrow().equals(listed)


@pytest.mark.parametrize("exact", [None, False])
def test_a_stopped_run_goes_on(tmp_path, monkeypatch, exact):
    """While reading, once all is read, and while writing."""
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in records(rows())))
    monkeypatch.setattr(byte_formats, "CHUNK_BYTES", 4000)
    stops = Stops(monkeypatch)
    how = {"by": "cosine", "threshold": 0.8, "exact": exact}
    lw.dedup(path, out=tmp_path / "whole", **how)
    want, steps = snapshot(tmp_path / "whole"), stops.done
    assert steps.count("chunk") > 4
    for at in (3, steps.index("read") + 1, steps.index("decide") + 1, len(steps) - 1):
        out = tmp_path / f"stopped-{at}"
        stops.begin(at)
        with pytest.raises(StoppedError):
            lw.dedup(path, out=out, **how)
        stops.begin(0)
        lw.dedup(path, out=out, resume=True, **how)
        assert snapshot(out) == want


# plans


def test_a_plan_of_a_sample_makes_its_family():
    made = [row for row in rows() if row]
    plan = lw.plan(csr(made), by="cosine", threshold=0.8)
    assert plan.recall >= 0.99 and plan.items == len({tuple(sorted(row.items())) for row in made}) and plan.model.sparse
    assert from_plan(plan).signature(csr(made)).shape == (len(made), plan.slots)
    assert lw.plan(csr(made), by="l1", within=2).collision.parameters["norm"] == "l1"
    denser = lw.plan(by="cosine", threshold=0.8)
    assert plan.slots < denser.slots
