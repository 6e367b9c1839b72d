"""Access by tokens, their scopes and their file; and the header Host of a service without tokens."""

from __future__ import annotations

import hashlib
import signal
from pathlib import Path

import pytest

import likewise as lw
from command_line import refused
from likewise.service.run import is_loopback
from likewise.service.tokens import read
from services import READ, WRITE, service

QUERY = {"items": [{"text": "a b"}]}


def write(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


def test_a_file_has_a_token_on_each_line(tmp_path: Path) -> None:
    digest = hashlib.sha256(b"another-long-token").hexdigest()
    tokens = read(write(tmp_path / "t", f"# who\n\n  read {READ} dashboard\nwrite sha256:{digest.upper()}\n"))
    found, other = tokens.find(READ.encode()), tokens.find(b"another-long-token")
    assert found and (found.scope, found.name) == ("read", "dashboard")
    assert other and (other.scope, other.name) == ("write", "line 4")
    assert tokens.find(b"") is None and tokens.find(READ.encode()[:-1]) is None and tokens.find(f"sha256:{digest}".encode()) is None
    assert tokens.writing and not read(write(tmp_path / "t", f"read {READ}")).writing


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "found 0"),
        ("admin 0123456789abcdef", "line 1: expected `read TOKEN"),
        ("read", "got another first word or 1 words"),
        ("\nread short", "line 2: a token has at least 16"),
        ("read 0123456789abcde\u00fc", "a token has at least 16"),
        (f"read {READ}\nwrite {READ}", "line 2: this token appears twice"),
    ],
)
def test_what_a_file_lacks_is_said_without_its_tokens(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(lw.UsageError) as error:
        read(write(tmp_path / "t", text))
    assert says in str(error.value) and READ not in str(error.value) and "0123456789" not in str(error.value)


def test_a_file_that_everybody_can_read_has_hashes_only(tmp_path: Path) -> None:
    with pytest.raises(lw.UsageError, match="chmod o-r"):
        read(write(tmp_path / "t", f"read {READ}", 0o644))
    assert read(write(tmp_path / "t", f"read sha256:{'0' * 64}", 0o644)).known
    with pytest.raises(lw.UsageError, match="No such file"):
        read(tmp_path / "none")


def test_scopes_are_kept(tmp_path: Path) -> None:
    with service(tmp_path / "served") as served:
        add, ask = {"items": [{"text": "a b c"}]}, ("POST", "/v1/query", QUERY)
        assert served.ask(*ask, token=READ).status == 200 and served.ask(*ask, token=WRITE).status == 200
        for path, body in {"/v1/add": add, "/v1/add-new": add, "/v1/update": {"items": [{"id": 1, "text": ""}]}, "/v1/remove": {"ids": [1]}}.items():
            reply = served.ask("POST", path, body, token=READ)
            assert reply.status == 403 and 'scope="write"' in reply.headers["www-authenticate"]
            assert served.ask("POST", path, body, token=None).status == 401
        for path in ("/v1/info", "/metrics"):
            assert served.ask("GET", path, token=None).status == 401 and served.ask("GET", path, token=READ).status == 200
        for path in ("/healthz", "/readyz", "/openapi.json"):
            assert served.ask("GET", path, token=None).status == 200
        for wrong in ("Bearer", f"Basic {READ}", f"Bearer {READ}x", f"Bearer {READ} {READ}", READ, "Bearer \xff", f"Token {WRITE}"):
            reply = served.ask(*ask, token=None, authorization=wrong)
            assert reply.status == 401 and reply.headers["www-authenticate"] == "Bearer"
        assert served.ask(*ask, token=None, authorization=f"bearer  {READ}").status == 200
        assert served.ask("POST", "/v1/query?token=" + READ, QUERY, token=None).status == 401
        assert served.ask(*ask, host="elsewhere.example").status == 200  # a page of another site has no token


def test_tokens_are_replaced_while_the_service_runs(tmp_path: Path) -> None:
    with service(tmp_path / "served") as served:
        new = "quite-another-token-1"

        def reload(text: str, event: str) -> None:
            write(served.path / "tokens", text)
            served.process.send_signal(signal.SIGHUP)
            served.logged(event=event)

        reload(f"read {new}\n", "tokens reloaded")
        assert served.ask("GET", "/v1/info", token=READ).status == 401 and served.ask("GET", "/v1/info", token=new).status == 200
        reload("nonsense\n", "the tokens were not reloaded")
        assert served.ask("GET", "/v1/info", token=new).status == 200
        assert [line["event"] for line in served.log() if "token" in line["event"]] == ["tokens reloaded", "the tokens were not reloaded"]


def test_without_tokens_this_machine_may_read(tmp_path: Path) -> None:
    with service(tmp_path / "served", tokens=False) as served:
        assert served.ask("POST", "/v1/query", QUERY, token=None).status == 200
        assert served.ask("POST", "/v1/add", {"items": [{"text": "a"}]}, token=None).status == 403
        for host, status in {
            "localhost:1": 200,
            "LOCALHOST": 200,
            "127.0.0.1": 200,
            "[::1]:80": 200,
            "evil.example": 421,
            "evil.example:80": 421,
        }.items():
            assert served.ask("GET", "/v1/info", token=None, host=host).status == status, host
        assert served.raw(b"GET /v1/info HTTP/1.1\r\nconnection: close\r\n\r\n").startswith(b"HTTP/1.1 421")
        assert served.ask("POST", "/v1/query", b'{"items":[{"text":"a"}]}', token=None, media="text/plain").status == 415  # as a form of a page


def test_addresses_of_other_machines_need_tokens(tmp_path: Path) -> None:
    assert is_loopback("127.0.0.1") and is_loopback("localhost") and is_loopback("::1") and not is_loopback("0.0.0.0") and not is_loopback("::")
    (empty := tmp_path / "empty").mkdir()
    assert "this folder has no result and no index" in refused("serve", empty)
    (tmp_path / "manifest.json").touch()  # looks like an index
    assert "requests need tokens; give --token-file FILE" in refused("serve", tmp_path, "--host", "0.0.0.0")
    assert "give an address of this machine" in refused("serve", tmp_path, "--host", "no such host")
    assert "--token-file" in refused("serve", tmp_path, "--token-file", tmp_path / "none")
    assert "none: no such file or folder; give an output of dedup" in refused("serve", tmp_path / "none", "--port", "0")
