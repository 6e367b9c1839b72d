"""Parquet files with column types that pyarrow does not write: footers edited according to parquet.thrift and the compact protocol."""

from __future__ import annotations

from pathlib import Path

#: Types of the compact protocol.
TRUE, FALSE, BYTE, I32, STRUCT = 1, 2, 3, 5, 12


def varint(number: int) -> bytes:
    made = bytearray()
    while number > 0x7F:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*made, number])


def struct(fields: dict[int, object], before: int = 0, *, open_end: bool = False) -> bytes:
    """A struct of integers (i32), single bytes (i8), booleans and structs; its fields follow the field with the number ``before``."""
    made = b""
    for number, value in fields.items():
        kind = (TRUE if value else FALSE) if isinstance(value, bool) else {int: I32, bytes: BYTE, dict: STRUCT}[type(value)]
        step = number - before
        made += bytes([step << 4 | kind]) if step <= 15 else bytes([kind]) + varint(number << 1)
        if isinstance(value, dict):
            made += struct(value)
        elif isinstance(value, bytes):
            made += value
        elif kind == I32:
            made += varint(value << 1)  # zigzag, for numbers of 0 or more
        before = number
    return made if open_end else made + b"\0"


def annotate(path: Path, name: str, fields: dict[int, object]) -> None:
    """Add fields with numbers above 4 to a schema element without a logical type: a column or a group of this name."""
    raw = path.read_bytes()
    size = int.from_bytes(raw[-8:-4], "little")
    footer = raw[-8 - size : -8]
    label = b"\x18" + varint(len(name)) + name.encode()  # field 4, directly after field 3, of type bytes
    at = footer.index(label) + len(label)
    last = 4
    if footer[at : at + 1] == b"\x15":  # field 5: the number of children, one byte
        at, last = at + 2, 5
    assert footer[at] == 0, f"{name} has a logical type"
    footer = footer[:at] + struct(fields, last, open_end=True) + footer[at:]
    path.write_bytes(raw[: -8 - size] + footer + len(footer).to_bytes(4, "little") + b"PAR1")
