"""Spark DataFrames as inputs and as results, on a real cluster: the removal is that of the same rows in a file."""

from __future__ import annotations

import json
import lzma
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from command_line import SOURCE
from likewise.engines.spark.frames import Ordered
from likewise.errors import UsageError
from likewise.records import Want
from likewise.runs.frames import given
from pages import blocks_of

DOCS = Path(__file__).resolve().parents[2] / "docs"
#: Columns of many types, all of the number n of a row.
TYPES = (
    "n",
    "cast(n as tinyint) tiny",
    "cast(n as smallint) small",
    "cast(n as float) real",
    "cast(n as decimal(5, 2)) price",
    "cast(n as decimal(38, 3)) large",
    "n % 2 = 0 flag",
    "cast(cast(n as string) as binary) bytes",
    "nullif(n, 3) missing",
    "date'1400-03-01' old_day",
    "timestamp'1500-01-01 00:00:00.5' old",
    "timestamp_ntz'2020-01-01 00:00:00' clock",
    "interval '3' month months",
    "interval '2' day days",
    "array(n, 2) list",
    "map('a', n) pairs",
    "struct(n as x, 'y' as y) both",
    "array(struct(map('k', array(1.5)) as inside)) deep",
    "'c' `a b,c{d}`",
)
LIKE = {"by": "words:3", "threshold": 0.5}


def texts(n: int) -> list[str]:
    """Texts of which every third differs from one before it by a word, and some are copies."""
    rng, made = np.random.default_rng(1), []
    for row in range(n):
        words = made[int(rng.integers(row))].split() if row % 3 == 2 else [f"w{word}" for word in rng.integers(0, 300, 30)]
        if row % 9 != 8:
            words[int(rng.integers(len(words)))] = f"new{row}"
        made.append(" ".join(words))
    return made


def frame_of(spark: Any, rows: list[dict[str, Any]]) -> Any:
    """A DataFrame of rows in another order, in several partitions."""
    return spark.createDataFrame([rows[at] for at in np.random.default_rng(2).permutation(len(rows))]).repartition(3)


def as_json(frame: Any) -> list[str]:
    """All columns of all rows as JSON, in order."""
    return sorted(row[0] for row in frame.selectExpr("to_json(struct(*))").collect())


def all_nullable(schema: Any) -> Any:
    """A schema as JSON, but for what is nullable: all that Spark reads of Parquet is."""
    return json.loads(
        schema.json(),
        object_hook=lambda part: {name: value for name, value in part.items() if not name.lower().endswith(("nullable", "containsnull"))},
    )


def written(rows: list[dict[str, Any]], path: Path) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def test_the_removal_is_that_of_the_rows_in_order(spark: Any, tmp_path: Path) -> None:
    rows = [{"id": f"r{7 * row % 90}", "n": row, "text": text} for row, text in enumerate(texts(90))]
    frame = frame_of(spark, rows).selectExpr("id", "text", *TYPES)
    local = lw.dedup(written(rows, tmp_path / "local.parquet"), **LIKE)
    found = lw.dedup(frame, order="n", out=tmp_path / "out", **LIKE)
    assert found.counts == local.counts and 20 < found.counts["removed"] < 40
    columns = ["id", "kept_id", "similarity", "reason"]
    assert found.removed[columns] == local.removed[columns]
    assert [tuple(row) for row in found.removed.to_native().select(columns).collect()] == [tuple(row.values()) for row in local.removed[columns]]
    assert found.clusters.to_native().count() == len(local.clusters)
    kept = found.kept.to_native()
    removed = set(local.removed["id"])
    assert as_json(kept) == as_json(frame.where(~frame["id"].isin(removed)))
    assert all_nullable(kept.schema) == all_nullable(frame.schema)
    assert found.kept["n"].tolist() == [row["n"] for row in rows if row["id"] not in removed], "files are in order"
    assert found.kept.head(2)["n"].tolist() == [0, 1]
    assert found.out == tmp_path / "out" and {path.name for path in found.out.iterdir()} >= {"kept", "removed.parquet", "report.json"}
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".work")] == []
    assert "removed records: result.removed.to_native()" in repr(found)
    with pytest.raises(UsageError, match=r"^with_text: the rows of a Spark DataFrame are not stored; join to_native\(\) with it by id$"):
        found.removed.with_text()
    with pytest.raises(UsageError, match=r"^to_native: "):
        found.removed.head(1).to_native()


def test_rows_of_a_tie_are_in_an_order_of_their_own(spark: Any, tmp_path: Path) -> None:
    rows = [{"id": row, "day": row // 20, "text": "a b c", "more": {"a": row % 7}} for row in range(60)]
    forms = [spark.createDataFrame(some, "id long, day int, text string, more map<string, int>") for some in (rows, rows[::-1])]
    found = []
    for number, frame in enumerate((forms[0].repartition(4), forms[1].coalesce(1))):
        (tmp_path / f"{number}").mkdir()
        (source,) = Ordered(frame, ("day",)).sources(tmp_path / f"{number}", "given", Want())
        assert source.name == "part-000000.parquet"
        found.append(pq.read_table(source.path)["id"].to_pylist())
    assert found[0] == found[1] != sorted(found[0])
    assert [row // 20 for row in found[0]] == [row // 20 for row in range(60)]


def test_a_resumed_run_takes_the_rows_that_were_written(spark: Any, tmp_path: Path) -> None:
    frame = spark.range(100).selectExpr("id", "concat('text ', id) text")
    first = Ordered(frame, ("id",)).sources(tmp_path, "given", Want())
    before = [source.path.stat().st_mtime_ns for source in first]
    again = Ordered(frame.repartition(3), ("id",)).sources(tmp_path, "given", Want())
    assert [source.path.stat().st_mtime_ns for source in again] == before
    others = {"content": (frame.where("id < 99"), "id"), "order": (frame, "text"), "schema": (frame.selectExpr("id", "text", "1 more"), "id")}
    for what, (other, order) in others.items():
        with pytest.raises(UsageError, match=rf"cannot resume, because the {what} of the DataFrame differs from that of the interrupted run; "):
            Ordered(other, (order,)).sources(tmp_path, "given", Want())


def test_what_a_frame_cannot_be(spark: Any, tmp_path: Path) -> None:
    frame = spark.sql("select 1 id, 'a' text, map('a', 1) tags, make_interval(1) span")
    no_order = "the rows of a Spark DataFrame have no order, and the result depends on it; name a column to sort by, such as an id or a date: "
    cases: list[tuple[Any, dict[str, Any], str]] = [
        (frame, {}, no_order + "order=COLUMN"),
        (frame, {"order": []}, no_order + "order=COLUMN"),
        (frame, {"order": "ids"}, "order='ids': the DataFrame has no such column; its columns are id, text, tags, span"),
        (
            frame,
            {"order": "id", "against": spark.sql("select 'a' text")},
            "order='id': the second DataFrame has no such column; its columns are text",
        ),
        (frame, {"order": ["id", "tags"]}, "order='tags': Spark cannot sort by a column of type map<string,int>; name another"),
        (frame, {"order": 1}, "order=1: give the name of a column, or a list of names"),
        (frame, {"order": "id", "engine": "local"}, "engine='local': Spark DataFrames are compared on Spark; leave it out, or give frame.toPandas()"),
        (frame, {"order": "id", "master": "yarn"}, "master='yarn': a Spark DataFrame is compared in its own session; leave it out"),
        (["a b c"], {"order": "id"}, "order='id': only Spark DataFrames need it; other inputs have an order, so leave it out"),
        (frame, {"order": "id", "work": tmp_path / "work"}, "this DataFrame cannot be written in order as Parquet: "),
        (spark.readStream.format("rate").load(), {"order": "value"}, "a streaming DataFrame has no last row; write its rows, "),
    ]
    for inputs, options, said in cases:
        for verb in (lw.dedup, lw.pairs):
            with pytest.raises(UsageError) as raised:
                verb(inputs, **options)
            assert str(raised.value).startswith(said)
    assert [*tmp_path.iterdir()] == []


def test_ids_are_those_of_the_order_without_a_column_of_ids(spark: Any) -> None:
    frame = spark.sql("select 1 n, 'a' text, date'2020-01-01' day")
    for order, id in {"n": "n", "text": "text", "day": None}.items():
        assert given(frame, None, order, {})[2].get("id") == id
    assert given(frame.withColumn("id", frame["n"]), None, "n", {})[2]["id"] == "id"
    assert given(frame, None, "n", {"id": "text"})[2]["id"] == "text"


def test_the_code_for_users_of_mllib_finds_the_same_pairs_with_both(spark: Any) -> None:
    """That of the page, on its texts; in few partitions, because each step of MLlib has as many tasks."""
    with lzma.open(DOCS / "applications/data/advisories.jsonl.xz") as lines:
        frame = frame_of(spark, [{**json.loads(line), "n": n} for n, line in enumerate(lines)]).coalesce(1)
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    sides = []
    for side in ("With MLlib", "With likewise on Spark"):
        names: dict[str, Any] = {"frame": frame, "lw": lw}
        [code] = [content for _, title, content in blocks_of((DOCS / "how-to/from-mllib.md").read_text()) if title == side]
        exec(code, names)
        found = names["found"]
        rows = found if isinstance(found, list) else found.collect()
        sides.append({(row["id_a"], row["id_b"]): round(row["similarity"], 3) for row in rows})
    spark.conf.unset("spark.sql.shuffle.partitions")
    theirs, ours = sides
    assert theirs == ours and len(ours) == 8


#: By Spark Connect, without an output folder: against another DataFrame, and pairs.
CLIENT = """
import json, sys
import likewise as lw
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
frame, like = spark.read.json(sys.argv[2]), json.loads(sys.argv[3])
found = lw.dedup(frame.where("n >= 30"), against=frame.where("n < 30"), order="n", **like)
print(found.out, type(found.kept.to_native()).__module__)
print(sorted(row["id"] for row in found.removed.to_native().collect()))
print(sorted(row["id"] for row in found.kept.to_native().where("n % 2 = 0").collect()))
pairs = lw.pairs(frame, order=["n", "id"], star=True, **like)
print([list(row) for row in pairs.to_native().orderBy("id_a", "id_b").collect()])
print(found.kept.to_native().inputFiles()[0], pairs.to_native().inputFiles()[0])
"""


def test_by_spark_connect_into_folders_that_end_with_the_process(connect: str, tmp_path: Path) -> None:
    rows = [{"id": f"r{7 * row % 90:02}", "n": row, "text": text} for row, text in enumerate(texts(90))]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = [sys.executable, "-P", "-c", CLIENT, connect, str(tmp_path / "in.jsonl"), json.dumps(LIKE)]
    more = {"PYTHONPATH": str(SOURCE), "TMPDIR": str(tmp_path), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | more, check=False)
    assert not done.returncode, done.stderr
    out, removed, kept, pairs, files = done.stdout.splitlines()
    assert out == "None pyspark.sql.connect.dataframe"
    first, second = written(rows[30:], tmp_path / "first.parquet"), written(rows[:30], tmp_path / "second.parquet")
    local = lw.dedup(first, against=second, **LIKE)
    assert json.loads(removed.replace("'", '"')) == sorted(local.removed["id"]) and len(local.removed) > 5
    gone = {*local.removed["id"]}
    assert json.loads(kept.replace("'", '"')) == sorted(row["id"] for row in rows[30:] if row["id"] not in gone and row["n"] % 2 == 0)
    star = lw.pairs(written(rows, tmp_path / "all.parquet"), star=True, **LIKE)
    assert json.loads(pairs.replace("'", '"')) == sorted([*row.values()] for row in star) and len(star) > 20
    assert all(file.startswith(f"file://{tmp_path}/likewise-") for file in files.split()) and [*tmp_path.glob("likewise-*")] == []
