"""The command line: streams, exit status and error messages."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from command_line import LIKE, TEXT, TEXTS, lines, process, run
from likewise.cli import curve, pairs
from likewise.cli.dedup import recall_lines
from likewise.errors import UsageError

pytestmark = pytest.mark.usefixtures("docs")


# what cannot be meant


@pytest.mark.parametrize("value", ["1.01", "-0.1", "nan", "inf", "0,8", "80", "80%", "0"])
@pytest.mark.parametrize("verb", ["dedup", "pairs", "plan"])
def test_a_threshold_that_is_none(verb: str, value: str, folder: Path) -> None:
    result = run(verb, *(["docs.jsonl", "-o", "out.jsonl"] if verb != "plan" else []), "--threshold", value)
    assert result.exit_code == 2 and result.stdout == ""
    assert result.stderr == f"likewise: error: --threshold {value}: give a similarity above 0 and up to 1, for example 0.8\n"
    assert os.listdir(folder) == ["docs.jsonl"]


@pytest.mark.parametrize(
    ("args", "parts"),
    [
        (["dedpu", "docs.jsonl"], ["unknown verb 'dedpu'; did you mean dedup?"]),
        (["zzz"], ["unknown verb 'zzz'; valid verbs: demo, dedup, show"]),
        (["dedup", "docs.jsonl", "--treshold", "0.9"], ["unknown flag --treshold; did you mean --threshold?\n", "  see likewise dedup --help"]),
        (["dedup", "docs.jsonl", "--zzz", "spark"], ["unknown flag --zzz\n"]),
        (["dedup", "docs.jsonl", "-o", "out", "--engine", "ray"], ["--engine ray: choose one of local, spark\n"]),
        (["pairs", "docs.jsonl", "--master", "local[2]"], ["--master: only Spark has a master; add --engine spark\n"]),
        (["neighbors", "docs.jsonl", "--queries", "docs.jsonl"], ["unknown flag --queries; did you mean --query?\n"]),
        (["neighbors", "docs.jsonl", "--top-k", "3"], ["unknown flag --top-k; did you mean -k?\n"]),
        (["dedup", "docs.jsonl", "--ratio", "0.9"], ["unknown flag --ratio; did you mean --threshold?\n"]),
        (["features", "docs.jsonl", "--ratio", "0.9"], ["unknown flag --ratio\n"]),
        (["dedup"], ["INPUT is missing\n  Usage: likewise dedup INPUT... [--against INPUT]... -o OUT [FLAGS]\n  see likewise dedup --help\n"]),
        (["dedup", "docs.jsonl", "-o"], ["-o needs a value\n"]),
        (["dedup", "docs.jsonl", "--exact=1"], ["--exact takes no value\n"]),
        (["help", "dedup", "nope"], ["likewise: error: got unexpected extra argument (nope)\n"]),
        (["dedup", "docs.jsonl", "-o", "out", "--recall", "high"], ["--recall high: give a number\n"]),
        (["completion"], ["SHELL is missing\n"]),
        (["dedup", "docs.jsonl"], ["-o OUT", "--dry-run"]),
        (["dedup", "docs.jsonl", "-o", "out", "--bands", "x"], ["--bands x: give a whole number\n"]),
        (["dedup", "docs.jsonl", "-o", "out", "--by", "word:5"], ["--by word:5:", "words"]),
        (["dedup", "docs.jsonl", "-o", "out", "--keep", "best"], ["--keep best:", "longest"]),
        (["dedup", "docs.jsonl", "-o", "out", "--output", "all"], ["--output all:", "copy, ids, mask, annotate"]),
        (["dedup", "docs.jsonl", "-o", "out", "--recall", "1"], ["--recall", "below 1"]),
        (["dedup", "docs.jsonl", "-o", "out", "--threads", "0"], ["--threads 0:", "from 1 to"]),
        (["dedup", "docs.jsonl", "-o", "out", "--memory", "lots"], ["--memory lots:", "512M"]),
        (["dedup", "docs.jsonl", "-o", "out", "--memory", "1K"], ["--memory 1K:", "256M or more"]),
        (["dedup", "docs.jsonl", "-o", "out", "--seed", "abc"], ["--seed abc:", "random"]),
        (["dedup", "docs.jsonl", "-o", "out", "--color", "blue"], ["--color blue: give one of auto, always, never\n"]),
        (["dedup", "dogs.jsonl", "-o", "out"], ["dogs.jsonl: no such file", "did you mean docs.jsonl?"]),
        (["dedup", "docs.jsonl", "-o", "no/where/out"], ["-o no/where/out", "the folder no/where does not exist"]),
        (["dedup", "docs.jsonl", "-o", "docs.jsonl"], ["-o docs.jsonl", "a file"]),
        (["dedup", "docs.jsonl", "-o", "out", "--config", "gone.toml"], ["--config gone.toml", "no such file"]),
        (["pairs", "docs.jsonl", "-o", "out.xlsx"], ["-o out.xlsx", ".parquet"]),
        (["pairs", "docs.jsonl", "-o", "no/out.csv"], ["-o no/out.csv", "the folder no does not exist"]),
        (["show", "nowhere", "a"], ["error: nowhere: there is no such folder; name an output folder of likewise dedup\n"]),
        (["report", "."], ["error: .: this folder is not an output of likewise dedup: it has no manifest.json\n"]),
        (["report", "docs.jsonl"], ["error: docs.jsonl: this is a file; name an output folder of likewise dedup\n"]),
        (["plan", "--png", "a.png"], ["error: unknown flag --png; did you mean --svg?\n"]),
        (["features", "docs.jsonl"], ["error: -o is missing: name the output file with -o FILE, such as -o features.parquet\n"]),
    ],
)
def test_errors_are_one_block_on_standard_error(args: list[str], parts: list[str], folder: Path) -> None:
    result = run(*args)
    assert result.exit_code == 2 and result.stdout == ""
    assert result.stderr.startswith("likewise: error: ") and "Traceback" not in result.stderr and len(result.stderr.splitlines()) <= 3
    for part in parts:
        assert part in result.stderr
    assert os.listdir(folder) == ["docs.jsonl"]


def test_a_field_that_no_row_has() -> None:
    result = run("pairs", "docs.jsonl", "--field", "content")
    assert result.exit_code == 2 and result.stdout == ""
    assert "'content'" in result.stderr and "fields seen: id, text" in result.stderr and "--field" in result.stderr


# dedup


def test_one_step_of_normalization_replaces_the_default_steps() -> None:
    """The default steps compose characters and convert to lower case; ``lower`` does not compose."""
    rows = [{"id": 1, "text": "a caf\u00e9"}, {"id": 2, "text": "A CAF\u00c9"}, {"id": 3, "text": "a cafe\u0301"}]
    Path("n.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = {}
    for steps in ((), ("--normalize", "lower"), ("--normalize", "none")):
        lines = run("pairs", "n.jsonl", "--by", "words:1", "--threshold", "1", *steps).stdout.splitlines()
        found[steps] = {(row["id_a"], row["id_b"]) for row in map(json.loads, lines)}
    assert [*found.values()] == [{(1, 2), (1, 3), (2, 3)}, {(1, 2)}, set()]
    assert "normalize        lower\n" in run("dedup", "n.jsonl", "--normalize", "lower", "--dry-run").stdout


def test_dedup_accounts_for_everything_on_standard_error() -> None:
    result = run("dedup", "docs.jsonl", "-o", "out", *LIKE)
    assert result.exit_code == 0 and result.stdout == ""
    printed = lines(result.stderr)
    assert printed["read"].startswith("4 items from 1 source, ")
    assert printed["kept"] == "2"
    assert printed["removed"] == "2  (1 exact copy, 1 near-duplicate)"
    assert printed["clusters"] == "1, the largest with 3 items (representative 'a')"
    assert re.fullmatch(r"at least 99\.\d+% of pairs at 0\.7 \(\d+ bands x \d+ rows\)", printed["recall"])
    assert printed["output"] == "out" and printed["next"] == "likewise show out b"
    assert "\x1b" not in result.stderr


def test_what_to_look_at_can_be_typed_whatever_it_is_called(folder: Path) -> None:
    rows = [{"id": name, "text": TEXT} for name in ("x", "-a\nb'\x1b")]
    (folder / "odd.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    printed = lines(run("dedup", "odd.jsonl", "-o", "my out", *LIKE).stderr)["next"]
    assert printed == "likewise show 'my out' -- $'-a\\nb\\'\\x1b'"
    (folder / "docs.jsonl").rename("odd\n.jsonl")
    assert lines(run("plan", "odd\n.jsonl").stdout)["next"].startswith("likewise dedup $'odd\\n.jsonl' -o clean ")


def test_reasons_for_a_lower_recall_are_reported() -> None:
    plan = {"bands": 16, "rows": 6, "sketch": "oph", "recall": 0.9923}
    budget = {"cut": 5000, "sampled": 1000, "similar": 2, "missed_at_most": 13.0, "recall": 0.9514}
    printed = dict(recall_lines({"method": {"plan": plan}, "budget": budget, "threshold": 0.8, "verified": "estimate"}))
    assert printed == {
        "recall": "at least 95.1% of pairs at 0.8 (16 bands x 6 rows)",
        "skipped": "5,000 comparisons in overfull buckets; a sample of 1,000 contained 2 similar pairs (at most 13 pairs missed, 95% confidence)",
        "verified": "by estimates from signatures; similarities are not exact",
    }


@pytest.mark.parametrize(
    ("by", "more", "hint"),
    [
        ("words:5", {}, "--ignore-common 1%, if many documents share uninformative shingles"),
        ("elements", {}, "--ignore-common 1%, if many sets share uninformative elements"),
        ("words:5", {"ignore_common": "1/100"}, None),
        ("weighted", {}, None),
    ],
)
def test_a_low_recall_because_of_overfull_buckets_names_the_remedy(by: str, more: dict[str, str], hint: str | None) -> None:
    plan = {"bands": 16, "rows": 6, "sketch": "oph", "recall": 0.9923}
    budget = {"cut": 5000, "sampled": 1000, "similar": 2, "missed_at_most": 13.0, "recall": 0.773}
    report = {"method": {"by": by, "plan": plan, **more}, "budget": budget, "threshold": 0.8, "verified": "exact"}
    assert dict(recall_lines({**report, "spread": {"recall": 0.773, "independent": 0.01, "at_most": 0.42}})).get("try") == hint
    assert "try" not in dict(recall_lines(report))


def test_dedup_quiet_says_nothing() -> None:
    result = run("dedup", "docs.jsonl", "-o", "out", *LIKE, "-q")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    assert pq.read_table("out/removed.parquet").num_rows == 2


def test_dedup_json_is_the_report_and_the_path(folder: Path) -> None:
    result = run("dedup", "docs.jsonl", "-o", "out", *LIKE, "--json")
    document = json.loads(result.stdout)
    assert document.pop("out") == str(folder / "out")
    assert document == json.loads((folder / "out" / "report.json").read_text())
    assert document["schema"] == "likewise/report/1" and document["counts"]["removed"] == 2


def test_dedup_from_standard_input() -> None:
    result = run("dedup", "-", "-o", "out", *LIKE, input=Path("docs.jsonl").read_bytes())
    assert result.exit_code == 0, result.stderr
    assert lines(result.stderr)["kept"] == "2"


def test_dedup_refuses_to_replace_and_replaces_on_request(folder: Path) -> None:
    assert run("dedup", "docs.jsonl", "-o", "out", *LIKE).exit_code == 0
    refused = run("dedup", "docs.jsonl", "-o", "out", "--by", "words:2")
    assert refused.exit_code == 2 and "--overwrite" in refused.stderr
    assert run("dedup", "docs.jsonl", "-o", "out", "--by", "words:2", "--threshold", "1", "--overwrite").exit_code == 0
    assert pq.read_table("out/removed.parquet")["id"].to_pylist() == ["c"]


@pytest.mark.parametrize(("threshold", "status"), [("0.7", 1), ("1", 1)])
def test_exit_code_tells_that_something_was_found(threshold: str, status: int) -> None:
    assert run("dedup", "docs.jsonl", "-o", "out", "--by", "words:2", "--threshold", threshold, "--exit-code").exit_code == status
    assert run("pairs", "docs.jsonl", "--by", "words:2", "--threshold", threshold, "--exit-code").exit_code == status


def test_exit_code_where_nothing_is_found() -> None:
    Path("other.jsonl").write_text('{"text": "one two three"}\n{"text": "four five six"}\n')
    assert run("dedup", "other.jsonl", "-o", "out", "--exit-code").exit_code == 0
    found = run("pairs", "other.jsonl", "--exit-code")
    assert found.exit_code == 0 and found.stdout == "" and "0 pairs at or above 0.8" in found.stderr


def test_a_table_of_settings_for_a_verb_holds_its_flags_alone(folder: Path) -> None:
    Path("docs.jsonl").write_text('{"text": "a b c"}\n')
    Path("likewise.toml").write_text("bands = 13\nrows = 60\n[neighbors]\nbands = 4\n")
    assert run("dedup", "docs.jsonl", "--dry-run").exit_code == 0
    refused = run("neighbors", "docs.jsonl")
    assert refused.exit_code == 2
    assert "likewise.toml: neighbors has no flag bands; likewise neighbors --help lists its flags" in refused.stderr


def test_dry_run_reads_and_writes_nothing(folder: Path) -> None:
    Path("docs.jsonl").write_text('{"text": broken')
    for args in (["dedup"], ["dedup", "-o", "out"], ["pairs"]):
        result = run(args[0], "docs.jsonl", *args[1:], "--dry-run", "--keep", "longest", "--bands", "13", "--rows", "60")
        assert result.exit_code == 0, result.stderr
        assert "docs.jsonl  jsonl, 15 B" in result.stdout and "13 bands x 60 rows" in result.stdout and "longest" in result.stdout
        assert "only 0.0020%" in result.stderr, "a layout that finds next to nothing says so"
    listed = [{line.split()[0] for line in run(*verb, "docs.jsonl", "--dry-run").stdout.splitlines()[2:]} for verb in (("dedup",), ("pairs",))]
    assert (listed[0] - listed[1], listed[1] - listed[0]) == ({"output", "pairs", "removed-records"}, {"star", "max-pairs"})
    document = json.loads(run("dedup", "docs.jsonl", "-", "--dry-run", "--json").stdout)
    assert document["schema"] == "likewise/dry-run/1" and document["method"]["plan"]["bands"] == 16
    assert [(source["source"], source["bytes"]) for source in document["sources"]] == [("docs.jsonl", 15), ("stdin", None)]
    assert document["engine"] == "local"
    on_spark = ("docs.jsonl", "--dry-run", "--engine", "spark", "--master", "spark://127.0.0.1:1")
    assert json.loads(run("pairs", *on_spark, "--json").stdout)["engine"] == "spark"
    assert lines(run("dedup", *on_spark).stdout)["engine"] == "spark"
    assert os.listdir(folder) == ["docs.jsonl"]


def test_a_layout_of_low_recall_warns_before_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise UsageError("went on")

    monkeypatch.setattr("likewise.verbs.pairs.list_pairs", refuse)
    result = run("pairs", "docs.jsonl", "--bands", "13", "--rows", "60")
    warning, error = result.stderr.splitlines()
    assert warning.startswith("warning: 13 bands of 60 rows: a pair at 0.8 is found with a probability of only 0.0020%")
    assert error == "likewise: error: went on"


# pairs


def test_pairs_are_json_lines_in_a_pipe() -> None:
    """18 shingles of two words in each text, of which the last word changed changes one: 17 of 19 are common."""
    done = process("pairs", "docs.jsonl", *LIKE)
    assert done.returncode == 0 and "\x1b" not in done.stdout + done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert found == [{"id_a": a, "id_b": b, "similarity": s} for a, b, s in (("a", "b", 17 / 19), ("a", "c", 1.0), ("b", "c", 17 / 19))]
    assert "3 pairs at or above 0.7; 4 items read" in done.stderr


def test_pairs_quiet_still_gives_its_result() -> None:
    result = run("pairs", "docs.jsonl", *LIKE, "-q")
    assert result.stderr == "" and len(result.stdout.splitlines()) == 3


def test_pairs_json_is_one_document() -> None:
    document = json.loads(run("pairs", "docs.jsonl", *LIKE, "--json").stdout)
    assert document["schema"] == "likewise/pairs/1" and document["count"] == 3 and len(document["pairs"]) == 3


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("p.parquet", pq.read_table),
        ("p.csv", pyarrow.csv.read_csv),
        ("p.jsonl", lambda name: pyarrow.Table.from_pylist([json.loads(line) for line in Path(name).read_text().splitlines()])),
    ],
)
def test_pairs_go_to_a_file_once(name: str, read: Callable, folder: Path) -> None:
    result = run("pairs", "docs.jsonl", *LIKE, "-o", name)
    assert result.exit_code == 0 and result.stdout == "" and f"3 pairs at or above 0.7 in {name}" in result.stderr
    assert read(name)["id_b"].to_pylist() == ["b", "c", "c"]
    assert sorted(os.listdir(folder)) == ["docs.jsonl", name], "no temporary file is left"
    again = run("pairs", "docs.jsonl", *LIKE, "-o", name)
    assert again.exit_code == 2 and "--overwrite" in again.stderr
    assert run("pairs", "docs.jsonl", "--by", "words:2", "--threshold", "1", "-o", name, "--overwrite").exit_code == 0
    assert read(name)["id_b"].to_pylist() == ["c"]


def test_a_file_that_cannot_be_written_leaves_the_old_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: object, file: BinaryIO, *__: object) -> None:
        file.write(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    Path("p.csv").write_text("old")
    monkeypatch.setattr("pyarrow.csv.write_csv", full)
    result = run("pairs", "docs.jsonl", *LIKE, "-o", "p.csv", "--overwrite")
    assert result.exit_code == 2 and "p.csv: No space left on device; free some space" in result.stderr and "Traceback" not in result.stderr
    assert Path("p.csv").read_text() == "old" and sorted(os.listdir(folder)) == ["docs.jsonl", "p.csv"]


def test_pairs_against_another_collection() -> None:
    Path("new.jsonl").write_text(json.dumps({"id": "n", "text": TEXT}) + "\n")
    result = run("pairs", "docs.jsonl", "--against", "new.jsonl", *LIKE)
    assert {(row["id_a"], row["id_b"]) for row in map(json.loads, result.stdout.splitlines())} == {("a", "n"), ("b", "n"), ("c", "n")}


def test_pairs_are_a_table_on_a_terminal() -> None:
    table = pyarrow.table({"id_a": ["a\x1b[31m"] * 60, "id_b": list(range(60)), "similarity": [0.912345] * 60})
    text = pairs.table(table, colored=False)
    assert text.splitlines()[0].split() == ["id_a", "id_b", "similarity"]
    assert text.splitlines()[1].split() == [r"a\x1b[31m", "0", "0.9123"]
    assert text.splitlines()[-1].startswith("... and 10 more") and "\x1b" not in text


def test_a_closed_pipe_is_no_error() -> None:
    done = process("pairs", "docs.jsonl", *LIKE, tail=" | true; exit ${PIPESTATUS[0]}")
    assert done.returncode == 0 and "Error" not in done.stderr and "Traceback" not in done.stderr


# plan


def test_plan_shows_the_layout_the_curve_and_the_costs() -> None:
    text = run("plan", "--threshold", "0.5", "--bands", "20", "--rows", "5").stdout
    assert text.startswith("words:5 at 0.5: 20 bands of 5 rows, 100 slots (oph, set by hand)\nExpected recall: about 47.0% of pairs at 0.5, ")
    cells = " ".join(text.split())
    assert "* 0.50 47.0%" in cells and "\n* the threshold\n" in text and ">" not in text.replace("> 99", "")
    assert "missed" in text and "0.80 99.96%" in cells and "0.20 0.64%" in cells
    assert "  memory       about " in text and "  disk         " in text and "\x1b" not in text


def test_plan_of_a_preset_for_a_file() -> None:
    """The sample is cut by the preset's unit, ignored options are reported, and the last line runs the layout."""
    done = run("plan", "docs.jsonl", "--preset", "slimpajama", "--recall", "0.9")
    assert done.stdout.startswith(
        "chars:13 at 0.8: 9 bands of 13 rows, 117 slots (oph, from the preset slimpajama)\nExpected recall: about 39.9% of pairs at 0.8, "
    )
    assert done.stdout.splitlines()[-1] == "next  likewise dedup docs.jsonl -o clean --preset slimpajama"
    assert "warning: 9 bands of 13 rows: the layout is fixed by the preset slimpajama, so --recall 0.9 has no effect" in done.stderr
    assert "a pair at 0.8 is found with a probability of only 39.9%" in done.stderr and "* 0.80          39.9%" in done.stdout, (
        "one number everywhere"
    )
    own = run("plan", "docs.jsonl", "--by", "words:2", "--threshold", "0.7", "--bands", "4", "--rows", "3").stdout.splitlines()[-1]
    assert own == "next  likewise dedup docs.jsonl -o clean --by words:2 --threshold 0.7 --bands 4 --rows 3"
    assert "next" not in run("plan", "--threshold", "0.7").stdout


def test_plan_of_a_distance_keeps_its_columns() -> None:
    lines = run("plan", "--by", "hamming", "--within", "3", "--dimension", "64").stdout.splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith("  distance"))
    ends = [[place for place, sign in enumerate(line) if sign == "%"] for line in lines[first + 1 : lines.index("", first)]]
    assert all(each == ends[0][: len(each)] for each in ends) and len(ends) > 2


def test_what_is_typed_wins_over_settings(folder: Path) -> None:
    env = {"LIKEWISE_BANDS": "5", "LIKEWISE_THRESHOLD": "0.9"}
    assert "2 x 25" in run("plan", "--layouts", "2x25", "--within", "0.2", env=env).stdout
    Path("likewise.toml").write_text("threshold = 0.9\nbands = 5\n")
    done = run("plan", "--layouts", "2x25", "--within", "0.2")
    assert done.stdout.startswith("words:5 at 0.8\n") and "2 x 25" in done.stdout
    for both, message in (
        (("--layouts", "2x25", "--bands", "5"), "--layouts and --bands"),
        (("--threshold", "0.8", "--within", "0.2"), "--threshold 0.8 and --within 0.2 set the same limit; give only one of them"),
    ):
        done = run("plan", *both)
        assert done.exit_code == 2 and message in done.stderr


def test_layouts_of_thousands_of_digits_are_refused() -> None:
    done = run("plan", "--layouts", "2x" + "9" * 5000)
    assert done.exit_code == 2 and "give up to 6 layouts as BANDSxROWS" in done.stderr and len(done.stderr) < 300


def test_plan_json() -> None:
    document = json.loads(run("plan", "--bands", "20", "--rows", "5", "--json").stdout)
    assert (document["schema"], document["by"], document["slots"], len(document["curve"])) == ("likewise/plan/1", "words:5", 100, 20)
    assert document["recall"] == pytest.approx(1 - (1 - 0.8**5) ** 20)


def test_the_curve_tells_misses_from_needless_candidates() -> None:
    *rows, axis, scale, _ = curve.draw(lambda s: 1 - (1 - s**5) ** 20, 0.5, 21, 10)
    field = [row[6:] for row in rows]
    mark = axis[6:].index(curve.BLOCKS.mark)
    assert mark == 10 and scale.strip().split() == ["0", "0.5", "1"]
    columns = ["".join(row[column] for row in field)[::-1] for column in range(21)]
    assert columns[10] == "█" * 5 + "×" * 5, "0.47 at 0.5: half is found, half is missed"
    assert columns[8] == "░" * 2 + " " * 8, "0.19 at 0.4: false-positive candidates"
    assert columns[20] == "█" * 10
    assert set("".join(columns[:10])) <= {"░", " "} and set("".join(columns[10:])) <= {"█", "×"}


def test_the_curve_without_block_characters() -> None:
    assert curve.glyphs("utf-8") == curve.BLOCKS and curve.glyphs("latin-1") == curve.glyphs(None) == curve.ASCII
    assert all(line.isascii() for line in curve.draw(lambda s: s, 0.8, 40, 8, curve.ASCII))


@pytest.mark.parametrize("threshold", [1.0, 0.999, 0.001, 1 / 3])
@pytest.mark.parametrize("width", [20, 61])
def test_the_curve_marks_any_threshold_at_any_width(threshold: float, width: int) -> None:
    *_, axis, scale, _ = curve.draw(lambda s: s, threshold, width, 8)
    assert len(axis) == 6 + width and axis.count(curve.BLOCKS.mark) == 1 and f"{threshold:g}" in scale and len(scale) <= 6 + width


def test_neighbors_in_a_file_are_as_many_as_asked_for(tmp_path):
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"id": name, "text": " ".join(words)}) + "\n" for name, words in TEXTS.items()))
    for k in (1, 2):
        done = run("neighbors", tmp_path / "in.jsonl", "-k", k, "-o", tmp_path / f"{k}.jsonl", "--by", "words:2", "--seed", 5)
        assert done.exit_code == 0, done.output
        found = [json.loads(line) for line in (tmp_path / f"{k}.jsonl").read_text().splitlines()]
        assert sum(row["id_a"] == "a" for row in found) == k


@pytest.mark.parametrize(("verb", "flag", "what"), [("quotes", "--in", "CORPUS"), ("pairs", "--against", "INPUT"), ("dedup", "--against", "INPUT")])
def test_a_pattern_that_the_shell_expanded_after_a_flag_is_refused(verb, flag, what):
    """Only the first file would belong to the second collection."""
    result = run(verb, "books", flag, "a.txt", "b.txt", "c.txt")
    assert result.exit_code == 2
    assert f"{flag} a.txt b.txt: {flag} takes one name, so b.txt is read as {what}; write {flag} before each, or quote a pattern" in result.stderr
    result = run(verb, flag, "a.txt", "books", "b.txt")
    assert "takes one name" not in result.stderr
