"""The OpenAPI document is made from the types and served as it is made; requests made from it are answered as it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from indexes import plain_index
from likewise.kinds import kinds
from likewise.kinds.kind import NEVER
from likewise.service import openapi
from likewise.service.endpoints import ENDPOINTS
from likewise.service.limits import Limits
from likewise.service.wire import EXAMPLES, FORMS, Types
from services import WRITE, Service

#: Limits of a query for which the bands of the index are fit; a schema cannot express them.
CONFIGURATION = """
[[operations]]
include-path = "/v1/query"
[operations.checks.positive_data_acceptance]
expected-statuses = ["2xx", 422]
"""


def test_the_served_document_is_made_from_the_types(served: Service) -> None:
    options = plain_index(by="words:2").settings.options
    types = Types(options.method.kind, Limits())
    made = json.loads(msgspec.json.encode(openapi.document(types, ENDPOINTS)))
    assert served.ask("GET", "/openapi.json", token=None).json == made
    assert set(made["paths"]) == {endpoint.path for endpoint in ENDPOINTS}
    references = {part.split('"')[0] for part in json.dumps(made).split("#/components/schemas/")[1:]}
    assert references == set(made["components"]["schemas"])  # each is there, and no other one


def test_the_document_names_the_members_of_items_of_each_kind() -> None:
    """The schema of an item has its content, its id, and its group if the index has groups."""
    for payload, form in FORMS.items():
        (kind, *_) = [kind for kind in kinds().values() if kind.payload == payload]
        components = openapi.document(Types(kind, Limits(), per="shop"), ENDPOINTS)["components"]["schemas"]
        assert set(components["NamedItem"]["properties"]) == {kind.field, "id", "shop"}
        assert components["NamedItem"]["required"] == [kind.field, "id"] and components["NamedItem"]["additionalProperties"] is False
        if payload in EXAMPLES:
            assert msgspec.convert(EXAMPLES[payload], form) == EXAMPLES[payload]


def test_kinds_that_an_index_holds_have_a_form() -> None:
    lacking = {kind.name for kind in kinds().values() if kind.bands != NEVER and kind.payload not in FORMS}
    assert lacking <= {"images", "images by region"}, lacking  # indexes refuse them


def test_what_the_service_answers_has_the_documented_types(served: Service) -> None:
    served.ask("POST", "/v1/add", {"items": [{"text": "a b c", "id": "x"}], "existing": "replace"})
    bodies: dict[str, Any] = {
        "/v1/query": {"items": [{"text": "a b c"}]},
        "/v1/add": {"items": [{"text": "d e f"}]},
        "/v1/add-new": {"items": [{"text": "a b c"}]},
        "/v1/update": {"items": [{"text": "a b c", "id": "x"}]},
        "/v1/contains": {"ids": ["x"]},
        "/v1/remove": {"ids": ["x"]},
    }
    for endpoint in ENDPOINTS:
        reply = served.ask(endpoint.method, endpoint.path, bodies.get(endpoint.path))
        assert reply.status == 200 and reply.headers["content-type"] == endpoint.media, endpoint.path
        if endpoint.answer:
            msgspec.json.decode(reply.content, type=endpoint.answer)


def test_requests_made_from_the_document_are_answered_as_it_says(served: Service, tmp_path: Path, scaled: Callable[[Any, Any], Any]) -> None:
    """Schemathesis sends valid and invalid requests to all endpoints, and checks statuses, headers and bodies of the answers."""
    (tmp_path / "schemathesis.toml").write_text(CONFIGURATION)
    limits = ["--max-time", scaled("300", "25"), "--max-examples", scaled("300", "20"), "--continue-on-failure", "--generation-database", "none"]
    token = f"Authorization: Bearer {WRITE}"
    program = "import sys; from schemathesis.cli import schemathesis; sys.exit(schemathesis())"
    command = [sys.executable, "-P", "-c", program, "run", f"{served.url}/openapi.json", "-H", token, "--no-color", "--seed", "1", *limits]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ""}, check=False)
    assert done.returncode == 0, done.stdout[-6000:]
    assert served.ask("GET", "/readyz", **{"x-request-id": "last"}).status == 200
    served.logged(id="last")
    assert not [line for line in served.log() if line["level"] == "error"]
