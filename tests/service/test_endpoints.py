"""The answers of each endpoint."""

from __future__ import annotations

import json

import pytest

from services import JSON, LINES, READ, WRITE, Service

#: Nine pairs of words each; B has eight of those of A, and one more pair would be in the union: 8 of 10.
A, B = "a b c d e f g h i j", "a b c d e f g h i z"
C = "one two three four"


@pytest.fixture(autouse=True)
def filled(served: Service) -> None:
    """The index holds A, as `a`, and C, as 7."""
    served.ask("POST", "/v1/remove", {"ids": ["a", 7, "b", "n", 3, 4]})
    assert served.ask("POST", "/v1/add", {"items": [{"text": A, "id": "a"}, {"text": C, "id": 7}]}).status == 200


def test_a_query_lists_similar_items_of_each_item(served: Service) -> None:
    reply = served.ask("POST", "/v1/query", {"items": [{"text": B, "id": "mine"}, {"text": C}, {"text": "x y z"}]})
    assert reply.status == 200 and reply.headers["content-type"] == JSON
    first, second, third = reply.json["results"]
    assert first == {"id": "mine", "matches": [{"id": "a", "similarity": 0.8}]}
    assert second == {"id": None, "matches": [{"id": 7, "similarity": 1.0}]}
    assert third == {"id": None, "matches": []}
    assert reply.json["report"] | {"recall": 0} == {"threshold": 0.8, "value": "similarity", "recall": 0, "warnings": []}


def test_a_query_takes_k_and_a_threshold(served: Service) -> None:
    served.ask("POST", "/v1/add", {"items": [{"text": A.upper(), "id": "b"}]})
    found = served.ask("POST", "/v1/query", {"items": [{"text": A}], "k": 1}).json["results"][0]["matches"]
    assert found == [{"id": "a", "similarity": 1.0}]  # of equal ones the first
    found = served.ask("POST", "/v1/query", {"items": [{"text": B}], "threshold": 0.85}).json["results"][0]["matches"]
    assert found == []
    refused = served.ask("POST", "/v1/query", {"items": [{"text": B}], "threshold": 0.1})
    assert refused.status == 422 and "force" in refused.json["detail"]


def test_added_items_are_found_and_ids_are_not_given_twice(served: Service) -> None:
    reply = served.ask("POST", "/v1/add", {"items": [{"text": "p q r s"}, {"text": "t u v w"}]})
    assert [one["added"] for one in reply.json["results"]] == [True, True] and reply.json["added"] == 2
    ids = [one["id"] for one in reply.json["results"]]
    assert served.ask("POST", "/v1/contains", {"ids": [*ids, "none"]}).json == {"contained": [True, True, False]}
    assert served.ask("POST", "/v1/remove", {"ids": [*ids, "none"]}).json == {"removed": 2}
    again = served.ask("POST", "/v1/add", {"items": [{"text": "new one here", "id": "n"}, {"text": C, "id": "a"}]})
    assert again.status == 409 and again.headers["content-type"] == "application/problem+json"
    assert (again.json["error"], again.json["ids"], again.json["rows"]) == ("IdError", ["a"], [1])
    assert served.ask("POST", "/v1/contains", {"ids": ["n"]}).json == {"contained": [False]}  # nothing was written
    skipped = served.ask("POST", "/v1/add", {"items": [{"text": "new one here", "id": "n"}, {"text": C, "id": "a"}], "existing": "skip"})
    assert skipped.json == {"results": [{"id": "n", "added": True}, {"id": "a", "added": False}], "added": 1}


def test_only_new_items_are_added_also_of_a_request(served: Service) -> None:
    items = [{"text": B, "id": "b"}, {"text": "n e w s", "id": "n"}, {"text": "n e w s", "id": "o"}]
    reply = served.ask("POST", "/v1/add-new", {"items": items})
    assert reply.json == {
        "results": [
            {"id": "b", "added": False, "matches": [{"id": "a", "similarity": 0.8}]},
            {"id": "n", "added": True},
            {"id": "o", "added": False, "matches": [{"id": "n", "similarity": 1.0}]},
        ],
        "added": 1,
    }


def test_an_update_puts_an_item_in_the_place_of_another(served: Service) -> None:
    assert served.ask("POST", "/v1/update", {"items": [{"text": C, "id": "a"}]}).status == 200
    found = served.ask("POST", "/v1/query", {"items": [{"text": C}, {"text": A}]}).json["results"]
    assert [[match["id"] for match in one["matches"]] for one in found] == [[7, "a"], []]
    assert served.ask("POST", "/v1/update", {"items": [{"text": C, "id": "nobody"}]}).status == 409


def test_removal_of_what_is_not_there_is_refused_on_request(served: Service) -> None:
    assert served.ask("POST", "/v1/remove", {"ids": ["a", "x"], "missing": "refuse"}).status == 409
    assert served.ask("POST", "/v1/remove", {"ids": ["a", "x"]}).json == {"removed": 1}


def test_whole_numbers_are_ids_however_they_are_written(served: Service) -> None:
    body = b'{"items":[{"text":"w x y z","id":3.0},{"text":"k l m n","id":4e0}]}'
    assert [one["id"] for one in served.ask("POST", "/v1/add", body).json["results"]] == [3, 4]
    assert served.ask("POST", "/v1/contains", {"ids": [3, "3"]}).json == {"contained": [True, False]}
    assert served.ask("POST", "/v1/add", {"items": [{"text": C, "id": 3.5}]}).status == 422
    assert served.ask("POST", "/v1/add", {"items": [{"text": C, "id": 2**63}]}).status == 422


def test_facts_health_and_metrics(served: Service) -> None:
    facts = served.ask("GET", "/v1/info").json
    assert (facts["items"], facts["by"], facts["threshold"]) == (2, "words:2", 0.8)
    assert served.ask("GET", "/v1/count", token=READ).json == {"items": 2} and served.ask("GET", "/v1/count", token=None).status == 401
    assert served.ask("GET", "/healthz", token=None).json == {"status": "ok", "reason": ""}
    assert served.ask("GET", "/readyz", token=None).status == 200
    text = served.ask("GET", "/metrics", token=READ).content.decode()
    assert f"likewise_index_items {facts['items']}.0" in text and "likewise_ready 1.0" in text
    assert 'likewise_requests_total{endpoint="/v1/info",status="200"}' in text
    served.ask("GET", "/no/such/path/at/all")
    assert "no/such" not in served.ask("GET", "/metrics", token=READ).content.decode()


@pytest.mark.parametrize(
    ("method", "path", "body", "media", "status", "says"),
    [
        ("POST", "/v1/query", b"{", JSON, 400, "expected JSON"),
        ("POST", "/v1/query", b"", JSON, 400, "expected JSON"),
        ("POST", "/v1/query", b'{"items":[{"text":"\xff"}]}', JSON, 400, "expected JSON"),
        ("POST", "/v1/query", {"items": []}, JSON, 422, "length"),
        ("POST", "/v1/query", {"items": [{"text": "a"}] * 257}, JSON, 422, "256"),
        ("POST", "/v1/query", {"items": [{"text": 1}]}, JSON, 422, "$.items[0].text"),
        ("POST", "/v1/query", {"items": [{"text": None}]}, JSON, 422, "Expected `str`"),
        ("POST", "/v1/query", {"items": [{"text": "a", "tetx": ""}]}, JSON, 422, "`tetx` - at `$.items[0]`; expected fields: text, id"),
        ("POST", "/v1/update", {"items": [{"text": "a", "id": 1, "tetx": ""}]}, JSON, 422, "`tetx` - at `$.items[0]`; expected fields: text, id"),
        ("POST", "/v1/query", {"texts": ["a"]}, JSON, 422, "`texts`; expected fields: items, threshold, within, k, force"),
        ("POST", "/v1/add-new", {"items": [{"text": "a"}], "n": 1}, JSON, 422, "`n`; expected fields: items, k, existing"),
        ("POST", "/v1/remove", {"id": [1]}, JSON, 422, "`id`; expected fields: ids, missing"),
        ("POST", "/v1/remove", {"ids": [1], "missing": "no"}, JSON, 422, "'no' - at `$.missing`; expected one of ignore, refuse"),
        (
            "POST",
            "/v1/query?top=1",
            b'{"text":"a"}',
            LINES,
            422,
            "in the address: Object contains unknown field `top`; expected fields: threshold, within",
        ),
        ("POST", "/v1/add?existing=no", b'{"text":"a"}', LINES, 422, "'no' - at `$.existing`; expected one of refuse, skip, replace"),
        ("POST", "/v1/query", b'{"tetx":"a"}', LINES, 422, "line 1: Object contains unknown field `tetx`; expected fields: text, id"),
        ("POST", "/v1/query", {"items": [{"text": "a"}], "k": 0}, JSON, 422, "k"),
        ("POST", "/v1/query", {"items": [{"text": "a"}], "k": 1.5}, JSON, 422, "k"),
        ("POST", "/v1/query", {"items": [{"text": "a"}], "threshold": 7}, JSON, 422, "<= 1.0 - at `$.threshold`"),
        ("POST", "/v1/query", {"items": [{"text": "a"}], "within": 7}, JSON, 422, "within"),
        ("POST", "/v1/add", {"items": [{"text": "a", "id": "x"}, {"text": "b"}]}, JSON, 422, "id"),
        (
            "POST",
            "/v1/add",
            {"items": [{"text": "a"}], "existing": "maybe"},
            JSON,
            422,
            "'maybe' - at `$.existing`; expected one of refuse, skip, replace",
        ),
        ("POST", "/v1/update", {"items": [{"text": "a"}]}, JSON, 422, "id"),
        ("POST", "/v1/query?k=1", {"items": [{"text": "a"}]}, JSON, 422, "JSON document"),
        ("POST", "/v1/query", {"items": [{"text": "a"}]}, "text/plain", 415, "text/plain"),
        ("POST", "/v1/remove", {"ids": [1]}, LINES, 415, JSON),
        ("GET", "/v1/query", None, JSON, 405, "POST"),
        ("POST", "/v1/info", {}, JSON, 405, "GET"),
        ("GET", "/v2/query", None, JSON, 404, "/v1/query"),
    ],
)
def test_what_was_expected_is_said(served: Service, method: str, path: str, body: object, media: str, status: int, says: str) -> None:
    reply = served.ask(method, path, body, media=media)
    assert reply.status == status and reply.headers["content-type"] == "application/problem+json", reply
    assert says in reply.json["detail"] and reply.json["status"] == status and reply.json["request-id"] == reply.headers["x-request-id"]


def test_a_request_id_of_the_client_is_kept_if_it_is_harmless(served: Service) -> None:
    assert served.ask("GET", "/healthz", **{"x-request-id": "abc-1"}).headers["x-request-id"] == "abc-1"
    assert served.ask("GET", "/healthz", **{"x-request-id": "a b"}).headers["x-request-id"] != "a b"
    ids = {served.ask("GET", "/healthz").headers["x-request-id"] for _ in range(3)}
    assert len(ids) == 3


def test_no_answer_is_for_pages_of_other_sites_or_caches(served: Service) -> None:
    reply = served.ask("GET", "/v1/info", origin="https://example.org")
    assert reply.headers["cache-control"] == "no-store" and not [name for name in reply.headers if name.startswith("access-control")]
    assert served.ask("OPTIONS", "/v1/query", **{"access-control-request-method": "POST"}).status == 405


def test_the_log_has_neither_texts_nor_tokens(served: Service) -> None:
    served.ask("POST", "/v1/add", {"items": [{"text": "very secret words here", "id": {"x": 1}}]}, **{"x-request-id": "look-here"})
    served.ask("POST", "/v1/query", {"items": [{"text": "very secret words here"}]}, **{"x-request-id": "look-there"})
    served.ask("POST", "/v1/query", {"items": [{"text": "very secret words here"}]}, token="wrong-and-secret-token", **{"x-request-id": "no-entry"})
    here, there, nowhere = (served.logged(id=name) for name in ("look-here", "look-there", "no-entry"))
    assert here["status"] == 422 and there["items"] == 1 and there["token"] == "writer"
    assert nowhere["status"] == 401
    text = (served.path / "log").read_text()
    assert "secret" not in text and WRITE not in text


def test_duplicate_members_of_json_count_as_the_last(served: Service) -> None:
    reply = served.ask("POST", "/v1/query", b'{"items":[{"text":"x","text":' + json.dumps(C).encode() + b"}]}")
    assert [match["id"] for match in reply.json["results"][0]["matches"]] == [7]
