"""The engine uses only what the oldest supported PySpark has, according to the documentation of the installed one."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, DataFrameReader, DataFrameWriter, GroupedData, SparkSession, functions

import likewise
from likewise.engines.spark.session import OLDEST

ENGINE = Path(likewise.__file__).parent / "engines" / "spark"
PLACES = (DataFrame, GroupedData, Column, SparkSession, DataFrameReader, DataFrameWriter, functions)
#: Newer methods whose names other objects have that the engine uses.
OTHERS = {"exists"}  # of paths


def newer(names: set[str], places: tuple[Any, ...] = PLACES) -> dict[str, str]:
    """Names of PySpark that came after the oldest version, and the version of each. A name of several classes counts by the oldest of them."""
    found = {}
    for name in names - OTHERS:
        notes = [re.search(r"versionadded:: (\d+)\.(\d+)", getattr(place, name).__doc__ or "") for place in places if hasattr(place, name)]
        versions = [(int(note[1]), int(note[2])) for note in notes if note]
        if versions and min(versions) > OLDEST:
            found[name] = ".".join(map(str, min(versions)))
    return found


def test_every_name_of_pyspark_is_in_the_oldest_version() -> None:
    trees = [ast.parse(path.read_text()) for path in ENGINE.glob("*.py")]
    names = {node.attr for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert {"mapInArrow", "repartition", "unionByName", "xxhash64"} <= names
    assert newer(names) == {}
    assert newer({"transpose", "try_parse_json", "where"}) == {"transpose": "4.0", "try_parse_json": "4.0"}
