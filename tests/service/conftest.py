from __future__ import annotations

from collections.abc import Iterator

import pytest

from services import Service, service


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service over an index by pairs of words, for the tests of a file."""
    with service(tmp_path_factory.mktemp("served")) as found:
        yield found
