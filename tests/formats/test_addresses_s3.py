"""Inputs in an object store, by moto's server: folders, patterns, ranges, and errors."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from likewise.errors import DataError, UsageError
from likewise.io.address import Address, place
from likewise.io.stores import objects
from object_store import Objects, serving_objects

TEXTS = [f"document {number // 2} about the subject {number // 2} in a few words" for number in range(40)]


@pytest.fixture(scope="module")
def server() -> Iterator[Objects]:
    with serving_objects() as found:
        yield found


@pytest.fixture
def store(server: Objects, monkeypatch: pytest.MonkeyPatch, folder: Path) -> Objects:
    """The store, an empty current folder, and a bucket of the test: its name is that of the folder."""
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_NO_SIGN_REQUEST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    server.fault = lambda method, path: False
    server.requests.clear()
    return server


def corpus(folder: Path) -> None:
    """Files of several formats with equal rows, and some that are no data."""
    lines = "".join(json.dumps({"id": f"{number}", "text": text}) + "\n" for number, text in enumerate(TEXTS)).encode()
    table = pa.table({"id": [f"{number}" for number in range(40)], "text": TEXTS})
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / ".hidden").mkdir()
    (folder / "a.jsonl").write_bytes(lines)
    (folder / "deep" / "b.jsonl.gz").write_bytes(gzip.compress(lines))
    pq.write_table(table, folder / "deep" / "er" / "c.parquet")
    (folder / "deep" / "notes.txt").write_bytes(b"some words that are in no other file")
    (folder / ".hidden" / "d.jsonl").write_bytes(lines)
    (folder / "odd.bin").write_bytes(b"\x89PNG\0\xff")


def same(here: Path, there: Path) -> None:
    """Outputs are equal but for the places of the inputs and times."""
    names = sorted(path.relative_to(here).as_posix() for path in here.rglob("*") if path.is_file())
    assert names == sorted(path.relative_to(there).as_posix() for path in there.rglob("*") if path.is_file())
    for name in set(names) - {"run.json", "report.html"}:
        assert (here / name).read_bytes() == (there / name).read_bytes(), name


@pytest.mark.parametrize("what", ["", "/deep", "/a.jsonl", "/*.jsonl", "/**/*.parquet", "/deep/**", "/d*/b*", "/deep/er/c.parquet"])
def test_inputs_in_a_bucket_are_those_of_the_same_folder(store: Objects, folder: Path, what: str) -> None:
    corpus(folder / "corpus")
    store.put_folder(folder / "corpus", "same/corpus")
    lw.dedup(f"corpus{what}", out="here")
    lw.dedup(f"s3://same/corpus{what}", out="there")
    same(folder / "here", folder / "there")
    assert len(json.loads((folder / "there" / "run.json").read_bytes())["inputs"]) >= 1
    for entry in json.loads((folder / "there" / "run.json").read_bytes())["inputs"]:
        assert entry["path"].startswith("s3://same/corpus/")


def test_a_whole_bucket_and_several_addresses(store: Objects, folder: Path) -> None:
    corpus(folder / "corpus")
    store.put_folder(folder / "corpus", "whole")
    assert lw.dedup("s3://whole").report["counts"]["read"] == 121
    result = lw.dedup([Path("s3://whole/a.jsonl"), Path("s3://whole/deep/b.jsonl.gz"), folder / "corpus" / "deep" / "er"])
    assert result.report["counts"]["read"] == 120
    assert lw.dedup([Path("s3://whole/a.jsonl"), Path("s3://whole/*.jsonl")]).report["counts"]["read"] == 40  # given twice, read once


def test_every_verb_reads_addresses(store: Objects, folder: Path) -> None:
    corpus(folder / "corpus")
    store.put_folder(folder / "corpus", "verbs")
    a, b = "s3://verbs/a.jsonl", "s3://verbs/deep/b.jsonl.gz"
    assert len(lw.pairs(a)) == 20
    assert len(lw.pairs(a, against=b)) == 80
    assert len(lw.neighbors(a, query=b, k=2)) == 80
    assert lw.audit(a, sample=5).recall != 1  # all similar items are copies, so nothing is measured
    assert lw.plan(inputs=a).bands == lw.plan(inputs="corpus/a.jsonl").bands
    found = lw.dedup(a).removed.with_text().to_arrow()
    assert found["text"].to_pylist() == TEXTS[1::2]


def test_only_the_compared_column_is_read(store: Objects, folder: Path) -> None:
    rng = np.random.default_rng(0)
    text = ["".join(rng.choice(list("abcdefgh "), 200)) for _ in range(5000)]
    pq.write_table(pa.table({"text": text, "blob": [rng.bytes(1000) for _ in range(5000)]}), "a.parquet", row_group_size=1000)
    content = Path("a.parquet").read_bytes()
    metadata = pq.read_metadata("a.parquet")
    wanted = sum(metadata.row_group(number).column(0).total_compressed_size for number in range(metadata.num_row_groups))
    store.put("columns/a.parquet", content)
    store.requests.clear()
    assert lw.dedup("s3://columns/a.parquet").report["counts"]["read"] == 5000
    sent = sum(request.sent for request in store.requests if request.method == "GET")
    assert wanted <= sent < wanted + 300_000 < len(content) / 4


def test_a_busy_store_is_asked_again(store: Objects, folder: Path) -> None:
    corpus(folder / "corpus")
    store.put_folder(folder / "corpus", "busy")
    seen: dict[tuple[str, str], int] = {}

    def fault(method: str, path: str) -> bool:
        seen[method, path] = seen.get((method, path), 0) + 1
        return seen[method, path] <= 2

    store.fault = fault
    assert lw.dedup("s3://busy").report["counts"]["read"] == 121
    assert sum(number > 2 for number in seen.values()) > 4


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("s3://errors/none.jsonl", r"^s3://errors/none\.jsonl: no such file or folder$"),
        ("s3://no-such-bucket/a.jsonl", r"^s3://no-such-bucket/a\.jsonl: no such file or folder; the bucket no-such-bucket does not exist$"),
        ("s3://no-such-bucket", r"^s3://no-such-bucket: no such bucket$"),
        ("s3://errors/*.parquet", r"no file matches this pattern"),
        ("s3://errors/bin", r"no data file in this folder, only others \(1, such as odd\.bin\)"),
        ("abfs://errors/a.jsonl", r"this kind of address cannot be read; likewise reads s3://, gs://, hf://, http://, https://"),
        ("s3://KEY:SECRET@errors/a.jsonl", r"^s3://\.\.\.: an address must not contain credentials"),
    ],
)
def test_addresses_without_data_are_named(store: Objects, given: str, says: str) -> None:
    store.put("errors/bin/odd.bin", b"\x89PNG\0\xff")
    with pytest.raises(UsageError, match=says) as refused:
        lw.dedup(given)
    assert "SECRET" not in str(refused.value)


def test_refused_access_is_explained(store: Objects, monkeypatch: pytest.MonkeyPatch) -> None:
    import moto.core.responses as responses

    store.put("private/a.jsonl", b"{}\n")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "unknown")
    monkeypatch.setattr(responses.ActionAuthenticatorMixin, "request_count", 0)
    monkeypatch.setattr("moto.settings.INITIAL_NO_AUTH_ACTION_COUNT", 0.0)
    with pytest.raises(UsageError, match=r"^s3://private/a\.jsonl: cannot be read: access is refused .*; give credentials by AWS_ACCESS_KEY_ID"):
        lw.dedup("s3://private/a.jsonl")


@pytest.mark.parametrize("name", ["any/a.jsonl", "any/Bucket.jsonl", "credentials/a.jsonl", "any/credentials/NOT_FOUND.jsonl"])
def test_a_store_that_cannot_be_reached_is_named(store: Objects, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setattr("likewise.io.stores.objects.TRIES", 1)
    with pytest.raises(UsageError, match=rf"^s3://{re.escape(name)}: cannot be read: .*Could not connect to server"):
        lw.dedup(f"s3://{name}")


def test_google_cloud_storage_that_cannot_be_reached_is_named_soon(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Google's client would repeat the request for a quarter of an hour."""
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", "http://127.0.0.1:9")
    monkeypatch.setattr(objects, "REPEATED", 1)
    with pytest.raises(UsageError, match=r"^gs://any/a\.jsonl: cannot be read: [^{}]*Could not connect to server$"):
        lw.dedup("gs://any/a.jsonl")


def test_missing_credentials_of_google_are_explained() -> None:
    said = (
        "google::cloud::Status(UNAVAILABLE: Retry policy exhausted, with a last message of Could not create a OAuth2 access token to "
        "authenticate the request. error_info={reason=, domain=})"
    )
    says = r"access is refused \(no credentials were found\); give credentials by GOOGLE_APPLICATION_CREDENTIALS"
    with pytest.raises(PermissionError, match=says), objects.named(Address("gs", "any")):
        raise OSError(said)


def test_an_output_in_the_bucket_is_no_input(store: Objects, folder: Path) -> None:
    corpus(folder / "corpus")
    store.put_folder(folder / "corpus", "again")
    lw.dedup("s3://again", out="s3://again/clean")
    assert lw.dedup("s3://again").report["counts"]["read"] == 121
    with pytest.raises(UsageError, match=r"this is an output folder of likewise; its records are in s3://again/clean/kept"):
        lw.dedup("s3://again/clean")
    assert lw.dedup("s3://again/clean/kept").report["counts"]["read"] == 21


def test_parts_of_a_key_lead_to_no_other_folder(store: Objects, folder: Path) -> None:
    (folder / "in").mkdir()
    (folder / "in" / "a.txt").write_text("some words of a text")
    store.put_folder(folder / "in", "parts/x")
    from likewise.io.address import Address
    from likewise.io.storage import placed

    for address in (Address("s3", "b", "x/../../y"), Address("http", "h", "x/..%2F..%2Fy"), Address("http", "h", "%2e%2e/y")):
        assert ".." not in placed(address).parts  # type: ignore[arg-type]


def test_an_object_with_the_name_of_a_folder_loses_no_row(store: Objects) -> None:
    """Stores allow both; a file system does not."""
    store.put("both/d/x.jsonl", b'{"text": "one two three"}\n')
    store.put("both/d/x.jsonl/y.jsonl", b'{"text": "four five six"}\n')
    for given in ("s3://both/d", "s3://both/d/*", "s3://both/**/*.jsonl"):
        with pytest.raises(
            DataError, match=r"^s3://both/d/x\.jsonl: is both an object and a folder, of which only one could be read; name the files"
        ):
            lw.dedup(given)
    files = [place("s3://both/d/x.jsonl"), place("s3://both/d/x.jsonl/y.jsonl")]
    assert lw.dedup(files).report["counts"]["read"] == 2
