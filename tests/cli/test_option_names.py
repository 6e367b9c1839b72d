"""Messages name options as their reader writes them: arguments in Python, flags on the command line, bare names in files."""

from __future__ import annotations

import ast
import json
import pickle
import re
from pathlib import Path

import pytest

import likewise as lw
from command_line import run
from likewise.cli.flags import FLAGS
from likewise.messages import BEGIN, END, NEXT, Message, either, in_document, in_python, marked, on_command_line, option, options_in, verb

SOURCE = Path(lw.__file__).parent
MARKS = re.compile(f"[{BEGIN}{NEXT}{END}]")


@pytest.mark.parametrize(
    ("piece", "python", "command_line", "document"),
    [
        (option("threshold", 1.5), "threshold=1.5", "--threshold 1.5", "threshold 1.5"),
        (option("threshold", "4/5"), "threshold='4/5'", "--threshold 4/5", "threshold 4/5"),
        (option("within", placeholder="D"), "within=D", "--within D", "within D"),
        (option("max_record"), "max_record=", "--max-record", "max_record"),
        (option("exact"), "exact=True", "--exact", "exact"),
        (option("removed_records", True), "removed_records=True", "--removed-records", "removed_records"),
        (option("exact", False), "exact=False", "--exact False", "exact False"),
        (option("k", 0), "k=0", "-k 0", "k 0"),
        (option("out", Path("a b")), "out='a b'", "-o 'a b'", "out a b"),
        (option("inputs", ""), "inputs=''", "INPUT ''", "inputs "),
        (option("field", ["a@*.csv", "b"]), "field=['a@*.csv', 'b']", "--field 'a@*.csv' --field b", "field a@*.csv, b"),
        (option("prefer", []), "prefer=[]", "--prefer []", "prefer []"),
        (option("seed", "x" * 70), f"seed='{'x' * 56}...", f"--seed {'x' * 57}...", f"seed {'x' * 57}..."),
        (verb("audit"), "lw.audit", "likewise audit", "likewise audit"),
        (either("a mapping", "a file"), "a mapping", "a file", "a file"),
    ],
)
def test_each_reader_has_a_form(piece: str, python: str, command_line: str, document: str) -> None:
    message = f"give {piece}; or not"
    assert in_python(message) == f"give {python}; or not"
    assert on_command_line(message) == f"give {command_line}; or not"
    assert in_document(message) == f"give {document}; or not"


KINDS = (lw.UsageError, lw.DataError, lw.FormatError, lw.MissingPartError)


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_speaks_python_and_keeps_the_other_forms(kind: type[lw.LikewiseError]) -> None:
    error = kind(f"{option('recall', 2)}: give less, and leave out {option('exact')}")
    for same in (error, pickle.loads(pickle.dumps(error))):
        assert str(same) == "recall=2: give less, and leave out exact=True" and same.args == (str(same),)
        assert repr(same) == f"{kind.__name__}('recall=2: give less, and leave out exact=True')"
        assert on_command_line(same) == "--recall 2: give less, and leave out --exact"
        assert options_in(same) == ["recall", "exact"]
    quoting = lw.DataError(f"x.jsonl: {error.marked}")
    assert on_command_line(quoting) == "x.jsonl: --recall 2: give less, and leave out --exact"


def test_a_warning_is_a_text_in_python_that_keeps_the_other_forms() -> None:
    said = Message(f"raise {option('memory')}")
    for same in (said, pickle.loads(pickle.dumps(said)), Message(said)):
        assert same == "raise memory=" and on_command_line(same) == "raise --memory" and marked(same) == said.marked


def test_marks_in_the_text_of_an_input_do_no_harm() -> None:
    for text in (BEGIN, END + NEXT, f"{BEGIN}a{NEXT}b{END}", f"a{BEGIN}b{NEXT}c"):
        assert "x.jsonl" in in_python(f"{text}x.jsonl{text}")
    assert in_python(f"a{BEGIN}b{END}c{END}d: {option('exact')}") == f"a{BEGIN}b{END}c{END}d: exact=True"  # as in the name of a file
    assert in_python(option("field", f"a{BEGIN}b{END}c")) == r"field='a\ufdd0b\ufdd2c'"
    assert on_command_line(option("field", f"a{BEGIN}b{END}c")) == "--field 'a?b?c'"


def test_no_message_outside_of_the_command_line_has_a_flag() -> None:
    names = {name.removeprefix("--") for flag in FLAGS.values() for name in flag.names.split() if name.startswith("--")}
    flag = re.compile(rf"(?<![\w-])(?<!var\()(?<!likewise doctor )--({'|'.join(sorted(names))})\b|(?<![\w-])-[ok] [A-Z{{]")
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        if (where := path.relative_to(SOURCE)).parts[0] == "cli":
            continue
        tree = ast.parse(path.read_text())
        documentation = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and node.body and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation and flag.search(node.value):
                found.append(f"{where}:{node.lineno}: {node.value!r}")
    assert not found, "\n".join(found)


def test_a_warning_of_a_run_reaches_each_reader_in_its_words() -> None:
    class Heard(lw.Progress):
        def warn(self, message: str) -> None:
            super().warn(message)
            heard.append(message)

    heard: list[str] = []
    found = lw.dedup(["a b c d e f", "g h i j k l"], bands=9, rows=13, recall=0.9, progress=Heard())
    assert [said for said in heard if "recall=0.9 has no effect" in said] == heard[:1] and not MARKS.search("".join(heard))
    assert found.report["warnings"] == [in_document(said) for said in heard] and "recall 0.9 has no effect" in found.report["warnings"][0]


def test_outputs_are_the_same_from_python_and_from_the_command_line(tmp_path: Path) -> None:
    """With warnings that name options: a layout that ignores the recall, short texts; and a rejected record."""
    lines = [json.dumps({"id": number, "text": f"a b {number}"}) for number in range(9)]
    (tmp_path / "docs.jsonl").write_text("\n".join([*lines, "{"]) + "\n")
    result = lw.dedup(tmp_path / "docs.jsonl", out=tmp_path / "python", bands=9, rows=13, recall=0.9, on_error="skip", max_record="1M")
    flags = ["--bands", "9", "--rows", "13", "--recall", "0.9", "--on-error", "skip", "--max-record", "1M"]
    done = run("dedup", tmp_path / "docs.jsonl", "-o", tmp_path / "shell", *flags)
    assert "recall 0.9 has no effect" in result.report["warnings"][0] and "--recall 0.9 has no effect" in done.stderr
    assert not MARKS.search(done.stderr + done.stdout + str(result.report))
    for name in ("report.json", "rejected.jsonl"):
        text = (tmp_path / "python" / name).read_text()
        assert text == (tmp_path / "shell" / name).read_text() and not MARKS.search(text) and "\\ufdd" not in text
    for path in (tmp_path / "shell").rglob("*"):
        assert path.is_dir() or BEGIN.encode() not in path.read_bytes(), path
