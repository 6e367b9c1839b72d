"""Errors between the service and its clients: problem documents (RFC 9457) with the name of the exception that the client raises."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import msgspec

from likewise import errors
from likewise.errors import DataError, IdError, LikewiseError, UsageError
from likewise.messages import in_document

PROBLEM = "application/problem+json"


class ProblemDocument(msgspec.Struct, omit_defaults=True, rename={"request_id": "request-id"}):
    """Why a request has no answer."""

    title: str  # the status in words
    status: int
    detail: str  # what was expected, what came, where, what to do
    error: str  # the exception that `lw.Client` raises
    request_id: str = ""  # as in the header X-Request-Id and in the log
    ids: list[str | int] = []  # of an IdError
    rows: list[int] = []


class ProblemError(Exception):
    """A request that gets no answer. headers: further ones of the response. close: the connection ends. facts: more of the document."""

    def __init__(
        self, status: int, detail: str, *, error: str = "UsageError", headers: dict[str, str] | None = None, close: bool = False, **facts: Any
    ):
        super().__init__(detail)
        self.status, self.detail, self.error, self.headers, self.facts = status, detail, error, dict(headers or {}), facts
        if close:
            self.headers["connection"] = "close"

    def document(self, request_id: str) -> ProblemDocument:
        return ProblemDocument(HTTPStatus(self.status).phrase, self.status, self.detail, self.error, request_id, **self.facts)


def busy(detail: str) -> ProblemError:
    return ProblemError(503, detail, error="LikewiseError", headers={"retry-after": "1"})


#: The status of an error of the index, by exception; the first that fits, else 500.
STATUS: tuple[tuple[type[Exception], int], ...] = (
    (IdError, 409),
    (UsageError, 422),
    (DataError, 422),
    (OSError, 507),
)


def problem_of(error: Exception) -> ProblemError:
    """The problem of an error of the index. What is not meant for callers is not told to them."""
    status = next((status for kind, status in STATUS if isinstance(error, kind)), 500)
    if isinstance(error, IdError):
        return ProblemError(status, in_document(error), error="IdError", ids=error.ids, rows=error.rows)
    if isinstance(error, LikewiseError):
        return ProblemError(status, in_document(error), error=type(error).__name__)
    if isinstance(error, OSError):
        said = error.strerror or "an error of the system"
        return ProblemError(status, f"the index could not be read or written: {said}; see the log of the service", error="OSError")
    return ProblemError(500, "an error of the service; its log has details under this request id", error="LikewiseError")


def exception_of(document: ProblemDocument) -> Exception:
    """The exception that a problem stands for."""
    if document.error == "OSError":
        return OSError(document.detail)
    if document.error == "IdError":
        return IdError(document.detail, document.ids, document.rows)
    kind = getattr(errors, document.error, LikewiseError)
    known = isinstance(kind, type) and issubclass(kind, LikewiseError)
    return (kind if known else LikewiseError)(document.detail)
