"""Help: one screen for each verb, all flags on request, and quick."""

from __future__ import annotations

import shlex
from typing import Any

import click
import pytest

from command_line import process, run
from likewise.cli.main import main
from likewise.cli.verbs import VERBS

pytestmark = pytest.mark.usefixtures("folder")

HEAVY = {"numba", "numpy", "pyarrow", "rich", "llvmlite"}


def verb(name: str) -> Any:
    return main.get_command(click.Context(main), name)  # type: ignore[attr-defined]


def with_imports(*words: str) -> tuple[str, set[str]]:
    """Standard output, and the packages that the command loads."""
    done = process(*words, python=("-X", "importtime"))
    assert done.returncode == 0
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "click" in imported
    return done.stdout, imported


def test_help_lists_the_verbs_and_loads_nothing_heavy() -> None:
    text, imported = with_imports("--help")
    assert [line.split()[0] for line in text.partition("Verbs, in order of use:\n")[2].partition("\n\n")[0].splitlines()] == [*VERBS]
    assert not imported & {*HEAVY, "xxhash", "msgspec"}


@pytest.mark.parametrize(
    "words", [*((name, "--help") for name in VERBS), ("dedup", "--help-all"), ("help", "pairs"), ("completion", "zsh"), ("plan",)]
)
def test_help_of_a_verb_and_a_plan_without_inputs_load_nothing_heavy(words: tuple[str, ...]) -> None:
    assert not with_imports(*words)[1] & HEAVY


@pytest.mark.parametrize("name", ["", *VERBS])
def test_help_fits_a_small_terminal(name: str) -> None:
    lines = run(*filter(None, [name]), "--help").stdout.splitlines()
    assert len(lines) <= 34 and max(map(len, lines)) <= 80


@pytest.mark.parametrize("name", VERBS)
def test_help_of_a_verb_begins_with_its_purpose_and_two_examples(name: str) -> None:
    for words in ((name, "-h"), (name, "--help"), (name, "--help-all"), ("help", name), ("help", name, "--all")):
        result = run(*words)
        assert result.exit_code == 0 and result.stderr == ""
        purpose, gap, first, second, rest = result.stdout.splitlines()[:5]
        assert purpose == VERBS[name] and gap == rest == ""
        assert all(example.startswith(f"  likewise {name}") for example in (first, second))
        (usage,) = (line for line in result.stdout.splitlines() if line.startswith("Usage: "))
        assert usage.split(" ") == usage.split() and usage.startswith(f"Usage: likewise {name}")


@pytest.mark.parametrize("name", VERBS)
def test_the_examples_can_be_typed(name: str) -> None:
    for example in verb(name).examples:
        first, *args = shlex.split(example.partition(" > ")[0])
        assert first == name
        verb(name).make_context(name, args)


@pytest.mark.parametrize("name", VERBS)
def test_help_lists_every_flag_or_says_where_they_are(name: str) -> None:
    flags = [option.opts[-1] for option in verb(name).flags]

    def listed(text: str) -> list[str]:
        named = [word.strip(",") for line in text.splitlines() if line.startswith("  -") for word in line.split("  ")[1].split()]
        return [flag for flag in flags if flag in named]

    brief, whole = run(name, "--help").stdout, run(name, "--help-all").stdout
    assert listed(whole) == flags and run("help", name, "--all").stdout == whole and run("help", name).stdout == brief
    if listed(brief) != flags:
        assert brief.splitlines()[-1] == f"likewise {name} --help-all lists all {len(flags)} flags."


def test_the_basic_flags_of_dedup() -> None:
    text = run("dedup", "-h").stdout
    flags = [line.split("  ")[1].split(", ")[-1].split()[0] for line in text.splitlines() if line.startswith("  -")]
    assert flags == [
        *("--text", "--id", "--level", "--against", "--by", "--threshold", "--within", "--normalize", "--exact", "--keep"),
        *("--out", "--overwrite", "--resume", "--dry-run", "--memory", "--json"),
    ]
    assert "Use --threshold with similarities and --within with distances." in " ".join(text.split())


def test_help_shows_the_defaults_of_the_options() -> None:
    text = " ".join(run("dedup", "--help-all").stdout.split())
    for shown in ("[words:5]", "[0.8; by image/region 0.5]", "[0.99]", "[oph]", "[exact]", "[first]", "[copy]", "--field, --text F"):
        assert shown in text
    assert "[100,000,000]" in run("pairs", "--help-all").stdout
    assert "[0.8]" not in run("neighbors", "--help-all").stdout, "neighbors has no threshold unless one is given"


def test_help_of_an_unknown_verb() -> None:
    assert run("help", "dedpu").stderr == "likewise: error: unknown verb 'dedpu'; did you mean dedup?\n"
    assert run("help").stdout == run("--help").stdout


def test_no_verb_is_help_on_standard_error() -> None:
    result = run()
    assert result.exit_code == 2 and result.stdout == "" and "likewise dedup crawl" in result.stderr


def test_version() -> None:
    assert run("--version").stdout.startswith("likewise 0.")
