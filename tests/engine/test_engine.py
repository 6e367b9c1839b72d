"""An engine of other processes, without shared memory, writes the same bytes as the local engine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from processes import Partitioned, Processes

import likewise as lw
from indexes import opened, sentences, variants
from likewise.report.made import compared_with
from likewise.runs.removal import remove
from likewise.runs.session import resolved, started

#: Files that describe a run, not its result.
OF_THE_RUN = ("run.json", "report.html", "manifest.json", "manifest.json.xxh3")


@pytest.fixture(scope="module")
def pool() -> Iterator[Processes]:
    made = Processes(2)
    yield made
    made.close()


def partitioned(given: Any, out: Path, pool: Processes, parts: int, **choices: Any) -> lw.Removal:
    """`lw.dedup` by an engine of ``parts`` partitions."""
    against, choices = compared_with(choices.pop("against", None), choices)
    with started(given, resolved([given, against], choices), "dedup", out, None, against) as (sources, run):
        return remove(sources, run, Partitioned(run, pool, parts, out.with_suffix(".tables")), out)


def contents(out: Path) -> dict[str, bytes]:
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


def about(out: Path) -> dict[str, Any]:
    """The manifest without its checksum and the digests of inputs, which depend on the chunks that were read."""
    manifest = json.loads((out / "manifest.json").read_bytes())
    del manifest["checksum"]
    for entry in manifest["inputs"]:
        del entry["xxh3_128"]
    return manifest


def words(rng: np.random.Generator, n: int, vocabulary: int, size: int) -> list[list[int]]:
    """Lists of numbers. Two in five repeat an earlier list with up to four numbers changed."""
    made: list[list[int]] = []
    for i in range(n):
        if i and rng.random() < 0.4:
            row = list(made[int(rng.integers(0, i))])
            for _ in range(int(rng.integers(0, 5))):
                row[int(rng.integers(0, len(row)))] = int(rng.integers(0, vocabulary))
        else:
            row = rng.integers(0, vocabulary, int(rng.integers(size // 2, size))).tolist()
        made.append(row)
    return made


def lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def texts(folder: Path) -> dict[str, Any]:
    """Two files: copies, near-duplicates, empty and missing texts, lines that are not JSON, and groups."""
    rng = np.random.default_rng(1)
    rows = [{"id": i, "text": " ".join(f"w{word}" for word in each), "lang": "abc"[i % 3]} for i, each in enumerate(words(rng, 900, 3000, 40))]
    rows += [{"id": "none"}, {"id": None, "text": None}, {"text": ""}, {"text": "w1"}, {"text": "w1"}]
    lines(folder / "a.jsonl", rows[:500])
    lines(folder / "b.jsonl", rows[500:])
    with open(folder / "a.jsonl", "a") as file:
        file.write('{"id": 7, "text": "not closed\n{"id": 8, "text": "w5 w6 w7 w8"}\n')
    return {"by": "words:2", "threshold": 0.6, "on_error": "skip"}


def banners(folder: Path) -> dict[str, Any]:
    """Pages that share a banner and little else: buckets far larger than the budget of 128."""
    rng = np.random.default_rng(2)
    banner = " ".join(f"b{i}" for i in range(60))
    rows = [{"text": banner + "".join(f" w{word}" for word in rng.integers(0, 4000, 12))} for _ in range(1500)]
    rows += [{"text": row["text"] + " more"} for row in rows[::10]]
    lines(folder / "a.jsonl", rows)
    return {"by": "words:1", "threshold": 0.8}


def sets(folder: Path) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    pq.write_table(pa.table({"id": np.arange(800), "elements": words(rng, 800, 2000, 30)}), folder / "a.parquet", row_group_size=90)
    return {"by": "elements", "threshold": 0.6}


def weighted(folder: Path) -> dict[str, Any]:
    rng = np.random.default_rng(4)
    rows = words(rng, 400, 2000, 30)
    lines(folder / "a.jsonl", [{"id": i, "elements": {str(word): 1.0 + word % 7 for word in each}} for i, each in enumerate(rows)])
    return {"by": "weighted", "threshold": 0.5}


def strings(folder: Path) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    rows = [{"id": i, "text": "".join(map(chr, (97 + np.array(each) % 26).tolist()))} for i, each in enumerate(words(rng, 500, 26, 20))]
    lines(folder / "a.jsonl", rows)
    return {"by": "levenshtein", "within": 2}


def lines_of_pages(folder: Path) -> dict[str, Any]:
    """Pages of lines that other pages have too, or nearly."""
    rng = np.random.default_rng(6)
    stock = [" ".join(f"w{word}" for word in each) for each in words(rng, 300, 400, 12)]
    pages = [rng.choice(stock, int(rng.integers(0, 8))).tolist() for _ in range(300)]
    lines(folder / "a.jsonl", [{"id": i, "text": "\n".join(page), "lang": "ab"[i % 2]} for i, page in enumerate(pages)])
    return {"by": "words:1", "threshold": 0.6, "level": "line"}


#: Name -> (function that writes the files, further options, numbers of partitions).
JOBS: dict[str, tuple[Any, dict[str, Any], tuple[int, ...]]] = {
    "texts": (texts, {}, (1, 3, 7)),
    "texts, the longest stays": (texts, {"keep": "longest"}, (3,)),
    "texts by group": (texts, {"per": "lang", "keep": "last", "copies": "empty", "min_tokens": 3}, (3,)),
    "texts by signatures": (texts, {"verify": "estimate"}, (3,)),
    "texts unchecked": (texts, {"verify": "none"}, (3,)),
    "texts without common shingles": (texts, {"ignore_common": "0.3%", "ignore": [" ".join(f"w{word}" for word in range(300))]}, (3,)),
    "bags without common shingles": (texts, {"by": "words:1/bag", "threshold": 0.5, "ignore_common": "1%"}, (3,)),
    "banners": (banners, {}, (1, 7)),
    "sets": (sets, {"exact": False}, (1, 3, 7)),
    "sets, as is cheaper": (sets, {}, (3,)),
    "sets without common elements": (sets, {"exact": False, "ignore_common": "2%"}, (3,)),
    "sets in one band": (sets, {"bands": 1, "rows": 2}, (3,)),
    "sets, none missed": (sets, {"exact": True}, (3,)),
    "lines": (lines_of_pages, {"min_left": 20}, (1, 3)),
    "lines by group, without common words": (lines_of_pages, {"per": "lang", "keep": "longest", "ignore_common": "6%"}, (3,)),
    "strings": (strings, {}, (3,)),
    "weighted sets": (weighted, {}, (1, 3, 7)),
}


@pytest.mark.parametrize("job", JOBS)
def test_partitions_in_other_processes_give_the_same_bytes(tmp_path, pool, job):
    make, more, numbers = JOBS[job]
    (tmp_path / "in").mkdir()
    choices = make(tmp_path / "in") | more
    local = lw.dedup(tmp_path / "in", out=tmp_path / "local", **choices)
    wanted = contents(tmp_path / "local")
    assert local.report.get("units", local.report["counts"])["removed_near"] > 30
    assert (local.report["budget"]["cut"] > 0) == (job == "banners")
    for parts in numbers:
        out = tmp_path / f"{parts}"
        found = partitioned(tmp_path / "in", out, pool, parts, **choices)
        assert found.report == local.report
        assert len(list((tmp_path / f"{parts}.tables" / "rows").iterdir())) > 2  # ranges
        here = contents(out)
        assert here.keys() == wanted.keys()
        assert [name for name in here if name not in OF_THE_RUN and here[name] != wanted[name]] == []
        assert about(out) == about(tmp_path / "local")


def halved(folder: Path) -> tuple[Path, Path]:
    """Every second row of the files of a folder in one folder, and the others in another."""
    halves = folder.with_name("first"), folder.with_name("second")
    for number, half in enumerate(halves):
        half.mkdir()
        for path in folder.iterdir():
            if path.suffix == ".parquet":
                table = pq.read_table(path)
                pq.write_table(table.take(np.arange(number, len(table), 2)), half / path.name, row_group_size=90)
            else:
                (half / path.name).write_text("".join(path.read_text().splitlines(keepends=True)[number::2]))
    return halves


@pytest.mark.parametrize("also_inside", [False, True])
@pytest.mark.parametrize("job", ["texts", "texts by group", "texts unchecked", "banners", "sets", "sets, none missed", "strings", "weighted sets"])
def test_partitions_compare_with_a_second_collection(tmp_path, pool, job, also_inside):
    make, more, _ = JOBS[job]
    (tmp_path / "in").mkdir()
    choices = make(tmp_path / "in") | more | {"also_inside": also_inside}
    first, second = halved(tmp_path / "in")
    local = lw.dedup(first, against=second, out=tmp_path / "local", **choices)
    assert local.report["counts"]["removed_near"] > 15 and local.report["against"]["read"] > 100
    assert (local.report["budget"]["cut"] > 0) == (job == "banners")
    assert partitioned(first, tmp_path / "parts", pool, 3, against=second, **choices).report == local.report
    wanted, here = contents(tmp_path / "local"), contents(tmp_path / "parts")
    assert here.keys() == wanted.keys()
    assert [name for name in here if name not in OF_THE_RUN and here[name] != wanted[name]] == []


@pytest.mark.parametrize("also_inside", [False, True])
def test_partitions_compare_with_an_index(tmp_path, pool, also_inside):
    rng = np.random.default_rng(7)
    old = sentences(rng, 200)
    lines(tmp_path / "new.jsonl", [{"id": i, "text": text} for i, text in enumerate([*variants(rng, old, 150), ""])])
    index = opened([*old, "", old[0]], by="words:3", sets="compact")
    local = lw.dedup(tmp_path / "new.jsonl", against=index, out=tmp_path / "local", also_inside=also_inside)
    assert local.counts["removed_near"] == 50 and local.report["against"]["empty"] == 1
    found = partitioned(tmp_path / "new.jsonl", tmp_path / "parts", pool, 3, against=index, also_inside=also_inside)
    wanted, here = contents(tmp_path / "local"), contents(tmp_path / "parts")
    assert found.report == local.report and here.keys() == wanted.keys()
    assert [name for name in here if name not in OF_THE_RUN and here[name] != wanted[name]] == []
