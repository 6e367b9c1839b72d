"""The pilot sample for `plan`, from files, tables, or a batch of items."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from likewise.io.field_names import mentioned
from likewise.methods import Measure, Text
from likewise.options import resolve
from likewise.runs import inspection
from likewise.runs.sample import Pilot, of_items, of_sources
from likewise.runs.session import Inputs, sources_of


def sampled(inputs: Inputs, method: Text | Measure, field: str | Sequence[str] | None, seed: int, **reading: Any) -> Pilot:
    """A sample of files or tables, or of a batch as `similarity` accepts it. reading: further options of reading files."""
    given = {name: value for name, value in reading.items() if value is not None}
    options = resolve(limited=False, by=method, field=field, seed=seed, **given)
    if isinstance(method, Measure) and not in_columns(inputs, options.field):
        return of_items(inputs, method, seed, options.bound)
    sources = sources_of(inputs, None, None, inspection.want(options))
    return of_sources(sources, inspection.inspect_inputs(sources, options))


def in_columns(inputs: Inputs, field: str) -> bool:
    """True if the inputs are files, a table or records, not a batch of items."""
    if isinstance(inputs, list | tuple):
        return any(isinstance(one, os.PathLike) or (isinstance(one, Mapping) and not {field, *mentioned(field)}.isdisjoint(one)) for one in inputs)
    return isinstance(inputs, str | os.PathLike) or hasattr(inputs, "columns")  # tables have it, arrays and Series do not
