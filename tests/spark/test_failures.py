"""Runs on a real cluster that lose a worker or their driver, run by Spark Connect, or read an object store: the bytes are those of one machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from engine_jobs import banners, same_output, texts

import likewise as lw
from command_line import SOURCE
from likewise.engines.spark.engine import Spark
from likewise.engines.spark.steps import MANIFEST, Steps
from likewise.runs.removal import remove
from likewise.runs.session import resolved, started
from object_store import Objects
from spark_cluster import Cluster

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
#: Seconds in which a busy machine has done it.
PATIENCE = 300
#: A driver that is killed as soon as it has finished so many steps, or ends with the run.
DRIVER = """
import os, signal, sys
import likewise as lw
from likewise.engines.spark.steps import Steps
finish, left = Steps._finish, int(sys.argv[1])
def finished(self, *more):
    global left
    finish(self, *more)
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
Steps._finish = finished
lw.dedup(sys.argv[3], out=sys.argv[4], work=sys.argv[5], resume=True, engine="spark", master=sys.argv[2], **eval(sys.argv[6]))
"""


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


def finished(work: Path) -> dict[str, int]:
    """The finished steps in a work folder, and when each was finished."""
    return {path.parent.name: path.stat().st_mtime_ns for path in (work / "spark").glob(f"*/{MANIFEST}")}


def test_a_worker_killed_in_the_middle_of_a_shuffle(
    spark: Any, standalone: Cluster, mortal: str, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The keys that it held are computed again by the other worker. The step of the shuffle is not finished before its loss is noticed."""
    choices = texts(inputs) | {"pairs": True}
    local = lw.dedup(inputs, out=tmp_path / "local", **choices)
    assert local.report["counts"]["removed_near"] > 30
    steps, lost, finish = tmp_path / "steps", threading.Event(), Steps._finish

    def finish_late(self: Steps, name: str, facts: dict[str, Any]) -> None:
        assert name != "collided" or lost.wait(PATIENCE)
        finish(self, name, facts)

    monkeypatch.setattr(Steps, "_finish", finish_late)

    def run() -> lw.Removal:
        with started(inputs, resolved([inputs], choices), "dedup", tmp_path / "out", None) as (sources, found):
            return remove(sources, found, Spark(found, spark, steps, partitions=12, task_bytes=8_000), tmp_path / "out")

    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(run)
        end = time.monotonic() + PATIENCE
        while not (steps / "rows" / MANIFEST).exists() or not [*steps.glob("collided/_temporary/0/*/*")]:  # a task has written what it was sent
            assert time.monotonic() < end and not result.done(), result
            time.sleep(0.01)
        assert standalone.workers() == 2
        standalone.kill(mortal)
        standalone.until(lambda: standalone.workers() == 1, "the loss of a worker")
        lost.set()
        assert result.result().report == local.report
    assert "Telling app of lost executor" in (standalone.folder / "master.log").read_text()
    same_output(tmp_path / "out", tmp_path / "local")


def test_a_driver_killed_after_steps_is_resumed(connect: str, inputs: Path, tmp_path: Path, scaled: Callable[[Any, Any], Any]) -> None:
    """Each driver finishes some steps and is killed, until one ends with the run. No finished step is computed again.

    The first one is killed with its Java, and others use the server of Spark Connect, unless all do as the first one.
    """
    choices, work = banners(inputs) | {"pairs": True}, tmp_path / "work"
    local = lw.dedup(inputs, out=tmp_path / "local", **choices)
    assert local.report["counts"]["removed_near"] > 30 and local.report["budget"]["cut"] > 0
    each, before, kills, master = scaled(1, 6), {}, 0, "local[2]"
    while True:
        command = [sys.executable, "-P", "-W", "ignore", "-c", DRIVER, str(each), master, inputs, tmp_path / "out", work, repr(choices)]
        done = subprocess.run(command, env={**os.environ, "PYTHONPATH": SOURCE}, capture_output=True, text=True)
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL, done.stderr
        now = finished(work)
        assert {name: now[name] for name in before} == before and len(now) == len(before) + each
        before, kills, master = now, kills + 1, scaled(master, connect)
    assert kills >= 2 and not work.exists()
    same_output(tmp_path / "out", tmp_path / "local")


def test_the_command_line_by_spark_connect_writes_the_same_bytes(connect: str, inputs: Path, tmp_path: Path) -> None:
    texts(inputs)
    flags = ["--by", "words:2", "--threshold", "0.6", "--on-error", "skip", "--quiet"]
    command = [sys.executable, "-P", "-m", "likewise", "dedup", "in", *flags]
    for out, more in (("local", []), ("out", ["--engine", "spark", "--master", connect])):
        done = subprocess.run([*command, "-o", out, *more], env={**os.environ, "PYTHONPATH": SOURCE}, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0 and done.stderr == "", done.stderr
        assert json.loads((tmp_path / out / "run.json").read_text())["engine"] == ("spark" if more else "local")
    same_output(tmp_path / "out", tmp_path / "local")


def test_executors_read_an_object_store(spark: Any, store: Objects, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    choices = texts(inputs)
    store.put_folder(inputs, "bucket/in")
    for name, value in store.access.items():
        monkeypatch.setenv(name, value)
    lw.dedup("s3://bucket/in", out=tmp_path / "local", **choices)
    before = len(store.requests)
    lw.dedup("s3://bucket/in", out=tmp_path / "out", engine="spark", **choices)
    assert len(store.requests) > before
    same_output(tmp_path / "out", tmp_path / "local")
