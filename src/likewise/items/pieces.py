"""The shingles of one text as people read them, and their fingerprints. For display, and for tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from likewise.items.documents import shingler
from likewise.items.stopwords import STOP_WORDS
from likewise.items.tokens import token_texts
from likewise.methods import Text

#: Text between the tokens of a shingle, so that it is cut into the same tokens again; for other units a space.
BETWEEN = {"lines": "\n", "paragraphs": "\n\n", "chars": "", "bytes": ""}


def runs(text: str, method: Text) -> list[tuple[str, ...]]:
    """The shingles of a text in order, each as its tokens. Fewer than k tokens are one shingle; no token is none. Token ids are digits."""
    tokens, k = text.split() if method.unit == "tokens" else token_texts(text, method), method.length
    begins: Sequence[int] = range(len(tokens) - k + 1)
    if method.unit == "stopwords":
        stops = set(STOP_WORDS.split())
        begins = [begin for begin in begins if tokens[begin] in stops]
    return [tuple(tokens[begin : begin + k]) for begin in begins] or [tuple(tokens)] * bool(tokens)


def joined(run: Sequence[str], method: Text) -> str:
    """Consecutive tokens as one string."""
    return BETWEEN.get(method.unit, " ").join(run)


def fingerprints(found: Sequence[Sequence[str]], method: Text, seed: int) -> list[int]:
    """The 64-bit numbers that stand for these `runs` in sets; 0 for one that is not a single shingle by itself."""
    alone = replace(method, normalize=(), bag=False, containment=False)  # the tokens are normalized
    made = shingler(alone, seed)(pa.array([_payload(run, method) for run in found], pa.large_binary()), np.ones(len(found), bool))
    single = np.diff(made.offsets) == 1
    numbers = np.zeros(len(found), np.uint64)
    numbers[single] = made.values[made.offsets[:-1][single]]
    return [int(number) for number in numbers]


def _payload(run: Sequence[str], method: Text) -> Any:
    """The payload of a text of these tokens."""
    if method.unit == "tokens":
        return np.array(run, "<i8").tobytes()
    text = joined(run, method)
    return bytes.fromhex(text) if method.unit == "bytes" else text.encode("utf-8", "surrogatepass")
