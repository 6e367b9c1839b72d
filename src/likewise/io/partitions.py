"""Partition columns, defined by folder names as in Hive: records of ``lang=en/part-0`` have the value en in the column lang."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.errors import UsageError
from likewise.io import fields
from likewise.io.columns import joined
from likewise.io.formats import Format, pickled, unpickled
from likewise.io.ids import as_json
from likewise.io.layouts import PARTITION
from likewise.io.ranges import Range
from likewise.items import binary
from likewise.items.wrapped import wrapped
from likewise.kinds import of_payload
from likewise.messages import option
from likewise.records import TEXT, Chunk, Records, Rejected, Want

NULL = "__HIVE_DEFAULT_PARTITION__"
WHOLE = re.compile(r"[+-]?[0-9]{1,19}")
INT64 = np.iinfo(np.int64)


def of(path: Path) -> dict[str, str | None]:
    """Return the partition columns of a path and their values; for a column that occurs twice, the inner value."""
    matches = (PARTITION.fullmatch(part) for part in path.parts[:-1])
    found = {unquote(match[1]): unquote(match[2]) for match in matches if match}
    return {name: None if value == NULL else value for name, value in found.items()}


def is_whole(text: str) -> bool:
    """Return whether a text is an int64."""
    return WHOLE.fullmatch(text) is not None and INT64.min <= int(text) <= INT64.max


@dataclass(frozen=True)
class Partitioned:
    """A format whose records also have partition columns. A record's own value takes precedence.

    ``columns``: the values of each column, one for all rows or one per row of the source. ``whole``: columns that hold integers in all sources.
    """

    format: Format
    columns: Mapping[str, Sequence[str | None]]
    whole: frozenset[str] = frozenset()

    def __getattr__(self, name: str) -> Any:
        """Return a further function of the format, if it has it."""
        found = getattr(self.format, name)
        completed: Callable[..., Any] | None = {"schema": self._schema, "glance": self._glance}.get(name)
        return found if completed is None else partial(completed, found)

    def __reduce__(self) -> tuple[Any, ...]:
        return _partitioned, (pickled(self.format), self.columns, self.whole)

    def _schema(self, schema: Callable[[Any, Want], pa.Schema], path: Any, want: Want) -> pa.Schema:
        own = schema(path, want)
        return pa.schema([*own, *((name, pa.int64() if name in self.whole else pa.string()) for name in self.columns if name not in own.names)])

    def _glance(self, glance: Callable[[Any, Want], tuple[Sequence[str], bool]], path: Any, want: Want) -> tuple[Sequence[str], bool]:
        own, whole = glance(path, want)
        return list(dict.fromkeys((*own, *self.columns))), whole

    def known(self, chunk: Chunk) -> Sequence[str] | None:
        """Return the columns of the chunk's file and the partition columns; None if each record has its own fields."""
        own = self.format.known(chunk)
        return own if own is None else (*own, *self.columns)

    def chunks(self, path: Any, want: Want, start: int = 0, *part: Range) -> Iterator[Chunk]:
        """Yield the chunks of the format."""
        return self.format.chunks(path, want, start, *part)

    def check_cut(self, path: Any, want: Want) -> None:
        """Raise UsageError for a source whose texts cannot be cut, such as the values of a partition column."""
        if want.text in self.columns:
            raise UsageError(f"{option('level')}: the folder names hold the values of {want.text!r}, so nothing can be cut out; name another field")
        if (check := getattr(self.format, "check_cut", None)) is not None:
            check(path, want)

    def write(self, *arguments: Any, **more: Any) -> int:
        """Write records without partition columns: the folder names hold them."""
        return self.format.write(*arguments, **more)

    def parse(self, chunk: Chunk, want: Want, where: str) -> Records:
        """Return the rows of a chunk, completed by the partition columns."""
        parts = fields.names(want._replace(kind="text"))
        if of_payload(want.kind).raw and not self.columns.keys().isdisjoint(parts):
            records = self._joined(parts, [self.format.parse(chunk, want._replace(text=part), where) for part in parts])
        else:
            records = self.format.parse(chunk, want, where)
        records.id = self._filled(records.id, want.id, records)
        records.per = self._filled(records.per, want.per, records)
        if want.score is not None and want.score in self.columns and records.score is not None:
            records.score = np.where(np.isnan(records.score), self._of(want.score, records, _score, pa.float64()), records.score)
        records.fields = tuple(dict.fromkeys((*records.fields, *self.columns)))
        return records

    def _of(self, name: str, records: Records, change: Callable[[str], Any], kind: pa.DataType = binary.TYPE) -> pa.Array:
        """Return the converted values of a column for the rows of a chunk; null if the folder has none."""
        values = self.columns[name]
        here = values if len(values) == 1 else [values[row] for row in records.start.tolist()]
        column = pa.array([None if value is None else change(value) for value in here], kind)
        return column if len(values) > 1 else column.take(wrapped(np.zeros(len(records), np.int64)))

    def _filled(self, own: pa.LargeBinaryArray | None, name: str | None, records: Records) -> pa.LargeBinaryArray | None:
        """Return the records' own JSON texts, with nulls replaced by the folder's value."""
        if name is None or name not in self.columns:
            return own
        column = self._of(name, records, lambda value: as_json(int(value) if name in self.whole else value))
        return column if own is None else pc.coalesce(own, column)

    def _joined(self, parts: Sequence[str], each: Sequence[Records]) -> Records:
        """Return records whose text is in several fields, some of them partition columns."""
        texts = []
        for part, records in zip(parts, each, strict=True):
            text = pc.if_else(wrapped(records.kind == TEXT), records.text, pa.nulls(1, binary.TYPE)[0])
            if part in self.columns:
                text = pc.coalesce(text, self._of(part, records, lambda value: value.encode("utf-8", "surrogatepass")))
            texts.append(text)
        rejected: list[Rejected] = [entry for records in each for entry in records.rejected]
        kind, text = joined(texts, len(each[0]), rejected)
        found = fields.found(parts, [part in self.columns or records.found for part, records in zip(parts, each, strict=True)])
        return replace(each[0], kind=kind, text=text, rejected=rejected, found=found)


def _partitioned(format: Any, columns: Mapping[str, Sequence[str | None]], whole: frozenset[str]) -> Partitioned:
    return Partitioned(unpickled(format), columns, whole)


def _score(value: str) -> float:
    """Return a number, or the seconds of a date or time, as for columns of these; NaN for other texts."""
    try:
        return float(value)
    except ValueError:
        pass
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        return np.nan
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def whole(formats: Iterable[Any]) -> frozenset[str]:
    """Return the columns whose values are all integers."""
    values: dict[str, set[str]] = {}
    for format in formats:
        for name, here in format.columns.items() if isinstance(format, Partitioned) else ():
            values.setdefault(name, set()).update(value for value in here if value is not None)
    return frozenset(name for name, here in values.items() if here and all(map(is_whole, here)))


def partitioned(format: Format, paths: Sequence[Path]) -> Format:
    """Return the format with the partition columns of the source's paths, if any. Files without one of these columns have null in it."""
    found = [of(path) for path in paths]
    names = dict.fromkeys(name for here in found for name in here)
    return Partitioned(format, {name: [here.get(name) for here in found] for name in names}) if names else format


def values_of_files(format: Format, files: int) -> list[dict[str, Any]]:
    """Return the partition columns of each file of a source, for the fingerprint of a run's inputs."""
    if not isinstance(format, Partitioned):
        return [{}] * files
    whole = sorted(format.whole & format.columns.keys())
    return [{"partition": {name: values[number] for name, values in format.columns.items()}, "whole": whole} for number in range(files)]
