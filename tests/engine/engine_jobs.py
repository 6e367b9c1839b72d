"""Jobs on which engines are compared, and what is compared of their results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

#: Files that describe a run, not its result.
OF_THE_RUN = ("run.json", "report.html", "manifest.json", "manifest.json.xxh3")


def contents(out: Path) -> dict[str, bytes]:
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


def about(out: Path) -> dict[str, Any]:
    """The manifest without its checksum."""
    manifest = json.loads((out / "manifest.json").read_bytes())
    del manifest["checksum"]
    return manifest


def same_output(out: Path, wanted: Path) -> None:
    """Compare the files of two outputs, byte by byte, except for the facts about the runs."""
    expected, here = contents(wanted), contents(out)
    assert here.keys() == expected.keys()
    assert [name for name in here if name not in OF_THE_RUN and here[name] != expected[name]] == []
    assert about(out) == about(wanted)


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


def versions(folder: Path) -> dict[str, Any]:
    """A page in 10,000 versions, each similar to a few before it and after it: a chain."""
    lines(folder / "a.jsonl", [{"id": i, "text": " ".join(f"w{word}" for word in range(i, i + 40))} for i in range(10_000)])
    return {"by": "words:1", "threshold": 0.8}


def copies(folder: Path) -> dict[str, Any]:
    """5,000 texts, of which nine in ten repeat an earlier one, or nearly."""
    rng = np.random.default_rng(8)
    rows = words(rng, 500, 3000, 40)
    drawn = [rows[i] for i in rng.integers(0, len(rows), 4500)]
    pq.write_table(pa.table({"text": [" ".join(f"w{word}" for word in row) for row in rows + drawn]}), folder / "a.parquet", row_group_size=700)
    return {"by": "words:2", "threshold": 0.6}


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

#: Larger jobs, also of texts in Parquet.
LARGE: dict[str, tuple[Any, dict[str, Any], tuple[int, ...]]] = {"versions": (versions, {}, (7,)), "copies": (copies, {"keep": "shortest"}, (7,))}


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
