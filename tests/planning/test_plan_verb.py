"""`plan` in Python and on the command line: arguments, drawings, words and refusals."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import likewise as lw
from likewise import families
from likewise.errors import UsageError
from likewise.families import Bits, MinHash
from likewise.methods import Measure, Text


def test_unknown_choices_and_none():
    with pytest.raises(UsageError, match="unknown option 'treshold'; did you mean threshold="):
        lw.plan(treshold=0.8)
    with pytest.raises(
        UsageError, match="unknown option 'foo'; valid options: bands, by, dimension, family, field, html, items, layouts, normalize, preset"
    ):
        lw.plan(["a b", "c d"], foo=1)
    more = ["threshold", "within", "recall", "bands", "rows", "slots", "sketch", "tune", "family", "dimension"]
    assert lw.plan(**dict.fromkeys(["by", "normalize", "field", "seed", "items", "preset", *more])) == lw.plan()
    with pytest.raises(UsageError, match="items=0: give a whole number"):
        lw.plan(items=0)


@pytest.mark.parametrize("seed", [-3, "-3", 2**64, "x", 1.5])
def test_plan_refuses_seeds_that_are_no_numbers(seed):
    for data in (None, ["a b c d e f", "a b c d e g"]):
        with pytest.raises(UsageError, match=f"seed='?{seed}'?: give a whole number"):
            lw.plan(data, seed=seed)
        assert lw.plan(data, seed="random").recall >= 0.99


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Measure("foo"), r"Measure\('foo'\): choose one of elements, weighted"),
        (lambda: Measure("lr", 0.5), "r of 1 or more"),
        (lambda: Measure("lr", math.inf), "linf"),
        (lambda: Measure("l2", containment=True), "containment is available for elements only"),
        (lambda: Text("verses", 5, ()), "unknown unit 'verses'"),
        (lambda: Text("words", 0, ()), "from 1 to 1000"),
        (lambda: Text("words", 5, ("upper",)), "unknown step 'upper'"),
    ],
)
def test_methods_that_there_are_not(make, message):
    with pytest.raises(UsageError, match=message):
        make()


# charts


def test_a_plan_draws_itself():
    plan, other = lw.plan(bands=5, rows=10), lw.plan(bands=10, rows=5)
    assert plan.svg().startswith("<svg")
    assert "10 × 5" in plan.svg(other)
    assert plan._repr_svg_() == plan.svg()
    assert lw.plan(by="hamming", within=3, dimension=64).svg().count("Hamming distance")


@pytest.mark.parametrize("thing", [lw.plan(), MinHash()])
def test_a_chart_is_returned_not_written(thing, tmp_path):
    path = tmp_path / "curve.svg"
    with pytest.raises(
        UsageError, match=r"svg\('curve.svg'\): give (plans|families) to draw over this one; svg\(\) returns the chart as text, "
    ) as caught:
        thing.svg("curve.svg")
    assert str(caught.value).endswith('which pathlib.Path("curve.svg").write_text(svg, encoding="utf-8") writes')
    with pytest.raises(UsageError, match=r"svg\(1\): give (plans|families) to draw over this one$"):
        thing.svg(1)
    path.write_text(thing.svg(), encoding="utf-8")
    assert path.read_bytes().startswith(b"<svg") and thing._repr_svg_() == thing.svg()


def test_families_are_drawn_like_plans():
    """At 0.5, MinHash collides with 0.5, and an AND of two functions with 0.25; a family does not find pairs."""
    one, two = MinHash(), MinHash().all_of(2)
    drawn = one.svg(two)
    assert "probability of a collision" in drawn and "The probability that a pair collides, by Jaccard similarity" in drawn and "found" not in drawn
    assert ">AND of 2 by MinHash<" in drawn and drawn.count("<polyline") == 4  # two curves, and two in the legend
    assert "probability of being found" in lw.plan().svg() and "colli" not in lw.plan().svg()
    with pytest.raises(UsageError, match="a family by Hamming distance cannot be drawn over one by Jaccard similarity; draw them separately"):
        one.svg(Bits(dimension=64))


@pytest.mark.parametrize("layouts", ["10x5,5x10", [(10, 5), (5, 10)]])
def test_layouts_are_compared(layouts):
    plan = lw.plan(threshold=0.6, layouts=layouts)
    one, other = lw.plan(threshold=0.6, bands=10, rows=5), lw.plan(threshold=0.6, bands=5, rows=10)
    assert plan.others == (other,)
    assert plan.svg() == one.svg(other) and "5 × 10" in plan.svg()
    assert repr(plan) == repr(one)


@pytest.mark.parametrize("layouts", ["10", "axb", "", [(10,)], [], 5, [20, 5], [(2, 5, 1)], "1x1," * 6 + "1x1", [(-1, 5)]])
def test_wrong_layouts_are_refused(layouts):
    with pytest.raises(UsageError, match=r"give up to 6 layouts as BANDSxROWS|empty string"):
        lw.plan(layouts=layouts)
    with pytest.raises(UsageError, match=r"layouts and bands exclude each other|layouts= and bands="):
        lw.plan(layouts="2x3", bands=2)


def test_a_plan_has_its_curve_at_many_values_at_once():
    plan, values = lw.plan(bands=2, rows=3), np.linspace(0, 1, 6).reshape(2, 3)
    found = plan.curve(values)
    assert found.dtype == np.float64 and found.shape == (2, 3) and found.tolist() == [[plan.curve(value) for value in row] for row in values]
    assert found[0, 2] == pytest.approx(1 - (1 - 0.4**3) ** 2)
    assert plan.curve([0, 1]).tolist() == [0, 1] and plan.curve(pa.array([0.4])).tolist() == [plan.curve(0.4)]
    assert isinstance(plan.curve(np.float64(0.4)), float)
    with pytest.raises(UsageError, match=r"^at index 1, 0: Jaccard similarity 1\.5: give a number from 0 to 1$"):
        plan.curve([[0.5], [1.5]])


def test_a_plan_and_its_family_have_one_word_for_the_probability_of_a_collision():
    plan = lw.plan(bands=2, rows=3)
    family = families.from_plan(plan)
    assert plan.collision == family.collision and plan.collision.at(0.4) == family.probability(0.4) == 0.4
    assert not hasattr(family, "curve")


def test_plans_of_two_measures_are_not_drawn_together():
    codes, points = lw.plan(by="hamming", within=3, dimension=64), lw.plan(by="l2", within=3)
    with pytest.raises(UsageError, match="a plan by L2 distance cannot be drawn over one by Hamming distance"):
        codes.svg(codes, points)
    assert "<svg" in points.svg(lw.plan(by="l2", within=3, family="Stripe"))


# the command line


def run(*arguments: str, where: Path | None = None) -> tuple[int, str, str]:
    done = subprocess.run([sys.executable, "-P", "-m", "likewise", "plan", *arguments], capture_output=True, text=True, cwd=where, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--layouts", "5x10", "--bands", "3"], "--layouts and --bands exclude each other; give one of them"),
        (["--layouts", "5x10", "--rows", "3"], "--layouts and --rows exclude each other"),
        (["--seed", "-3"], "--seed -3: give a whole number from 0 to 2^64 - 1, or random"),
        (["--seed", "-3", "d.jsonl"], "--seed -3: give a whole number"),
        (["--within", "1"], "--within 1: the distance is 1 - similarity"),
        (["--items", "0"], "--items 0: give a whole number"),
        (["--field", "nope", "d.jsonl"], "no row of d.jsonl has the field 'nope'; fields seen: text; name the right one with --field"),
        (["--preset", "fineweb", "--slots", "64"], "--preset fineweb: its 14 bands of 8 rows take 112 slots, more than --slots 64"),
        (["--by", "cosine", "d.jsonl"], "no row of d.jsonl has the field 'vector'; fields seen: text; name the right one with --field"),
    ],
)
def test_what_the_command_refuses(arguments, said, tmp_path):
    (tmp_path / "d.jsonl").write_text("".join(f'{{"text": "a b c d e f {i}"}}\n' for i in range(9)))
    status, out, error = run(*arguments, where=tmp_path)
    assert (status, out) == (2, "")
    assert said in error and "Traceback" not in error


def test_what_the_command_says(tmp_path):
    (tmp_path / "d.jsonl").write_text("".join(f'{{"text": "a b c d e f {i}"}}\n' for i in range(9)))
    status, out, _ = run("d.jsonl", "--seed", "random", where=tmp_path)
    assert status == 0 and "For 9 items of 3 shingles each:" in out and "estimated from a sample of 9" in out
    assert "(oph, from the preset fineweb)" in run("--preset", "fineweb")[1]
    assert "(oph, set by hand)" in run("--preset", "fineweb", "--bands", "9")[1]
    assert "384 numbers each (see --dimension):" in run("--by", "cosine", "--threshold", "0.9")[1]
    assert "768 numbers each:" in run("--by", "cosine", "--threshold", "0.9", "--dimension", "768")[1]
    status, out, _ = run("--by", "l2", "--within", "2e-11")
    assert status == 0 and out.startswith("l2 within 2e-11: 253 bands of 13 rows, 3,289 slots (Line of width 6e-11,")


def test_data_that_no_plan_can_be_made_of_are_refused():
    words = "no document of the sample has a shingle of words:5; use shorter shingles, such as by='words:2', or leave "
    apart = [[1.7e308, -1.7e308], [-1.7e308, 1.7e308], [0, 0]]
    for data, choices, message in (
        (["!!!", "???"], {}, words),
        ([set(), set(), set()], {"by": "elements"}, "all are empty"),
        ([1, 2, 3], {"by": "elements"}, "got a single set"),
        (np.zeros((0, 3)), {"by": "l2", "within": 1}, "at least two items"),
        (np.ones((5, 3)), {"by": "l1", "within": 1, "family": "Threshold"}, "at least two different vectors"),
        ([[0.0, 5e-324], [0, 0]], {"by": "l1", "within": 0, "family": "Threshold"}, "too close together"),
        (apart, {"by": "l1", "within": 1, "family": "Threshold"}, "too far apart"),
        (np.eye(5), {"by": "cosine", "dimension": 9}, "the data have 5 numbers each"),
        (np.eye(5) > 0, {"by": "hamming", "within": 1, "dimension": 9}, "the data have 5 bits each"),
        (None, {"by": "cosine", "family": "CrossPolytope", "dimension": 2**17}, "vectors may have up to 65,536 numbers"),
    ):
        with pytest.raises(UsageError, match=message):
            lw.plan(data, **choices)
