"""The clusters of removed.parquet against grouping by a dictionary, in a file of several row groups."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from likewise.explorer.removals import Removals, grouped


def made(path: Path, value: str, parts: bool, n: int = 500) -> list[dict[str, Any]]:
    """Removals of up to 60 kept items in three sources, with missing values; row groups of 64 rows."""
    draw = random.Random(f"{value}{parts}")
    rows = []
    for row in range(n):
        reason = draw.choice(["near", "near", "exact", "equal"])
        found = None if draw.random() < 0.05 else draw.randrange(50, 100) / 100
        kept = {"kept_id": f"k{draw.randrange(9)}", "kept_source": draw.choice("zab"), "kept_position": draw.randrange(10)}
        item = {"id": f"d{row}", "source": draw.choice("zab"), "position": row}
        if parts:
            item |= {"start": 0, "end": 3}
            start = draw.randrange(2)
            kept |= {"kept_start": start, "kept_end": start + 3}
        rows.append({**item, **kept, value: found, "reason": reason, "cluster": "-"})
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=64)
    return rows


@pytest.mark.parametrize("value", ["similarity", "distance"])
@pytest.mark.parametrize("parts", [False, True])
def test_clusters_are_the_groups_of_removals_by_kept_item(tmp_path: Path, value: str, parts: bool) -> None:
    rows = made(tmp_path / "r.parquet", value, parts)
    removals = Removals(tmp_path / "r.parquet", value, 0.5, ["z", "a", "b"])
    groups: dict[Any, list[int]] = {}
    for number, row in enumerate(rows):
        groups.setdefault(("zab".index(row["kept_source"]), row["kept_position"], row.get("kept_start")), []).append(number)
    keys = sorted(groups)
    clusters = removals.clusters
    assert len(clusters) == len(keys)
    least, spread = {}, {}
    for number, key in enumerate(keys):
        members = clusters.members(number).tolist()
        assert members == groups[key] and all(clusters.of[member] == number for member in members)
        values = [rows[member][value] for member in members if rows[member][value] is not None]
        least[number], spread[number] = (min if value == "similarity" else max)(values), max(values) - min(values)
        assert clusters.least[number] == least[number] and clusters.spread[number] == pytest.approx(spread[number])
        assert removals.rows(members) == [rows[member] for member in members]
        assert removals.rows(members[:1], ("kept_id",)) == [{"kept_id": rows[members[0]]["kept_id"]}]
    numbers = range(len(keys))
    assert clusters.orders("source").tolist() == [*numbers]
    assert clusters.orders("size").tolist() == sorted(numbers, key=lambda one: -len(groups[keys[one]]))
    assert clusters.orders("least").tolist() == sorted(numbers, key=lambda one: least[one] if value == "similarity" else -least[one])
    assert [spread[one] for one in clusters.orders("spread").tolist()] == pytest.approx(sorted(spread.values(), reverse=True))
    for place, name in enumerate("zab"):
        held = [any(rows[member]["source"] == name for member in groups[key]) or key[0] == place for key in keys]
        assert clusters.with_source(place).tolist() == held
    assert removals.near.near.tolist() == [row["reason"] == "near" and row[value] is not None for row in rows]


@pytest.mark.parametrize("most", [5, 1 << 40])  # numbers that fit into one with that of the row, or not
def test_groups_are_those_of_a_stable_sort(most: int) -> None:
    draw = np.random.default_rng(most)
    for n in (0, 1, 400):
        columns = [draw.choice(draw.integers(0, most, 4), n), draw.choice([0, most], n)]
        order, begin = grouped(columns)
        keys = list(zip(*(column.tolist() for column in columns), strict=True))
        assert order.tolist() == sorted(range(n), key=keys.__getitem__)
        assert begin.tolist() == [place for place, row in enumerate(order) if not place or keys[row] != keys[order[place - 1]]]


def test_rows_are_found_by_id_and_by_place(tmp_path: Path) -> None:
    rows = made(tmp_path / "r.parquet", "similarity", False)
    removals = Removals(tmp_path / "r.parquet", "similarity", 0.5, ["z", "a", "b"])
    assert removals.find("id", "d499", 10) == ([499], False) and removals.find("id", "nothing", 10) == ([], False)
    all_of_k1 = [number for number, row in enumerate(rows) if row["kept_id"] == "k1"]
    assert removals.find("kept_id", "k1", 1000) == (all_of_k1, False) and removals.find("kept_id", "k1", 2) == (all_of_k1[:2], True)
    assert removals.at(("source", "position"), rows[70]["source"], 70, 5).rows == [70]
