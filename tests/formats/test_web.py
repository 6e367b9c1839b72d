"""The text of web records: header fields, codings of HTTP, character sets, HTML."""

from __future__ import annotations

import gzip
import io
import random
import sys
import zlib
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import brotli
import pyarrow as pa
import pytest
from warcio.archiveiterator import ArchiveIterator

import likewise as lw
from archives import response
from likewise.errors import MissingPartError
from likewise.io import web

TEXT = "Grüße, 世界!"
RAW = TEXT.encode()
PAGE = (
    "<!DOCTYPE html><html><head><title>No</title><style>p {}</style></head><body><nav><a href='/'>Menu</a></nav>"
    "<main><article><h1>Head</h1><p>First <b>part</b> &amp; more.</p><p>Second.</p></article></main><script>x</script></body></html>"
)


#: With no time in it: names of tests, which hold these bytes, are the same in every process.
gzipped = partial(gzip.compress, mtime=0)


def chunked(data: bytes, size: int = 5) -> bytes:
    parts = [data[at : at + size] for at in range(0, len(data), size)]
    return b"".join(b"%x;a=b\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def raw_deflate(data: bytes) -> bytes:
    encoder = zlib.compressobj(wbits=-15)
    return encoder.compress(data) + encoder.flush()


def text_of(body: bytes, *headers: str, html: str = "text", most: int = 1 << 20, cut: bool = False) -> str | None:
    """The text of a response with this body and these headers."""
    block = "\r\n".join(["HTTP/1.1 200 OK", *headers]).encode("latin-1") + b"\r\n\r\n" + body
    found = web.text(web.of_http(block), html, most, cut=cut)
    return None if found is None else found.decode()


@pytest.mark.parametrize(
    ("body", "coding"),
    [
        (RAW, ""),
        (gzipped(RAW), "Content-Encoding: gzip"),
        (gzipped(RAW), "content-encoding: X-GZIP"),
        (gzipped(RAW[:6]) + gzipped(RAW[6:]), "Content-Encoding: gzip"),
        (gzipped(RAW) + b"\0\0", "Content-Encoding: gzip"),
        (zlib.compress(RAW), "Content-Encoding: deflate"),
        (raw_deflate(RAW), "Content-Encoding: deflate"),
        (brotli.compress(RAW), "Content-Encoding: br"),
        (pa.compress(RAW, "zstd", asbytes=True), "Content-Encoding: zstd"),
        (gzipped(brotli.compress(RAW)), "Content-Encoding: br, gzip"),
        (chunked(RAW), "Transfer-Encoding: chunked"),
        (chunked(gzipped(RAW)), "Content-Encoding: gzip\r\nTransfer-Encoding: chunked"),
        (RAW, "Transfer-Encoding: chunked"),  # the archive holds it decoded
        (RAW, "Content-Encoding: gzip"),
        (RAW, "Content-Encoding: deflate"),
        (RAW, "Content-Encoding: br"),
        (RAW, "Content-Encoding: utf-8"),
        (RAW, "Content-Encoding: identity"),
    ],
)
def test_codings(body: bytes, coding: str) -> None:
    headers = ["Content-Type: text/plain; charset=utf-8", coding] if coding else ["Content-Type: text/plain; charset=utf-8"]
    assert text_of(body, *headers) == TEXT


@pytest.mark.parametrize(
    ("body", "coding", "partial"),
    [
        (gzipped(b"word " * 2000)[:40], "Content-Encoding: gzip", "word word"),
        (zlib.compress(random.Random(1).randbytes(400).hex().encode())[:90], "Content-Encoding: deflate", ""),
        (brotli.compress(random.Random(1).randbytes(400).hex().encode())[:90], "Content-Encoding: br", ""),
        (pa.compress(RAW, "zstd", asbytes=True)[:-1], "Content-Encoding: zstd", ""),
        (pa.compress(b"word " * 100_000, "zstd", asbytes=True)[:-3], "Content-Encoding: zstd", "word " * 26_000),  # the first block of 128 KiB
        (chunked(b"one two three")[:9], "Transfer-Encoding: chunked", "on"),
        (b"3\r\none\r\nzz\r\n", "Transfer-Encoding: chunked", "one"),
    ],
)
def test_a_content_that_ends_early_is_an_error_unless_the_record_says_so(body: bytes, coding: str, partial: str) -> None:
    with pytest.raises(web.UnreadableError, match="ends early"):
        text_of(body, "Content-Type: text/plain", coding)
    text = text_of(body, "Content-Type: text/plain", coding, cut=True)
    assert text is not None and text.startswith(partial)


@pytest.mark.parametrize("pack", [gzipped, zlib.compress, raw_deflate, brotli.compress, lambda data: pa.compress(data, "zstd", asbytes=True)])
def test_a_content_that_expands_beyond_the_limit(pack: Any) -> None:
    coding = {gzipped: "gzip", zlib.compress: "deflate", raw_deflate: "deflate", brotli.compress: "br"}.get(pack, "zstd")
    headers = ("Content-Type: text/plain", f"Content-Encoding: {coding}")
    assert text_of(pack(b"a" * 100_000), *headers, most=100_000) == "a" * 100_000
    with pytest.raises(web.UnreadableError, match=r"expands to more than .*max_record.* allows \(99,999 bytes\)"):
        text_of(pack(b"a" * 100_000), *headers, most=99_999)


def test_damaged_contents() -> None:
    packed = bytearray(gzipped(random.Random(1).randbytes(300)))
    packed[40] ^= 255
    with pytest.raises(web.UnreadableError, match="is damaged"):
        text_of(bytes(packed), "Content-Type: text/plain", "Content-Encoding: gzip")
    with pytest.raises(web.UnreadableError, match="not in the coding br"):
        text_of(b"\xff\xfe\xfd" * 9, "Content-Type: text/plain", "Content-Encoding: br")


@pytest.mark.parametrize(
    ("body", "type", "text"),
    [
        ("Grüße".encode("latin-1"), "text/plain; charset=iso-8859-1", "Grüße"),
        ("“x”".encode("cp1252"), 'text/plain; charset="ISO-8859-1"', "“x”"),  # the standard reads Latin-1 as Windows-1252
        ("привет".encode("koi8-r"), "text/plain; charset=KOI8-R", "привет"),
        ("世界".encode("shift_jis"), "text/plain; charset=shift-jis", "世界"),
        ("世界".encode("gb18030"), "text/plain; charset=gb2312", "世界"),
        (RAW, "text/plain", TEXT),
        (RAW, "text/plain; charset=x-unknown", TEXT),
        (RAW, "text/plain; charset=", TEXT),
        (b"\xef\xbb\xbf" + RAW, "text/plain; charset=latin-1", TEXT),
        (TEXT.encode("utf-16"), "text/plain", TEXT),
        (TEXT.encode("utf-16-le"), "text/plain; charset=utf-16le", TEXT),
        (b"\xfe\xff" + TEXT.encode("utf-16-be"), "text/plain; charset=utf-8", TEXT),
        (b"a\xffb", "text/plain; charset=utf-8", "a\N{REPLACEMENT CHARACTER}b"),
        ("<meta charset=koi8-r><p>привет".encode("koi8-r"), "text/html", "привет"),
        ("<meta charset=koi8-r><p>Grüße".encode("latin-1"), "text/html; charset=latin1", "Grüße"),
        ("<p>Grüße".encode(), "text/html", "Grüße"),
        (b"<p>one", "application/xhtml+xml", "one"),
        (b'{"a": 1}', "application/json", '{"a": 1}'),
        (b"<a>1</a>", "application/rss+xml", "<a>1</a>"),
        (b"<p>one", "text/plain", "<p>one"),
    ],
)
def test_types_and_character_sets(body: bytes, type: str, text: str) -> None:
    assert text_of(body, f"Content-Type: {type}") == text


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"\x89PNG\r\n", ["Content-Type: image/png"]),
        (b"%PDF-1.4", ["Content-Type: application/pdf"]),
        (b"\x89PNG\0\0", ["Content-Type: text/html"]),
        (b"\x89PNG\0\0", []),
        (b"1.2.3.4", ["Content-Type: text/dns"]),
        (b"x", ["Content-Type: application/octet-stream"]),
    ],
)
def test_contents_that_are_not_text(body: bytes, headers: list[str]) -> None:
    assert text_of(body, *headers) is None


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "gzip, br"])
def test_an_answer_without_content_has_no_coding(coding: str) -> None:
    """Answers to HEAD, and those of status 304, have the headers of a content that is not there."""
    assert text_of(b"", "Content-Type: text/html", f"Content-Encoding: {coding}", "Transfer-Encoding: chunked") == ""


def test_interim_answers_and_headers_without_an_end() -> None:
    final = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + RAW
    for interim in (b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\n\n"):
        content = web.of_http(interim + final)
        assert (content.type, content.status, bytes(content.body)) == ("text/plain", 200, RAW)
    upgraded = web.of_http(b"HTTP/1.1 101 Switching Protocols\r\n\r\nx")
    assert (upgraded.status, bytes(upgraded.body)) == (101, b"x")
    unended = web.of_http(b"HTTP/1.1 304 Not Modified\r\nContent-Type: text/html\r\n")
    assert (unended.status, bytes(unended.body)) == (304, b"")


@pytest.mark.parametrize("depth", [400, 600, 300_000])
def test_a_page_of_deeply_nested_blocks_is_read_whole(depth: int) -> None:
    """To find the main text of 60,000 nested blocks took more than a minute. Blocks one after another are not nested."""
    page = "<nav>Menu</nav>" + "<div>\n</DIV>" * depth + "<Div class=x>" * depth + "<main><p>one two three</p></main>"
    text = text_of(page.encode(), "Content-Type: text/html; charset=utf-8", html="main", most=1 << 26)
    assert text is not None
    assert text.split() == (["one", "two", "three"] if depth < 500 else ["Menu", "one", "two", "three"])


def test_long_headers_and_bodies_of_many_members(monkeypatch: pytest.MonkeyPatch) -> None:
    """A header of spaces took half a minute. Each member of a body took a copy of the rest, so that millions of them took hours."""
    spaced = b"HTTP/1.1 200 OK\r\nA: x" + b" " * 60_000 + b"y\r\n\r\n"
    assert web.fields(spaced) == [(b"a", b"x" + b" " * 60_000 + b"y")]
    rests: list[int] = []

    class Decoder:
        def __init__(self, window: int):
            self.decoder = zlib.decompressobj(window)

        def decompress(self, data: bytes, most: int) -> bytes:
            rests.append(len(data))
            return self.decoder.decompress(data, most)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.decoder, name)

    monkeypatch.setattr(web, "zlib", SimpleNamespace(decompressobj=Decoder, error=zlib.error))
    body = gzipped(b"") * 10_000 + gzipped(RAW)
    assert text_of(body, "Content-Type: text/plain", "Content-Encoding: gzip") == TEXT
    assert max(rests) <= web.STEP_BYTES < len(body)


def test_a_response_without_a_header_or_a_type() -> None:
    assert web.text(web.of_http(b"<html><p>one"), "text", 99) == b"one"
    assert web.text(web.of_http(b"just text"), "text", 99) == b"just text"
    assert web.of_http(b"HTTP/1.0 x\r\nA: b\r\n c\r\n\r\n").status is None
    assert web.by_name(web.fields(b"WARC/1.0\nA: b\n c\nA: d\n\n")) == {b"a": b"b c"}


@pytest.mark.parametrize(
    ("html", "text"), [("text", "Menu\n\nHead\n\nFirst part & more.\n\nSecond."), ("main", "Head\n\nFirst part & more.\n\nSecond."), ("raw", PAGE)]
)
def test_html(tmp_path: Path, html: Any, text: str) -> None:
    assert text_of(PAGE.encode(), "Content-Type: text/html; charset=utf-8", html=html) == text
    (tmp_path / "a.warc").write_bytes(response(1, PAGE, "Content-Type: text/html") + response(2, text))
    assert len(lw.pairs(tmp_path / "a.warc", html=html, by="chars:3", threshold=1)) == 1
    removal = lw.dedup(tmp_path / "a.warc", out=tmp_path / "out", html=html)
    assert removal.report["method"]["html"] == html
    assert lw.audit(tmp_path / "out").items == 1  # reads the same texts again


@pytest.mark.parametrize("page", ["<div>" * 100_000, "<b>" * 100_000 + "x", "<" * 100_000, "<table>" * 20_000, "&" * 100_000, "<p a='" * 10_000])
def test_hostile_pages_are_read(page: str) -> None:
    assert text_of(page.encode(), "Content-Type: text/html") is not None


def test_brotli_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "brotli", None)
    with pytest.raises(MissingPartError, match="content in the coding br is read with Brotli, which is not installed"):
        text_of(b"x", "Content-Type: text/plain", "Content-Encoding: br")


def test_contents_are_those_of_warcio() -> None:
    """Random texts in random codings, decoded by another library."""
    rnd = random.Random(3)
    for _ in range(200):
        body = " ".join(rnd.choices(["a", "ü", "世", "\n", "1"], k=rnd.randrange(60))).encode()
        codings, packed = [], body
        if rnd.random() < 0.7:
            name, pack = rnd.choice([("gzip", gzipped), ("deflate", zlib.compress)])
            codings, packed = [f"Content-Encoding: {name}"], pack(body)
        if rnd.random() < 0.5:
            codings, packed = [*codings, "Transfer-Encoding: chunked"], chunked(packed, rnd.randrange(1, 40))
        raw = response(1, packed, "Content-Type: text/plain; charset=utf-8", *codings)
        [read] = [one.content_stream().read() for one in ArchiveIterator(io.BytesIO(raw))]
        assert read == body
        assert text_of(packed, "Content-Type: text/plain; charset=utf-8", *codings) == body.decode()
