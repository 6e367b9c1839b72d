"""Stores for tests of the index; those on servers get servers of their own, one of each a process of tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from index_servers import SERVED, PostgresServer, ValkeyServer, server
from index_stores import FULL
from likewise.index import embedded, opened
from likewise.index.embedded.writer import Writer

NAMES = count()


@pytest.fixture(scope="session")
def postgres_server() -> PostgresServer:
    return server("postgres")


@pytest.fixture(scope="session")
def valkey_server() -> ValkeyServer:
    return server("valkey")


@pytest.fixture(params=SERVED)
def address(request: pytest.FixtureRequest) -> str:
    """The address of an index that does not exist yet, on each kind of server."""
    return server(request.param).address(f"index-{next(NAMES)}")


@pytest.fixture
def created(address: str) -> Iterator[Callable[..., Any]]:
    """created(settings): the store of a new index at the address, which takes the place of the one before."""
    stores: list[Any] = []

    def create(settings: dict[str, Any]) -> Any:
        while stores:
            stores.pop().close()
        stores.append(opened.created(address, settings, durability="relaxed", overwrite=True))
        return stores[-1]

    yield create
    while stores:
        stores.pop().close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Writer]:
    """An embedded store, open for writing."""
    with closing(embedded.create(tmp_path / "seen.lw", FULL)) as found:
        yield found
