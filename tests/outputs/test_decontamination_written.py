"""The output folder of `dedup --level passage --against`: bytes of what stays, tables, resources, audits with planted leaks."""

from __future__ import annotations

import csv
import io
import json
import random
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import decontamination_reference as reference
import likewise as lw
from command_line import run
from likewise.errors import DataError, UsageError
from likewise.runs.planting import KINDS

VOCABULARY = [f"word{number}" for number in range(3000)]


@pytest.fixture(scope="module")
def texts() -> tuple[list[str], list[dict[str, str]]]:
    """Training texts, some with test items, and test items."""
    numbers = random.Random(7)
    tests = [{"id": f"item {at}", "text": " ".join(numbers.choices(VOCABULARY, k=25))} for at in range(30)] + [{"id": "tiny", "text": "yes or no"}]
    training = []
    for at in range(60):
        words = numbers.choices(VOCABULARY, k=numbers.randrange(50, 400))
        if at % 3 == 0:
            words[20:20] = [f'"{tests[at % 30]["text"]}"\té\n', "\\"]
        training.append(" ".join(words))
    return training, tests


def written(folder: Path, name: str, rows: list[dict[str, str]]) -> Path:
    """The rows in the format of the name."""
    path = folder / name
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row, ensure_ascii=bool(at % 2)) + "\r\n" for at, row in enumerate(rows)), newline="")
    elif path.suffix == ".csv":
        with path.open("w", newline="") as file:
            out = csv.DictWriter(file, ["id", "text"], quoting=csv.QUOTE_ALL)
            out.writeheader()
            out.writerows(rows)
    elif path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=7)
    else:
        path.mkdir()
        for row in rows:
            (path / f"{row['id']}.txt").write_text(row["text"], newline="")
    return path


def read_back(path: Path) -> list[str]:
    if path.suffix == ".jsonl":
        return [json.loads(line)["text"] for line in path.read_text().splitlines()]
    if path.suffix == ".csv":
        return [row["text"] for row in csv.DictReader(io.StringIO(path.read_text(), newline=""))]
    if path.suffix == ".parquet":
        return pq.read_table(path)["text"].to_pylist()
    return [each.read_bytes().decode() for each in sorted(path.glob("*.txt"))]


@pytest.mark.parametrize("name", ["train.jsonl", "train.csv", "train.parquet", "train"])
def test_formats(texts, tmp_path, name):
    training, tests = texts
    source = written(tmp_path, name, [{"id": f"{at:03}", "text": text} for at, text in enumerate(training)])
    before = {path: path.read_bytes() for path in [source, *source.glob("*")] if path.is_file()}
    test = written(tmp_path, "test.jsonl", tests)
    found = lw.dedup(source, against=test, level="passage", preset="gpt3", out=tmp_path / "out", progress=False)
    wanted = reference.gpt3(training, [one["text"] for one in tests])
    kept = tmp_path / "out/kept" / ("" if name == "train" else name)
    assert read_back(kept) == [text for text in wanted if text is not None]
    assert {path: path.read_bytes() for path in before} == before
    seen = pq.read_table(tmp_path / "out/seen.parquet").to_pylist()
    assert seen == found.seen.to_dicts()
    assert [row["id"] for row in seen] == [one["id"] for one in tests]
    assert seen[-1]["contaminated"] is None and sum(row["contaminated"] is True for row in seen) == found.report["leaks"]["contaminated"] == 10
    for row in pq.read_table(tmp_path / "out/removed.parquet").to_pylist():
        at = int(str(row["id"])[:3]) if name == "train" else row["position"]
        assert training[at][row["start"] : row["end"]]


def test_other_bytes_stay(tmp_path):
    test = " ".join(f"t{at}" for at in range(13))
    line = b'  {"id": 1e0, "text" : "A\\u0041 \\n%s \\ud83d\\ude00 tail", "other": [1,  2]}\r\n'
    (tmp_path / "train.jsonl").write_bytes(line % test.replace(" ", "\\t").encode())
    lw.dedup(tmp_path / "train.jsonl", against=[test], level="passage", min_run=13, out=tmp_path / "out", progress=False)
    assert (tmp_path / "out/kept/train.jsonl").read_bytes() == line % b""


def outputs(folder: Path) -> dict[str, bytes]:
    some = {"run.json", "report.html"}
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name not in some}


@pytest.fixture
def files(texts, tmp_path) -> tuple[Path, Path]:
    training, tests = texts
    rows = [{"id": f"{at:03}", "text": text} for at, text in enumerate(training)]
    return written(tmp_path, "train.jsonl", rows), written(tmp_path, "test.jsonl", tests)


def test_same_bytes_whatever_the_resources(files, tmp_path, monkeypatch):
    from likewise.io.formats import jsonl
    from likewise.passages import collisions

    train, test = files

    def made(name: str, **options) -> dict[str, bytes]:
        lw.dedup(train, against=test, level="passage", preset="gpt3", out=tmp_path / name, progress=False, **options)
        return outputs(tmp_path / name)

    first = made("a", threads=1)
    assert {"seen.parquet", "removed.parquet", "dropped.parquet", "kept/train.jsonl"} <= set(first)
    assert made("b", threads=7, memory="300M") == first
    monkeypatch.setattr(collisions, "AT_ONCE", 3)
    if hasattr(jsonl, "CHUNK"):
        monkeypatch.setattr(jsonl, "CHUNK", 4000)
    assert made("c", threads=2) == first


def test_an_interrupted_run_goes_on(files, tmp_path, monkeypatch):
    from likewise.runs import writing

    train, test = files
    options = {"against": test, "level": "passage", "preset": "gpt3", "progress": False}
    lw.dedup(train, out=tmp_path / "whole", **options)
    publish = writing.publish_staged

    def killed(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(writing, "publish_staged", killed)
    with pytest.raises(KeyboardInterrupt):
        lw.dedup(train, out=tmp_path / "out", **options)
    monkeypatch.setattr(writing, "publish_staged", publish)
    lw.dedup(train, out=tmp_path / "out", resume=True, **options)
    assert outputs(tmp_path / "out") == outputs(tmp_path / "whole")


def test_against_an_output_folder(files, tmp_path):
    train, test = files
    lw.dedup(test, by="words:3", threshold=0.9, out=tmp_path / "tests", progress=False)
    ways = [lw.dedup(train, against=other, level="passage", preset="gpt3", progress=False).removed.to_dicts() for other in (test, tmp_path / "tests")]
    places = [[(row["position"], row["start"], row["end"], row["kept_id"]) for row in way] for way in ways]
    assert places[0] == places[1] and len(places[0]) > 10


def test_limit_reads_some_documents_and_all_items(files):
    train, test = files
    whole = lw.dedup(train, against=test, level="passage", preset="gpt3", progress=False).removed.to_dicts()
    some = lw.dedup(train, against=test, level="passage", preset="gpt3", limit=10, progress=False)
    assert some.removed.to_dicts() == [row for row in whole if row["position"] < 10]
    assert some.counts["read"] == 10 and some.report["leaks"]["items"] == 31


def test_ignored_text_is_no_leak(files):
    train, test = files
    licensed = json.loads(test.read_text().splitlines()[0])["text"]
    found = lw.dedup(train, against=test, level="passage", ignore=[licensed], progress=False).seen.to_dicts()
    assert not found[0]["contaminated"] and found[3]["contaminated"]


@pytest.mark.parametrize("preset", ["gpt3", "deepseek-math", "lm-eval"])
def test_planted_leaks(files, tmp_path, preset):
    train, test = files
    lw.dedup(train, against=test, level="passage", preset=preset, out=tmp_path / "out", progress=False)
    before = outputs(tmp_path / "out")
    found = lw.audit(tmp_path / "out", plant=12, progress=False)
    assert [one.kind for one in found.kinds] == [*KINDS]
    assert all(one.planted == 12 for one in found.kinds) and found.items == 30
    for one in found.kinds[:5]:
        assert (one.found, one.high) == (12, 1.0) and 0.7 < one.low < 0.8  # Wilson: 12 of 12
        assert one.removed == (one.characters if found.removes else 0)
    assert found.kinds[-1].found < 12 or preset == "deepseek-math"  # 3 of 25 words differ
    assert outputs(tmp_path / "out") == before
    assert found == lw.audit(tmp_path / "out", plant=12, progress=False)
    shown = run("audit", tmp_path / "out", "--plant", "12")
    assert shown.exit_code == 0 and "verbatim" in shown.stdout and "12 of 12 leaks found: 100%" in shown.stdout


def test_audits_that_do_not_fit(files, tmp_path):
    train, test = files
    lw.dedup(train, against=test, level="passage", out=tmp_path / "passages", progress=False)
    lw.dedup(test, out=tmp_path / "plain", progress=False)
    lw.dedup(test, level="passage", out=tmp_path / "repeats", progress=False)
    for plant in (None, 5):
        with pytest.raises(UsageError, match="removed every passage that its collection repeats"):
            lw.audit(tmp_path / "repeats", plant=plant, progress=False)
    with pytest.raises(UsageError, match="plant=200"):
        lw.audit(tmp_path / "passages", progress=False)
    for inputs in (tmp_path / "plain", test):
        with pytest.raises(UsageError, match="level='passage'"):
            lw.audit(inputs, plant=5, progress=False)
    with pytest.raises(UsageError, match="plant=0"):
        lw.audit(tmp_path / "passages", plant=0, progress=False)
    train.write_text('{"text": "another"}\n')
    with pytest.raises(DataError, match="changed"):
        lw.audit(tmp_path / "passages", plant=5, progress=False)


def test_what_the_command_line_tells(files, tmp_path):
    train, test = files
    done = run("dedup", train, "--against", test, "--level", "passage", "--preset", "gpt3", "-o", tmp_path / "out")
    assert done.exit_code == 0
    assert "10 of 31 test items have 13 words in common with documents, 10 contaminated by gpt3; 1 too short to judge" in done.stderr
    page = (tmp_path / "out/report.html").read_text()
    assert "Brown et al. 2020" in page and "Documents in more than 10 pieces are removed completely" in page
    figures = dict(re.findall(r"<dt>([^<]+)</dt><dd class=\"figure\">(?:<a[^>]*>)?([^<]+)", page))
    assert figures["Seen"] == figures["Contaminated"] == "10" and figures["Text removed"].endswith("%")
    shown = run("show", tmp_path / "out", f"{train.name}:1")
    assert "tokens in a row of 'item 0'" in shown.stdout
    assert run("report", tmp_path / "out").exit_code == 0
    layout = run("dedup", train, "--against", test, "--preset", "gpt3", "-o", tmp_path / "no")
    assert layout.exit_code == 2 and "--level passage" in layout.stderr
    run_alone = run("dedup", train, "--min-run", "5", "-o", tmp_path / "no")
    assert run_alone.exit_code == 2 and "--level passage" in run_alone.stderr
