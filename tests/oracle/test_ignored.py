"""Ignored shingles: the sets that are left, counts of common shingles, and what each verb does with them, against Python's sets and dicts."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from command_line import lines
from likewise.items.ignored import ignoring
from likewise.stages import counting as stage
from likewise.stages.workers import Workers

NOTICE = "this page is under a free license and may be copied by all who name its source"
COLORS = "red green blue white black gray brown pink"


def shingles(text: str, k: int = 2) -> list[tuple[str, ...]]:
    words = text.split()
    return [tuple(words[at : at + k]) for at in range(max(1, len(words) - k + 1))] if words else []


def jaccard(a: Any, b: Any) -> float:
    """Jaccard similarity; of Counters the weighted one. NaN for two empty ones."""
    both = (Counter(a) & Counter(b)).total()
    either = (Counter(a) | Counter(b)).total()
    return both / either if either else float("nan")


# --- the kernels


@settings(deadline=None)
@given(st.lists(st.sets(st.integers(0, 60), max_size=20), min_size=1, max_size=8), st.sets(st.integers(0, 60)), st.integers(0, 2**40))
def test_sets_without_ignored_words(rows, drop, factor):
    """Values spread over 64 bits, as hashes are, and values in one bucket."""
    step = np.uint64(factor * 2 + 1)
    values = np.array([word for row in rows for word in sorted(row)], np.uint64) * step
    offsets = np.cumsum([0, *map(len, rows)])
    left, ends = ignoring(np.array(sorted(drop), np.uint64) * step).without(values, offsets)
    assert [left[a:b].tolist() for a, b in pairwise(ends)] == [
        [int(np.uint64(word) * step) for word in sorted(row) if word not in drop] for row in rows
    ]


def counted(rows: list[list[int]], chosen: list[bool], limit: int, *, memory: int = 2**30, tasks: int = 1) -> stage.Common:
    values = np.array([word for row in rows for word in row], np.uint64)
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    values.setflags(write=False)
    return stage.common(stage.Stored(values, offsets, np.array(chosen, bool)), limit, memory, workers=Workers(tasks=tasks))


@pytest.mark.parametrize(("memory", "tasks", "at_once"), [(2**30, 1, 2**20), (2**30, 3, 64), (1000, 2, 17), (0, 5, 1)])
def test_common_words_are_those_that_a_counter_finds(monkeypatch, memory, tasks, at_once):
    """With a table of few buckets many words share one; with no memory each collected word is a part of its own."""
    monkeypatch.setattr(stage, "AT_ONCE", at_once)
    monkeypatch.setattr(stage, "LEAST_BUCKETS", 5)
    rng = np.random.default_rng(0)
    names = rng.integers(0, 2**64, 300, dtype=np.uint64)
    rows = [sorted({int(names[word]) for word in rng.zipf(1.4, 20) % 300}) for _ in range(200)]
    rows[7] = []
    chosen = (rng.random(200) < 0.8).tolist()
    counts = Counter(word for row, is_chosen in zip(rows, chosen, strict=True) if is_chosen for word in row)
    for limit in (1, 2, 5, 20, 1000):
        found = counted(rows, chosen, limit, memory=memory, tasks=tasks)
        wanted = {word: number for word, number in sorted(counts.items()) if number > limit}
        assert dict(zip(found.words.tolist(), found.items.tolist(), strict=True)) == wanted
        assert found.words.tolist() == [*wanted]
        most = sorted(wanted, key=lambda word: (-wanted[word], word))[: stage.NAMED]
        assert found.most.tolist() == most
        assert found.first.tolist() == [next(i for i, row in enumerate(rows) if chosen[i] and word in row) for word in most]


def test_a_share_must_leave_what_two_items_have_in_common():
    assert [stage.limit_of(Fraction(1, 100), items) for items in (0, 1, 200, 299, 300)] == [1, 1, 2, 2, 3]
    with pytest.raises(lw.UsageError, match=r"ignore_common='1/100': this share of 199 items is less than 2 items, .* give 2/199 or more"):
        stage.limit_of(Fraction(1, 100), 199)
    with pytest.raises(lw.UsageError, match=r"this share of 2 items is less than 2 items, .*; leave it out$"):  # a share is below 1
        stage.limit_of(Fraction(3, 5), 2)


# --- values


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from("abcd"), max_size=12), st.lists(st.sampled_from("abcd"), max_size=12), st.lists(st.sampled_from("abcd"), max_size=6))
def test_similarities_are_those_of_the_sets_and_bags_without_ignored_shingles(a, b, c):
    """All repeats of an ignored shingle are left out of a bag."""
    a, b, c = (" ".join(each) for each in (a, b, c))
    if not c:
        return
    left, right = ([one for one in shingles(each) if one not in shingles(c)] for each in (a, b))
    for by, wanted in (("words:2", jaccard(set(left), set(right))), ("words:2/bag", jaccard(left, right))):
        assert lw.similarity(a, b, by=by, ignore=[c]) == pytest.approx(wanted, nan_ok=True)
        assert lw.similarity([a], [b], by=by, ignore=[c])[0] == pytest.approx(wanted, nan_ok=True)


def test_of_which_units_and_data_shingles_are_ignored():
    text = f"{NOTICE}\n\n{COLORS}"
    other = f"{text}\n\nand the gold in the bag was lost by the sea"
    for by in ("words:3", "whitespace:3", "chars:9", "bytes:9", "code:3", "stopwords:2", "lines:1", "paragraphs:1"):
        assert lw.similarity(text, other, by=by) > 0.3, by
        assert lw.similarity(text, other, by=by, ignore=[text]) == 0, by
        assert lw.similarity(other, f"{other}\n\nand more of it", by=by, ignore=[text]) < lw.similarity(other, f"{other}\n\nand more of it", by=by), (
            by
        )
    assert lw.similarity([1, 2, 3, 4, 5], [1, 2, 3, 4, 6], by="tokens:2", ignore=[[1, 2, 3]]) == 1 / 3  # 34 of 34, 45, 46
    assert lw.similarity({1, 2, 3}, {1, 2, 4}, by="elements", ignore=[{1}]) == 1 / 3
    assert lw.similarity({"a", "b"}, {"a", "c"}, by="elements", ignore=[["b"]], groups={"b": "x", "c": "x"}) == 1  # the group of b
    assert lw.similarity("a b c d", "a b c e f g", by="words:1/containment", ignore=["a b"]) == 0.5  # c of c and d
    assert np.isnan(lw.similarity("a b", "a b", by="words:1", ignore=["b a"]))


# --- runs


def pages(folder: Path) -> list[str]:
    """Pages of a notice and a few words of their own, of which every third repeats the words of the one before but for one."""
    rng = np.random.default_rng(5)
    made, own = [], [0]
    for i in range(60):
        own = rng.integers(0, 5000, 12).tolist() if i % 3 != 2 else [*own[:-1], 9999]
        made.append(f"{NOTICE} " + " ".join(f"w{word}" for word in own))
    made += [NOTICE, NOTICE, f"{NOTICE} again", ""]
    (folder / "pages.jsonl").write_text("".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(made)))
    (folder / "notice.txt").write_text(NOTICE)
    return made


def truth(texts: list[str], drop: set[tuple[str, ...]], threshold: float) -> dict[tuple[int, int], float]:
    """The similar pairs of texts without some shingles; equal texts are similar in any case."""
    sets = [set(shingles(text)) - drop for text in texts]
    found = {}
    for j, text in enumerate(texts):
        for i in range(j):
            value = 1.0 if text and text == texts[i] else jaccard(sets[i], sets[j])
            if value >= threshold:
                found[i, j] = value
    return found


def test_pairs_without_a_notice_and_without_common_shingles(folder):
    texts = pages(folder)
    items = [text for i, text in enumerate(texts) if text and text not in texts[:i]]
    counts = Counter(one for text in items for one in set(shingles(text)))
    common = {one for one, number in counts.items() if number > len(items) / 10}
    assert len(common) == len(shingles(NOTICE))
    for choices, drop in (({"ignore": Path("notice.txt")}, set(shingles(NOTICE))), ({"ignore_common": "10%"}, common)):
        for more in ({}, {"exact": True}):
            found = lw.pairs(Path("pages.jsonl"), by="words:2", threshold=0.6, **choices, **more)
            pairs = {(row["id_a"], row["id_b"]): row["similarity"] for row in found}
            assert pairs == pytest.approx(truth(texts, drop, 0.6))
            assert len(pairs) == 21
            part = found.report["ignored"]
            of = [one for text in texts for one in shingles(text)]
            assert (part["shingles"], part["of"], part["occurrences"]) == (len(drop), len(of), sum(one in drop for one in of))
            assert part["items_without_others"] == 2
            assert any("2 of 64 items have only ignored shingles" in said for said in found.report["warnings"])
    assert len(lw.pairs(Path("pages.jsonl"), by="words:2", threshold=0.3)) > 1000  # without either, the notice makes them similar
    assert part["common"] == {
        "share": "1/10",
        "items": len(items),
        "shingles": len(common),
        "most": [{"text": NOTICE, "items": counts[shingles(NOTICE)[0]], "share": counts[shingles(NOTICE)[0]] / len(items)}],
    }


def test_removal_audit_and_similarity_agree(folder, likewise):
    texts = pages(folder)
    for name, choices in {"file": {"ignore": Path("notice.txt")}, "common": {"ignore_common": 0.1}, "data": {"ignore": [NOTICE]}}.items():
        result = lw.dedup(Path("pages.jsonl"), out=name, by="words:2", threshold=0.6, bands=20, rows=1, **choices)
        assert result.counts["removed"] == 21
        assert (result.counts["removed_exact"], result.counts["empty"]) == (1, 1)
        for row in result.removed:
            exact = 1.0 if row["reason"] == "exact" else lw.similarity(texts[row["id"]], texts[row["kept_id"]], by="words:2", ignore=[NOTICE])
            assert row["similarity"] == exact
        found = lw.audit(name, **({"ignore": [NOTICE]} if name == "data" else {}))
        assert (found.pairs, found.found, found.precision) == (20, 20, 1.0)
        shown = likewise("show", name, "2")
        assert "similarity 0.8462 by words:2, ignored shingles left out (threshold 0.6)" in shown.out, shown
        assert shown.err == ""
        assert "or all its shingles are ignored" in likewise("show", name, "62").out
        page = (folder / name / "report.html").read_text()
        assert "Ignored shingles are left out of both." in page and "<h3>Ignored shingles</h3>" in page
        assert (NOTICE in page.partition("<h3>Ignored shingles</h3>")[2].partition("</section>")[0]) == (name == "common")
    with pytest.raises(lw.UsageError, match="the texts that this output ignores came from Python and are not stored; give ignore="):
        lw.audit("data")
    with pytest.raises(lw.DataError, match="the ignored shingles are not those of the output"):
        lw.audit("data", ignore=[f"{NOTICE} more"])
    (folder / "notice.txt").write_text("something else")
    with pytest.raises(lw.DataError, match="the ignored shingles are not those of the output"):
        lw.audit("file")


def test_copies_do_not_make_a_shingle_common(folder):
    """Ten copies of one text are one item of five, so nothing of it is common at a half; they are removed all the same."""
    texts = ["one two three four"] * 10 + [f"one two {word}" for word in ("x", "y", "z", "u")]
    found = lw.dedup(texts, by="words:2", ignore_common="1/2")
    assert found.report["ignored"]["common"] == {
        "share": "1/2",
        "items": 5,
        "shingles": 1,
        "most": [{"text": "one two", "items": 5, "share": 1.0}],
    }
    assert (found.counts["removed_exact"], found.counts["kept"]) == (9, 5)


def test_items_without_others_are_kept_and_match_their_exact_copies_only():
    texts = [NOTICE, f"{NOTICE} {NOTICE}", NOTICE, "", ""]
    for choices in ({}, {"verify": "estimate"}, {"verify": "none"}, {"exact": True}):
        found = lw.dedup(texts, by="words:1", ignore=[NOTICE], **choices)
        assert [(row["id"], row["kept_id"], row["reason"]) for row in found.removed] == [(2, 0, "exact")], choices
    assert lw.dedup(texts, by="words:1", ignore=[NOTICE], copies="empty").removed["id"].tolist() == [2, 4]  # texts with words are not empty
    assert len(lw.neighbors(texts, by="words:1", ignore=[NOTICE], k=3)) == 0
    few = lw.dedup([NOTICE, NOTICE, "a b c x", "a b c x y"], by="words:1", ignore=[NOTICE, "a b c"], min_tokens=5)
    assert (few.counts["too_short_to_judge"], few.counts["removed"]) == (1, 1)  # all words of a text count, ignored ones too


def test_two_collections_are_counted_together():
    left, right = ["a b c", "a b d"], ["a b e", "a b c f"]
    found = lw.pairs(left, against=right, by="words:1", threshold=0.4, ignore_common=0.5)
    assert found.report["ignored"]["common"]["items"] == 4
    assert [(row["id_a"], row["id_b"], row["similarity"]) for row in found] == [(0, 1, 0.5)]
    near = lw.neighbors(left, query=right, by="words:1", k=1, ignore_common=0.5)
    assert [(row["id_a"], row["id_b"], row["similarity"]) for row in near if row["similarity"]] == [(1, 0, 0.5)]


@pytest.mark.parametrize("by", ["words:2", "chars:5", "words:1/bag", "elements"])
def test_the_bytes_do_not_depend_on_threads_chunks_or_memory(folder, by, monkeypatch):
    texts = pages(folder)
    if by == "elements":
        (folder / "pages.jsonl").write_text("".join(json.dumps({"id": i, "elements": text.split()}) + "\n" for i, text in enumerate(texts)))
    outputs = []
    for threads, memory, at_once in ((1, "256M", 2**20), (2, "1G", 3), (5, "256M", 100)):
        monkeypatch.setattr(stage, "AT_ONCE", at_once)
        lw.dedup(Path("pages.jsonl"), out="out", overwrite=True, by=by, threshold=0.5, ignore_common="8%", threads=threads, memory=memory)
        files = sorted(path for path in (folder / "out").rglob("*") if path.is_file() and path.name not in ("run.json", "report.html"))
        outputs.append({path.name: path.read_bytes() for path in files})
    assert outputs[0] == outputs[1] == outputs[2]
    assert json.loads(outputs[0]["report.json"])["ignored"]["common"]["shingles"] > 5


def test_a_warning_says_that_most_shingles_are_ignored(folder):
    pages(folder)
    found = lw.dedup(Path("pages.jsonl"), by="words:2", ignore=Path("notice.txt"))
    part = found.report["ignored"]
    share = 100 * part["occurrences"] / part["of"]
    assert 50 < share < 60
    assert (
        f"{share:.1f}% of all shingles are ignored ({part['occurrences']:,} of {part['of']:,}); similarities are computed without them"
        in found.report["warnings"]
    )
    assert lw.dedup([COLORS, NOTICE], by="words:2", ignore=["red green"]).report["warnings"] == []


# --- what is refused


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, "0%", "100%", "1 %%", "many", True, float("nan"), [0.1]])
def test_shares_that_are_refused(share):
    with pytest.raises(lw.UsageError, match=r"give a share of the items above 0 and below 1, such as 0\.01 or 1%"):
        lw.dedup(["a"], ignore_common=share)


def test_shares_that_are_the_same():
    texts = [f"a b {i}" for i in range(300)]
    found = [lw.dedup(texts, by="words:2", ignore_common=share).report for share in (0.01, "1%", " 1 % ", "0.01", "1/100", Fraction(1, 100), "1e-2")]
    assert all(report == found[0] for report in found)
    assert found[0]["ignored"]["common"]["shingles"] == 1


def test_inputs_that_are_refused(folder, likewise):
    pages(folder)
    (folder / "empty.txt").write_text(" \n")
    (folder / "other.jsonl").write_text('{"body": "x"}\n')
    (folder / "numbers.jsonl").write_text('{"text": 5}\n')
    (folder / "bad.jsonl").write_text('{"text": "x"\n')
    for name, said in {
        "missing.txt": "--ignore: missing.txt: no such file or folder",
        "empty.txt": "--ignore: text files has no text to ignore",
        "other.jsonl": "--ignore: no row of other.jsonl has the field 'text'; fields seen: body",
        "numbers.jsonl": "--ignore: numbers.jsonl: ",
        "bad.jsonl": "--ignore: bad.jsonl, line 1",
        "-": "--ignore: standard input can only be an INPUT; name a file",
    }.items():
        done = likewise("dedup", "pages.jsonl", "-o", "out", "--ignore", name)
        assert (done.status, said in done.err, (folder / "out.work").exists()) == (2, True, False), (name, done.err)
    for by, kind in (("cosine", "vectors"), ("levenshtein", "strings"), ("weighted", "weighted sets")):
        for option in (("--ignore", "notice.txt"), ("--ignore-common", "1%")):
            done = likewise("dedup", "pages.jsonl", "-o", "out", "--by", by, *option)
            assert f"only texts and sets have shingles or elements to ignore; --by {by} compares {kind}" in done.err


def test_inputs_of_each_form(folder, likewise):
    texts = pages(folder)
    (folder / "notices").mkdir()
    (folder / "notices" / "a.txt").write_text(NOTICE)
    (folder / "notices" / "b.jsonl").write_text(json.dumps({"text": COLORS}) + "\n")
    plain = lw.pairs(texts, by="words:2", threshold=0.6, ignore=[NOTICE, COLORS])
    for inputs in (Path("notices"), "notices", [Path("notices/a.txt"), Path("notices/b.jsonl")], [{"text": NOTICE}, {"text": COLORS}], "notices/*"):
        found = lw.pairs(texts, by="words:2", threshold=0.6, ignore=inputs)
        assert (found.to_arrow(), found.report["ignored"]) == (plain.to_arrow(), plain.report["ignored"])
    done = likewise("dedup", "pages.jsonl", "-o", "out", "--by", "words:2", "--threshold", "0.6", "--ignore", "notices/a.txt", "--ignore", "notices")
    assert done.status == 0 and lines(done.err)["ignored"] == "23 shingles, 58.3% of all; 2 items have no others"
    assert json.loads((folder / "out/manifest.json").read_text())["method"]["ignore"] == ["notices/a.txt", "notices"]


def test_a_run_with_other_ignored_shingles_is_not_resumed(folder, likewise, monkeypatch):
    from likewise.runs import writing

    pages(folder)
    command = ("dedup", "pages.jsonl", "-o", "out", "--by", "words:2", "--ignore", "notice.txt", "--ignore-common", "10%")
    with monkeypatch.context() as patch:
        patch.setattr(writing, "publish_staged", lambda *_: (_ for _ in ()).throw(OSError(5, "input/output error")))
        assert likewise(*command).status == 2
    (folder / "notice.txt").write_text("something else")
    assert "because the content of --ignore differs" in likewise(*command, "--resume").err
    (folder / "notice.txt").write_text(NOTICE)
    assert "because --ignore-common differs" in likewise(*command[:-1], "20%", "--resume").err
    assert likewise(*command, "--resume").status == 0
