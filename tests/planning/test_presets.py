"""Presets: the curves that they state, what lies over them, and how a plan names them."""

from __future__ import annotations

import pytest

import likewise as lw
from likewise.errors import UsageError
from likewise.planning.presets import PRESETS

#: The share of pairs that the recipes find at a similarity, computed from bands and rows by 1-(1-s^r)^b.
CATCH = {
    "fineweb": (0.8, 0.924),
    "slimpajama": (0.8, 0.399),
    "nemo-curator": (0.8, 0.677),
    "refinedweb": (0.8, 0.995),
    "the-stack": (0.7, 0.51),
    "rensa": (0.8, 0.20),
    "datasketch": (0.9, 0.31),
    "daft": (0.7, 0.38),
    "gaoya": (0.8, 1.0),
}


@pytest.mark.parametrize("name", CATCH)
def test_presets_state_their_true_curve(name):
    at, found = CATCH[name]
    plan = lw.plan(preset=name)
    assert (plan.bands, plan.rows) == (PRESETS[name].bands, PRESETS[name].rows)
    assert plan.curve(at) == pytest.approx(found, abs=0.005)
    assert float(plan.threshold) == float(PRESETS[name].threshold)


def test_a_preset_lies_under_what_is_given():
    plan = lw.plan(preset="fineweb", threshold=0.8, rows=6)
    assert (plan.bands, plan.rows, float(plan.threshold)) == (14, 6, 0.8)
    assert lw.plan(preset="slimpajama", within=0.1).threshold == lw.plan(threshold=0.9).threshold
    texts = ["one two three four five six seven", "one two three four five six seven", "x"]
    assert lw.dedup(texts, preset="slimpajama").report["method"]["by"] == "chars:13"
    with pytest.raises(UsageError, match="preset='finweb': did you mean fineweb"):
        lw.plan(preset="finweb")


def test_a_preset_of_more_slots_than_there_are():
    said = "preset='fineweb': its 14 bands of 8 rows take 112 slots, more than slots=64; leave out slots=, or give bands= and rows="
    for call in (lw.plan, lambda **choices: lw.dedup(["a"], **choices)):
        with pytest.raises(UsageError, match=said):
            call(preset="fineweb", slots=64)
    assert lw.plan(preset="fineweb", slots=112).slots == 112
    with pytest.raises(UsageError, match="preset='fineweb': its 14 bands of 10 rows"):
        lw.plan(preset="fineweb", rows=10, slots=112)
    with pytest.raises(UsageError, match="bands=20 and rows=10 take 200"):
        lw.plan(preset="fineweb", bands=20, rows=10, slots=112)


def test_a_preset_is_named_and_cuts_the_sample():
    texts = [f"abcdefghijklmnopqrstuvwxyz{number}" for number in range(20)]
    plan = lw.plan(texts, preset="slimpajama")
    assert plan.chosen_by == plan.to_dict()["chosen_by"] == "preset slimpajama"
    assert plan.model.shingles == 15.5  # 13 of 27 or 28 characters; words:5 would give 1
    assert lw.plan(preset="slimpajama", bands=3).chosen_by == "hand"
    assert [*lw.plan(preset="fineweb", recall=0.7, tune="error").ignored] == [("recall", 0.7), ("tune", "error")]
    assert lw.plan(recall=0.7).ignored == lw.plan(preset="fineweb").ignored == ()
