"""The application: who may ask what, and how the answers of the index become responses."""

from __future__ import annotations

import itertools
import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from starlette.exceptions import HTTPException
from starlette.routing import Route, Router
from starlette.types import Message, Receive, Scope, Send

from likewise.service.body import GoneError
from likewise.service.endpoint import Asked, Endpoint, Received
from likewise.service.endpoints import ENDPOINTS
from likewise.service.problems import PROBLEM, ProblemError, problem_of
from likewise.service.run import Served
from likewise.service.serving import Serving

REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
#: Names of this machine, in the header Host.
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
SAFE = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
encode = msgspec.json.Encoder().encode


def application(serving: Serving, pages: Sequence[Route] = ()) -> Outermost:
    """The application of an index. pages: further routes."""
    routes = [Route(one.path, Guarded(serving, one), methods=[one.method]) for one in ENDPOINTS]
    return Outermost(serving, Router([*routes, *pages], redirect_slashes=False), [one.path for one in ENDPOINTS])


class Outermost:
    """Gives each request an id, a line in the log and its place in the metrics, and turns all that is raised into a problem document.

    paths: those that are named in the log and to who asks for another one.
    """

    def __init__(self, serving: Served, app: Router, paths: Sequence[str]):
        self._serving, self._app, self._paths = serving, app, paths
        self._prefix, self._counter = os.urandom(4).hex(), itertools.count(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        began = time.perf_counter()
        given = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
        request_id = given.decode() if REQUEST_ID.fullmatch(given) else f"{self._prefix}-{next(self._counter):x}"
        scope["asked"] = asked = Asked(request_id)
        scope["app"] = self  # so that the router raises what it cannot route
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode()), *SAFE]
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except GoneError:
            status = status or 499  # as nginx logs it
        except Exception as error:
            problem = self._problem(error, scope)
            if status:  # the answer has begun: the connection ends without its end, so that the client knows
                raise GoneError from None
            if scope["method"] not in ("GET", "HEAD") and not asked.received:
                problem.headers["connection"] = "close"  # what follows is the rest of a body
            headers = [(name.encode(), value.encode()) for name, value in problem.headers.items()]
            await respond(sending, encode(problem.document(request_id)), problem.status, PROBLEM.encode(), headers)
        finally:
            self._told(scope, asked, status, time.perf_counter() - began)

    def _problem(self, error: Exception, scope: Scope) -> ProblemError:
        if isinstance(error, HTTPException):
            return self._unroutable(error, scope)
        problem = error if isinstance(error, ProblemError) else problem_of(error)
        if problem.status in (500, 507):
            self._serving.log.fault("a request failed", error, id=scope["asked"].id)
        return problem

    def _unroutable(self, error: HTTPException, scope: Scope) -> ProblemError:
        """The answer to a path or a method that no endpoint has."""
        if error.status_code == 405:
            allowed = (error.headers or {}).get("Allow", "")
            return ProblemError(405, f"{scope['path']} takes {allowed}; got {scope['method']}", headers={"allow": allowed})
        return ProblemError(404, f"there is no such path; the paths are {', '.join(self._paths)}")

    def _told(self, scope: Scope, asked: Asked, status: int, seconds: float) -> None:
        endpoint = scope["path"] if scope["path"] in self._paths else "other"
        self._serving.answered(endpoint, status, seconds)
        level = "debug" if status < 400 else "info" if status < 500 else "warning"
        if self._serving.log.takes(level):
            facts = {"id": asked.id, "method": scope["method"], "path": endpoint, "status": status, "ms": round(seconds * 1000, 3)}
            self._serving.log.add(level, "request", **facts, items=asked.items, token=asked.token)


class Guarded:
    """An endpoint behind the checks of the host, the token and its scope."""

    def __init__(self, serving: Serving, endpoint: Endpoint):
        self._serving, self._endpoint = serving, endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        serving, endpoint, asked = self._serving, self._endpoint, scope["asked"]
        headers: dict[bytes, bytes] = {}
        for name, value in scope["headers"]:
            if name in headers and name in (b"host", b"authorization", b"content-type", b"content-length"):
                raise ProblemError(400, f"the header {name.decode()} appears twice", close=True)
            headers[name] = value
        if endpoint.scope:
            self._check(headers, asked)
        answer = await endpoint.handle(serving, Received(asked, scope, headers, receive, send))
        if answer is not None:
            await respond(send, answer.content, answer.status, answer.media.encode())

    def _check(self, headers: dict[bytes, bytes], asked: Asked) -> None:
        """Raises ProblemError unless the client may do this."""
        serving, needed = self._serving, self._endpoint.scope
        if serving.tokens is None:
            check_host(headers, serving.host)
            if needed == "write":
                raise ProblemError(403, "this service was started without tokens, so it only reads; start it with a file of tokens")
            return
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        found = serving.tokens.find(token.strip()) if scheme.lower() == b"bearer" else None
        if found is None:
            raise ProblemError(401, "expected `Authorization: Bearer TOKEN` with a valid token", headers={"www-authenticate": "Bearer"})
        asked.token = found.name
        if needed == "write" and found.scope != "write":
            raise ProblemError(403, "this token may read only", headers={"www-authenticate": 'Bearer error="insufficient_scope", scope="write"'})
        if needed == "write" and serving.writer is None:
            raise ProblemError(403, "the index was opened for reading, because no token could write then; start the service again")


def check_host(headers: Mapping[bytes, bytes], bound: str) -> None:
    """Raises ProblemError unless a request names this machine, or the host that the service was bound to: a page of another site does not."""
    host = headers.get(b"host", b"").decode("latin-1").lower()
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    if name not in (*LOOPBACK, bound):
        raise ProblemError(421, f"without tokens this service answers at {', '.join(LOOPBACK)} only; got another Host", close=True)


async def respond(
    send: Send, content: bytes, status: int = 200, media: bytes = b"application/json", headers: Iterable[tuple[bytes, bytes]] = ()
) -> None:
    start = [(b"content-type", media), (b"content-length", b"%d" % len(content)), *headers]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": content})
