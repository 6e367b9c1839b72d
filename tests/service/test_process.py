"""The process: its start, its end, and what is there after it was killed."""

from __future__ import annotations

import json
import signal
import socket
import threading
from pathlib import Path

import pytest

import likewise as lw
from command_line import refused
from likewise.errors import install
from likewise.service.queries import SHORT
from likewise.service.start import EXTRA
from services import BEGUN, GO, LINES, PATIENCE, SLOW, Service, command, service, until, with_tokens


@pytest.fixture
def seen(tmp_path: Path) -> Path:
    with lw.Index.create(tmp_path / "seen.lw", by="words:1", threshold=0.9) as index:
        index.add(["a b c d", "e f g h"], ids=["x", "y"])
    return tmp_path / "seen.lw"


def text(me: int, number: int) -> str:
    return f"p{me} q{me}n{number} r{number} s{number}m{me}"


def test_what_was_acknowledged_is_there_after_the_process_was_killed(tmp_path: Path, seen: Path) -> None:
    """Four clients add one item a request, until the process is killed between two answers."""
    acknowledged: list[str] = []

    def add(served: Service, me: int) -> None:
        with served.client() as client:
            try:
                for number in range(100_000):
                    client.add_new([text(me, number)], ids=[f"{me}-{number}"])
                    acknowledged.append(f"{me}-{number}")
            except (OSError, lw.LikewiseError):
                pass

    for turn in range(3):
        with command(seen, with_tokens(tmp_path / f"served{turn}"), "--token-file", "tokens") as served:
            threads = [threading.Thread(target=add, args=(served, 10 * turn + me)) for me in range(4)]
            for thread in threads:
                thread.start()
            until(lambda turn=turn: len(acknowledged) > 50 * (turn + 1))
            served.stop(signal.SIGKILL)
            for thread in threads:
                thread.join()
        with lw.Index.open(seen) as index:
            there = list(index.ids())
            assert len(there) == len(set(there)) and set(acknowledged) | {"x", "y"} <= set(there)
            assert len(there) <= len(acknowledged) + 2 + 4 * (turn + 1)  # a client had one more on its way
            assert index.check() == []


def test_others_read_beside_a_service_that_writes(tmp_path: Path, seen: Path) -> None:
    with command(seen, with_tokens(tmp_path / "one"), "--token-file", "tokens") as writes, command(seen, tmp_path / "other") as reads:
        assert writes.ask("POST", "/v1/add", {"items": [{"text": "i j k l", "id": "new"}]}).status == 200
        assert reads.ask("POST", "/v1/contains", {"ids": ["new", "none"]}, token=None).json == {"contained": [True, False]}
        assert reads.ask("POST", "/v1/query", {"items": [{"text": "i j k l"}]}, token=None).json["results"][0]["matches"][0]["id"] == "new"
        assert f"process {writes.process.pid}" in refused("serve", seen, "--port", "0", "--token-file", writes.path / "tokens")
        assert f"--port {writes.port}: Address already in use" in refused("serve", seen, "--port", writes.port)
        assert reads.stop() == 0 and writes.stop(signal.SIGINT) == 0
    log = [json.loads(line) for line in (tmp_path / "one" / "log").read_text().splitlines()]
    log = [line for line in log if line["event"] != "compiling"]
    assert [line["event"] for line in log] == ["started", "stopping", "stopped"] and log[0]["writes"] is True


def refuses(port: int) -> bool:
    """True if nothing listens at a port."""
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) != 0


def test_running_requests_end_before_the_process_does(tmp_path: Path) -> None:
    with service(tmp_path / "served", limits={"leaving_seconds": 0}) as served:
        replies = []
        query = {"items": [{"text": SLOW}, {"text": "long " * SHORT}]}  # so that it runs beside other requests
        asking = threading.Thread(target=lambda: replies.append(served.ask("POST", "/v1/query", query)))
        asking.start()
        until((served.path / BEGUN).exists)
        served.process.send_signal(signal.SIGTERM)
        until(lambda: refuses(served.port))
        assert not replies
        (served.path / GO).touch()
        asking.join()
        assert served.process.wait(PATIENCE) == 0 and replies[0].status == 200
        assert served.log()[-1]["event"] == "stopped"


def test_a_leaving_service_takes_requests_for_a_while_and_a_second_signal_does_not_wait(tmp_path: Path) -> None:
    with service(tmp_path / "served", limits={"leaving_seconds": 3600}) as served:
        served.process.send_signal(signal.SIGTERM)
        served.logged(event="stopping")
        ready = served.ask("GET", "/readyz")
        assert ready.status == 503 and ready.json == {"status": "not ready", "reason": "the service stops"}
        assert served.ask("POST", "/v1/add", {"items": [{"text": "taken"}]}).status == 200
        assert served.stop() == 0


def test_a_folder_that_is_no_index_is_refused(tmp_path: Path) -> None:
    (tmp_path / "else").mkdir()
    refused("serve", tmp_path / "else", "--port", "0")


def test_libraries_that_are_missing_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lw.Index.create(tmp_path / "served.lw", by="words:2").close()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "starlette" else name)
    assert "Starlette, which is not installed: pip" in (said := refused("serve", tmp_path / "served.lw")) and install(EXTRA) in said


def test_a_stream_is_a_single_request_of_the_log(tmp_path: Path) -> None:
    with service(tmp_path / "served") as served:
        served.ask("POST", "/v1/add", b'{"text":"a b"}\n' * 300, media=LINES)
        line = served.logged(path="/v1/add")
        assert (line["items"], line["status"]) == (300, 200)
