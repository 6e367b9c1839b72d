"""`lw.Client` has the methods of `lw.Index` with equal signatures, except those that concern the place of an index."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import likewise as lw

#: Methods of an index for the process that keeps it.
LOCAL = {"create", "open", "build", "from_output", "merge", "ids", "flush", "compact", "check", "backup"}
PROTOCOLS = {"__len__", "__contains__", "__enter__", "__exit__"}


def methods(of: type) -> dict[str, Callable[..., Any]]:
    """The public methods of a class."""
    return {name: one for name, one in inspect.getmembers(of, inspect.isroutine) if name in PROTOCOLS or not name.startswith("_")}


def test_a_client_has_the_methods_of_an_index_with_equal_signatures() -> None:
    index, client = methods(lw.Index), methods(lw.Client)
    assert index.keys() - client.keys() == LOCAL
    assert client.keys() - index.keys() == set()
    for name in client:
        assert inspect.signature(client[name]) == inspect.signature(index[name]), name
