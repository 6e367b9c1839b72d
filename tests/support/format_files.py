"""A file of each format that holds texts, for tests of all formats."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from pyarrow import ipc

import archives
from as_bytes import arrow, parquet

#: (id, text), ...
Rows = Sequence[tuple[str, str]]


def table(rows: Rows) -> pa.Table:
    return pa.table({"id": [name for name, _ in rows], "text": [text for _, text in rows]})


def records(rows: Rows) -> list[str]:
    return [json.dumps({"id": name, "text": text}) for name, text in rows]


def archive(rows: Rows) -> bytes:
    return b"".join(archives.record("resource", name, text.encode(), "text/plain; charset=utf-8") for name, text in rows)


class Made(NamedTuple):
    """A file of rows. Its ids are those of the rows, unless ``ids`` says otherwise."""

    extension: str
    content: Callable[[Rows], bytes]
    exact: bool = True  # kept rows make the same bytes, whatever was removed beside them
    ids: str = "{}"


#: The files of each format (`io.formats.FORMATS`): a new format has its file here.
FILES: dict[str, Made] = {
    "jsonl": Made("jsonl", lambda rows: "".join(f"{one}\n" for one in records(rows)).encode()),
    "json_array": Made("json", lambda rows: ("[\n" + ",\n".join(records(rows)) + "\n]\n").encode()),
    "csv": Made("csv", lambda rows: ("id,text\n" + "".join(f"{name},{text}\n" for name, text in rows)).encode()),
    "parquet": Made("parquet", lambda rows: parquet(table(rows)), exact=False),
    "arrow": Made("arrow", lambda rows: arrow(table(rows), ipc.new_file, 4), exact=False),
    "warc": Made("warc", archive, ids="<urn:x:{}>"),
}


def written(folder: Path, name: str, rows: Rows) -> Path:
    """The file of a format."""
    path = folder / f"in.{FILES[name].extension}"
    path.write_bytes(FILES[name].content(rows))
    return path
