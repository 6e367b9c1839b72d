"""Bulk build: an index of all records of inputs, or of the kept records of an output, is that of the same items added one by one."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from kind_items import MADE, write
from likewise.errors import IdError
from likewise.index.stored_settings import stored


def records() -> list[dict[str, Any]]:
    """Texts of 12 words, each third a variant of the one before, with a word of it changed; some copies; two without words."""
    made: list[dict[str, Any]] = []
    for place in range(90):
        words = [f"w{(place * 7 + at * at) % 97}" for at in range(12)]
        if place % 3 == 2:
            words = [*made[-1]["text"].split()[:-1], "other"]
        made.append({"id": f"r{place}", "text": " ".join(words)})
    made[40]["text"], made[50]["text"], made[60]["text"], made[61]["text"] = made[3]["text"], made[3]["text"], "", "?!"
    return made


def jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def items(ix: lw.Index) -> list[tuple]:
    """All that the index stores, item by item."""
    found = []
    for numbers, block in ix.store.view().scan():
        ends = block.size.cumsum()
        sets = [block.words[end - size : end].tolist() for end, size in zip(ends, block.size, strict=True)] if len(block.words) else [[]] * len(block)
        found += zip(
            numbers.tolist(), block.ids, block.keys.tolist(), block.copy.tolist(), block.size.tolist(), sets, block.slots.tolist(), strict=True
        )
    return found


@pytest.mark.parametrize("sets", ["full", "compact", "none"])
def test_it_equals_the_index_to_which_the_items_were_added(sets, tmp_path):
    rows = records()
    built = lw.Index.build(None, jsonl(tmp_path / "in.jsonl", rows), by="words:3", threshold=0.7, seed=4, sets=sets)
    added = lw.Index.create(by="words:3", threshold=0.7, seed=4, sets=sets)
    added.add([row["text"] for row in rows], ids=[row["id"] for row in rows])
    assert items(built) == items(added)
    assert stored(built.settings) == stored(added.settings)
    assert len(built) == 90


@pytest.mark.parametrize("name", ["elements", "weighted", "cosine", "l2", "hamming"])
def test_each_kind_that_has_bands(name, tmp_path):
    made = MADE[name]
    facts = {"cosine": {"dimension": 24, "wide": True}, "l2": {"dimension": 24, "wide": True}, "hamming": {"dimension": 96}}.get(name, {})
    built = lw.Index.build(None, write(made, tmp_path / "in.jsonl"), **made.choices)
    added = lw.Index.create(**made.choices, **facts)  # numbers in JSON are read as float64
    values = [bytes.fromhex(value) for value in made.values] if name == "hamming" else made.values
    added.add(values, ids=[f"i{place}" for place in range(len(values))])
    assert items(built) == items(added)


def test_per_is_a_field_of_the_records(tmp_path):
    rows = [{"id": place, "text": "a b c d e f", "shop": "xyx"[place]} for place in range(3)]
    built = lw.Index.build(None, jsonl(tmp_path / "in.jsonl", rows), per="shop")
    assert built.query("a b c d e f", per=["x"])["id"].tolist() == [0, 2]
    assert built.query("a b c d e f", per=["y"])["id"].tolist() == [1]


def test_records_without_an_id_are_named_by_their_places(tmp_path):
    rows = [{"text": "a b c d e f"}, {"id": 7.0, "text": "g h i j k l"}]
    folder = tmp_path / "data"
    folder.mkdir()
    for name in ("a.jsonl", "b.jsonl"):
        jsonl(folder / name, rows[:1] if name == "a.jsonl" else rows)
    (folder / "note.txt").write_text("m n o p q r")
    assert list(lw.Index.build(None, folder).ids()) == ["a.jsonl:0", "b.jsonl:0", 7, "note.txt"]
    assert list(lw.Index.build(None, ["a b c", "d e f"]).ids()) == [0, 1]
    assert list(lw.Index.build(None, pa.table({"text": ["a b c", "d e f"], "id": ["x", None]})).ids()) == ["x", 1]


@pytest.mark.parametrize(("existing", "ids"), [("skip", ["b", "a", 1, "c"]), ("replace", ["b", 1, "c", "a"])])
def test_ids_that_two_records_have(existing, ids, tmp_path):
    one = jsonl(tmp_path / "one.jsonl", [{"id": name, "text": f"text {name} {place}"} for place, name in enumerate(["b", "a", 1])])
    two = tmp_path / "two.parquet"
    pq.write_table(pa.table({"id": ["c", "a"], "text": ["more text", "the last text"]}), two)
    said = "one.jsonl, item 2 and two.parquet, item 2 have the same id 'a'; name another field with id=F; existing='skip' takes the first"
    with pytest.raises(IdError, match=said) as error:
        lw.Index.build(None, [one, two])
    assert (error.value.ids, error.value.rows) == (["a"], [1, 4])
    built = lw.Index.build(None, [one, two], existing=existing)
    assert list(built.ids()) == ids
    text = "the last text" if existing == "replace" else "text a 1"
    assert built.query(text)["id"].tolist() == ["a"]


def test_unreadable_records_are_left_out(tmp_path):
    path = jsonl(tmp_path / "in.jsonl", records()[:4])
    path.write_text(path.read_text() + '{"id": "bad", "text": \n' + json.dumps({"id": "last", "text": "the end"}) + "\n")
    with pytest.raises(lw.DataError, match=r"in.jsonl, line 5.*on_error='skip' omits such rows"):
        lw.Index.build(None, path)
    assert list(lw.Index.build(None, path, on_error="skip").ids()) == ["r0", "r1", "r2", "r3", "last"]
    assert list(lw.Index.build(None, path, limit=2).ids()) == ["r0", "r1"]


def test_an_output_with_sketches_becomes_an_index_without_its_texts(tmp_path):
    rows = records()
    lw.dedup(jsonl(tmp_path / "in.jsonl", rows), out=tmp_path / "out", by="words:3", threshold=0.7, seed=4, sketches=True)
    want = items(lw.Index.build(None, tmp_path / "out/kept", by="words:3", threshold=0.7, seed=4))
    (tmp_path / "in.jsonl").unlink()
    (tmp_path / "out/kept/in.jsonl").unlink()
    found = lw.Index.from_output(None, tmp_path / "out")
    assert items(found) == want
    assert 30 < len(found) < 80
    assert len(lw.Index.from_output(None, tmp_path / "out", sets="none")) == len(found)


def test_ids_of_an_output_that_two_kept_records_have(tmp_path):
    rows = [{"id": 1, "text": "a b c d e f"}, {"id": 1, "text": "g h i j k l"}, {"text": "m n o p q r"}]
    lw.dedup(jsonl(tmp_path / "in.jsonl", rows), out=tmp_path / "out", sketches=True)
    with pytest.raises(IdError, match=r"in.jsonl, item 1 and in.jsonl, item 2 have the same id 1"):
        lw.Index.from_output(None, tmp_path / "out")
    found = lw.Index.from_output(None, tmp_path / "out", existing="replace")
    assert list(found.ids()) == [1, "in.jsonl:2"]
    assert found.query("g h i j k l")["id"].tolist() == [1]


@pytest.mark.parametrize("what", ["bytes", "gone", "manifest", "none", "scheme"])
def test_an_output_that_was_changed_is_refused(what, tmp_path, monkeypatch):
    out = tmp_path / "out"
    lw.dedup(["a b c d e f"], out=out, sketches=what != "none")
    said, kind = "has changed since likewise wrote it; run dedup again", lw.FormatError
    file = out / "sketches/000000.arrow"
    if what == "bytes":
        file.write_bytes(file.read_bytes().replace(b"memory", b"Memory"))
    elif what == "gone":
        file.unlink()
        said = "this file no longer exists"
    elif what == "manifest":
        (out / "manifest.json").write_text((out / "manifest.json").read_text().replace('"seed": 0', '"seed": 1'))
    elif what == "scheme":
        monkeypatch.setattr("likewise.runs.building.HASH_SCHEME", "lw9")
        said = "the sketches are of the scheme lw3, and this version of likewise makes lw9; run dedup again"
    else:
        said, kind = r"this output has no sketches; make it again with sketches=True, or build the index from .*out/kept", lw.UsageError
    with pytest.raises(kind, match=said):
        lw.Index.from_output(None, out)


def test_what_cannot_be_built_is_refused_before_anything_is_read(tmp_path):
    with pytest.raises(lw.UsageError, match="existing='twice': choose one of refuse, skip, replace"):
        lw.Index.build(None, tmp_path / "missing.jsonl", existing="twice")
    with pytest.raises(lw.UsageError, match="by='edit': items of an index are found by their bands"):
        lw.Index.build(None, tmp_path / "missing.jsonl", by="edit", within=2)
    with pytest.raises(lw.UsageError, match="sets='none': only sets of shingles or elements can be kept so"):
        lw.Index.build(None, [[0.5, 1.0], [1.0, 2.0]], by="cosine", threshold=0.9, sets="none")


@pytest.mark.parametrize(("existing", "ids", "counts"), [("skip", ["a", "b", "c"], (1, 1)), ("replace", ["a", "b", "c"], (2, 0))])
def test_indexes_with_the_same_settings_are_merged(existing, ids, counts):
    one, two = (lw.Index.create(by="words:2") for _ in range(2))
    one.add(["a b c d", "e f g h"], ids=["a", "b"])
    two.add(["i j k l", "m n o p"], ids=["b", "c"])
    with pytest.raises(IdError, match=r"'b' .row 0. is already in the index; .*nothing was written"):
        one.merge(two)
    assert list(one.ids()) == ["a", "b"]
    assert one.merge(two, existing=existing)[:2] == counts
    assert sorted(one.ids()) == ids
    assert one.query("i j k l")["id"].tolist() == (["b"] if existing == "replace" else [])
    assert one.query("m n o p")["id"].tolist() == ["c"]
    assert list(two.ids()) == ["b", "c"]


def test_a_merge_that_others_disturb_says_what_is_there(monkeypatch):
    """Items are written in blocks; somebody adds d between two of them."""
    monkeypatch.setattr("likewise.verbs.index.AT_ONCE", 2)
    one, two = (lw.Index.create(by="words:2") for _ in range(2))
    two.add(["a b", "c d", "e f", "g h", "i j"], ids=["a", "b", "c", "d", "e"])
    write = one.store.write

    def disturbed(change):
        done = write(change)
        monkeypatch.setattr(one.store, "write", write)
        one.add(["x y"], ids=["d"])
        return done

    monkeypatch.setattr(one.store, "write", disturbed)
    with pytest.raises(IdError, match=r"'d' .row 3. is already in the index; it was added meanwhile; 2 items before it were merged") as error:
        one.merge(two)
    assert (error.value.ids, error.value.rows, list(one.ids())) == (["d"], [3], ["a", "b", "d"])
    assert one.merge(two, existing="skip")[:2] == (2, 3) and list(one.ids()) == ["a", "b", "d", "c", "e"]
    with pytest.raises(IdError, match=r"'a' .row 0. is already in the index, and so is 1 more"):
        one.merge(two)
    assert one.merge(two, existing="replace")[:2] == (5, 0) and one.query("g h")["id"].tolist() == ["d"]
    one.remove(["a", "b"])
    with pytest.raises(IdError, match=r"'c' .row 2. is already in the index, and so is 1 more; .*nothing was written"):
        one.merge(two)


def test_indexes_that_differ_are_not_merged():
    one, two = lw.Index.create(by="words:2"), lw.Index.create(by="words:3")
    with pytest.raises(lw.UsageError, match="these indexes cannot be merged: by is words:2 in the one and words:3 in the other"):
        one.merge(two)
    with pytest.raises(lw.UsageError, match="seed is 0 in the one and 5 in the other"):
        one.merge(lw.Index.create(by="words:2", seed=5))
    with pytest.raises(lw.UsageError, match="sets is full in the one and none in the other"):
        one.merge(lw.Index.create(by="words:2", sets="none"))
