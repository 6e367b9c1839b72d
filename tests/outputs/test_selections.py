"""Rows and columns of results that a caller in Python selects: by a mask, by names, by a limit."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import likewise as lw
from eight_words import LIKE, ROWS, SAME
from likewise.runs.table import Data, LazyData


@pytest.fixture
def pairs() -> lw.Pairs:
    return lw.pairs(ROWS, **LIKE)


def test_a_mask_selects_rows(pairs: lw.Pairs) -> None:
    column = pairs.to_arrow()["similarity"]
    masks = [pairs["similarity"] < 0.9, pc.less(column, 0.9), pc.less(column, 0.9).combine_chunks(), [False, True, True]]
    masks += [pairs.to_pandas()["similarity"] < 0.9, pairs.to_polars()["similarity"] < 0.9]
    masks += [pd.array([None, True, True], "boolean"), pa.array([None, True, True])]  # unknown: not selected, as in SQL
    for mask in masks:
        found = pairs[mask]
        assert type(found) is lw.Pairs and found == pairs[1:] and found["id_a"].tolist() == ["a", 7]
        assert found.with_text(None)["text_b"].tolist() == [f"{SAME} nine"] * 2
    assert pairs[(pairs["similarity"] > 0.9) | (pairs["id_a"] == 7)]["id_b"].tolist() == [7, "c"]
    assert len(pairs[:0][np.zeros(0, bool)]) == 0 and len(pairs[np.zeros(3, bool)]) == 0
    kept = lw.dedup(ROWS, **LIKE).kept
    assert kept[np.array([False, True])].to_native() == [ROWS[3]]


def test_a_list_of_names_selects_columns(pairs: lw.Pairs) -> None:
    found = pairs[["id_b", "id_a"]]
    assert type(found) is lw.Pairs and found.columns == ["id_b", "id_a"] and len(found) == 3
    assert found["id_b"].tolist() == [7, "c", "c"] and found[0] == {"id_b": 7, "id_a": "a"}
    assert pairs[["id_b"]].with_text(4)["text_b"].tolist() == ["one…"] * 3
    with pytest.raises(lw.UsageError, match=r"^with_text: this table has no column of ids; its columns are similarity$"):
        pairs[["similarity"]].with_text()
    for limit in (found.above, found.within):
        with pytest.raises(lw.UsageError, match=r": these pairs have neither similarities nor distances; their columns are id_b, id_a$"):
            limit(0.9)
    assert found == lw.pairs(ROWS, **LIKE)[["id_b", "id_a"]] and found != pairs
    with pytest.raises(lw.UsageError, match=r"^to_native: "):
        lw.dedup(ROWS, **LIKE).kept[["id"]].to_native()


def test_columns_of_a_removal_keep_the_inputs_of_their_items() -> None:
    """The places of the items are in columns that are no longer there."""
    removed = lw.dedup(ROWS, **LIKE).removed
    assert removed[["id"]].with_text(None).to_dicts() == [{"id": 7, "text": SAME}, {"id": "c", "text": f"{SAME} nine"}]
    assert removed[1:][["kept_id"]].with_text(None).to_dicts() == [{"kept_id": "a", "kept_text": SAME}]


def test_columns_of_a_table_in_files_are_read_when_they_are_used() -> None:
    def whole() -> Data:
        raise AssertionError

    schema = pa.schema([("id", pa.int64()), ("value", pa.int64())])
    table = lw.Table(LazyData(10**9, schema, lambda n: Data(pa.table({"id": range(n), "value": range(n)}, schema)), whole))
    chosen = table[["value"]]
    assert chosen.columns == ["value"] and len(chosen) == 10**9 and chosen.head(2).to_dicts() == [{"value": 0}, {"value": 1}]


def test_a_removal_has_its_counts() -> None:
    removal = lw.dedup(ROWS, **LIKE)
    assert removal.counts is removal.report["counts"] and removal.counts["kept"] == 2


@pytest.mark.parametrize("limit", ["0.9", "9/10", np.float32(0.9), pa.scalar("0.9").as_py()])
def test_a_limit_is_a_number_or_text_as_for_threshold(pairs: lw.Pairs, limit: Any) -> None:
    found = pairs.above(limit)
    assert found == pairs[:1] and found.report["threshold"] == 0.9


@pytest.mark.parametrize("limit", ["much", None, True, float("nan"), [0.9], "inf"])
def test_other_limits_are_refused(pairs: lw.Pairs, limit: Any) -> None:
    with pytest.raises(lw.UsageError, match=re.escape(f"above({limit!r}): give a number, such as 0.9")):
        pairs.above(limit)
    distances = lw.pairs(["kitten", "kittens"], by="levenshtein", within=2)
    with pytest.raises(lw.UsageError, match=re.escape(f"within({limit!r}): give a number, such as 2")):
        distances.within(limit)


def test_a_distance_limits_pairs_as_text() -> None:
    distances = lw.pairs(["kitten", "kittens"], by="levenshtein", within=2)
    assert len(distances.within("1")) == 1 and len(distances.within("0.5")) == 0


def test_pairs_are_joined_to_the_frame_by_position() -> None:
    """Without ids, pairs are named by position, whatever the labels are."""
    frame = pd.DataFrame({"text": [SAME, "other words", SAME]}, index=["x", "y", "z"])
    found = lw.pairs(frame, **LIKE)
    assert found[0]["id_a"] == 0 and found[0]["id_b"] == 2
    assert frame.iloc[found["id_b"]].index.tolist() == ["z"]
    assert pl.DataFrame({"text": frame["text"].tolist()})[found["id_b"]]["text"].to_list() == [SAME]
