"""Plans by a sample of the data."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import likewise as lw
from likewise.cli.main import main
from likewise.errors import DataError, LikewiseError, UsageError
from likewise.families import MinHash
from likewise.kernels.sets import overlaps_of_all
from likewise.planning import choose
from likewise.planning.curves import bit_sampling, jaccard
from likewise.planning.expected import assumed, measured
from likewise.runs import sample as pilot


def texts(n: int, shared: int, seed: int = 0) -> list[str]:
    """Texts of 40 words, of which the first ``shared`` are the same in all."""
    rng = np.random.default_rng(seed)
    return [" ".join([*(f"same{i}" for i in range(shared)), *(f"w{word}" for word in rng.integers(0, 10**9, 40 - shared))]) for _ in range(n)]


def test_overlaps_of_all_pairs():
    rng = np.random.default_rng(1)
    sets = [np.unique(rng.integers(0, 30, rng.integers(0, 25))).astype(np.uint64) for _ in range(12)]
    offsets = np.cumsum([0, *map(len, sets)])
    expected = [len(np.intersect1d(a, b)) for i, a in enumerate(sets) for b in sets[i + 1 :]]
    assert overlaps_of_all(np.concatenate(sets), offsets).tolist() == expected


def test_the_density_is_that_of_the_pairs():
    """Every pair of these shares 20 of 60 words exactly: Jaccard 1/3."""
    plan = lw.plan(texts(50, 20), by="words:1", threshold=0.8)
    assert dissimilar(plan) == [(pytest.approx(1 / 3, abs=1e-6), 1.0)]
    assert (plan.items, plan.model.density.sample, plan.model.shingles) == (50, 50, 40)


def dissimilar(plan) -> list[tuple[float, float]]:
    return [(value, share) for value, share, _ in plan.model.density.points if share]


def test_duplicates_of_a_sample_do_not_grow_with_the_collection():
    """Forty texts in twenty pairs that share 39 of 41 words: 20 of 780 pairs are similar, and an item has as many in a collection of any size."""
    data = [text for i, one in enumerate(texts(20, 0)) for text in (one, one.rsplit(" ", 1)[0] + f" other{i}")]
    plan = lw.plan(data, by="words:1", threshold=0.8)
    assert dissimilar(plan) == [(0.0, pytest.approx(760 / 780))]
    assert all(value < 0.8 for value, _ in dissimilar(plan))
    few, many = (lw.plan(data, by="words:1", threshold=0.8, items=items, bands=16, rows=6) for items in (40, 10**9))
    assert many.candidates == few.candidates == pytest.approx(sum(similar * few.curve(s) for s, _, similar in assumed(jaccard(), 0.8).points))
    assert dissimilar(lw.plan(data, by="words:1", threshold=0.96)) == [(0.0, 760 / 780), (pytest.approx(39 / 41), 20 / 780)]


def test_which_values_of_a_sample_are_similar():
    """At the threshold itself too: a similarity from it on, a distance up to it."""
    points = measured([0.1, 0.5, 0.8, 0.9], jaccard(), 0.8, 3).points
    assert [(value, share) for value, share, _ in points if share] == [(0.1, 0.25), (0.5, 0.25)]
    points = measured([2, 3, 4, 30], bit_sampling(64), 3, 3).points
    assert [(value, share) for value, share, _ in points if share] == [(4, 0.25), (30, 0.25)]
    assert measured([], jaccard(), 0.8, 2).points == measured([0.9], jaccard(), 0.8, 2).points


def test_a_template_in_all_texts_makes_a_steeper_plan():
    """At a million items, pairs at 1/3 by the billion must be kept out of the buckets."""
    plain, template = lw.plan(texts(60, 0), by="words:1", items=10**6), lw.plan(texts(60, 20), by="words:1", items=10**6)
    assert template.rows > plain.rows
    assert template.recall >= 0.99
    assumed = choose("0.8", items=10**6)
    assert template.model.candidates(assumed.bands, assumed.rows) > 10 * template.candidates


def test_predicted_candidates_are_met():
    """Of texts whose words come from one pool, so many pairs share a band as was said: in the mean of many seeds, for all share one set of hashes."""
    rng = np.random.default_rng(3)
    data = [" ".join(f"w{word}" for word in rng.permutation(120)[:40]) for _ in range(100)]
    plan = lw.plan(data, by="words:1", threshold=0.5, bands=20, rows=3)
    left, right = np.triu_indices(100, 1)
    pairs_by_probability = []
    for seed in range(60):
        keys = MinHash(60, "classic", seed).band_keys_of(lw.sketch(data, by="words:1", slots=60, mode="classic", seed=seed), 20, 3)
        pairs_by_probability.append((keys[:, left] == keys[:, right]).any(axis=0).mean())
    predicted = sum(share * plan.curve(value) for value, share, _ in plan.model.density.points)
    assert np.mean(pairs_by_probability) == pytest.approx(predicted, rel=0.05)


def test_a_plan_from_files_samples_all_of_few_records(tmp_path):
    for name in "ab":
        lines = [json.dumps({"text": text, "n": 1}) for text in texts(300, 5, ord(name))]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    plan = lw.plan(tmp_path, by="words:1", threshold=0.7)
    assert (plan.items, plan.model.density.sample) == (600, 600)
    assert plan == lw.plan(tmp_path, by="words:1", threshold=0.7)
    assert plan.to_dict()["sample"] == 600


def test_equal_texts_count_once():
    """They collapse before anything is compared."""
    plan = lw.plan(texts(10, 0) * 5, by="words:1")
    assert (plan.items, plan.model.density.sample) == (10, 10)
    assert lw.plan(texts(10, 0) * 5, by="words:1", items=50).items == 50


def test_items_are_different_texts_in_proportion(tmp_path, monkeypatch):
    """The first of two files of equal length is read: 300 different texts in 900 rows, so 600 in 1,800."""
    monkeypatch.setattr(pilot, "SOURCES", 1)
    for name in "ab":
        (tmp_path / f"{name}.jsonl").write_text("\n".join(json.dumps({"text": f"{name} {i % 300:03}"}) for i in range(900)) + "\n")
    plan = lw.plan(tmp_path, by="words:1")
    assert (plan.items, plan.model.density.sample) == (600, 300)


def test_too_few_texts():
    with pytest.raises(UsageError, match="at least two different texts"):
        lw.plan(["a b c", "a b c", ""], by="words:1")


def test_why_there_are_no_texts(tmp_path):
    lines = "".join(json.dumps({"body": f"a b {i}", "n": i}) + "\n" for i in range(5))
    (tmp_path / "a.jsonl").write_text(lines)
    (tmp_path / "b.jsonl").write_text("{]\n" * 3)
    (tmp_path / "c.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(DataError, match=r"no row of a.jsonl has the field 'nope'; fields seen: body, n; name the right one with field="):
        lw.plan(tmp_path / "a.jsonl", field="nope")
    with pytest.raises(DataError, match=r"^the data has no column 'text'; its columns: body; name one with field=F, such as field='body'$"):
        lw.plan([{"body": "a b c"}, {"body": "d e f"}])
    with pytest.raises(DataError, match=r"b.jsonl, line 1, column 2"):
        lw.plan(tmp_path / "b.jsonl")
    with pytest.raises(DataError, match=r"c.parquet"):
        lw.plan(tmp_path / "c.parquet")
    assert lw.plan([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], field="body", by="words:1").model.density.sample == 5


def test_the_density_of_random_directions():
    rng = np.random.default_rng(2)
    vectors = rng.normal(size=(300, 32)).astype(np.float32)
    vectors[7] = 0  # an empty item: it has no angle and is left out
    plan = lw.plan(vectors, by="cosine", threshold=0.9)
    points = [(value, share) for value, share, _ in plan.model.density.points if share]
    assert sum(value * share for value, share in points) == pytest.approx(0, abs=0.01)
    assert sum(value**2 * share for value, share in points) == pytest.approx(1 / 32, rel=0.1)  # of the cosine of two random directions
    assert (plan.items, plan.model.density.sample, plan.model.dimension) == (300, 299, 32)


@pytest.mark.parametrize(
    ("by", "data", "asked"),
    [
        ("l2", np.random.default_rng(3).normal(size=(100, 8)), {"within": 1}),
        ("l1", np.random.default_rng(3).normal(size=(100, 8)), {"within": 1, "family": "Threshold"}),
        ("hamming", np.random.default_rng(3).integers(0, 2**64, 100, np.uint64), {"within": 3}),
        ("elements", [set(range(i, i + 10)) for i in range(50)], {"threshold": 0.5}),
        ("weighted", [dict.fromkeys(range(i, i + 10), 1.5) for i in range(50)], {"threshold": 0.5}),
    ],
)
def test_plans_for_other_kinds_of_items_have_the_recall(by, data, asked):
    plan = lw.plan(data, by=by, recall=0.9, **asked)
    assert plan.recall >= 0.9
    assert plan.model.density.sample == len(data) == plan.items


def ends(sets) -> np.ndarray:
    return np.cumsum([0, *map(len, sets)])


SETS = [list(range(i, i + 10)) for i in range(30)]
WEIGHTS = [{element: 1 + element / 8 for element in one} for one in SETS]
VECTORS = np.random.default_rng(5).normal(size=(30, 4))
CODES = np.random.default_rng(6).integers(0, 2**64, 30, np.uint64)
#: by -> the same thirty items in many forms
FORMS = {
    "elements": [
        SETS,
        [set(one) for one in SETS],
        [[str(element) for element in one] for one in SETS],
        np.array(SETS),
        (np.concatenate(SETS), ends(SETS)),
        pa.array(SETS),
        [np.isin(np.arange(40), one) for one in SETS],
    ],
    "weighted": [
        WEIGHTS,
        [list(one.items()) for one in WEIGHTS],
        [{str(element): weight for element, weight in one.items()} for one in WEIGHTS],
        (np.concatenate(SETS), np.concatenate([[*one.values()] for one in WEIGHTS]), ends(SETS)),
    ],
    "l2": [VECTORS, VECTORS.tolist(), [*VECTORS], pa.array(VECTORS.tolist()), pa.FixedSizeListArray.from_arrays(VECTORS.ravel(), 4)],
    "cosine": [VECTORS, VECTORS * 2, pa.array(VECTORS.tolist())],
    "hamming": [CODES, CODES.tolist(), CODES[:, None], [code.tobytes() for code in CODES], pa.array([code.tobytes() for code in CODES])],
}


@pytest.mark.parametrize("by", FORMS)
def test_batches_in_every_form_that_similarity_takes(by):
    asked = {"within": 1} if by in ("l2", "hamming") else {"threshold": 0.8}
    plans = [lw.plan(data, by=by, **asked) for data in FORMS[by]]
    for plan in plans:
        assert (plan.items, plan.model.density.sample, plan.bands, plan.rows) == (30, 30, plans[0].bands, plans[0].rows)
        for found, expected in zip(plan.model.density.points, plans[0].model.density.points, strict=True):
            assert found == pytest.approx(expected, abs=1e-9)
    left, right = np.triu_indices(30, 1)
    batch = FORMS[by][0]
    values = lw.similarity([batch[i] for i in left], [batch[i] for i in right], by=by)
    far = values[values > 1] if "within" in asked else values[values < 0.8]
    assert sum(share for _, share in dissimilar(plans[0])) == pytest.approx(len(far) / len(values))
    assert sum(value * share for value, share in dissimilar(plans[0])) == pytest.approx(far.sum() / len(values))
    assert plans[0].model.shingles == (10 if by in ("elements", "weighted") else 300)


@pytest.mark.parametrize(
    ("by", "data", "message"),
    [
        ("elements", {1, 2, 3}, "got a single set"),
        ("elements", [1, 2, 3], "got a single set"),
        ("elements", {1: 2}, "give sets: .* got dict"),
        ("elements", (set(range(i)) for i in range(9)), "give sets: .* got generator"),
        ("weighted", {1: 2.0}, "got a single weighted set"),
        ("weighted", {1}, "got set"),
        ("weighted", iter([{1: 2.0}]), "got list_iterator"),
        ("l2", [1.0, 2.0], "got a single vector"),
        ("l2", {1.0}, "got set"),
        ("l2", {"a": [1.0]}, "got dict"),
        ("l2", (row for row in VECTORS), "got generator"),
        ("cosine", np.zeros((9, 3)), "at least two items"),
        ("l2", [], "at least two items"),
        ("hamming", b"ab", "got a single code"),
        ("hamming", {1, 2}, "got set"),
        ("hamming", ["xy", "cd"], ".x. is not a hexadecimal digit"),
        ("edit", ["ab", "cd"], "this measure has no hash family"),
        ("cosine", "vectors.parquet", "vectors.parquet: no such file"),
        ("cosine", [Path("vectors.parquet")], "vectors.parquet: no such file"),
    ],
)
def test_what_is_no_batch(by, data, message):
    with pytest.raises(UsageError, match=message):
        lw.plan(data, by=by, **({"within": 1} if by in ("l2", "hamming", "edit") else {"threshold": 0.8}))


HALVES = [[code.tobytes().hex() for code in CODES], CODES.view(np.uint8).reshape(30, 8)]


def saved(by: str, folder: Path) -> list[Path]:
    """The thirty items in files of each format that holds them; float64 throughout."""
    field = {"elements": "elements", "weighted": "elements", "hamming": "code"}.get(by, "vector")
    values = {"elements": SETS, "weighted": WEIGHTS, "hamming": HALVES[0]}.get(by, VECTORS.tolist())
    lines, table, array = folder / "in.jsonl", folder / "in.parquet", folder / "in.npy"
    lines.write_text("".join(json.dumps({"id": f"i{place}", field: value}) + "\n" for place, value in enumerate(values)))
    pairs = [list(one.items()) for one in WEIGHTS]
    column = pa.array(pairs, pa.map_(pa.int64(), pa.float64())) if by == "weighted" else pa.array(values)
    pq.write_table(pa.table({"n": range(30), field: column}), table, row_group_size=7)
    if by == "weighted":
        return [table]  # a key of an object is a string, which is another element
    np.save(array, {"elements": np.array(SETS), "hamming": HALVES[1]}.get(by, VECTORS))
    return [lines, table, array]


@pytest.mark.parametrize("by", [*FORMS, "l1", "angle"])
def test_files_of_items_as_of_the_same_in_memory(by, tmp_path):
    asked = {"within": {"angle": 20}.get(by, 1)} if by in ("l1", "l2", "hamming", "angle") else {"threshold": 0.8}
    data = FORMS[by][0] if by in FORMS else VECTORS
    expected = lw.plan(data, by=by, **asked)
    for path in saved(by, tmp_path):
        plan = lw.plan(path, by=by, **asked)
        assert (plan.items, plan.model.density.sample, plan.bands, plan.rows) == (30, 30, expected.bands, expected.rows), path
        assert plan.model.dimension == expected.model.dimension
        assert plan.model.shingles == expected.model.shingles
        sums = [(sum(share for _, share in dissimilar(one)), sum(value * share for value, share in dissimilar(one))) for one in (plan, expected)]
        assert sums[0] == pytest.approx(sums[1], abs=1e-9)  # in which of its bins a value lies may hang on the order of a sum


def test_tables_and_records_in_memory():
    records = [{"id": place, "bought": one} for place, one in enumerate(SETS)]
    expected = lw.plan(SETS, by="elements", threshold=0.5)
    for given in (records, pa.table({"bought": SETS})):
        assert lw.plan(given, by="elements", field="bought", threshold=0.5).model.density == expected.model.density
    vectors = [{"vector": row} for row in VECTORS.tolist()]
    assert lw.plan(vectors, by="l2", within=1).model.density == lw.plan(VECTORS, by="l2", within=1).model.density
    with pytest.raises(DataError, match=r"^the data has no column 'elements'; its columns: bought; name one with field=F, such as field='bought'$"):
        lw.plan(pa.table({"bought": SETS}), by="elements")


def test_copies_and_empty_items_of_files(tmp_path):
    """Equal sets are one item in whatever order their elements stand, and a vector of zeros has no direction."""
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"elements": one}) + "\n" for one in (*SETS, *(one[::-1] + one for one in SETS), [])))
    plan = lw.plan(tmp_path, by="elements", threshold=0.8)
    assert (plan.items, plan.model.density.sample, plan.model.shingles) == (30, 30, 10)
    np.save(tmp_path / "in.npy", np.concatenate([VECTORS, VECTORS[:3], np.zeros((2, 4))]))
    assert lw.plan(tmp_path / "in.npy", by="cosine", threshold=0.8).items == 30
    assert lw.plan(tmp_path / "in.npy", by="l2", within=1).items == 31


def test_a_sample_of_many_items_is_drawn_by_the_seed(tmp_path):
    np.save(tmp_path / "in.npy", np.random.default_rng(1).normal(size=(3000, 3)).astype(np.float32))
    plans = [lw.plan(tmp_path / "in.npy", by="l2", within=0.1, seed=seed) for seed in (1, 2, 1)]
    assert [(plan.items, plan.model.density.sample) for plan in plans] == [(3000, 500)] * 3
    assert plans[0] == plans[2] != plans[1]


def test_sources_that_are_read_in_part(tmp_path, monkeypatch):
    """Of 64 files those that are read whole count with all of their bytes, compressed or not: each holds 50 of the items."""
    monkeypatch.setattr(pilot, "SOURCES", 8)
    rng = np.random.default_rng(4)
    for name in range(64):
        rows = pa.FixedSizeListArray.from_arrays(pa.array(rng.integers(0, 9, 50 * 16).astype(np.float32)), 16)
        pq.write_table(pa.table({"vector": rows}), tmp_path / f"{name:02}.parquet")
    assert lw.plan(tmp_path, by="l2", within=1).items == pytest.approx(64 * 50, rel=0.02)
    monkeypatch.setattr(pilot, "BYTES", 1)  # no more than one chunk of each, which is all
    assert lw.plan(tmp_path, by="l2", within=1).items == pytest.approx(64 * 50, rel=0.02)


def test_sparse_vectors_of_files(tmp_path):
    rows = [{"vector": {"indices": [place % 7, 7 + place % 5], "values": [1.0, 2.0], "dim": 20}} for place in range(40)]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    plan = lw.plan(tmp_path / "in.jsonl", by="cosine", threshold=0.9)
    assert (plan.items, plan.model.density.sample, plan.recall >= 0.99) == (35, 35, True)
    assert {round(value, 6) for value, _ in dissimilar(plan)} == {0, 0.2, 0.8}


@pytest.mark.parametrize(
    ("rows", "by", "message"),
    [
        ([[1.0, 2.0], [5.0]], "l2", r"in\.jsonl, line 2, .*has 1 number, but the first vector \(in\.jsonl, item 1\) has 2 numbers"),
        (["00ff", "ff"], "hamming", r"in\.jsonl, line 2, .*has 8 bits, but the first code \(in\.jsonl, item 1\) has 16 bits"),
        ([[1.0, 2.0], [1.0, 2.0], [0.0, 0.0]], "cosine", "at least two different vectors"),
        ([[1.0, 2.0], [float("inf"), 0.0]], "l2", "in.jsonl, line 2"),
    ],
)
def test_files_that_give_no_sample(rows, by, message, tmp_path):
    field = "code" if by == "hamming" else "vector"
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({field: row}) + "\n" for row in rows))
    with pytest.raises(LikewiseError, match=message):
        lw.plan(tmp_path / "in.jsonl", by=by, **({"threshold": 0.9} if by == "cosine" else {"within": 1}))


def test_a_sample_is_taken_once_for_all_layouts(tmp_path, monkeypatch):
    taken = []
    from likewise.runs.pilot import sampled

    monkeypatch.setattr("likewise.runs.pilot.sampled", lambda *given, **more: taken.append(given) or sampled(*given, **more))
    for path in saved("elements", tmp_path):
        result = CliRunner().invoke(main, ["plan", str(path), "--by", "elements", "--threshold", "0.5", "--layouts", "4x3,8x4,16x2", "--json"])
        assert result.exit_code == 0, result.stderr
        plans = json.loads(result.stdout)["plans"]
        assert [(plan["bands"], plan["rows"], plan["sample"], plan["items"]) for plan in plans] == [(4, 3, 30, 30), (8, 4, 30, 30), (16, 2, 30, 30)]
        for plan in plans:
            alone = lw.plan(path, by="elements", threshold=0.5, bands=plan["bands"], rows=plan["rows"])
            assert plan["candidates_per_item"] == alone.to_dict()["candidates_per_item"]
    assert len(taken) == 3 * (1 + 3)


def test_the_command_line_plans_for_files_of_items(tmp_path):
    path = saved("l2", tmp_path)[1]
    result = CliRunner().invoke(main, ["plan", str(path), "--by", "l2", "--within", "0.5"])
    assert result.exit_code == 0, result.stderr
    assert "For 30 items of 4 numbers each:" in result.stdout and "estimated from a sample of 30" in result.stdout
    assert f"next  likewise dedup {path} -o clean --by l2 --within 0.5 --bands" in result.stdout


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "dimension=3: by='words:5' compares texts or sets, which have no fixed dimension; leave it out"),
        ({"by": "elements"}, "dimension=3: by='elements' compares"),
        ({"by": "weighted", "inputs": WEIGHTS}, "dimension=3: by='weighted' compares"),
        ({"by": "l2", "within": 1, "inputs": VECTORS}, "dimension=3: the data have 4 numbers each"),
        (
            {"by": "l2", "within": 1, "inputs": [{"indices": [1], "values": [float(i)]} for i in (1, 2, 3)]},
            "dimension=3: sparse vectors have no fixed dimension",
        ),
    ],
)
def test_a_dimension_that_is_none(asked, message):
    with pytest.raises(UsageError, match=message):
        lw.plan(**asked, dimension=3)
    assert lw.plan(**asked).recall >= 0.99


def test_values_at_the_ends_of_float64():
    assert lw.plan([[1.7e308], [-1.7e308], [0.0]], by="l1", within=1).recall >= 0.99
    low, high = 0.1, 0.3
    corners = lw.plan([[low] * 3, [high] * 3], by="l1", within=0.01, family="Threshold")  # as far apart as can be, but for rounding
    assert corners.recall >= 0.99


def test_bad_data_is_refused_by_row():
    data = np.ones((5, 3))
    data[2, 1] = np.nan
    with pytest.raises(UsageError, match="row 2"):
        lw.plan(data, by="cosine", threshold=0.9)
