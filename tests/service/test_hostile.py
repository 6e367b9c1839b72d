"""Requests that are wrong on purpose: each gets an answer or the end of its connection, and the service goes on."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from services import CRASH, FULL, GO, JSON, PATIENCE, SLOW, WRITE, WRONG, Service, received, service, until

LOGIN = f"authorization: Bearer {WRITE}\r\n".encode()
GOOD = b'{"items":[{"text":"a b c"}]}'


@pytest.fixture(autouse=True)
def goes_on(served: Service) -> Iterator[None]:
    yield
    assert served.ask("POST", "/v1/query", GOOD).status == 200


def post(body: bytes, headers: bytes = b"", path: bytes = b"/v1/query") -> bytes:
    length = b"" if b"ransfer" in headers or b"ontent-length" in headers else b"content-length: %d\r\n" % len(body)
    return b"POST %s HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n" % path + LOGIN + length + headers + b"\r\n" + body


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"[" * 100_000, 422),
        (b'{"items":' * 10_000, 422),
        (b'{"items":[{"text":"a","id":' + b"9" * 5000 + b"}]}", 422),
        (b'{"items":[{"text":"a"}],"threshold":1e999}', 422),
        (b'{"items":[{"text":"a"}],"threshold":NaN}', 400),
        (b'{"items":[{"text":"a"}],"threshold":-0}', 422),
        (b'{"items":[{"text":"\\ud800"}]}', 400),
        (b'{"items":[{"text":"\xed\xa0\x80"}]}', 400),
        (b'{"items":[{"text":"a\x00"}]}', 400),
        (b'{"items":[{"text":"a\\u0000 b\\u0000"}]}', 200),
        (b'\xef\xbb\xbf{"items":[{"text":"a"}]}', 400),
        (b'{"items":[{"text":"a"}]} {}', 400),
        (b'{"items":[{"text":"a"}],"items":[{"text":"b"}]}', 200),
        (b'{"items":[{"text":"a","' + b"k" * 500_000 + b'":1}]}', 422),
        (b'{"items":[{"text":"a"}],"k - at `$.items[0]`":1}', 422),
        (b"null", 422),
        (b'"items"', 422),
    ],
)
def test_bodies(served: Service, body: bytes, expected: int) -> None:
    reply = served.ask("POST", "/v1/query", body)
    assert reply.status == expected, reply.content[:300]
    assert len(reply.content) < 2000 and b"Traceback" not in reply.content


def test_a_body_that_is_too_large_is_refused_by_its_length_or_by_what_arrives(served: Service) -> None:
    refused = served.raw(post(b"", b"content-length: 1048577\r\n"))
    assert status(refused) == 413 and b"connection: close" in refused
    refused = served.raw(post(b"", b"content-length: 99999999999999999999999\r\n"))
    assert status(refused) == 400
    block = b"10000\r\n" + b" " * 65536 + b"\r\n"
    assert status(served.raw(post(block * 17, b"transfer-encoding: chunked\r\n"))) == 413
    assert (
        status(served.raw(post(block * 15 + b"%x\r\n" % len(GOOD) + GOOD + b"\r\n0\r\n\r\n", b"transfer-encoding: chunked\r\nconnection: close\r\n")))
        == 200
    )


def test_a_client_that_waits_for_leave_to_send_is_answered_first(served: Service) -> None:
    refused = served.raw(post(b"", b"expect: 100-continue\r\ncontent-length: 2000000\r\n"))
    assert status(refused) == 413
    unknown = post(b"", b"expect: 100-continue\r\ncontent-length: 20\r\n").replace(WRITE.encode(), b"somebody-elses-token")
    assert status(served.raw(unknown)) == 401


@pytest.mark.parametrize(
    "request_",
    [
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"get /healthz HTTP/1.1\r\nhost: x\r\n\r\n",
        b"POST /v1/query HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /v1/query HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nabcdef",
        b"POST /v1/query HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
        b"POST /v1/query HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"GET /healthz HTTP/1.1\r\nhost: x\r\n name: folded\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nho st: x\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nhost: a\x00b\r\n\r\n",
        b"GET http://[::1/healthz HTTP/1.1\r\nhost: x\r\n\r\n",
        b"CONNECT example.org:443 HTTP/1.1\r\nhost: x\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
def test_what_is_not_http_is_refused(served: Service, request_: bytes) -> None:
    answer = served.raw(request_)
    assert answer == b"" or 400 <= status(answer) < 500, answer
    assert b"Traceback" not in answer


@pytest.mark.parametrize("name", [b"host", b"authorization", b"content-type"])
def test_headers_that_are_there_twice_are_refused(served: Service, name: bytes) -> None:
    assert status(served.raw(post(GOOD, name + b": localhost\r\n" + name + b": localhost\r\n"))) == 400


def test_headers_without_end_end_the_connection(served: Service) -> None:
    answer = served.raw(b"GET /healthz HTTP/1.1\r\nhost: x\r\n" + b"".join(b"x-%d: %s\r\n" % (number, b"a" * 1000) for number in range(200)))
    assert answer == b"" or status(answer) == 431


def test_an_upgrade_is_not_made(served: Service) -> None:
    upgrade = b"connection: upgrade, close\r\nupgrade: websocket\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n"
    answer = served.raw(b"GET /healthz HTTP/1.1\r\nhost: x\r\n" + upgrade + b"\r\n")
    assert status(answer) == 200


def test_requests_in_one_go_are_answered_in_their_order(served: Service) -> None:
    one = post(b'{"items":[{"text":"a","id":%d}]}')
    asked = b"".join(post(b'{"items":[{"text":"a","id":%d}]}' % number) for number in range(50)) + post(GOOD, b"connection: close\r\n")
    answer = served.raw(asked)
    assert answer.count(b"HTTP/1.1 200 OK") == 51 and one
    places = [answer.index(b'"id":%d,' % number) for number in range(50)]
    assert places == sorted(places)


def test_half_a_request_takes_no_place_for_long(tmp_path: Path) -> None:
    """Headers that arrive byte by byte, a body that does not arrive, and a connection that says nothing."""
    with service(tmp_path / "served", limits={"headers_seconds": 1, "body_seconds": 1, "idle_seconds": 1}) as served:
        for data in (b"", b"GET /healthz HTTP/1.1\r\nx: a", post(b"ab", b"content-length: 20\r\n")):
            with served.connected() as sock:
                sock.sendall(data)
                for _ in range(8):  # a byte now and then does not help
                    time.sleep(0.2)
                    try:
                        sock.sendall(b"a")
                    except OSError:
                        break
                answer = received(sock)
                assert answer == b"" or status(answer) == (408 if data else 400), answer
        assert served.ask("GET", "/healthz").status == 200


@pytest.mark.parametrize("last", [b"", b"nonsense\r\n\r\n"])
def test_a_client_that_takes_no_answers_is_dropped(tmp_path: Path, last: bytes) -> None:
    """last: what ends the requests; after nonsense, the service closes the connection once the answers are taken."""
    with service(tmp_path / "served", limits={"send_seconds": 1}) as served, socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.connect(("127.0.0.1", served.port))
        sock.settimeout(PATIENCE)
        until(lambda: served.connections() == 1)
        with suppress(ConnectionError):  # it may be dropped before it has sent all
            sock.sendall(b"GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n" * 1500 + last)
        until(lambda: served.connections() == 0, 25)  # sooner than by default


def test_too_many_requests_are_told_to_come_again(tmp_path: Path) -> None:
    with service(tmp_path / "served", limits={"waiting": 2}) as served:
        slow = {"items": [{"text": SLOW}]}
        sockets = [served.connected() for _ in range(8)]
        until(lambda: served.connections() == len(sockets))
        for sock in sockets:
            sock.sendall(post(str(slow).replace("'", '"').encode(), b"connection: close\r\n"))
        (served.path / GO).touch()  # the first query holds up all others
        answers = [received(sock) for sock in sockets]
        for sock in sockets:
            sock.close()
        found = sorted(map(status, answers))
        assert found[0] == 200 and found[-1] == 503
        refused = next(answer for answer in answers if status(answer) == 503)
        assert b"retry-after: 1" in refused and b'"error":"LikewiseError"' in refused


def test_a_fault_of_the_index_is_not_shown_to_clients(tmp_path: Path) -> None:
    with service(tmp_path / "served") as served:
        reply = served.ask("POST", "/v1/add", {"items": [{"text": WRONG}]})
        assert reply.status == 500 and WRONG.encode() not in reply.content and b"KeyError" not in reply.content
        assert served.ask("GET", "/readyz").status == 503
        log = served.logged(error="KeyError")
        assert log["id"] == reply.json["request-id"] and WRONG not in str(log)
        full = served.ask("POST", "/v1/add", {"items": [{"text": FULL}]})
        assert full.status == 507 and "No space left" in full.json["detail"]
        assert served.ask("GET", "/readyz").json["reason"] == "the last change could not be written"
        assert served.ask("POST", "/v1/add", {"items": [{"text": "fine again"}]}).status == 200
        assert served.ask("GET", "/readyz").status == 200


def test_the_end_of_the_writing_thread_makes_the_service_unready(tmp_path: Path) -> None:
    with service(tmp_path / "served") as served:
        assert served.ask("POST", "/v1/add", {"items": [{"text": CRASH}]}).status == 500
        red = served.ask("GET", "/readyz")
        assert red.status == 503 and "thread that writes has stopped" in red.json["reason"]
        assert served.ask("POST", "/v1/add", {"items": [{"text": "a b"}]}).status == 503
        assert served.ask("POST", "/v1/query", GOOD).status == 200
        assert b"likewise_ready 0.0" in served.ask("GET", "/metrics").content
        assert served.ask("GET", "/healthz").headers["content-type"] == JSON
        assert served.stop() == 0
