"""Careless and hostile use of an index: odd ids, large batches of copies, and places where no index belongs."""

import json
import re
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import likewise as lw
from command_line import refused, run
from indexes import plain_index
from likewise.index import arrivals

TEXT = "the cat sat on the mat today and slept"


def small(**choices):
    return lw.Index.create(**{"by": "words:2", **choices})


@pytest.mark.parametrize("ids", [[1.0], np.array([1.0]), pa.array([1.0]), pa.array([Decimal("1.00")])])
def test_whole_numbers_of_any_type_are_one_id(ids):
    with small() as ix:
        assert ix.add([TEXT], ids=ids).ids == [1] and list(ix.ids()) == [1]
        assert ix.query([TEXT])["id"].tolist() == [1]
        assert 1 in ix and 1.0 in ix and "1" not in ix
        with pytest.raises(lw.IdError):
            ix.add([TEXT], ids=[1])
        assert ix.remove(ids) == 1


def test_an_id_of_an_answer_removes_its_item():
    given = ["1", 0, -5, 10**30, 2**63, "\ud800", "a\0b", "null", "", " ", 'q"uo\\te', "é"]
    with small() as ix:
        ix.add([TEXT] * len(given), ids=given)
        assert ix.query([TEXT])["id"].tolist() == given == list(ix.ids())
        assert [ix.remove([one]) for one in ix.query([TEXT])["id"].tolist()] == [1] * 12


#: Values that are no ids, as the second of a batch, and how a message shows them.
NO_IDS = [
    (["a", 2.5], "2.5"),
    (["a", True], "True"),
    (["a", 1e300], r"1e\+300"),
    (["a", float("inf")], "inf"),
    (["a", b"a"], "b'a'"),
    (["a", ["b"]], r"\['b'\]"),
    ([7, np.float64(2.5)], "2.5"),
    ([7, np.bool_(False)], "False"),
    (np.array([7, 2.5]), "2.5"),
    (np.array([True, False]), "True"),
    (pa.array([7, 2.5]), "2.5"),
    (pa.array([Decimal("7.0"), Decimal("1.5")]), "1.5"),
    (pa.array([True, False]), "True"),
    (pa.chunked_array([[["a"], ["b"]]]), r"\['a'\]"),
]


@pytest.mark.parametrize(("ids", "shown"), NO_IDS)
def test_ids_are_strings_and_whole_numbers_everywhere(ids, shown):
    with small() as ix:
        ix.add([TEXT], ids=["a"])
        for call in (ix.add, ix.add_new, ix.update, lambda items, ids: ix.query(items, ids=ids), lambda _, ids: ix.remove(ids)):
            with pytest.raises(lw.UsageError, match=rf"^ids=: row [01] is {shown}; give strings or whole numbers"):
                call([TEXT, TEXT], ids)
        assert list(ix.ids()) == ["a"] and not any(one in ix for one in (2.5, True, np.bool_(True), float("nan"), 1e300))


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float32", "float64"])
def test_whole_numbers_of_numpy_are_ids(dtype):
    with small() as ix:
        assert ix.add([TEXT, "x y z"], ids=np.array([7, 8], dtype)).ids == [7, 8] == list(ix.ids())
        assert np.int64(7) in ix and ix.remove([*np.array([7, 8], "int64")]) == 2


@pytest.mark.parametrize(("given", "shown"), [(2.5, "2.5"), (True, "True"), (["b"], r"\['b'\]"), ({"$oid": "5f"}, r"{'\$oid': '5f'}")])
def test_records_whose_ids_are_no_ids_are_refused_with_their_place(given, shown, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    records = [{"id": 1.0, "text": TEXT}, {"id": given, "text": "x y z"}]
    said = rf", item 2: its id is {shown}; ids of an index are strings and whole numbers; name another field with"
    with pytest.raises(lw.DataError, match=said + " id=F"):
        lw.Index.build(None, records, by="words:2")
    Path("a.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    lw.dedup("a.jsonl", out="out", sketches=True, by="words:2", id="id")
    with pytest.raises(lw.DataError, match="^a.jsonl" + said):
        lw.Index.from_output(None, "out")
    lw.Index.create("i.lw", by="words:2").close()
    for action, *flags in (["add"], ["add-new"], ["update"], ["remove", "--ids-from"]):
        assert re.search("a.jsonl" + said + " --id F", refused("index", action, "i.lw", *flags, "a.jsonl"))
    assert not lw.Index.open("i.lw").info()["items"]


def test_numbers_too_long_for_python_are_no_ids():
    with small() as ix:
        with pytest.raises(lw.UsageError, match=r"ids=: row 1 is a number of 16,610 bits; give strings or whole numbers"):
            ix.add([TEXT, TEXT], ids=[1, 10**5000])
        assert 10**5000 not in ix and len(ix) == 0


def test_of_items_with_one_id_that_replace_each_other_the_last_counts():
    with small() as ix:
        found = ix.add([TEXT, "x y z", TEXT + " well"], ids=["a", "b", "a"], existing="replace")
        assert found == (2, 1, ["a", "b", "a"], [False, True, True])
        assert len(ix) == 2 and ix.query([TEXT])["similarity"].tolist() == [8 / 9]
        with pytest.raises(lw.IdError, match=r"'a' is given twice, in the rows 0 and 1; .* give each id once"):
            ix.update([TEXT, TEXT], ["a", "a"])


@pytest.mark.parametrize("pairs", [1, 40, 1 << 17])
def test_batches_that_are_decided_in_pieces_add_what_single_items_would(pairs, monkeypatch):
    """The pieces of a batch depend on how many of its items share keys; the outcome does not."""
    monkeypatch.setattr(arrivals, "PAIRS", pairs)
    rng = np.random.default_rng(5)
    texts = [" ".join(f"w{word}" for word in rng.integers(0, 5, rng.integers(0, 5))) for _ in range(120)]
    with plain_index(by="words:1", threshold=0.6) as one, small(by="words:1", threshold=0.6) as all_at_once:
        wanted = [row | {"row": place} for place, text in enumerate(texts) for row in one.add_new([text], ids=[place], k=3).to_dicts()]
        assert all_at_once.add_new(texts, ids=range(120), k=3).to_dicts() == wanted
        assert 1 < len(one) < 60


def test_a_large_batch_of_copies_is_added_without_listing_its_pairs():
    """All pairs of these would take gigabytes."""
    with small() as ix:
        found = ix.add_new([TEXT] * 20_000)
        assert len(ix) == 1 and found["id"].tolist() == [0] * 20_000 and sum(found["added"].tolist()) == 1


def test_nothing_is_made_inside_an_index(tmp_path):
    place = tmp_path / "a.lw"
    with lw.Index.create(place, by="words:2") as ix:
        ix.add([TEXT])
        names = sorted(path.name for path in place.iterdir())
        for call in (lambda: lw.Index.create(place / "b.lw", by="words:2"), lambda: ix.backup(place / "deep" / "b.lw")):
            with pytest.raises(lw.UsageError, match=r"a\.lw is an index, and nothing else can be in it"):
                call()
        assert sorted(path.name for path in place.iterdir()) == names


def test_an_address_as_a_path_is_refused_without_its_password(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for where in (Path("postgresql://user:s3cret@host/db"), "valkey:/host/0"):
        with pytest.raises(lw.UsageError, match=r"an address is a string that begins with (postgresql|valkey)://") as error:
            lw.Index.create(where, by="words:2")
        assert "s3cret" not in str(error.value)
    assert not list(tmp_path.iterdir())


def test_merge_takes_indexes_only():
    with small() as ix, pytest.raises(lw.UsageError, match=r"give an lw\.Index; lw\.Index\.open opens one"):
        ix.merge("other.lw")


def test_dimensions_have_a_limit():
    with pytest.raises(lw.UsageError, match="give at most 1,048,576"):
        lw.Index.create(by="cosine", threshold=0.9, dimension=10**12)


def test_typed_ids_that_look_like_numbers(tmp_path):
    where = tmp_path / "a.lw"
    with lw.Index.create(where, by="words:2") as ix:
        ix.add([TEXT] * 3, ids=["²", "--5", -5])
    for text, left in (("²", 2), ("--5", 1), ("9" * 5000, 1), ("-5", 0)):
        found = run("index", "remove", where, "--", text)
        assert found.exit_code == 0, found.stderr
        with lw.Index.open(where, read_only=True) as ix:
            assert len(ix) == left


@pytest.mark.parametrize("port", ["99999", "-1"])
def test_ports_that_do_not_exist(tmp_path, port):
    lw.Index.create(tmp_path / "a.lw", by="words:2").close()
    assert f"--port {port}: give a number from 0 to 65535" in refused("serve", tmp_path / "a.lw", "--port", port)


def test_queries_may_have_ids_of_any_type(tmp_path):
    where, records = tmp_path / "a.lw", tmp_path / "a.jsonl"
    with lw.Index.create(where, by="words:2") as ix:
        ix.add(["a b c", "d e f", "g h i"], ids=["x", "y", "z"])
    records.write_text('{"id": [1, 2], "text": "a b c"}\n{"id": {"x": 1}, "text": "d e f"}\n{"id": true, "text": "g h i"}\n')
    found = run("index", "query", where, records)
    assert found.exit_code == 0, found.stderr
    rows = [
        '{"query":[1,2],"id":"x","similarity":1.0}',
        '{"query":{"x":1},"id":"y","similarity":1.0}',
        '{"query":true,"id":"z","similarity":1.0}',
    ]
    assert found.stdout.splitlines() == rows
    assert "3 similar items found for 3 of 3 records" in found.stderr


def test_an_index_that_is_opened_with_items_in_its_log_knows_their_ids(tmp_path):
    """Numbers of items and their places in the log differ once there is a segment."""
    with lw.Index.create(tmp_path / "a.lw", by="words:2") as ix:
        ix.add([TEXT] * 3, ids=["a", "b", "c"])
        ix.flush()
        ix.add([TEXT] * 2, ids=["d", "e"])
    with lw.Index.open(tmp_path / "a.lw") as ix:
        for one in "abcde":
            with pytest.raises(lw.IdError):
                ix.add([TEXT], ids=[one])
        assert list(ix.ids()) == [*"abcde"] and ix.check() == []
