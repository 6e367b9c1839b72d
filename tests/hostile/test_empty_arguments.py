"""An argument that is an empty string is mostly a variable of a shell that is not set: it is refused, and never means the current folder."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import click
import pytest

import likewise as lw
from command_line import refused, run
from likewise.cli.verbs import VERBS
from likewise.config import load


def commands() -> dict[str, click.Command]:
    return {verb: import_module(f"likewise.cli.{verb}").command for verb in VERBS}


FLAGS = [
    (verb, param.opts[-1] if not param.opts[0].startswith("--") else param.opts[0])
    for verb, command in commands().items()
    for param in command.params
    if isinstance(param, click.Option) and not param.is_flag and isinstance(param.type, click.types.StringParamType)
]


@pytest.mark.parametrize(("verb", "flag"), FLAGS)
def test_a_flag_refuses_an_empty_string(docs: Path, verb: str, flag: str) -> None:
    given = {
        "features": ["docs.jsonl", "-o", "x.parquet"],
        "show": ["out", "a"],
        "report": ["out"],
        "doctor": [],
        "demo": [],
        "help": [],
        "completion": ["bash"],
        "schema": [],
    }.get(verb, ["docs.jsonl"])
    said = refused(verb, *given, flag, "")
    assert f"{flag} ''" in said and "empty string" in said
    assert sorted(path.name for path in docs.parent.iterdir()) == ["docs.jsonl"]


def test_that_covers_paths_and_names() -> None:
    assert {
        ("dedup", "--out"),
        ("dedup", "--work"),
        ("pairs", "--against"),
        ("neighbors", "--query"),
        ("plan", "--svg"),
        ("dedup", "--config"),
    } <= set(FLAGS)
    assert {("dedup", name) for name in ("--field", "--id", "--by", "--prefer", "--per", "--groups", "--normalize", "--keep")} <= set(FLAGS)


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        (["dedup", ""], "INPUT"),
        (["dedup", "docs.jsonl", "", "-o", "out"], "INPUT"),
        (["pairs", ""], "INPUT"),
        (["neighbors", ""], "INPUT"),
        (["features", "", "-o", "x.parquet"], "INPUT"),
        (["plan", ""], "INPUT"),
        (["audit", ""], "OUT | INPUT"),
        (["show", "", "a"], "OUT"),
        (["show", "out", ""], "ID"),
        (["report", ""], "OUT"),
    ],
)
def test_an_argument_refuses_an_empty_string(docs: Path, typed: list[str], name: str) -> None:
    assert f"{name} '': this is an empty string" in refused(*typed)
    assert sorted(path.name for path in docs.parent.iterdir()) == ["docs.jsonl"]


def test_one_of_several_values(docs: Path) -> None:
    assert "--against ''" in refused("pairs", "docs.jsonl", "--against", "docs.jsonl", "--against", "")


def test_a_settings_file_is_named(docs: Path) -> None:
    Path("likewise.toml").write_text('by = ""\n')
    assert f"(set in {Path.cwd() / 'likewise.toml'})" in refused("dedup", "docs.jsonl")
    Path("likewise.toml").write_text('[pairs]\nagainst = [""]\n')
    said = refused("pairs", "docs.jsonl")
    assert "--against ''" in said and f"(set in {Path.cwd() / 'likewise.toml'})" in said


def test_an_empty_variable_of_the_environment_is_one_that_is_not_set(docs: Path) -> None:
    result = run("pairs", "docs.jsonl", "--json", env={"LIKEWISE_OUT": "", "LIKEWISE_BY": "", "LIKEWISE_PREFER": "", "LIKEWISE_CONFIG": ""})
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in docs.parent.iterdir()) == ["docs.jsonl"]


PYTHON = {
    "inputs": [lambda: lw.dedup(""), lambda: lw.pairs(""), lambda: lw.neighbors(""), lambda: lw.audit(""), lambda: lw.plan("")],
    "out": [lambda: lw.dedup("docs.jsonl", out="")],
    "against": [lambda: lw.pairs("docs.jsonl", against="")],
    "query": [lambda: lw.neighbors("docs.jsonl", query="")],
    "work": [lambda: lw.dedup("docs.jsonl", work=""), lambda: lw.audit("docs.jsonl", work="")],
    "field": [lambda: lw.dedup("docs.jsonl", field=""), lambda: lw.plan("docs.jsonl", field="")],
    "id": [lambda: lw.pairs("docs.jsonl", id="")],
    "per": [lambda: lw.neighbors("docs.jsonl", per="")],
    "by": [lambda: lw.dedup("docs.jsonl", by=""), lambda: lw.plan(by=""), lambda: lw.similarity("a", "b", by=""), lambda: lw.sketch(["a"], by="")],
    "normalize": [lambda: lw.dedup("docs.jsonl", normalize=""), lambda: lw.similarity("a", "b", normalize="")],
    "groups": [lambda: lw.pairs("docs.jsonl", by="elements", groups="")],
    "prefer": [lambda: lw.dedup("docs.jsonl", prefer=""), lambda: lw.dedup("docs.jsonl", prefer=["a", ""])],
    "threshold": [lambda: lw.dedup("docs.jsonl", threshold="")],
    "preset": [lambda: lw.dedup("docs.jsonl", preset="")],
}


@pytest.mark.parametrize(("name", "call"), [(name, call) for name, calls in PYTHON.items() for call in calls])
def test_python_refuses_an_empty_string(docs: Path, name: str, call) -> None:
    with pytest.raises(lw.UsageError, match=f"^{name}='': this is an empty string"):
        call()
    assert sorted(path.name for path in docs.parent.iterdir()) == ["docs.jsonl"]


def test_an_empty_text_is_a_text(folder: Path) -> None:
    assert lw.dedup(["", "a b c"]).report["counts"]["read"] == 2
    assert lw.similarity("", "a", by="chars:1") == 0.0
    assert load(None, {}, "dedup", VERBS).settings == {}


def test_an_output_that_is_no_path_is_named() -> None:
    with pytest.raises(lw.UsageError, match="out=7: give the path of a folder"):
        lw.dedup(["a b c d e"], out=7)
