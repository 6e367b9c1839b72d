"""The formats, one module each, and how a file's format is told from its name or its content.

A format is a module with the three functions of ``Format``. A new one is one new file, and lines in the tables below.
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
from likewise.io import compression, fields
from likewise.io.encoding import BOM
from likewise.records import Chunk, Each, Records, Want, in_turn

CODE = "py pyi c h cc cpp cxx hpp cs java kt scala go rs swift js mjs ts jsx tsx vue php rb pl pm lua r jl m sh bash ps1 sql hs ml clj ex erl f90"

#: Name of a format (its module) -> the extensions that say it, and whether a compression may stand around it.
FORMATS: dict[str, tuple[tuple[str, ...], bool]] = {
    "jsonl": (("jsonl", "ndjson"), True),
    "json_array": (("json",), True),  # a .json file that does not begin with [ is jsonl
    "csv": (("csv", "tsv"), True),
    "parquet": (("parquet", "pq"), False),
    "arrow": (("arrow", "arrows", "ipc", "feather"), False),
    "npy": (("npy",), False),
    "npz": (("npz",), False),
    "text": ((*"txt text md markdown rst adoc org tex html htm xhtml srt vtt".split(), *CODE.split()), False),  # noqa: SIM905
}
#: Formats that hold some kinds of items only (records.PAYLOADS): where others are wanted, such files in a folder are passed over.
HOLDS = {"npy": ("vector", "code", "elements", "tokens", "features"), "npz": ("features",), "text": ("text", "string")}

#: First bytes -> format. What follows a compression's magic is looked at in turn.
MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"FEA1": "arrow", b"\xff\xff\xff\xff": "arrow", b"\x93NUMPY": "npy"}
JSON_SPACE = b" \t\r\n"
SEPARATORS = ",;\t|"  # of CSV
PEEK_BYTES = 1 << 16

_BY_EXTENSION = {extension: name for name, (extensions, _) in FORMATS.items() for extension in extensions}


class Format(Protocol):
    """What a format's module offers. ``path`` is what ``Source.path`` is: a Path, text.Files, or a table in memory.

    One with typed columns also has ``schema(path, want)``, a pa.Schema; one without them ``sample(path, want)``, the Records of a few
    rows or None, ``glance(path, want)``, the names of the fields in the first records and whether these are all, and, where columns are not
    ``known``, ``mentioned(chunk, names)``, those of the names that a chunk may have as fields.
    One whose sources can be read in ranges also has ``plan(path, size)``, the ranges of about so many bytes, ``few(path)``, the end of a small one
    at the beginning (END if this source can only be read from its beginning on), and its ``chunks`` takes a range, ``part``.
    ``check_written(path)``, if present, refuses a source whose rows could not be written as they were. Raises UsageError.
    """

    def chunks(self, path: Any, want: Want, start: int = 0) -> Iterator[Chunk]:
        """Runs of whole rows, sequential and cheap. Where they are cut depends on the content of the file alone."""

    def known(self, chunk: Chunk) -> Sequence[str] | None:
        """The columns of the file that a chunk is of; None where each record has its own fields."""

    def parse(self, chunk: Chunk, want: Want, where: str) -> Records:
        """The rows of a chunk, on any thread."""

    def write(
        self, source: Any, target: Path, keep: np.ndarray, start: np.ndarray, length: np.ndarray, add: pa.Table | None = None, each: Each = in_turn
    ) -> int:
        """The rows where ``keep`` is true, as they were read; returns how many it wrote. ``add``: columns to append, one row a kept row.
        ``each``: how work of it can be done on threads; what is written does not depend on that."""


def load(name: str) -> Format:
    """The module of a format; only what a run needs is imported."""
    return cast(Format, importlib.import_module(f"{__name__}.{name}"))


def pickled(format: Format) -> Any:
    """Stands for a format where that is pickled, as modules cannot be; `unpickled` returns the format."""
    return format.__name__.rpartition(".")[2] if isinstance(format, ModuleType) else format


def unpickled(given: Any) -> Format:
    return load(given) if isinstance(given, str) else given


def by_name(path: Path) -> str | None:
    """The format that the file's name says, or None. A compression may stand around the line formats only."""
    key = compression.kind_by_name(path)
    name = path.name.lower()
    for suffix in compression.KINDS[key].suffixes if key else ():
        name = name.removesuffix(suffix)
    found = _BY_EXTENSION.get(name.rpartition(".")[2]) if "." in name else None
    if found is None or (key and not FORMATS[found][1]):
        return None
    return "jsonl" if found == "json_array" and not _begins_array(path) else found


def by_content(path: Path, want: Want) -> str | None:
    """The format that the first bytes speak of, or None. No bytes are JSON lines without a line; CSV has a header that names what is wanted."""
    head = first_bytes(path)
    compressed = compression.kind_of(path)
    for magic, name in MAGIC.items():
        if head.startswith(magic):
            return None if compressed else name
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
        if error.start < len(head) - 3:  # else a character that the end of the look cuts
            return None
    return None if b"\0" in head else "text"


def _is_header(head: bytearray, want: Want) -> bool:
    """Whether the first line holds all wanted columns, between whatever separators."""
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
    except DataError:  # a damaged file: the reader will say so, in its turn
        return False


def first_bytes(path: Path) -> bytearray:
    """The first bytes, decompressed, without a byte-order mark; of a damaged file those before the damage, if there are any."""
    with compression.open_read(path) as stream:
        buffer = bytearray(PEEK_BYTES)
        size, damage = compression.read_readable(stream, memoryview(buffer))
        if damage is not None and not size:
            raise damage
        return buffer[:size].removeprefix(BOM)
