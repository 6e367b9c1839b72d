"""Removal of repeated lines and paragraphs beside a slow reference, and by hand."""

from __future__ import annotations

import random
import re
from itertools import product
from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.io.splice import without
from likewise.items import binary
from likewise.items.units import split
from likewise.kernels.units import outcomes

ENDS = ["\n", "\r\n", "\r"]


def lines(text: str) -> list[str]:
    """The lines of a text with their ends."""
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text with the blank lines after them; blank lines at the beginning are one by themselves."""
    found: list[str] = []
    blank = True
    for line in lines(text):
        if not found or (blank and line.strip()):
            found.append("")
        found[-1] += line
        blank = not line.strip()
    return found


CUT = {"line": lines, "paragraph": paragraphs}


def text_of(rng: random.Random) -> str:
    pieces = ["a b", "A  b!", "c", "-", " \t", "\u00a0", "d e f", "東", "é", "x\ud800"]
    return "".join(rng.choice([*pieces, "\n", "\n", "\n\n", "\r\n", "\r", "\n \n"]) for _ in range(rng.randint(0, 12)))


@pytest.mark.parametrize("level", CUT)
def test_units_are_those_of_a_slow_reference(level: str) -> None:
    rng = random.Random(0)
    texts = [text_of(rng) for _ in range(3000)] + [" ".join(["word"] * 50) + "\n" + "é" * 70 + "\r\n" * 3 + "end", "\n" * 100, "\r\r\n\n\r"]
    raw = [text.encode("utf-8", "surrogatepass") for text in texts]
    found = split(binary.from_list(raw)[5:], level)
    wanted = [CUT[level](text) for text in texts[5:]]
    assert found.number.tolist() == list(map(len, wanted))
    units = [unit for some in wanted for unit in some]
    assert found.size.tolist() == [len(unit.encode("utf-8", "surrogatepass")) for unit in units]
    assert found.chars.tolist() == list(map(len, units))
    content = [re.sub(r"(\r\n|\r|\n)$", "", unit) if level == "line" else re.sub(r"([\r\n]\s*)$", "", unit) for unit in units]
    if level == "paragraph":
        content = ["" if not unit.strip() else text for unit, text in zip(units, content, strict=True)]
    assert [text.decode("utf-8", "surrogatepass") for text in found.text.to_pylist()] == content


def words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", text.lower()))


def removed(texts: list[str], level: str, order: list[int], least: int, few: int) -> tuple[list[str | None], list[tuple[int, int, int]]]:
    """(text of each document, or None where it is dropped; parts cut out, as document, begin and end) by one pass over the documents."""
    seen: set[tuple[str, ...]] = set()
    left: list[str | None] = list(texts)
    cut = []
    for number in order:
        units = CUT[level](texts[number])
        known = [len(words(unit)) > max(few - 1, 0) and words(unit) in seen | {words(one) for one in units[:at]} for at, unit in enumerate(units)]
        stays = [unit for unit, gone in zip(units, known, strict=True) if not gone]
        if any(known) and sum(map(len, map(words, stays))) < least:
            left[number] = None
            continue
        seen |= set(map(words, stays))
        left[number] = "".join(stays)
        ends = np.cumsum([0, *map(len, units)]).tolist()
        cut += [(number, ends[at], ends[at + 1]) for at, gone in enumerate(known) if gone]
    return left, sorted(cut)


def documents(rng: random.Random, n: int) -> list[str]:
    stock = [" ".join(rng.choices("abcdefgh", k=rng.choice([1, 2, 3, 6]))) for _ in range(25)]
    made = []
    for _ in range(n):
        units = [rng.choice([str.upper, str, lambda text: text.replace(" ", ", ")])(rng.choice(stock)) for _ in range(rng.randint(0, 5))]
        made.append("".join(unit + rng.choice([*ENDS, "\n\n", "\n\n\n"]) for unit in units))
        made[-1] = made[-1].rstrip("\r\n") if rng.random() < 0.5 else made[-1]
    return made


@pytest.mark.parametrize(("level", "keep"), [*product(CUT, ["first", "last", "longest"])])
@pytest.mark.parametrize("seed", range(4))
def test_removal_is_that_of_one_pass_in_keep_order(level: str, keep: str, seed: int) -> None:
    rng = random.Random(seed)
    texts = documents(rng, rng.choice([5, 60]))
    order = sorted(range(len(texts)), key={"first": lambda i: i, "last": lambda i: -i, "longest": lambda i: (-len(texts[i]), i)}[keep])
    for least, few in ((0, 0), (1, 0), (4, 0), (3, 2)):
        found = lw.dedup(texts, level=level, keep=keep, min_left=least, min_tokens=few, by="words:6")
        left, cut = removed(texts, level, order, least, few)
        kept = [text for text in left if text is not None]
        assert found.kept["text"].tolist() == kept
        stays = {number for number, text in enumerate(left) if text is not None}
        rows = [(row["position"], row["start"], row["end"]) for row in found.removed.to_dicts() if row["position"] in stays]
        assert rows == cut
        counts, units = found.report["counts"], found.report["units"]
        assert counts["kept"] + counts["removed"] == counts["read"] == len(texts)
        assert units["kept"] + units["removed"] + units["dropped"] == units["read"] == sum(len(CUT[level](text)) for text in texts)
        assert units["characters"]["read"] == sum(map(len, texts))
        assert units["characters"]["kept"] == sum(map(len, found.kept["text"].tolist()))


def test_outcomes_by_hand() -> None:
    # four documents of two units of 3 tokens; the second unit of each is a copy of the first document's
    first, document = np.array([0, 2, 4, 6, 8]), np.repeat(np.arange(4), 2)
    tokens, copy_of = np.full(8, 3, np.uint32), np.array([0, 1, 2, 1, 4, 1, 6, 1])
    kept: Any = np.array([-1, -1, -1, 1, -1, 1, -1, 1])
    dropped, left, where = outcomes(np.arange(4), first, tokens, document, copy_of, kept, 1)
    assert dropped.tolist() == [False] * 4 and left.tolist() == [6, 3, 3, 3] and where.tolist() == kept.tolist()
    dropped, _, where = outcomes(np.arange(4), first, tokens, document, copy_of, kept, 4)
    assert dropped.tolist() == [False, True, True, True] and where.tolist() == kept.tolist()
    # the first document loses its first unit to itself and is dropped: the next copy stays, and stands for the others
    kept = np.array([-1, 0, -1, 0, -1, 0, -1, 0])
    copy_of = np.array([0, 0, 2, 0, 4, 0, 6, 0])
    dropped, left, where = outcomes(np.arange(4), first, tokens, document, copy_of, kept, 4)
    assert dropped.tolist() == [True, False, True, True] and left.tolist() == [3, 6, 3, 3]
    assert where.tolist() == [-1, -1, -1, -1, -1, 3, -1, 3]


def test_ranges_without_parts_are_those_of_a_slow_reference() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        edges = np.sort(rng.choice(200, 8, replace=False))
        begin, end = edges[0::2], edges[1::2]
        kept = np.zeros(200, bool)
        parts = []
        for a, b in zip(begin, end, strict=True):
            kept[a:b] = True
            some = np.sort(rng.integers(a, b + 1, 4))
            parts += [(some[0], some[1]), (some[2], some[3])]
        for a, b in parts:
            kept[a:b] = False
        found = without(begin, end, *np.array(parts).T)
        again = np.zeros(200, bool)
        for a, b in zip(found.begin, found.end, strict=True):
            assert a <= b
            again[a:b] = True
        assert (again == kept).all() and found.opens.sum() == 4


def test_similar_lines() -> None:
    base = [f"w{i}" for i in range(30)]
    near = [*base[:29], "x"]
    far = [*base[:15], *(f"y{i}" for i in range(15))]
    texts = [" ".join(base) + "\n", "other words\n" + " ".join(near) + "\n" + " ".join(far)]
    found = lw.dedup(texts, level="line", by="words:1", threshold=0.9)
    assert found.kept["text"].tolist() == [texts[0], "other words\n" + " ".join(far)]
    [row] = found.removed.to_dicts()
    assert row["reason"] == "near" and row["similarity"] == 29 / 31 and (row["start"], row["end"]) == (12, 12 + len(" ".join(near)) + 1)
    assert lw.dedup(texts, level="line", by="words:1").report["units"]["removed"] == 0
