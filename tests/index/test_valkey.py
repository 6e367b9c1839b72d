"""Valkey: servers that would lose an index, restarts, what is not ours, and items that go while a view is used."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from typing import Any

import pytest
import valkey

import likewise as lw
from index_servers import ValkeyServer
from likewise.errors import FormatError, UsageError

NAMES = count()
TEXTS = ["a b c d e", "a b c d e f", "p q r s"]


@contextmanager
def server(**settings: object) -> Iterator[Any]:
    found = ValkeyServer(**settings)
    try:
        yield found
    finally:
        found.end()


@pytest.fixture
def address(valkey_server: ValkeyServer) -> str:
    return valkey_server.address(f"own-{next(NAMES)}")


def client(server: ValkeyServer, **options: Any) -> valkey.Valkey:
    return valkey.Valkey("127.0.0.1", server.port, **options)


def texts(address: str, **choices: Any) -> lw.Index:
    return lw.Index.create(address, **{"by": "words:2", "durability": "relaxed"} | choices)


def reopened(address: str, **choices: Any) -> lw.Index:
    return lw.Index.open(address, **{"durability": "relaxed"} | choices)


def test_an_index_is_replaced_only_if_asked_and_nothing_else_is_touched(address, valkey_server):
    name = address.rpartition("=")[2]
    theirs = {f"{{{name}}}S": b"1", f"lw{{{name}0}}Sb": b"2", "lw": b"3"}
    with client(valkey_server) as other:
        other.mset(theirs)
        old = texts(address)
        old.add(TEXTS, ids=[1, 2, 3])
        with pytest.raises(UsageError, match="the index already exists; open it, choose another index=NAME, or replace it with overwrite=True"):
            texts(address)
        with texts(address, overwrite=True) as ix:
            assert len(ix) == 0 and ix.check() == [] and dict(zip(theirs, other.mget(theirs), strict=True)) == theirs
            for use in (lambda: old.add(["a b c"], ids=[1]), lambda: old.query("a b c")):
                with pytest.raises(UsageError, match="was created again since it was opened"):
                    use()
        assert sorted(key for key in other.scan_iter(f"lw{{{name}}}*")) == [f"lw{{{name}}}A".encode(), f"lw{{{name}}}S".encode()]
    with pytest.raises(UsageError, match=r"\?index=nowhere: there is no index; lw.Index.create makes one"):
        reopened(valkey_server.address("nowhere"))


def test_a_server_that_evicts_is_refused():
    with server(maxmemory="100mb", maxmemory_policy="allkeys-lru") as evicting:
        with pytest.raises(UsageError, match=r"would evict parts of an index.*\(maxmemory-policy allkeys-lru\); set noeviction"):
            texts(evicting.address("seen"))
        with client(evicting) as other:
            other.config_set("maxmemory-policy", "noeviction")
        with texts(evicting.address("seen")) as ix, client(evicting) as other:
            ix.add(TEXTS, ids=[1, 2, 3])
            other.config_set("maxmemory", "1")
            with pytest.raises(OSError, match=r"OOM|used memory > 'maxmemory'"):
                ix.add(["k l m"], ids=[4])
            other.config_set("maxmemory", "0")
            assert len(ix) == 3 and ix.check() == []


def test_durability_is_what_the_server_does_and_a_killed_server_keeps_it():
    with server(appendonly="yes", appendfsync="everysec") as one:
        address = one.address("seen")
        with pytest.raises(
            UsageError, match=r"\(appendonly yes, appendfsync everysec\); set appendonly yes and appendfsync always, or take durability='rel"
        ):
            texts(address, durability="commit").add(TEXTS)
        with texts(address, overwrite=True) as ix:
            assert "power loss can undo those of its last second or two" in ix.info()["durability"]
        with client(one) as other:
            other.config_set("appendfsync", "always")
        ix = texts(address, durability="commit", overwrite=True)
        assert ix.info()["durability"].startswith("a change survives the end of any process and power loss")
        ix.add(TEXTS, ids=["x", "y", 3])
        one.kill()
        with pytest.raises(OSError, match=r"valkey://127.0.0.1:\d+/0\?index=seen"):
            ix.query("a b c d e")
        one.start(appendonly="yes", appendfsync="always")
        assert [row["id"] for row in ix.query("a b c d e")] == ["x", "y"] and ix.add(["k l m"], ids=["z"]).added == 1 and ix.check() == []
        ix.close()


def test_a_server_in_memory_says_so(address):
    with texts(address) as ix:
        info = ix.info()
        assert "all changes since its last snapshot are lost (appendonly no)" in info["durability"] and info["items"] == 0 == info["bytes"]
        ix.add(TEXTS, ids=["x", "y", 3])
        assert 3 * 16 * 50 < ix.info()["bytes"] < 3 * 16 * 200  # 16 keys of bands an item


def test_functions_that_the_server_lost_are_loaded_again(address, valkey_server):
    with texts(address) as ix, client(valkey_server) as other:
        other.function_flush()
        assert ix.add(TEXTS, ids=["x", "y", 3]).added == 3
        other.function_flush()
        assert len(ix.query("a b c d e")) == 2


def test_a_password_is_used_and_shown_nowhere():
    with server(requirepass="s3cret") as one:
        with texts(one.address("seen", user=":s3cret@")) as ix:
            ix.add(TEXTS, ids=[1, 2, 3])
            assert "s3cret" not in repr((ix.info(), ix.store, ix.store.server.place))
        wrong = "secret".replace("e", "0")
        with pytest.raises(OSError, match="invalid username-password pair") as error:
            reopened(one.address("seen", user=f":{wrong}@"))
        assert wrong not in "".join(traceback.format_exception(error.value))
        with pytest.raises(UsageError, match=r"its form is valkey://user@host:port/0\?index=NAME") as error:
            reopened(one.address("seen", user=f":{wrong}@", more="&socket_timeout=soon"))
        assert wrong not in "".join(traceback.format_exception(error.value))


def test_an_index_in_a_cluster_is_found_on_the_node_that_has_it():
    """Two nodes; the index is created and opened by the address of the one that has not its slot."""
    with server(cluster_enabled="yes") as one, server(cluster_enabled="yes") as two, client(one) as first, client(two) as second:
        first.execute_command("CLUSTER ADDSLOTSRANGE", 0, 8191)
        second.execute_command("CLUSTER ADDSLOTSRANGE", 8192, 16383)
        first.execute_command("CLUSTER MEET", "127.0.0.1", two.port)
        while not all(node.execute_command("CLUSTER INFO")["cluster_state"] == "ok" for node in (first, second)):
            pass
        slots = {name: first.execute_command("CLUSTER KEYSLOT", name) for name in ("seen", "known", "old", "new")}
        for name, slot in slots.items():
            home, other = (one, two) if slot < 8192 else (two, one)
            with texts(other.address(name)) as ix:
                ix.add(TEXTS, ids=["x", "y", 3])
                assert [row["id"] for row in ix.query("a b c d e")] == ["x", "y"] and ix.check() == []
            with reopened(home.address(name)) as ix:
                assert len(ix) == 3


def test_items_that_go_while_a_view_is_used_leave_their_copies(address):
    """The first of two copies is removed after a view was made: the second one is found under its own number, and is no second content."""
    with texts(address) as ix:
        ix.add(["a b c d e", "a b c d e", "p q r s"], ids=["first", "second", "other"])
        view = ix.store.view()
        ix.remove(["first", "other"])
        ix.add(["a b c d e f"], ids=["later"])
        queries = ix.sketching.items(["a b c d e", "p q r s"])
        met = view.members(queries.keys, queries.copy)
        assert (met.query.tolist(), met.content.tolist()) == ([0], [1])
        ix.remove(["second"])
        assert view.copies(met.content)[1].tolist() == [1] and view.ids(met.content) == [b'"second"'] and len(view.contents(met.content).words) == 4
        with pytest.raises(FormatError, match="an item was removed since the view was made; make another view"):
            view.ids(met.content + 1)


def test_add_new_beside_removals_leaves_one_of_each_content(address):
    """Threads add the same contents as new, and remove what they added before: at the end each content is there at most once, and nothing dangles."""
    distinct = [f"{word} b c d e f g" for word in "mnopqrst"]

    def work(thread: int) -> None:
        with reopened(address) as ix:
            for step in range(12):
                ids = [f"{thread}-{step}-{place}" for place in range(len(distinct))]
                ix.add_new(distinct, ids=ids)
                ix.remove(ids[step % 3 :: 3])

    with texts(address) as ix:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(4)))
        ix.add_new(distinct)
        found = ix.query(distinct, threshold=1)
        assert [row["query"] for row in found] == list(range(8)) and len(ix) == 8 and ix.check() == []


def test_damage_is_told_by_check(address, valkey_server):
    with texts(address) as ix, client(valkey_server) as other:
        ix.add(TEXTS, ids=["x", "y", 3])
        prefix = f"lw{{{address.rpartition('=')[2]}}}"
        bucket = sorted(other.scan_iter(f"{prefix}b*"))[0]
        kept = other.get(bucket)
        other.delete(bucket)
        assert any("is not in 1 of its buckets" in sentence for sentence in ix.check())
        other.set(bucket, kept + b"\0\0\0\0\0\x09")
        assert any("entries of buckets" in sentence for sentence in ix.check())
        other.set(bucket, kept)
        assert ix.check() == []
        other.delete(f'{prefix}i"x"')
        assert 'the id "x" is that of item -1, not 0' in ix.check()


def test_a_backup_is_an_index_in_a_folder(address, tmp_path):
    with texts(address) as ix:
        ix.add(TEXTS, ids=["x", "y", 3])
        ix.backup(tmp_path / "copy.lw")
    with lw.Index.open(tmp_path / "copy.lw") as copy:
        assert [row["id"] for row in copy.query("a b c d e")] == ["x", "y"] and len(copy) == 3
