#!/usr/bin/env python3
"""All kinds of data, the index, quotations and Spark beside their peers, in one command: results as JSON, a table and a picture.

    python benchmarks/all.py FOLDER [--size small] [--only SUBJECT ...] [--rounds 3]

FOLDER gets an environment for each peer (peers/environments.toml), the data, and results.json, .md and .svg, in which the results of other subjects
stay. Each subject is a script of this folder, which can be run alone; its data are made with known truth, except the real texts of quotations
(fetch_texts.sh: packages of Debian, 0.6 GB), which run only if they are named. The time of a contender is that of its script, processor or wall;
its ratio is to the first contender of likewise in the same case and run: 2 means twice as long.
"""

from __future__ import annotations

import datetime
import json
import math
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import contest
import likewise
import picture

HERE = Path(__file__).resolve().parent
#: Figures of a contender, beside its time, that the table shows.
QUALITY = ("recall", "precision", "mAP", "same")
#: The tables and cases of quotes_peers.py, as the tables here name them.
QUOTED = {"code": "copied functions", "text": "copied passages", "lines": "repeated lines"}
EDITED = {f"edit{share}": f"{share}% of the words edited" for share in (5, 10, 20)}
Row = dict[str, Any]


class Subject(NamedTuple):
    """A script, its arguments, the environments of its peers, and its data as arguments of made.py; numbers are those of a size."""

    script: str
    arguments: tuple[str, ...]
    peers: tuple[str, ...]
    numbers: dict[str, int]
    rows: Callable[[Any], Iterator[Row]]
    made: tuple[str, ...] = ()


def row(case: str, contender: str, seconds: float, figures: Row) -> Row:
    shown = {name: figures[name] for name in (*QUALITY, "peak_mb") if isinstance(figures.get(name), float) and not math.isnan(figures[name])}
    return {"case": case, "contender": contender, "seconds": seconds, **shown}


def of_compare(found: dict[str, Row]) -> Iterator[Row]:
    """Peers list pairs, so `likewise pairs` comes first: times are beside its own."""
    for name, figures in sorted(found.items(), key=lambda item: item[0] != "likewise pairs"):
        yield row("pairs at 0.8", name, figures["wall"], figures)


def of_sets(found: list[Row]) -> Iterator[Row]:
    for figures in found:
        yield row(f"pairs at {figures['threshold']}", figures["contender"], figures["median"], figures)


def of_tasks(case: str, seconds: str) -> Callable[[dict[str, dict[str, Row]]], Iterator[Row]]:
    """Results by task and contender, with seconds under this name."""

    def rows(found: dict[str, dict[str, Row]]) -> Iterator[Row]:
        for contenders in found.values():
            for name, figures in contenders.items():
                yield row(case, name, figures[seconds], figures)

    return rows


def of_strings(found: list[Row]) -> Iterator[Row]:
    for figures in found:
        yield row(figures["case"], figures["contender"], figures["cpu"], figures)


def of_containment(found: list[Row]) -> Iterator[Row]:
    for figures in found:
        yield row(f"{figures['kind']} queries", figures["contender"], figures["wall"], figures)


def of_index(found: Row) -> Iterator[Row]:
    """Microseconds of a processor for each document or query, as seconds for a million."""
    peer = found.get("datasketch")
    ours, count = found["build, full"]["build"], found["documents"]
    yield row("a million documents to an index", "likewise", ours["cpu"] / count * 1e6, {})
    if peer:
        yield row("a million documents to an index", "datasketch", peer["build"]["cpu"] / peer["documents"] * 1e6, {})
    asked = found["query, full"]
    for case, name, number in (("one at a time", "one at a time", "alone"), ("256 at a time", "in batches", "queries")):
        yield row(f"a million queries, {case}", "likewise", asked[name]["cpu"] / asked[number] * 1e6, found["quality"]["likewise"])
        if peer:
            theirs = peer["query"]["cpu"] / peer["queries"] * 1e6
            yield row(f"a million queries, {case}", "datasketch, answers compared", theirs, found["quality"]["datasketch"])


def of_quotes(found: dict[str, Any]) -> Iterator[Row]:
    for name, table in found.items():
        for case, rows in table.items() if isinstance(table, dict) else [("", table)]:
            for contender, wall, _, peak, *scores in rows:
                figures = {} if name == "lines" else dict(zip(("recall", "precision"), scores, strict=False))
                shown = QUOTED[name] + (f", {EDITED.get(case, case)}" if case else "")
                yield row(shown, contender, float(wall), {"peak_mb": float(peak), **figures})


def of_spark(found: Row) -> Iterator[Row]:
    """Other tools run on Spark, so `likewise, Spark` comes first: times are beside its own."""
    for figures in sorted(found["runs"], key=lambda figures: figures["name"] != "likewise, Spark"):
        yield row("removal at 0.8", figures["name"], figures["cpu"], figures)


#: In the arguments, FOLDER and N stand for the folder of the data and the number of items.
SUBJECTS = {
    "documents": Subject(
        "compare.py",
        ("FOLDER/families-N.jsonl", "FOLDER/families-N.npz"),
        ("floor", "daft", "rensa", "datasketch"),
        {"small": 20_000, "large": 100_000},
        of_compare,
        ("documents",),
    ),
    "containment": Subject(
        "containment.py",
        ("FOLDER/families-20000.jsonl", "FOLDER", "--documents", "N"),
        ("datasketch",),
        {"small": 25_000, "large": 100_000},
        of_containment,
    ),
    "sets": Subject("sets.py", ("FOLDER",), ("sets",), {"small": 20_000, "large": 100_000}, of_sets, ("sets",)),
    "vectors": Subject(
        "vectors.py",
        ("FOLDER", "--tasks", "made", "--slow"),
        ("vectors",),
        {"small": 20_000, "large": 100_000},
        of_tasks("pairs at a cosine of 0.9", "seconds"),
        ("vectors",),
    ),
    "neighbors": Subject(
        "neighbors.py", ("FOLDER", "--tasks", "made"), ("vectors",), {"small": 20_000, "large": 100_000}, of_tasks("10 of 1,000 queries", "whole")
    ),
    "codes": Subject(
        "vectors.py",
        ("FOLDER", "--tasks", "fp"),
        ("vectors",),
        {"small": 100_000, "large": 1_000_000},
        of_tasks("pairs within 3 bits", "seconds"),
        ("codes",),
    ),
    "features": Subject(
        "features.py", ("FOLDER", "--tasks", "ms"), ("vectors",), {"small": 500, "large": 2000}, of_tasks("ranking", "total_s"), ("features",)
    ),
    "strings": Subject("strings.py", ("--names", "N"), (), {"small": 4_000, "large": 10_000}, of_strings),
    "index": Subject(
        "index.py",
        ("FOLDER/index", "--documents", "N", "--queries", "2000"),
        ("datasketch",),
        {"small": 20_000, "large": 100_000},
        of_index,
    ),
    "quotes": Subject(
        "quotes_peers.py", ("FOLDER/texts", "--only", "code", "text", "lines"), ("copydetect", "datatrove"), {"small": 0, "large": 0}, of_quotes
    ),
    "spark": Subject("spark.py", ("FOLDER", "--documents", "N"), (), {"small": 10_000, "large": 100_000}, of_spark),
}


def environments(folder: Path, names: set[str]) -> None:
    """Make the environments that are not there."""
    known = tomllib.loads((HERE / "peers" / "environments.toml").read_text())
    for name in sorted(names):
        place = folder / name
        if not (place / "complete").exists():
            print(f"installing {', '.join(known[name])}", file=sys.stderr)
            subprocess.run([sys.executable, "-P", "-m", "venv", "--clear", str(place)], check=True)
            subprocess.run([str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", *known[name]], check=True)
            (place / "complete").touch()


def prepared(folder: Path, subject: Subject, number: int) -> None:
    """Make the data of a subject."""
    if subject.script == "quotes_peers.py" and not (folder / "texts" / "bible.txt").exists():
        subprocess.run(["bash", str(HERE / "fetch_texts.sh"), str(folder / "texts")], check=True)
    for kind in subject.made:
        python = folder / "venvs" / "sets" / "bin" / "python" if kind == "sets" else sys.executable  # has scipy
        subprocess.run([str(python), str(HERE / "made.py"), kind, str(folder), str(number)], check=True)


def measured(folder: Path, name: str, size: str, rounds: int) -> list[Row]:
    """Run the script of a subject; return its rows, each with its ratio to the first contender of the case."""
    subject = SUBJECTS[name]
    number, out = subject.numbers[size], folder / f"{name}.json"
    prepared(folder, subject, number)
    places = {"FOLDER": str(folder), "N": str(number)}
    given = [argument.replace("FOLDER", str(folder)).replace("-N.", f"-{number}.") for argument in subject.arguments]
    given = [places.get(argument, argument) for argument in given]
    turns = [] if name in ("features", "index") else ["--rounds", str(1 if name == "spark" else rounds)]
    command = [sys.executable, "-P", str(HERE / subject.script), *given, *turns, "--json", str(out)]
    paths = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    subprocess.run(command, check=True, env={**os.environ, "BENCH_VENVS": str(folder / "venvs"), "PYTHONPATH": paths})
    load = os.getloadavg()[1]
    rows, first = list(subject.rows(json.loads(out.read_text()))), {}
    for each in rows:
        if each["contender"].startswith("likewise"):
            first.setdefault(each["case"], each["seconds"])
    return [{"subject": name, "items": number, **each, "load": load, "ratio": each["seconds"] / first[each["case"]]} for each in rows]


def table(rows: list[Row]) -> Iterator[str]:
    """The lines of the table of results: for each task a row, then one for each contender, the fastest first."""
    yield "| data and task | s | times likewise | quality | MB |"
    yield "|---|---|---|---|---|"
    for (subject, items, case), group in tasks(rows):
        yield f"| **{subject}**{of_items(items)}: {case} | | | | |"
        for each in group:
            memory = f"{each['peak_mb']:,.0f}" if "peak_mb" in each else ""
            yield f"| {each['contender']} | {each['seconds']:.3g} | {each['ratio']:.3g} | {quality(each)} | {memory} |"


def summary(rows: list[Row]) -> Iterator[str]:
    """The lines of a table of the tasks: likewise, and the fastest of the other tools."""
    yield "| data and task | likewise, s | quality | fastest other tool | times likewise | quality |"
    yield "|---|---|---|---|---|---|"
    for (subject, items, case), group in tasks(rows):
        own = next(each for each in group if each["ratio"] == 1)
        other = next((each for each in group if not each["contender"].startswith(("likewise", "floor"))), None)
        if other:
            theirs = f"{other['contender']} | {other['ratio']:.3g} | {quality(other)}"
            yield f"| {subject}{of_items(items)}: {case} | {own['seconds']:.3g} | {quality(own)} | {theirs} |"


def of_items(number: int) -> str:
    """The number of items, if it is made for a size."""
    return f" ({number:,})" if number else ""


def tasks(rows: list[Row]) -> Iterator[tuple[tuple[str, int, str], list[Row]]]:
    """The rows of each task, the fastest first."""
    for task, group in groupby(rows, lambda row: (row["subject"], row["items"], row["case"])):
        yield task, sorted(group, key=lambda row: row["seconds"])


def quality(figures: Row) -> str:
    return ", ".join(f"{name} {figures[name]:.4g}" for name in QUALITY if name in figures)


def main() -> None:
    parser = contest.arguments(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--size", choices=("small", "large"), default="small")
    parser.add_argument("--only", nargs="+", choices=list(SUBJECTS), default=[name for name in SUBJECTS if name != "quotes"])
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    environments(folder / "venvs", {peer for name in options.only for peer in SUBJECTS[name].peers})
    target = options.json or folder / "results.json"
    rows = json.loads(target.read_text()) if target.exists() else []
    for name in options.only:
        print(f"\n{name}", flush=True)
        about = {"date": f"{datetime.date.today():%Y-%m-%d}", "version": likewise.__version__, "cores": contest.CORES}
        found = [about | each for each in measured(folder, name, options.size, options.rounds)]
        rows = sorted([each for each in rows if each["subject"] != name] + found, key=lambda each: list(SUBJECTS).index(each["subject"]))
        contest.keep(rows, target)
        target.with_suffix(".md").write_text("\n".join(table(rows)) + "\n")
        target.with_suffix(".svg").write_text(picture.drawn(rows))


if __name__ == "__main__":
    main()
