"""Sets, weighted sets, vectors, codes and strings through the one pipeline: `pairs` and `dedup` give what brute force by the measures gives."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from command_line import run
from kind_items import EACH, MADE, Items, found, number, same, write
from likewise import kinds
from likewise.io import batches
from likewise.io.formats import lines as byte_formats
from likewise.io.formats import npy
from stopping import StoppedError, Stops, snapshot

# all pairs


#: Measures with tests of their own, because their items come from arrays or images, or have no bands.
ELSEWHERE = {
    "linf": "test_norms.py",
    **dict.fromkeys(["features", "features/one-to-many", "features/chamfer", "features/assignment"], "test_features.py"),
    "image": "test_images.py",
    "image/region": "test_image_regions.py",
}


def test_every_measure_has_items():
    """A new measure takes part in these tests, and in those of other files, once its items are in `kind_items.MADE`."""
    assert {*kinds.measures()} == {*MADE, *ELSEWHERE}
    assert all(name in (Path(__file__).parent / file).read_text() for name, file in ELSEWHERE.items())


@EACH
def test_pairs_in_memory_are_those_of_brute_force(items):
    want = items.similar()
    assert len(want) > 10
    result = lw.pairs(items.rows(), **items.choices)
    same(found(result.to_arrow(), "distance" if items.distance else "similarity"), want)
    assert (result.report["value"], result.report["threshold"]) == ("distance" if items.distance else "similarity", *items.limit.values())


FORMATS = {
    "elements": ["jsonl", "json"],
    "weighted": ["jsonl"],
    "cosine": ["jsonl", "parquet", "npy", "csv"],
    "angle": ["npy"],
    "l1": ["csv"],
    "l2": ["parquet", "csv", "npy"],
    "hamming": ["jsonl", "parquet", "npy", "csv"],
    "edit": ["jsonl", "parquet", "csv"],
    "levenshtein": ["jsonl"],
    "edit/ratio": ["jsonl"],
    "levenshtein/ratio": ["csv"],
    "jaro-winkler": ["parquet"],
}


@pytest.mark.parametrize("exact", [False, True])
def test_sets_by_bands_and_exactly(exact):
    items = MADE["elements"]
    same(found(lw.pairs(items.rows(), exact=exact, **items.choices).to_arrow(), "similarity"), items.similar())


def test_sets_of_one_type(tmp_path):
    """Whole numbers as int64 and as uint8, in Parquet and in an array of rows; strings in Parquet."""
    rows = np.random.default_rng(8).integers(0, 30, (40, 9))
    rows[20:] = rows[:20]
    rows[20:, :2] = 77
    want = Items("elements", "elements", rows.tolist(), {"threshold": 0.5}).similar()
    assert len(want) >= 20
    pq.write_table(pa.table({"id": range(40), "elements": rows.tolist()}), tmp_path / "int.parquet")
    small = pa.array(rows.tolist(), pa.list_(pa.uint8()))
    pq.write_table(pa.table({"id": range(40), "elements": small}), tmp_path / "small.parquet")
    pq.write_table(pa.table({"id": range(40), "elements": [[f"é{element}" for element in row] for row in rows.tolist()]}), tmp_path / "str.parquet")
    np.save(tmp_path / "rows.npy", rows.astype(np.uint8))
    for name in ("int.parquet", "small.parquet", "str.parquet", "rows.npy"):
        same(found(lw.pairs(tmp_path / name, by="elements", threshold=0.5, recall=0.9999).to_arrow(), "similarity"), want)


@pytest.mark.parametrize(("by", "extension"), [(by, extension) for by in MADE for extension in FORMATS.get(by, ["jsonl"])])
def test_pairs_of_files_through_the_command_line(tmp_path, by, extension):
    items = MADE[by]
    path = write(items, tmp_path / f"in.{extension}")
    columns = ["--field", "x0..x23"] if extension == "csv" and items.field == "vector" else []
    result = run("pairs", path, "-o", tmp_path / "out.parquet", *items.flags, *columns)
    assert result.exit_code == 0, result.stderr
    same(found(pq.read_table(tmp_path / "out.parquet"), "distance" if items.distance else "similarity"), items.similar())
    assert f"{len(items.similar())} pairs {'within' if items.distance else 'at or above'}" in result.stderr


@EACH
def test_pairs_across_two_collections(tmp_path, items):
    half = len(items.values) // 2
    rows = items.rows()
    result = lw.pairs(rows[:half], against=rows[half:], **items.choices).to_arrow()
    across = [(a, b) for a in range(half) for b in range(half, len(rows))]
    same(found(result, "distance" if items.distance else "similarity"), items.similar(across))


@EACH
def test_pairs_inside_a_group(items):
    shops = [f"shop {place % 3}" for place in range(len(items.values))]
    result = lw.pairs(items.rows(shop=shops), per="shop", **items.choices).to_arrow()
    inside = [pair for pair in itertools.combinations(range(len(shops)), 2) if shops[pair[0]] == shops[pair[1]]]
    same(found(result, "distance" if items.distance else "similarity"), items.similar(inside))


@pytest.mark.parametrize("threshold", ["1", "9/10", "0.75", "2/3", "0.3", "0.05"])
def test_exact_sets_are_brute_force_at_any_threshold(threshold):
    items = Items("elements", "elements", MADE["elements"].values, {"threshold": float(eval(threshold))})
    result = lw.pairs(items.rows(), by="elements", threshold=threshold, exact=True)
    same(found(result.to_arrow(), "similarity"), items.similar())
    assert result.report["recall"] == 1


@pytest.mark.parametrize("within", [0, 1, 7, 20, 45])
def test_codes_are_brute_force_at_any_distance(within):
    items = Items("hamming", "code", MADE["hamming"].values, {"within": within})
    want = items.similar()
    assert within < 45 or len(want) > 1000  # so many that hardly any is a planted one
    same(found(lw.pairs(items.rows(), **items.choices).to_arrow(), "distance"), want)


# removal


def walked(items: Items, order: list[int]) -> dict[int, tuple[int, float]]:
    """The greedy walk by brute force: removed item -> (representative, value)."""
    similar = items.similar()
    kept: list[int] = []
    removed: dict[int, tuple[int, float]] = {}
    for item in order:
        near = [(pair[0] + pair[1] - item, value) for pair, value in similar.items() if item in pair]
        matches = [(value if items.distance else -value, order.index(other), other) for other, value in near if other in kept]
        if matches:
            value, _, representative = min(matches)
            removed[item] = (representative, value if items.distance else -value)
        else:
            kept.append(item)
    return removed


def decided(out: Path) -> dict[int, tuple[int, float]]:
    rows = pq.read_table(out / "removed.parquet").to_pylist()
    return {number(row["id"]): (number(row["kept_id"]), row.get("similarity", row.get("distance"))) for row in rows}


def equal(got: dict[int, tuple[int, float]], want: dict[int, tuple[int, float]]) -> None:
    assert {item: representative for item, (representative, _) in got.items()} == {item: representative for item, (representative, _) in want.items()}
    assert {item: value for item, (_, value) in got.items()} == pytest.approx({item: value for item, (_, value) in want.items()}, abs=1e-12)


@pytest.mark.parametrize(("by", "exact"), [*((by, False) for by in MADE), ("elements", True)])
def test_dedup_is_the_greedy_walk(tmp_path, by, exact):
    items = MADE[by]
    path = write(items, tmp_path / "in.jsonl")
    result = run("dedup", path, "-o", tmp_path / "out", *items.flags, *(["--exact"] if exact else []))
    assert result.exit_code == 0, result.stderr
    want = walked(items, list(range(len(items.values))))
    assert len(want) > 10
    equal(decided(tmp_path / "out"), want)
    lines = path.read_bytes().splitlines(keepends=True)
    assert (tmp_path / "out/kept/in.jsonl").read_bytes() == b"".join(line for place, line in enumerate(lines) if place not in want)
    report = json.loads((tmp_path / "out/report.json").read_text())
    assert report["value"] == ("distance" if items.distance else "similarity")
    assert report["counts"]["removed_exact"] >= 1
    reasons = {number(row["id"]): row["reason"] for row in pq.read_table(tmp_path / "out/removed.parquet").to_pylist()}
    assert (
        reasons[len(items.values) - 1] == "exact" or items.by in ("elements", "hamming") or items.field == "text"
    )  # a copy of a removed item is near


@pytest.mark.parametrize("extension", ["parquet", "npy", "csv"])
def test_dedup_of_vectors_keeps_records_as_they_were(tmp_path, extension):
    items = MADE["l2"]
    path = write(items, tmp_path / f"in.{extension}")
    columns = ["--field", "x*"] if extension == "csv" else []
    assert run("dedup", path, "-o", tmp_path / "out", *items.flags, *columns).exit_code == 0
    want = walked(items, list(range(len(items.values))))
    equal(decided(tmp_path / "out"), want)
    stays = [place for place in range(len(items.values)) if place not in want]
    kept = tmp_path / f"out/kept/in.{extension}"
    if extension == "npy":
        assert np.load(kept).dtype == np.float32 and (np.load(kept) == np.load(path)[stays]).all()
    elif extension == "parquet":
        assert pq.read_table(kept).equals(pq.read_table(path).take(stays))
    else:
        lines = path.read_text().splitlines()
        assert kept.read_text().splitlines() == [lines[0], *(lines[1 + place] for place in stays)]


KEEPS = {
    "last": lambda items: list(range(len(items.values)))[::-1],
    "max:score": lambda items: sorted(range(len(items.values)), key=lambda i: -(i * 7 % 5)),
}


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("by", ["elements", "l2", "hamming", "edit"])
def test_which_one_stays(tmp_path, by, keep):
    items = MADE[by]
    path = write(items, tmp_path / "in.jsonl", score=[place * 7 % 5 for place in range(len(items.values))])
    lw.dedup(path, out=tmp_path / "out", keep=keep, **items.choices)
    got, want = decided(tmp_path / "out"), walked(items, KEEPS[keep](items))
    copies = {
        item for item, (_, value) in want.items() if value == (0 if items.distance else 1)
    }  # among copies the representative is a matter of order
    equal({item: found for item, found in got.items() if item not in copies}, {item: found for item, found in want.items() if item not in copies})
    assert got.keys() == want.keys()


def test_the_longest_set_stays():
    rows = [{"id": "short", "elements": [1, 2, 3, 4]}, {"id": "long", "elements": [1, 2, 3, 4, 5]}, {"id": "other", "elements": [9]}]
    removed = lw.dedup(rows, by="elements", threshold=0.8, keep="longest").removed.to_arrow().to_pylist()
    assert [(row["id"], row["kept_id"], row["similarity"]) for row in removed] == [("short", "long", 0.8)]


# the same bytes


@pytest.fixture
def small_chunks(monkeypatch):
    for module in (batches, byte_formats, npy):
        monkeypatch.setattr(module, "CHUNK_BYTES", 4000)


@EACH
def test_threads_and_chunks_change_no_byte(tmp_path, items, monkeypatch):
    path = write(items, tmp_path / "in.jsonl")
    lw.dedup(path, out=tmp_path / "one", threads=1, pairs=True, **items.choices)
    pairs = lw.pairs(path, threads=1, **items.choices).to_arrow()
    for module in (batches, byte_formats):
        monkeypatch.setattr(module, "CHUNK_BYTES", 2000)
    lw.dedup(path, out=tmp_path / "two", threads=2, pairs=True, **items.choices)
    assert len(snapshot(tmp_path / "one")) == 7
    one, two = ({name: data for name, data in snapshot(tmp_path / folder).items() if name != "manifest.json"} for folder in ("one", "two"))
    assert one == two
    assert lw.pairs(path, threads=2, **items.choices).to_arrow().equals(pairs)


@pytest.mark.parametrize("by", ["elements", "weighted", "cosine", "hamming", "edit"])
def test_a_stopped_run_goes_on(tmp_path, monkeypatch, small_chunks, by):
    items = MADE[by]
    path = write(items, tmp_path / "in.jsonl")
    choices = {**items.choices, "pairs": True}
    stops = Stops(monkeypatch)
    lw.dedup(path, out=tmp_path / "whole", **choices)
    want, steps = snapshot(tmp_path / "whole"), len(stops.done)
    assert steps > 8
    for at in (2, steps - 7, steps - 2):  # while reading, before the walk is kept, while writing
        out = tmp_path / f"stopped-{at}"
        stops.begin(at)
        with pytest.raises(StoppedError):
            lw.dedup(path, out=out, **choices)
        stops.begin(0)
        lw.dedup(path, out=out, resume=True, **choices)
        assert snapshot(out) == want


# the expected recall


PAIRS = 400


def at_the_threshold(by: str) -> tuple[list[Any], dict[str, Any]]:
    """PAIRS pairs exactly at the threshold, or by a rounding error within it, and unlike all others."""
    draw = np.random.default_rng([6, sum(map(ord, by))])
    if by == "elements":  # 8 of 10 in both
        return [[12 * pair + place for place in (range(9) if side else range(1, 10))] for pair in range(PAIRS) for side in (0, 1)], {"threshold": 0.8}
    if by == "weighted":  # 8 of 10 of the weight in both
        halves = [{f"{pair} {place}": weight for place, weight in enumerate(draw.dirichlet(np.ones(6)) * 8)} for pair in range(PAIRS)]
        return [{**half, f"{pair} {side}": 1.0} for pair, half in enumerate(halves) for side in "ab"], {"threshold": 0.8 - 1e-12}
    if by == "hamming":
        base = draw.integers(0, 2, (PAIRS, 128), np.uint8)
        other = base.copy()
        for row in other:
            row[draw.choice(128, 6, replace=False)] ^= 1
        return [bytes(np.packbits(row)).hex() for pair in zip(base, other, strict=True) for row in pair], {"within": 6}
    base, turn = draw.normal(size=(2, PAIRS, 32))
    if by in ("cosine", "angle"):
        base /= np.linalg.norm(base, axis=1, keepdims=True)
        turn -= (turn * base).sum(axis=1, keepdims=True) * base
        turn /= np.linalg.norm(turn, axis=1, keepdims=True)
        angle = math.acos(0.9)
        other = base * math.cos(angle) + turn * math.sin(angle)
        limit = {"threshold": 0.9 - 1e-9} if by == "cosine" else {"within": math.degrees(angle) + 1e-9}
    else:
        turn /= np.linalg.norm(turn, {"l1": 1, "l2": 2}[by], axis=1, keepdims=True)
        base *= 10
        other, limit = base + turn, {"within": 1 + 1e-9}
    return [row for pair in zip(base.tolist(), other.tolist(), strict=True) for row in pair], limit


@pytest.mark.parametrize("by", ["elements", "weighted", "cosine", "angle", "l1", "l2", "hamming"])
def test_pairs_at_the_threshold_are_found_as_often_as_expected(by):
    """Sets and weighted sets go by bands, whose curve is known: found is what it says, within four standard errors. Joins find as many at least."""
    values, limit = at_the_threshold(by)
    field = {"elements": "elements", "weighted": "elements", "hamming": "code"}.get(by, "vector")
    rows = [{"id": place, field: value} for place, value in enumerate(values)]
    planned = lw.dedup(rows, by=by, recall=0.8, exact=False, **limit)
    expected_recall = planned.report["budget"]["recall"]
    error = math.sqrt(PAIRS * expected_recall * (1 - expected_recall))
    if by in ("elements", "weighted"):
        assert 0.8 <= expected_recall < 0.95
        assert len(planned.removed) == pytest.approx(PAIRS * expected_recall, abs=4 * error)
    else:
        assert expected_recall >= 0.8 and len(planned.removed) >= PAIRS * expected_recall - 4 * error - 1
        assert planned.report["curve"] == [] or by != "hamming"
    banded = lw.dedup(rows, by=by, recall=0.8, exact=False, slots=500, **limit)  # asked for by hand
    expected_recall = banded.report["method"]["plan"]["recall"]
    assert 0.8 <= expected_recall < 0.95
    assert len(banded.removed) == pytest.approx(PAIRS * expected_recall, abs=4 * math.sqrt(PAIRS * expected_recall * (1 - expected_recall)))
    pairs = lw.pairs(rows, by=by, recall=0.8, exact=False, **limit).to_arrow()
    assert all(b == a + 1 and a % 2 == 0 for a, b in zip(pairs["id_a"].to_pylist(), pairs["id_b"].to_pylist(), strict=True))
    assert len(pairs) >= PAIRS * 0.8 - 3 * math.sqrt(PAIRS * 0.16)
    assert by != "hamming" or len(pairs) == PAIRS


def test_a_layout_by_hand_is_taken_and_warned_of(tmp_path):
    """The recall of 13 bands of 60 rows at 0.8 is 2·10^-5: a warning says that an empty list is no answer. 60 bands of 13 rows find .966."""
    values, _ = at_the_threshold("elements")
    with open(tmp_path / "in.jsonl", "w") as file:
        file.writelines(json.dumps({"elements": value}) + "\n" for value in values)
    few = run("pairs", tmp_path / "in.jsonl", "--by", "elements", "--bands", 13, "--rows", 60)
    assert few.exit_code == 0 and few.stdout.count("\n") <= 2
    assert "warning: 13 bands of 60 rows: a pair at 0.8 is found with" in few.stderr and "0 pairs at or above 0.8" in few.stderr
    most = lw.pairs(tmp_path / "in.jsonl", by="elements", bands=60, rows=13)
    assert len(most) == pytest.approx(0.966381 * PAIRS, abs=4 * math.sqrt(PAIRS * 0.966 * 0.034))
    assert len(lw.pairs(tmp_path / "in.jsonl", by="elements", bands=60, rows=13, exact=True)) == PAIRS


@pytest.mark.parametrize("exact", [None, True])
@pytest.mark.parametrize(
    ("threshold", "names"), [(0.9, "d"), (0.8, "ad"), ("3/4", "acd"), (0.7, "abcd"), ("2/3", "abcdg"), (0.6, "abcdeg"), (0.29, "abcdefgh")]
)
def test_a_similarity_equal_to_the_threshold_counts(threshold, names, exact):
    """(in both, in either) of eight pairs: 8/10, 7/10, 3/4, 9/10, 3/5, 3/10, 2/3, 29/100."""
    shares = dict(zip("abcdefgh", [(8, 10), (7, 10), (3, 4), (9, 10), (3, 5), (3, 10), (2, 3), (29, 100)], strict=True))
    rows = []
    for name, (both, either) in shares.items():
        rows += [
            {"id": f"{name}1", "elements": [f"{name}{i}" for i in range(both)]},
            {"id": f"{name}2", "elements": [f"{name}{i}" for i in range(either)]},
        ]
    result = lw.pairs(rows, by="elements", threshold=threshold, recall=0.9999, exact=exact).to_arrow().to_pylist()
    assert [(row["id_a"], row["id_b"]) for row in result] == [(f"{name}1", f"{name}2") for name in names]
    assert [row["similarity"] for row in result] == [shares[name][0] / shares[name][1] for name in names]


@EACH
def test_nothing_or_little_to_do(tmp_path, items):
    """No item, one, and none with a value."""
    for rows in ([], items.rows()[:1], [{"id": 1, items.field: None}, {"id": 2, items.field: None}]):
        path = tmp_path / "in.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        assert len(lw.pairs(path, **items.choices)) == 0
        result = lw.dedup(path, **items.choices)
        assert result.report["counts"]["kept"] == len(rows) and len(result.removed) == 0


@EACH
def test_at_the_end_of_the_scale_only_equals_are_similar(items):
    """A similarity of 1, a distance of 0."""
    ends = Items(items.by, items.field, items.values[:40] + items.values[5:9], {"within": 0} if items.distance else {"threshold": 1})
    want = ends.similar()
    assert len(want) >= 3
    value = "distance" if items.distance else "similarity"
    same(found(lw.pairs(ends.rows(), **ends.choices).to_arrow(), value), want)
    removed = lw.dedup(ends.rows(), **ends.choices).removed.to_arrow().to_pylist()
    assert {number(row["id"]) for row in removed} == {b for _, b in want} and all(row[value] == (0 if items.distance else 1) for row in removed)
