"""Tables with the texts of their items, which are read again from the inputs, whatever their format."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from eight_words import EIGHT_NINTHS, LIKE, ROWS, SAME, written_jsonl


@pytest.fixture
def pairs() -> lw.Pairs:
    return lw.pairs(ROWS, **LIKE)


def written_gz(path: Path) -> Path:
    name = path.with_suffix(".jsonl.gz")
    name.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in ROWS).encode()))
    return name


def written_parquet(path: Path) -> Path:
    name = path.with_suffix(".parquet")
    pq.write_table(pa.table({"id": [str(row["id"]) for row in ROWS], "text": [row["text"] for row in ROWS]}), name, row_group_size=2)
    return name


def written_csv(path: Path) -> Path:
    name = path.with_suffix(".csv")
    name.write_text("id,text\n" + "".join(f'{row["id"]},"{row["text"]}"\n' for row in ROWS))
    return name


def written_texts(path: Path) -> Path:
    path.mkdir()
    for number, row in enumerate(ROWS):
        (path / f"{number}.txt").write_text(str(row["text"]))
    return path


WRITTEN = (written_jsonl, written_gz, written_parquet, written_csv, written_texts)


@pytest.mark.parametrize("write", WRITTEN)
def test_texts_stand_beside_ids_whatever_the_format(write: Callable[[Path], Path], tmp_path: Path) -> None:
    path = write(tmp_path / "in")
    found = lw.pairs(path, **LIKE).with_text(None)
    assert found.columns[:2] == ["id_a", "text_a"]
    assert list(zip(found["text_a"], found["text_b"], strict=True)) == [(SAME, SAME), (SAME, f"{SAME} nine"), (SAME, f"{SAME} nine")]
    removal = lw.dedup(path, out=tmp_path / "out", **LIKE)
    assert removal.kept.with_text()["text"].tolist() == [SAME, "other words that nobody repeats"]
    assert removal.removed.with_text(None)["text"].tolist() == [SAME, f"{SAME} nine"]
    assert removal.removed.with_text(None)["kept_text"].tolist() == [SAME, SAME]
    assert removal.clusters.with_text(12)["text"].tolist() == ["one two thr…"] * 3
    nearest = lw.neighbors(path, query=[f"{SAME} ten"], by="words:1", k=2).with_text(None)
    assert nearest["text_a"].tolist() == [f"{SAME} ten"] * 2 and nearest["text_b"].tolist() == [SAME, SAME]


def test_texts_of_data_from_python(pairs: lw.Pairs) -> None:
    found = pairs.head(2).with_text(9)
    assert found.to_dicts() == [
        {"id_a": "a", "text_a": "one two …", "id_b": 7, "text_b": "one two …", "similarity": 1.0},
        {"id_a": "a", "text_a": "one two …", "id_b": "c", "text_b": "one two …", "similarity": EIGHT_NINTHS},
    ]
    assert found.with_text(None)["text_b"].tolist() == [SAME, f"{SAME} nine"] and found.with_text(None).columns == found.columns
    assert pairs.above(0.95).with_text(None)["text_b"].tolist() == [SAME]
    assert pairs.tail(1).with_text(None)[0]["text_b"] == f"{SAME} nine"
    both = lw.pairs(ROWS[:1], against=ROWS[2:], **LIKE).with_text(None)
    assert both.to_dicts() == [{"id_a": "a", "text_a": SAME, "id_b": "c", "text_b": f"{SAME} nine", "similarity": EIGHT_NINTHS}]
    nameless = lw.pairs([{"id": 1, "text": "x y"}, {"id": 1, "text": "y x"}], **LIKE).with_text()
    assert nameless[0]["text_a"] == "x y" and nameless[0]["text_b"] == "y x" and nameless[0]["position_b"] == 1


@pytest.mark.parametrize(
    ("items", "by", "first"),
    [
        ([[1.0, 0.0], [1.0, 0.0]], "cosine", "1.0 0.0"),
        ([{"x", "y"}, {"x", "y"}], "elements", '["x","y"]'),
        ([b"\x0f", b"\x0f"], "hamming", "0f"),
        (["kitten", "kitten"], "levenshtein", "kitten"),
    ],
)
def test_other_items_are_shown_as_people_see_them(items: Any, by: str, first: str) -> None:
    limit = {"within": 1} if by in ("hamming", "levenshtein") else {"threshold": 0.9}
    found = lw.pairs(items, by=by, **limit).with_text()
    assert found["text_a"].tolist() == found["text_b"].tolist()
    assert found["text_a"][0] in (first, '["y","x"]')


def test_long_inputs_are_read_from_the_chunk_of_each_row(tmp_path: Path) -> None:
    """Rows in the first, a middle and the last of many chunks, in a file that can be read from any place and in one that cannot."""
    texts = [f"{number} {'filler ' * 200}" for number in range(20_000)]
    for number in (3, 9_999, 19_998):
        texts[number] = texts[number + 1] = f"the copy at {number}"
    data = "".join(json.dumps({"text": text}) + "\n" for text in texts).encode()
    (tmp_path / "in.jsonl").write_bytes(data)
    (tmp_path / "in.jsonl.gz").write_bytes(gzip.compress(data, 1))
    for name in ("in.jsonl", "in.jsonl.gz"):
        found = lw.pairs(tmp_path / name, by="words:9", min_tokens=4, threshold=0.99, bands=1, rows=4).with_text()
        copies = [row for row in found if str(row["text_a"]).startswith("the copy")]
        assert [(row["id_a"], row["id_b"], row["text_a"], row["text_b"]) for row in copies] == [
            (number, number + 1, f"the copy at {number}", f"the copy at {number}") for number in (3, 9_999, 19_998)
        ]


@pytest.mark.parametrize("form", ["memory", "parquet", "jsonl", "gz"])
@pytest.mark.parametrize("step", [1, 1_000])
def test_each_text_is_that_of_its_id(form: str, step: int, tmp_path: Path) -> None:
    """All rows are read in one pass, and each of a few rows alone."""
    texts = {number: f"{number // 2} two three four" for number in range(6_000)}
    table = pa.table({"id": [f"i{number}" for number in texts], "text": [*texts.values()]})
    given: Any = table
    if form != "memory":
        given = tmp_path / f"in.{form}"
        lines = "".join(json.dumps(row) + "\n" for row in table.to_pylist()).encode()
        if form == "parquet":
            pq.write_table(table, given, row_group_size=700)
        elif form == "jsonl":
            given.write_bytes(lines)
        else:
            given = tmp_path / "in.jsonl.gz"
            given.write_bytes(gzip.compress(lines))
    found = lw.pairs(given, by="words:4", threshold=0.9)
    assert len(found) == 3_000
    chosen = found._with(found._data().filter(pa.chunked_array([np.arange(3_000) % step == step - 1])))
    assert len(chosen) == 3_000 // step
    for row in chosen.with_text(None):
        assert all(row[f"text_{side}"] == texts[int(row[f"id_{side}"][1:])] for side in "ab")


def test_an_input_that_changed_or_is_gone_is_named(tmp_path: Path) -> None:
    path = written_jsonl(tmp_path / "in.jsonl")
    removal = lw.dedup(path, **LIKE)
    shutil.copy(path, tmp_path / "before")
    path.write_text(path.read_text() + "\n")
    with pytest.raises(lw.DataError, match=f"{path}: this input has changed since the run"):
        removal.removed.with_text()
    assert "text" not in repr(removal).splitlines()[-3].split()
    path.unlink()
    with pytest.raises(lw.DataError, match=f"{path}: this input no longer exists, so its items cannot be read again"):
        removal.removed.with_text()
    assert removal.removed.head(0).with_text().columns[:2] == ["id", "text"]


def test_standard_input_cannot_be_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(lines)))
    found = lw.pairs("-", **LIKE)
    with pytest.raises(lw.DataError, match="with_text: standard input is not kept, so its items cannot be read again"):
        found.with_text()
    assert len(found) == 3


@pytest.mark.parametrize("length", [0, -1, 1.5, True, "9"])
def test_a_length_is_a_number_of_characters(pairs: lw.Pairs, length: Any) -> None:
    with pytest.raises(lw.UsageError, match=r"with_text: length=.*: give a whole number of characters from 1, or None for the whole text"):
        pairs.with_text(length)


def test_tables_without_items_have_no_texts() -> None:
    for table in (lw.frequent([["x", "y"]], support=1), lw.dedup(ROWS, **LIKE).kept, lw.Table(pa.table({"id": [1]}))):
        with pytest.raises(lw.UsageError, match="with_text: this table has no inputs to read"):
            table.with_text()


def test_one_of_many_text_files_that_changed_is_named_where_it_is_shown(tmp_path: Path) -> None:
    folder = written_texts(tmp_path / "in")
    found = lw.pairs(folder, **LIKE)
    (folder / "2.txt").unlink()
    assert found.head(1).with_text()["text_b"].tolist() == [SAME]
    with pytest.raises(lw.DataError, match=rf"{folder / '2.txt'}: this input no longer exists"):
        found.with_text()
