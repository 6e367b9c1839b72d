"""`--overwrite` replaces outputs of likewise, whole and nothing else, and the new one is as private as the old one was."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

import likewise as lw
from likewise.errors import UsageError
from likewise.io import disk, placing
from likewise.io.manifest import check_output
from likewise.runs import decided
from likewise.runs import writing as outputs
from situations import everything, jsonl, text


@pytest.fixture
def corpus(tmp_path) -> Path:
    (tmp_path / "in.jsonl").write_bytes(jsonl([{"id": i, "text": text(i % 3)} for i in range(6)]))
    return tmp_path / "in.jsonl"


@pytest.fixture
def out(corpus) -> Path:
    """An output of an earlier run, of other rows."""
    lw.dedup([{"id": 7, "text": "an earlier text"}], out=corpus.with_name("out"))
    return corpus.with_name("out")


@pytest.fixture(params=["exchange", "no exchange"])
def system(request, monkeypatch) -> None:
    if request.param == "no exchange":
        monkeypatch.setattr(disk, "system_call", lambda _: None)


MANIFESTS = {
    "a web app": b'{"name": "my web app"}',
    "a list": b"[1, 2]",
    "no JSON": b"\xff\x00",
    "one that names likewise": b'{"format": "likewise/output", "version": 1, "outputs": []}',
    "one with a wrong checksum": b'{"format": "likewise/output", "version": 1, "outputs": [], "checksum": "0"}',
    "nothing": None,
}


@pytest.mark.parametrize("manifest", list(MANIFESTS))
def test_a_folder_of_something_else_is_never_replaced(likewise, corpus, manifest):
    folder = corpus.with_name("web")
    folder.mkdir()
    (folder / "index.html").write_text("precious")
    if (data := MANIFESTS[manifest]) is not None:
        (folder / "manifest.json").write_bytes(data)
    before = everything(corpus.parent)
    done = likewise("dedup", "in.jsonl", "-o", "web")
    assert (done.status, done.err.startswith("likewise: error: -o web: this folder exists and is not an output of likewise (")) == (2, True), done.err
    assert done.err.endswith("); choose another path\n") and "--overwrite" not in done.err
    done = likewise("dedup", "in.jsonl", "-o", "web", "--overwrite")
    assert (done.status, "--overwrite replaces only outputs of likewise, and this folder is not one" in done.err) == (2, True), done.err
    assert everything(corpus.parent) == before


@pytest.mark.parametrize("overwrite", [False, True])
def test_an_empty_folder_gives_way(corpus, system, overwrite):
    empty = corpus.with_name("out")
    empty.mkdir(mode=0o700)
    lw.dedup(corpus, out=empty, overwrite=overwrite)
    assert len((empty / "kept" / "in.jsonl").read_bytes().splitlines()) == 3
    assert stat.S_IMODE(empty.stat().st_mode) == 0o700
    assert {path.name for path in corpus.parent.iterdir()} == {"in.jsonl", "out"}


STRANGERS = ["notes.txt", "kept/more.jsonl", "kept/deep/er/x", ".hidden", "report.html.bak", ".report.12.html", "Manifest.json", "run.json/x"]


@pytest.mark.parametrize("name", STRANGERS)
def test_files_that_likewise_did_not_write_make_it_refuse(likewise, corpus, out, name):
    if name == "run.json/x":
        (out / "run.json").unlink()
    (out / name).parent.mkdir(parents=True, exist_ok=True)
    (out / name).write_text("precious")
    before = everything(corpus.parent)
    done = likewise("dedup", "in.jsonl", "-o", "out", "--overwrite")
    assert (done.status, f"would delete files that likewise did not write: {name}; move them, or choose another path" in done.err) == (2, True), (
        done.err
    )
    assert everything(corpus.parent) == before


@pytest.mark.parametrize("name", ["kept/memory.arrow", "report.html", "link"])
def test_links_in_an_output_make_it_refuse(likewise, corpus, out, name):
    (out / name).unlink(missing_ok=True)
    (out / name).symlink_to(corpus)
    done = likewise("dedup", "in.jsonl", "-o", "out", "--overwrite")
    assert (done.status, f"{name} (not a plain file)" in done.err) == (2, True), done.err
    assert (out / name).is_symlink()


def test_many_strangers_are_counted(out):
    for number in range(5):
        (out / f"{number}.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"did not write: 0\.txt, 1\.txt, 2\.txt and 2 more; move them"):
        check_output(out, out)


def test_all_outputs_are_known_as_such(likewise, corpus):
    """Outputs of each kind, of sources in folders, with names that are not UTF-8, with rejected records, and after a call of report."""
    deep = corpus.with_name("data") / "deep"
    deep.mkdir(parents=True)
    (deep / os.fsdecode(b"\xff.jsonl")).write_bytes(corpus.read_bytes())
    (deep / "a.txt").write_text("one text")
    (deep / "bad.csv").write_text('text\n"')
    for kind in ("copy", "ids", "mask"):
        for _ in range(2):
            done = likewise("dedup", "data", "-o", "out", "--output", kind, "--pairs", "--removed-records", "--on-error", "skip", "--overwrite")
            assert done.status == 0, done.err
            assert likewise("report", "out").status == 0
    (corpus.with_name("out") / ".report.0123456789abcdef.html").write_text("as a kill of report may leave it")
    check_output(corpus.with_name("out"), corpus.with_name("out"))


@pytest.mark.parametrize("late", [False, True])
def test_files_that_are_put_into_an_output_during_the_run_stay(corpus, out, system, monkeypatch, late):
    """They appear before the last check of the folder, or during it: the old output stays, and the run can be resumed once they are moved."""
    before, module = everything(out), placing if late else decided
    name = "keep_permissions" if late else "decide"
    function = getattr(module, name)

    def meddling(*given):
        (out / "precious.txt").write_text("mine")
        return function(*given)

    with monkeypatch.context() as patch, pytest.raises(UsageError, match=r"did not write: precious\.txt"):
        patch.setattr(module, name, meddling)
        lw.dedup(corpus, out=out, overwrite=True)
    assert everything(out) == before | {"precious.txt": b"mine"}
    (out / "precious.txt").unlink()
    lw.dedup(corpus, out=out, overwrite=True, resume=True)
    assert (out / "kept/in.jsonl").exists() and sorted(os.listdir(corpus.parent)) == ["in.jsonl", "out"]


def modes(folder: Path) -> dict[str, int]:
    return {path.relative_to(folder).as_posix(): stat.S_IMODE(path.lstat().st_mode) for path in (folder, *folder.rglob("*"))}


@pytest.mark.parametrize("device", ["same", "another"])
def test_permissions_are_those_of_the_old_output(corpus, system, monkeypatch, device):
    out, old, place = corpus.with_name("out"), os.umask(0o022), placing.place

    def across(staged, out, **how):
        if device == "another" and staged.parent != out.parent:
            raise OSError(18, "Invalid cross-device link")
        place(staged, out, **how)

    monkeypatch.setattr(placing, "place", across)
    try:
        lw.dedup(corpus, out=out)
        usual = modes(out)
        assert (usual["."], usual["kept/in.jsonl"]) == (0o755, 0o644)
        out.chmod(0o700)
        (out / "kept").chmod(0o750)
        (out / "kept/in.jsonl").chmod(0o600)
        lw.dedup(corpus, out=out, overwrite=True, pairs=True)
    finally:
        os.umask(old)
    assert modes(out) == usual | {".": 0o700, "kept": 0o750, "kept/in.jsonl": 0o600, "pairs.parquet": 0o644}


def test_an_empty_folder_gives_its_permissions(corpus):
    corpus.with_name("out").mkdir(mode=0o700)
    lw.dedup(corpus, out=corpus.with_name("out"))
    assert modes(corpus.with_name("out"))["."] == 0o700


def test_names_in_a_journal_lead_nowhere(corpus, monkeypatch):
    """It says what lies beside the output, to be deleted; one that was written by others may say anything."""
    for folder in ("precious", ".out.precious", "out.precious"):
        corpus.with_name(folder).mkdir()
        (corpus.with_name(folder) / "file").write_text("mine")
        placing.sweep(corpus.with_name("out"), folder)
        placing.sweep(corpus.with_name("out"), f"../{corpus.parent.name}/{folder}")
        assert everything(corpus.with_name(folder)) == {"file": b"mine"}


def test_a_copy_beside_that_a_kill_left_goes_with_the_run_that_is_resumed(corpus, out, monkeypatch):
    def killed(staged, out, name, *, overwrite):
        placing.copy(staged, out.with_name(name))
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(outputs, "publish", killed)
        lw.dedup(corpus, out=out, overwrite=True)
    assert len(os.listdir(corpus.parent)) == 4
    lw.dedup(corpus, out=out, overwrite=True, resume=True)
    assert sorted(os.listdir(corpus.parent)) == ["in.jsonl", "out"]
    assert json.loads((out / "manifest.json").read_bytes())["inputs"][0]["source"] == "in.jsonl"
