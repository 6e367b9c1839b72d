"""Fixtures for tests on Spark. ./test runs this folder in one process, so that all share a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from likewise.engines.spark import clustered, sections
from likewise.engines.spark.session import opened
from spark_cluster import Cluster, cluster


@pytest.fixture(scope="session")
def standalone() -> Iterator[Cluster]:
    """The cluster of this process, whose variables are in its environment."""
    with pytest.MonkeyPatch.context() as patch:
        found = cluster()
        for name, value in found.env.items():
            patch.setenv(name, value)
        yield found


@pytest.fixture(scope="session")
def connect(standalone: Cluster) -> str:
    """The URL of a Spark Connect server, which ends with the cluster."""
    return standalone.connect()


@pytest.fixture(scope="module")
def spark(standalone: Cluster) -> Iterator[Any]:
    """An active session on the cluster."""
    with opened(standalone.master) as session:
        yield session


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sections of some 200 rows, and partitions of clusters of 50, as if there were many more."""
    monkeypatch.setattr(sections, "SECTION_ROWS", 200)
    monkeypatch.setattr(clustered, "TASK_ROWS", 50)
