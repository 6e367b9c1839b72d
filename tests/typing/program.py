"""A program of a user, for type checkers: mypy in `./test`, pyright by tools/try_package.py. Nothing runs it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_type

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

import likewise as lw


def program() -> None:
    texts = ["one two three", "one two four"]
    frame = pl.DataFrame({"text": texts})

    result = lw.dedup(frame, by="words:2", threshold=0.5, keep="longest", out=Path("clean"))
    assert_type(result, lw.Removal)
    assert_type(result.kept, lw.Table)
    assert_type(result.removed["similarity"], np.ndarray)
    assert_type(result.removed[0], dict[str, Any])
    assert_type(result.removed[:10], lw.Table)
    assert_type(result.removed[result.removed["similarity"] < 0.9], lw.Table)
    assert_type(result.removed[["id", "kept_id"]].head(3), lw.Table)
    assert_type(result.kept.to_polars(), pl.DataFrame)
    assert_type(result.kept.to_pandas(), pd.DataFrame)
    assert_type(result.kept.to_arrow(), pa.Table)
    assert_type(result.kept.to_dicts(), list[dict[str, Any]])
    assert_type(result.counts, dict[str, int])
    assert_type(result.report, dict[str, Any])
    assert_type(result.out, Path | None)

    found = lw.pairs(["pages.jsonl"], by="cosine", threshold="9/10", exact=True)
    assert_type(found, lw.Pairs)
    assert_type(found.above(0.95), lw.Pairs)
    assert_type(found[:1], lw.Pairs)
    assert_type(found.report, dict[str, Any])
    assert_type(lw.neighbors(texts, query=texts, k=3), lw.Pairs)

    passages = lw.quotes(texts, texts, min_run=12)
    assert_type(passages, lw.Quotes)
    assert_type(passages.coverage, lw.Table)
    assert_type(passages.with_text(80), lw.Quotes)
    assert_type(lw.repeats(texts).passages, lw.Table)

    plan = lw.plan(threshold=0.8, recall=0.99)
    assert_type(plan, lw.Plan)
    assert_type(plan.curve(0.8), float)
    assert_type(plan.curve([0.7, 0.8]), NDArray[np.float64])
    assert_type(lw.audit(texts), lw.Audit | lw.Planted)
    assert_type(lw.frequent([["milk", "tea"]], support=1), lw.FrequentPairs)

    with lw.Index.create("seen.lw", by=lw.Words(5), threshold=0.8) as index:
        assert_type(index, lw.Index)
        assert_type(index.add(texts, ids=[1, 2]), lw.Added)
        assert_type(index.query(texts, k=1), lw.Answers)
        assert_type(index.add_new(texts), lw.Table)
        assert_type(len(index), int)
    client = lw.Client("http://127.0.0.1:8080", token="secret")
    assert_type(client.query(texts), lw.Answers)

    try:
        lw.dedup(texts, threshold=2)
    except lw.IdError as error:
        assert_type(error.ids, list[Any])
        assert_type(error.rows, list[int])
    except lw.LikewiseError as error:
        assert_type(str(error), str)

    # what a checker refuses
    lw.dedup(texts, by=5)  # type: ignore[arg-type]
    lw.dedup(texts, keep=True)  # type: ignore[arg-type]
    lw.dedup(texts, verify="sometimes")  # type: ignore[arg-type]
    lw.dedup(texts, treshold=0.8)  # type: ignore[arg-type]
    lw.pairs(texts, out="clean", level="word")  # type: ignore[arg-type]
