"""Content of web records: header fields, HTTP codings, character sets, and the text of HTML.

Follows RFC 9112 (messages, chunked coding), RFC 9110 (content codings) and the WHATWG Encoding Standard (labels of character sets).
"""

from __future__ import annotations

import codecs
import re
import zlib
from typing import Any, NamedTuple

import pyarrow as pa

from likewise.errors import missing_part
from likewise.messages import option

#: End of a header: a line without text. Headers longer than HEAD_BYTES are not read.
BLANK_LINE = re.compile(rb"\r?\n\r?\n")
HEAD_BYTES = 1 << 16
#: Bytes given to a decoder at a time: few, because a decoder copies those behind a member, and a body may have millions of members.
STEP_BYTES = 1 << 12
READ_BYTES = 1 << 16
#: Bytes in which a zero shows that a content is binary, and markup that it is HTML, if its type is unknown.
SNIFFED = 1024
FIELD = re.compile(rb"^([^\s:]+)[ \t]*:[ \t]*(.*)$", re.MULTILINE)
INTERIM = re.compile(rb"HTTP/[0-9.]+ 1[0-9][0-9][^\n]*\n(?:[^\r\n][^\n]*\n)*\r?\n(?=HTTP/)")
FOLDED = re.compile(rb"\r?\n[ \t]+")
CHARSET = re.compile(r"""charset\s*=\s*["']?([^\s"';,]+)""", re.IGNORECASE)
MARKUP = re.compile(rb"<(!doctype|html|head|body|title|meta|script|div|p|table|a|h1)[\s>]", re.IGNORECASE)
BLOCKS = re.compile(r"<(/?)(?:div|article)\b", re.IGNORECASE)
DEEP = 500  # browsers allow 512
CHUNK = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?\r?\n")
HTML = ("text/html", "application/xhtml+xml")
#: Types of text outside of text/*; text/dns is the answer of a name server.
TEXTUAL = re.compile(r"text/(?!dns$).+|application/(xhtml\+xml|xml|json|javascript|x-javascript|ecmascript|ld\+json)|.*\+(xml|json)")
MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


class UnreadableError(Exception):
    """Raised with the reason if a content cannot be decoded."""


class Content(NamedTuple):
    """A content before it is decoded."""

    type: str  # media type in lower case without parameters; "" if unknown
    charset: str  # label of the character set; "" if unknown
    codings: tuple[str, ...]  # in the order in which they must be undone
    status: int | None  # of HTTP
    body: Any  # bytes or a memoryview


def fields(head: bytes) -> list[tuple[bytes, bytes]]:
    """Return the fields of a header, (name in lower case, value) each.

    >>> fields(b"WARC/1.0\\r\\nContent-Length: 3\\r\\n\\r\\n")
    [(b'content-length', b'3')]
    """
    if b"\n " in head or b"\n\t" in head:
        head = FOLDED.sub(b" ", head)
    return [(name.lower(), value.rstrip(b" \t\r")) for name, value in FIELD.findall(head)]


def by_name(fields: list[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Return a dict of the fields; of several of one name, the first."""
    return dict(reversed(fields))


def media(value: bytes) -> tuple[str, str]:
    """Return the media type and the label of the character set in a Content-Type.

    >>> media(b'Text/HTML; charset="UTF-8"')
    ('text/html', 'utf-8')
    """
    text = value.decode("latin-1")
    charset = CHARSET.search(text)
    return text.partition(";")[0].strip().lower(), charset[1].lower() if charset else ""


def of_http(block: bytes) -> Content:
    """Return the content of an HTTP response, behind interim ones (1xx). Without a header, the whole block is the content, of unknown type."""
    while interim := INTERIM.match(block, 0, HEAD_BYTES):
        block = block[interim.end() :]
    if not block.startswith(b"HTTP/"):
        return Content("", "", (), None, block)
    # a header without content may lack the empty line
    end = BLANK_LINE.search(block, 0, HEAD_BYTES) or (BLANK_LINE.search(block + b"\r\n") if len(block) < HEAD_BYTES else None)
    if end is None:
        return Content("", "", (), None, block)
    head = block[: end.start()]
    found = by_name(fields(head))
    status = head[:64].split(None, 2)[1:2]
    codings = [coding for name in (b"content-encoding", b"transfer-encoding") for coding in found.get(name, b"").decode("latin-1").lower().split(",")]
    undone = tuple(coding.strip() for coding in reversed(codings))
    number = int(status[0]) if status and status[0].isdigit() and len(status[0]) < 4 else None
    return Content(*media(found.get(b"content-type", b"")), undone, number, memoryview(block)[end.end() :])


def is_text(content: Content) -> bool:
    """Return whether the type of a content is one of text, or unknown."""
    return not content.type or TEXTUAL.fullmatch(content.type) is not None


def text(content: Content, html: str, most: int, *, cut: bool = False) -> bytes | None:
    """Return the text of a content in UTF-8; None if it is not text. Characters that the character set does not have are replaced.

    html: what is returned of HTML: its "text", only the "main" text, or the "raw" source. most: maximum bytes of the decoded content. cut: the
    content is known to be incomplete. Raises UnreadableError.
    """
    if not is_text(content):
        return None
    body = content.body
    for coding in content.codings:
        body = undone(coding, body, most, cut=cut)
    body = bytes(body)
    mark = next((name for begin, name in MARKS if body.startswith(begin)), "")
    wide = mark.startswith(("utf-16", "utf-32")) or content.charset.startswith("utf-16")
    if not wide and b"\0" in body[:SNIFFED]:
        return None
    is_html = content.type in HTML or (not content.type and MARKUP.search(body, 0, SNIFFED) is not None)
    if is_html and html != "raw":
        page = decoded(body, mark, content.charset, meta=True)
        return (
            parts()
            .extract_plain_text(page, main_content=html == "main" and not is_deep(page), list_bullets=False, alt_texts=False)
            .encode("utf-8", "replace")
        )
    if not mark and content.charset in ("", "utf-8", "utf8", "us-ascii") and not (is_html and not content.charset) and is_utf8(body):
        return body
    return decoded(body, mark, content.charset, meta=is_html).encode("utf-8", "replace")


def is_deep(page: str) -> bool:
    """Return whether blocks of HTML are nested more than DEEP times: the time to find the main text grows with the square of the depth."""
    depth = 0
    for tag in BLOCKS.finditer(page):
        depth = max(0, depth - 1 if tag[1] else depth + 1)
        if depth > DEEP:
            return True
    return False


def decoded(body: bytes, mark: str, label: str, *, meta: bool) -> str:
    """Return the characters of a text: by its byte-order mark, else the label of the protocol, else that inside HTML (``meta``), else its bytes."""
    if mark:
        return body.decode(mark, "replace")
    if label in ("utf-8", "utf8"):
        return body.decode("utf-8", "replace")
    library = parts()
    known = library.map_encoding_to_html5(label, fallback_utf8=False) if label else None
    if known is None and not meta and is_utf8(body):
        known = "utf-8"
    return body.decode(known or library.detect_encoding(body, from_html_meta=meta) or "utf-8", "replace")


def is_utf8(body: bytes) -> bool:
    """Return whether bytes are UTF-8."""
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def undone(coding: str, body: Any, most: int, *, cut: bool) -> Any:
    """Return a body without a coding of HTTP. A body that does not begin as the coding does is returned as it is: archives may hold it decoded."""
    if not len(body):  # of an answer without content, such as 304
        return body
    if coding == "chunked":
        return joined(body, most, cut=cut)
    if coding in ("gzip", "x-gzip"):
        return inflated(bytes(body), 31, most, cut=cut) if bytes(body[:2]) == b"\x1f\x8b" else body
    if coding == "deflate":  # with the header of zlib, or without
        return inflated(bytes(body), 15 if begins_zlib(body) else -15, most, cut=cut)
    if coding == "zstd" and bytes(body[:4]) == b"\x28\xb5\x2f\xfd":
        return expanded(bytes(body), most, cut=cut)
    if coding == "br":
        return unbrotlied(bytes(body), most, cut=cut)
    return body


def joined(body: Any, most: int, *, cut: bool) -> Any:
    """Return the chunks of a chunked body one after another."""
    data, at = bytes(body), 0
    pieces: list[bytes] = []
    if CHUNK.match(data) is None:
        return body
    while True:
        size = CHUNK.match(data, at)
        if size is None or size.end() + int(size[1], 16) > len(data):
            if cut:
                return b"".join([*pieces, data[size.end() :]] if size else pieces)
            raise UnreadableError("its chunked content ends early or is damaged")
        end = size.end() + int(size[1], 16)
        if end == size.end():
            return b"".join(pieces)
        pieces.append(data[size.end() : end])
        at = end + (2 if data.startswith(b"\r\n", end) else 1 if data.startswith(b"\n", end) else 0)


def begins_zlib(body: Any) -> bool:
    """Return whether bytes begin with a header of zlib (RFC 1950, section 2.2)."""
    return len(body) > 1 and body[0] & 15 == 8 and (body[0] << 8 | body[1]) % 31 == 0


def inflated(body: bytes, window: int, most: int, *, cut: bool) -> bytes:
    """Return the text of all members of a deflated body; a body that is UTF-8, not deflate, is returned as it is."""
    out, at = bytearray(), 0
    while True:
        decoder = zlib.decompressobj(window)
        try:
            while not decoder.eof and (given := body[at : at + STEP_BYTES]):
                out += decoder.decompress(given, most + 1 - len(out))
                refuse_long(out, most)
                at += len(given) - len(decoder.unused_data)
        except zlib.error as error:
            if not out and window != 31 and is_utf8(body):
                return body
            raise UnreadableError(f"its compressed content is damaged ({error})") from None
        if not decoder.eof and not cut:
            raise UnreadableError("its compressed content ends early")
        if window != 31 or not body.startswith(b"\x1f\x8b", at):
            return bytes(out)


def expanded(body: bytes, most: int, *, cut: bool) -> bytes:
    """Return the text of a body compressed by zstd."""
    out = bytearray()
    for step in (READ_BYTES, 1):  # a decoder's error loses the text of its last step
        try:
            with pa.CompressedInputStream(pa.BufferReader(body), "zstd") as stream:
                stream.read(len(out))
                while more := stream.read(min(step, most + 1 - len(out))):
                    out += more
                    refuse_long(out, most)
            break
        except OSError as error:
            if "Truncated" not in str(error):
                raise UnreadableError(f"its compressed content is damaged ({error})") from None
            if not cut:
                raise UnreadableError("its compressed content ends early") from None
    return bytes(out)


def unbrotlied(data: bytes, most: int, *, cut: bool) -> bytes:
    """Return the text of a body compressed by Brotli; a body that is UTF-8, not Brotli, is returned as it is."""
    try:
        import brotli
    except ImportError as error:
        raise missing_part("content in the coding br is read with", "Brotli", "brotli") from error
    decoder, out = brotli.Decompressor(), b""
    try:
        out = decoder.process(data, output_buffer_limit=most + 1)
        while len(out) <= most and not decoder.is_finished() and (more := decoder.process(b"", output_buffer_limit=most + 1 - len(out))):
            out += more
    except brotli.error:
        if is_utf8(data):
            return data
        raise UnreadableError("its content is not in the coding br, which its header names") from None
    refuse_long(out, most)
    if not decoder.is_finished() and is_utf8(data):
        return data
    if not decoder.is_finished() and not cut:
        raise UnreadableError("its compressed content ends early")
    return out


def refuse_long(out: bytes | bytearray, most: int) -> None:
    """Raise UnreadableError for more than ``most`` bytes."""
    if len(out) > most:
        raise UnreadableError(f"its content expands to more than {option('max_record')} allows ({most:,} bytes)")


class Parts(NamedTuple):
    """The functions of Resiliparse."""

    extract_plain_text: Any
    detect_encoding: Any
    map_encoding_to_html5: Any


def parts() -> Parts:
    """Return the functions of Resiliparse. Raises MissingPartError."""
    try:
        from resiliparse.extract.html2text import extract_plain_text
        from resiliparse.parse.encoding import detect_encoding, map_encoding_to_html5
    except ImportError as error:
        raise missing_part("web pages are read with", "Resiliparse", "resiliparse") from error
    return Parts(extract_plain_text, detect_encoding, map_encoding_to_html5)
