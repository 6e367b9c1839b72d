"""report.html: the page has the numbers of report.json, and no text of the data becomes markup."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.drawing.markup import tag, text
from likewise.report import diff
from likewise.report.examples import CONTEXT, MOST_RUNS, side_by_side
from likewise.report.html import render
from likewise.report.page.sources import MOST_SOURCES
from report_pages import CLUSTER, FOUND, PLAN, Page, example, report, run_facts

ELEMENTS = """html head meta title style body main header footer section article h1 h2 h3 h4 p strong b span code bdi ins del ul li div
    table caption thead tbody tfoot tr th td details summary svg g defs pattern path circle rect line text polygon polyline
    dl dt dd a time button input label output figure blockquote img script"""


def test_the_page_says_what_the_report_holds():
    page = Page(render(report(), run_facts(), [example("one two", "one three")]))
    assert page.by_tag["h1"] == ["1,234 documents read: 1,000 kept, 229 removed, 5 rejected"]
    assert "18.6% of the documents were removed: 150 exact copies and 79 near-duplicates, in 61 clusters." in page.words
    assert "Method: words:5. Threshold: 0.8 (expected recall at least 99.2%)." in page.words
    assert "Every document is accounted for: 1,000 kept + 229 removed + 5 rejected = 1,234 read" in page.words
    assert "Kept without comparison: 1 empty, 2 without a text, 4 too short to judge." in page.words
    assert "With 16 bands of 6 rows, a pair at similarity 0.8 is found with a probability of at least 99.2%;" in page.words
    assert (
        "1,111 distinct documents collided in 640 buckets, the largest of 321 documents; 7,654 pairs were compared, and 87 are similar." in page.words
    )
    assert "61 clusters" in page.words and "59 components" in page.words
    for row in (
        ["doc-7 in a.jsonl, position 17", "132"],
        ["b.jsonl", "234", "100", "131", "3", "56.0%"],
        ["all 2 sources", "1,234", "1,000", "229", "5", "18.6%"],
        ["reading", "3.00", "75.0%"],
        ["versions.numpy", "2.4"],
        ["0.9", "99.8%"],
    ):
        assert row in page.rows
    assert page.rows.index(["b.jsonl", "234", "100", "131", "3", "56.0%"]) < page.rows.index(["a.jsonl", "1,000", "900", "98", "2", "9.8%"])
    assert "/home" not in page.words
    made = report()
    made["method"] = made["method"] | {"plan": PLAN | {"chosen_by": "preset fineweb"}}
    assert "With 16 bands of 6 rows (preset fineweb), a pair at" in Page(render(made, None, [])).words
    labels = [attributes["aria-label"] for name, attributes in page.tags if attributes.get("role") == "img"]
    assert len(labels) == 5 and labels[3] == labels[4]  # the curve, drawn for a screen and for a phone
    assert "kept 1,000, removed as exact copies 150, removed as near-duplicates 79, rejected (unreadable) 5" in labels[0]
    assert "2: 50 clusters, 3-4: 10 clusters, 5-8: 0 clusters" in labels[1] and labels[1].endswith("129-256: 1 cluster")


HOSTILE = "</p><script>alert(1)</script><img src=x onerror=alert(1)>\" onload='x' &amp; \x00 \ud800 \u202e <!-- ]]> \x1b[31m"


def shown(data: str) -> str:
    return data.replace("\x00", "\\x00").replace("\ud800", "\\ud800").replace("\u202e", "\\u202e").replace("\x1b", "\\x1b")


def strings_replaced(value: Any, by: str) -> Any:
    """The value with hostile text in place of each string and in each name."""
    if isinstance(value, dict):
        return {name: strings_replaced(inner, by) for name, inner in value.items()}
    if isinstance(value, list):
        return [strings_replaced(inner, by) for inner in value]
    return by if isinstance(value, str) else value


def test_data_never_becomes_markup():
    matrix = {"sources": ["a", "b"], "other": 1, "counts": [[1, 2, 0], [0, 3, 0], [0, 0, 4]]}
    review = [{"text": "w", "target": "sources"}]
    every = report(warnings=["w"], suspicious=[CLUSTER], removals=FOUND, matrix=matrix, needs_review=review)
    hostile = strings_replaced(every, HOSTILE)
    hostile["method"][HOSTILE] = HOSTILE
    hostile["buckets"]["by_size"] = {HOSTILE: 3}
    hostile["budget"] = {
        "cut": 7,
        "recall": 0.5,
        "buckets": [{"items": 9, "cut": 7, "source": HOSTILE, "position": 1, "text": HOSTILE, "shared": [HOSTILE]}],
    }
    run = {"seconds": {HOSTILE: 1.0}, HOSTILE: HOSTILE, "versions": {HOSTILE: HOSTILE}}
    examples = [example(HOSTILE, HOSTILE + " more", kept_id=HOSTILE + " k", kept_source=HOSTILE, removed_id=HOSTILE, removed_source=HOSTILE)]
    written = render(hostile, run, examples)
    page = Page(written)
    assert {name for name, _ in page.tags} <= {*ELEMENTS.split()}
    assert not any(name.startswith("on") or name == "src" for _, attributes in page.tags for name in attributes)
    assert {attributes["href"][0] for _, attributes in page.tags if "href" in attributes} == {"#"}
    written.encode("utf-8")
    assert not re.search("[\x00\x1b\u202e]", written)
    assert page.by_tag["li"][0] == shown(HOSTILE)
    assert page.by_tag["bdi"].count(shown(HOSTILE)) >= 13
    assert [shown(HOSTILE)] == [words for words in page.by_tag["p"] if words.startswith("</p><script>") and "more" not in words][:1]


@given(st.text(alphabet=st.characters(), max_size=30))
@settings(max_examples=150)
def test_any_string_is_one_text_and_one_attribute(data):
    page = Page("<!doctype html>" + tag("p", data, title=data))
    assert [name for name, _ in page.tags] == ["p"]
    assert page.words.replace("\r\n", "\n") == page.tags[0][1]["title"].replace("\r\n", "\n")
    text(data).encode("utf-8")


def test_nothing_comes_from_elsewhere():
    written = render(report(), run_facts(), [example("a b", "a c")])
    assert not re.search(r"https?:|@import|<link|<img|url\((?!#)", written)
    page = Page(written)
    assert ("html", {"lang": "en"}) in page.tags
    assert any((attributes.get("content") or "").startswith("default-src 'none'") for _, attributes in page.tags)
    identities = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    links = {attributes["href"] for _, attributes in page.tags if "href" in attributes}
    assert (
        len({*identities}) == len(identities)
        and links <= {f"#{name}" for name in identities}
        and set(re.findall(r"url\(#(\w+)\)", written)) <= {*identities}
    )
    assert all(attributes.get("aria-label") or attributes.get("aria-hidden") for name, attributes in page.tags if name == "svg")
    assert [name for name, _ in page.tags].count("table") == [name for name, _ in page.tags].count("caption")
    levels = [int(name[1]) for name, _ in page.tags if re.fullmatch("h[1-6]", name)]
    assert levels[0] == 1 and all(later <= earlier + 1 for earlier, later in pairwise(levels))


@pytest.mark.parametrize(("threshold", "recall"), [(0.001, "about 0.25%"), (0.05, "about 0.25%"), (0.8, "about 64.0%"), (1.0, "at least 100%")])
def test_thresholds_at_the_ends_of_the_curve(threshold, recall):
    plan = {name: value for name, value in PLAN.items() if name != "recall"}
    made = report(threshold=threshold, curve=[[step / 20, (step / 20) ** 2] for step in range(1, 21)])
    made["method"] = made["method"] | {"plan": plan}
    page = Page(render(made, None, []))
    assert f"at similarity {threshold:g} is found with a probability of {recall};" in page.words


def test_an_empty_run():
    counts = dict.fromkeys(report()["counts"], 0)
    empty = report(
        counts=counts,
        items=0,
        matched=0,
        buckets={"number": 0, "largest": 0, "by_size": {}},
        clusters={"number": 0, "components": 0, "by_size": {}, "largest": []},
        sources=[],
    )
    page = Page(render(empty, {"seconds": {}}, []))
    assert page.by_tag["h1"] == ["Nothing to deduplicate: no document was read"]
    assert "There are no clusters" in page.words and ["all 0 sources", "0", "0", "0", "0%"] in page.rows


@pytest.mark.parametrize(("verified", "said"), [("estimate", "by estimates from signatures"), ("none", "Pairs were not checked")])
def test_what_was_not_checked_exactly_is_said_first(verified, said):
    page = Page(render(report(verified=verified, warnings=["a warning"]), None, [example("a", "b", similarity=float("nan")), example("a", "b")]))
    assert page.words.index("Not exact.") < page.words.index(said) < page.words.index("a warning") < page.words.index("Outcome")
    assert "Example 1: near-duplicate, not checked" in page.by_tag["h3"]
    assert ("Example 2: near-duplicate, similarity about 0.875 (an estimate)" in page.by_tag["h3"]) == (verified == "estimate")
    assert "Not exact." not in Page(render(report(), None, [])).words


def test_a_page_without_run_facts_says_only_what_was_found():
    assert "the largest of 321 documents; 87 pairs are similar." in Page(render(report(), None, [])).words


def test_pairs_that_overfull_buckets_left_out_are_reported():
    cut = {"cut": 54321, "recall": 0.87659, "buckets": [{"items": 321, "cut": 50000, "source": "a.jsonl", "position": 12, "text": "one two"}]}
    page = Page(render(report(budget=cut), None, []))
    assert "54,321 pairs in overfull buckets were skipped; this lowers the expected recall to 87.6%." in page.words
    assert ["a.jsonl, position 12one two", "321", "50,000"] in page.rows
    page = Page(render(report(budget=cut | {"sampled": 1000, "similar": 2, "missed_at_most": 311.2}), None, []))
    assert "1,000 skipped pairs were compared as a sample, and 2 were similar: at most 311 pairs missed, with 95% confidence." in page.words
    assert "No pair was skipped; the expected recall is 99.2%." in Page(render(report(), None, [])).words


def test_long_lists_of_sources_are_cut_and_counted():
    many = [{"source": f"part-{i}", "read": 1000, "kept": 1000 - i, "removed": i, "rejected": 0} for i in range(MOST_SOURCES + 50)]
    page = Page(render(report(sources=many), None, []))
    listed = [row[0] for row in page.rows if row and row[0].startswith("part-")]
    assert listed == [f"part-{i}" for i in range(MOST_SOURCES + 49, 49, -1)]
    assert "50 more sources with fewer removals are not listed" in page.words


def test_examples_show_differences_and_elide_what_is_equal():
    same = " ".join(f"w{i}" for i in range(100))
    page = Page("<!doctype html>" + side_by_side(example(f"new title\n{same} end", f"old title\n{same} other end", kept_position=1234), 1, False))
    assert page.by_tag["ins"] == ["new"] and page.by_tag["del"] == ["old", "other "]
    assert CONTEXT["equal"] == 12  # " title w0 ... w9", the space before it counting as one, and "w88 ... w99"
    assert "w9 … 78 equal words … w88 " in page.words and "w50 " not in page.words and "position 1,234" in page.words
    many = " ".join(f"same{i} kept{i}" for i in range(MOST_RUNS))
    other = " ".join(f"same{i} gone{i}" for i in range(MOST_RUNS))
    page = Page("<!doctype html>" + side_by_side(example(many, other), 1, False))
    assert len(page.by_tag["ins"]) == MOST_RUNS // 2 and f"{MOST_RUNS} further runs" in page.words


def test_texts_of_one_side_only():
    page = Page("<!doctype html>" + side_by_side(example("", "a\nb"), 1, False))
    assert "(empty)" in page.words and page.by_tag["del"] == ["a↵\nb"]


PIECES = st.lists(st.sampled_from(["a", "b", "cc", "é", "東", "京", ",", " ", "\n", "  ", "\x1c", "\u3000", "\ud800"]), max_size=25).map("".join)


@given(PIECES, PIECES, st.sampled_from([0, 6, 250_000]), st.sampled_from([1, 5, 200_000]))
@settings(max_examples=300)
def test_differences_are_true(left, right, pairs, characters):
    kept = diff.MOST_PAIRS, diff.MOST
    diff.MOST_PAIRS, diff.MOST = pairs, characters  # few pairs: anchors part the texts; few characters: a part of them is compared
    try:
        runs = diff.words(left, right)
    finally:
        diff.MOST_PAIRS, diff.MOST = kept
    assert "".join(words for what, words in runs if what != "insert") == left
    right_again = "".join(words for what, words in runs if what != "delete")
    assert re.sub(r"\s+", " ", right_again) == re.sub(r"\s+", " ", right)  # between equal words the white space of the left is shown
    assert all(one[0] != other[0] for one, other in pairwise(runs)) and all(words for _, words in runs)


def test_of_long_texts_the_words_from_the_first_difference_on_are_compared(monkeypatch):
    """They begin with the last equal word. Without the equal ends, "same " and "end", each text has 28 characters."""
    monkeypatch.setattr(diff, "MOST", 13)
    left, right = "same old aaaa bbbb cccc dddd the end", "same old eeee aaaa cccc hhhh the end"
    assert diff.words("same aaaa bbbb", "same aaaa cccc") == [("equal", "same aaaa "), ("delete", "bbbb"), ("insert", "cccc")]
    assert diff.words(left, right) == [
        ("equal", "same old "),
        ("insert", "eeee "),
        ("equal", "aaaa"),
        ("delete", " bbbb cccc dddd the "),
        ("insert", " cccc hhhh the "),
        ("equal", "end"),
    ]
    assert diff.not_compared(left, right) == (15, 15)  # all but "old aaaa bbbb" and "old eeee aaaa"
    assert diff.not_compared(left, left) == (0, 0) and diff.words(left, left) == [("equal", left)]
    assert diff.words(left, left + " more") == [("equal", left), ("insert", " more")]


def test_pages_split_a_bounded_part_of_long_texts(monkeypatch):
    """A million characters are equal, the last 8 of which are compared again, and a million follow."""
    seen, split = [], diff.split
    monkeypatch.setattr(diff, "split", lambda text: seen.append(len(text)) or split(text))
    same, *rests = ("".join(f"{name}{i:06} " for i in range(125_000)) for name in ("s", "r", "k"))
    page = Page("<!doctype html>" + side_by_side(example(same + rests[0], same + rests[1]), 1, False))
    assert "200,000 characters from the first difference on were compared; the 800,008 characters of the removed item and 800,008" in page.words
    assert "equal characters …" in page.words and len(page.words) < 5000
    assert sum(seen) <= 8 * diff.MOST  # once to compare, and once for each of the two runs that each side shows


def test_differences_of_long_texts_are_few_where_the_texts_are_similar():
    left = [f"word{i * 7919 % 10007}" for i in range(20_000)]
    right = [word for i, word in enumerate(left) if i % 1000 != 500]
    runs = diff.words(" ".join(left), " ".join(right))
    assert [words for what, words in runs if what == "delete"] == [f"{word} " for word in left[500::1000]]
    assert not any(what == "insert" for what, _ in runs)
