"""Pages and `show` for other items than texts."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

import likewise as lw
from command_line import lines, run
from kind_items import EACH, MADE, write
from likewise import kinds

#: The page's words for a measure, and the axis of its curve; None if items are joined exactly.
SAID = {
    "elements": ("Each item is a set of elements.", "Jaccard similarity"),
    "weighted": ("Each item is a set of elements with weights.", "weighted Jaccard similarity"),
    "cosine": ("the cosine of the angle between them", "cosine"),
    "angle": ("the angle between them in degrees", "angle in degrees"),
    "l1": ("(L1)", "L1 distance"),
    "l2": ("(L2, Euclidean)", "L2 distance"),
    "hamming": ("the number of bits in which they differ", None),
    "edit": ("the minimum number of inserted and deleted characters", None),
    "levenshtein": ("the minimum number of inserted, deleted and substituted characters", None),
    "edit/ratio": ("divided by the sum of their lengths", None),
    "levenshtein/ratio": ("divided by the length of the longer one", None),
    "jaro-winkler": ("their Jaro-Winkler similarity", None),
}


@EACH
def test_the_page_says_nothing_of_texts_where_there_are_none(tmp_path, items):
    path = write(items, tmp_path / "in.jsonl")
    more = {"exact": False} if items.by == "elements" else {}
    lw.dedup(path, out=tmp_path / "out", **items.choices, **more)
    page = (tmp_path / "out/report.html").read_text()
    assert run("report", tmp_path / "out").exit_code == 0
    assert (tmp_path / "out/report.html").read_text() == page  # the examples as well, which are read again
    said, axis = SAID.get(items.by, (kinds.measure(items.by).value, None))
    hidden = r"(?s)<style>.*?</style>|<script>.*?</script>|<details><summary>(All options|Machine).*?</details>"
    words = html.unescape(re.sub(r"<[^>]+>", "", re.sub(hidden, "", page)))
    assert said in words and not re.search(r"shingle|document|[^-]\btexts?\b", words)
    shown = re.findall(r"Example \d: near-duplicate, (distance|similarity) ([\d.]+)", words)
    assert len(shown) >= 4 and {name for name, _ in shown} == {"distance" if items.distance else "similarity"}
    spread = [float(value) for _, value in shown][-4:]  # from the least similar to the most
    assert spread == sorted(spread, reverse=items.distance) and spread[0] != spread[-1]
    if axis is None:
        way = "comparing all pairs" if kinds.measure(items.by).measured else "an exact similarity join"
        assert f"by {way}, not by hashing. The recall is 1: no pair is missed." in words and "probability of being found" not in page
        return
    assert f"by {axis}; at the threshold {next(iter(items.limit.values())):g}" in page and "this was not measured" not in words
    side = "Left" if items.distance else "Right"
    assert f"{side} of the threshold, dotted: pairs that may be missed." in words


def test_the_page_of_an_exact_join_states_full_recall(tmp_path):
    lw.dedup(MADE["elements"].rows(), out=tmp_path / "out", by="elements", threshold=0.6, exact=True, bands=13, rows=60)
    report = json.loads((tmp_path / "out/report.json").read_text())
    assert report["curve"] == [] and report["budget"]["recall"] == 1 and report["warnings"] == []
    page = (tmp_path / "out/report.html").read_text()
    assert "no pair is missed" in page and "13 bands" not in page and "were joined exactly" in page


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
        "removed  'b'  at in.jsonl:2",
        "kept     'a'  at in.jsonl:1",
        "why      near-duplicate: similarity 0.5 by elements (threshold 0.5)",
        "",
        'in both          2 elements: "7", 7',
        "only in removed  1 element: jam",
        "only in kept     1 element: tea",
    ]
    assert shown.stderr == ""
    printed = json.loads(run("show", out, "b", "--json").stdout)
    assert printed["removed"]["value"] == ["7", 7, "jam"] and printed["kept"]["value"] == ["tea", 7, "7"] and printed["similarity"] == 0.5
    assert run("show", out, "a").stdout.splitlines()[1] == "  'b'  at in.jsonl:2  near  0.5000"


def test_show_tells_weights(tmp_path):
    lines = [{"id": "a", "elements": {"x": 4, "y": 4}}, {"id": "b", "elements": [["x", 3.5], ["y", 4]]}]
    out = dedup_of(tmp_path, lines, "--by", "weighted", "--threshold", "0.9")
    assert run("show", out, "b").stdout.splitlines()[2:] == [
        "why      near-duplicate: similarity 0.9375 by weighted (threshold 0.9)",
        "",
        "in both          1 element: y: 4",
        "other weight     1 element: x: 3.5 in removed, 4 in kept",
        "only in removed  0 elements",
        "only in kept     0 elements",
    ]


LONG = [round(0.1 * place, 1) for place in range(30)]
FIRST = "0  0.1  0.2  0.3  0.4  0.5  0.6  0.7  ... and 22 more numbers"
APART = "differ   1 of 30 numbers differs, at index 29: 3.0 in the removed item and 2.9 in the kept one"
BITS = "The lowest byte of an integer comes first; bit 0 is the lowest bit of the first byte."


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
    assert f"why      near-duplicate: distance {distance} by {by} (maximum {distance if ' ' in distance else 1})\n" in shown.stdout
    assert shown.stdout.endswith(said) and shown.stderr == ""
    printed = json.loads(run("show", out, "gone", "--json").stdout)
    assert (printed["removed"]["text" if field == "text" else "value"], printed["distance"]) == (gone, pytest.approx(float(distance.split()[0])))
    assert "'none'  at in.jsonl:3 was kept: it has no " in run("show", out, "none").stdout
    (tmp_path / "in.jsonl").write_text((tmp_path / "in.jsonl").read_text().replace(*changed))
    assert f"the inputs have changed since {out} was made: the distance of these items was {distance}, and it is " in run("show", out, "gone").stderr


@pytest.mark.parametrize(
    ("by", "field", "values", "said"),
    [
        ("levenshtein", "text", ["mitten", "mittens", "cat", "bitter"], "1 edit: 1, 2 edits: 1"),
        ("hamming", "code", ["00", "01", "f0", "03"], "1 bit: 1, 2 bits: 1"),
    ],
)
def test_the_summary_counts_distances_with_their_unit(tmp_path, by, field, values, said):
    """mittens is 1 edit from mitten, and bitter 2; 01 is 1 bit from 00, and 03 is 2. The empty bin of 0 is left out."""
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"id": str(number), field: value}) + "\n" for number, value in enumerate(values)))
    done = run("dedup", path, "-o", tmp_path / "out", "--by", by, "--within", 2)
    assert lines(done.stderr)["distance"] == said
