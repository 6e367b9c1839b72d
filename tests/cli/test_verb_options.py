"""Which options a verb takes: the same in Python as on the command line, and no others."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import likewise as lw
from likewise.choices import TAKES
from likewise.cli.flag_options import defaults
from likewise.cli.flags import FLAGS
from likewise.options import SWITCHES, Options, checked
from likewise.runs.extraction import extract

ROWS = ["a b c d e", "a b c d x", "p q r s t"]
#: Flags of the command line alone, which say where to write and how to talk. `out` is an option of dedup, which writes a folder.
TALK = {"json", "exit_code", "quiet", "verbose", "color", "progress", "config", "dry_run"}
WRITING = {
    "pairs": {"out", "overwrite", "csv_formulas"},
    "neighbors": {"out", "overwrite", "csv_formulas"},
    "quotes": {"out", "page", "overwrite", "csv_formulas"},
    "repeats": {"out", "overwrite", "csv_formulas"},
    "plan": {"svg", "overwrite"},
    "features": {"out", "overwrite"},
}
#: The functions in Python.
FUNCTIONS = {verb: extract if verb == "features" else getattr(lw, verb) for verb in TAKES}


def called(verb, **options):
    """The result of a function for ROWS."""
    return FUNCTIONS[verb](*((ROWS, ROWS) if verb == "quotes" else (ROWS,)), **options)


#: Fields of Options that are made of other choices.
MADE = {"fields", "method", "bound", "plan", "asked"}


@pytest.mark.parametrize("verb", TAKES)
def test_python_and_the_command_line_take_the_same(verb):
    flags = {option.name for option in import_module(f"likewise.cli.{verb}").command.params} - {"inputs"}
    assert flags - TALK - WRITING.get(verb, set()) == set(TAKES[verb].split())
    named = {name for name, one in [*inspect.signature(FUNCTIONS[verb]).parameters.items()][1:] if one.kind is not one.VAR_KEYWORD}
    assert named - {"progress", "order"} == set(TAKES[verb].split())
    assert inspect.signature(FUNCTIONS[verb]).parameters["unknown"].annotation == "Never", "a type checker refuses other names"


@pytest.mark.parametrize("verb", TAKES)
def test_help_names_every_option(verb):
    text = FUNCTIONS[verb].__doc__
    assert [name for name in TAKES[verb].split() if f"``{name}``" not in text and f" {name}: " not in text] == []


def test_help_tells_the_defaults_that_there_are():
    printed = {name: text.strip('"') for name, text in re.findall(r"(?m)^    ``(\w+)`` .* \((\S+)\)$", lw.dedup.__doc__)}
    known = {name: FLAGS[name].default or str(defaults()[name]) for name in printed.keys() - {"field"}}
    there = {name: default for name, default in known.items() if default != "None"}
    assert {"by", "keep", "recall", "seed", "verify"} <= there.keys()
    assert {name: printed[name] for name in there} == there


@pytest.mark.parametrize("verb", ("dedup", "pairs", "neighbors", "audit", "plan"))
def test_none_is_as_good_as_not_given(verb):
    own = {name for name, one in inspect.signature(FUNCTIONS[verb]).parameters.items() if one.annotation == "int"}
    inputs = None if verb == "plan" else ROWS
    FUNCTIONS[verb](inputs, **{name: None for name in TAKES[verb].split() if name not in own})


def test_none_is_as_good_as_not_given_for_features_too(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "a b"}\n')
    (tmp_path / "vectors.txt").write_text("a 1 0\nb 0 1\n")
    made = extract([tmp_path / "a.jsonl"], vectors=tmp_path / "vectors.txt", by=None)
    assert made.kind == "texts"


@pytest.mark.parametrize("name", SWITCHES)
def test_a_switch_is_true_or_false(name):
    verb = next(verb for verb in TAKES if name in TAKES[verb].split())
    with pytest.raises(lw.UsageError, match=f"^{name}='no': give True or False"):
        FUNCTIONS[verb](ROWS, **{name: "no"})


@pytest.mark.parametrize(("name", "value"), [("prefer", Path("a")), ("prefer", [Path("a")]), ("prefer", 1), ("work", 1)])
def test_names_of_files_are_names(name, value):
    with pytest.raises(lw.UsageError, match=f"^{name}=.*: give "):
        lw.dedup(ROWS, **{name: value})


def test_what_is_typed_as_a_switch_is_checked_as_one():
    typed = {name: one.annotation for verb in FUNCTIONS.values() for name, one in inspect.signature(verb).parameters.items()}
    assert {name for name, kind in typed.items() if kind == "bool | None"} == set(SWITCHES)


def test_every_choice_of_a_run_is_of_some_verb():
    choices = {*Options.__dataclass_fields__, *checked.__kwdefaults__} - MADE - {"limited", "one_way"}
    assert choices <= {name for taken in TAKES.values() for name in taken.split()}


@pytest.mark.parametrize("verb", TAKES)
def test_an_option_of_another_verb_is_refused_with_the_verbs_that_it_is_for(verb):
    every = {name for taken in TAKES.values() for name in taken.split()}
    for name in sorted(every - set(TAKES[verb].split())):
        others = ", ".join(other for other, taken in TAKES.items() if name in taken.split())
        for value in (True, None):  # whatever it is set to, it says nothing here
            with pytest.raises(lw.UsageError, match=f"^{verb} has no option '{name}', which belongs to {others}(;.*)?$"):
                called(verb, **{name: value})


def test_what_writes_pairs_instead_is_reported():
    for verb in ("pairs", "neighbors"):
        with pytest.raises(lw.UsageError, match=r"has no option 'out', which belongs to dedup; write the result with its method write\(path\)$"):
            getattr(lw, verb)(ROWS, out="pairs.csv")


def test_options_that_were_accepted_and_ignored():
    for verb, name, value in (("neighbors", "star", True), ("audit", "keep", "longest"), ("dedup", "max_pairs", 1), ("pairs", "output", "ids")):
        with pytest.raises(lw.UsageError, match=f"{verb} has no option '{name}'"):
            called(verb, **{name: value})


@pytest.mark.parametrize("verb", TAKES)
def test_an_option_that_there_is_not_is_refused_with_what_was_meant(verb):
    with pytest.raises(lw.UsageError, match="unknown option 'feild'; did you mean field="):
        called(verb, feild="text")
    with pytest.raises(lw.UsageError, match=r"unknown option 'top'; valid options: (\w+, )*by, (\w+, )*normalize"):
        called(verb, top=5)


@pytest.mark.parametrize(
    ("verb", "given", "said"),
    [
        ("dedup", {"text": "text"}, "^unknown option 'text'; use field=$"),
        ("neighbors", {"top_k": 3}, "^unknown option 'top_k'; use k=$"),
        ("pairs", {"num_perm": 128}, "^unknown option 'num_perm'; use slots=$"),
        ("pairs", {"progres": None}, "unknown option 'progres'; did you mean progress="),
        ("plan", {"layout": "2x25"}, "unknown option 'layout'; did you mean layouts="),
        ("dedup", {"progress": "bar"}, "^progress='bar': give True, False, None, or an instance of likewise.Progress or of a subclass$"),
        ("dedup", {"prefer": "x*"}, r"^prefer='x\*': no input file matches; the data come from Python$"),
        (
            "dedup",
            {"pairs": True, "output": "ids"},
            "^output='ids' and pairs=True: nothing is written without out=; give out=FOLDER",
        ),
        ("dedup", {"by": "word:5"}, "did you mean words:5"),
        ("dedup", {"by": "cosin"}, "did you mean cosine"),
    ],
)
def test_what_was_meant_is_said(verb, given, said):
    with pytest.raises(lw.UsageError, match=said):
        getattr(lw, verb)(ROWS, **given)


def test_whole_numbers_of_numpy_are_whole_numbers():
    few = {"threads": np.int64(1), "limit": np.uint8(3), "min_tokens": np.int32(0), "memory": np.int64(2**30), "max_record": np.int64(2**20)}
    assert lw.dedup(ROWS, threshold=0.6, by="words:1", **few).report["counts"]["removed"] == 1
    assert len(lw.neighbors(ROWS, by="words:1", k=np.int64(1)).to_arrow()) == 2
    assert lw.audit(ROWS, by="words:1", threshold=0.6, sample=np.int64(3)).sampled == 3
    for wrong in (True, np.True_, 1.0):
        with pytest.raises(lw.UsageError, match="give a whole number"):
            lw.neighbors(ROWS, k=wrong)
