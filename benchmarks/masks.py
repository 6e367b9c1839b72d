#!/usr/bin/env python3
"""The cost of masks and regular expressions: megabytes of text normalized in a second, beside no step, `lower` and `digits`.

    python benchmarks/masks.py [--rounds 5] [--json FILE]

Processor time of one thread, in memory; each value is the median of the rounds. Log lines are made up from templates: an ISO time, addresses, UUIDs,
hexadecimal and decimal numbers. Prose is the documentation of this project, repeated. ``whole`` is the rate of normalizing, cutting and hashing into
shingles of five words.
"""

from __future__ import annotations

import random
import statistics
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

import contest
from likewise import methods
from likewise.items.documents import shingler
from likewise.items.normalized import normalizer

STEPS = ("none", "lower", "digits", "numbers", "masks", "header,masks", "re:[0-9]+")
TEMPLATES = (
    "2024-05-01 10:{m:02}:{m:02},123 Failed to connect to {ip} after {n} ms (request {u})",
    "User {u} logged in from {ip}",
    "Disk usage at {n} percent on host web-{n}",
    "GC pause {n}s heap 0x{h:x} -> 0x{h:x}",
)


def lines(number: int) -> list[str]:
    draw = random.Random(0)
    return [
        TEMPLATES[i % 4].format(
            m=i % 60,
            ip=".".join(str(draw.randrange(256)) for _ in range(4)),
            n=draw.randrange(10_000),
            u=uuid.UUID(int=draw.getrandbits(128)),
            h=draw.getrandbits(44),
        )
        for i in range(number)
    ]


def prose(megabytes: int) -> list[str]:
    pages = [page.read_text() for page in sorted((Path(__file__).parent.parent / "docs").rglob("*.md"))]
    return pages * (megabytes * 1_000_000 // sum(map(len, pages)))


def rate(work: Callable[..., object], texts: pa.LargeBinaryArray, rounds: int) -> float:
    """Megabytes a second, the median of rounds."""
    live = np.ones(len(texts), bool)
    work(texts[:10], live[:10])
    seconds = []
    for _ in range(rounds):
        begun = time.thread_time()
        work(texts, live)
        seconds.append(time.thread_time() - begun)
    return texts.nbytes / statistics.median(seconds) / 1e6


def main() -> None:
    given = contest.arguments(__doc__, 5).parse_args()
    table = []
    for name, made in (("log lines", lines(200_000)), ("prose", prose(20))):
        texts = pa.array([text.encode() for text in made], pa.large_binary())
        for steps in STEPS:
            alone = rate(normalizer(methods.steps(steps)), texts, given.rounds)
            whole = rate(shingler(methods.text("words:5", steps), 0), texts, given.rounds)
            table.append({"texts": name, "steps": steps, "alone": alone, "whole": whole})
        floor = {row["steps"]: row["alone"] for row in table if row["texts"] == name}
        for row in table[-len(STEPS) :]:
            row |= {"times digits": floor["digits"] / row["alone"], "times none": floor["none"] / row["alone"]}
            print(*(f"{value:.3g}" if isinstance(value, float) else value for value in row.values()), sep="\t", flush=True)
    contest.keep(table, given.json)


if __name__ == "__main__":
    main()
