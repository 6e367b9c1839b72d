"""Pages: a request that may be answered, the function that answers it on a thread, and its template. All that data holds is shown as text."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.types import Receive, Scope, Send

from likewise.drawing import numbers
from likewise.drawing.markup import Html, text
from likewise.errors import LikewiseError
from likewise.explorer.waiting import waited_for
from likewise.messages import in_document
from likewise.service.app import check_host, respond
from likewise.service.body import whole
from likewise.service.problems import ProblemError
from likewise.service.run import Served

#: Nothing from elsewhere, and no script in a page. Bars of charts have their widths in attributes.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = (
    ("content-security-policy", POLICY),
    ("referrer-policy", "same-origin"),  # with no-referrer, browsers would not say where a form came from
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("x-frame-options", "DENY"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
)
FORM = "application/x-www-form-urlencoded"
#: Fields of a request, and digits of a number.
MOST_FIELDS, DIGITS = 50, 18
READ_THROUGH = "it is compressed, or the output has no places.parquet, or an id was searched in it; `likewise show OUT ID` has no time limit"
HTML = "text/html; charset=utf-8"


class Request(NamedTuple):
    """A request that may be answered."""

    path: Mapping[str, Any]  # what the path names
    query: Mapping[str, str]
    form: Mapping[str, str]

    def number(self, name: str, least: int = 0, most: int = 1 << 40, default: int = 0) -> int:
        """A whole number of the query or the form. Raises ProblemError."""
        given = self.form.get(name) or self.query.get(name)
        if not given:
            return default
        if not (given.isascii() and given.isdecimal() and len(given) <= DIGITS) or not least <= int(given) <= most:
            raise ProblemError(422, f"{name}: expected a whole number from {least:,} to {most:,}, got {given[:20]!r}")
        return int(given)

    def one_of(self, name: str, known: Any, default: str) -> str:
        """One of some words. Raises ProblemError."""
        given = self.query.get(name) or self.form.get(name) or default
        if given not in known:
            raise ProblemError(422, f"{name}: expected one of {', '.join(known)}, got {given[:20]!r}")
        return given


class Shown(NamedTuple):
    """A template and what it shows."""

    template: str
    values: dict[str, Any]
    status: int = 200


class Moved(NamedTuple):
    """A page to show in place of the answer to a form."""

    to: str


class File(NamedTuple):
    """A file of the explorer. policy: of a page that is not the explorer's own."""

    content: bytes
    media: str
    policy: str = POLICY


Answer = Shown | Moved | File


def shown(value: Any) -> Any:
    """A value as markup: all is data but `Html`, and what macros of templates return."""
    return value if isinstance(value, Html | Markup) else text(value)


def link(path: str, **query: Any) -> str:
    """An address of the explorer, without options that are not given."""
    given = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(given)}" if given else path


class Pages:
    """The pages of one explorer. host: the name that it was bound to. base: values for every template."""

    def __init__(self, exploring: Served, host: str, base: Mapping[str, Any]):
        self.exploring, self.host = exploring, host
        places = FileSystemLoader(Path(__file__).parent / "templates")
        self._environment = Environment(
            loader=places, autoescape=True, undefined=StrictUndefined, finalize=shown, trim_blocks=True, lstrip_blocks=True
        )
        tools = {name: getattr(numbers, name) for name in ("count", "counted", "share", "percent", "figure")}
        self._environment.globals.update(tools, link=link, **base)

    def render(self, answer: Shown) -> bytes:
        # lone surrogates are spelled out by `shown`, so the page is always UTF-8
        return self._environment.get_template(answer.template).render(**answer.values).encode()

    def page(self, handle: Callable[[Request], Answer]) -> Page:
        """The route of a page."""
        return Page(self, handle)


class Page:
    """An ASGI application of one page."""

    def __init__(self, pages: Pages, handle: Callable[[Request], Answer]):
        self._pages, self._handle = pages, handle

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        exploring = self._pages.exploring
        try:
            request = await self._request(scope, receive)
            async with asyncio.timeout(exploring.limits.answer_seconds):
                status, media, content, more = await asyncio.get_running_loop().run_in_executor(None, self._answer, request)
        except Exception as error:
            problem = self._problem(error, scope)
            status, media, more = problem.status, HTML, dict(problem.headers)
            content = self._pages.render(Shown("error.html", {"status": status, "detail": problem.detail}))
        headers = dict(HEADERS) | more
        await respond(send, content, status, media.encode(), [(name.encode(), value.encode()) for name, value in headers.items()])

    def _answer(self, request: Request) -> tuple[int, str, bytes, dict[str, str]]:
        """The status, media type, content and further headers of an answer."""
        with waited_for(self._pages.exploring.limits.answer_seconds):
            answer = self._handle(request)
        if isinstance(answer, Moved):
            return 303, HTML, b"", {"location": answer.to}
        if isinstance(answer, File):
            return 200, answer.media, answer.content, {"content-security-policy": answer.policy}
        return answer.status, HTML, self._pages.render(answer), {}

    async def _request(self, scope: Scope, receive: Receive) -> Request:
        """Raises ProblemError unless the request comes from this machine, and a form from a page of the explorer."""
        headers: dict[bytes, bytes] = {}
        for name, value in scope["headers"]:
            if name in headers and name in (b"host", b"origin", b"content-type", b"content-length"):
                raise ProblemError(400, f"the header {name.decode()} appears twice", close=True)
            headers[name] = value
        check_host(headers, self._pages.host)
        query = fields(scope["query_string"].decode("latin-1"))
        if scope["method"] != "POST":
            return Request(scope.get("path_params", {}), query, {})
        check_origin(headers)
        if headers.get(b"content-type", b"").partition(b";")[0].strip().lower() != FORM.encode():
            raise ProblemError(415, f"expected Content-Type {FORM}", close=True)
        body = await whole(receive, int(headers.get(b"content-length", b"0")), self._pages.exploring.limits)
        scope["asked"].received = True
        return Request(scope.get("path_params", {}), query, fields(body.decode("utf-8", "replace")))

    def _problem(self, error: Exception, scope: Scope) -> ProblemError:
        if isinstance(error, ProblemError):
            return error
        if isinstance(error, LikewiseError):
            return ProblemError(422, in_document(error))
        if isinstance(error, TimeoutError):
            seconds = self._pages.exploring.limits.answer_seconds
            return ProblemError(504, f"this would take longer than {seconds:g} seconds, because a large file must be read completely: {READ_THROUGH}")
        self._pages.exploring.log.fault("a page failed", error, id=scope["asked"].id)
        if isinstance(error, OSError):
            return ProblemError(500, f"{error.filename or 'a file'}: {error.strerror or 'cannot be read'}")
        return ProblemError(500, "an error of the explorer; its log names the place in the code")


def fields(encoded: str) -> dict[str, str]:
    """The fields of a query or a form. Raises ProblemError for too many."""
    try:
        return dict(parse_qsl(encoded, keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError:
        raise ProblemError(400, f"more than {MOST_FIELDS} fields") from None


def check_origin(headers: Mapping[bytes, bytes]) -> None:
    """Raise ProblemError unless a form comes from a page of this very address. Browsers say so, and pages of others cannot."""
    origin, host = headers.get(b"origin", b""), headers.get(b"host", b"")
    if origin.lower() != b"http://" + host.lower():
        raise ProblemError(403, "this form comes from a page of another origin; open the page of the explorer and try again", close=True)
