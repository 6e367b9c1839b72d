"""A kind of item, a measure and a family from a module outside likewise: while registered, all verbs, the command and the pages support them. No
other module names them."""

from __future__ import annotations

import ast
import json
import runpy
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import likewise as lw
import toy_numbers
from command_line import refused, run
from likewise import families, kinds
from likewise.errors import UsageError
from likewise.planning.families import registered

ROOT = Path(__file__).parents[2]
#: Within 1 of each other: 1, 1.5 and the second 1; 4 and 4.25. 9 is alone.
NUMBERS = [1.0, 1.5, 4.0, 4.25, 9.0, 1.0]
NEAR = {(0, 1): 0.5, (0, 5): 0.0, (1, 5): 0.5, (2, 3): 0.25}


@pytest.fixture
def toy() -> Iterator[None]:
    with kinds.registered(toy_numbers.NUMBERS_KIND), registered(toy_numbers.STEPS):
        yield


def found(result: lw.Pairs) -> dict[tuple[int, int], float]:
    return {(row["id_a"], row["id_b"]): row["distance"] for row in result.to_arrow().to_pylist()}


def test_similarity_of_a_registered_kind(toy):
    assert lw.similarity(1.0, 4.25, by="apart") == 3.25
    assert lw.similarity([1, 2, 3], [1, 0, 7], by="apart").tolist() == [0.0, 2.0, 4.0]


@pytest.mark.parametrize("how", [{"exact": True}, {"bands": 40, "rows": 1}, {}])
def test_pairs_of_a_registered_kind(toy, how):
    """By a join, with given bands and with a plan. With 40 steps of width 2, two numbers at distance 0.5 share no step with probability 0.25^40."""
    result = lw.pairs(NUMBERS, by="apart", within=1, **how)
    assert found(result) == NEAR
    assert result.report["method"]["by"] == "apart"


def test_dedup_of_a_registered_kind(toy, tmp_path):
    lines = [json.dumps({"id": f"n{i}", "number": number}) for i, number in enumerate(NUMBERS)]
    (tmp_path / "in.jsonl").write_text("\n".join([*lines, '{"id": "none", "number": null}']) + "\n")
    result = lw.dedup(tmp_path / "in.jsonl", out=tmp_path / "out", by="apart", within=1)
    assert (result.report["counts"]["read"], result.report["counts"]["removed_exact"], result.report["counts"]["removed_near"]) == (7, 1, 2)
    shown = run("show", tmp_path / "out", "n3")
    assert "distance 0.25 steps by apart (maximum 1 step)" in shown.output and "1 of 1 number differs, at index 0: 4.25" in shown.output
    assert "Each item is a number. The distance of two numbers is the distance of the two on the line." in (tmp_path / "out/report.html").read_text()


def test_a_registered_kind_is_read_from_files(toy, tmp_path):
    """From a column of a CSV file with an empty cell, and from an array, given by name and in a folder."""
    (tmp_path / "csv").mkdir()
    (tmp_path / "csv/in.csv").write_text("number,note\n" + "".join(f"{number},x\n" for number in NUMBERS) + ",none\n")
    (tmp_path / "npy").mkdir()
    np.save(tmp_path / "npy/in.npy", np.array(NUMBERS))
    for path in ("csv/in.csv", "csv", "npy/in.npy", "npy"):
        assert found(lw.pairs(tmp_path / path, by="apart", within=1)) == NEAR, path


def test_a_registered_kind_that_reads_no_cells_is_refused(toy, tmp_path, monkeypatch):
    monkeypatch.setattr(toy_numbers, "READER", replace(toy_numbers.READER, from_cells=None))
    (tmp_path / "in.csv").write_text("number\n1\n")
    with pytest.raises(UsageError, match=r"a cell of a CSV file cannot hold a number; convert the file to JSON lines or Parquet"):
        lw.pairs(tmp_path / "in.csv", by="apart", within=1)


def test_a_plan_of_a_registered_family(toy):
    """Steps of width 2: numbers 1 apart share a step with probability 1/2, and at least one of 10 with 1 - 2^-10."""
    plan = lw.plan(by="apart", within=1, bands=10, rows=1)
    assert (plan.collision.family, plan.collision.parameters, plan.recall) == ("Steps", {"width": 2.0}, 1 - 2**-10)
    assert plan.curve(0.5) == pytest.approx(1 - 0.25**10, abs=1e-12) and plan.curve(2.0) == 0
    assert lw.plan(by="apart", within=1).recall >= 0.99
    family = families.from_plan(plan, seed=3)
    assert (type(family).__name__, family.slots) == ("Steps", 10)
    signatures = family.signature(NUMBERS)
    assert signatures.shape == (6, 10) and (signatures[0] == signatures[5]).all() and not (signatures[0] == signatures[4]).any()
    assert lw.plan(np.array(NUMBERS), by="apart", within=1).model.density.sample == 5  # a copy counts once


def test_the_command_knows_what_is_registered(toy, tmp_path):
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"number": number}) + "\n" for number in NUMBERS))
    assert "apart (numbers)" in " ".join(run("pairs", "--help-all").output.split())
    assert "features, image or number, by data type" in " ".join(run("pairs", "--help-all").output.split())
    result = run("pairs", tmp_path / "in.jsonl", "--by", "apart", "--within", "1", "--json")
    assert result.exit_code == 0, result.output
    assert "Steps" in run("plan", "--by", "apart", "--within", "1").output


def test_the_pages_are_compared_with_what_is_registered(toy):
    """The tables of measures and families lack the toys, so their tests fail."""
    checks = runpy.run_path(str(ROOT / "tests/docs/test_docs.py"))
    for name in ("test_the_table_of_measures_is_the_registry", "test_the_table_of_families_is_the_registry"):
        with pytest.raises(AssertionError):
            checks[name]()


def test_what_was_registered_is_forgotten():
    assert "apart" not in kinds.measures() and "Steps" not in families.FAMILIES
    with pytest.raises(UsageError, match="by='apart'"):
        lw.similarity(1.0, 2.0, by="apart")
    assert "--by apart" in refused("pairs", ROOT / "README.md", "--by", "apart", "--within", "1")


#: Other modules that may name a measure: the planning of its family, the norms of a family or of sets of vectors, and comparisons by cosine or
#: Hamming distance for any measure, such as those of encodings.
NAMED = {
    "planning/families.py",
    "planning/curves.py",
    "families/line.py",
    "families/histograms.py",
    "measures/assignment.py",
    "measures/chamfer.py",
    "measures/edit.py",
    "measures/strings.py",
    "joins/feature_join.py",
    "joins/image_join.py",
    "joins/sparse_join.py",
    "cli/common_jobs.py",  # a job of each
    "lecture/__init__.py",  # functions with such names
    "lecture/measured.py",  # the measures of curves
}


def test_no_measure_or_kind_is_named_outside_its_own_file():
    """Names with another meaning, such as "vectors" for an option or "elements" for a column, are not checked."""
    other = {
        "text",
        "texts",
        "tokens",
        "elements",
        "weighted",
        "features",
        "sets",
        "vectors",
        "strings",
        "vector",
        "code",
        "sparse",
        "sparse vectors",
        "string",
        "image",
        "images",
    }
    names = {*kinds.measures(), *kinds.kinds()} - other
    for path in (ROOT / "src/likewise").rglob("*.py"):
        place = path.relative_to(ROOT / "src/likewise").as_posix()
        if place.startswith("kinds/") or place in NAMED:
            continue
        tree = ast.parse(path.read_text())
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        said = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docstrings}
        wrong = said & names
        assert not wrong, place


#: Folders whose code asks a kind for its facts, and never for its name.
BLIND = ("cli", "engines", "io", "items", "joins", "nearest", "planning", "report", "runs", "stages", "verbs")
#: Files in which ``kind`` is compared with such a word, which means something else: the format of text files, and what an encoder reads.
OTHER_KINDS = {"io/inputs.py": {"text"}, "runs/extraction.py": {"texts", "images"}}


def named(node: ast.Compare) -> set[str]:
    """The strings that an attribute or variable ``kind`` or ``payload`` is compared with, as in ``want.kind in ("text", "string")``."""
    sides = [node.left, *node.comparators]
    if not any(isinstance(side, ast.Attribute | ast.Name) and (side.attr if isinstance(side, ast.Attribute) else side.id) in NAMES for side in sides):
        return set()
    return {one.value for side in sides for one in ast.walk(side) if isinstance(one, ast.Constant) and isinstance(one.value, str)}


NAMES = ("kind", "payload", "noun")


def test_no_condition_names_a_kind():
    names = {name for kind in kinds.kinds().values() for name in (kind.name, kind.noun, kind.payload)}
    found: dict[str, set[str]] = {}
    for folder in BLIND:
        for path in (ROOT / "src/likewise" / folder).rglob("*.py"):
            compared = [named(node) & names for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Compare)]
            if said := set().union(*compared):
                found[path.relative_to(ROOT / "src/likewise").as_posix()] = said
    assert found == OTHER_KINDS


def test_the_guard_finds_conditions():
    found = [
        named(node) for node in ast.walk(ast.parse("a.kind == 'x' or kind in ('y', 'z') or kind != b or c.d == 'w'")) if isinstance(node, ast.Compare)
    ]
    assert found == [{"x"}, {"y", "z"}, set(), set()]


def test_every_module_of_kinds_stands_in_the_layers():
    """In one layer of pyproject.toml, beside `kinds.stored`; import-linter ignores a module that it is not told about."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    lines = [layer for contract in contracts for layer in contract.get("layers", ()) if "likewise.kinds.stored" in layer]
    assert len(lines) == 1
    assert {part.strip() for part in lines[0].split(":")} == {f"likewise.kinds.{module}" for module in (*kinds.MODULES, "stored")}
