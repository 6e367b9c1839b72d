"""Result files record their inputs, and how to recognize them, but nothing about the machine or the time."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import xxhash

import likewise as lw
from command_line import run
from likewise.errors import FormatError, UsageError
from likewise.io import storage
from likewise.runs.recorded import KEY, read

SAID = "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness."


def made(folder: Path) -> Path:
    """Two books and an essay that quotes one of them."""
    for name, text in (("books/a.txt", SAID), ("books/b.txt", "Nothing that anybody has quoted."), ("essays/a.txt", f"He wrote: {SAID}")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def quoted(folder: Path, *more: str) -> Path:
    assert run("quotes", folder / "books", "--in", folder / "essays", "-o", folder / "q.parquet", *more).exit_code == 0
    return folder / "q.parquet"


def test_a_file_of_passages_names_the_inputs_that_are_in_it(tmp_path: Path) -> None:
    file = quoted(made(tmp_path))
    said = json.loads(pq.read_metadata(file).metadata[KEY])
    paths = {"suspect": "essays/a.txt", "corpus": "books/a.txt"}
    contents = {side: (tmp_path / path).read_bytes() for side, path in paths.items()}
    assert said["inputs"] == {
        side: [{"source": "a.txt", "path": paths[side], "size": len(data), "xxh3_128": xxhash.xxh3_128_hexdigest(data)}]
        for side, data in contents.items()
    }
    assert (said["verb"], said["min_run"], said["read"], said["quoting"]) == ("quotes", 12, {"corpus": 2, "suspects": 1}, 1)
    assert read(file).sides["corpus"][0]["path"] == tmp_path / "books/a.txt"  # type: ignore[index]


def test_its_bytes_depend_neither_on_the_place_nor_on_the_time(tmp_path: Path) -> None:
    first = quoted(made(tmp_path / "one"))
    other = made(tmp_path / "elsewhere" / "two")
    os.utime(other / "books/a.txt", (1, 1))
    assert quoted(other, "--threads", "2").read_bytes() == first.read_bytes()
    moved = shutil.move(first.parent, tmp_path / "moved")
    assert read(Path(moved, "q.parquet")).sides["suspect"][0]["path"] == tmp_path / "moved/essays/a.txt"  # type: ignore[index]


def test_pairs_and_neighbors_say_it_too_and_data_in_python_have_no_path(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text("".join(json.dumps({"id": name, "text": SAID}) + "\n" for name in "xy"))
    run("pairs", tmp_path / "d.jsonl", "-o", tmp_path / "p.parquet")
    found = read(tmp_path / "p.parquet")
    assert (found.verb, found.facts["value"], found.facts["read"]) == ("pairs", "similarity", 2)
    assert [entry["source"] for entry in found.sides[""]] == ["d.jsonl"]  # type: ignore[union-attr]
    run("neighbors", tmp_path / "d.jsonl", "-o", tmp_path / "n.parquet")
    assert read(tmp_path / "n.parquet").verb == "neighbors"
    lw.pairs([SAID, SAID]).write(tmp_path / "m.parquet")
    assert read(tmp_path / "m.parquet").sides == {"": [{"source": "memory.arrow"}]}
    lw.pairs([SAID, SAID])[["id_a", "similarity"]].write(tmp_path / "c.parquet")
    assert KEY not in (pq.read_metadata(tmp_path / "c.parquet").metadata or {})


@pytest.mark.parametrize(("size", "starts"), [(1 << 20, [0]), ((1 << 20) + 15, [number << 16 for number in range(15)] + [(15 << 16) + 15])])
def test_a_large_file_is_recognized_by_parts_from_both_ends_on(tmp_path: Path, size: int, starts: list[int]) -> None:
    """Up to 1 MiB all of it counts; of 15 bytes more, 16 parts of 64 KiB, each a byte further on than if they were side by side."""
    content = bytearray(os.urandom(size))
    file = tmp_path / "a"
    file.write_bytes(content)
    first = storage.mark(file, storage.now(file))
    begins = [0] if len(starts) == 1 else [number * (size - 65536) // 15 for number in range(16)]
    assert begins[-1] == starts[-1] and first == {
        "size": size,
        "xxh3_128": xxhash.xxh3_128_hexdigest(b"".join(content[at : at + (65536 if len(begins) > 1 else size)] for at in begins)),
    }
    for at in (0, size - 1):
        file.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        assert storage.mark(file, storage.now(file)) != first


def test_other_files_are_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text("{}\n")
    with pytest.raises(UsageError, match=r"expected a Parquet file, which .* with out=FILE.parquet"):
        read(tmp_path / "q.jsonl")
    lw.pairs([SAID, SAID]).write(tmp_path / "m.parquet")
    table = pq.read_table(tmp_path / "m.parquet").replace_schema_metadata(None)
    pq.write_table(table, tmp_path / "plain.parquet")
    with pytest.raises(UsageError, match="does not name its inputs; repeat"):
        read(tmp_path / "plain.parquet")
    for said, why in ((b"{", "is damaged"), (b'{"version": 2}', "a newer likewise wrote this file"), (b'{"version": 1}', "has changed since")):
        pq.write_table(table.replace_schema_metadata({KEY: said}), tmp_path / "other.parquet")
        with pytest.raises(FormatError, match=why):
            read(tmp_path / "other.parquet")
