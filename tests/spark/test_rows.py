"""The rows of a step, and the distinct ones among them, are those that one machine has as arrays."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_jobs import JOBS, halved

from likewise.engines.local import Local
from likewise.engines.spark import rows as reading
from likewise.engines.spark.distinct import Distinct
from likewise.engines.spark.documents import Rows
from likewise.engines.spark.engine import Spark
from likewise.io.collection import BOTH, Collection
from likewise.io.facts import limits_of
from likewise.runs.distinct import distinct
from likewise.runs.items import Run
from likewise.runs.session import resolved, started

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
TEXTS = [f"{'one two three four five six seven ' * 5}{number % 7}" for number in range(200)]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """All kinds of ids and all orders, and one partition, in which nothing is cut, with --all only."""
    whole = metafunc.config.getoption("--all")
    if "name" in metafunc.fixturenames:
        metafunc.parametrize("name", IDS if whole else ["texts", "several types", "the same text"])
    if "parts" in metafunc.fixturenames:
        metafunc.parametrize("parts", [1, 5] if whole else [5])
        metafunc.parametrize(("job", "more", "second"), ORDERS if whole else ORDERS[:3])


@contextmanager
def both(session: Any, given: Any, folder: Path, parts: int = 3, **choices: Any) -> Iterator[tuple[Rows, Collection, Run]]:
    """The rows of a step and those of one machine."""
    against = choices.pop("against", None)
    with started(given, resolved([given, against], choices), "dedup", folder, None, against) as (sources, run):
        found = Spark(run, session, partitions=parts, task_bytes=3_000).rows(sources)
        yield found, Local(run).rows(sources), run


def written(path: Path, ids: list[Any], *, damage: int | None = None) -> Path:
    lines = [json.dumps({"text": text} | ({} if id_ is None else {"id": id_})) for id_, text in zip(ids, TEXTS, strict=False)]
    if damage is not None:
        lines[damage] = '{"text": "not closed'
    path.write_text("\n".join(lines) + "\n")
    return path


#: Ids of 200 rows; how many occur several times, and the first of them; the note on the column.
IDS: dict[str, tuple[list[Any], tuple[int, list[str]], str | None]] = {
    "ascending": ([*range(200)], (0, []), None),
    "numbers, one missing": ([None, *(150 - abs(number - 150) for number in range(1, 200))], (49, ["101", "102", "103"]), None),
    "texts": ([f"{number % 190:03}" for number in range(200)], (10, ["000", "001", "002"]), None),
    "halves": ([number / 2 + 0.25 for number in range(199)] + [0.25], (1, ["0.25"]), None),
    "whole numbers with fractions": ([*map(float, range(199)), 5], (1, ["5"]), None),
    "flags": ([True, False] * 100, (2, ["False", "True"]), None),
    "several types": (["a", *range(198), 7.5], (0, []), "text, because the ids have several types"),
    "the same text": (["7", *range(198), "7"], (1, ['"7"']), "JSON text, because ids of different types would have the same text"),
    "none": ([None] * 200, (0, []), None),
}


def test_what_is_known_about_rows(tmp_path: Path, spark: Any, name: str) -> None:
    ids, repeated, note = IDS[name]
    given, other = written(tmp_path / "a.jsonl", ids), written(tmp_path / "b.jsonl", [*range(5000, 5100)], damage=60)
    with both(spark, given, tmp_path / "out", against=other, on_error="skip", by="words:2") as (found, local, run):
        assert len(found) == len(local) == 300
        assert found.repeated_ids == local.repeated_ids == repeated
        assert found.id_note(0) == local.id_note(0) == note
        some = np.array([250, 0, 199, 7, 120, 160 + 100])
        for side, rows in ((0, some[1:5]), (1, some[[0, 5]]), (BOTH, some)):
            assert found.named(rows.tolist(), side) == local.named(rows.tolist(), side)
            assert found.id_type(side) == local.id_type(side) and found.id_note(side) == local.id_note(side)
        assert found.starts(some).tolist() == local.starts(some).tolist()
        for mine, others in zip(found.facts(limits_of(run.job)), local.facts(limits_of(run.job)), strict=True):
            assert mine.first == others.first
            for here, there in ((mine.counts, others.counts), (mine.sums, others.sums)):
                assert {name: values.tolist() for name, values in here.items()} == {name: values.tolist() for name, values in there.items()}
        assert found.unreadable() == local.unreadable() and len(found.unreadable()[0]) == 1
        assert [bytes(found.rejections(side)) for side in range(2)] == [bytes(local.rejections(side)) for side in range(2)]
        assert found.digests() == local.digests()


#: Job, more options, and whether there is a second collection.
ORDERS: list[tuple[str, dict[str, Any], bool]] = [
    ("texts", {"keep": "max:id", "ignore_common": 0.05}, False),
    ("texts", {"keep": "last", "prefer": ("b*",), "copies": "empty"}, True),
    ("texts by group", {"keep": "min:id", "limit": 300}, True),
    ("texts", {}, False),
    ("texts", {"keep": "longest", "limit": 900}, False),
    ("texts", {"keep": "shortest", "min_tokens": 5}, True),
]


def test_the_distinct_rows_in_priority_order(tmp_path: Path, spark: Any, job: str, more: dict[str, Any], second: bool, parts: int) -> None:
    make, choices, _ = JOBS[job]
    (tmp_path / "in").mkdir()
    choices = make(tmp_path / "in") | choices | more
    given: Any = tmp_path / "in"
    if second:
        given, choices["against"] = halved(given)
    against = choices.pop("against", None)
    with started(given, resolved([given, against], choices), "dedup", tmp_path / "out", None, against) as (sources, run):
        here, there = Local(run), Spark(run, spark, partitions=parts, task_bytes=8_000)
        if "ignore_common" in more:
            from likewise.runs.pipeline import ignore

            ignore(run, *here.common(sources, run.job.options.ignore_common))
        rows, local = there.rows(sources), here.rows(sources)
        wanted, found = distinct(local, run, removing=True), there.distinct(rows, removing=True)
        assert isinstance(found, Distinct) and found.scope == wanted.scope and found.number == wanted.number > 100
        numbered = found.compared.rows
        assert (numbered.sections.number > 2) == (second or "limit" not in more)
        items = [numbered.items(number) for number in range(numbered.sections.number)]
        of_items, item = (np.concatenate([each[name] for each in items]) for name in ("rank", "item"))
        assert rows.numbering.rows(of_items[np.argsort(item)]).tolist() == wanted.member.tolist()
        copies = [numbered.copies(number) for number in range(numbered.sections.number)]
        rank, ranks, item = (np.concatenate([each[name] for each in copies]) for name in ("rank", "first", "item"))
        row, first, number = rows.numbering.rows(rank), rows.numbering.rows(ranks), np.full(len(local), -1)
        number[wanted.member] = np.arange(wanted.number)
        assert first.tolist() == wanted.first[row].tolist() and item.tolist() == number[first].tolist()
        others = np.setdiff1d(np.arange(len(local)), row)
        assert wanted.first[others].tolist() == others.tolist() and np.count_nonzero(first != row) > 10


def test_each_task_gets_the_sources_of_some_groups_alone(tmp_path: Path, spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With three groups told at once, no function that Spark sends names all eight files, and the rows are in order."""
    told: list[set[str]] = []
    mapped = reading.mapped
    monkeypatch.setattr(reading, "TOLD", 3)
    monkeypatch.setattr(
        reading,
        "mapped",
        lambda frame, task, kind: told.append({each.name for each in task.keywords["sources"].values()}) or mapped(frame, task, kind),
    )
    (tmp_path / "in").mkdir()
    for number in range(8):
        written(tmp_path / f"in/{number}.jsonl", [f"{number}-{row}" for row in range(20)])
    with both(spark, tmp_path / "in", tmp_path / "out", by="words:2") as (found, local, _):
        assert len(told) == 3 and set.union(*told) == {f"{number}.jsonl" for number in range(8)} and max(map(len, told)) < 5
        every = np.arange(160)
        assert found.look_up(every, "id").to_pylist() == [f'"{number}-{row}"'.encode() for number in range(8) for row in range(20)]
        assert found.starts(every).tolist() == local.starts(every).tolist()
