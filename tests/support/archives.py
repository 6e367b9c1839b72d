"""Web archives made by hand, and their records as warcio and fastwarc read them."""

from __future__ import annotations

import gzip
import io
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
from fastwarc.warc import ArchiveIterator
from warcio.archiveiterator import ArchiveIterator as Records


def record(kind: str, number: int | str, block: bytes, content_type: str = "application/http", *more: str, length: int | None = None) -> bytes:
    """Return a record with the id <urn:x:NUMBER>, the URI http://a.example/NUMBER and a date on day NUMBER. more: further lines of the header."""
    day = number if isinstance(number, int) else 1
    lines = [
        "WARC/1.0",
        f"WARC-Type: {kind}",
        f"WARC-Record-ID: <urn:x:{number}>",
        f"WARC-Target-URI: http://a.example/{number}",
        f"WARC-Date: 2024-05-{day:02}T12:00:00Z",
        f"Content-Type: {content_type}",
        *more,
        f"Content-Length: {len(block) if length is None else length}",
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def response(number: int, body: bytes | str, *headers: str, status: str = "200 OK", more: Sequence[str] = ()) -> bytes:
    """Return a record of an HTTP response, of text/plain in UTF-8 unless ``headers`` are given."""
    raw = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", *(headers or ("Content-Type: text/plain; charset=utf-8",))]
    return record("response", number, "\r\n".join(lines).encode() + b"\r\n\r\n" + raw, "application/http; msgtype=response", *more)


def request(number: int | str, *more: str) -> bytes:
    """Return a record of an HTTP request."""
    return record("request", number, b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n", "application/http; msgtype=request", *more)


INFO = record("warcinfo", "info", b"software: by hand\r\n", "application/warc-fields")


def members(records: Sequence[bytes]) -> bytes:
    """Return a gzip archive with a member for each record."""
    return b"".join(gzip.compress(one, mtime=0) for one in records)


def full_ids(path: Path) -> list[str]:
    """Return the ids of an archive's records; warcio and fastwarc must find the same ones."""
    raw = path.read_bytes()
    if path.suffix == ".zst":
        raw = pa.CompressedInputStream(pa.BufferReader(raw), "zstd").read()
    headers = (one.rec_headers for one in Records(io.BytesIO(raw)))
    found = [one.get_header("WARC-Record-ID") for one in headers]
    assert [one.record_id for one in ArchiveIterator(io.BytesIO(raw), parse_http=False)] == found
    return found


def ids(path: Path) -> list[str]:
    """Return the short ids of an archive's records: 1 for <urn:x:1>."""
    return [one.removeprefix("<urn:x:").removesuffix(">") for one in full_ids(path)]
