"""Files get their names once they are whole, and replace nothing that was not to be replaced."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

import likewise as lw
from likewise.errors import UsageError
from likewise.io import disk, placing
from likewise.io.placing import new_file


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def write(target: Path, data: bytes, *, overwrite: bool = False) -> None:
    with new_file(target, overwrite=overwrite) as file:
        file.write(data)


@pytest.fixture(autouse=True)
def umask():
    old = os.umask(0o022)
    yield
    os.umask(old)


@pytest.fixture(params=["renameat2", "link", "neither"])
def system(request, monkeypatch) -> str:
    """Three kinds of file systems: one that renames without replacing, one with hard links alone, one without both."""
    if request.param != "renameat2":
        monkeypatch.setattr(disk, "system_call", lambda _: None)
    if request.param == "neither":
        monkeypatch.setattr(os, "link", lambda *_, **__: (_ for _ in ()).throw(OSError(errno.EPERM, "Operation not permitted")))
    return request.param


def test_a_new_file_has_its_name_when_it_is_whole(tmp_path, system):
    target = tmp_path / "a.jsonl"
    with new_file(target, overwrite=False) as file:
        file.write(b"whole")
        assert not target.exists()
    assert (target.read_bytes(), mode(target), os.listdir(tmp_path)) == (b"whole", 0o644, ["a.jsonl"])


def test_a_file_that_appears_meanwhile_stays_and_the_result_is_kept(tmp_path, system):
    target = tmp_path / "a.jsonl"
    with (
        pytest.raises(UsageError, match=r"appeared during the run and was not replaced; the result is in (.*)") as error,
        new_file(target, overwrite=False) as file,
    ):
        file.write(b"result")
        target.write_bytes(b"precious")
    kept = Path(str(error.value).rpartition(" is in ")[2])
    assert (target.read_bytes(), kept.read_bytes(), kept.parent) == (b"precious", b"result", tmp_path)


@pytest.mark.parametrize("overwrite", [False, True])
def test_what_fails_leaves_nothing(tmp_path, overwrite):
    target = tmp_path / "a.jsonl"
    if overwrite:
        target.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), new_file(target, overwrite=overwrite) as file:
        file.write(b"half")
        1 / 0  # noqa: B018
    assert [path.read_bytes() for path in tmp_path.iterdir()] == ([b"old"] if overwrite else [])


@pytest.mark.parametrize("permissions", [0o600, 0o640, 0o444, 0o666])
def test_a_file_that_is_replaced_gives_its_permissions(tmp_path, permissions):
    target = tmp_path / "a.jsonl"
    target.write_bytes(b"old")
    target.chmod(permissions)
    with new_file(target, overwrite=True) as file:
        file.write(b"new")
        file.flush()
        [part] = [path for path in tmp_path.iterdir() if path != target]
        assert mode(part) == 0o600  # nobody else reads it meanwhile
    assert (target.read_bytes(), mode(target)) == (b"new", permissions)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="takes root to give a file to another group")
def test_a_group_that_cannot_be_kept_gives_no_rights_to_another(tmp_path, monkeypatch):
    for name in ("kept", "lost"):
        target = tmp_path / name
        target.write_bytes(b"old")
        os.chown(target, 1234, 1234)
        target.chmod(0o660)
    write(tmp_path / "kept", b"new", overwrite=True)
    found = (tmp_path / "kept").stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1234, 1234, 0o660)
    monkeypatch.setattr(os, "chown", lambda *_, **__: (_ for _ in ()).throw(PermissionError(errno.EPERM, "Operation not permitted")))
    write(tmp_path / "lost", b"new", overwrite=True)
    assert mode(tmp_path / "lost") == 0o600


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("to", ["there", "nowhere"])
def test_links_are_neither_followed_nor_replaced(tmp_path, overwrite, to):
    (tmp_path / "there").write_bytes(b"precious")
    (tmp_path / "a.jsonl").symlink_to(to)
    with pytest.raises(UsageError, match="this is a link"):
        placing.check_file(tmp_path / "a.jsonl", overwrite=overwrite)
    with pytest.raises(UsageError, match="this is a link"):
        write(tmp_path / "a.jsonl", b"new", overwrite=overwrite)
    assert ((tmp_path / "there").read_bytes(), sorted(os.listdir(tmp_path))) == (b"precious", ["a.jsonl", "there"])


def test_a_link_that_is_laid_during_the_run_is_neither_followed_nor_replaced(tmp_path):
    (tmp_path / "there").write_bytes(b"precious")
    for overwrite in (False, True):
        with pytest.raises(UsageError), new_file(tmp_path / "a.jsonl", overwrite=overwrite) as file:
            file.write(b"new")
            (tmp_path / "a.jsonl").symlink_to("there")
        assert ((tmp_path / "there").read_bytes(), (tmp_path / "a.jsonl").is_symlink()) == (b"precious", True)
        (tmp_path / "a.jsonl").unlink()


def test_a_temporary_name_that_is_taken_is_not_opened(tmp_path, monkeypatch):
    (tmp_path / "there").write_bytes(b"precious")
    monkeypatch.setattr(placing.os, "urandom", lambda _: b"\x01\x23")
    (tmp_path / ".a.0123.jsonl").symlink_to("there")
    with pytest.raises(FileExistsError):
        write(tmp_path / "a.jsonl", b"new")
    assert ((tmp_path / "there").read_bytes(), (tmp_path / ".a.0123.jsonl").is_symlink()) == (b"precious", True)


def test_temporary_names_differ_and_are_no_longer_than_the_system_allows(tmp_path):
    long = tmp_path / ("é" * 120 + ".jsonl")
    write(long, b"new")
    assert long.read_bytes() == b"new"
    assert len({placing.beside(long) for _ in range(100)}) == 100


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such files")
def test_what_is_no_plain_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    for name, why in {"pipe": "not a plain file", "folder": "this is a folder"}.items():
        with pytest.raises(UsageError, match=why):
            placing.check_file(tmp_path / f"{name}.jsonl", overwrite=True)


@pytest.mark.parametrize("suffix", ["parquet", "jsonl", "csv", "tsv"])
def test_a_table_is_written_whole_or_not_at_all(tmp_path, monkeypatch, suffix):
    target = tmp_path / f"a.{suffix}"
    table = lw.pairs(["a b c", "a b c"], by="words:1")
    table.write(target)
    first = target.read_bytes()
    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space left"):
        patch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left on device")))
        lw.pairs(["d e", "d e"], by="words:1").write(target, overwrite=True)
    assert (target.read_bytes(), os.listdir(tmp_path)) == (first, [target.name])
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / target.name).symlink_to(target)
    with pytest.raises(UsageError, match="this is a link"):
        table.write(tmp_path / "link" / target.name, overwrite=True)


@pytest.mark.parametrize("suffix", ["parquet", "jsonl", "csv", "tsv"])
def test_a_table_replaces_a_file_only_on_request(tmp_path, suffix):
    """The file may be the input whose pairs these are."""
    target = tmp_path / f"input.{suffix}"
    target.write_text("the only copy")
    table = lw.pairs(["a b c", "a b c"], by="words:1")
    with pytest.raises(UsageError, match="the file exists; overwrite=True replaces it"):
        table.write(target)
    assert (target.read_text(), os.listdir(tmp_path)) == ("the only copy", [target.name])
    table.write(target, overwrite=True)
    table.write(tmp_path / f"fresh.{suffix}")
    assert target.read_bytes() == (tmp_path / f"fresh.{suffix}").read_bytes()
