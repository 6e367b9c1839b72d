"""Elements of sets as 64-bit words, keyed by the seed: distinct as far as 64 bits allow, from any file or column.

An integer has one word, however it is stored: int64 5 and uint8 5 are one element; -1 and 2^64 - 1 are two, and so are 7 and "7".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from likewise.kernels.digest import KEYS
from likewise.kernels.elements import hash_strings, mix_integers
from likewise.kernels.hashing import derive

#: Stream of constants derived from the seed (kernels.hashing.derive).
ELEMENT_KEYS = np.uint64(0xE1E3_0001)
SPARE = 8  # bytes after a text that kernels.digest may read
#: A float with an integer value, which pandas writes in columns with missing ids; float64 is exact for integers of this many digits.
WHOLE = r"^-?[0-9]{1,15}\.0$"

Words = NDArray[np.uint64]


def is_word(number: Any) -> bool:
    """True for an integer from -2^63 to 2^64 - 1.

    ``in range`` would search value by value for types other than int, such as numpy's.
    """
    return bool(-(2**63) <= number < 2**64)


def without_fractions(texts: pa.LargeBinaryArray) -> pa.LargeBinaryArray:
    """JSON texts with 1 in place of 1.0, and 0 in place of -0.0: both forms name one item or group."""
    if not pc.any(pc.ends_with(texts, b".0")).as_py():
        return texts
    texts = pc.replace_substring_regex(texts, r"^-0\.0$", "0.0")
    return pc.if_else(pc.match_substring_regex(texts, WHOLE), pc.replace_substring(texts, ".0", ""), texts)


class Hasher:
    """Maps elements to words. Threads may share it. own: a 64-bit integer is its own word, and -1 equals 2^64 - 1."""

    def __init__(self, seed: int, *, own: bool = False):
        self.own = own
        *self.keys, self.plain, self.negative, self.string, self.large = derive(np.uint64(seed & 0xFFFF_FFFF_FFFF_FFFF), ELEMENT_KEYS, KEYS + 4)
        self.keys = np.array(self.keys)

    def integers(self, values: NDArray[np.integer]) -> Words:
        """Words of integers of any width: uint64[n]."""
        signed = values.dtype.kind == "i"
        bits = np.ascontiguousarray(values, np.int64 if signed else np.uint64).view(np.uint64)
        if self.own:
            return bits
        bits.flags.writeable = False  # one array type for the kernel
        return mix_integers(bits, signed, self.plain, self.negative)

    def strings(self, values: pa.LargeBinaryArray) -> Words:
        """Words of UTF-8 strings (or any other bytes): uint64[n]; the word of a null is arbitrary."""
        return self._hashed(values, self.string)

    def _hashed(self, values: pa.LargeBinaryArray, key: np.uint64) -> Words:
        """Words of byte strings: uint64[n]. key: separates one type of strings from another."""
        if not len(values):
            return np.zeros(0, np.uint64)
        _, ends, raw = values.buffers()
        offsets = np.frombuffer(ends, np.int64, len(values) + 1, values.offset * 8)
        used = np.frombuffer(raw or b"", np.uint8)[offsets[0] : offsets[-1]]
        return hash_strings(np.concatenate((used, np.zeros(SPARE, np.uint8))), offsets - offsets[0], self.keys, key)

    def listed(self, elements: Sequence[int | str]) -> Words:
        """Words of Python's int and str, in any mix and of any size: uint64[n]."""
        kinds = set(map(type, elements))
        if kinds == {str}:
            return self.strings(encoded(elements))  # type: ignore[arg-type]
        if kinds <= {int}:
            try:
                return self.integers(np.fromiter(elements, np.int64, len(elements)))
            except OverflowError:
                pass
        out = np.empty(len(elements), np.uint64)
        strings = [i for i, element in enumerate(elements) if isinstance(element, str)]
        words = [i for i, element in enumerate(elements) if not isinstance(element, str) and is_word(element)]
        large = [i for i, element in enumerate(elements) if not isinstance(element, str) and not is_word(element)]
        out[strings] = self.strings(encoded([elements[i] for i in strings]))  # type: ignore[misc]
        values = np.array([int(elements[i]) & 0xFFFF_FFFF_FFFF_FFFF for i in words], np.uint64)
        below = np.array([int(elements[i]) < 0 for i in words])
        out[words] = np.where(below, self.integers(values.view(np.int64)), self.integers(values)) if words else 0
        out[large] = self._hashed(encoded([f"{elements[i]:x}" for i in large]), self.large)
        return out


def encoded(strings: Sequence[str]) -> pa.LargeBinaryArray:
    """Strings as UTF-8; a lone surrogate takes three bytes."""
    try:
        return pa.array(strings, pa.large_string()).cast(pa.large_binary())
    except UnicodeEncodeError:
        return pa.array([string.encode("utf-8", "surrogatepass") for string in strings], pa.large_binary())
