"""``--memory``: beside what Python, the libraries and the compiled kernels take by themselves, a run stays within it, or says that it cannot."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from command_line import SOURCE
from likewise.items.documents import memory_of
from likewise.methods import parse

#: Says at its end what it had resident: what the system counts for a child may be of the process that started it.
PROGRAM = """
import sys
from likewise.cli.main import main, status_of
status = status_of(main, sys.argv[1:])
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM:")).split()[1])
sys.exit(status)
"""
ALLOWED = 256 << 20
ROWS = 700_000

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell what a process takes")


def run(folder: Path, *arguments: object, memory: str = "256M") -> tuple[int, int, str]:
    """(status, the most bytes that the process had resident, what it said)."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([SOURCE, os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-P", "-c", PROGRAM, *map(str, arguments), "--memory", memory, "--threads", "2"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, 1024 * int(done.stdout.split()[-1]), done.stderr


@pytest.fixture(scope="module")
def floor(tmp_path_factory: pytest.TempPathFactory) -> int:
    """The bytes that a run of one row takes, with all kernels compiled before."""
    folder = tmp_path_factory.mktemp("floor")
    (folder / "one.jsonl").write_text('{"id": "a", "text": "some words of a text"}\n')
    for out in ("compiled", "measured"):
        status, used, said = run(folder, "dedup", "one.jsonl", "-o", out)
        assert status == 0, said
    return used


LINES = {
    "equal": lambda i: '{"text": "the same short line of text"}\n',
    "half": lambda i: f'{{"id": "doc-{i}", "text": "some short words of text {i // 2}"}}\n',
    "different": lambda i: f'{{"id": "doc-{i}", "text": "word{i}"}}\n',
    "doubled ids": lambda i: f'{{"id": "doc-{i // 2}", "text": "word{i}"}}\n',
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "name" in metafunc.fixturenames:
        metafunc.parametrize("name", LINES if metafunc.config.getoption("--all") else ["doubled ids"])


def test_many_short_rows(tmp_path, floor, name):
    with open(tmp_path / "in.jsonl", "w") as file:
        file.writelines(map(LINES[name], range(ROWS)))
    status, used, said = run(tmp_path, "dedup", "in.jsonl", "-o", "out")
    assert status == 0, said
    assert used - floor < ALLOWED, f"{(used - floor) >> 20} MiB"
    assert pq.read_table(tmp_path / "out/removed.parquet").num_rows == {"equal": ROWS - 1, "half": ROWS // 2}.get(name, 0)


def blocks(size: int) -> Iterator[bytes]:
    """zstd frames of a record whose text has ``size`` letters, between two short ones."""
    codec = pa.Codec("zstd")
    yield codec.compress(b'{"text": "a b c d e f"}\n{"text": "', asbytes=True)
    frame = codec.compress(b"a" * (1 << 24), asbytes=True)
    yield from [frame] * (size >> 24)
    yield codec.compress(b'"}\n{"text": "g h i j k l"}\n', asbytes=True)


def test_a_record_that_is_too_long_takes_no_more_than_the_limit(tmp_path, floor):
    (tmp_path / "in.jsonl.zst").write_bytes(b"".join(blocks(1 << 29)))
    status, used, said = run(tmp_path, "dedup", "in.jsonl.zst", "-o", "out", "--on-error", "skip")
    assert status == 0, said
    assert used - floor < ALLOWED, f"{(used - floor) >> 20} MiB"
    assert (tmp_path / "out/kept/in.jsonl.zst").exists()


@pytest.mark.parametrize(
    ("megabytes", "says"),
    [
        (30, "in.jsonl, item 2: this record has 31,457,280 bytes and takes about 7"),  # 4 times that, and 44 bytes for each word of one letter
        (150, "in.jsonl: the record that begins at byte 37 has more than 64 MiB"),
    ],
)
def test_a_record_that_cannot_be_held_is_refused_before_the_work_and_held_with_more(tmp_path, floor, megabytes, says):
    with open(tmp_path / "in.jsonl", "w") as file:
        file.write('{"text": "one of the short records"}\n{"text": "' + "a " * (megabytes << 19) + '"}\n')
    given = ("dedup", "in.jsonl", "-o", "out", "--max-record", "200M")
    status, used, said = run(tmp_path, *given)
    assert (status, says in said, "--max-record" in said, "--resume" in said) == (2, True, True, True), said
    assert used - floor < ALLOWED, f"{(used - floor) >> 20} MiB"
    if megabytes == 30:
        status, used, said = run(tmp_path, *given, "--resume", memory="1G")
        assert status == 0, said
        assert used - floor < 1 << 30, f"{(used - floor) >> 20} MiB"


def test_what_a_text_takes_is_estimated_from_its_tokens():
    import numpy as np

    def needed(text: str, by: str, steps: str = "none") -> int:
        return memory_of(np.frombuffer(text.encode(), np.uint8), parse(by, steps))

    assert needed("ab cd ef", "words") == 4 * 8 + 44 * 3
    assert needed("a b\nc d", "lines") == 4 * 7 + 44 * 2
    assert needed("abcd", "chars") == 32 * 4
    assert needed("漢字", "words") == 4 * 6 + 44 * 3
    assert needed("abcd", "chars", "ip,numbers") == 34 * 4 and needed("abcd", "chars", "re:a") == needed("abcd", "chars", "header") == 35 * 4


def test_rows_and_pairs_that_take_more_than_the_limit_are_reported_but_not_in_the_report(tmp_path, monkeypatch):
    """The report is the same with any limit; run.json and the progress tell."""
    texts = [{"text": f"word {i // 3} of a text {i % 3}"} for i in range(30)]
    monkeypatch.setattr("likewise.runs.distinct.ROW_BYTES", 10 << 20)  # 30 such rows take 300 MiB
    reports = []
    for memory, notes in (("256M", 1), ("1G", 0)):
        printed = lw.Progress()
        reports.append(lw.dedup(texts, out=tmp_path / memory, memory=memory, progress=printed).report)
        assert len(printed.notes) == notes and all("30 records take about 301 MiB" in note for note in printed.notes)
        assert json.loads((tmp_path / memory / "run.json").read_text())["notes"] == [note.replace("memory=", "memory") for note in printed.notes]
    assert reports[0] == reports[1]
    monkeypatch.setattr("likewise.runs.pipeline.PAIR_BYTES", 200 << 20)
    printed = lw.Progress()
    assert len(lw.pairs(["a b c d e f", "a b c d e f", "x"], memory="256M", progress=printed)) == 1 and not printed.notes
    assert len(lw.pairs(["a b c d e f"] * 4, memory="256M", progress=printed)) == 6
    assert printed.notes == ["6 pairs of copies take about 1,200 MiB, more than memory= allows; the run continues and may exceed the limit"]
    assert len(lw.pairs(["a b c d e f", "a b c d e g", "a b c d e h"], by="words:1", threshold=0.5, memory="256M", progress=printed)) == 3
    assert len(printed.notes) == 2 and "pairs so far take about" in printed.notes[1]


def test_an_index_of_sets_that_takes_more_than_the_limit_is_reported(monkeypatch):
    """Three texts have four shingles each."""
    texts = ["a b c d", "a b c e", "a b c f"]
    monkeypatch.setattr("likewise.runs.pair_search.JOIN_BYTES", 25 << 20)
    monkeypatch.setattr("likewise.runs.neighbor_search.SEARCH_BYTES", 50 << 20)
    for search, need in ((partial(lw.pairs, exact=True), 300), (partial(lw.neighbors, k=1), 600)):
        for memory, noted in (("256M", True), ("1G", False)):
            printed = lw.Progress()
            assert len(search(texts, by="words:1", threshold=0.5, memory=memory, progress=printed)) == 3
            said = f"12 elements of sets take about {need} MiB, more than memory= allows; the run continues and may exceed the limit"
            assert printed.notes == [said] * noted


def test_a_record_of_an_archive_that_expands_beyond_memory(tmp_path: Path, floor: int) -> None:
    size = 700 << 20
    encoder = zlib.compressobj(1, zlib.DEFLATED, 31)
    head = "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:x:{}>\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n"
    with open(tmp_path / "a.warc.gz", "wb") as file:
        file.write(encoder.compress(head.format(1, size).encode()))
        for _ in range(size >> 20):
            file.write(encoder.compress(bytes(1 << 20)))
        file.write(encoder.compress(f"\r\n\r\n{head.format(2, 3)}one".encode()) + encoder.flush())
    status, used, said = run(tmp_path, "dedup", "a.warc.gz", "-o", "out", "--on-error", "skip")
    assert status == 0, said
    assert "1 of 2 items could not be read and were rejected: a.warc.gz, record <urn:x:1> at byte 0: the record is longer than" in said
    assert used < floor + ALLOWED
