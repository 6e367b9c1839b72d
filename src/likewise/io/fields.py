"""The names in --field: several joined by ``+``; and for the numbers of a vector ``x0..x3`` and ``x*``. What inputs hold under them, at a glance."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from likewise.errors import UsageError
from likewise.records import NO_TEXT, Want

#: Most columns that one range may name.
MOST = 1 << 16
#: What the parts of a sparse vector are called, where they are fields of one value or of the record itself. The last may be missing.
SPARSE = ("indices", "values", "dim")

#: Types of numbers that float32 holds exactly (items.vectors.NARROW).
NARROW = (pa.float16(), pa.float32(), pa.int8(), pa.uint8(), pa.int16())

_RANGE = re.compile(r"(.*?)(\d+)\.\.(.*?)(\d+)", re.DOTALL)


def names(want: Want, there: Sequence[str] | None = None) -> list[str]:
    """The fields (or paths with dots) that make up what is compared, in order. ``there``: the columns, where they are known beforehand."""
    parts = want.text.split("+")
    if want.kind != "vector":
        return parts
    return [name for part in parts for name in _numbered(part, want, there)]


def is_sparse(parts: Sequence[str]) -> bool:
    """Whether the names are those of the parts of a sparse vector, as in ``indices+values+dim``, all in one place."""
    tops, ends = zip(*(part.rpartition(".")[::2] for part in parts), strict=True)
    return len(set(tops)) == 1 and ends in (SPARSE, SPARSE[:2])


def found(parts: Sequence[str], there: Sequence[bool]) -> bool:
    """Whether all fields are there that must be; a sparse vector may go without its dimension."""
    return all(here for part, here in zip(parts, there, strict=True) if here or not (is_sparse(parts) and part.endswith(SPARSE[2])))


def as_record(parts: Sequence[bytes | None]) -> bytes | None:
    """The JSON texts of the parts of a sparse vector as one text; None where one is missing that must be there."""
    if None in parts[:2]:
        return None
    members = (b'"%s":%s' % (name.encode(), part) for name, part in zip(SPARSE, parts, strict=False) if part is not None)
    return b"{" + b",".join(members) + b"}"


def _numbered(part: str, want: Want, there: Sequence[str] | None) -> list[str]:
    if there is not None and part in there:
        return [part]
    if found := _RANGE.fullmatch(part):
        prefix, first, again, last = found.groups()
        count = int(last) - int(first) + 1
        if again != prefix or not 0 < count <= MOST:
            raise UsageError(f"--field {part!r}: a range goes from one number up to another behind the same name, as in x0..x3, {MOST:,} at most")
        digits = len(first) if first.startswith("0") else 1
        return [f"{prefix}{number:0{digits}}" for number in range(int(first), int(last) + 1)]
    if not part.endswith("*"):
        return [part]
    if there is None:
        raise UsageError(f"--field {part!r}: in JSON the names of fields differ from record to record; give the first and the last, as in x0..x3")
    others = (want.id, want.per, want.score)
    return sorted((name for name in there if name.startswith(part[:-1]) and name not in others), key=lambda name: _place(name, part)) or [part]


def _place(name: str, part: str) -> tuple[bool, int, str]:
    """Numbered columns by their number, so that their order in a file means nothing; the others behind them."""
    number = name[len(part) - 1 :]
    plain = number.isascii() and number.isdigit()
    return not plain, int(number) if plain else 0, name


def type_of(schema: pa.Schema, name: str) -> pa.DataType | None:
    """The type of the column of that name, or of what the path with dots leads to; None where there is none."""
    top, *path = [name] if name in schema.names else name.split(".")
    if not (found := schema.get_all_field_indices(top)):
        return None
    kind = schema.field(found[0]).type
    for label in path:
        if not pa.types.is_struct(kind) or not (found := kind.get_all_field_indices(label)):
            return None
        kind = kind.field(found[0]).type
    return kind


def wide(sources: Sequence[Any], want: Want) -> bool:
    """Whether some vectors have numbers that float32 does not hold: 64-bit ones, and all that are written in digits (JSON, CSV). Reads schemas."""
    return any(_is_wide(source, want) for source in sources)


def _is_wide(source: Any, want: Want) -> bool:
    if not hasattr(source.format, "schema"):
        return True
    schema = source.format.schema(source.path, want)
    kinds = [_number(type_of(schema, name)) for name in names(want, schema.names)]
    return any(isinstance(kind, pa.JsonType) or (_is_number(kind) and kind not in NARROW) for kind in kinds)


def _number(kind: pa.DataType | None) -> pa.DataType | None:
    """The type of the numbers in lists."""
    while kind is not None and not isinstance(kind, pa.JsonType):
        if isinstance(kind, pa.BaseExtensionType):
            kind = kind.storage_type
        elif hasattr(kind, "value_type"):  # lists, dictionaries and runs
            kind = kind.value_type
        else:
            break
    return kind


def _is_number(kind: pa.DataType | None) -> bool:
    return kind is not None and (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def sparse(sources: Sequence[Any], want: Want) -> str | None:
    """The --field that leads to sparse vectors: the one given, or the parts of one in the record itself; None where there are none.

    Reads schemas, or the first records of the first source that has any.
    """
    for source in sources:
        for field in (want.text, "+".join(SPARSE), "+".join(SPARSE[:2])):
            asked = want._replace(text=field, kind="sparse")
            if hasattr(source.format, "schema"):
                if _has_sparse(source.format.schema(source.path, asked), names(asked)):
                    return field
            elif hasattr(source.format, "sample"):
                records = source.format.sample(source.path, asked)
                if records is not None and records.found and (len(records.rejected) or (records.kind != NO_TEXT).any()):
                    return field
    return None


def _has_sparse(schema: pa.Schema, parts: list[str]) -> bool:
    kinds = [type_of(schema, part) for part in parts]
    if is_sparse(parts):
        return all(kind is not None for kind in kinds) and hasattr(kinds[0], "value_type") and hasattr(kinds[1], "value_type")
    return len(parts) == 1 and kinds[0] is not None and pa.types.is_struct(kinds[0]) and set(SPARSE[:2]) <= set(kinds[0].names)
