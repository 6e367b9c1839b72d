"""OUT/sketches/: the band keys and sets of the kept records, as an index takes them."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import likewise as lw
from kind_items import MADE, write
from likewise import families
from likewise.index.stored_settings import restored
from likewise.io import bands, batches, sketches
from likewise.io.formats import lines
from likewise.io.work import Work
from likewise.planning import choose
from likewise.verbs.similarity import shingle
from stopping import snapshot

#: Layouts of kinds that would be joined.
LAYOUTS = {"cosine": (12, 6), "l2": (12, 2), "hamming": (12, 8)}
#: Items without anything to compare.
EMPTY = {"elements": lambda value: not value, "weighted": lambda value: not any(value.values()), "cosine": lambda value: not any(value)}


def records(n: int) -> list[dict]:
    """Texts of 30 words; each third differs from an earlier one in a word, and some are copies."""
    draw = np.random.default_rng(5)
    made: list[dict] = []
    for place in range(n):
        words = [f"w{number}" for number in draw.integers(0, 400, 30)]
        if place % 3 == 2:
            words = [*made[place - 1]["text"].split()[:-1], f"new{place % 2}"]
        made.append({"id": f"r{place}", "text": " ".join(words) if place % 10 else made[max(place - 10, 0)]["text"] if made else "first"})
    return made


def jsonl(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def sketched(out: Path, bands: int, *, grouped: bool = False) -> pa.Table:
    """All columns of OUT/sketches/, ids as Python values."""
    files = sorted((out / "sketches").iterdir())
    assert [path.name for path in files] == [f"{number:06d}.arrow" for number in range(len(files))]
    blocks = [block for path in files for block in sketches.read(path, bands, grouped=grouped)]
    return pa.concat_tables(pa.Table.from_batches([sketches.to_batch(block, sketches.schema_of(bands, grouped=grouped))]) for block in blocks)


def test_they_describe_the_kept_records(tmp_path):
    rows = [*records(60), {"id": 7, "text": ""}, {"id": None, "text": "a text without an id"}, {"id": "nothing", "text": None}]
    result = lw.dedup(jsonl(tmp_path / "in.jsonl", rows), out=tmp_path / "out", sketches=True, bands=5, rows=3)
    kept = [json.loads(line) for line in (tmp_path / "out/kept/in.jsonl").read_text().splitlines()]
    found = sketched(tmp_path / "out", 5)
    assert 20 < found.num_rows == len(result.kept) == len(kept) < len(rows)
    assert [None if one is None else json.loads(one) for one in found["id"].to_pylist()] == [row["id"] for row in kept]
    assert found["source"].to_pylist() == ["in.jsonl"] * len(kept)
    assert found["position"].to_pylist() == [rows.index(row) for row in kept]
    family = families.from_plan(choose("0.8", bands=5, rows=3))
    for row, record in zip(found.to_pylist(), kept, strict=True):
        words = shingle([record["text"] or ""], "words:5", None, 0).values
        assert (row["set"], row["size"]) == (words.tolist(), len(words))
        assert row["keys"] == family.band_keys((words, np.array([0, len(words)])), 5, 3)[:, 0].tolist()
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert "sketches/000000.arrow" in [entry["path"] for entry in manifest["outputs"]]
    assert manifest["method"]["sketches"] is True
    settings = restored(manifest["index"])
    assert (settings.plan.bands, settings.plan.rows, str(settings.options.method), settings.options.bound) == (5, 3, "words:5", Fraction("0.8"))


@pytest.mark.parametrize("name", ["elements", "weighted", "cosine", "l2", "hamming"])
def test_each_kind_that_has_bands(name, tmp_path):
    items = MADE[name]
    layout = dict(zip(("bands", "rows"), LAYOUTS.get(name, (9, 2)), strict=True))
    lw.dedup(write(items, tmp_path / "in.jsonl"), out=tmp_path / "out", sketches=True, **items.choices | layout)
    kept = [json.loads(line)[items.field] for line in (tmp_path / "out/kept/in.jsonl").read_text().splitlines()]
    found = sketched(tmp_path / "out", layout["bands"])
    assert found.num_rows == len(kept) > 30
    assert [size == 0 for size in found["size"].to_pylist()] == [EMPTY.get(name, lambda value: False)(value) for value in kept]
    assert len({tuple(keys) for keys in found["keys"].to_pylist()}) > len(kept) // 2


def test_per_is_kept_beside_the_keys(tmp_path):
    rows = [{"text": "one two three four five six", "shop": shop} for shop in ("a", "b", "a")]
    lw.dedup(jsonl(tmp_path / "in.jsonl", rows), out=tmp_path / "out", per="shop", sketches=True)
    found = sketched(tmp_path / "out", 16, grouped=True)
    first, second = found.to_pylist()
    assert (found.num_rows, first["position"], second["position"]) == (2, 0, 1), "the third is a copy of the first"
    assert first["keys"] == second["keys"]
    assert first["per"] != second["per"]


def test_without_kept_records_there_is_an_empty_file(tmp_path):
    other = jsonl(tmp_path / "other.jsonl", records(3))
    lw.dedup(jsonl(tmp_path / "in.jsonl", records(3)), against=other, out=tmp_path / "out", sketches=True)
    (path,) = (tmp_path / "out/sketches").iterdir()
    assert list(sketches.read(path, 16, grouped=False)) == []


def test_bytes_depend_on_neither_chunks_nor_threads_nor_memory(tmp_path, monkeypatch):
    rows = records(400)
    jsonl(tmp_path / "in.jsonl", rows)
    monkeypatch.setattr(sketches, "BLOCK_BYTES", 3_000)
    monkeypatch.setattr(sketches, "FILE_BYTES", 20_000)
    lw.dedup(tmp_path / "in.jsonl", out=tmp_path / "one", sketches=True, threads=1)
    for module in (batches, lines):
        monkeypatch.setattr(module, "CHUNK_BYTES", 2_000)
    lw.dedup(tmp_path / "in.jsonl", out=tmp_path / "two", sketches=True, threads=3, memory="256M")
    one, two = snapshot(tmp_path / "one"), snapshot(tmp_path / "two")
    assert len([name for name in one if name.startswith("sketches/")]) > 3
    assert one == two


@pytest.mark.parametrize("of", [1, 7, 64, 65, 200])
def test_keys_of_some_rows_are_those_of_their_bands(of, tmp_path, scaled):
    draw = np.random.default_rng(of)
    rows = [5, 1, 0, 9, 30]
    keys = draw.integers(0, 2**63, (of, sum(rows)), np.uint64)
    work = Work.claim(tmp_path / "work", resume=None)
    work.begin({})
    for first, n in zip(np.cumsum([0, *rows]), rows, strict=False):
        work.append(bands.columns(np.ascontiguousarray(keys[:, first : first + n])), step="chunk")
    for begin in range(sum(rows) + 1):
        for stop in range(begin, sum(rows) + 1, scaled(1, 4)):
            assert (bands.of_rows(work, of, rows, begin, stop) == keys[:, begin:stop]).all()
    for band in (0, of - 1):
        assert (bands.read(work, band, of, rows) == keys[band]).all()
    work.close(remove=True)


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"exact": True}, r"exact=True.*joined without bands; leave one of them out"),
        ({"by": "cosine", "threshold": 0.9}, r"these vectors would be joined without bands; add bands=\d+ rows=\d+, which has the same recall"),
        ({"by": "edit", "within": 2}, "by='edit' compares strings without bands; leave it out"),
        ({"by": "linf", "within": 2}, "by='linf' compares vectors without bands; leave it out"),
        ({"level": "line"}, "sketches=True with level=: an index compares whole items, not parts of documents"),
        ({"ignore_common": 0.5}, "sketches=True with ignore_common=: an index compares whole items, not sets without ignored shingles"),
        ({"verify": "estimate"}, "sketches=True with verify='estimate': an index compares exactly"),
        ({"verify": "none"}, "sketches=True with verify='none'"),
    ],
)
def test_runs_without_band_keys_or_sets_are_refused(choices, said, tmp_path):
    vectors = choices.get("by") in ("cosine", "linf")
    rows = [{"id": 1, "vector": [0.5, 2, 1]}, {"id": 2, "vector": [1, 0, 3]}] if vectors else [{"id": 1, "text": "some text"}]
    with pytest.raises(lw.UsageError, match=said):
        lw.dedup(jsonl(tmp_path / "in.jsonl", rows), out=tmp_path / "out", sketches=True, **choices)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl"]


def test_a_comparison_with_an_index_has_no_sketches(tmp_path):
    with lw.Index.create(tmp_path / "seen.lw") as ix:
        ix.add(["some text"], ids=["a"])
    with pytest.raises(lw.UsageError, match="items that are compared with an index have shorter keys than sketches; leave it out, and add"):
        lw.dedup(["some text"], against=tmp_path / "seen.lw", out=tmp_path / "out", sketches=True)
    assert not (tmp_path / "out").exists()


def test_nothing_is_written_without_an_output():
    with pytest.raises(lw.UsageError, match="sketches=True: nothing is written without out="):
        lw.dedup(["some text"], sketches=True)


@pytest.mark.parametrize("at", [0.1, 0.5, 0.9])
def test_a_damaged_file_is_refused_by_name(at, tmp_path):
    lw.dedup(jsonl(tmp_path / "in.jsonl", records(30)), out=tmp_path / "out", sketches=True)
    path = tmp_path / "out/sketches/000000.arrow"
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * at)])
    with pytest.raises(lw.FormatError, match=r"000000.arrow: is damaged .*; make the output again"):
        list(sketches.read(path, 16, grouped=False))


def test_a_file_of_another_layout_is_refused(tmp_path):
    lw.dedup(jsonl(tmp_path / "in.jsonl", records(30)), out=tmp_path / "out", sketches=True)
    with pytest.raises(lw.FormatError, match="has other columns than the sketches"):
        list(sketches.read(tmp_path / "out/sketches/000000.arrow", 15, grouped=False))
