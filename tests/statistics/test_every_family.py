"""All hash families, from the registry: slots agree as often as the curve says, and the bands of a plan find the pairs that it is for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import likewise as lw
from kind_items import MADE
from likewise.families import FAMILIES, from_plan

SEEDS, SLOTS = 64, 16
#: Each family with each of its measures. One without a measure stores what another one made.
EACH = pytest.mark.parametrize(("name", "measure"), [(family.name, measure) for family in FAMILIES.values() for measure in family.measures])


def items_of(measure: str) -> list[Any]:
    """Items as Python values, without empty ones and zero vectors."""
    made = MADE[measure]
    given = [bytes.fromhex(value) if made.field == "code" else value for value in made.values if value]
    return [value for value in given if made.field != "vector" or any(value)]


def values_of(items: list[Any], measure: str) -> tuple[np.ndarray, np.ndarray]:
    """All pairs, int64[m, 2], and their values, float64[m]."""
    pairs = np.array([(a, b) for a in range(len(items)) for b in range(a)])
    left, right = ([items[place] for place in side] for side in pairs.T)
    return pairs, np.asarray(lw.similarity(left, right, by=measure), float)


@EACH
def test_slots_agree_as_often_as_the_curve_says(name, measure):
    """Of 12 pairs at all similarities, over many seeds: within 5 standard errors, as the seeds show them."""
    items = items_of(measure)
    plan = lw.plan(items, by=measure, family=name, **MADE[measure].limit)
    made = from_plan(plan).with_slots(SLOTS)
    pairs, values = values_of(items, measure)
    chosen = np.argsort(values)[np.linspace(0, len(values) - 1, 12).astype(int)]
    some = [items[place] for place in pairs[chosen].ravel()]
    shares = []
    for seed in range(SEEDS):
        signatures = replace(made, seed=seed).signature(some)
        assert signatures.shape == (24, SLOTS) and signatures.dtype == made.dtype
        shares.append(made.agreement(signatures[::2], signatures[1::2]))
    wanted = np.array([plan.collision.at(value) for value in values[chosen]])
    error = np.maximum(np.std(shares, axis=0) / SEEDS**0.5, np.sqrt(wanted * (1 - wanted) / SEEDS / SLOTS))
    assert (abs(np.mean(shares, axis=0) - wanted) <= 5 * error + 1e-12).all()


@EACH
def test_bands_of_a_plan_find_the_pairs_within_the_limit(name, measure):
    items, limit = items_of(measure), MADE[measure].limit
    plan = lw.plan(items, by=measure, family=name, **limit)
    made = from_plan(plan)
    keys = made.band_keys_of(made.signature(items), plan.bands, plan.rows)
    pairs, values = values_of(items, measure)
    within = values <= limit["within"] if "within" in limit else values >= limit["threshold"]
    found = (keys[:, pairs[:, 0]] == keys[:, pairs[:, 1]]).any(axis=0)
    assert plan.recall >= 0.99 and within.sum() > 10
    assert found[within].mean() >= 0.9
    assert np.array_equal(keys, made.band_keys_of(replace(made).signature(items), plan.bands, plan.rows))
