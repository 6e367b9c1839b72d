"""Stores of indexes: in memory, in a folder, or on a server."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from likewise.choices import CHOICES
from likewise.errors import UsageError
from likewise.index.store import Items, Store
from likewise.messages import option, quoted

#: Scheme of an address -> the module of its store. Each has ``create(where, settings, *, overwrite, durability)`` and
#: ``open(where, *, read_only, durability)``.
SCHEMES = {
    "postgresql": "postgres",
    "postgres": "postgres",
    "valkey": "valkey",
    "valkeys": "valkey",
    "redis": "valkey",
    "rediss": "valkey",
}


def created(where: Any, settings: dict[str, Any], *, durability: str = "commit", overwrite: bool = False) -> Store:
    """A new store with these settings. where: None for memory, a path, or an address.

    Raises UsageError if there is an index, unless ``overwrite``.
    """
    place, module = found(where, durability)
    store: Store = module.create(place, settings, overwrite=overwrite, durability=durability)
    return store


def check_new(where: Any, *, durability: str = "commit", overwrite: bool = False) -> None:
    """Raises UsageError, before long work, if no index can be made at this place."""
    place, module = found(where, durability)
    if hasattr(module, "check_new"):
        module.check_new(place, overwrite=overwrite)


def built(where: Any, settings: dict[str, Any], blocks: Iterator[Items], *, durability: str = "commit", overwrite: bool = False) -> tuple[Store, int]:
    """A new store with the items of blocks, whose ids differ, and their number. What an interruption leaves is no index. Raises as `created`."""
    place, module = found(where, durability)
    if hasattr(module, "build"):
        made: tuple[Store, int] = module.build(place, settings, blocks, overwrite=overwrite, durability=durability)
        return made
    store = created(where, settings, durability=durability, overwrite=overwrite)
    try:
        return store, store.load(blocks)
    except BaseException:
        store.close()
        raise


def opened(where: Any, *, read_only: bool = False, durability: str = "commit") -> Store:
    """The store of an existing index. Raises UsageError if the place has none, and FormatError if it is damaged."""
    place, module = found(where, durability)
    if where is None:
        raise UsageError("an index in memory ends with the process that made it; create it, or open the path or the address of another")
    store: Store = module.open(place, read_only=read_only, durability=durability)
    return store


def shown(where: Any) -> str:
    """The place of an index for messages: an address without user and password."""
    if isinstance(where, str) and "://" in where:
        from likewise.index.servers import place_of

        return place_of(where).shown
    return str(where)


def found(where: Any, durability: str) -> tuple[Path | str | None, Any]:
    """The place as stores take it, and the module of its store. Raises UsageError for places that no store serves."""
    if durability not in CHOICES["durability"]:
        raise UsageError(f"{option('durability', durability)}: choose one of {', '.join(CHOICES['durability'])}")
    if where is None:
        return None, import_module("likewise.index.memory")
    if isinstance(where, str) and "://" in where:
        scheme = where.partition("://")[0].lower()
        if scheme not in SCHEMES:
            raise UsageError(
                f"{quoted(f'{scheme}://...')}: an index is in a folder, or at an address that begins with {', '.join(f'{one}://' for one in SCHEMES)}"
            )
        return where, import_module(f"likewise.index.{SCHEMES[scheme]}")
    try:
        path = Path(where)
    except TypeError:
        raise UsageError(f"{quoted(where)}: give the path of a folder, an address, or None for memory") from None
    if path.parts and path.parts[0].removesuffix(":").lower() in SCHEMES and path.parts[0].endswith(":"):
        raise UsageError(f"an address is a string that begins with {path.parts[0]}//; a path has only one slash")
    return path, import_module("likewise.index.embedded")
