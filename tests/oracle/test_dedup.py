"""The contract of removal from texts in to tables out, against the obvious sequential walk."""

from __future__ import annotations

import json
import random
import re
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise import options
from likewise.families.minhash import MinHash
from likewise.items.documents import shingler
from likewise.lecture import jaccard
from likewise.methods import parse

K, THRESHOLD = 2, Fraction(1, 2)


def shingles(text: str) -> set[tuple[str, ...]]:
    words = text.split()
    return {tuple(words[i : i + K]) for i in range(max(1, len(words) - K + 1))} if words else set()


def value(a: str, b: str) -> Fraction:
    return jaccard(shingles(a), shingles(b))


def sequential(texts: list[str], bands: int, rows: int, order: list[int]) -> dict[int, tuple[int, Fraction]]:
    """row -> (kept row, similarity). Copies follow the first of their kind; empty texts stay."""
    shingle = shingler(parse(f"whitespace:{K}"), 0)
    shingled = shingle(pa.array([t.encode() for t in texts], pa.large_binary()), np.ones(len(texts), bool))
    keys = MinHash(bands * rows, "oph", 0).band_keys((shingled.values, shingled.offsets), bands, rows)
    first: dict[str, int] = {}
    kept: list[int] = []
    removed: dict[int, tuple[int, Fraction]] = {}
    for row in order:
        if not texts[row].split():
            continue
        if texts[row] in first:
            head = first[texts[row]]
            removed[row] = removed.get(head, (head, Fraction(1)))
            continue
        first[texts[row]] = row
        mates = [(value(texts[row], texts[k]), -place, k) for place, k in enumerate(kept) if (keys[:, row] == keys[:, k]).any()]
        similar = [mate for mate in mates if mate[0] >= THRESHOLD]
        if similar:
            similarity, _, representative = max(similar)
            removed[row] = (representative, similarity)
        else:
            kept.append(row)
    return removed


texts_of_few_words = st.lists(st.lists(st.sampled_from("abcd"), max_size=6).map(" ".join), max_size=30)
ORDERS = {
    "first": lambda t: range(len(t)),
    "last": lambda t: range(len(t) - 1, -1, -1),
    "longest": lambda t: sorted(range(len(t)), key=lambda i: -len(t[i])),
}


@settings(max_examples=120, deadline=None)
@given(texts_of_few_words, st.sampled_from(sorted(ORDERS)))
def test_removal_is_the_greedy_walk_in_keep_order(texts, keep):
    result = lw.dedup(texts, by=f"whitespace:{K}", threshold="0.5", bands=4, rows=2, keep=keep)
    want = sequential(texts, 4, 2, list(ORDERS[keep](texts)))
    got = {row["id"]: (row["kept_id"], row["similarity"]) for row in result.removed.to_arrow().to_pylist()}
    assert got == {row: (representative, float(similarity)) for row, (representative, similarity) in want.items()}
    assert len(result.kept) == len(texts) - len(want)


def words(seed: int, n: int) -> list[str]:
    draw = random.Random(seed)
    return ["".join(draw.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(6)) for _ in range(n)]


def test_a_chain_never_removes_an_item_for_one_that_is_not_similar():
    """Windows of 60 words shifted by 10: neighbors share 46 of 66 shingles (.70), windows two apart 36 of 76 (.47)."""
    stream = words(1, 2000)
    texts = [" ".join(stream[i : i + 60]) for i in range(0, 1500, 10)]
    result = lw.dedup(texts, by="whitespace:5", threshold="0.6")
    for row in result.removed.to_arrow().to_pylist():
        assert abs(row["id"] - row["kept_id"]) == 1
        assert row["similarity"] == 46 / 66
    kept = {int(i) for i in range(len(texts))} - {row["id"] for row in result.removed.to_arrow().to_pylist()}
    assert kept == set(range(0, len(texts), 2))


def test_a_hundred_thousand_identical_texts_cost_no_comparison():
    result = lw.dedup(["the same few words again and again"] * 100_000)
    assert result.report["counts"] | {"removed_exact": 99_999} == result.report["counts"]
    assert (result.compared, result.report["items"]) == (0, 1)
    assert set(result.removed.to_arrow()["kept_id"].to_pylist()) == {0}


def test_pages_with_one_banner_stay_linear():
    """20,000 pages of 140 own words under one banner of 60: two of them have similarity 56/336 = 1/6, so none goes but the ten real copies."""
    banner = " ".join(words(2, 60))
    own = words(3, 200)
    draw = random.Random(4)
    pages = [banner + " " + " ".join(draw.choice(own) + str(draw.randrange(10**6)) for _ in range(140)) for _ in range(20_000)]
    for tenth in range(10):
        copy = pages[tenth * 2000].split()
        copy[100] = "changed"
        pages[tenth * 2000 + 1000] = " ".join(copy)
    result = lw.dedup(pages, by="whitespace:5")
    removed = result.removed.to_arrow().to_pylist()
    assert [(row["id"], row["kept_id"], row["similarity"]) for row in removed] == [(t * 2000 + 1000, t * 2000, 191 / 201) for t in range(10)]
    assert result.compared < 50 * 20_000


def test_kept_and_removed_and_rejected_are_all_that_was_read(tmp_path):
    lines = [json.dumps({"id": i, "text": f"text number {i % 7} of a few"}) for i in range(40)]
    lines[5], lines[11] = '{"id": 5, "text": ', '{"id": 11, "text": 7}'
    (tmp_path / "in.jsonl").write_text("\n".join(lines) + "\n")
    result = lw.dedup(tmp_path / "in.jsonl", out=tmp_path / "out", on_error="skip", removed_records=True)
    counts = result.report["counts"]
    assert (counts["read"], counts["rejected"], counts["without_text"]) == (40, 1, 1)
    kept = (tmp_path / "out/kept/in.jsonl").read_text().splitlines()
    removed = (tmp_path / "out/removed/in.jsonl").read_text().splitlines()
    rejected = [json.loads(line) for line in (tmp_path / "out/rejected.jsonl").read_text().splitlines()]
    assert sorted(kept + removed + [entry["bytes"] for entry in rejected]) == sorted(lines)
    assert (len(kept), len(removed)) == (counts["kept"], counts["removed"])
    assert rejected[0]["position"] == 5
    with pytest.raises(lw.DataError, match=r"in\.jsonl, line 6"):
        lw.dedup(tmp_path / "in.jsonl", out=tmp_path / "other")
    assert not (tmp_path / "other").exists()


CORPUS = [{"id": f"r{i}", "text": " ".join(words(i % 60, 30)[: 29 + i % 2]), "lang": "ab"[i % 2], "score": i % 13} for i in range(200)]


def snapshot(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in ("run.json", "report.html")
    }


def test_output_bytes_are_the_same_for_any_number_of_threads_and_any_memory(tmp_path, monkeypatch):
    from likewise.io.formats import lines as line_formats

    monkeypatch.setattr(line_formats, "CHUNK_BYTES", 3000)
    monkeypatch.setattr(options, "LEAST_MEMORY", 1)
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in CORPUS))
    for name, choices in {"one": {"threads": 1}, "two": {"threads": 2}, "eight": {"threads": 8, "memory": 1}}.items():
        lw.dedup(tmp_path / "in.jsonl", out=tmp_path / name, pairs=True, threshold="0.6", **choices)
    assert snapshot(tmp_path / "one") == snapshot(tmp_path / "two") == snapshot(tmp_path / "eight")
    assert {
        *("kept/in.jsonl", "removed.parquet", "clusters.parquet", "pairs.parquet"),
        *("report.json", "manifest.json", "rejected.jsonl"),
    } == set(snapshot(tmp_path / "one"))


@pytest.mark.parametrize("threads", [1, 8])
def test_what_is_read_ahead_does_not_matter(tmp_path, monkeypatch, threads):
    """The file is damaged behind the rows that are wanted."""
    import gzip

    from likewise.io.formats import lines as line_formats

    monkeypatch.setattr(line_formats, "CHUNK_BYTES", 500)
    whole = gzip.compress(b"".join(json.dumps(row).encode() + b"\n" for row in CORPUS))
    (tmp_path / "in.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    assert lw.dedup(tmp_path / "in.jsonl.gz", limit=5, threads=threads).report["counts"]["read"] == 5
    with pytest.raises(lw.DataError, match="ends early"):
        lw.dedup(tmp_path / "in.jsonl.gz", threads=threads)


def test_fields_to_group_and_order_by_must_be_there(tmp_path):
    rows = [{"id": i, "text": "same", "lang": "en", "word": "high"} for i in range(2)]
    for choices, said in (
        ({"per": "language"}, "no row has a value in the field 'language'; fields seen: id, text, lang, word; name one with per=F"),
        ({"keep": "max:word"}, "no row has a number in the field 'word', which keep='max:word' needs; fields seen: id, text, lang, word"),
        ({"id": "key"}, "no row has an id in the field 'key'; fields seen: id, text, lang, word; name another one with id=F, "),
    ):
        with pytest.raises(lw.DataError, match=f"^{re.escape(said)}"):
            lw.dedup(rows, **choices)
        for name, content in (("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows)), ("a.csv", "id,text,lang,word\n1,same,en,high\n")):
            (tmp_path / name).write_text(content)
            with pytest.raises(lw.DataError, match=f"^{re.escape(said)}"):
                lw.dedup(tmp_path / name, **choices)


def test_pairs_that_were_compared_name_their_places_where_ids_do_not_tell(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"text": f"one text that is nearly the same in two files {name}"}) + "\n")
    lw.dedup(tmp_path, out=tmp_path / "out", threshold=0.3, pairs=True)
    (pair,) = pq.read_table(tmp_path / "out/pairs.parquet").to_pylist()
    assert (pair["source_a"], pair["position_a"], pair["source_b"], pair["position_b"]) == ("a.jsonl", 0, "b.jsonl", 0)


def test_how_the_rows_are_split_over_files_changes_no_decision(tmp_path):
    whole = lw.dedup(CORPUS).removed.to_arrow().select(["id", "kept_id", "similarity", "reason"]).to_pylist()
    for part in range(4):
        rows = CORPUS[part * 50 : (part + 1) * 50]
        if part % 2:
            pq.write_table(pa.Table.from_pylist(rows), tmp_path / f"{part}.parquet")
        else:
            (tmp_path / f"{part}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    split = lw.dedup(tmp_path).removed.to_arrow().select(["id", "kept_id", "similarity", "reason"]).to_pylist()
    assert split == whole


def test_per_compares_only_rows_of_one_group():
    rows = [{"id": i, "text": "the very same text for all", "lang": lang} for i, lang in enumerate(["en", "de", "en", None, "de", None])]
    removed = lw.dedup(rows, per="lang").removed.to_arrow()
    assert sorted(zip(removed["id"].to_pylist(), removed["kept_id"].to_pylist(), strict=True)) == [(2, 0), (4, 1), (5, 3)]


@pytest.mark.parametrize(("keep", "stays"), [("first", 0), ("last", 3), ("longest", 1), ("shortest", 2), ("max:score", 2), ("min:score", 3)])
def test_keep_policies(keep, stays):
    rows = [
        {"id": i, "text": text, "score": score}
        for i, (text, score) in enumerate(zip(["a b c d e f.", "a b c d e f. !!", "a b c d e f", "a b c d e f ?"], [3, 2, 9, 1], strict=True))
    ]
    result = lw.dedup(rows, keep=keep)
    assert result.kept.to_arrow()["id"].to_pylist() == [stays]


def test_rows_without_a_score_come_last():
    rows = [{"id": 0, "text": "a b c d e", "score": None}, {"id": 1, "text": "a b c d e", "score": -5.0}]
    for keep in ("max:score", "min:score"):
        assert lw.dedup(rows, keep=keep).kept.to_arrow()["id"].to_pylist() == [1]


def test_preferred_files_come_first(tmp_path):
    for name in ("b", "a", "c"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": name, "text": "one text in three files"}) + "\n")
    assert lw.dedup(tmp_path, prefer=("c*", "b*")).removed.to_arrow()["kept_id"].to_pylist() == ["c", "c"]
    assert lw.dedup(tmp_path).removed.to_arrow()["kept_id"].to_pylist() == ["a", "a"]
    with pytest.raises(lw.UsageError, match="no input file matches"):
        lw.dedup(tmp_path, prefer=("z*",))


def test_empty_items_are_kept_unless_they_are_to_be_copies():
    texts = ["", "...", None, "a real text", ""]
    result = lw.dedup(texts)
    assert (len(result.removed), result.report["counts"]["empty"], result.report["counts"]["without_text"]) == (0, 4, 1)
    assert lw.dedup(texts, copies="empty").removed.to_arrow()["kept_id"].to_pylist() == [0, 0, 0]


def test_short_items_are_kept_and_counted():
    texts = ["hi there", "hi there", "a longer text of six words", "a longer text of six words"]
    result = lw.dedup(texts, min_tokens=3)
    assert result.removed.to_arrow()["id"].to_pylist() == [3]
    assert result.report["counts"]["too_short_to_judge"] == 2


def test_verification_that_is_not_exact_says_so():
    texts = [" ".join(words(7, 100)), " ".join(words(7, 100)[:99]), " ".join(words(8, 100))]
    for verify in ("estimate", "none"):
        result = lw.dedup(texts, verify=verify)
        assert result.report["verified"] == verify
        assert result.removed.to_arrow()["id"].to_pylist() == [1]
    assert np.isnan(lw.dedup(texts, verify="none").removed.to_arrow().to_pylist()[0]["similarity"] or np.nan)
    estimate = lw.dedup(texts, verify="estimate").removed.to_arrow()["similarity"][0].as_py()
    assert abs(estimate - 95 / 96) < 0.06
    assert (estimate * 96) % 1 == 0


def test_ids_come_out_as_they_went_in(tmp_path):
    ids = [2**64 - 1, 0, 2**53 + 1, 7]
    (tmp_path / "big.jsonl").write_text("".join(json.dumps({"id": i, "text": "same same same same same"}) + "\n" for i in ids))
    removed = lw.dedup(tmp_path / "big.jsonl").removed.to_arrow()
    assert removed["id"].to_pylist() == ids[1:]
    assert set(removed["kept_id"].to_pylist()) == {2**64 - 1}


def test_repeated_ids_are_reported(tmp_path):
    rows = [{"id": "a", "text": "one"}, {"id": "a", "text": "two"}]
    assert any("1 id names more than one item (a)" in said for said in lw.dedup(rows).report["warnings"])


def test_a_second_run_gives_nothing_to_remove_and_knows_nothing_of_the_first(tmp_path):
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in CORPUS))
    first = lw.dedup(tmp_path / "in.jsonl", out=tmp_path / "out")
    again = lw.dedup(tmp_path / "out/kept", out=tmp_path / "again")
    assert first.report["counts"]["removed"] > 0
    assert again.report["counts"]["removed"] == 0
    assert (tmp_path / "out/kept/in.jsonl").read_bytes() == (tmp_path / "again/kept/in.jsonl").read_bytes()


def test_an_input_that_changes_during_the_run_is_noticed(tmp_path, monkeypatch):
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in CORPUS))
    from likewise.runs import decided

    decide = decided.decide

    def meddling(*given):
        with open(tmp_path / "in.jsonl", "a") as file:
            file.write('{"id": "new", "text": "one more"}\n')
        return decide(*given)

    monkeypatch.setattr(decided, "decide", meddling)
    with pytest.raises(lw.DataError, match=r"in\.jsonl: has changed during the run"):
        lw.dedup(tmp_path / "in.jsonl", out=tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl"]
