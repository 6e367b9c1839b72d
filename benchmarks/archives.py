#!/usr/bin/env python3
"""Reading web archives: MB/s of likewise's reader beside fastwarc and warcio, which only read, on archives made for the run.

    python benchmarks/archives.py [--pages 3000] [--rounds 3]

Speeds are bytes of the decompressed archive per second of processor time, the best of the rounds, on one thread; readers take turns.
fastwarc and warcio read the records with documents and decode HTTP, without character sets and HTML; fastwarc is the floor, and `ratio` the time to
its time.
Every reader must find the same number of ids.
"""

from __future__ import annotations

import argparse
import gzip
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from fastwarc.warc import ArchiveIterator, WarcRecordType
from resiliparse.extract.html2text import extract_plain_text
from warcio.archiveiterator import ArchiveIterator as Warcio

from likewise.io.formats import warc
from likewise.records import Want


def page(rnd: random.Random, words: list[str]) -> bytes:
    """An HTML page of about 24 kB with a menu, a script and paragraphs."""
    menu = "".join(f'<li class="item"><a href="/{word}">{word}</a></li>' for word in rnd.sample(words, 60))
    text = "".join(f'<p class="text">{" ".join(rnd.choices(words, k=80))} <b>{rnd.choice(words)}</b></p>\n' for _ in range(30))
    head = f"<!DOCTYPE html><html><head><meta charset=utf-8><title>x</title><script>{' '.join(rnd.choices(words, k=600))}</script></head>"
    return f"{head}<body><nav><ul>{menu}</ul></nav><main>{text}</main><footer>end</footer></body></html>".encode()


def record(kind: str, number: int, block: bytes, content_type: str) -> bytes:
    head = f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:x:{kind}{number}>\r\nWARC-Target-URI: http://x/{number}\r\n"
    return f"{head}Content-Type: {content_type}\r\nContent-Length: {len(block)}\r\n\r\n".encode() + block + b"\r\n\r\n"


def archives(folder: Path, pages: int) -> dict[str, Path]:
    rnd = random.Random(1)
    words = ["".join(rnd.choices("abcdefghijklmnopqrstuvwxyz", k=rnd.randrange(2, 10))) for _ in range(5000)]
    whole, texts = [], []
    for number in range(pages):
        html = page(rnd, words)
        http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nServer: x\r\n\r\n"
        whole.append(record("request", number, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "application/http; msgtype=request"))
        whole.append(record("response", number, http + html, "application/http; msgtype=response"))
        texts.append(record("conversion", number, extract_plain_text(html.decode()).encode(), "text/plain"))
    made = {"warc": whole, "warc.gz": [gzip.compress(one, 6) for one in whole], "wet.gz": [gzip.compress(one, 6) for one in texts]}
    for name, records in made.items():
        (folder / name).write_bytes(b"".join(records))
    return {name: folder / name for name in made}


def likewise(html: str) -> Callable[[Path], list[str]]:
    want = Want(html=html)

    def read(path: Path) -> list[str]:
        found = []
        for chunk in warc.chunks(path, want):
            found += [text[1:-1].decode() for text in warc.parse(chunk, want, str(path)).id.to_pylist()]
        return found

    return read


def by_fastwarc(path: Path) -> list[str]:
    some = ArchiveIterator(path.open("rb"), WarcRecordType.response | WarcRecordType.conversion, auto_decode="all")
    return [one.record_id for one in some if one.reader.read()]


def by_warcio(path: Path) -> list[str]:
    with path.open("rb") as file:
        some = (one for one in Warcio(file) if one.rec_type in ("response", "conversion"))
        return [one.rec_headers.get_header("WARC-Record-ID") for one in some if one.content_stream().read()]


READERS = {
    "fastwarc": by_fastwarc,
    "warcio": by_warcio,
    "likewise raw": likewise("raw"),
    "likewise text": likewise("text"),
    "likewise main": likewise("main"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, path in archives(Path(folder), given.pages).items():
            raw = path.read_bytes()
            size = len(gzip.decompress(raw) if name.endswith("gz") else raw)
            best: dict[str, float] = {}
            for _ in range(given.rounds):
                for reader, read in READERS.items():
                    if name == "wet.gz" and reader in ("likewise text", "likewise main"):
                        continue
                    begin = time.process_time()
                    ids = read(path)
                    best[reader] = min(best.get(reader, 1e9), time.process_time() - begin)
                    assert len(set(ids)) == given.pages, (reader, len(ids))
            for reader, seconds in best.items():
                print(f"{name:8} {reader:14} {size / seconds / 1e6:8.0f} MB/s   ratio {seconds / best['fastwarc']:5.2f}")


if __name__ == "__main__":
    main()
