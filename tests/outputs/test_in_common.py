"""The passages or elements that the items of an overfull bucket have in common, as the report names them."""

from __future__ import annotations

import html
import json
import re
from itertools import product
from string import ascii_lowercase
from typing import Any

import numpy as np
import pytest

import likewise as lw
from command_line import run
from likewise.families import MinHash
from likewise.kinds import kind_of_unit
from likewise.methods import parse

#: Buckets of single shingles: those whose least hash is small hold most items.
SINGLE = {"bands": 64, "rows": 1, "threshold": 0.9, "exact": False}
ITEMS = 400
#: Words that no other item has.
UNIQUE = ["".join(letters) for letters in product(ascii_lowercase, repeat=4)][5000 : 5000 + 8 * ITEMS]


def own(item: int) -> list[str]:
    """Eight words that only this item has."""
    return UNIQUE[8 * item : 8 * item + 8]


def in_common(items: Any, by: str, **more: Any) -> list[list[str]]:
    """The common parts of the items of each overfull bucket."""
    found = lw.dedup(items, by=by, **(SINGLE | more)).report["budget"]["buckets"]
    assert found and all(bucket["items"] > 128 for bucket in found)
    return [bucket["shared"] for bucket in found]


@pytest.mark.parametrize(
    ("by", "text", "passage", "more"),
    [
        ("words:5", "{}. All RIGHTS -- reserved, by us! {}", "All RIGHTS -- reserved, by us", {}),
        ("words:4/bag", "{} All rights reserved. (c) {}", "All rights reserved. (c", {}),
        ("whitespace:3", "{} (All rights, reserved!) {}", "(All rights, reserved!)", {}),
        ("code:4", "{} print ( x ) {}", "print ( x )", {}),
        ("lines:2", "{}\n  All rights\n\nreserved\n{}", "All rights reserved", {}),
        ("stopwords:2", "the {0} of {1} with Cats, purring and {1} {0}", "with Cats, purring", {}),
        ("words:3", "{} Call 555 123 {}", "Call 555 123", {"normalize": "lower,digits"}),
    ],
)
def test_a_passage_is_as_it_stands_in_the_text(by, text, passage, more):
    """One shingle is in all texts."""
    texts = [text.format(" ".join(own(item)[:3]), " ".join(own(item)[3:])) for item in range(ITEMS)]
    assert {tuple(shared) for shared in in_common(texts, by, **more)} == {(passage,)}


@pytest.mark.parametrize("by", ["chars:20", "bytes:24"])
def test_a_passage_of_characters(by):
    texts = [f"{own(item)[0]} © Größe und Länge, 12 € {own(item)[1]}" for item in range(ITEMS)]
    for (shared,) in in_common(texts, by, normalize="none"):
        assert sum(shared[1:-1] in text for text in texts) > 128 and len(shared) >= 18  # bytes may begin and end inside a character


def test_token_ids_and_elements():
    ids = [[*range(10 * item + 10, 10 * item + 14), 1, 2, 3, *range(10 * item + 15, 10 * item + 18)] for item in range(ITEMS)]
    assert {tuple(shared) for shared in in_common(ids, "tokens:3")} == {("1 2 3",)}
    assert {tuple(shared) for shared in in_common([["7", *own(item)] for item in range(ITEMS)], "elements")} == {('"7"',)}
    assert {tuple(shared) for shared in in_common([[*range(9 * item + 9, 9 * item + 17), 7] for item in range(ITEMS)], "elements")} == {("7",)}
    heavy = [{**dict.fromkeys(own(item), 0.5), "milk": 2.0, "tea": 1e-40} for item in range(ITEMS)]
    assert {tuple(shared) for shared in in_common(heavy, "weighted")} == {()}  # an element of such a weight has no signature by itself
    heavy = [{**dict.fromkeys(own(item), 0.5), "milk": 2.0} for item in range(ITEMS)]
    assert {tuple(shared) for shared in in_common(heavy, "weighted")} == {("milk",)}


def test_elements_of_one_group_and_ignored_ones():
    groups = {"tea": "drinks", "milk": "drinks"}
    sets = [[*own(item), "tea" if item else "milk", "salt"] for item in range(ITEMS)]
    found = {tuple(shared) for shared in in_common(sets, "elements", groups=groups, ignore=[["salt"]])}
    assert found <= {("tea",), ("milk",)} and found
    texts = [f"{own(item)[0]} {own(item)[1]} all rights reserved {own(item)[2]} {own(item)[3]} By the way {own(item)[4]}" for item in range(ITEMS)]
    assert {tuple(shared) for shared in in_common(texts, "words:3", ignore=["all rights reserved"])} == {("By the way",)}


def test_the_passages_decide_the_key():
    """Their shingles alone have the key of the document in the band. They are in the banner, because no other text is in many documents."""
    banner = "Any copy of this page, in print or on a screen, needs the written consent of Example Press, 12 Long Lane, and a fee of 3 pounds a word."
    texts = [f"{' '.join(own(item)[:2])} {banner} {own(item)[2]}" for item in range(ITEMS)]
    result = lw.dedup(texts, by="words:4", threshold=0.97, bands=5, rows=6)
    found = result.report["budget"]["buckets"]
    assert found
    for bucket in found:
        assert bucket["shared"] and all(passage in banner for passage in bucket["shared"])
        cut = kind_of_unit("words").shingled([texts[bucket["position"]], *bucket["shared"]], parse("words:4"), 0)
        whole, *parts = np.split(cut.values, cut.offsets[1:-1])
        keys = MinHash(30).band_keys([whole, np.concatenate(parts)], 5, 6)
        assert (keys[:, 0] == keys[:, 1]).any()
    assert any(len(bucket["shared"]) > 1 for bucket in found)


def test_items_without_parts_have_nothing_in_common():
    vectors = np.concatenate([np.ones((ITEMS, 1)), 0.3 * np.random.default_rng(0).normal(size=(ITEMS, 9))], axis=1)
    assert {tuple(shared) for shared in in_common(vectors, "cosine", threshold=0.999, bands=4, rows=2)} == {()}


def test_the_summary_and_the_page_name_the_first_of_them(tmp_path):
    """Sixty of three hundred shingles decide a key: far more passages than a table can show."""
    banner = " ".join(f"word{i}" for i in range(300))
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"text": f"{banner} {own(item)[0]}"}) + "\n" for item in range(ITEMS)))
    done = run("dedup", path, "-o", tmp_path / "out", "--by", "words:2", "--threshold", "0.999", "--bands", "3", "--rows", "60")
    found = json.loads((tmp_path / "out/report.json").read_text())["budget"]["buckets"][0]
    shared = found["shared"]
    assert len(shared) > 12 and sum(map(len, shared)) < len(banner)
    said = f"{found['items']} documents of one bucket have: {' … '.join(shared)}"
    assert re.search(rf"\nin common +{re.escape(said[: said.index(': ') + 2 + 99])}…\n", done.stderr)
    page = html.unescape(re.sub("<[^>]+>", "", (tmp_path / "out/report.html").read_text()))
    assert f"{' … '.join(shared[:12])} … and {len(shared) - 12} more" in page
