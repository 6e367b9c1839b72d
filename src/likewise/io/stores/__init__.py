"""Stores of files: one module for each kind, and what they have in common."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import BinaryIO, Protocol

from likewise.io.location import Found, Location

#: Variables of the environment that select a server and an account.
SETTINGS = (
    *("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_NO_SIGN_REQUEST"),
    *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"),
    *("STORAGE_EMULATOR_HOST", "GOOGLE_APPLICATION_CREDENTIALS", "HF_ENDPOINT", "HF_TOKEN"),
)


class Store(Protocol):
    """A kind of store. Errors are FileNotFoundError, PermissionError, other OSError, and TransientError of a reader."""

    def look(self, address: Location) -> Found:
        """The file or folder at an address."""

    def children(self, folder: Location) -> dict[str, Found]:
        """The files and folders in a folder, by key."""

    def reader(self, address: Location, first: Found) -> Callable[[int, int], bytes]:
        """Return a function of (begin, size) that reads a range; it may return fewer bytes. Threads have a reader each.

        first: the facts that the store stated first, by which a file that has changed is recognized.
        """

    def writer(self, address: Location) -> AbstractContextManager[BinaryIO]:
        """Open a new file, which gets its name when it is complete."""

    def remove(self, address: Location) -> None:
        """Delete a file."""


def store_of(address: Location) -> Store:
    """The store of an address. Raises MissingPartError if it needs a library that is not installed."""
    settings = tuple(os.environ.get(name) for name in SETTINGS)
    return _store(address.scheme, address.host if address.scheme == "s3" else "", settings)


@lru_cache(64)
def _store(scheme: str, bucket: str, settings: tuple[str | None, ...]) -> Store:
    if scheme in ("s3", "gs"):
        from likewise.io.stores.objects import Objects

        return Objects(scheme, bucket)
    if scheme == "hf":
        from likewise.io.stores.hub import Hub

        return Hub()
    from likewise.io.stores.http import Http

    return Http()
