"""Make pygame.warc.xz: python make_pages.py PYGAME PYGAME_CE, the folders docs/generated of the unpacked wheels pygame 2.6.1 and pygame-ce 2.5.8."""

import lzma
import sys
import uuid
from pathlib import Path

HERE = Path(__file__).parent
#: The address at which each project publishes these pages, and the date of the files in its wheel.
SITES = (("https://www.pygame.org/docs/", "2024-09-29T11:12:00Z"), ("https://pyga.me/docs/", "2026-08-09T09:24:00Z"))


def record(address: str, date: str, page: bytes) -> bytes:
    head = {
        "WARC-Type": "resource",
        "WARC-Record-ID": f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, address)}>",
        "WARC-Date": date,
        "WARC-Target-URI": address,
        "Content-Type": "text/html; charset=utf-8",
        "Content-Length": str(len(page)),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    return f"WARC/1.1\r\n{lines}\r\n".encode() + page + b"\r\n\r\n"


records = [
    record(address + path.relative_to(folder).as_posix(), date, path.read_bytes())
    for folder, (address, date) in zip(sys.argv[1:], SITES, strict=True)
    for path in sorted(Path(folder).rglob("*.html"))
]
(HERE / "pygame.warc.xz").write_bytes(lzma.compress(b"".join(records), preset=9 | lzma.PRESET_EXTREME))
