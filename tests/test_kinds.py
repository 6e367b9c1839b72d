"""Sets, weighted sets, vectors, codes and strings through the one pipeline: `pairs` and `dedup` give what brute force by the measures gives."""

from __future__ import annotations

import html
import itertools
import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

import likewise as lw
from likewise.cli.main import main
from likewise.io import batches
from likewise.io.formats import lines as byte_formats
from likewise.io.formats import npy
from likewise.io.work import Work

#: So much recall that at these sizes no pair is missed: a hundred pairs, each missed once in ten thousand times, and seeds are fixed.
SURE = {"recall": 0.9999}


@dataclass
class Items:
    """Items of a kind, some of them near others, as JSON has them; and where they are cut."""

    by: str
    field: str
    values: list[Any]
    limit: dict[str, Any]

    @property
    def distance(self) -> bool:
        return "within" in self.limit

    @property
    def choices(self) -> dict[str, Any]:
        return {"by": self.by, **self.limit, **({} if self.by in ("hamming", "edit", "levenshtein") else SURE)}

    @property
    def flags(self) -> list[str]:
        return [part for name, value in self.choices.items() for part in (f"--{name}", str(value))]

    def rows(self, **more: list[Any]) -> list[dict[str, Any]]:
        return [
            {"id": f"i{place}", self.field: value, **{name: column[place] for name, column in more.items()}}
            for place, value in enumerate(self.values)
        ]

    def alike(self, pairs: list[tuple[int, int]] | None = None) -> dict[tuple[int, int], float]:
        """All pairs at or above the threshold, by brute force. Empty sets and zero vectors are like none."""
        some = [place for place, value in enumerate(self.values) if value and (self.by not in ("cosine", "angle") or any(value))]
        places = [pair for pair in pairs or itertools.combinations(range(len(self.values)), 2) if set(pair) <= set(some)]
        given = [bytes.fromhex(value) if self.by == "hamming" else value for value in self.values]
        found = lw.similarity([given[a] for a, _ in places], [given[b] for _, b in places], by=self.by).tolist()
        limit = next(iter(self.limit.values()))
        return {pair: value for pair, value in zip(places, found, strict=True) if (value <= limit if self.distance else value >= limit)}


def sets(draw: np.random.Generator, n: int) -> list[list[int | str]]:
    """Sets that hold each other's elements in part, so that similarities lie everywhere; one is empty, and some elements are strings."""
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
    """Weights as JSON objects; a variant has other weights by up to a third."""
    made = [{f"e{element}": float(draw.integers(1, 9)) for element in draw.choice(80, 12, replace=False)} for _ in range(n)]
    made += [{name: round(weight * float(draw.uniform(0.7, 1.3)), 3) for name, weight in made[place].items()} for place in range(n // 2)]
    return [*made, {}, {"zero": 0.0}, made[1]]


def vectors(draw: np.random.Generator, n: int) -> list[list[float]]:
    """Vectors with variants at all distances, one of zeros, and a copy; numbers that float32 holds."""
    base = draw.normal(size=(n, 24))
    near = base[: n // 2] + draw.normal(size=(n // 2, 24)) * np.linspace(0.01, 0.5, n // 2)[:, None]
    return np.concatenate([base, near, np.zeros((1, 24)), base[3:4]]).astype(np.float32).tolist()


def codes(draw: np.random.Generator, n: int) -> list[str]:
    """96 bits in hexadecimal, with variants by up to ten bits."""
    base = draw.integers(0, 256, (n, 12), np.uint8)
    bits = np.unpackbits(base[: n // 2], axis=1)
    for place, row in enumerate(bits):
        row[draw.choice(96, place % 11, replace=False)] ^= 1
    return [bytes(row).hex() for row in (*base, *np.packbits(bits, axis=1), base[2])]


def strings(draw: np.random.Generator, n: int) -> list[str]:
    """Words of letters in two scripts, with variants by up to four edits."""
    made = ["".join(draw.choice([*"abcdeäж"], int(draw.integers(3, 16)))) for _ in range(n)]
    for place in range(n // 2):
        word = [*made[place]]
        for _ in range(place % 5):
            at = int(draw.integers(0, len(word) + 1))
            word[at : at + int(draw.integers(0, 2))] = [*"xyz"][: int(draw.integers(0, 2))]
        made.append("".join(word))
    return [*made, "", made[1]]


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
}
EACH = pytest.mark.parametrize("items", MADE.values(), ids=MADE)


def run(*args: object) -> Result:
    return CliRunner().invoke(main, [str(arg) for arg in args])


def write(items: Items, path: Path, **more: list[Any]) -> Path:
    """The items in a file of the format that its name says."""
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
        array = [list(bytes.fromhex(value)) for value in items.values] if items.by == "hamming" else items.values
        np.save(path, np.array(array, np.uint8 if items.by == "hamming" else np.float32))
    else:
        head = ",".join(["id", *(f"x{place}" for place in range(24))]) if items.field == "vector" else f"id,{items.field}"
        cells = [",".join(map(str, value)) if items.field == "vector" else value for value in items.values]
        path.write_text("\n".join([head, *(f"{row['id']},{cell}" for row, cell in zip(rows, cells, strict=True))]) + "\n")
    return path


def found(table: pa.Table, value: str) -> dict[tuple[int, int], float]:
    """Pairs by the numbers in their ids; of a .npy file ids are positions."""
    return {(number(row["id_a"]), number(row["id_b"])): row[value] for row in table.to_pylist()}


def number(identity: Any) -> int:
    return int(str(identity).removeprefix("i"))


def same(got: dict, want: dict) -> None:
    assert sorted(got) == sorted(want)
    assert got == pytest.approx(want, rel=1e-12, abs=1e-12)


# all pairs


@EACH
def test_pairs_in_memory_are_those_of_brute_force(items):
    want = items.alike()
    assert len(want) > 10
    result = lw.pairs(items.rows(), **items.choices)
    same(found(result.to_arrow(), "distance" if items.distance else "similarity"), want)
    assert (result.report["value"], result.report["threshold"]) == ("distance" if items.distance else "similarity", *items.limit.values())


FORMATS = {
    "elements": ["jsonl", "json"],
    "weighted": ["jsonl"],
    "cosine": ["jsonl", "parquet", "npy", "csv"],
    "angle": ["npy"],
    "l1": ["csv"],
    "l2": ["parquet", "csv", "npy"],
    "hamming": ["jsonl", "parquet", "npy", "csv"],
    "edit": ["jsonl", "parquet", "csv"],
    "levenshtein": ["jsonl"],
}


@pytest.mark.parametrize("exact", [False, True])
def test_sets_by_bands_and_exactly(exact):
    items = MADE["elements"]
    same(found(lw.pairs(items.rows(), exact=exact, **items.choices).to_arrow(), "similarity"), items.alike())


def test_sets_of_one_type(tmp_path):
    """Whole numbers as int64 and as uint8, in Parquet and in an array of rows; strings in Parquet."""
    rows = np.random.default_rng(8).integers(0, 30, (40, 9))
    rows[20:] = rows[:20]
    rows[20:, :2] = 77
    want = Items("elements", "elements", rows.tolist(), {"threshold": 0.5}).alike()
    assert len(want) >= 20
    pq.write_table(pa.table({"id": range(40), "elements": rows.tolist()}), tmp_path / "int.parquet")
    small = pa.array(rows.tolist(), pa.list_(pa.uint8()))
    pq.write_table(pa.table({"id": range(40), "elements": small}), tmp_path / "small.parquet")
    pq.write_table(pa.table({"id": range(40), "elements": [[f"é{element}" for element in row] for row in rows.tolist()]}), tmp_path / "str.parquet")
    np.save(tmp_path / "rows.npy", rows.astype(np.uint8))
    for name in ("int.parquet", "small.parquet", "str.parquet", "rows.npy"):
        same(found(lw.pairs(tmp_path / name, by="elements", threshold=0.5, recall=0.9999).to_arrow(), "similarity"), want)


@pytest.mark.parametrize(("by", "extension"), [(by, extension) for by, all_of in FORMATS.items() for extension in all_of])
def test_pairs_of_files_through_the_command_line(tmp_path, by, extension):
    items = MADE[by]
    path = write(items, tmp_path / f"in.{extension}")
    columns = ["--field", "x0..x23"] if extension == "csv" and items.field == "vector" else []
    result = run("pairs", path, "-o", tmp_path / "out.parquet", *items.flags, *columns)
    assert result.exit_code == 0, result.stderr
    same(found(pq.read_table(tmp_path / "out.parquet"), "distance" if items.distance else "similarity"), items.alike())
    assert f"{len(items.alike())} pairs {'within' if items.distance else 'at or above'}" in result.stderr


@EACH
def test_pairs_across_two_collections(tmp_path, items):
    half = len(items.values) // 2
    rows = items.rows()
    result = lw.pairs(rows[:half], against=rows[half:], **items.choices).to_arrow()
    across = [(a, b) for a in range(half) for b in range(half, len(rows))]
    same(found(result, "distance" if items.distance else "similarity"), items.alike(across))


@EACH
def test_pairs_inside_a_group(items):
    shops = [f"shop {place % 3}" for place in range(len(items.values))]
    result = lw.pairs(items.rows(shop=shops), per="shop", **items.choices).to_arrow()
    inside = [pair for pair in itertools.combinations(range(len(shops)), 2) if shops[pair[0]] == shops[pair[1]]]
    same(found(result, "distance" if items.distance else "similarity"), items.alike(inside))


@pytest.mark.parametrize("threshold", ["1", "9/10", "0.75", "2/3", "0.3", "0.05"])
def test_exact_sets_are_brute_force_at_any_threshold(threshold):
    items = Items("elements", "elements", MADE["elements"].values, {"threshold": float(eval(threshold))})
    result = lw.pairs(items.rows(), by="elements", threshold=threshold, exact=True)
    same(found(result.to_arrow(), "similarity"), items.alike())
    assert result.report["recall"] == 1


@pytest.mark.parametrize("within", [0, 1, 7, 20, 45])
def test_codes_are_brute_force_at_any_distance(within):
    items = Items("hamming", "code", MADE["hamming"].values, {"within": within})
    want = items.alike()
    assert within < 45 or len(want) > 1000  # so many that hardly any is a planted one
    same(found(lw.pairs(items.rows(), **items.choices).to_arrow(), "distance"), want)


# removal


def walked(items: Items, order: list[int]) -> dict[int, tuple[int, float]]:
    """The greedy walk by brute force: removed item -> (witness, value)."""
    alike = items.alike()
    kept: list[int] = []
    removed: dict[int, tuple[int, float]] = {}
    for item in order:
        near = [(pair[0] + pair[1] - item, value) for pair, value in alike.items() if item in pair]
        matches = [(value if items.distance else -value, order.index(other), other) for other, value in near if other in kept]
        if matches:
            value, _, witness = min(matches)
            removed[item] = (witness, value if items.distance else -value)
        else:
            kept.append(item)
    return removed


def decided(out: Path) -> dict[int, tuple[int, float]]:
    rows = pq.read_table(out / "removed.parquet").to_pylist()
    return {number(row["id"]): (number(row["kept_id"]), row.get("similarity", row.get("distance"))) for row in rows}


def equal(got: dict[int, tuple[int, float]], want: dict[int, tuple[int, float]]) -> None:
    assert {item: witness for item, (witness, _) in got.items()} == {item: witness for item, (witness, _) in want.items()}
    assert {item: value for item, (_, value) in got.items()} == pytest.approx({item: value for item, (_, value) in want.items()}, abs=1e-12)


@pytest.mark.parametrize(("by", "exact"), [*((by, False) for by in MADE), ("elements", True)])
def test_dedup_is_the_greedy_walk(tmp_path, by, exact):
    items = MADE[by]
    path = write(items, tmp_path / "in.jsonl")
    result = run("dedup", path, "-o", tmp_path / "out", *items.flags, *(["--exact"] if exact else []))
    assert result.exit_code == 0, result.stderr
    want = walked(items, list(range(len(items.values))))
    assert len(want) > 10
    equal(decided(tmp_path / "out"), want)
    lines = path.read_bytes().splitlines(keepends=True)
    assert (tmp_path / "out/kept/in.jsonl").read_bytes() == b"".join(line for place, line in enumerate(lines) if place not in want)
    report = json.loads((tmp_path / "out/report.json").read_text())
    assert report["value"] == ("distance" if items.distance else "similarity")
    assert report["counts"]["removed_exact"] >= 1
    reasons = {number(row["id"]): row["reason"] for row in pq.read_table(tmp_path / "out/removed.parquet").to_pylist()}
    assert reasons[len(items.values) - 1] == "exact" or items.by in ("elements", "hamming", "edit", "levenshtein")  # a copy of a removed item is near


@pytest.mark.parametrize("extension", ["parquet", "npy", "csv"])
def test_dedup_of_vectors_keeps_records_as_they_were(tmp_path, extension):
    items = MADE["l2"]
    path = write(items, tmp_path / f"in.{extension}")
    columns = ["--field", "x*"] if extension == "csv" else []
    assert run("dedup", path, "-o", tmp_path / "out", *items.flags, *columns).exit_code == 0
    want = walked(items, list(range(len(items.values))))
    equal(decided(tmp_path / "out"), want)
    stays = [place for place in range(len(items.values)) if place not in want]
    kept = tmp_path / f"out/kept/in.{extension}"
    if extension == "npy":
        assert np.load(kept).dtype == np.float32 and (np.load(kept) == np.load(path)[stays]).all()
    elif extension == "parquet":
        assert pq.read_table(kept).equals(pq.read_table(path).take(stays))
    else:
        lines = path.read_text().splitlines()
        assert kept.read_text().splitlines() == [lines[0], *(lines[1 + place] for place in stays)]


KEEPS = {
    "last": lambda items: list(range(len(items.values)))[::-1],
    "max:score": lambda items: sorted(range(len(items.values)), key=lambda i: -(i * 7 % 5)),
}


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("by", ["elements", "l2", "hamming", "edit"])
def test_which_one_stays(tmp_path, by, keep):
    items = MADE[by]
    path = write(items, tmp_path / "in.jsonl", score=[place * 7 % 5 for place in range(len(items.values))])
    lw.dedup(path, out=tmp_path / "out", keep=keep, **items.choices)
    got, want = decided(tmp_path / "out"), walked(items, KEEPS[keep](items))
    copies = {item for item, (_, value) in want.items() if value == (0 if items.distance else 1)}  # among copies the witness is a matter of order
    equal({item: found for item, found in got.items() if item not in copies}, {item: found for item, found in want.items() if item not in copies})
    assert got.keys() == want.keys()


def test_the_longest_set_stays():
    rows = [{"id": "short", "elements": [1, 2, 3, 4]}, {"id": "long", "elements": [1, 2, 3, 4, 5]}, {"id": "other", "elements": [9]}]
    removed = lw.dedup(rows, by="elements", threshold=0.8, keep="longest").removed.to_arrow().to_pylist()
    assert [(row["id"], row["kept_id"], row["similarity"]) for row in removed] == [("short", "long", 0.8)]


# what people are shown


#: What is said of a measure on the page, and in what its curve is drawn; nothing where items are joined exactly.
SAID = {
    "elements": ("Each item is a set of elements.", "Jaccard similarity"),
    "weighted": ("Each item is a set of elements with weights.", "weighted Jaccard similarity"),
    "cosine": ("the cosine of the angle between them", "cosine"),
    "angle": ("the angle between them in degrees", "angle in degrees"),
    "l1": ("(L1)", "L1 distance"),
    "l2": ("(L2, Euclid's)", "L2 distance"),
    "hamming": ("the number of bits in which they differ", None),
    "edit": ("to delete from one and to insert into it", None),
    "levenshtein": ("to delete, insert or replace", None),
}


@EACH
def test_the_page_says_nothing_of_texts_where_there_are_none(tmp_path, items):
    path = write(items, tmp_path / "in.jsonl")
    more = {"exact": False} if items.by == "elements" else {}
    lw.dedup(path, out=tmp_path / "out", **items.choices, **more)
    page = (tmp_path / "out/report.html").read_text()
    assert run("report", tmp_path / "out").exit_code == 0
    assert (tmp_path / "out/report.html").read_text() == page  # the examples as well, which are read again
    said, axis = SAID[items.by]
    words = html.unescape(re.sub(r"<[^>]+>", "", re.sub(r"(?s)<style>.*?</style>|<details.*?</details>", "", page)))
    assert said in words and not re.search(r"shingle|[^-]\btexts?\b", words)
    shown = re.findall(r"Example \d: near-duplicate, (distance|similarity) ([\d.]+)", words)
    assert len(shown) >= 4 and {name for name, _ in shown} == {"distance" if items.distance else "similarity"}
    spread = [float(value) for _, value in shown][-4:]  # from the least alike to the most
    assert spread == sorted(spread, reverse=items.distance) and spread[0] != spread[-1]
    if axis is None:
        assert "by an exact join, not by hashing: none is missed" in words and "chance to be found" not in page
        return
    assert f"by {axis}; at the threshold {next(iter(items.limit.values())):g}" in page and "this was not measured" not in words
    side = "left" if items.distance else "right"
    assert f"The dotted area {side} of the threshold is what may be missed." in words


def test_the_page_of_an_exact_join_promises_all(tmp_path):
    lw.dedup(MADE["elements"].rows(), out=tmp_path / "out", by="elements", threshold=0.6, exact=True, bands=13, rows=60)
    report = json.loads((tmp_path / "out/report.json").read_text())
    assert report["curve"] == [] and report["budget"]["recall"] == 1 and report["warnings"] == []
    page = (tmp_path / "out/report.html").read_text()
    assert "none is missed" in page and "13 bands" not in page and "were joined exactly" in page


def test_the_page_tells_of_groups(tmp_path):
    lw.dedup([{"elements": A}, {"elements": B}], out=tmp_path / "out", by="elements", threshold=0.5, groups=GROUPS)
    assert "the Jaccard similarity of the sets of groups that their elements are of" in (tmp_path / "out/report.html").read_text()


def dedup_of(tmp_path: Path, lines: list[dict[str, Any]], *flags: object) -> Path:
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    made = run("dedup", tmp_path / "in.jsonl", "-o", tmp_path / "out", *flags)
    assert made.exit_code == 0, made.stderr
    return tmp_path / "out"


def test_show_tells_sets_apart_by_element(tmp_path):
    out = dedup_of(
        tmp_path, [{"id": "a", "elements": ["tea", 7, "7"]}, {"id": "b", "elements": ["7", 7, "jam"]}], "--by", "elements", "--threshold", "0.5"
    )
    shown = run("show", out, "b")
    assert shown.stdout.splitlines() == [
        "removed  'b'  at in.jsonl:1",
        "kept     'a'  at in.jsonl:0",
        "why      near-duplicate: similarity 0.5 by elements, at a threshold of 0.5",
        "",
        'in both          2 elements: "7", 7',
        "only in removed  1 element: jam",
        "only in kept     1 element: tea",
    ]
    assert shown.stderr == ""
    told = json.loads(run("show", out, "b", "--json").stdout)
    assert told["removed"]["value"] == ["7", 7, "jam"] and told["kept"]["value"] == ["tea", 7, "7"] and told["similarity"] == 0.5
    assert run("show", out, "a").stdout.splitlines()[1] == "  'b'  at in.jsonl:1  near  0.5000"


def test_show_tells_weights(tmp_path):
    lines = [{"id": "a", "elements": {"x": 4, "y": 4}}, {"id": "b", "elements": [["x", 3.5], ["y", 4]]}]
    out = dedup_of(tmp_path, lines, "--by", "weighted", "--threshold", "0.9")
    assert run("show", out, "b").stdout.splitlines()[2:] == [
        "why      near-duplicate: similarity 0.9375 by weighted, at a threshold of 0.9",
        "",
        "in both          1 element: y: 4",
        "other weight     1 element: x: 3.5 in removed, 4 in kept",
        "only in removed  0 elements",
        "only in kept     0 elements",
    ]


LONG = [round(0.1 * place, 1) for place in range(30)]
FIRST = "0  0.1  0.2  0.3  0.4  0.5  0.6  0.7  ... and 22 more numbers"
APART = "differ   1 of 30 numbers differs, at index 29: 3.0 in the removed item and 2.9 in the kept one"
BITS = "Of a number the lowest byte comes first, and bit 0 is the lowest bit of the first byte."


@pytest.mark.parametrize(
    ("by", "field", "stays", "gone", "distance", "said", "changed"),
    [
        ("l2", "vector", LONG, [*LONG[:-1], 3.0], "0.1", f"removed  {FIRST}\nkept     {FIRST}\n{APART}\n", ("3.0]", "3.1]")),
        (
            "hamming",
            "code",
            "0f01",
            "0f00",
            "1 bit",
            f"removed  0f00\nkept     0f01\n{' ' * 12}^\ndiffer   1 bit differs: 8\n\n{BITS}\n",
            ("0f01", "ff01"),
        ),
        ("levenshtein", "text", "mitten", "kitten", "1 edit", "[-k-]{+m+}itten\n", ("kitten", "kitttn")),
    ],
)
def test_show_tells_vectors_codes_and_strings(tmp_path, by, field, stays, gone, distance, said, changed):
    lines = [{"id": "stays", field: stays}, {"id": "gone", field: gone}, {"id": "none", field: None}]
    out = dedup_of(tmp_path, lines, "--by", by, "--within", 1)
    shown = run("show", out, "gone")
    assert f"why      near-duplicate: distance {distance} by {by}, within {distance if ' ' in distance else 1}\n" in shown.stdout
    assert shown.stdout.endswith(said) and shown.stderr == ""
    told = json.loads(run("show", out, "gone", "--json").stdout)
    assert (told["removed"]["text" if field == "text" else "value"], told["distance"]) == (gone, pytest.approx(float(distance.split()[0])))
    assert "'none'  at in.jsonl:2 was kept: it has no " in run("show", out, "none").stdout
    (tmp_path / "in.jsonl").write_text((tmp_path / "in.jsonl").read_text().replace(*changed))
    assert f"the inputs have changed since {out} was made: these two items had a distance of {distance}" in run("show", out, "gone").stderr


# the same bytes


def snapshot(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in ("run.json", "report.html")
    }


@pytest.fixture
def small_chunks(monkeypatch):
    for module in (batches, byte_formats, npy):
        monkeypatch.setattr(module, "CHUNK_BYTES", 4000)


@EACH
def test_threads_and_chunks_change_no_byte(tmp_path, items, monkeypatch):
    path = write(items, tmp_path / "in.jsonl")
    lw.dedup(path, out=tmp_path / "one", threads=1, pairs=True, **items.choices)
    pairs = lw.pairs(path, threads=1, **items.choices).to_arrow()
    for module in (batches, byte_formats):
        monkeypatch.setattr(module, "CHUNK_BYTES", 2000)
    lw.dedup(path, out=tmp_path / "two", threads=2, pairs=True, **items.choices)
    assert len(snapshot(tmp_path / "one")) == 7
    one, two = ({name: data for name, data in snapshot(tmp_path / folder).items() if name != "manifest.json"} for folder in ("one", "two"))
    assert one == two
    assert lw.pairs(path, threads=2, **items.choices).to_arrow().equals(pairs)


class StoppedError(BaseException):
    """As Ctrl-C, no ordinary exception."""


@pytest.mark.parametrize("by", ["elements", "weighted", "cosine", "hamming", "edit"])
def test_a_stopped_run_goes_on(tmp_path, monkeypatch, small_chunks, by):
    items = MADE[by]
    path = write(items, tmp_path / "in.jsonl")
    choices = {**items.choices, "pairs": True}
    append, steps = Work.append, 0

    def stopping(self, columns, **step):
        nonlocal steps
        steps += 1
        if steps == last:
            raise StoppedError
        append(self, columns, **step)

    last = 0
    monkeypatch.setattr(Work, "append", stopping)
    lw.dedup(path, out=tmp_path / "whole", **choices)
    want, all_steps = snapshot(tmp_path / "whole"), steps
    assert all_steps > 8
    for last in (2, all_steps - 7, all_steps - 2):  # while reading, before the walk is kept, while writing
        steps, out = 0, tmp_path / f"stopped-{last}"
        with pytest.raises(StoppedError):
            lw.dedup(path, out=out, **choices)
        steps = all_steps
        lw.dedup(path, out=out, resume=True, **choices)
        assert snapshot(out) == want


# the recall promise


PAIRS = 400


def at_the_threshold(by: str) -> tuple[list[Any], dict[str, Any]]:
    """PAIRS pairs exactly at the threshold, or by a rounding error within it, and unlike all others."""
    draw = np.random.default_rng([6, sum(map(ord, by))])
    if by == "elements":  # 8 of 10 in both
        return [[12 * pair + place for place in (range(9) if side else range(1, 10))] for pair in range(PAIRS) for side in (0, 1)], {"threshold": 0.8}
    if by == "weighted":  # 8 of 10 of the weight in both
        halves = [{f"{pair} {place}": weight for place, weight in enumerate(draw.dirichlet(np.ones(6)) * 8)} for pair in range(PAIRS)]
        return [{**half, f"{pair} {side}": 1.0} for pair, half in enumerate(halves) for side in "ab"], {"threshold": 0.8 - 1e-12}
    if by == "hamming":
        base = draw.integers(0, 2, (PAIRS, 128), np.uint8)
        other = base.copy()
        for row in other:
            row[draw.choice(128, 6, replace=False)] ^= 1
        return [bytes(np.packbits(row)).hex() for pair in zip(base, other, strict=True) for row in pair], {"within": 6}
    base, turn = draw.normal(size=(2, PAIRS, 32))
    if by in ("cosine", "angle"):
        base /= np.linalg.norm(base, axis=1, keepdims=True)
        turn -= (turn * base).sum(axis=1, keepdims=True) * base
        turn /= np.linalg.norm(turn, axis=1, keepdims=True)
        angle = math.acos(0.9)
        other = base * math.cos(angle) + turn * math.sin(angle)
        limit = {"threshold": 0.9 - 1e-9} if by == "cosine" else {"within": math.degrees(angle) + 1e-9}
    else:
        turn /= np.linalg.norm(turn, {"l1": 1, "l2": 2}[by], axis=1, keepdims=True)
        base *= 10
        other, limit = base + turn, {"within": 1 + 1e-9}
    return [row for pair in zip(base.tolist(), other.tolist(), strict=True) for row in pair], limit


@pytest.mark.parametrize("by", ["elements", "weighted", "cosine", "angle", "l1", "l2", "hamming"])
def test_pairs_at_the_threshold_are_found_as_often_as_promised(by):
    """Sets and weighted sets go by bands, whose curve is known: found is what it says, within four standard errors. Joins find as many at least."""
    values, limit = at_the_threshold(by)
    field = {"elements": "elements", "weighted": "elements", "hamming": "code"}.get(by, "vector")
    rows = [{"id": place, field: value} for place, value in enumerate(values)]
    planned = lw.dedup(rows, by=by, recall=0.8, exact=False, **limit)
    promised = planned.report["budget"]["recall"]
    error = math.sqrt(PAIRS * promised * (1 - promised))
    if by in ("elements", "weighted"):
        assert 0.8 <= promised < 0.95
        assert len(planned.removed) == pytest.approx(PAIRS * promised, abs=4 * error)
    else:
        assert promised >= 0.8 and len(planned.removed) >= PAIRS * promised - 4 * error - 1
        assert planned.report["curve"] == [] or by != "hamming"
    banded = lw.dedup(rows, by=by, recall=0.8, exact=False, slots=500, **limit)  # asked for by hand
    promised = banded.report["method"]["plan"]["recall"]
    assert 0.8 <= promised < 0.95
    assert len(banded.removed) == pytest.approx(PAIRS * promised, abs=4 * math.sqrt(PAIRS * promised * (1 - promised)))
    pairs = lw.pairs(rows, by=by, recall=0.8, exact=False, **limit).to_arrow()
    assert all(b == a + 1 and a % 2 == 0 for a, b in zip(pairs["id_a"].to_pylist(), pairs["id_b"].to_pylist(), strict=True))
    assert len(pairs) >= PAIRS * 0.8 - 3 * math.sqrt(PAIRS * 0.16)
    assert by != "hamming" or len(pairs) == PAIRS


def test_a_layout_by_hand_is_taken_and_warned_of(tmp_path):
    """The chance of 13 bands of 60 rows at 0.8 is 2·10^-5: an empty list is said to be no answer. 60 bands of 13 rows find .966."""
    values, _ = at_the_threshold("elements")
    with open(tmp_path / "in.jsonl", "w") as file:
        file.writelines(json.dumps({"elements": value}) + "\n" for value in values)
    few = run("pairs", tmp_path / "in.jsonl", "--by", "elements", "--bands", 13, "--rows", 60)
    assert few.exit_code == 0 and few.stdout.count("\n") <= 2
    assert "warning: 13 bands of 60 rows: a pair at 0.8 is found with" in few.stderr and "0 pairs at or above 0.8" in few.stderr
    most = lw.pairs(tmp_path / "in.jsonl", by="elements", bands=60, rows=13)
    assert len(most) == pytest.approx(0.966381 * PAIRS, abs=4 * math.sqrt(PAIRS * 0.966 * 0.034))
    assert len(lw.pairs(tmp_path / "in.jsonl", by="elements", bands=60, rows=13, exact=True)) == PAIRS


@pytest.mark.parametrize("exact", [None, True])
@pytest.mark.parametrize(
    ("threshold", "names"), [(0.9, "d"), (0.8, "ad"), ("3/4", "acd"), (0.7, "abcd"), ("2/3", "abcdg"), (0.6, "abcdeg"), (0.29, "abcdefgh")]
)
def test_a_similarity_equal_to_the_threshold_counts(threshold, names, exact):
    """(in both, in either) of eight pairs: 8/10, 7/10, 3/4, 9/10, 3/5, 3/10, 2/3, 29/100."""
    shares = dict(zip("abcdefgh", [(8, 10), (7, 10), (3, 4), (9, 10), (3, 5), (3, 10), (2, 3), (29, 100)], strict=True))
    rows = []
    for name, (both, either) in shares.items():
        rows += [
            {"id": f"{name}1", "elements": [f"{name}{i}" for i in range(both)]},
            {"id": f"{name}2", "elements": [f"{name}{i}" for i in range(either)]},
        ]
    result = lw.pairs(rows, by="elements", threshold=threshold, recall=0.9999, exact=exact).to_arrow().to_pylist()
    assert [(row["id_a"], row["id_b"]) for row in result] == [(f"{name}1", f"{name}2") for name in names]
    assert [row["similarity"] for row in result] == [shares[name][0] / shares[name][1] for name in names]


@EACH
def test_nothing_or_little_to_do(tmp_path, items):
    """No item, one, and none with a value."""
    for rows in ([], items.rows()[:1], [{"id": 1, items.field: None}, {"id": 2, items.field: None}]):
        path = tmp_path / "in.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        assert len(lw.pairs(path, **items.choices)) == 0
        result = lw.dedup(path, **items.choices)
        assert result.report["counts"]["kept"] == len(rows) and len(result.removed) == 0


@EACH
def test_at_the_end_of_the_scale_only_equals_are_alike(items):
    """A similarity of 1, a distance of 0."""
    ends = Items(items.by, items.field, items.values[:40] + items.values[5:9], {"within": 0} if items.distance else {"threshold": 1})
    want = ends.alike()
    assert len(want) >= 3
    value = "distance" if items.distance else "similarity"
    same(found(lw.pairs(ends.rows(), **ends.choices).to_arrow(), value), want)
    removed = lw.dedup(ends.rows(), **ends.choices).removed.to_arrow().to_pylist()
    assert {number(row["id"]) for row in removed} == {b for _, b in want} and all(row[value] == (0 if items.distance else 1) for row in removed)


# groups


A, B = [0, 1, 2, 5, 6], [0, 2, 3, 5, 7, 9]
GROUPS = {0: "C1", 1: "C1", 2: "C1", 3: "C2", 4: "C2", 5: "C3", 6: "C3", 7: "C4", 8: "C4", 9: "C4"}


@pytest.mark.parametrize("exact", [None, True])
def test_elements_in_groups(tmp_path, exact):
    """3 of 8 elements in both, and 2 of 4 groups; an element without a group is a group of its own."""
    rows = [{"id": "a", "elements": A}, {"id": "b", "elements": B}, {"id": "c", "elements": [77]}]
    table = pa.table({"element": list(GROUPS), "group": list(GROUPS.values())})
    pq.write_table(table, tmp_path / "groups.parquet")
    (tmp_path / "groups.csv").write_text("group,element\n" + "".join(f"{group},{element}\n" for element, group in GROUPS.items()))
    (tmp_path / "groups.jsonl").write_text("".join(json.dumps({"element": element, "group": group}) + "\n" for element, group in GROUPS.items()))
    (tmp_path / "groups.json").write_text(json.dumps(GROUPS))  # whose keys are strings, as JSON has it
    files = [tmp_path / f"groups.{extension}" for extension in ("parquet", "csv", "jsonl", "json")]
    for groups in [None, GROUPS, *files, str(files[0])]:
        pairs = lw.pairs(rows, by="elements", threshold=0.3, groups=groups, exact=exact).to_arrow().to_pylist()
        assert [(row["id_a"], row["id_b"], row["similarity"]) for row in pairs] == [("a", "b", 0.375 if groups is None else 0.5)], groups
    with open(tmp_path / "in.jsonl", "w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    made = run("dedup", tmp_path / "in.jsonl", "-o", tmp_path / "out", "--by", "elements", "--threshold", "1/2", "--groups", files[1])
    assert made.exit_code == 0, made.stderr
    assert decided_ids(tmp_path / "out") == {"b": ("a", 0.5)}


def decided_ids(out: Path) -> dict[str, tuple[str, float]]:
    rows = pq.read_table(out / "removed.parquet").to_pylist()
    return {row["id"]: (row["kept_id"], row["similarity"]) for row in rows}


def test_groups_that_say_nothing_are_refused(tmp_path):
    rows = [{"elements": A}]
    (tmp_path / "list.json").write_text("[1]")
    (tmp_path / "names.csv").write_text("a,b\n1,2\n")
    (tmp_path / "both.csv").write_text("element,group\n1,x\n1,y\n")
    for groups, said in [
        (tmp_path / "list.json", r"list\.json: holds no object"),
        (tmp_path / "names.csv", r"names\.csv: has the columns a, b"),
        (tmp_path / "both.csv", r"both\.csv: 1 stands in two groups"),
        (tmp_path / "none.csv", r"none\.csv: .*no such|none\.csv: cannot be read"),
        ({1: 2.5}, "groups, pair 1"),
        ({}, "groups: holds no element"),
        (7, "--groups 7"),
    ]:
        with pytest.raises(lw.LikewiseError, match=said):
            lw.pairs(rows, by="elements", groups=groups)
    with pytest.raises(lw.UsageError, match="only sets have groups"):
        lw.pairs(["a text"], groups=GROUPS)


# edges and errors


def test_elements_keep_their_type_and_size():
    """An int and its decimal string are two elements, and so are -1 and 2^64 - 1; an element twice is there once."""
    rows = [[7, 8], ["7", "8"], [7, 7, 8], [-1], [2**64 - 1], [2**70], [2**70, 2**70 + 1], []]
    assert found(lw.pairs(rows, by="elements", threshold=0.5).to_arrow(), "similarity") == {(0, 2): 1.0, (5, 6): 0.5}


def test_sparse_positions_are_sets():
    """Stored zeros are no elements, order and repeats change nothing; rows without entries are like no other."""
    rows = [
        {"indices": [999_999, 10, 5], "values": [3, 2, 1]},
        {"indices": [5, 10, 999_999], "values": [6, 4, 2]},
        {"indices": [10, 5, 999_999], "values": [2, 1, 0]},
        {"indices": [10, 5, 999_999, 10], "values": [1, 1, 3, 1]},
        {"indices": [], "values": []},
        {"indices": [], "values": []},
    ]
    pairs = lw.pairs([{"id": place, "elements": row} for place, row in enumerate(rows)], by="elements", threshold=0.6).to_arrow()
    assert found(pairs, "similarity") == {(0, 1): 1.0, (0, 2): 2 / 3, (0, 3): 1.0, (1, 2): 2 / 3, (1, 3): 1.0, (2, 3): 2 / 3}


def test_vectors_without_a_direction_and_without_a_value(tmp_path):
    """Zero vectors are like none, not even each other; NaN and infinity are refused by row; squares that vanish in float32 do not."""
    lines = ["id,x0,x1,x2,x3", "v0,1,2,3,4", "v1,2,4,6,8", "v2,4,3,2,1", "z0,0,0,0,0", "z1,0,0,0,0", "n0,1,nan,0,0", "i0,inf,0,0,0"]
    lines += ["i1,-inf,0,0,0", "t0,1e-30,2e-30,3e-30,4e-30", "m0,-0.0,0,0,0"]
    path = tmp_path / "v.csv"
    path.write_text("\n".join(lines) + "\n")
    flags = ["--by", "cosine", "--threshold", "0.99", "--field", "x0..x3", "--recall", "0.9999"]
    refused = run("pairs", path, *flags)
    assert refused.exit_code == 2
    assert "v.csv, line 7, column 6, id \"n0\", column 'x1': nan is no coordinate of a vector" in refused.stderr
    result = run("pairs", path, *flags, "--on-error", "skip", "-o", tmp_path / "out.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [(row["id_a"], row["id_b"]) for row in rows] == [("v0", "v1"), ("v0", "t0"), ("v1", "t0")]
    assert [row["similarity"] for row in rows] == pytest.approx([1, 1, 1], abs=1e-12)
    assert "3 of 7 items are zero vectors" in result.stderr and "v.csv item 4, v.csv item 5, v.csv item 10" in result.stderr
    for place in ("line 7", "line 8", "line 9"):
        assert f"v.csv, {place}" in result.stderr
    removed = lw.dedup(path, by="cosine", threshold=0.99, field="x0..x3", on_error="skip", out=tmp_path / "out")
    assert removed.report["counts"]["empty"] == 3 and removed.report["counts"]["rejected"] == 3
    assert [row["id"] for row in removed.removed.to_arrow().to_pylist()] == ["v1", "t0"]


def test_euclid_is_not_cosine():
    """Vectors are compared as they are given, with no scaling: direction and length disagree here about who is near."""
    rows = [{"id": name, "vector": vector} for name, vector in zip("prsq", [[2, 2, 2.5], [0.25] * 3, [-2] * 3, [2] * 3], strict=True)]
    l2 = lw.pairs(rows, by="l2", within=7, recall=0.9999).to_arrow().to_pylist()
    cosine = lw.pairs(rows, by="cosine", threshold=0.99, recall=0.9999).to_arrow().to_pylist()
    of_q = [{row["id_a"]: row[name] for row in rows if row["id_b"] == "q"} for rows, name in ((l2, "distance"), (cosine, "similarity"))]
    assert of_q[0] == pytest.approx({"p": 0.5, "r": 3.031088913245535, "s": 6.928203230275509}, abs=1e-12)
    assert of_q[1] == pytest.approx({"p": 0.9941348467724345, "r": 1.0}, abs=1e-12)
    assert sorted(of_q[0], key=of_q[0].get) == ["p", "r", "s"] and max(of_q[1], key=of_q[1].get) == "r"


def test_empty_sets_are_like_none_unless_wanted():
    rows = [{"elements": []}, {"elements": [1]}, {"elements": []}, {"elements": None}]
    assert len(lw.pairs(rows, by="elements", threshold=0.1)) == 0
    kept = lw.dedup(rows, by="elements", threshold=0.1)
    assert kept.report["counts"]["empty"] == 3 and kept.report["counts"]["without_text"] == 1 and len(kept.removed) == 0
    assert kept.report["warnings"] == ["1 of 4 items has no set in the field 'elements' (null, missing or not a set): memory.arrow item 4"]
    copies = lw.dedup(rows, by="elements", threshold=0.1, copies="empty").removed.to_arrow().to_pylist()
    assert [(row["position"], row["kept_position"], row["reason"]) for row in copies] == [(2, 0, "exact"), (3, 0, "exact")]


BAD = {
    "mixed.jsonl": ("cosine", '{"vector": [1, 2]}\n{"vector": [1, 2, 3]}\n', r"mixed\.jsonl, item 2: has 3 numbers and the first has 2"),
    "huge.jsonl": ("l2", '{"vector": [1, 2]}\n{"vector": [1, 1e999]}\n', r"huge\.jsonl, line 2, .*'vector'.*inf is no coordinate"),
    "nan.jsonl": ("l2", '{"vector": [1, 2]}\n{"vector": [1, NaN]}\n', r"nan\.jsonl, line 2"),
    "other.jsonl": ("l2", '{"values": [1, 2]}\n', r"no row of other\.jsonl has the field 'vector'; fields seen: values; .*--field"),
    "minus.jsonl": ("weighted", '{"elements": {"a": 1}}\n{"elements": {"a": -1}}\n', r"minus\.jsonl, line 2, .*the weight -1"),
    "hex.jsonl": ("hamming", '{"code": "ff"}\n{"code": "fg"}\n', r"hex\.jsonl, line 2, .*'fg' are no bytes in hexadecimal"),
    "bits.jsonl": ("hamming", '{"code": "ff"}\n{"code": "ff00"}\n', r"bits\.jsonl, item 2: has 16 bits and the first has 8"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_compared_is_named(tmp_path, name):
    by, lines, said = BAD[name]
    (tmp_path / name).write_text(lines)
    limit = {"within": 1} if by in ("l2", "hamming") else {"threshold": 0.9}
    for verb in (lw.pairs, lw.dedup):
        with pytest.raises(lw.DataError, match=said):
            verb(tmp_path / name, by=by, **limit)


def test_arrays_that_cannot_be_compared_are_named(tmp_path):
    array = np.ones((3, 4), np.float32)
    array[2, 1] = np.nan
    np.save(tmp_path / "v.npy", array)
    with pytest.raises(lw.DataError, match=r"v\.npy, position 2 \(rows count from 0\).*item 2 of 4: nan is no coordinate"):
        lw.pairs(tmp_path / "v.npy", by="l2", within=1)
    np.save(tmp_path / "flat.npy", array[0])
    with pytest.raises(lw.DataError, match=r"flat\.npy: this is an array of float32 of shape \(4,\)"):
        lw.pairs(tmp_path / "flat.npy", by="l2", within=1)
    with pytest.raises(lw.UsageError, match="--within 65: the greatest Hamming distance there can be is 64"):
        lw.pairs(["00" * 8, "ff" * 8], by="hamming", within=65)


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"by": "l2", "threshold": 0.8}, "l2 is a distance; give --within D"),
        ({"by": "cosine", "within": 0.2}, "a cosine is no distance; give --threshold"),
        ({"by": "cosine", "threshold": 1.5}, "above 0 and up to 1"),
        ({"by": "cosine", "normalize": "lower"}, "only text is normalised"),
        ({"by": "linf", "within": 1}, "no hash family"),
        ({"by": "edit", "within": 2, "verify": "none"}, "strings are always compared exactly"),
        ({"by": "l2", "within": 2, "verify": "none"}, "vectors are always compared exactly"),
        ({"by": "elements", "verify": "estimate"}, "only of texts are signatures compared"),
        ({"by": "elements", "exact": True, "verify": "none"}, "with --exact sets are always compared exactly"),
    ],
)
def test_choices_that_contradict_each_other_are_refused(choices, said):
    items = {"edit": ["ab"], "elements": [[1]]}.get(choices["by"], [[1.0, 2.0]])
    with pytest.raises(lw.UsageError, match=said):
        lw.pairs(items, **choices)
