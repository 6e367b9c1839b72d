"""Settings of an index: what can be in one, and that a store gives back what it was created with."""

from __future__ import annotations

import json

import numpy as np
import pytest

from likewise.errors import FormatError, UsageError
from likewise.index.ids import json_ids
from likewise.index.settings import settings_of
from likewise.index.sketching import Sketching, items_of
from likewise.index.store import Items
from likewise.index.stored_settings import restored, stored
from likewise.records import TEXT, Records
from likewise.stages.sketch import sketcher

VECTORS = np.random.default_rng(1).normal(size=(4, 6))
SPARSE = [{"indices": [1, 2], "values": [1.0, 2.0]}, {"indices": [7], "values": [1.0]}]
#: Options, and a batch that they fit.
KINDS = [
    ({}, ["a b c d e f g", "", "x y"]),
    ({"by": "chars:3/bag", "threshold": "2/3", "normalize": ["re:[0-9]+", "lower"], "sets": "compact"}, ["abcabc", "1a"]),
    ({"by": "words:2", "sets": "none", "seed": 7}, ["a b c", "a b"]),
    ({"by": "tokens:2"}, [[1, 2, 3], []]),
    ({"by": "elements", "groups": {1: "x", "milk": "x"}}, [[1, 2, 3], ["milk"]]),
    ({"by": "weighted", "threshold": 0.9}, [{1: 2.0, 3: 1.0}, {}]),
    ({"by": "cosine", "dimension": 6, "wide": True}, VECTORS),
    ({"by": "cosine", "sparse": True}, SPARSE),
    ({"by": "angle", "dimension": 6, "within": 10}, VECTORS),
    ({"by": "l1", "dimension": 6, "within": 1}, VECTORS),
    ({"by": "l2", "dimension": 6, "within": "0.1", "bands": 7, "rows": 3}, VECTORS),
    ({"by": "hamming", "dimension": 64, "within": 3}, [1, 2**63]),
    ({"by": "features", "dimension": 6, "threshold": 0.5}, [VECTORS, VECTORS[:1]]),
    ({"by": "features/one-to-many", "dimension": 6, "threshold": 0.5}, [VECTORS]),
]


@pytest.mark.parametrize(("choices", "batch"), KINDS, ids=[str(choices) for choices, _ in KINDS])
def test_stored_settings_make_the_same_items(choices, batch):
    settings = settings_of(**choices)
    again = restored(json.loads(json.dumps(stored(settings))))
    assert stored(again) == stored(settings) and not again.difference(settings)
    assert again.plan.recall == settings.plan.recall >= 0.99 or "bands" in choices
    ids = json_ids(list(range(len(batch))))
    one, other = (Sketching(made).items(batch, ids) for made in (settings, again))
    for name in ("keys", "copy", "size", "words", "slots"):
        mine, yours = getattr(one, name), getattr(other, name)
        assert mine.dtype == yours.dtype and mine.flags.c_contiguous and np.array_equal(mine, yours)
    assert one.keys.shape == (len(batch), settings.bands) and one.copy.shape == (len(batch), 2)
    assert len(one.words) == (0 if settings.sets == "none" else int(one.size.sum())) and one.slots.shape == (len(batch), settings.slots)
    alone = [Sketching(settings).items(batch[i : i + 1], ids[i : i + 1]) for i in range(len(batch))]  # no item depends on its batch
    assert all(np.array_equal(joined(alone, name), getattr(one, name)) for name in ("keys", "copy", "size", "words", "slots"))
    back = one.at(np.arange(len(batch))[::-1])
    assert np.array_equal(joined([back.at(np.array([i])) for i in range(len(batch))][::-1], "words"), one.words)


def joined(parts: list[Items], name: str) -> np.ndarray:
    return np.concatenate([getattr(part, name) for part in parts])


def test_a_version_that_sketches_in_another_way_is_told(monkeypatch):
    """Other constants of the hash functions give another scheme."""
    kept = stored(settings_of())
    assert stored(restored(kept)) == kept
    monkeypatch.setattr("likewise.items.documents.BYTE_KEYS", np.uint64(1))
    with pytest.raises(FormatError, match="in another way"):
        restored(kept)


def test_a_batch_and_the_columns_of_a_run_give_the_same_items():
    texts = ["a b c d e f g", "a b c", ""]
    settings = settings_of(by="words:3", per="site")
    made = Sketching(settings).items(texts, json_ids([1, 2, 3]), per=["x", None, "x"])
    job = settings.job()
    column = job.kind.column(texts)
    nothing = np.zeros(3, np.int64)
    records = Records(np.full(3, TEXT, np.uint8), nothing, nothing, column, per=job.kind.column(['"x"', None, '"x"']))
    found = items_of(sketcher(job)(records), json_ids([1, 2, 3]), settings)
    assert all(np.array_equal(getattr(made, name), getattr(found, name)) for name in ("keys", "copy", "size", "words"))


def test_items_of_two_groups_share_no_key_and_are_no_copies():
    made = Sketching(settings_of(per="site")).items(["a b c d e f"] * 3, json_ids([1, 2, 3]), per=["x", "y", "x"])
    assert np.array_equal(made.keys[0], made.keys[2]) and np.array_equal(made.copy[0], made.copy[2])
    assert not (made.keys[0] == made.keys[1]).any() and not (made.copy[0] == made.copy[1]).any()


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"by": "edit", "within": 2}, "no hash family.*chars:3"),
        ({"by": "features/chamfer", "dimension": 4}, "no hash family.*one-to-many"),
        ({"by": "linf", "within": 2, "dimension": 3}, "no hash family"),
        ({"by": "image"}, "likewise features"),
        ({"by": "words:5/containment"}, "not symmetric"),
        ({"by": "cosine"}, "needs dimension=N"),
        ({"by": "hamming", "within": 3}, "needs dimension=N, the number of bits"),
        ({"by": "cosine", "dimension": 0}, "dimension=0"),
        ({"by": "cosine", "dimension": 4, "sparse": True}, "give it alone"),
        ({"by": "cosine", "dimension": 4, "sets": "none"}, "only sets of shingles"),
        ({"by": "weighted", "sets": "compact"}, "only sets of shingles"),
        ({"dimension": 3}, "texts have none"),
        ({"sparse": True}, "only vectors"),
        ({"sets": "some"}, "full, compact, none"),
        ({"by": "cosine", "dimension": 4, "within": 3}, "by='angle'"),
    ],
)
def test_what_cannot_be_in_an_index_is_refused_with_a_reason(choices, said):
    with pytest.raises(UsageError, match=said):
        settings_of(**choices)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": 2}, "format 2.*reads 1"),
        ({"by": "letters:3"}, "unknown unit|damaged"),
        ({"plan": {}}, "damaged"),
        ({"bits": 32}, "keeps 32 bits"),
        ({"family": {"name": "MinHash", "width": 3}}, "does not plan"),
        ({"threshold": "7"}, "threshold='7'"),
        ({"groups": {"words": "?", "of": "?"}}, "damaged"),
        ({"scheme": "0" * 32, "likewise": "0.0.9"}, "sketches items in another way.*0.0.9 made it: read it with that version"),
    ],
)
def test_damaged_settings_are_refused(change, said):
    with pytest.raises(FormatError, match=said):
        restored(stored(settings_of()) | change)
    with pytest.raises(FormatError, match="format None"):
        restored([])


def test_a_difference_names_both_values():
    assert "by is words:5 in the one and chars:9 in the other" in settings_of().difference(settings_of(by="chars:9"))


@pytest.mark.parametrize("ids", ["abc", [None], [float("nan")], [("a", 1)], 3, {"a": 1}])
def test_other_values_than_strings_and_numbers_are_no_ids(ids):
    with pytest.raises(UsageError, match="ids="):
        json_ids(ids)


def test_ids_keep_their_types():
    assert json_ids([1, "1", np.int64(7), 2**64 - 1, 'a"b', "é"]) == [b"1", b'"1"', b"7", b"18446744073709551615", b'"a\\"b"', '"é"'.encode()]
    assert json_ids(np.array([1, 2])) == [b"1", b"2"] and json_ids(np.array(["a"])) == [b'"a"']
