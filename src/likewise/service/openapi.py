"""The OpenAPI 3.1 document, made from the types of requests and answers."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import msgspec

from likewise import __version__
from likewise.service.endpoint import LINES, Endpoint
from likewise.service.problems import PROBLEM, ProblemDocument
from likewise.service.wire import Types

#: Statuses of problems: of requests with a body, of those that need a token, which ask the index, of changes, and of all.
OF_BODIES = (400, 408, 413, 415, 422)
OF_TOKENS = (401, 403, 421, 504, 507)
OF_CHANGES = (409,)
ALWAYS = (400, 500, 503)


def document(types: Types, endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    named = [one.answer for one in endpoints if one.answer] + [one.line for one in endpoints if one.line]
    every = [*types.requests.values(), *types.options.values(), *types.lines.values(), types.named_item, types.unnamed_item, *named, ProblemDocument]
    schemas, components = msgspec.json.schema_components(every, ref_template="#/components/schemas/{name}")
    of = dict(zip(map(id, every), schemas, strict=True))
    lists = components["Add"]["properties"]["items"], components["AddNew"]["properties"]["items"]
    for one in lists:  # ids for all items or for none, which no type says
        plain = {key: one.pop(key) for key in [*one]}
        one["anyOf"] = [{**plain, "items": of[id(item)]} for item in (types.named_item, types.unnamed_item)]
    paths: dict[str, Any] = {}
    for one in endpoints:
        operation: dict[str, Any] = {
            "operationId": one.path.strip("/").replace("/", "-").replace(".", "-"),
            "summary": one.text,
            "responses": responses(one, of),
        }
        if one.request:
            content: dict[str, Any] = {"application/json": {"schema": of[id(types.requests[one.request])]}}
            if one.line:
                content[LINES] = {"schema": of[id(types.lines[one.request])], "x-of": "each line", "x-query": of[id(types.options[one.request])]}
            operation["requestBody"] = {"required": True, "content": content}
        operation["security"] = [{"token": [one.scope]}] if one.scope else []
        paths[one.path] = {one.method.lower(): operation}
    return {
        "openapi": "3.1.0",
        "info": {"title": "likewise", "version": __version__, "summary": f"An index of items by `{types.field}`."},
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def responses(one: Endpoint, of: dict[int, Any]) -> dict[str, Any]:
    good = of[id(one.answer)] if one.answer else {"type": "object"}
    content: dict[str, Any] = {one.media: {"schema": {"type": "string"} if one.media.startswith("text/") else good}}
    if one.line:
        content[LINES] = {"schema": of[id(one.line)], "x-of": "each line"}
    made: dict[str, Any] = {"200": {"description": "OK", "content": content}}
    for status in sorted({*ALWAYS, *OF_BODIES * bool(one.request), *OF_TOKENS * bool(one.scope), *OF_CHANGES * (one.scope == "write")}):
        schema = of[id(ProblemDocument)]
        made[str(status)] = {"description": HTTPStatus(status).phrase, "content": {PROBLEM: {"schema": schema}}}
    if one.path == "/readyz":
        made["503"]["content"] = {one.media: {"schema": good}}
    made["503"]["headers"] = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds."}}
    return made
