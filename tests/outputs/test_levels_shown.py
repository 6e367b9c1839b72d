"""Outputs without repeated lines, as users see and reuse them: show, report, audit, texts next to places, a second collection, and resumed runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import likewise as lw
from command_line import refused, run
from json_schema import faults

PAGES = [
    {"id": "fox", "text": "Home | About | Contact\nA fox ran over the hill.\nAll rights reserved by us.\n"},
    {"id": "dog", "text": "Home | About | Contact\r\nA dog slept in the sun.\r\nAll rights reserved by us."},
    {"id": "none", "text": "All rights reserved by us.\nHome, about | contact\nHome | about | contact\n"},
    {"id": "own", "text": "Nothing that others have."},
]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(page) + "\n" for page in PAGES))
    lw.dedup(tmp_path / "a.jsonl", out=tmp_path / "out", level="line", min_left=3)
    return tmp_path / "out"


def shown(out: Path, identity: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(run("show", str(out), identity, "--json").stdout)
    root = json.loads(run("schema").stdout)
    assert list(faults(document, root["$defs"]["show"], root)) == []
    return document


def test_show(out: Path) -> None:
    text = run("show", str(out), "dog").stdout
    assert text.splitlines() == [
        "'dog'  at a.jsonl:2 was kept without 2 of its lines:",
        "  0-24  Home | About | Contact  (exact copy of 'fox'  at a.jsonl:1, characters 0-23)",
        "  49-75  All rights reserved by us.  (exact copy of 'fox'  at a.jsonl:1, characters 48-75)",
    ]
    assert run("show", str(out), "a.jsonl:1").stdout.splitlines() == [
        "'fox'  at a.jsonl:1 was kept unchanged: none of its lines were removed",
        "stands for 2 other lines: 0-23  Home | About | Contact",
        "stands for 2 other lines: 48-75  All rights reserved by us.",
    ]
    assert run("show", str(out), "own").stdout == "'own'  at a.jsonl:4 was kept unchanged: none of its lines were removed\n"
    found = shown(out, "dog")
    assert found["status"] == "kept" and [part["text"] for part in found["parts"]] == ["Home | About | Contact\r\n", "All rights reserved by us."]
    assert found["parts"][0]["kept"] == {"id": "fox", "source": "a.jsonl", "position": 0, "start": 0, "end": 23}
    assert [part["removed"] for part in shown(out, "fox")["stands_for"]] == [2, 2]
    assert "no item of" in refused("show", str(out), "cat")


def test_show_of_a_removed_document(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(page) + "\n" for page in PAGES))
    lw.dedup(tmp_path / "a.jsonl", out=tmp_path / "out", level="line", min_left=6)
    text = run("show", str(tmp_path / "out"), "none").stdout
    assert text.splitlines()[0] == "'none'  at a.jsonl:3 was removed: it lost 2 lines, and 4 tokens were left:"
    assert shown(tmp_path / "out", "none")["tokens_left"] == 4


def test_the_report_is_written_again(out: Path) -> None:
    page = (out / "report.html").read_text()
    (out / "report.html").unlink()
    run("report", str(out))
    assert (out / "report.html").read_text() == page and "Home | About | Contact" in page


def test_an_audit_repeats_the_run_on_lines(out: Path) -> None:
    found = lw.audit(out)
    assert found.items == 6 and found.recall != found.recall  # the distinct lines; no two of them have the same shingles
    near = lw.audit([page["text"] for page in PAGES], level="line", by="words:1", threshold=0.3)
    assert near.items == 6 and near.pairs > 0 and near.recall == 1


def test_texts_next_to_places(out: Path, tmp_path: Path) -> None:
    found = lw.dedup(tmp_path / "a.jsonl", level="line")
    rows = found.removed.with_text(None).to_dicts()
    assert [row["text"] for row in rows][:2] == ["Home | About | Contact\r\n", "All rights reserved by us."]
    assert [row["kept_text"] for row in rows][:2] == ["Home | About | Contact\n", "All rights reserved by us.\n"]
    assert "Home | About | Conta…" in repr(found)


def test_a_second_collection(tmp_path: Path) -> None:
    texts = ["shared line of words\nmine and mine\nmine and mine\n", "mine and mine\nother"]
    held = ["shared line of words", "unused line here"]
    found = lw.dedup(texts, against=held, level="line")
    assert found.kept["text"].tolist() == ["mine and mine\nmine and mine\n", "mine and mine\nother"]
    assert [(row["start"], row["end"], row["kept_source"]) for row in found.removed.to_dicts()] == [(0, 21, "against/memory.arrow")]
    assert found.report["units"]["read"] == 5 and found.report["units"]["removed"] == 1
    assert found.report["against"]["read"] == 2 and found.report["against"]["matched"] == 1 and found.report["against"]["removed"] == 1
    both = lw.dedup(texts, against=held, also_inside=True, level="line")
    assert both.kept["text"].tolist() == ["mine and mine\n", "other"]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    (tmp_path / "b.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in held))
    written = lw.dedup(tmp_path / "a.jsonl", against=tmp_path / "b.jsonl", also_inside=True, level="line", out=tmp_path / "out")
    assert [json.loads(line)["text"] for line in (tmp_path / "out" / "kept" / "a.jsonl").read_bytes().splitlines()] == ["mine and mine\n", "other"]
    assert written.report["counts"] == both.report["counts"] and [path.name for path in (tmp_path / "out" / "kept").iterdir()] == ["a.jsonl"]


def test_lines_of_a_second_collection_stand_also_where_they_are_short(tmp_path: Path) -> None:
    texts = ["shared line of words\nx", "shared line of words\nmany words of its own\n"]
    found = lw.dedup(texts, against=["shared line of words\nshared line of words"], level="line", min_left=3, also_inside=True)
    assert found.kept["text"].tolist() == ["many words of its own\n"] and found.dropped is not None and len(found.dropped) == 1


def test_a_run_that_was_interrupted_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"text": f"a line of words\nand {i % 5} of them\n{i}"}) + "\n" for i in range(500)))
    options: dict[str, Any] = {"level": "line", "by": "words:1", "threshold": 0.9, "min_left": 2}
    lw.dedup(tmp_path / "a.jsonl", out=tmp_path / "whole", **options)
    steps = ("runs.decided.decide", "report.summary.summary", "runs.writing.write", "runs.writing.publish_staged")
    for number, step in enumerate(steps):
        with monkeypatch.context() as patched:
            patched.setattr(f"likewise.{step}", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                lw.dedup(tmp_path / "a.jsonl", out=tmp_path / f"{number}", **options)
        with pytest.raises(lw.UsageError, match="level= differs"):
            lw.dedup(tmp_path / "a.jsonl", out=tmp_path / f"{number}", resume=True, **(options | {"level": "paragraph"}))
        lw.dedup(tmp_path / "a.jsonl", out=tmp_path / f"{number}", resume=True, **options)
        for path in (tmp_path / "whole").rglob("*"):
            if path.is_file() and path.name not in ("run.json", "report.html"):
                assert path.read_bytes() == (tmp_path / f"{number}" / path.relative_to(tmp_path / "whole")).read_bytes(), path
