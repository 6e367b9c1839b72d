"""Situations that other indexes get wrong, in every store: keys again, large ids, other layouts, what another index left, an upload again."""

from __future__ import annotations

import numpy as np
import pytest

import likewise as lw
from index_stores import STORES
from indexes import index_in, reopened
from likewise.errors import IdError, UsageError
from situations import near, text

EACH = pytest.mark.parametrize("name", STORES)


def found(ix: lw.Index, given: str, **options: object) -> list[object]:
    return [row["id"] for row in ix.query(given, **options)]


@EACH
@pytest.mark.parametrize("sets", ["full", "compact", "none"])
def test_a_document_sent_again_under_its_key(name, sets, tmp_path):
    """A text key, a number, and the same number as text are three keys; what is refused changes nothing; what is replaced is gone."""
    ix = index_in(name, tmp_path, sets=sets)
    for key, seed in (("doc1", 0), (1, 1), ("1", 2)):
        ix.add([text(seed)], ids=[key])
    assert len(ix) == 3
    with pytest.raises(IdError, match="'doc1'"):
        ix.add([text(3)], ids=["doc1"])
    assert found(ix, text(0)) == ["doc1"] and found(ix, text(3)) == []
    assert ix.add([text(3)], ids=["doc1"], existing="replace").added == 1
    assert (found(ix, text(0)), found(ix, text(3)), len(ix)) == ([], ["doc1"], 3)
    with pytest.raises(IdError):
        ix.add([text(3)], ids=["doc1"])
    assert (len(ix), found(ix, text(1)), found(ix, text(2))) == (3, [1], ["1"])
    ix = reopened(ix, name, tmp_path)
    ix.update([text(4)], [1])
    assert (found(ix, text(1)), found(ix, text(4)), found(ix, text(2)), len(ix)) == ([], [1], ["1"], 3)
    ix.flush()
    assert ix.remove([1, "doc1"]) == 2 and list(ix.ids()) == ["1"] and ix.check() == []
    ix.compact()
    assert (found(ix, text(3)), found(ix, text(2)), list(ix.ids())) == ([], ["1"], ["1"])
    ix.close()


@EACH
def test_sketches_of_another_length_are_refused_whole(name, tmp_path):
    """128 numbers beside 64: a query, a batch with one odd item, and an index of another layout."""
    rows = np.random.default_rng(2).normal(size=(4, 128))
    ix = index_in(name, tmp_path, by="cosine", dimension=128, bands=16, rows=8)
    ix.add(rows[:2], ids=["a", "b"])
    with pytest.raises(UsageError, match=r"row 0 has 64 numbers.*128 numbers"):
        ix.query(rows[:1, :64])
    with pytest.raises(UsageError, match="64 numbers"):
        ix.add([rows[2].tolist(), rows[3, :64].tolist()], ids=["c", "d"])
    assert list(ix.ids()) == ["a", "b"] and found(ix, rows[:1]) == ["a"]
    other = index_in("plain", tmp_path, by="cosine", dimension=128, bands=8, rows=8)
    other.add(rows[3:], ids=["z"])
    with pytest.raises(UsageError, match=r"bands 16.*bands 8|bands 8.*bands 16"):
        ix.merge(other)
    assert len(ix) == 2 and "z" not in ix
    ix.close()


@EACH
def test_one_index_knows_nothing_of_another(name, tmp_path):
    """Two items of a preview are near those of the target: 8/9 and 7/9 of their words. The index of the target does not know them."""
    preview = ["blue boats sail past the old harbour wall today", "grey trains wait near the new bridge in fog"]
    target = ["blue boats sail past the old harbour wall", "grey trains wait near the new bridge", "a baker opens his shop before the sun rises"]
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    one, two = (index_in(name, folder, by="whitespace:1", threshold=0.5) for folder in folders)
    one.add(preview)
    assert [row["added"] for row in two.add_new(target)] == [True] * 3
    assert [(row["query"], row["similarity"]) for row in one.query(target)] == [(0, 8 / 9), (1, 7 / 9)]
    assert len(one) == 2 and [row["query"] for row in two.query(target)] == [0, 1, 2]
    one.close()
    two.close()


@EACH
def test_ids_at_the_edges_of_64_bits_come_back_as_they_are(name, tmp_path):
    """Ids that others take for marks or round: 2^32 - 1, 0, 2^64 - 1, 2^53 + 1, -1, 2^53."""
    ids = [2**32 - 1, 0, 2**64 - 1, 2**53 + 1, -1, 2**53]
    ix = index_in(name, tmp_path)
    ix.add([text(seed) for seed in range(6)], ids=ids)
    new = [near(0), text(20), text(3), near(2), text(20)]
    rows = ix.query(new, ids=[1, 2, 3, 4, 5]).to_dicts()
    shared = 25 / 27  # of the shingles of a text and one with another last word
    assert [tuple(row.values()) for row in rows] == [(1, 2**32 - 1, shared), (3, 2**53 + 1, 1.0), (4, 2**64 - 1, shared)]
    assert all(type(row["id"]) is int for row in rows)
    told = ix.add_new(new, ids=[1, 2, 3, 4, 5]).to_dicts()
    assert [(row["row"], row["added"], row["id"]) for row in told] == [
        (0, False, 2**32 - 1),
        (1, True, 2),
        (2, False, 2**53 + 1),
        (3, False, 2**64 - 1),
        (4, False, 2),
    ]
    assert list(ix.ids()) == [*ids, 2] and 2**53 in ix and 2**53 - 1 not in ix and str(2**53) not in ix
    ix.close()


@EACH
def test_a_second_pass_over_an_upload_gives_what_one_gives(name, tmp_path):
    """200 documents one by one, each hundredth a near copy of the one before; stopped after 150, and then sent again as a whole."""
    draw = np.random.default_rng(5)
    words = [[f"t{word:05}" for word in draw.choice(20000, 40, replace=False)] for _ in range(200)]
    for place in (99, 199):
        words[place] = [*words[place - 1][:39], f"copy{place}"]
    rows = {f"k{place:05}": " ".join(one) for place, one in enumerate(words)}
    ix = index_in(name, tmp_path)
    for place, (key, one) in enumerate(list(rows.items())[:150]):
        ix.add([one], ids=[key])
        if place == 70:
            ix.flush()
    ix = reopened(ix, name, tmp_path)
    assert list(ix.ids()) == list(rows)[:150]
    for key, one in rows.items():
        ix.add([one], ids=[key], existing="replace")
    ix.compact()
    ix = reopened(ix, name, tmp_path)
    assert len(ix) == 200 and list(ix.ids()) == list(rows) and ix.check() == []
    pairs = [(list(rows)[row["query"]], row["id"], row["similarity"]) for row in ix.query(list(rows.values()))]
    assert [pair for pair in pairs if pair[0] == pair[1]] == [(key, key, 1.0) for key in rows]
    assert {(a, b, value) for a, b, value in pairs if a < b} == {("k00098", "k00099", 35 / 37), ("k00198", "k00199", 35 / 37)}
    ix.close()
