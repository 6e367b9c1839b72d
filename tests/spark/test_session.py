"""The session of a run on Spark: made on a real cluster or taken from the process, and refused by name where the result could differ."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from command_line import SOURCE
from index_servers import free_port
from likewise.engines.spark import reach, session, tasks, versions
from likewise.engines.spark.session import SETTINGS, changed, check_version, explained, opened, own, place_of, surroundings
from likewise.errors import LikewiseError, MissingPartError, UsageError, install
from likewise.io.inputs import resolve
from spark_cluster import Cluster, active, made

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
#: A part of every refusal of versions.
REFUSED = "executors have other versions, which could change the result: "


@pytest.fixture(autouse=True)
def alone(request: pytest.FixtureRequest) -> Iterator[None]:
    """No session is active after a test, except that which tests share."""
    yield
    assert active() is None or "spark" in request.fixturenames


def asked(session: Any, number: int = 2) -> list[Any]:
    """The answer of each task: its machine, its Python, and its number of rows of 20."""

    def where(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import sys

        import pyarrow as pa

        rows = sum(batch.num_rows for batch in batches)
        yield pa.record_batch({"folder": [os.getcwd()], "python": [sys.executable], "rows": [rows]})

    return list(tasks.mapped(session.range(0, 20 * number, 1, number), where, "folder string, python string, rows long").collect())


def test_a_session_of_its_own_runs_tasks_on_both_workers(standalone: Cluster, spark: Any) -> None:
    assert standalone.workers() == 2
    assert [spark.conf.get(name) for name in SETTINGS] == [*SETTINGS.values()]
    found = asked(spark, 40)
    assert [row["rows"] for row in found] == [20] * 40
    assert {row["python"] for row in found} == {sys.executable}
    assert {Path(row["folder"]).parents[1].name for row in found} == {"worker1", "worker2"}

    def broken(batches: Any) -> Any:
        raise ValueError("the reason")

    with pytest.raises(LikewiseError, match=r"^Spark stopped the job: ValueError: the reason$") as raised, explained():
        tasks.mapped(spark.range(2), broken, "a long").collect()
    assert isinstance(raised.value.__cause__, OSError)  # so the run can be resumed
    assert "in broken" in str(raised.value.__cause__.__cause__)  # the traceback of the task


def test_the_active_session_is_used_and_left_as_it_was(standalone: Cluster, spark: Any) -> None:
    """One of the settings was changed before, and the others were not."""
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    others = [each for each in SETTINGS if each != name]
    with changed(spark, SETTINGS):  # afterwards they are as they were
        for other in others:
            spark.conf.unset(other)
        spark.conf.set(name, "77")
        before = [spark.conf.get(other, None) for other in others]
        assert before != [SETTINGS[other] for other in others]
        with opened(None) as found, opened(standalone.master):
            assert found is spark and [spark.conf.get(each) for each in SETTINGS] == [*SETTINGS.values()]
        assert spark.conf.get(name) == "77" and [spark.conf.get(other, None) for other in others] == before
    with (
        pytest.raises(UsageError, match=r"^master='local\[2\]': this process has an active session of Spark on spark://127.0.0.1:"),
        opened("local[2]"),
    ):
        pass


def test_inputs_that_executors_cannot_read(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    sources = resolve([tmp_path])
    reach.check(spark, tmp_path, sources, pytest.fail)
    (tmp_path / "a.jsonl").unlink()
    with pytest.raises(UsageError, match=r"^executors cannot read a.jsonl \(.*No such file.*\); keep the inputs where all machines see them"):
        reach.check(spark, tmp_path, sources, pytest.fail)
    assert [*tmp_path.iterdir()] == []


def test_executors_with_another_likewise_are_refused_by_name(standalone: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Executors import a copy, whose version differs, and whose kernels then too. Each task is a process of its own."""
    monkeypatch.setattr(reach, "TASKS", 2)
    shutil.copytree(Path(SOURCE) / "likewise", tmp_path / "likewise", ignore=shutil.ignore_patterns("__pycache__"))
    init = tmp_path / "likewise" / "__init__.py"
    text = init.read_text()
    here = versions.here()["likewise"]
    init.write_text(text.replace(f'"{here}"', '"0.0.7"'))
    assert init.read_text() != text
    settings = {"spark.executorEnv.PYTHONPATH": str(tmp_path), "spark.python.worker.reuse": "false", "spark.cores.max": "1"}
    with made(standalone, **settings) as session:
        wanted = f"^{REFUSED}likewise 0.0.7 there and {here} here; install "
        with pytest.raises(UsageError, match=wanted):
            reach.check(session, tmp_path, [], pytest.fail)
        with pytest.raises(UsageError, match=wanted), opened(None):
            asked(session)
        init.write_text("raise ImportError('no likewise here')")
        with pytest.raises(UsageError) as raised:
            reach.check(session, tmp_path, [], pytest.fail)
    assert str(raised.value).startswith(f"executors cannot import likewise (no likewise here): install likewise=={here} ")


@pytest.mark.parametrize("name", ["Python", "numpy", "pyarrow", "numba", "Unicode", versions.KERNELS])
def test_each_part_with_another_version_is_named(name: str) -> None:
    there, here = {**versions.here(), name: "1.2"}, versions.here()
    assert versions.differences(there, here) == f"{name} 1.2 there and {here[name]} here"
    assert versions.differences(here, here) == ""


def test_a_cluster_without_room_is_refused_in_time(standalone: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "PATIENCE", 2)
    with made(standalone, **{"spark.executor.memory": "100g"}) as session, pytest.raises(UsageError) as raised:
        reach.check(session, tmp_path, [], pytest.fail)
    assert str(raised.value).startswith("engine='spark': no executor has answered within 2 seconds; the cluster may lack cores or memory")


def test_an_executor_that_does_not_see_the_folder_or_has_little_memory_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("likewise.engines.threads.usable_memory", lambda: 300 << 20)
    monkeypatch.setattr("likewise.engines.threads.usable_cores", lambda: 3)
    said = reach.seen(str(tmp_path / "not there" / "mark"), [])
    assert said == {"folder": False, "unread": [], "memory": 100 << 20}
    (tmp_path / "mark").touch()
    assert reach.seen(str(tmp_path / "mark"), [])["folder"]
    monkeypatch.setattr(reach, "job", lambda *_: [{"versions": versions.here(), "folder": True, "unread": [], "memory": 100 << 20}])
    notes: list[str] = []
    reach.check(None, tmp_path, [], notes.append)  # type: ignore[arg-type]
    assert notes[0].startswith("executors have 100 MiB of memory beside Java for each core, and Python needs more")
    monkeypatch.setattr(reach, "job", lambda *_: [{"versions": versions.here(), "folder": False, "unread": [], "memory": 0}])
    with pytest.raises(UsageError, match=r"the folder of intermediate tables; name a folder that all machines see at the same path: work=DIR$"):
        reach.check(None, tmp_path, [], notes.append)  # type: ignore[arg-type]


def refused(master: str | None) -> str:
    """The message with which a master is refused."""
    with pytest.raises(UsageError) as raised, opened(master):
        pass
    return str(raised.value)


def test_a_master_that_does_not_answer_is_refused_at_once() -> None:
    url = f"spark://127.0.0.1:{free_port()}"
    assert refused(url).startswith(f"master='{url}': no connection within 10 seconds (127.0.0.1 port {url.rpartition(':')[2]}: Connection refused); ")


@pytest.mark.parametrize("master", ["localhost", "spark:/host", "spark://", "mesos://host:1", "local[", "local[0]", "local[x]", "", "yarn2"])
def test_a_master_that_is_none_is_refused(master: str) -> None:
    assert refused(master).startswith(f"master={master!r}: choose one of local[4], spark://HOST:7077, yarn, ")


def test_what_a_session_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refused(None).startswith("engine='spark': this process has no session of Spark; name a master: master=URL (local[4], ")
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    monkeypatch.delenv("YARN_CONF_DIR", raising=False)
    assert refused("yarn").startswith("master='yarn': set HADOOP_CONF_DIR")
    with pytest.raises(UsageError, match=r"^likewise needs Spark 3\.5 or newer, and this cluster has 3\.4\.1$"):
        check_version("3.4.1")
    check_version("3.5.0")
    check_version("4.3.0-SNAPSHOT")
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    assert refused("local[2]").startswith("Spark needs Java 17 or newer, but JAVA_HOME is /nowhere, and no Java runs there; install it")
    with monkeypatch.context() as patch, pytest.raises(MissingPartError) as raised:
        patch.setitem(sys.modules, "pyspark.sql", None)
        with opened(None):
            pass
    assert str(raised.value) == f"runs on Spark need PySpark, which is not installed: {install(session.EXTRA)}"
    with monkeypatch.context() as patch, pytest.raises(MissingPartError) as raised:
        patch.setitem(sys.modules, "pandas", None)
        with opened(None, SimpleNamespace(version="4.3.0")):  # type: ignore[arg-type]
            pass
    assert str(raised.value) == f"runs on Spark need pandas, which is not installed: {install('pandas')}"


def test_an_old_java_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_392\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert refused("local[2]").startswith(f"Spark needs Java 17 or newer, but {java} is Java 8; install it, on Debian: apt-get")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("host:1234", ("host", 1234)),
        ("host", ("host", 9)),
        ("host:1234/;token=a:b", ("host", 1234)),
        ("host;x=1", ("host", 9)),
        ("[::1]:1234", ("::1", 1234)),
    ],
)
def test_places_of_masters(text: str, place: tuple[str, int]) -> None:
    assert place_of(text, 9) == place


def test_spark_on_this_machine_alone_listens_on_loopback_unless_the_user_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SPARK_LOCAL_IP", "PYSPARK_PYTHON"):
        monkeypatch.delenv(name, raising=False)
    with surroundings("local[2]"):
        assert os.environ["SPARK_LOCAL_IP"] == "127.0.0.1" and os.environ["PYSPARK_PYTHON"] == sys.executable
    assert not {"SPARK_LOCAL_IP", "PYSPARK_PYTHON"} & os.environ.keys()
    monkeypatch.setenv("SPARK_LOCAL_IP", "192.0.2.7")
    for master, address in (("local[2]", "192.0.2.7"), ("spark://head:7077", "192.0.2.7")):
        with surroundings(master):
            assert os.environ["SPARK_LOCAL_IP"] == address
    assert "spark.driver.extraJavaOptions" not in own("spark://head:7077")  # those of the cluster's configuration hold there
    properties = re.search(r"configurationFile=file://(\S+)", own("local[2]")["spark.driver.extraJavaOptions"])
    assert properties is not None and Path(properties[1]).is_file()
