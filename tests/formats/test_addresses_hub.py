"""Inputs on the Hugging Face Hub, by a stand-in for it: folders, patterns, ranges, and errors."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from hub_server import Hub, serving_hub
from likewise.errors import MissingPartError, UsageError
from likewise.io import attempts, stores

TEXTS = [f"document {number // 2} about the subject {number // 2} in a few words" for number in range(40)]
CORPUS = "hf://datasets/me/corpus"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[Hub]:
    """The Hub with two files of a corpus, which are also in the current folder."""
    lines = "".join(json.dumps({"id": f"{number}", "text": text}) + "\n" for number, text in enumerate(TEXTS)).encode()
    Path("corpus/data").mkdir(parents=True)
    Path("corpus/a.jsonl").write_bytes(lines)
    pq.write_table(pa.table({"id": [f"{number}" for number in range(40)], "text": TEXTS}), "corpus/data/b.parquet", row_group_size=10)
    monkeypatch.setattr(attempts, "WAIT", 0.001)
    with serving_hub() as found:
        monkeypatch.setenv("HF_ENDPOINT", found.url)
        found.files = {name: Path("corpus", name).read_bytes() for name in ("a.jsonl", "data/b.parquet")}
        yield found


@pytest.mark.parametrize("what", ["", "/a.jsonl", "/data", "/**/*.parquet", "/*.jsonl"])
def test_inputs_on_the_hub_are_those_of_the_same_folder(hub: Hub, what: str) -> None:
    here, there = lw.dedup(f"corpus{what}", out="here"), lw.dedup(f"{CORPUS}{what}", out="there")
    assert there.report["counts"]["read"] == here.report["counts"]["read"] >= 40
    for path in Path("here/kept").rglob("*.*"):
        assert Path("there/kept", path.relative_to("here/kept")).read_bytes() == path.read_bytes()


def test_an_answer_that_is_cut_short_is_asked_for_again(hub: Hub) -> None:
    hub.cut = 3
    assert lw.dedup(CORPUS).report["counts"]["read"] == 80
    hub.cut = 10**9
    with pytest.raises(OSError, match=r"\(after 5 attempts\)"):
        lw.dedup(CORPUS)


@pytest.mark.parametrize("given", [f"{CORPUS}/none.jsonl", "hf://datasets/me/other/a.jsonl"])
def test_what_is_not_there_is_named(hub: Hub, given: str) -> None:
    with pytest.raises(UsageError, match=f"^{given}: no such repository, file or folder$"):
        lw.dedup(given)


def test_refused_access_is_explained(hub: Hub) -> None:
    hub.private = True
    with pytest.raises(UsageError, match="cannot be read: no such repository, or access is refused; log in with 'hf auth login', or set HF_TOKEN"):
        lw.dedup(f"{CORPUS}/a.jsonl")


def test_the_library_is_named_if_it_is_missing(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    stores._store.cache_clear()
    with pytest.raises(
        MissingPartError, match=r"hf:// addresses are read with huggingface_hub, which is not installed: pip .* install huggingface_hub"
    ):
        lw.dedup(f"{CORPUS}/a.jsonl")
