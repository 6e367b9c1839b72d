"""The declaration of an endpoint, and the requests and answers that it handles."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from starlette.types import Receive, Scope, Send

from likewise.service.serving import Serving

JSON, LINES = "application/json", "application/x-ndjson"


@dataclass(slots=True)
class Asked:
    """The facts about a request for the log."""

    id: str
    token: str = ""  # its name
    items: int = 0
    received: bool = False  # the whole body


class Received(NamedTuple):
    """A request that may be answered."""

    asked: Asked
    scope: Scope
    headers: dict[bytes, bytes]
    receive: Receive
    send: Send


class Answer(NamedTuple):
    content: bytes
    status: int = 200
    media: str = JSON


@dataclass(frozen=True)
class Endpoint:
    method: str
    path: str
    scope: str  # the scope of the token that it needs: read, write, or "" for none
    text: str  # for the OpenAPI document
    handle: Callable[[Serving, Received], Awaitable[Answer | None]]
    request: str = ""  # the type of its request (`wire.Types`)
    answer: Any = None  # the type of its answer; None: a JSON object
    media: str = JSON
    line: Any = None  # the type of a line of its answer, if it takes streams
