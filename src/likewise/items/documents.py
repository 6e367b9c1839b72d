"""Texts as sets of shingles: normalize, cut into tokens, and fingerprint each k consecutive tokens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from likewise.errors import UsageError
from likewise.items import tables
from likewise.items.ignored import NOTHING, Ignored
from likewise.items.masks import parts
from likewise.items.normalize import normalize
from likewise.items.normalized import normalizer
from likewise.items.stopwords import STOP_WORDS
from likewise.items.tokens import IN_LINES, token_texts
from likewise.kernels import shingles
from likewise.kernels.digest import KEYS
from likewise.kernels.hashing import derive
from likewise.messages import option
from likewise.methods import Text

__all__ = ["Shingled", "shingler", "token_texts"]

UNITS = {
    "words": shingles.WORDS,
    "whitespace": shingles.WHITESPACE,
    "chars": shingles.CHARS,
    "lines": shingles.LINES,
    "paragraphs": shingles.PARAGRAPHS,
    "stopwords": shingles.STOPWORDS,
    "bytes": shingles.BYTES,
    "code": shingles.CODE,
    "tokens": shingles.IDS,
}

#: Streams of constants derived from the seed (kernels.hashing.derive).
BYTE_KEYS, PLACE_FACTORS = np.uint64(0x7E87_0001), np.uint64(0x7E87_0002)


#: Bytes of memory for each byte of a text while it is read, normalized and cut; for each token; and for each token that is a character, without begin
#: and end.
TEXT_COPIES, TOKEN_BYTES, CHARACTER_BYTES = 4, 44, 28
COUNTED_BYTES = 1 << 20
WORD_BYTES = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"


@dataclass
class Shingled:
    """Texts as sets: item i has the fingerprints values[offsets[i] : offsets[i + 1]]."""

    tokens: np.ndarray  # uint32[n]
    chars: np.ndarray  # uint32[n]: code points of the text as read; the number of ids if tokens are ids
    copy: np.ndarray  # uint64[n, 2]: 128-bit hash of the normalized text
    offsets: np.ndarray  # int64[n + 1]
    values: np.ndarray  # uint64[offsets[n]], ascending and distinct within an item
    numbers: np.ndarray  # uint32[n, 2]: shingles with repeats, all and ignored ones


def shingler(method: Text, seed: int, ignored: Ignored = NOTHING) -> Callable[[pa.LargeBinaryArray, np.ndarray], Shingled]:
    """A function (texts, bool[n]: which to read) -> Shingled; skipped texts are empty. Threads may share it.

    ignored: shingles that are left out, made by the same unit, k, normalization and seed without ``bag``; of bags, all their repeats.

    Raises UsageError for token ids with steps of normalization.
    """
    if method.unit == "tokens" and method.normalize:
        raise UsageError(f"{option('normalize', ','.join(method.normalize))}: token ids cannot be normalized; leave it out or give none")
    normalized = normalizer(method.normalize, in_lines=method.unit in IN_LINES)
    classes = tables.classes(method.unit, method.signs)
    seed64 = np.uint64(seed & 0xFFFF_FFFF_FFFF_FFFF)
    keys, factors = derive(seed64, BYTE_KEYS, KEYS), derive(seed64, PLACE_FACTORS, method.k + 2)
    stops = stop_table(method, seed) if method.unit == "stopwords" else np.zeros(0, np.uint64)

    def shingle(texts: pa.LargeBinaryArray, live: np.ndarray) -> Shingled:
        out, start, length, chars, _ = normalized(texts, live)
        if method.unit == "tokens":
            chars = (length // 8).astype(np.uint32)
        values = np.empty(int(length.sum()), np.uint64)  # room for a shingle a byte: untouched memory costs nothing
        unit = UNITS[method.unit]
        made = shingles.shingle(out, start, length, unit, method.k, method.bag, classes, keys, factors, stops, *ignored, values)
        counts, copy, offsets, numbers = made
        values.resize(offsets[-1], refcheck=False)  # returns the rest in place
        return Shingled(counts, chars, copy, offsets, values, numbers)

    return shingle


def memory_of(data: np.ndarray, method: Text) -> int:
    """Estimated bytes of memory for reading a text, uint8[n], normalizing it and cutting it into tokens."""
    unit, copies = method.unit, TEXT_COPIES + parts(method.normalize).copies
    if unit in ("chars", "bytes"):
        return (copies + CHARACTER_BYTES) * len(data)
    if unit == "tokens":
        return (copies + TOKEN_BYTES // 8) * len(data)
    begins = np.zeros(256, bool)  # their number approximates that of tokens: separators of words, and first bytes of letters that may be words
    begins[list(b"\r\n" if unit in IN_LINES else bytes(set(range(128)) - set(WORD_BYTES)))] = True
    begins[0xE0:] = unit not in IN_LINES
    tokens = sum(int(np.count_nonzero(begins[data[at : at + COUNTED_BYTES]])) for at in range(0, len(data), COUNTED_BYTES))
    return copies * len(data) + TOKEN_BYTES * (tokens + 1)


def stop_table(method: Text, seed: int) -> np.ndarray:
    """The fingerprints of the stop words as one-word shingles, in the hash table of kernels.shingles.is_stop: uint64[STOP_SLOTS]."""
    words = sorted({normalize(word, method.normalize) for word in STOP_WORDS.split()})
    alone = shingler(Text("words", 1, ()), seed)(pa.array([word.encode() for word in words], pa.large_binary()), np.ones(len(words), bool))
    stops = np.zeros(shingles.STOP_SLOTS, np.uint64)
    for value in np.unique(alone.values):
        slot = int(value) >> 54
        while stops[slot]:
            slot = (slot + 1) % shingles.STOP_SLOTS
        stops[slot] = value
    return stops
