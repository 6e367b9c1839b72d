"""The parts of report.html that a reader works with: cards, the histogram with its slider, clusters, the matrix of sources; and its policy."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from datetime import datetime
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import likewise as lw
from command_line import run
from likewise.drawing.histogram import Bin, Histogram, histogram, of_steps, thresholds
from likewise.drawing.markup import table
from likewise.drawing.page import document, script
from likewise.report.examples import side_by_side
from likewise.report.html import render
from likewise.report.pictures import pictures_of
from report_pages import CLUSTER, FOUND, Page, example, report, run_facts


def words(written: str) -> str:
    return Page(written).words


def attributes(written: str, name: str) -> list[dict[str, str | None]]:
    return [given for tag, given in Page(written).tags if tag == name]


# the policy


def test_the_policy_allows_the_one_script_and_no_other() -> None:
    written = render(report(), run_facts(), [])
    [policy] = [given["content"] for given in attributes(written, "meta") if given.get("http-equiv")]
    [inside] = re.findall(r"(?s)<script>(.*?)</script>", written)
    digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in str(policy) and str(policy).startswith("default-src 'none'; ")
    assert "unsafe-eval" not in str(policy) and policy is not None and "'unsafe-inline'" not in policy.partition("script-src")[2]
    assert "script-src" not in "".join(document("a page", [], style="")) and "<script" not in "".join(document("a page", [], style=""))
    assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|eval\(|fetch\(|XMLHttpRequest", script())


# the histogram


def test_levels_count_what_a_stricter_threshold_does_not_reach() -> None:
    found = of_steps(0.8, 0.05, [5, 3, 0, 2], falling=False, whole=False)
    assert [tuple(level) for level in found.levels()] == [(0.8, 0), (0.85, 5), (0.9, 8), (0.95, 8)] and found.total == 10
    distances = of_steps(0, 1, [4, 3, 2], falling=True, whole=True)
    assert [tuple(level) for level in distances.levels()] == [(0, 5), (1, 2), (2, 0)]  # beyond 0 are three at 1 and two at 2
    real = of_steps(0, 0.5, [4, 3], falling=True, whole=False)
    assert [tuple(level) for level in real.levels()] == [(0.5, 3), (1.0, 0)]


@given(st.lists(st.integers(0, 50), min_size=1, max_size=200), st.booleans())
def test_levels_are_sums_of_bins(counts: list[int], falling: bool) -> None:
    found = of_steps(3, 2, counts, falling=falling, whole=True)
    for place, level in enumerate(found.levels()):
        beyond = counts[place + 1 :] if falling else counts[:place]
        assert level.number == sum(beyond)


def test_the_slider_has_the_levels_and_is_hidden_without_a_script() -> None:
    written = render(report(removals=FOUND), None, [])
    [figure] = attributes(written, "figure")
    assert json.loads(str(figure["data-levels"])) == [["0.8", 0], ["0.85", 5], ["0.9", 8], ["0.95", 8]] and figure["data-total"] == "10"
    assert "At a threshold of {threshold}, {number} of the 10 near-duplicates ({share}) would not be similar enough" in str(figure["data-sentence"])
    [slider] = [given for given in attributes(written, "div") if given.get("class") == "slider"]
    assert slider["hidden"] == "" and "data-falling" not in figure
    rows = Page(written).rows
    assert ["0.85", "5", "50.0%"] in rows and ["0.9", "8", "80.0%"] in rows and ["0.95", "8", "80.0%"] in rows


def test_each_bin_has_a_column_as_high_as_its_share_of_the_largest() -> None:
    written = histogram(of_steps(0.8, 0.05, [5, 3, 0, 2], falling=False, whole=False), "Near-duplicates", "")
    assert (
        re.findall(r"height:([\d.]+)%", written) == ["100.0", "60.0", "0.0", "40.0"]
        and "5 removals at 0.8–0.85" in written
        and 'data-width="1"' in written
    )
    fine = histogram(of_steps(0.8, 0.001, [2] * 200, falling=False, whole=False), "Near-duplicates", "")
    assert 'data-width="5"' in fine and fine.count("height:100.0%") == 40 and "10 removals at 0.8–0.805" in fine


def test_the_table_has_round_thresholds() -> None:
    fine = of_steps(0.8, 0.001, [1] * 200, falling=False, whole=False)
    shown = Page("<!doctype html>" + str(thresholds(fine, "Below", "near-duplicates"))).rows[1:]
    assert shown == [["0.85", "50", "25.0%"], ["0.9", "100", "50.0%"], ["0.95", "150", "75.0%"]]
    assert thresholds(Histogram([Bin(1.0, 1.0, 4)]), "Below", "near-duplicates") is None


@pytest.mark.parametrize(("by", "within"), [("levenshtein", 2), ("levenshtein", 0)])
def test_distances_fall(by: str, within: int) -> None:
    found = lw.dedup(["anna", "hanna", "hannah", "otto", "Anna"], by=by, within=within).report
    written = render(found, None, [])
    real = lw.dedup(np.array([[0.0], [1.0], [3.0]], np.float32), by="l2", within=2).report
    [figure] = attributes(render(real, None, []), "figure")
    assert "At an upper limit just below {threshold}" in str(figure["data-sentence"])  # a distance of 1.0 is counted at 1, too
    assert dict(json.loads(str(figure["data-levels"])))["1"] == 1
    if within:
        [figure] = attributes(written, "figure")
        assert figure["data-falling"] == "yes" and "an upper limit of {threshold}" in str(figure["data-sentence"])
        below = sum(number for value, _, number in found["removals"]["by_value"] if value > 0)
        assert json.loads(str(figure["data-levels"]))[0] == ["0", below]
    else:
        assert not attributes(written, "figure")


# cards, clusters, sources


def test_cards_have_the_numbers_of_the_run() -> None:
    facts = run_facts() | {
        "input_bytes": 5_000_000,
        "output_bytes": 4_000_000,
        "command": "likewise dedup in -o <b>",
        "finished": "2026-11-30T05:42:33+01:00",
    }
    page = Page(render(report(needs_review=[{"text": "3 clusters look like pages of one template", "target": "sources"}]), facts, []))
    assert page.by_tag["dt"] == ["Removed", "Size removed", "Threshold", "Expected recall", "Needs review"]
    figures = [
        words for words, given in zip(page.by_tag["dd"], [a for t, a in page.tags if t == "dd"], strict=True) if given.get("class") == "figure"
    ]
    assert figures == ["229", "1 MB", "0.8", "99.2%", "1"] and "20.0% of 5 MB of files" in page.words
    assert "likewise dedup in -o <b>" in page.by_tag["code"] and "30 November 2026, 05:42 UTC+01:00" in page.words
    assert ("a", {"href": "#sources"}) in page.tags and "sources" in [given.get("id") for _, given in page.tags]
    assert "Needs review" in page.by_tag["h2"]


def test_suspicious_clusters_say_why_and_show_their_members() -> None:
    page = Page(render(report(suspicious=[CLUSTER]), None, []))
    assert "40 documents a template? Most of its members are just similar enough, from many sources" in page.words
    assert "Least similarity 0.8; median 0.82; 94.7% of 38 near-duplicates in the lower half; 3 sources." in page.words
    assert "Page of the menu" in page.by_tag["blockquote"]
    assert page.by_tag["li"][-2:] == ["similarity 0.8 doc-9 in b.jsonl, position 4Another page", "exact copy doc-8 in a.jsonl, position 3"]
    assert "and 37 more; likewise show OUT ID lists them." in page.words


def test_the_matrix_counts_which_source_duplicates_which() -> None:
    matrix = {"sources": ["a.jsonl", "b.jsonl"], "other": 3, "counts": [[5, 2, 0], [1, 0, 0], [0, 0, 2]]}
    page = Page(render(report(matrix=matrix), None, []))
    assert ["removed from", "a.jsonl", "b.jsonl", "3 others"] in page.rows and ["b.jsonl", "1", "0", "0"] in page.rows
    assert "Of 10 removed documents, at least 50.0% are duplicates within one source." in page.words  # of two others it is not known
    empty = {"sources": ["a.jsonl", "b.jsonl", "c.jsonl"], "other": 0, "counts": [[0, 0, 0], [4, 0, 0], [0, 0, 0]]}
    rows = Page(render(report(matrix=empty), None, [])).rows
    assert ["removed from", "a.jsonl"] in rows and ["b.jsonl", "4"] in rows  # sources without removals have no row, others no column
    assert "Which source duplicates which" not in words(render(report(matrix={"sources": ["a"], "other": 0, "counts": [[7]]}), None, []))


def test_what_an_overfull_bucket_has_in_common_is_shown() -> None:
    bucket = {"items": 321, "cut": 7, "source": "a.jsonl", "position": 12, "text": "All rights", "shared": ["rights reserved", "by us"]}
    page = Page(render(report(budget={"cut": 7, "recall": 0.9, "buckets": [bucket]}), None, []))
    assert ["rights reserved … by us", "a.jsonl, position 12All rights", "321", "7"] in page.rows
    assert "leave them out of the comparison" in page.words
    page = Page(render(report(budget={"cut": 7, "recall": 0.9, "buckets": [bucket | {"shared": []}]}), None, []))
    assert ["a.jsonl, position 12All rights", "321", "7"] in page.rows and "leave them out" not in page.words


def test_a_report_of_an_earlier_version_still_makes_a_page() -> None:
    old = report()
    assert not {"removals", "suspicious", "matrix", "needs_review"} & {*old}
    assert "1,234 documents read" in words(render(old, None, [])) and "1,234 documents read" in words(render(old, {}, []))


# examples


def test_long_examples_are_in_boxes_that_show_all_on_request() -> None:
    long = "\n".join(f"line {i}" for i in range(40))
    written = render(report(), None, [example(long, long + " more", group="borderline"), example("one", "two", group="borderline")])
    boxes = [given for given in attributes(written, "p") if "limited" in str(given.get("class"))]
    assert len(boxes) == 2 and all(given["tabindex"] == "0" for given in boxes) and len(attributes(written, "input")) == 1
    assert [given["data-value"] for given in attributes(written, "article")] == ["0.875", "0.875"]
    assert words(written).count("Nearest the threshold") == 1


def test_run_json_says_how_and_when_and_how_much(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"id": 1, "text": "a b c d e f"}\n' * 3)
    before = datetime.now().astimezone().replace(microsecond=0)
    given = ["dedup", str(path), "-o", str(tmp_path / "out"), "--by", "words:2"]
    done = subprocess.run([sys.executable, "-P", "-m", "likewise", *given], capture_output=True, check=True)
    assert done.returncode == 0
    facts = json.loads((tmp_path / "out/run.json").read_text())
    assert facts["command"] == " ".join(["likewise", *given]) and facts["command"] in (tmp_path / "out/report.html").read_text()
    assert before <= datetime.fromisoformat(facts["finished"]) <= datetime.now().astimezone()
    assert facts["input_bytes"] == 3 * facts["output_bytes"] == path.stat().st_size
    lw.dedup(path, out=tmp_path / "by python", by="words:2")
    assert "command" not in json.loads((tmp_path / "by python/run.json").read_text())


# pictures, sets, vectors


def test_images_are_shown_as_small_pictures(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    shade = np.linspace(0, 255, 400 * 300).reshape(300, 400).astype(np.uint8)
    for name, width in {"large.png": 400, "small.png": 200}.items():
        Image.fromarray(shade).resize((width, width * 3 // 4)).save(folder / name)
    lw.dedup(folder, out=tmp_path / "out", by="image")
    made = attributes((tmp_path / "out/report.html").read_text(), "img")
    sizes = []
    for each in made:
        kind, _, data = str(each["src"]).partition(",")
        assert kind == "data:image/jpeg;base64"
        sizes.append(Image.open(BytesIO(base64.b64decode(data))).size)
    assert sizes[:2] == [(320, 240), (200, 150)]  # never enlarged
    assert [each["alt"] for each in made[:2]] == ["large.png, reduced", "small.png, reduced"]
    (folder / "small.png").write_bytes(b"something else")
    report, facts = (json.loads((tmp_path / "out" / name).read_text()) for name in ("report.json", "run.json"))
    shown = pictures_of(report, facts)
    assert shown("small.png", 320) is None and shown("other.png", 320) is None and str(shown("large.png", 320)).startswith("<img ")
    assert pictures_of(report, None)("large.png", 320) is None


def test_sets_are_compared_by_element_and_vectors_by_their_farthest_numbers() -> None:
    sets = {"kind": "elements", "by": "elements"}
    page = Page("<!doctype html>" + str(side_by_side(example('["a","b","c"]', '["a","d"]', **sets), 1, False)))
    assert "1 element in both, 1 only in the removed item, 2 only in the kept one." in page.words
    vectors = {"kind": "vector", "by": "cosine"}
    page = Page("<!doctype html>" + str(side_by_side(example("1.0 2.0 3.0", "1.0 2.5 2.0", **vectors), 1, False)))
    assert page.rows == [["index", "removed", "kept", "difference"], ["2", "2", "3", "-1"], ["1", "2.5", "2", "0.5"]]


def test_many_sources_are_closed_at_first() -> None:
    listed = [{"source": f"{number}.txt", "read": 1, "kept": 0, "removed": 1, "rejected": 0} for number in range(30)]
    page = Page(render(report(sources=listed), None, []))
    assert "10 more sources" in page.by_tag["summary"] and ["29.txt", "1", "0", "1", "0", "100%"] in page.rows


# the audit of an output


def test_an_audit_is_shown_by_the_report(tmp_path: Path) -> None:
    path, out = tmp_path / "in.jsonl", tmp_path / "out"
    path.write_text("".join(json.dumps({"id": i, "text": f"a b c d e f g h {i // 2} {'x' * (i % 2)}"}) + "\n" for i in range(20)))
    assert run("dedup", path, "-o", out, "--by", "words:1", "--threshold", 0.7).exit_code == 0
    before = (out / "report.html").read_text()
    assert "Expected recall" in before and run("audit", out, "--threshold", 0.9).exit_code == 0
    assert (out / "report.html").read_text() == before and not (out / "audit.json").exists()  # of another threshold
    said = run("audit", out)
    stored = json.loads((out / "audit.json").read_text())
    assert said.exit_code == 0 and stored["recall"] == 1 and f"{stored['pairs']:,} pairs" in said.stdout
    page = words((out / "report.html").read_text())
    assert "Measured recall100%" in page and "to 100% with 95% confidence" in page and "An audit compared 20 of 20 distinct items" in page
    assert run("report", out).exit_code == 0 and "Measured recall" in (out / "report.html").read_text()
    (out / "audit.json").write_text('{"recall": 0.1}')  # not written by likewise
    assert run("report", out).exit_code == 0 and "Measured recall" not in (out / "report.html").read_text()
    assert run("dedup", path, "-o", out, "--by", "words:1", "--overwrite").exit_code == 0 and not (out / "audit.json").exists()


def test_the_largest_page_stays_small() -> None:
    """Ten million items: lists are as long as they can be, sources and ids have long names, and texts differ in every second word."""
    name = "folder/" * 20
    texts = [" ".join(f"same{i} {side}{i}" for i in range(20_000)) for side in ("kept", "gone")]
    pairs = [example(*texts, kept_id=f"{name}{i}", kept_source=name, removed_id=name, removed_source=f"{name}x") for i in range(12)]
    member = CLUSTER["members"][0] | {"id": name, "source": f"{name}x", "text": "x" * 200}
    large = CLUSTER | {"text": "x" * 200, "source": name, "members": [member] * 5}
    every = report(
        suspicious=[large] * 20,
        matrix={"sources": [name] * 20, "other": 10**6, "counts": [[10**6] * 21] * 21},
        removals=FOUND | {"histogram": {"first": 0.8, "step": 0.001, "counts": [10**5] * 200}},
        sources=[{"source": f"{name}{i}", "read": 1, "kept": 0, "removed": 1, "rejected": 0} for i in range(10**5)],
    )
    every["clusters"]["by_size"] = {str(size): 1 for size in range(2, 100_000)}
    assert len(render(every, run_facts(), pairs)) < 2_000_000


def test_cells_of_tables_with_several_columns_have_their_names_on_a_phone() -> None:
    cells = [given for name, given in Page(render(report(), None, [])).tags if name == "td" and "data-name" in given]
    assert {"read", "kept", "removed", "rejected", "share removed"} <= {given["data-name"] for given in cells}
    assert "data-name" not in table("two columns", ["a", "b"], [["x", 1]])
