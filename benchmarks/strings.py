#!/usr/bin/env python3
"""Pairs and neighbors of synthetic names, against RapidFuzz alone over the same data.

    python benchmarks/strings.py [--names 10000] [--base 20000] [--queries 1000] [--rounds 3] [--json FILE]

Names have two words of two to four syllables each; a third are others with an edit. likewise finds all pairs above a threshold, and the nearest name
of each query, from Python lists to the result, on one thread. RapidFuzz computes all pairs with `cdist` and a cutoff, and the nearest
with `extractOne` and with `cdist`. Prints CPU seconds, medians of rounds in turn, their ratio, and the
recall and precision of likewise against RapidFuzz's values.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from rapidfuzz import process
from rapidfuzz.distance import Indel, JaroWinkler, Levenshtein

import contest
import likewise as lw

SYLLABLES = ["an", "bel", "cor", "dun", "el", "fra", "gor", "hil", "is", "jo", "ka", "lin", "mar", "nor", "os", "pe", "quin", "ro"]
SCORERS = {
    "levenshtein/ratio": Levenshtein.normalized_similarity,
    "edit/ratio": Indel.normalized_similarity,
    "jaro-winkler": JaroWinkler.similarity,
    "levenshtein": Levenshtein.distance,
    "edit": Indel.distance,
}
CASES = [(by, threshold) for by in ("levenshtein/ratio", "edit/ratio", "jaro-winkler") for threshold in (0.9, 0.8, 0.7)]
#: Rounding of values; how far the cutoff must be below the threshold, at which RapidFuzz would lose pairs; and queries of RapidFuzz at once.
ROUNDING, BELOW, ROWS = 1e-9, 1e-6, 500


def names(number: int, seed: int) -> list[str]:
    draw = np.random.default_rng(seed)
    made: list[str] = []
    for place in range(number):
        if place % 3 == 2:
            text, at = made[draw.integers(place)], draw.integers(0, 12)
            made.append(text[:at] + "xyz"[draw.integers(3)] + text[at + draw.integers(2) :])
        else:
            made.append(" ".join("".join(draw.choice(SYLLABLES, draw.integers(2, 5))) for _ in range(2)))
    return made


def timed(function: Callable[..., Any], *given: Any) -> tuple[float, Any]:
    begin = time.process_time()
    found = function(*given)
    return time.process_time() - begin, found


def all_pairs(texts: list[str], by: str, threshold: float) -> set[tuple[int, int]]:
    """RapidFuzz over all pairs, some rows at a time; exact copies are pairs, too."""
    found = set()
    for at in range(0, len(texts), ROWS):
        values = process.cdist(texts[at : at + ROWS], texts, scorer=SCORERS[by], score_cutoff=threshold - BELOW, dtype=np.float64)
        found |= {(at + a, b) for a, b in zip(*(side.tolist() for side in np.nonzero(values >= threshold - ROUNDING)), strict=True) if at + a < b}
    return found


def pairs(texts: list[str], by: str, threshold: float) -> set[tuple[int, int]]:
    table = lw.pairs(texts, by=by, threshold=threshold, threads=1).to_arrow()
    return set(zip(table["id_a"].to_pylist(), table["id_b"].to_pylist(), strict=True))


def best(base: list[str], queries: list[str], by: str) -> list[float]:
    """The best value of each query, by `cdist` over all pairs."""
    found: list[float] = []
    for at in range(0, len(queries), ROWS):
        values = process.cdist(queries[at : at + ROWS], base, scorer=SCORERS[by])
        found += (values.min(axis=1) if by in ("edit", "levenshtein") else values.max(axis=1)).tolist()
    return found


def nearest(base: list[str], queries: list[str], by: str) -> pa.Table:
    return lw.neighbors(base, query=queries, by=by, k=1, threads=1).to_arrow()


def extracted(base: list[str], queries: list[str], by: str) -> list[int]:
    """The nearest of each query, by `extractOne`."""
    return [process.extractOne(query, base, scorer=SCORERS[by])[2] for query in queries]


def report(name: str, ours: list[float], peers: dict[str, list[float]], quality: str, figures: dict[str, float]) -> list[dict[str, Any]]:
    """Print a line of the table; return its rows."""
    mine = statistics.median(ours)
    rows = [{"case": name, "contender": "likewise", "cpu": mine, **figures}]
    rows += [{"case": name, "contender": f"RapidFuzz {peer}", "cpu": statistics.median(taken)} for peer, taken in peers.items()]
    others = ", ".join(f"{row['contender']} {row['cpu']:.2f} s (x{row['cpu'] / mine:.1f})" for row in rows[1:])
    print(f"{name:30} likewise {mine:.2f} s, {others}; {quality}", flush=True)
    return rows


def main() -> None:
    parser = contest.arguments(__doc__)
    for name, number in {"names": 10_000, "base": 20_000, "queries": 1_000}.items():
        parser.add_argument(f"--{name}", type=int, default=number)
    given = parser.parse_args()
    texts, rows = names(given.names, 1), []
    for by, threshold in CASES:
        pairs(texts, by, threshold)  # not counted: compiles kernels
        rounds = [(timed(pairs, texts, by, threshold), timed(all_pairs, texts, by, threshold)) for _ in range(given.rounds)]
        ours, truth = rounds[0][0][1], rounds[0][1][1]
        figures = {"recall": len(ours & truth) / len(truth), "precision": len(ours & truth) / len(ours)}
        quality = f"{len(truth):,} pairs, recall {figures['recall']:.4f}, precision {figures['precision']:.4f}"
        rows += report(f"pairs by {by} {threshold}", [one[0] for one, _ in rounds], {"cdist": [other[0] for _, other in rounds]}, quality, figures)
    base, queries = names(given.base, 2), names(given.queries, 3)
    for by in SCORERS:
        nearest(base[:300], queries[:10], by)
        rounds = [tuple(timed(function, base, queries, by) for function in (nearest, extracted, best)) for _ in range(given.rounds)]
        (_, table), (_, items), _ = rounds[0]
        right = float(np.mean(np.array(items) == table["id_b"].to_numpy()) if len(table) == len(queries) else float("nan"))
        peers = {"extractOne": [two[0] for _, two, _ in rounds], "cdist": [three[0] for _, _, three in rounds]}
        rows += report(f"nearest by {by}", [one[0] for one, _, _ in rounds], peers, f"the same name for {right:.2%} of the queries", {"same": right})
    contest.keep(rows, given.json)


if __name__ == "__main__":
    main()
