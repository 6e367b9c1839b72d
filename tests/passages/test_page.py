"""The page of passages: both sides linked, coverage, hostile texts, long texts, and where it may be written."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import likewise as lw
from command_line import run
from likewise.runs import quotes_page

PASSAGE = "it was the best of times it was the worst of times it was the age of wisdom"
HOSTILE = "<script>alert(1)</script> & \"x\" 'y' </mark></div> \u202e \x00 \ud800 <img src=x onerror=alert(1)>"


class Seen(HTMLParser):
    """The elements of a page, the ids in it, and its text."""

    def __init__(self, page: str):
        super().__init__()
        self.open: list[str] = []
        self.names: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.marked: list[str] = []
        self.text = ""
        self.feed(page)
        assert not self.open, "all elements are closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "br"):
            self.open.append(tag)
        self.names.add(tag)
        assert not any(name.startswith("on") for name, _ in attrs)
        for name, value in attrs:
            (self.ids if name == "id" else self.links if name == "href" else []).append(str(value))
        if tag == "mark":
            self.marked.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if "mark" in self.open:
            self.marked[-1] += data


def seen(found: lw.Quotes, folder: Path) -> Seen:
    found.write_page(folder / "page.html", overwrite=True)
    page = Seen((folder / "page.html").read_text())
    assert len(page.ids) == len(set(page.ids))
    assert {f"#{one}" for one in page.ids} == set(page.links), "each passage is linked in both directions, and nothing else"
    assert not page.names & {"script", "img", "link", "iframe"}
    return page


def test_passages_stand_on_both_sides_and_are_linked(tmp_path: Path) -> None:
    page = seen(lw.quotes([f"{PASSAGE}, indeed"], [f"He said: {PASSAGE.title()}!", "nothing of the kind"]), tmp_path)
    assert page.marked == [PASSAGE.title(), PASSAGE]
    assert page.ids == ["s1-1", "c1-1"]
    assert "88.2% of 85 characters in 1 passage" in page.text and "18 tokens, all equal" in page.text
    assert "1 passage in 1 of 2 suspects" in page.text


def test_suspects_are_listed_by_their_share(tmp_path: Path) -> None:
    """Half of the second suspect is a passage, and all of the third; the first has none."""
    page = seen(lw.quotes([PASSAGE], ["nothing of the kind", f"{PASSAGE} {'x' * (len(PASSAGE) - 1)}", PASSAGE]), tmp_path)
    assert page.links[:2] == ["#s2-1", "#s1-1"]
    assert page.text.index("100%") < page.text.index("50.0%")


def test_hostile_texts_and_names_are_data(tmp_path: Path) -> None:
    corpus = [{"id": "</title><script>a()</script>", "text": f"{HOSTILE} {PASSAGE} {HOSTILE}"}]
    suspects = [{"id": "<b>&", "text": f"{PASSAGE} {HOSTILE} {PASSAGE}"}]
    page = seen(lw.quotes(corpus, suspects), tmp_path)
    assert "<script>alert(1)</script>" in page.text and "\\u202e" in page.text and "\\x00" in page.text and "\\ud800" in page.text
    assert "b" not in page.names


def test_passages_that_overlap_are_marked_once(tmp_path: Path) -> None:
    words = PASSAGE.split()
    page = seen(lw.quotes([" ".join(words[:14]), " ".join(words[4:])], [PASSAGE]), tmp_path)
    assert "".join(page.marked[:3]) == PASSAGE
    assert page.ids[:2] == ["s1-1", "s1-2"]


def test_long_texts_are_shown_around_their_passages_only(tmp_path: Path) -> None:
    filler = " ".join(f"filler{number}" for number in range(5_000))
    other = filler.replace("f", "k")
    page = seen(lw.quotes([f"{filler} {PASSAGE} {filler}"], [f"{other} {PASSAGE} {other}"]), tmp_path)
    assert PASSAGE in page.marked and len(page.text) < len(quotes_page.STYLE) + 4_000
    assert re.search(r"… [\d,]{6} characters …", page.text)


def test_many_suspects_and_passages_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quotes_page, "MOST_SUSPECTS", 2)
    monkeypatch.setattr(quotes_page, "MOST_PASSAGES", 3)
    page = seen(lw.quotes([f"{PASSAGE} {number}" for number in range(5)], [f"{number} {PASSAGE}" for number in range(4)]), tmp_path)
    assert len(page.ids) == 2 * 2 * 3
    assert "2 more passages; the table has all of them" in page.text and "2 more suspects with passages" in page.text


def test_the_page_is_written_like_other_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("c.txt").write_text(PASSAGE)
    Path("s.txt").write_text(f"x {PASSAGE}")
    assert run("quotes", "c.txt", "--in", "s.txt", "--page", "p.html").exit_code == 0
    before = Path("p.html").read_bytes()
    refused = run("quotes", "c.txt", "--in", "s.txt", "--page", "p.html")
    assert refused.exit_code == 2 and "p.html" in refused.stderr and Path("p.html").read_bytes() == before
    assert run("quotes", "c.txt", "--in", "s.txt", "--page", "p.html", "--overwrite").exit_code == 0
    assert Path("p.html").read_bytes() == before, "the same bytes"
    wrong = run("quotes", "c.txt", "--in", "s.txt", "--page", "p.pdf")
    assert wrong.exit_code == 2 and ".html" in wrong.stderr
    piped = run("quotes", "c.txt", "--in", "-", "--page", "q.html", input=PASSAGE)
    assert piped.exit_code == 2 and "standard input can be read only once" in piped.stderr
    found = lw.quotes(Path("c.txt"), Path("s.txt"))
    with pytest.raises(lw.UsageError, match="overwrite=True"):
        found.write_page("p.html")
    Path("s.txt").write_text("changed")
    with pytest.raises(lw.DataError, match=r"s\.txt: this input has changed"):
        found.write_page("q.html")
    assert not Path("q.html").exists()


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("c.txt").write_text(PASSAGE)
    Path("s.txt").write_text(f"x {PASSAGE}")
    done = run("quotes", "c.txt", "--in", "s.txt", "--exit-code")
    assert done.exit_code == 1
    assert done.stdout == (
        '{"suspect":"s.txt","suspect_source":"s.txt","suspect_position":0,"suspect_start":2,"suspect_end":77,"corpus":"c.txt",'
        '"corpus_source":"c.txt","corpus_position":0,"corpus_start":0,"corpus_end":75,"agreed":18,"similarity":1.0}\n'
    )
    assert re.fullmatch(r"1 passage, in 1 of 1 suspect; 1 text of the corpus read in [\d.]+ s\n", done.stderr)
    for name in ("q.parquet", "q.jsonl", "q.csv", "q.tsv"):
        assert run("quotes", "c.txt", "--in", "s.txt", "-o", name).exit_code == 0
    assert Path("q.jsonl").read_text() == done.stdout
    refused = run("quotes", "c.txt")
    assert refused.exit_code == 2 and "--in SUSPECT" in refused.stderr
