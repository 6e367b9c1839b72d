"""The endpoints: each reads its request, asks the index, and returns the answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from starlette.types import Send

from likewise.errors import DataError, UsageError
from likewise.service import openapi
from likewise.service.body import blocks, too_long, whole
from likewise.service.endpoint import JSON, LINES, Answer, Endpoint, Received
from likewise.service.metrics import CONTENT_TYPE
from likewise.service.problems import ProblemError, busy, problem_of
from likewise.service.serving import Serving
from likewise.service.wire import Added, Changed, Contained, Count, Found, Queried, Removal, Report, State, encode, told, whole_id


@dataclass(frozen=True)
class OfItems:
    """An endpoint that takes items, in one JSON document or as a stream of lines."""

    name: str  # of the method of the index, and of the type of the request
    whole: Callable[[list[Any]], Any]  # the answer to a JSON document
    line: Callable[[Any], Any] = lambda answer: answer  # the answer to a line

    async def __call__(self, serving: Serving, received: Received) -> Answer | None:
        media = media_of(received, JSON, LINES)
        if media == LINES:
            await self.stream(serving, received)
            return None
        request, size = await decoded(serving, received, self.name)
        options = {name: getattr(request, name) for name in request.__struct_fields__[1:]}
        received.asked.items = len(request.items)
        return Answer(encode(self.whole(await self.answers(serving, request.items, options, size))))

    async def answers(self, serving: Serving, items: Sequence[Any], options: dict[str, Any], size: int) -> list[Any]:
        values = serving.calls.values(items)
        options = {name: int(value) if name == "k" else value for name, value in options.items() if value is not None}
        if self.name == "query":
            found: list[Any] = await in_time(serving, serving.queries.ask(values, options, size))
            return found
        assert serving.writer
        made: list[Any] = await in_time(serving, serving.writer.write(self.name, values, options, size))
        return made

    async def stream(self, serving: Serving, received: Received) -> None:
        """Answer a stream line by line, a block at a time: what was answered was done, and nothing more is read before."""
        options = stream_options(serving, self.name, received)
        if serving.streams >= serving.limits.streams:
            raise busy(f"{serving.streams} streams are running; try again later")
        serving.streams += 1
        sender = Lines(received.send)
        try:
            async for number, lines in blocks(received.receive, serving.limits):
                items, fault = self.read(serving, lines, number)
                async for answers in self.in_order(serving, items, options, sum(map(len, lines))):
                    received.asked.items += len(answers)
                    await sender.send(list(map(self.line, answers)))
                if fault:
                    raise fault
            received.asked.received = True
            await sender.end()
        except Exception as error:
            if not sender.begun:
                raise
            problem = error if isinstance(error, ProblemError) else problem_of(error)
            await sender.send([{"problem": problem.document(received.asked.id)}])
            await sender.end()
            if problem.status in (500, 507):
                serving.log.fault("a stream failed", error, id=received.asked.id)
        finally:
            serving.streams -= 1

    def read(self, serving: Serving, lines: list[bytes], number: int) -> tuple[list[Any], ProblemError | None]:
        """The items of the lines before the first that is not valid, and what is wrong with that one."""
        decoder, items = serving.types.line_decoders[self.name], []
        for line in lines:
            if line.strip():
                try:
                    if len(line) > serving.limits.body:
                        raise too_long(number, serving.limits)
                    items.append(parsed(decoder, line, f"line {number}: "))
                except ProblemError as fault:
                    return items, fault
            number += 1
        return items, None

    async def in_order(self, serving: Serving, items: list[Any], options: dict[str, Any], size: int) -> AsyncIterator[list[Any]]:
        """The answers, together; one by one if an item has none, so that those before it are answered however the stream was cut into blocks."""
        if not items:
            return
        try:
            if self.name == "add_new" and await in_thread(serving, serving.calls.may_stop, serving.calls.values(items), options):
                raise UsageError  # it may end after some of the items
            together = await self.answers(serving, items, options, size)
        except (UsageError, DataError):
            for item in items:
                yield await self.answers(serving, [item], options, size)
        else:
            yield together


class Lines:
    """The answer to a stream."""

    def __init__(self, send: Send):
        self._send, self.begun = send, False

    async def send(self, values: Sequence[Any], *, more: bool = True) -> None:
        if not self.begun:
            self.begun = True
            await self._send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", LINES.encode())]})
        await self._send({"type": "http.response.body", "body": b"".join(encode(value) + b"\n" for value in values), "more_body": more})

    async def end(self) -> None:
        await self.send([], more=False)


async def remove(serving: Serving, received: Received) -> Answer:
    media_of(received, JSON)
    request, size = await decoded(serving, received, "remove")
    received.asked.items = len(request.ids)
    assert serving.writer
    removed = await in_time(serving, serving.writer.write("remove", list(map(whole_id, request.ids)), {"missing": request.missing}, size))
    return Answer(encode(Removal(removed)))


async def contains(serving: Serving, received: Received) -> Answer:
    media_of(received, JSON)
    request, _ = await decoded(serving, received, "contains")
    received.asked.items = len(request.ids)
    return Answer(encode(Contained(await in_thread(serving, serving.calls.contains, request.ids))))


async def count(serving: Serving, _: Received) -> Answer:
    return Answer(encode(Count(await in_thread(serving, len, serving.index))))


async def info(serving: Serving, _: Received) -> Answer:
    return Answer(encode(await in_thread(serving, serving.calls.info)))


async def health(serving: Serving, _: Received) -> Answer:
    return Answer(encode(State("ok")))


async def readiness(serving: Serving, _: Received) -> Answer:
    trouble = serving.trouble or await in_thread(serving, serving.unreadable)
    return Answer(encode(State("not ready", trouble)), 503) if trouble else Answer(encode(State("ok")))


async def metrics(serving: Serving, _: Received) -> Answer:
    return Answer(await in_thread(serving, serving.metrics.text), media=CONTENT_TYPE)


async def document(serving: Serving, _: Received) -> Answer:
    return Answer(encode(openapi.document(serving.types, ENDPOINTS)))


def media_of(received: Received, *known: str) -> str:
    """The media type of a request. Raises ProblemError for one that the endpoint does not read."""
    if received.headers.get(b"content-encoding", b"identity").lower() != b"identity":
        raise ProblemError(415, "the body is not compressed; send it without Content-Encoding")
    media = received.headers.get(b"content-type", b"").partition(b";")[0].strip().lower().decode("latin-1")
    if media not in known:
        raise ProblemError(415, f"expected Content-Type {' or '.join(known)}, got {media[:60] or 'none'}")
    if media == JSON and received.scope["query_string"]:
        raise ProblemError(422, "options are members of the JSON document; only streams have them in the address")
    return media


async def decoded(serving: Serving, received: Received, name: str) -> tuple[Any, int]:
    """The request, and the bytes of its body."""
    body = await whole(received.receive, int(received.headers.get(b"content-length", b"0")), serving.limits)
    received.asked.received = True
    return parsed(serving.types.decoders[name], body), len(body)


def parsed(decoder: msgspec.json.Decoder[Any], text: bytes, where: str = "") -> Any:
    """A JSON text as a type. Raises ProblemError."""
    try:
        return decoder.decode(text)
    except msgspec.ValidationError as error:
        raise ProblemError(422, f"{where}{told(error, decoder.type)}") from None
    except RecursionError:
        raise ProblemError(400, f"{where}the JSON is nested too deeply") from None
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
        raise ProblemError(400, f"{where}expected JSON in UTF-8: {str(error)[:200]}") from None


def stream_options(serving: Serving, name: str, received: Received) -> dict[str, Any]:
    """The options of a stream, from its address."""
    pairs = parse_qsl(received.scope["query_string"].decode("latin-1"), keep_blank_values=True)
    given = dict(pairs)
    if len(given) < len(pairs):
        raise ProblemError(422, "an option appears twice in the address")
    try:
        made = msgspec.convert(given, serving.types.options[name], strict=False)
    except msgspec.ValidationError as error:
        raise ProblemError(422, f"in the address: {told(error, serving.types.options[name])}") from None
    return msgspec.structs.asdict(made)


async def in_time(serving: Serving, answer: asyncio.Future[Any]) -> Any:
    """The answer of the index. Raises ProblemError if it takes too long: a change may be made nevertheless."""
    try:
        async with asyncio.timeout(serving.limits.answer_seconds):
            return await answer
    except TimeoutError:
        raise ProblemError(504, f"the index did not answer within {serving.limits.answer_seconds:g} seconds", error="LikewiseError") from None


async def in_thread(serving: Serving, function: Callable[..., Any], *arguments: Any) -> Any:
    return await in_time(serving, asyncio.get_running_loop().run_in_executor(None, function, *arguments))


def queried(answers: list[tuple[Found, Report]]) -> Queried:
    return Queried([found for found, _ in answers], answers[0][1])


def changed(answers: list[Added]) -> Changed:
    return Changed(answers, sum(one.added for one in answers))


def found(answer: tuple[Found, Report]) -> Found:
    return answer[0]


POST, GET = "POST", "GET"
ENDPOINTS = (
    Endpoint(POST, "/v1/query", "read", "The similar items of each item.", OfItems("query", queried, found), "query", Queried, line=Found),
    Endpoint(POST, "/v1/add", "write", "Add items, all or none of a request.", OfItems("add", changed), "add", Changed, line=Added),
    Endpoint(POST, "/v1/add-new", "write", "Add each item that has no similar one yet.", OfItems("add_new", changed), "add_new", Changed, line=Added),
    Endpoint(POST, "/v1/update", "write", "Replace existing items.", OfItems("update", changed), "update", Changed, line=Added),
    Endpoint(POST, "/v1/remove", "write", "Remove items by their ids.", remove, "remove", Removal),
    Endpoint(POST, "/v1/contains", "read", "Look up ids.", contains, "contains", Contained),
    Endpoint(GET, "/v1/count", "read", "The number of items.", count, answer=Count),
    Endpoint(GET, "/v1/info", "read", "Facts about the index.", info),
    Endpoint(GET, "/healthz", "", "Check that the process is running.", health, answer=State),
    Endpoint(GET, "/readyz", "", "Check that the service accepts requests.", readiness, answer=State),
    Endpoint(GET, "/metrics", "read", "Metrics for Prometheus.", metrics, media=CONTENT_TYPE),
    Endpoint(GET, "/openapi.json", "", "This document.", document),
)
