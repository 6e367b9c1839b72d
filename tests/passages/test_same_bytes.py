"""The held side, memory, threads and batches never change the passages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import likewise as lw
from likewise.passages import grown, streams
from likewise.runs import quotes as runs

#: A template with more places than are followed, in documents that share other things too.
TEMPLATE = " ".join(f"clause{number}" for number in range(40))


def documents(rng: np.random.Generator, number: int) -> list[str]:
    made: list[str] = []
    for _ in range(number):
        words = [f"w{word}" for word in rng.integers(0, 3_000, int(rng.integers(20, 150)))]
        if made and rng.random() < 0.6:
            words += made[int(rng.integers(len(made)))].split()[: int(rng.integers(5, 90))]
        made.append(" ".join([*words, *TEMPLATE.split()] if rng.random() < 0.5 else words))
    return made


@pytest.fixture(scope="module")
def sides() -> tuple[list[str], list[str]]:
    made = documents(np.random.default_rng(5), 400)
    return made[:300], made[250:]


@pytest.fixture(scope="module")
def wanted(sides: tuple[list[str], list[str]]) -> tuple[pa.Table, dict[str, Any]]:
    found = lw.quotes(*sides, threads=1)
    assert len(found) > 300 and found.report["common"]["passages"] > 50
    return found.to_arrow(), found.report


def swap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold the larger side."""
    monkeypatch.setattr(runs.Given, "size", property(lambda given: -sum(source.size for source in given.sources)))


WAYS: dict[str, Any] = {
    "as it is": lambda patch: None,
    "the larger side held": swap,
    "several passes": lambda patch: patch.setattr(runs, "KEY_BYTES", 1 << 18),
    "several passes, the larger side held": lambda patch: (swap(patch), patch.setattr(runs, "KEY_BYTES", 1 << 18)),
    "small batches": lambda patch: (patch.setattr(grown, "AT_ONCE", 50), patch.setattr(streams, "AT_ONCE", 2000)),
}


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("way", WAYS)
def test_the_result_is_the_same(sides: Any, wanted: Any, way: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    WAYS[way](monkeypatch)
    passes: list[str] = []
    read = runs.read
    monkeypatch.setattr(runs, "read", lambda run, name, *rest: (passes.append(name), read(run, name, *rest))[1])
    found = lw.quotes(*sides, threads=threads, memory="256M")
    assert (len(passes) > 3) == ("several" in way), passes
    assert found.to_arrow() == wanted[0]
    assert found.report == wanted[1]


def test_the_size_of_chunks_does_not_matter(sides: Any, wanted: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, texts in zip(("corpus", "suspects"), sides, strict=True):
        for number, text in enumerate(texts):
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / f"{number:03}.txt").write_text(text)
    names = [name for name in wanted[0].column_names if name.rpartition("_")[2] in ("start", "end", "agreed", "similarity")]
    for size in (1, 20_000):
        monkeypatch.setattr("likewise.io.formats.text.CHUNK_BYTES", size)
        for way in (lambda patch: None, swap):
            with monkeypatch.context() as patch:
                way(patch)
                assert lw.quotes(tmp_path / "corpus", tmp_path / "suspects").to_arrow().select(names) == wanted[0].select(names)
