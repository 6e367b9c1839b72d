"""Codes in CSV: one form for a column, wherever its chunks end, in all files of a run and after an interruption."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import likewise as lw
from likewise.io import code_cells
from likewise.io.formats import csv, lines
from likewise.records import REJECTED, TEXT, Want

AMBIGUOUS = "1234567890123456"  # 16 digits: as hexadecimal ones they are 64 bits too
WANT = Want("code", kind="code")


def file(path: Path, codes: list[str]) -> Path:
    path.write_text("id,code\n" + "".join(f"{row},{code}\n" for row, code in enumerate(codes)))
    return path


def values(path: Path, want: Want = WANT, start: int = 0) -> list[int | None]:
    """The first word of each code."""
    found: list[int | None] = []
    for chunk in csv.chunks(path, want, start):
        records = csv.parse(chunk, want, str(path))
        for kind, text in zip(records.kind.tolist(), records.text.to_pylist(), strict=True):
            found.append(int.from_bytes(text[:8], "little") if kind == TEXT else None)
    return found


@pytest.mark.parametrize("size", [40, 64, 1 << 20])
def test_a_column_has_one_form_wherever_its_chunks_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(lines, "CHUNK_BYTES", size)
    assert values(file(tmp_path / "a.csv", [AMBIGUOUS, "", "1", "77", AMBIGUOUS])) == [int(AMBIGUOUS), None, 1, 77, int(AMBIGUOUS)]
    hexadecimal = int.from_bytes(bytes.fromhex(AMBIGUOUS), "little")
    assert values(file(tmp_path / "b.csv", [AMBIGUOUS, AMBIGUOUS, "00000000000000ff"])) == [hexadecimal, hexadecimal, 255 << 56]
    assert values(file(tmp_path / "c.csv", [AMBIGUOUS, AMBIGUOUS])) == [hexadecimal, hexadecimal]


def test_a_run_that_goes_on_in_the_middle_reads_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "CHUNK_BYTES", 40)
    path = file(tmp_path / "a.csv", ["1", "2", AMBIGUOUS, AMBIGUOUS])
    start = [chunk.start for chunk in csv.chunks(path, WANT)][-1]
    assert values(path, start=start) == [int(AMBIGUOUS)]


def test_a_file_that_may_be_either_is_read_as_the_others_of_the_run(tmp_path: Path) -> None:
    mixed, alone = file(tmp_path / "a.csv", ["5", AMBIGUOUS, "-1"]), file(tmp_path / "b.csv", [AMBIGUOUS])
    for inputs in ([mixed, alone], [alone, mixed]):
        pairs = lw.pairs(inputs, by="hamming", field="code", within=0).to_arrow().to_pylist()
        assert [{row["source_a"], row["source_b"]} for row in pairs] == [{"a.csv", "b.csv"}]


def test_codes_of_the_other_form_are_refused_with_what_to_write(tmp_path: Path) -> None:
    path = file(tmp_path / "a.csv", ["1"] * 1000 + ["ff"])
    with pytest.raises(lw.DataError, match=r"a\.csv, line 1002, .*column 'code': 'ff' is not a whole number .*in decimal, or all in hexadecimal"):
        lw.pairs(path, by="hamming", field="code", within=1)
    kept = [records.kind.tolist() for chunk in csv.chunks(path, WANT) for records in [csv.parse(chunk, WANT, "a.csv")]]
    assert kept == [[TEXT] * 1000 + [REJECTED]]


def test_one_cell_that_is_no_code_changes_no_other(tmp_path: Path) -> None:
    """Beside n/a, 5 and 123 were an odd number of hexadecimal digits."""
    assert values(file(tmp_path / "a.csv", ["5", "n/a", "123"])) == [5, None, 123]


@pytest.mark.parametrize(
    ("cells", "form"),
    [
        ([], ""),
        ([AMBIGUOUS] * 2500, ""),
        ([AMBIGUOUS] * 2500 + ["ab"], "hexadecimal"),
        ([AMBIGUOUS] * 2500 + ["1"], "decimal"),
        (["12"] * 1500 + ["1234"], "decimal"),  # lengths that differ, over the first thousand too
        (["1"] * 1000 + ["ab"], "decimal"),
        (["1"] * 999 + ["ab"], "hexadecimal"),
        (["12", "0x12"], "hexadecimal"),
        (["99999999999999999999"], "hexadecimal"),  # above 2^64
        (["18446744073709551615"], "decimal"),
        (["-5"], "decimal"),
    ],
)
@pytest.mark.parametrize("cut", [1, 7, 5000])
def test_the_first_cells_that_tell_decide(cells: list[str], form: str, cut: int) -> None:
    texts: list[Any] = [None, *(cell.encode() for cell in cells), None]
    assert code_cells.form(pa.array(texts[at : at + cut], pa.large_binary()) for at in range(0, len(texts), cut)) == form


def test_damage_in_a_file_that_may_be_either_is_reported_where_records_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f'id,code\n1,{AMBIGUOUS}\n2,"open\n')
    found = []
    with pytest.raises(lw.DataError, match="line 3, column 3: the quote opened here is never closed"):
        for chunk in csv.chunks(path, WANT):
            found += csv.parse(chunk, WANT, "a.csv").kind.tolist()
    assert found == [TEXT]
