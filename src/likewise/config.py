"""Settings from a file: ``likewise.toml``, or ``[tool.likewise]`` in pyproject.toml.

threshold = 0.9           # of every verb that has the flag
[dedup]
keep = "longest"          # of one verb only; wins over the line above
"""

from __future__ import annotations

import difflib
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from likewise.errors import UsageError
from likewise.messages import option

#: Settings that write or replace files. A file found above the current folder must not have them, because it may come with data of other people.
OF_FILES = ("out", "work", "overwrite", "svg", "page")
#: Types of settings: a switch is true or false, a list has several values, a value is a string or a number.
SWITCH, LIST, VALUE = "switch", "list", "value"


@dataclass(frozen=True)
class Config:
    """The settings of a verb and the file that they come from."""

    path: Path | None = None
    settings: dict[str, Any] = field(default_factory=dict)


def load(path: str | Path | None, kinds: Mapping[str, str], verb: str, verbs: Mapping[str, Any], taken: Container[str] | None = None) -> Config:
    """Return the settings of ``verb`` from the file ``path``, or else from the nearest one in the current folder and those above it.

    kinds: SWITCH, LIST or VALUE for each flag of any verb; other keys are refused. taken: the flags of ``verb``, to which its own table is
    limited.
    Raises UsageError.
    """
    found = Path(path) if path is not None else nearest(Path.cwd())
    if found is None:
        return Config()
    document = section(found)
    tables = {name: value for name, value in document.items() if name in verbs and isinstance(value, dict)}
    shared = {key: value for key, value in document.items() if key not in tables}
    own = {name: dict(checked(found, table, kinds, f"{name}.")) for name, table in tables.items()}  # of other verbs too, to find all misspellings
    for name in own.get(verb, {}):
        if taken is not None and name not in taken:
            raise UsageError(f"{found}: {verb} has no flag {name.replace('_', '-')}; likewise {verb} --help lists its flags")
    settings = {**dict(checked(found, shared, kinds, "", verbs)), **own.get(verb, {})}
    if path is None and found.parent != Path.cwd():
        refuse_files(found, [name for name in settings if taken is None or name in taken], own.get(verb, {}), verb)
    return Config(found, settings)


def refuse_files(found: Path, names: Iterable[str], own: Container[str], verb: str) -> None:
    """Raise UsageError for settings that write files in a file above the current folder."""
    for name in names:
        if name in OF_FILES:
            key = f"{verb}.{name}" if name in own else name
            remedy = f"remove this line, or name the file with {option('config')}"
            raise UsageError(f"{found}: {key} is not allowed, because this file is not in the current folder; {remedy}")


def nearest(folder: Path) -> Path | None:
    """Return the nearest likewise.toml, or pyproject.toml with a section for likewise, in a folder or above it; None if there is neither."""
    for place in (folder, *folder.parents):
        for name in ("likewise.toml", "pyproject.toml"):
            path = place / name
            if path.is_file() and (name == "likewise.toml" or has_section(path)):
                return path
    return None


def has_section(path: Path) -> bool:
    """Return whether a pyproject.toml has a section for likewise; False for one that cannot be read."""
    try:
        return bool(section(path))
    except (UsageError, OSError):
        return False


def section(path: Path) -> dict[str, Any]:
    """Return the settings for likewise in a TOML file. Raises UsageError if it is missing or invalid."""
    import tomllib

    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"{option('config', path)}: no such file") from None
    except (ValueError, RecursionError) as error:  # tomllib passes on Python's errors for integers of thousands of digits and deep brackets
        raise UsageError(f"{path}: is not valid TOML: {error}") from error
    if path.name == "pyproject.toml":
        tool = document.get("tool", {})
        document = tool.get("likewise", {}) if isinstance(tool, dict) else {}
    return document


def checked(path: Path, table: dict[str, Any], kinds: Mapping[str, str], prefix: str, verbs: Iterable[str] = ()) -> Iterator[tuple[str, Any]]:
    """Yield (flag, value) of each line of a table; keys may contain ``-`` or ``_``. Raises UsageError for unknown keys and unsuitable values."""
    for key, value in table.items():
        name = key.replace("-", "_")
        if name not in kinds and name in verbs:
            raise UsageError(f"{path}: {key} is a verb; write its settings as a table, [{key}]")
        if name not in kinds:
            near = difflib.get_close_matches(name, [*kinds, *verbs], 1)
            known = (
                f"did you mean {prefix}{near[0].replace('_', '-')}?"
                if near
                else "a key is a flag without its dashes; likewise VERB --help lists the flags"
            )
            raise UsageError(f"{path}: unknown key {prefix + key!r}; {known}")
        if fault := misfit(value, kinds[name]):
            raise UsageError(f"{path}: {prefix}{key} = {value!r}: give {fault}")
        yield name, [value] if kinds[name] == LIST and not isinstance(value, list) else value


def misfit(value: Any, kind: str) -> str | None:
    """Return a description of the expected type if ``value`` does not have it, else None."""
    if kind == SWITCH:
        return None if isinstance(value, bool) else "true or false"
    if kind == LIST and isinstance(value, list):
        return None if all(isinstance(entry, str) for entry in value) else "a list of strings"
    return None if isinstance(value, str | int | float) and not isinstance(value, bool) else "a string or a number"
