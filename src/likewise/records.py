"""The output of readers: chunks of raw input, and the rows parsed from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

#: Kinds of rows. NO_TEXT: the wanted value is null, missing or of another type. REJECTED: the row cannot be decoded, or its value is
#: invalid (NaN in a vector). An empty list is a TEXT with an empty payload.
TEXT, NO_TEXT, REJECTED = 0, 1, 2

#: Maximum ratio to which a compressed batch of records may expand.
BATCH_FACTOR = 64


#: `engines.threads.Threads.map`, or `in_turn` for one thread.
Each = Callable[..., Iterator[Any]]


def in_turn(function: Callable[[Any], Any], values: Iterable[Any], at_once: int = 1) -> Iterator[Any]:
    """Yield the results one by one, each computed when it is requested."""
    return map(function, values)


class Want(NamedTuple):
    """The fields to read from each row. A name is a column or a path with dots; ``text``, which is compared, may name several (`io.field_names`)."""

    text: str = "text"
    id: str | None = "id"  # None: no ids; a name that no row has gives no ids either
    per: str | None = None
    score: str | None = None
    kind: str = "text"  # the payload of a kind (Kind.payload)
    seed: int = 0  # seed of the words that stand for elements
    own: bool = False  # 64-bit integers are their own words, as in the families
    signed: bool = False  # weighted sets get signatures, so their totals must be in the range of those
    wide: bool = False  # vectors are float64, not float32
    decimal: bool = False  # codes in CSV files that could be hexadecimal or decimal are decimal
    width: int = 0  # Records.width of the first item, if known: an item of another width is rejected
    first: str = ""  # the place of that item, for the message
    most: int = 64 << 20  # maximum bytes of a record; a longer one is refused
    records: str | None = None  # path of keys to the list of records inside a JSON document, separated by dots
    html: str = "text"  # what is read of a web page: its text, the main text, or the raw source
    whole: bool = False  # ``text`` is a single name, whatever characters it contains
    mapped: tuple[tuple[str, str], ...] = ()  # (field, glob): sources that match the glob have that field in place of ``text``
    room: int = 1 << 62  # maximum bytes of a record that fit in memory; a longer one, of up to ``most``, ends the run
    located: bool = False  # parts of the text will be cut out of the record: it must be a single string, not the strings of a list


class Chunk(NamedTuple):
    """Whole consecutive rows of one file, cheap to make; ``parse`` does the work on any thread.

    ``data`` is a uint8 array for byte formats, a pyarrow Table or RecordBatch for columnar ones.
    ``start`` is the offset of the first byte in the (decompressed) stream, or the number of the first row.
    ``line`` is the number of the first line, from 1 (0 if unknown or meaningless).
    ``state`` is the format's own state for parsing the chunk, such as CSV's header.
    """

    data: Any
    start: int
    line: int
    state: Any = None


class Edits(NamedTuple):
    """Parts to cut out of the texts of some rows of a source: the bytes begin[i]:end[i] of the text of row row[i], as `Records.text` has it.

    Parts ascend and do not overlap. Each begins and ends at the border of a character. ``characters``: places are code points, not bytes.
    """

    want: Want  # with which the rows were read, ``located``
    row: np.ndarray  # int64[m]: numbers of rows in the source
    begin: np.ndarray  # int64[m]
    end: np.ndarray  # int64[m]
    characters: bool = False

    def of(self, first: int, last: int) -> Edits:
        """Return the parts of the rows from ``first`` up to ``last``, which are then numbered from 0."""
        here = slice(*np.searchsorted(self.row, (first, last)).tolist())
        return self._replace(row=self.row[here] - first, begin=self.begin[here], end=self.end[here])


class Chosen(NamedTuple):
    """Rows of one source to write, with columns added, or with parts of their texts cut out (`io.formats.Format.write`)."""

    keep: np.ndarray  # bool[n]
    start: np.ndarray  # int64[n]
    length: np.ndarray  # int64[n]
    added: pa.Table | None = None
    edits: Edits | None = None


class Rejected(NamedTuple):
    """A row that cannot be decoded: its number in the chunk, the reason with the place, and its bytes.

    The bytes are None if the row represents the unreadable rest of a source.
    """

    row: int
    reason: str
    raw: bytes | None


@dataclass
class Records:
    """The rows of a chunk, in order; rejected rows are included, so that positions count them.

    Byte formats: ``start``/``length`` are the row's bytes in the stream, including the line end; copying them copies the row.
    Columnar formats: ``start`` is the row number and ``length`` is 0.
    """

    kind: np.ndarray  # uint8[n]: TEXT, NO_TEXT or REJECTED
    start: np.ndarray  # int64[n]
    length: np.ndarray  # int64[n]
    text: pa.LargeBinaryArray  # payloads, as described next to the reader of the kind; numbers are little endian; empty if kind is not TEXT; no nulls
    id: pa.LargeBinaryArray | None = None  # id as JSON text ('7', '"a"'); null if the row has none
    per: pa.LargeBinaryArray | None = None  # grouping value as JSON text; null if the row has none
    score: np.ndarray | None = None  # float64[n]; NaN if missing or not a number
    width: np.ndarray | None = None  # int64[n]; dimension of a vector, of each feature or of a sparse vector (0: unknown), or bits of a code
    rejected: list[Rejected] = field(default_factory=list)
    fields: tuple[str, ...] = ()  # some top-level names of the rows, for the message about a missing field
    nulls: np.ndarray | None = None  # int64[n]; missing elements left out of a set; None: none
    matrix: int = 0  # elements of each row if all rows look like those of a matrix of 0 and 1, else 0
    other: str = ""  # description (items.unusable.held) of the first value that is not of the wanted kind, or empty
    found: bool = True  # at least one row has the wanted text field, whatever its value (null counts)
    located: np.ndarray | None = None  # int64[n, 2]: where the value begins and ends in a chunk of bytes, quotes included (Want.located)
    sketched: dict[str, np.ndarray] | None = None  # rows of an index: columns that `stages.sketch` makes of other rows; they have no payloads

    def __len__(self) -> int:
        return len(self.kind)
