"""A Spark cluster writes the same bytes as the local engine, whatever the partitions, tasks and batches."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pyarrow.parquet as pq
import pytest
from engine_jobs import JOBS, LARGE, halved, lines, words

import likewise as lw
from likewise.engines.spark import hot, lazily, ordered, removed, settling
from likewise.engines.spark.session import changed
from likewise.runs import removal, tables
from likewise.stages import walk
from likewise.stages.settle import most_similar
from spark_runs import agree, agree_on_pairs, on_spark

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
#: Jobs that Spark does not run.
JOINED = ("strings",)
#: Job, partitions, bytes of a task and rows of a batch: some that cover what differs, and with --all every job.
FEW = [
    ("texts", 2, 8_000, 4096),
    ("texts by group", 7, 6_000, 50),
    ("banners", 7, 50_000, 4096),
    ("weighted sets", 3, 8_000, 4096),
    ("lines by group, without common words", 3, 4_000, 4096),
]
#: Jobs with a second collection, and whether the first one is also compared with itself; with --all both.
SECOND = [("texts by group", True), ("banners", False)]
#: Lists of pairs and their options, and removals in rounds, which may have a second collection; in the gate the first two, and the first one.
PAIRS = [("texts", {"copies": "empty"}), ("weighted sets", {"against": True}), ("sets", {"star": True}), ("texts by group", {}), ("banners", {})]
ROUNDS = [("texts", False), ("banners", True)]
ALL = (
    FEW
    + [("sets", 40, 8_000, 300)]
    + [(job, 7, 100_000, 4096) for job in LARGE]
    + [(job, *how) for job in JOBS if job not in JOINED for how in ((2, 8_000, 4096), (7, 2_000, 100), (200, 1 << 20, 4096))]
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    every = metafunc.config.getoption("--all")
    if "batch" in metafunc.fixturenames:
        metafunc.parametrize(("job", "parts", "task", "batch"), ALL if every else FEW)
    if "also_inside" in metafunc.fixturenames:
        metafunc.parametrize(("job", "also_inside"), SECOND if every else SECOND[:1])
    if metafunc.function is test_pairs:
        metafunc.parametrize(("job", "more"), PAIRS if every else PAIRS[:2])
    if metafunc.function is test_candidates_listed_in_rounds:
        metafunc.parametrize(("job", "second"), ROUNDS if every else ROUNDS[:1])


def test_partitions_tasks_and_batches_do_not_change_a_byte(tmp_path, spark, monkeypatch, job, parts, task, batch):
    """The larger buckets of banners are cut into slices."""
    monkeypatch.setattr(hot, "LEAST", 0)
    monkeypatch.setattr(hot, "SHARE", 40)
    known, sliced = hot.known, []
    monkeypatch.setattr(hot, "known", lambda *told: sliced.append(known(*told)) or sliced[-1])
    make, more, _ = (JOBS | LARGE)[job]
    (tmp_path / "in").mkdir()
    choices = make(tmp_path / "in") | more
    choices |= {} if "level" in choices else {"pairs": True, "removed_records": True}
    local = lw.dedup(tmp_path / "in", out=tmp_path / "local", **choices)
    assert local.report.get("units", local.report["counts"])["removed_near"] > 30
    assert (local.report["budget"]["cut"] > 0) == (job == "banners")
    with changed(spark, {"spark.sql.execution.arrow.maxRecordsPerBatch": str(batch)}):
        agree(local, on_spark(spark, tmp_path / "in", tmp_path / "spark", parts, task, **choices))
    assert sliced or job != "banners"


def test_a_second_collection(tmp_path, spark, job, also_inside):
    make, more, _ = JOBS[job]
    (tmp_path / "in").mkdir()
    choices = make(tmp_path / "in") | more | {"also_inside": also_inside}
    first, second = halved(tmp_path / "in")
    local = lw.dedup(first, against=second, out=tmp_path / "local", **choices)
    assert local.report["counts"]["removed_near"] > 15 and local.report["against"]["read"] > 100
    agree(local, on_spark(spark, first, tmp_path / "spark", 3, against=second, **choices))


def test_pairs(tmp_path, spark, monkeypatch, job, more):
    make, choices, _ = JOBS[job]
    (tmp_path / "in").mkdir()
    choices = make(tmp_path / "in") | choices | more
    choices.pop("min_tokens", None)
    given = [tmp_path / "in"]
    if "against" in choices:
        given, choices["against"] = [[path] for path in halved(tmp_path / "in")]
    local = lw.pairs(given, **choices)
    assert len(local) > 100
    agree_on_pairs(monkeypatch, spark, local, given, **choices)


@pytest.mark.parametrize("output", ["annotate", "mask"])
def test_other_outputs_a_limit_and_places(tmp_path, spark, monkeypatch, output):
    """The driver reads blocks of 90 rows, and after the run has the ids and places of the first 90 kept documents.

    The second of three records of half a MiB each has a byte at 1 MiB, so it is marked.
    """
    for module in (tables, ordered, removal):
        monkeypatch.setattr(module, "BLOCK_ROWS", 90)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "0.jsonl").write_text(
        "".join(json.dumps({"id": name, "text": f"{name} " * 9, "pad": "-" * (1 << 19)}) + "\n" for name in "xyz")
    )
    choices = JOBS["texts"][0](tmp_path / "in") | {"output": output, "limit": 700, "copies": "empty", "keep": "shortest", "prefer": "b*"}
    local = lw.dedup(tmp_path / "in", out=tmp_path / "local", **choices)
    assert local.report["counts"]["read"] == 700 and local.report["counts"]["removed_near"] > 100
    assert pq.read_table(tmp_path / "local" / "places.parquet")["position"].to_pylist() == [1]
    found = on_spark(spark, tmp_path / "in", tmp_path / "spark", 2, **choices)
    agree(local, found)
    assert found.removed.to_arrow().equals(local.removed.to_arrow())
    assert len(found.kept) == len(local.kept) > 300 and list(found.kept[:90]) == list(local.kept[:90])
    with pytest.raises(lw.UsageError, match=rf"^kept: only the first 90 of {len(local.kept)} kept documents can be read .* add output='ids', which"):
        found.kept.to_arrow()


def test_clusters_of_rows_without_ids_are_named_by_place(tmp_path, spark):
    """Two files without ids: two representatives have the same position in their files, which only `heads_differ` sees."""
    rng = np.random.default_rng(7)
    texts = [" ".join(f"w{word}" for word in each) for each in words(rng, 200, 3000, 40)]
    for side, files in (("first", "ab"), ("second", "cd")):
        (tmp_path / side).mkdir()
        for file in files:
            lines(tmp_path / side / f"{file}.jsonl", [{"text": texts[number]} for number in rng.integers(0, 200, 150).tolist()])
    choices = {"by": "words:2", "threshold": 0.6, "output": "ids", "also_inside": True, "pairs": True}
    local = lw.dedup(tmp_path / "first", against=tmp_path / "second", out=tmp_path / "local", **choices)
    assert local.report["counts"]["removed_near"] > 15
    assert {name.rpartition(":")[0] for name in local.removed["cluster"]} == {"a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl"}
    found = on_spark(spark, tmp_path / "first", tmp_path / "spark", 3, against=tmp_path / "second", **choices)
    agree(local, found)
    assert found.kept.to_arrow().equals(local.kept.to_arrow()) and "id" in found.kept.columns


def test_nothing_similar_and_nothing_at_all(tmp_path, spark):
    (tmp_path / "in.jsonl").write_text('{"text": "one two three four five six"}\n{"text": "seven eight nine ten"}\n{"text": ""}\n')
    (tmp_path / "none.jsonl").write_text("")
    for name in ("in", "none"):
        local = lw.dedup(tmp_path / f"{name}.jsonl", out=tmp_path / f"local {name}", by="words:2")
        agree(local, on_spark(spark, tmp_path / f"{name}.jsonl", tmp_path / f"spark [{name}] {{a,b}}*", 2, by="words:2"))


def test_the_first_unreadable_row_is_the_error(tmp_path, spark):
    rows = [f'{{"id": {i}, "text": "{"a b c d e " * 20}"}}\n' for i in range(300)]
    rows[100] = rows[250] = '{"text": "not closed\n'
    (tmp_path / "in.jsonl").write_text("".join(rows))
    with pytest.raises(lw.DataError) as local:
        lw.dedup(tmp_path / "in.jsonl", out=tmp_path / "local")
    with pytest.raises(lw.DataError, match=r"in\.jsonl, line 101, column 21") as found:
        on_spark(spark, tmp_path / "in.jsonl", tmp_path / "spark", 2)
    assert found.value.marked == local.value.marked


def test_a_file_of_which_nothing_can_be_read_is_skipped(tmp_path, spark):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.jsonl").write_text("".join(f'{{"text": "{"one two three four five " * 9}{i % 3}"}}\n' for i in range(9)))
    (tmp_path / "in/b.parquet").write_bytes(b"PAR1" + bytes(40) + b"PAR1")
    choices = {"on_error": "skip", "by": "words:2", "bands": 4, "rows": 2, "removed_records": True}
    local = lw.dedup(tmp_path / "in", out=tmp_path / "local", **choices)
    assert local.report["counts"]["rejected"] == 1 and local.report["counts"]["kept"] == 3
    agree(local, on_spark(spark, tmp_path / "in", tmp_path / "spark", 2, **choices))


def test_candidates_listed_in_rounds(tmp_path, spark, monkeypatch, job, second):
    """Candidates are listed in rounds, similar pairs settled in blocks, few of them remembered, and buckets cut into slices: a huge collection."""
    monkeypatch.setattr(lazily, "MANY", 0)
    monkeypatch.setattr(lazily, "FOR_EACH", 0)
    monkeypatch.setattr(settling, "ALONE", 100)
    monkeypatch.setattr(hot, "LEAST", 0)
    monkeypatch.setattr(hot, "SHARE", 40)
    make, more, _ = JOBS[job]
    (tmp_path / "in").mkdir()
    choices = make(tmp_path / "in") | more | {"pairs": True}
    given = tmp_path / "in"
    if second:
        given, choices["against"] = halved(tmp_path / "in")
        choices["also_inside"] = True
    every = lw.dedup(given, out=tmp_path / "every", **choices)
    for module in (walk, removed):  # of so many similar pairs only the most similar one of each item is remembered
        monkeypatch.setattr(module, "MOST_MATCHES", 20)
    monkeypatch.setattr(walk, "most_similar", partial(most_similar, most=1))
    monkeypatch.setattr(removed, "REMEMBERED", 1)
    local = lw.dedup(given, out=tmp_path / "local", **choices)
    assert (local.report["matched"] < every.report["matched"]) == (job == "texts")
    found = on_spark(spark, given, tmp_path / "spark", 3, **choices)
    agree(local, found)
    notes = json.loads((found.out / "run.json").read_bytes())["notes"]
    assert any("comparing, round 2:" in note for note in notes) and any("settling, round 2:" in note for note in notes)
