"""Advice of `plan INPUT` about thresholds: the share of texts with a similar one, and what a removal keeps."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likewise as lw
from command_line import run
from likewise.planning.advice import wilson
from likewise.runs.advice import advice, jaccard, limits


def text(name: str, own: int, shared: int = 0) -> str:
    return " ".join([*(f"same{i}" for i in range(shared)), *(f"{name}x{i}" for i in range(own))])


def saved(path: Path, texts: list[str]) -> Path:
    path.write_text("".join(json.dumps({"text": each}) + "\n" for each in texts))
    return path


def rows(plan: lw.Plan) -> dict[float, tuple[int, float]]:
    assert plan.advice is not None
    return {row.threshold: (row.similar, row.kept) for row in plan.advice.rows}


def test_pairs_clusters_and_single_texts_are_counted(tmp_path: Path) -> None:
    """Six single texts; a pair that shares 18 of 22 words (0.818); three texts that share 38 of 42 words each (0.905). Copies count once."""
    pair = [text("a", 2, 18), text("b", 2, 18)]
    three = [" ".join([*(f"other{i}" for i in range(38)), *(f"{name}y{i}" for i in range(2))]) for name in "cde"]
    texts = [*(text(f"single{i}", 20) for i in range(6)), *pair, *three, three[0], pair[0]]
    plan = lw.plan(saved(tmp_path / "a.jsonl", texts), by="words:1", threshold=0.85)
    assert plan.advice is not None and (plan.advice.sampled, plan.advice.compared) == (11, 11)
    found = rows(plan)
    assert found[0.8] == (5, pytest.approx(8 / 11)) and found[0.85] == found[0.9] == (3, pytest.approx(9 / 11)) and found[0.95] == (0, 1.0)
    for threshold, (_, kept) in found.items():
        removal = lw.dedup(texts, by="words:1", threshold=threshold, exact=True).counts
        assert kept == pytest.approx(removal["kept"] / 11)  # similarity is transitive here


SETS = st.lists(st.frozensets(st.integers(0, 12), min_size=1), min_size=1, max_size=20, unique=True)


@given(SETS, st.integers(1, 20), st.sampled_from([0.3, 0.5, 0.75, 1.0]))
def test_values_are_those_of_all_pairs(sets: list[frozenset[int]], sampled: int, threshold: float) -> None:
    words, offsets = np.array([word for each in sets for word in each], np.uint64), np.cumsum([0, *map(len, sets)])
    found = advice(jaccard(words, offsets, min(sampled, len(sets))), len(sets), limits(threshold, distances=False, whole=False))
    for row in found.rows:
        degree = [sum(len(a & b) / len(a | b) >= row.threshold for b in sets) - 1 for a in sets[:sampled]]
        assert row.similar == sum(each > 0 for each in degree)
        assert row.kept == pytest.approx(np.mean([1 / (1 + each) for each in degree]))
    assert threshold in {row.threshold for row in found.rows} and (found.sampled, found.compared) == (min(sampled, len(sets)), len(sets))


def test_intervals_hold_the_share_and_have_the_values_of_the_paper() -> None:
    """Of 10 and 100 items: the score interval in closed form, (p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)."""
    assert wilson(0, 10) == (0.0, 0.2775) and wilson(10, 10) == (0.7225, 1.0) and wilson(5, 10) == (0.2366, 0.7634)


def entries(*pairs: tuple[int, float]) -> dict[str, list]:
    """A sparse vector."""
    return {"indices": [index for index, _ in pairs], "values": [value for _, value in pairs]}


#: by, field, limit, whether smaller values are more similar, and items with similar ones among them.
KINDS: list[tuple[str, str, dict[str, float], bool, list]] = [
    ("elements", "elements", {"threshold": 0.5}, False, [[1, 2, 3], [1, 2, 4], [1, 2, 3, 4], [7, 8], [7, 9]]),
    ("weighted", "elements", {"threshold": 0.5}, False, [{"a": 2, "b": 1}, {"a": 2, "b": 2}, {"a": 1, "c": 5}, {"c": 4.5}, {"d": 1}]),
    ("cosine", "vector", {"threshold": 0.75}, False, [[1.0, 0.0], [1.0, 0.5], [1.0, 1.0], [-1.0, 0.1], [0.0, 1.0]]),
    (
        "cosine",
        "vector",
        {"threshold": 0.75},
        False,
        [entries((1, 1.0)), entries((1, 1.0), (9, 0.5)), entries((1, 1.0), (9, 1.0)), entries((7, 2.0))],
    ),
    ("l2", "vector", {"within": 1.0}, True, [[0.0, 0.0], [1.0, 0.0], [1.0, 0.5], [5.0, 5.0], [5.0, 6.5]]),
    ("l1", "vector", {"within": 1.0}, True, [entries((1, 1.0)), entries((1, 1.5)), entries((1, 1.0), (9, 1.0)), entries((7, 20.0))]),
    ("hamming", "code", {"within": 2}, True, ["00ff", "01ff", "03ff", "ff00", "fe07"]),
    (
        "features",
        "features",
        {"threshold": 0.5},
        False,
        [[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.1, 1.0]], [[-1.0, 0.1]], [[0.9, 0.1], [-1.0, 0.0]]],
    ),
]


@pytest.mark.parametrize("in_memory", [False, True])
@pytest.mark.parametrize(("by", "field", "limit", "far", "items"), KINDS)
def test_other_kinds_are_compared_by_their_measures(
    tmp_path: Path, by: str, field: str, limit: dict, far: bool, items: list, in_memory: bool
) -> None:
    """The counts are those of all pairs by `lw.similarity`; items that occur again count once."""
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({field: item}) + "\n" for item in [*items, items[0]]))
    plan = lw.plan([*items, items[0]], by=by, **limit) if in_memory else lw.plan(path, by=by, field=field, **limit)
    values = [lw.similarity([item] * len(items), items, by=by) for item in items]
    assert plan.advice is not None and (plan.advice.sampled, plan.advice.compared) == (len(items), len(items))
    for threshold, (similar, kept) in rows(plan).items():
        degree = [int(np.count_nonzero(value <= threshold if far else value >= threshold)) - 1 for value in values]
        assert similar == sum(each > 0 for each in degree) and kept == pytest.approx(np.mean([1 / (1 + each) for each in degree]))
    assert next(iter(limit.values())) in rows(plan)
    assert plan._repr_html_().count("sampled item") == 1 and plan.items == len(items)


def test_data_in_memory_give_the_advice_of_a_file(tmp_path: Path) -> None:
    """Arrays of 300 vectors and their copies, of which all are compared; and a list of texts."""
    vectors = np.repeat(np.random.default_rng(0).normal(size=(300, 4)).astype(np.float32), 2, axis=0)
    np.save(tmp_path / "in.npy", vectors)
    plans = [lw.plan(given, by="l2", within=0.8) for given in (vectors, vectors.tolist(), tmp_path / "in.npy", tmp_path)]
    for plan in plans:
        assert plan.advice is not None and (plan.advice.sampled, plan.advice.compared) == (300, 300) and 0 < rows(plan)[0.8][0] < 300
        for at, (similar, kept) in rows(plan).items():
            assert (similar, kept) == (rows(plans[0])[at][0], pytest.approx(rows(plans[0])[at][1]))
    texts = [text("a", 2, 18), text("b", 2, 18), text("c", 20)]
    found = [
        lw.plan(given, by="words:1", threshold=0.8).advice
        for given in (texts, [{"text": each} for each in texts], saved(tmp_path / "a.jsonl", texts))
    ]
    assert found[0] is not None and found[0] == found[1] == found[2]


def test_plans_without_data_have_none() -> None:
    assert lw.plan(threshold=0.8).advice is None and "advice" not in lw.plan(threshold=0.8).to_dict()
    assert "sampled item" not in lw.plan(threshold=0.8)._repr_html_()


def test_a_plan_without_a_threshold_has_the_usual_ones() -> None:
    plan = lw.plan([[1, 2, 3], [1, 2, 4], [7, 8]], by="elements")
    assert plan.advice is not None and [row.threshold for row in plan.advice.rows] == [0.5, 0.6, 0.7, 0.8, 0.9, 0.95]


def test_the_command_line_says_it(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.jsonl", [text("a", 2, 18), text("b", 2, 18), *(text(f"single{i}", 20) for i in range(2))])
    printed = run("plan", path, "--by", "words:1", "--threshold", "0.8").stdout
    assert "4 sampled texts, each compared with 4 different texts:\n" in printed
    assert "*      0.80  50.0% (15.0 to 85.0%)     about 75.0%\n" in printed
    document = json.loads(run("plan", path, "--by", "words:1", "--within", "0.2", "--json").stdout)
    assert document["advice"]["by_threshold"][3] == {"threshold": 0.8, "similar": 0.5, "low": 0.15, "high": 0.85, "kept": 0.75}


def test_the_columns_are_below_their_names(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"elements": {name: 1.5}}) + "\n" for name in "abc"))
    printed = run("plan", path, "--by", "weighted").stdout.splitlines()
    head = next(line for line in printed if "have a similar weighted set" in line)
    assert all(line.index("about 100.0%") == head.index("a removal keeps") for line in printed if line.endswith("about 100.0%"))
    assert sum(line.endswith("about 100.0%") for line in printed) == 6
