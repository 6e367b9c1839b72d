"""The frame of a page that stands alone: its head, a content security policy, the style sheet, and perhaps a script."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from likewise.drawing.markup import Html, tag


def document(title: str, body: Iterable[Html | None], *, style: str, script: str = "") -> Iterator[str]:
    """Yield a page in parts. The page loads nothing, and runs ``script`` alone, whatever its data contain.

    style, script: text of our own, in which no data occur.
    """
    yield "<!doctype html>\n" + f'<html lang="en">{head(title, style, policy(script))}<body><main>'
    yield from (part for part in body if part is not None)
    yield f"</main>{tag('script', Html(script)) if script else ''}</body></html>\n"


def head(title: str, style: str, rules: str) -> Html:
    """The head of a page with a content security policy."""
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=rules),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        tag("style", Html(style)),
    )


def policy(script: str = "") -> str:
    """The content security policy of a page: pictures inside the page, styles, and the one script by its checksum.

    >>> policy()
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    runs = f"; script-src 'sha256-{digest}'" if script else ""
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'{runs}"


@cache
def script() -> str:
    """The script of our pages (`page.js`), which adds comfort: every page can be read without it."""
    return Path(__file__).with_name("page.js").read_text(encoding="utf-8")
