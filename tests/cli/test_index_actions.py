"""likewise index: its actions on records from files and from standard input, what they print, and what they refuse."""

from __future__ import annotations

import gzip
import json
import shlex
import subprocess
import sys
from inspect import signature
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow.parquet as pq
import pytest

import likewise as lw
from command_line import process, refused, run
from json_schema import faults
from likewise.cli import index
from likewise.cli.flag_options import FlagOption
from likewise.cli.flags import FLAGS
from likewise.records import Want
from likewise.runs import incoming

pytestmark = pytest.mark.usefixtures("folder")

#: Flags of messages and settings.
TALK = {"json", "quiet", "verbose", "color", "progress", "config"}
#: a and b share 4 of 5 shingles of two words, a and c all of them, a and d none.
TEXTS = {"a": "one two three four five", "b": "one two three four five six", "c": "One, two, three, four: five!", "d": "something else entirely"}
BY = ("--by", "words:2")


def lines(*names: str, **more: Any) -> str:
    return "".join(json.dumps({"id": name, "text": TEXTS.get(name, name), **more}) + "\n" for name in names)


def rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def ids(path: str = "seen.lw") -> list[Any]:
    with lw.Index.open(path, read_only=True) as ix:
        return list(ix.ids())


@pytest.fixture
def seen() -> str:
    """An index of a and d."""
    Path("first.jsonl").write_text(lines("a", "d"))
    done = run("index", "build", "seen.lw", "first.jsonl", *BY)
    assert done.exit_code == 0 and done.stdout == "" and "seen.lw: 2 read, 2 added; 2 items in the index" in done.stderr
    return "seen.lw"


@pytest.mark.parametrize("name", index.command.actions)
def test_help_of_an_action_begins_with_its_purpose_and_two_examples(name: str) -> None:
    action = index.command.actions[name]
    assert action.purpose in run("index", "--help").stdout
    for words in ((name, "-h"), (name, "--help-all")):
        done = run("index", *words)
        assert done.exit_code == 0 and done.stderr == ""
        purpose, gap, first, second, rest = done.stdout.splitlines()[:5]
        assert (purpose, gap, rest) == (action.purpose, "", "")
        assert all(line.startswith(f"  likewise index {name} ") for line in (first, second))
        assert f"Usage: likewise index {name} " in done.stdout
        assert len(done.stdout.splitlines()) <= 34 or words[1] == "--help-all"
    for example in action.examples:
        typed = shlex.split(example.replace("$(date +%F)", "today").partition(" < ")[0])
        assert typed[:2] == ["index", name]
        action.make_context(name, typed[2:])


@pytest.mark.parametrize("name", ["create", "build"])
def test_actions_that_make_an_index_take_the_options_of_python(name: str) -> None:
    flags = {str(one.name) for one in index.command.actions[name].params if isinstance(one, FlagOption)} - TALK
    method = signature(getattr(lw.Index, name)).parameters
    assert flags == set(method) - {"where", "inputs", "progress", "durability"}, "no flag for durability: the index is closed at once"
    assert {name for one in index.command.actions.values() for name in (flag.name for flag in one.params)} - FLAGS.keys() == {
        *("path", "inputs", "ids", "other", "folder")
    }


def test_an_action_is_named_or_refused() -> None:
    assert "an action is missing; valid actions: create, build, add" in refused("index")
    assert refused("index", "ad") == "likewise: error: unknown action 'ad'; did you mean add?"
    done = run("index", "query", "seen.lw")
    assert done.exit_code == 2
    assert "INPUT is missing\n  Usage: likewise index query PATH INPUT... [-k K] [-o FILE] [FLAGS]\n  see likewise index query --help" in done.stderr


def test_create_and_add(folder: Path) -> None:
    done = run("index", "create", "new.lw", *BY, "--json")
    assert json.loads(done.stdout)["items"] == 0
    Path("one.jsonl").write_text(lines("a"))
    Path("two.csv").write_text("id,text\n7,some other text\n")
    Path("three.jsonl.gz").write_bytes(gzip.compress(lines("d").encode()))
    done = run("index", "add", "new.lw", "one.jsonl", "two.csv", "three.jsonl.gz")
    assert done.exit_code == 0 and "3 read, 3 added" in done.stderr
    assert ids("new.lw") == ["a", "7", "d"]
    assert refused("index", "create", "new.lw").endswith("the index already exists; likewise index add adds to it, and --overwrite replaces it")
    assert run("index", "create", "new.lw", "--overwrite").exit_code == 0
    assert ids("new.lw") == []


def test_a_query_lists_similar_items(seen: str) -> None:
    Path("new.jsonl").write_text(lines("b", "other words", "c"))
    want = [{"query": "b", "id": "a", "similarity": 0.8}, {"query": "c", "id": "a", "similarity": 1.0}]
    done = run("index", "query", seen, "new.jsonl")
    assert rows(done.stdout) == want
    assert "2 similar items found for 2 of 3 records" in done.stderr
    assert rows(run("index", "query", seen, "-", input=lines("b", "other words", "c")).stdout) == want
    assert rows(run("index", "query", seen, "new.jsonl", "--threshold", "0.9").stdout) == want[1:]
    assert run("index", "query", seen, "new.jsonl", "--exit-code").exit_code == 1
    assert run("index", "query", seen, "-", "--exit-code", input=lines("other words")).exit_code == 0
    assert run("index", "query", seen, "new.jsonl", "-o", "found.parquet").stdout == ""
    assert pq.read_table("found.parquet").to_pylist() == want
    assert "the file exists" in refused("index", "query", seen, "new.jsonl", "-o", "found.parquet")
    assert "only 22.3%" in refused("index", "query", seen, "new.jsonl", "--threshold", "0.5")
    assert "warning: --threshold 0.5" in run("index", "query", seen, "new.jsonl", "--threshold", "0.5", "--force").stderr


def test_add_new_says_what_was_added_and_what_others_repeat(seen: str) -> None:
    given = lines("b", "k l m n", "K l m n!")
    done = run("index", "add-new", seen, "-", input=given)
    assert rows(done.stdout) == [
        {"query": "b", "added": False, "id": "a", "similarity": 0.8},
        {"query": "k l m n", "added": True, "id": "k l m n", "similarity": None},
        {"query": "K l m n!", "added": False, "id": "k l m n", "similarity": 1.0},
    ]
    assert "1 added, 2 not new; 3 records read" in done.stderr
    assert run("index", "add-new", seen, "-", "--exit-code", input=given).exit_code == 1
    assert ids() == ["a", "d", "k l m n"]


def test_ids_that_are_taken_name_the_record(seen: str) -> None:
    more = lines("x") + lines("a", text="quite different words here")
    said = refused("index", "add", seen, "-", input=more)
    assert said.startswith("likewise: error: stdin, item 2: its id 'a' is already in the index; --existing skip leaves such records out, --existing")
    assert said.endswith("nothing was written")
    assert ids() == ["a", "d"]
    assert "1 added, 1 skipped" in run("index", "add", seen, "-", "--existing", "skip", input=more).stderr
    assert ids() == ["a", "d", "x"]
    assert "2 added" in run("index", "add", seen, "-", "--existing", "replace", input=more).stderr
    assert rows(run("index", "query", seen, "-", input=lines(TEXTS["a"])).stdout) == []
    assert "item 2: its id 'y' is that of item 1 too" in refused("index", "add", seen, "-", input=lines("y", "y"))
    assert "choose refuse or skip; likewise index update" in refused("index", "add-new", seen, "-", "--existing", "replace", input=more)


def test_add_new_of_ids_that_are_taken(seen: str) -> None:
    more = lines("a", text="quite different words here") + lines("e f g h") + lines("e f g h", text="words of another kind") + lines("i j k l")
    assert "stdin, item 1: its id 'a' is already in the index" in refused("index", "add-new", seen, "-", input=more)
    done = run("index", "add-new", seen, "-", "--existing", "skip", input=more)
    assert [(row["query"], row["added"], row["id"]) for row in rows(done.stdout)] == [
        *(("a", False, "a"), ("e f g h", True, "e f g h"), ("e f g h", False, "e f g h"), ("i j k l", True, "i j k l"))
    ]
    assert ids() == ["a", "d", "e f g h", "i j k l"]


def test_update(seen: str) -> None:
    said = refused("index", "update", seen, "-", input=lines("a", "x"))
    assert said == "likewise: error: stdin, item 2: its id 'x' is not in the index; likewise index add adds it; nothing was written"
    done = run("index", "update", seen, "-", input=lines("a", text="quite different words here"))
    assert done.exit_code == 0 and "1 read, 1 replaced; " in done.stderr
    assert rows(run("index", "query", seen, "-", input=lines(TEXTS["a"])).stdout) == []
    assert sorted(ids()) == ["a", "d"]


def test_remove_by_ids_and_by_records(seen: str) -> None:
    run("index", "add", seen, "-", input="".join(json.dumps({"id": number, "text": f"text number {number} of some"}) + "\n" for number in range(5)))
    assert "2 removed; 5 items" in run("index", "remove", seen, "a", "3", "missing").stderr
    assert ids() == ["d", 0, 1, 2, 4]
    assert "error: the id 'zz' is not in the index" in refused("index", "remove", seen, "zz", "--missing", "refuse")
    Path("gone.jsonl").write_text('{"name": 1}\n{"name": 2, "text": "ignored"}\n')
    assert "2 read, 2 removed" in run("index", "remove", seen, "--ids-from", "gone.jsonl", "--id", "name").stderr
    assert "1 read, 1 removed" in run("index", "remove", seen, "--ids-from", "-", input='{"id": 4}\n').stderr
    assert ids() == ["d", 0]
    assert "item 1: this record has no id; name its field with --id F" in refused("index", "remove", seen, "--ids-from", "-", input='{"name": 4}\n')
    run("index", "add", seen, "-", input=json.dumps({"id": "0", "text": "the text of zero"}))
    assert "0: the number is the id of one item, and the text that of another" in refused("index", "remove", seen, "0")
    assert "name the items to remove" in refused("index", "remove", seen)


def test_records_without_ids(seen: str) -> None:
    Path("plain.jsonl").write_text('{"text": "a b c d"}\n{"text": "e f g h"}\n')
    assert run("index", "add", seen, "plain.jsonl").exit_code == 0
    assert ids() == ["a", "d", "plain.jsonl:0", "plain.jsonl:1"]
    assert "its id 'plain.jsonl:0' is already in the index" in refused("index", "add", seen, "plain.jsonl")
    for _ in range(2):
        assert run("index", "add", seen, "-", input='{"text": "i j k l"}\n').exit_code == 0
    assert ids()[4:] == [4, 5], "records of a pipe get numbers that no item has"
    assert [row["query"] for row in rows(run("index", "query", seen, "-", input='{"text": "z"}\n{"text": "a b c d"}\n').stdout)] == [1]
    assert "no row has an id in the field 'url' in plain.jsonl" in refused("index", "add", seen, "plain.jsonl", "--id", "url")
    mixed = '{"text": "m n o p"}\n' + lines("q r s t")
    assert "stdin, item 1: this record has no id, but others have one" in refused("index", "add", seen, "-", input=mixed)


def test_records_that_cannot_be_read(seen: str) -> None:
    broken = lines("k l m n") + '{"id": "bad", "text": \n' + lines("o p q r")
    Path("broken.jsonl").write_text(broken)
    for words, more in ((("broken.jsonl",), {}), (("-",), {"input": broken})):
        said = refused("index", "add", seen, *words, **more)
        assert "line 2, column" in said and "--on-error skip omits such rows and continues" in said
    done = run("index", "add-new", seen, "-", "--on-error", "skip", input=broken)
    assert [row["query"] for row in rows(done.stdout)] == ["k l m n", "o p q r"]
    assert "warning: rejected stdin, line 2, column" in done.stderr and "2 added, 0 not new, 1 rejected" in done.stderr
    assert "the field 'text'" in refused("index", "add", seen, "-", input='{"id": 1, "body": "x"}\n')
    assert "--max-record" in refused("index", "add", seen, "-", "--max-record", "40", input=lines("a b c " * 20))


@pytest.mark.parametrize("text", ['[{"id": 1, "text": "k l m n"}]', '{\n "id": 1,\n "text": "k l m n"\n}\n', "id,text\n7,k l m n\n", ""])
def test_other_formats_on_standard_input(seen: str, text: str) -> None:
    done = run("index", "add", seen, "-", input=text)
    assert done.exit_code == 0, done.stderr
    assert ids() == ["a", "d", *(["7"] if text.startswith("id") else [1] if text else [])]


def test_a_limit(seen: str) -> None:
    Path("many.jsonl").write_text(lines(*(f"words of text {number}" for number in range(9))))
    assert "4 read, 4 added" in run("index", "add", seen, "many.jsonl", "--limit", "4").stderr
    assert len(rows(run("index", "add-new", seen, "-", "--limit", "6", input=Path("many.jsonl").read_text()).stdout)) == 6
    assert len(ids()) == 8


def test_a_pipe_is_answered_line_by_line(seen: str) -> None:
    """Each answer comes before the next record is given."""
    command = [sys.executable, "-P", "-m", "likewise", "index", "add-new", seen, "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as filter_:
        assert filter_.stdin is not None and filter_.stdout is not None
        for name, added in (("b", False), ("k l m n", True), ("k l m n o", True), ("k l m n o", False)):
            filter_.stdin.write(lines(name))
            filter_.stdin.flush()
            assert json.loads(filter_.stdout.readline())["added"] == added
            assert (name in ids()) == (added or name != "b"), "an answer is given once the item is durable"
        filter_.stdin.close()
        assert filter_.wait() == 0


def test_lines_are_whole_wherever_a_stream_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "\ufeff".encode() + lines("a", "b", "ünï", "d").encode()[:-1]
    for size in (1, 2, 7, 50, 1000):

        class Cut:
            at = 0

            def read1(self, most: int, size: int = size) -> bytes:
                self.at += size
                return text[self.at - size : self.at]

            def fileno(self) -> int:
                raise OSError

        found = list(incoming.whole_lines(Cut(), Want()))
        assert b"".join(found) == text.removeprefix("\ufeff".encode())
        assert all(part.endswith(b"\n") for part in found[:-1])


def test_merge_compact_check_backup_and_info(seen: str) -> None:
    Path("more.jsonl").write_text(lines("d", "k l m n"))
    run("index", "build", "other.lw", "more.jsonl", *BY)
    assert "--existing skip" in refused("index", "merge", seen, "other.lw")
    assert json.loads(run("index", "merge", seen, "other.lw", "--existing", "skip", "--json").stdout) == {
        "schema": "likewise/index-change/1",
        "index": seen,
        "action": "merge",
        "read": 2,
        "added": 1,
        "skipped": 1,
        "items": 3,
    }
    run("index", "build", "third.lw", "more.jsonl", "--by", "words:3")
    assert "by is words:2 in the one and words:3 in the other" in refused("index", "merge", seen, "third.lw")
    assert run("index", "compact", seen).exit_code == 0
    assert run("index", "check", seen).exit_code == 0
    assert "3 items" in run("index", "backup", seen, "copy.lw").stderr.replace("items                   3", "3 items")
    assert ids("copy.lw") == ids()
    said = refused("index", "backup", seen, "valkey://user:secret@localhost/0?index=copy")
    assert "valkey://localhost/0?index=copy: a backup is a folder" in said and not list(Path().glob("valkey*"))
    facts = run("index", "info", "copy.lw").stdout
    assert "words:2" in facts and "read only" not in facts
    segment = max(Path("copy.lw").glob("0*"), key=lambda path: path.stat().st_size)
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 1
    segment.write_bytes(data)
    done = run("index", "check", "copy.lw")
    assert done.exit_code == 2 and segment.name in done.output


def test_an_output_with_sketches_is_built_without_its_records(seen: str) -> None:
    Path("docs.jsonl").write_text(lines("a", "c", "d"))
    assert run("dedup", "docs.jsonl", "-o", "clean", "--sketches", *BY).exit_code == 0
    done = run("index", "build", "fresh.lw", "clean")
    assert done.exit_code == 0 and "2 read, 2 added" in done.stderr
    assert ids("fresh.lw") == ["a", "d"]
    said = refused("index", "build", "fresh.lw", "clean", "--overwrite", "--by", "words:3")
    assert said.startswith("likewise: error: --by: clean is an output of likewise, and an index of it compares as it was made")
    run("dedup", "docs.jsonl", "-o", "bare", *BY)
    assert "make it again with --sketches" in refused("index", "build", "x.lw", "bare")
    assert not Path("x.lw").exists()


def test_an_interrupted_build_keeps_the_old_index(seen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("more.jsonl").write_text(lines(*(f"words of text {number}" for number in range(9))))

    def stopped(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("likewise.runs.building.items_of", stopped)
    before = sorted(path.name for path in Path().iterdir())
    done = run("index", "build", seen, "more.jsonl", "--overwrite")
    assert done.exit_code == 130
    assert ids() == ["a", "d"]
    assert sorted(path.name for path in Path().iterdir()) == before
    assert run("index", "build", "never.lw", "more.jsonl").exit_code == 130
    assert not Path("never.lw").exists()


def test_vectors_and_codes_of_the_dimension_of_the_index() -> None:
    draw = np.random.default_rng(1)
    vectors = draw.normal(size=(20, 16)).astype(np.float32)
    np.save("vectors.npy", vectors)
    np.save("others.npy", vectors[:, :8])
    run("index", "create", "v.lw", "--by", "cosine", "--threshold", "0.95", "--dimension", "16")
    assert run("index", "add", "v.lw", "vectors.npy").exit_code == 0
    found = rows(run("index", "query", "v.lw", "vectors.npy", "-k", "1").stdout)
    assert [(row["query"], row["id"]) for row in found] == [(f"vectors.npy:{number}", f"vectors.npy:{number}") for number in range(20)]
    assert all(row["similarity"] == pytest.approx(1) for row in found)
    assert "8" in refused("index", "query", "v.lw", "others.npy")


@pytest.mark.parametrize(
    "words",
    [
        *(("build", "x.lw", "first.jsonl"), ("add", "seen.lw", "more.jsonl"), ("update", "seen.lw", "first.jsonl"), ("remove", "seen.lw", "a")),
        *(("add-new", "seen.lw", "more.jsonl"), ("add-new", "seen.lw", "more.jsonl", "-o", "f.csv"), ("query", "seen.lw", "first.jsonl")),
        *(("query", "seen.lw", "first.jsonl", "-o", "f.jsonl"), ("info", "seen.lw"), ("check", "seen.lw"), ("create", "x.lw")),
        *(("compact", "seen.lw"), ("backup", "seen.lw", "copy.lw")),
    ],
    ids=" ".join,
)
def test_documents_are_as_their_schemas_say(seen: str, words: tuple[str, ...]) -> None:
    Path("more.jsonl").write_text(lines("k l m n", "b"))
    done = run("index", *words, "--json")
    assert done.exit_code == 0, done.stderr
    document = json.loads(done.stdout)
    schema = json.loads(run("schema", document["schema"]).stdout)
    assert [*faults(document, schema, schema)] == []


def test_without_sets_answers_are_estimates(folder: Path) -> None:
    Path("first.jsonl").write_text(lines("a", "d"))
    run("index", "build", "thin.lw", "first.jsonl", *BY, "--sets", "none")
    (row,) = rows(run("index", "query", "thin.lw", "-", input=lines("c")).stdout)
    assert (row["query"], row["id"], row["estimate"]) == ("c", "a", 1.0) and "standard_error" in row
    assert "create one with --sets compact or full" in refused("index", "add-new", "thin.lw", "-", input=lines("c"))


def test_there_is_no_index() -> None:
    assert refused("index", "info", "none.lw") == "likewise: error: none.lw: there is no index; likewise index create makes one"
    Path("first.jsonl").write_text(lines("a"))
    assert run("dedup", "first.jsonl", "-o", "out", *BY).exit_code == 0
    assert refused("index", "query", "out", "first.jsonl") == (
        "likewise: error: out: this is an output folder of likewise, not an index; likewise index build PATH out makes an index of its kept records"
    )


def test_settings_of_a_file_hold_for_the_index(folder: Path) -> None:
    Path("likewise.toml").write_text('by = "words:3"\n[index]\nsets = "compact"\nid = "name"\n')
    Path("first.jsonl").write_text(lines("a", name="x"))
    assert run("index", "build", "set.lw", "first.jsonl").exit_code == 0
    said = run("index", "create", "none.lw", *BY, "--sets", "none").stderr
    assert "0.041; about half of the items exactly at the threshold are listed" in said
    facts = json.loads(run("index", "info", "set.lw", "--json").stdout)
    assert (facts["settings"]["by"], facts["settings"]["sets"], ids("set.lw")) == ("words:3", "compact", ["x"])
    assert run("index", "create", "empty.lw").exit_code == 0, "the id is an option of another action"


@pytest.mark.parametrize(("line", "values"), [("likewise index a", ["add", "add-new"]), ("likewise index query --thr", ["--threshold", "--threads"])])
def test_completion(line: str, values: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    words = shlex.split(line)
    for name, value in (("_LIKEWISE_COMPLETE", "bash_complete"), ("COMP_WORDS", line), ("COMP_CWORD", str(len(words) - 1))):
        monkeypatch.setenv(name, value)
    assert run().stdout.splitlines() == [f"plain,{value}" for value in values]


def test_help_loads_nothing_heavy() -> None:
    done = process("index", "query", "--help", python=("-X", "importtime"))
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "click" in loaded and not loaded & {"numpy", "pyarrow", "numba"}


def test_every_parameter_is_a_flag_or_an_argument() -> None:
    for action in index.command.actions.values():
        assert all(isinstance(one, FlagOption | click.Argument) for one in action.params)
