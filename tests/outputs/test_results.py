"""Results in Python: what can be asked of them, and how they are shown."""

from __future__ import annotations

import copy
import json
import pickle
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import likewise as lw
from eight_words import EIGHT_NINTHS, LIKE, ROWS, SAME, written_jsonl
from likewise.drawing.preview import Preview, as_html, as_text
from likewise.runs import tables
from likewise.runs.table import LazyData


@pytest.fixture
def pairs() -> lw.Pairs:
    return lw.pairs(ROWS, **LIKE)


def test_a_table_gives_columns_rows_and_slices(pairs: lw.Pairs) -> None:
    assert len(pairs) == 3 and pairs.shape == (3, 3) and pairs.columns == ["id_a", "id_b", "similarity"]
    assert pairs.schema.field("similarity").type == pa.float64()
    assert pairs["similarity"].tolist() == [1.0, EIGHT_NINTHS, EIGHT_NINTHS] and pairs["similarity"].dtype == np.float64
    assert (pairs["similarity"] > 0.9).tolist() == [True, False, False]
    assert pairs["id_a"].tolist() == ["a", "a", 7] and pairs["id_b"].tolist() == [7, "c", "c"]
    assert pairs[0] == {"id_a": "a", "id_b": 7, "similarity": 1.0}
    assert pairs[-1] == pairs[np.int64(2)] == {"id_a": 7, "id_b": "c", "similarity": EIGHT_NINTHS}
    assert pairs[1:].to_dicts() == pairs.tail(2).to_dicts() == list(pairs)[1:]
    assert type(pairs[:1]) is lw.Pairs and pairs[:1].above(0.95)["id_b"].tolist() == [7]
    assert [len(pairs.head(n)) for n in (0, 1, 5, -1, -4)] == [len(pairs.tail(n)) for n in (0, 1, 5, -1, -4)] == [0, 1, 3, 2, 0]
    assert pairs.head(-1) == pairs[:2] and pairs.tail(-1) == pairs[1:]  # as in pandas: all rows but the last one, or the first one
    assert pairs[2:1].to_dicts() == pairs[5:].to_dicts() == []


VALID = "give the name of a column, a list of names, the number of a row, a slice of rows, or a mask with a truth value for each row"


@pytest.mark.parametrize(
    ("key", "error", "said"),
    [
        ("score", KeyError, "no column 'score'; the columns are id_a, id_b, similarity"),
        (3, IndexError, "row 3: the table has 3 rows"),
        (-4, IndexError, "row -4: the table has 3 rows"),
        (slice(None, None, 2), IndexError, "step 2: a slice of rows must have step 1"),
        (1.0, TypeError, f"float: {VALID}"),
        (True, TypeError, f"bool: {VALID}"),
        (np.array([0, 2]), TypeError, f"array of int64: {VALID}"),
        (np.zeros((3, 1), bool), IndexError, "mask of the shape (3, 1): give one truth value for each of the 3 rows"),
        (np.array([True]), IndexError, "mask of the shape (1,): give one truth value for each of the 3 rows"),
        (pa.array([True, False]), IndexError, "mask of the shape (2,): give one truth value for each of the 3 rows"),
        (pa.array(["id_a"]), TypeError, f"array of object: {VALID}"),
        ([], TypeError, f"empty list: {VALID}"),
        (["id_a", 1], TypeError, f"list of str, int: {VALID}"),
        (["id_a", "score"], KeyError, "no column 'score'; the columns are id_a, id_b, similarity"),
        (["id_a", "id_a"], KeyError, "column 'id_a' is named twice"),
    ],
)
def test_other_keys_are_refused(pairs: lw.Pairs, key: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error) as caught:
        pairs[key]
    assert caught.value.args[0] == said


def test_a_column_is_an_array_that_holds_each_value() -> None:
    """Whole numbers beside a missing one stay whole numbers, and times in a zone keep it: numpy has no type for either."""
    held = {
        "whole": pa.array([1, 2]),
        "gap": pa.array([2**63, None], pa.uint64()),
        "float": pa.array([0.5, None]),
        "text": pa.array(["x", None]),
        "lists": pa.array([[1, 2], [2, 3]]),
        "day": pa.array([0, None], pa.date32()),
        "zone": pa.array([0, None], pa.timestamp("s", "UTC")),
        "true": pa.array([True, False]),
    }
    table = lw.Table(pa.table(held))
    assert {name: table[name].dtype for name in held} == {
        "whole": np.int64,
        "gap": object,
        "float": np.float64,
        "text": object,
        "lists": object,
        "day": np.dtype("M8[D]"),
        "zone": object,
        "true": bool,
    }
    assert table["gap"].tolist() == [2**63, None] and table["lists"].tolist() == [[1, 2], [2, 3]]
    assert np.isnat(table["day"]).tolist() == [False, True] and table["zone"][0].utcoffset().total_seconds() == 0
    assert np.isnan(table["float"][1]) and table["text"].tolist() == ["x", None]


def test_tables_are_equal_by_their_rows_and_their_ids_by_type() -> None:
    def found(first: object) -> lw.Pairs:
        return lw.pairs([{"id": first, "text": SAME}, {"id": "b", "text": SAME}, {"id": 3, "text": "x"}], **LIKE)

    assert found(7) == found(7) and found(7).to_arrow() == found(7)
    assert found(7).to_arrow().equals(found("7").to_arrow()) and found(7) != found("7")
    assert found(7) != found(7)[:0] and found(7) != 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(found(7))


def test_other_libraries_take_a_table(pairs: lw.Pairs) -> None:
    import pandas

    assert pandas.DataFrame(pairs).to_dict("list") == {"id_a": ["a", "a", 7], "id_b": [7, "c", "c"], "similarity": [1.0, EIGHT_NINTHS, EIGHT_NINTHS]}


def test_arrow_and_polars_take_a_table(pairs: lw.Pairs) -> None:
    assert pl.DataFrame(pairs).to_dicts() == pairs.to_arrow().to_pylist()
    assert pa.table(pairs) == pairs.to_arrow()


def test_a_copy_has_the_inputs_too(pairs: lw.Pairs) -> None:
    assert copy.copy(pairs) == pairs and copy.copy(pairs).with_text() == pairs.with_text()
    assert copy.copy(lw.dedup([SAME, SAME], **LIKE).kept).to_native() == [SAME]


def test_a_pickle_holds_the_rows_and_not_the_inputs(pairs: lw.Pairs) -> None:
    again = pickle.loads(pickle.dumps(pairs))
    assert again == pairs and again.report == pairs.report and again[2]["id_a"] == 7
    assert len(pickle.dumps(lw.pairs([SAME, SAME, "x" * 10**6], **LIKE))) < 10_000
    with pytest.raises(
        lw.UsageError, match="with_text: this table has no inputs to read: it holds the records themselves, or was loaded from a pickle"
    ):
        again.with_text()
    removal = lw.dedup(ROWS, **LIKE)
    assert pickle.loads(pickle.dumps(removal)) == removal
    for result in (lw.plan(), lw.audit(ROWS, **LIKE), lw.frequent([["x", "y"]], support=1)):
        assert pickle.loads(pickle.dumps(result)) == result


def test_neighbors_without_a_threshold_can_be_cut() -> None:
    found = lw.neighbors([SAME, SAME + " nine", "else"], by="words:1", k=2)
    assert found.above(0.5)["similarity"].tolist() == [EIGHT_NINTHS, EIGHT_NINTHS]


def test_pairs_that_were_not_searched_need_a_new_search(pairs: lw.Pairs) -> None:
    distances = lw.pairs(["kitten", "sitten"], by="levenshtein", within=2)
    for call, said in {
        lambda: pairs.above(0.5): "above(0.5): these pairs have a similarity of at least 0.8; search again with threshold=0.5",
        lambda: pairs.within(0.1): "within: these pairs have similarities; use above(threshold)",
        lambda: distances.within(3): "within(3): these pairs have a distance of at most 2; search again with within=3",
        lambda: distances.above(1): "above: these pairs have distances; use within(distance)",
    }.items():
        with pytest.raises(lw.UsageError) as caught:
            call()
        assert str(caught.value) == said
    assert len(distances.within(1)) == 1 and len(distances.within(0.5)) == 0


# How results are shown


def test_a_table_as_text_has_aligned_columns_and_says_what_is_left_out() -> None:
    rows = [(f"doc-{number}", number * 1000, 0.5 + number / 100) for number in range(10)]
    shown = as_text(Preview("Pairs", ["id", "position", "similarity"], rows, 1_234_567), 80).splitlines()
    assert shown[0] == "Pairs: 1,234,567 rows, 3 columns"
    assert shown[1] == "id     position  similarity"
    assert shown[2] == "doc-0         0      0.5000"
    assert shown[11] == "doc-9      9000      0.5900"
    assert shown[12:] == ["... and 1,234,557 more rows"]


def test_a_table_as_text_fits_its_terminal() -> None:
    shown = as_text(Preview("Table", ["id", "text", "kept_text"], [(1, "x" * 200, "日本語" * 30)], 1), 40)
    assert max(len(line) + sum(char in "日本語" for char in line) for line in shown.splitlines()) <= 40
    narrow = as_text(Preview("Table", [f"column{n}" for n in range(9)], [tuple("abcdefghi")], 1), 40)
    assert narrow.splitlines()[-1] == "... and 5 more columns: column4, column5, column6, column7, column8"


def test_a_wide_character_takes_two_columns_and_a_combining_one_none() -> None:
    shown = as_text(Preview("Table", ["id", "n"], [("日本", 1), ("e\u0301", 2), ("abcd", 3)], 3), 80).splitlines()
    assert shown[2:] == ["日本  1", "e\u0301     2", "abcd  3"]


def test_values_that_python_lacks_are_shown_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pandas, times that end in nanoseconds have no Python value, and lists of them no text."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    times = pa.array([1], pa.timestamp("ns"))
    shown = repr(lw.Table(pa.table({"at": times, "list": pa.array([[1]], pa.list_(times.type))}))).splitlines()
    assert shown[2].startswith("1970-01-01 00:00:00.000000001  ")


def test_no_value_reaches_a_terminal_as_a_command() -> None:
    evil = "\x1b[31m\x07\u202e\n"
    shown = as_text(Preview("Table", [evil], [(evil,)], 1), 200)
    assert shown.splitlines()[1:] == ["\\x1b[31m\\x07\\u202e\\n"] * 2


class Markup(HTMLParser):
    """The elements of a page and its visible text."""

    def __init__(self, page: str):
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


EVIL = "</td></table><script>evil()</script><img src=x onerror=evil()>\x00\u202e"


def test_values_do_not_become_markup() -> None:
    """A notebook has no policy that would stop a script."""
    rows = [{"id": f"{EVIL}{n}", "text": f"{SAME} {EVIL}"} for n in range(3)]
    removal = lw.dedup(pa.table({name: [row[name] for row in rows] for name in ("id", "text")} | {EVIL[:-2]: [EVIL] * 3}), **LIKE)
    found = lw.pairs(rows, **LIKE)
    for result in (removal, removal.kept, removal.removed.with_text(), found, found.with_text(None), lw.audit(rows, **LIKE)):
        page = Markup(result._repr_html_())
        assert not {"script", "img"} & set(page.tags)
        assert not [name for name, _ in page.attributes if name.startswith("on")]
        assert "\x00" not in page.text and "\u202e" not in page.text
    assert "<script>evil()</script>" in Markup(found._repr_html_()).text


def test_a_table_as_html_cuts_long_values_and_counts_the_rest() -> None:
    page = Markup(as_html(Preview("Table", [f"c{n}" for n in range(22)], [("x" * 500, *range(21))], 2_000)))
    assert "x" * 119 + "…" in page.text and "x" * 120 not in page.text
    assert "Table: 2,000 rows, 22 columns" in page.text and "... and 1,999 more rows" in page.text
    assert "... and 2 more columns: c20, c21" in page.text
    assert page.tags.count("td") == 20


def test_a_removal_shows_counts_similarities_warnings_examples_and_the_next_step(tmp_path: Path) -> None:
    rows = [*ROWS, {"text": "no id"}]
    removal = lw.dedup(rows, **LIKE)
    shown = repr(removal).splitlines()
    assert shown[:2] == [
        "Removal: 5 read, 3 kept, 2 removed (1 exact copy, 1 near-duplicate), 0 rejected",
        "near-duplicates by similarity: 0.88-0.92: 1",
    ]
    assert [line for line in shown if line.startswith("warning: ")] == [f"warning: {said}" for said in removal.report["warnings"]] != []
    assert "kept records: result.kept, with to_native(), to_pandas(), to_polars() and write(path)" in shown
    assert "removed records: result.removed.with_text()" in shown
    assert [line.split()[:2] for line in shown[-3:]] == [["id", "text"], ["7", "one"], ["c", "one"]]
    page = Markup(removal._repr_html_())
    for said in ("5 read, 3 kept, 2 removed", "near-duplicates", *removal.report["warnings"], SAME + " nine", "0.8889"):
        assert said in page.text, said
    assert "Near-duplicates by similarity" not in page.text  # of one, bars would say less
    many = lw.dedup([f"{SAME} {number}" for number in range(11)], **LIKE)
    assert "Near-duplicates by similarity to the record kept in their place" in Markup(many._repr_html_()).text
    assert "0.8-0.82: 10 records, 0.82-0.84: 0 records" in many._repr_html_()  # any two share 8 of 10 words
    written = lw.dedup(ROWS, out=tmp_path / "out", **LIKE)
    assert f"report: {tmp_path / 'out' / 'report.html'}" in repr(written) and str(tmp_path / "out") in Markup(written._repr_html_()).text
    nothing = lw.dedup(["a b c", "d e f"], by="words:1")
    assert repr(nothing).splitlines()[0] == "Removal: 2 read, 2 kept, 0 removed, 0 rejected" and "removed records" not in repr(nothing)


def test_a_large_table_is_shown_without_making_its_rows() -> None:
    def never() -> Any:
        raise AssertionError("all rows were made")

    asked: list[int] = []

    def first(rows: int) -> Any:
        asked.append(rows)
        return tables.Data(pa.table({"id": np.arange(rows)}))

    table = lw.Table(LazyData(10**9, pa.schema([("id", pa.int64())]), first, never))
    assert repr(table).splitlines()[0] == "Table: 1,000,000,000 rows, 1 column" and repr(table).endswith("\n... and 999,999,990 more rows")
    assert "999,999,990 more rows" in table._repr_html_() and len(table) == 10**9 and table.columns == ["id"]
    assert table.head(3)["id"].tolist() == [0, 1, 2] and table[2] == {"id": 2}
    assert max(asked) == 10
    with pytest.raises(AssertionError, match="all rows were made"):
        table.tail()


def test_the_head_of_a_table_in_a_file_is_read_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of more rows than a block stays in its file; its head are the first rows, whatever their number."""
    monkeypatch.setattr(tables, "BLOCK_ROWS", 4)
    texts = [f"{SAME} {number // 2}" for number in range(40)]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"id": number, "text": text}) + "\n" for number, text in enumerate(texts)))
    removal = lw.dedup(tmp_path / "in.jsonl", out=tmp_path / "out", by="words:9", threshold=0.8)
    assert isinstance(removal.removed._made, LazyData) and len(removal.removed) == 20 and removal.removed.shape == (20, 9)
    for n in (0, 1, 4, 5, 19, 20, 21):
        assert removal.removed.head(n)["id"].tolist() == list(range(1, 40, 2))[:n]
    assert removal.removed.schema == removal.removed.head().schema and isinstance(removal.removed._made, LazyData)
    assert removal.kept.head(3)["position"].tolist() == [0, 2, 4] and isinstance(removal.kept._made, LazyData)
    repr(removal), removal._repr_html_()
    assert isinstance(removal.removed._made, LazyData) and isinstance(removal.clusters._made, LazyData)
    assert pickle.loads(pickle.dumps(removal)).kept["position"].tolist() == list(range(0, 40, 2))
    assert removal.removed.tail(1)["id"].tolist() == [39]
    assert removal.removed == lw.dedup(tmp_path / "in.jsonl", by="words:9", threshold=0.8).removed


# The caller's own type


def test_kept_records_come_back_as_the_type_that_came_in() -> None:
    texts, ids = [str(row["text"]) for row in ROWS], ["a", "b", "c", "d"]
    columns = {"id": ids, "text": texts}
    frame = pl.DataFrame(columns, schema_overrides={"id": pl.Categorical})
    assert lw.dedup(frame, **LIKE).kept.to_native().equals(frame[[0, 3]])
    assert lw.dedup(frame.lazy(), **LIKE).kept.to_native().equals(frame[[0, 3]])
    assert lw.dedup(pl.Series(texts), **LIKE).kept.to_native().to_list() == [texts[0], texts[3]]
    assert lw.dedup(pa.table(columns), **LIKE).kept.to_native() == pa.table(columns).take([0, 3])
    assert lw.dedup(pa.chunked_array([texts]), **LIKE).kept.to_native().to_pylist() == [texts[0], texts[3]]
    assert lw.dedup(texts, **LIKE).kept.to_native() == [texts[0], texts[3]]
    assert lw.dedup(tuple(texts), **LIKE).kept.to_native() == (texts[0], texts[3])
    assert lw.dedup(ROWS, **LIKE).kept.to_native() == [ROWS[0], ROWS[3]]
    assert lw.dedup(columns, **LIKE).kept.to_native() == {"id": ["a", "d"], "text": [texts[0], texts[3]]}
    assert lw.dedup(ROWS, **LIKE).kept.head(1).to_native() == ROWS[:1] and lw.dedup(ROWS, **LIKE).kept.tail(1).to_native() == ROWS[3:]
    vectors = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    assert lw.dedup(vectors, by="cosine", threshold=0.9).kept.to_native().tolist() == [[1, 0], [0, 1]]
    assert lw.dedup(texts, limit=2, **LIKE).kept.to_native() == texts[:1]


def test_a_frame_that_selects_by_position_makes_the_selection_itself() -> None:
    """As pandas and its relatives do, which keep an index, types that Arrow lacks, and a class of their own."""

    class Frame:
        columns = ("text",)

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return pa.table({"text": [row["text"] for row in ROWS]}).__arrow_c_stream__(requested_schema)

        @property
        def iloc(self) -> Any:
            return Chosen()

    class Chosen:
        def __getitem__(self, rows: np.ndarray) -> list[int]:
            return rows.tolist()

    assert lw.dedup(Frame(), **LIKE).kept.to_native() == [0, 3]


def test_a_frame_of_pandas_keeps_its_index_and_types() -> None:
    import pandas

    frame = pandas.DataFrame({"text": [row["text"] for row in ROWS], "n": pandas.array([1, None, 3, 4], "Int64")}, index=list("wxyz"))
    pandas.testing.assert_frame_equal(lw.dedup(frame, **LIKE).kept.to_native(), frame.loc[["w", "z"]])


def test_what_has_no_type_of_its_own_says_so(tmp_path: Path) -> None:
    path = written_jsonl(tmp_path / "in.jsonl")
    said = r"to_native: only the kept records of data from Python have a type of their own; use to_pandas\(\), to_polars\(\)"
    for table in (lw.dedup(path, **LIKE).kept, lw.dedup(ROWS, **LIKE).removed, lw.pairs(ROWS, **LIKE)):
        with pytest.raises(lw.UsageError, match=said):
            table.to_native()
    with pytest.raises(lw.UsageError, match="to_native: rows of an object of type generator cannot be selected by number"):
        lw.dedup((row for row in ROWS), **LIKE).kept.to_native()


# Audits


def test_an_audit_shows_its_recall_and_the_pairs_that_were_missed() -> None:
    found = lw.audit(ROWS, **LIKE)
    assert repr(found).splitlines()[0].startswith("Audit: recall 100% (") and ": 1 of 1 pair of 3 sampled items out of 3" in repr(found)
    assert repr(found).splitlines()[2] == "similarity_from  similarity_to  pairs  found"
    missed = [{"value": 0.5, "id_a": "a", "source_a": "x", "position_a": 0, "id_b": EVIL, "source_b": "x", "position_b": 1}]
    some = lw.Audit(9, 9, 4, 3, None, 0.2, 0.9, 0.5, "similarity", [], missed, ["take care"])
    assert repr(some).splitlines()[:3] == [
        "Audit: recall 75.0% (20.0% to 90.0% with 95% confidence): 3 of 4 pairs of 9 sampled items out of 9",
        "warning: take care",
        "Missed pairs: 1 row, 3 columns",
    ]
    page = Markup(some._repr_html_())
    assert "take care" in page.text and "script" not in page.tags and "<script>" in page.text
    assert repr(lw.audit(["x", "y"])).splitlines()[0] == "Audit: no similar pair of the 2 sampled items out of 2"
