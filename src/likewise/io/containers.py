"""Files that likewise does not read although they may hold items: archives, documents of other programs, databases, sound and video.

The first bytes or the name of a file identify its type; the refusal says what to do next.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from likewise.io.compression import KINDS

ZIP, OLE = (0, b"PK\x03\x04"), (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")


class Container(NamedTuple):
    """``magic``: pairs of an offset and the bytes there, one of which the file has; ``remedy``: what to do, as the end of a sentence."""

    name: str
    extensions: str
    magic: tuple[tuple[int, bytes], ...]
    remedy: str


UNPACK = "unpack it first, for example with {}, and name the folder"
TO_TEXT = "convert it to text first, for example with {}"
TO_TABLE = "convert it to {} first"
#: Of containers with the same first bytes, the first is that of files with other extensions.
CONTAINERS = (
    Container("ZIP archive", "zip jar whl", (ZIP, (0, b"PK\x05\x06")), UNPACK.format("unzip")),
    Container("Word document", "docx docm", (ZIP,), TO_TEXT.format("pandoc")),
    Container("spreadsheet", "xlsx xlsm ods", (ZIP,), TO_TABLE.format("CSV")),
    Container("presentation", "pptx odp", (ZIP,), TO_TEXT.format("LibreOffice")),
    Container("OpenDocument file", "odt", (ZIP,), TO_TEXT.format("pandoc")),
    Container("EPUB book", "epub", (ZIP,), TO_TEXT.format("pandoc")),
    Container("tar archive", "tar tgz tbz2 txz", ((257, b"ustar"),), UNPACK.format("tar")),
    Container("7z archive", "7z", ((0, b"7z\xbc\xaf\x27\x1c"),), UNPACK.format("7z")),
    Container("RAR archive", "rar", ((0, b"Rar!\x1a\x07"),), UNPACK.format("unrar")),
    Container("PDF document", "pdf", ((0, b"%PDF-"),), TO_TEXT.format("pdftotext")),
    Container("Microsoft Office document", "doc ppt", (OLE,), TO_TEXT.format("LibreOffice")),
    Container("spreadsheet", "xls", (OLE,), TO_TABLE.format("CSV")),
    Container("RTF document", "rtf", ((0, b"{\\rtf"),), TO_TEXT.format("pandoc")),
    Container("SQLite database", "sqlite sqlite3 db", ((0, b"SQLite format 3\0"),), "export its table first, for example with sqlite3 -csv -header"),
    Container("Avro file", "avro", ((0, b"Obj\x01"),), TO_TABLE.format("Parquet")),
    Container("ORC file", "orc", (), TO_TABLE.format("Parquet")),
    Container("HDF5 file", "h5 hdf5", ((0, b"\x89HDF\r\n\x1a\n"),), TO_TABLE.format("Parquet or .npy")),
    Container(
        "sound file",
        "mp3 wav flac ogg oga opus m4a aac wma aif aiff",
        ((0, b"ID3\3"), (0, b"ID3\4"), (0, b"\xff\xfb"), (8, b"WAVEfmt "), (0, b"fLaC\0"), (0, b"OggS\0"), (4, b"ftypM4A")),
        "sound is not compared; transcribe it to text first",
    ),
    Container(
        "video",
        "mp4 m4v mkv webm avi mov mpg mpeg flv wmv ogv",
        ((4, b"ftyp"), (0, b"\x1a\x45\xdf\xa3"), (8, b"AVI LIST"), (0, b"\0\0\1\xba"), (0, b"OggS\0"), (0, b"FLV\1")),
        "to compare videos, run likewise features first",
    ),
)
_BY_EXTENSION = {extension: one for one in CONTAINERS for extension in one.extensions.split()}


def by_bytes(head: bytes | bytearray) -> tuple[Container, ...]:
    """Return the containers that begin as the bytes do."""
    return tuple(one for one in CONTAINERS if any(head.startswith(magic, at) for at, magic in one.magic))


def by_name(name: str) -> Container | None:
    """Return the container that has the extension of a file name, before that of a compression; or None.

    >>> by_name("Notes.TAR.GZ").name
    'tar archive'
    """
    *stems, last = name.lower().split(".")
    compressed = any(f".{last}" in kind.suffixes for kind in KINDS.values())
    return _BY_EXTENSION.get(stems[-1] if compressed and stems else last) if stems else None


def of(name: str, head: bytes | bytearray = b"") -> Container | None:
    """Return the container that a file of this name and these first bytes is, or None."""
    named, found = by_name(name), by_bytes(head)
    return named if named in found or not found else found[0]


def among(paths: Iterable[Path]) -> dict[Container, list[Path]]:
    """Return the paths that have the name of a container, by container."""
    found: dict[Container, list[Path]] = {}
    for path in paths:
        if held := by_name(path.name):
            found.setdefault(held, []).append(path)
    return found
