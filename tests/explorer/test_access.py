"""Who may ask, and what a page may do: this machine alone, and nothing but its own files."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import likewise as lw
from command_line import refused
from explorers import get, post
from likewise.errors import install
from likewise.report.verdicts import path_of
from likewise.service.start import EXTRA
from services import Service, command

PATHS = ("/", "/clusters", "/clusters/0", "/review", "/search", "/plan", "/style.css", "/script.js", "/report", "/nothing")


@pytest.mark.parametrize("path", PATHS)
def test_each_answer_has_the_headers_of_a_careful_site(explored: Service, path: str) -> None:
    headers = explored.ask("GET", path, token=None).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    if path != "/report":
        assert "script-src 'self';" in policy and "unsafe-eval" not in policy and "frame-ancestors 'none'" in policy and "base-uri 'none'" in policy
    for name, value in (
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "same-origin"),
        ("x-frame-options", "DENY"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-store"),
    ):
        assert headers[name] == value, name
    assert "server" not in headers and "access-control-allow-origin" not in headers


@pytest.mark.parametrize("path", PATHS)
def test_another_host_gets_nothing(explored: Service, path: str) -> None:
    """As when a page of another site lets its name resolve to 127.0.0.1."""
    reply = explored.ask("GET", path, token=None, Host=f"evil.example:{explored.port}")
    assert reply.status == 421 and b"a.jsonl" not in reply.content
    assert explored.ask("GET", path, token=None, Host=f"localhost:{explored.port}").status in (200, 404)


def test_pages_have_no_script_or_style_of_their_own(explored: Service) -> None:
    for path in PATHS[:6]:
        page = get(explored, path)
        assert page.count("<script") == 1 and '<script src="/script.js" defer></script>' in page and "<style" not in page
        assert " onclick" not in page and "javascript:" not in page and "http://" not in page.replace("http://www.w3.org/2000/svg", "")


def test_only_files_of_the_explorer_are_served(explored: Service) -> None:
    for path in ("/manifest.json", "/../manifest.json", "/%2e%2e/%2e%2e/etc/passwd", "/kept/first.jsonl", "/static/../../pages.py", "//etc/passwd"):
        assert explored.ask("GET", path, token=None).status == 404, path


def test_addresses_of_other_machines_are_refused(out: Path) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1"):
        assert "other machines can reach this address" in refused("serve", out, "--host", host)
    assert "has no tokens" in refused("serve", out, "--token-file", "tokens")


def test_a_folder_that_was_changed_is_refused(tmp_path: Path) -> None:
    lw.dedup(["a b c d e", "a b c d e"], out=tmp_path / "out")
    (tmp_path / "out" / "report.json").write_text("{}")
    assert "has changed since likewise wrote it" in refused("serve", tmp_path / "out")


def test_a_folder_without_its_manifest_is_no_index(tmp_path: Path) -> None:
    lw.dedup(["a b c d e", "a b c d e"], out=tmp_path / "out")
    (tmp_path / "out" / "manifest.json").unlink()
    assert "is not a complete output of dedup: it has no manifest.json" in refused("serve", tmp_path / "out")


@pytest.mark.parametrize("again", [True, False])
def test_an_output_that_was_replaced_or_deleted_is_shown_no_longer(out: Path, tmp_path: Path, again: bool) -> None:
    """Otherwise clusters of the old result would be shown with rows of the new one, and get verdicts."""
    own = Path(shutil.copytree(out, tmp_path / "own"))
    with command(own, tmp_path / "served") as served:
        assert "evil" not in get(served, "/clusters/0")
        if again:
            lw.dedup(["evil b c d e", "evil b c d e"], out=own, overwrite=True)
        else:
            shutil.rmtree(own)
        for path in PATHS[:6]:
            reply = served.ask("GET", path, token=None)
            assert reply.status == 410 and b"start the explorer again" in reply.content and b"evil" not in reply.content, path
        assert post(served, "/verdicts", row=0, verdict="same").status == 410
    assert not path_of(own).exists()


def test_parts_that_are_missing_are_named(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "jinja2" else name)
    assert "Jinja2, which is not installed: pip" in (said := refused("serve", out)) and install(EXTRA) in said
