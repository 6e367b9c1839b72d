#!/usr/bin/env python3
"""Exact joins of synthetic data that are hard for prefix filters: baskets of few products, names with a common prefix; default and --exact.

    python benchmarks/hard_joins.py [--items 100000] [--rounds 3] [--only NAME ...]

Prints the median CPU seconds and the result of each case. Data are in memory before the clock starts. An uncounted run on 2,000
items compiles the kernels.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import likewise

#: Items of the uncounted run.
FEW = 2000


def baskets(items: int) -> list[list[int]]:
    """15 different products of 1,000, whose shares fall as 1/rank."""
    draw, shares = np.random.default_rng(1), np.log(np.arange(1, 1001))
    return [np.argpartition(shares - draw.gumbel(size=1000), 15)[:15].tolist() for _ in range(items)]


def names(items: int) -> list[str]:
    """Half of them "unknown", half "unknown" with a number."""
    return ["unknown"] * (items // 2) + [f"unknown{number}" for number in range(items // 2)]


def sets(items: int) -> list[set[int]]:
    """30 elements of a million each; a tenth are copies of others with two elements replaced."""
    draw = np.random.default_rng(2)
    made = [set(row.tolist()) for row in draw.integers(0, 10**6, (items * 9 // 10, 30))]
    return made + [{*sorted(made[place])[2:], 10**6 + place, 2 * 10**6 + place} for place in range(items // 10)]


def pairs(data: Any, **choices: Any) -> str:
    return f"{len(likewise.pairs(data, by='elements', **choices)):,} pairs"


def kept(data: Any, within: int) -> str:
    return f"{len(likewise.dedup(data, by='levenshtein', within=within).kept):,} kept"


Case = tuple[Callable[[int], Any], Callable[[Any], str]]
CASES: dict[str, Case] = {
    "baskets at 0.5": (baskets, lambda data: pairs(data, threshold=0.5)),
    "baskets at 0.5, exact": (baskets, lambda data: pairs(data, threshold=0.5, exact=True)),
    "names within 1": (names, lambda data: kept(data, 1)),
    "names within 2": (names, lambda data: kept(data, 2)),
    "sets at 0.7": (sets, lambda data: pairs(data, threshold=0.7)),
    "sets at 0.7, exact": (sets, lambda data: pairs(data, threshold=0.7, exact=True)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES))
    given = parser.parse_args()
    taken: dict[str, list[float]] = {name: [] for name in given.only}
    found: dict[str, str] = {}
    for name in given.only:
        CASES[name][1](CASES[name][0](FEW))
    for _ in range(given.rounds):  # in turn, so changes of the machine's speed affect all
        for name in given.only:
            data = CASES[name][0](given.items)
            begin = time.process_time()
            found[name] = CASES[name][1](data)
            taken[name].append(time.process_time() - begin)
    for name in given.only:
        print(f"{name:24}{statistics.median(taken[name]):8.2f} s of processors   {found[name]}")


if __name__ == "__main__":
    main()
