"""The search by id, place and content, and the planner."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import likewise as lw
from explorers import get, post, words, written
from likewise.explorer import planner
from likewise.explorer.output import Output
from likewise.explorer.pages import Request, Shown
from likewise.explorer.waiting import waited_for
from likewise.io.formats import jsonl, lines
from services import WRITE, Service, command, service

TEXTS = {"1": "one two three four five", "b": "one two three four five six", "c": "nothing like it at all"}


@pytest.fixture(scope="module")
def sketched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """An explorer of an output with sketches; b is removed for 1 (5/6)."""
    folder = tmp_path_factory.mktemp("sketched")
    lw.dedup([written(folder / "a.jsonl", TEXTS)], by="words:1", threshold=0.8, out=folder / "out", sketches=True)
    with command(folder / "out", folder / "served") as found:
        yield found


def test_an_id_leads_to_its_cluster(sketched: Service) -> None:
    page = get(sketched, "/search", id="b")
    assert "was removed" in words(page) and "similarity 0.8333" in words(page) and "/clusters/0?a=0&amp;b=1" in page
    assert "1 a.jsonl , position 0 was kept: see 1 removed duplicate" in words(get(sketched, "/search", id="1"))
    assert "nothing like it at all" in words(get(sketched, "/search", id="c")) and "no duplicate of it was removed" in get(
        sketched, "/search", id="c"
    )
    assert "No item with the id d" in words(get(sketched, "/search", id="d"))


def test_a_place_is_an_id_too(sketched: Service) -> None:
    assert "was removed" in words(get(sketched, "/search", id="a.jsonl:2"))  # lines count from 1
    assert "nothing like it" in words(get(sketched, "/search", id="a.jsonl:3"))
    for identity in ("a.jsonl:9", "other.jsonl:1", "../a.jsonl:1", "/etc/passwd:1", "a.jsonl:99999999999999999999"):
        assert "No item with the id" in words(get(sketched, "/search", id=identity))


def test_a_search_stops_reading_when_nobody_waits_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "CHUNK_BYTES", 64)
    lw.dedup([written(tmp_path / "a.jsonl", {str(number): f"text {number}" for number in range(50)})], out=tmp_path / "out")
    originals = Output(tmp_path / "out").originals
    with waited_for(60):
        assert originals.find("49") is not None
    read = []
    monkeypatch.setattr(jsonl, "parse", lambda *given, parse=jsonl.parse: read.append(given) or parse(*given))
    with waited_for(-1), pytest.raises(TimeoutError):
        originals.find("49")
    assert len(read) == 1
    assert originals.find("49") is not None  # in a thread without a limit


def test_pasted_text_is_compared_with_the_kept_records(sketched: Service) -> None:
    page = words(post(sketched, "/search", text="one two three four five seven").content.decode())
    assert "1 0.8333" in page and page.count("0.8333") == 1  # b was not kept
    assert "No item is similar" in words(post(sketched, "/search", text="quite another").content.decode())


def test_without_sketches_the_page_says_what_to_run(explored: Service) -> None:
    page = words(get(explored, "/search"))
    assert "this output has no sketches" in page and "--sketches" in page and "likewise index build seen.lw" in page
    assert "<textarea" not in get(explored, "/search")


def figures(page: str) -> dict[str, list[str]]:
    """The table of a plan: by the name of a row, its cells."""
    rows = re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', page)
    return {name: re.findall(r">([^<>]+)</td>", cells) for name, cells in rows}


def test_the_planner_shows_the_plan_that_python_makes(explored: Service) -> None:
    for limit, recall in (("0.5", 0.99), ("0.8", 0.9), ("2/3", 0.95)):
        plan = lw.plan(by="words:1", threshold=limit, recall=recall, items=7)
        found = figures(get(explored, "/plan", limit=limit, recall=recall, part="yes"))
        assert found["layout"][0] == f"{plan.bands:,} × {plan.rows:,}", (limit, recall)
        assert float(found["recall at the limit"][0].rstrip("%")) / 100 == pytest.approx(plan.recall, abs=2e-3)
    page = get(explored, "/plan", limit="0.6", bands="5", rows="4")
    assert figures(page)["layout"][0] == "5 × 4" and "<svg" in page and "<h1>" in page
    assert "1 of the 4 near-duplicates of this run are not similar enough" in words(page)  # d, at 7/13
    assert "are not similar enough" not in words(get(explored, "/plan"))


def test_the_planner_can_take_a_sample_and_says_what_is_wrong(explored: Service) -> None:
    assert "For 7 items, from a sample" in words(get(explored, "/plan", sample="yes"))
    for name, value, says in (("limit", "x", "give a similarity"), ("recall", "2", "above 0 and below 1"), ("bands", "1.5", "expected a number")):
        assert says in words(get(explored, "/plan", **{name: value}))


def test_a_measure_without_bands_is_refused_before_its_inputs_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lw.dedup([written(tmp_path / "a.jsonl", {"a": "kitten", "b": "sitten"})], by="edit", within=1, out=tmp_path / "out")
    monkeypatch.setattr(planner, "sampled", None)
    shown = planner.Planner(Output(tmp_path / "out")).page(Request({}, {"sample": "yes"}, {}))
    assert isinstance(shown, Shown) and "has no hash family" in shown.values["fault"]


def test_an_index_has_pages_without_tokens(tmp_path: Path) -> None:
    with lw.Index.create(tmp_path / "seen.lw", by="words:1", threshold=0.5) as index:
        index.add(["one two three four", "five six"], ids=["<b>x</b>", "y"])
    with command(tmp_path / "seen.lw", tmp_path / "served") as served:
        assert "items 2" in words(get(served, "/"))
        page = post(served, "/search", text="one two three nine").content.decode()
        assert "&lt;b&gt;x&lt;/b&gt;" in page and "<b>x" not in page and "0.6000" in page  # 3 / 5
        assert "y is in the index" in words(get(served, "/search", id="y")) and "z is not in the index" in words(get(served, "/search", id="z"))
        assert served.ask("GET", "/v1/count", token=None).json == {"items": 2}
        assert post(served, "/search", origin="http://evil.example", text="one").status == 403
    with service(tmp_path / "other") as served:  # the tests' own service, as programs start it
        assert served.ask("GET", "/", token=WRITE).status == 404
