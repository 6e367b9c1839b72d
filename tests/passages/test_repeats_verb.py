"""The verb `repeats`: against plain Python, on every unit, and as people use it."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from command_line import run
from likewise import methods
from placed import token_places

PARTS = st.sampled_from(
    ["To be, or NOT to be: that is the question", "cafe\u0301 ☕ naïve", "漢字かな交じり文", "x = f(y) + 1.5", "a\nb\n\nc", "\ud800 \0", "- " * 9]
)
TEXTS = st.lists(st.lists(st.one_of(PARTS, st.text("aé \n.", max_size=5)), max_size=5).map(" ".join), max_size=5)


def defined(texts: list[str], by: str, n: int) -> tuple[set[tuple[int, int, int]], int]:
    """The places of all windows of n tokens that occur again (document, start, end), and the characters of their runs."""
    method = replace(methods.parse(f"{by}:1"), signs=False)
    at = defaultdict(list)
    for number, text in enumerate(texts):
        tokens = token_places(text, method)
        for i in range(len(tokens) - n + 1):
            window = tokens[i : i + n]
            at[tuple(token for token, _, _ in window)].append((number, window[0][1], window[-1][2]))
    return {place for places in at.values() if len(places) > 1 for place in places}, max(map(len, at.values()), default=0)


@pytest.mark.parametrize("by", ["words", "whitespace", "chars", "lines", "paragraphs", "code"])
@settings(max_examples=25, deadline=None)
@given(texts=TEXTS, n=st.integers(1, 6))
def test_repeats_of_texts(by, texts, n):
    windows, most = defined(texts, by, n)
    found = lw.repeats([{"text": text} for text in texts], by=by, min_run=n)  # a list of names of files, such as ".", is refused
    rows = found.to_dicts()
    for row in rows:  # each place is made of windows that repeat, and each such window lies in a place
        assert any(at == row["id"] and start == row["start"] for at, start, _ in windows)
        assert any(at == row["id"] and end == row["end"] for at, _, end in windows)
    for at, start, end in windows:
        assert any(row["id"] == at and row["start"] <= start and end <= row["end"] for row in rows)
    assert max((row["times"] for row in rows), default=1) == max(most, 1)
    firsts = [row for row in rows if row["first"]]
    assert [row["passage"] for row in firsts] == list(range(len(found.passages))) == found.passages["passage"].tolist()
    assert [(row["id"], row["start"], row["end"]) for row in firsts] == [(row["id"], row["start"], row["end"]) for row in found.passages]
    assert {row["passage"]: row["documents"] for row in rows} == Counter(passage for passage, _ in {(row["passage"], row["id"]) for row in rows})


def made(size: int, folder: Path) -> Path:
    """Documents of random words, of which a part is copied from others, in several files."""
    draw = random.Random(1)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyzé", k=draw.randint(2, 9))) for _ in range(3000)]
    texts: list[list[str]] = []
    for _ in range(size):
        text = draw.choices(words, k=draw.randint(0, 200))
        if texts and draw.random() < 0.7:
            other = draw.choice(texts)
            begin = draw.randrange(len(other) + 1)
            text[len(text) // 2 : len(text) // 2] = other[begin : begin + draw.randint(0, 90)]
        texts.append(text)
    for part in range(3):
        lines = [json.dumps({"id": f"{part}-{i}", "text": " ".join(text)}) for i, text in enumerate(texts[part::3])]
        (folder / f"{part}.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def test_memory_and_threads_change_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("likewise.options.LEAST_MEMORY", 1 << 16)
    folder = made(900, tmp_path)
    whole = lw.repeats(folder, min_run=20)
    assert len(whole) > 500 and whole.report["later"]["tokens"] > 5000
    for options in ({"threads": 1}, {"threads": 3}, {"memory": "1M"}, {"memory": "1M", "threads": 2, "work": tmp_path / "work"}):
        again = lw.repeats(folder, min_run=20, **options)
        assert again == whole and again.passages == whole.passages and again.report == whole.report
    assert lw.repeats(folder, min_run=20, seed=5) == whole
    monkeypatch.setattr("likewise.passages.streams.AT_ONCE", 3000)
    assert lw.repeats(folder, min_run=20) == whole


def test_edges():
    assert lw.repeats([]).report["warnings"] == ["there are no documents, so nothing can repeat"]
    assert lw.repeats(["a b c"] * 3).report["warnings"] == ["no document has 50 words, so nothing can repeat"]
    assert len(lw.repeats(["a b c"] * 3, min_run=2**62)) == 0
    equal = lw.repeats(["the same words " * 30] * 100, min_run=90)
    assert [(row["id"], row["start"], row["end"], row["times"], row["documents"]) for row in equal] == [(i, 0, 449, 100, 100) for i in range(100)]
    assert equal.report["later"] == {"tokens": 99 * 90, "characters": 99 * 449} and equal.report["repeated"]["tokens"] == 9000
    none = lw.repeats([{"text": None}, {"text": "a b"}, {"text": "a b"}], min_run=2)
    assert none["position"].tolist() == [1, 2] and "no text in the field 'text'" in none.report["warnings"][0]
    ids = lw.repeats([{"tokens": [5, 7, 7, 9]}, {"tokens": [1, 7, 7, 9]}], by="tokens", min_run=3, field="tokens")
    assert [(row["start"], row["end"]) for row in ids] == [(1, 4), (1, 4)]


def test_one_long_document():
    line = "this line stands twice in a document of many megabytes and nothing else of it does "
    text = line + " ".join(map(str, range(1_000_000))) + " " + line
    found = lw.repeats([text], min_run=15)
    assert [(row["start"], row["end"]) for row in found] == [(0, len(line) - 1), (len(text) - len(line), len(text) - 1)]


def test_common_passages():
    texts = [f"document {i} has words of its own {i} and then what most have: copyright the authors, all rights reserved" for i in range(9)]
    texts += [f"{i} something else entirely stands in two documents {i}" for i in range(2)]
    found = lw.repeats(texts, min_run=5)
    assert {row["documents"] for row in found.passages} == {2, 9}
    common = lw.repeats(texts, min_run=5, common="50%")
    assert {row["documents"] for row in common} == {9} and common["passage"].tolist() == [n for _ in range(9) for n in range(len(common.passages))]
    assert common.report["later"] == found.report["later"] and common.report["common"] == "1/2"
    text = common.report["most"][0]["text"]
    assert text in texts[0] and all(found["documents"][0] == 9 for _ in text)
    assert len(lw.repeats(texts, min_run=5, common=9 / 11)) == 0  # in more than that share


def test_command_line(tmp_path):
    file = tmp_path / "docs.jsonl"
    file.write_text("".join(json.dumps({"id": i, "text": f"{i} All rights  reserved {i}"}) + "\n" for i in range(3)))
    lines = [json.loads(line) for line in run("repeats", file, "--min-run", 3).stdout.splitlines()]
    assert [(line["id"], line["start"], line["end"], line["first"]) for line in lines] == [(i, 2, 22, i == 0) for i in range(3)]
    done = run("repeats", file, "--min-run", 3, "-o", tmp_path / "out.parquet", "--exit-code")
    assert done.exit_code == 1 and "1 passage, 3 places in" in done.stderr and "in most documents (3): All rights reserved" in done.stderr
    assert pq.read_table(tmp_path / "out.parquet").to_pylist() == lines
    piped = run("repeats", "-", "--min-run", 3, input=file.read_text())
    assert [json.loads(line)["end"] for line in piped.stdout.splitlines()] == [22, 22, 22]
    for flags, message in (
        (("--by", "bytes"), "passages are counted in tokens; give their unit: words"),
        (("--by", "words:5"), "give their unit: words"),
        (("--min-run", "0"), "give a whole number from 1"),
        (("--common", "1.5"), "--common 1.5: give a share of the items above 0 and below 1"),
        (("-o", file, "--overwrite"), "never writes to an input"),
        (("-o", "x.txt"), "x.txt"),
        (("--by", "tokens"), "compares token ids"),
    ):
        refused = run("repeats", file, *flags)
        assert refused.exit_code == 2 and message in refused.stderr, refused.stderr


def test_the_report_names_no_threshold():
    report = lw.repeats(["a b c d", "a b c d"], min_run=4).report
    assert report["min_run"] == 4 and report["method"]["by"] == "words:1" and "threshold_exact" not in report["method"]


def test_text_is_read_again(tmp_path):
    file = tmp_path / "docs.jsonl"
    file.write_text('{"text": "one: all rights reserved"}\n{"text": "ALL  rights reserved, two"}\n')
    found = lw.repeats(file, min_run=3)
    assert found.with_text()["text"].tolist() == ["all rights reserved", "ALL rights reserved"]
    assert found.with_text(None)["text"].tolist() == ["all rights reserved", "ALL  rights reserved"]
    assert found.passages.with_text()["text"].tolist() == ["all rights reserved"]
    assert lw.repeats(file, min_run=9).with_text()["text"].tolist() == []
    assert lw.quotes(file, ["x y"]).with_text()["corpus_text"].tolist() == []
    ids = lw.repeats([[7, 1, 2, 3], [1, 2, 3]], by="tokens", min_run=3)
    assert ids.with_text(None)["text"].tolist() == ["1 2 3", "1 2 3"] and ids["start"].tolist() == [1, 0]
    file.write_text('{"text": "x"}\n')
    with pytest.raises(lw.DataError):
        found.with_text()
    with pytest.raises(lw.UsageError, match="length=0"):
        found.with_text(0)
