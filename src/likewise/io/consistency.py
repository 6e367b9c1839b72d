"""Checks of an interrupted run's work folder before it is resumed: kernels trust the sizes in it and do not check bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from likewise.errors import FormatError
from likewise.io import bands
from likewise.io.part import Part
from likewise.io.work import Work
from likewise.kernels.sets import ODD_SKETCH
from likewise.schema import IGNORED, ROW_COLUMNS, UNIT_COLUMNS, UNITS

#: Keys that the journal must have for a step, and their types.
SAID: dict[str, dict[str, Any]] = {
    "chunk": {"source": int, "rows": int, "next": int, "found": bool, "fields": list},
    "common": {"of": int},
    "decide": {"facts": dict, "compared": int},
    "write": {"file": str, "outputs": list},
    "publish": {"manifest": str, "beside": str},
}
#: Optional keys.
MAY: dict[str, dict[str, Any]] = {"chunk": {"other": str, "nulls": int, "matrix": int, "units": int, "texts": int}}


def check(work: Work | Part, sources: int) -> None:
    """Raise FormatError for a work folder whose journal and columns do not match.

    Checksums show that the columns are unchanged; this shows that they belong to the run.
    """
    if not (all(map(is_step, work.steps)) and follow(work.done("chunk"), sources) and fit(work)):
        raise FormatError(f"{work.folder}: the files in this work folder do not match each other; delete the folder and start over")


def is_step(entry: dict[str, Any]) -> bool:
    """Return whether a journal entry has the keys and types of its step."""
    step = entry.get("step", "")
    said, may = SAID.get(step, {}), MAY.get(step, {})
    return all(type(entry.get(name)) is kind for name, kind in said.items()) and all(
        type(entry.get(name, kind())) is kind for name, kind in may.items()
    )


def follow(chunks: list[dict[str, Any]], sources: int) -> bool:
    """Return whether chunks are in the order of sources, and each begins at or after the end of the one before it."""
    at, end = 0, 0
    for chunk in chunks:
        end = end if chunk["source"] == at else 0
        if not at <= chunk["source"] < sources or chunk["rows"] < 0 or end < 0 or -1 != chunk["next"] < end:
            return False
        at, end = chunk["source"], chunk["next"]
    return True


def fit(work: Work | Part) -> bool:
    """Return whether every column has an entry for each row, and columns of several values per row have as many as the sizes say."""
    chunks = work.done("chunk")
    rows = sum(chunk["rows"] for chunk in chunks)
    in_units = any("units" in chunk for chunk in chunks)
    items = sum(chunk.get("units", 0) for chunk in chunks) if in_units else rows
    gone = {name for entry in work.done("discard") for name in entry["discarded"]}
    each = {name: rows * dtype.itemsize for name, dtype in ROW_COLUMNS.items()} | {"id-size": 4 * rows, "digest": 16 * len(chunks)}
    if in_units:
        each |= {f"unit-{name}": items * dtype.itemsize for name, dtype in UNIT_COLUMNS.items()} | {"units": UNITS.itemsize * rows}
    each |= {name: size - size % (8 * items) if items else 0 for name, size in work.lengths.items() if name.startswith(bands.PREFIX)}
    each |= {name: dtype.itemsize * items for name, dtype in (("odd", ODD_SKETCH), ("ignored", IGNORED)) if name in work.lengths}
    if any(work.lengths.get(name, 0) != size for name, size in each.items() if name not in gone):
        return False
    sizes = work.column("id-size", "i4")
    ids = int(np.maximum(sizes, 0).sum(dtype=np.int64))
    if in_units and int(work.column("units", UNITS).sum(dtype=np.int64)) != items:
        return False
    sets = 8 * int(work.column("unit-size" if in_units else "size", ROW_COLUMNS["size"]).sum(dtype=np.int64))
    return work.lengths.get("id-data", 0) == ids and ("sets" in gone or work.lengths.get("sets", 0) == sets)
