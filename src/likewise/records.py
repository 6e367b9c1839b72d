"""What a reader hands on: chunks of raw input, and the rows that were found in one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

#: What a row turned out to be. NO_TEXT: the wanted value is null, missing or of another type. REJECTED: the row cannot be decoded, or its
#: value has no meaning (NaN in a vector). An empty list is a TEXT with an empty payload.
TEXT, NO_TEXT, REJECTED = 0, 1, 2

#: What ``Want.kind`` may be, and the bytes of a row in ``Records.text``, numbers little endian.
PAYLOADS = {
    "text": "UTF-8, lone surrogates as three bytes each",
    "string": "the same; nothing of it will be normalised",
    "tokens": "int64, one a token",
    "elements": "uint64, a word (items.words) an element, in any order, repeats among them",
    "weighted": "pairs of a uint64 word and a float64 weight, finite and not negative; in any order, repeats and weights of 0 among them",
    "vector": "finite numbers, float64 where ``Want.wide`` and float32 where not",
    "sparse": "pairs of a uint64 index and a float64 value, indices ascending and distinct, values finite and not 0",
    "features": "float32, finite, feature after feature, all of one length",
    "code": "bits, the lowest of a byte first, padded with zeros to whole words of 8 bytes",
}

#: So many times as much a compressed batch of records may expand to.
BATCH_FACTOR = 64


#: `engines.threads.Threads.map`, or what stands for it on one thread.
Each = Callable[..., Iterator[Any]]


def in_turn(function: Callable[[Any], Any], values: Iterable[Any], at_once: int = 1) -> Iterator[Any]:
    """Value after value, each when it is asked for."""
    return map(function, values)


class Want(NamedTuple):
    """The fields to read from each row. A name is a column or a path with dots; ``text``, which is compared, may name several (`io.field_names`)."""

    text: str = "text"
    id: str | None = "id"  # None: no id column is wanted; a name that no row has gives no ids
    per: str | None = None
    score: str | None = None
    kind: str = "text"  # a key of PAYLOADS
    seed: int = 0  # keys the words that stand for elements
    own: bool = False  # whole numbers of 64 bits are their own words, as families take them
    wide: bool = False  # numbers of vectors are float64, not float32
    decimal: bool = False  # codes in CSV files that may be hexadecimal or decimal are decimal
    width: int = 0  # Records.width of the first item, if known: an item of another width is rejected
    first: str = ""  # the place of that item, for the message
    most: int = 64 << 20  # bytes of one record; a longer one is refused
    records: str | None = None  # keys that lead to the list of records inside of a JSON document, with dots between
    whole: bool = False  # ``text`` is one name, whatever signs it holds
    mapped: tuple[tuple[str, str], ...] = ()  # (field, glob): sources that match the glob have that field in place of ``text``
    room: int = 1 << 62  # bytes of one record for which there is memory; a longer one, of up to ``most``, ends the run


class Chunk(NamedTuple):
    """A run of whole rows of one file, cheap to make; ``parse`` does the work on any thread.

    ``data`` is a uint8 array for byte formats, a pyarrow RecordBatch for columnar ones.
    ``start`` is the offset of the first byte in the (decompressed) stream, or the number of the first row.
    ``line`` is the number of the first line, from 1 (0 where lines mean nothing).
    ``state`` is whatever the format must know to parse the chunk, such as CSV's header.
    """

    data: Any
    start: int
    line: int
    state: Any = None


class Rejected(NamedTuple):
    """A row that cannot be decoded: its number in the chunk, why and where in words, and its bytes; None where it stands for what could not be
    read of a source, and has no place in it."""

    row: int
    reason: str
    raw: bytes | None


@dataclass
class Records:
    """The rows of a chunk, one entry a row, in order; rejected rows are rows too, so that positions count them.

    Byte formats: ``start``/``length`` are the row's bytes in the stream, line end included; copying them copies the row.
    Columnar formats: ``start`` is the row number and ``length`` is 0.
    """

    kind: np.ndarray  # uint8[n]: TEXT, NO_TEXT or REJECTED
    start: np.ndarray  # int64[n]
    length: np.ndarray  # int64[n]
    text: pa.LargeBinaryArray  # what PAYLOADS says of the wanted kind; empty where kind is not TEXT; no nulls
    id: pa.LargeBinaryArray | None = None  # the id as JSON text ('7', '"a"'); null where the row has none
    per: pa.LargeBinaryArray | None = None  # the grouping value as JSON text; null where the row has none
    score: np.ndarray | None = None  # float64[n]; NaN where missing or not a number
    width: np.ndarray | None = None  # int64[n]; numbers of a vector or of each feature, dimension of a sparse one (0: not said), bits of a code
    rejected: list[Rejected] = field(default_factory=list)
    fields: tuple[str, ...] = ()  # top-level names seen in some row: for the message when a wanted one is missing
    nulls: np.ndarray | None = None  # int64[n]; missing elements that were left out of a set; None: none
    matrix: int = 0  # elements of each row where all rows look like those of a matrix of 0 and 1; 0: they do not
    other: str = ""  # description (items.unusable.held) of the first value that is not of the wanted kind, or empty
    found: bool = True  # at least one row has the wanted text field, whatever its value (null counts)

    def __len__(self) -> int:
        return len(self.kind)
