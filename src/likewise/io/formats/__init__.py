"""The file formats, one module each, and the detection of a file's format from its name or first bytes.

A format is a module with the functions of ``Format``. To add one, write a module and add it to the tables below.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from csv import reader  # not "import csv": a format has that name
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol, cast

import numpy as np
import pyarrow as pa

from likewise.errors import DataError
from likewise.io import compression, containers, fields
from likewise.io.encoding import BOM
from likewise.kinds import of_payload
from likewise.records import Chunk, Each, Edits, Records, Want, in_turn

CODE = "py pyi c h cc cpp cxx hpp cs java kt scala go rs swift js mjs ts jsx tsx vue php rb pl pm lua r jl m sh bash ps1 sql hs ml clj ex erl f90"

#: Name of a format (its module) -> its file name extensions, and whether its files may be compressed.
FORMATS: dict[str, tuple[tuple[str, ...], bool]] = {
    "jsonl": (("jsonl", "ndjson"), True),
    "json_array": (("json",), True),  # a .json file that does not begin with [ is jsonl
    "csv": (("csv", "tsv"), True),
    "parquet": (("parquet", "pq"), False),
    "arrow": (("arrow", "arrows", "ipc", "feather"), False),
    "npy": (("npy",), False),
    "npz": (("npz",), False),
    "warc": (("warc", "wet"), True),
    "text": ((*"txt text md markdown rst adoc org tex html htm xhtml srt vtt".split(), *CODE.split()), False),  # noqa: SIM905
    "images": (("jpg", *"jpeg jpe jfif png apng webp gif bmp dib tif tiff ppm pgm pbm pnm jp2 j2k avif heic heif".split()), False),  # noqa: SIM905
}

#: First bytes -> format. Behind the magic bytes of a compression, the decompressed bytes are tested.
MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"FEA1": "arrow",
    b"\xff\xff\xff\xff": "arrow",
    b"\x93NUMPY": "npy",
    b"WARC/": "warc",
    b"\xff\xd8\xff": "images",
    b"\x89PNG": "images",
    b"GIF8": "images",
}
JSON_SPACE = b" \t\r\n"
SEPARATORS = ",;\t|"  # of CSV
PEEK_BYTES = 1 << 16

_BY_EXTENSION = {extension: name for name, (extensions, _) in FORMATS.items() for extension in extensions}


class Format(Protocol):
    """Interface of a format's module. ``path`` is ``Source.path``: a Path, text.Files, or a table in memory.

    Formats with typed columns also have ``schema(path, want)``, which returns a pa.Schema. Formats without types have
    ``sample(path, want)``, which returns the Records of a few rows or None, and ``glance(path, want)``, which returns the field names of
    the first records and whether these are all fields. If columns are not ``known``, they also have ``mentioned(chunk, names)``, which
    returns the names that may be fields of a chunk.
    Formats that can be read in ranges have ``plan(path, size)``, which returns ranges of about ``size`` bytes, and ``few(path)``, which returns the
    end of a small range at the beginning (END if this source can be read only from its beginning). Their ``chunks`` takes a range, ``part``.
    ``holds(want)``, if present, returns whether the format can hold the wanted kind of item. In a folder, other files are skipped.
    ``OPTIONS``, if present, are the names of options that apply to this format only; the user is warned if no input has it.
    ``check_written(path)``, if present, raises UsageError for a source whose rows cannot be written back unchanged.
    ``UNCUT``, if present, is the reason why parts of a text cannot be cut out of its record; ``check_cut(path, want)``, if present, raises UsageError
    for a source of which they cannot.
    """

    def chunks(self, path: Any, want: Want, start: int = 0) -> Iterator[Chunk]:
        """Yield chunks of whole rows, sequentially and cheaply. Their borders depend only on the content of the file."""

    def known(self, chunk: Chunk) -> Sequence[str] | None:
        """Return the columns of the chunk's file, or None if each record has its own fields."""

    def parse(self, chunk: Chunk, want: Want, where: str) -> Records:
        """Return the rows of a chunk; may run on any thread."""

    def write(
        self,
        source: Any,
        target: Path,
        keep: np.ndarray,
        start: np.ndarray,
        length: np.ndarray,
        add: pa.Table | None = None,
        each: Each = in_turn,
        edits: Edits | None = None,
    ) -> int:
        """Write the rows where ``keep`` (bool[n]) is true, unchanged but for ``edits``, and return their number.

        ``add``: columns to append, one row per kept row. ``each`` runs work on threads; the output does not depend on it.
        ``edits``: parts of texts to cut out of kept rows; not together with ``add``.
        """


def load(name: str) -> Format:
    """Import and return the module of a format, so that a run loads only the formats it needs."""
    return cast(Format, importlib.import_module(f"{__name__}.{name}"))


def holds(name: str, want: Want) -> bool:
    """Return whether a format can hold the wanted kind of item."""
    if (kind := of_payload(want.kind)).files and name not in (kind.files, *kind.tables):
        return False
    asked = getattr(load(name), "holds", None)
    return asked is None or asked(want)


def pickled(format: Format) -> Any:
    """Return a picklable stand-in for a format, because modules cannot be pickled; `unpickled` reverses this."""
    return format.__name__.rpartition(".")[2] if isinstance(format, ModuleType) else format


def unpickled(given: Any) -> Format:
    """Return the format for a stand-in made by `pickled`."""
    return load(given) if isinstance(given, str) else given


def by_name(path: Path) -> str | None:
    """Return the format for the file's extension, or None. Only line formats may have a compression suffix as well."""
    key = compression.kind_by_name(path)
    name = path.name.lower()
    for suffix in compression.KINDS[key].suffixes if key else ():
        name = name.removesuffix(suffix)
    found = _BY_EXTENSION.get(name.rpartition(".")[2]) if "." in name else None
    if found is None or (key and not FORMATS[found][1]):
        return None
    return "jsonl" if found == "json_array" and not _begins_array(path) else found


def by_content(path: Path, want: Want) -> str | None:
    """Return the format detected from the first bytes, or None.

    An empty file counts as JSON lines. CSV needs a header with the wanted columns.
    """
    head = first_bytes(path)
    compressed = compression.kind_of(path)
    for magic, name in MAGIC.items():
        if head.startswith(magic):
            return name if FORMATS[name][1] or not compressed else None
    if containers.by_bytes(head):
        return None
    first = head.lstrip(JSON_SPACE)[:1]
    if first in (b"", b"{", b"["):
        return "json_array" if first == b"[" else "jsonl"
    if _is_header(head, want):
        return "csv"
    if compressed:
        return None
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(head) - 3:  # else the end of the buffer cuts a character
            return None
    return None if b"\0" in head else "text"


def _is_header(head: bytearray, want: Want) -> bool:
    """Return whether the first line holds all wanted columns, with any of the separators."""
    line = head.lstrip(b"\r\n").splitlines()[:1]
    if not line or len(line[0]) == len(head):
        return False
    text = line[0].decode("utf-8", "replace")
    headers = (next(reader([text], delimiter=separator)) for separator in SEPARATORS)
    asked = ((header, fields.names(one, header)) for header in headers for one in fields.each(want, header))
    return any(fields.found(names, [name in header for name in names]) for header, names in asked if names)


def _begins_array(path: Path) -> bool:
    try:
        return first_bytes(path).lstrip(JSON_SPACE).startswith(b"[")
    except DataError:  # the reader will report the damage
        return False


def first_bytes(path: Path) -> bytearray:
    """Return up to PEEK_BYTES from the beginning, decompressed and without a byte-order mark.

    Raises DataError for a file that is damaged from its first byte; otherwise the bytes before the damage are returned.
    """
    with compression.open_read(path) as stream:
        buffer = bytearray(PEEK_BYTES)
        size, damage = compression.read_readable(stream, memoryview(buffer))
        if damage is not None and not size:
            raise damage
        return buffer[:size].removeprefix(BOM)
