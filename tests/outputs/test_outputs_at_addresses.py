"""Outputs in an object store, by moto's server: complete or visibly incomplete, and nothing else is touched."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from command_line import run
from likewise.errors import UsageError
from likewise.io.stores.objects import Objects as Store
from likewise.runs.recorded import KEY
from object_store import Objects, serving_objects

TEXTS = [f"document {number // 2} about the subject {number // 2} in a few words" for number in range(40)]
LINES = "".join(json.dumps({"id": f"{number}", "text": text}) + "\n" for number, text in enumerate(TEXTS)).encode()
FILES = ["clusters.parquet", "kept/a.jsonl", "manifest.json", "rejected.jsonl", "removed.parquet", "report.html", "report.json", "run.json"]


@pytest.fixture(scope="module")
def server() -> Iterator[Objects]:
    with serving_objects() as found:
        yield found


@pytest.fixture
def store(server: Objects, monkeypatch: pytest.MonkeyPatch, folder: Path, request: pytest.FixtureRequest) -> Objects:
    """The store, with an empty bucket ``bucket``; a.jsonl in the current folder."""
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_NO_SIGN_REQUEST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    server.fault = lambda method, path: False
    server.files.create_dir("bucket")
    server.files.delete_dir_contents("bucket", missing_dir_ok=True)
    server.requests.clear()
    Path("a.jsonl").write_bytes(LINES)
    return server


def test_an_output_is_that_of_the_same_run_on_this_machine(store: Objects) -> None:
    here, there = lw.dedup("a.jsonl", out="clean"), lw.dedup("a.jsonl", out="s3://bucket/x/clean")
    assert store.names("bucket") == [f"x/clean/{name}" for name in FILES]
    for name in set(FILES) - {"run.json", "report.html"}:
        assert store.get(f"bucket/x/clean/{name}") == Path("clean", name).read_bytes()
    written = [request.path for request in store.requests if request.method in ("PUT", "POST") and not request.path.endswith("/")]
    assert written[0] == "bucket/x/clean/incomplete.json"
    assert written[-1] == "bucket/x/clean/manifest.json"
    assert there.removed.to_arrow().equals(here.removed.to_arrow())
    assert str(there.out) == "s3://bucket/x/clean"
    assert sorted(path.name for path in Path().iterdir()) == ["a.jsonl", "clean"]  # the work folder is gone


def test_records_keep_their_bytes_in_each_format(store: Objects) -> None:
    pq.write_table(pa.table({"text": TEXTS}), "c.parquet")
    Path("d.jsonl.zst").write_bytes(pa.Codec("zstd").compress(LINES, asbytes=True))
    Path("e.txt").write_text("some words that are in no other file")
    inputs = [Path(name) for name in ("a.jsonl", "c.parquet", "d.jsonl.zst", "e.txt")]
    lw.dedup(inputs, out="clean", removed_records=True, pairs=True)
    lw.dedup(inputs, out="s3://bucket/clean", removed_records=True, pairs=True)
    names = sorted(path.relative_to("clean").as_posix() for path in Path("clean").rglob("*") if path.is_file())
    assert store.names("bucket/clean") == names
    for name in set(names) - {"run.json", "report.html"}:
        assert store.get(f"bucket/clean/{name}") == Path("clean", name).read_bytes()


def test_an_output_is_replaced_only_with_overwrite_and_only_if_likewise_wrote_it(store: Objects) -> None:
    lw.dedup("a.jsonl", out="s3://bucket/clean", removed_records=True)
    before = {name: store.get(f"bucket/clean/{name}") for name in store.names("bucket/clean")}
    with pytest.raises(UsageError, match=r"out='s3://bucket/clean': the folder exists; overwrite=True replaces it"):
        lw.dedup("a.jsonl", out="s3://bucket/clean")
    assert {name: store.get(f"bucket/clean/{name}") for name in store.names("bucket/clean")} == before
    lw.dedup("a.jsonl", out="s3://bucket/clean", overwrite=True, threshold=0.9)
    assert store.names("bucket/clean") == FILES  # without removed/a.jsonl of the old output
    assert json.loads(store.get("bucket/clean/report.json"))["threshold"] == 0.9
    store.put("bucket/clean/kept/mine.txt", b"my words")
    with pytest.raises(UsageError, match=r"would delete files that likewise did not write: kept/mine\.txt"):
        lw.dedup("a.jsonl", out="s3://bucket/clean", overwrite=True)
    store.put("bucket/other/mine.txt", b"my words")
    for overwrite in (False, True):
        with pytest.raises(UsageError, match=r"no manifest\.json"):
            lw.dedup("a.jsonl", out="s3://bucket/other", overwrite=overwrite)
    assert store.get("bucket/clean/kept/mine.txt") == store.get("bucket/other/mine.txt") == b"my words"


class Stopped(BaseException):
    """Stops a run like a signal."""


def stepping(real: Callable[..., Any], name: str, steps: list[str], after: int) -> Callable[..., Any]:
    """A method of the store that notes its call, and stops the run after some of them."""

    def method(self: Store, address: Any) -> Any:
        steps.append(name)
        if len(steps) > after:
            raise Stopped
        return real(self, address)

    return method


@pytest.mark.parametrize("after", range(10))
@pytest.mark.parametrize("old", [False, True])
def test_an_interrupted_upload_is_visible_and_can_be_resumed(store: Objects, monkeypatch: pytest.MonkeyPatch, after: int, old: bool) -> None:
    if old:
        lw.dedup("a.jsonl", out="s3://bucket/clean", removed_records=True, seed=1)
    lw.dedup("a.jsonl", out="whole")
    steps: list[str] = []
    with monkeypatch.context() as patched:
        for name in ("writer", "remove"):
            patched.setattr(Store, name, stepping(getattr(Store, name), name, steps, after))
        try:
            lw.dedup("a.jsonl", out="s3://bucket/clean", overwrite=old)
        except Stopped:
            pass
        else:
            assert after >= len(FILES) + 1
            return
    names = store.names("bucket/clean")
    assert ("incomplete.json" in names) == (after > 0)
    if "manifest.json" in names:
        manifest = json.loads(store.get("bucket/clean/manifest.json"))
        assert {entry["path"] for entry in manifest["outputs"]} <= set(names)
    elif names:
        with pytest.raises(UsageError, match="the folder exists"):
            lw.dedup("a.jsonl", out="s3://bucket/clean", work="other.work")
        with pytest.raises(UsageError, match="this is an output folder of likewise"):
            lw.dedup("s3://bucket/clean")
    lw.dedup("a.jsonl", out="s3://bucket/clean", overwrite=old, resume=True)
    assert store.names("bucket/clean") == FILES
    for name in set(FILES) - {"run.json", "report.html"}:
        assert store.get(f"bucket/clean/{name}") == Path("whole", name).read_bytes()
    assert not Path("clean.work").exists()


def test_an_incomplete_output_is_replaced_with_overwrite(store: Objects, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(Store, "writer", stepping(Store.writer, "writer", [], 3))
        with pytest.raises(Stopped):
            lw.dedup("a.jsonl", out="s3://bucket/clean", work="first.work")
    assert store.names("bucket/clean") == ["clusters.parquet", "incomplete.json", "kept/a.jsonl"]
    lw.dedup("a.jsonl", out="s3://bucket/clean", overwrite=True)
    assert store.names("bucket/clean") == FILES
    store.files.delete_file("bucket/clean/manifest.json")
    store.put("bucket/clean/incomplete.json", b"{}")
    with pytest.raises(UsageError, match=r"its manifest\.json was not written by likewise"):
        lw.dedup("a.jsonl", out="s3://bucket/clean", overwrite=True)


def same(stored: bytes, path: Path) -> None:
    """Check that a stored table is that of a file. Parquet at an address names no paths of this machine, but the same contents of inputs."""
    if path.suffix != ".parquet":
        assert stored == path.read_bytes()
        return
    assert pq.read_table(pa.BufferReader(stored)).equals(pq.read_table(path))
    there, here = (json.loads(pq.read_metadata(file).metadata[KEY])["inputs"][""] for file in (pa.BufferReader(stored), path))
    assert there == [{name: value for name, value in entry.items() if name != "path"} for entry in here] != here


def test_tables_are_written_to_addresses(store: Objects) -> None:
    for name, written in (("p.parquet", lw.pairs("a.jsonl")), ("n.jsonl", lw.neighbors("a.jsonl", k=1)), ("p.csv", lw.pairs("a.jsonl"))):
        written.write(name)
        written.write(f"s3://bucket/{name}")
        same(store.get(f"bucket/{name}"), Path(name))
        with pytest.raises(UsageError, match="the file exists"):
            written.write(f"s3://bucket/{name}")
        written.write(f"s3://bucket/{name}", overwrite=True)
    assert run("pairs", "a.jsonl", "-o", "s3://bucket/q.parquet").exit_code == 0
    same(store.get("bucket/q.parquet"), Path("p.parquet"))
    assert run("neighbors", "a.jsonl", "-k", "1", "-o", "s3://bucket/m.jsonl").exit_code == 0
    assert store.get("bucket/m.jsonl") == Path("n.jsonl").read_bytes()


def test_features_and_charts_are_written_to_addresses(store: Objects) -> None:
    rng = np.random.default_rng(0)
    np.savez("vectors.npz", tokens=np.array(sorted({word for text in TEXTS for word in text.split()})), vectors=rng.normal(size=(28, 4)))
    for out in ("f.parquet", "s3://bucket/f.parquet"):
        result = run("features", "a.jsonl", "--vectors", "vectors.npz", "-o", out)
        assert result.exit_code == 0, result.output
    assert store.get("bucket/f.parquet") == Path("f.parquet").read_bytes()
    for out in ("plan.svg", "s3://bucket/plan.svg"):
        assert run("plan", "--svg", out).exit_code == 0
    assert store.get("bucket/plan.svg") == Path("plan.svg").read_bytes()


def test_an_output_at_an_address_is_shown_and_reported_and_audited(store: Objects) -> None:
    store.put("bucket/in/a.jsonl", LINES)
    lw.dedup("s3://bucket/in", out="s3://bucket/clean")
    page = store.get("bucket/clean/report.html")
    store.put("bucket/clean/report.html", b"old")
    assert "wrote s3://bucket/clean/report.html" in run("report", "s3://bucket/clean").output
    assert len(store.get("bucket/clean/report.html")) == len(page)
    assert "exact copy" in run("show", "s3://bucket/clean", "1").output
    assert run("audit", "s3://bucket/clean", "--sample", "5").exit_code == 0
    store.put("bucket/clean/removed.parquet", b"other")
    assert "has changed since likewise wrote it" in run("show", "s3://bucket/clean", "1").output


@pytest.mark.parametrize(
    ("out", "says"),
    [
        ("https://host/clean", "outputs can be written to s3:// and gs:// addresses only"),
        ("hf://datasets/me/x", "outputs can be written to s3:// and gs:// addresses only"),
        ("s3://no-such-bucket/clean", "the bucket no-such-bucket does not exist; create it first"),
    ],
)
def test_addresses_that_take_no_output_are_refused(store: Objects, out: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        lw.dedup("a.jsonl", out=out)
    with pytest.raises(UsageError, match=says):
        lw.pairs("a.jsonl").write(f"{out}/p.parquet")
    assert sorted(path.name for path in Path().iterdir()) == ["a.jsonl"]


def test_an_input_is_never_written_to(store: Objects) -> None:
    store.put("bucket/a.jsonl", LINES)
    assert "this file is an input" in run("pairs", "s3://bucket/a.jsonl", "-o", "s3://bucket/a.jsonl", "--overwrite").output
    with pytest.raises(UsageError, match="this is a file or a link, and the output is a folder"):
        lw.dedup("s3://bucket/a.jsonl", out="s3://bucket/a.jsonl")
    assert store.get("bucket/a.jsonl") == LINES


def test_the_work_folder_is_on_this_machine(store: Objects) -> None:
    with pytest.raises(UsageError, match=r"work=.s3://bucket/work.: the work folder lies on this machine"):
        lw.dedup("a.jsonl", out="s3://bucket/clean", work="s3://bucket/work")
    assert "--work s3://bucket/work: the work folder lies on" in run("features", "a.jsonl", "-o", "a.parquet", "--work", "s3://bucket/work").output
    assert sorted(path.name for path in Path().iterdir()) == ["a.jsonl"]
