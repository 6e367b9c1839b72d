"""Items as `likewise show` names them, and warnings about inputs that changed."""

from __future__ import annotations

from typing import Any

from likewise.cli.screen import Screen, counted, harmless

SCHEMA = "likewise/show/1"


def changes(originals: Any, changed: list[str]) -> str:
    """Say that sources have changed since the run."""
    first, more = originals.paths[changed[0]], counted(len(changed) - 1, "more input")
    if len(changed) == 1:
        return f"{first} has changed since {originals.out} was made, or no longer exists"
    return f"{first} and {more} have changed since {originals.out} was made, or no longer exist"


def warn_of_changes(screen: Screen, originals: Any, places: list[tuple[str, int]]) -> None:
    """Warn if a source of items that are shown has changed: what stands at these places now may be other items."""
    if changed := originals.changed({source for source, _ in places}):
        screen.warn(f"{changes(originals, changed)}; places and contents are shown as they are now")


def item(identity: object, place: tuple[str, int]) -> dict[str, Any]:
    return {"id": identity, "source": place[0], "position": place[1]}


def named(originals: Any, identity: object, place: tuple[str, int]) -> str:
    """The id and the place of an item; the place alone if the id is the name of the file, or the position of an item without an id."""
    where = originals.name(place)
    if identity is None or originals.numbered:
        return harmless(where)
    return harmless(repr(identity) if identity == where else f"{identity!r}  at {where}")
