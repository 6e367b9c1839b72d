"""Streams of lines: they are answered line by line, a block at a time, whatever their length."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from services import LINES, WRITE, Service, service, until


def stream(served: Service, path: str, lines: Iterator[bytes]) -> Iterator[Any]:
    """Send lines on a thread, and give the lines of the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    connection.putrequest("POST", path)
    for name, value in {"authorization": f"Bearer {WRITE}", "content-type": LINES, "transfer-encoding": "chunked"}.items():
        connection.putheader(name, value)
    connection.endheaders()

    def send() -> None:
        for line in lines:
            connection.send(b"%x\r\n%s\r\n" % (len(line), line))
        connection.send(b"0\r\n\r\n")

    sender = threading.Thread(target=send)
    sender.start()
    response = connection.getresponse()
    assert response.status == 200
    yield from map(json.loads, response)
    sender.join()
    connection.close()


def items(n: int, begin: int = 0) -> Iterator[bytes]:
    for number in range(begin, begin + n):
        yield b'{"id":%d,"text":"w%d x%d y%d z%d"}\n' % (number, number, number, number, number)


def head(path: str) -> bytes:
    """The beginning of a stream."""
    headers = f"host: x\r\nauthorization: Bearer {WRITE}\r\ncontent-type: {LINES}\r\ntransfer-encoding: chunked\r\n"
    return f"POST {path} HTTP/1.1\r\n{headers}\r\n".encode()


def resident(pid: int) -> int:
    """The memory of a process, in bytes."""
    return int(next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS")).split()[1]) * 1024


def test_each_line_gets_a_line(served: Service) -> None:
    added = list(stream(served, "/v1/add", items(600)))
    assert added == [{"id": number, "added": True} for number in range(600)]
    found = list(stream(served, "/v1/query?k=1", items(600)))
    assert found == [{"id": number, "matches": [{"id": number, "similarity": 1.0}]} for number in range(600)]
    again = list(stream(served, "/v1/add-new", items(600, 300)))
    assert [one["added"] for one in again] == [False] * 300 + [True] * 300
    assert [one["matches"][0]["id"] for one in again[:300]] == list(range(300, 600))
    with served.client() as client:
        client.remove(range(900))


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_lines_before_a_fault_are_answered_however_the_stream_is_cut(served: Service, size: int) -> None:
    text = b"".join(items(3)) + b'\n{"text": 5}\n' + b"".join(items(2, 10))
    parts = [text[begin : begin + size] for begin in range(0, len(text), size)]
    *added, last = stream(served, "/v1/add", iter(parts))
    assert added == [{"id": number, "added": True} for number in range(3)]
    assert last["problem"]["status"] == 422 and last["problem"]["detail"].startswith("line 5: Expected `str`")
    assert served.ask("POST", "/v1/contains", {"ids": [2, 10]}).json == {"contained": [True, False]}
    *added, last = stream(served, "/v1/add", iter([b"".join(items(1, 20)), b"".join(items(1, 0)), b"".join(items(1, 21))]))
    assert added == [{"id": 20, "added": True}] and last["problem"]["error"] == "IdError"
    assert served.ask("POST", "/v1/remove", {"ids": [0, 1, 2, 20, 21]}).json == {"removed": 4}


def test_a_first_line_that_is_wrong_is_the_status(served: Service) -> None:
    reply = served.ask("POST", "/v1/query", b'{"txt":1}\n{"text":"a"}\n', media=LINES)
    assert reply.status == 422 and reply.json["detail"].startswith("line 1: ")
    assert served.ask("POST", "/v1/query", b"", media=LINES).content == b""
    assert served.ask("POST", "/v1/query?k=x", b"", media=LINES).status == 422
    assert served.ask("POST", "/v1/query?q=1", b"", media=LINES).status == 422
    assert served.ask("POST", "/v1/query?k=1&k=2", b"", media=LINES).status == 422


def test_the_last_line_may_lack_its_end(served: Service) -> None:
    assert [line["matches"] for line in served.ask("POST", "/v1/query", b'{"text":"a b"}\n{"text":"c"}', media=LINES).lines] == [[], []]


def test_a_line_has_a_limit(served: Service) -> None:
    reply = served.ask("POST", "/v1/query", b'{"text":"' + b"a" * (1 << 20) + b'"}\n', media=LINES)
    assert reply.status == 413 and "line 1" in reply.json["detail"]


def test_memory_stays_flat_and_a_slow_reader_slows_the_sender(served: Service) -> None:
    """A client that takes no answers can send only what buffers hold; one that does gets 40,000 of them from constant memory."""
    with served.connected() as sock:
        sock.sendall(head("/v1/query"))
        block = b"".join(items(256))
        sent, sock_timeout = 0, 1.5
        sock.settimeout(sock_timeout)
        try:
            for _ in range(4000):
                sock.sendall(b"%x\r\n%s\r\n" % (len(block), block))
                sent += len(block)
        except TimeoutError:
            pass
        assert sent < 40_000_000  # of 48 MB
    list(stream(served, "/v1/query", items(2_000)))
    before = resident(served.process.pid)
    assert sum(1 for _ in stream(served, "/v1/query", items(40_000))) == 40_000
    assert resident(served.process.pid) < before + (16 << 20)


@contextmanager
def begun(served: Service) -> Iterator[socket.socket]:
    """The connection of a stream that has sent one line."""
    with served.connected() as sock:
        line = next(items(1))
        sock.sendall(head("/v1/add") + b"%x\r\n%s\r\n" % (len(line), line))
        yield sock


def test_streams_have_a_limit(tmp_path: Path) -> None:
    with service(tmp_path / "served", limits={"streams": 1}) as served:
        with begun(served):
            until(lambda: served.gauge("likewise_streams") == 1)
            busy = served.ask("POST", "/v1/query", next(items(1)), media=LINES)
            assert busy.status == 503 and busy.headers["retry-after"] == "1"
        until(lambda: served.gauge("likewise_streams") == 0)
        assert served.ask("POST", "/v1/query", next(items(1)), media=LINES).status == 200


def test_a_stream_that_stops_sending_ends(tmp_path: Path) -> None:
    with service(tmp_path / "served", limits={"body_seconds": 1}) as served, begun(served) as sock:
        answer = b""
        while b"problem" not in answer and (part := sock.recv(4096)):
            answer += part
        assert b'{"id":0,"added":true}' in answer and b'"status":408' in answer
        until(lambda: served.gauge("likewise_streams") == 0)
