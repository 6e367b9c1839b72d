"""Plans by a sample of the data."""

from __future__ import annotations

import json

import numpy as np
import pytest

import likewise as lw
from likewise.errors import UsageError
from likewise.families import MinHash
from likewise.kernels.sets import overlaps_of_all
from likewise.planning import choose


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
    unlike = [(value, share) for value, share, _ in plan.model.density.points if share]
    assert unlike == [(pytest.approx(1 / 3, abs=1e-6), 1.0)]
    assert (plan.items, plan.model.density.sample, plan.model.shingles) == (50, 50, 40)


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
    met = []
    for seed in range(60):
        keys = MinHash(60, "classic", seed).band_keys_of(lw.sketch(data, by="words:1", slots=60, mode="classic", seed=seed), 20, 3)
        met.append((keys[:, left] == keys[:, right]).any(axis=0).mean())
    predicted = sum(share * plan.curve(value) for value, share, _ in plan.model.density.points)
    assert np.mean(met) == pytest.approx(predicted, rel=0.05)


def test_from_files(tmp_path):
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
    assert (plan.items, plan.model.density.sample) == (50, 10)


def test_too_few_texts():
    with pytest.raises(UsageError, match="two different texts or more"):
        lw.plan(["a b c", "a b c", ""], by="words:1")


def test_vectors():
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
def test_other_items(by, data, asked):
    plan = lw.plan(data, by=by, recall=0.9, **asked)
    assert plan.recall >= 0.9
    assert plan.model.density.sample == len(data) == plan.items


def test_bad_data_is_refused_by_row():
    data = np.ones((5, 3))
    data[2, 1] = np.nan
    with pytest.raises(UsageError, match="row 2"):
        lw.plan(data, by="cosine", threshold=0.9)
