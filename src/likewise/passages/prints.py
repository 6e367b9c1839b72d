"""Texts as hashed tokens, and their fingerprints."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from likewise.items import tables
from likewise.items.documents import BYTE_KEYS, PLACE_FACTORS, UNITS
from likewise.items.normalized import normalizer
from likewise.items.tokens import IN_LINES
from likewise.kernels import winnow as kernels
from likewise.kernels.digest import KEYS
from likewise.kernels.hashing import derive
from likewise.passages.search import Search

#: In place of the hashes of ignored tokens in suspects and in the corpus: they are equal to nothing.
SUSPECT, CORPUS = np.uint64(2**64 - 1), np.uint64(2**64 - 2)


class Tokens(NamedTuple):
    """Text i has the tokens hashes[offsets[i] : offsets[i + 1]]."""

    hashes: np.ndarray  # uint64[m]
    offsets: np.ndarray  # int64[n + 1]


class Prints(NamedTuple):
    """Text i has the next counts[i] fingerprints."""

    counts: np.ndarray  # uint32[n]
    keys: np.ndarray  # uint64[m]
    tokens: np.ndarray  # uint32[m]: the token at which each begins, ascending in a text


def hasher(search: Search) -> Callable[[pa.LargeBinaryArray, np.ndarray], tuple[Tokens, np.ndarray]]:
    """A function (texts, bool[n]: which to read) -> (Tokens, code points of each text as read or ids, uint32[n]). Threads may share it."""
    method = search.method
    normalized = normalizer(method.normalize, in_lines=method.unit in IN_LINES)
    classes, keys = tables.classes(method.unit, method.signs), derive(np.uint64(search.seed), BYTE_KEYS, KEYS)

    def hashed(texts: pa.LargeBinaryArray, live: np.ndarray) -> tuple[Tokens, np.ndarray]:
        data, start, length, chars = normalized(texts, live)[:4]
        hashes = np.empty(int(length.sum()), np.uint64)
        offsets = kernels.hash_tokens(data, start, length, UNITS[method.unit], classes, keys, hashes)
        hashes.resize(offsets[-1], refcheck=False)
        return Tokens(hashes, offsets), (length // 8).astype(np.uint32) if method.unit == "tokens" else chars

    return hashed


def masker(search: Search, mark: np.uint64) -> Callable[[Tokens], None]:
    """A function that replaces ignored tokens by ``mark``, in place.

    Ignored are stretches of at least ``search.run`` tokens all of whose shingles are ignored: a few common words in a row are not.
    """
    factors = derive(np.uint64(search.seed), PLACE_FACTORS, search.k + 2)

    def masked(tokens: Tokens) -> None:
        if len(search.ignored.words):
            kernels.mask(tokens.hashes, tokens.offsets, search.k, factors, *search.ignored, search.run, mark)

    return masked


def winnower(search: Search, mark: np.uint64) -> Callable[[Tokens], Prints]:
    """A function that finds the fingerprints of texts: no k-gram with a token that is ``mark``."""
    factors = derive(np.uint64(search.seed), PLACE_FACTORS, search.k + 2)

    def winnowed(tokens: Tokens) -> Prints:
        keys, at = np.empty(len(tokens.hashes), np.uint64), np.empty(len(tokens.hashes), np.uint32)
        counts = kernels.winnow(tokens.hashes, tokens.offsets, search.k, search.window, factors, mark, keys, at)
        found = int(counts.sum(dtype=np.int64))
        keys.resize(found, refcheck=False)
        at.resize(found, refcheck=False)
        return Prints(counts, keys, at)

    return winnowed
