"""Sketched rows as an index keeps them: with fewer bits of band keys, copies and, on request, words, and with groups in keys and copies."""

from __future__ import annotations

import numpy as np

from likewise.stages.candidates import keyed

#: The bits of a band's key that an index keeps: a bucket of 2^24 items then holds one by chance in 2^24 looks, and each is compared.
KEY_BITS = 48
#: The bits of the second word of a copy that it keeps: 96 bits identify an item.
COPY_BITS = 32


def keys_kept(keys: np.ndarray, per: np.ndarray | None) -> np.ndarray:
    """Band keys, uint64[bands, n], which only rows of one group share. per: uint64[n], the words of groups; None without groups."""
    return (keys if per is None else keyed(keys, per)) >> np.uint64(64 - KEY_BITS)


def copies_kept(copy: np.ndarray, per: np.ndarray | None) -> np.ndarray:
    """Copies, uint64[n, 2], which only rows of one group are of each other. per: as in `keys_kept`."""
    return (copy if per is None else keyed(copy, per[:, np.newaxis])) >> np.array([0, 64 - COPY_BITS], np.uint64)


def words_kept(words: np.ndarray, bits: int) -> np.ndarray:
    """Words, uint64[m], with their upper bits only."""
    return words & np.uint64(2**64 - 2 ** (64 - bits)) if bits < 64 else words
