"""Decoding and encoding of one UTF-8 character. Lone surrogates take three bytes like their neighbors.

The caller guarantees that the bytes are whole characters, as the readers do.
"""

from __future__ import annotations

import numpy as np

from likewise.kernels.blocks import always

LAST = np.uint32(0x10FFFF)


@always
def decode(data, at):
    """The code point at ``at``, uint32, and the number of its bytes."""
    lead = np.uint32(data[at])
    if lead < 0x80:
        return lead, 1
    second = np.uint32(data[at + 1]) & np.uint32(0x3F)
    if lead < 0xE0:
        return (lead & np.uint32(0x1F)) << np.uint32(6) | second, 2
    third = np.uint32(data[at + 2]) & np.uint32(0x3F)
    if lead < 0xF0:
        return (lead & np.uint32(0x0F)) << np.uint32(12) | second << np.uint32(6) | third, 3
    code = (lead & np.uint32(0x07)) << np.uint32(18) | second << np.uint32(12) | third << np.uint32(6) | np.uint32(data[at + 3]) & np.uint32(0x3F)
    return min(code, LAST), 4


@always
def encode(code, out, to):
    """Write a code point to out[to:] and return the index after it."""
    if code < 0x80:
        out[to] = code
        return to + 1
    last = np.uint32(0x80) | code & np.uint32(0x3F)
    if code < 0x800:
        out[to] = np.uint32(0xC0) | code >> np.uint32(6)
        out[to + 1] = last
        return to + 2
    middle = np.uint32(0x80) | code >> np.uint32(6) & np.uint32(0x3F)
    if code < 0x10000:
        out[to] = np.uint32(0xE0) | code >> np.uint32(12)
        out[to + 1] = middle
        out[to + 2] = last
        return to + 3
    out[to] = np.uint32(0xF0) | code >> np.uint32(18)
    out[to + 1] = np.uint32(0x80) | code >> np.uint32(12) & np.uint32(0x3F)
    out[to + 2] = middle
    out[to + 3] = last
    return to + 4
