"""Inputs on servers, over http: what is read, what is requested, and what happens if the server fails."""

from __future__ import annotations

import base64
import gzip
import json
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import likewise as lw
from file_server import BUSY, CUT, SILENT, WHOLE, Server, serving
from likewise.errors import DataError, UsageError
from likewise.io import attempts
from likewise.io.address import place, without_secrets
from likewise.io.ranged import MOST_AHEAD, Ranged
from likewise.report.originals import Originals

#: 40 texts, of which each odd one is a copy of the one before.
TEXTS = [f"document {number // 2} about the subject {number // 2} in a few words" for number in range(40)]
LINES = "".join(json.dumps({"id": number, "text": text}) + "\n" for number, text in enumerate(TEXTS)).encode()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """It has all the time that it needs, but for an answer that never comes: that the server has been asked for it is enough."""
    opened = urllib.request.urlopen

    def patient(request: urllib.request.Request, timeout: float) -> Any:
        if found.faults[:1] != [SILENT]:
            return opened(request, timeout=timeout)
        before = len(found.requests)
        try:
            return opened(request, timeout=0.05)
        finally:
            while len(found.requests) == before:
                time.sleep(0.001)

    monkeypatch.setattr(attempts, "WAIT", 0.001)
    monkeypatch.setattr(urllib.request, "urlopen", patient)
    with serving() as found:
        yield found


def contents(tmp_path: Path) -> dict[str, bytes]:
    """The same rows in each format that can be read by name."""
    table = pa.table({"id": pa.array(range(40)), "text": TEXTS})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=7)
    pyarrow.feather.write_feather(table, tmp_path / "a.arrow", chunksize=7)
    return {
        "a.jsonl": LINES,
        "a.jsonl.gz": gzip.compress(LINES[:900]) + gzip.compress(LINES[900:]),
        "a.jsonl.zst": pa.Codec("zstd").compress(LINES, asbytes=True),
        "a.json": json.dumps([{"id": number, "text": text} for number, text in enumerate(TEXTS)]).encode(),
        "a.csv": ("id,text\n" + "".join(f"{number},{text}\n" for number, text in enumerate(TEXTS))).encode(),
        "a.parquet": (tmp_path / "a.parquet").read_bytes(),
        "a.arrow": (tmp_path / "a.arrow").read_bytes(),
    }


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.json", "a.csv", "a.parquet", "a.arrow"])
@pytest.mark.parametrize("ranges", [True, False])
def test_kept_records_are_those_of_the_same_file_on_the_disk(server: Server, tmp_path: Path, name: str, ranges: bool) -> None:
    content = contents(tmp_path)[name]
    (tmp_path / "local").mkdir()
    (tmp_path / "local" / name).write_bytes(content)
    server.files[f"/x/{name}"], server.ranges = content, ranges
    lw.dedup(tmp_path / "local" / name, out=tmp_path / "here")
    result = lw.dedup(f"{server.url}/x/{name}?signature=abc", out=tmp_path / "there")
    assert (result.report["counts"]["read"], result.report["counts"]["kept"]) == (40, 20)
    for file in (f"kept/{name}", "removed.parquet", "clusters.parquet", "report.json", "manifest.json"):
        assert (tmp_path / "there" / file).read_bytes() == (tmp_path / "here" / file).read_bytes()
    if not ranges:
        looks = 2 if name == "a.json" else 1  # its name does not tell whether it is an array, which is asked for first
        assert [request.first for request in server.requests] == [-1] * (looks + 1)  # at last the whole file


@pytest.mark.parametrize(
    "faults", [(BUSY, BUSY), ("", BUSY, BUSY), ("", SILENT, SILENT), ("", "", CUT, CUT), ("", "", WHOLE), ("", "", CUT, BUSY, SILENT, WHOLE)]
)
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.parquet", "a.arrow"])
def test_a_request_that_fails_is_repeated(server: Server, tmp_path: Path, name: str, faults: tuple[str, ...]) -> None:
    server.files[f"/{name}"], server.faults = contents(tmp_path)[name], list(faults)
    result = lw.dedup(f"{server.url}/{name}")
    assert (result.report["counts"]["read"], result.report["counts"]["kept"]) == (40, 20)
    assert not server.faults


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.parquet", "a.arrow"])
@pytest.mark.parametrize("on_error", ["fail", "skip"])
def test_a_file_that_cannot_be_read_whole_stops_the_run_which_can_be_resumed(server: Server, tmp_path: Path, name: str, on_error: Any) -> None:
    server.files[f"/{name}"] = contents(tmp_path)[name]
    lw.dedup(f"{server.url}/{name}", out=tmp_path / "whole")
    for before in range(1, 4):
        server.faults = [""] * before + [CUT] * 100
        with pytest.raises(OSError, match=r"the server sent [\d,]+ of [\d,]+ bytes \(after 5 attempts\)"):
            lw.dedup(f"{server.url}/{name}", out=tmp_path / "out", on_error=on_error, resume=before > 1)
        assert not (tmp_path / "out").exists()
    server.faults = []
    lw.dedup(f"{server.url}/{name}", out=tmp_path / "out", on_error=on_error, resume=True)
    assert (tmp_path / "out" / "kept" / name).read_bytes() == (tmp_path / "whole" / "kept" / name).read_bytes()


def test_waits_before_attempts_double(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(attempts, "WAIT", 0.5)
    monkeypatch.setattr(attempts.time, "sleep", waits.append)
    server.files["/a.jsonl"], server.faults = LINES, [BUSY] * 4
    assert place(f"{server.url}/a.jsonl").stat().st_size == len(LINES)
    assert waits == [0.5, 1, 2, 4]


def test_without_ranges_a_file_that_is_cut_short_is_read_again(server: Server, tmp_path: Path) -> None:
    server.files["/a.jsonl"], server.ranges, server.faults = LINES, False, ["", CUT, CUT]
    assert lw.dedup(f"{server.url}/a.jsonl").report["counts"]["read"] == 40
    server.faults = ["", *[CUT] * 5]
    with pytest.raises(OSError, match="after 5 attempts"):
        lw.dedup(f"{server.url}/a.jsonl")


@pytest.mark.parametrize("length", [False, "many", "-1"])
def test_without_ranges_and_size_the_end_of_a_file_is_unknown(server: Server, length: bool | str) -> None:
    server.files["/a.jsonl"], server.ranges, server.length = LINES, False, length
    with pytest.raises(DataError, match=r"does not state the size of this file, so its end cannot be known; download it first"):
        lw.dedup(f"{server.url}/a.jsonl")


def test_a_plan_reads_no_file_of_which_only_the_whole_is_sent(server: Server) -> None:
    server.files["/a.npy"], server.ranges = b"x", False
    with pytest.raises(UsageError, match="cannot send ranges of a file, so it cannot be read here; download the file first"):
        lw.plan(by="cosine", inputs=f"{server.url}/a.npy")


def test_only_the_compared_column_of_a_parquet_file_is_read(server: Server, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    text = ["".join(rng.choice(list("abcdefgh "), 200)) for _ in range(5000)]
    pq.write_table(pa.table({"text": text, "blob": [rng.bytes(1000) for _ in range(5000)]}), tmp_path / "a.parquet", row_group_size=1000)
    content = (tmp_path / "a.parquet").read_bytes()
    metadata = pq.read_metadata(tmp_path / "a.parquet")
    wanted = sum(metadata.row_group(number).column(0).total_compressed_size for number in range(metadata.num_row_groups))
    server.files["/a.parquet"] = content
    result = lw.dedup(f"{server.url}/a.parquet")
    assert result.report["counts"]["read"] == 5000
    assert wanted <= server.sent < wanted + 300_000 < len(content) / 4  # with headers, footers and a look at the first rows


def test_an_item_that_is_shown_is_read_from_its_row_group_alone(server: Server, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    text = ["".join(rng.choice(list("abcdefgh "), 500)) for _ in range(20000)]
    text[19000] = text[0]
    pq.write_table(pa.table({"text": text}), tmp_path / "a.parquet", row_group_size=500, compression="none")
    server.files["/a.parquet"] = (tmp_path / "a.parquet").read_bytes()
    result = lw.dedup(f"{server.url}/a.parquet")
    server.requests.clear()
    assert result.removed.with_text().to_arrow()["text"].to_pylist()[0].startswith(text[0][:50])
    assert server.sent < 3 * 500 * 520 < len(server.files["/a.parquet"]) / 10


def test_consecutive_reads_ask_for_more_and_more(server: Server) -> None:
    server.files["/a"] = content = np.random.default_rng(0).bytes(40 << 20)
    address: Any = place(f"{server.url}/a")
    with Ranged(address, address.stat()) as file:
        assert b"".join(iter(lambda: file.read(1 << 16), b"")) == content
    asked = [request.sent for request in server.requests[1:]]
    assert sum(asked) == len(content)  # no byte twice
    assert len(asked) < 20
    assert max(asked) == MOST_AHEAD


def test_a_file_that_changes_during_a_run_is_refused(server: Server) -> None:
    server.files["/a"] = b"first" * 100
    address: Any = place(f"{server.url}/a")
    file = Ranged(address, address.stat())
    assert file.read(5) == b"first"
    server.files["/a"] = b"other" * 100
    with pytest.raises(DataError, match="has changed during the run"):
        file.read(5)


def test_an_input_that_was_replaced_is_noticed_when_a_run_is_resumed(server: Server, tmp_path: Path) -> None:
    server.files["/a.jsonl"] = LINES
    lw.dedup(f"{server.url}/a.jsonl")
    server.requests.clear()
    lw.dedup(f"{server.url}/a.jsonl", out=tmp_path / "whole")  # the header is known already
    server.faults = [""] * (len(server.requests) - 2) + [CUT] * 9  # while the kept records are copied; the last request asks for the state
    with pytest.raises(OSError, match="after 5 attempts"):
        lw.dedup(f"{server.url}/a.jsonl", out=tmp_path / "out")
    server.files["/a.jsonl"], server.faults = LINES[:-1] + b" ", []  # of the same size
    with pytest.raises(lw.LikewiseError, match="inputs"):
        lw.dedup(f"{server.url}/a.jsonl", out=tmp_path / "out", resume=True)
    server.files["/a.jsonl"] = LINES
    lw.dedup(f"{server.url}/a.jsonl", out=tmp_path / "out", resume=True)
    assert (tmp_path / "out" / "kept" / "a.jsonl").read_bytes() == (tmp_path / "whole" / "kept" / "a.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (404, r"no such file at this address \(the server answers 404 Not Found\)$"),
        (403, "answers 403 Forbidden; give a signed address"),
        (401, "401"),
    ],
)
def test_a_status_that_is_an_error_is_named(server: Server, status: int, says: str) -> None:
    server.files["/a.jsonl"] = LINES
    server.statuses["/a.jsonl"] = status
    with pytest.raises(UsageError, match=says):
        lw.dedup(f"{server.url}/a.jsonl")


@pytest.mark.parametrize("address", ["", "/", "/folder/"])
def test_folders_on_servers_are_not_listed(server: Server, address: str) -> None:
    with pytest.raises(UsageError, match="an http address names a file; folders on servers cannot be listed"):
        lw.dedup(server.url + address)


def test_no_server_answers(server: Server) -> None:
    with pytest.raises(UsageError, match=r"Connection refused \(after 5 attempts\)$"):
        lw.dedup("http://127.0.0.1:9/a.jsonl")


def test_secrets_of_an_address_are_written_nowhere(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.files |= {"/a.jsonl": LINES, "/b.parquet": contents(tmp_path)["a.parquet"]}
    server.login = "Basic " + base64.b64encode(b"reader:pass:word").decode()
    host = server.url.removeprefix("http://")
    inputs = [place(f"http://reader:pass%3Aword@{host}/{name}?sig=S3CR3T") for name in ("a.jsonl", "b.parquet")]
    lw.dedup(inputs, out=tmp_path / "out")
    server.faults = ["", "", "", "", *[CUT] * 99]
    with pytest.raises(OSError, match="after 5 attempts") as stopped:
        lw.dedup(inputs, out=tmp_path / "other", work=tmp_path / "work")
    server.faults = []
    server.statuses["/a.jsonl"] = 403
    with pytest.raises(UsageError, match="a signed address may have expired") as refused:
        lw.dedup(inputs)
    written = [path.read_bytes() for folder in ("out", "work") for path in (tmp_path / folder).rglob("*") if path.is_file()]
    assert len(written) > 10
    said = [str(error.value).encode() + repr(error.value).encode() for error in (stopped, refused)]
    for secret in (b"S3CR3T", b"sig=", b"reader", b"pass", base64.b64encode(b"reader:pass:word")):
        assert not any(secret in data for data in (*written, *said))
    run = json.loads((tmp_path / "out" / "run.json").read_bytes())
    assert [entry["path"] for entry in run["inputs"]] == [f"http://{host}/a.jsonl?...", f"http://{host}/b.parquet?..."]


def test_the_command_that_resumes_a_run_has_no_secrets() -> None:
    assert without_secrets("http://user:word@host/a.jsonl?sig=1") == "http://host/a.jsonl?..."
    assert [without_secrets(word) for word in ("a.jsonl", "-o", "s3://bucket/key", "C:/x")] == ["a.jsonl", "-o", "s3://bucket/key", "C:/x"]
    assert repr(place("https://user:word@host/a?sig=1")) == "Address('https://host/a?...')"


def test_two_addresses_that_differ_in_their_query_are_two_inputs(server: Server) -> None:
    server.files["/a.jsonl"] = LINES
    result = lw.dedup([place(f"{server.url}/a.jsonl?part={part}") for part in (1, 2)])
    assert result.report["counts"]["read"] == 80
    assert set(result.removed.to_arrow()["source"].to_pylist()) == {"a.jsonl", "a-2.jsonl"}


def test_a_file_of_the_same_size_is_known_by_its_etag(server: Server, tmp_path: Path) -> None:
    server.files["/a.jsonl"] = LINES
    lw.dedup(f"{server.url}/a.jsonl", out=tmp_path / "clean")
    pairs = lw.pairs(f"{server.url}/a.jsonl")
    originals = Originals(tmp_path / "clean")
    assert originals.changed() == []
    server.files["/a.jsonl"] = LINES.swapcase()
    assert Originals(tmp_path / "clean").changed() == ["a.jsonl"]
    with pytest.raises(DataError, match="has changed since the run, so its items cannot be read again"):
        pairs.with_text()
