"""The first rows of a chunk (--limit)."""

from __future__ import annotations

import numpy as np

from likewise.records import Records

#: Columns that not every run has, with an entry per compared item.
OF_ITEMS = {"odd", "ignored"}
#: Beginnings of the names of columns that have several entries a row -> the column of their numbers.
SEVERAL = {"hit-": "hits", "token-": "stored"}


def head(records: Records, columns: dict[str, np.ndarray], n: int) -> tuple[Records, dict[str, np.ndarray]]:
    """Return the first n rows (--limit) and their columns."""
    in_units = "units" in columns
    items = int(columns["units"][:n].sum(dtype=np.int64)) if in_units else n
    sets = int(columns["unit-size" if in_units else "size"][:items].sum(dtype=np.int64))

    def cut(name: str, values: np.ndarray) -> np.ndarray:
        if name == "sets":
            return values[:sets]
        if name == "band_keys":
            return values[:, :items]
        for begins, number in SEVERAL.items():
            if name.startswith(begins):
                return values[: int(columns[number][:n].sum(dtype=np.int64))]
        return values[: items if name.startswith("unit-") or name in OF_ITEMS else n]

    return first_rows(records, n), {name: cut(name, values) for name, values in columns.items()}


def first_rows(records: Records, n: int) -> Records:
    """Return the first n rows."""
    return Records(
        records.kind[:n],
        records.start[:n],
        records.length[:n],
        records.text[:n],
        id=None if records.id is None else records.id[:n],
        width=None if records.width is None else records.width[:n],
        rejected=[entry for entry in records.rejected if entry.row < n],
        nulls=None if records.nulls is None else records.nulls[:n],
        matrix=records.matrix,
        other=records.other,
        fields=records.fields,
        found=records.found,
    )
