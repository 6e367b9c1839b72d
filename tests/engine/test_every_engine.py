"""All engines of one machine, from the registry, write the same bytes as the local one."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from engine_jobs import JOBS, same_output

import likewise as lw
from likewise.choices import Engine
from likewise.engines.chosen import ENGINES

#: Engines with tests of their own, because they need a cluster.
ELSEWHERE = {"spark": "tests/spark/test_parity.py"}
#: The local one takes part: with another number of threads.
EACH = pytest.mark.parametrize("name", [name for name in ENGINES if name not in ELSEWHERE])


def test_every_engine_has_tests():
    assert {*ENGINES} == {*get_args(Engine)}
    assert all((Path(__file__).parents[2] / file).exists() for file in ELSEWHERE.values())


@EACH
@pytest.mark.parametrize("job", ["texts by group", "texts without common shingles", "banners", "sets, none missed", "lines"])
def test_an_engine_writes_the_same_bytes(tmp_path, name, job):
    make, more, _ = JOBS[job]
    (tmp_path / "in").mkdir()
    choices = make(tmp_path / "in") | more
    wanted = lw.dedup(tmp_path / "in", out=tmp_path / "wanted", threads=2, **choices)
    found = lw.dedup(tmp_path / "in", out=tmp_path / "found", threads=1, engine=name, **choices)
    assert found.report == wanted.report
    same_output(tmp_path / "found", tmp_path / "wanted")


@EACH
def test_an_engine_lists_the_same_pairs(tmp_path, name):
    make, more, _ = JOBS["texts"]
    choices = make(tmp_path) | more
    wanted = lw.pairs(tmp_path, threads=2, **choices).to_arrow()
    assert len(wanted) > 30 and lw.pairs(tmp_path, threads=1, engine=name, **choices).to_arrow().equals(wanted)
