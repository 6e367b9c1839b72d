"""The folder of an embedded index: who may make, replace and write to it, and what is refused."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from index_stores import FULL, ids_of, some
from likewise.errors import FormatError, UsageError
from likewise.index import embedded
from likewise.index.embedded import folder as folders
from likewise.index.embedded.database import has_reset_fault
from likewise.index.store import Change
from likewise.io.manifest import seal

HOLD = """
import sys
from likewise.index import embedded
store = embedded.open(sys.argv[1])
print("open", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    with closing(embedded.create(tmp_path / "seen.lw", FULL)) as store:
        store.write(Change(some(1, 2, 3)))
    return tmp_path / "seen.lw"


def ids_in(place: Path) -> list[int]:
    with closing(embedded.open(place, read_only=True)) as store:
        return ids_of(store.view())


def test_a_closed_index_has_no_log_of_sqlite(place):
    assert sorted(path.name for path in place.iterdir()) == ["index.db", "manifest.json", "writer.lock"]
    assert ids_in(place) == [1, 2, 3]


def test_an_index_is_replaced_only_with_overwrite(place):
    with pytest.raises(UsageError, match=r"the index already exists; .*overwrite=True replaces it"):
        embedded.create(place, FULL)
    embedded.create(place, FULL, overwrite=True).close()
    assert ids_in(place) == []
    assert [path.name for path in place.parent.iterdir()] == ["seen.lw"]


def test_only_an_index_and_nothing_else_is_replaced(place, tmp_path):
    (place / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"would delete files that likewise did not write: notes\.txt"):
        embedded.create(place, FULL, overwrite=True)
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine").touch()
    with pytest.raises(UsageError, match="not empty and not an index"):
        embedded.create(other, FULL, overwrite=True)
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(UsageError, match="not a folder"):
        embedded.create(file, FULL, overwrite=True)
    link = tmp_path / "link"
    link.symlink_to(place)
    with pytest.raises(UsageError, match="not a folder"):
        embedded.create(link, FULL, overwrite=True)
    assert ids_in(place) == [1, 2, 3] and (other / "mine").exists()


def test_a_place_where_no_folder_can_be_made_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match=re.escape(str(tmp_path / "file" / "below" / "new"))):
        embedded.create(tmp_path / "file" / "below" / "new", FULL)
    embedded.create(tmp_path / "a" / "b" / "new", FULL).close()


def test_an_empty_folder_becomes_an_index(tmp_path):
    (tmp_path / "new").mkdir()
    embedded.create(tmp_path / "new", FULL).close()
    assert ids_in(tmp_path / "new") == []


def test_an_index_that_is_written_to_is_not_replaced(place):
    with closing(embedded.open(place)) as store:
        for make in (embedded.create, lambda *args, **options: embedded.build(*args, iter([some(9)]), **options)):
            with pytest.raises(UsageError, match=f"this process .{os.getpid()} on .* has this index open for writing"):
                make(place, FULL, overwrite=True)
        assert len(store.view()) == 3


def test_a_second_writer_is_refused_by_pid_and_host_and_a_killed_one_leaves_no_lock(place):
    with subprocess.Popen([sys.executable, "-P", "-c", HOLD, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdin and holder.stdout
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(UsageError, match=rf"process {holder.pid} on {re.escape(os.uname().nodename)} has this index open for writing"):
            embedded.open(place)
        assert ids_in(place) == [1, 2, 3]
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    embedded.open(place).close()


def test_what_is_no_index_is_refused(tmp_path):
    for read_only in (True, False):
        with pytest.raises(UsageError, match="there is no index"):
            embedded.open(tmp_path / "missing", read_only=read_only)
        with pytest.raises(UsageError, match="there is no index"):
            embedded.open(tmp_path, read_only=read_only)
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="file: this is a file, and an index is a folder or an address"):
        embedded.open(tmp_path / "file")
    (tmp_path / "manifest.json").write_text('{"format": "of another program"}')
    with pytest.raises(UsageError, match="this folder is not an index of likewise"):
        embedded.open(tmp_path)
    (tmp_path / "manifest.json").write_text('{"format": "likewise/output"}')
    with pytest.raises(UsageError, match=r"this is an output folder of likewise, not an index; lw.Index.from_output\(PATH, '.*'\) makes an index"):
        embedded.open(tmp_path)


def test_a_newer_format_names_both_and_the_cure(place):
    found = json.loads((place / "manifest.json").read_text()) | {"version": 2, "likewise": "9.0"}
    (place / "manifest.json").write_text(json.dumps(found))
    with pytest.raises(FormatError, match=r"likewise 9\.0 made this index in format 2, .* reads format 1; upgrade likewise"):
        embedded.open(place, read_only=True)


@pytest.mark.parametrize("change", [b"", b"{", b"[]", b'{"format": "likewise/index", "version": 1}', None])
def test_a_changed_manifest_is_damage(place, change):
    path = place / "manifest.json"
    path.write_bytes(path.read_bytes().replace(b'"bands": 3', b'"bands": 4') if change is None else change)
    for read_only in (True, False):
        with pytest.raises(FormatError, match=r"the index is damaged: manifest\.json"):
            embedded.open(place, read_only=read_only)


def test_the_manifest_of_another_index_is_damage(place, tmp_path):
    embedded.create(tmp_path / "other", FULL).close()
    (place / "manifest.json").write_bytes((tmp_path / "other" / "manifest.json").read_bytes())
    with pytest.raises(FormatError, match="belong to different indexes"):
        embedded.open(place)


def test_the_manifest_has_the_settings_and_a_seal(place):
    found = json.loads((place / "manifest.json").read_text())
    assert found["settings"] == FULL and found["format"] == "likewise/index" and found["version"] == 1
    assert found.pop("checksum") == seal(found)


def test_a_build_appears_complete_or_not_at_all(place, tmp_path):
    def broken():
        yield some(7, 8)
        raise KeyboardInterrupt

    for target in (place, tmp_path / "new"):
        with pytest.raises(KeyboardInterrupt):
            embedded.build(target, FULL, broken(), overwrite=True)
    assert ids_in(place) == [1, 2, 3] and [path.name for path in tmp_path.iterdir()] == ["seen.lw"]
    store, count = embedded.build(place, FULL, iter([some(7, 8), some(9), some()]), overwrite=True)
    store.close()
    assert count == 3 and ids_in(place) == [7, 8, 9]


def test_an_interrupted_load_leaves_no_index(tmp_path):
    def broken():
        yield some(7, 8)
        raise KeyboardInterrupt

    with closing(embedded.create(tmp_path / "new", FULL)) as store:
        with pytest.raises(KeyboardInterrupt):
            store.load(broken())
        with pytest.raises(OSError, match="an earlier write failed"):
            store.write(Change(some(1)))
    for read_only in (True, False):
        with pytest.raises(FormatError, match="build of this index was interrupted"):
            embedded.open(tmp_path / "new", read_only=read_only)
    embedded.create(tmp_path / "new", FULL, overwrite=True).close()


def test_only_an_index_that_never_had_items_is_loaded(place):
    with closing(embedded.open(place)) as store:
        store.write(Change(some(), remove=[b"1", b"2", b"3"]))
        with pytest.raises(UsageError, match="only an index that never had items"):
            store.load(iter([some(5)]))
        assert len(store.view()) == 0


MOUNTED = r"""22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw
30 22 0:45 / /data rw shared:9 - nfs4 host:/export rw,vers=4.2
31 22 0:46 / /home/a\040b rw - fuse.sshfs a@b: rw
32 22 0:47 / /mnt/c rw - 9p drvfs rw
33 22 0:48 /sub /vol rw - btrfs /dev/sdb rw
34 22 0:49 / /photos rw - fuse.gocryptfs x rw
"""


@pytest.mark.parametrize(
    ("path", "device", "kind", "refused"),
    [
        ("/var/x", os.makedev(254, 0), "ext4", False),
        ("/data/x/y", os.makedev(0, 45), "nfs4", True),
        ("/home/a b/x", os.makedev(0, 46), "fuse.sshfs", True),
        ("/mnt/c/Users", os.makedev(0, 47), "9p", True),
        ("/vol/x", os.makedev(0, 99), "btrfs", False),  # the device of a subvolume is not in the list
        ("/photos/x", os.makedev(0, 49), "fuse.gocryptfs", False),
        ("/database", os.makedev(254, 0), "ext4", False),  # not below /data
    ],
)
def test_file_systems_by_the_list_of_mounts(path, device, kind, refused):
    assert folders.file_system(Path(path), device, MOUNTED) == kind
    assert bool(folders.NETWORKS.fullmatch(kind)) == refused


def test_network_file_systems_are_refused(tmp_path, monkeypatch):
    place = tmp_path / "seen.lw"
    embedded.create(place, FULL).close()
    mounts = tmp_path / "mounts"
    mounts.write_text(f"30 22 0:45 / {tmp_path} rw - cifs //host/share rw\n")
    monkeypatch.setattr(folders, "MOUNTS", mounts)
    calls = (lambda: embedded.open(place), lambda: embedded.open(place, read_only=True), lambda: embedded.create(tmp_path / "new", FULL))
    for call in calls:
        with pytest.raises(UsageError, match=r"cannot be in a network file system \(cifs\)"):
            call()
    monkeypatch.setattr(folders, "MOUNTS", tmp_path / "missing")  # a system without the list
    embedded.open(place).close()


@pytest.mark.parametrize(
    ("version", "fault"),
    [
        ((3, 40, 1), True),
        ((3, 44, 5), True),
        ((3, 44, 6), False),
        ((3, 45, 0), True),
        ((3, 50, 6), True),
        ((3, 50, 7), False),
        ((3, 51, 2), True),
        ((3, 51, 3), False),
        ((3, 53, 0), False),
    ],
)
def test_versions_with_the_reset_fault(version, fault):
    """sqlite.org/wal.html, section 11: up to 3.51.2, but for 3.44.6 and 3.50.7 and later ones of these lines."""
    assert has_reset_fault(version) == fault
