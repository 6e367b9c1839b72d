"""Edge cases of other items than texts: groups, types and sizes of elements, incomparable items, contradictory choices."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from command_line import run
from kind_items import found
from stopping import StoppedError, Stops

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
        (tmp_path / "list.json", r"list\.json: is not a JSON object"),
        (tmp_path / "names.csv", r"names\.csv: has the columns a, b"),
        (tmp_path / "both.csv", r"both\.csv: 1 is in two groups"),
        (tmp_path / "none.csv", r"none\.csv: .*no such|none\.csv: cannot be read"),
        ({1: 2.5}, "groups, pair 1"),
        ({}, "groups: is empty"),
        (7, "groups=7"),
    ]:
        with pytest.raises(lw.LikewiseError, match=said):
            lw.pairs(rows, by="elements", groups=groups)
    with pytest.raises(lw.UsageError, match="only sets have groups"):
        lw.pairs(["a text"], groups=GROUPS)


def test_the_page_tells_of_groups(tmp_path):
    lw.dedup([{"elements": A}, {"elements": B}], out=tmp_path / "out", by="elements", threshold=0.5, groups=GROUPS)
    assert "the Jaccard similarity of their sets of groups" in (tmp_path / "out/report.html").read_text()


def by_groups(folder: Path) -> tuple[Path, Path]:
    """Twenty sets, and twenty that hold other elements of all but one of their groups, 7 of 9 in both; the file of groups."""
    first = [[100 * place + element for element in range(8)] for place in range(20)]
    rows = [
        {"id": place, "elements": elements}
        for place, elements in enumerate([*first, *([*(50 + one for one in each[1:]), each[0] + 99] for each in first)])
    ]
    (folder / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "groups.json").write_text(json.dumps({str(one + more): str(one) for each in first for one in each for more in (0, 50)}))
    return folder / "in.jsonl", folder / "groups.json"


def test_an_output_by_groups_is_audited_by_them(tmp_path):
    path, groups = by_groups(tmp_path)
    out = tmp_path / "out"
    assert len(lw.dedup(path, by="elements", threshold=0.7, groups=groups, out=out).removed) == 20
    measured = lw.audit(out)
    assert (measured.pairs, measured.found) == (20, 20)
    groups.rename(tmp_path / "moved.json")
    with pytest.raises(lw.UsageError, match=r"the groups that this output was made with \(.*groups\.json\) are missing; give groups="):
        lw.audit(out)
    assert lw.audit(out, groups=tmp_path / "moved.json").found == 20
    groups.write_text('{"1": "another"}')
    with pytest.raises(lw.DataError, match="these are not the groups of the output"):
        lw.audit(out)


def test_an_output_by_a_mapping_is_audited_by_that_mapping(tmp_path):
    """A later run finds a path again, but needs a mapping to be given again; the message does not call it a file."""
    path, groups = by_groups(tmp_path)
    mapping = {int(element): group for element, group in json.loads(groups.read_text()).items()}
    out = tmp_path / "out"
    assert len(lw.dedup(path, by="elements", threshold=0.7, groups=mapping, out=out).removed) == 20
    with pytest.raises(lw.UsageError, match=r"\(a mapping in Python, [0-9a-f]{32}\) are missing; give groups="):
        lw.audit(out)
    assert lw.audit(out, groups=mapping).found == 20
    with pytest.raises(lw.DataError, match="these are not the groups of the output"):
        lw.audit(out, groups=mapping | {10**9: "another"})


def test_a_run_does_not_go_on_by_other_groups(tmp_path, monkeypatch):
    path, groups = by_groups(tmp_path)
    stops = Stops(monkeypatch)
    stops.begin(3)
    with pytest.raises(StoppedError):
        lw.dedup(path, by="elements", threshold=0.7, groups=groups, out=tmp_path / "out")
    stops.begin(0)
    before = groups.read_text()
    groups.write_text('{"1": "another"}')
    with pytest.raises(lw.UsageError, match="cannot resume, because the content of groups= differs"):
        lw.dedup(path, by="elements", threshold=0.7, groups=groups, out=tmp_path / "out", resume=True)
    groups.write_text(before)
    assert len(lw.dedup(path, by="elements", threshold=0.7, groups=groups, out=tmp_path / "out", resume=True).removed) == 20


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
    assert "v.csv, line 7, column 6, id \"n0\", column 'x1': nan is not a coordinate of a vector" in refused.stderr
    result = run("pairs", path, *flags, "--on-error", "skip", "-o", tmp_path / "out.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [(row["id_a"], row["id_b"]) for row in rows] == [("v0", "v1"), ("v0", "t0"), ("v1", "t0")]
    assert [row["similarity"] for row in rows] == pytest.approx([1, 1, 1], abs=1e-12)
    assert "3 of 7 items are zero vectors" in result.stderr
    assert "v.csv item 4 (id 'z0'), v.csv item 5 (id 'z1'), v.csv item 10 (id 'm0')" in result.stderr
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


def test_a_nul_at_the_end_of_a_string_is_a_letter_like_any_other():
    """Seven letters and a NUL fill a word of eight bytes, as padding with zeros would."""
    rows = ["a", "a\0", "a\0\0", "seven l", "seven l\0", "a"]
    pairs = lw.pairs(rows, by="edit", within=2).to_arrow().to_pylist()
    near = {(0, 1): 1, (0, 2): 2, (1, 2): 1, (3, 4): 1, (0, 5): 0, (1, 5): 1, (2, 5): 2}
    assert {(row["id_a"], row["id_b"]): row["distance"] for row in pairs} == near
    removed = lw.dedup(rows, by="levenshtein", within=0).removed.to_arrow().to_pylist()
    assert [(row["position"], row["kept_position"]) for row in removed] == [(5, 0)]


@pytest.mark.parametrize(("keep", "stays"), [("longest", 0), ("shortest", 1)])
def test_the_length_of_a_string_is_that_in_characters(keep, stays):
    rows = ["abc", "\u4e2d\ud800"]  # six bytes, more than three
    removed = lw.dedup(rows, by="levenshtein", within=3, keep=keep).removed.to_arrow().to_pylist()
    assert [row["kept_position"] for row in removed] == [stays]
    assert lw.dedup(rows, by="levenshtein", within=3, min_tokens=3).report["counts"]["too_short_to_judge"] == 1


@pytest.mark.parametrize("within", [2**31, 2**63, "1e300"])
def test_any_number_of_edits_may_be_allowed(within):
    assert len(lw.pairs(["ab", "cdé"], by="edit", within=within)) == len(lw.dedup(["ab", "cdé"], by="levenshtein", within=within).removed) == 1


def test_a_text_that_no_file_can_be_named_by_is_a_text():
    """A name has 255 bytes at most; and whether there is a file is not asked of what the system refuses to look at."""
    for text in ("\u4e2d" * 100, "\0", "\ud800"):
        assert len(lw.pairs([text, text], by="edit", within=0)) == 1


ODD = {
    "hamming": ("code", [[0, 1, 1], [0, 1, 0]], [[0.0, 1, 1], ["0", "1"], [[0, 1, 1]]]),
    "cosine": ("vector", [{"indices": [1, 2], "values": [3, 4]}, {"indices": [1, 2], "values": [4, 3]}], [{"indices": [1.0], "values": [1]}]),
    "angle": ("vector", [{"indices": [1], "values": [3], "dim": 5}, {"indices": [1], "values": [4]}], [{"indices": [1], "values": [1], "dim": 5.0}]),
}


@pytest.mark.parametrize("by", ODD)
def test_one_odd_value_takes_no_other_along(tmp_path, by):
    """A column of Arrow has one type: one float64 among whole numbers makes all of them float64, which are neither bits nor indexes."""
    field, good, odd = ODD[by]
    for value in odd:
        rows = [{field: one} for one in (*good, value)]
        (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        for given in (rows, tmp_path / "in.jsonl", *([[row[field] for row in rows]] if by == "hamming" else [])):
            found = lw.dedup(given, by=by, **({"threshold": 0.9} if by == "cosine" else {"within": 1}))
            assert len(found.removed) == 1 and found.report["counts"]["without_text"] == 1, given


@pytest.mark.parametrize("code", ["0f 0e", " 0f0e", "0f0e\n", "0f\t0e"])
def test_white_space_is_no_hexadecimal_digit(tmp_path, code):
    rows = [{"code": code}, {"code": "0f0f"}]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for given in (rows, tmp_path / "in.jsonl"):
        with pytest.raises(lw.DataError, match="hexadecimal"):
            lw.pairs(given, by="hamming", within=1)


def test_what_would_be_taken_for_something_else_is_refused():
    """Digits of str for bytes, indices of float64 for no vectors, and for the first of a set whatever comes first."""
    parts = {"indptr": np.array([0, 1]), "indices": np.array([1.0]), "data": np.array([1.0]), "shape": (1, 5)}
    for given, choices, said in [
        ([b"abcd", "0f0f"], {"by": "hamming", "within": 1}, "give all codes in one form"),
        (SimpleNamespace(**parts), {"by": "cosine"}, "indices of float64; indices must be whole numbers"),
        ({"a b", "a c"}, {"by": "words:1"}, "an input is set"),
    ]:
        with pytest.raises(lw.UsageError, match=said):
            lw.pairs(given, **choices)


BAD = {
    "mixed.jsonl": (
        "cosine",
        '{"vector": [1, 2]}\n{"vector": [1, 2, 3]}\n',
        r"mixed\.jsonl, line 2, .*has 3 numbers, but the first vector \(mixed\.jsonl, item 1\) has 2",
    ),
    "huge.jsonl": ("l2", '{"vector": [1, 2]}\n{"vector": [1, 1e999]}\n', r"huge\.jsonl, line 2, .*'vector'.*inf is not a coordinate"),
    "nan.jsonl": ("l2", '{"vector": [1, 2]}\n{"vector": [1, NaN]}\n', r"nan\.jsonl, line 2"),
    "other.jsonl": ("l2", '{"values": [1, 2]}\n', r"no row of other\.jsonl has the field 'vector'; fields seen: values; .*field="),
    "minus.jsonl": ("weighted", '{"elements": {"a": 1}}\n{"elements": {"a": -1}}\n', r"minus\.jsonl, line 2, .*the weight -1"),
    "hex.jsonl": ("hamming", '{"code": "ff"}\n{"code": "fg"}\n', r"hex\.jsonl, line 2, .*'fg' is not hexadecimal with two digits per byte"),
    "bits.jsonl": (
        "hamming",
        '{"code": "ff"}\n{"code": "ff00"}\n',
        r"bits\.jsonl, line 2, .*has 16 bits, but the first code \(bits\.jsonl, item 1\) has 8 bits",
    ),
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
    with pytest.raises(lw.DataError, match=r"v\.npy, position 2 \(rows count from 0\).*item 2 of 4: nan is not a coordinate"):
        lw.pairs(tmp_path / "v.npy", by="l2", within=1)
    np.save(tmp_path / "flat.npy", array[0])
    with pytest.raises(lw.DataError, match=r"flat\.npy: this is an array of float32 of shape \(4,\)"):
        lw.pairs(tmp_path / "flat.npy", by="l2", within=1)
    with pytest.raises(lw.UsageError, match="within=65: the maximum Hamming distance is 64"):
        lw.pairs(["00" * 8, "ff" * 8], by="hamming", within=65)


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"by": "l2", "threshold": 0.8}, r"l2 is a distance: use within=D \(maximum distance\) instead of threshold=0\.8$"),
        ({"by": "cosine", "within": 0.2}, r"^within=0\.2: cosine is a similarity; use threshold=S, or by='angle' with within=DEGREES$"),
        ({"by": "cosine", "threshold": 1.5}, "above 0 and up to 1"),
        ({"by": "cosine", "normalize": "lower"}, "only texts and strings are normalized"),
        (
            {"by": "edit", "threshold": 0.9},
            r"\(maximum number of edits\) instead of threshold=0\.9; for a similarity use by='edit/ratio' with threshold=S$",
        ),
        ({"by": "linf", "within": 1, "recall": 0.9}, r"^recall=0\.9: by='linf' compares all vectors, and finds every pair; leave out this option"),
        ({"by": "l3", "within": 1, "bands": 4, "rows": 2}, r"^bands=4 and rows=2: by='l3' compares all vectors.*; leave out these options, and"),
        ({"by": "l2.5", "within": 1, "tune": "error"}, r"^tune='error': by='l2\.5' compares all vectors, and finds every pair"),
        ({"by": "linf", "threshold": 0.8}, r"linf is a distance: use within=D \(maximum distance\) instead of threshold=0\.8$"),
        ({"by": "edit", "within": 2, "verify": "none"}, "strings are always compared exactly"),
        ({"by": "l2", "within": 2, "verify": "none"}, "vectors are always compared exactly"),
        ({"by": "elements", "verify": "estimate"}, "only documents can be compared by their signatures"),
        ({"by": "elements", "exact": True, "verify": "none"}, "with exact=True sets are always compared exactly"),
    ],
)
def test_choices_that_contradict_each_other_are_refused(choices, said):
    items = {"edit": ["ab"], "elements": [[1]]}.get(choices["by"], [[1.0, 2.0]])
    with pytest.raises(lw.UsageError, match=said):
        lw.pairs(items, **choices)
