"""A work folder is deleted when its work.json says that it is one of likewise, and nothing else is."""

from __future__ import annotations

import json
import os
import signal
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import likewise as lw
from likewise.errors import FormatError, UsageError
from likewise.io import claims
from likewise.io.claims import DESCRIPTION, MARK, take
from likewise.io.work import Work
from situations import everything, jsonl, text


@pytest.fixture(params=["at once", "in steps"])
def system(request, monkeypatch) -> None:
    """Systems with files that have no name yet, and without."""
    if request.param == "in steps":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)


@pytest.fixture
def corpus(tmp_path) -> Path:
    (tmp_path / "in.jsonl").write_bytes(jsonl([{"id": i, "text": text(i % 2)} for i in range(4)]))
    return tmp_path / "in.jsonl"


NAMES = ("journal.jsonl", "stdin", "stdin.part", "work.json.new", "description.json", "description.json.new", "kind.col", "staged/kept/a.jsonl")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("given", ["in.jsonl", "w", "gone.jsonl"])
def test_files_of_the_user_do_not_make_a_work_folder(likewise, corpus, name, given):
    """Their names do not matter, nor whether the run would have been refused for another reason."""
    path = corpus.with_name("w") / name
    path.parent.mkdir(parents=True)
    path.write_bytes(corpus.read_bytes())
    before = everything(corpus.parent)
    for verb in (["dedup", given, "-o", "out"], ["pairs", given], ["neighbors", given], ["audit", given]):
        done = likewise(*verb, "--work", "w")
        assert (done.status, "is not a work folder of likewise and is not empty" in done.err) == (2, True), done.err
        assert everything(corpus.parent) == before


OTHERS = [
    *(b"{}", b"[]", b"null", b"\xff", b"[" * 5000, b'{"format": "likewise/work"}', b'{"made": true}'),
    b'{"format": "likewise/output", "made": true}',
]


@pytest.mark.parametrize("mark", OTHERS)
def test_a_work_json_of_others_is_left_alone(corpus, mark):
    folder = corpus.with_name("w")
    folder.mkdir()
    (folder / MARK).write_bytes(mark)
    for resume in (False, True):
        with pytest.raises(UsageError, match="is not a work folder of likewise"):
            lw.dedup(corpus, out=corpus.with_name("out"), work=folder, resume=resume)
    assert everything(folder) == {MARK: mark}


def test_a_folder_of_another_version_is_left_alone(corpus):
    folder = corpus.with_name("w")
    folder.mkdir()
    (folder / MARK).write_text(json.dumps({"format": "likewise/work", "version": 2, "made": True}))
    with pytest.raises(FormatError, match="another version of likewise left this work folder; delete the folder"):
        lw.pairs(corpus, work=folder)
    assert list(everything(folder)) == [MARK]


@pytest.mark.parametrize("refused", [False, True])
def test_an_empty_folder_of_the_user_is_used_and_stays(corpus, system, refused):
    folder = corpus.with_name("w")
    folder.mkdir(mode=0o750)
    for call in (lambda given: lw.dedup(given, out=corpus.with_name("out"), work=folder), lambda given: lw.pairs(given, work=folder)):
        if refused:
            with pytest.raises(UsageError, match="no such file"):
                call(corpus.with_name("gone.jsonl"))
        else:
            call(corpus)
        assert (stat.S_IMODE(folder.stat().st_mode), list(folder.iterdir())) == (0o750, [])


def test_a_folder_that_likewise_makes_is_private_and_goes(corpus, system):
    folder = corpus.parent / "new" / "w"
    claim = take(folder)
    assert (stat.S_IMODE(folder.stat().st_mode), stat.S_IMODE((folder / MARK).stat().st_mode)) == (0o700, 0o600)
    assert json.loads((folder / MARK).read_bytes()) == {"format": "likewise/work", "version": 1, "made": True}
    with pytest.raises(UsageError, match="another run is working in this folder"):
        take(folder)
    claim.release(remove=True)
    assert not folder.exists()


def test_a_folder_is_as_the_user_left_it_also_when_an_interrupted_run_goes_on(corpus, monkeypatch):
    folder = corpus.with_name("w")
    folder.mkdir()
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("likewise.runs.decided.decide", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        lw.dedup(corpus, out=corpus.with_name("out"), work=folder)
    assert (folder / DESCRIPTION).exists()
    lw.dedup(corpus, out=corpus.with_name("out"), work=folder, resume=True)
    assert list(folder.iterdir()) == []


def test_links_to_a_work_folder_that_nobody_named_are_not_followed(corpus):
    corpus.with_name("elsewhere").mkdir()
    corpus.with_name("out.work").symlink_to("elsewhere")
    with pytest.raises(UsageError, match="is a link or belongs to another user"):
        lw.dedup(corpus, out=corpus.with_name("out"))
    assert list(corpus.with_name("elsewhere").iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="takes root to give a folder away")
def test_a_folder_of_another_user_that_nobody_named_is_not_used(corpus):
    corpus.with_name("out.work").mkdir()
    os.chown(corpus.with_name("out.work"), 1234, 1234)
    with pytest.raises(UsageError, match="is a link or belongs to another user"):
        lw.dedup(corpus, out=corpus.with_name("out"))


# --- killed at each step

STEPS = ("mkdir", "open", "write", "link", "unlink", "rmdir", "replace", "rename")


def counting(left: list[int], function: Callable[..., Any]) -> Callable[..., Any]:
    def step(*args: Any, **how: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*args, **how)

    return step


def killed_at(number: int, act: Callable[[], Any]) -> bool:
    """Run something in a child that is killed before its change of the file system of that number. True if it was killed."""
    child = os.fork()
    if not child:
        try:
            left = [number]
            for name in STEPS:
                setattr(os, name, counting(left, getattr(os, name)))
            act()
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
@pytest.mark.parametrize("users", [False, True])
def test_what_a_kill_leaves_is_taken_up_or_reported(tmp_path, system, users):
    """At each step of making, describing and removing a folder: the next run uses it, or says which folder to delete; nothing beside it changes."""

    def run() -> None:
        work = Work.claim(tmp_path / "w", resume=None)
        work.begin({"method": "any"})
        work.append({"a": b"123"}, step="chunk")
        work.close(remove=True)

    (tmp_path / "precious").write_bytes(b"mine")
    number, printed, started = 0, [], True
    while started:
        number += 1
        if users:
            (tmp_path / "w").mkdir()
        started = killed_at(number, run)
        try:
            run()
        except UsageError as error:
            printed.append(str(error))
            assert "delete the folder" in str(error)
            for path in (tmp_path / "w").iterdir():
                path.unlink()
            (tmp_path / "w").rmdir()
        left = {path.name for path in tmp_path.iterdir()}
        assert left - {"w"} == {"precious"}
        if "w" in left:  # it was there, empty, when the run began: the user's, or left by a kill between two steps
            assert list((tmp_path / "w").iterdir()) == []
            (tmp_path / "w").rmdir()
    assert number > 8
    assert sum("interrupted run left this work folder" in said for said in printed) >= 1
    in_steps = not hasattr(os, "O_TMPFILE")
    assert sum("was killed while it created this work folder" in said for said in printed) == int(in_steps)
    assert not any("is not a work folder" in said for said in printed)


def test_another_run_that_comes_first_is_reported(tmp_path, monkeypatch, system):
    """Both have found no folder, or an empty one."""
    made, others = claims.marked, []

    def late(folder: Path, by_likewise: bool) -> int:
        if not others:
            others.append(None)
            others[0] = take(folder)
        return made(folder, by_likewise)

    monkeypatch.setattr(claims, "marked", late)
    with pytest.raises(UsageError, match="another run is working in this folder"):
        take(tmp_path / "w")
    assert others[0].holds()
    others[0].release(remove=True)
