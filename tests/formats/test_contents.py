"""Digests of the contents of sources: equal for equal rows, whatever the chunks."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

import likewise as lw
from likewise.io import batches
from likewise.io.contents import BASES, digest, joined, lane
from likewise.io.formats import lines


def test_a_lane_is_a_polynomial():
    assert lane(np.array([5, 7, 11], np.uint64), 3) == 5 + 7 * 3 + 11 * 9
    assert lane(np.array([2**63, 2], np.uint64), BASES[0]) == (2**63 + 2 * BASES[0]) % 2**64
    assert lane(np.zeros(0, np.uint64), 3) == 0


@pytest.mark.parametrize("cuts", [[], [0], [1, 1, 4], [2, 3, 9]])
def test_parts_join_to_the_whole(cuts):
    rows = np.random.default_rng(1).integers(0, 2**64, 10, np.uint64)
    edges = [0, *cuts, 10]
    parts = [(digest(rows[begin:end]), end - begin) for begin, end in itertools.pairwise(edges)]
    assert joined(parts) == joined([(digest(rows), 10)])


def test_order_number_and_place_of_rows_count():
    a, b, c = np.random.default_rng(2).integers(0, 2**64, 3, np.uint64).tolist()
    some = [[a, b, c], [b, a, c], [a, b], [a, b, c, 0], [0, a, b, c], [a + 1, b, c], []]
    assert len({joined([(digest(np.array(rows, np.uint64)), len(rows))]) for rows in some}) == len(some)


def test_manifests_tell_contents_apart_and_do_not_depend_on_chunks(tmp_path, monkeypatch):
    def found(name: str, rows: list[object], **choices: object) -> str:
        path = tmp_path / "in.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        lw.dedup(path, out=tmp_path / name, by="words:2", **choices)
        (entry,) = json.loads((tmp_path / name / "manifest.json").read_bytes())["inputs"]
        return entry["content"]

    rows = [{"text": f"a b c {i}"} for i in range(500)]
    whole = found("whole", rows)
    others = [found("one other", [*rows[:-1], {"text": "other"}]), found("none", [*rows[:-1], {}]), found("empty", [*rows[:-1], {"text": ""}])]
    assert len({whole, *others}) == 4 and found("normalized", rows, normalize="none") == whole
    for module in (batches, lines):
        monkeypatch.setattr(module, "CHUNK_BYTES", 1_000)
    assert found("in chunks", rows) == whole and found("limited", rows, limit=499) == found("fewer", rows[:499]) != whole
