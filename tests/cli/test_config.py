"""Settings files: where they are found, what they may hold, and what wins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from likewise import config
from likewise.cli.flags import KINDS
from likewise.cli.main import main
from likewise.cli.verbs import VERBS
from likewise.errors import UsageError
from likewise.messages import on_command_line

pytestmark = pytest.mark.usefixtures("folder")


def load(text: str, verb: str = "dedup", name: str = "likewise.toml") -> dict:
    Path(name).write_text(text)
    return config.load(None, KINDS, verb, VERBS).settings


def refused(text: str, name: str = "likewise.toml") -> str:
    with pytest.raises(UsageError) as caught:
        load(text, name=name)
    return str(caught.value)


def test_no_file_is_no_settings() -> None:
    assert config.load(None, KINDS, "dedup", VERBS) == config.Config()


def test_a_verb_s_table_wins_over_what_all_verbs_share() -> None:
    text = 'threshold = 0.9\nkeep = "last"\n[dedup]\nkeep = "longest"\nremoved-records = true\n[pairs]\nstar = true\n'
    assert load(text) == {"threshold": 0.9, "keep": "longest", "removed_records": True}
    assert load(text, "pairs") == {"threshold": 0.9, "keep": "last", "star": True}


def test_pyproject_counts_only_with_a_section(folder: Path) -> None:
    assert load("[tool.other]\nthreshold = 1\n", name="pyproject.toml") == {}
    assert load("[tool.likewise]\nby = 'chars:9'\n", name="pyproject.toml") == {"by": "chars:9"}
    assert load("by = 'lines:1'\n") == {"by": "lines:1"}, "likewise.toml wins over pyproject.toml beside it"


def test_the_nearest_file_above_is_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "likewise.toml").write_text("threshold = 0.7\n")
    (folder / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(folder / "a" / "b")
    found = config.load(None, KINDS, "dedup", VERBS)
    assert found.path == folder / "likewise.toml" and found.settings == {"threshold": 0.7}


@pytest.mark.parametrize("line", ['out = "o"', 'work = "w"', "overwrite = true", 'svg = "s.svg"', 'page = "p.html"'])
@pytest.mark.parametrize("name", ["likewise.toml", "pyproject.toml"])
def test_a_file_above_says_nothing_of_what_is_written(folder: Path, monkeypatch: pytest.MonkeyPatch, line: str, name: str) -> None:
    """It may have come with somebody else's data. A file in the current folder may, and one that is named."""
    key, verb = line.partition(" ")[0], {"svg": "plan", "page": "quotes"}.get(line.partition(" ")[0], "dedup")
    lead = "" if name == "likewise.toml" else "tool.likewise."
    whole = {key: f"[{lead[:-1]}]\n{line}\n" if lead else f"{line}\n", f"{verb}.{key}": f"[{lead}{verb}]\n{line}\n"}
    (folder / "a" / "b").mkdir(parents=True)
    for said, text in whole.items():
        monkeypatch.chdir(folder)
        taken = {"out", "work", "overwrite", "svg", "page"}
        (folder / name).write_text(text)
        assert set(config.load(None, KINDS, verb, VERBS, taken).settings) == {key}
        monkeypatch.chdir(folder / "a" / "b")
        assert set(config.load(folder / name, KINDS, verb, VERBS, taken).settings) == {key}
        with pytest.raises(UsageError) as caught:
            config.load(None, KINDS, verb, VERBS, taken)
        assert str(caught.value).startswith(f"{folder / name}: {said} is not allowed") and on_command_line(caught.value).endswith("with --config")


def test_what_a_file_above_says_of_files_stops_no_verb_that_writes_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "likewise.toml").write_text('threshold = 0.7\nout = "o"\n[dedup]\nwork = "w"\n')
    (folder / "a").mkdir()
    monkeypatch.chdir(folder / "a")
    assert planned()[0] == 0.7
    result = CliRunner().invoke(main, ["dedup", "in.jsonl"])
    assert result.exit_code == 2 and f"{folder / 'likewise.toml'}: out is not allowed" in result.stderr


def test_a_broken_pyproject_above_is_somebody_else_s(folder: Path) -> None:
    assert load("this is no TOML", name="pyproject.toml") == {}
    with pytest.raises(UsageError, match=r"pyproject\.toml: is not valid TOML"):
        config.load("pyproject.toml", KINDS, "dedup", VERBS)


def test_lists_and_switches() -> None:
    assert load('prefer = ["a/*", "b/*"]\npairs = false\n') == {"prefer": ["a/*", "b/*"], "pairs": False}
    assert load('prefer = "a/*"\n') == {"prefer": ["a/*"]}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("treshold = 0.9", ["likewise.toml", "'treshold'", "did you mean threshold?"]),
        ("[dedup]\nkeeep = 'last'", ["'dedup.keeep'", "did you mean dedup.keep?"]),
        ("[pairs]\nmax-pair = 3", ["'pairs.max-pair'", "did you mean pairs.max-pairs?"]),
        ("[dedupe]\nkeep = 'last'", ["'dedupe'", "did you mean dedup?"]),
        ("zzzzzz = 1", ["'zzzzzz'", "likewise VERB --help"]),
        ("config = 'other.toml'", ["unknown key 'config'"]),
        ("dedup = 3", ["dedup is a verb", "[dedup]"]),
        ("pairs-x = 1", ["'pairs-x'"]),
        ("overwrite = 'yes'", ["overwrite = 'yes'", "true or false"]),
        ("threshold = true", ["threshold = True", "a string or a number"]),
        ("keep = ['first', 'last']", ["keep = ['first', 'last']", "a string or a number"]),
        ("prefer = [1]", ["prefer = [1]", "a list of strings"]),
        ("threshold = \nby = 1", ["not valid TOML", "line 1"]),
    ],
)
def test_what_cannot_be_meant_is_refused(text: str, parts: list[str]) -> None:
    message = refused(text)
    for part in parts:
        assert part in message


def test_a_key_that_is_both_a_verb_and_a_flag() -> None:
    """``pairs`` is a switch of dedup and a verb: a table is the verb's, true or false the switch."""
    assert load("pairs = true\n") == {"pairs": True}
    assert load("pairs = true\n", "pairs") == {"pairs": True}
    assert load("[pairs]\nstar = true\n") == {}


def test_a_named_file_must_be_there() -> None:
    with pytest.raises(UsageError, match=r"config=.gone\.toml.: no such file"):
        config.load("gone.toml", KINDS, "dedup", VERBS)


def planned(*args: str, env: dict[str, str] | None = None) -> tuple[float, str]:
    result = CliRunner().invoke(main, ["plan", "--json", *args], env=env)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)["threshold"], result.stderr


def test_flag_wins_over_environment_over_file_over_default() -> None:
    assert planned()[0] == 0.8
    Path("likewise.toml").write_text("threshold = 0.7\n")
    assert planned() == (0.7, f"settings of {Path.cwd() / 'likewise.toml'}: threshold\n")
    assert planned(env={"LIKEWISE_THRESHOLD": "0.6"})[0] == 0.6
    assert planned("--threshold", "0.5", env={"LIKEWISE_THRESHOLD": "0.6"})[0] == 0.5
    Path("other.toml").write_text("threshold = 0.65\n")
    assert planned("--config", "other.toml")[0] == 0.65
    assert planned(env={"LIKEWISE_CONFIG": "other.toml"})[0] == 0.65


def test_a_preset_wins_over_what_the_file_says_of_the_same() -> None:
    Path("likewise.toml").write_text('by = "chars:9"\nthreshold = 0.9\nbands = 20\nrows = 5\nseed = 4\nkeep = "last"\n')

    def plan(*args: str) -> tuple[list, str]:
        result = CliRunner().invoke(main, ["plan", "--json", *args])
        printed = json.loads(result.stdout)
        return [printed[name] for name in ("by", "threshold", "bands", "rows", "chosen_by")], result.stderr.partition(": ")[2]

    assert plan("--preset", "fineweb") == (["words:5", 0.75, 14, 8, "preset fineweb"], "seed\n")
    assert plan("--preset", "fineweb", "--bands", "9", "--rows", "8") == (["words:5", 0.75, 9, 8, "hand"], "seed\n")
    assert plan("--threshold", "0.7") == (["chars:9", 0.7, 20, 5, "hand"], "by, bands, rows, seed\n")
    Path("likewise.toml").write_text('preset = "fineweb"\nbands = 13\n')
    assert plan("--threshold", "0.7") == (["words:5", 0.7, 13, 8, "hand"], "preset, bands\n")


@pytest.mark.parametrize(("text", "flag"), [("threshold = 80\n", "--threshold 80:"), ("bands = 'many'\n", "--bands")])
def test_an_error_says_that_the_value_stands_in_the_file(text: str, flag: str) -> None:
    Path("likewise.toml").write_text(text)
    result = CliRunner().invoke(main, ["plan"])
    assert result.exit_code == 2 and result.stdout == ""
    assert flag in result.stderr and f"(set in {Path.cwd() / 'likewise.toml'})" in result.stderr


def test_an_error_says_that_the_value_stands_in_the_environment() -> None:
    result = CliRunner().invoke(main, ["plan"], env={"LIKEWISE_THRESHOLD": "0,8"})
    assert result.exit_code == 2 and "--threshold 0,8:" in result.stderr and "(set by LIKEWISE_THRESHOLD)" in result.stderr


def test_a_misspelled_variable_is_named() -> None:
    result = CliRunner().invoke(main, ["plan"], env={"LIKEWISE_TRESHOLD": "0.5"})
    assert result.exit_code == 0
    assert "LIKEWISE_TRESHOLD is set in the environment but is not the name of a flag; did you mean LIKEWISE_THRESHOLD?" in result.stderr
