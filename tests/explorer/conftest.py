from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import likewise as lw
from explorers import written
from services import Service, command

#: Ten words; by single words, each replaced one takes 2 from a union that grows by 1, so similarities are easy to see.
WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]


def less(number: int, mark: str) -> str:
    """The words, of which the last ``number`` are replaced: similarity (10 - number) / (10 + number)."""
    return " ".join([*WORDS[: len(WORDS) - number], *(f"{mark}{place}" for place in range(number))])


#: Two clusters by single words at 0.5: one of a with b (9/11), c (8/12), d (7/13) and a copy; one of x with y (9/11).
FIRST = {"a": less(0, ""), "b": less(1, "b"), "x": "one two three four five six seven eight nine ten", "c": less(2, "c")}
SECOND = {"d": less(3, "d"), "copy": less(0, ""), "y": "one two three four five six seven eight nine other", "alone": "nothing like it"}


@pytest.fixture(scope="session")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explored")
    inputs = [written(folder / "first.jsonl", FIRST), written(folder / "second.jsonl", SECOND)]
    lw.dedup(inputs, by="words:1", threshold=0.5, out=folder / "out")
    return folder / "out"


@pytest.fixture(scope="module")
def explored(out: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """An explorer of the two clusters, for the tests of a file."""
    with command(out, tmp_path_factory.mktemp("served")) as found:
        yield found
