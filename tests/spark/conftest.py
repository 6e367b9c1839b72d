"""Fixtures for tests on Spark. ./test runs this folder in one process, so that all share a cluster, and most of them a session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from likewise.engines.spark import clustered, sections
from likewise.engines.spark.session import opened
from object_store import Objects, serving_objects
from spark_cluster import Cluster, active


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that share a session come last, so that it is the only one from then on; and after them, the one that kills a worker."""
    items.sort(key=lambda item: [name in getattr(item, "fixturenames", ()) for name in ("spark", "mortal")])


@pytest.fixture(scope="session")
def store() -> Iterator[Objects]:
    """An object store."""
    with serving_objects() as found:
        yield found


@pytest.fixture(scope="session")
def standalone(store: Objects) -> Iterator[Cluster]:
    """A cluster whose workers have access to the object store. Its variables are in the environment of this process."""
    with pytest.MonkeyPatch.context() as patch:
        found = Cluster(store.access)
        for name, value in found.env.items():
            patch.setenv(name, value)
        yield found
        found.end()


@pytest.fixture(scope="session")
def connect(standalone: Cluster) -> str:
    """The URL of a Spark Connect server, which ends with the cluster."""
    return standalone.connect()


@pytest.fixture(scope="session")
def spark(standalone: Cluster) -> Iterator[Any]:
    """An active session on the cluster. Its executors stay, and each of their processes imports and compiles what it needs once."""
    with opened(standalone.master) as session:
        yield session
    assert active() is None


@pytest.fixture
def mortal() -> str:
    """The name of a worker that the last test kills."""
    return "worker2"


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sections of some 300 rows, and partitions of clusters of 100, as if there were many more."""
    monkeypatch.setattr(sections, "SECTION_ROWS", 300)
    monkeypatch.setattr(clustered, "TASK_ROWS", 100)
