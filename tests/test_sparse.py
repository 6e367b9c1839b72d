"""Sparse vectors: to the last bit what the same vectors written out are, and through the pipeline what brute force gives."""

from __future__ import annotations

import itertools
import json
import math
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.cli.main import main
from likewise.families import CrossPolytope, Hyperplane, Line, Stripe, from_plan
from likewise.io import batches
from likewise.io.fields import sparse as field_of
from likewise.io.formats import lines as byte_formats
from likewise.io.inputs import resolve
from likewise.io.work import Work
from likewise.items.sparse import Sparse, of_words, sparse, words_of
from likewise.kernels import directions as constants
from likewise.kernels.compare import SparseRule, values
from likewise.kernels.sparse import MEASURES
from likewise.records import Want
from likewise.stages.sparse import close
from likewise.stages.sparse_join import Prepared, sparse_pairs

Row = dict[int, float]
DIMENSION = 10**6
#: So much recall that at these sizes no pair is missed; seeds are fixed.
SURE = {"recall": 0.9999, "exact": False}
LIMITS: dict[str, dict[str, float]] = {"cosine": {"threshold": 0.8}, "angle": {"within": 40}, "l1": {"within": 6}, "l2": {"within": 2}}
EACH = pytest.mark.parametrize("by", LIMITS)


def rows(n: int = 120, seed: int = 0, entries: int = 12) -> list[Row]:
    """Coordinates of which some are frequent, spread over a million; each third vector is near an earlier one; some are empty, or copies."""
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
    """scipy's parts."""
    parts = {
        "indptr": np.cumsum([0, *map(len, given_)]).astype(np.int32),
        "indices": np.array([index for row in given_ for index in row], np.int32),
        "data": np.array([value for row in given_ for value in row.values()]),
        "shape": (len(given_), width),
    }
    return SimpleNamespace(**{**parts, **changed})


def written_out(given_: list[Row]) -> np.ndarray:
    """The same vectors with all their coordinates, but no others: lanes of eight (kernels.lanes) stay as they are."""
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
    """The slow twin: sums that round once."""
    both = sorted({*a, *b})
    if by in ("l1", "l2"):
        gaps = [abs(a.get(index, 0.0) - b.get(index, 0.0)) for index in both]
        return math.fsum(gaps) if by == "l1" else math.hypot(*gaps)
    x, y = ({index: number / max(map(abs, row.values())) for index, number in row.items()} for row in (a, b))
    lengths = [math.sqrt(math.fsum(number * number for number in row.values())) for row in (x, y)]
    cosine = math.fsum(x.get(index, 0.0) * y.get(index, 0.0) for index in both) / math.prod(lengths)
    return cosine if by == "cosine" else math.degrees(math.acos(max(-1.0, min(1.0, cosine))))


def alike(given_: list[Row], by: str, limit: float | None = None) -> dict[tuple[int, int], float]:
    """All pairs within the limit, by brute force."""
    bound = next(iter(LIMITS[by].values())) if limit is None else limit
    live = [place for place, row in enumerate(given_) if row or by in ("l1", "l2")]
    found = {(a, b): value(given_[a], given_[b], by) for a, b in itertools.combinations(live, 2)}
    assert all(abs(one - bound) > 1e-9 for one in found.values())  # else rounding decides
    return {pair: one for pair, one in found.items() if (one >= bound if by == "cosine" else one <= bound)}


def pairs_of(table: pa.Table) -> dict[tuple[int, int], float]:
    return {(row["id_a"], row["id_b"]): row.get("similarity", row.get("distance")) for row in table.to_pylist()}


def same(got: dict, want: dict) -> None:
    assert sorted(got) == sorted(want)
    assert got == pytest.approx(want, rel=1e-12, abs=1e-6)  # an arc cosine near 0 is good to half its digits


def run(*args: object) -> Result:
    return CliRunner().invoke(main, [str(arg) for arg in args])


# the same numbers as dense ones


numbers = st.sampled_from([0.0, 1.0, -1.5, 0.1, 3e-200, 2e150]) | st.floats(-100, 100, allow_nan=False, width=32)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=40), st.sampled_from(["cosine", "angle", "l1", "l2", "linf"]))
def test_measures_are_those_of_dense_vectors_to_the_last_bit(both, by):
    dense = np.array(both).T
    if by in ("cosine", "angle") and not dense.any(axis=1).all():
        return
    a, b = ({place: float(number) for place, number in enumerate(row) if number} for row in dense)
    want = lw.similarity(dense[:1], dense[1:], by=by)
    if by == "l2" and not 1e-70 < want < 1e70 and want:
        assert lw.similarity(mapping(a), mapping(b), by=by) == pytest.approx(float(want[0]), rel=1e-14)  # not summed in lanes
    else:
        assert lw.similarity(mapping(a), mapping(b), by=by) == want[0]
    assert lw.similarity(csr([a], len(both)), csr([b], len(both)), by=by)[0] == lw.similarity(mapping(b), mapping(a), by=by)


def test_values_of_a_measure_by_hand():
    a, b = mapping({5: 3.0, 999_999: 4.0}), mapping({999_999: 3.0, 5: 4.0})
    assert lw.similarity(a, b, by="cosine") == pytest.approx(24 / 25, abs=1e-15)
    assert lw.similarity(a, b, by="l1") == 2 and lw.similarity(a, b, by="l2") == math.sqrt(2) and lw.similarity(a, b, by="linf") == 1
    assert lw.similarity(a, mapping({2**64 - 1: 7.0}), by="angle") == 90 and lw.similarity(a, mapping({}), by="l2") == 5
    assert lw.similarity(a, b, by="l3") == pytest.approx(2 ** (1 / 3))
    assert lw.similarity([a, b], [b, b], by="l1").tolist() == [2, 0]
    assert lw.similarity(mapping({}), mapping({}), by="l1") == 0


def test_what_is_no_sparse_vector_is_refused_by_row():
    one = [mapping({1: 1.0})]
    for given_, said in [
        ([mapping({}), mapping({})], "on the left, row 0 is the zero vector|row 0 is the zero vector"),
        ([*one, {"indices": [1]}], r"row 1 is \{'indices': \[1\]\}"),
        ([*one, {"indices": [1, 2], "values": [1]}], "row 1: 2 indices and 1 values"),
        ([*one, {"indices": [-1], "values": [1]}], "row 1: index -1 is out of range"),
        ([*one, {"indices": [4], "values": [1], "dim": 4}], "row 1: index 4 is out of range: the dimension is 4"),
        ([*one, {"indices": [1], "values": [math.nan]}], "row 1: nan is no coordinate"),
        ([*one, {"indices": [1], "values": ["x"]}], "row 1: 'x'; a coordinate is a number"),
        ([*one, {"indices": [1], "values": [10**400]}], "beyond the range of float64"),
        ([*one, {"indices": [1, 1], "values": [1e308, 1e308]}], "row 1: the values of one index add up beyond"),
        (csr([{1: 1.0}, {7: 1.0}], 5), "row 1: index 7 is out of range: the dimension is 5"),
        (csr([{1: 1.0}, {2: 1.0}], indices=np.array([1, -2])), "row 1: index -2 is out of range: it counts from 0"),
        (csr([{1: 1.0}, {2: 1.0}], data=np.array([1, 1j])), "complex128"),
        (csr([{1: 1.0}, {2: 1.0}], indptr=np.array([0, 3, 2])), "offsets rise"),
        (np.eye(2), "sparse vectors on the right, and others beside them"),
    ]:
        with pytest.raises(lw.UsageError, match=said):
            lw.similarity(given_, one * 2, by="cosine")


@pytest.mark.parametrize("family", [Hyperplane(300), Hyperplane(70, "signs"), Line(3.0, 300), Line(2.0, 70, "l1"), Stripe(2.0, 70)], ids=str)
def test_signatures_are_those_of_dense_vectors_to_the_last_bit(family):
    draw = np.random.default_rng(1)
    dense = draw.normal(size=(50, 200)) * (draw.random((50, 200)) < 0.1)
    dense[:, 7] += 1e-3
    made = [{place: float(number) for place, number in enumerate(row) if number} for row in dense]
    assert (family.signature(csr(made, 200)) == family.signature(dense)).all()
    assert (family.signature([mapping(row) for row in made[9:10]]) == family.signature(dense[9:10])).all()  # whatever stands beside it


def test_families_that_must_turn_all_coordinates_say_so():
    for family in (Hyperplane(mode="orthogonal"), Hyperplane(mode="rotated"), CrossPolytope(7)):
        with pytest.raises(lw.UsageError, match=r"sparse vectors are not written out|vectors are a 2-D array"):
            family.signature(csr([{1: 1.0}], 7))
    with pytest.raises(lw.UsageError, match="row 1 is the zero vector"):
        Hyperplane().signature(csr([{1: 1.0}, {}]))
    with pytest.raises(lw.UsageError, match=r"row 1: its coordinates add up to 2e\+300"):
        Line(1.0).signature(csr([{}, {1: 1e300, 2: -1e300}]))


@pytest.mark.parametrize("kind", constants.KINDS)
def test_directions_made_many_at_once_are_those_of_their_addresses(kind):
    """Any coordinate, and of normals the ones in all three ranges of the inverse."""
    number, seed = constants.KINDS[kind], np.uint64(5)
    columns = constants.streams(number, seed, 3, 500)
    for coordinate in (0, 77, 2**63, 2**64 - 1):
        out = np.empty(500)
        constants.fill(number, columns, np.uint64(coordinate), constants.room(500), out)
        words = [constants.address(column, np.uint64(coordinate)) for column in columns]
        assert out.tolist() == [constants.entry(number, np.uint64(word)) for word in words]
        if coordinate < 100:
            assert out.tolist() == constants.directions(kind, 5, 78, 503)[coordinate, 3:].tolist()


def test_words_are_read_back():
    vectors = sparse([mapping({3: 1.0, 1: 2.0}), mapping({}), mapping({2**64 - 1: -1.0})])
    words, offsets = words_of(vectors), 2 * vectors.offsets
    assert words[:2].tolist() == [1, 3] and words[2:4].view(np.float64).tolist() == [2.0, 1.0]
    again = of_words(np.concatenate([[np.uint64(9)], words]), offsets + 1)
    assert all((a == b).all() for a, b in zip(again.arrays, vectors.arrays, strict=True))
    assert [part.tolist() for part in vectors[np.array([2, 0])].arrays] == [[2**64 - 1, 1, 3], [-1.0, 2.0, 1.0], [0, 1, 3]]


# all pairs


@EACH
def test_pairs_are_those_of_brute_force(by):
    made = rows()
    want = alike(made, by)
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
    half, want = len(made) // 2, alike(made, "cosine")
    how = {**SURE, "exact": exact, "by": "cosine", **LIMITS["cosine"]}
    across = pairs_of(lw.pairs(records(made)[:half], against=records(made)[half:], **how).to_arrow())
    same(across, {pair: one for pair, one in want.items() if pair[0] < half <= pair[1]})
    inside = pairs_of(lw.pairs(records(made, shop=[place % 3 for place in range(len(made))]), per="shop", **how).to_arrow())
    same(inside, {pair: one for pair, one in want.items() if pair[0] % 3 == pair[1] % 3})
    assert len(across) > 5 and len(inside) > 5
    with pytest.raises(lw.UsageError, match="--max-pairs"):
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
@given(st.integers(0, 2**32), st.sampled_from([0.999, 0.9, 0.7, 0.4, 0.05]), st.sampled_from(["cosine", "angle"]), st.integers(2, 30))
def test_the_join_misses_nothing(seed, least, by, indices):
    """Few indices and values, so that vectors share some, and are equal; against all pairs by the measure."""
    draw = np.random.default_rng(seed)
    vectors = sparse(csr([{int(i): float(draw.integers(-3, 4)) for i in draw.integers(0, indices, 6)} for _ in range(40)], indices))
    vectors = vectors[np.flatnonzero(vectors.sizes)]
    limit = least if by == "cosine" else math.degrees(math.acos(least))
    left, right = np.triu_indices(len(vectors), 1)
    every = lw.similarity(vectors[left], vectors[right], by=by)
    good = every >= limit if by == "cosine" else every <= limit
    want = sorted(zip(left[good].tolist(), right[good].tolist(), every[good].tolist(), strict=True))
    prepared = Prepared.of(vectors, SparseRule(limit, *MEASURES[by], 0))
    blocks = [*sparse_pairs(prepared, side=np.empty(0, np.uint8), per=np.zeros(len(vectors), np.uint64))]
    found = np.concatenate([np.empty((0, 4), np.int64), *blocks])
    told = values(found[:, 2], distances=by == "angle")
    assert sorted(zip(found[:, 1].tolist(), found[:, 0].tolist(), told.tolist(), strict=True)) == want
    assert len(found) <= prepared.visits
    blocks = [np.stack(block[:2]) for block in close(vectors, np.arange(len(vectors)), by, limit)]
    assert {*map(tuple, np.concatenate(blocks, axis=1).T.tolist())} >= {pair[:2] for pair in want}


def test_rare_coordinates_by_hand():
    """Index 1 is in all three, so it comes first: 0.64 of the squared length of each. Alone it cannot make 0.9, but 0.7."""
    vectors = sparse([mapping({1: 4.0, 2: 3.0}), mapping({1: 4.0, 2: 3.0}), mapping({1: 4.0, 5: 3.0})])
    of = [Prepared.of(vectors, SparseRule(limit, *MEASURES["cosine"], 0)) for limit in (0.9, 0.7)]
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
    for limit in ({"by": "l2", "within": 1}, {"by": "angle", "within": 90}):
        with pytest.raises(lw.UsageError, match="--exact: sparse vectors are joined exactly by cosine, and by angles below 90"):
            lw.pairs(records(rare), exact=True, **limit)


# removal


def walked(given_: list[Row], by: str, order: list[int]) -> dict[int, int]:
    """The greedy walk by brute force: removed item -> witness. A copy follows its first."""
    found, kept, removed = alike(given_, by), [], {}
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
def test_pairs_at_the_threshold_are_found_as_often_as_promised(by):
    """What the plan says, within four standard errors."""
    count = 400
    made, limit = at_the_threshold(by, count)
    found = lw.pairs(records(made), by=by, recall=0.8, exact=False, **limit)
    promised = found.report["recall"]
    assert 0.8 <= promised < 0.95
    assert all(b == a + 1 and a % 2 == 0 for a, b in pairs_of(found.to_arrow()))
    assert len(found) == pytest.approx(count * promised, abs=4 * math.sqrt(count * promised * (1 - promised)))


def test_directions_of_signs_would_not_do():
    """(1, 0) and (2, 1) always agree under signs, 26.6 degrees apart, and agree with chance 0.852 under Gaussians."""
    both = [mapping({10**9: 1.0}), mapping({10**9: 2.0, 7: 1.0})]
    for mode, low, high in (("signs", 1, 1), ("gaussian", 0.852 - 0.03, 0.852 + 0.03)):
        a, b = Hyperplane(4000, mode).signature(both)
        assert low <= (a == b).mean() <= high


# neighbours


@pytest.mark.parametrize("by", ["cosine", "l2"])
def test_neighbours_are_those_of_brute_force(by):
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


def test_neighbours_by_other_measures_and_of_nothing():
    with pytest.raises(lw.UsageError, match="neighbours are looked for by"):
        lw.neighbors(records(rows()), by="l1", k=1)
    assert len(lw.neighbors(records([{}, {}]), by="cosine", k=1)) == 0
    assert len(lw.neighbors(records([{1: 1.0}, {2: 1.0}]), by="cosine", k=1)) == 0  # nothing in common
    assert len(lw.neighbors(records([{1: 1.0}, {2: 1.0}]), by="l2", k=5)) == 2


# the audit


@EACH
def test_the_audit_counts_what_brute_force_counts(by):
    made = rows()
    want = alike(made, by)
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
    assert found.pairs == 300 and found.promised == pytest.approx(theory, abs=1e-6)
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
    told = json.loads(run("show", tmp_path / "out", "b", "--json").stdout)
    assert told["removed"]["value"] == {"indices": [1, 5, 9], "values": [2.5, 1.0, 1.0]}
    assert told["similarity"] == pytest.approx(value({1: 2.0, 5: 1.0}, {9: 1.0, 5: 1.0, 1: 2.5}, "cosine"))
    assert "all its numbers are 0" in run("show", tmp_path / "out", "z").stdout
    assert json.loads((tmp_path / "out/manifest.json").read_text())["method"]["sparse"] is True


# however they are stored


def test_one_collection_in_all_forms(tmp_path):
    made = [{index % 997: number for index, number in row.items()} for row in rows()]
    scrambled = [dict(reversed(row.items())) for row in made]
    parts = [{"id": place, **mapping(row, dim=997)} for place, row in enumerate(scrambled)]
    nested = [{"id": place, "vector": mapping(row, dim=997)} for place, row in enumerate(scrambled)]
    (tmp_path / "parts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in parts))
    (tmp_path / "nested.jsonl").write_text("".join(json.dumps(row) + "\n" for row in nested))
    (tmp_path / "array.json").write_text(json.dumps(parts))
    pq.write_table(pa.Table.from_pylist(parts), tmp_path / "parts.parquet", row_group_size=50)
    pq.write_table(pa.Table.from_pylist(nested), tmp_path / "nested.parquet")
    with pa.ipc.new_file(tmp_path / "nested.arrow", pa.Table.from_pylist(nested).schema) as file:
        file.write_table(pa.Table.from_pylist(nested))
    inputs: list[Any] = [tmp_path / name for name in ("parts.jsonl", "nested.jsonl", "array.json", "parts.parquet", "nested.parquet", "nested.arrow")]
    inputs += [csr(made, 997), parts, nested, [mapping(row) for row in made], pa.Table.from_pylist(nested)]
    for exact in (True, False):
        want = pairs_of(lw.pairs(inputs[0], by="cosine", **{**SURE, "exact": exact}).to_arrow())
        assert len(want) > 30
        for given_ in inputs[1:]:
            assert pairs_of(lw.pairs(given_, by="cosine", **{**SURE, "exact": exact}).to_arrow()) == want


def test_what_is_stored_is_not_what_counts():
    """Order, zeros, repeats that add up, and types of numbers: all the same matrix."""
    plain = csr([{1: 2.0, 3: 1.0}, {1: 4.0, 3: 2.0}], 4)
    odd = csr([], 4, indptr=np.array([0, 4, 6]), indices=np.array([3, 1, 1, 0, 3, 1]), data=np.array([1, 1, 1, 0, 2, 4], np.int8), shape=(2, 4))
    longer = csr([{1: 2.0, 3: 1.0}, {1: 4.0, 3: 2.0}], 4, data=np.array([2.0, 1, 4, 2, 99]))
    for matrix in (plain, odd, longer, SimpleNamespace(tocsr=lambda: plain)):
        assert pairs_of(lw.pairs(matrix, by="cosine").to_arrow()) == {(0, 1): 1.0}
    rows_ = [mapping({2**64 - 1: 1.0, 3: 2.0}), mapping({3: 4.0, 2**64 - 1: 2.0})]
    assert pairs_of(lw.pairs(rows_, by="cosine").to_arrow()) == {(0, 1): 1.0}
    assert pairs_of(lw.pairs([{"id": place, "vector": row} for place, row in enumerate(rows_)], by="cosine").to_arrow()) == {(0, 1): 1.0}


def test_zero_vectors():
    """Empty by direction; to a distance the origin is a point like any other. A missing vector is neither."""
    made = [
        {"id": 0, "vector": mapping({})},
        {"id": 1, "vector": mapping({5: 0.0})},
        {"id": 2, "vector": None},
        {"id": 3, "vector": mapping({5: 1.0})},
    ]
    by_cosine = lw.pairs(made, by="cosine")
    assert len(by_cosine) == 0 and any("2 of 4 items are zero vectors" in said for said in by_cosine.report["warnings"])
    assert pairs_of(lw.pairs(made, by="l2", within=1, **SURE).to_arrow()) == {(0, 1): 0.0, (0, 3): 1.0, (1, 3): 1.0}
    counts = lw.dedup(made, by="l2", within=0.5).report["counts"]
    assert (counts["removed_exact"], counts["empty"], counts["without_text"]) == (1, 1, 1)
    assert len(lw.dedup(made, by="cosine", copies="empty").removed) == 2


BAD: dict[str, tuple[list[Any], str]] = {
    "dimension": (
        [mapping({1: 1.0}, dim=5), mapping({7: 1.0}), mapping({1: 1.0}, dim=6)],
        r"in\.jsonl, item 3: has the dimension 6 and the first that says one has 5",
    ),
    "beyond": ([mapping({5: 1.0}, dim=5)], r"in\.jsonl, line 1, column \d+, field 'vector'.*index 5 is out of range: the dimension is 5"),
    "negative": ([mapping({-1: 1.0})], r"line 1,.* index -1 is out of range"),
    "ragged": ([mapping({1: 1.0}), {"indices": [1, 2], "values": [1]}], r"line 2,.* 2 indices and 1 values"),
    "list": ([mapping({1: 1.0}), [1, 2]], r"line 2,.* a list of numbers among sparse vectors; give all vectors in one form"),
    "list first": ([[1, 2], mapping({1: 1.0})], r"line 1,.* a list of numbers among sparse vectors"),
    "late": ([*[[1, number] for number in range(30)], mapping({1: 1.0})], r"line 31,.* a sparse vector among lists of numbers"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_has_no_meaning_is_refused_by_place(tmp_path, name):
    given_, said = BAD[name]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"vector": row}) + "\n" for row in given_))
    with pytest.raises(lw.DataError, match=said):
        lw.pairs(tmp_path / "in.jsonl", by="cosine")
    if name == "dimension":
        pq.write_table(pa.Table.from_pylist([{"vector": row} for row in given_[:1]]), tmp_path / "a.parquet")
        pq.write_table(pa.Table.from_pylist([{"vector": row} for row in given_[2:]]), tmp_path / "b.parquet")
        with pytest.raises(lw.DataError, match=r"b\.parquet, item 1: has the dimension 6"):
            lw.pairs([tmp_path / "a.parquet", tmp_path / "b.parquet"], by="cosine")


def test_two_forms_in_two_files_are_refused_whichever_comes_first(tmp_path):
    paths = [tmp_path / "dense.parquet", tmp_path / "sparse.parquet"]
    pq.write_table(pa.table({"vector": [[1.0, 2.0]]}), paths[0])
    pq.write_table(pa.table({"vector": [mapping({1: 1.0})]}), paths[1])
    for order in (paths, paths[::-1]):
        with pytest.raises(lw.DataError, match=rf"{order[1].name}, position 0 .*among"):
            lw.pairs(order, by="cosine")
    with pytest.raises(lw.DataError, match=r"against/memory\.arrow, position 0"):
        lw.pairs(csr([{1: 1.0}], 2), against=np.eye(2), by="cosine")


def test_parts_of_a_record_are_no_vector_where_there_is_one(tmp_path):
    """Columns that happen to be called indices and values; and a field that was named is the one that counts."""
    rows_ = [{"vector": [1, 2], "indices": [1], "values": [2]}, {"vector": [2, 4], "indices": [3], "values": [2]}]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows_))
    pq.write_table(pa.Table.from_pylist(rows_), tmp_path / "in.parquet")
    for given_ in (tmp_path / "in.jsonl", tmp_path / "in.parquet", rows_):
        assert pairs_of(lw.pairs(given_, by="cosine").to_arrow()) == {(0, 1): 1.0}
        with pytest.raises(lw.DataError, match="has the field 'other'"):
            lw.pairs(given_, by="cosine", field="other")
        assert len(lw.pairs(given_, by="cosine", field="indices+values")) == 0
    (tmp_path / "cut.jsonl").write_text('{"vector": null}\n{"vector": [1, 2]}\n{"vector": [1,\n')
    (tmp_path / "none.jsonl").write_text('{"vector": null}\n')
    for name in ("cut.jsonl", "none.jsonl"):
        assert field_of(resolve([tmp_path / name]), Want("vector", kind="vector")) is None


# order, chunks, threads


@pytest.mark.parametrize("exact", [True, False])
def test_order_changes_no_pair(exact):
    made = rows()
    order = np.random.default_rng(3).permutation(len(made)).tolist()
    how = {"by": "cosine", "threshold": 0.8, **({"exact": True} if exact else {"bands": 3, "rows": 12})}  # some are missed, and the same ones
    plain = pairs_of(lw.pairs(records(made), **how).to_arrow())
    mixed = pairs_of(lw.pairs([records(made)[place] for place in order], **how).to_arrow())
    assert {(min(pair), max(pair)): one for pair, one in mixed.items()} == plain
    assert (len(plain) == len(alike(made, "cosine"))) == exact


@pytest.mark.parametrize(("by", "exact"), [("cosine", True), ("cosine", False), ("l2", False)])
def test_threads_and_chunks_change_no_byte(tmp_path, monkeypatch, by, exact):
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in records(rows())))
    how = {"by": by, "exact": exact, "recall": 0.8, **LIMITS[by]}
    lw.dedup(path, out=tmp_path / "one", threads=1, pairs=True, **how)
    listed = lw.pairs(path, threads=1, **how).to_arrow()
    for module in (batches, byte_formats):
        monkeypatch.setattr(module, "CHUNK_BYTES", 2000)
    monkeypatch.setattr("likewise.search.KEYS_AT_ONCE", 7)
    monkeypatch.setattr("likewise.stages.sparse_join.ITEMS", 5)
    monkeypatch.setattr("likewise.stages.sparse_join.ROWS", 1)
    lw.dedup(path, out=tmp_path / "two", threads=2, pairs=True, **how)
    names = ("kept/in.jsonl", "removed.parquet", "clusters.parquet", "pairs.parquet", "report.json")
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name
    assert lw.pairs(path, threads=2, **how).to_arrow().equals(listed)


class StoppedError(BaseException):
    """As Ctrl-C, no ordinary exception."""


@pytest.mark.parametrize("exact", [None, False])
def test_a_stopped_run_goes_on(tmp_path, monkeypatch, exact):
    """While reading, once the join is chosen, and while writing."""
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in records(rows())))
    monkeypatch.setattr(byte_formats, "CHUNK_BYTES", 4000)
    append, done, last = Work.append, [], 0

    def stopping(self: Work, columns: dict, **step: Any) -> None:
        done.append(step["step"])
        if len(done) == last:
            raise StoppedError
        append(self, columns, **step)

    monkeypatch.setattr(Work, "append", stopping)
    how = {"by": "cosine", "threshold": 0.8, "exact": exact}
    lw.dedup(path, out=tmp_path / "whole", **how)
    steps = [*done]
    assert steps.count("chunk") > 4
    for last in (3, steps.index("chosen") + 1, steps.index("decide") + 1, len(steps) - 1):
        done.clear()
        out = tmp_path / f"stopped-{last}"
        with pytest.raises(StoppedError):
            lw.dedup(path, out=out, **how)
        last, _ = 0, done.clear()
        lw.dedup(path, out=out, resume=True, **how)
        for name in ("kept/in.jsonl", "removed.parquet", "clusters.parquet", "report.json", "manifest.json"):
            assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


# plans


def test_a_plan_of_a_sample_makes_its_family():
    made = [row for row in rows() if row]
    plan = lw.plan(csr(made), by="cosine", threshold=0.8)
    assert plan.recall >= 0.99 and plan.items == len(made) and plan.model.sparse
    assert from_plan(plan).signature(csr(made)).shape == (len(made), plan.slots)
    assert lw.plan(csr(made), by="l1", within=2).collision.parameters["norm"] == "l1"
    denser = lw.plan(by="cosine", threshold=0.8)
    assert plan.slots < denser.slots


# the case


def test_case_h29(tmp_path):
    """Rows of dimension 1,000,000: unsorted, repeated, stored zeros, none at all, and an index out of range."""
    lines = [
        '{"id": "a", "dim": 1000000, "indices": [999999, 10, 5], "values": [3, 2, 1]}',
        '{"id": "b", "dim": 1000000, "indices": [999999, 10, 5], "values": [6, 4, 2]}',
        '{"id": "c", "dim": 1000000, "indices": [10, 5, 999999], "values": [2, 1, 0]}',
        '{"id": "d", "dim": 1000000, "indices": [7], "values": [1]}',
        '{"id": "e", "dim": 1000000, "indices": [], "values": []}',
        '{"id": "f", "dim": 1000000, "indices": [], "values": []}',
        '{"id": "g", "dim": 1000000, "indices": [10, 5, 999999, 10], "values": [1, 1, 3, 1]}',
        '{"id": "bad", "dim": 1000000, "indices": [1000000], "values": [1]}',
    ]
    path = tmp_path / "sparse.jsonl"
    path.write_text("\n".join(lines) + "\n")
    refused = run("pairs", path, "--by", "cosine", "--threshold", "0.9")
    assert refused.exit_code == 2 and refused.stdout == ""
    assert re.search(r"sparse\.jsonl, line 8, .*id \"bad\".*index 1000000 is out of range: the dimension is 1000000", refused.stderr)
    for extra in ([], ["--exact"], ["--bands", 40, "--rows", 4]):
        result = run("pairs", path, "--by", "cosine", "--threshold", "0.9", "--on-error", "skip", *extra)
        found = [json.loads(line) for line in result.stdout.splitlines()]
        assert [(row["id_a"], row["id_b"], row["similarity"]) for row in found] == [("a", "b", 1.0), ("a", "g", 1.0), ("b", "g", 1.0)]
        assert "2 of 7 items are zero vectors" in result.stderr and 'id "bad"' in result.stderr
    result = run("pairs", path, "--by", "elements", "--threshold", "0.6", "--field", "indices+values+dim", "--on-error", "skip")
    found = [json.loads(line) for line in result.stdout.splitlines()]
    want = {("a", "b"): 1, ("a", "c"): 2 / 3, ("a", "g"): 1, ("b", "c"): 2 / 3, ("b", "g"): 1, ("c", "g"): 2 / 3}
    assert {(row["id_a"], row["id_b"]): row["similarity"] for row in found} == want
    out = tmp_path / "out"
    made = run("dedup", path, "-o", out, "--by", "cosine", "--threshold", "0.9", "--on-error", "skip")
    assert made.exit_code == 0, made.stderr
    assert [row["id"] for row in pq.read_table(out / "removed.parquet").to_pylist()] == ["b", "g"]
    assert (out / "kept/sparse.jsonl").read_text().splitlines() == [lines[0], *lines[2:6]]
    assert 'id \\"bad\\"' in (out / "rejected.jsonl").read_text()


def test_a_dimension_takes_no_memory(tmp_path):
    """Written out, a hundred rows of 2^62 numbers would fit nowhere."""
    made = [mapping({place * 2**55: 1.0, 2**61: 0.5}, dim=2**62) for place in range(1, 51)] * 2
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made))
    for exact in (True, False):
        found = lw.pairs(Path(tmp_path / "in.jsonl"), by="cosine", threshold=0.9, exact=exact)
        assert len(found) == 50
    assert isinstance(sparse(made), Sparse)
