"""Files of the Hugging Face Hub, hf://datasets/OWNER/NAME/..., by the file system of huggingface_hub, which takes tokens from the usual places."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, BinaryIO

from likewise.errors import missing_part
from likewise.io.attempts import REMOTE, TransientError
from likewise.io.location import Found, Location


class Hub:
    """The Hugging Face Hub."""

    def __init__(self) -> None:
        try:
            from huggingface_hub import HfFileSystem
        except ImportError as error:
            raise missing_part("hf:// addresses are read with", "huggingface_hub", "huggingface_hub") from error
        self.files: Any = HfFileSystem(endpoint=os.environ.get("HF_ENDPOINT"), skip_instance_cache=True, use_listings_cache=False)

    def look(self, address: Location) -> Found:
        with named(address):
            return known(self.files.info(address.path))

    def children(self, folder: Location) -> dict[str, Found]:
        with named(folder):
            below = self.files.ls(folder.path, detail=True)
        return {found["name"].removeprefix(folder.host + "/"): known(found) for found in below}

    def reader(self, address: Location, first: Found) -> Callable[[int, int], bytes]:
        with named(address):
            file = self.files.open(address.path, "rb", cache_type="none")

        def read(begin: int, size: int) -> bytes:
            with named(address, passing=True):
                file.seek(begin)
                return file.read(size)

        return read

    def writer(self, address: Location) -> AbstractContextManager[BinaryIO]:
        raise AssertionError("nothing is written to the Hub")

    def remove(self, address: Location) -> None:
        raise AssertionError("nothing is deleted on the Hub")


def known(found: dict[str, Any]) -> Found:
    """The facts that the Hub states about a file or a folder."""
    if found["type"] == "directory":
        return Found(stat.S_IFDIR)
    return Found(stat.S_IFREG, found["size"], mark=str(found.get("blob_id") or ""))


@contextmanager
def named(address: Location, *, passing: bool = False) -> Iterator[None]:
    """Turn errors of the library into errors of the system; ``passing``: failures of a request may pass."""
    try:
        yield
    except Exception as error:
        said = (str(error).strip() or type(error).__name__).splitlines()[0]
        met = statuses(error)
        if met & {401, 403}:
            advice = "no such repository, or access is refused; log in with 'hf auth login', or set HF_TOKEN"
            raise PermissionError(errno.EACCES, advice, str(address)) from error
        if isinstance(error, FileNotFoundError) or 404 in met:
            raise FileNotFoundError(errno.ENOENT, "no such repository, file or folder", str(address)) from error
        if passing:
            raise TransientError(said) from error
        raise OSError(REMOTE, said, str(address)) from error


def statuses(error: BaseException | None) -> set[int]:
    """The statuses of the answers that led to an error."""
    found = set()
    while error is not None:
        found.add(getattr(getattr(error, "response", None), "status_code", 0))
        error = error.__cause__ or error.__context__
    return found
