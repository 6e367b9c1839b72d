"""Distances that count positions or edits are whole numbers wherever they come out; all others stay as they are."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from command_line import run

CODES = np.array([[0b1011], [0b1111], [0b0000]], np.uint8)
WORDS = ["kitten", "kittens", "mitten", "far away"]


@pytest.mark.parametrize(
    "by, items, expected", [("hamming", CODES, [(0, 1, 1)]), ("edit", WORDS, [(0, 1, 1)]), ("levenshtein", WORDS, [(0, 1, 1), (0, 2, 1)])]
)
def test_pairs_and_removed_hold_whole_numbers(by, items, expected):
    found = lw.pairs(items, by=by, within=1).to_arrow()
    assert found.schema.field("distance").type == pa.int64()
    assert [tuple(row.values()) for row in found.to_pylist()] == expected
    removed = lw.dedup(items, by=by, within=1).removed.to_arrow()
    assert removed.schema.field("distance").type == pa.int64() and set(removed["distance"].to_pylist()) == {1}
    assert lw.pairs(items, by=by, within=1).within(0.5).to_arrow().num_rows == 0, "limits need not be whole"
    none = lw.pairs(items[2:], by=by, within=1).to_arrow()
    assert (none.num_rows, none.schema.field("distance").type) == (0, pa.int64())


def test_neighbors_by_hamming_have_whole_distances():
    found = lw.neighbors(CODES, by="hamming", k=1).to_arrow()
    assert found.schema.field("distance").type == pa.int64() and found["distance"].to_pylist() == [1, 1, 3]


def test_measured_distances_and_similarities_stay_floats():
    points = np.array([[0.0, 0.0], [3.0, 4.0]])
    assert lw.pairs(points, by="l2", within=5).to_arrow().schema.field("distance").type == pa.float64()
    assert lw.pairs(["a b", "a b"], by="words:1").to_arrow().schema.field("similarity").type == pa.float64()


def test_what_is_written_and_shown_has_no_fraction(tmp_path):
    path, out = tmp_path / "in.jsonl", tmp_path / "out"
    path.write_text("".join(json.dumps({"id": i, "text": word}) + "\n" for i, word in enumerate(WORDS)))
    done = run("dedup", path, "--by", "edit", "--within", 1, "-o", out, "--pairs", "--output", "annotate")
    assert done.exit_code == 0, done.stderr
    assert pq.read_table(out / "removed.parquet")["distance"].to_pylist() == [1]
    assert pq.read_schema(out / "pairs.parquet").field("distance").type == pa.int64()
    (annotated,) = (out / "annotated").iterdir()
    assert '"likewise_distance":1}' in annotated.read_text().replace(" ", "")
    shown = run("show", out, 1)
    assert shown.exit_code == 0 and "1 edit" in shown.stdout and "1.0" not in shown.stdout
    listed = run("pairs", path, "--by", "edit", "--within", 1)
    assert json.loads(listed.stdout) == {"id_a": 0, "id_b": 1, "distance": 1} and "1.0" not in listed.stdout
