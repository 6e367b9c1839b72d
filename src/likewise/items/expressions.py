"""Steps by regular expressions of RE2, whose time is proportional to the text: `header`, and the patterns of users."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.items import binary
from likewise.kernels.places import COPIED, matches

#: Begin and end of a comment that may go over several lines.
BLOCKS = ((r"/\*", r"\*/"), ("<!--", "-->"), (r"\(\*", r"\*\)"), (r"\{-", r"-\}"), (r"#\|", r"\|#"), ("<#", "#>"), (r"--\[\[", r"\]\]"))
#: Comments to the end of the line. Behind ``#`` no lower letter or bracket, as in #include and #[derive]; behind ; and ! a space, or the sign again.
LINES = ("//", "--", "%", r"#![^\[\r\n]", r"#[^a-z\[!\r\n]", "#coding", "[;!][;! \\t*=-]", "[#;!](?:\r|$)")
PROLOGS = (r"<\?php\b", r"<\?xml[^>]*\?>")
HEADER = (
    rf"(?m)\A(?:[\s\x{{feff}}]|{'|'.join(f'{begin}(?s:.*?){end}' for begin, end in BLOCKS)}"
    rf"|(?:{'|'.join(LINES)})[^\r\n]*|{'|'.join(PROLOGS)})+"
)


#: A match between two bytes that no text has: kernels.places.MATCH and AFTER_MATCH.
MARKED = b"\xff\\0\xfe"


class Pieces(NamedTuple):
    """Where the bytes of changed texts come from: those of text i are rows[borders[i] : borders[i + 1]]; see kernels.places."""

    rows: np.ndarray  # int64[m, 3]
    borders: np.ndarray  # int64[n + 1]


def without_header(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """Texts from their first line of code on, without the comments before it; texts that contain only comments are unchanged."""
    found = pc.replace_substring_regex(texts, pattern=HEADER, replacement="", max_replacements=1)
    return pc.if_else(pc.equal(pc.binary_length(found), 0), texts, found)


def replaced(texts: pa.LargeBinaryArray, patterns: Sequence[str], *, header: bool, trail: list[Pieces] | None = None) -> pa.LargeBinaryArray:
    """Texts, UTF-8, without their headers if ``header``, then with 0 in place of each match of each pattern, one pattern after the other.

    The pieces of each change are appended to ``trail`` if it is given.
    """
    found = texts.view(pa.large_string())
    if header:
        whole, found = found, without_header(found)
        if trail is not None:
            trail.append(of_ends(whole, found))
    for pattern in patterns:
        if trail is not None:
            trail.append(of_matches(pc.replace_substring_regex(found, pattern=pattern, replacement=MARKED)))
        found = pc.replace_substring_regex(found, pattern=pattern, replacement="0")
    return found.view(pa.large_binary())


def of_ends(whole: pa.LargeStringArray, ends: pa.LargeStringArray) -> Pieces:
    """The pieces of texts that are the ends of others."""
    before = pc.fill_null(pc.subtract(pc.binary_length(whole), pc.binary_length(ends)), 0).to_numpy(zero_copy_only=False)
    rows = np.column_stack([np.zeros(len(before), np.int64), before, np.full(len(before), COPIED)])
    return Pieces(rows, np.arange(len(before) + 1))


def of_matches(marked: pa.LargeStringArray) -> Pieces:
    """The pieces of texts in which each MARKED match became one byte."""
    offsets, data = binary.parts(marked.view(pa.large_binary()))
    room = np.empty((len(data), 3), np.int64)
    borders = matches(data, offsets[:-1].copy(), np.diff(offsets), room)
    return Pieces(room[: borders[-1]].copy(), borders)
