"""Small runs of ``likewise dedup`` and ``likewise pairs`` of several kinds, formats and options, for faults to strike."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import ipc

OF_THE_MACHINE = ("run.json", "report.html")  # not covered by the guarantee of equal bytes


class Job(NamedTuple):
    make: Callable[[Path], None]  # puts the inputs under a folder
    arguments: tuple[str, ...]  # {given}: the folder of the inputs
    stdin: bool = False  # what `make` wrote as "piped" is its standard input
    old: bool = False  # there is an earlier output, which is replaced
    elsewhere: bool = False  # the work folder is on another disk, where there is one
    verb: str = "dedup"

    @property
    def resumes(self) -> bool:
        return self.verb == "dedup"

    @property
    def output(self) -> str:
        return {"dedup": "out", "features": "out.parquet"}.get(self.verb, "out.jsonl")


def rows(seed: int, n: int, length: int = 25) -> list[dict]:
    """Texts of which every third is a near copy of an earlier one, and every ninth an exact one."""
    draw = random.Random(seed)
    words = ["".join(draw.choices("abcdefghij", k=5)) for _ in range(500)]
    made: list[dict] = []
    for i in range(n):
        text = draw.choices(words, k=length)
        if i % 3 == 2:
            text = str(draw.choice(made)["text"]).split()
            text[draw.randrange(length)] = draw.choice(words) if i % 9 == 2 else text[-1]
        made.append({"id": i, "text": " ".join(text), "n": draw.random()})
    return made


def lines(given: list[dict]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in given).encode()


def packed(data: bytes, kind: str) -> bytes:
    if kind == "gz":
        return gzip.compress(data, mtime=0)
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


def texts(folder: Path) -> None:
    given = rows(1, 120)
    (folder / "a.jsonl").write_bytes(lines(given[:60]))
    (folder / "b.jsonl.gz").write_bytes(packed(lines(given[60:]), "gz"))


def with_notice(folder: Path) -> None:
    texts(folder)
    (folder / ".notice.txt").write_text(rows(1, 1)[0]["text"][:50])


def beside(folder: Path) -> None:
    texts(folder)
    (folder / ".old.jsonl").write_bytes(lines(rows(1, 120)[::4] + rows(11, 60)))


def compressed(folder: Path) -> None:
    (folder / "crawl.jsonl.zst").write_bytes(packed(lines(rows(2, 120)), "zst"))


def tables(folder: Path) -> None:
    given = rows(3, 120)
    pq.write_table(pa.Table.from_pylist(given[:80]), folder / "a.parquet", row_group_size=20)
    table = pa.Table.from_pylist(given[80:])
    with ipc.new_file(str(folder / "b.arrow"), table.schema) as writer:
        writer.write_table(table, max_chunksize=10)


def folder_of_texts(folder: Path) -> None:
    for row in rows(4, 24):
        place = folder / f"part {row['id'] % 3}"
        place.mkdir(exist_ok=True)
        (place / f"{row['id']}.txt").write_text(row["text"])


def damaged(folder: Path) -> None:
    given = lines(rows(5, 60)).splitlines(keepends=True)
    given[7], given[31] = b'{"id": 7, "text": "caf\xe9"}\n', b'{"id": 31,\n'
    (folder / "a.jsonl").write_bytes(b"".join(given))
    (folder / "cut.jsonl.gz").write_bytes(packed(lines(rows(6, 60)), "gz")[:-60])
    (folder / "b.csv").write_text("id,text\n" + "".join(f"{row['id']},{row['text']}\n" for row in rows(5, 30)))


def sets(folder: Path) -> None:
    draw = np.random.default_rng(7)
    given = [{"id": f"s{i}", "elements": sorted(draw.choice(60, 12, replace=False).tolist())} for i in range(80)]
    (folder / "sets.jsonl").write_bytes(lines([*given, *({"id": f"t{i}", "elements": given[i]["elements"][:-1]} for i in range(40))]))


def vectors(folder: Path) -> None:
    draw = np.random.default_rng(8)
    array = draw.standard_normal((100, 24)).astype(np.float32)
    np.save(folder / "vectors.npy", np.concatenate((array, array[:50] + np.float32(0.01))))


def codes(folder: Path) -> None:
    draw = np.random.default_rng(9)
    array = draw.integers(0, 256, (100, 8), np.uint8)
    array[60:] = array[:40]
    array[60:, 0] ^= 1
    np.save(folder / "codes.npy", array)


def tokens(folder: Path) -> None:
    given = rows(11, 60)
    (folder / "a.jsonl").write_bytes(lines(given))
    words = sorted({word for row in given for word in row["text"].split()})
    (folder / ".vectors.txt").write_text("".join(f"{word} {number} 1\n" for number, word in enumerate(words)))


def piped(folder: Path) -> None:
    (folder / "piped").write_bytes(lines(rows(10, 120)))


JOBS: dict[str, Job] = {
    "texts": Job(texts, ("--pairs", "--removed-records", "--threshold", "0.7")),
    "annotated": Job(compressed, ("--output", "annotate", "--keep", "longest", "--threshold", "0.7")),
    "tables": Job(tables, ("--removed-records", "--keep", "max:n", "--by", "chars:7", "--threshold", "0.7")),
    "folder": Job(folder_of_texts, ("--pairs", "--by", "words:3", "--threshold", "0.6")),
    "damaged": Job(damaged, ("--on-error", "skip", "--limit", "140", "--threshold", "0.7", "--removed-records")),
    "common": Job(with_notice, ("--by", "words:1", "--ignore-common", "5%", "--ignore", "{given}/.notice.txt", "--threshold", "0.7")),
    "against": Job(beside, ("--against", "{given}/.old.jsonl", "--also-inside", "--pairs", "--removed-records", "--threshold", "0.7")),
    "sets": Job(sets, ("--by", "elements", "--exact", "--threshold", "0.7", "--pairs", "--output", "ids")),
    "vectors": Job(vectors, ("--by", "cosine", "--threshold", "0.95", "--pairs", "--removed-records")),
    "codes": Job(codes, ("--by", "hamming", "--within", "3", "--field", "code", "--output", "mask")),
    "piped": Job(piped, ("--pairs", "--threshold", "0.7"), stdin=True),
    "replaced": Job(texts, ("--overwrite", "--pairs", "--threshold", "0.7"), old=True),
    "elsewhere": Job(compressed, ("--overwrite", "--removed-records", "--threshold", "0.7"), old=True, elsewhere=True),
    "pairs": Job(texts, ("--overwrite", "--threshold", "0.7"), old=True, verb="pairs"),
    "new pairs": Job(texts, ("--threshold", "0.7"), verb="pairs"),
    "features": Job(tokens, ("--vectors", "{given}/.vectors.txt", "--overwrite"), old=True, verb="features"),
    "new features": Job(tokens, ("--vectors", "{given}/.vectors.txt", "--on-error", "skip"), verb="features"),
    "joined": Job(codes, ("--overwrite", "--by", "hamming", "--within", "3", "--field", "code"), old=True, verb="pairs"),
}


def snapshot(place: Path) -> dict[str, bytes]:
    """Every byte of an output file, or under a folder, that must be equal; nothing if there is neither."""
    if place.is_file():
        return {place.name: place.read_bytes()}
    return {
        path.relative_to(place).as_posix(): path.read_bytes()
        for path in sorted(place.rglob("*"))
        if path.is_file() and path.name not in OF_THE_MACHINE
    }
