"""The audit: what it counts is what brute force counts, what it says of recall is what theory says, and an output is audited as it was made."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likewise as lw
from command_line import run
from likewise.runs.audit import by_value, interval

PAIRS = 300


def sets_at(both: int = 8, more: int = 1, pairs: int = PAIRS) -> list[dict[str, Any]]:
    """Pairs of sets whose similarity is both / (both + 2 · more), unlike all others."""
    rows = []
    for pair in range(pairs):
        first = 100 * pair
        common = list(range(first, first + both))
        rows += [
            {"id": f"{pair}{side}", "elements": [*common, *range(begin, begin + more)]} for side, begin in (("a", first + 40), ("b", first + 60))
        ]
    return rows


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


# against theory


@pytest.mark.parametrize("seed", range(10))
def test_the_recall_of_a_known_layout_lies_in_the_interval(seed):
    """8 bands of 10 rows find a pair at 0.8 with chance 1 - (1 - 0.8^10)^8 = 0.597. The seeds are fixed."""
    theory = 1 - (1 - 0.8**10) ** 8
    found = lw.audit(sets_at(), by="elements", threshold=0.8, bands=8, rows=10, seed=seed, sample=400)
    assert found.expected_recall == pytest.approx(theory, abs=1e-9)
    assert abs(found.recall - theory) < 4 * math.sqrt(theory * (1 - theory) / found.pairs)
    assert found.low < found.recall < found.high and found.high - found.low < 0.2
    assert found.low <= theory <= found.high


def test_all_are_counted_where_all_are_sampled():
    rows = sets_at()
    choices = {"by": "elements", "threshold": 0.8, "bands": 8, "rows": 10}
    found = lw.audit(rows, sample=len(rows), **choices)
    listed = lw.pairs(rows, **choices)
    assert (found.items, found.sampled, found.pairs, found.found) == (2 * PAIRS, 2 * PAIRS, PAIRS, len(listed))
    assert found.by_value == [(pytest.approx(0.8), pytest.approx(0.82), PAIRS, len(listed))]
    pairs = {(row["id_a"], row["id_b"]) for row in listed.to_arrow().to_pylist()}
    assert len(found.missed) == 5
    for one in found.missed:
        assert (one["id_a"], one["id_b"]) not in pairs and one["id_a"][:-1] == one["id_b"][:-1] and one["value"] == 0.8
        assert rows[one["position_a"]]["id"] == one["id_a"] and one["source_b"] == "memory.arrow"


def test_a_sample_counts_its_own_pairs():
    """Pairs of a sampled item with any, each once: 3 items in each of 50 groups have 3 pairs, of which a sampled item is in two."""
    rows = [{"elements": [10 * group + place for place in range(5)] + [1000 + item]} for item, group in enumerate(np.arange(150) // 3)]
    found = lw.audit(rows, by="elements", threshold=0.5, sample=1, exact=False)
    assert (found.sampled, found.pairs) == (1, 2)
    sizes = [lw.audit(rows, by="elements", threshold=0.5, sample=sample, exact=False).pairs for sample in (10, 50, 149, 150)]
    assert sizes == sorted(sizes) and sizes[-1] == 150
    assert lw.audit(rows, by="elements", threshold=0.5, sample=149).pairs == 150  # of a group with two sampled items all pairs have one


# against brute force, for each kind


def vectors(draw: np.random.Generator) -> np.ndarray:
    base = draw.normal(size=(150, 20))
    return np.concatenate([base, base[:75] + draw.normal(size=(75, 20)) * np.linspace(0.01, 0.6, 75)[:, None]]).astype(np.float32)


def codes(draw: np.random.Generator) -> np.ndarray:
    base = draw.integers(0, 2**64, 100, np.uint64)
    return np.concatenate([base, base[:50] ^ (np.uint64(1) << np.arange(50, dtype=np.uint64)), base[:20] ^ np.uint64(0b10111)])


KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "words:2": ([" ".join(np.random.default_rng([1, i // 2]).choice([*"abcdefghij"], 14)) + f" {i % 2}" for i in range(80)], {"threshold": 0.7}),
    "cosine": (vectors(np.random.default_rng(2)), {"threshold": 0.9}),
    "angle": (vectors(np.random.default_rng(2)), {"within": 25}),
    "l1": (vectors(np.random.default_rng(2)), {"within": 5}),
    "l2": (vectors(np.random.default_rng(2)), {"within": 1.5}),
    "hamming": (codes(np.random.default_rng(3)), {"within": 4}),
}


@pytest.mark.parametrize("by", KINDS)
def test_the_exact_search_misses_nothing(by):
    items, limit = KINDS[by]
    places = list(itertools.combinations(range(len(items)), 2))
    given = [items[place] for place in range(len(items))]
    values = np.array(lw.similarity([given[a] for a, _ in places], [given[b] for _, b in places], by=by))
    bound = next(iter(limit.values()))
    true = int((values <= bound).sum() if "within" in limit else (values >= bound).sum())
    found = lw.audit(items, by=by, sample=len(items), recall=0.7, **limit)
    assert true > 20 and found.pairs == true
    assert found.found == len(lw.pairs(items, by=by, recall=0.7, **limit))
    assert sum(pairs for _, _, pairs, _ in found.by_value) == true and sum(hits for *_, hits in found.by_value) == found.found
    low, high = min(found.by_value)[0], max(found.by_value)[1]
    assert (low >= 0 and high <= bound) if "within" in limit else (bound <= low + 1e-9 and high <= 1 + 1e-9)
    assert found.precision == 1 and found.value == ("distance" if "within" in limit else "similarity")


def test_vectors_that_are_missed_are_counted():
    """Four hundred pairs exactly at the threshold, and a recall of 0.6 asked for: no less is measured."""
    draw = np.random.default_rng(5)
    x, z = draw.normal(size=(2, 400, 32))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    z -= (z * x).sum(axis=1, keepdims=True) * x
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    angle = math.acos(0.8)
    rows = np.stack([x, x * math.cos(angle) + z * math.sin(angle)], axis=1).reshape(800, 32)
    found = lw.audit(rows, by="cosine", threshold=0.8 - 1e-9, recall=0.6, sample=800)
    assert found.pairs >= 400
    assert 0.6 - 3 * math.sqrt(0.24 / 400) < found.recall <= 1
    assert found.low <= found.recall <= found.high


# the interval


def test_the_interval_resamples_items_and_not_pairs():
    """Two samples with as many pairs and as many found: in one each item has one pair, in the other ten items have all. There is less to go by."""
    n = 400
    alone = np.arange(0, 400, 2) * n + np.arange(1, 400, 2)
    found = np.arange(200) % 10 > 0
    stars = (np.arange(200) % 10) * n + np.arange(200, 400)
    starred = np.isin(np.arange(200) % 10, range(1, 10))
    assert found.sum() == starred.sum() == 180
    low, high = interval(alone, found, np.arange(n), n, 0)
    wide_low, wide_high = interval(stars, starred, np.arange(n), n, 0)
    error = math.sqrt(0.9 * 0.1 / 200)
    assert low == pytest.approx(0.9 - 2 * error, abs=0.02) and high == pytest.approx(0.9 + 2 * error, abs=0.02)
    assert wide_high - wide_low > 2 * (high - low)


def test_the_interval_covers_what_is_true(scaled):
    """Of collections whose pairs are found with chance 0.7, 95 in 100 intervals hold it, up to four standard errors."""
    n, theory, collections = 240, 0.7, scaled(200, 20)
    pairs = np.arange(0, n, 2) * n + np.arange(1, n, 2)
    draw = np.random.default_rng(9)
    held = 0
    for seed in range(collections):
        low, high = interval(pairs, draw.random(len(pairs)) < theory, np.arange(n), n, seed)
        held += low <= theory <= high
    assert held >= collections * 0.95 - 4 * math.sqrt(collections * 0.95 * 0.05)


def test_few_pairs_that_are_all_found_prove_little():
    """With 20 pairs found of 20, one cannot rule out a chance of 0.025^(1/20) = 0.83; with none to be seen, nothing."""
    pairs = np.arange(20) * 100 + np.arange(20, 40)
    assert interval(pairs, np.ones(20, bool), np.arange(100), 100, 0) == (pytest.approx(0.025 ** (1 / 20)), 1.0)
    assert interval(pairs, np.zeros(20, bool), np.arange(100), 100, 0) == (0.0, pytest.approx(1 - 0.025 ** (1 / 20)))
    assert interval(pairs[:0], np.zeros(0, bool), np.arange(100), 100, 0) == (0.0, 1.0)
    one = np.full(20, 5 * 100) + np.arange(20, 40)  # all pairs of one sampled item are one observation
    assert interval(one, np.ones(20, bool), np.array([5]), 100, 0) == (pytest.approx(0.025), 1.0)


def test_bins_go_from_the_threshold_to_equality():
    values = np.array([0.8, 0.81, 0.999, 1.0])
    bins = by_value(values, np.array([True, False, True, True]), 0.8, False)
    assert bins == [(0.8, pytest.approx(0.82), 2, 1), (pytest.approx(0.98), 1.0, 2, 2)]
    whole = by_value(np.array([3.0, 3.0, 1.0]), np.array([True, False, True]), 3.0, True)
    assert whole == [(3.0, 3.0, 2, 1), (1.0, 1.0, 1, 1)]
    parts = by_value(np.array([0.0, 0.45, 0.5]), np.ones(3, bool), 0.5, True)
    assert [(round(low, 3), round(high, 3), pairs) for low, high, pairs, _ in parts] == [(0.5, 0.45, 2), (0.05, 0.0, 1)]
    assert sum(pairs for *_, pairs, _ in by_value(np.zeros(3), np.ones(3, bool), 0.0, True)) == 3


# an output is audited as it was made


CHOICES = {
    "layout": ("elements", {"threshold": "4/5", "bands": 8, "rows": 10, "seed": 3}),
    "exact": ("elements", {"threshold": 0.8, "exact": True}),
    "planned": ("elements", {"threshold": 0.75, "recall": 0.7, "exact": False}),
}


@pytest.mark.parametrize("name", CHOICES)
def test_an_output_is_audited_as_it_was_made(tmp_path, name):
    by, choices = CHOICES[name]
    path = write(tmp_path / "in.jsonl", sets_at())
    lw.dedup(path, out=tmp_path / "out", by=by, **choices)
    found = lw.audit(tmp_path / "out", sample=2 * PAIRS)
    assert found == lw.audit(path, by=by, sample=2 * PAIRS, **choices)
    assert found.pairs == PAIRS
    assert found.expected_recall == (
        1 if name == "exact" else pytest.approx(json.loads((tmp_path / "out/manifest.json").read_text())["method"]["plan"]["recall"])
    )
    assert (found.recall == 1) == (name == "exact")


def test_what_was_left_out_is_left_out_again(tmp_path):
    """The field, the group, the minimum size and the normalization steps count."""
    rows = [{"id": i, "body": f"{'aA'[i % 2]} b c d e {i // 2}", "shop": i % 4 // 2} for i in range(40)]
    choices = {"field": "body", "per": "shop", "by": "whitespace:1", "threshold": 0.5, "normalize": "lower", "min_tokens": 2}
    path = write(tmp_path / "in.jsonl", rows)
    lw.dedup(path, out=tmp_path / "out", **choices)
    assert lw.audit(tmp_path / "out") == lw.audit(path, **choices) == lw.audit(tmp_path / "out", **dict.fromkeys(choices))
    assert lw.audit(tmp_path / "out") != lw.audit(path, **{**choices, "normalize": "none"})


def test_changed_inputs_are_refused(tmp_path):
    path = write(tmp_path / "in.jsonl", sets_at(pairs=20))
    lw.dedup(path, out=tmp_path / "out", by="elements")
    again = path.read_bytes()
    path.write_bytes(again)  # touched, not changed
    assert lw.audit(tmp_path / "out").pairs == 20
    write(path, sets_at(pairs=20)[:-1])
    with pytest.raises(lw.DataError, match="the inputs have changed since the output was made; run dedup again"):
        lw.audit(tmp_path / "out")
    path.unlink()
    with pytest.raises(lw.LikewiseError, match=r"in\.jsonl"):
        lw.audit(tmp_path / "out")


# on the command line


def test_what_the_command_says(tmp_path):
    path = write(tmp_path / "in.jsonl", sets_at())
    result = run("audit", path, "--by", "elements", "--bands", 8, "--rows", 10, "--sample", 600)
    found = lw.audit(path, by="elements", bands=8, rows=10, sample=600)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "sampled    600 of 600 distinct items (without copies, empty and rejected items)"
    assert lines[1] == "similar    300 pairs with a sampled item, found by an exact search"
    assert lines[2] == f"recall     {100 * found.recall:.1f}% measured; {100 * found.low:.1f}% to {100 * found.high:.1f}% with 95% confidence"
    assert lines[3] == "expected   at least 59.6% of pairs exactly at 0.8"
    assert lines[4] == "precision  100%: all reported pairs were compared exactly"
    assert lines[5] == "found      by similarity:"
    assert lines[6] == f"0.8-0.82   {found.found} of 300 pairs"
    first = found.missed[0]
    assert lines[7].startswith(f"missed at 0.8: {first['id_a']} (in.jsonl, item {first['position_a'] + 1}) and {first['id_b']} (in.jsonl, item ")
    assert len(lines) == 12


def test_what_the_command_says_in_json(tmp_path):
    path = write(tmp_path / "in.jsonl", sets_at(pairs=30))
    run("dedup", path, "-o", tmp_path / "out", "--by", "elements", "--exact")
    printed = json.loads(run("audit", tmp_path / "out", "--json").stdout)
    assert printed["schema"] == "likewise/audit/1"
    want = {"items": 60, "sampled": 60, "pairs": 30, "found": 30, "expected_recall": 1, "recall": 1, "precision": 1}
    assert {name: printed[name] for name in want} == want and printed["missed"] == []
    assert (printed["threshold"], printed["value"], printed["by_value"]) == (0.8, "similarity", [[0.8, pytest.approx(0.82), 30, 30]])
    assert "expected   100%\n" in run("audit", tmp_path / "out").stdout
    nothing = json.loads(run("audit", write(tmp_path / "no.jsonl", sets_at(both=1, more=5)), "--by", "elements", "--json").stdout)
    assert (nothing["pairs"], nothing["recall"], nothing["low"], nothing["high"]) == (0, None, 0.0, 1.0)


def test_vectors_and_codes_on_the_command_line(tmp_path):
    np.save(tmp_path / "v.npy", vectors(np.random.default_rng(2)))
    np.save(tmp_path / "c.npy", codes(np.random.default_rng(3)))
    result = run("audit", tmp_path / "v.npy", "--by", "l2", "--within", "1.5", "--sample", "50")
    assert (
        result.exit_code == 0
        and result.stdout.startswith("sampled    50 of 225 distinct items (without copies, empty and rejected items)\n")
        and "of pairs at a distance of exactly 1.5" in result.stdout
    )
    result = run("audit", tmp_path / "c.npy", "--by", "hamming", "--within", "4", "--sample", "1000")
    # 50 pairs differ in one bit and 20 in four; and where 1 << i is one of the bits of 0b10111, the two variants differ in three: i = 0, 1, 2, 4
    assert "1          50 of 50 pairs\n" in result.stdout and "4          20 of 20 pairs\n" in result.stdout
    assert "3          4 of 4 pairs\n" in result.stdout


@pytest.mark.parametrize(("sample", "by"), [(0, "elements"), (True, "elements"), (2.5, "elements"), (10, "edit")])
def test_what_cannot_be_audited_is_refused(sample, by):
    with pytest.raises(
        lw.UsageError, match="give a whole number of 1 or more" if by == "elements" else "are always joined exactly, so there is no recall to measure"
    ):
        lw.audit([{"elements": [1], "text": "a"}], by=by, sample=sample, **({"threshold": 0.5} if by == "elements" else {"within": 1}))


def test_weighted_sets_are_audited_by_looking_at_all_pairs():
    draw = np.random.default_rng(0)
    rows = [{element: int(weight) + 1 for element, weight in enumerate(draw.integers(0, 3, 12))} for _ in range(60)]
    found = lw.audit(rows, by="weighted", threshold=0.7)
    weights = [np.array([*row.values()]) for row in rows]
    similar = [
        (a, b) for a in range(60) for b in range(a) if np.minimum(weights[a], weights[b]).sum() >= 0.7 * np.maximum(weights[a], weights[b]).sum()
    ]
    assert found.pairs == len(similar) > 50 and found.recall >= 0.97


def test_what_is_to_be_known_of_the_items_is_said(tmp_path):
    rows = [*sets_at(pairs=20), {"id": 1000, "elements": None}]
    found = lw.audit(rows, by="elements")
    assert len(found.warnings) == 1 and found.warnings[0].startswith("1 of 41 items has no set in the field 'elements'")
    result = run("audit", write(tmp_path / "in.jsonl", rows), "--by", "elements")
    assert result.exit_code == 0 and "warning: 1 of 41 items has no set" in result.stderr


@pytest.mark.parametrize("verify", ["estimate", "none"])
def test_what_was_not_compared_exactly_has_no_precision(tmp_path, verify):
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"id": i, "text": " ".join(f"w{i // 2}-{k + i % 2}" for k in range(40))}) + "\n" for i in range(40)))
    lw.dedup(path, verify=verify, out=tmp_path / "out")
    found = lw.audit(tmp_path / "out")
    assert (found.pairs, found.found) == (20, 20)
    assert math.isnan(found.precision) and found.to_dict()["precision"] is None
    assert found.warnings == [
        f"the output was made with verify {verify}: removed items were not compared exactly, and may be less similar than the threshold"
    ]
    assert "unknown: removed items were not compared exactly" in run("audit", tmp_path / "out").stdout
    with pytest.raises(lw.UsageError, match="audit has no option 'verify', which belongs to dedup, pairs"):
        lw.audit(path, verify=verify)
