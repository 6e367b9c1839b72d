"""The messages of the actions of `likewise index` about an index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from likewise.cli.screen import Screen, counted, percent, size

if TYPE_CHECKING:
    from likewise.cli.progress import ScreenProgress
    from likewise.verbs.index import Index


def named(path: str) -> str:
    """The place of an index, without a password."""
    from likewise.index.opened import shown

    return shown(path)


def changed(screen: Screen, ix: Index, action: str, path: str, progress: ScreenProgress, **counts: int) -> None:
    """Print what an action wrote, and the number of items that the index has now."""
    if screen.json:
        screen.document({"schema": "likewise/index-change/1", "index": named(path), "action": action, **counts, "items": len(ix)})
    else:
        words = {"added": "replaced"} if action == "update" else {}
        done = ", ".join(f"{number:,} {words.get(name, name)}" for name, number in counts.items() if number or name in ("added", "removed"))
        screen.say(f"{named(path)}: {done}; {counted(len(ix), 'item')} in the index, in {progress.time_in_all}")
    progress.steps()


def told(screen: Screen, ix: Index, path: str, *, data: bool = False) -> None:
    """Print facts about an index; ``data``: as the result."""
    facts = ix.info()
    if screen.json:
        store = ix.store.info()
        settings = {name: value for name, value in facts.items() if name not in store}
        screen.document({"schema": "likewise/index-info/1", "index": named(path), "items": len(ix), "settings": settings, "store": store})
    else:
        facts.pop("read_only", None)  # so this command opened it
        screen.rows([(name.replace("_", " "), in_words(name, value)) for name, value in facts.items() if value is not None], data=data)


def in_words(name: str, value: Any) -> str:
    """A fact for people."""
    if name == "bytes" or name.endswith("_bytes"):
        return size(value)
    if name == "sqlite_wal_reset_fault":
        return "this SQLite has it; the index avoids it" if value else "this SQLite does not have it"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(in_words(key, one) if key == "name" else f"{key} {in_words(key, one)}" for key, one in value.items() if one is not None)
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if name == "recall":
        return percent(value, down=True)
    if name == "standard_error":
        return f"{value:.3f}; about half of the items exactly at the threshold are listed"
    return f"{value:,}" if isinstance(value, int) and name != "seed" else str(value)


def also_rejected(counts: dict[str, int]) -> str:
    return f", {counts['rejected']:,} rejected" if counts["rejected"] else ""
