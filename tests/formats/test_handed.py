"""Tables of other libraries keep their schema, and are taken in batches: no row becomes a Python object."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import likewise as lw
from likewise.errors import UsageError
from likewise.io import handed
from likewise.io.formats import memory

TEXT = "the quick brown fox jumps over the lazy dog near the river bank today"
SCHEMA = pa.schema(
    [
        ("text", pa.string()),
        ("small", pa.int8()),
        ("half", pa.float32()),
        ("list", pa.list_(pa.float32())),
        ("label", pa.int64()),
        ("when", pa.timestamp("s")),
        ("span", pa.month_day_nano_interval()),
    ],
    metadata={"huggingface": '{"info": {"features": {"label": {"names": ["n", "y"], "_type": "ClassLabel"}}}}'},
)
ROWS = {
    "text": [TEXT, f"{TEXT} again", "other words here and nothing else"],
    "small": [1, 2, 3],
    "half": [0.5, 1.5, None],
    "list": [[0.5], [], None],
    "label": [0, 1, 0],
    "when": [None, None, 1],
    "span": pa.array([(1, 15, 0), None, (0, 0, 5)], pa.month_day_nano_interval()),
}
TABLE = pa.table(ROWS, schema=SCHEMA)


class Features:
    """As features of Hugging Face datasets tell their types."""

    arrow_schema = SCHEMA


class DataSet:
    """The methods of a Hugging Face dataset that likewise may call. Iterating over it would give dicts."""

    features: Features | None = Features()

    def __init__(self, rows: pa.Table, format: str | None = None):
        self.rows, self.format = rows, format
        self.batches: list[int] = []

    def with_format(self, format: str) -> DataSet:
        made = type(self)(self.rows, format)
        made.batches = self.batches
        return made

    def iter(self, batch_size: int) -> Iterator[pa.Table]:
        assert self.format == "arrow"
        for at in range(0, len(self.rows), batch_size):
            self.batches.append(batch_size)
            yield self.rows.slice(at, batch_size)

    def __iter__(self) -> Iterator[dict]:
        raise AssertionError("rows were taken one by one")

    def __len__(self) -> int:
        return len(self.rows)


class Untyped(DataSet):
    """A streamed one without declared types."""

    features = None

    __len__ = None  # type: ignore[assignment]


def given(kind: str):
    return {
        "dataset": lambda: DataSet(TABLE),
        "streamed dataset": lambda: Untyped(TABLE),
        "pyarrow table": lambda: TABLE,
        "pyarrow dataset": lambda: ds.dataset(TABLE),
        "pyarrow scanner": lambda: ds.dataset(TABLE).scanner(),
        "reader of batches": lambda: TABLE.to_reader(max_chunksize=1),
    }[kind]()


KINDS = ["dataset", "streamed dataset", "pyarrow table", "pyarrow dataset", "pyarrow scanner", "reader of batches"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_kept_has_the_schema_of_what_was_given(kind: str):
    kept = lw.dedup(given(kind), by="words:2", threshold=0.7).kept.to_arrow()
    assert kept.schema.equals(SCHEMA, check_metadata=True)
    assert kept.equals(TABLE.take([0, 2]))


@pytest.mark.parametrize("kind", KINDS)
def test_every_verb_takes_them(kind: str):
    assert len(lw.pairs(given(kind), by="words:2", threshold=0.7)) == 1
    assert len(lw.pairs(given(kind), against=given(kind), by="words:2", threshold=0.7)) == 5
    assert len(lw.neighbors(given(kind), query=given(kind), by="words:2", k=1)) >= 2


def test_pyarrow_data_sets_of_files(tmp_path):
    for number in range(2):
        pq.write_table(TABLE.drop_columns("span"), tmp_path / f"{number}.parquet")
    found = ds.dataset(tmp_path)
    kept = lw.dedup(found, by="words:2", threshold=0.7).kept.to_arrow()
    assert kept.schema.equals(found.schema, check_metadata=True) and kept["small"].to_pylist() == [1, 3]


def test_lazy_frames():
    frame = pl.DataFrame({"text": ROWS["text"], "small": pl.Series([1, 2, 3], dtype=pl.Int8)}).lazy().filter(pl.col("small") != 2)
    kept = lw.dedup(frame, by="words:2", threshold=0.7).kept.to_polars()
    assert kept.schema == {"text": pl.String, "small": pl.Int8} and kept["small"].to_list() == [1, 3]


@pytest.mark.parametrize("type_", [pl.Categorical, pl.Enum([TEXT, "other"])])
def test_categories_of_polars_are_read(type_):
    texts = pl.Series("text", [TEXT, "other", TEXT, None], dtype=type_)
    for given in (texts, texts.to_frame()):
        assert lw.dedup(given, by="words:2").kept.to_arrow()["text"].to_pylist() == [TEXT, "other", None]
    assert len(lw.dedup(texts.to_frame().clear(), by="words:2").kept) == 0


def test_lists_of_categories_and_tensors_are_read():
    sets = pl.DataFrame({"elements": pl.Series([["a", "b"], ["b", "a"], ["c"]], dtype=pl.List(pl.Categorical))})
    assert lw.pairs(sets, by="elements").to_arrow().to_pylist() == [{"id_a": 0, "id_b": 1, "similarity": 1.0}]
    tensor = pa.FixedShapeTensorArray.from_numpy_ndarray(np.array([[1.0, 2.0], [2.0, 4.0], [1.0, -3.0]]))
    assert lw.pairs(tensor, by="cosine").to_arrow().to_pylist() == [{"id_a": 0, "id_b": 1, "similarity": 1.0}]


def test_numbers_that_arrow_lacks_are_refused():
    wide = pl.Series([1, 2], dtype=pl.Int128)
    for by in ("words:1", "elements", "l2", "hamming"):
        with pytest.raises(UsageError, match=r"a batch of type Series cannot be converted to an Arrow array: .*_pli128"):
            lw.similarity(wide, wide, by=by)


def test_data_sets_without_rows():
    assert memory.table(DataSet(TABLE.slice(0, 0))).schema.equals(SCHEMA, check_metadata=True)
    assert memory.table(Untyped(TABLE.slice(0, 0))).num_rows == 0


def test_batches_without_values_take_the_type_of_the_others(monkeypatch):
    monkeypatch.setattr(handed, "BATCH_ROWS", 1)

    class Guessed(Untyped):
        def iter(self, batch_size: int) -> Iterator[pa.Table]:
            yield pa.table({"text": ["a"], "n": pa.nulls(1)})
            yield pa.table({"text": ["b"], "n": [1]})

    assert memory.table(Guessed(TABLE)).to_pylist() == [{"text": "a", "n": None}, {"text": "b", "n": 1}]


def test_batches_of_two_types_are_refused():
    class Mixed(Untyped):
        def iter(self, batch_size: int) -> Iterator[pa.Table]:
            yield pa.table({"text": ["a"], "n": ["x"]})
            yield pa.table({"text": ["b"], "n": [1]})

    with pytest.raises(UsageError, match="type Mixed cannot be converted to an Arrow table"):
        memory.table(Mixed(TABLE))


@pytest.mark.parametrize("values", [{"train": DataSet(TABLE)}, {"train": TABLE, "test": TABLE}, {"train": pl.DataFrame({"text": ["a"]})}])
def test_a_dict_of_tables_is_refused_with_what_to_give(values):
    with pytest.raises(UsageError, match=r"a dict of tables .*give one of them, such as data\['train'\]"):
        lw.dedup(values)


def test_a_dict_of_columns_may_hold_series():
    found = memory.table({"text": pl.Series(["a", "b"]), "n": pa.array([1, 2])})
    assert found.to_pylist() == [{"text": "a", "n": 1}, {"text": "b", "n": 2}]


def test_a_data_set_is_read_in_few_batches():
    rows = DataSet(pa.table({"id": range(100_000), "text": [f"{i} {i * 7} {i % 977}" for i in range(100_000)]}))
    assert len(memory.table(rows)) == 100_000 and len(rows.batches) == 2


def test_rows_that_are_chunks_of_their_own_are_joined():
    """A shuffled dataset gives those, and reading one chunk takes as long as reading hundreds of rows."""
    table = pa.concat_tables([TABLE.slice(number % 3, 1) for number in range(1000)])
    assert table.column("text").num_chunks == 1000
    for made in (memory.table(table), memory.table(DataSet(table)), memory.table(table.to_reader())):
        assert made.equals(table) and made.schema.equals(SCHEMA, check_metadata=True)
        assert made.column("text").num_chunks == 1
    few = pa.concat_tables([TABLE] * 3)
    assert memory.table(few) is few
