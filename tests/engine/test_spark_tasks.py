"""Tasks of Spark that read and write sources, without Spark."""

from __future__ import annotations

import errno
import json
import logging
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from likewise.engines.spark import comparing, sketching
from likewise.engines.spark.rows import chunks_of
from likewise.engines.spark.session import explained
from likewise.engines.spark.sketching import CHUNK, Group, of_group
from likewise.engines.spark.steps import Steps
from likewise.engines.spark.tasks import MOST_ROWS, Task, quiet, raised
from likewise.engines.spark.writing import store, written
from likewise.errors import LikewiseError
from likewise.io import storage
from likewise.io.inputs import Sources, resolve
from likewise.records import Chosen
from likewise.runs import frames
from likewise.runs.inspection import inspect_inputs
from likewise.runs.session import resolved
from likewise.stages.verify import Compared


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    """Two files of four rows."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text("".join(f'{{"text": "{name} row {row}"}}\n' for row in range(4)))
    return resolve([tmp_path])


def test_rows_behind_damage_do_not_count_for_a_limit(sources: Sources, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of three chunks of the first file is damaged: it stands for one row, and the other nine are those of the second file."""
    job = inspect_inputs(sources, resolved([], {"on_error": "skip", "bands": 2, "rows": 2}))
    chunks, parsed = sketching.chunks, sketching.parsed
    monkeypatch.setattr(sketching, "chunks", lambda *of, **more: [*chunks(*of, **more)] * 3)
    monkeypatch.setattr(sketching, "parsed", lambda source, *of, **more: "damaged" if source is sources[0] else parsed(source, *of, **more))
    group = Group([(number, part) for number in range(2) for part in sources[number].plan(1 << 20)], 10)
    entries = [entry for batch in of_group(0, job, sources, group) for entry in batch.to_pylist()]
    found = [json.loads(entry["about"]) for entry in entries if entry["what"] == CHUNK]
    assert [(about["source"], about["rows"]) for about in found] == [(0, 1), (1, 4), (1, 4), (1, 1)]


def test_errors_of_a_client_of_spark_connect_alone_are_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is PySpark without py4j."""
    from pyspark.errors import PySparkException

    monkeypatch.setitem(sys.modules, "py4j.protocol", None)
    with pytest.raises(LikewiseError, match=r"^Spark stopped the job: the reason$"), explained():
        raise PySparkException("the reason")


def test_an_interrupt_prints_no_traceback_of_py4j(caplog: pytest.LogCaptureFixture) -> None:
    """py4j logs it by the root logger before it raises it. What others log there still appears."""
    logs = compile("import logging; logging.error('KeyboardInterrupt while sending command.')", "/site-packages/py4j/java_gateway.py", "exec")
    with quiet():
        exec(logs, {})
        logging.error("of others")
    assert caplog.messages == ["of others"]
    exec(logs, {})
    assert len(caplog.messages) == 2


def test_large_batches_of_a_task_are_cut() -> None:
    whole = pa.record_batch({"a": np.arange(2 * MOST_ROWS + 1)})
    found = [*Task(lambda batches: batches, {})(iter([whole, whole.slice(0, 0)]))]
    assert [len(batch) for batch in found] == [MOST_ROWS, MOST_ROWS, 1, 0]
    assert pa.Table.from_batches(found)["a"].to_numpy().tolist() == [*range(2 * MOST_ROWS + 1)]


def test_rows_with_a_value_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for number, values in enumerate(([1, None, 3], [None], [])):
        pq.write_table(pa.table({"later": pa.array(values, pa.int64())}), tmp_path / f"a/{number}.parquet")
    assert Steps(None, tmp_path).filled("a", "later") == 2  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("dims", "said"), [((0, 0, 9, 9), ""), ((0, 9, 0, 10), "some have dimension 9, others dimension 10; run it on one machine, ")]
)
def test_vectors_of_several_tasks_state_one_dimension(tmp_path: Path, dims: tuple[int, ...], said: str) -> None:
    """Each task reads one file, and no dimension is known before."""
    for name, dim in enumerate(dims):
        row = {"vector": {"indices": [1, 7], "values": [1.0, 2.0]} | ({"dim": dim} if dim else {})}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row) + "\n")
    sources = resolve([tmp_path])
    job = inspect_inputs(sources, resolved([], {"by": "cosine", "threshold": 0.9, "bands": 2, "rows": 2}))
    job = replace(job, want=job.want._replace(width=0))
    (tmp_path / "steps/rows").mkdir(parents=True)
    for number, source in enumerate(sources):
        batches = [*of_group(number, job, sources, Group([(number, source.plan(1 << 20)[0])]))]
        pq.write_table(pa.Table.from_batches(batches), tmp_path / f"steps/rows/{number}.parquet")
    steps, run = Steps(None, tmp_path / "steps"), SimpleNamespace(job=job, listed=False)  # type: ignore[arg-type]
    with pytest.raises(lw.UsageError, match=said) if said else nullcontext():
        assert len(chunks_of(steps, "rows", sources, run)[0]) == 4  # type: ignore[arg-type]
    assert (tmp_path / "steps/rows").exists() == (not said)


def test_ratios_of_pairs_of_billions_of_items() -> None:
    """Here the square of an item's number does not fit in int64."""
    pairs = np.array([5 << 32, 5 << 32, 9 << 32, 7]), np.array([3 << 32, 4, 5 << 32, 3])
    similar = np.array([9 << 32, 5 << 32, 6 << 32]), np.array([5 << 32, 3 << 32, 4])
    found = comparing.ratios_of(pairs, similar, Compared(np.array([7, 8, 9]), np.array([10, 11, 12])))
    assert found.overlap.tolist() == [8, -1, 7, -1] and found.out_of.tolist() == [11, 0, 10, 0]
    none = np.zeros(0, np.int64)
    assert comparing.ratios_of(pairs, (none, none), Compared(none, none)).overlap.tolist() == [-1] * 4


def test_a_record_that_needs_too_much_memory_is_refused_as_on_one_machine(tmp_path: Path) -> None:
    """Words of a letter take 44 bytes each, and this file has six million: more than the 256 MiB allowed."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.jsonl").write_text('{"text": "short"}\n{"text": "' + "a " * 6_000_000 + '"}\n{"text": 3}\n')
    choices = {"memory": "256M", "bands": 2, "rows": 2, "on_error": "skip"}
    with pytest.raises(lw.UsageError, match=r"^a\.jsonl, item 2: this record has 12,000,000 bytes and takes about .* MiB of memory, ") as local:
        lw.dedup(tmp_path / "in", **choices)
    sources = resolve([tmp_path / "in"])
    job = inspect_inputs(sources, resolved([], choices))
    table = pa.Table.from_batches([*of_group(0, job, sources, Group([(0, sources[0].plan(1 << 30)[0])]))])
    (tmp_path / "steps/rows").mkdir(parents=True)
    pq.write_table(table, tmp_path / "steps/rows/0.parquet")
    steps, run = Steps(None, tmp_path / "steps"), SimpleNamespace(job=job, listed=False)  # type: ignore[arg-type]
    with pytest.raises(lw.UsageError) as found:
        chunks_of(steps, "rows", sources, run)  # type: ignore[arg-type]
    assert found.value.marked == local.value.marked and found.value.__cause__.errno == local.value.__cause__.errno == errno.ENOMEM
    assert not (tmp_path / "steps/rows").exists()


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("Traceback (most recent call last):\n  File ...\nMemoryError\n\n\tat org.apache.spark.api", "MemoryError"),
        (
            "Traceback (most):\n  x\nnumpy._core._exceptions._ArrayMemoryError: Unable to allocate 9 GiB\n",
            "numpy._core._exceptions._ArrayMemoryError: Un",
        ),
        ("Job aborted: org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)", "Job aborted: "),
        ("An error occurred while calling o1.count.\n: x.Error: Python worker exited unexpectedly (crashed)\n\tat x", "x.Error: Python worker"),
    ],
)
def test_tasks_without_enough_memory_are_explained(said: str, message: str) -> None:
    from pyspark.errors import PySparkException

    with pytest.raises(LikewiseError) as raised, explained():
        raise PySparkException(said)
    assert str(raised.value).startswith(f"Spark stopped the job: {message}")
    assert "; a task probably had too little memory: give executors more beside Java (spark.executor.memoryOverhead)" in str(raised.value)


def test_results_of_data_frames_without_a_folder_appear_when_they_are_complete(tmp_path: Path) -> None:
    """So a run that is killed leaves its work folder only."""
    with frames.folder(resolved([], {"work": tmp_path / "work"})) as result:
        assert result.parent == tmp_path and result.name.startswith("likewise-") and [*tmp_path.iterdir()] == []
    with pytest.raises(ValueError, match="failed"), frames.folder(resolved([], {"work": tmp_path / "work"})) as result:
        result.mkdir()
        raise ValueError("failed")
    assert not result.exists()


def attempt(sources: Sources, target: Path, steps: Path, keep: list[bool]) -> list[tuple[int, str | None]]:
    """The answer of a task that writes rows of the first source."""
    given = steps / "rows.parquet"
    length = np.array([len(line) for line in sources[0].path.read_bytes().splitlines(keepends=True)])
    store(given, Chosen(np.array(keep), np.cumsum(length) - length, length))
    batches = iter([pa.record_batch({"id": [0]}), pa.record_batch({"id": pa.array([], pa.int64())})])
    said = [row for batch in written(batches, sources[0], target, given, None, None) for row in batch.to_pylist()]
    assert [path.name for path in steps.iterdir()] == ["rows.parquet"]
    return [(row["rows"], row["error"]) for row in said]


def test_a_task_writes_the_rows_that_a_file_names(sources: Sources, tmp_path: Path) -> None:
    steps, out = tmp_path / "steps", tmp_path / "out"
    steps.mkdir()
    out.mkdir()
    assert attempt(sources, out / "a.jsonl", steps, [True, False, False, True]) == [(2, None)]
    assert (out / "a.jsonl").read_text() == '{"text": "a row 0"}\n{"text": "a row 3"}\n'


def test_an_attempt_that_fails_leaves_nothing_in_the_output(sources: Sources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver raises an error of the input. A task that is killed leaves files only beside those of steps."""
    steps, out = tmp_path / "steps", tmp_path / "out"
    steps.mkdir()
    out.mkdir()
    begun: list[Path] = []

    def fails(source: Path, place: Path, *_: object, **__: object) -> int:
        place.write_text("half")
        begun.append(place)
        raise lw.DataError("a.jsonl: damaged")

    monkeypatch.setattr(sources[0].format, "write", fails)
    [(number, error)] = attempt(sources, out / "a.jsonl", steps, [True] * 4)
    assert number == 0 and [*out.iterdir()] == [] and begun[0].parent == steps
    assert error is not None
    again = raised(**json.loads(error))
    assert type(again) is lw.DataError and str(again) == "a.jsonl: damaged"


def test_an_attempt_that_fails_leaves_no_half_file_among_text_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first attempt writes one of two files; the second one replaces what a third one, which came first, has written."""
    (tmp_path / "in/more").mkdir(parents=True)
    for name in ("a.txt", "more/b.txt", "more/c.txt"):
        (tmp_path / "in" / name).write_text(f"text of {name}")
    steps, out = tmp_path / "steps", tmp_path / "out"
    steps.mkdir()
    out.mkdir()
    sources = resolve([tmp_path / "in"])
    given = steps / "rows.parquet"
    store(given, Chosen(np.array([True, False, True]), np.zeros(3, np.int64), np.zeros(3, np.int64)))

    def tried() -> list[str]:
        [said] = [row for batch in written(iter([pa.record_batch({"id": [0]})]), sources[0], out, given, None, None) for row in batch.to_pylist()]
        assert said["error"] is None and said["rows"] == 2
        return sorted(str(path.relative_to(out)) for path in out.rglob("*.txt"))

    copy = storage.copy

    def fails(path: Path, place: Path) -> None:
        if path.name == "c.txt":
            place.write_text("half")
            raise OSError(errno.ENOSPC, "no room")
        copy(path, place)

    monkeypatch.setattr(storage, "copy", fails)
    with pytest.raises(OSError, match="No space left"):
        tried()
    assert [*out.iterdir()] == [] and [path.name for path in steps.iterdir()] == ["rows.parquet"]
    monkeypatch.setattr(storage, "copy", copy)
    assert tried() == tried() == ["a.txt", "more/c.txt"]
    assert (out / "more/c.txt").read_text() == "text of more/c.txt" and [path.name for path in steps.iterdir()] == ["rows.parquet"]
