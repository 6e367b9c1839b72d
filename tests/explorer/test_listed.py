"""The pages of result files: passages side by side, pairs, orders, ids; inputs that were moved, changed or never files."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from command_line import refused, run
from explorers import get, post, words, written
from likewise.errors import UsageError
from likewise.explorer.again import Again
from likewise.explorer.listing import Listing
from likewise.io.manifest import SEAL, seal
from likewise.runs.recorded import KEY
from likewise.runs.table_files import write_table
from services import Service, command

ONE = "it was the best of times it was the worst of times it was the age of wisdom"  # 18 words
TWO = "call me ishmael some years ago never mind how long precisely having little or no money"  # 16 words
#: The first essay quotes both texts, the second one Melville alone; the third nothing.
CORPUS = {"dickens": f"Chapter one. {ONE}. It was more.", "melville": f"{TWO} in my purse"}
ESSAYS = {"first": f"They say: {ONE}! And then: {TWO}, he said.", "second": f"{TWO}?", "third": "nothing that is quoted from anywhere at all"}


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Passages of three essays, beside the two files that were compared."""
    folder = tmp_path_factory.mktemp("quoted")
    corpus, essays = written(folder / "corpus.jsonl", CORPUS), written(folder / "essays.jsonl", ESSAYS)
    lw.quotes(corpus, essays).write(folder / "quotes.parquet")
    lw.pairs([corpus, essays], by="words:1", threshold=0.3).write(folder / "pairs.parquet")
    return folder / "quotes.parquet"


@pytest.fixture(scope="module")
def explored(result: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with command(result, tmp_path_factory.mktemp("served")) as found:
        yield found


def links(page: str) -> list[str]:
    """The links of the lines of a list."""
    return re.findall(r'<th scope="row"><a href="([^"]*)"', page)


def test_the_first_page_says_how_much_is_quoted_and_names_the_inputs(explored: Service, result: Path) -> None:
    page = words(get(explored, "/"))
    assert "3 passages in 2 of 3 suspects" in page and "Texts of the corpus 2 100% of 2" in page and "Longest passage 18 equal tokens" in page
    assert f"essays.jsonl suspects {result.parent / 'essays.jsonl'} unchanged" in page


def test_texts_that_share_passages_come_in_each_order(explored: Service) -> None:
    """Of three pairs of texts, the first essay has 18 words of Dickens; both essays have 16 of Melville."""
    page = get(explored, "/pairs")
    assert "3 pairs of texts" in words(page) and "first it was the best of times" in words(page)
    assert [link.partition("?")[0] for link in links(page)] == ["/pairs/0", "/pairs/1", "/pairs/2"]
    assert words(page).index("dickens 1 18 18") < words(page).index("melville 1 16 16")
    assert links(get(explored, "/passages", sort="least"))[0] == "/pairs/0#l1"  # all are equal word by word, so they stay in order
    assert len(links(get(explored, "/pairs", source="corpus.jsonl"))) == 3
    assert [explored.ask("GET", f"/pairs?{query}", token=None).status for query in ("source=x", "sort=x", "page=x")] == [404, 422, 422]


def test_passages_are_marked_with_the_same_number_on_both_sides(explored: Service) -> None:
    page = get(explored, "/pairs/0")
    assert re.findall(r"<mark>([^<]*)</mark>", page)[1:] == [ONE, ONE]  # the first one explains the mark
    for here, there in (("l1", "r1"), ("r1", "l1")):
        assert f'<a id="{here}" href="#{there}" class="number">1</a>' in page
    said = words(page)
    assert f"{len(ONE)} of {len(ESSAYS['first'])} characters" in said and f"{len(ONE)} of {len(CORPUS['dickens'])} characters" in said
    assert f"1 18 1.0000 10 to {10 + len(ONE)} 13 to {13 + len(ONE)}" in said
    assert 'rel="next" href="/pairs/1?sort=tokens"' in page and 'rel="prev"' not in page


def test_ids_are_found_on_both_sides(explored: Service) -> None:
    assert links(get(explored, "/search", id="first")) == ["/pairs/0", "/pairs/1"]
    assert links(get(explored, "/search", id="melville")) == ["/pairs/1", "/pairs/2"]
    assert "No item with the id third is in this result" in words(get(explored, "/search", id="third"))
    assert explored.ask("GET", "/pairs/3", token=None).status == 404


def test_only_pages_of_the_file_are_served_to_this_machine(explored: Service, result: Path) -> None:
    for path in ("/verdicts", "/clusters", "/quotes.parquet", "/../corpus.jsonl"):
        assert explored.ask("GET", path, token=None).status == 404, path
    for path in ("/", "/pairs", "/pairs/0", "/passages", "/search"):
        reply = explored.ask("GET", path, token=None)
        assert reply.status == 200 and "script-src 'self';" in reply.headers["content-security-policy"] and reply.content.count(b"<script") == 1
        assert explored.ask("GET", path, token=None, Host="evil.example").status == 421
        assert explored.ask("POST", path, b"", token=None).status in (404, 405)
    assert "other machines can reach" in refused("serve", result, "--host", "0.0.0.0")
    assert "has no tokens" in refused("serve", result, "--token-file", "t")


def test_pairs_have_their_differences_though_the_table_has_ids_alone(result: Path, tmp_path: Path) -> None:
    """Melville's text has three words more than the 16 of the second essay: 16 / 19 = 0.8421."""
    with command(result.parent / "pairs.parquet", tmp_path) as served:
        assert "3 pairs of similar items" in words(get(served, "/"))
        last = links(get(served, "/pairs", sort="most"))[0]
        page = get(served, last.partition("?")[0])
        assert "Similarity 0.8421" in words(page) and "melville and second" in words(page)
        assert {"in", "my", "purse"} <= set(re.findall(r"\w+", " ".join(re.findall(r"<(?:del|ins)>([^<]*)</(?:del|ins)>", page))))


def test_verdicts_about_pairs_are_kept_beside_the_file(result: Path, tmp_path: Path) -> None:
    """Two of three pairs are judged: one is the same, one is not."""
    folder = Path(shutil.copytree(result.parent, tmp_path / "judged"))
    with command(folder / "pairs.parquet", tmp_path / "served") as served:
        for verdict in ("same", "different"):
            row = re.findall(r'name="row" value="(\d+)"', get(served, "/review", range="all"))[0]
            assert post(served, "/verdicts", row=row, verdict=verdict, range="all").headers["location"] == "/review?range=all"
        assert "all pairs 3 1 1 0 50.0%" in words(get(served, "/review", range="all"))
        assert post(served, "/verdicts", origin="http://evil.example", row=0, verdict="same").status == 403
    said = [json.loads(line) for line in (folder / "pairs.parquet.verdicts.jsonl").read_text().splitlines()]
    assert [line["verdict"] for line in said] == ["same", "different"] and all({"id_a", "id_b", "similarity"} <= line.keys() for line in said)


def test_a_changed_input_is_not_shown_and_a_moved_one_is_found_by_its_content(result: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(result.parent, tmp_path / "copied"))
    found = Listing(folder / "quotes.parquet")
    assert not isinstance(found.read_side(0, [("essays.jsonl", 0)]), str)
    (folder / "essays.jsonl").write_text((folder / "essays.jsonl").read_text().replace("nothing", "notning"))
    said = found.read_side(0, [("essays.jsonl", 0)])
    assert isinstance(said, str) and "has changed since the run, or is no longer there" in said and "serve FILE INPUT" in said
    assert found.beginnings(0, [(("essays.jsonl", 0), None)]) == []
    (folder / "corpus.jsonl").rename(folder / "other name.jsonl")
    shutil.copy(result.parent / "essays.jsonl", folder / "e.jsonl")
    moved = Listing(folder / "quotes.parquet", [str(folder / "other name.jsonl"), str(folder / "e.jsonl")])
    assert moved.read_side(0, [("essays.jsonl", 0)])[("essays.jsonl", 0)].text == ESSAYS["first"]  # type: ignore[index]
    assert moved.read_side(1, [("corpus.jsonl", 1)])[("corpus.jsonl", 1)].text == CORPUS["melville"]  # type: ignore[index]
    with pytest.raises(UsageError, match=r"made from 2 inputs, such as essays\.jsonl, and none of them has the content"):
        Listing(folder / "quotes.parquet", [str(written(folder / "x.jsonl", {"a": "b"}))])


def test_what_cannot_be_explored_is_refused_with_what_to_do(result: Path, tmp_path: Path) -> None:
    lines = written(tmp_path / "q.jsonl", {"a": "b"})
    assert "expected a Parquet file, which quotes, pairs and neighbors write with -o FILE.parquet" in refused("serve", lines)
    assert "does not name its inputs; repeat" in refused("serve", saved(tmp_path / "p.parquet", pa.table({"id_a": [1]})))
    assert "p0.parquet: no such file or folder" in refused("serve", tmp_path / "p0.parquet")
    assert "give one PATH; only a file of quotes" in refused("serve", tmp_path, "x.jsonl")
    assert f"{tmp_path.name}: this folder has no result and no index; give an output of dedup, a" in refused("serve", tmp_path)
    assert run("dedup", lines, "-o", tmp_path / "out", "--field", "text").exit_code == 0
    for name in ["removed.parquet", "report.html"]:
        assert f"this file is a part of an output; give its folder, {tmp_path / 'out'}" in refused("serve", tmp_path / "out" / name)


def saved(path: Path, table: pa.Table, note: dict[bytes, bytes] | None = None) -> Path:
    write_table(table, [], path, overwrite=True, csv_formulas="escape", note=note)
    return path


def test_a_file_that_something_else_wrote_again_is_refused(result: Path, tmp_path: Path) -> None:
    table, note = pq.read_table(result), {KEY: pq.read_metadata(result).metadata[KEY]}
    missing = table.set_column(table.column_names.index("agreed"), "agreed", pa.array([1, None, 3]))
    text = table.set_column(table.column_names.index("corpus_start"), "corpus_start", pa.array(["1", "2", "3"]))
    for other, why in (
        (table.drop_columns(["corpus_position"]), "there is no column corpus_position"),
        (table.drop_columns(["suspect"]), "there is no column suspect"),
        (missing, "the column agreed has missing values"),
        (text, "the column corpus_start is string"),
    ):
        assert why in refused("serve", saved(tmp_path / "q.parquet", other, note))
    changed = {KEY: note[KEY].replace(b'"min_run": 12', b'"min_run": 13')}
    assert "has changed since likewise wrote it" in refused("serve", saved(tmp_path / "q.parquet", table, changed))


@pytest.mark.parametrize("verb", ["pairs", "neighbors"])
def test_two_collections_may_have_files_of_one_name(tmp_path: Path, verb: str) -> None:
    """Queries, which are the second collection, are a."""
    for folder, text in (("one", TWO), ("two", f"{TWO} in my purse")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.txt").write_text(text)
    how = ("--against",) if verb == "pairs" else ("--query",)
    assert run(verb, tmp_path / "one", *how, tmp_path / "two", "--by", "words:1", "-o", tmp_path / "p.parquet").exit_code == 0
    listing = Listing(tmp_path / "p.parquet")
    items = listing.located(listing.row(0))
    assert not isinstance(items, str)
    found = listing.both(*items)
    assert not isinstance(found, str)
    texts = [one.text for one in found]
    assert sorted(texts) == texts if verb == "pairs" else sorted(texts) == texts[::-1]


def test_a_file_cannot_make_the_explorer_read_what_it_was_not_made_from(result: Path, tmp_path: Path) -> None:
    """Its inputs are recognized by content; addresses, and files that are none, are not opened."""
    secret = written(tmp_path / "secret.jsonl", {"a": "a secret"})
    os.mkfifo(tmp_path / "pipe")
    said = json.loads(pq.read_metadata(result).metadata[KEY])
    for path, size in ((str(secret), secret.stat().st_size), (str(tmp_path / "pipe"), 0), ("http://127.0.0.1:9/e.jsonl", 1)):
        said["inputs"]["suspect"][0] |= {"path": path, "size": size}
        said.pop(SEAL, None)
        file = saved(tmp_path / f"{size}.parquet", pq.read_table(result), {KEY: json.dumps({**said, SEAL: seal(said)}).encode()})
        why = Listing(file).read_side(0, [("essays.jsonl", 0)])
        assert isinstance(why, str) and ("has changed since the run" in why or "lies at an address, which is read only if it is named" in why), path


def test_items_from_python_are_listed_by_their_ids(tmp_path: Path) -> None:
    lw.pairs([ONE, ONE, TWO]).write(tmp_path / "p.parquet")
    with command(tmp_path / "p.parquet", tmp_path / "served") as served:
        assert "its items came from Python or from standard input" in words(get(served, "/"))
        assert "memory.arrow cannot be shown: its items came from Python or from standard input" in words(get(served, "/pairs/0"))


def test_a_source_is_read_from_its_beginning_once(tmp_path: Path) -> None:
    """The places of chunks that were read are kept, so that the last record needs the last chunk alone."""
    lines = [json.dumps({"id": str(number), "text": f"{number} " + "x" * 100_000}) for number in range(400)]
    (tmp_path / "d.jsonl").write_text("\n".join(lines) + "\n")
    lw.pairs(tmp_path / "d.jsonl", threshold=0.9).write(tmp_path / "p.parquet")
    contents = Listing(tmp_path / "p.parquet").contents(0)
    assert isinstance(contents, Again)
    first = sum(1 for _ in contents.parsed("d.jsonl", [399]))
    again = [first for _, _, first, _, _ in contents.parsed("d.jsonl", [399])]
    assert first > 1 and len(again) == 1 and again[0] <= 399
    assert contents.texts([("d.jsonl", 399)])["d.jsonl", 399].text.startswith("399 ")


def test_very_many_passages_are_paged_and_grouped_by_their_texts(tmp_path: Path) -> None:
    """3 suspects and 2 texts, 120 rows: rows of one pair of texts stay in order, and 50 of them are on a page."""
    text = " ".join(f"w{number}" for number in range(700))
    corpus, essays = written(tmp_path / "c.jsonl", {"c": text}), written(tmp_path / "e.jsonl", {"e": text})
    found = lw.quotes(corpus, essays)
    row = found.to_arrow().to_pylist()[0]
    starts = [text.index(f"w{5 * number} ") for number in range(120)]
    made = [{**row, "suspect_start": at, "suspect_end": at + 9, "corpus_start": at, "corpus_end": at + 9, "agreed": 2} for at in starts]
    other = lw.Quotes(pa.Table.from_pylist(made, found.schema), found.report, found.coverage, found._origins)
    other.write(tmp_path / "q.parquet")
    listing = Listing(tmp_path / "q.parquet")
    assert len(listing.texts) == 1 and listing.texts.members(0).tolist() == [*range(120)] and int(listing.texts.tokens[0]) == 240
    with command(tmp_path / "q.parquet", tmp_path / "served") as served:
        assert links(get(served, "/passages", page="2", sort="place"))[0] == "/pairs/0?page=2#l51"
        page = get(served, "/pairs/0", page=3)
        assert [int(number) for number in re.findall(r'<a id="l(\d+)"', page)] == [*range(101, 121)]
        whole = re.sub(r"<a id[^>]*>\d+</a>|</?mark>", "", get(served, "/pairs/0", page=3, all="yes"))
        assert text not in re.sub(r"<a id[^>]*>\d+</a>|</?mark>", "", page) and whole.count(text) == 2
