"""Arithmetic for the reference implementations of several kernels, in Python integers."""

from __future__ import annotations

WORD = 2**64 - 1


def mix(x: int) -> int:
    """MurmurHash3's fmix64."""
    x ^= x >> 33
    x = x * 0xFF51AFD7ED558CCD & WORD
    x ^= x >> 33
    x = x * 0xC4CEB9FE1A85EC53 & WORD
    return x ^ x >> 33


def folded(a: int, b: int) -> int:
    """The XOR of the halves of a 128-bit product."""
    return a * b >> 64 ^ a * b & WORD
