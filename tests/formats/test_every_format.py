"""All formats of files with texts, from the registry: rows are read, named and written, whatever the chunks and the threads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likewise as lw
from format_files import FILES, written
from likewise.io import batches, formats
from likewise.io.formats import lines, warc
from likewise.io.inputs import resolve
from likewise.records import TEXT, Want

EACH = pytest.mark.parametrize("name", FILES)
#: Formats with tests of their own: a file of them is one text, or holds no texts.
ELSEWHERE = {"text": "test_text_files.py", "npy": "test_npy.py", "npz": "test_npy.py", "images": "test_pictures.py"}
TEXTS = ["".join(np.random.default_rng(number).choice([*"acgt"], 60)) for number in range(9)]
#: Nine texts; the third once more with another end, and the fifth as a copy.
ROWS = [(f"r{number}", text) for number, text in enumerate([*TEXTS[:6], TEXTS[2][:-3] + "nnn", TEXTS[4], *TEXTS[6:]])]
OTHERS = ("r6", "r7")


def test_every_format_has_a_file():
    """A new format takes part in these tests once its file is in `format_files.FILES`."""
    assert {*formats.FORMATS} == {*FILES, *ELSEWHERE}
    assert all((Path(__file__).parent / file).exists() for file in ELSEWHERE.values())


def read(path: Path, **want: Any) -> list[tuple[str, str]]:
    found = []
    for source in resolve([path]):
        for chunk in source.chunks(Want(**want)):
            records = source.parse(chunk, Want(**want))
            assert records.kind.tolist() == [TEXT] * len(records) and not records.rejected
            found += [(json.loads(name), text.decode()) for name, text in zip(records.id.to_pylist(), records.text.to_pylist(), strict=True)]
    return found


def named(name: str, rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(FILES[name].ids.format(one), text) for one, text in rows]


@EACH
def test_a_file_is_recognized_by_its_name_and_read(tmp_path, name):
    path = written(tmp_path, name, ROWS)
    assert formats.by_name(path) == name
    assert read(path) == named(name, ROWS)
    assert read(written(tmp_path, name, [])) == []


@EACH
def test_kept_rows_are_written_as_they_were(tmp_path, name, monkeypatch):
    path = written(tmp_path, name, ROWS)
    choices = {"by": "chars:8", "threshold": 0.7}
    result = lw.dedup(path, out=tmp_path / "out", threads=1, **choices)
    kept = [row for row in ROWS if row[0] not in OTHERS]
    assert result.removed.to_arrow()["id"].to_pylist() == [row[0] for row in named(name, [row for row in ROWS if row[0] in OTHERS])]
    target = tmp_path / "out/kept" / path.name
    assert read(target) == named(name, kept)
    if FILES[name].exact:
        assert target.read_bytes() == FILES[name].content(kept)
    for module in (batches, lines, warc):
        monkeypatch.setattr(module, "CHUNK_BYTES", 300)
    lw.dedup(path, out=tmp_path / "again", threads=2, **choices)
    assert (tmp_path / "again/kept" / path.name).read_bytes() == target.read_bytes()


@EACH
def test_reading_goes_on_in_the_middle(tmp_path, name):
    """Chunks begin where an earlier one says that its rows begin, as in a resumed run."""
    path = written(tmp_path, name, ROWS)
    (source,) = resolve([path])
    starts = [int(start) for chunk in source.chunks(Want()) for start in source.parse(chunk, Want()).start]
    assert len(starts) == len(ROWS)
    for place in (1, 5):
        rows = [text for chunk in source.chunks(Want(), starts[place]) for text in source.parse(chunk, Want()).text.to_pylist()]
        assert [text.decode() for text in rows] == [text for _, text in ROWS[place:]]
