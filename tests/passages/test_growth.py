"""Passages against a reference in plain Python, and the guarantee that every shared run lies in one."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

import likewise as lw
import passages_reference as reference
from likewise.items.pieces import fingerprints
from likewise.methods import Text

#: Few words, so that texts share much; and some more.
SETTINGS = [(4, 6, 5), (8, 12, 12), (3, 5, 2), (30, 8, 6), (2, 5, 3)]


def texts(rng: np.random.Generator, words: int, number: int, longest: int) -> list[str]:
    """Texts of random words, which have stretches of earlier ones, one word of them changed."""
    made: list[list[str]] = []
    for _ in range(number):
        text = [f"w{i}" for i in rng.integers(0, words, int(rng.integers(0, longest)))]
        if made and rng.random() < 0.7:
            source = made[int(rng.integers(len(made)))]
            begin = int(rng.integers(0, len(source) + 1))
            copied = source[begin : begin + int(rng.integers(1, 40))]
            if copied and rng.random() < 0.5:
                copied[int(rng.integers(len(copied)))] = "new"
            at = int(rng.integers(0, len(text) + 1))
            text[at:at] = copied
        made.append(text)
    return [" ".join(text) for text in made]


def prints(text: str, k: int) -> list[int]:
    words = text.split()
    return fingerprints([tuple(words[i : i + k]) for i in range(len(words) - k + 1)], Text("words", k, ()), 0) if len(words) >= k else []


def found_in(table: lw.Quotes, suspect: str, number: int, corpus: str, other: int) -> list[tuple[int, int, int, int, int]]:
    """The passages of two texts of words without marks, in words."""
    rows = [row for row in table if row["suspect"] == number and row["corpus"] == other]
    words = [
        (text[: row[f"{side}_start"]].count(" "), text[: row[f"{side}_end"]].count(" ") + 1)
        for row in rows
        for side, text in (("suspect", suspect), ("corpus", corpus))
    ]
    return sorted((*words[2 * i], *words[2 * i + 1], row["agreed"]) for i, row in enumerate(rows))


@pytest.mark.parametrize(("words", "run", "gap"), SETTINGS)
def test_passages_are_those_of_the_reference(words: int, run: int, gap: int) -> None:
    rng = np.random.default_rng(words)
    made = texts(rng, words, 16, 60)
    corpus, suspects = made[::2], made[1::2] + made[:4:2]
    table = lw.quotes(corpus, suspects, min_run=run, gap=gap, normalize="none")
    k = min(5, run)
    for number, suspect in enumerate(suspects):
        for other, text in enumerate(corpus):
            wanted = reference.passages(
                suspect.split(), text.split(), prints(suspect, k), prints(text, k), run=run, k=k, gap=gap, sync=min(3, run), threshold=Fraction(1, 2)
            )
            assert found_in(table, suspect, number, text, other) == wanted, (suspect, text)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("words", "run", "gap"), SETTINGS)
@pytest.mark.parametrize("threshold", [0.5, 0.95])
def test_every_shared_run_lies_in_a_passage(words: int, run: int, gap: int, seed: int, threshold: float, scaled: Callable) -> None:
    """Brute force over all pairs of places. No fingerprint has more places than are followed: there are few texts."""
    rng = np.random.default_rng(seed)
    made = texts(rng, words, scaled(40, 28), 60)
    corpus, suspects = made[::2], made[1::2]
    table = lw.quotes(corpus, suspects, min_run=run, gap=gap, threshold=threshold, normalize="none", seed=seed)
    common = table.report["common"]
    checked = 0
    for number, suspect in enumerate(suspects):
        for other, text in enumerate(corpus):
            found = found_in(table, suspect, number, text, other)
            assert all(agreed >= run for *_, agreed in found)
            for x, y, size in reference.runs(suspect.split(), text.split(), run):
                checked += 1
                assert any(a0 <= x and x + size <= a1 and b0 <= y and y + size <= b1 for a0, a1, b0, b1, _ in found), (x, y, size, suspect, text)
    assert checked
    assert not common["passages"] and not common["repeats_not_followed"]
    assert all(row["similarity"] >= threshold for row in table)


@pytest.mark.parametrize(("period", "edits"), [(7, 0), (13, 2), (20, 5)])
def test_passages_of_texts_that_repeat_themselves_are_those_of_the_reference(period: int, edits: int) -> None:
    """With few diagonals on which runs are long, so that their lengths are found by hashes."""
    rng = np.random.default_rng(period)
    words = [f"w{i}" for i in range(period)]
    suspect, text = ["x", *words * 12], [*words * 9, "y"]
    for side in (suspect, text):
        for at in rng.integers(0, len(side), edits).tolist():
            side[at] = "new"
    one, two = " ".join(suspect), " ".join(text)
    table = lw.quotes([two], [one], normalize="none")
    found = found_in(table, one, 0, two, 0)
    assert found == reference.passages(suspect, text, prints(one, 5), prints(two, 5), run=12, k=5, gap=12, sync=3, threshold=Fraction(1, 2))


def test_a_line_over_and_over() -> None:
    """Its runs lie on 30,000 diagonals and have up to 600,000 tokens: hours, if each is compared token by token."""
    line = " ".join(f"w{i}" for i in range(20)) + "\n"
    (row,) = lw.quotes([line * 30_000], [f"x {line * 30_000}"])
    assert (row["suspect_start"], row["agreed"]) == (2, 600_000)
