"""What an interrupted run left, looked over before it is used: kernels go by the sizes in it, and look at no bound."""

from __future__ import annotations

from typing import Any

import numpy as np

from likewise.errors import FormatError
from likewise.io import bands
from likewise.io.work import Work
from likewise.kernels.sets import ODD_SKETCH
from likewise.schema import ROW_COLUMNS

#: What the journal must say of a step, and of which types.
SAID: dict[str, dict[str, Any]] = {
    "chunk": {"source": int, "rows": int, "next": int, "found": bool, "fields": list},
    "decide": {"facts": dict, "compared": int},
    "write": {"file": str, "outputs": list},
    "publish": {"manifest": str, "beside": str},
}
#: Keys that it may also have.
MAY: dict[str, dict[str, Any]] = {"chunk": {"other": str, "nulls": int, "matrix": int}}


def check(work: Work, sources: int) -> None:
    """Refuse a work folder whose journal and columns do not fit together. Raises FormatError.

    Checksums have told that the columns are as they were written; this tells that it was a run which wrote them.
    """
    if not (all(map(is_step, work.steps)) and follow(work.done("chunk"), sources) and fit(work)):
        raise FormatError(f"{work.folder}: the files in this work folder do not match each other; delete the folder and start over")


def is_step(entry: dict[str, Any]) -> bool:
    step = entry.get("step", "")
    said, may = SAID.get(step, {}), MAY.get(step, {})
    return all(type(entry.get(name)) is kind for name, kind in said.items()) and all(
        type(entry.get(name, kind())) is kind for name, kind in may.items()
    )


def follow(chunks: list[dict[str, Any]], sources: int) -> bool:
    """Whether chunks come one source after the other, each going on where the one before it ended."""
    at, end = 0, 0
    for chunk in chunks:
        end = end if chunk["source"] == at else 0
        if not at <= chunk["source"] < sources or chunk["rows"] < 0 or end < 0 or -1 != chunk["next"] < end:
            return False
        at, end = chunk["source"], chunk["next"]
    return True


def fit(work: Work) -> bool:
    """Whether all columns have an entry for each row, and those of several values a row as many as are said."""
    chunks = work.done("chunk")
    rows = sum(chunk["rows"] for chunk in chunks)
    gone = {name for entry in work.done("discard") for name in entry["discarded"]}
    each = {name: rows * dtype.itemsize for name, dtype in ROW_COLUMNS.items()} | {"id-size": 4 * rows, "digest": 16 * len(chunks)}
    each |= {name: size - size % (8 * rows) if rows else 0 for name, size in work.lengths.items() if name.startswith(bands.PREFIX)}
    each |= {"odd": ODD_SKETCH.itemsize * rows} if "odd" in work.lengths else {}
    if any(work.lengths.get(name, 0) != size for name, size in each.items() if name not in gone):
        return False
    sizes = work.column("id-size", "i4")
    ids = int(np.maximum(sizes, 0).sum(dtype=np.int64))
    sets = 8 * int(work.column("size", ROW_COLUMNS["size"]).sum(dtype=np.int64))
    return work.lengths.get("id-data", 0) == ids and ("sets" in gone or work.lengths.get("sets", 0) == sets)
