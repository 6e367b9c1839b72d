"""A connection to Valkey, and numbers as the functions of an index there read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from likewise.errors import UsageError, missing_part
from likewise.index.servers import Place
from likewise.io.attempts import REMOTE

try:
    import valkey
    from valkey.backoff import NoBackoff
    from valkey.retry import Retry
except ImportError as error:
    raise missing_part("an index in Valkey or Redis is used with", "valkey", "valkey") from error

#: Seconds to wait for a connection.
PATIENCE = 10
#: Bytes of a number.
WIDTH = 6


def big(values: np.ndarray) -> bytes:
    """int64 values, 8 bytes each, the highest first."""
    return values.astype(">i8").tobytes()


def packed(numbers: np.ndarray) -> bytes:
    """Numbers of items, 6 bytes each."""
    return numbers.astype(">i8").view(np.uint8).reshape(-1, 8)[:, 8 - WIDTH :].tobytes()


def unpacked(lists: Sequence[bytes]) -> np.ndarray:
    """The numbers in some lists, one list after the other: int64[n]."""
    given = np.frombuffer(b"".join(lists), np.uint8).reshape(-1, WIDTH)
    found = np.zeros((len(given), 8), np.uint8)
    found[:, 8 - WIDTH :] = given
    return found.view(">i8").reshape(-1).astype(np.int64)


class Server:
    """The server of one index. Threads have connections of their own; a command that fails is not sent again."""

    def __init__(self, place: Place, library: tuple[str, str]):
        self.place, self._library = place, library
        self.prefix = f"lw{{{place.name}}}".encode()
        scheme, _, rest = place.url.partition("://")
        kind = {"redis": "valkey", "rediss": "valkeys"}.get(scheme.lower(), scheme.lower())
        try:
            self._pool = valkey.ConnectionPool.from_url(
                f"{kind}://{rest}", socket_connect_timeout=PATIENCE, socket_keepalive=True, retry=Retry(NoBackoff(), 0)
            )
            self._client = valkey.Valkey(connection_pool=self._pool)
        except (valkey.ValkeyError, ValueError, TypeError):  # the text may quote a password
            raise UsageError(f"the address of {place.shown} cannot be read; its form is valkey://user@host:port/0?index=NAME") from None

    def key(self, rest: str | bytes) -> bytes:
        return self.prefix + (rest.encode() if isinstance(rest, str) else rest)

    def run(self, *command: Any) -> Any:
        """The answer to a command."""
        return self._told(lambda: self._client.execute_command(*command))

    def several(self, *commands: Sequence[Any]) -> list[Any]:
        """The answers to several commands that are sent at once."""

        def send() -> list[Any]:
            pipeline = self._client.pipeline(transaction=False)
            for command in commands:
                pipeline.execute_command(*command)
            found: list[Any] = pipeline.execute()
            return found

        return list(self._told(send)) if commands else []

    def call(self, function: str, *arguments: Any) -> Any:
        """The answer of a function of the index."""
        return self.calls(function, [arguments])[0]

    def calls(self, function: str, each: Sequence[Sequence[Any]]) -> list[Any]:
        """The answers of a function for several lists of arguments, which are sent at once."""
        verb = "FCALL" if function in ("change", "claim") else "FCALL_RO"
        commands = [(verb, f"{self._library[0]}_{function}", 1, self.prefix, *arguments) for arguments in each]
        try:
            return [self.run(*commands[0])] if len(commands) == 1 else self.several(*commands)
        except OSError as error:
            if not isinstance(error.__cause__, valkey.ResponseError) or "Function not found" not in str(error.__cause__):
                raise
        self.install()  # the server was emptied, or has another primary; nothing was done
        return self.several(*commands)

    def install(self) -> None:
        """Load the functions of this version into the server, unless it has them."""
        name, code = self._library
        if not self.run("FUNCTION LIST", "LIBRARYNAME", name):
            self.run("FUNCTION LOAD", "REPLACE", code)

    def keys(self, kind: str) -> Iterator[list[bytes]]:
        """The keys of one kind, block by block."""
        cursor: Any = b"0"
        while True:
            cursor, found = self.run("SCAN", cursor, "MATCH", self.key(f"{kind}*"), "COUNT", 4096)
            if found := list(dict.fromkeys(found)):
                yield found
            if int(cursor) == 0:
                return

    def facts(self) -> dict[str, Any]:
        """The settings that decide about durability; "unknown" where the server does not tell."""
        info = self.run("INFO", "everything")
        found = {
            "server": f"Valkey {info['valkey_version']}" if "valkey_version" in info else f"Redis {info.get('redis_version', 'unknown')}",
            "maxmemory": int(info.get("maxmemory", 0)),
            "maxmemory_policy": str(info.get("maxmemory_policy", "unknown")),
            "used_memory": int(info.get("used_memory", 0)),
            "appendonly": {"0": "no", "1": "yes"}.get(str(info.get("aof_enabled")), "unknown"),
            "appendfsync": "unknown",
        }
        with suppress(OSError):  # services that are rented do not tell
            found["appendfsync"] = self.run("CONFIG GET", "appendfsync").get("appendfsync", "unknown")
        return found

    def close(self) -> None:
        self._client.close()
        self._pool.disconnect()

    def _told(self, action: Callable[[], Any]) -> Any:
        """The result of an action; errors of the client and of the server name the index. Follows the index to the node of a cluster that has it."""
        shown = self.place.shown
        for _ in range(3):
            try:
                return action()
            except valkey.ResponseError as error:
                said = str(error)
                if said.startswith("MOVED "):
                    self._move(said.rpartition(" ")[2])
                    continue
                if "unknown command" in said and "FUNCTION" in said.upper():
                    raise UsageError(f"{shown}: the server has no functions; Valkey, or Redis 7 or later, has them") from error
                if said.startswith("REPLACED "):
                    raise UsageError(f"{shown}: {said.partition(' ')[2]}") from error
                raise OSError(REMOTE, said, shown) from error
            except valkey.ValkeyError as error:
                raise OSError(REMOTE, str(error), shown) from error
        raise OSError(REMOTE, "the nodes of the cluster do not agree about the place of the index", shown)

    def _move(self, node: str) -> None:
        """Go on with another node of a cluster."""
        host, _, port = node.rpartition(":")
        given = {**self._pool.connection_kwargs, "port": int(port)} | ({"host": host} if host else {})
        self._pool = valkey.ConnectionPool(connection_class=self._pool.connection_class, **given)
        self._client = valkey.Valkey(connection_pool=self._pool)
