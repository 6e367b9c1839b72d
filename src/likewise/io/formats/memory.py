"""Tables and rows given as Python objects: converted to one Arrow table, then read like any other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import xxhash
from pyarrow import ipc

from likewise.errors import UsageError
from likewise.io import handed
from likewise.io.batches import Keeper, gather
from likewise.io.column_edits import check as check_column
from likewise.io.column_edits import editor
from likewise.io.columns import known, parse, wanted
from likewise.io.field_names import mentioned, top
from likewise.io.formats.arrow import save
from likewise.io.ranges import WHOLE, Range, cut, few
from likewise.items import unusable
from likewise.items.given import refuse_deep, shown
from likewise.items.python_values import as_json
from likewise.items.readers import reader_of
from likewise.items.sparse import holds_none
from likewise.messages import option
from likewise.records import Chunk, Each, Edits, Want, in_turn

__all__ = ["chunks", "few", "known", "parse", "schema", "table", "write"]

ACCEPTED = "a table (polars, pandas, pyarrow, DuckDB, Hugging Face, or any object with __arrow_c_stream__), a list of str, or a list of dict"
TEXT = Want()


def table(given: Any, want: Want = TEXT) -> pa.Table:
    """Convert the given object to a table.

    Rows (dicts) give a column per key. Items of the kind ``want.kind`` without a table, such as a list of str or an array of vectors, become a
    column of the wanted name.
    A column whose values have no common Arrow type holds JSON text, marked by the Arrow type ``arrow.json``:
    the ids 1 and "1" stay distinct, and the row can be restored.
    Raises UsageError for anything else.
    """
    if (made := handed.table(given, want.text)) is not None:
        return made
    reader = reader_of(want.kind)
    if reader and (items := reader.column(given)) is not None:
        return pa.table({want.text: items})
    if isinstance(given, np.ndarray) and given.dtype.kind in "iufb":
        other = "compare its rows as vectors, as with by='cosine', as codes or as sets"
        raise UsageError(f"an input is an array of {given.dtype} of shape {given.shape}, not text; {other}")
    if isinstance(given, str | bytes | set | frozenset) or not isinstance(given, Iterable):  # a set has no order, so no first item
        raise UsageError(f"an input is {_described(given)}; give {ACCEPTED}")
    if isinstance(given, Mapping):
        _check_names(given)
        if tables := [name for name, value in given.items() if handed.is_table(value)]:
            raise UsageError(f"an input is a dict of tables ({', '.join(map(shown, tables[:3]))}); give one of them, such as data[{tables[0]!r}]")
        if reader and not holds(given, want.text):
            known = ", ".join(map(shown, list(given)[:3])) + ", ..." * (len(given) > 3)
            typed = f'[{{"id": key, "{want.text}": value}} for key, value in given.items()]'
            lacks = f"none of {known} is {want.text!r}; name one with {option('field', placeholder='F')}"
            raise UsageError(f"an input is a dict and is read as columns; {lacks}. For a mapping of ids to items give {typed}")
        for name, values in given.items():
            if isinstance(values, str | bytes) or not isinstance(values, Iterable):
                raise UsageError(f"an input is a dict of columns, but {shown(name)} is {_described(values)}; give a list with a value for each row")
        columns = {name: _column(name, list(values), want) for name, values in given.items()}
        if len(sizes := {len(column) for column in columns.values()}) > 1:
            counted = ", ".join(f"{shown(name)} has {len(column):,}" for name, column in list(columns.items())[:3])
            raise UsageError(f"an input is a dict of columns of {len(sizes)} lengths: {counted}; give columns of one length")
        return pa.table(columns)
    rows = list(given)
    if reader and not any(isinstance(row, Mapping) and (Mapping not in reader.single or want.text in row) for row in rows):
        return pa.table({want.text: reader.listed(rows)})
    for position, row in enumerate(rows):
        if not isinstance(row, str | bytes | Mapping | Sequence | np.ndarray | None):
            raise UsageError(f"row {position} holds {unusable.held(row)}; give {ACCEPTED}")
    if not any(isinstance(row, Mapping) for row in rows):
        return pa.table({want.text: _column(want.text, rows, want) if rows else pa.array([], pa.string())})
    if (odd := next((position for position, row in enumerate(rows) if not isinstance(row, Mapping)), None)) is not None:
        raise UsageError(f"row {odd} holds {unusable.held(rows[odd])}, while other rows are records; give rows of one kind")
    names = dict.fromkeys(name for row in rows for name in row)
    _check_names(names)
    return pa.table({name: _column(name, [row.get(name) for row in rows], want) for name in names})


def holds(columns: Mapping[str, Any], field: str) -> bool:
    """Return whether the wanted column exists, or one that its path begins with; or the columns of sparse vectors, which need no name."""
    return "indices" in columns or field in columns or any(top(part, [*columns]) in columns for part in mentioned(field))


def _check_names(names: Iterable[Any]) -> None:
    if bad := [name for name in names if not isinstance(name, str)]:
        raise UsageError(f"an input has the key {shown(bad[0])}, but keys are column names: give str")


def _described(given: Any) -> str:
    return f"{type(given).__name__} {shown(given)}"


def _column(name: str, values: list[Any], want: Want) -> pa.Array | pa.ChunkedArray:
    refuse_deep(values)
    compared = name == want.text or name in mentioned(want.text)
    reader = reader_of(want.kind) if compared else None
    if reader and (Mapping in reader.single or not any(isinstance(value, Mapping) for value in values)):
        return reader.items(values)
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) <= 1:
        try:
            made = pa.array(values)
            if not (compared and holds_none(made.type)):
                return made
        except UnicodeEncodeError:  # lone surrogates, which an Arrow string cannot hold
            if kinds == {str}:
                return pa.array([value if value is None else value.encode("utf-8", "surrogatepass") for value in values], pa.large_binary())
        except OverflowError:  # whole numbers beyond int64
            for wide in (pa.uint64(), pa.list_(pa.uint64())):
                with suppress(pa.ArrowException, OverflowError, TypeError):
                    if (made := pa.array(values, wide)).to_pylist() == values:  # 1.5 would have become 1
                        return made
        except pa.ArrowException:
            pass
    try:
        return as_json(values)
    except (TypeError, ValueError) as error:
        types = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise UsageError(f"column {name!r} of an input mixes values that one column cannot hold ({types}): {error}") from error


def schema(path: pa.Table, want: Want) -> pa.Schema:
    """Return the schema of the table."""
    return path.schema


def plan(path: pa.Table, size: int) -> list[Range]:
    """Return ranges of rows."""
    return cut(len(path), size * len(path) // max(1, path.nbytes))


def chunks(path: pa.Table, want: Want, start: int = 0, part: Range = WHOLE) -> Iterator[Chunk]:
    """Yield chunks of the table. Raises DataError for a wanted column that occurs twice."""
    wanted(want, path.schema, "the table")
    return gather(path.to_batches(), path.column_names, 0, start, part)


def take(source: pa.Table, keep: np.ndarray, add: pa.Table | None = None, edits: Edits | None = None) -> pa.Table:
    """Return the rows where ``keep`` is true; ``add``: columns to append, one row per kept row; ``edits``: parts to cut out of texts."""
    keeper = Keeper("the table", source.schema, keep, add, editor(edits))
    kept = [keeper(batch) for batch in keeper.wanted(source.to_batches())]
    return pa.Table.from_batches(kept, keeper.schema)


def check_cut(path: pa.Table, want: Want) -> None:
    """Raise UsageError for a column whose texts cannot be cut."""
    check_column(path.schema, want, "the table")


def write(
    source: pa.Table,
    target: Path,
    keep: np.ndarray,
    start: np.ndarray,
    length: np.ndarray,
    add: pa.Table | None = None,
    each: Each = in_turn,
    edits: Edits | None = None,
) -> int:
    """Write an Arrow file, the only format that holds every column type."""
    kept = take(source, keep, add, edits)
    kept = kept if edits is None else kept.unify_dictionaries()
    return save(((batch, None) for batch in kept.to_batches()), target, partial(ipc.new_file, schema=kept.schema))


def digest(table: pa.Table) -> str:
    """Return a digest of schema and values, independent of their layout in memory."""
    found = xxhash.xxh3_128(table.schema.serialize())
    for batch in table.combine_chunks().to_batches():
        found.update(batch.serialize())
    return found.hexdigest()
