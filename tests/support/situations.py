"""Texts, records and folder contents that broke other tools."""

from __future__ import annotations

import json
import random
from pathlib import Path


def text(seed: int, n: int = 30) -> str:
    draw = random.Random(seed)
    return " ".join("".join(draw.choices("abcdefghijklmnop", k=7)) for _ in range(n))


def near(seed: int) -> str:
    """The text with its last word changed: the two share 25 of 27 shingles of 5 words."""
    return " ".join([*text(seed).split()[:-1], "zz"])


def jsonl(rows: list) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def everything(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
