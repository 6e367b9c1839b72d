"""The JSON Schemas that `likewise schema` prints, and the documents that they describe."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likewise
from command_line import LIKE, run
from json_schema import faults
from likewise.cli.schema import DOCUMENTS, PRINTED, SCHEMAS

pytestmark = pytest.mark.usefixtures("docs")


def printed(*args: object) -> dict[str, Any]:
    done = run(*args, "--json")
    assert done.exit_code == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def check(document: dict[str, Any]) -> None:
    """The document is valid by the schema that `likewise schema` prints for it."""
    schema = json.loads(run("schema", document["schema"]).stdout)
    assert schema["title"] == document["schema"]
    assert [*faults(document, schema, schema)] == []


@pytest.fixture
def data(docs: Path) -> Path:
    """Beside the documents: sets, vectors, sparse vectors, codes, strings, feature sets, and vectors of tokens."""
    generator = np.random.default_rng(5)
    vectors = generator.normal(size=(12, 8)).astype(np.float32)
    np.save("vectors.npy", np.concatenate([vectors, vectors[:4] + 0.001]))
    np.save("codes.npy", np.array([0, 1, 2**63, 2**64 - 1], np.uint64))
    rows = {
        "sets": [{"elements": [1, 2, 3, 4, each]} for each in range(8)],
        "weighted": [{"elements": [[1, 2.5], [2, 1], [3 + each % 4, 1]]} for each in range(6)],
        "sparse": [{"vector": {"indices": [0, 1, 5 + each % 2], "values": [1, 2, 0.5], "dim": 9}} for each in range(6)],
        "strings": [{"text": name} for name in ("anna", "hanna", "berta", "bert")],
        "features": [{"features": (vectors[each % 3 : each % 3 + 2] + 0.001 * each).tolist()} for each in range(6)],
        "mixed": [{"id": 1, "text": "a b c"}, {"id": 1, "text": "A b c"}, {"text": None}, {"id": True, "text": "a b c d e f"}],
    }
    for name, held in rows.items():
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in held))
    Path("bad.jsonl").write_text('{"text": "a b c"}\n{"text": broken\n{"text": "a b c"}\n')
    Path("tokens.txt").write_text("the 1 0\nquick 0 1\nsomething 1 1\n")
    return docs


RUNS: list[tuple[str, ...]] = [
    ("docs.jsonl", *LIKE),
    ("docs.jsonl", *LIKE, "--exact"),
    ("docs.jsonl", "--recall", "0.5"),
    ("docs.jsonl", "--bands", "8", "--rows", "10", "--verify", "estimate"),
    ("docs.jsonl", "--by", "words:2/bag", "--per", "id"),
    ("docs.jsonl", "--field", "text", "--field", "text@doc*", "--min-tokens", "3"),
    ("bad.jsonl", "--on-error", "skip"),
    ("mixed.jsonl", "--by", "words:1"),
    ("sets.jsonl", "--by", "elements", "--threshold", "0.6"),
    ("weighted.jsonl", "--by", "weighted", "--threshold", "0.6"),
    ("vectors.npy", "--by", "cosine", "--threshold", "0.95"),
    ("vectors.npy", "--by", "cosine", "--threshold", "0.95", "--exact"),
    ("vectors.npy", "--by", "l2", "--within", "0.5", "--bands", "10", "--rows", "4"),
    ("sparse.jsonl", "--by", "cosine", "--threshold", "0.9"),
    ("codes.npy", "--by", "hamming", "--within", "1"),
    ("strings.jsonl", "--by", "levenshtein", "--within", "1"),
    ("features.jsonl", "--by", "features", "--threshold", "0.5"),
    ("features.jsonl", "--by", "features/chamfer", "--threshold", "0.9"),
]


#: Runs that only `dedup` has.
REMOVALS: list[tuple[str, ...]] = [
    ("docs.jsonl", "--level", "passage", "--against", "docs.jsonl"),
    ("docs.jsonl", "--level", "passage", "--against", "mixed.jsonl", "--preset", "gpt3", "--min-run", "2"),
    ("docs.jsonl", *LIKE, "--against", "docs.jsonl"),
    ("mixed.jsonl", "--by", "words:1", "--against", "docs.jsonl", "--also-inside"),
]


@pytest.mark.parametrize("given", RUNS + REMOVALS, ids=" ".join)
def test_dedup_and_audit_and_show(data: Path, given: tuple[str, ...]) -> None:
    check(printed("dedup", *given, "--dry-run"))
    document = printed("dedup", *given, "-o", "out")
    check(document)
    kept = json.loads(Path("out/report.json").read_text())
    assert document == {**kept, "out": str(data.parent / "out")}
    check(kept)
    first = 1 if given[0].endswith(".jsonl") else 0  # lines count from 1, rows of arrays from 0
    for place in range(first, first + 3):
        check(printed("show", "out", f"{given[0]}:{place}"))
    check(printed("show", "out"))
    if "levenshtein" not in given:  # strings are always joined exactly, so nothing can be audited
        check(printed("audit", "out", *(["--plant", "3"] if "passage" in given else [])))
    check(printed("report", "out"))


@pytest.mark.parametrize("given", [each for each in RUNS if "--verify" not in each], ids=" ".join)
def test_pairs_and_neighbors(data: Path, given: tuple[str, ...]) -> None:
    check(printed("pairs", *given))
    check(printed("pairs", *given, "-o", "pairs.csv"))
    if not {"--bands", "--min-tokens", "levenshtein"} & set(given):
        check(printed("neighbors", *given, "-k", "2"))


@pytest.mark.parametrize("more", [(), ("--min-run", "3", "--ignore", "docs.jsonl"), ("-o", "quotes.csv"), ("--gap", "0", "--ignore-common", "0.5")])
def test_quotes(data: Path, more: tuple[str, ...]) -> None:
    check(printed("quotes", "docs.jsonl", "--in", "mixed.jsonl", *more))


def test_other_documents(data: Path) -> None:
    for more in (
        (),
        ("docs.jsonl",),
        ("--layouts", "2x25,5x10"),
        ("--by", "l2", "--within", "1"),
        ("--by", "hamming", "--within", "3", "--dimension", "64"),
        ("--by", "weighted"),
    ):
        check(printed("plan", *more))
    check(printed("features", "docs.jsonl", "--vectors", "tokens.txt", "-o", "f.parquet"))
    check(printed("doctor"))
    for more in ((), ("--common", "50%"), ("-o", "repeats.csv")):
        check(printed("repeats", "docs.jsonl", "--min-run", "2", *more))


def test_every_document_of_the_program_has_a_schema() -> None:
    source = "".join(path.read_text() for path in Path(likewise.__file__).parent.rglob("*.py"))
    written = set(re.findall(r'"likewise/([a-z-]+)/1"', source))
    assert set(DOCUMENTS) == written


def test_the_schemas_can_be_printed() -> None:
    assert json.loads(run("schema").stdout) == SCHEMAS
    for verb, name in PRINTED.items():
        assert run("schema", verb).stdout == run("schema", name).stdout
    for name in DOCUMENTS:
        schema = json.loads(run("schema", name).stdout)
        refs = set(re.findall(r'"\$ref": "#/\$defs/([^"]+)"', json.dumps(schema)))
        assert refs == set(schema["$defs"]), "all that is needed, and nothing else"
    assert run("schema", "paris").stderr.startswith("likewise: error: ") and "pairs" in run("schema", "paris").stderr


def test_the_validator_finds_faults() -> None:
    schema = json.loads(run("schema", "report-page").stdout)
    good = {"schema": "likewise/report-page/1", "path": "x", "examples": 1}
    assert [*faults(good, schema, schema)] == []
    for change in ({"schema": "likewise/report/1"}, {"path": 1}, {"examples": -1}, {"examples": True}, {"examples": 1.5}, {"more": 1}):
        assert len([*faults(good | change, schema, schema)]) == 1
    assert [*faults({"schema": good["schema"]}, schema, schema)] == ["$.path: missing", "$.examples: missing"]
    assert [*faults(1, {"maximum": 3}, {})] == ["$: unknown keyword maximum"]
