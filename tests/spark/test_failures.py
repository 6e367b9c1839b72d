"""Runs on a real cluster that lose a worker or their driver, run by Spark Connect, or read an object store: the bytes are those of one machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
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
from likewise.engines.spark.session import opened
from likewise.engines.spark.steps import MANIFEST
from likewise.runs.removal import remove
from likewise.runs.session import resolved, started
from object_store import serving_objects
from spark_cluster import Cluster, made

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
lw.dedup(sys.argv[2], out=sys.argv[3], work=sys.argv[4], resume=True, engine="spark", master="local[2]", **eval(sys.argv[5]))
"""


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


def finished(work: Path) -> dict[str, int]:
    """The finished steps in a work folder, and when each was finished."""
    return {path.parent.name: path.stat().st_mtime_ns for path in (work / "spark").glob(f"*/{MANIFEST}")}


def test_a_worker_killed_in_the_middle_of_a_shuffle(standalone: Cluster, inputs: Path, tmp_path: Path) -> None:
    """The keys that it held are computed again by the other worker. Only then a new worker starts."""
    choices = texts(inputs) | {"pairs": True}
    local = lw.dedup(inputs, out=tmp_path / "local", **choices)
    assert local.report["counts"]["removed_near"] > 30
    steps = tmp_path / "steps"

    def run() -> lw.Removal:
        with started(inputs, resolved([inputs], choices), "dedup", tmp_path / "out", None) as (sources, found), opened(standalone.master) as session:
            return remove(sources, found, Spark(found, session, steps, partitions=30, task_bytes=4_000), tmp_path / "out")

    try:
        with ThreadPoolExecutor(1) as pool:
            result = pool.submit(run)
            end = time.monotonic() + 300
            while not (steps / "rows" / MANIFEST).exists() or not [*steps.glob("collided/_temporary/0/*/*")]:  # a task has written what it was sent
                assert time.monotonic() < end and not result.done(), result
                time.sleep(0.01)
            assert standalone.workers() == 2
            standalone.kill("worker2")
            standalone.until(lambda: standalone.workers() == 1, "the loss of a worker")
            assert not (steps / "collided" / MANIFEST).exists() and not result.done()
            assert result.result().report == local.report
    finally:
        standalone.begin_worker("worker2")
        standalone.until(lambda: standalone.workers() == 2, "a new worker")
    assert "Telling app of lost executor" in (standalone.folder / "master.log").read_text()
    same_output(tmp_path / "out", tmp_path / "local")


def test_a_driver_killed_after_steps_is_resumed(standalone: Cluster, inputs: Path, tmp_path: Path, scaled: Callable[[Any, Any], Any]) -> None:
    """Each driver finishes some steps and is killed, until one ends with the run. No finished step is computed again."""
    choices, work = banners(inputs) | {"pairs": True}, tmp_path / "work"
    local = lw.dedup(inputs, out=tmp_path / "local", **choices)
    assert local.report["counts"]["removed_near"] > 30 and local.report["budget"]["cut"] > 0
    each, before, kills = scaled(1, 6), {}, 0
    while True:
        command = [sys.executable, "-P", "-W", "ignore", "-c", DRIVER, str(each), inputs, tmp_path / "out", work, repr(choices)]
        done = subprocess.run(command, env={**os.environ, "PYTHONPATH": SOURCE}, capture_output=True, text=True)
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL, done.stderr
        now = finished(work)
        assert {name: now[name] for name in before} == before and len(now) == len(before) + each
        before, kills = now, kills + 1
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


def test_executors_read_an_object_store(standalone: Cluster, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    choices = texts(inputs)
    with serving_objects() as store:
        store.put_folder(inputs, "bucket/in")
        access = {"AWS_ENDPOINT_URL": store.url, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1"}
        for name, value in access.items():
            monkeypatch.setenv(name, value)
        settings = {f"spark.executorEnv.{name}": value for name, value in access.items()}
        lw.dedup("s3://bucket/in", out=tmp_path / "local", **choices)
        with made(standalone, **settings):
            lw.dedup("s3://bucket/in", out=tmp_path / "out", engine="spark", **choices)
    same_output(tmp_path / "out", tmp_path / "local")
