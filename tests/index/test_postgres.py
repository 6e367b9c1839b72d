"""PostgreSQL: its addresses and passwords, its durability, restarts, and what is not ours."""

from __future__ import annotations

import traceback
from itertools import count

import psycopg
import pytest

import likewise as lw
from index_servers import PostgresServer
from likewise.errors import FormatError, UsageError
from likewise.index import opened
from likewise.index.servers import place_of

NAMES = count()
TEXTS = ["a b c d e", "a b c d e f", "p q r s"]


@pytest.fixture
def address(postgres_server: PostgresServer) -> str:
    return postgres_server.address(f"own-{next(NAMES)}")


def texts(address: str, **choices: object) -> lw.Index:
    return lw.Index.create(address, by="words:2", **choices)


def test_a_database_holds_several_indexes(postgres_server):
    first, second = (texts(postgres_server.address(name)) for name in ("One", "two-2"))
    first.add(TEXTS[:1], ids=["x"])
    second.add(TEXTS, ids=["x", "y", "z"])
    assert (len(first), len(second)) == (1, 3)
    first.close(), second.close()
    texts(postgres_server.address("One"), overwrite=True).close()
    assert [len(lw.Index.open(postgres_server.address(name))) for name in ("One", "two-2")] == [0, 3]


def test_an_index_is_replaced_only_if_asked_and_only_if_it_is_one(address, postgres_server):
    texts(address).close()
    with pytest.raises(UsageError, match="the index already exists; open it, choose another index=NAME, or replace it with overwrite=True"):
        texts(address)
    with psycopg.connect(postgres_server.address("").replace("&index=", ""), autocommit=True) as other:
        other.execute("create schema theirs; create table theirs.items (n int); insert into theirs.items values (7)")
        with pytest.raises(UsageError, match="the schema has a table 'items', which is not part of an index"):
            texts(postgres_server.address("theirs"), overwrite=True)
        assert other.execute("select n from theirs.items").fetchall() == [(7,)]
        other.execute(f'create view theirs.ours as select * from "{place_of(address).name}".items')
        with pytest.raises(OSError, match="other objects depend on them"):
            texts(address, overwrite=True)
        other.execute("drop view theirs.ours")
    with pytest.raises(UsageError, match=r"\?index=nowhere: there is no index; lw.Index.create makes one"):
        lw.Index.open(postgres_server.address("nowhere"))


def test_an_open_index_that_was_created_anew_is_not_changed(address):
    old = texts(address)
    with texts(address, overwrite=True):
        for use in (lambda: old.add(["a b c"], ids=[1]), lambda: old.query("a b c")):
            with pytest.raises((UsageError, OSError), match="was created again since it was opened"):
                use()
    old.close()


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("postgresql://user:hush/word@127.0.0.1:1/x", "write @ as %40, / as %2F"),
        ("postgresql://user:hush#word@127.0.0.1:1/x", "and # as %23"),
        (
            "postgresql://user:hushword@127.0.0.1:1/x?mode=hushword",
            r"PostgreSQL's client cannot read the address of postgresql://127.0.0.1:1/x\?index=",
        ),
        ("postgresql://user:hushword@127.0.0.1:1/x?index=a'b", "has 1 to 48 letters"),
        ("postgresql://user:hushword@127.0.0.1:1/x?index=seen", "Connection refused"),
    ],
)
def test_messages_have_no_password(address, message):
    with pytest.raises((UsageError, OSError), match=message) as error:
        opened.opened(address)
    shown = "".join(traceback.format_exception(error.value))
    assert "hush" not in shown and "word@" not in shown


def test_a_password_is_used_and_shown_nowhere(postgres_server):
    with psycopg.connect(postgres_server.address("").replace("&index=", ""), autocommit=True) as other:
        other.execute("create role locked login password 's3cret'; grant create on database postgres to locked")
    address = postgres_server.address("locked", user="locked:s3cret")
    with texts(address) as ix:
        ix.add(TEXTS, ids=[1, 2, 3])
        assert "s3cret" not in repr((ix.info(), ix.store, vars(ix), ix.store.connections.place))
    with pytest.raises(OSError, match="password authentication failed") as error:
        lw.Index.open(address.replace("s3cret", wrong := "secret".replace("e", "0")))
    assert wrong not in "".join(traceback.format_exception(error.value))


def test_info_says_what_is_durable(address):
    with texts(address) as ix:
        assert ix.info()["durability"] == "a change survives the end of any process and power loss"
        assert ix.info()["server"]["synchronous_commit"] == "on"
    with lw.Index.open(address, durability="relaxed") as ix:
        assert "(synchronous_commit = off)" in ix.info()["durability"]


def test_a_backup_is_an_index_in_a_folder_or_says_why_not(address, tmp_path):
    with texts(address) as ix:
        ix.add(TEXTS, ids=["x", "y", 3])
        ix.backup(tmp_path / "copy.lw")
    with lw.Index.open(tmp_path / "copy.lw") as copy:
        assert [row["id"] for row in copy.query("a b c d e")] == ["x", "y"] and len(copy) == 3


def test_tables_of_another_version_are_refused(address, postgres_server):
    texts(address).close()
    with psycopg.connect(postgres_server.address("").replace("&index=", ""), autocommit=True) as other:
        other.execute(f'update "{place_of(address).name}".about set format = 99')
    with pytest.raises(FormatError, match="has the format 99, and this version of likewise reads 1"):
        lw.Index.open(address)


class TestRestart:
    """A server of its own, which ends in the middle."""

    @pytest.fixture
    def server(self):
        server = PostgresServer()
        yield server
        server.end()

    def test_acknowledged_changes_survive_a_killed_server_and_connections_come_back(self, server):
        ix = texts(server.address("seen"))
        ix.add(TEXTS, ids=["x", "y", 3])
        view = ix.store.view()
        server.kill()
        with pytest.raises(OSError, match=r"postgresql:///postgres\?index=seen"):
            ix.query("a b c d e")
        with pytest.raises(OSError):
            view.find([b"3"])
        server.start()
        assert [row["id"] for row in ix.query("a b c d e")] == ["x", "y"]
        assert ix.add(["k l m"], ids=["z"]).added == 1 and ix.check() == []
        ix.close()

    def test_a_server_that_does_not_sync_is_refused_unless_durability_is_relaxed(self, server):
        server.kill()
        server.start(fsync="off")
        with pytest.raises(UsageError, match=r"does not sync files \(fsync = off\).*durability='relaxed'"):
            texts(server.address("seen"))
        with texts(server.address("seen"), durability="relaxed") as ix:
            assert ix.info()["durability"].startswith("none: the server does not sync")


def test_the_command_line_shows_no_password(likewise, postgres_server):
    with psycopg.connect(postgres_server.address("").replace("&index=", ""), autocommit=True) as other:
        other.execute("create role hidden login password 'hushword' superuser")
    address = postgres_server.address("shown", user="hidden:hushword")
    said = []
    for action in ("create", "add", "add-new", "query", "check", "info"):
        for more in ((), ("--json",)):
            given = ("-", "--id", "id") if action in ("add", "add-new", "query") else ("--by", "words:2", "--overwrite") if action == "create" else ()
            ran = likewise("index", action, address, *given, *more, stdin=b"" if action != "query" else b'{"id": 1, "text": "a b c"}\n')
            said.append(ran.out + ran.err)
    assert not any("hushword" in one for one in said) and any("?index=shown" in one for one in said)
