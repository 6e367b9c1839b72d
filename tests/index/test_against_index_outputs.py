"""The output of a removal against an index, and the messages of verbs that read it about items whose content is in no file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import likewise as lw
from command_line import lines, refused, run
from indexes import opened, sentences, variants

OLD = sentences(np.random.default_rng(1), 60)
NEW = variants(np.random.default_rng(2), OLD, 45)
NEAR = {*NEW[1::3]}  # the texts that are no copies of old ones


@pytest.fixture
def kept(tmp_path) -> Iterator[Callable[..., tuple[Path, lw.Index]]]:
    """A function that makes an index in a folder, which stays open for writing."""
    with ExitStack() as opened:

        def made(name: str = "seen.lw", **choices: Any) -> tuple[Path, lw.Index]:
            index = opened.enter_context(lw.Index.create(tmp_path / name, **{"by": "words:3", **choices}))
            index.add(OLD, [f"old {i}" for i in range(60)])
            return tmp_path / name, index

        yield made


def written(path: Path, texts: list[str]) -> Path:
    path.write_text("".join(json.dumps({"id": f"new {i}", "text": text}) + "\n" for i, text in enumerate(texts)))
    return path


def removed_of(out: Path) -> list[dict[str, Any]]:
    return pq.read_table(out / "removed.parquet").to_pylist()


def test_dedup_writes_what_is_new(tmp_path, kept):
    index, _ = kept()
    new = written(tmp_path / "new.jsonl", NEW)
    done = run("dedup", new, "--against", index, "-o", tmp_path / "out", "--pairs")
    assert done.exit_code == 0, done.output
    rows = removed_of(tmp_path / "out")
    assert {row["kept_source"] for row in rows} == {"seen.lw"} and len(rows) == 30
    assert all(OLD[int(row["kept_id"].removeprefix("old "))] in NEW[row["position"]] for row in rows)
    left = (tmp_path / "out/kept/new.jsonl").read_text().splitlines()
    assert [json.loads(line)["text"] for line in left] == [text for i, text in enumerate(NEW) if i % 3 == 2]
    assert not list((tmp_path / "out").rglob("seen*"))
    report, facts = (json.loads((tmp_path / "out" / name).read_text()) for name in ("report.json", "run.json"))
    assert (report["against"]["read"], report["against"]["removed"]) == (60, 30)
    assert [entry | {"xxh3_128": ""} for entry in facts["against"]] == [
        {"source": "seen.lw", "index": str(index), "items": 60, "last": 59, "xxh3_128": ""}
    ]
    assert len(pq.read_table(tmp_path / "out/pairs.parquet")) == len(NEAR)


def test_show_says_that_the_content_is_in_no_file(tmp_path, kept):
    index, _ = kept()
    run("dedup", written(tmp_path / "new.jsonl", NEW), "--against", index, "-o", tmp_path / "out")
    row = removed_of(tmp_path / "out")[1]
    said = run("show", tmp_path / "out", row["id"])
    assert said.exit_code == 0 and said.stderr == ""
    shown = lines(said.stdout)
    assert shown["removed"] == "'new 1'  at new.jsonl:2" and shown["kept"] == f"{row['kept_id']!r}  at seen.lw"
    assert shown["why"].startswith("near-duplicate: similarity 0.97")
    assert NEW[1] in said.stdout and "The kept item is in an index, which does not keep its content." in said.stdout
    found = json.loads(run("show", tmp_path / "out", row["id"], "--json").stdout)
    assert found["removed"]["text"] == NEW[1] and "text" not in found["kept"] and "differences" not in found
    assert f"{row['kept_id']!r}  at seen.lw is in the second collection" in run("show", tmp_path / "out", row["kept_id"]).stdout
    assert "no item of" in refused("show", tmp_path / "out", "old 999")
    assert run("report", tmp_path / "out").exit_code == 0
    assert "(not kept in the index)" in (tmp_path / "out/report.html").read_text()


def test_ids_of_several_types_are_shown_as_they_are(tmp_path):
    index = opened(["a b c d", "e f g h", "i j k l"], [7, "7", "x"], by="words:2")
    out = tmp_path / "out"
    lw.dedup(written(tmp_path / "new.jsonl", ["E f g h", "i j k l"]), against=index, out=out)
    assert [row["kept_id"] for row in removed_of(out)] == ['"7"', '"x"']
    assert "at memory.index" in run("show", out, "new 0").stdout
    assert json.loads(run("show", out, "new 0", "--json").stdout)["kept"]["source"] == "memory.index"


def test_an_audit_repeats_the_run_with_the_index(tmp_path, kept):
    folder, index = kept(sets="compact")
    run("dedup", written(tmp_path / "new.jsonl", NEW), "--against", folder, "-o", tmp_path / "out", "--also-inside")
    found = lw.audit(tmp_path / "out")
    assert (found.recall, found.precision) == (1, 1) and found.pairs == len(NEAR)
    with pytest.raises(lw.UsageError, match=r"threshold=0.9: seen.lw was made with threshold="):
        lw.audit(tmp_path / "out", threshold=0.9)
    index.add(["one more text"], ["more"])
    with pytest.raises(lw.DataError, match="the inputs have changed since the output was made"):
        lw.audit(tmp_path / "out")


def test_an_audit_needs_an_index_that_is_kept(tmp_path):
    lw.dedup(written(tmp_path / "new.jsonl", NEW), against=opened(OLD, by="words:3"), out=tmp_path / "out")
    with pytest.raises(lw.DataError, match="made from data in memory, which is not stored"):
        lw.audit(tmp_path / "out")


def test_pairs_and_dry_run_on_the_command_line(tmp_path, kept):
    index, _ = kept()
    new = written(tmp_path / "new.jsonl", NEW)
    rows = [json.loads(line) for line in run("pairs", new, "--against", index).stdout.splitlines()]
    assert len(rows) == 30 and rows[0]["id_a"] == "new 0" and rows[0]["id_b"].startswith("old ")
    for verb in ("dedup", "pairs"):
        plan = lines(run(verb, new, "--against", index, "--dry-run").stdout)
        assert plan["by"] == "words:3" and plan["seen.lw"] == "index, 0 B" and plan["plan"].startswith("16 bands x 6 rows")
    assert run("pairs", new, "--against", index, "-o", tmp_path / "pairs.parquet").exit_code == 0
    assert run("pairs", new, "--against", index, "-o", tmp_path / "pairs.parquet", "--overwrite").exit_code == 0
    assert len(pq.read_table(tmp_path / "pairs.parquet")) == 30


def test_an_index_is_no_input(tmp_path, kept):
    index, _ = kept()
    new = written(tmp_path / "new.jsonl", NEW)
    assert "this is an index, which has no records; compare with it alone: --against" in refused("dedup", index, "-o", tmp_path / "out")
    assert "compare with it alone" in refused("pairs", new, "--against", index, "--against", new)
    assert "--exact: an index finds items by its bands" in refused("dedup", new, "--against", index, "--exact", "-o", tmp_path / "out")
    assert "--threshold 0.5: seen.lw was made with --threshold 0.8" in refused("pairs", new, "--against", index, "--threshold", "0.5")


def test_a_resumed_run_needs_the_same_index(tmp_path, kept, monkeypatch):
    folder, index = kept()
    new, work = written(tmp_path / "new.jsonl", NEW), tmp_path / "work"

    def stopped(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    def interrupted() -> None:
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr("likewise.runs.decided.decide", stopped)
            lw.dedup(new, against=folder, out=tmp_path / "out", work=work)

    interrupted()
    index.remove(["old 59"])
    with pytest.raises(lw.UsageError, match="cannot resume, because against= differs"):
        lw.dedup(new, against=folder, out=tmp_path / "out", work=work, resume=True)
    whole = lw.dedup(new, against=folder, out=tmp_path / "whole")
    work.rename(tmp_path / "other")
    interrupted()
    assert lw.dedup(new, against=folder, out=tmp_path / "out", work=work, resume=True).report == whole.report
    assert (tmp_path / "out/manifest.json").read_bytes() == (tmp_path / "whole/manifest.json").read_bytes()


def test_reading_goes_on_where_it_stopped_with_the_same_blocks(tmp_path, kept, monkeypatch):
    """The digest of the index in the manifest depends on the blocks that were read: it is that of a run that was not interrupted."""
    monkeypatch.setattr("likewise.index.source.CHUNK", 1)
    monkeypatch.setattr("likewise.index.source.LOOKED_AT", 7)
    folder, _ = kept()
    new, work = written(tmp_path / "new.jsonl", NEW), tmp_path / "work"
    whole = lw.dedup(new, against=folder, out=tmp_path / "whole")
    from likewise.io import collection

    append, calls = collection.append, []

    def counting(*given: Any, **more: Any) -> None:
        calls.append(given)
        if len(calls) == 5:
            raise KeyboardInterrupt
        append(*given, **more)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("likewise.io.collection.append", counting)
        lw.dedup(new, against=folder, out=tmp_path / "out", work=work)
    assert lw.dedup(new, against=folder, out=tmp_path / "out", work=work, resume=True).report == whole.report
    assert (tmp_path / "out/manifest.json").read_bytes() == (tmp_path / "whole/manifest.json").read_bytes()
