"""Sets of feature vectors through the verbs: values, joins, searches, what they are read from, and what is wrong with them."""

from __future__ import annotations

import itertools
import json
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import likewise as lw
from likewise.cli.main import main
from likewise.errors import DataError, UsageError
from likewise.families import Histograms, Space, Stripe
from likewise.measures import feature_sets

#: Measure -> a threshold that parts the planted copies of `planted` from the rest.
MEASURES = {"features": 0.25, "features/one-to-many": 0.4, "features/chamfer": 0.85, "features/assignment": 0.7}
WHOLE = ("features/chamfer", "features/assignment")


def planted(n: int, copies: int, size: int = 16, dimension: int = 12, seed: int = 0) -> list[np.ndarray]:
    """Random sets, and behind them copies of the first: a tenth of their features left out, and little noise on the others."""
    draw = np.random.default_rng(seed)
    sets = [draw.normal(size=(draw.integers(size // 2, size + 1), dimension)).astype(np.float32) for _ in range(n)]
    for original in sets[:copies]:
        stays = draw.random(len(original)) < 0.9
        stays[0] = True
        sets.append((original + draw.normal(size=original.shape) * 0.03)[stays].astype(np.float32))
    return sets


def unit(one: np.ndarray) -> np.ndarray:
    one = np.asarray(one, float)
    return one / np.linalg.norm(one, axis=1, keepdims=True)


def counts(sets: list[np.ndarray]) -> np.ndarray:
    """All bins of the histograms, a set a row."""
    space = Space(np.zeros(sets[0].shape[1], np.float32), unit=True)
    return Histograms(Stripe(feature_sets.WIDTH), feature_sets.BITS, feature_sets.TABLES, space=space).counts(sets)


def reference(by: str, a: np.ndarray, b: np.ndarray) -> float:
    """The measure, slowly, of two sets, or of their histograms; the pairing by trying all of them."""
    if by in WHOLE:
        products = unit(a) @ unit(b).T
        if by == "features/chamfer":
            return float((products.max(axis=1).mean() + products.max(axis=0).mean()) / 2)
        products = products if len(a) <= len(b) else products.T
        ways = itertools.permutations(range(products.shape[1]), products.shape[0])
        return float(max(sum(products[i, j] for i, j in enumerate(way)) for way in ways) / products.shape[1])
    if by == "features":
        return float(np.minimum(a, b).sum() / np.maximum(a, b).sum())
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def found(result: lw.Pairs) -> dict[tuple[int, int], float]:
    return {(row["id_a"], row["id_b"]): row["similarity"] for row in result.to_arrow().to_pylist()}


def all_pairs(sets: list[np.ndarray], by: str) -> dict[tuple[int, int], float]:
    items = sets if by in WHOLE else counts(sets)
    return {(i, j): reference(by, items[i], items[j]) for i, j in itertools.combinations(range(len(sets)), 2)}


@pytest.mark.parametrize("by", MEASURES)
def test_values_are_those_of_a_slow_reference(by):
    draw = np.random.default_rng(3)
    left, right = ([draw.normal(size=(draw.integers(1, 6), 4)) for _ in range(25)] for _ in range(2))
    right[:10] = [one + draw.normal(size=one.shape) * 0.05 for one in left[:10]]
    values = lw.similarity(left, right, by=by)
    sides = (left, right) if by in WHOLE else (counts(left), counts(right))
    assert values == pytest.approx([reference(by, a, b) for a, b in zip(*sides, strict=True)], abs=1e-6)
    assert values == pytest.approx(lw.similarity(right, left, by=by), abs=1e-12)
    assert values[0] > 0.5 > np.median(values[10:])
    assert lw.similarity(left[0], right[0], by=by) == values[0]
    assert lw.similarity(left, [one[::-1] * 7 for one in left], by=by) == pytest.approx(np.ones(25), abs=1e-6)


@pytest.mark.parametrize("by", MEASURES)
def test_exact_pairs_are_all_there_are(by):
    sets = planted(25, 12, size=5)
    expected = {pair: value for pair, value in all_pairs(sets, by).items() if value >= MEASURES[by]}
    assert len(expected) >= 6
    result = lw.pairs(sets, by=by, threshold=MEASURES[by], exact=True)
    assert found(result) == pytest.approx(expected, abs=1e-6)
    assert result.report["recall"] == 1 and not result.report["warnings"]
    against = lw.pairs(sets[:25], against=sets[25:], by=by, threshold=MEASURES[by], exact=True)
    across = {(i, j - 25): value for (i, j), value in expected.items() if i < 25 <= j}
    assert {(row["id_a"], row["id_b"]): row["similarity"] for row in against.to_arrow().to_pylist()} == pytest.approx(across, abs=1e-6)


@pytest.mark.parametrize("by", MEASURES)
def test_the_search_finds_planted_copies(by):
    """Every reported pair is right, nearly all pairs are found, and all copies are among them."""
    sets = planted(300, 150)
    result, exact = (found(lw.pairs(sets, by=by, threshold=MEASURES[by], exact=way)) for way in (None, True))
    assert result.items() <= exact.items()
    assert len(result) >= 0.96 * len(exact) >= 0.96 * 50
    assert {(i, 300 + i) for i in range(150)} >= set(exact)
    turned = found(lw.pairs(sets[::-1], by=by, threshold=MEASURES[by], exact=True))
    last = len(sets) - 1
    assert turned == pytest.approx({(last - j, last - i): value for (i, j), value in exact.items()}, abs=1e-12)


@pytest.mark.parametrize(("dimension", "signs"), [(6, True), (48, False)])
def test_encodings_find_copies_of_all_kinds(dimension, signs):
    """With noise, cut, and with features of others in the place of some, at all distances; features with and without negative numbers."""
    draw = np.random.default_rng(dimension)
    sets = [
        draw.normal(size=(draw.integers(8, 25), dimension)) if signs else draw.gamma(0.5, size=(draw.integers(8, 25), dimension)) for _ in range(250)
    ]
    for number in range(240):
        one, share = unit(sets[number]), draw.random() / 2
        if number % 3 == 0:
            one = one + draw.normal(size=one.shape) * share / np.sqrt(dimension)
        elif number % 3 == 1:
            one = one[: max(1, round(len(one) * (1 - share)))]
        else:
            one[: round(len(one) * share)] = unit(sets[draw.integers(250)][draw.integers(0, 8, round(len(one) * share))])
        sets.append(one)
    for by, threshold in (("features/chamfer", 0.85), ("features/assignment", 0.75)):
        exact, result = (found(lw.pairs(sets, by=by, threshold=threshold, exact=way)) for way in (True, None))
        assert len(exact) > 100 and result.items() <= exact.items()
        assert len(result) >= 0.97 * len(exact)


def test_recall_is_guaranteed_for_histograms_and_not_for_encodings():
    sets = planted(60, 30)
    for by, threshold in MEASURES.items():
        result = lw.pairs(sets, by=by, threshold=threshold)
        measured = lw.audit(sets, by=by, threshold=threshold)
        assert (result.report["recall"] is None) == (measured.expected_recall is None) == (by in WHOLE)
        assert any("measured, not guaranteed" in said for said in result.report["warnings"]) == (by in WHOLE)
        assert measured.pairs == len(lw.pairs(sets, by=by, threshold=threshold, exact=True)) and measured.recall >= 0.9


@pytest.mark.parametrize("exact", [None, True])
@pytest.mark.parametrize("by", MEASURES)
def test_dedup_is_the_greedy_walk(by, exact):
    sets = [*planted(40, 20), *planted(40, 20, seed=1)[40:], *planted(40, 0)[:10]]
    similar = found(lw.pairs(sets, by=by, threshold=MEASURES[by], exact=True))
    kept: list[int] = []
    for i in range(len(sets)):
        if not any((j, i) in similar for j in kept):
            kept.append(i)
    result = lw.dedup([{"id": i, "features": one} for i, one in enumerate(sets)], by=by, threshold=MEASURES[by], exact=exact)
    assert result.kept.to_arrow()["id"].to_pylist() == kept
    assert result.report["counts"]["removed_exact"] == 10
    reasons = {row["id"]: row["reason"] for row in result.removed.to_arrow().to_pylist()}
    assert all(reasons[i] == "exact" for i in range(80, 90))


def test_copies_are_equal_features_not_equal_histograms():
    one = np.random.default_rng(0).normal(size=(5, 6)).astype(np.float32)
    result = lw.dedup([one, one[::-1], 2 * one, one.copy()], by="features")
    assert [(row["id"], row["similarity"], row["reason"]) for row in result.removed.to_arrow().to_pylist()] == [
        (1, 1.0, "near"),
        (2, 1.0, "near"),
        (3, 1.0, "exact"),
    ]


@pytest.mark.parametrize("by", MEASURES)
def test_neighbors(by):
    sets = planted(40, 20, size=5)
    values = all_pairs(sets, by)
    exact = lw.neighbors(sets, by=by, k=3, exact=True)
    assert exact.report["recall"] == 1
    for query, rows in itertools.groupby(exact.to_arrow().to_pylist(), key=lambda row: row["id_a"]):
        got = [row["similarity"] for row in rows]
        every = sorted((value for pair, value in values.items() if query in pair and (value > 0 or by in WHOLE)), reverse=True)
        assert got == pytest.approx(every[:3], abs=1e-6)
    assert not lw.neighbors(sets, by=by, k=3, threshold=0.5, exact=True).report["warnings"]
    assert lw.neighbors(sets, by=by, k=10**12, exact=True).to_arrow() == lw.neighbors(sets, by=by, k=len(sets), exact=True).to_arrow()
    beside = lw.neighbors(sets[:40], query=sets[40:], by=by, k=1, threshold=0.3).to_arrow().to_pylist()
    assert [row["id_b"] for row in beside] == [row["id_a"] for row in beside]


@pytest.mark.parametrize("by", WHOLE)
def test_neighbors_by_encodings(by):
    """More sets than a query is compared with."""
    sets = planted(250, 60)
    near = lw.neighbors(sets[:250], query=sets[250:], by=by, k=1)
    assert near.report["recall"] is None
    assert np.mean([row["id_a"] == row["id_b"] for row in near.to_arrow().to_pylist()]) >= 0.95
    exact = lw.neighbors(sets[:250], query=sets[250:], by=by, k=1, exact=True)
    assert near.to_arrow()["similarity"].to_pylist() == pytest.approx(exact.to_arrow()["similarity"].to_pylist(), abs=0.1)


def test_groups_are_compared_inside_alone():
    sets = planted(20, 10)
    rows = [{"features": one, "kind": number % 2} for number, one in enumerate(sets)]
    for by, threshold in MEASURES.items():
        for exact in (None, True):
            apart = found(lw.pairs(rows, by=by, threshold=threshold, per="kind", exact=exact))
            every = found(lw.pairs(sets, by=by, threshold=threshold, exact=True))
            assert apart == {pair: value for pair, value in every.items() if pair[0] % 2 == pair[1] % 2}


def sources(folder: Path, sets: list[np.ndarray]) -> dict[str, object]:
    """One and the same collection in all forms."""
    vectors, offsets = np.concatenate(sets), np.cumsum([0, *map(len, sets)])
    np.savez(folder / "plain.npz", vectors=vectors, offsets=offsets)
    np.savez_compressed(folder / "small.npz", vectors=vectors, offsets=offsets.astype(np.uint32))
    listed = [one.tolist() for one in sets]
    dimension = vectors.shape[1]
    for name, kind in {
        "fixed": pa.list_(pa.list_(pa.float32(), dimension)),
        "large": pa.large_list(pa.large_list(pa.float64())),
        "half": pa.list_(pa.list_(pa.float32())),
    }.items():
        pq.write_table(pa.table({"id": [*range(len(sets))], "features": pa.array(listed, kind)}), folder / f"{name}.parquet")
    (folder / "lines.jsonl").write_text("".join(json.dumps({"features": one}) + "\n" for one in listed))
    files = {path.name: path for path in folder.iterdir()}
    arrow = pa.table({"features": pa.array(listed, pa.list_(pa.list_(pa.float32())))}).slice(0)
    return {**files, "arrays": sets, "ragged": (vectors, offsets), "lists": listed, "records": [{"features": one} for one in sets], "arrow": arrow}


@pytest.mark.parametrize("by", ["features", "features/assignment"])
def test_all_forms_say_the_same(tmp_path, by):
    forms = sources(tmp_path, planted(20, 10, dimension=5))
    results = {name: found(lw.pairs(form, by=by, threshold=0.25)) for name, form in forms.items()}
    assert len(results["arrays"]) >= 9
    assert all(result == results["arrays"] for result in results.values()), [name for name, one in results.items() if one != results["arrays"]]


def test_sets_of_one_size_in_one_array(tmp_path):
    cube = np.random.default_rng(0).normal(size=(6, 4, 3))
    cube[5] = cube[0][::-1]
    np.save(tmp_path / "cube.npy", cube)
    assert found(lw.pairs(cube, by="features")) == found(lw.pairs(tmp_path / "cube.npy", by="features")) == {(0, 5): 1.0}


def test_slices_of_arrow_columns_begin_where_they_begin():
    sets = planted(20, 10)
    kind = pa.list_(pa.list_(pa.float32(), 12))
    part = pa.table({"features": pa.array([one.tolist() for one in [*sets[:7], *sets]], kind)}).slice(7)
    assert found(lw.pairs(part, by="features", threshold=0.25)) == found(lw.pairs(sets, by="features", threshold=0.25))


def test_dedup_writes_what_it_keeps(tmp_path):
    sets = planted(12, 6)
    sources(tmp_path, sets)
    for name in ("plain.npz", "small.npz", "fixed.parquet"):
        out = tmp_path / f"out-{name}"
        result = lw.dedup(tmp_path / name, by="features/chamfer", threshold=0.85, out=out)
        gone = set(result.removed.to_arrow()["id"].to_pylist())
        kept = [one for number, one in enumerate(sets) if number not in gone]
        assert len(gone) >= 5
        if name.endswith("npz"):
            with np.load(out / "kept" / name) as written, np.load(tmp_path / name) as read:
                assert (written["vectors"] == np.concatenate(kept)).all()
                assert (written["offsets"] == np.cumsum([0, *map(len, kept)])).all()
                assert [written[key].dtype for key in ("vectors", "offsets")] == [read[key].dtype for key in ("vectors", "offsets")]
            with zipfile.ZipFile(out / "kept" / name) as written, zipfile.ZipFile(tmp_path / name) as read:
                assert [one.compress_type for one in written.infolist()] == [one.compress_type for one in read.infolist()]
        page = (out / "report.html").read_text()
        assert "measured, not guaranteed" in page and "no pair is missed" not in page
        assert "a set of feature vectors" in page
        said = CliRunner().invoke(main, ["show", str(out), str(min(gone))])
        assert said.exit_code == 0 and "features of 12 numbers" in said.output and "have changed" not in said.output
        assert lw.audit(out).recall >= 0.9


def test_the_command_line(tmp_path):
    sets = planted(20, 10)
    sources(tmp_path, sets)
    expected = found(lw.pairs(sets, by="features", threshold=0.25))
    for name in ("plain.npz", "fixed.parquet", "lines.jsonl"):
        said = CliRunner().invoke(main, ["pairs", str(tmp_path / name), "--by", "features", "--threshold", "0.25"])
        rows = [json.loads(line) for line in said.stdout.splitlines()]
        assert {(row["id_a"], row["id_b"]): row["similarity"] for row in rows} == expected
    said = CliRunner().invoke(main, ["pairs", str(tmp_path / "plain.npz"), "--by", "features/chamfer"])
    assert said.exit_code == 0 and "; recall: not guaranteed" in said.stderr
    said = CliRunner().invoke(main, ["neighbors", str(tmp_path / "plain.npz"), "--by", "features", "-k", "1"])
    assert said.exit_code == 0 and '"similarity"' in said.stdout
    said = CliRunner().invoke(main, ["dedup", str(tmp_path / "plain.npz"), "--by", "features/chamfer", "--dry-run", "-o", str(tmp_path / "out")])
    assert said.exit_code == 0 and "recall: not guaranteed" in said.output


GOOD = [[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], [[1.0, 1.0, 1.0]]]
BAD = {
    "feature 2 of 2 has 2 numbers and the first has 3": [[1.0, 2.0, 3.0], [1.0, 2.0]],
    "has features of 2 numbers, but the first item (": [[1.0, 2.0]],
    "feature 2 of 2 holds nan": [[1.0, 2.0, 3.0], [1.0, float("nan"), 3.0]],
    "feature 1 of 1 holds inf": [[1.0, 1e200, 3.0]],
    "feature 1 of 2 has no numbers": [[], []],
    "a list of numbers is one feature": [1.0, 2.0, 3.0],
}


@pytest.mark.parametrize(("why", "bad"), BAD.items())
def test_bad_sets_are_named_or_set_aside(tmp_path, why, bad):
    rows = [*GOOD, bad, GOOD[0][::-1]]
    path = tmp_path / "bad.jsonl"
    path.write_text("".join(json.dumps({"features": one}) + "\n" for one in rows))
    given: dict[str, object] = {"bad.jsonl, line 3": path, "memory.arrow, position 2": rows}
    if "list of numbers" not in why:
        pq.write_table(pa.table({"features": pa.array(rows, pa.list_(pa.list_(pa.float64())))}), tmp_path / "bad.parquet")
        given["bad.parquet, position 2"] = tmp_path / "bad.parquet"
    for where, form in given.items():
        printed = "NaN and Infinity are not JSON" if why.endswith("nan") and form is path else why
        with pytest.raises(DataError) as refused:
            lw.pairs(form, by="features")
        assert where in str(refused.value) and printed in str(refused.value)
        result = lw.dedup(form, by="features", on_error="skip")
        assert result.report["counts"] | {"rejected": 1, "removed": 1, "kept": 2} == result.report["counts"]


def test_what_is_no_set_or_has_no_direction_is_counted_and_like_nothing(tmp_path):
    rows = [GOOD[0], None, [], [[0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0]] * 2, "text", GOOD[0][::-1], [[1.0, None, 2.0]], [None]]
    path = tmp_path / "empty.jsonl"
    path.write_text("".join(json.dumps({"features": one}) + "\n" for one in rows))
    for by in MEASURES:
        for form in (path, rows):
            result = lw.dedup(form, by=by)
            counts = result.report["counts"]
            assert (counts["kept"], counts["removed"], counts["empty"], counts["without_text"]) == (8, 1, 7, 4)
            assert any("3 of 9 items have no feature with a direction" in said for said in result.report["warnings"])
            assert len(lw.neighbors(form, by=by, k=5)) == 2


def test_zero_vectors_are_left_out_of_a_set():
    one = np.random.default_rng(0).normal(size=(4, 3))
    black = np.concatenate([np.zeros((2, 3)), one, np.zeros((1, 3))])
    for by in MEASURES:
        assert lw.similarity(one, black, by=by) == pytest.approx(1, abs=1e-6)
        assert list(found(lw.pairs([one, black], by=by)).values()) == pytest.approx([1], abs=1e-6)
        with pytest.raises(UsageError, match="row 0: all its features are zero vectors"):
            lw.similarity([np.zeros((2, 3))], [one], by=by)
        with pytest.raises(UsageError, match="of 3 dimensions on the left and 2"):
            lw.similarity([one], [one[:, :2]], by=by)


@pytest.mark.parametrize("sets", [[], [np.ones((3, 2))], [np.ones((1, 1)), np.ones((1, 1))], [np.ones((2, 2)), np.ones((5, 2))]])
def test_few_and_equal_sets(sets):
    """None, one, of one feature of one number, and such as have all features in one place."""
    for by in MEASURES:
        for exact in (None, True):
            assert len(lw.pairs(sets, by=by, exact=exact, threshold=0.3)) == (len(sets) == 2)
            assert len(lw.dedup(sets, by=by, exact=exact, threshold=0.3).kept.to_arrow()) == min(1, len(sets))
            assert len(lw.neighbors(sets, by=by, exact=exact)) == (2 if len(sets) == 2 else 0)


@pytest.mark.parametrize(
    ("arrays", "why"),
    [
        ({"vectors": np.ones((4, 2))}, "no array 'offsets'"),
        ({"vectors": np.ones((4, 2)), "offsets": np.array([0, 3, 2, 4])}, "offset 2 is 2, after 3"),
        ({"vectors": np.ones((4, 2)), "offsets": np.array([0, 3])}, "offsets must go from 0 to the number of vectors, 4"),
        ({"vectors": np.ones((4, 2)), "offsets": np.array([0.0, 4.0])}, "offsets must be integers"),
        ({"vectors": np.ones(4), "offsets": np.array([0, 4])}, "vectors must be a 2-D array"),
        ({"vectors": np.asfortranarray(np.ones((4, 2))), "offsets": np.array([0, 4])}, "column by column"),
        ({"vectors": np.array([["a", "b"]]), "offsets": np.array([0, 1])}, "vectors must be a 2-D array of numbers"),
    ],
)
def test_a_npz_file_that_holds_no_sets(tmp_path, arrays, why):
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(DataError, match=why):
        lw.pairs(tmp_path / "bad.npz", by="features")


def test_a_damaged_npz_file_and_one_for_another_kind(tmp_path):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, vectors=np.random.default_rng(0).normal(size=(400, 4)), offsets=np.arange(0, 401, 4))
    with pytest.raises(UsageError, match="need by='features'"):
        lw.pairs(path, by="cosine")
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole[:200] + bytes(64) + whole[264:], b"PK\3\4"):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=r"a\.npz"):
            lw.pairs(path, by="features")
    np.savez(path, vectors=np.ones((2, 2)), offsets=np.array([0, 1, 2]), names=np.array(["a", "b"]))
    with pytest.raises(UsageError, match="also holds names"):
        lw.dedup(path, by="features", out=tmp_path / "out")


def test_what_cannot_be_asked():
    sets = planted(4, 0)
    for choices, why in (
        ({"by": "features/nearest"}, "valid: /one-to-many, /chamfer, /assignment"),
        ({"by": "features/chamfer", "bands": 4}, "joins feature sets without bands"),
        ({"by": "features/chamfer", "verify": "none"}, "always compared exactly"),
    ):
        with pytest.raises(UsageError, match=why):
            lw.pairs(sets, **choices)
    with pytest.raises(UsageError, match="one field"):
        lw.pairs([{"a": one, "b": one} for one in sets], by="features", field="a+b")
    with pytest.raises(UsageError, match="no hash family"):
        lw.plan(by="features/chamfer")
    assert lw.plan(sets, by="features", threshold=0.5).recall >= 0.99


def test_results_do_not_depend_on_threads():
    sets = planted(120, 60)
    for by, threshold in MEASURES.items():
        one, four = (lw.dedup(sets, by=by, threshold=threshold, threads=threads) for threads in (1, 4))
        assert one.report == four.report and one.removed.to_arrow().equals(four.removed.to_arrow())
