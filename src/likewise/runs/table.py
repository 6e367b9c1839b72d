"""Tables of results: Arrow-backed, with rows and columns for Python, previews for people, and conversions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self, overload

import numpy as np
import pyarrow as pa

from likewise.choices import CHOICES, CsvFormulas
from likewise.drawing.controls import escaped_json, in_line
from likewise.errors import LikewiseError, UsageError, missing_part
from likewise.io import address
from likewise.io.address import Place
from likewise.io.ids import from_json
from likewise.io.placing import refuse_others
from likewise.runs.recorded import Entry
from likewise.runs.table_files import write_table

if TYPE_CHECKING:
    import pandas
    import polars

    from likewise.drawing.markup import Html
    from likewise.drawing.preview import Preview

#: Rows converted to Python values at once.
BATCH = 2**14
#: Rows up to this one are made or read alone; for one behind it the whole table is.
FEW = 1_000
#: Key of `Data.rows` for rows that are input rows themselves.
ITSELF = ""
#: Columns of ids of items.
ITEMS = ("id", "kept_id", "id_a", "id_b")
#: A function that returns numbers of rows, int64[n]; called only if they are needed.
Numbers = Callable[[], np.ndarray]


class Data(NamedTuple):
    """Rows in memory."""

    table: pa.Table
    json: Mapping[str, pa.Array] = MappingProxyType({})  # by column: ids with several types, each as JSON text
    rows: Mapping[str, Numbers] = MappingProxyType({})  # by column of ids: the numbers of the input rows that they name

    def slice(self, begin: int, length: int) -> Data:
        """Return some consecutive rows."""
        part = slice(begin, begin + length)
        rows = {name: cache(lambda numbers=numbers: numbers()[part]) for name, numbers in self.rows.items()}
        return Data(self.table.slice(begin, length), {name: column[part] for name, column in self.json.items()}, rows)

    def filter(self, chosen: pa.ChunkedArray) -> Data:
        """Return the rows where ``chosen`` is true."""
        mask = chosen.combine_chunks()
        rows = {name: cache(lambda numbers=numbers: numbers()[mask.to_numpy(zero_copy_only=False)]) for name, numbers in self.rows.items()}
        return Data(self.table.filter(chosen), {name: column.filter(mask) for name, column in self.json.items()}, rows)

    def select(self, names: list[str], origin: Contents | None) -> Data:
        """Return the columns with these names. Columns of ids keep the numbers of their rows, also where the columns of places are left out."""
        rows = {name: cache(lambda name=name: self.numbers(name, origin)) for name in names if name in ITEMS}
        return Data(self.table.select(names), {name: column for name, column in self.json.items() if name in names}, rows)

    def numbers(self, name: str, origin: Contents | None) -> np.ndarray:
        """The numbers of the input rows that a column of ids names, int64[n]."""
        if name in self.rows or origin is None:
            return self.rows[name]()
        return origin.rows(*(self.table[name.replace("id", what)] for what in ("source", "position")))


@dataclass(frozen=True)
class LazyData:
    """A table whose rows are made or read only when they are used."""

    count: int
    schema: pa.Schema
    first: Callable[[int], Data]  # the first rows
    whole: Callable[[], Data]


class Contents(Protocol):
    """The inputs of a result (`runs.origin`)."""

    def rows(self, source: pa.ChunkedArray, position: pa.ChunkedArray) -> np.ndarray:
        """Return the numbers of the rows at these places, int64[n]."""

    def snippets(self, rows: np.ndarray, length: int | None, parts: tuple[np.ndarray, np.ndarray] | None = None) -> pa.Array:
        """Return the contents of rows, or parts of them, as shown to people, cut to ``length`` characters.

        Raises DataError if an input is gone or has changed.
        """

    def near(self, rows: np.ndarray) -> bool:
        """Return True if the rows can be read quickly."""

    def recorded(self, names: Sequence[set[str] | None], folder: Place) -> list[list[Entry]]:
        """Return the entries of the inputs with these names, or of all, for a file in ``folder`` (`runs.recorded`): of one collection or of two."""


class Array(Protocol):
    """An array or a series of numpy, Arrow, pandas or Polars."""

    def __array__(self) -> np.ndarray: ...


def check_length(length: object) -> None:
    """Check the maximum length of texts that are shown. Raises UsageError."""
    if length is not None and (isinstance(length, bool) or not isinstance(length, int) or length < 1):
        raise UsageError(f"with_text: length={length!r}: give a whole number of characters from 1, or None for the whole text")


class Table:
    """A table of results; any library that reads Arrow takes it (``pl.DataFrame(table)``, DuckDB), and ``pd.DataFrame(table)`` works too.

    ``table["name"]`` is a column as a numpy array, ``table[3]`` a row as a dict; iteration yields rows. ``table[:10]``,
    ``table[table["similarity"] < 0.9]`` and ``table[["id_a", "id_b"]]`` are tables. Ids have their original types.
    """

    def __init__(self, table: pa.Table | Data | LazyData, *, origin: Contents | None = None, given: Any = None):
        """origin: the inputs, for `with_text`. given: the object whose rows these are, for `to_native`."""
        self._made: Data | LazyData = Data(table) if isinstance(table, pa.Table) else table
        self._origin = origin
        self._given = given
        self._native: Callable[[], Any] | None = None  # reads the whole table in the type of the library that holds it

    def native(self, read: Callable[[], Any]) -> Self:
        """Return this table, which lies where the library of the inputs reads it, in its own type. The inputs need not be there."""
        made = self._with(self._made)
        made._origin, made._native = None, read
        return made

    def _data(self) -> Data:
        if isinstance(self._made, LazyData):
            self._made = self._made.whole()
        return self._made

    def _with(self, data: Data | LazyData) -> Self:
        """Return the same kind of table with other rows or columns."""
        made = object.__new__(type(self))
        made.__dict__ = self.__dict__ | {"_made": data, "_native": None}
        return made

    @property
    def _records(self) -> str:
        """The method that gives the records of the items."""
        return "with_text" if self._native is None else "to_native"

    def __copy__(self) -> Self:
        made = self._with(self._data())
        made._native = self._native
        return made

    def __getstate__(self) -> dict[str, Any]:
        """For pickles: without the inputs, so that `with_text` and `to_native` no longer work."""
        data = self._data()
        return self.__dict__ | {"_made": (data.table, dict(data.json)), "_origin": None, "_given": None, "_native": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = state | {"_made": Data(*state["_made"])}

    @property
    def schema(self) -> pa.Schema:
        """The names and Arrow types of the columns."""
        return self._made.schema if isinstance(self._made, LazyData) else self._made.table.schema

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema.names)

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return len(self), len(self.columns)

    def __len__(self) -> int:
        return self._made.count if isinstance(self._made, LazyData) else self._made.table.num_rows

    def head(self, n: int = 5) -> Self:
        """Return the first ``n`` rows, or all but the last ``-n``. Of a large table in a file, only these are read."""
        return self[:n]

    def tail(self, n: int = 5) -> Self:
        """Return the last ``n`` rows, or all but the first ``-n``."""
        return self[max(0, len(self) - n) if n >= 0 else -n :]

    @overload
    def __getitem__(self, key: str) -> np.ndarray: ...
    @overload
    def __getitem__(self, key: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: slice | list[str] | list[bool] | Array) -> Self: ...
    def __getitem__(self, key: Any) -> Any:
        """Return the column of a name, the row of a number, or the table of a slice of rows, of a mask, or of a list of names of columns.

        A mask has one truth value for each row: an array or series of numpy, Arrow, pandas or Polars; a missing value does not select its row.
        Raises KeyError, IndexError, or TypeError for other keys.

        A column is a numpy array; of dtype object where numpy has no type that holds its values, missing ones included.
        ``to_arrow()[name]`` keeps the Arrow type.
        """
        if isinstance(key, str):
            self._check_column(key)
            data = self._data()
            if key in data.json:
                return objects([None if text is None else from_json(text) for text in data.json[key].to_pylist()])
            return as_numpy(data.table[key])
        if isinstance(key, slice):
            begin, end, step = key.indices(len(self))
            if step != 1:
                raise IndexError(f"step {step}: a slice of rows must have step 1")
            size = max(0, end - begin)
            if isinstance(self._made, LazyData) and (begin == 0 or end <= FEW):
                return self._with(self._made.first(begin + size).slice(begin, size))
            return self._with(self._data().slice(begin, size))
        if isinstance(key, int | np.integer) and not isinstance(key, bool):
            if not -len(self) <= key < len(self):
                raise IndexError(f"row {key}: the table has {len(self):,} rows")
            row = int(key) % len(self)
            return self[row : row + 1].to_dicts()[0]
        if isinstance(key, list) and key and all(isinstance(name, str) for name in key):
            return self._columns(key)
        return self._with(self._data().filter(pa.chunked_array([mask_of(key, len(self))])))

    def _columns(self, names: list[str]) -> Self:
        for place, name in enumerate(names):
            self._check_column(name)
            if name in names[:place]:
                raise KeyError(f"column {name!r} is named twice")
        made, origin = self._made, self._origin
        if isinstance(made, Data):
            return self._with(made.select(names, origin))
        schema = pa.schema([made.schema.field(name) for name in names])
        return self._with(LazyData(made.count, schema, lambda n: made.first(n).select(names, origin), lambda: made.whole().select(names, origin)))

    def _check_column(self, name: str) -> None:
        if name not in self.columns:
            raise KeyError(f"no column {name!r}; the columns are {', '.join(self.columns)}")

    def _ipython_key_completions_(self) -> list[str]:
        return self.columns

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the rows as dicts; ids have their original types."""
        for rows in self._typed(from_json):
            yield from rows

    def __eq__(self, other: object) -> bool:
        """True for a table with the same columns, types and rows; for one of pyarrow, whose ids have one type, with the same columns there."""
        if isinstance(other, pa.Table):
            return bool(self._data().table.equals(other))
        if not isinstance(other, Table):
            return NotImplemented
        mine, yours = self._data(), other._data()
        typed = mine.json.keys() == yours.json.keys() and all(mine.json[name].equals(yours.json[name]) for name in mine.json)
        return bool(typed and mine.table.equals(yours.table))

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def json_lines(self) -> Iterator[str]:
        """Yield strings of some thousand JSON lines, one object per row; ids have their original types, and control characters are escaped."""
        import msgspec

        for rows in self._typed(msgspec.Raw):
            yield escaped_json("".join(msgspec.json.encode(row).decode() + "\n" for row in rows))

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the rows as dicts; ids have their original types."""
        return list(self)

    def _typed(self, read: Callable[[bytes], Any]) -> Iterator[list[dict[str, Any]]]:
        data = self._data()
        for begin in range(0, len(data.table), BATCH):
            rows = data.table.slice(begin, BATCH).to_pylist()
            for name, texts in data.json.items():
                for row, text in zip(rows, texts[begin : begin + BATCH].to_pylist(), strict=True):
                    row[name] = None if text is None else read(text)
            yield rows

    def _preview(self, *, contents: bool = False) -> Preview:
        """The first rows, as they are shown. contents: with those of their items if these can be read at once."""
        from likewise.drawing.preview import ROWS, Preview

        behind = self._behind()
        table = self[[*(name for name in self.columns if name not in behind), *behind]] if behind else self
        first = table[:ROWS]._with_text_if_near() if contents else table[:ROWS]
        data = first._data()
        values = [shown_values(data.table[number]) for number in range(data.table.num_columns)]
        for name, texts in data.json.items():
            values[data.table.column_names.index(name)] = [None if text is None else from_json(text) for text in texts.to_pylist()]
        return Preview(type(self).__name__, first.columns, list(zip(*values, strict=True)), len(self), len(first.columns) - len(self.columns))

    def _behind(self) -> list[str]:
        """The columns that a preview shows last."""
        return []

    def __repr__(self) -> str:
        from likewise.drawing.preview import as_text

        return "\n".join([as_text(self._preview()), *(f"warning: {in_line(said)}" for said in self._warnings)])

    def _repr_html_(self) -> str:
        from likewise.drawing.preview import as_html, listed

        return as_html(self._preview(contents=True), self._picture(), listed(self._warnings))

    def _picture(self) -> Html | None:
        """The charts that a notebook shows above the rows."""
        return None

    @property
    def _warnings(self) -> list[str]:
        return []

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._data().table.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pa.Table:
        """Return the table as a pyarrow.Table."""
        return self._data().table

    def to_pandas(self) -> pandas.DataFrame:
        """Return the table as a pandas.DataFrame. Raises MissingPartError if pandas is not installed."""
        if find_spec("pandas") is None:
            raise missing_part("to_pandas() needs", "pandas", "pandas")
        frame: pandas.DataFrame = self._data().table.to_pandas()
        return frame

    def to_polars(self) -> polars.DataFrame:
        """Return the table as a polars.DataFrame. Raises MissingPartError if Polars is not installed."""
        try:
            import polars
        except ImportError as error:
            raise missing_part("to_polars() needs", "Polars", "polars") from error
        frame = polars.from_arrow(self._data().table)
        assert isinstance(frame, polars.DataFrame)  # of a table; an array would be a series
        return frame

    def to_native(self) -> Any:
        """Return these rows in the type of the object given to `dedup`: a pandas frame with its index, a polars frame, a list or an array.

        If the input is a Spark DataFrame, each table returns a DataFrame of all its rows. Otherwise raises UsageError for other tables than ``kept``,
        for rows from files, and for objects that can be read only once.
        """
        if self._native is not None:
            return self._native()
        rows = self._data().rows.get(ITSELF)
        if self._given is None or rows is None:
            others = "use to_pandas(), to_polars(), to_arrow() or to_dicts()"
            raise UsageError(f"to_native: only the kept records of data from Python have a type of their own; {others}")
        from likewise.io.native import rows_of

        return rows_of(self._given, rows())

    def with_text(self, length: int | None = 80) -> Self:
        """Return the table with the content of each item, read again from the inputs: ``text`` next to ``id``, ``text_a`` next to ``id_a``.

        length: maximum characters of a snippet, in which white space is one space; None: the whole text. Vectors, codes and sets are shown as
        `likewise show` does. Select the rows that you want to see before the call, as in ``pairs.head(20).with_text()``: other rows are not read.
        Raises DataError for an input that has changed or no longer exists, UsageError for a table that does not list items of inputs.
        """
        if self._origin is None:
            if self._native is not None:
                raise UsageError("with_text: the rows of a Spark DataFrame are not stored; join to_native() with it by id")
            raise UsageError("with_text: this table has no inputs to read: it holds the records themselves, or was loaded from a pickle")
        check_length(length)
        data = self._data()
        table, names = data.table, [name for name in data.table.column_names if name in ITEMS]
        if not names:
            raise UsageError(f"with_text: this table has no column of ids; its columns are {', '.join(self.columns)}")
        rows = np.concatenate([data.numbers(name, self._origin) for name in names])  # of all columns, so that a source is read once
        ends = [[name.replace("id", what) for name in names] for what in ("start", "end")]
        parts = None
        if all(name in table.column_names for name in (*ends[0], *ends[1])):
            begin, end = (np.concatenate([table[name].to_numpy() for name in each]) for each in ends)
            parts = begin, end
        texts = self._origin.snippets(rows, length, parts)
        for number, name in enumerate(names):
            text = name.replace("id", "text")
            if text in table.column_names:
                table = table.drop_columns([text])
            table = table.add_column(table.column_names.index(name) + 1, text, texts.slice(number * len(table), len(table)))
        return self._with(data._replace(table=table))

    def _with_text_if_near(self) -> Self:
        """The table with snippets if it lacks them and they can be read at once."""
        if self._origin is None or any(name.replace("id", "text") in self.columns for name in ITEMS):
            return self
        try:
            near = all(self._origin.near(self._data().numbers(name, self._origin)) for name in self.columns if name in ITEMS)
            return self.with_text() if near else self
        except (LikewiseError, OSError):
            return self

    def write(self, path: str | Path, *, overwrite: bool = False, csv_formulas: CsvFormulas = "escape") -> None:
        """Write a file: Parquet, JSON lines or CSV, by the extension. ``overwrite`` replaces an existing file once the new one is complete.

        csv_formulas: in CSV, "escape" puts ' before texts that a spreadsheet would evaluate as formulas; "raw" writes them unchanged.
        Raises UsageError for an existing file, an unknown extension, a link or a folder.
        """
        if csv_formulas not in CHOICES["csv_formulas"]:
            raise UsageError(f"csv_formulas={csv_formulas!r}: choose one of {', '.join(CHOICES['csv_formulas'])}")
        target = address.place(path)
        refuse_others(target, "")
        if target.is_file() and not overwrite:
            raise UsageError(f"{path}: the file exists; overwrite=True replaces it once the new one is complete")
        self._write(target, overwrite=overwrite, csv_formulas=csv_formulas)

    def _write(self, target: Path, *, overwrite: bool, csv_formulas: CsvFormulas) -> None:
        note = self._note(target) if target.suffix.lower() == ".parquet" else None
        write_table(self.to_arrow(), self.json_lines(), target, overwrite=overwrite, csv_formulas=csv_formulas, note=note)

    def _note(self, target: Path) -> dict[bytes, bytes] | None:
        """The record of the run for a file of the table (`runs.recorded`)."""
        return None


def mask_of(key: Any, rows: int) -> pa.Array:
    """Return a mask of the rows of a table, False where it has no value. Raises TypeError for another key, and IndexError for another length."""
    if isinstance(key, list):
        held = f"list of {', '.join(dict.fromkeys(type(one).__name__ for one in key))}" if key else "empty list"
        values = np.array(key) if key and all(isinstance(one, bool | np.bool_) for one in key) else None
    else:
        values = np.asarray(key) if hasattr(key, "__array__") and np.ndim(key) else None
        held = type(key).__name__ if values is None else f"array of {values.dtype}"
    if values is not None and values.dtype == object and values.ndim == 1:  # truth values, some of them missing
        with suppress(pa.ArrowException):
            values = pa.array(values, pa.bool_(), from_pandas=True).fill_null(False).to_numpy(zero_copy_only=False)
    if values is None or values.dtype != bool:
        valid = "give the name of a column, a list of names, the number of a row, a slice of rows, or a mask with a truth value for each row"
        raise TypeError(f"{held}: {valid}")
    if values.shape != (rows,):
        raise IndexError(f"mask of the shape {values.shape}: give one truth value for each of the {rows:,} rows")
    return pa.array(values)


def as_numpy(column: pa.ChunkedArray) -> np.ndarray:
    """Return a column as a numpy array: floats and times with NaN and NaT for missing values; whole numbers and truth values without missing ones.

    Everything else is an array of objects.
    """
    kind = column.type
    with_gaps = pa.types.is_floating(kind) or pa.types.is_date(kind) or (pa.types.is_timestamp(kind) and kind.tz is None)
    if with_gaps or ((pa.types.is_integer(kind) or pa.types.is_boolean(kind)) and not column.null_count):
        return column.to_numpy()
    return objects(column.to_pylist())


def objects(values: list[Any]) -> np.ndarray:
    """Return a one-dimensional array of objects, also of lists of one length."""
    return np.fromiter(values, object, len(values))


def shown_values(column: pa.ChunkedArray) -> list[Any]:
    """Return a column's values for display; as texts where Python lacks them, as times in nanoseconds without pandas, or as their type."""
    for values in (column.to_pylist, lambda: column.cast(pa.string()).to_pylist()):
        with suppress(pa.ArrowException, ValueError, OverflowError, ImportError):
            return values()
    return [f"<{column.type}>"] * len(column)
