"""Runs that Spark cannot do are refused before any work, with an alternative."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likewise as lw
from command_line import refused
from likewise.errors import UsageError

#: No cluster is reached: every refusal comes before that.
SPARK = ("--engine", "spark", "--master", "spark://127.0.0.1:1")
HERE = "run it on one machine, without --engine spark"


@pytest.fixture
def inputs(folder: Path) -> Path:
    rng = np.random.default_rng(1)
    rows = [{"text": f"text {i}", "elements": rng.integers(0, 500, 9).tolist(), "bits": "a0b1", "numbers": [i, 1.5]} for i in range(50)]
    rows = [row | {"sparse": {"indices": [i], "values": [1.0]}} for i, row in enumerate(rows)]
    (folder / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["dedup", "-o", "out", "--level", "passage"], f"--engine spark: passages are found on one machine only; {HERE}"),
        (["dedup", "-o", "out", "--sketches"], "--engine spark: --sketches is written on one machine only; leave one of them out"),
        (["dedup", "-o", "out", "--by", "levenshtein", "--within", 2], f"--engine spark: --by levenshtein compares strings without bands; {HERE}"),
        (
            ["dedup", "-o", "out", "--by", "weighted", "--field", "elements", "--exact"],
            f"--engine spark: --exact joins weighted sets on one machine only; leave it out, or {HERE}",
        ),
        (
            ["dedup", "-o", "out", "--by", "cosine", "--field", "numbers", "--threshold", 0.8],
            "--engine spark: these vectors would be joined on one machine, which is cheaper; add --bands",
        ),
        (
            ["pairs", "--by", "words:5/containment", "--threshold", 0.8],
            f"--engine spark: --by words:5/containment compares texts without bands; {HERE}",
        ),
        (
            ["neighbors", "--by", "cosine", "--field", "numbers"],
            f"--engine spark: --exact is required to find the nearest vectors; add it, or {HERE}",
        ),
        (["neighbors", "--by", "angle", "--field", "sparse"], "--by angle: nearest neighbors of sparse vectors are available for cosine "),
        (["neighbors", "--by", "levenshtein"], "--master spark://127.0.0.1:1: no connection within 10 seconds"),
        (["dedup", "-o", "out"], "--master spark://127.0.0.1:1: no connection within 10 seconds (127.0.0.1 port 1: Connection refused); "),
    ],
)
def test_what_spark_cannot_do_is_refused(inputs: Path, args: list[Any], said: str) -> None:
    verb, *others = args
    assert refused(verb, "in.jsonl", *others, *SPARK).removeprefix("likewise: error: ").startswith(said)
    assert [path.name for path in inputs.iterdir()] == ["in.jsonl"]


def test_messages_do_not_hold_the_token_of_a_master(inputs: Path) -> None:
    master = "sc://127.0.0.1:1/;token=secret"
    for more in (["--engine", "spark"], []):
        said = refused("dedup", "in.jsonl", "-o", "out", *more, "--master", master)
        assert "--master" in said and "secret" not in said


def test_data_of_this_process_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^engine='spark': executors cannot read data of this process; write it to a file, such as Parquet, "):
        lw.dedup(["a b c d e f", "g h i j k l"], engine="spark", master="local[2]")
