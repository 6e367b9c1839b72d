"""The audit of an output, which `likewise audit OUT` leaves in its folder for the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from likewise.drawing.controls import escaped_json
from likewise.errors import FormatError
from likewise.io.manifest import AUDIT, SEAL, seal
from likewise.io.placing import new_file
from likewise.report.own_files import sealed
from likewise.runs.audit import Audit

#: Options of an audit that do not change what it measures.
SAME = frozenset(("sample", "threads", "memory", "work", "groups", "ignore"))


def store(out: Path, found: Audit) -> None:
    """Write the result of an audit into the folder of the output."""
    value = {"schema": "likewise/audit/1", **found.to_dict()}
    with new_file(out / AUDIT, overwrite=True, flag="OUT") as file:
        file.write(escaped_json(json.dumps({**value, SEAL: seal(value)}, indent=1)).encode() + b"\n")


def stored(out: Path) -> dict[str, Any] | None:
    """Return the stored audit of an output; None without one, or if the file was changed."""
    try:
        return sealed(out / AUDIT) if (out / AUDIT).exists() else None
    except FormatError:
        return None
