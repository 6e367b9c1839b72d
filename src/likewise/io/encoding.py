"""Encodings that are not UTF-8, told by the first bytes of a file."""

from __future__ import annotations

from pathlib import Path

from likewise.errors import DataError

BOM = b"\xef\xbb\xbf"
#: Byte-order marks, the longer ones first.
MARKS = {b"\xff\xfe\x00\x00": "UTF-32", b"\x00\x00\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
#: Which of the first four bytes are zero, where two characters or one of ASCII stand there without a mark.
ZEROS = {
    (False, True, False, True): "UTF-16LE",
    (True, False, True, False): "UTF-16BE",
    (False, True, True, True): "UTF-32LE",
    (True, True, True, False): "UTF-32BE",
}


def other(head: bytes) -> str:
    """The name of the encoding that these bytes begin a text in; empty for UTF-8, as far as can be seen."""
    marked = next((name for mark, name in MARKS.items() if head.startswith(mark)), "")
    return marked or ZEROS.get(tuple(byte == 0 for byte in head[:4]), "")  # type: ignore[arg-type]


def refuse_other(path: str | Path, head: bytes | bytearray) -> None:
    """Raises DataError where a file begins in another encoding than UTF-8."""
    if name := other(bytes(head[:4])):
        raise DataError(f"{path}: expected UTF-8, and the first bytes are of {name}; convert it: iconv -f {name} -t UTF-8 FILE > NEW")
