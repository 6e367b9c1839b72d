"""Exact comparison of given pairs of a run's items, for every kind: the values of `lw.similarity` that are within the limit."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import kind_items
import likewise as lw
from likewise.engines.local import Local
from likewise.options import resolve
from likewise.runs import pipeline, verify
from likewise.runs.session import started


def texts() -> list[str]:
    draw = np.random.default_rng(1)
    made = [[*draw.integers(0, 300, 20)] for _ in range(30)]
    for place in range(15):
        row = [*made[place]]
        row[place % 20] = 999
        made.append(row)
    return [" ".join(f"w{word}" for word in row) for row in made]


def sparse() -> list[dict[str, list]]:
    draw = np.random.default_rng(2)
    chosen = [np.sort(draw.choice(60, 10, replace=False)) for _ in range(30)]
    rows = [(each, 1 + draw.random(10)) for each in chosen] + [(each, 1 + draw.random(10)) for each in chosen[:15]]
    return [{"indices": indices.tolist(), "values": values.tolist()} for indices, values in rows]


def features() -> list[list[list[float]]]:
    draw = np.random.default_rng(3)
    made = [draw.normal(size=(int(draw.integers(1, 8)), 7)) for _ in range(20)]
    made += [each + 0.02 * draw.normal(size=each.shape) for each in made[:10]]
    return [each.astype(np.float32).tolist() for each in made]


JOBS: dict[str, tuple[str, list[Any], dict[str, Any]]] = {
    **{name: (items.field, items.values, {"by": items.by, **items.limit}) for name, items in kind_items.MADE.items()},
    "words:2": ("text", texts(), {"by": "words:2", "threshold": "3/4"}),
    "words:1/bag": ("text", texts(), {"by": "words:1/bag", "threshold": 0.7}),
    "words:1/containment": ("text", texts(), {"by": "words:1/containment", "threshold": "0.95"}),
    "elements/containment": ("elements", kind_items.MADE["elements"].values, {"by": "elements/containment", "threshold": 0.5}),
    **{f"sparse {name}": ("vector", sparse(), {"by": name, **limit}) for name, limit in (("cosine", {"threshold": 0.9}), ("l2", {"within": 1.5}))},
    **{name: ("features", features(), {"by": name, "threshold": 0.4}) for name in ("features", "features/one-to-many")},
    **{name: ("features", features(), {"by": name, "threshold": 0.8}) for name in ("features/chamfer", "features/assignment")},
}


@pytest.mark.parametrize("job", JOBS)
def test_pairs_have_their_exact_values(job, monkeypatch):
    field, given, choices = JOBS[job]
    monkeypatch.setattr(verify, "PAIRS_AT_ONCE", 100)
    with started([{field: value} for value in given], resolve(one_way=True, **choices), "pairs", None, None) as (sources, run):
        items = Local(run).distinct(pipeline.collect(sources, run, Local(run)))
        left, right = (each.ravel() for each in np.indices((len(items.member), len(items.member))))
        some = np.random.default_rng(4).permutation(len(left))[:1500]
        left, right = left[some], right[some]
        found = verify.verify(items, run, left, right)
        rows = [bytes.fromhex(given[row]) if job == "hamming" else given[row] for row in items.member.tolist()]
    values = np.asarray(lw.similarity([rows[a] for a in left], [rows[b] for b in right], by=choices["by"]), float)
    limit = float(Fraction(choices.get("within", choices.get("threshold"))))
    similar = values <= limit if "within" in choices else values >= limit
    assert 20 < similar.sum() < len(similar) - 20
    assert (np.isnan(found) == ~similar).all()
    assert found[similar] == pytest.approx(values[similar], rel=1e-12, abs=1e-12)


def test_a_run_of_no_pairs():
    with started(["a b c", "d e f"], resolve(by="words:1"), "pairs", None, None) as (sources, run):
        items = Local(run).distinct(pipeline.collect(sources, run, Local(run)))
        assert verify.verify(items, run, np.zeros(0, np.int64), np.zeros(0, np.int64)).tolist() == []
