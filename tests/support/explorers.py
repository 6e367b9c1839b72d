"""The pages and forms of an explorer, which `services.command` starts, and the documents that tests explore."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

from services import Reply, Service


def get(served: Service, path: str, **query: object) -> str:
    """The page at a path."""
    reply = served.ask("GET", f"{path}?{urlencode(query)}" if query else path, token=None)
    assert reply.status == 200, (path, reply.status, reply.content.decode())
    return reply.content.decode()


def post(served: Service, path: str, *, origin: str | None = "", **form: object) -> Reply:
    """The answer to a form. origin: the header Origin; "" sends the address of the explorer, None omits it."""
    sent = {} if origin is None else {"Origin": origin or served.url}
    return served.ask("POST", path, urlencode(form).encode(), token=None, media="application/x-www-form-urlencoded", **sent)


def words(page: str) -> str:
    """The text of a page, without its markup."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


def written(path: Path, texts: dict[str, str]) -> Path:
    """A file of documents by their ids."""
    path.write_text("".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in texts.items()))
    return path
