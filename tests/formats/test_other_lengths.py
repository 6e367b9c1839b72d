"""Vectors, codes and features of another length than the first are errors that name the place, or rejected and counted."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw

#: (field, --by, the limit, items of which the last but one is of another length, the reason).
MIXED: dict[str, tuple[str, str, dict[str, Any], list[Any], str]] = {
    "vectors": (
        "vector",
        "l2",
        {"within": 0.5},
        [[1.0, 2.0], [1.0, 2.0], [5.0], [1.0, 2.1]],
        "has 1 number, but the first vector (a.jsonl, item 1) has 2 numbers; all vectors must have the same length",
    ),
    "codes": (
        "code",
        "hamming",
        {"within": 1},
        ["00ff", "00ff", "ff", "00fe"],
        "has 8 bits, but the first code (a.jsonl, item 1) has 16 bits; all codes must have the same length",
    ),
    "sparse vectors": (
        "vector",
        "cosine",
        {},
        [{"indices": [1, place], "values": [1.0, 0.01], "dim": dim} for place, dim in ((2, 9), (2, 9), (3, 8), (4, 9))],
        "has dimension 8, but the first vector that has one (a.jsonl, item 1) has dimension 9; all vectors must have the same dimension",
    ),
    "features": (
        "features",
        "features",
        {},
        [[[1.0, 2.0]], [[1.0, 2.0]], [[1.0]], [[1.0, 2.0]]],
        "has features of 1 number, but the first item (a.jsonl, item 1) has features of 2 numbers; all features must have the same length",
    ),
}


def lines(field: str, items: list[Any]) -> str:
    return "".join(json.dumps({field: item}) + "\n" for item in items)


@pytest.mark.parametrize("kind", MIXED)
def test_an_item_of_another_length_is_refused_or_set_aside(kind: str, tmp_path: Path) -> None:
    """The first stands in a.jsonl and the other in b.jsonl, in its second line."""
    field, by, limit, items, reason = MIXED[kind]
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path, some in zip(paths, (items[:1], items[1:]), strict=True):
        path.write_text(lines(field, some))
    for verb in (lw.dedup, lw.pairs):
        with pytest.raises(lw.DataError) as refused:
            verb(paths, by=by, **limit)
        assert str(refused.value).startswith("b.jsonl, line 2, column ") and reason in str(refused.value)
    found = lw.dedup(paths, by=by, on_error="skip", out=tmp_path / "out", **limit)
    counts = found.report["counts"]
    assert (counts["read"], counts["rejected"], counts["removed"]) == (4, 1, 2)
    (rejected,) = map(json.loads, (tmp_path / "out/rejected.jsonl").read_text().splitlines())
    assert (rejected["source"], rejected["position"]) == ("b.jsonl", 1) and reason in rejected["reason"]
    assert rejected["bytes"] == lines(field, items[2:3]).rstrip("\n")
    assert (tmp_path / "out/kept/a.jsonl").read_text() == lines(field, items[:1]) and not (tmp_path / "out/kept/b.jsonl").read_text()


def test_of_columns_the_row_is_named(tmp_path: Path) -> None:
    for name, rows in (("a", [[1.0, 2.0, 3.0]]), ("b", [[1.0, 2.0, 3.0], [1.0, 2.0]])):
        pq.write_table(pa.table({"vector": rows}), tmp_path / f"{name}.parquet")
    said = r"b\.parquet, position 1 .*has 2 numbers, but the first vector \(a\.parquet, item 1\) has 3 numbers"
    with pytest.raises(lw.DataError, match=said):
        lw.pairs(tmp_path / "*.parquet", by="cosine")
    assert lw.dedup(tmp_path / "*.parquet", by="cosine", on_error="skip").report["counts"]["rejected"] == 1


def test_a_file_of_other_vectors_is_set_aside_row_by_row(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.eye(3, 4))
    np.save(tmp_path / "b.npy", np.eye(3, 5))
    counts = lw.dedup(tmp_path / "*.npy", by="l2", within=0.1, on_error="skip").report["counts"]
    assert (counts["read"], counts["kept"], counts["rejected"]) == (6, 3, 3)


def test_the_first_item_that_can_be_used_tells_the_length(tmp_path: Path) -> None:
    """Neither a vector with NaN nor an empty one does."""
    (tmp_path / "a.jsonl").write_text('{"vector": [1, NaN, 3]}\n{"vector": []}\n{"vector": [1, 2]}\n{"vector": [1, 2]}\n{"vector": [1, 2, 3]}\n')
    found = lw.dedup(tmp_path / "a.jsonl", by="l2", within=0.1, on_error="skip", out=tmp_path / "out")
    assert (found.report["counts"]["rejected"], found.report["counts"]["removed"]) == (2, 1)
    assert "(a.jsonl, item 3) has 2 numbers" in (tmp_path / "out/rejected.jsonl").read_text()


@pytest.mark.parametrize("threads", [1, 3])
def test_a_dimension_that_comes_late_holds_for_all_after_it(threads: int, tmp_path: Path) -> None:
    """In chunks that were parsed before it was known, too; and after an interruption."""

    def vector(place: int, dim: int | None) -> dict:
        return {"indices": [place], "values": [1.0]} | ({} if dim is None else {"dim": dim})

    for number in range(6):
        said = [None] * 30 if number < 2 else [7000 if place == 15 else 5000 for place in range(30)]
        (tmp_path / f"{number}.jsonl").write_text(lines("vector", [vector(30 * number + place, dim) for place, dim in enumerate(said)]))
    out = tmp_path / "out"

    class Stopped(lw.Progress):
        read = 0

        def advance(self, amount: int) -> None:
            self.read += 1
            if self.read == 4:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lw.dedup(tmp_path / "*.jsonl", by="cosine", on_error="skip", out=out, threads=threads, progress=Stopped())
    found = lw.dedup(tmp_path / "*.jsonl", by="cosine", on_error="skip", out=out, threads=threads, resume=True)
    assert (found.report["counts"]["read"], found.report["counts"]["rejected"]) == (180, 4)
    rejected = [json.loads(line) for line in (out / "rejected.jsonl").read_text().splitlines()]
    assert [(entry["source"], entry["position"]) for entry in rejected] == [(f"{number}.jsonl", 15) for number in range(2, 6)]
    assert all("(2.jsonl, item 1) has dimension 5,000" in entry["reason"] for entry in rejected)


# ------------------------------------------------------------------------------------------ warnings that tell the truth


def test_a_warning_speaks_of_the_items_that_there_are() -> None:
    """The prediction for a million items does not hold for eleven."""
    texts = [f"a{i} b{i} c{i} d{i}" for i in range(11)]
    given = {"by": "words:1", "threshold": 0.05, "bands": 200, "rows": 1}
    assert "each of 1,000,000 items may be compared with" in lw.plan(**given).warnings[-1]
    for verb in (lw.dedup, lw.pairs):
        assert not [said for said in verb(texts, **given).report["warnings"] if "may be compared with" in said]


def test_a_large_group_is_announced_with_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("likewise.planning.plan.MANY_CANDIDATES", 1)
    texts = [f"a{i} b{i % 3} c{i % 5} d{i % 7}" for i in range(200)]
    (said,) = lw.pairs(texts, by="words:1", threshold=0.05, bands=200, rows=1).report["warnings"][:1]
    assert "each of 200 items may be compared with" in said


def test_a_file_that_is_given_by_several_names_is_read_once_and_that_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text(lines("text", ["one two three", "four five six"]))
    Path("link.jsonl").symlink_to("a.jsonl")
    Path("hard.jsonl").hardlink_to("a.jsonl")
    for again, printed in (
        ("a.jsonl", "a.jsonl"),
        ("./a.jsonl", "a.jsonl"),
        ("a.json*", "a.jsonl"),
        ("link.jsonl", "link.jsonl, the same file as a.jsonl"),
        ("hard.jsonl", "hard.jsonl, the same file as a.jsonl"),
    ):
        found = lw.dedup([Path("a.jsonl"), Path(again)])
        assert found.report["counts"]["read"] == 2
        assert f"1 file was given more than once and read once, such as {printed}" in found.report["warnings"]
    Path("b.jsonl").write_text(lines("text", ["seven"]))
    said = lw.dedup([Path(name) for name in ("a.jsonl", "b.jsonl", "a.jsonl", "b.jsonl", "link.jsonl")]).report["warnings"]
    assert "2 files were given more than once and read once, such as a.jsonl" in said
    assert not [said for said in lw.dedup([Path("a.jsonl"), Path("b.jsonl")]).report["warnings"] if "more than once" in said]
