"""Inputs become sources: their files, order, names and formats."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

import likewise as lw
from likewise.errors import DataError, UsageError
from likewise.io import formats
from likewise.io.inputs import TEXT_FILES, resolve
from likewise.io.manifest import check_output
from likewise.io.source_names import printable
from likewise.records import NO_TEXT, TEXT, Want

LINE = b'{"id": 1, "text": "x"}\n'


@pytest.fixture
def here(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make(*names: str, content: bytes = LINE) -> None:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(content)


def names(*inputs, **options) -> list[str]:
    return [source.name for source in resolve(inputs, **options)]


def format_of(source) -> str:
    return source.format.__name__.rpartition(".")[2]


# ------------------------------------------------------------------------------------------- which, and in which order


def test_files_come_in_the_order_named_and_folders_sorted(here: Path) -> None:
    make("b.jsonl", "a.jsonl", "d/z.jsonl", "d/sub/y.jsonl", "d/a.csv", "d/sub-2/x.jsonl", "e/1.jsonl")
    assert names("b.jsonl", "a.jsonl") == ["b.jsonl", "a.jsonl"]
    assert names("d") == ["a.csv", "sub/y.jsonl", "sub-2/x.jsonl", "z.jsonl"]
    assert names("e", "d/sub", "a.jsonl") == ["e/1.jsonl", "d/sub/y.jsonl", "a.jsonl"]
    assert names(Path("d"), here / "b.jsonl") == ["d/a.csv", "d/sub/y.jsonl", "d/sub-2/x.jsonl", "d/z.jsonl", "b.jsonl"]


def test_names_are_relative_to_what_the_inputs_have_in_common(here: Path) -> None:
    make("crawl/2024/a.jsonl", "crawl/2025/a.jsonl")
    assert names("crawl/2024/a.jsonl") == ["a.jsonl"]
    assert names("crawl/2024") == ["a.jsonl"]
    assert names("crawl") == ["2024/a.jsonl", "2025/a.jsonl"]
    assert names("crawl/2024/a.jsonl", "crawl/2025/a.jsonl") == ["2024/a.jsonl", "2025/a.jsonl"]
    assert names("./crawl//2024/../2025/a.jsonl") == ["a.jsonl"]
    os.chdir("crawl/2024")
    assert names("..") == ["2024/a.jsonl", "2025/a.jsonl"]
    assert names(".", "../2025") == ["2024/a.jsonl", "2025/a.jsonl"]


def test_hidden_files_and_unknown_ones_are_passed_over_and_the_latter_reported(here: Path) -> None:
    make("d/a.jsonl", "d/.hidden.jsonl", "d/.git/b.jsonl", "d/picture.png", "d/_SUCCESS", "d/sub/old.jsonl.bak", "d/a.parquet.gz")
    Path("d/empty/emptier").mkdir(parents=True)
    found = resolve(["d"])
    assert [source.name for source in found] == ["a.jsonl"]
    assert sorted(path.name for path in found.skipped) == ["_SUCCESS", "a.parquet.gz", "old.jsonl.bak", "picture.png"]
    make(".config/x.jsonl")
    assert names(".config") == ["x.jsonl"]  # named is named


def test_globs(here: Path) -> None:
    make("crawl/a.jsonl", "crawl/b.jsonl.gz", "crawl/sub/c.jsonl", "crawl/sub/deep/d.jsonl", "crawl/.h.jsonl", "crawl/note.bin", content=b"")
    make("crawl/b.jsonl.gz", content=gzip.compress(LINE))
    assert names("crawl/*.jsonl*") == ["a.jsonl", "b.jsonl.gz"]
    assert names("crawl/**/*.jsonl") == ["a.jsonl", "sub/c.jsonl", "sub/deep/d.jsonl"]
    assert names("crawl/s*/c.jsonl") == ["sub/c.jsonl"]
    assert names("crawl/s*") == ["sub/c.jsonl", "sub/deep/d.jsonl"]
    assert names("crawl/?.jsonl", "crawl/**") == ["a.jsonl", "b.jsonl.gz", "note.bin", "sub/c.jsonl", "sub/deep/d.jsonl"]


def test_a_glob_takes_shards_without_extension_and_leaves_other_things(here: Path) -> None:
    make("p/part-0", "p/part-1")
    make("p/part-readme", content=b"some words")
    make("p/part-binary", content=b"\x00\x01\x02\xff")
    found = resolve(["p/part-*"])
    assert [(source.name, format_of(source)) for source in found] == [("part-0", "jsonl"), ("part-1", "jsonl")]
    assert sorted(path.name for path in found.skipped) == ["part-binary", "part-readme"]


def test_a_name_that_looks_like_a_glob_is_a_name_when_it_is_there(here: Path) -> None:
    make("a[1].jsonl", "a1.jsonl", "what?.jsonl")
    assert names("a[1].jsonl") == ["a[1].jsonl"]
    assert names("what?.jsonl") == ["what?.jsonl"]


def test_names_with_spaces_line_ends_and_bytes_that_are_not_utf8(here: Path) -> None:
    odd = ["with space.jsonl", "line\nend.jsonl", os.fsdecode(b"latin-\xe9.jsonl"), "日本.jsonl"]
    make(*(f"d/{name}" for name in odd))
    assert sorted(names("d")) == sorted(odd)
    assert sorted(names("d/*")) == sorted(odd)
    (source,) = resolve([f"d/{odd[2]}"])
    assert printable(source.name) == r"latin-\xe9.jsonl"
    assert list(source.fingerprint()) == [odd[2]]
    assert len(list(source.format.chunks(source.path, Want()))) == 1


# ---------------------------------------------------------------------------------------------------------- read once


def test_a_file_named_twice_or_reached_through_a_link_is_read_once(here: Path) -> None:
    make("d/a.jsonl", "d/b.jsonl")
    os.symlink("a.jsonl", "d/a-again.jsonl")
    os.link("d/b.jsonl", "d/b-hard.jsonl")
    os.symlink("d", "link-to-d")
    assert names("d") == ["a-again.jsonl", "b-hard.jsonl"]
    assert names("d/b.jsonl", "d") == ["b.jsonl", "a-again.jsonl"]
    assert names("d/a.jsonl", "./d/a.jsonl", here / "d" / "a.jsonl", "d/../d/a.jsonl") == ["a.jsonl"]
    assert names("d", "link-to-d") == ["d/a-again.jsonl", "d/b-hard.jsonl"]
    assert names("link-to-d") == ["a-again.jsonl", "b-hard.jsonl"]


def test_links_are_followed_and_loops_end(here: Path) -> None:
    make("blobs/0123", "data/a.jsonl")
    os.symlink("../blobs/0123", "data/shard.jsonl")
    os.symlink("..", "data/loop")
    os.symlink(".", "data/self")
    os.symlink("nowhere", "data/broken.jsonl")
    found = resolve(["data"])
    assert [source.name for source in found] == ["a.jsonl", "shard.jsonl"]
    assert [path.name for path in found.skipped] == ["broken.jsonl", "0123"]


# --------------------------------------------------------------------------------------------------------- the output


def test_the_output_inside_an_input_folder_is_passed_over(here: Path) -> None:
    make("d/a.jsonl", "d/clean/kept/a.jsonl", "d/clean.work/b.jsonl", "d/cleaner/c.jsonl")
    os.symlink("clean/kept", "d/shortcut")
    os.symlink("clean/kept/a.jsonl", "d/z.jsonl")
    expected = ["a.jsonl", "cleaner/c.jsonl"]
    for inputs in (["d"], ["d/"], ["d/*"], ["d/**/*.jsonl"], ["d/**"]):
        assert names(*inputs, out=Path("d/clean")) == expected, inputs
    assert "clean/kept/a.jsonl" in names("d", out=Path("d/other"))
    make("d/pairs.parquet")
    assert "pairs.parquet" not in names("d", out=Path("d/pairs.parquet"))


def test_an_input_that_is_the_output_is_refused_and_left_alone(here: Path) -> None:
    make("corpus.jsonl", "d/a.jsonl", "clean/kept/a.jsonl")
    os.symlink("corpus.jsonl", "soft.jsonl")
    os.link("corpus.jsonl", "hard.jsonl")
    for given in ("corpus.jsonl", "./corpus.jsonl", "d/../corpus.jsonl", "soft.jsonl", "hard.jsonl"):
        for out in ("corpus.jsonl", "soft.jsonl", "hard.jsonl", here / "corpus.jsonl"):
            with pytest.raises(UsageError, match="this input is the output"):
                resolve([given], out=Path(out))
    for given, out in (("d", "d"), ("d", "./d/"), ("clean/kept/a.jsonl", "clean"), ("clean/kept", "clean")):
        with pytest.raises(UsageError, match="-o"):
            resolve([given], out=Path(out))
    with pytest.raises(UsageError, match="lie in the output"):
        resolve(["clean/kept/*.jsonl"], out=Path("clean"))
    assert Path("corpus.jsonl").read_bytes() == LINE


# ------------------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("corpsu.jsonl", r"corpsu\.jsonl: no such file or folder; did you mean corpus\.jsonl\?"),
        ("d/aa.jsonl", r"did you mean d/a\.jsonl\?"),
        ("nothing-like-it", "no such file or folder$"),
        ("unlike.jsonl", "no such file or folder$"),
        ("no/where/a.jsonl", "the folder no/where does not exist"),
        ("corpus.jsonl/x", "."),
        ("*.parquet", r"\*\.parquet: no file matches this pattern"),
        ("p/**/*.png", "no data file among the 1"),
        ("broken", "is a link to nowhere, which does not exist"),
        ("empty", "empty: no data file in this folder; likewise reads .jsonl"),
        ("p", r"p: no data file in this folder, but 1 image; by='image' compares images"),
        ("abfs://bucket/x.jsonl", "this kind of address cannot be read; likewise reads s3://"),
        ("pipe", "for a pipe, use standard input"),
        ("a.txt.gz", "decompress this file first"),
        ("p/a.png", "p/a.png: is an image; by='image' compares images"),
        ("odd.bin", "neither the name nor the first bytes"),
        ("-", "standard input"),
    ],
)
def test_what_cannot_be_meant_is_said(here: Path, given: str, says: str) -> None:
    make("corpus.jsonl", "d/a.jsonl")
    make("p/a.png", content=b"\x89PNG\0\xff\xff")
    make("odd.bin", content=b"\x89GNP\0\xff\xff")
    make("a.txt.gz", content=gzip.compress(b"some words"))
    os.symlink("nowhere", "broken")
    Path("empty").mkdir()
    os.mkfifo("pipe")
    with pytest.raises(UsageError, match=says) as caught:
        resolve([given])
    assert str(caught.value).startswith((given, "standard input"))


def test_no_input_at_all() -> None:
    with pytest.raises(UsageError, match="no input"):
        resolve([])


# ------------------------------------------------------------------------------------------------------------ formats


def test_formats_by_name(here: Path) -> None:
    for suffix, kind in {
        "jsonl": "jsonl", "ndjson": "jsonl", "JSONL": "jsonl", "csv": "csv", "tsv": "csv", "parquet": "parquet", "arrow": "arrow", "feather": "arrow",
        "txt": "text", "md": "text", "rst": "text", "html": "text", "py": "text", "c": "text",
        "jsonl.gz": "jsonl", "ndjson.zst": "jsonl", "csv.bz2": "csv", "tsv.xz": "csv", "json.GZ": "jsonl",
        "jsonl.bak": None, "gz": None, "parquet.gz": None, "txt.zst": None, "": None,
    }.items():  # fmt: skip
        make(f"x.{suffix}", content=b"")
        assert formats.by_name(Path(f"x.{suffix}")) == kind, suffix
    assert formats.by_name(Path("jsonl")) is None


def test_a_json_file_is_an_array_or_lines(here: Path) -> None:
    for content, kind in {b" \n[{}]": "json_array", b"\xef\xbb\xbf[": "json_array", LINE: "jsonl", b"": "jsonl"}.items():
        make("a.json", content=content)
        assert formats.by_name(Path("a.json")) == kind
    make("c4.json.gz", content=gzip.compress(LINE))
    assert formats.by_name(Path("c4.json.gz")) == "jsonl"
    make("c4.json.gz", content=gzip.compress(b"[]"))
    assert formats.by_name(Path("c4.json.gz")) == "json_array"


def test_formats_by_content(here: Path) -> None:
    table = pa.table({"text": ["x"]})
    pq.write_table(table, "p")
    with ipc.new_file("f", table.schema) as writer:
        writer.write_table(table)
    with ipc.new_stream("s", table.schema) as writer:
        writer.write_table(table)
    zstd = pa.Codec("zstd").compress(LINE, asbytes=True)
    contents = {
        LINE: "jsonl", b"  [1]": "json_array", b"": "jsonl", b"\xef\xbb\xbf{}": "jsonl", b"plain text": "text", "日本語".encode() * 30_000: "text",
        Path("p").read_bytes(): "parquet", Path("f").read_bytes(): "arrow", Path("s").read_bytes(): "arrow",
        gzip.compress(LINE): "jsonl", bz2.compress(LINE): "jsonl", lzma.compress(b"[]"): "json_array", zstd: "jsonl",
        gzip.compress(b"words"): None,
        b"id;text\n1;a\n": "csv", b"id,text": "text", gzip.compress(b"a\ttext\n"): "csv", b"\x93NUMPY": "npy",
        b"a\0b": None, b"caf\xe9 au lait": None,
    }  # fmt: skip
    for content, kind in contents.items():
        make("x", content=content)
        assert formats.by_content(Path("x"), Want()) == kind, content[:20]


def test_every_format_offers_the_three_functions() -> None:
    for name in (*formats.FORMATS, "memory"):
        module = formats.load(name)
        assert callable(module.chunks)
        assert callable(module.parse)
        assert callable(module.write)


def test_files_of_one_corpus_may_differ_in_everything(here: Path) -> None:
    """Ids that are numbers here and strings there; a text that is null, absent, a number, a list."""
    make("a.jsonl", content=b'{"id": 1, "text": "one"}\n{"id": 2, "text": null}\n')
    make("b.jsonl", content=b'{"extra": 0, "text": "two", "id": "1"}\n{"id": "b"}\n')
    pq.write_table(pa.table({"id": [3, 4], "text": [["no"], None]}), "c.parquet")
    make("d.md", content=b"three")
    got = []
    for source in resolve(["a.jsonl", "b.jsonl", "c.parquet", "d.md"]):
        for chunk in source.format.chunks(source.path, Want()):
            records = source.format.parse(chunk, Want(), source.name)
            got += zip(records.id.to_pylist(), records.kind.tolist(), records.text.to_pylist(), strict=True)
    assert got == [
        (b"1", TEXT, b"one"),
        (b"2", NO_TEXT, b""),
        (b'"1"', TEXT, b"two"),
        (b'"b"', NO_TEXT, b""),
        (b"3", NO_TEXT, b""),
        (b"4", NO_TEXT, b""),
        (b'"d.md"', TEXT, b"three"),
    ]


# --------------------------------------------------------------------------------------------------- sources as such


def test_all_text_files_are_one_source_where_the_first_stands(here: Path) -> None:
    make("d/a.jsonl", "d/b.md", "d/c.csv", "d/sub/a.txt", "other/z.txt")
    found = resolve(["d", "other/z.txt"])
    assert [source.name for source in found] == ["d/a.jsonl", TEXT_FILES, "d/c.csv"]
    texts = found[1]
    assert texts.path.names == ("d/b.md", "d/sub/a.txt", "other/z.txt")
    assert texts.size == 3 * len(LINE)
    assert list(texts.fingerprint()) == ["d/b.md", "d/sub/a.txt", "other/z.txt"]
    assert texts.target(Path("out/kept")) == Path("out/kept")
    assert found[0].target(Path("out/kept")) == Path("out/kept/d/a.jsonl")


def test_a_fingerprint_changes_with_the_file(here: Path) -> None:
    make("a.jsonl")
    (source,) = resolve(["a.jsonl"])
    before = source.fingerprint()
    assert before == {"a.jsonl": {"size": len(LINE), "mtime_ns": os.stat("a.jsonl").st_mtime_ns}}
    os.utime("a.jsonl", ns=(1, 1))
    assert source.fingerprint() != before
    os.unlink("a.jsonl")
    with pytest.raises(DataError, match=r"a\.jsonl"):
        source.fingerprint()


def test_standard_input_is_spooled_and_recognized_by_content(here: Path, monkeypatch) -> None:
    def pipe(content: bytes) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))

    for number, (content, kind) in enumerate(
        [(LINE, "jsonl"), (b"[]", "json_array"), (gzip.compress(LINE), "jsonl"), (b"words", "text"), (b"", "jsonl"), (b"n,text\n1,a\n", "csv")]
    ):
        pipe(content)
        spool = here / f"work-{number}" / "stdin"
        (source,) = resolve(["-", "-"], work=spool.parent)
        assert format_of(source) == kind
        assert spool.read_bytes() == content
        assert [path.name for path in spool.parent.iterdir()] == ["stdin"]
    (here / "work-0" / "work.json").write_text(json.dumps({"format": "likewise/work", "version": 1, "made": True}))
    (here / "work-0" / "description.json").write_text("{}")  # an interrupted run goes on
    pipe(b"not read again")
    (source,) = resolve(["-"], work=here / "work-0")
    assert source.name == "stdin"
    assert source.path.read_bytes() == LINE
    pipe(b"\x00\xff")
    with pytest.raises(UsageError, match="standard input: the first bytes do not identify the format"):
        resolve(["-"], work=here / "other")


def test_names_are_never_equal(here: Path, monkeypatch) -> None:
    make("stdin", "memory.arrow")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(LINE)))
    found = names("stdin", "-", ["a"], "memory.arrow", ["b"], work=here / "w")
    assert found == ["stdin", "stdin-2", "memory-2.arrow", "memory.arrow", "memory-3.arrow"]


def test_python_data_is_a_source(here: Path) -> None:
    (source,) = resolve([["a b", "c d"]])
    assert source.name == "memory.arrow"
    assert source.path.to_pydict() == {"text": ["a b", "c d"]}
    assert source.size > 0
    (chunk,) = source.format.chunks(source.path, Want())
    assert source.format.parse(chunk, Want(), source.name).text.to_pylist() == [b"a b", b"c d"]
    same = pa.chunked_array([["never", "a b"], ["c d"]]).slice(1)
    assert source.fingerprint() == resolve([pa.table({"text": same})])[0].fingerprint()
    assert source.fingerprint() != resolve([["a b", "c e"]])[0].fingerprint()
    with pytest.raises(UsageError, match="int 5"):
        resolve([5])


def test_what_an_earlier_run_wrote_is_no_input(here: Path) -> None:
    make("d/a.jsonl", "d/out/kept/a.jsonl", "d/out/report.json")
    (here / "d/out/manifest.json").write_text('{\n "format": "likewise/output",\n "version": 1\n}')
    found = resolve(["d"])
    assert [source.name for source in found] == ["a.jsonl"]
    assert found.skipped == [Path("d/out")]
    assert names("d/out/kept") == ["a.jsonl"]
    with pytest.raises(UsageError, match=r"is an output folder of likewise; its records are in d/out/kept"):
        resolve(["d/out"])


@pytest.mark.parametrize(
    ("manifest", "output"),
    [
        ('{"format":"likewise/output"}', True),
        (" " * 300 + '{"version": 1, "format": "likewise/output"}', True),
        ('{"name": "an app that reads", "data": "likewise/output"}', False),
        ('["likewise/output"]', False),
        ('"likewise/output', False),
    ],
)
def test_an_output_is_recognized_by_the_format_that_its_manifest_names(here: Path, manifest: str, output: bool) -> None:
    """By one rule, also where an output would be replaced: `manifest.check_output`."""
    make("d/a.jsonl", "d/out/b.jsonl")
    (here / "d/out/manifest.json").write_text(manifest)
    assert ("out/b.jsonl" in [source.name for source in resolve(["d"], want=Want())]) is not output
    with pytest.raises(UsageError, match="was changed after likewise wrote it" if output else "was not written by likewise"):
        check_output(here / "d/out", here / "d/out")


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({}, "no data file in this folder; likewise reads"),
        ({".hidden.jsonl": b"{}", "inside/.hidden": b""}, "no data file in this folder; likewise reads"),
        ({"a.bin": b"\0\1", "inside/b.pdf": b"%PDF"}, "no data file in this folder, only others (2, such as a.bin)"),
    ],
)
def test_folders_with_nothing_in_them(tmp_path: Path, files: dict[str, bytes], says: str) -> None:
    (tmp_path / "in/inside").mkdir(parents=True)
    for name, data in files.items():
        (tmp_path / "in" / name).write_bytes(data)
    for on_error in ("fail", "skip"):
        with pytest.raises(UsageError, match=re.escape(says)):
            lw.dedup(tmp_path / "in", out=tmp_path / "out", on_error=on_error)
    assert list(tmp_path.iterdir()) == [tmp_path / "in"]
