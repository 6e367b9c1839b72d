"""Files of every format under random edits, for the fuzzer."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st
from pyarrow import ipc

from archives import INFO, request, response
from as_bytes import PACK, arrow, npy, parquet

#: Fast, and the same for every kind: nothing is planned, and texts are cut at white space only.
TEXT: dict[str, Any] = {"by": "whitespace:1", "normalize": "none", "threshold": 0.5, "bands": 1, "rows": 1}
KINDS: dict[str, dict[str, Any]] = {
    "text": TEXT,
    "tokens": {"by": "tokens:1", "threshold": 0.5, "bands": 1, "rows": 1, "field": "tokens"},
    "string": {"by": "edit", "within": 1},
    "elements": {"by": "elements", "threshold": 0.5, "bands": 1, "rows": 1},
    "weighted": {"by": "weighted", "threshold": 0.5, "bands": 1, "rows": 1, "field": "weighted"},
    "vector": {"by": "cosine", "threshold": 0.9},
    "l2": {"by": "l2", "within": 0.5},
    "sparse": {"by": "cosine", "threshold": 0.9, "field": "sparse"},
    "code": {"by": "hamming", "within": 1},
}
# --- whole files of each format

ROWS = [
    {
        "id": i,
        "text": f"one two three {i % 3} é \U0001f600",
        "elements": [1, "a", i % 3],
        "weighted": {"a": 1.5, "b": float(i % 3 + 1)},
        "vector": [1.0, 0.5, float(i % 3)],
        "sparse": {"indices": [1, 5 + i % 3], "values": [1.0, 2.0], "dim": 9},
        "tokens": [1, 2, 3, i % 3],
        "code": f"00ff00ff00ff000{i % 3}",
    }
    for i in range(5)
]


def lines(rows: list[dict[str, Any]] = ROWS) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def cells(separator: str) -> bytes:
    quoted = [[str(row["id"]), '"' + row["text"].replace(" ", "\n") + '"', str(row["vector"][2]), row["code"]] for row in ROWS]
    return "".join(separator.join(row) + "\r\n" for row in [["id", "text", "vector", "code"], *quoted]).encode()


def columns(**types: pa.DataType) -> pa.Table:
    table = pa.table(
        {
            "id": [row["id"] for row in ROWS],
            "text": [row["text"] for row in ROWS],
            "elements": [[str(element) for element in row["elements"]] for row in ROWS],
            "weighted": pa.array([list(row["weighted"].items()) for row in ROWS], pa.map_(pa.string(), pa.float64())),
            "vector": [row["vector"] for row in ROWS],
            "sparse": [row["sparse"] for row in ROWS],
            "tokens": [row["tokens"] for row in ROWS],
            "code": [row["code"] for row in ROWS],
        }
    )
    for name, kind in types.items():
        table = table.set_column(table.column_names.index(name), name, table[name].cast(kind))
    return table


DICTIONARY, VIEW = pa.dictionary(pa.int32(), pa.string()), pa.string_view()
PACKED = [f".{kind}" for kind in PACK]
WHOLE: dict[str, list[bytes]] = {
    ".jsonl": [lines()],
    ".json": [json.dumps(ROWS, indent=1).encode(), json.dumps(ROWS, separators=(",", ":")).encode()],
    ".csv": [cells(","), cells(";")],
    ".tsv": [cells("\t")],
    ".txt": [ROWS[0]["text"].encode()],
    ".warc": [INFO + b"".join(response(row["id"], row["text"]) for row in ROWS), response(1, f"<p>{TEXT}", "Content-Type: text/html") + request(1)],
    ".parquet": [
        parquet(columns()),
        parquet(columns(text=pa.large_string()), compression="zstd", row_group_size=2, write_page_checksum=True),
        parquet(columns(text=VIEW), compression="none", use_dictionary=False),
        parquet(columns().select(["id", "text"]), use_dictionary=False, column_encoding={"id": "DELTA_BINARY_PACKED", "text": "DELTA_BYTE_ARRAY"}),
    ],
    ".arrow": [
        arrow(columns(), ipc.new_file, 3),
        arrow(columns(text=DICTIONARY), ipc.new_file, 3, "zstd"),
        arrow(columns(text=VIEW), ipc.new_file, 3, "lz4"),
        arrow(columns(text=pa.large_string()), ipc.new_stream, 3),
        arrow(columns(text=DICTIONARY), ipc.new_stream, 3, "lz4"),
    ],
    ".npy": [
        npy(np.arange(12, dtype="f4").reshape(4, 3)),
        npy(np.asfortranarray(np.arange(12.0).reshape(4, 3))),
        npy(np.arange(4, dtype="u8").reshape(4, 1)),
    ],
}

# --- what is done to them

#: Bytes that mean something in one format or another.
PIECES = [
    *(bytes([byte]) for byte in b'\0\t\n\r ",;|[]{}:\\0-9eE.\x80\xc0\xff'),
    *(b"\r\n", b"\xef\xbb\xbf", b"\xff\xfe", b"\xe2\x80\xa8", b"\xed\xa0\x80", b"\xed\xb0\x80", b"\xf4\x90\x80\x80", b"\\u0000", b"\\ud800"),
    *(b"null", b"true", b"NaN", b"Infinity", b"1e999", b"-0.0", b"9" * 25, b'""', b'","', b'"id":', b'"text":', b'{"', b"[[", b"[" * 2000),
    *(b'{"a":' * 1200, b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PAR1", b"ARROW1", b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\x93NUMPY"),
    *(b"\0" * 8, b"x" * 5000, b"\r\n\r\n", b"WARC/1.0\r\n", b"Content-Length: 3\r\n"),
]


class Edit(NamedTuple):
    what: str
    at: float  # of the length
    size: int
    piece: bytes

    def __call__(self, data: bytes) -> bytes:
        at = int(self.at * len(data))
        end = at + self.size
        return {
            "flip": lambda: data[:at] + bytes(byte ^ 1 << self.size % 8 for byte in data[at : at + 1]) + data[at + 1 :],
            "cut": lambda: data[:at],
            "drop": lambda: data[:at] + data[end:],
            "put": lambda: data[:at] + self.piece + data[at:],
            "over": lambda: data[:at] + self.piece + data[at + len(self.piece) :],
            "again": lambda: data[:end] + data[at:],
            "swap": lambda: data[:at] + data[end : end + self.size] + data[at:end] + data[end + self.size :],
            "end": lambda: data + self.piece,
        }[self.what]()


WHATS = ("flip", "flip", "cut", "drop", "put", "over", "again", "swap", "end")
PUT = st.one_of(st.sampled_from(PIECES), st.binary(max_size=9))
EDITS = st.lists(st.builds(Edit, st.sampled_from(WHATS), st.floats(0, 1), st.integers(0, 60), PUT), max_size=4)


class Given(NamedTuple):
    """A file that is given: its name and bytes, and what is compared in it."""

    name: str
    data: bytes
    kind: str


@st.composite
def damaged(draw: st.DrawFn) -> Given:
    """A whole file with edits, in or around a compression."""
    suffix = draw(st.sampled_from(list(WHOLE)))
    data = draw(st.sampled_from(WHOLE[suffix]))
    packed = draw(st.sampled_from([*PACKED, "", "", ""])) if suffix in (".jsonl", ".json", ".csv", ".tsv", ".warc") else ""
    edits = draw(EDITS)
    inside = draw(st.booleans())
    for number, edit in enumerate(edits):
        data = edit(data) if inside or not packed else data
        assert number < 9
    if packed:
        data = PACK[packed[1:]](data)
        for edit in () if inside else edits:
            data = edit(data)
    kind = draw(st.sampled_from([name for name in KINDS if suffix not in (".txt", ".warc") or name in ("text", "string")]))
    return Given(f"a{suffix}{packed}", data, kind)


def arbitrary() -> st.SearchStrategy[Given]:
    """Any bytes, or pieces that mean something, under any name or none that tells."""
    pieces = st.lists(st.one_of(st.sampled_from(PIECES), st.binary(max_size=20)), max_size=12).map(b"".join)
    names = st.sampled_from([f"a{suffix}{packed}" for suffix in [*WHOLE, ""] for packed in [*PACKED, ""]])
    return st.builds(Given, names, pieces, st.sampled_from(list(KINDS)))


ODD = [2**63, 2**64, -1, 10**30, 1e300, "0xff", "\ud800"]
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.integers(0, 3), st.floats(), st.text(max_size=5), st.sampled_from(ODD)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(["indices", "values", "dim", "element", "weight", "a", ""]), inner, max_size=3),
    ),
    max_leaves=6,
)


@st.composite
def records(draw: st.DrawFn) -> Given:
    """Records whose fields hold anything, as JSON."""
    kind = draw(st.sampled_from(list(KINDS)))
    field = KINDS[kind].get("field", {"l2": "vector", "string": "text"}.get(kind, kind))
    rows = draw(st.lists(st.one_of(st.fixed_dictionaries({field: VALUES}, optional={"id": VALUES}), st.sampled_from(ROWS), VALUES), max_size=6))
    if draw(st.booleans()):
        return Given("a.json", json.dumps(rows, ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass"), kind)
    return Given("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode(), kind)
