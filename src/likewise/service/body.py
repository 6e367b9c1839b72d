"""Bodies of requests: whole ones up to a limit, and streams of lines, of which a part is held at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from likewise.service.limits import Limits
from likewise.service.problems import ProblemError

Receive = Callable[[], Awaitable[Any]]
#: Bytes of lines that are handled together.
BLOCK = 1 << 18


class GoneError(Exception):
    """The client has closed the connection."""


async def part(receive: Receive) -> tuple[bytes, bool]:
    """The next bytes of a body, and True if more follow."""
    message = await receive()
    if message["type"] == "http.disconnect":
        raise GoneError
    return message.get("body", b""), message.get("more_body", False)


async def whole(receive: Receive, length: int, limits: Limits) -> bytes:
    """The body of a request. length: as its header states it; 0: unknown."""
    too_large = f"the body has more than {limits.body:,} bytes; send less at once, or a stream of lines (application/x-ndjson)"
    if length > limits.body:
        raise ProblemError(413, too_large, close=True)
    parts, size, more = [], 0, True
    try:
        async with asyncio.timeout(limits.body_seconds):
            while more:
                data, more = await part(receive)
                size += len(data)
                if size > limits.body:
                    raise ProblemError(413, too_large, close=True)
                parts.append(data)
    except TimeoutError:
        raise ProblemError(408, f"the body did not arrive within {limits.body_seconds:g} seconds", close=True) from None
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def blocks(receive: Receive, limits: Limits) -> AsyncIterator[tuple[int, list[bytes]]]:
    """The lines of a body as they arrive, some at a time, each time with the number of the first one."""
    rest, more, number = bytearray(), True, 1
    while more:
        try:
            async with asyncio.timeout(limits.body_seconds):
                data, more = await part(receive)
        except TimeoutError:
            raise ProblemError(408, f"no part of the stream arrived within {limits.body_seconds:g} seconds", close=True) from None
        rest += data
        if b"\n" in data or not more:
            lines = bytes(rest).split(b"\n")
            rest = bytearray(lines.pop() if more else b"")
            while lines:
                some = size = 0
                while some < min(len(lines), limits.items) and size < BLOCK:
                    size += len(lines[some])
                    some += 1
                yield number, lines[:some]
                del lines[:some]
                number += some
        if len(rest) > limits.body:
            raise too_long(number, limits)


def too_long(number: int, limits: Limits) -> ProblemError:
    return ProblemError(413, f"line {number} has more than {limits.body:,} bytes", close=True)
