"""An index in Valkey or Redis (7 or later), for several machines: all in the memory of one server, which is asked for durability on disk.

Each band key names a string with the numbers of the contents that have it, in order of arrival, so one command finds the buckets of many queries. A
change is one call of a function in the server. All keys begin with ``lw{NAME}``; in a cluster the braces keep them on one node.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from hashlib import sha256
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from likewise.errors import UsageError
from likewise.index.servers import Sent, Words, backup, banded, check_ready, copy_bytes, place_of
from likewise.index.store import Change, Items, Outcome
from likewise.index.valkey_view import ValkeyView
from likewise.index.valkey_wire import Server, big
from likewise.messages import either, option

#: The format of the keys and their values.
FORMAT = "1"
#: Items that a bulk load adds in one call; the server does nothing else meanwhile.
LOADED = 256
#: Items of which the memory is measured, for an estimate of all.
MEASURED = 32


def create(where: str, settings: dict[str, Any], *, overwrite: bool = False, durability: str = "commit") -> Valkey:
    """A new index. where: the address of a server, with ``index=NAME`` among its parameters (``likewise`` if it is left out):
    ``valkey://user@host:6379/0?index=seen``; redis:// is the same, valkeys:// and rediss:// use TLS.

    Raises UsageError if there is an index, unless ``overwrite``, and for a server that would evict keys. With ``durability="commit"`` each change is
    refused unless the server syncs its log before it answers; a bulk load is as durable as the server makes it.
    """
    server = Server(place_of(where), library())
    check_server(server)
    shown, about = server.place.shown, server.key("A")
    server.install()
    if not server.run("HSETNX", about, "loading", "1"):
        if not overwrite:
            raise UsageError(f"{shown}: the index already exists; open it, choose another index=NAME, or replace it with {option('overwrite', True)}")
        server.run("HSET", about, "loading", "1", "made", secrets.token_hex(8))  # from here on those who have it open are refused
        for keys in server.keys("[Sinhkb]"):
            server.run("UNLINK", *keys)
    server.run("HSET", server.key("S"), "next", "0", "items", "0")
    made = secrets.token_hex(8)
    server.run("HSET", about, "format", FORMAT, "settings", msgspec.json.encode(settings), "made", made, "loading", "0")
    return Valkey(server, settings, made, read_only=False, durability=durability)


def open(where: str, *, read_only: bool = False, durability: str = "commit") -> Valkey:
    """The index at an address, as `create` takes it. Raises UsageError unless there is one, and FormatError if its bulk load was interrupted."""
    server = Server(place_of(where), library())
    shown = server.place.shown
    check_server(server)
    number, settings, made, loading = server.run("HMGET", server.key("A"), "format", "settings", "made", "loading")
    if loading is None:
        raise UsageError(f"{shown}: there is no index; {either('lw.Index.create', 'likewise index create')} makes one")
    check_ready(shown, number and number.decode(), FORMAT, loading=loading != b"0")
    server.install()
    return Valkey(server, msgspec.json.decode(settings), made.decode(), read_only=read_only, durability=durability)


def library() -> tuple[str, str]:
    """The name and the code of the functions. The name has a hash of the code, so that versions of likewise do not meet."""
    code = files("likewise.index").joinpath("valkey.lua").read_text("utf-8")
    name = f"likewise_{sha256(code.encode()).hexdigest()[:12]}"
    return name, f"#!lua name={name}\n" + code.replace("NAME_", f"{name}_")


def check_server(server: Server) -> None:
    """Raises UsageError for a server that would lose a part of what it holds."""
    facts, shown = server.facts(), server.place.shown
    policy = facts["maxmemory_policy"]
    if facts["maxmemory"] and policy.startswith("allkeys"):
        raise UsageError(f"{shown}: the server would evict parts of an index when its memory is full (maxmemory-policy {policy}); set noeviction")


def require_sync(server: Server) -> None:
    """Raises UsageError unless the server syncs its log before it answers."""
    facts, shown = server.facts(), server.place.shown
    if (facts["appendonly"], facts["appendfsync"]) != ("yes", "always"):
        found = f"appendonly {facts['appendonly']}, appendfsync {facts['appendfsync']}"
        fix = f"set appendonly yes and appendfsync always, or take {option('durability', 'relaxed')}"
        raise UsageError(f"{shown}: the server does not sync each change to its disk ({found}); {fix}")


class Valkey:
    """The store of an index in Valkey."""

    def __init__(self, server: Server, settings: dict[str, Any], made: str, *, read_only: bool, durability: str):
        self.server, self.settings, self.made = server, settings, made
        self.read_only, self._promised = read_only, durability == "relaxed"
        self.words, self.bands, self.where = Words(settings), settings["bands"], server.place.shown

    def __repr__(self) -> str:
        return f"Valkey({self.where!r})"

    def view(self) -> ValkeyView:
        """The items as they are now. Items that come later do not show; items that are removed later may be missing (`ValkeyView`)."""
        (made,), (following, items) = self.server.several(("HMGET", self.server.key("A"), "made"), ("HMGET", self.server.key("S"), "next", "items"))
        if made != self.made.encode():
            raise UsageError(f"{self.where} was created again since it was opened; open it again")
        return ValkeyView(self.server, self.settings, int(following) - 1, int(items))

    def write(self, change: Change) -> Outcome:
        """Apply a change in one call of the server. After more than 10,000 items since ``after``, conflict is True without a further look."""
        if self.read_only:
            raise UsageError(f"{self.where} was opened to be read only; open it without {option('read_only', True)}")
        if not self._promised:
            require_sync(self.server)
            self._promised = True
        sent = Sent.of(change)
        looked = big(banded(change.items.keys[change.items.size > 0])) if change.after is not None else b""
        arguments = [self.made, change.existing, "" if change.after is None else change.after, self.bands, len(change.items), looked]
        arguments += [len(sent.items), len(change.remove), msgspec.json.encode(sent.twice)]
        each = zip(sent.places.tolist(), map(bytes, sent.items.ids), self.contents(sent.items), strict=True)
        arguments += [part for item in each for part in item]
        conflict, removed, refused, given = self.server.call("change", *arguments, *map(bytes, change.remove))
        return Outcome(sent.numbers(given), removed, sorted({*refused, *sent.twice} if refused else ()), bool(conflict))

    def contents(self, items: Items) -> list[bytes]:
        """The content of each item, as the server keeps it: copy, size, keys, slots, words."""
        n, bands = items.keys.shape
        fixed = np.empty(n, [("copy", "u1", 12), ("size", ">u4"), ("keys", ">i8", (bands,)), ("slots", "u1", (items.slots.shape[1],))])
        fixed["copy"], fixed["size"], fixed["keys"], fixed["slots"] = copy_bytes(items.copy), items.size, banded(items.keys), items.slots
        return [one.tobytes() + words for one, words in zip(fixed, self.words.packed(items), strict=True)]

    def load(self, blocks: Iterator[Items]) -> int:
        """Add many items to an empty index, in calls of a few that are not waited for one by one."""
        if self.read_only or not self.server.call("claim", self.made):
            raise UsageError(f"{self.where}: only an empty index takes a bulk load; add the items, or create it again")
        added = 0
        calls = (self._loading(items.at(np.arange(at, min(at + LOADED, len(items))))) for items in blocks for at in range(0, len(items), LOADED))
        while few := list(islice(calls, 16)):
            for _, _, refused, numbers in self.server.calls("change", few):
                if refused:
                    raise UsageError(f"{self.where}: several items of the bulk load have the same id")
                added += len(numbers)
        self.server.run("HSET", self.server.key("A"), "loading", "0")
        return added

    def _loading(self, items: Items) -> list[Any]:
        """The arguments of a change that adds items."""
        each = zip(range(len(items)), map(bytes, items.ids), self.contents(items), strict=True)
        fixed = [self.made, "refuse", "", self.bands, len(items), b"", len(items), 0, b"[]"]
        return [*fixed, *(part for item in each for part in item)]

    def flush(self) -> None:
        """Does nothing: the server writes each change to its log itself."""

    def compact(self) -> None:
        """Does nothing: the server frees what is removed at once."""

    def check(self) -> list[str]:
        """Read all items, and compare what keys say of one another. Others must not write meanwhile."""
        view = self.view()
        found, counts, contents, places = view.faults()
        listed = {name: sum(map(len, self.server.keys(name))) for name in "inh"}
        sizes = (self.server.several(*(("STRLEN", key) for key in keys)) for keys in self.server.keys("b"))
        entries = sum(map(sum, sizes)) // 6
        for what, there, wanted in (
            ("counted items", len(view), counts),
            ("ids", listed["i"], counts),
            ("items that can be read", counts, listed["n"]),
            ("contents", listed["h"], contents),
            ("entries of buckets", entries, places),
        ):
            if there != wanted:
                found.append(f"{there:,} {what}, but {wanted:,} are wanted")
        return found

    def backup(self, path: Path) -> None:
        """Write the items as an embedded index in a new folder; they get new numbers. Items that are removed meanwhile may be missing."""
        backup(self, path)

    def info(self) -> dict[str, Any]:
        """Facts about the index and its server. bytes: an estimate from a few items."""
        view, facts = self.view(), self.server.facts()
        found = {"store": "valkey", "place": self.where, "items": len(view), "removed": 0, "bytes": view.bytes(MEASURED)}
        return found | {"durability": durable(facts), "server": facts}

    def close(self) -> None:
        """Close the connections."""
        self.server.close()


def durable(facts: dict[str, Any]) -> str:
    """The durability of acknowledged changes, in a sentence."""
    if facts["appendonly"] != "yes":
        return "a change survives the end of any client; if the server ends, all changes since its last snapshot are lost (appendonly no)"
    if facts["appendfsync"] == "always":
        return "a change survives the end of any process and power loss, unless a replica takes over that does not have it yet"
    lost = {"everysec": "those of its last second or two", "no": "those that the system had not written yet"}
    which = lost.get(facts["appendfsync"], "some")
    return f"a change survives the end of any process; power loss can undo {which} (appendfsync {facts['appendfsync']})"
