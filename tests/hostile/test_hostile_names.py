"""Names and links that lead elsewhere, or that are made to be taken for words of ours."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import likewise as lw
from command_line import run
from likewise.cli.screen import Screen, in_line
from likewise.io import patterns
from likewise.io.inputs import resolve

LINE = '{"id": %d, "text": "one two three four five six %s"}\n'

pytestmark = pytest.mark.usefixtures("folder")


def test_names_never_lead_out_of_the_output(folder):
    """A pattern with .. in it leads to folders beside its own; so does a link before the dots."""
    deep, away = folder / "real/deep", folder / "else/where"
    for place in (deep / "sub", away):
        place.mkdir(parents=True)
    for number, path in enumerate((deep / "x.jsonl", folder / "else/x.jsonl")):
        path.write_text(LINE % (number, f"{number} " * 9))
    (folder / "link").symlink_to(deep)
    (deep / "away").symlink_to(away)
    for inputs in ([folder / "link" / "*" / ".." / "x.jsonl"], [deep / "away" / ".." / "x.jsonl", deep / "x.jsonl"], ["real/deep/*/../x.jsonl"]):
        lw.dedup([Path(given) for given in inputs], out="out", overwrite=True, threshold=1)
        kept = sorted(path.relative_to("out").as_posix() for path in Path("out").rglob("*.jsonl"))
        assert kept == ["kept/else/x.jsonl", "kept/real/deep/x.jsonl", "rejected.jsonl"]
    assert sorted(path.name for path in folder.iterdir()) == ["else", "link", "out", "real"]


def test_links_in_circles_and_many_ways_to_one_folder_end(folder):
    """Two links to the folder that they are in make 2^40 paths; 30 folders with two links each to the next make 2^30."""
    circle = folder / "circle"
    circle.mkdir()
    (circle / "x.jsonl").write_text(LINE % (1, "x"))
    for name, to in (("one", "."), ("two", "."), ("self", "self"), ("gone", "nowhere")):
        (circle / name).symlink_to(to)
    os.link(circle / "x.jsonl", circle / "y.jsonl")  # one file, and read once
    chain = folder / "chain"
    for number in range(30):
        (chain / f"d{number}").mkdir(parents=True)
        if number < 29:
            for name in "ab":
                (chain / f"d{number}" / name).symlink_to(f"../d{number + 1}")
    (chain / "d29/x.jsonl").write_text(LINE % (2, "y"))
    for given in ("circle", "circle/**/*.jsonl", "circle/**", "**/circle/*.jsonl"):
        assert [source.name.rpartition("/")[2] for source in resolve([given])] == ["x.jsonl"], given
    for given in ("chain/d0", "chain/d0/**/*.jsonl"):
        assert len(resolve([given])) == 1
    with deep_folders(folder / "deep") as deep:
        (deep / "d/d/x.jsonl").write_text(LINE % (3, "z"))
        try:
            assert len(resolve(["deep"])) == len(resolve(["deep/**/x.jsonl"])) == 1
            assert patterns.expanded(Path("deep/d/d/*.jsonl")) == [Path("deep/d/d/x.jsonl")]
        finally:
            (deep / "d/d/x.jsonl").unlink()


@contextmanager
def deep_folders(deep: Path) -> Iterator[Path]:
    """1,200 folders in each other, which shutil cannot remove in some versions of Python."""
    place = deep
    for _ in range(1200):
        place.mkdir()
        place = place / "d"
    try:
        yield deep
    finally:
        while place != deep:
            place = place.parent
            place.rmdir()


NAMES = [
    "a\x1b]0;owned\x07\x1b[31m.jsonl",
    "b\nlikewise: error: fake.jsonl",
    "--resume.jsonl",
    "-.jsonl",
    " .jsonl",
    "\u202egnp.jsonl",
    "c'$(touch ran)\\.jsonl",
    "%s{0}.jsonl",
]


def test_names_are_spelled_out_where_they_are_shown_and_kept_where_they_are_written(folder):
    Path("in").mkdir()
    for number, name in enumerate(NAMES):
        Path("in", name).write_text(LINE % (number, number) + LINE % (-1, "same"))
    shown = [
        run("dedup", "in", "-o", "out"),
        run("dedup", "in", "--dry-run"),
        run("dedup", "in", "-o", "o2", "--prefer", "\x1b[31m*"),
        run("dedup", "in", "-o", "o3", "--field", "none\x1b[31m"),
        run("show", "out", "nothing\x1b[2J"),
        run("show", "out", "-1"),
        run("pairs", "in\x1b[31m"),
        run("\x1b[31mverb"),
        run("pairs", "in", "--by", "\x1b[31m"),
        run("audit", "out"),
    ]
    for result in shown:
        assert "bug in likewise" not in result.output
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", result.output)
        assert not re.search("^likewise: error: fake", result.output, re.MULTILINE)
    assert sorted(path.name for path in Path("out/kept").iterdir()) == sorted(NAMES)
    assert not Path("ran").exists()
    sources = {source["source"] for source in json.loads(Path("out/report.json").read_text())["sources"]}
    assert sources == set(NAMES)  # data say what is


def test_messages_cannot_be_made_by_data(capsys):
    screen = Screen(color="always")
    screen.warn("x\nlikewise: error: no\x1b[2J\u2028")
    screen.rows([("name", "a\nb\x9b31m")])
    screen.document({"id": "\x9b31m\u202e\u2028</script>"})
    said = capsys.readouterr()
    assert said.err.count("\n") == 2 and "\\x1b[2J\\u2028" in said.err and "a\\nb\\x9b31m" in said.err
    assert not re.search("[\x80-\x9f\u202e\u2028]", said.out) and json.loads(said.out) == {"id": "\x9b31m\u202e\u2028</script>"}
    assert in_line("a\tb\r\n") == "a\tb\\r\\n"


def test_standard_input_beside_a_folder_of_its_name():
    Path("stdin").mkdir()
    Path("stdin/x.jsonl").write_text(LINE % (1, "x y z"))
    Path("b.jsonl").write_text(LINE % (2, "p q r"))
    result = run("dedup", "-", "stdin/x.jsonl", "b.jsonl", "-o", "out", "--threshold", 1, input=LINE % (3, "u v w"))
    assert result.exit_code == 0, result.output
    kept = sorted(path.relative_to("out/kept").as_posix() for path in Path("out/kept").rglob("*") if path.is_file())
    assert kept == ["b.jsonl", "stdin-2", "stdin/x.jsonl"]
