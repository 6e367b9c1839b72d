"""`show`: removed and kept items, by id and by place."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import click
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from command_line import LIKE, TEXT, TEXTS, lines, run

pytestmark = pytest.mark.usefixtures("docs")


def test_show_a_removed_item_beside_its_representative(out: Path) -> None:
    result = run("show", out, "b")
    assert result.exit_code == 0 and result.stderr == ""
    printed = lines(result.stdout)
    assert printed["removed"] == "'b'  at docs.jsonl:2" and printed["kept"] == "'a'  at docs.jsonl:1"
    assert printed["why"] == "near-duplicate: similarity 0.8947 by words:2 (threshold 0.7)"
    assert result.stdout.rstrip().endswith("dark [-forest-]{+wood+}") and "\x1b" not in result.stdout


def test_show_marks_with_colors_where_they_are_wanted(out: Path) -> None:
    text = run("show", out, "b", "--color", "always").stdout
    assert click.style("forest", fg="red", strikethrough=True) in text and click.style("wood", fg="green", underline=True) in text
    assert "[-" not in text.replace("\x1b[", "")


def test_show_an_exact_copy_by_its_place(out: Path) -> None:
    result = run("show", out, "docs.jsonl:3")
    assert "'c'  at docs.jsonl:3" in result.stdout and "exact copy after normalization (nfc, lower, invisible)" in result.stdout


def test_show_json(out: Path) -> None:
    document = json.loads(run("show", out, "b", "--json").stdout)
    assert document["schema"] == "likewise/show/1" and document["status"] == "removed" and document["reason"] == "near"
    assert document["kept"] == {"id": "a", "source": "docs.jsonl", "position": 0, "text": TEXT}
    parts = document["differences"]
    assert "".join(text for kind, text in parts if kind != "insert") == document["removed"]["text"]
    assert "".join(text for kind, text in parts if kind != "delete") == document["kept"]["text"]


def test_show_says_what_became_of_an_item_that_was_not_removed(out: Path) -> None:
    assert "'a'  at docs.jsonl:1 was kept; 2 duplicates of it were removed:" in run("show", out, "a").stdout
    assert json.loads(run("show", out, "a", "--json").stdout)["status"] == "kept"
    assert "'d'  at docs.jsonl:4 was kept: no similar kept item was found at or above 0.7" in run("show", out, "d").stdout
    unknown = run("show", out, "zzz")
    assert unknown.exit_code == 2 and "no item of" in unknown.stderr and "'zzz'" in unknown.stderr and "docs.jsonl:2" in unknown.stderr


def test_show_numbers_and_repeated_ids() -> None:
    rows = [{"id": 7, "text": "a b c d"}, {"id": 8, "text": "A b c d"}, {"id": 8, "text": "a B c d"}]
    Path("n.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run("dedup", "n.jsonl", "-o", "out", "--by", "words:2", "-q").exit_code == 0
    result = run("show", "out", "8")
    assert "8  at n.jsonl:2" in result.stdout and "2 removed items have this id" in result.stderr
    assert "8  at n.jsonl:3" in run("show", "out", "n.jsonl:3").stdout


def test_show_finds_an_id_by_its_type_before_the_same_text() -> None:
    rows = [{"id": 1, "text": "a b c d"}, {"id": "1", "text": "A b c d"}, {"id": "2", "text": "a b C d"}, {"id": "\ud800", "text": "a b c D"}]
    Path("n.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run("dedup", "n.jsonl", "-o", "out", "--by", "words:2", "-q").exit_code == 0
    assert "'1'  at n.jsonl:1 was kept; 3 duplicates" in run("show", "out", "1").stdout
    for identity, place in {'"1"': 1, "2": 2, '"2"': 2, "\\ud800": 3}.items():
        assert f"at n.jsonl:{place + 1}" in lines(run("show", "out", identity).stdout)["removed"]


@pytest.mark.parametrize(
    ("ids", "typed"),
    [
        ([True, False, True], {"false": 1, "False": 1}),
        ([0.5, 2.0, 1e300], {"2": 1, "2.0": 1, "1e300": 2, "1e+300": 2}),
        ([3, 4, -5], {"4": 1, "-5": 2}),
    ],
)
def test_show_takes_an_id_in_each_spelling_of_its_value(ids: list[object], typed: dict[str, int]) -> None:
    rows = [{"id": identity, "text": text} for identity, text in zip(ids, ("a b c d", "A b c d", "a B c d"), strict=True)]
    Path("n.jsonl").write_text("".join(json.dumps(row) + "\n" for row in [*rows, {"id": ids[0], "text": "x y z"}]))
    assert run("dedup", "n.jsonl", "-o", "out", "--by", "words:2", "-q").exit_code == 0
    for identity, place in typed.items():
        assert f"at n.jsonl:{place + 1}" in lines(run("show", "out", "--", identity).stdout)["removed"]


def test_show_items_without_ids_and_rejected_ones() -> None:
    Path("n.jsonl").write_text('{"text": "a b c d"}\n{"text": broken\n{"text": "A b c d"}\n{"text": null}\n')
    assert run("dedup", "n.jsonl", "-o", "out", "--by", "words:2", "--on-error", "skip", "-q").exit_code == 0
    assert "removed  n.jsonl:3\nkept     n.jsonl:1\n" in run("show", "out", "2").stdout
    assert "n.jsonl:2 was rejected: it could not be read; see out/rejected.jsonl" in run("show", "out", "1").stdout
    assert "n.jsonl:4 was kept: it has no text" in run("show", "out", "n.jsonl:4").stdout


def test_show_when_the_input_is_gone_or_another(out: Path) -> None:
    text = Path("docs.jsonl").read_text()
    Path("docs.jsonl").write_text(text.replace("lazy", "busy", 1))
    changed = run("show", out, "b")
    assert changed.exit_code == 0 and "the inputs have changed" in changed.stderr and changed.stderr.count("warning") == 1
    for identity in ("a", "d", "docs.jsonl:4"):  # its content is the same; the input is not
        assert "docs.jsonl has changed since" in run("show", out, identity).stderr, identity
    assert "docs.jsonl has changed since" in run("show", out, "zzz").stderr
    Path("docs.jsonl").write_text(text.splitlines(keepends=True)[0])
    assert "row 1 no longer exists" in run("show", out, "b").stderr
    Path("docs.jsonl").unlink()
    gone = run("show", out, "b")
    assert gone.exit_code == 2 and "docs.jsonl: this input no longer exists" in gone.stderr


def test_show_text_files_and_parquet(folder: Path) -> None:
    (folder / "in").mkdir()
    for name, words in TEXTS.items():
        (folder / "in" / f"{name}.txt").write_text(" ".join(words))
    pq.write_table(pyarrow.table({"id": [1, 2], "text": [TEXT, "x y z"]}), folder / "in" / "t.parquet", row_group_size=1)
    assert run("dedup", "in", "-o", "out", *LIKE, "--prefer", "*.parquet", "-q").exit_code == 0
    result = run("show", "out", "b.txt")
    assert result.stdout.rstrip().endswith("dark [-forest-]{+wood+}") and "t.parquet:0" in result.stdout


def test_names_that_are_not_utf8_are_found_as_typed_and_as_shown(folder: Path) -> None:
    for name in (b"a\xff.txt", b"b\xfe.txt"):
        Path(os.fsdecode(os.path.join(b"in", name))).parent.mkdir(exist_ok=True)
        Path(os.fsdecode(os.path.join(b"in", name))).write_text("one and the same text")
    Path("c\udcff.jsonl").write_text('{"id": "x", "text": "the same"}\n{"id": "y", "text": "the same"}\n')
    assert run("dedup", "in", "-o", "texts").exit_code == run("dedup", "c\udcff.jsonl", "-o", "records").exit_code == 0
    for typed in ("b\udcfe.txt", r"b\udcfe.txt", r"b\xfe.txt"):
        assert lines(run("show", "texts", typed).stdout)["why"] == "exact copy", typed
    for typed in ("c\udcff.jsonl:2", r"c\xff.jsonl:2"):
        assert lines(run("show", "records", typed).stdout)["removed"] == r"'y'  at c\xff.jsonl:2", typed
    assert r"no item of records has the id '\\udcff'" in run("show", "records", "\udcff").stderr


def test_control_characters_of_a_corpus_do_not_reach_the_terminal() -> None:
    rows = [{"id": "x\x1b[2J", "text": "one two three \x1b]0;pwned\x07 four"}, {"id": "y", "text": "One two three \x1b]0;pwned\x07 four"}]
    Path("evil.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run("dedup", "evil.jsonl", "-o", "out", "--by", "words:1", "-q").exit_code == 0
    text = run("show", "out", "y").stdout
    assert "\x1b" not in text and "\x07" not in text and r"\x1b]0;pwned\x07" in text


#: The content of files and, for each record, the number after SOURCE: that `show` prints and reads: its first line, or its row.
PLACES = {
    "blank.jsonl": (b'\n{"id": "p", "text": "a b c d"}\n\n\n{"id": "q", "text": "A b c d"}\n{"id": "r", "text": "x y z"}', [2, 5, 6]),
    "marked.jsonl": (b'\xef\xbb\xbf{"id": "p", "text": "a b c d"}\r\n{"id": "q", "text": "A b c d"}\r\n{"id": "r", "text": "x y z"}\r\n', [1, 2, 3]),
    "packed.jsonl.gz": (gzip.compress(b'{"id": "p", "text": "a b c d"}\n{"id": "q", "text": "A b c d"}\n{"id": "r", "text": "x y z"}\n'), [1, 2, 3]),
    "header.csv": (b"id,text\np,a b c d\nq,A b c d\nr,x y z\n", [2, 3, 4]),
    "quoted.csv": (b'id,text\r\np,"a\r\nb c d"\r\nq,"A b\r\n\r\nc d"\r\nr,x y z\r\n', [2, 4, 7]),
    "old.csv": (b"id,text\rp,a b c d\rq,A b c d\rr,x y z\r", [2, 3, 4]),
}


@pytest.mark.parametrize("threads", [1, 4])
def test_places_name_lines_from_1_and_show_reads_what_it_prints(threads: int) -> None:
    """Several sources at once: each item is printed at its line, and its line names it."""
    Path("in").mkdir()
    for name, (content, _) in PLACES.items():
        Path("in", name).write_bytes(content)
    done = run("dedup", "in", "-o", "out", "--by", "words:2", "--threads", threads)
    assert done.exit_code == 0, done.stderr
    for name, (_, numbers) in PLACES.items():
        for position, number in enumerate(numbers):
            found = json.loads(run("show", "out", f"{name}:{number}", "--json").stdout)
            item = found if found["status"] == "kept" else found["removed"]
            assert (item["source"], item["position"], item["id"]) == (name, position, "pqr"[position])
            printed = run("show", "out", f"{name}:{number}").stdout.splitlines()[0]
            assert f"'{'pqr'[position]}'  at {name}:{number}" in printed
    other = run("show", "out", "quoted.csv:3").stdout  # the second line of the first record
    assert "'p'  at quoted.csv:2" in other
    for nothing in ("blank.jsonl:1", "blank.jsonl:3", "header.csv:1", "header.csv:5", "header.csv:0", "none.csv:1"):
        assert run("show", "out", nothing).exit_code == 2


def test_places_of_files_without_lines_are_rows_from_0_and_text_files() -> None:
    Path("in").mkdir()
    pq.write_table(pa.table({"id": ["p", "q"], "text": ["a b c d", "A b c d"]}), "in/a.parquet")
    Path("in/b.txt").write_text("a b C d")
    Path("in/c.json").write_text('[{"id": "r", "text": "a b c D"}, {"id": "s", "text": "x y z"}]')
    assert run("dedup", "in", "-o", "out", "--by", "words:2", "-q").exit_code == 0
    said = run("show", "out", "a.parquet:0").stdout.splitlines()
    assert said == [
        "'p'  at a.parquet:0 (rows count from 0) was kept; 3 duplicates of it were removed:",
        "  'q'  at a.parquet:1 (rows count from 0)  exact  1.0000",
        "  'b.txt'  exact  1.0000",
        "  'r'  at c.json:0 (rows count from 0)  exact  1.0000",
    ]
    assert run("show", "out", "c.json:1").stdout.startswith("'s'  at c.json:1 (rows count from 0) was kept: ")
    assert run("show", "out", "b.txt").stdout.startswith("removed  'b.txt'\n")


def test_places_in_a_source_that_is_gone_are_numbers_of_records(out: Path) -> None:
    Path("docs.jsonl").unlink()
    said = run("show", out, "a").stdout.splitlines()
    assert said[0] == "'a'  at record 1 of docs.jsonl was kept; 2 duplicates of it were removed:"
    assert "'b'  at record 2 of docs.jsonl" in said[1]


def test_without_an_id_it_says_what_was_removed_what_is_borderline_and_what_needs_review(folder: Path) -> None:
    words = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"]
    rows = [{"id": "kept", "text": " ".join(words)}, {"id": "copy", "text": " ".join(words)}, {"id": "near", "text": " ".join([*words[:-1], "z"])}]
    Path("n.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run("dedup", "n.jsonl", "-o", "out", "--by", "words:1", "--exact").exit_code == 0
    shown = run("show", "out")
    assert shown.exit_code == 0
    said = lines(shown.stdout)
    assert said["removed"] == "2 of 3 documents (66.7%): 1 exact copy, 1 near-duplicate, in 1 cluster"
    assert said["borderline"] == "'near', a duplicate of 'kept': similarity 0.9048"  # 19 of 21 words
    assert "[-z-]{+t+}" in shown.stdout and said["review"] == "no finding" and said["next"] == "likewise show out near"
    found = json.loads(run("show", "out", "--json").stdout)
    assert found["status"] == "output" and found["counts"]["removed"] == 2 and found["needs_review"] == []
    assert [example["removed"]["id"] for example in found["borderline"]] == ["near"]
    report = json.loads(Path("out/report.json").read_text())
    assert all(found[name] == report[name] for name in ("counts", "threshold", "value", "removals", "needs_review"))
    assert (found["clusters"], found["recall"], said["recall"]) == (1, 1, "100% (exact similarity join)")


def test_the_difference_of_two_sets_is_on_one_line(folder: Path) -> None:
    rows = [{"id": "kept", "elements": [*range(10), 30]}, {"id": "near", "elements": [*range(10), 31]}]
    Path("n.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run("dedup", "n.jsonl", "-o", "out", "--by", "elements").exit_code == 0
    assert "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 [-31-]{+30+}\n" in run("show", "out").stdout


def test_without_an_id_nothing_needs_to_have_been_removed(folder: Path) -> None:
    Path("n.jsonl").write_text('{"text": "a b c d e f"}\n')
    run("dedup", "n.jsonl", "-o", "out")
    assert lines(run("show", "out").stdout) == {
        "removed": "0 of 1 document (0%)",
        "recall": "at least 99.2% of pairs at 0.8 (16 bands x 6 rows)",
        "review": "no finding",
    }
