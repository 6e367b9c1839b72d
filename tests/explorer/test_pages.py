"""The pages of an output: what they show, and in what order."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

import likewise as lw
from explorers import get, words, written
from likewise.explorer.shared import marked
from services import Service, command


def kept(page: str) -> list[str]:
    """The kept items of a list of clusters, in its order."""
    return re.findall(r'<a href="/clusters/\d+"><bdi>(.*?)</bdi>', page)


def test_the_overview_says_what_was_removed(explored: Service) -> None:
    page = words(get(explored, "/"))
    assert "8 documents read: 3 kept, 5 removed" in page and "62.5%" in page
    assert "Removed 5 62.5% of 8 documents" in page and "Largest cluster 5" in page


def test_the_largest_clusters_are_links_that_lead_to_them(explored: Service) -> None:
    links = re.findall(r'href="(/clusters/of[^"]*)"', get(explored, "/"))
    replies = [explored.ask("GET", unescape(link), token=None) for link in links]
    assert [(reply.status, reply.headers["location"]) for reply in replies] == [(303, "/clusters/0"), (303, "/clusters/1")]
    missing = explored.ask("GET", "/clusters/of?source=first.jsonl&position=1", token=None)  # b, which was removed
    assert missing.status == 404


def test_clusters_are_listed_by_each_key(explored: Service) -> None:
    page = get(explored, "/clusters")
    assert kept(page) == ["a", "x"] and "2 clusters" in words(page)
    assert "a alpha beta gamma delta epsilon zeta eta theta iota kappa first.jsonl 0 5 0.5385 0.4615" in words(page)  # 7/13 at least, and 1 - 7/13
    assert "x one two three four five six seven eight nine ten first.jsonl 2 2 0.8182 0.0000" in words(page)  # 9/11
    assert kept(get(explored, "/clusters", sort="least")) == ["a", "x"]
    assert kept(get(explored, "/clusters", sort="spread")) == ["a", "x"]
    assert kept(get(explored, "/clusters", sort="source")) == ["a", "x"]
    assert kept(get(explored, "/clusters", source="second.jsonl")) == ["a", "x"]  # d, copy and y


def test_a_cluster_shows_the_kept_item_beside_the_least_similar_one(explored: Service) -> None:
    page = get(explored, "/clusters/0")
    assert "Similarity 0.5385" in page and "Kept: a" in words(page) and "Removed: d" in words(page)
    assert "<del>theta iota kappa</del>" in page and "<ins>d0 d1 d2</ins>" in page


def test_two_removed_members_are_compared_now(explored: Service) -> None:
    """b has 9 of the words and one of its own, c has 8 and two: 8 of 12 in both... 8 common of 9 + 1 + 2."""
    page = get(explored, "/clusters/0", a=1, b=2)
    assert "Removed: b" in words(page) and "Removed: c" in words(page)
    assert "Similarity 0.6667" in page  # 8 / (10 + 10 - 8)
    assert "Exact copy" in get(explored, "/clusters/0", a=0, b=4)


def test_shared_passages_are_marked_wherever_they_stand(explored: Service) -> None:
    one, other = (" ".join(f"{name}{place}" for place in range(20)) for name in ("one", "other"))
    left, right = marked(f"{one} between {other}", f"{other} apart {one}, {other}")
    assert left == f"<sup>1</sup><mark>{one}</mark> between <sup>2</sup><sup>3</sup><mark>{other}</mark>"
    assert right == f"<sup>2</sup><mark>{other}</mark> apart <sup>1</sup><mark>{one}</mark>, <sup>3</sup><mark>{other}</mark>"
    assert marked("a " * 20, "a " * 30)[1].count("<sup>") == 2  # 20 words, and 10 more
    assert marked("", "<b>")[1] == "&lt;b&gt;"
    page = get(explored, "/clusters/0", a=0, b=2, view="shared")  # c keeps the first 8 of the words
    assert page.count("<mark>alpha beta gamma delta epsilon zeta eta theta</mark>") == 2 and "Show differences" in page
    assert "view=shared" in get(explored, "/clusters/0") and "view=shared" in get(explored, "/review")


def test_a_part_of_very_long_texts_is_compared(tmp_path: Path) -> None:
    """They differ in their first and last words, and are similar by 150,000 of 150,004 words."""
    middle = " ".join(f"w{number:06}" for number in range(150_000))
    source = written(tmp_path / "a.jsonl", {"a": f"a {middle} aa", "b": f"b {middle} bb"})
    lw.dedup([source], by="words:1", out=tmp_path / "out")
    with command(tmp_path / "out", tmp_path / "served") as served:
        page = get(served, "/clusters/0", all="yes")
    left = len(middle) + 5 - 200_000
    assert f"the {left:,} characters of the first item and {left:,} of the second one after them were not" in words(page)
    assert "The texts are too long to be shown in full." in page and "view=shared" in page and len(page) < 20_000


def test_a_page_that_does_not_exist_says_so(explored: Service) -> None:
    for path, status in (("/nothing", 404), ("/clusters/2", 404), ("/clusters?sort=color", 422), ("/clusters?page=x", 422), ("/clusters/0?a=9", 422)):
        reply = explored.ask("GET", path, token=None)
        assert reply.status == status and "<h1>" in reply.content.decode(), path
    assert "expected one of size, spread, least, source, got 'color'" in words(
        explored.ask("GET", "/clusters?sort=color", token=None).content.decode()
    )
    assert "there are 2 clusters" in words(explored.ask("GET", "/clusters/2", token=None).content.decode())


def test_the_report_of_the_run_is_of_no_origin(explored: Service) -> None:
    reply = explored.ask("GET", "/report", token=None)
    assert reply.status == 200 and reply.headers["content-security-policy"].startswith("sandbox allow-scripts; default-src 'none'")


def test_a_source_that_has_changed_is_named_and_the_rest_is_shown(tmp_path: Path) -> None:
    source = written(tmp_path / "a.jsonl", {"a": "one two three", "b": "one two three"})
    lw.dedup([source], out=tmp_path / "out")
    source.write_text('{"id": "a", "text": "other"}\n')
    with command(tmp_path / "out", tmp_path / "served") as served:
        page = words(get(served, "/clusters/0"))
        searched = [words(get(served, "/search", id=identity)) for identity in ("c", "a.jsonl:1")]
    assert "a.jsonl has changed since the run" in page and "Exact copy" in page and "other" not in page
    for found in searched:
        assert "Other items were not searched:" in found and "a.jsonl has changed since the run" in found


def test_distances_and_vectors(tmp_path: Path) -> None:
    """The furthest member comes first: 3 of 64 bits."""
    codes = ["0" * 16, "0" * 15 + "1", "0" * 15 + "7", "f" * 16]
    (tmp_path / "codes.jsonl").write_text("".join(f'{{"id": "{name}", "code": "{code}"}}\n' for name, code in zip("abcd", codes, strict=True)))
    lw.dedup([tmp_path / "codes.jsonl"], by="hamming", within=3, out=tmp_path / "out")
    with command(tmp_path / "out", tmp_path / "served") as served:
        assert "Next to the threshold 1 of 2 near-duplicates have a distance of 3" in words(get(served, "/"))
        assert "a 0000000000000000 codes.jsonl 0 3 3 2" in words(get(served, "/clusters", sort="least"))  # 3 codes, at most 3 bits away, of 1 to 3
        page = words(get(served, "/clusters/0"))
        assert "Distance 3 bits" in page and "Removed: c" in page and "3 bits differ: 56, 57, 58" in page
        assert "Distance 2 bits" in words(get(served, "/clusters/0", a=1, b=2))


def test_parts_of_documents(tmp_path: Path) -> None:
    """The lines that were removed are the members."""
    source = written(tmp_path / "a.jsonl", {"a": "first line\nthe same line here\n", "b": "the same line here\nlast line\n"})
    lw.dedup([source], level="line", out=tmp_path / "out")
    with command(tmp_path / "out", tmp_path / "served") as served:
        page = words(get(served, "/clusters/0"))
        listed = words(get(served, "/clusters"))
    assert "a the same line here a.jsonl 0 2 1.0000 0.0000" in listed  # how the part begins that was kept
    assert "characters 11–30" in page and "characters 0–19" in page and "first line" not in page and "last line" not in page


def test_nothing_removed(tmp_path: Path) -> None:
    lw.dedup([written(tmp_path / "a.jsonl", {"a": "one two three"})], out=tmp_path / "out")
    with command(tmp_path / "out", tmp_path / "served") as served:
        assert "There are no clusters: nothing was removed" in words(get(served, "/clusters"))
        assert "1 document read: 1 kept, 0 removed" in words(get(served, "/"))


@pytest.mark.parametrize("name", ["a<script>alert(1)</script>", '"><img src=x>', "{{ 7 * 7 }}", "\u202eevil\x07"])
def test_hostile_ids_and_texts_are_text(tmp_path: Path, name: str) -> None:
    source = written(tmp_path / "a.jsonl", {name: f"one two three {name}", "b": f"one two three {name}"})
    lw.dedup([source], out=tmp_path / "out")
    with command(tmp_path / "out", tmp_path / "served") as served:
        for path in ("/", "/clusters", "/clusters/0"):
            page = get(served, path)
            assert not any(active in page for active in ("<script>alert", "<img", ">49<", "\u202e", "\x07"))
        assert words(page).count(name.replace("\u202e", "\\u202e").replace("\x07", "\\x07")) >= 3
