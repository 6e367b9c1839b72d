"""Files that hold items in forms that are not read: named, with what to do next, alone and in a folder."""

from __future__ import annotations

import gzip
import io
import sqlite3
import tarfile
import zipfile
from pathlib import Path

import pytest

import likewise as lw
from command_line import refused, run
from likewise.errors import UsageError
from likewise.io import containers


def zipped() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as file:
        file.writestr("a.txt", "one two three four five six")
    return held.getvalue()


def tarred() -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as file:
        file.add(__file__, "a.txt")
    return held.getvalue()


def database(folder: Path) -> bytes:
    with sqlite3.connect(folder / "made.db") as connection:
        connection.execute("CREATE TABLE t (text)")
    connection.close()
    raw = (folder / "made.db").read_bytes()
    (folder / "made.db").unlink()
    return raw


FILES = {
    "a.zip": (zipped(), "ZIP archives are not read; unpack it first, for example with unzip, and name the folder"),
    "nameless": (zipped(), "ZIP archives are not read; unpack it"),
    "a.docx": (zipped(), "Word documents are not read; convert it to text first, for example with pandoc"),
    "a.XLSX": (zipped(), "spreadsheets are not read; convert it to CSV first"),
    "a.odt": (zipped(), "OpenDocument files are not read"),
    "a.epub": (zipped(), "EPUB books are not read"),
    "a.tar": (tarred(), "tar archives are not read; unpack it first, for example with tar"),
    "a.tar.gz": (gzip.compress(tarred()), "tar archives are not read"),
    "a.tgz": (gzip.compress(tarred()), "tar archives are not read"),
    "packed.gz": (gzip.compress(tarred()), "tar archives are not read"),
    "a.pdf": (b"%PDF-1.4\n1 0 obj\n", "PDF documents are not read; convert it to text first, for example with pdftotext"),
    "paper": (b"%PDF-1.4\n1 0 obj\n", "PDF documents are not read"),
    "a.pdf.gz": (gzip.compress(b"%PDF-1.4\n"), "PDF documents are not read"),
    "a.rtf": (b"{\\rtf1 one}", "RTF documents are not read"),
    "a.doc": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(9), "Microsoft Office documents are not read"),
    "a.7z": (b"7z\xbc\xaf\x27\x1c\0\4", "7z archives are not read"),
    "a.rar": (b"Rar!\x1a\x07\1\0", "RAR archives are not read"),
    "a.mp3": (b"\xff\xf3\x10\0" * 9, "sound files are not read; sound is not compared; transcribe it to text first"),
    "sound": (b"RIFF\0\0\0\0WAVEfmt \0\0", "sound files are not read"),
    "a.mp4": (b"\0\0\0\x18ftypisom\0\0", "videos are not read; to compare videos, run likewise features first"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_container_is_refused_by_name(tmp_path: Path, name: str) -> None:
    raw, says = FILES[name]
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(UsageError) as error:
        lw.dedup(tmp_path / name, out=tmp_path / "out")
    assert f"{name}: {says}" in str(error.value)
    assert not (tmp_path / "out").exists()


def test_a_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(database(tmp_path))
    with pytest.raises(UsageError, match=r"a.bin: SQLite databases are not read; export its table first"):
        lw.dedup(tmp_path / "a.bin")


def test_standard_input(tmp_path: Path) -> None:
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-P", "-m", "likewise", "dedup", "-", "-o", str(tmp_path / "out")], input=zipped(), capture_output=True, check=False
    )
    says = "ZIP archives are not read; unpack it first, for example with unzip, and name the folder"
    assert done.stderr.decode() == f"likewise: error: standard input: {says}\n"


def test_containers_in_a_folder_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    for name in ("a.zip", "a.pdf", "paper", "a.docx"):
        (tmp_path / "in" / name).write_bytes(FILES[name][0])
    (tmp_path / "in/b.pdf").write_bytes(b"")
    alone = refused("dedup", "in", "-o", "out")
    assert "in: no data file in this folder, only others (5, such as a.docx); Word documents are not read: convert it to text first" in alone
    assert "PDF documents are not read: convert it to text" in alone
    (tmp_path / "in/c.txt").write_text("one two")
    said = run("dedup", "in", "-o", "out").stderr.splitlines()
    assert "warning: skipped 2 PDF documents, such as a.pdf; convert it to text first, for example with pdftotext" in said
    assert "warning: skipped 1 ZIP archive, such as a.zip; unpack it first, for example with unzip, and name the folder" in said
    assert "warning: skipped a file or folder (unknown format, metadata or an earlier output), such as paper" in said


@pytest.mark.parametrize(
    "text", ["ID3 is a tag", "OggS", "ORC of the lake", "7z and Rar! and PK", "RIFF", "%PD", "BZh", "WARC", "Obj", "fLaC is a codec"]
)
def test_texts_are_not_taken_for_containers(tmp_path: Path, text: str) -> None:
    (tmp_path / "notes").write_text(text)
    assert lw.dedup(tmp_path / "notes").report["counts"]["read"] == 1


def test_every_extension_belongs_to_one_container() -> None:
    names = [extension for one in containers.CONTAINERS for extension in one.extensions.split()]
    assert len(names) == len(set(names))
    for name in names:
        assert containers.by_name(f"a.{name}.xz") is containers.by_name(f"A.{name.upper()}")
    assert containers.by_name("zip") is None
