"""Folders that other programs write as one dataset, with metadata next to the data.

Supported are folders of Hugging Face ``datasets`` (``save_to_disk``, and its cache), of Spark, Hive, and compatible programs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from likewise.io.patterns import is_folder, names

#: Name of a folder for a value of a column, as in Hive: lang=en.
PARTITION = re.compile(r"([^=]+)=(.*)", re.DOTALL)
#: Folder in which Delta records the files of each version of a table.
DELTA_LOG = "_delta_log"
#: Names of files that Spark, Hive, Delta, Databricks and writers of Parquet put next to data, and names of data files.
BESIDE = r"_SUCCESS|_(common_)?metadata|_spark_metadata|_temporary|_(started|committed)_\d+"
MARKERS = re.compile(rf"{DELTA_LOG}|{BESIDE}|part-([rm]-)?\d{{4,}}.*|\d{{6}}_\d+")
#: Metadata files of ``datasets``, and keys that identify them.
STATE = "state.json"
SPLITS = "dataset_dict.json"
DESCRIBED = {
    STATE: {"_data_files"},
    "dataset_info.json": {"features"},
    SPLITS: {"splits"},
}
#: Maximum bytes of a metadata file.
LONGEST = 16 << 20


class Layout(NamedTuple):
    """The data files among the names in a folder."""

    engine: bool = False  # written by Spark, Hive or the like: names that begin with _ are not data, and data may have no extension
    metadata: frozenset[str] = frozenset()
    data: frozenset[str] | None = None  # the only data files, if the metadata lists them
    lacking: tuple[str, ...] = ()  # data files and splits that the metadata lists and the folder lacks

    def passes(self, name: str) -> bool:
        """Return True if a file or folder of this name is skipped."""
        return name in self.metadata or (self.engine and name.startswith("_")) or (self.data is not None and name not in self.data)


class Layouts:
    """The layouts of folders, each examined once."""

    def __init__(self) -> None:
        self.known: dict[Path, Layout] = {}

    def of(self, folder: Path, listed: Iterable[str] | None = None) -> Layout:
        """Return the layout of a folder; ``listed``: the names in it, if they are known."""
        if folder not in self.known:
            self.known[folder] = _look(folder, list(names(folder) if listed is None else listed))
        return self.known[folder]

    def passes(self, path: Path) -> bool:
        """Return True if this file or folder is skipped."""
        return self.of(path.parent).passes(path.name)


def is_partition(folder: Path) -> bool:
    """Return whether a path is a folder for a value of a partition column."""
    return PARTITION.fullmatch(folder.name) is not None and is_folder(folder)


def _look(folder: Path, listed: list[str]) -> Layout:
    marked = is_partition(folder) or any(MARKERS.fullmatch(name) for name in listed)
    engine = marked or any("=" in name and is_partition(folder / name) for name in listed)
    described = {name: found for name in DESCRIBED if name in listed and (found := _described(folder / name))}
    data = _data_files(described[STATE]) if STATE in described else None
    splits = _splits(described[SPLITS]) if SPLITS in described else frozenset()
    return Layout(engine, frozenset(described), data, tuple(sorted(((data or frozenset()) | splits).difference(listed))))


def _described(path: Path) -> dict[str, Any] | None:
    """Return the object in a metadata file; None if the file does not have the expected keys."""
    try:
        if path.stat().st_size > LONGEST:
            return None
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and found.keys() >= DESCRIBED[path.name] else None


def _data_files(state: dict[str, Any]) -> frozenset[str] | None:
    """Return the files of a dataset: other files next to them are copies that ``datasets`` cached."""
    try:
        return frozenset(str(file["filename"]) for file in state["_data_files"])
    except (TypeError, KeyError):
        return None


def _splits(found: dict[str, Any]) -> frozenset[str]:
    """Return the folders of a dictionary of datasets."""
    splits = found["splits"]
    return frozenset(filter(lambda name: isinstance(name, str), splits)) if isinstance(splits, list) else frozenset()
