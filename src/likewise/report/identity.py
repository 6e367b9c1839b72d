"""Ids of items as people type them."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.compute as pc

from likewise.io.idcolumn import QUOTED


def typed(identity: str) -> str:
    r"""An id as tables have it, from one that was typed: bytes that are not UTF-8, as in names of files, are lone surrogates there, and escaped.

    >>> typed("a\udcff.txt")
    'a\\udcff.txt'
    """
    return identity.encode("utf-8", "backslashreplace").decode()


def spellings(schema: pa.Schema, identity: str) -> list[str]:
    """The possible ids in a table of this schema, in order of precedence: 1 is the number 1, and if no item has that id, the string "1"."""
    if (schema.metadata or {}).get(b"likewise.ids") != QUOTED.encode():
        return [identity]
    return [identity, json.dumps(identity, ensure_ascii=False), f'"{identity}"']  # the last: with escapes, as printed


def is_id(ids: pa.ChunkedArray, identity: str) -> pa.ChunkedArray:
    """bool[n]: the ids equal to the given one. Numbers and booleans have several spellings: 2 and 2.0, true and True."""
    if pa.types.is_floating(ids.type):
        try:
            return pc.fill_null(pc.equal(ids, pa.scalar(float(identity), ids.type)), False)
        except ValueError:
            pass
    if pa.types.is_boolean(ids.type):
        identity = identity.lower()
    return pc.is_in(ids.cast(pa.string()), pa.array([identity]))
