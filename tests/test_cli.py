"""The command line: what stands on which stream, with which exit status, and what an error says."""

from __future__ import annotations

import errno
import io
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

import likewise
from likewise import api
from likewise.cli import curve, demo, doctor, pairs
from likewise.cli.dedup import promise
from likewise.cli.flags import FLAGS
from likewise.cli.main import main
from likewise.cli.progress import Bar, Lines, told
from likewise.cli.screen import Screen
from likewise.cli.verbs import VERBS
from likewise.errors import UsageError

TEXT = "the quick brown fox jumps over the lazy dog and runs away from here into the deep dark wood"
WORDS = TEXT.split()
#: b is a with the last word changed, c is a copy of a but for its case, d is like nothing else.
TEXTS = {"a": WORDS, "b": [*WORDS[:-1], "forest"], "c": [word.upper() for word in WORDS], "d": ["something", "else", "entirely"]}
SOURCE = str(Path(likewise.__file__).parents[1])
LIKE = ("--by", "words:2", "--threshold", "0.7")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in FLAGS:
        monkeypatch.delenv(f"LIKEWISE_{name.upper()}", raising=False)
    with open("docs.jsonl", "w") as file:
        file.writelines(json.dumps({"id": name, "text": " ".join(words)}) + "\n" for name, words in TEXTS.items())
    return tmp_path


def run(*args: object, **more: Any) -> Result:
    return CliRunner().invoke(main, [str(arg) for arg in args], **more)


def process(*args: object, python: tuple[str, ...] = (), tail: str = "") -> subprocess.CompletedProcess[str]:
    """The command as a process of its own; ``tail`` follows it in the shell."""
    command = shlex.join([sys.executable, *python, "-m", "likewise", *map(str, args)])
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([SOURCE, os.environ.get("PYTHONPATH", "")])}
    return subprocess.run(["bash", "-c", command + tail], capture_output=True, text=True, check=False, env=env)


def lines(text: str) -> dict[str, str]:
    """The rows of a summary by their names."""
    return {line.split(" ", 1)[0]: line.split(" ", 1)[1].strip() for line in text.splitlines() if " " in line}


# help


def test_help_names_the_verbs_and_loads_nothing_heavy() -> None:
    done = process("--help", python=("-X", "importtime"))
    assert done.returncode == 0
    assert all(f"  {name}" in done.stdout for name in VERBS)
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "click" in imported
    assert not imported & {"numba", "numpy", "pyarrow", "rich", "xxhash", "msgspec"}


@pytest.mark.parametrize("name", VERBS)
def test_help_of_a_verb_begins_with_its_purpose_and_two_examples(name: str) -> None:
    for flag in ("-h", "--help"):
        result = run(name, flag)
        assert result.exit_code == 0 and result.stderr == ""
        purpose, gap, first, second, rest = result.stdout.splitlines()[:5]
        assert purpose == VERBS[name] and gap == rest == ""
        assert all(example.startswith(f"  likewise {name}") for example in (first, second))


@pytest.mark.parametrize("name", VERBS)
def test_the_examples_can_be_typed(name: str) -> None:
    command: Any = main.get_command(click.Context(main), name)  # type: ignore[attr-defined]
    for example in command.examples:
        verb, *args = shlex.split(example)
        assert verb == name
        command.make_context(name, args)


def test_help_shows_the_defaults_of_the_options() -> None:
    text = run("dedup", "-h").stdout
    for shown in ("[words:5]", "[0.8]", "[0.99]", "[oph]", "[exact]", "[first]", "[copy]", "--field, --text F"):
        assert shown in text
    assert "[100,000,000]" in run("pairs", "-h").stdout


def test_nothing_typed_is_help_on_standard_error() -> None:
    result = run()
    assert result.exit_code == 2 and result.stdout == "" and "likewise dedup crawl" in result.stderr


def test_version() -> None:
    assert run("--version").stdout.startswith("likewise 0.")


# what cannot be meant


@pytest.mark.parametrize("value", ["1.01", "-0.1", "nan", "inf", "0,8", "80", "", "80%", "0"])
@pytest.mark.parametrize("verb", ["dedup", "pairs", "plan"])
def test_a_threshold_that_is_none(verb: str, value: str, folder: Path) -> None:
    result = run(verb, *(["docs.jsonl", "-o", "out.jsonl"] if verb != "plan" else []), "--threshold", value)
    assert result.exit_code == 2 and result.stdout == ""
    assert result.stderr == f"likewise: error: --threshold {value!r}: give a similarity above 0 and up to 1, as in 0.8\n"
    assert os.listdir(folder) == ["docs.jsonl"]


@pytest.mark.parametrize(
    ("args", "parts"),
    [
        (["dedpu", "docs.jsonl"], ["no verb 'dedpu'", "did you mean dedup?"]),
        (["zzz"], ["no verb 'zzz'", "there are dedup, pairs"]),
        (["dedup", "docs.jsonl", "--treshold", "0.9"], ["'--treshold'", "'--threshold'", "likewise dedup --help"]),
        (["dedup", "docs.jsonl", "--engine", "spark"], ["'--engine'"]),
        (["dedup"], ["Missing argument", "INPUT"]),
        (["dedup", "docs.jsonl"], ["-o OUT", "--dry-run"]),
        (["dedup", "docs.jsonl", "-o", "out", "--bands", "x"], ["'--bands'", "'x'"]),
        (["dedup", "docs.jsonl", "-o", "out", "--by", "word:5"], ["--by 'word:5'", "words"]),
        (["dedup", "docs.jsonl", "-o", "out", "--keep", "best"], ["--keep 'best'", "longest"]),
        (["dedup", "docs.jsonl", "-o", "out", "--output", "all"], ["--output 'all'", "copy, ids, mask, annotate"]),
        (["dedup", "docs.jsonl", "-o", "out", "--recall", "1"], ["--recall", "below 1"]),
        (["dedup", "docs.jsonl", "-o", "out", "--threads", "0"], ["--threads 0", "1 or more"]),
        (["dedup", "docs.jsonl", "-o", "out", "--memory", "lots"], ["--memory 'lots'", "512M"]),
        (["dedup", "docs.jsonl", "-o", "out", "--memory", "1K"], ["--memory 1K", "256M or more"]),
        (["dedup", "docs.jsonl", "-o", "out", "--seed", "abc"], ["--seed 'abc'", "random"]),
        (["dedup", "docs.jsonl", "-o", "out", "--color", "blue"], ["'--color'", "'blue'"]),
        (["dedup", "dogs.jsonl", "-o", "out"], ["dogs.jsonl: no such file", "did you mean docs.jsonl?"]),
        (["dedup", "docs.jsonl", "-o", "no/where/out"], ["-o no/where/out", "no folder no/where"]),
        (["dedup", "docs.jsonl", "-o", "docs.jsonl"], ["-o docs.jsonl", "a file"]),
        (["dedup", "docs.jsonl", "-o", "out", "--config", "gone.toml"], ["--config gone.toml", "no such file"]),
        (["pairs", "docs.jsonl", "-o", "out.xlsx"], ["-o out.xlsx", ".parquet"]),
        (["pairs", "docs.jsonl", "-o", "no/out.csv"], ["-o no/out.csv", "no folder no"]),
        (["show", "nowhere", "a"], ["nowhere: is not an output folder"]),
        (["report", "nowhere"], ["nowhere: is not an output folder"]),
    ],
)
def test_errors_are_one_block_on_standard_error(args: list[str], parts: list[str], folder: Path) -> None:
    result = run(*args)
    assert result.exit_code == 2 and result.stdout == ""
    assert result.stderr.startswith("likewise: error: ") and "Traceback" not in result.stderr and len(result.stderr.splitlines()) <= 2
    for part in parts:
        assert part in result.stderr
    assert os.listdir(folder) == ["docs.jsonl"]


def test_a_field_that_no_row_has() -> None:
    result = run("pairs", "docs.jsonl", "--field", "content")
    assert result.exit_code == 2 and result.stdout == ""
    assert "'content'" in result.stderr and "fields seen: id, text" in result.stderr and "--field" in result.stderr


# dedup


def test_dedup_accounts_for_everything_on_standard_error() -> None:
    result = run("dedup", "docs.jsonl", "-o", "out", *LIKE)
    assert result.exit_code == 0 and result.stdout == ""
    told = lines(result.stderr)
    assert told["read"].startswith("4 items from 1 source, ")
    assert told["kept"] == "2"
    assert told["removed"] == "2  (1 exact copy, 1 near-duplicate)"
    assert told["clusters"] == "1, the largest of 3 items around 'a'"
    assert told["promise"].startswith("a pair at 0.7 is found with at least 99.")
    assert told["output"] == "out" and told["next"] == "likewise show out b"
    assert "\x1b" not in result.stderr


def test_what_weakens_the_promise_is_said() -> None:
    plan = {"bands": 16, "rows": 6, "sketch": "oph", "recall": 0.9923}
    budget = {"cut": 5000, "sampled": 1000, "alike": 2, "missed_at_most": 12.6, "recall": 0.9514}
    told = dict(promise({"method": {"plan": plan}, "budget": budget, "threshold": 0.8, "verified": "estimate"}))
    assert told == {
        "promise": "a pair at 0.8 is found with at least 95.1 % (16 bands x 6 rows, oph)",
        "budget": "5,000 comparisons in crowded buckets left out; of 1,000 tried after all, 2 were alike, so at most 13 pairs missed by it",
        "verified": "by estimates only; similarities are not exact",
    }


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


def test_dedup_refuses_to_replace_and_replaces_when_told(folder: Path) -> None:
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


def test_dry_run_reads_and_writes_nothing(folder: Path) -> None:
    Path("docs.jsonl").write_text('{"text": broken')
    for args in (["dedup"], ["dedup", "-o", "out"], ["pairs"]):
        result = run(args[0], "docs.jsonl", *args[1:], "--dry-run", "--keep", "longest", "--bands", "13", "--rows", "60")
        assert result.exit_code == 0, result.stderr
        assert "docs.jsonl  jsonl, 15 B" in result.stdout and "13 bands x 60 rows" in result.stdout and "longest" in result.stdout
        assert "0.0020 % only" in result.stderr, "a layout that finds next to nothing says so"
    document = json.loads(run("dedup", "docs.jsonl", "-", "--dry-run", "--json").stdout)
    assert document["schema"] == "likewise/dry-run/1" and document["method"]["plan"]["bands"] == 16
    assert [(source["source"], source["bytes"]) for source in document["sources"]] == [("docs.jsonl", 15), ("stdin", None)]
    assert os.listdir(folder) == ["docs.jsonl"]


def test_a_hopeless_layout_warns_before_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise UsageError("went on")

    monkeypatch.setattr(api, "pairs", refuse)
    result = run("pairs", "docs.jsonl", "--bands", "13", "--rows", "60")
    warning, error = result.stderr.splitlines()
    assert warning.startswith("warning: 13 bands of 60 rows: a pair at 0.8 is found with 0.0020 % only")
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
    from likewise.results import Pairs

    def full(_: Pairs, path: Path) -> None:
        path.write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    Path("p.csv").write_text("old")
    monkeypatch.setattr(Pairs, "write", full)
    result = run("pairs", "docs.jsonl", *LIKE, "-o", "p.csv", "--overwrite")
    assert result.exit_code == 2 and "No space left on device; make room" in result.stderr and "Traceback" not in result.stderr
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
    assert text.startswith("words:5 at 0.5: 20 bands of 5 rows, 100 slots (oph, set by hand)\nA pair at 0.5 is found with about 47.0 %")
    cells = " ".join(text.split())
    assert "> 0.50 47.0 %" in cells and "0.80 99.96 %" in cells and "0.20 0.64 %" in cells
    assert "of memory" in text and "of disk" in text and "\x1b" not in text


def test_plan_of_a_preset_for_a_file() -> None:
    """The sample is cut by the preset's unit, what does not decide is said, and the last line runs the layout."""
    done = run("plan", "docs.jsonl", "--preset", "slimpajama", "--recall", "0.9")
    assert done.stdout.startswith(
        "chars:13 at 0.8: 9 bands of 13 rows, 117 slots (oph, of the preset slimpajama)\nA pair at 0.8 is found with about 39.9 %"
    )
    assert done.stdout.splitlines()[-1] == "next  likewise dedup docs.jsonl --preset slimpajama"
    assert "warning: 9 bands of 13 rows: fixed by the preset slimpajama, so --recall 0.9 did not decide" in done.stderr
    assert "a pair at 0.8 is found with 39.9 % only" in done.stderr and "> 0.80        39.9 %" in done.stdout, "one number everywhere"
    own = run("plan", "docs.jsonl", "--by", "words:2", "--threshold", "0.7", "--bands", "4", "--rows", "3").stdout.splitlines()[-1]
    assert own == "next  likewise dedup docs.jsonl --by words:2 --threshold 0.7 --bands 4 --rows 3"
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
        (("--threshold", "0.8", "--within", "0.2"), "give one of them"),
    ):
        done = run("plan", *both)
        assert done.exit_code == 2 and message in done.stderr


def test_layouts_of_thousands_of_digits_are_refused() -> None:
    done = run("plan", "--layouts", "2x" + "9" * 5000)
    assert done.exit_code == 2 and "give up to 6 of BANDSxROWS" in done.stderr and len(done.stderr) < 300


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
    assert columns[8] == "░" * 2 + " " * 8, "0.19 at 0.4: compared for nothing"
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


# show


@pytest.fixture
def out(folder: Path) -> Path:
    assert run("dedup", "docs.jsonl", "-o", "out", *LIKE, "-q").exit_code == 0
    return folder / "out"


def test_show_a_removed_item_beside_its_witness(out: Path) -> None:
    result = run("show", out, "b")
    assert result.exit_code == 0 and result.stderr == ""
    told = lines(result.stdout)
    assert told["removed"] == "'b'  at docs.jsonl:1" and told["kept"] == "'a'  at docs.jsonl:0"
    assert told["why"] == "near-duplicate: similarity 0.8947 by words:2, at a threshold of 0.7"
    assert result.stdout.rstrip().endswith("dark [-forest-]{+wood+}") and "\x1b" not in result.stdout


def test_show_marks_with_colours_where_they_are_wanted(out: Path) -> None:
    text = run("show", out, "b", "--color", "always").stdout
    assert click.style("forest", fg="red", strikethrough=True) in text and click.style("wood", fg="green", underline=True) in text
    assert "[-" not in text.replace("\x1b[", "")


def test_show_an_exact_copy_by_its_place(out: Path) -> None:
    result = run("show", out, "docs.jsonl:2")
    assert "'c'  at docs.jsonl:2" in result.stdout and "exact copy (after nfc, lower, invisible)" in result.stdout


def test_show_json(out: Path) -> None:
    document = json.loads(run("show", out, "b", "--json").stdout)
    assert document["schema"] == "likewise/show/1" and document["status"] == "removed" and document["reason"] == "near"
    assert document["kept"] == {"id": "a", "source": "docs.jsonl", "position": 0, "text": TEXT}
    parts = document["differences"]
    assert "".join(text for kind, text in parts if kind != "insert") == document["removed"]["text"]
    assert "".join(text for kind, text in parts if kind != "delete") == document["kept"]["text"]


def test_show_says_what_became_of_an_item_that_was_not_removed(out: Path) -> None:
    assert "'a'  at docs.jsonl:0 was kept; 2 items went for it:" in run("show", out, "a").stdout
    assert json.loads(run("show", out, "a", "--json").stdout)["status"] == "kept"
    assert "'d'  at docs.jsonl:3 was kept: no kept item was found at or above 0.7" in run("show", out, "d").stdout
    unknown = run("show", out, "zzz")
    assert unknown.exit_code == 2 and "no item of" in unknown.stderr and "'zzz'" in unknown.stderr and "docs.jsonl:1" in unknown.stderr


def test_show_numbers_and_repeated_ids() -> None:
    rows = [{"id": 7, "text": "a b c d"}, {"id": 8, "text": "A b c d"}, {"id": 8, "text": "a B c d"}]
    Path("n.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run("dedup", "n.jsonl", "-o", "out", "--by", "words:2", "-q").exit_code == 0
    result = run("show", "out", "8")
    assert "8  at n.jsonl:1" in result.stdout and "2 removed items have this id" in result.stderr
    assert "8  at n.jsonl:2" in run("show", "out", "n.jsonl:2").stdout


def test_show_items_without_ids_and_rejected_ones() -> None:
    Path("n.jsonl").write_text('{"text": "a b c d"}\n{"text": broken\n{"text": "A b c d"}\n{"text": null}\n')
    assert run("dedup", "n.jsonl", "-o", "out", "--by", "words:2", "--on-error", "skip", "-q").exit_code == 0
    assert "2  at n.jsonl:2" in run("show", "out", "2").stdout
    assert "n.jsonl:1 was rejected: it could not be read; see out/rejected.jsonl" in run("show", "out", "1").stdout
    assert "n.jsonl:3 was kept: it has no text" in run("show", "out", "n.jsonl:3").stdout


def test_show_when_the_input_is_gone_or_another(out: Path) -> None:
    text = Path("docs.jsonl").read_text()
    Path("docs.jsonl").write_text(text.replace("lazy", "busy", 1))
    changed = run("show", out, "b")
    assert changed.exit_code == 0 and "the inputs have changed" in changed.stderr
    Path("docs.jsonl").write_text(text.splitlines(keepends=True)[0])
    assert "has no row 1 any more" in run("show", out, "b").stderr
    Path("docs.jsonl").unlink()
    gone = run("show", out, "b")
    assert gone.exit_code == 2 and "docs.jsonl: this input is not there any more" in gone.stderr


def test_show_text_files_and_parquet(folder: Path) -> None:
    (folder / "in").mkdir()
    for name, words in TEXTS.items():
        (folder / "in" / f"{name}.txt").write_text(" ".join(words))
    pq.write_table(pyarrow.table({"id": [1, 2], "text": [TEXT, "x y z"]}), folder / "in" / "t.parquet", row_group_size=1)
    assert run("dedup", "in", "-o", "out", *LIKE, "--prefer", "*.parquet", "-q").exit_code == 0
    result = run("show", "out", "b.txt")
    assert result.stdout.rstrip().endswith("dark [-forest-]{+wood+}") and "t.parquet:0" in result.stdout


def test_control_characters_of_a_corpus_do_not_reach_the_terminal() -> None:
    rows = [{"id": "x\x1b[2J", "text": "one two three \x1b]0;pwned\x07 four"}, {"id": "y", "text": "One two three \x1b]0;pwned\x07 four"}]
    Path("evil.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run("dedup", "evil.jsonl", "-o", "out", "--by", "words:1", "-q").exit_code == 0
    text = run("show", "out", "y").stdout
    assert "\x1b" not in text and "\x07" not in text and r"\x1b]0;pwned\x07" in text


# report, doctor, demo


def test_report_is_written_again_as_it_was(out: Path) -> None:
    first = (out / "report.html").read_bytes()
    (out / "report.html").unlink()
    result = run("report", out)
    assert result.exit_code == 0 and result.stderr == f"wrote {out / 'report.html'}\n"
    assert (out / "report.html").read_bytes() == first and b"<del>forest</del>" in first and b"<ins>wood</ins>" in first


def test_report_where_nothing_was_removed() -> None:
    Path("one.jsonl").write_text('{"text": "all alone"}\n')
    assert run("dedup", "one.jsonl", "-o", "out", "-q").exit_code == 0
    assert run("report", "out").exit_code == 0
    assert "nothing was removed" in run("show", "out", "zzz").stderr


def test_report_without_the_inputs_has_no_examples(out: Path) -> None:
    Path("docs.jsonl").unlink()
    result = run("report", out)
    assert result.exit_code == 0 and "the page shows no examples" in result.stderr and (out / "report.html").exists()


def test_doctor_finds_this_installation_well() -> None:
    document = json.loads(run("doctor", "--json").stdout)
    assert document["schema"] == "likewise/doctor/1" and document["ok"] is True
    status = {check["name"]: check["status"] for check in document["checks"]}
    assert status["numba"] == status["kernels"] == status["memory"] == "ok"


def test_doctor_reports_what_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "SELF_TESTS", {"similarity": lambda: False})
    monkeypatch.setattr(doctor, "ESSENTIAL", ("nosuchpackage",))
    result = run("doctor")
    assert result.exit_code == 2 and "does not work here" in result.stderr
    assert "broken  nosuchpackage" in result.stdout and " install nosuchpackage" in result.stdout
    assert "broken  kernels   wrong results: similarity" in result.stdout


def test_demo_finds_something_in_this_python(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    package = folder / "lib" / "package"
    package.mkdir(parents=True)
    for name, words in TEXTS.items():
        (package / f"{name}.py").write_text(" ".join(words))
    (package / "not_text.py").write_bytes(b"\xff\xfe")
    monkeypatch.setattr(demo.sysconfig, "get_paths", lambda: {"stdlib": str(folder / "lib"), "purelib": str(folder / "none")})
    result = run("demo", *LIKE)
    assert result.exit_code == 0, result.stderr
    assert "Of 4 texts, 2 are kept and 2 removed" in result.stdout
    assert "3 texts like stdlib/package/a.py" in result.stdout and "[-forest-]{+wood+}" in result.stdout
    shown = run("show", "likewise-demo", "stdlib/package/b.py")
    assert shown.exit_code == 0 and "[-forest-]{+wood+}" in shown.stdout
    assert "--overwrite" in run("demo").stderr
    assert json.loads(run("demo", *LIKE, "--overwrite", "--json").stdout)["counts"]["removed"] == 2


# how a run ends


def stopped(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> Result:
    def stop(*_: object, out: Path, **__: object) -> None:
        work = out.with_name(out.name + ".work")
        work.mkdir()
        (work / "work.json").write_text("{}")
        raise error

    monkeypatch.setattr(api, "dedup", stop)
    monkeypatch.setattr(sys, "argv", ["likewise", "dedup", "docs.jsonl", "-o", "my out"])
    return run("dedup", "docs.jsonl", "-o", "my out")


def test_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    result = stopped(monkeypatch, KeyboardInterrupt())
    assert result.exit_code == 130
    assert result.stderr == "likewise: interrupted\n  go on with: likewise dedup docs.jsonl -o 'my out' --resume\n"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "w/sets.col"), "w/sets.col: No space left on device; make room, or put intermediate"),
        (PermissionError(errno.EACCES, "Permission denied", "x"), "x: Permission denied; check the permissions"),
        (OSError("odd"), "likewise: error: odd"),
        (MemoryError(), "out of memory; give less with --memory"),
    ],
)
def test_the_system_refuses(monkeypatch: pytest.MonkeyPatch, error: BaseException, said: str) -> None:
    result = stopped(monkeypatch, error)
    assert result.exit_code == 2 and said in result.stderr and "go on with: likewise dedup" in result.stderr and "Traceback" not in result.stderr


def test_a_fault_of_ours_shows_where(monkeypatch: pytest.MonkeyPatch) -> None:
    result = stopped(monkeypatch, ZeroDivisionError("oh"))
    assert result.exit_code == 2, "1 would mean that something was found"
    assert "Traceback" in result.stderr and "ZeroDivisionError: oh" in result.stderr and "fault of likewise" in result.stderr


# progress


def test_progress_fits_the_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert type(told(Screen(quiet=True, progress="always"))) is type(told(Screen(progress="never")))
    assert isinstance(told(Screen(progress="always")), Bar)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert isinstance(told(Screen()), Lines)


def test_lines_come_now_and_then(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    progress = Lines(Screen())
    progress.begin("reading", 4_000_000, "bytes")
    progress.advance(1_000_000)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("likewise.cli.progress.PLAIN_SECONDS", 0.0)
    progress.advance(1_000_000)
    assert capsys.readouterr().err.startswith("reading: 50 % of 4 MB, ")
    progress.finish()
    assert progress.bytes_read == 2_000_000 and list(progress.seconds) == ["reading"]


def test_a_bar_comes_after_a_while_and_leaves_nothing(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    progress = Bar(Screen(color="never"))
    progress.begin("reading", 100, "items")
    progress.advance(50)
    assert capsys.readouterr().err == "", "too soon for a bar"
    monkeypatch.setattr("likewise.cli.progress.PATIENCE_SECONDS", 0.0)
    progress.advance(25)
    progress.warn("mind [this]")
    progress.finish()
    text = capsys.readouterr().err
    assert "reading" in text and "75 % of 100 items" in text and "warning: mind [this]" in text
    assert progress.warnings == ["mind [this]"] and text.endswith("\x1b[2K"), "the last line is wiped"
