"""Field names in --field: several joined by ``+``, ranges ``x0..x3`` and ``x*`` for the numbers of a vector; and the types found in inputs."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa

from likewise.errors import UsageError
from likewise.io.field_names import alternatives
from likewise.items.sparse_names import SPARSE, are_parts, looks_sparse
from likewise.items.vectors import is_wide
from likewise.kinds import of_payload
from likewise.messages import option
from likewise.records import Want

#: Maximum number of columns in one range.
MOST = 1 << 16
#: Names of the parts of sparse vectors that are fields of the record (with and without the dimension), and the default field of vectors.
PARTS, DEFAULT = ("+".join(SPARSE), "+".join(SPARSE[:2])), "vector"
#: Number of values examined in a column of JSON texts.
SAMPLE = 20
_RANGE = re.compile(r"(.*?)([0-9]{1,18})\.\.(.*?)([0-9]{1,18})", re.DOTALL)


def names(want: Want, there: Sequence[str] | None = None) -> list[str]:
    """Return the fields (or dotted paths) of the compared value, in order. ``there``: the columns, if they are known."""
    if want.whole or (there is not None and want.text in there):
        return [want.text]
    parts = want.text.split("+")
    if not of_payload(want.kind).numbered:
        return parts
    return [name for part in parts for name in _numbered(part, want, there)]


def each(want: Want, there: Sequence[str] | None = None) -> list[Want]:
    """Return a Want for each alternative name of the field.

    ``there``: the columns, if known; a column with exactly the field's name is the only alternative.
    """
    if want.whole or (there is not None and want.text in there):
        return [want]
    return [want._replace(text=name) for name in alternatives(want.text)]


def every(want: Want, there: Sequence[str] | None = None) -> list[str]:
    """Return the names of all alternatives, each once."""
    return list(dict.fromkeys(name for one in each(want, there) for name in names(one, there)))


def found(parts: Sequence[str], there: Sequence[bool]) -> bool:
    """Return whether all required fields are present; the dimension of a sparse vector is optional."""
    return all(here for part, here in zip(parts, there, strict=True) if here or not (are_parts(parts) and part.endswith(SPARSE[2])))


def as_record(parts: Sequence[bytes | None]) -> bytes | None:
    """Join the JSON texts of the parts of a sparse vector to one object; None if a required part is missing."""
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
            raise UsageError(
                f"{option('field', part)}: a range has one name with two ascending numbers, such as x0..x3, and at most {MOST:,} columns"
            )
        digits = len(first) if first.startswith("0") else 1
        return [f"{prefix}{number:0{digits}}" for number in range(int(first), int(last) + 1)]
    if not part.endswith("*"):
        return [part]
    if there is None:
        raise UsageError(
            f"{option('field', part)}: in JSON, fields differ between records, so the range needs its first and last name, such as x0..x3"
        )
    others = (want.id, want.per, want.score)
    return sorted((name for name in there if name.startswith(part[:-1]) and name not in others), key=lambda name: _place(name, part)) or [part]


def _place(name: str, part: str) -> tuple[bool, int, str, str]:
    """Sort key that orders numbered columns by number, regardless of their order in the file, and puts other columns last."""
    number = name[len(part) - 1 :]
    plain = number.isascii() and number.isdigit()
    digits = number.lstrip("0") if plain else ""  # as a number, however many there are
    return not plain, len(digits), digits, name


def type_of(schema: pa.Schema, name: str) -> pa.DataType | None:
    """Return the type of the column of that name, or of the field at a dotted path; None if it does not exist."""
    top, *path = [name] if name in schema.names else name.split(".")
    if not (found := schema.get_all_field_indices(top)):
        return None
    kind = schema.field(found[0]).type
    for label in path:
        if not pa.types.is_struct(kind) or not (found := kind.get_all_field_indices(label)):
            return None
        kind = kind.field(found[0]).type
    return kind


def wide(sources: Sequence[Any], want: Want, spared: tuple[type[Exception], ...] = ()) -> bool:
    """Return whether some vectors may have numbers that float32 does not hold: 64-bit columns and everything written in digits (JSON, CSV).

    Reads schemas. ``spared``: exceptions of a source that are ignored together with it.
    """
    for source in sources:
        with suppress(*spared):
            if _is_wide(source, want):
                return True
    return False


def _is_wide(source: Any, want: Want) -> bool:
    if not hasattr(source.format, "schema"):
        return True
    want = source.asked(want)
    schema = source.format.schema(source.path, want)
    return any(is_wide(type_of(schema, name)) for name in every(want, schema.names))


def sparse(sources: Sequence[Any], want: Want, spared: tuple[type[Exception], ...] = ()) -> str | None:
    """Return the --field of sparse vectors, or None if the sources hold none.

    That is the given field or, if it is the default and absent, the parts of a sparse vector in the record itself. Reads the schema or the first
    records of each source until one has sparse vectors or lists of numbers. ``spared``: as in `wide`.
    """
    for source in sources:
        with suppress(*spared):
            asked = source.asked(want)
            for one in (*each(asked), *(asked._replace(text=parts) for parts in PARTS if asked.text == DEFAULT)):
                found = _holds_sparse(source, one._replace(kind="sparse"))
                if found is not None:
                    return (one.text if one.text in PARTS else want.text) if found else None
    return None


def _holds_sparse(source: Any, asked: Want) -> bool | None:
    """Return whether a field holds sparse vectors rather than other values; None if the field has no values, as far as is read."""
    parts = names(asked)
    if hasattr(source.format, "schema"):
        kinds = [type_of(source.format.schema(source.path, asked), part) for part in parts]
        if None in kinds or pa.types.is_null(kinds[0]):
            return None
        if not isinstance(kinds[0], pa.JsonType):
            return _are_sparse(kinds)
        chunk = next(iter(source.format.chunks(source.path, asked, 0)), None)
        texts = chunk.data.column(parts[0]).to_pylist()[:SAMPLE] if chunk is not None and parts[0] in chunk.data.column_names else []
    elif (records := getattr(source.format, "sample", lambda path, want: None)(source.path, asked._replace(kind="text", per=parts[0]))) is None:
        return None
    else:
        texts = records.per.to_pylist() if records.found else []  # per: the value as JSON text
    values = [value for text in texts if text and (value := _loaded(text)) is not None]
    return any(looks_sparse(value, len(parts) > 1) for value in values) if values else None


def _are_sparse(kinds: list[pa.DataType]) -> bool:
    """Return whether columns of these types are the parts of sparse vectors, or a single column of whole ones."""
    if len(kinds) > 1:
        return hasattr(kinds[0], "value_type") and hasattr(kinds[1], "value_type")
    return pa.types.is_struct(kinds[0]) and set(SPARSE[:2]) <= set(kinds[0].names)


def _loaded(text: str | bytes) -> Any:
    try:
        return json.loads(text.decode("utf-8", "replace") if isinstance(text, bytes) else text)
    except (ValueError, RecursionError):  # for example, an integer of thousands of digits
        return None
