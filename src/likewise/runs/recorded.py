"""The record of a run in its result file: in Parquet, its options and its inputs, so that their contents can be shown again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from likewise.errors import FormatError, LikewiseError, UsageError
from likewise.io.address import Address, Place, place
from likewise.io.manifest import SEAL, is_output, seal
from likewise.messages import option, quoted

#: The key in the metadata of the file, and the version of what it holds.
KEY, VERSION = b"likewise.run", 1
#: Inputs that are recorded at most: readers of Parquet refuse larger metadata.
MOST = 100_000
#: Facts of a report that say what a file holds.
FACTS = ("threshold", "value", "recall", "k", "queries", "min_run", "gap", "method", "read", "quoting", "quoted")

#: An input: ``source``, its name in the table; ``path``, unless it was no file; and the entries of `storage.mark` if it had not changed by then.
Entry = dict[str, Any]


class Record(NamedTuple):
    """The record of a run in its result file. Paths of entries are `Place`."""

    verb: str
    facts: dict[str, Any]  # of the report, those of FACTS
    sides: dict[str, list[Entry] | None]  # the inputs by side; None: too many


def metadata(verb: str, report: Mapping[str, Any], sides: Mapping[str, Sequence[Entry]]) -> dict[bytes, bytes]:
    """The metadata of a result file."""
    facts = {name: report[name] for name in FACTS if name in report}
    inputs = {name: None if len(entries) > MOST else entries for name, entries in sides.items()}
    said = {"version": VERSION, "verb": verb, **facts, "inputs": inputs}
    return {KEY: json.dumps({**said, SEAL: seal(said)}).encode()}


def way(path: Place, folder: Place) -> dict[str, str]:
    """The path of a file in an entry of one that lies in ``folder``: from there, so that both can be moved together; at an address, by it.

    A file at an address does not name paths of the machine that wrote it.
    """
    if isinstance(path, Address):
        return {"path": str(path)}
    here = Path(os.path.realpath(path.parent), path.name)
    return {} if isinstance(folder, Address) else {"path": os.path.relpath(here, os.path.realpath(folder))}


def read(path: Path) -> Record:
    """Return what a result file says. Raises UsageError for a file that says nothing, FormatError for one that cannot be read."""
    import pyarrow.parquet as pq

    written = option("out", placeholder="FILE.parquet")
    try:
        found = (pq.read_metadata(path).metadata or {}).get(KEY)
    except (pa.ArrowException, OSError) as error:
        other = f"expected a Parquet file, which quotes, pairs and neighbors write with {written}"
        raise UsageError(f"{quoted(str(path))}: {part_of(path) or other}") from error
    if found is None:
        again = f"repeat quotes, pairs or neighbors with {written}"
        raise UsageError(f"{quoted(str(path))}: {part_of(path) or f'this file does not name its inputs; {again}'}")
    with as_recorded(path):
        said = json.loads(found)
        if said["version"] != VERSION:
            raise FormatError(f"{path}: a newer likewise wrote this file; upgrade likewise")
        if said.pop(SEAL, None) != seal(said):
            raise FormatError(f"{path}: what it says about its inputs has changed since likewise wrote it")
        verb, inputs = str(said.pop("verb")), said.pop("inputs")
        folder = os.path.realpath(path.parent)
        sides = {name: None if some is None else [located(one, folder) for one in some] for name, some in inputs.items()}
    return Record(verb, said, sides)


def part_of(path: Path) -> str:
    """The advice about a file that is a part of an output; "" about others."""
    return f"this file is a part of an output; give its folder, {path.parent}" if is_output(path.parent) else ""


@contextmanager
def as_recorded(path: Path) -> Iterator[None]:
    """Context manager: turn errors caused by a record that likewise did not write as it is now into FormatError."""
    try:
        yield
    except (LookupError, TypeError, AttributeError, ValueError, RecursionError) as error:
        if isinstance(error, LikewiseError):
            raise
        raise FormatError(f"{path}: what it says about its inputs is damaged ({type(error).__name__}: {error})") from error


def located(entry: Entry, folder: str) -> Entry:
    """An entry with the place of its file."""
    if "path" not in entry:
        return entry
    given = place(entry["path"])
    return entry | {"path": given if isinstance(given, Address) else Path(os.path.normpath(Path(folder, given)))}
