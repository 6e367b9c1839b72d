"""The formats on disk (docs/reference/formats.md): folders that an earlier day wrote are read, or refused with the reason and what to do.

tools/make_golden.py wrote tests/golden. By hand: a and b have 10 shingles of two words each and share 8, so their similarity is 8/12; d is a copy of
a, and c shares nothing.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import likewise as lw
from likewise.compiled import store
from likewise.index import files, postgres, settings, valkey
from likewise.io import claims, manifest
from likewise.io.output import write_sealed
from likewise.report import verdicts

ROOT = Path(__file__).resolve().parents[2]
OPTIONS: dict[str, Any] = {"by": "words:2", "threshold": 0.6, "bands": 4, "rows": 2}
TRAIN = "The first train to Lisbon leaves at six from platform two."


@pytest.fixture
def golden(likewise: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the folders, whose input is where it was."""
    place = tmp_path / "golden"
    shutil.copytree(ROOT / "tests/golden", place)
    monkeypatch.chdir(place)
    os.utime("pages.jsonl", ns=(10**18, 10**18))
    run = json.loads((place / "out/run.json").read_text())
    run["inputs"][0]["path"] = str(place / "pages.jsonl")
    del run["checksum"]
    write_sealed(run, place / "out/run.json")
    return place


def test_an_output_is_read(golden: Path, likewise: Callable[..., SimpleNamespace]) -> None:
    shown = likewise("show", golden / "out", "b")
    assert shown.status == 0 and "near-duplicate: similarity 0.6667 by words:2" in shown.out
    page = likewise("report", golden / "out")
    assert page.status == 0 and (golden / "out/report.html").is_file(), page.err
    fresh = lw.dedup([{"id": "e", "text": TRAIN + " Soon."}, {"id": "f", "text": "something else entirely"}], against=golden / "out")
    assert fresh.kept["id"].tolist() == ["f"] and fresh.removed["kept_id"].tolist() == ["a"]
    digest = verdicts.digest_of(json.loads((golden / "out/manifest.json").read_text()))
    assert verdicts.read(golden / "out.verdicts.jsonl", digest) == ({0: "same"}, 0, 0)


def test_an_index_is_built_from_sketches(golden: Path) -> None:
    with lw.Index.from_output(golden / "made", golden / "out") as index:
        assert index.query([TRAIN], k=2).to_dicts() == [{"query": 0, "id": "a", "similarity": 1.0}]


@pytest.mark.parametrize("sets", ["full", "compact", "none"])
def test_an_index_is_read_and_written(golden: Path, sets: str) -> None:
    folder = golden / f"index-{sets}"
    with lw.Index.open(folder) as index:
        assert index.check() == [] and [*index.ids()] == ["a", "b"]
        found = index.query([TRAIN], threshold=0.6)
        assert found["id"].tolist() == ["a", "b"]
        if sets != "none":
            assert found["similarity"].tolist() == [1.0, 8 / 12]
        index.add([TRAIN], ids=["e"])
        index.compact()
    with lw.Index.open(folder, read_only=True) as index:
        assert index.check() == [] and sorted(index.ids()) == ["a", "b", "e"]


def test_an_interrupted_run_is_continued_or_refused(golden: Path) -> None:
    """A work folder belongs to one version, so a later one may refuse it."""
    again = {**OPTIONS, "out": golden / "interrupted", "work": golden / "work", "resume": True}
    try:
        found = lw.dedup("pages.jsonl", **again).removed["id"].tolist()
    except lw.UsageError as error:
        assert re.search(r"work: cannot resume, because .* differs: .* delete the folder to start over", str(error))
    else:
        assert found == ["b", "d"]


def newer(path: Path) -> None:
    """A manifest of the next format, made by the next version."""
    found = json.loads(path.read_text())
    path.write_text(json.dumps(found | {"version": found["version"] + 1, "likewise": "9.0", "versions": {"likewise": "9.0"}}))


def test_newer_formats_are_refused_with_what_to_do(golden: Path, likewise: Callable[..., SimpleNamespace]) -> None:
    newer(golden / "out/manifest.json")
    refused = r"likewise 9\.0 made this output in format 2, and this is likewise .*, which reads format 1; upgrade likewise"
    for use in (
        lambda: lw.audit(golden / "out"),
        lambda: lw.dedup(["a b c"], against=golden / "out"),
        lambda: lw.Index.from_output(golden / "made", golden / "out"),
    ):
        with pytest.raises(lw.FormatError, match=refused):
            use()
    for arguments in (["show", golden / "out", "b"], ["report", golden / "out"]):
        done = likewise(*arguments)
        assert done.status == 2 and re.search(refused, " ".join(done.err.split())), done.err
    newer(golden / "index-full/manifest.json")
    with pytest.raises(lw.FormatError, match=r"likewise 9\.0 made this index in format 2, .*; upgrade likewise"):
        lw.Index.open(golden / "index-full")
    newer(golden / "work/work.json")
    with pytest.raises(lw.FormatError, match="another version of likewise left this work folder; delete the folder"):
        lw.dedup("pages.jsonl", out=golden / "interrupted", work=golden / "work", resume=True, **OPTIONS)
    assert not (golden / "interrupted").exists()


def test_the_page_of_formats_has_the_versions_of_the_code() -> None:
    page = (ROOT / "docs/reference/formats.md").read_text()
    rows = dict(re.findall(r"^\| ([^|]+?) +\| ([^|]+?) +\|", page, re.M))
    schemas = json.loads((ROOT / "src/likewise/cli/schemas.json").read_text())
    report = next(found for name in schemas if (found := re.search(r'"const": "likewise/report/(\d+)"', json.dumps(schemas[name]))))
    assert rows["output folder"] == str(manifest.VERSION)
    assert rows["`report.json`"] == report[1]
    assert rows["index in a folder"] == str(settings.FORMAT)
    assert rows["segments of an index"] == files.MAGIC.decode()[-1]
    assert (rows["index in PostgreSQL"], rows["index in Valkey"]) == (str(postgres.FORMAT), valkey.FORMAT)
    assert rows["work folder"] == str(claims.VERSION)
    assert rows["compiled kernels"] == store.MAGIC.decode().split()[-1]
