"""Situations that broke other tools, rebuilt from scratch: outputs that endanger inputs, and intermediate files that outlive their run."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import tempfile
from pathlib import Path

import pytest

import likewise as lw
from likewise.io import placing
from situations import everything, jsonl, near, text


def spellings(folder: Path) -> list[str]:
    """corpus.jsonl in ``folder`` under its names: as it is, with ./, absolute, through a link to it, through another name for it."""
    (folder / "soft.jsonl").symlink_to("corpus.jsonl")
    os.link(folder / "corpus.jsonl", folder / "hard.jsonl")
    return ["corpus.jsonl", "./corpus.jsonl", str(folder / "corpus.jsonl"), "soft.jsonl", "hard.jsonl"]


def test_the_only_copy_of_a_corpus_is_never_written_to(likewise, tmp_path):
    rows = [{"id": i, "text": text(i)} for i in range(5)] + [{"id": 5, "text": near(2)}]
    (tmp_path / "corpus.jsonl").write_bytes(jsonl(rows))
    digest = hashlib.sha256(jsonl(rows)).hexdigest()
    for out in spellings(tmp_path):
        for more in ([], ["--overwrite"]):
            done = likewise("dedup", "corpus.jsonl", "-o", out, *more)
            assert (done.status, "choose another path" in done.err) == (2, True)
            assert hashlib.sha256((tmp_path / "corpus.jsonl").read_bytes()).hexdigest() == digest
    assert sorted(os.listdir(tmp_path)) == ["corpus.jsonl", "hard.jsonl", "soft.jsonl"]
    done = likewise("dedup", "corpus.jsonl", "-o", tmp_path, "--overwrite")
    assert (done.status, "no manifest.json" in done.err) == (2, True)
    assert hashlib.sha256((tmp_path / "corpus.jsonl").read_bytes()).hexdigest() == digest


@pytest.mark.parametrize("out", [".", ".."])
def test_an_output_without_a_name_of_its_own(likewise, tmp_path, out):
    (tmp_path / "in.jsonl").write_bytes(jsonl([{"text": text(1)}]))
    for more in ([], ["--overwrite"], ["--dry-run"]):
        done = likewise("dedup", "in.jsonl", "-o", out, *more)
        assert (done.status, "is not a new folder" in done.err) == (2, True)
    with pytest.raises(lw.UsageError, match="is not a new folder"):
        lw.dedup(tmp_path / "in.jsonl", out=out)


@pytest.mark.parametrize("given", [["corpus.jsonl"], ["."], ["*.jsonl"], ["other.jsonl", "--against", "corpus.jsonl"]])
def test_pairs_do_not_replace_what_they_were_found_in(likewise, tmp_path, given):
    (tmp_path / "corpus.jsonl").write_bytes(jsonl([{"id": i, "text": text(i)} for i in range(3)]))
    (tmp_path / "other.jsonl").write_bytes(jsonl([{"id": 3, "text": near(2)}]))
    before = everything(tmp_path)
    for out in spellings(tmp_path):
        done = likewise("pairs", *given, "-o", out, "--overwrite")
        assert done.status == 2
        assert {name: data for name, data in everything(tmp_path).items() if name in before} == before


def test_a_result_is_no_input_of_the_run_that_replaces_it(likewise, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data/in.jsonl").write_bytes(jsonl([{"id": i, "text": text(i % 2)} for i in range(4)]))
    assert likewise("dedup", "data", "-o", "data/out").status == 0
    first = everything(tmp_path / "data/out")
    assert likewise("dedup", "data", "-o", "data/out", "--overwrite").status == 0  # the folder itself is skipped
    again = everything(tmp_path / "data/out")
    assert all(again[name] == first[name] for name in first if name not in ("run.json", "report.html"))
    done = likewise("dedup", "data/out/kept", "-o", "data/out", "--overwrite")
    assert (done.status, "this input is the output" in done.err) == (2, True)
    assert everything(tmp_path / "data/out") == again
    for work in ("new", "new/inside"):
        done = likewise("dedup", "data/in.jsonl", "-o", "new", "--work", work)
        assert (done.status, "--work" in done.err) == (2, True)
    assert os.listdir(tmp_path) == ["data"]
    (tmp_path / "own.work").mkdir()
    (tmp_path / "own.work/letters.txt").write_text("mine")
    assert likewise("dedup", "data/in.jsonl", "-o", "own").status == 2
    assert everything(tmp_path / "own.work") == {"letters.txt": b"mine"}


def test_intermediate_files_on_another_disk(tmp_path, monkeypatch):
    (tmp_path / "in.jsonl").write_bytes(jsonl([{"id": i, "text": text(i % 2)} for i in range(4)]))
    (tmp_path / "replaced").mkdir()
    place = placing.place

    def across(staged: Path, out: Path, *, overwrite: bool) -> None:
        if staged.parent != out.parent:
            raise OSError(errno.EXDEV, "Invalid cross-device link", str(staged), None, str(out))
        place(staged, out, overwrite=overwrite)

    monkeypatch.setattr(placing, "place", across)
    for _ in range(2):
        result = lw.dedup(tmp_path / "in.jsonl", out=tmp_path / "out", work=tmp_path / "disk", overwrite=True)
        assert (tmp_path / "out/kept/in.jsonl").read_bytes() == jsonl([{"id": i, "text": text(i)} for i in range(2)])
        assert len(result.kept) == 2
        assert sorted(os.listdir(tmp_path)) == ["in.jsonl", "out", "replaced"]


def test_what_a_failed_run_was_piped_is_not_what_the_next_one_reads(likewise, tmp_path):
    assert likewise("dedup", "-", "typo.jsonl", "-o", "out", stdin=jsonl([{"text": "old"}])).status == 2
    assert likewise("dedup", "-", "-o", "out", stdin=jsonl([{"text": "new"}])).status == 0
    assert [json.loads(data) for data in everything(tmp_path / "out/kept").values()] == [{"text": "new"}]
    (tmp_path / "half.work").mkdir()
    (tmp_path / "half.work/work.json").write_text(json.dumps({"format": "likewise/work", "version": 1, "made": True}))
    (tmp_path / "half.work/stdin").write_bytes(jsonl([{"text": "old"}]))  # as a kill may leave it
    assert likewise("dedup", "-", "-o", "half", stdin=jsonl([{"text": "new"}])).status == 0
    assert [json.loads(data) for data in everything(tmp_path / "half/kept").values()] == [{"text": "new"}]


def test_a_refused_run_leaves_no_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(lw.UsageError):
        lw.pairs(tmp_path / "typo.jsonl")
    with pytest.raises(lw.DataError):
        lw.pairs([{"body": "a"}])
    lw.pairs(["a", "a"])
    assert list(tmp_path.iterdir()) == []
