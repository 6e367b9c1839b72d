"""Kinds of damage to files: how each is made in each format, and what comes of it."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import ipc

from as_bytes import PACK, arrow, npy, parquet

#: As fast as possible: the tests are about reading, not about similarity.
FAST: dict[str, Any] = {"by": "whitespace:1", "normalize": "none", "threshold": 0.5, "bands": 1, "rows": 1, "threads": 1}
COSINE: dict[str, Any] = {"by": "cosine", "threshold": 0.99, "threads": 1}
#: The sound records: the last is a copy of the first. What is damaged stands in the middle, in place 2.
SOUND = (b"one two three four", b"five six seven eight", b"nine ten eleven twelve", b"one two three four")
BAD = 2

#: Format -> what stands before, a record, what stands between, after.
FRAMES = {
    "jsonl": (b"", b'{"id": %d, "text": "%s"}', b"\n", b"\n"),
    "json": (b"[\n", b'{"id": %d, "text": "%s"}', b",\n", b"\n]\n"),
    "csv": (b"id,text\n", b"%d,%s", b"\n", b"\n"),
    "tsv": (b"id\ttext\n", b"%d\t%s", b"\n", b"\n"),
}


PLAIN, COLUMNAR = "jsonl json csv tsv", "parquet arrow arrows"
JSON, CSV = "jsonl json jsonl.gz json.zst", "csv tsv csv.bz2 tsv.xz"
FORMATS = f"{JSON} {CSV} txt {COLUMNAR} npy".split()
PACKED = [f"{name}.{kind}" for name in PLAIN.split() for kind in PACK]


# --- what comes of a cell


@dataclass(frozen=True)
class Fine:
    """Read as it stands. ``text``: what the damaged record is read as, None where it has no text."""

    text: bytes | None = None
    rows: tuple[bytes | None, ...] | None = None  # where they are not the sound ones with that text among them
    ids: tuple[str, ...] = ()  # those of the rows that are kept, where they are in question


@dataclass(frozen=True)
class Bad:
    """One record is refused, or rejected, at a place. ``rows``: intact records that remain; those before it come first."""

    place: str
    says: str
    rows: int = len(SOUND)
    position: int = 2


@dataclass(frozen=True)
class Cut:
    """The rest of a file is refused, or rejected. ``rows`` before that are read."""

    says: str
    rows: int = 0


@dataclass(frozen=True)
class Refused:
    """Refused whatever --on-error says."""

    says: str


Outcome = Fine | Bad | Cut | Refused | str  # str: why there is no such cell
NUMBERS = "an array holds numbers alone"
ONE = "a text file is one item"


# --- files


def framed(name: str, records: list[bytes]) -> bytes:
    before, _, between, after = FRAMES[name]
    return before + between.join(records) + after


def listed(name: str, value: bytes | None) -> list[bytes]:
    """The records of a byte format, with a value put into the damaged one as it is; without one where that is None."""
    record = FRAMES[name][1]
    records = [record % (number, text) for number, text in enumerate(SOUND)]
    return records if value is None else [*records[:BAD], record % (9, value), *records[BAD:]]


def columnar(name: str, table: pa.Table, **how: Any) -> bytes:
    if name == "parquet":
        return parquet(table, **how)
    return arrow(table, ipc.new_file if name == "arrow" else ipc.new_stream, 2)


def table_of(texts: list[Any], kind: pa.DataType | None = None) -> pa.Table:
    return pa.table({"id": pa.array(range(len(texts))), "text": pa.array(texts, kind or pa.binary())})


def middle(value: Any) -> list[Any]:
    return [*SOUND[:BAD], value, *SOUND[BAD:]]


def packed(name: str, data: bytes) -> bytes:
    return PACK[name.partition(".")[2]](data) if "." in name else data


def of_value(name: str, value: bytes) -> Any:
    """A file of any format whose damaged record has this text; of text files a folder of them."""
    if name == "txt":
        return {f"{number}.txt": text for number, text in enumerate(middle(value))}
    if name in COLUMNAR:
        return columnar(name, table_of(middle(value)))
    inner = name.partition(".")[0]
    return packed(name, framed(inner, listed(inner, value)))


def of_record(name: str, record: bytes) -> bytes:
    """A byte format whose damaged record is this one."""
    inner = name.partition(".")[0]
    records = listed(inner, b"")
    records[BAD] = record
    return packed(name, framed(inner, records))


VECTORS = [[1.0, 0.0], [0.0, 1.0], [3.0, 1.0], [-1.0, 0.0], [1.0, 0.0]]
INFINITE = [*VECTORS[:BAD], [3.0, np.inf], *VECTORS[BAD + 1 :]]


def vectors(name: str) -> bytes:
    """A file of vectors of which one has an infinite number."""
    inner = name.partition(".")[0]
    if name == "npy":
        return npy(np.array(INFINITE))
    rows = [{"id": i, "x0": row[0], "x1": row[1]} for i, row in enumerate(INFINITE)]
    if name in COLUMNAR:
        return columnar(name, pa.Table.from_pylist(rows))
    if inner in JSON:
        return packed(name, framed(inner, [json.dumps(row).replace("Infinity", "1e999").encode() for row in rows]))
    separator = FRAMES[inner][1][2:3].decode()
    return packed(name, "".join(separator.join(map(str, row)) + "\n" for row in [["id", "x0", "x1"], *(row.values() for row in rows)]).encode())


LONG = b"x" * 3_000_000
DEEP = b"[" * 50_000


@dataclass(frozen=True)
class Damage:
    comes: dict[str, Outcome]  # formats -> what comes of it
    text: bytes = b""  # that of the damaged record, as it stands in the file
    make: Callable[[str], Any] | None = None  # name of a format -> the bytes of a file, or of text files by name
    choices: dict[str, Any] = field(default_factory=dict)


def record(json: bytes = b"", csv: bytes = b"") -> Callable[[str], Any]:
    """The damaged record, as it stands in JSON and in CSV; in TSV it has tabs for commas."""

    def make(name: str) -> bytes:
        return of_record(name, json if name in JSON else csv.replace(b",", b"\t") if name.startswith("tsv") else csv)

    return make


def column(values: list[Any] | pa.Array, **how: Any) -> Callable[[str], bytes]:
    """A columnar file of these texts."""

    def make(name: str) -> bytes:
        array = values if isinstance(values, pa.Array) else pa.array(values)
        return columnar(name, pa.table({"id": range(len(array)), "text": array}), **(how if name == "parquet" else {}))

    return make


def either(**by: Callable[[str], Any]) -> Callable[[str], Any]:
    """One maker for each kind of format: rows (JSON, CSV), txt, columns, npy."""

    def make(name: str) -> Any:
        return by["npy" if name == "npy" else "txt" if name == "txt" else "columns" if name in COLUMNAR else "rows"](name)

    return make


def before(name: str, mark: bytes, more: int) -> bytes:
    """The text of a byte format up to some bytes behind a mark."""
    inner = name.partition(".")[0]
    data = framed(inner, listed(inner, b"caf"))
    return data[: data.index(mark) + more]


def members(name: str) -> tuple[bytes, bytes]:
    """The file as two members, the second from the damaged record on."""
    inner, _, kind = name.partition(".")
    data = framed(inner, listed(inner, b"a"))
    at = data.index(listed(inner, b"a")[BAD])
    return PACK[kind](data[:at]), PACK[kind](data[at:])


def drifted(name: str) -> dict[str, bytes]:
    """Two files, the second without a text, and with its columns in another order."""
    inner = name.partition(".")[0]
    if name in COLUMNAR:
        both = [table_of(list(SOUND)), pa.table({"body": ["a", "b"], "id": ["7", "8"]})]
        return {f"{number}.{name}": columnar(name, table) for number, table in enumerate(both)}
    separator = FRAMES[inner][1][2:3]
    other = (
        [b'{"body": "a", "id": "7"}', b'{"id": 8, "more": []}']
        if name in JSON
        else [b"a,7".replace(b",", separator), b"b,8".replace(b",", separator)]
    )
    second = framed(inner, other).replace(b"id" + separator + b"text", b"body" + separator + b"id")
    return {f"0.{name}": packed(name, framed(inner, listed(inner, None))), f"1.{name}": packed(name, second)}


PACKS = " ".join(PACKED)
ZSTD = " ".join(name for name in PACKED if name.endswith(".zst"))
SUMMED = " ".join(name for name in PACKED if not name.endswith(".zst") and not name.startswith("json."))
STRINGS = [text.decode() for text in middle(b"a")]
LINES, ARRAYS = "jsonl jsonl.gz", "json json.zst"
TEXTS = f"{JSON} {CSV} txt {COLUMNAR}"
ROW = "position 2 (rows count from 0)"
NO_JSON, NO_CSV = "only JSON has it", "only CSV has it"
UNLIKE = {f"{CSV} txt {COLUMNAR} npy": NO_JSON}

DAMAGES: dict[str, Damage] = {
    # bytes of a text
    "not UTF-8": Damage(
        {
            LINES: Bad("line 3, column 24 (0xff)", "not UTF-8"),
            ARRAYS: Bad("line 4, column 24 (0xff)", "not UTF-8"),
            CSV: Bad("line 4, column 7", "(0xff) is not UTF-8"),
            "txt": Bad("line 1, column 5 (0xff)", "not UTF-8"),
            COLUMNAR: Bad(ROW, "column 'text' is not UTF-8 at its byte 4 (0xff)"),
            "npy": NUMBERS,
        },
        b"one \xff two",
    ),
    "a character cut short": Damage(
        {
            LINES: Bad("line 3, column 24 (0xe2)", "not UTF-8"),
            ARRAYS: Bad("line 4, column 24 (0xe2)", "not UTF-8"),
            CSV: Bad("line 4, column 7", "(0xe2) is not UTF-8"),
            "txt": Bad("line 1, column 5 (0xe2)", "not UTF-8"),
            COLUMNAR: Bad(ROW, "column 'text' is not UTF-8 at its byte 4 (0xe2)"),
            "npy": NUMBERS,
        },
        b"one \xe2\x82",
    ),
    "a lone surrogate": Damage({TEXTS: Fine(b"caf\xed\xa0\x80 bar"), "npy": NUMBERS}, b"caf\xed\xa0\x80 bar"),
    "a lone surrogate, escaped": Damage(
        {JSON: Fine(b"caf\xed\xa0\x80 bar"), f"{CSV} txt {COLUMNAR}": Fine(b"caf\\ud800 bar"), "npy": NUMBERS}, b"caf\\ud800 bar"
    ),
    "NUL": Damage(
        {
            LINES: Bad("line 3, column 23 (0x00)", "control"),
            ARRAYS: Bad("line 4, column 23 (0x00)", "control"),
            f"{CSV} txt {COLUMNAR}": Fine(b"caf\0 bar"),
            "npy": NUMBERS,
        },
        b"caf\0 bar",
    ),
    "U+2028": Damage({TEXTS: Fine(b"caf\xe2\x80\xa8bar"), "npy": NUMBERS}, b"caf\xe2\x80\xa8bar"),
    "a byte-order mark in a text": Damage(
        {f"{JSON} {CSV} {COLUMNAR}": Fine(b"\xef\xbb\xbfcaf"), "txt": Fine(b"caf"), "npy": NUMBERS}, b"\xef\xbb\xbfcaf"
    ),
    "a byte-order mark before all": Damage(
        {f"{JSON} {CSV}": Fine(b"caf"), f"txt {COLUMNAR} npy": "a mark is of a text, as above"},
        make=lambda name: packed(name, b"\xef\xbb\xbf" + framed(name.partition(".")[0], listed(name.partition(".")[0], b"caf"))),
    ),
    "CRLF": Damage(
        {f"{JSON} {CSV}": Fine(b"caf"), f"txt {COLUMNAR} npy": "has no lines"},
        make=lambda name: packed(name, framed(name.partition(".")[0], listed(name.partition(".")[0], b"caf")).replace(b"\n", b"\r\n")),
    ),
    "CR for LF": Damage(
        {
            f"{JSON} {CSV}": Fine(b"caf"),  # one JSON document may follow another
            f"txt {COLUMNAR} npy": "has no lines",
        },
        make=lambda name: packed(name, framed(name.partition(".")[0], listed(name.partition(".")[0], b"caf")).replace(b"\n", b"\r")),
    ),
    "a text too long": Damage(
        {
            LINES: Bad("line 3, column 1", "longer than max_record allows"),
            ARRAYS: Bad("line 4, column 1", "longer than max_record allows"),
            CSV: Bad("line 4, column 1", "longer than max_record allows"),
            "txt": Bad("the file has 3,000,000 bytes", "max_record allows 1,048,576"),
            COLUMNAR: Bad(ROW, "max_record allows 1,048,576"),
            "npy": "a row of numbers: in test_hostile_sizes",
        },
        LONG,
        choices={"max_record": 1 << 20},
    ),
    # what records are made of
    "no number": Damage(
        {
            LINES: Bad("line 3, column 28", "field 'x1': inf is not a coordinate"),
            ARRAYS: Bad("line 4, column 28", "field 'x1': inf is not a coordinate"),
            CSV: Bad("line 4, column 7", "column 'x1': inf is not a coordinate"),
            "txt": ONE,
            COLUMNAR: Bad(ROW, "column 'x1': inf is not a coordinate"),
            "npy": Bad(ROW, "column 'array', item 2 of 2: inf is not a coordinate"),
        },
        make=vectors,
        choices=COSINE | {"field": "x0..x1"},
    ),
    "brackets without end": Damage(
        {
            LINES: Bad("line 3, column 540", "brackets nest deeper than 512"),
            ARRAYS: Bad("line 4, column 540", "brackets nest deeper than 512"),
            **UNLIKE,
        },
        make=record(b'{"id": 9, "text": "a", "x": ' + DEEP + b"]" * len(DEEP) + b"}"),
    ),
    "a brace too few": Damage(
        {
            LINES: Bad("line 3, column 22", "ends before its last bracket is closed"),
            ARRAYS: Cut("line 4, column 1: the record that begins here is not valid JSON", 2),
            **UNLIKE,
        },
        make=record(b'{"id": 9, "text": "a"'),
    ),
    "a name twice": Damage(
        {JSON: Fine(b"b"), CSV: Cut("the header has the column 'text' 2 times"), COLUMNAR: Cut("has the column 'text' 2 times"), "txt npy": ONE},
        make=either(
            rows=lambda name: (
                record(b'{"id": 9, "text": "a", "text": "b"}')(name)
                if name in JSON
                else packed(name, b"id,text,text\n1,a,b\n".replace(b",", FRAMES[name[:3]][1][2:3]))
            ),
            columns=lambda name: columnar(name, pa.table([range(2), ["a", "b"], ["c", "d"]], ["id", "text", "text"])),
        ),
    ),
    "another type": Damage(
        {JSON: Fine(None), f"{CSV} txt": "all is text", COLUMNAR: "a type is the column's, below", "npy": NUMBERS},
        make=record(b'{"id": 9, "text": ["a"]}'),
    ),
    "null": Damage(
        {JSON: Fine(None), f"{CSV} txt": Fine(b""), COLUMNAR: Fine(None), "npy": NUMBERS},
        make=either(rows=record(b'{"id": 9, "text": null}', b"9,"), columns=column(middle(None)), txt=lambda name: of_value(name, b"")),
    ),
    "no text": Damage(
        {JSON: Fine(None), CSV: Bad("line 4, column 1", "the record has 1 cell, but the header has 2"), f"txt {COLUMNAR} npy": "each has one"},
        make=record(b'{"id": 9}', b"9"),
    ),
    "no id": Damage(
        {
            f"{JSON} {CSV} {COLUMNAR}": Fine(b"a", ids=("0", "1", "None", "2")),
            "txt npy": "have none",
        },
        make=either(
            rows=record(b'{"text": "a"}', b",a"),
            columns=lambda name: columnar(name, table_of(middle(b"a")).set_column(0, "id", [[0, 1, None, 2, 3]])),
        ),
    ),
    "an id twice": Damage(
        {f"{JSON} {CSV} {COLUMNAR}": Fine(b"a", ids=("0", "1", "1", "2")), "txt npy": "have none"},
        make=either(
            rows=record(b'{"id": 1, "text": "a"}', b"1,a"),
            columns=lambda name: columnar(name, table_of(middle(b"a")).set_column(0, "id", [[0, 1, 1, 2, 3]])),
        ),
    ),
    "a huge id": Damage(
        {f"{JSON} {CSV} {COLUMNAR}": Fine(b"a", ids=("0", "1", "9" * 5000, "2")), "txt npy": "have none"},
        make=either(
            rows=record(b'{"id": ' + b"9" * 5000 + b', "text": "a"}', b"9" * 5000 + b",a"),
            columns=lambda name: columnar(name, table_of(middle(b"a")).set_column(0, "id", [["0", "1", "9" * 5000, "2", "3"]])),
        ),
    ),
    # CSV
    "a quote that is not closed": Damage(
        {CSV: Cut("line 4, column 3: the quote opened here is never closed", 2), f"{JSON} txt {COLUMNAR} npy": NO_CSV}, make=record(csv=b'9,"a')
    ),
    "a quote inside": Damage({CSV: Fine(b'a"b'), f"{JSON} txt {COLUMNAR} npy": NO_CSV}, make=record(csv=b'9,a"b')),
    "text behind a quote": Damage(
        {CSV: Bad("line 4, column 6", "continues after its closing quote"), f"{JSON} txt {COLUMNAR} npy": NO_CSV}, make=record(csv=b'9,"a"b')
    ),
    "a cell too many": Damage(
        {CSV: Bad("line 4, column 1", "the record has 3 cells, but the header has 2"), f"{JSON} txt {COLUMNAR} npy": NO_CSV},
        make=record(csv=b"9,a,b"),
    ),
    "a line end inside": Damage({CSV: Fine(b"a\nb"), f"{JSON} txt {COLUMNAR} npy": NO_CSV}, make=record(csv=b'9,"a\nb"')),
    # columns
    "no such column": Damage(
        {f"{JSON} {CSV} {COLUMNAR}": Refused("has the field 'body'; fields seen: id, text"), "txt": Refused("no row of 0.txt"), "npy": NUMBERS},
        b"a",
        choices={"field": "body"},
    ),
    "a name that is not UTF-8": Damage(
        {COLUMNAR: Cut("'utf-8' codec can't decode byte 0xff"), f"{JSON} {CSV} txt npy": "as any bytes of another encoding, below"},
        make=lambda name: columnar(name, pa.table({"text": ["a"], "other": [1]})).replace(b"other", b"oth\xffr"),
    ),
    "offsets that lead nowhere": Damage(
        {"arrow arrows": Cut("cannot be read as a table"), f"parquet {JSON} {CSV} txt npy": "only Arrow has them"},
        make=lambda name: columnar(name, table_of(middle(b"a"))).replace(struct.pack("<3i", 0, 18, 38), struct.pack("<3i", 0, 1 << 30, 38)),
    ),
    "another type of column": Damage({COLUMNAR: Refused("holds whole numbers, such as 1"), f"{JSON} {CSV} txt npy": "no types"}, make=column([1, 2])),
    "dictionary": Damage({COLUMNAR: Fine(b"a"), f"{JSON} {CSV} txt npy": "has one way"}, make=column(pa.array(STRINGS).dictionary_encode())),
    "large strings": Damage({COLUMNAR: Fine(b"a"), f"{JSON} {CSV} txt npy": "has one way"}, make=column(pa.array(STRINGS, pa.large_string()))),
    "views": Damage({COLUMNAR: Fine(b"a"), f"{JSON} {CSV} txt npy": "has one way"}, make=column(pa.array(STRINGS, pa.string_view()))),
    "delta": Damage(
        {"parquet": Fine(b"a"), f"arrow arrows {JSON} {CSV} txt npy": "only Parquet has it"},
        make=column(STRINGS, use_dictionary=False, column_encoding={"id": "DELTA_BINARY_PACKED", "text": "DELTA_BYTE_ARRAY"}),
    ),
    "nested": Damage(
        {COLUMNAR: Fine(b"a"), f"{JSON} {CSV} txt npy": "in test_json"},
        make=column(pa.array([{"deep": {"text": text, "other": 1}} for text in STRINGS])),
        choices={"field": "text.deep.text"},
    ),
    "another column in the next file": Damage(
        {JSON: Fine(rows=(*SOUND, b"a", None)), f"{CSV} {COLUMNAR}": Fine(rows=(*SOUND, b"a", b"b")), "txt npy": "has no columns"},
        make=drifted,
        choices={"field": "text|body"},
    ),
    # whole files
    "no byte": Damage(
        {
            f"{JSON} {CSV}": Fine(rows=()),
            "txt": Fine(b""),
            COLUMNAR: Cut("is empty (0 bytes)"),
            "npy": Cut("cannot be read as a .npy file"),
        },
        make=lambda name: of_value(name, b"") if name == "txt" else packed(name, b""),
    ),
    "the end is missing": Damage(
        {
            LINES: Bad("line 3, column 17", "ends before its last bracket is closed", 2),
            ARRAYS: Cut("line 4, column 1: the record that begins here is not valid JSON", 2),
            CSV: Bad("line 4, column 1", "the record has 1 cell", 2),
            "txt": "a text that is cut is a text",
            "parquet arrow": Cut("cannot be read as"),
            "arrows": Cut("cannot be read as", 4),
            "npy": Cut("is truncated"),
        },
        make=either(
            rows=lambda name: packed(name, before(name, b"9", 9 if name in JSON else 1)),
            columns=lambda name: columnar(name, table_of(middle(b"a")))[:-9],
            npy=lambda name: npy(np.array(VECTORS))[:-9],
        ),
    ),
    "bytes of another format": Damage(
        {
            JSON: Bad("line 1, column 5 (0xff)", "not UTF-8", 0, 0),
            CSV: Cut("the first record, expected to be a header with column names, cannot be read"),
            "txt": Bad("line 1, column 5", "not UTF-8", 4),
            f"{COLUMNAR} npy": Cut("cannot be read as"),
        },
        make=lambda name: {**of_value("txt", b""), "2.txt": b"PAR1\xff"} if name == "txt" else packed(name, b"PAR1\xff\xff"),
    ),
    # compressed ones
    "joined members": Damage({PACKS: Fine(b"a")}, make=lambda name: b"".join(members(name))),
    "the last member is cut": Damage({PACKS: Cut("ends early", 2)}, make=lambda name: members(name)[0] + members(name)[1][:12]),
    "bytes between members": Damage(
        {PACKS: Cut("is followed by bytes that do not belong to it", 2)}, make=lambda name: b"no member, no frame".join(members(name))
    ),
    "a wrong checksum": Damage(
        {
            "json.gz json.bz2 json.xz": Cut("is damaged", 5),
            SUMMED: Cut("is damaged", 4),  # the last byte of the text, here a line end, comes with the checksum
            ZSTD: "frames need not have one",
        },
        make=lambda name: b"".join(members(name))[:-6] + b"\x55" + b"".join(members(name))[-5:],
    ),
    "a block of no known type": Damage(
        {
            ZSTD: Cut("is damaged", 2),
            f"json.gz json.bz2 json.xz {SUMMED}": "as above",
        },
        make=lambda name: members(name)[0] + members(name)[1][:6] + b"\xff" + members(name)[1][7:],
    ),
    "not compressed": Damage(
        {PACKS: Cut("as the name says, but the file begins with")},
        make=lambda name: framed(name.partition(".")[0], listed(name.partition(".")[0], b"a")),
    ),
    "no byte, not even compressed": Damage({PACKS: Cut("as the name says, but the file is empty")}, make=lambda name: b""),
}
