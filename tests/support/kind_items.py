"""A collection of each kind of items, with its similar pairs by brute force."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from likewise.methods import Measure

#: Recall high enough to miss no pair at these sizes: about a hundred pairs, each missed with probability 0.0001; seeds are fixed.
SURE = {"recall": 0.9999}


@dataclass
class Items:
    """Items of a kind as JSON values, some similar to others; and the limit."""

    by: str
    field: str
    values: list[Any]
    limit: dict[str, Any]

    @property
    def distance(self) -> bool:
        return "within" in self.limit

    @property
    def choices(self) -> dict[str, Any]:
        return {"by": self.by, **self.limit, **({} if Measure(self.by).bandless or self.by == "hamming" else SURE)}

    @property
    def flags(self) -> list[str]:
        return [part for name, value in self.choices.items() for part in (f"--{name}", str(value))]

    def rows(self, **more: list[Any]) -> list[dict[str, Any]]:
        return [
            {"id": f"i{place}", self.field: value, **{name: column[place] for name, column in more.items()}}
            for place, value in enumerate(self.values)
        ]

    def similar(self, pairs: list[tuple[int, int]] | None = None) -> dict[tuple[int, int], float]:
        """All pairs within the limit, by brute force. Empty sets and zero vectors are similar to no item."""
        some = [place for place, value in enumerate(self.values) if value and (self.by not in ("cosine", "angle") or any(value))]
        places = [pair for pair in pairs or itertools.combinations(range(len(self.values)), 2) if set(pair) <= set(some)]
        given = [bytes.fromhex(value) if self.field == "code" else value for value in self.values]
        found = lw.similarity([given[a] for a, _ in places], [given[b] for _, b in places], by=self.by).tolist()
        limit = next(iter(self.limit.values()))
        return {pair: value for pair, value in zip(places, found, strict=True) if (value <= limit if self.distance else value >= limit)}


def sets(draw: np.random.Generator, n: int) -> list[list[int | str]]:
    """Sets that share elements at all degrees of similarity; one is empty, and some elements are strings."""
    made: list[list[int | str]] = []
    for place in range(n):
        if place % 3 == 2:
            near = draw.permutation(np.arange(len(made[place // 2])))[: -1 - place % 4]
            made.append([made[place // 2][at] for at in near] + [f"new {place}"] * (place % 2))
        else:
            made.append([int(element) for element in draw.choice(60, int(draw.integers(4, 25)), replace=False)])
    made[7], made[8] = [], [-(2**63), 2**64 - 1, "7", 7]
    return [*made, [7, "7", 2**64 - 1, -(2**63)], made[0]]


def weighted(draw: np.random.Generator, n: int) -> list[dict[str, float]]:
    """Weights as JSON objects; a variant has weights that differ by up to a third."""
    made = [{f"e{element}": float(draw.integers(1, 9)) for element in draw.choice(80, 12, replace=False)} for _ in range(n)]
    made += [{name: round(weight * float(draw.uniform(0.7, 1.3)), 3) for name, weight in made[place].items()} for place in range(n // 2)]
    return [*made, {}, {"zero": 0.0}, made[1]]


def vectors(draw: np.random.Generator, n: int) -> list[list[float]]:
    """Vectors with variants at all distances, a zero vector, and a copy; all values are exact in float32."""
    base = draw.normal(size=(n, 24))
    near = base[: n // 2] + draw.normal(size=(n // 2, 24)) * np.linspace(0.01, 0.5, n // 2)[:, None]
    return np.concatenate([base, near, np.zeros((1, 24)), base[3:4]]).astype(np.float32).tolist()


def codes(draw: np.random.Generator, n: int) -> list[str]:
    """96 bits in hexadecimal, with variants that differ in up to ten bits."""
    base = draw.integers(0, 256, (n, 12), np.uint8)
    bits = np.unpackbits(base[: n // 2], axis=1)
    for place, row in enumerate(bits):
        row[draw.choice(96, place % 11, replace=False)] ^= 1
    return [bytes(row).hex() for row in (*base, *np.packbits(bits, axis=1), base[2])]


def strings(draw: np.random.Generator, n: int) -> list[str]:
    """Words of letters in two scripts, with variants at up to four edits."""
    made = ["".join(draw.choice([*"abcdeäж"], int(draw.integers(3, 16)))) for _ in range(n)]
    for place in range(n // 2):
        word = [*made[place]]
        for _ in range(place % 5):
            at = int(draw.integers(0, len(word) + 1))
            word[at : at + int(draw.integers(0, 2))] = [*"xyz"][: int(draw.integers(0, 2))]
        made.append("".join(word))
    return [*made, "", made[1]]


#: The items of each measure, for tests that take `EACH`: a new measure has its items here.
MADE = {
    "elements": Items("elements", "elements", sets(np.random.default_rng(1), 75), {"threshold": 0.6}),
    "weighted": Items("weighted", "elements", weighted(np.random.default_rng(2), 60), {"threshold": 0.8}),
    "cosine": Items("cosine", "vector", vectors(np.random.default_rng(3), 60), {"threshold": 0.95}),
    "angle": Items("angle", "vector", vectors(np.random.default_rng(3), 60), {"within": 15}),
    "l1": Items("l1", "vector", vectors(np.random.default_rng(3), 60), {"within": 4}),
    "l2": Items("l2", "vector", vectors(np.random.default_rng(3), 60), {"within": 1.25}),
    "hamming": Items("hamming", "code", codes(np.random.default_rng(4), 60), {"within": 5}),
    "edit": Items("edit", "text", strings(np.random.default_rng(5), 60), {"within": 3}),
    "levenshtein": Items("levenshtein", "text", strings(np.random.default_rng(5), 60), {"within": 2}),
    "edit/ratio": Items("edit/ratio", "text", strings(np.random.default_rng(5), 60), {"threshold": 0.8}),
    "levenshtein/ratio": Items("levenshtein/ratio", "text", strings(np.random.default_rng(5), 60), {"threshold": 0.75}),
    "jaro-winkler": Items("jaro-winkler", "text", strings(np.random.default_rng(5), 60), {"threshold": 0.85}),
}
EACH = pytest.mark.parametrize("items", MADE.values(), ids=MADE)


def write(items: Items, path: Path, **more: list[Any]) -> Path:
    """Write the items to a file, in the format of its extension."""
    rows = items.rows(**more)
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows))
    elif path.suffix == ".parquet":
        column = pa.array(items.values)
        if items.field == "vector":
            column = pa.FixedSizeListArray.from_arrays(pa.array(np.array(items.values, np.float32).ravel()), 24)
        pq.write_table(pa.table({"id": [row["id"] for row in rows], items.field: column}), path, row_group_size=40)
    elif path.suffix == ".npy":
        array = [list(bytes.fromhex(value)) for value in items.values] if items.field == "code" else items.values
        np.save(path, np.array(array, np.uint8 if items.field == "code" else np.float32))
    else:
        head = ",".join(["id", *(f"x{place}" for place in range(24))]) if items.field == "vector" else f"id,{items.field}"
        cells = [",".join(map(str, value)) if items.field == "vector" else value for value in items.values]
        path.write_text("\n".join([head, *(f"{row['id']},{cell}" for row, cell in zip(rows, cells, strict=True))]) + "\n")
    return path


def found(table: pa.Table, value: str) -> dict[tuple[int, int], float]:
    """Pairs by the numbers in their ids. The ids of a .npy file are positions."""
    return {(number(row["id_a"]), number(row["id_b"])): row[value] for row in table.to_pylist()}


def number(identity: Any) -> int:
    return int(str(identity).removeprefix("i"))


def same(got: dict, want: dict) -> None:
    assert sorted(got) == sorted(want)
    assert got == pytest.approx(want, rel=1e-12, abs=1e-12)
