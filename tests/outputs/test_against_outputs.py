"""The output of a removal against a second collection: tables, counts, ids, resumed runs, and verbs that read it."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from command_line import TEXTS, lines, refused, run
from likewise.io.formats import lines as byte_formats
from likewise.progress import Progress
from situations import near, text
from stopping import StoppedError, Stops, snapshot


def jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def table(out: Path, name: str) -> list[dict[str, Any]]:
    return pq.read_table(out / f"{name}.parquet").to_pylist()


def made(folder: Path, first: int = 300, second: int = 200) -> tuple[Path, Path]:
    """Two files of texts; a quarter of the first are near-duplicates of the second, and others of each other."""
    draw = np.random.default_rng(3)

    def words(number: int) -> list[str]:
        return [f"w{number}", *(f"w{word}" for word in draw.integers(0, 5000, 30))]

    old = [words(number) for number in range(second)]
    new = [words(number + 10_000) for number in range(first)]
    for place in range(0, first, 4):
        new[place] = [*old[int(draw.integers(0, second))], f"more{place}"]
    for place in range(1, first, 9):
        new[place] = [*new[place - 1], "again"]
    sides = [{"id": f"{name}{number}", "text": " ".join(held)} for name, texts in (("n", new), ("o", old)) for number, held in enumerate(texts)]
    return jsonl(folder / "new.jsonl", sides[:first]), jsonl(folder / "old.jsonl", sides[first:])


def test_new_documents_against_existing_ones(tmp_path):
    """Ids are 64-bit numbers, some equal to likely marks of "none"; two new documents equal each other and match nothing."""
    ids = [2**32 - 1, 0, 2**64 - 1, 2**53 + 1, -1, 2**53]
    existing = jsonl(tmp_path / "existing.jsonl", [{"id": id, "text": text(seed)} for seed, id in enumerate(ids)])
    texts = [near(0), text(10), text(3), near(2), text(10)]
    new = jsonl(tmp_path / "new.jsonl", [{"id": id, "text": content} for id, content in enumerate(texts, 1)])
    alone = lw.dedup(new, against=existing, out=tmp_path / "alone")
    rows = [(row["id"], int(row["kept_id"]), row["similarity"]) for row in alone.removed.to_arrow().to_pylist()]
    assert rows == [(1, 2**32 - 1, 25 / 27), (3, 2**53 + 1, 1), (4, 2**64 - 1, 25 / 27)]
    assert [json.loads(line)["id"] for line in (tmp_path / "alone/kept/new.jsonl").read_text().splitlines()] == [2, 5]
    inside = lw.dedup(new, against=existing, also_inside=True)
    assert sorted(int(row["id"]) for row in inside.removed.to_arrow().to_pylist()) == [1, 3, 4, 5]


def test_the_two_collections_are_counted_apart(tmp_path):
    rows = [{"text": "a b c"}, {"text": ""}, {"text": None}, {"text": "x y z"}]
    new, old = jsonl(tmp_path / "new.jsonl", rows), jsonl(tmp_path / "old.jsonl", [*rows[:3], {"text": "p"}])
    for path, broken in ((new, 1), (old, 2)):
        path.write_text(path.read_text() + '{"text": "broken\n' * broken)
    result = lw.dedup(new, against=old, on_error="skip", out=tmp_path / "out", min_tokens=2)
    counts, beside = result.counts, result.report["against"]
    assert [counts[name] for name in ("read", "kept", "removed", "rejected", "empty", "without_text", "too_short_to_judge")] == [5, 3, 1, 1, 2, 1, 0]
    assert [beside[name] for name in ("read", "rejected", "empty", "without_text", "too_short_to_judge", "matched", "removed")] == [
        6,
        2,
        2,
        1,
        1,
        1,
        1,
    ]
    assert beside["share"] == 1 / 5 and beside["sources"] == [{"source": "old.jsonl", "read": 6, "rejected": 2, "matched": 1}]
    assert result.report["sources"] == [{"source": "new.jsonl", "read": 5, "kept": 3, "removed": 1, "rejected": 1}]
    [rejected] = [json.loads(line) for line in (tmp_path / "out/rejected.jsonl").read_text().splitlines()]
    assert (rejected["source"], rejected["position"]) == ("new.jsonl", 4)
    assert any("3 of 11 items could not be read" in said and "old.jsonl" in said for said in result.report["warnings"])
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert [(entry["source"], entry["rows"]) for side in ("inputs", "against") for entry in manifest[side]] == [("new.jsonl", 5), ("old.jsonl", 6)]
    assert [entry["path"] for entry in json.loads((tmp_path / "out/run.json").read_text())["against"]] == [str(old)]
    assert "2nd" not in repr(result) and "against: 1 of 5 items (20.0%) removed as duplicates of the second collection of 6 items" in repr(result)
    page = (tmp_path / "out/report.html").read_text()
    assert "mtime_ns" not in page  # of the files in run.json
    assert (
        "Second collection" in page
        and "Removed because of these: 1 of 5 documents (20.0%). Of the second collection, 1 document had such duplicates." in page
    )


def test_every_form_of_output(tmp_path):
    new = jsonl(tmp_path / "new.jsonl", [{"id": 7, "text": "a b c"}, {"id": 8, "text": "d e f"}, {"id": 9, "text": "A b c"}])
    old = jsonl(tmp_path / "old.jsonl", [{"id": "x", "text": "p q r"}, {"id": "y", "text": "a b c"}])
    for output in ("copy", "ids", "mask", "annotate"):
        lw.dedup(new, against=old, output=output, out=tmp_path / output, pairs=True)
        assert [(row["id"], row["kept_id"]) for row in table(tmp_path / output, "removed")] == [(7, "y"), (9, "y")]
        assert table(tmp_path / output, "pairs") == []  # copies are no compared pairs
    assert [path.name for path in (tmp_path / "copy/kept").iterdir()] == ["new.jsonl"]
    assert table(tmp_path / "ids", "kept") == [{"id": 8, "source": "new.jsonl", "position": 1}]
    assert [row["kept"] for row in table(tmp_path / "mask", "mask")] == [False, True, False]
    annotated = [json.loads(line) for line in (tmp_path / "annotate/annotated/new.jsonl").read_text().splitlines()]
    assert [row["likewise_kept_id"] for row in annotated] == ["y", None, "y"]
    assert [(row["id"], row["source"], row["representative"], row["cluster"]) for row in table(tmp_path / "copy", "clusters")] == [
        ("y", "old.jsonl", True, "y"),
        ("7", "new.jsonl", False, "y"),
        ("9", "new.jsonl", False, "y"),
    ]


def test_pairs_across_the_collections(tmp_path):
    new, old = made(tmp_path)
    lw.dedup(new, against=old, out=tmp_path / "alone", pairs=True)
    lw.dedup(new, against=old, out=tmp_path / "inside", pairs=True, also_inside=True)
    listed = {(row["id_a"], row["id_b"]): row["similarity"] for row in lw.pairs(new, against=old).to_dicts()}
    assert {(row["id_a"], row["id_b"]): row["similarity"] for row in table(tmp_path / "alone", "pairs")} == listed and len(listed) > 50
    inside = table(tmp_path / "inside", "pairs")
    assert {row["source_b"] for row in inside} == {"new.jsonl", "old.jsonl"} and {row["source_a"] for row in inside} == {"new.jsonl"}


@pytest.mark.parametrize(("first", "second", "types"), [
    ([1, 2], [2, 1], (pa.int64(), pa.int64(), pa.int64())),
    ([1, 2], ["1", "b"], (pa.int64(), pa.string(), pa.string())),
    (["a", None], [1.5, 2.5], (pa.string(), pa.float64(), pa.string())),
    ([None, None], ["p", "q"], (pa.int64(), pa.string(), pa.string())),
    ([None, None], [None, None], (pa.int64(), pa.int64(), pa.int64())),
])  # fmt: skip
def test_ids_of_each_collection_have_their_own_type(first, second, types, tmp_path):
    """id, kept_id of the second collection; and the ids of both in clusters.parquet."""
    texts = ["a b c", "d e f"]
    for name, ids in (("new", first), ("old", second)):
        jsonl(tmp_path / f"{name}.jsonl", [{"text": text, **({} if id is None else {"id": id})} for id, text in zip(ids, texts, strict=True)])
    for inside in (False, True):
        out = tmp_path / f"out-{inside}"
        result = lw.dedup(tmp_path / "new.jsonl", against=tmp_path / "old.jsonl", also_inside=inside, out=out)
        removed, clusters = pq.read_table(out / "removed.parquet"), pq.read_table(out / "clusters.parquet")
        assert (removed["id"].type, removed["kept_id"].type, clusters["id"].type) == (types[0], types[1 + inside], types[2])
        assert [row["kept_position"] for row in removed.to_pylist()] == [0, 1] and set(removed["kept_source"].to_pylist()) == {"old.jsonl"}
        assert removed["cluster"].to_pylist() == clusters.filter(clusters["representative"])["cluster"].to_pylist()
        assert result.removed.to_arrow().equals(removed.replace_schema_metadata())
        given = [id for id in first if id is not None] or [0, 1]
        assert [row["id"] for row in result.removed.to_dicts() if row["id"] is not None] == given


def test_clusters_of_equal_ids_are_named_by_place(tmp_path):
    """Id 1 names an item of each collection, and both are representatives: their clusters have different names."""
    new = jsonl(tmp_path / "new.jsonl", [{"id": 1, "text": "a b c"}, {"id": 2, "text": "a b c"}, {"id": 3, "text": "d e f"}])
    old = jsonl(tmp_path / "old.jsonl", [{"id": 1, "text": "d e f"}])
    found = lw.dedup(new, against=old, also_inside=True).removed.to_arrow().to_pylist()
    assert [(row["id"], row["kept_id"], row["cluster"]) for row in found] == [(2, 1, "new.jsonl:0"), (3, 1, "old.jsonl:0")]


@pytest.mark.parametrize("inside", [False, True])
def test_the_bytes_do_not_depend_on_threads_and_memory(inside, tmp_path, monkeypatch):
    new, old = made(tmp_path)
    wanted = None
    for threads, memory, block in ((1, "1G", 1 << 20), (2, "256M", 5000), (3, "256M", 900)):
        monkeypatch.setattr(byte_formats, "BLOCK", block, raising=False)
        out = tmp_path / f"{threads}"
        lw.dedup(new, against=old, also_inside=inside, out=out, threads=threads, memory=memory, pairs=True)
        found = snapshot(out)
        wanted = wanted or found
        assert {name: found[name] for name in found if name != "manifest.json"} == {name: wanted[name] for name in wanted if name != "manifest.json"}


@pytest.mark.parametrize("inside", [False, True])
def test_a_stopped_run_continues(inside, tmp_path, monkeypatch):
    new, old = made(tmp_path, 60, 40)
    stops = Stops(monkeypatch)
    choices = {"against": old, "also_inside": inside, "limit": 50, "pairs": True}
    lw.dedup(new, out=tmp_path / "whole", **choices)
    want, steps = snapshot(tmp_path / "whole"), len(stops.done)
    assert steps > 8
    for at, late in itertools.product(range(1, steps), (False, True)):
        out = tmp_path / f"stopped-{at}-{late}"
        stops.begin(at, late=late)
        with pytest.raises(StoppedError):
            lw.dedup(new, out=out, **choices)
        stops.begin(0)
        lw.dedup(new, out=out, resume=True, **choices)
        assert snapshot(out) == want


def test_another_second_collection_is_not_resumed(tmp_path, monkeypatch):
    new, old = made(tmp_path, 20, 20)
    other = jsonl(tmp_path / "other.jsonl", [{"text": "a b c"}])
    stops = Stops(monkeypatch)
    stops.begin(3)
    with pytest.raises(StoppedError):
        lw.dedup([new, other], against=old, out=tmp_path / "out")
    stops.begin(0)
    for inputs, against, more in (
        (new, [other, old], {}),
        ([new, other], other, {}),
        ([new, other], None, {}),
        ([new, other], old, {"also_inside": True}),
    ):
        with pytest.raises(lw.UsageError, match="cannot resume, because"):
            lw.dedup(inputs, against=against, out=tmp_path / "out", resume=True, **more)
    assert lw.dedup([new, other], against=old, out=tmp_path / "out", resume=True).counts["read"] == 21


class Changes(Progress):
    """Appends a line to a file when a stage begins."""

    def __init__(self, path: Path, stage: str):
        super().__init__()
        self.path, self.stage = path, stage

    def begin(self, stage: str, total: int, unit: str) -> None:
        if stage == self.stage:
            with open(self.path, "a") as file:
                file.write('{"text": "one more"}\n')


@pytest.mark.parametrize("stage", ["collapsing exact copies", "writing"])
def test_a_second_collection_that_changes_during_the_run(stage, tmp_path):
    new, old = made(tmp_path, 20, 20)
    with pytest.raises(lw.DataError, match=r"old\.jsonl: has changed during the run"):
        lw.dedup(new, against=old, out=tmp_path / "out", progress=Changes(old, stage))
    assert not (tmp_path / "out").exists()


def test_the_same_file_on_both_sides(tmp_path):
    new, _ = made(tmp_path, 20, 20)
    result = lw.dedup(new, against=new, out=tmp_path / "out")
    assert (result.counts["kept"], result.counts["removed_exact"], result.report["against"]["share"]) == (0, 20, 1)
    assert {row["kept_source"] for row in table(tmp_path / "out", "removed")} == {"against/new.jsonl"}
    assert any("1 file, such as new.jsonl" in said and "also given with against" in said for said in result.report["warnings"])
    assert "also given with query" in lw.neighbors(new, query=new).report["warnings"][0]
    assert (tmp_path / "out/kept/new.jsonl").read_bytes() == b""


def test_fields_of_both_sides(tmp_path):
    new, old = jsonl(tmp_path / "new.jsonl", [{"body": "a b c"}]), jsonl(tmp_path / "old.jsonl", [{"text": "a b c"}])
    assert "no row of new.jsonl has the field 'text'" in refused("dedup", new, "--against", old, "-o", tmp_path / "out")
    assert run("dedup", new, "--against", old, "--field", "text", "--field", "body@new.jsonl", "-o", tmp_path / "out").exit_code == 0
    assert len(table(tmp_path / "out", "removed")) == 1


def test_bad_second_collections(tmp_path):
    new, old = made(tmp_path, 20, 20)
    out = tmp_path / "out"
    with pytest.raises(lw.UsageError, match="also_inside=True needs a second collection"):
        lw.dedup(new, also_inside=True)
    assert "--also-inside needs a second collection; name it with --against INPUT" in refused("dedup", new, "--also-inside", "-o", out)
    assert f"{tmp_path / 'missing'}: no such file" in refused("dedup", new, "--against", tmp_path / "missing", "-o", out)
    assert "--against ''" in refused("dedup", new, "--against", "", "-o", out)
    said = refused("dedup", "-", "--against", "-", "-o", out, input=new.read_bytes())
    assert "standard input (-) is given for both collections, but can be read only once" in said
    assert run("dedup", "-", "--against", old, "-o", tmp_path / "piped", input=new.read_bytes()).exit_code == 0
    assert run("dedup", new, "--against", "-", "-o", tmp_path / "against", input=old.read_bytes()).exit_code == 0
    assert table(tmp_path / "against", "removed")[0]["kept_source"] == "stdin" and table(tmp_path / "piped", "removed")[0]["source"] == "stdin"
    lw.dedup(old, out=out)
    for inside in (out, out / "kept", out / "kept/old.jsonl"):
        assert "this input is the output or lies inside it" in refused("dedup", new, "--against", inside, "-o", out, "--overwrite")
    assert "is an output folder of likewise; its records are in" in refused("dedup", new, "--against", out, "--against", old, "-o", tmp_path / "new")


# an output folder as the second collection


def test_an_output_stands_for_its_kept_records(tmp_path):
    """Its method holds: words of one, so that a text with other words in between is similar, which it would not be by words:5."""
    rows = [{"body": " ".join(words)} for words in TEXTS.values()]
    old = lw.dedup(jsonl(tmp_path / "old.jsonl", rows), by="words:1", threshold="0.7", field="body", seed=5, out=tmp_path / "old")
    assert old.counts["kept"] == 2
    new = jsonl(tmp_path / "new.jsonl", [{"body": " ".join(reversed(TEXTS["b"]))}, {"body": "one two three"}])
    result = lw.dedup(new, against=tmp_path / "old", out=tmp_path / "fresh")
    method = result.report["method"]
    assert (method["by"], method["field"], method["seed"], result.report["threshold"]) == ("words:1", "body", 5, 0.7)
    assert result.report["against"]["read"] == 2 and [row["position"] for row in table(tmp_path / "fresh", "removed")] == [0]
    assert len(lw.pairs(new, against=tmp_path / "old")) == 1
    same = lw.dedup(new, against=[tmp_path / "old"], by="words:1", threshold=0.7, seed=5, field="body")
    assert same.removed.to_arrow().equals(result.removed.to_arrow())
    other = jsonl(tmp_path / "other.jsonl", [{"content": "The quick brown fox"}, {"content": rows[0]["body"]}])
    assert lw.dedup(other, against=tmp_path / "old", field=["content@other.jsonl"]).counts["removed"] == 1


@pytest.mark.parametrize(("flags", "made_with"), [
    (("--by", "words:5"), "--by words:1"),
    (("--threshold", "0.8"), "--threshold 7/10"),
    (("--within", "0.3"), "--threshold 7/10"),
    (("--seed", "1"), "--seed 5"),
    (("--normalize", "lower"), "--normalize nfc --normalize lower --normalize invisible"),
    (("--field", "text"), "--field body"),
    (("--preset", "fineweb"), "--by words:1"),
])  # fmt: skip
def test_flags_that_contradict_an_output(flags, made_with, tmp_path):
    old = jsonl(tmp_path / "old.jsonl", [{"body": "a b c"}])
    lw.dedup(old, by="words:1", threshold="0.7", field="body", seed=5, out=tmp_path / "out")
    said = refused("dedup", old, "--against", tmp_path / "out", *flags, "-o", tmp_path / "new")
    assert f"{tmp_path / 'out'} was made with {made_with}" in said and f"give {tmp_path / 'out/kept'} as the second collection" in said
    assert said.startswith(f"likewise: error: {'--by' if flags[0] == '--preset' else flags[0]} ")


def test_steps_of_strings_and_groups_of_elements_hold(tmp_path):
    """Strings differ in case, which the output ignored; sets have one group in common, by a file or by a mapping that only the caller has."""
    lw.dedup(["ab", "xyz"], by="levenshtein", within=0, normalize="lower", out=tmp_path / "strings")
    assert lw.dedup(["AB"], against=tmp_path / "strings").counts["removed"] == 1
    rows = [{"elements": ["a"]}, {"elements": ["c"]}]
    table = tmp_path / "groups.csv"
    table.write_text("element,group\na,1\nb,1\nc,2\n")
    for name, groups in (("file", table), ("data", {"a": 1, "b": 1, "c": 2})):
        lw.dedup(jsonl(tmp_path / "sets.jsonl", rows), by="elements", groups=groups, out=tmp_path / name)
    other = [{"elements": ["b"]}]
    assert lw.dedup(other, against=tmp_path / "file").counts["removed"] == 1
    (tmp_path / "other.csv").write_text("element,group\na,1\nb,3\nc,2\n")
    with pytest.raises(lw.UsageError, match="was made with groups="):
        lw.dedup(other, against=tmp_path / "file", groups=tmp_path / "other.csv")
    with pytest.raises(lw.UsageError, match=r"the groups that this output was made with .* are missing; give groups"):
        lw.dedup(other, against=tmp_path / "data")
    assert lw.dedup(other, against=tmp_path / "data", groups={"a": 1, "b": 1, "c": 2}).counts["removed"] == 1


def test_outputs_without_records(tmp_path):
    old = jsonl(tmp_path / "old.jsonl", [{"text": "a b c"}])
    lw.dedup(old, output="ids", out=tmp_path / "ids")
    said = refused("dedup", old, "--against", tmp_path / "ids", "-o", tmp_path / "new")
    assert "this output has no kept records, because it was written with --output ids; name files" in said
    lw.dedup(old, ignore=["a b"], out=tmp_path / "data")
    with pytest.raises(lw.UsageError, match="the texts that this output ignores came from Python and are not stored; give ignore"):
        lw.dedup(old, against=tmp_path / "data")
    manifest = tmp_path / "data/manifest.json"
    manifest.write_text(manifest.read_text().replace('"seed": 0', '"seed": 1'))
    with pytest.raises(lw.FormatError, match="has changed since likewise wrote it"):
        lw.dedup(old, against=tmp_path / "data", ignore=["a b"])


# verbs that read such an output


@pytest.mark.parametrize("inside", [False, True])
def test_audit(inside, tmp_path):
    """An audit samples the first collection. Without also_inside it counts the pairs across the collections alone, as `pairs` lists them."""
    new, old = made(tmp_path)
    lw.dedup(new, against=old, also_inside=inside, recall=0.7, out=tmp_path / "out")
    found = lw.audit(tmp_path / "out", sample=10_000)
    exact = {"exact": True, "max_pairs": 10**6}
    across, within = len(lw.pairs(new, against=old, **exact)), len(lw.pairs(new, **exact)) if inside else 0
    assert (found.items, found.sampled, found.pairs) == (300, 300, across + within)
    assert 0.5 < found.recall <= 1 and found.low <= found.recall <= found.high
    some = lw.audit(tmp_path / "out", sample=30)
    assert some.sampled == 30 and 0 < some.pairs < found.pairs


def test_audit_of_data_and_of_changed_files(tmp_path):
    new, old = made(tmp_path, 20, 20)
    lw.dedup(new, against=["a b c"], out=tmp_path / "data")
    with pytest.raises(lw.DataError, match="was made from data in memory"):
        lw.audit(tmp_path / "data")
    lw.dedup(new, against=old, out=tmp_path / "out")
    old.write_text(old.read_text() + '{"text": "one more"}\n')
    with pytest.raises(lw.DataError, match="the inputs have changed since the output was made"):
        lw.audit(tmp_path / "out")


def test_show_and_report(tmp_path):
    new, old = made(tmp_path, 20, 20)
    assert run("dedup", new, "--against", old, "-o", tmp_path / "out").exit_code == 0
    row = next(row for row in table(tmp_path / "out", "removed"))
    shown = lines(run("show", tmp_path / "out", row["id"]).stdout)
    assert shown["removed"].startswith(repr(row["id"])) and shown["kept"].startswith(f"{row['kept_id']!r}  at old.jsonl:")
    assert (
        f"{row['kept_id']!r}  at old.jsonl:{row['kept_position'] + 1} is in the second collection"
        in run("show", tmp_path / "out", row["kept_id"]).stdout
    )
    others = {f"o{number}" for number in range(20)} - {row["kept_id"] for row in table(tmp_path / "out", "removed")}
    for identity in (min(others), f"old.jsonl:{int(min(others)[1:]) + 1}"):
        assert "is in the second collection; no duplicate of it was removed" in run("show", tmp_path / "out", identity).stdout
        assert json.loads(run("show", tmp_path / "out", identity, "--json").stdout)["status"] == "against"
    before = (tmp_path / "out/report.html").read_text()
    assert run("report", tmp_path / "out").exit_code == 0
    assert (tmp_path / "out/report.html").read_text() == before


def test_the_summary_and_the_dry_run(tmp_path):
    new, old = made(tmp_path, 20, 20)
    said = run("dedup", new, "--against", old, "-o", tmp_path / "out").stderr
    removed = len(table(tmp_path / "out", "removed"))
    assert (
        f"{removed} of 20 items ({5 * removed}.0%) removed as duplicates of the second collection of 20 items from 1 source" in lines(said)["against"]
    )
    dry = json.loads(run("dedup", new, "--against", new, "-o", tmp_path / "none", "--dry-run", "--json").stdout)
    assert [source["source"] for source in dry["sources"]] == ["new.jsonl", "against/new.jsonl"]


def test_parts_of_documents(tmp_path):
    """Two of five lines are in the second collection; the counts of the summary are those of lines."""
    new = jsonl(tmp_path / "new.jsonl", [{"text": "alpha beta\nsecond line\nthird of all"}, {"text": "quite new\nsecond line"}])
    old = jsonl(tmp_path / "old.jsonl", [{"text": "intro\nsecond line"}])
    result = lw.dedup(new, against=old, level="line", out=tmp_path / "out")
    assert "2 of 5 lines (40.0%) removed as duplicates of the second collection of 1 document from 1 source" in repr(result)
    assert "Removed because of these: 2 of 5 lines (40.0%). Of the second collection, 1 document" in (tmp_path / "out/report.html").read_text()
