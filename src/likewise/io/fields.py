"""The names in --field, as columns: several joined by ``+``, and for the numbers of a vector ``x0..x3`` and ``x*``. What inputs hold under them."""

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
from likewise.records import Want

#: Most columns that one range may name.
MOST = 1 << 16
#: Where they are fields of the record, and under which name they are looked for.
PARTS, DEFAULT = ("+".join(SPARSE), "+".join(SPARSE[:2])), "vector"
#: Values of a column of JSON texts that are looked at.
SAMPLE = 20
_RANGE = re.compile(r"(.*?)([0-9]{1,18})\.\.(.*?)([0-9]{1,18})", re.DOTALL)


def names(want: Want, there: Sequence[str] | None = None) -> list[str]:
    """The fields (or paths with dots) that make up what is compared, in order. ``there``: the columns, where they are known beforehand."""
    if want.whole or (there is not None and want.text in there):
        return [want.text]
    parts = want.text.split("+")
    if want.kind != "vector":
        return parts
    return [name for part in parts for name in _numbered(part, want, there)]


def each(want: Want, there: Sequence[str] | None = None) -> list[Want]:
    """A Want for each name that the field may have. ``there``: the columns, if known; a column with exactly the field's name is the only one."""
    if want.whole or (there is not None and want.text in there):
        return [want]
    return [want._replace(text=name) for name in alternatives(want.text)]


def every(want: Want, there: Sequence[str] | None = None) -> list[str]:
    """The names of all alternatives."""
    return list(dict.fromkeys(name for one in each(want, there) for name in names(one, there)))


def found(parts: Sequence[str], there: Sequence[bool]) -> bool:
    """Whether all fields are there that must be; a sparse vector may go without its dimension."""
    return all(here for part, here in zip(parts, there, strict=True) if here or not (are_parts(parts) and part.endswith(SPARSE[2])))


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


def _place(name: str, part: str) -> tuple[bool, int, str, str]:
    """Numbered columns by their number, so that their order in a file means nothing; the others behind them."""
    number = name[len(part) - 1 :]
    plain = number.isascii() and number.isdigit()
    digits = number.lstrip("0") if plain else ""  # as a number, however many there are
    return not plain, len(digits), digits, name


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


def wide(sources: Sequence[Any], want: Want, spared: tuple[type[Exception], ...] = ()) -> bool:
    """Whether some vectors have numbers that float32 does not hold: 64-bit ones, and all that are written in digits (JSON, CSV). Reads schemas.

    ``spared``: what a source may raise, so that it tells nothing.
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
    """The --field that leads to sparse vectors: the one given, or, where that is the default and is not there, the parts of one in the record
    itself; None where there are none.

    Reads schemas, or the first records, of each source until one has some, or lists of numbers. ``spared``: as in `wide`.
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
    """Whether a source holds sparse vectors in a field, or something else; None where it holds nothing there, as far as can be seen."""
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
    """Whether columns of these types are the parts of sparse vectors, or one is of whole ones."""
    if len(kinds) > 1:
        return hasattr(kinds[0], "value_type") and hasattr(kinds[1], "value_type")
    return pa.types.is_struct(kinds[0]) and set(SPARSE[:2]) <= set(kinds[0].names)


def _loaded(text: str | bytes) -> Any:
    try:
        return json.loads(text.decode("utf-8", "replace") if isinstance(text, bytes) else text)
    except (ValueError, RecursionError):  # a whole number of thousands of digits, say
        return None
