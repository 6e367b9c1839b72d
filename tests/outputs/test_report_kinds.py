"""Sets, vectors, codes and strings in report.html, `show` and tables; and the differences of two of them."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import Result
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from command_line import lines, run
from likewise.cli.pairs import table, without_places
from likewise.report import differences
from likewise.runs.shown import shortened

DRAW = np.random.default_rng(5)


def write(folder: Path, field: str, items: list[Any]) -> Path:
    """Records with the ids a, b, c and so on."""
    path = folder / "in.jsonl"
    path.write_text("".join(json.dumps({"id": chr(97 + place), field: item}) + "\n" for place, item in enumerate(items)))
    return path


def made(folder: Path, field: str, items: list[Any], *flags: object) -> tuple[Path, Result]:
    """An output folder, and what was said when it was made."""
    result = run("dedup", write(folder, field, items), "-o", folder / "out", "--field", field, *flags)
    assert result.exit_code == 0, result.stderr
    return folder / "out", result


def page(out: Path) -> str:
    """The words of the page."""
    written = re.sub(r"(?s)<style>.*?</style>|<script>.*?</script>", "", (out / "report.html").read_text())
    return html.unescape(re.sub(r"<[^>]+>", "|", written).replace("||", "|"))


# in what two items differ


@given(st.text("abc ", max_size=12), st.text("abc ", max_size=12))
@settings(max_examples=100)
def test_as_few_characters_are_marked_as_can_be(left, right):
    runs = differences.signs(left, right)
    assert "".join(text for what, text in runs if what != "insert") == left
    assert "".join(text for what, text in runs if what != "delete") == right
    assert sum(len(text) for what, text in runs if what != "equal") == lw.similarity(left, right, by="edit")


@given(st.binary(min_size=1, max_size=40), st.sets(st.integers(0, 319), max_size=5))
@settings(max_examples=50)
def test_bits_that_differ_are_named_by_their_place(code, flipped):
    number = int.from_bytes(code, "little")
    flipped = sorted(place for place in flipped if place < 8 * len(code))
    other = (number ^ sum(1 << place for place in flipped)).to_bytes(len(code), "little")
    said = differences.bits_apart(code.hex(), other.hex())
    assert re.findall(r"\d+", said.partition(":")[2]) == [str(place) for place in flipped] and said.startswith(str(len(flipped) or "all"))
    runs = differences.hexadecimal(code.hex(), other.hex())
    assert (
        "".join(text for what, text in runs if what != "insert") == code.hex() and "".join(t for what, t in runs if what != "delete") == other.hex()
    )


def test_long_codes_are_shown_by_their_ends():
    assert shortened("code", "0" * 300 + "f" * 100) == "0" * 32 + "...336 digits..." + "f" * 32
    assert differences.hexadecimal("a" + "0" * 400, "b" + "0" * 400)[-1] == ("equal", "0" * 32 + "...336 digits..." + "0" * 32)
    assert differences.hexadecimal("00", "0000") is None and differences.bits_apart("00", "0000") == ""


@pytest.mark.parametrize(
    ("left", "right", "both", "other", "removed", "kept"),
    [
        ({"a": 1, "b": 2, "c": 3}, [["a", 1.0], ["b", 2.5], ["d", 4]], ["a: 1"], [("b", "2", "2.5")], ["c: 3"], ["d: 4"]),
        ([{"element": "a", "weight": 1}], [{"weight": 1, "element": "a"}], ["a: 1"], [], [], []),
        ([["a", 1], ["a", 2]], {"a": 3.0}, ["a: 3"], [], [], []),
        ({}, None, [], [], [], []),
    ],
)
def test_weights_that_differ_are_distinguished_from_elements_that_do(left, right, both, other, removed, kept):
    found = differences.parts("weighted", json.dumps(left), "" if right is None else json.dumps(right))
    assert found == differences.Parts("element", both, other, removed, kept)


def test_sparse_places_are_elements():
    left, right = ({"indices": places, "values": [1] * len(places), "dim": 9} for places in ([0, 5], [5, 7]))
    assert differences.parts("elements", json.dumps(left), json.dumps(right)) == differences.Parts("element", ["5"], [], ["0"], ["7"])


def test_groups_that_both_have_name_the_elements_of_each():
    groups = {"tea": "breakfast", "jam": "breakfast", '"7"': "seven", "soap": "soap"}
    found = differences.parts("elements", '["tea", "nails", "7", 7]', '["jam", "breakfast", "7", "soap"]', groups)
    assert found == differences.Parts("group", ["breakfast (tea beside jam)", 'seven ("7")'], [], ["nails", "7"], ["breakfast", "soap"])


def test_numbers_of_a_long_vector_are_counted():
    numbers = [f"{number:.7f}" for number in DRAW.normal(size=10_000)]
    other = [*numbers[:5000], "9.0", *numbers[5001:]]
    assert differences.numbers_apart(numbers, other) == (
        f"1 of 10,000 numbers differs, at index 5,000: {numbers[5000]} in the removed item and 9.0 in the kept one"
    )
    assert differences.numbers_apart(["1.0", "2.0"], ["1.5", "4.0"]).startswith("2 of 2 numbers differ, most of all at index 1: 2.0 in the removed")
    assert differences.numbers_apart(["1.0"], ["1.0"]) == "all numbers are the same" and differences.numbers_apart(["1.0"], ["1.0", "2.0"]) == ""
    assert len(shortened("vector", " ".join(numbers))) < 130


# the page, and the summary of a run


def test_distances_have_units(tmp_path):
    out, result = made(tmp_path, "code", ["00ff00ff", "00ff00fe", None], "--by", "hamming", "--within", 2, "--slots", 100)
    assert lines(result.stderr)["kept"] == "2  (1 without a code of bits)"
    said = page(out)
    assert "Each item is a code of 32 bits." in said and "|maximum distance|2 bits (inclusive)|" in said
    assert "Kept without comparison: 1 without a code of bits." in said and "a pair at distance 2 bits is found" in said
    assert "Example 1: near-duplicate, distance 1 bit|" in said and "|1 bit differs: 24.|" in said
    assert "Hexadecimal digits that differ are marked: " in said and "|00ff00f|f|" in said and "|00ff00f|e|" in said


def test_an_angle_is_reported_in_degrees(tmp_path):
    out, _ = made(tmp_path, "vector", [[1, 0], [1, 1]], "--by", "angle", "--within", 45)
    said = page(out)
    assert "|45 degrees (inclusive)|" in said and "Example 1: near-duplicate, distance 45 degrees|" in said
    assert "|1 of 2 numbers differs, at index 1: 1.0 in the removed item and 0.0 in the kept one.|" in said
    assert "why      near-duplicate: distance 45 degrees by angle (maximum 45 degrees)\n" in run("show", out, "b").stdout


def test_what_is_not_equal_does_not_look_as_if_it_were(tmp_path):
    out, _ = made(tmp_path, "vector", [[1, 0], [1, 0.001]], "--by", "cosine")
    assert "Example 1: near-duplicate, similarity over 0.9999|" in page(out)
    assert "similarity over 0.9999 by cosine (threshold 0.8)\n" in run("show", out, "b").stdout
    assert "near  > 0.9999" in run("show", out, "a").stdout


def test_zero_vectors_are_called_so(tmp_path):
    out, result = made(tmp_path, "vector", [[1, 0], [0, 0], [2, 0]], "--by", "cosine")
    assert lines(result.stderr)["kept"] == "2  (1 of zeros only)"
    assert "1 of 3 items is a zero vector, which has no direction and matches nothing: in.jsonl item 2" in result.stderr
    assert "Kept without comparison: 1 of zeros only." in page(out)
    assert run("show", out, "b").stdout == "'b'  at in.jsonl:2 was kept: its values are all 0, so it has no direction\n"


def test_long_vectors_make_no_long_page(tmp_path):
    base = DRAW.normal(size=(3, 10_000)).astype(np.float32)
    np.save(tmp_path / "v.npy", np.concatenate([base, base * np.float32(1.01)]))
    assert run("dedup", tmp_path / "v.npy", "-o", tmp_path / "out", "--by", "cosine", "--threshold", 0.99).exit_code == 0
    assert len((tmp_path / "out/report.html").read_text()) < 60_000  # the vectors alone take 600 kB
    shown = run("show", tmp_path / "out", 3).stdout.splitlines()
    assert max(map(len, shown)) < 150 and shown[4].startswith("removed ") and shown[4].endswith("... and 9,992 more numbers")
    assert shown[6].startswith("differ   10,000 of 10,000 numbers differ, most of all at index ")
    assert len(run("show", tmp_path / "out", 3, "-v").stdout) > 100_000


def test_the_longest_set_has_the_most_elements(tmp_path):
    out, _ = made(tmp_path, "elements", [["a", "b"], ["a", "b", "c"]], "--by", "elements", "--threshold", 0.5, "--keep", "longest")
    assert "|kept set of a cluster|the one with the most elements|" in page(out) and "Kept: |b|" in page(out)


def test_weights_are_marked(tmp_path):
    out, _ = made(tmp_path, "elements", [{"x": 3, "y": 1}, {"x": 2, "y": 1}], "--by", "weighted", "--threshold", 0.7)
    assert "Elements and weights that differ are marked: " in page(out)
    assert "|y: 1\n|x: 3|" in page(out) and "|y: 1\n|x: 2|" in page(out)


GROUPS = {"tea": "breakfast", "jam": "breakfast"}
BASKETS = [["milk", "tea"], ["milk", "jam"], ["milk", "tea", "nails"]]


def test_groups_are_reported_while_they_can_be_read(tmp_path):
    (tmp_path / "groups.json").write_text(json.dumps(GROUPS))
    out, _ = made(tmp_path, "elements", BASKETS, "--by", "elements", "--threshold", 0.6, "--groups", tmp_path / "groups.json")
    said = page(out)
    assert "Groups that differ are marked: " in said and "exact copy by groups|" in said and "|milk, breakfast (jam beside tea)" in said
    first = (out / "report.html").read_text()
    assert run("report", out).exit_code == 0 and (out / "report.html").read_text() == first
    assert run("show", out, "c").stdout.splitlines()[2:] == [
        "why      near-duplicate: similarity 0.6667 by elements in groups (threshold 0.6)",
        "",
        "in both          2 groups: milk, breakfast (tea)",
        "only in removed  1 group: nails",
        "only in kept     0 groups",
    ]
    (tmp_path / "groups.json").unlink()
    assert run("show", out, "b").stdout.splitlines()[2:] == [
        "why      exact copy by groups",
        "",
        "in both          1 element: milk",
        "only in removed  1 element: jam",
        "only in kept     1 element: tea",
        "",
        "Elements of one group count as one, so some marked elements did not count as different.",
    ]
    assert run("report", out).exit_code == 0 and "Elements of one group count as one" in page(out)


def test_an_overfull_bucket_names_elements(tmp_path):
    """Sets with forty common elements and sixty others: they collide in each bucket but are not similar."""
    rows = [{"elements": [*range(40), *(1000 * place + i for i in range(60))]} for place in range(1, 400)]
    lw.dedup(rows, out=tmp_path / "out", by="elements", threshold=0.9, bands=2, rows=1, exact=False)
    report = json.loads((tmp_path / "out/report.json").read_text())
    (bucket, *_) = report["budget"]["buckets"]
    assert bucket["text"].startswith("[0,1,2,3,") and {*map(int, bucket["shared"])} <= {*range(40)} != set()
    assert "|in common|first of the sets|sets|skipped pairs|" in page(tmp_path / "out").replace("||", "|")


# show


@pytest.mark.parametrize(
    ("by", "field", "item", "said"),
    [
        ("elements", "elements", ["a", "b"], "in both          2 elements: a, b\nonly in removed  0 elements\nonly in kept     0 elements\n"),
        ("l2", "vector", [0.5, 1], "The two vectors are the same, number by number:\n\n0.5  1.0\n"),
        ("hamming", "code", "00ff", "The two codes are the same, bit by bit:\n\n00ff\n"),
        ("edit", "text", "a name", "The two strings are the same, character by character.\n\na name\n"),
    ],
)
def test_copies_are_said_to_be_the_same(tmp_path, by, field, item, said):
    limit = ("--threshold", 0.5) if by == "elements" else ("--within", 1)
    out, _ = made(tmp_path, field, [item, item], "--by", by, *limit)
    assert run("show", out, "b").stdout.endswith(f"why      exact copy\n\n{said}")


@pytest.mark.parametrize(
    ("by", "field", "empty"), [("elements", "elements", []), ("weighted", "elements", {}), ("edit", "text", ""), ("words:2", "text", "?!")]
)
def test_an_empty_item_is_said_to_be_empty(tmp_path, by, field, empty):
    limit = ("--within", 1) if by == "edit" else ("--threshold", 0.5)
    out, _ = made(tmp_path, field, [empty], "--by", by, *limit)
    assert run("show", out, "a").stdout == "'a'  at in.jsonl:1 was kept: it is empty, and empty items are not compared\n"


def test_white_space_alone(tmp_path):
    out, _ = made(tmp_path, "text", ["a b  c", "a  b c"], "--by", "words:1")
    assert run("show", out, "b").stdout.endswith(
        "same shingles by words:1 after normalization (nfc, lower, invisible)\n\nThe two differ only in white space.\n\na  b c\n"
    )


def test_a_threshold_stands_as_it_was_given(tmp_path):
    out, _ = made(tmp_path, "vector", [[1, 0], [1, 0.001]], "--by", "cosine", "--threshold", 0.99999)
    assert "similarity over 0.9999 by cosine (threshold 0.99999)\n" in run("show", out, "b").stdout


def test_a_short_item_may_not_have_been_compared(tmp_path):
    out, _ = made(tmp_path, "elements", [[1, 2, 3], [1, 2]], "--by", "elements", "--threshold", 0.5, "--min-tokens", 3)
    assert "no similar kept item was found at or above 0.5, or it has fewer than 3 tokens (--min-tokens)\n" in run("show", out, "b").stdout


def test_numbers_are_called_by_their_id(tmp_path):
    np.save(tmp_path / "c.npy", np.array([0, 2**63, 2**64 - 1], np.uint64))
    assert run("dedup", tmp_path / "c.npy", "-o", tmp_path / "out", "--by", "hamming", "--within", 3).exit_code == 0
    assert run("show", tmp_path / "out", 2).stdout == "c.npy:2 (rows count from 0) was kept: no similar kept item was found within 3 bits\n"
    assert json.loads(run("show", tmp_path / "out", 2, "--json").stdout)["id"] == 2


# tables


def test_a_column_of_distances_stands_right_and_counts_bits():
    pairs = pa.table({"id_a": ["a", "b"], "id_b": ["c", "d"], "distance": [3.0, 12.0]})
    assert table(pairs, colored=False).splitlines() == ["id_a  id_b  distance", "a     c            3", "b     d           12"]
    assert table(pairs.set_column(2, "distance", [[0.00001, 1.5]]), colored=False).splitlines()[1:] == [
        "a     c        1e-05",
        "b     d          1.5",
    ]
    similar = pairs.rename_columns(["id_a", "id_b", "similarity"]).set_column(2, "similarity", [[0.99999994, 1.0]])
    assert [line.split(maxsplit=2)[2] for line in table(similar, colored=False).splitlines()[1:]] == ["> 0.9999", "1.0000"]


def test_places_are_left_out_where_they_say_nothing():
    names = ["id_a", "id_b", "distance", "source_a", "position_a", "source_b", "position_b"]
    pairs = pa.table([[0, 1], [4, 0], [0.0, 1.0], ["q.npy"] * 2, [0, 1], ["v.npy"] * 2, [4, 0]], names=names)
    assert without_places(pairs).column_names == names[:3]
    other = pairs.set_column(0, "id_a", [[0, 7]])
    assert without_places(other) == other
    several = pairs.set_column(5, "source_b", [["v.npy", "w.npy"]])
    assert without_places(several) == several


def test_an_audit_says_what_its_bins_are_of(tmp_path):
    np.save(tmp_path / "c.npy", np.array([0, 1, 2**40 - 1], np.uint64))
    said = run("audit", tmp_path / "c.npy", "--by", "hamming", "--within", 1).stdout
    assert "found      by distance:\n1          1 of 1 pair\n" in said


@pytest.mark.parametrize(("by", "unit"), [("elements", "elements"), ("weighted", "elements"), ("words:5", "shingles")])
def test_a_plan_names_what_it_counts(by, unit):
    assert f"300 {unit} each" in run("plan", "--by", by).stdout


# in Python


def test_warnings_show_in_what_python_prints():
    rows = [{"elements": ["a"]}, {"elements": ["a"]}, {"elements": None}]
    for result in (lw.pairs(rows, by="elements"), lw.dedup(rows, by="elements")):
        assert len(result.report["warnings"]) == 1 and f"\nwarning: {result.report['warnings'][0]}" in repr(result)
    assert "warning" not in repr(lw.dedup(rows[:2], by="elements"))


@pytest.mark.parametrize("by", ["words:5", "levenshtein"])
def test_an_array_of_numbers_is_no_text(by):
    with pytest.raises(lw.UsageError, match=r"an array of float64 of shape \(3, 2\), not text; compare its rows as vectors, as with by='cosine'"):
        lw.pairs(np.zeros((3, 2)), by=by, **({"within": 1} if by == "levenshtein" else {}))


def test_pairs_of_codes_state_full_recall():
    assert lw.pairs(np.array([1, 3], np.uint64), by="hamming", within=1).report["recall"] == 1


def test_weighted_sets_exactly_are_all_compared():
    rows = [{"a": 1, "b": 2}, {"a": 1, "b": 2.5}]
    found = lw.pairs(rows, by="weighted", exact=True)
    assert found.report["recall"] == 1 and found.report["warnings"] == [] and found.to_arrow()["similarity"].to_pylist() == [6 / 7]
    assert lw.pairs(rows, by="weighted").report["recall"] < 1
    assert lw.dedup(rows, by="weighted", exact=True).report["curve"] == []


def test_queries_without_a_value_are_reported():
    rows = [{"id": "a", "elements": [1, 2]}, {"id": "b", "elements": [1]}]
    found = lw.neighbors(rows, query=[{"id": "q", "tags": [1, 2]}, {"id": "r", "elements": [1, 2]}], by="elements", k=1, exact=True)
    assert found.report["warnings"] == [
        "1 of 4 items has no set in the field 'elements' (null, missing or not a set): against/memory.arrow item 1 (id 'q')"
    ]


def test_rows_that_are_no_objects_are_reported(tmp_path):
    (tmp_path / "bare.jsonl").write_text('["a", "b"]\n["a", "c"]\n')
    said = run("pairs", tmp_path / "bare.jsonl", "--by", "elements").stderr
    assert 'no row of bare.jsonl has fields; each row must be an object, such as {"id": 1, "elements": ...}, not a bare value' in said
