#!/usr/bin/env python3
"""`likewise dedup` here and on Spark, beside two other ways to remove near-duplicates on Spark; ratios are of one run.

    python benchmarks/spark.py FOLDER [--documents 100000] [--master 'local[2]'] [--memory 4g] [--rounds 1] [--only NAME ...] [--json FILE]

FOLDER gets the documents (spark_data.py), 2.6 KB each, and the work folders, three times as much. Processor time is that of all processes: the
driver, Java and the Python workers; the kernel hands it over when they end. A document that is removed is right if it is similar, from 0.8, to one
that is kept; precision is the share of those. Recall is their share of all that should go: they, and the kept ones that are similar to an earlier
kept one. Bytes of shuffles and of steps are those of Spark's event log; tasks write the step of rows themselves, so its bytes are those of its files.
The Python that runs this needs PySpark, with Java.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import contest
import spark_data

HERE = Path(__file__).resolve().parent
LIKEWISE = [sys.executable, "-P", "-m", "likewise", "dedup"]
SETTING = ["--by", "whitespace:5", "--threshold", "0.8", "-q"]
NAMES = ("likewise, one machine", "likewise, Spark", "MLlib, 5 tables", "MinHash in the manner of text-dedup")
EXACT = ("likewise, one machine, exact join", "likewise, Spark, exact join")
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER: processes whose parents end become children of this one, so that their time is known


def measured(command: Sequence[str], env: dict[str, str], work: Path) -> dict[str, float]:
    """Seconds of a command, and of processors for all processes that it has started, and the most memory that they had at once in MB.

    work: the work folder of the command, whose step of rows is measured, too.
    """
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    with open(env["LOG"], "wb") as log:
        begin = time.perf_counter()
        process = subprocess.Popen(command, env=env, stdout=log, stderr=log)
        sizes = Sizes(process.pid, work / "spark" / "rows")
        _, status, used = os.wait4(process.pid, 0)
    wall, processor = time.perf_counter() - begin, used.ru_utime + used.ru_stime
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{Path(env['LOG']).read_text()[-3000:]}")
    while True:
        try:
            _, _, used = os.wait4(-1, 0)
        except ChildProcessError:
            break
        processor += used.ru_utime + used.ru_stime
    return {"wall": wall, "cpu": processor, **sizes.most}


class Sizes(threading.Thread):
    """Memory of this process's descendants, looked at ten times a second: all together, and the largest Python worker; and bytes in a folder."""

    def __init__(self, pid: int, folder: Path):
        super().__init__(daemon=True)
        self.pid, self.folder, self.most = pid, folder, {"peak_mb": 0.0, "worker_mb": 0.0, "rows": 0.0}
        self.start()

    def run(self) -> None:
        while found := descendants(self.pid):
            sizes = {pid: pages(pid) * os.sysconf("SC_PAGE_SIZE") / 2**20 for pid in found}
            workers = [size for pid, size in sizes.items() if b"pyspark.daemon" in command_of(pid)]
            for name, size in (("peak_mb", sum(sizes.values())), ("worker_mb", max(workers, default=0.0)), ("rows", bytes_in(self.folder))):
                self.most[name] = max(self.most[name], size)
            time.sleep(0.1)


def descendants(pid: int) -> list[int]:
    """A process and all that it has started."""
    try:
        begun = [int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()]
    except OSError:
        return []
    return [pid, *(found for child in begun for found in descendants(child))]


def bytes_in(folder: Path) -> int:
    """Bytes of the files in a folder, which others may delete meanwhile."""
    try:
        return sum(path.stat().st_size for path in folder.iterdir())
    except OSError:
        return 0


def pages(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def environment(folder: Path, memory: str) -> dict[str, str]:
    """The environment of a run, with the same settings of Spark for all, and a folder for its event log."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "events").mkdir(parents=True)
    settings = {
        "spark.driver.memory": memory,
        "spark.sql.shuffle.partitions": 8,
        "spark.ui.enabled": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": (folder / "events").as_uri(),
    }
    (folder / "spark-defaults.conf").write_text("".join(f"{name} {value}\n" for name, value in settings.items()))
    env = contest.environment() | {"SPARK_CONF_DIR": str(folder), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(folder / "local")}
    return env | {"PYSPARK_PYTHON": sys.executable, "LOG": str(folder / "log")}


def steps(events: Path) -> dict[str, dict[str, float]]:
    """Jobs, tasks, bytes of shuffles, bytes written and seconds of tasks by step: the folder that a job writes."""
    found: dict[str, Counter[str]] = {}
    written: dict[int, str] = {}
    step_of: dict[int, str] = {}
    for file in events.iterdir():
        for line in file.read_text().splitlines():
            event = json.loads(line)
            kind = event["Event"].rpartition(".")[2]
            if kind == "SparkListenerSQLExecutionStart":
                place = re.search(
                    r"InsertIntoHadoopFsRelationCommand\s+.*?Arguments: file:\S*/spark/([\w.-]+)", event["physicalPlanDescription"], re.DOTALL
                )
                rows = re.search(r"\[number#\d+L, name#\d+\]", event["physicalPlanDescription"])
                written[event["executionId"]] = place[1] if place else "rows" if rows else "others"
            elif kind == "SparkListenerJobStart":
                step = written.get(int(event["Properties"].get("spark.sql.execution.id", -1)), "others")
                found.setdefault(step, Counter())["jobs"] += 1
                step_of |= dict.fromkeys(event["Stage IDs"], step)
            elif kind == "SparkListenerTaskEnd" and "Task Metrics" in event:
                metrics = event["Task Metrics"]
                found[step_of[event["Stage ID"]]].update(
                    {
                        "tasks": 1,
                        "shuffled": metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"],
                        "written": metrics["Output Metrics"]["Bytes Written"],
                        "seconds": metrics["Executor Run Time"] / 1000,
                    }
                )
    return {name: dict(counts) for name, counts in found.items()}


def kept(folder: Path) -> np.ndarray:
    """The numbers of the documents in the files of a result."""
    files = [*folder.glob("part-*"), *folder.glob("kept/*.jsonl")]
    return np.array([json.loads(line)["id"] for file in files for line in file.read_text().splitlines()], np.int64)


def scores(kept: np.ndarray, similar: np.ndarray, number: int) -> dict[str, float]:
    """Recall and precision of the removed documents."""
    stays = np.zeros(number, bool)
    stays[kept] = True
    earlier, later = similar.T
    right = np.unique(np.concatenate([later[stays[earlier] & ~stays[later]], earlier[stays[later] & ~stays[earlier]]]))
    left = np.unique(later[stays[earlier] & stays[later]])
    removed = int((~stays).sum())
    return {"removed": removed, "recall": len(right) / max(1, len(right) + len(left)), "precision": len(right) / max(1, removed)}


def commands(corpus: Path, out: Path, master: str) -> dict[str, list[str]]:
    likewise = [*LIKEWISE, str(corpus), "-o", str(out), *SETTING, "--overwrite"]
    peers = ([sys.executable, str(HERE / "peers" / name), str(corpus), str(out), master] for name in ("spark_mllib.py", "spark_minhash.py"))
    here, there = ([*likewise, *more] for more in ([], ["--engine", "spark", "--master", master]))
    return dict(zip(NAMES, [here, there, *peers], strict=True)) | dict(zip(EXACT, [[*each, "--exact"] for each in (here, there)], strict=True))


def main() -> None:
    parser = contest.arguments(__doc__, rounds=1)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--master", default=f"local[{contest.CORES}]")
    parser.add_argument("--memory", default="4g", help="of the heap of Java")
    parser.add_argument("--only", nargs="+", choices=(*NAMES, *EXACT), default=NAMES)
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    corpus, truth = spark_data.prepared(folder, options.documents)
    similar = spark_data.similar(truth)
    start = folder / "start.jsonl"
    start.write_text("".join(f'{{"id":{row},"text":"one two three four five six {row}"}}\n' for row in range(3)))
    table: dict[str, Any] = {"documents": options.documents, "bytes": corpus.stat().st_size, "load": os.getloadavg(), "runs": []}
    for _ in range(options.rounds):
        for name, command in commands(corpus, folder / "out", options.master).items():
            if name in options.only:
                found = run(name, command, folder, options)
                table["runs"].append({"name": name, **found, **scores(kept(folder / "out"), similar, options.documents)})
                say(table["runs"][-1], table, options.documents)
    if "likewise, Spark" in options.only:
        table["start"] = run("start", commands(start, folder / "out", options.master)["likewise, Spark"], folder, options)
        print(f"likewise, Spark, three documents: {table['start']['cpu']:.1f} s of processors, {table['start']['wall']:.1f} s")
    contest.keep(table, options.json)


def run(name: str, command: list[str], folder: Path, options: Any) -> dict[str, Any]:
    shutil.rmtree(folder / "out", ignore_errors=True)
    env = environment(folder / "settings", options.memory)
    found = measured(command, env, folder / "out.work")
    return {**found, "steps": steps(folder / "settings" / "events")}


def say(found: dict[str, Any], table: dict[str, Any], number: int) -> None:
    """A line of the table, and those of its steps."""
    first = next((each for each in table["runs"] if each["name"] == NAMES[0]), found)
    figures = [f"{found[name]:.1f}" for name in ("wall", "cpu")] + [f"{found['cpu'] / first['cpu']:.2f}", f"{found['peak_mb']:,.0f}"]
    figures += [f"{found['worker_mb']:,.0f}", f"{found['recall']:.4f}", f"{found['precision']:.4f}"]
    print(f"| {number:,} | {found['name']} | {' | '.join(figures)} |", flush=True)
    for step, counts in found["steps"].items():
        counts = counts | ({"written": found["rows"]} if step == "rows" else {})
        each = {key: counts.get(key, 0) / number for key in ("shuffled", "written")}
        print(
            f"    {step:16} {counts['jobs']:3} jobs {counts.get('tasks', 0):4} tasks {counts.get('seconds', 0):7.1f} s of tasks"
            f" {each['shuffled']:8.1f} bytes of shuffles {each['written']:8.1f} written, a document",
            flush=True,
        )


if __name__ == "__main__":
    main()
