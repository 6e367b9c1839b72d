"""The processor time of `dedup` by options, as a ratio to the defaults, and what each finds. Documents are generated.

python benchmarks/knobs.py [DOCUMENTS]
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

import likewise as lw

#: Settings that are compared with the first, the defaults.
KNOBS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "threshold 0.9": {"threshold": 0.9},
    "threshold 0.6": {"threshold": 0.6},
    "threshold 0.5": {"threshold": 0.5},
    "recall 0.9": {"recall": 0.9},
    "recall 0.999": {"recall": 0.999},
    "words:2": {"by": "words:2"},
    "chars:9": {"by": "chars:9"},
    "normalize none": {"normalize": "none"},
    "normalize nfc,lower,accents,numbers": {"normalize": "nfc,lower,accents,numbers"},
    "sketch classic": {"sketch": "classic"},
    "verify estimate": {"verify": "estimate"},
    "verify none": {"verify": "none"},
    "exact": {"exact": True},
    "keep longest": {"keep": "longest"},
    "threads 1": {"threads": 1},
}


def documents(number: int) -> list[str]:
    """Texts of 200 words. A third repeat an earlier one with 0 to 24 other words."""
    draw = np.random.default_rng(0)
    rows = draw.integers(0, 50_000, (number, 200))
    for row in range(2, number, 3):
        rows[row] = rows[int(draw.integers(0, row))]
        changed = draw.integers(0, 200, int(draw.integers(0, 25)))
        rows[row, changed] = draw.integers(0, 50_000, len(changed))
    return [" ".join(f"word{word}" for word in row) for row in rows.tolist()]


def main(number: int) -> None:
    texts, base = documents(number), 0.0
    print("| option | processor time | removed | bands x rows |\n|---|---|---|---|")
    for name, options in KNOBS.items():
        took = []
        for _ in range(3):
            begin = time.process_time()
            removal = lw.dedup(texts, progress=False, **options)
            took.append(time.process_time() - begin)
        base = base or min(took)
        plan = removal.report["method"]["plan"]
        layout = f"{plan['bands']} x {plan['rows']}" if plan else "none"
        print(f"| {name} | {min(took) / base:.2f} | {removal.counts['removed']:,} | {layout} |", flush=True)


if __name__ == "__main__":
    main(int(next(iter(sys.argv[1:]), 20_000)))
