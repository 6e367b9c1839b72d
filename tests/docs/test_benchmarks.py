"""The measures and the editing of texts that benchmarks/quotes.py uses, checked by hand."""

from __future__ import annotations

import importlib
import json
from math import log2
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent.parent / "benchmarks"


@pytest.fixture
def module(monkeypatch):
    """A function that imports a module of benchmarks/."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))

    def imported(name: str) -> ModuleType:
        return importlib.import_module(name)

    return imported


def test_a_passage_found_whole_has_all_scores_one(module):
    pan = module("pan")
    case = pan.Span(0, 10, 30, 4, 100, 120)
    assert pan.scores([case], [case]) == (1, 1, 1, 1)


def test_half_of_a_passage_is_half_of_the_recall(module):
    pan = module("pan")
    # 10 of 20 characters here and 20 of 20 there: 30 of 40
    assert pan.scores([pan.Span(0, 10, 20, 4, 100, 120)], [pan.Span(0, 10, 30, 4, 100, 120)])[:2] == (1, 0.75)


def test_what_was_not_planted_lowers_the_precision(module):
    pan = module("pan")
    case = pan.Span(0, 10, 30, 4, 100, 120)
    # one detection is the case, one has 20 of 60 and 20 of 20 of its characters in it, one is in another text, one elsewhere in the source
    found = [case, case._replace(end=70), case._replace(source=5), case._replace(source_start=200, source_end=220)]
    assert pan.scores(found, [case]).precision == pytest.approx((1 + 40 / 80 + 0 + 0) / 4)
    assert pan.scores(found, [case]).recall == 1


def test_pieces_of_a_passage_raise_the_granularity(module):
    pan = module("pan")
    case = pan.Span(0, 0, 30, 4, 0, 30)
    found = [case._replace(end=10, source_end=10), case._replace(start=10, source_start=10)]
    assert pan.scores(found, [case]) == (1, 1, 2, pytest.approx(1 / log2(3)))


def test_overlapping_passages_count_once(module):
    pan = module("pan")
    assert pan.union([(0, 5), (3, 8), (20, 21), (4, 6)]) == 9


def test_edits_of_words(module):
    pan, words, rng = module("pan"), [str(number) for number in range(4000)], np.random.default_rng(0)
    assert pan.edited(words, "verbatim", rng, ["x"]) == words
    edited = pan.edited(words, "edit20", rng, ["x"])
    kept = [word for word in edited if word != "x"]
    # a tenth replaced, a twentieth left out, a twentieth put in: the words that stay are in order
    assert kept == sorted(kept, key=int)
    assert len(words) - len(kept) == pytest.approx(0.15 * 4000, abs=80)
    assert edited.count("x") == pytest.approx(0.15 * 4000, abs=80)
    shuffled = pan.edited(words, "shuffle25", rng, ["x"])
    assert sorted(shuffled, key=int) == words != shuffled
    assert all(int(shuffled[at + 24]) == int(shuffled[at]) + 24 for at in range(0, 4000, 25))
    assert pan.edited(words[:50], "insert", rng, ["x"]) == [*words[:40], *"x" * 20, *words[40:50], *"x" * 20]


def test_runs_of_words_are_counted(module):
    texts = module("texts")
    runs = texts.Runs(["a b c d", "B, c! d e"], 2)
    assert runs.count("b c d e f").tolist() == [2, 2, 1, 0]
    assert runs.count("a").tolist() == []


def test_passages_that_are_planted_stand_once(module):
    pan = module("pan")
    rng = np.random.default_rng(3)
    several = [" ".join(f"w{number}" for number in rng.integers(0, 10**6, 600)) for _ in range(3)]
    ground = [" ".join(f"g{number}" for number in rng.integers(0, 10**6, 200)) for _ in range(2)]
    planter = pan.Planter([*several, several[0]], [*ground, several[1][:2000]], seed=1)
    assert planter.ground == ground
    suspects, cases = planter.suspects("verbatim", 20)
    assert {case.source for case in cases} == {1, 2}
    for case in cases:
        assert suspects[case.suspect][case.start : case.end] == planter.corpus[case.source][case.source_start : case.source_end]


def test_text_of_manual_pages_and_web_pages(module):
    texts = module("texts")
    assert texts.man('.TH LS 1\n.\\" note\n.SH NAME\nls \\- list \\fBfiles\\fP\n.PP\nMore.\n') == "\nNAME\nls - list files\n\nMore.\n"
    assert texts.web("<html><head><title>T</title></head><p>A&amp;B<p>C <b>d</b><script>x()</script></html>") == "A&B\n\nC d"


def test_levels_of_revision(module):
    rewritten, rng = module("rewritten"), np.random.default_rng(1)
    several = rewritten.sentences("One two three four five six. Too short. Not a sentence\n\nSeven eight, nine and ten eleven twelve!")
    assert several == ["One two three four five six.", "Seven eight, nine and ten eleven twelve!"]
    assert rewritten.cut(several, rng, {}) == several[::-1]
    assert rewritten.light(several, rng, {}) == several
    assert rewritten.reworded(["(One,", "two"], 1, rng, {"one": ["single"]}) == ["(single,", "two"]
    assert [rewritten.level(*of) for of in ((1, 1, 1), (0.5, 1, 1), (0, 0.3, 0.5), (0, 0, 0))] == list(rewritten.LEVELS)


def test_similar_documents_are_those_of_sets_of_runs(module, monkeypatch):
    """Beside Python's sets of runs of five words; two blocks, so that documents are counted on."""
    data = module("index_data")
    monkeypatch.setattr(data, "BLOCK", 150)
    documents, asked = np.concatenate([*data.blocks(300)]), data.queries(300, 40)
    sets = [[{tuple(words[i : i + 5]) for i in range(196)} for words in side.tolist()] for side in (asked, documents)]
    shared = {(a, b): len(one & other) / len(one | other) for a, one in enumerate(sets[0]) for b, other in enumerate(sets[1])}
    wanted = {pair: value for pair, value in shared.items() if value >= 0.8}
    assert data.truth(300, asked, 0.8) == pytest.approx(wanted) and 8 < len(wanted) < 40
    assert len({*data.vocabulary()}) == data.WORDS


def test_a_replaced_word_changes_five_runs(module):
    data = module("index_data")
    draw = np.random.default_rng(0)
    words = data.drawn(draw, 50)
    varied = data.varied(draw, words)
    changes = (words != varied).sum(axis=1).tolist()
    own, other = data.runs(words), data.runs(varied)
    common = [len(np.intersect1d(a[a > 0], b[b > 0])) for a, b in zip(own, other, strict=True)]
    assert set(changes) <= set(range(1, 7)) and common == [196 - 5 * k for k in changes]


def test_planted_pairs_are_all_pairs_of_similar_documents(module):
    data = module("spark_data")
    (documents, family), *more = data.families(150)
    assert not more and len(documents) == len(family) == 150
    sets = [{tuple(words[i : i + 5].tolist()) for i in range(len(words) - 4)} for words in documents]
    counts = [(a, b, len(sets[a] & sets[b]), len(sets[a]), len(sets[b])) for b in range(150) for a in range(b)]
    similar = [(a, b, both, left, right) for a, b, both, left, right in counts if 2 * both >= left + right - both]
    assert len(similar) > 60
    assert sorted(data.pairs(documents, family)) == sorted(similar)


def test_similar_pairs_of_spark_begin_at_four_fifths(module, tmp_path):
    counts = {"i": [0, 1, 2], "j": [3, 4, 5], "inter": [4, 3, 8], "si": [5, 4, 9], "sj": [4, 4, 9]}  # 4/5, 3/5 and 8/10
    np.savez(tmp_path / "known.npz", n=6, **counts)
    assert module("spark_data").similar(tmp_path / "known.npz").tolist() == [[0, 3], [2, 5]]


def test_made_sets_have_all_their_similar_pairs(module, tmp_path):
    module("made").sets(tmp_path, 120)
    held, known = np.load(tmp_path / "lic.sets.npz"), np.load(tmp_path / "lic.pairs.npz")
    sets = [set(held["tok"][a:b].tolist()) for a, b in zip(held["ptr"], held["ptr"][1:], strict=False)]
    shared = {(a, b): len(sets[a] & sets[b]) / len(sets[a] | sets[b]) for b in range(120) for a in range(b)}
    found = dict(zip(zip(known["i"].tolist(), known["j"].tolist(), strict=True), known["v"].tolist(), strict=True))
    assert found == {pair: value for pair, value in shared.items() if value >= 0.5} and len(found) > 30


def test_a_removed_document_is_right_if_a_similar_one_stays(module):
    scores = module("spark").scores
    similar = np.array([(0, 1), (1, 2), (3, 4)])
    # 1 goes for 0; 2, which is similar to 1 alone, and 5, to none, are wrong; 4 is left beside 3
    assert scores(np.array([0, 3, 4]), similar, 6) == {"removed": 3, "recall": 1 / 2, "precision": 1 / 3}
    assert scores(np.array([0, 2, 3, 5]), similar, 6) == {"removed": 2, "recall": 1, "precision": 1}


def test_bytes_of_shuffles_are_those_of_the_step_that_a_job_writes(module, tmp_path):
    events = [
        {"Event": "x.SparkListenerSQLExecutionStart", "executionId": 7, "physicalPlanDescription": INSERT.format("file:/w/spark/near")},
        {"Event": "SparkListenerJobStart", "Stage IDs": [0, 1], "Properties": {"spark.sql.execution.id": "7"}},
        {"Event": "SparkListenerJobStart", "Stage IDs": [2], "Properties": {}},
    ]
    events += [{"Event": "SparkListenerTaskEnd", "Stage ID": stage, "Task Metrics": task_metrics(10**stage)} for stage in (0, 1, 1, 2)]
    (tmp_path / "app").write_text("".join(json.dumps(event) + "\n" for event in events))
    found = module("spark").steps(tmp_path)
    assert found == {
        "near": {"jobs": 1, "tasks": 3, "shuffled": 21, "written": 42, "seconds": 3},
        "others": {"jobs": 1, "tasks": 1, "shuffled": 100, "written": 200, "seconds": 1},
    }


INSERT = "(4) Execute InsertIntoHadoopFsRelationCommand\nInput: []\nArguments: {}, false, Parquet"


def task_metrics(size: int) -> dict[str, object]:
    return {"Shuffle Write Metrics": {"Shuffle Bytes Written": size}, "Output Metrics": {"Bytes Written": 2 * size}, "Executor Run Time": 1000}


def test_the_page_shows_the_results_that_are_kept(module):
    rows = json.loads((BENCHMARKS / "results.json").read_text())
    page = (BENCHMARKS.parent / "docs/explanation/comparison.md").read_text()
    assert "\n".join(module("all").summary(rows)) in page


def test_a_summary_has_the_fastest_other_tool(module):
    task = {"subject": "sets", "items": 1000, "case": "pairs"}
    rows = [
        {"contender": "likewise", "seconds": 2.0, "ratio": 1.0, "recall": 0.5, "precision": 1.0},
        {"contender": "floor", "seconds": 0.5, "ratio": 0.25},
        {"contender": "slow", "seconds": 30.0, "ratio": 15.0, "recall": 1.0},
        {"contender": "fast", "seconds": 1.0, "ratio": 0.5},
    ]
    found = list(module("all").summary([task | row for row in rows]))[2:]
    assert found == ["| sets (1,000): pairs | 2 | recall 0.5, precision 1 | fast | 0.5 |  |"]
