"""places.parquet: every marked row begins where it says, and rows are found from there as if the source had been read through."""

from __future__ import annotations

import gzip
import json
import random
import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import likewise as lw
from archives import response
from likewise.io import places
from likewise.io.formats import lines
from likewise.io.inputs import Source, resolve
from likewise.io.places import begins_of, marked, records_at
from likewise.records import Want
from likewise.report import gather
from likewise.report.originals import Originals

N = 120
TEXTS = [f"item {number} " + "word " * (number % 7) + "é" * (40 * (number == 50)) for number in range(N)]
OBJECTS = [json.dumps({"id": number, "text": text}, ensure_ascii=False) for number, text in enumerate(TEXTS)]
CELLS = [f'{number},"{text}{chr(10) * (number % 3)}"' for number, text in enumerate(TEXTS)]
FILES = {
    "a.jsonl": "\ufeff" + "".join(line + "\n" * (1 + (number % 5 == 0)) for number, line in enumerate(OBJECTS)),
    "documents.jsonl": "".join(json.dumps(json.loads(line), indent=1) + "\n" for line in OBJECTS),
    "a.json": "[\n" + " ,\n".join(OBJECTS) + "]",
    "a.csv": "id,text\r\n" + "\r\n".join(CELLS) + "\r\n",
    "cr.csv": "id,text\r" + "\r".join(CELLS),
    "a.warc": b"".join(response(number, text) for number, text in enumerate(TEXTS)).decode(),
}


@pytest.fixture(params=[*FILES, "a.jsonl.gz", "a.csv.gz"])
def source(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Source:
    """A file of 120 items, with a mark every 128 bytes and chunks of a few rows."""
    monkeypatch.setattr(places, "BITS", 7)
    monkeypatch.setattr(lines, "CHUNK_BYTES", 400)
    data, path = FILES[request.param.removesuffix(".gz")].encode(), tmp_path / request.param
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    [found] = resolve([path])
    return found


def marks_of(source: Source) -> list[tuple[int, int]]:
    found, first = [], 0
    for chunk in source.chunks(Want()):
        records = source.parse(chunk, Want())
        found += [(start, first + row) for row, start in marked(source, records)]
        first += len(records)
    return found


def test_marks_are_the_rows_at_multiples_however_chunks_are_cut(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as large:
        large.setattr(lines, "CHUNK_BYTES", 1 << 20)
        [whole] = [source.parse(chunk, Want()) for chunk in source.chunks(Want())]
    spans = list(zip(whole.start.tolist(), (whole.start + whole.length).tolist(), strict=True))
    assert len(spans) == N
    expected = [(start, row) for row, (start, end) in enumerate(spans) if start and any(start <= 128 * k < end for k in range(end // 128 + 1))]
    assert marks_of(source) == expected and len(expected) > 20
    for size in (150, 900):
        monkeypatch.setattr(lines, "CHUNK_BYTES", size)
        assert marks_of(source) == expected


def test_rows_are_read_from_the_marks_before_them(source: Source) -> None:
    draw, begins = random.Random(source.name), begins_of(marks_of(source))
    for number in (1, 1, 1, 2, 5, 40):
        rows = np.array(sorted(draw.sample(range(N), number)))
        found, parsed = {}, 0
        for first, _, records in records_at(source, Want(), rows, begins):
            parsed += len(records)
            found |= {first + row: text.as_py().decode() for row, text in enumerate(records.text)}
        assert [found[row].strip() for row in rows.tolist()] == [TEXTS[row].strip() for row in rows.tolist()]
        assert parsed <= 18 * number or (number > 1 and source.path.suffix == ".gz"), "rows are found without reading those between them"


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "cr.csv"])
def test_an_output_tells_where_rows_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(places, "BITS", 8)
    path = tmp_path / name
    path.write_text(FILES[name], newline="")
    lw.dedup([path], out=tmp_path / "out")
    table = pq.read_table(tmp_path / "out" / "places.parquet")
    assert table.column_names == ["source", "position", "start"] and set(table["source"].to_pylist()) == {name}
    data, key = path.read_bytes(), {"a.jsonl": b'{"id": %d,'}.get(name, b"%d,")
    for row in table.to_pylist():
        assert data[row["start"] :].startswith(key % row["position"])
    originals = Originals(tmp_path / "out")
    texts = FILES[name].lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    begins = {line: re.match(r'\{"id": (\d+)|(\d+),', text) for line, text in enumerate(texts, 1)}
    for line, begin in begins.items():
        if begin:
            position = int(begin[1] or begin[2])
            assert originals.position(name, line) == position
            assert json.loads(originals.texts([(name, position)])[name, position].id or "") in (position, str(position))
    assert originals.position(name, len(texts) + 1) is None and sum(map(bool, begins.values())) == N


def test_small_and_columnar_inputs_need_no_places(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(FILES["a.jsonl"])
    lw.dedup([tmp_path / "a.jsonl"], out=tmp_path / "out")
    assert not (tmp_path / "out" / "places.parquet").exists()


def test_reports_show_rows_near_the_beginning_of_a_compressed_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows after the first mark beyond the limit are neither chosen as examples nor read for clusters; all others can be read."""
    monkeypatch.setattr(places, "BITS", 8)
    monkeypatch.setattr(gather, "NEAR_THE_BEGINNING", 5000)
    texts = [" ".join(f"w{number // 2}x{word}" for word in range(20)) + " more" * (number % 2) for number in range(N)]
    data = "".join(json.dumps({"id": number, "text": text}) + "\n" for number, text in enumerate(texts)).encode()
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(data))
    report = lw.dedup([tmp_path / "a.jsonl.gz"], by="words:1", threshold=0.5, out=tmp_path / "out").report
    table = pq.read_table(tmp_path / "out" / "places.parquet").to_pylist()
    end = next(row["position"] for row in table if row["start"] >= 5000)
    assert report["counts"]["removed_near"] == N // 2 and 20 < end < N // 2
    for example in report["examples"]:
        assert max(example["removed"]["position"], example["kept"]["position"]) < end
        assert None not in (example["removed"]["text"], example["kept"]["text"])
    shown = [(row["position"], row["text"]) for cluster in report["clusters"]["largest"] for row in (cluster, *cluster["members"])]
    assert shown and all((text is not None) == (position < end) for position, text in shown)
