"""A run parses each row once; only a few rows are parsed again, for the inspection before and the examples after it."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from likewise.errors import DataError
from likewise.io import inputs
from likewise.io.formats import jsonl, lines
from likewise.report.originals import Originals
from likewise.stages.clusters import LARGEST, MEMBERS, SUSPICIOUS
from likewise.stages.removed import GROUPS

N = 3000
#: Maximum number of rows that a report shows: both items of examples, and the representatives and members of clusters.
SHOWN = 2 * sum(GROUPS.values()) + (LARGEST + SUSPICIOUS) * (1 + MEMBERS)


def texts() -> list[str]:
    """Every third text differs from the one before in one word."""
    made = [" ".join(f"w{i}x{j}" for j in range(30)) for i in range(N)]
    return [made[i - 1] + " more" if i % 3 == 1 else text for i, text in enumerate(made)]


def vectors() -> np.ndarray:
    made = np.random.default_rng(0).normal(size=(N, 8)).astype(np.float32)
    made[1::3] = made[::3] + np.float32(0.001)
    return made


def saved(path: Path) -> Path:
    if path.suffix == ".npy":
        np.save(path, vectors())
    elif path.suffix == ".parquet":
        pq.write_table(pa.table({"vector": list(vectors())}), path)
    elif path.name.startswith("vectors"):
        path.write_text("".join(json.dumps({"vector": row}) + "\n" for row in vectors().tolist()))
    else:
        raw = "".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(texts())).encode()
        path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    return path


@pytest.fixture
def parsed(monkeypatch) -> Counter:
    """Place of a row -> number of times it was parsed."""
    times: Counter = Counter()
    real = inputs.Source.parse

    def parse(source, chunk, want):
        records = real(source, chunk, want)
        times.update(records.start.tolist())
        return records

    monkeypatch.setattr(inputs.Source, "parse", parse)
    monkeypatch.setattr(lines, "CHUNK_BYTES", 1 << 16)
    return times


@pytest.mark.parametrize("name", ["a.jsonl", "vectors.jsonl", "a.npy", "a.parquet"])
def test_rows_are_parsed_once(tmp_path: Path, parsed: Counter, name: str) -> None:
    """Exceptions: the first few rows, which show the width of vectors, and the rows shown in the report."""
    by = {"threshold": 0.8} if name == "a.jsonl" else {"by": "cosine", "threshold": 0.999, "field": "vector"}
    out = tmp_path / "out"
    lw.dedup(saved(tmp_path / name), out=out, **by)
    few = {"a.jsonl": 0, "vectors.jsonl": (1 << 16) // 150}.get(name, 64)  # a line has more than 150 bytes
    assert len(parsed) == N
    near = 1 + N // inputs.MOST_RANGES  # rows of one small range
    assert 0 < sum(parsed.values()) - N <= few + SHOWN * (near if name.endswith(".jsonl") else 1)
    report = (out / "report.html").read_text()
    assert report.count("<h3>Example") >= GROUPS["borderline"]


def test_a_compressed_source_is_read_again_in_one_pass(tmp_path: Path, monkeypatch, parsed: Counter) -> None:
    """Only chunks with a row of the examples are parsed."""
    passes = []
    real = jsonl.pieces
    monkeypatch.setattr(jsonl, "pieces", lambda *given, **named: (passes.append(1), real(*given, **named))[1])
    lw.dedup(saved(tmp_path / "a.jsonl.gz"), threshold=0.8, out=tmp_path / "out")
    assert len(passes) == 2  # one for the run, one for the examples
    assert len(parsed) == N
    chunk = (1 << 16) // 170  # a line has more than 170 bytes
    assert sum(parsed.values()) - N <= chunk * SHOWN


@pytest.mark.parametrize("name", ["a.npy", "a.parquet"])
def test_items_of_an_output_are_found_by_number(tmp_path: Path, parsed: Counter, name: str) -> None:
    """Only the rows that are shown are parsed."""
    out = tmp_path / "out"
    lw.dedup(saved(tmp_path / name), out=out, by="cosine", threshold=0.999, field="vector")
    parsed.clear()
    originals = Originals(out)
    source = next(iter(originals.paths))
    found = originals.texts([(source, 5), (source, 2999), (source, 6)])
    assert [found[source, at].item.tolist() for at in (5, 6, 2999)] == vectors()[[5, 6, 2999]].tolist()
    assert sorted(parsed.elements()) == [5, 6, 2999]
    with pytest.raises(DataError, match="row 3000 no longer exists"):
        originals.texts([(source, 3000)])
