"""Addresses of files in object stores and on servers. An `Address` has the methods of `pathlib.Path` by which sources are found and read."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from io import BufferedReader
from pathlib import Path, PurePosixPath
from typing import Any, cast
from urllib.parse import quote, unquote, urlsplit

from likewise.errors import UsageError
from likewise.io.location import Found, Location
from likewise.io.ranged import Ranged
from likewise.io.stores import store_of

#: The schemes that are read. Those without a listing name single files.
SCHEMES = ("s3", "gs", "hf", "http", "https")
UNLISTED = ("http", "https")
#: The scheme of Spark Connect, whose addresses end with parameters, such as a token.
SPARK_CONNECT = "sc"
#: The scheme of the Hugging Face Hub, where a repository takes the place of a bucket, and the kinds that an address names; models are named by none.
HUB, HUB_KINDS = "hf", ("datasets", "spaces", "buckets")
#: An address as typed, and as `pathlib.Path` keeps it, which merges the two slashes. A single letter is a drive of Windows.
TYPED = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/{1,2}([^/].*)", re.DOTALL)


#: Few, because headers are read at scattered places; consecutive reads ask for more and more.
BUFFER_BYTES = 1 << 10


@dataclass
class Seen:
    """The first facts that a store stated about an address."""

    found: Found | None = None
    children: dict[str, Address] | None = None  # of a folder, by name


@dataclass(frozen=True, repr=False)
class Address(Location):
    """A file or a folder at an address."""

    seen: Seen = field(default_factory=Seen, compare=False)

    def __fspath__(self) -> str:
        """The address as messages show it; `place` makes an Address of it again, without its secrets."""
        return str(self)

    @property
    def parts(self) -> tuple[str, ...]:
        """Scheme and host, then the parts of the key as names of files and folders."""
        return (f"{self.scheme}://{self.host}", *(self._safe(part) for part in self.key.split("/") if part))

    def _safe(self, part: str) -> str:
        """A part of the key as a name, which leads to no other folder when it is used in an output."""
        name = unquote(part) if self.scheme in UNLISTED else part
        return quote(name, safe="").replace(".", "%2E") if name in (".", "..") or set(name) & set("/\\\0") else name

    @property
    def name(self) -> str:
        """The last part of the key."""
        return self.parts[-1] if self.key.strip("/") else self.host

    @property
    def suffix(self) -> str:
        """The extension of the name, with its dot."""
        return PurePosixPath(self.name).suffix

    @property
    def parent(self) -> Address:
        """The folder."""
        return self.at(self.key.rstrip("/").rpartition("/")[0])

    def __truediv__(self, name: str) -> Address:
        return (self.seen.children or {}).get(name) or self.at(f"{self.key}/{name}" if self.key else name)

    def at(self, key: str, found: Found | None = None) -> Address:
        """The address of another key, about which the store states ``found``."""
        to = replace(self, key=key, query="", seen=Seen())
        to.seen.found = found and to._own(found)
        return to

    def _own(self, found: Found) -> Found:
        return found._replace(st_dev=f"{self.scheme}://{self.host}", st_ino=f"{self.key}?{self.query}")

    def with_name(self, name: str) -> Address:
        """The address of another file in the same folder."""
        return self.parent / name

    def absolute(self) -> Address:
        """The address itself."""
        return self

    resolve = absolute

    def is_relative_to(self, other: Any) -> bool:
        """True if this address is ``other`` or lies below it."""
        return isinstance(other, Address) and self.parts[: len(other.parts)] == other.parts

    def anew(self) -> Address:
        """The address without what was found there."""
        return replace(self, seen=Seen())

    def now(self) -> Found:
        """The facts that the store states now. Raises OSError, among them FileNotFoundError and PermissionError."""
        return self._own(store_of(self).look(self))

    def stat(self) -> Found:
        """The facts that the store stated first."""
        self.seen.found = self.seen.found or self.now()
        return self.seen.found

    def is_dir(self) -> bool:
        """True for a folder."""
        return self.scheme not in UNLISTED and self.exists() and stat.S_ISDIR(self.stat().st_mode)

    def is_file(self) -> bool:
        """True for a file."""
        return self.exists() and stat.S_ISREG(self.stat().st_mode)

    def is_symlink(self) -> bool:
        """False: stores have no links."""
        return False

    def exists(self) -> bool:
        """True if there is such a file or folder."""
        try:
            self.stat()
        except FileNotFoundError:
            return False
        return True

    def iterdir(self) -> Iterator[Address]:
        """The files and folders in a folder, listed once."""
        if self.seen.children is None:
            below = [self.at(key, found) for key, found in store_of(self).children(self).items()]
            self.seen.children = {path.name: path for path in below}
        yield from self.seen.children.values()

    def open(self, mode: str = "rb") -> BufferedReader:
        """The file, open for reading."""
        return BufferedReader(Ranged(self, self.stat()), BUFFER_BYTES)

    def read_bytes(self) -> bytes:
        """The content of the file."""
        with Ranged(self, self.stat()) as file:
            return file.readall()

    def unlink(self) -> None:
        """Delete the file."""
        store_of(self).remove(self)

    def relative_to(self, folder: Address) -> PurePosixPath:
        """The path below a folder."""
        return PurePosixPath(*self.parts[len(folder.parts) :])

    def read_text(self, encoding: str = "utf-8") -> str:
        """The content of a text file."""
        return self.read_bytes().decode(encoding)


Place = Path | Address


def without_secrets(text: str) -> str:
    """Return what a user typed without the secrets of an address, be it one of files, of a database or of Spark.

    >>> without_secrets("https://user:password@host/a.jsonl?signature=1"), without_secrets("a.jsonl")
    ('https://host/a.jsonl?...', 'a.jsonl')
    >>> without_secrets("postgresql://user:password@host/base?index=seen")
    'postgresql://host/base?index=seen'
    >>> without_secrets("sc://host:15002/;token=secret")
    'sc://host:15002/;...'
    """
    typed = TYPED.match(text)
    if typed and typed[1].lower() == SPARK_CONNECT:
        return re.sub(";.*", ";...", text, flags=re.DOTALL)
    if not typed or typed[1].lower() in UNLISTED:
        return str(place(text)) if typed else text
    host, slash, rest = typed[2].partition("/")
    return f"{typed[1]}://{host.rpartition('@')[2]}{slash}{rest}" if "@" in host else text


def place(given: str | os.PathLike[str]) -> Path:
    """The path or Address that the user named. Its type is that of a path, whose methods an Address has as far as inputs and outputs need them.

    Raises UsageError for an address that cannot be read.
    """
    return cast(Path, _address(given) or Path(cast(str, given)))


def _address(given: str | os.PathLike[str]) -> Address | None:
    if isinstance(given, Address) or not (typed := TYPED.match(os.fspath(given))):
        return given.anew() if isinstance(given, Address) else None
    scheme, rest = typed[1].lower(), typed[2]
    if scheme not in SCHEMES:
        known = ", ".join(f"{name}://" for name in SCHEMES)
        named = rest.rpartition("@")[2].partition("?")[0]  # without what may be secret
        raise UsageError(f"{scheme}://{named}: this kind of address cannot be read; likewise reads {known}; copy the files to this machine first")
    if scheme in UNLISTED:
        split = urlsplit(f"{scheme}://{rest}")
        login, _, host = split.netloc.rpartition("@")
        return Address(scheme, host, split.path.removeprefix("/"), split.query, login)
    parts = [part for part in rest.split("/") if part]
    length = 1 if scheme != HUB else 3 if parts[0] in HUB_KINDS else 2
    host = "/".join(parts[:length])
    if scheme == HUB and len(parts) < length:
        raise UsageError(f"{scheme}://{rest}: this address names no repository; give one such as hf://datasets/OWNER/NAME")
    if scheme != HUB and ("@" in host or ":" in host):
        raise UsageError(f"{scheme}://...: an address must not contain credentials; set them in the environment, or in the settings of {scheme}")
    return Address(scheme, host, "/".join(parts[length:]))
