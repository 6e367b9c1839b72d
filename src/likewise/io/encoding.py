"""Detection of encodings other than UTF-8 from the first bytes of a file."""

from __future__ import annotations

from pathlib import Path

from likewise.errors import DataError

BOM = b"\xef\xbb\xbf"
#: Byte-order marks, longest first.
MARKS = {b"\xff\xfe\x00\x00": "UTF-32", b"\x00\x00\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
#: Pattern of zero bytes among the first four of a text that begins with ASCII characters and has no byte-order mark.
ZEROS = {
    (False, True, False, True): "UTF-16LE",
    (True, False, True, False): "UTF-16BE",
    (False, True, True, True): "UTF-32LE",
    (True, True, True, False): "UTF-32BE",
}


def other(head: bytes) -> str:
    """Return the name of the encoding of a text that begins with these bytes; "" for UTF-8, as far as is visible."""
    marked = next((name for mark, name in MARKS.items() if head.startswith(mark)), "")
    return marked or ZEROS.get(tuple(byte == 0 for byte in head[:4]), "")  # type: ignore[arg-type]


def refuse_other(path: str | Path, head: bytes | bytearray) -> None:
    """Raise DataError if a file begins in another encoding than UTF-8."""
    if name := other(bytes(head[:4])):
        raise DataError(f"{path}: expected UTF-8, but the first bytes are {name}; convert it: iconv -f {name} -t UTF-8 FILE > NEW")
