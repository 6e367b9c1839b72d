"""Steps by regular expressions of RE2, whose time is proportional to the text: `header`, and the patterns of users."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

#: Begin and end of a comment that may go over several lines.
BLOCKS = ((r"/\*", r"\*/"), ("<!--", "-->"), (r"\(\*", r"\*\)"), (r"\{-", r"-\}"), (r"#\|", r"\|#"), ("<#", "#>"), (r"--\[\[", r"\]\]"))
#: Comments to the end of the line. Behind ``#`` no lower letter or bracket, as in #include and #[derive]; behind ; and ! a space, or the sign again.
LINES = ("//", "--", "%", r"#![^\[\r\n]", r"#[^a-z\[!\r\n]", "#coding", "[;!][;! \\t*=-]", "[#;!](?:\r|$)")
PROLOGS = (r"<\?php\b", r"<\?xml[^>]*\?>")
HEADER = (
    rf"(?m)\A(?:[\s\x{{feff}}]|{'|'.join(f'{begin}(?s:.*?){end}' for begin, end in BLOCKS)}"
    rf"|(?:{'|'.join(LINES)})[^\r\n]*|{'|'.join(PROLOGS)})+"
)


def without_header(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """Texts from their first line of code on, without the comments before it; texts that contain only comments are unchanged."""
    found = pc.replace_substring_regex(texts, pattern=HEADER, replacement="", max_replacements=1)
    return pc.if_else(pc.equal(pc.binary_length(found), 0), texts, found)


def replaced(texts: pa.LargeBinaryArray, patterns: Sequence[str], *, header: bool) -> pa.LargeBinaryArray:
    """Texts, UTF-8, without their headers if ``header``, then with 0 in place of each match of each pattern, one pattern after the other."""
    found = texts.view(pa.large_string())
    if header:
        found = without_header(found)
    for pattern in patterns:
        found = pc.replace_substring_regex(found, pattern=pattern, replacement="0")
    return found.view(pa.large_binary())
