"""The limits of the service. docs/reference/service.md lists them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    body: int = 1 << 20  # bytes of a JSON request, and of a line of a stream
    items: int = 256  # items, or ids, of a JSON request
    waiting: int = 1024  # requests that wait for an answer from the index
    waiting_bytes: int = 1 << 26  # and bytes of their bodies
    streams: int = 16  # streams at a time
    connections: int = 4096
    headers: int = 1 << 16  # bytes of a request before its body
    headers_seconds: float = 10  # from the first byte of a request to the last of its headers
    body_seconds: float = 30  # to receive the body of a JSON request, or the next part of a stream
    answer_seconds: float = 30  # to get an answer from the index
    send_seconds: float = 30  # until a client takes the next part of an answer
    idle_seconds: int = 65  # between two requests of a connection; longer than the 60 seconds of most proxies
    leaving_seconds: float = 1  # after SIGTERM, until no new connection is accepted
    ending_seconds: int = 30  # for running requests to end


#: Items and bytes of texts that one call of the index takes, of several requests together.
CALL_ITEMS, CALL_BYTES = 512, 1 << 22
