"""The location of a file in a store, and the facts that the store states about the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Found(NamedTuple):
    """The facts that a store states about a file or a folder, under the names of `os.stat_result`."""

    st_mode: int
    st_size: int = 0
    st_mtime_ns: int = 0  # 0 if the store does not state it
    st_dev: str = ""  # with st_ino: what is the same for two names of a file; set by Address
    st_ino: str = ""
    mark: str = ""  # changes with the content (ETag); "" if the store does not state it
    ranges: bool = True  # False: the server sends only the whole file


@dataclass(frozen=True, repr=False)
class Location:
    """The place of a file or a folder. As text, it has neither credentials nor the query of a URL, which may sign a request."""

    scheme: str
    host: str  # the bucket of an object store, the repository on the Hub
    key: str = ""  # without a slash at its beginning; at its end only over http
    query: str = ""
    login: str = ""  # user:password, over http

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host}" + (f"/{self.key}" if self.key else "") + ("?..." if self.query else "")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    @property
    def url(self) -> str:
        """The URL to request: with its query, without credentials."""
        return f"{self.scheme}://{self.host}/{self.key}" + (f"?{self.query}" if self.query else "")

    @property
    def path(self) -> str:
        """Bucket and key."""
        return f"{self.host}/{self.key}" if self.key else self.host
