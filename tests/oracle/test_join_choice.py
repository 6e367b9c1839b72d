"""Costs predicted by a sample of the sources decide before a run between an exact join and bands, for sets and sparse vectors."""

from __future__ import annotations

import gzip
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.io.inputs import resolve as sources_of
from likewise.job import Job
from likewise.joins.set_join import cost_at
from likewise.options import resolve
from likewise.runs import inspection
from likewise.runs import join_choice as choice
from likewise.stages import sketch
from likewise.stages.ranking import ranked


def baskets(n: int, products: int = 200, seed: int = 3) -> list[list[int]]:
    """15 different products each, all equally common: long lists for a join."""
    draw = np.random.default_rng(seed)
    return [draw.choice(products, 15, replace=False).tolist() for _ in range(n)]


def strangers(n: int, seed: int = 2) -> list[list[int]]:
    """30 of a million elements each: few are in two sets."""
    return np.random.default_rng(seed).integers(0, 10**6, (n, 30)).tolist()


def lines(sets: list[list[int]]) -> bytes:
    return "".join(json.dumps({"elements": one}) + "\n" for one in sets).encode()


def looked_at(inputs: Any, **choices: Any) -> tuple[Any, Job]:
    """The sources, and the job without the choice."""
    options = resolve(by="elements", **{"threshold": 0.8} | choices)
    given = inputs if isinstance(inputs, list) and inputs and isinstance(inputs[0], Path) else [inputs]
    return sources_of(given, want=inspection.want(options)), inspection.job_of(options)


def sampled(inputs: Any, **choices: Any) -> choice.Sample:
    return choice.sampled(*looked_at(inputs, **choices))


@pytest.mark.parametrize("exactly", [True, False])
@pytest.mark.parametrize("verb", [lw.dedup, lw.pairs])
def test_band_keys_are_made_while_reading_or_not_at_all(verb, exactly, monkeypatch):
    made: list[tuple[int, ...]] = []
    stage = sketch.sketcher

    def spied(job: Job) -> sketch.Stage:
        made_by = stage(job)

        def kept(records: Any) -> sketch.Columns:
            columns = made_by(records)
            made.append(columns["band_keys"].shape)
            return columns

        return kept

    monkeypatch.setattr("likewise.engines.local.sketcher", spied)
    monkeypatch.setattr(choice, "cost_at", lambda *_: 0.0 if exactly else 1e18)
    sets = [*baskets(300), [], *baskets(20)]
    found = verb(sets, by="elements", threshold=0.6)
    method = found.report["method"]
    assert method["exact"] is exactly and (method["plan"] is None) is exactly
    assert made == [(0 if exactly else method["plan"]["bands"], 321)]
    table = (lambda result: result.removed) if verb is lw.dedup else (lambda result: result)
    asked = verb(sets, by="elements", threshold=0.6, exact=True)
    assert table(found).to_arrow() == table(asked).to_arrow() and len(table(found)) >= 20


def test_only_where_neither_a_join_nor_bands_were_asked_for(monkeypatch):
    monkeypatch.setattr(choice, "cost_at", lambda *_: 0.0)
    sets = strangers(50)
    for asked in ({"exact": False}, {"bands": 20, "rows": 3}, {"verify": "none"}):
        assert lw.dedup(sets, by="elements", threshold=0.8, **asked).report["method"]["exact"] is False
    assert lw.dedup(["a b c"] * 3, by="words:1").report["method"]["exact"] is False  # texts are not weighed
    assert lw.dedup(sets, by="elements").report["method"]["exact"] is True


def test_few_sets_are_all_in_the_sample():
    found = sampled([*strangers(100), [], [1, 2], [2, 1]])
    assert (len(found.offsets) - 1, found.times, found.items) == (101, 1.0, 101)
    assert found.words[found.offsets[100] :].size == 2
    assert sampled([[1], [1, 2, 3]], min_tokens=2).items == 1
    assert sampled([[]]).items == sampled([]).items == 0


def test_how_many_sets_there_are(tmp_path, monkeypatch):
    """A table knows its rows; a file has as many more as it has more bytes, and a compressed one four times that."""
    monkeypatch.setattr(choice, "ROWS", 1000)
    sets = strangers(8000)
    assert sampled(sets).times == 8
    assert sampled(sets, limit=3000).times == 3
    (tmp_path / "a.jsonl").write_bytes(lines(sets))
    assert sampled([tmp_path / "a.jsonl"]).times == pytest.approx(8, rel=0.02)
    monkeypatch.setattr(choice, "BYTES", 1 << 14)
    assert sampled([tmp_path / "a.jsonl"]).items == pytest.approx(8000, rel=0.05)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines(sets), 6, mtime=0))
    monkeypatch.setattr("likewise.io.formats.lines.CHUNK_BYTES", 1 << 16)
    squeezed = (tmp_path / "a.jsonl").stat().st_size / (tmp_path / "a.jsonl.gz").stat().st_size
    assert sampled([tmp_path / "a.jsonl.gz"]).items == pytest.approx(8000 * 4 / squeezed, rel=0.05)


def test_sources_are_drawn_evenly_and_a_broken_one_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(choice, "ROWS", 64)
    monkeypatch.setattr(choice, "SOURCES", 4)
    for number in range(8):
        (tmp_path / f"{number}.jsonl").write_bytes(lines([[10**6 * number + at, at] for at in range(50)]))
    files = sorted(tmp_path.glob("*.jsonl"))
    found = sampled(files)
    assert len(found.offsets) - 1 == 64 and found.items == pytest.approx(400, rel=0.05)
    (tmp_path / "4.jsonl").write_bytes(b'{"elements": [1, 2]')
    assert sampled(files).items == pytest.approx(350, rel=0.2)
    assert len(lw.dedup(files, by="elements", on_error="skip").kept) == 350


def test_candidates_of_all_are_predicted_by_a_sample(monkeypatch):
    """40 groups of 100 sets each: 40 * 100 * 99 / 2 pairs in each band; a sample of a quarter of the sets predicts them within a tenth."""
    monkeypatch.setattr(choice, "ROWS", 1000)
    monkeypatch.setattr(choice, "BYTES", 1 << 30)
    draw = np.random.default_rng(4)
    places = draw.permutation(4000)
    sets = [[*range(1000 * (place % 40), 1000 * (place % 40) + 200), 10**6 + place] for place in places.tolist()]
    sources, job = looked_at(sets, threshold=0.9)
    assert job.plan is not None
    expected = job.plan.bands * 40 * 100 * 99 / 2
    assert choice.expected_candidates(choice.sampled(sources, job), job, walk=False) == pytest.approx(expected, rel=0.1)
    assert choice.expected_candidates(choice.sampled(sources, job), job, walk=True) == pytest.approx(expected, rel=0.1)  # below the budget


@pytest.mark.parametrize(("made", "threshold", "within"), [(baskets, "0.8", 0.25), (baskets, "0.5", 0.25), (strangers, "0.5", 0.6)])
def test_costs_of_all_are_predicted_by_a_sample(made, threshold, within, monkeypatch):
    """Lists grow with the number of sets, and visits with its square. Elements that no two sets of a sample share cost less there."""
    monkeypatch.setattr(choice, "ROWS", 4000)
    monkeypatch.setattr(choice, "BYTES", 1 << 30)
    some = sampled(made(32_000))
    monkeypatch.setattr(choice, "ROWS", 32_000)
    every = sampled(made(32_000))
    assert (some.times, every.times) == (8, 1)
    known = cost_at(ranked(every.words, every.offsets), Fraction(threshold), 1.0)
    assert cost_at(ranked(some.words, some.offsets), Fraction(threshold), 8.0) == pytest.approx(known, rel=within)


def test_what_is_decided():
    """Strangers share nothing that a join would visit, and of many equally common products it visits too much."""
    decided = {
        (made.__name__, n): inspection.inspect_inputs(*(looked_at(made(n), threshold=0.5)[0], resolve(by="elements", threshold=0.5))).exact
        for made, n in ((strangers, 5000), (baskets, 5000), (baskets, 100_000))
    }
    assert decided == {("strangers", 5000): True, ("baskets", 5000): True, ("baskets", 100_000): False}
