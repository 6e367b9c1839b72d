"""The recall of one run around its mean over seeds, by theory and as reported."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import likewise as lw
from command_line import run
from likewise.planning.spread import spread
from recall_over_seeds import clumps, deviation, recalls_alone, recalls_in_clumps


def test_the_spread_by_hand() -> None:
    """Of recall 0.5 with 50 pairs found of about 100: sqrt(0.25 / 100) and sqrt(0.25)."""
    assert spread(0.5, 0.5, 50) == {"recall": 0.5, "independent": 0.05, "at_most": 0.5}
    assert spread(0.99, 0.2, 0) == {"recall": 0.2, "independent": round(0.4 * math.sqrt(0.2), 6), "at_most": 0.4}


@pytest.mark.parametrize(("asked", "recall"), [(0.9, 0.93), (0.99, 0.991), (0.5, 1.0), (0.5, None), (None, 0.5)])
def test_a_high_recall_or_none_has_no_spread(asked: float | None, recall: float | None) -> None:
    assert spread(asked, recall, 10) is None


def test_pairs_that_share_nothing_are_found_as_coins_fall() -> None:
    """4 bands of 2 rows at similarity 0.5. The variance of 30 seeds lies in the interval of chi square that it misses once in a million."""
    recall, seeds, pairs = 1 - (1 - 0.5**2) ** 4, 30, 100
    shares = recalls_alone(pairs, seeds)
    ratio = (seeds - 1) * shares.var(ddof=1) / deviation(recall, pairs) ** 2
    assert 5.2 < ratio < 83.2, "chi square of 29 degrees of freedom, by Wilson and Hilferty"


def test_pairs_of_one_clump_are_found_together() -> None:
    """The variance is far beyond that of coins, and within the bound that holds for all."""
    shares, pairs = recalls_in_clumps(600, 12)
    mean, variance = float(shares.mean()), float(shares.var(ddof=0))
    assert mean - 0.5 > -4 * math.sqrt(variance / 12)
    assert variance > 3 * deviation(mean, pairs) ** 2
    assert variance <= deviation(mean, 1) ** 2


def test_a_low_recall_is_reported_with_its_spread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("in.npy", clumps(100))
    low, high = ("--by", "l2", "--within", "8", "--recall", "0.5"), ("--by", "l2", "--within", "8")
    said = run("dedup", "in.npy", *low, "-o", "out")
    assert said.exit_code == 0 and "is a mean over seeds, and all pairs of a run share one seed" in said.stderr
    report = json.loads(Path("out/report.json").read_text())
    recall = report["budget"]["recall"]
    assert report["spread"] == spread(0.5, recall, report["matched"])
    assert report["spread"]["at_most"] == pytest.approx(math.sqrt(recall * (1 - recall)), abs=1e-6)
    assert "is a mean over seeds" in Path("out/report.html").read_text()
    assert "mean over seeds" in run("pairs", "in.npy", *low).stderr
    assert lw.pairs(clumps(100), by="l2", within=8, recall=0.5).report["spread"]["recall"] == 0.5
    assert "mean over seeds" not in run("dedup", "in.npy", *high, "-o", "out2").stderr
    assert json.loads(Path("out2/report.json").read_text())["spread"] is None
    assert "mean over seeds" not in run("pairs", "in.npy", *high).stderr + Path("out2/report.html").read_text()
