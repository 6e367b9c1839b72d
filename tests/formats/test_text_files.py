"""Folders of text files: each file is an item."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import likewise as lw
from columnar_rows import WANT, kept, rows
from command_line import SOURCE, run
from likewise.errors import DataError, UsageError
from likewise.io.formats import text
from likewise.io.formats.text import Files
from likewise.records import NO_TEXT, REJECTED, TEXT, Want


def files(folder: Path, **contents: bytes) -> Files:
    paths = tuple(folder / f"{name}.txt" for name in contents)
    for path, content in zip(paths, contents.values(), strict=True):
        path.write_bytes(content)
    return Files(paths, tuple(f"sub/{path.name}" for path in paths))


def test_a_file_is_an_item(tmp_path: Path) -> None:
    given = files(tmp_path, a=b"one\ntwo", empty=b"", marked="\ufeffdrei".encode(), nul=b"a\0b")
    assert rows(text, given) == (
        [TEXT] * 4,
        [b"one\ntwo", b"", b"drei", b"a\0b"],
        [b'"sub/a.txt"', b'"sub/empty.txt"', b'"sub/marked.txt"', b'"sub/nul.txt"'],
    )
    (chunk,) = text.chunks(given, WANT)
    records = text.parse(chunk, Want(per="lang", score="n"), "text files")
    assert (records.start.tolist(), records.length.tolist()) == ([0, 1, 2, 3], [7, 0, 7, 3])
    assert records.found
    assert records.per.to_pylist() == [None] * 4
    assert np.isnan(records.score).all()
    assert not text.parse(chunk, Want("content"), "text files").found


def test_a_file_that_is_not_utf8_is_rejected_with_line_and_column(tmp_path: Path) -> None:
    given = files(tmp_path, good=b"good", latin="ä line\nsecond \u00e9".encode() + b"\xe9t\xe9", wide="wide".encode("utf-16"))
    (chunk,) = text.chunks(given, WANT)
    records = text.parse(chunk, WANT, "text files")
    assert records.kind.tolist() == [TEXT, REJECTED, REJECTED]
    assert records.text.to_pylist() == [b"good", b"", b""]
    first, second = records.rejected
    assert first.reason == "line 2, column 9 (0xe9): this byte is not UTF-8"
    assert first.raw == given.paths[1].read_bytes()
    assert "UTF-16" in second.reason


def test_a_file_that_cannot_be_opened_is_one_rejected_item(tmp_path: Path) -> None:
    given = files(tmp_path, a=b"a", b=b"b", c=b"c\xff")
    given.paths[1].unlink()
    given.paths[1].mkdir()
    (chunk,) = text.chunks(given, WANT)
    records = text.parse(chunk, WANT, "text files")
    assert records.kind.tolist() == [TEXT, REJECTED, REJECTED]
    assert [entry.row for entry in records.rejected] == [1, 2]
    assert "b.txt" in records.rejected[0].reason


def test_text_files_chunk_and_go_on(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(text, "CHUNK_BYTES", 5)
    given = files(tmp_path, a=b"123", b=b"456", c=b"78901234", d=b"", e=b"1")
    chunks = list(text.chunks(given, WANT))
    assert [(chunk.start, len(chunk.data)) for chunk in chunks] == [(0, 2), (2, 1), (3, 2)]
    assert [chunk.start for chunk in text.chunks(given, WANT, 2)] == [2, 3]
    assert rows(text, given, start=3)[1] == [b"", b"1"]
    given.paths[4].unlink()
    with pytest.raises(DataError, match=r"e\.txt: cannot be read"):  # a missing file is not rejected: the run can be resumed
        rows(text, given)
    given.paths[4].mkdir()
    assert rows(text, given)[0] == [TEXT] * 4 + [REJECTED]


def test_text_files_have_no_tokens(tmp_path: Path) -> None:
    kinds, texts, _ = rows(text, files(tmp_path, a=b"1 2 3"), Want(kind="tokens"))
    assert (kinds, texts) == ([NO_TEXT], [b""])


def test_kept_text_files_are_copied_byte_for_byte(tmp_path: Path) -> None:
    given = files(tmp_path, a="\ufeffa\r\n".encode(), b=b"b", c=b"\xff")
    text.write(given, tmp_path / "kept", *kept([True, False, True]))
    assert {path.relative_to(tmp_path / "kept").as_posix(): path.read_bytes() for path in (tmp_path / "kept").rglob("*.txt")} == {
        "sub/a.txt": "\ufeffa\r\n".encode(),
        "sub/c.txt": b"\xff",
    }
    with pytest.raises(UsageError, match="output='ids'"):
        text.write(given, tmp_path / "kept", *kept([True, False, False]), pa.table({"cluster": ["x"]}))


def warnings_of(*given: object, **choices: object) -> list[str]:
    said = []
    progress = lw.Progress()
    progress.warn = lambda message: said.append(str(message))
    lw.pairs(*given, by="levenshtein", within=2, progress=progress, **choices)
    return said


def test_a_run_of_a_few_text_files_says_that_each_is_one_document(tmp_path: Path) -> None:
    """The lines of a file may be meant as items. Two short files are compared with each other, without a warning."""
    names, more, short, one = (tmp_path / name for name in ("my names.txt", "b.txt", "c.txt", "d.txt"))
    names.write_text("".join(f"name {number}\n" for number in range(5000)))
    more.write_text("x\n" * 200)
    short.write_text("two\nlines\n")
    one.write_text("one line\n")
    said = run("pairs", names, "--by", "levenshtein", "--within", 2).stderr
    program = r"""import json, sys; [print(json.dumps({"text": line.rstrip("\n")})) for line in sys.stdin]"""
    command = f"python3 -c '{program}' < 'my names.txt' > 'my names.jsonl'"
    assert said.startswith(
        f"warning: my names.txt was read as one document of 5,000 lines; to compare its lines, make each line a record: {command}\n"
    )
    assert run("dedup", short, "-o", tmp_path / "out").stderr.startswith("warning: c.txt was read as one document of 2 lines; to compare its lines, ")
    for choices in ({"against": more}, {}):
        [both] = warnings_of(names if choices else [names, more], **choices)
        first = "my names.txt was read as one document of 5,000 lines and b.txt was read as one document of 200 lines"
        assert both == f"{first}; to compare their lines, give a list of its lines"
    assert warnings_of([short, one]) == warnings_of(one) == []
    (tmp_path / "e.jsonl").write_text('{"id": "x", "text": "x"}\n')
    assert warnings_of([names, tmp_path / "e.jsonl"]) == []


def test_the_lines_of_a_long_text_file_are_not_counted(tmp_path: Path) -> None:
    """It is refused without being read: with 3 GiB of address space, reading 4 GiB would fail."""
    long = tmp_path / "long.txt"
    with long.open("wb") as file:
        file.truncate(2**32)
    code = "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30,) * 2); from likewise.__main__ import run; run()"
    env = {**os.environ, "PYTHONPATH": SOURCE}
    done = subprocess.run([sys.executable, "-P", "-c", code, "pairs", str(long)], env=env, capture_output=True, text=True)
    assert done.returncode == 2
    assert "the file has 4,294,967,296 bytes, but --max-record allows 67,108,864" in done.stderr


def test_the_command_in_the_warning_makes_each_line_an_item(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("names.txt").write_text('John Smith\nJon Smith\n"Bud" Holly, jr.\n"Bud" Holly jr.\n')
    said = run("pairs", "names.txt", "--by", "levenshtein", "--within", 1).stderr.splitlines()[0]
    subprocess.run(said.partition("make each line a record: ")[2], shell=True, check=True)
    found = run("pairs", "names.jsonl", "--by", "levenshtein", "--within", 1).stdout
    assert found == '{"id_a":0,"id_b":1,"distance":1}\n{"id_a":2,"id_b":3,"distance":1}\n'


def test_images_among_texts_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "my photos"
    (folder / "more").mkdir(parents=True)
    for name in ("a.jpg", "b.PNG", "more/c.jpeg"):
        (folder / name).write_bytes(b"")
    refused = run("dedup", folder, "-o", tmp_path / "out", "--by", "words:5")
    assert (refused.exit_code, refused.stderr) == (
        2,
        f"likewise: error: {folder}: no data file in this folder, but 3 images; --by image compares images\n",
    )
    (folder / "readme.txt").write_text("hello")
    done = run("dedup", folder, "-o", tmp_path / "out")
    assert done.exit_code == 0
    said = "warning: my photos has 3 images, which were skipped; --by image compares images\n"
    assert said in done.stderr and "files or folders" not in done.stderr


def test_html_files_are_compared_as_they_are(tmp_path: Path) -> None:
    """--html converts pages of web archives only, and a message says so if it was given for other inputs."""
    page = "<nav>{} menu</nav><main><p>one two three four five six seven</p></main>"
    for name, menu in (("a.html", "old"), ("B.HTM", "new"), ("c.txt", "no")):
        (tmp_path / name).write_text(page.format(menu))
    pairs = ("pairs", tmp_path, "--by", "words:1", "--threshold", 0.5)
    plain = run(*pairs)
    assert "HTML" not in plain.stderr and "--html" not in plain.stderr
    pages = " on 2 HTML files, such as B.HTM, compared with all tags"
    for value, on in (("text", pages), ("main", pages), ("raw", "")):
        asked = run(*pairs, "--html", value)
        assert asked.stdout == plain.stdout
        assert f"warning: --html {value} has no effect{on}: it applies to web archives only\n" in asked.stderr


def test_options_of_other_formats_have_no_effect_and_the_user_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text\none two\none two\n")
    (tmp_path / "a.json").write_text('{"data": [{"text": "one two"}, {"text": "one two"}]}')
    html = "html raw has no effect: it applies to web archives only"
    records = "records data has no effect: it applies to JSON only"

    def warned(*names: str, **options: str) -> list[str]:
        return lw.pairs([tmp_path / name for name in names], threshold=0.5, by="words:1", **options).report["warnings"]

    (tmp_path / "a.wet").write_bytes(b"WARC/1.0\r\nWARC-Type: conversion\r\nContent-Type: text/plain\r\nContent-Length: 7\r\n\r\none two\r\n\r\n")
    (tmp_path / "a.html").write_text("<p>one two")
    assert not any("html" in said for said in warned("a.wet", "a.csv", html="main"))
    assert "html main has no effect on 1 HTML file, such as a.html, compared with all tags: it applies to web archives only" in warned(
        "a.wet", "a.html", html="main"
    )
    assert warned("a.csv", html="raw") == [html] and warned("a.csv", records="data") == [records]
    assert warned("a.json", html="raw", records="data") == [html]
    assert warned("a.csv", "a.json", records="data") == warned("a.json", records="data") == []
    assert lw.pairs(["one two", "one two"], by="words:1", records="data").report["warnings"] == [records]


def test_verbs_that_repeat_a_run_do_not_warn_of_its_default(tmp_path: Path) -> None:
    """The manifest has the default of --html. A later run warns of the option only if it was given, and refuses another value of it."""
    (tmp_path / "a.csv").write_text("text\none two\none two\n")
    lw.dedup(tmp_path / "a.csv", out=tmp_path / "out", by="words:1")
    assert json.loads((tmp_path / "out/manifest.json").read_text())["method"]["html"] == "text"
    pairs = lw.pairs(tmp_path / "a.csv", against=tmp_path / "out", copies="none").report["warnings"]
    assert not any("html" in said for said in [*lw.audit(tmp_path / "out").warnings, *pairs])
    with pytest.raises(UsageError, match=r"html='main': .*/out was made with html='text'"):
        lw.pairs(tmp_path / "a.csv", against=tmp_path / "out", html="main")
