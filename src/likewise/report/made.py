"""How an output folder was made, from its own files: for verbs that repeat its run, or compare with its kept records in the same way."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

from likewise import methods
from likewise.choices import AT
from likewise.errors import UsageError
from likewise.io.address import place
from likewise.io.collection import STDIN
from likewise.io.manifest import is_output
from likewise.messages import option
from likewise.methods import Text
from likewise.planning.presets import with_preset
from likewise.planning.recipes import WITHOUT
from likewise.report.canonical import canonical
from likewise.report.indexed import choices_of, has_address, indexed
from likewise.report.own_files import as_written, document, sealed, whole

#: Options of an output that do not hold for a comparison with it: how candidates were found, what was read and compared; and the field (`fields`).
OF_THE_RUN = ("exact", "bands", "rows", "recall", "sketch", "per", "min_tokens", "limit", "on_error", "max_record", "also_inside", "level", "field")
#: Options of an output that another run over its records may change: how records are read, and what they are called.
CHANGEABLE = ("records", "id")
#: Defaults that a manifest has, too. They are no options of another run: it warns of given options that have no effect.
DEFAULTS = {"html": "text"}


class Made(NamedTuple):
    """How an output folder was made."""

    inputs: list[Path]
    against: list[Path]  # of a second collection, if there was one
    choices: dict[str, Any]  # but for how candidates were checked, which an audit does exactly:
    verify: str
    digests: list[str | None]  # of what was read; None in manifests of earlier versions
    groups: str | None  # the digest of the groups of elements, where there were some
    ignored: str | None  # the digest of the ignored shingles, where there were some
    ignores_data: bool  # some came from data in memory
    lost: str  # where items came from that are not stored; "" for none


def unlike(made: Made, digests: list[str]) -> bool:
    """True if these are the digests of other inputs than those of which an output was made."""
    return None not in made.digests and sorted(digests) != sorted(map(str, made.digests))


def as_made(out: Path) -> Made:
    """How an output folder was made. Raises FormatError if its files were changed."""
    manifest, run = sealed(out / "manifest.json"), sealed(out / "run.json")
    method = manifest["method"]
    names = [*("by", "field", "records", "html", "id", "per", "min_tokens", "ignore_common", "level", "seed")]
    names += ["exact", "limit", "on_error", "max_record", "also_inside"]
    choices = {name: method[name] for name in names if method.get(name) not in (None, DEFAULTS.get(name))}
    compared = methods.parse(method["by"])
    if isinstance(compared, Text) or compared.kind.normalized:
        choices["normalize"] = method["normalize"] or "none"
    report, plan = document(whole(out, manifest, "report.json")), method.get("plan") or method
    choices["within" if report["value"] == "distance" else "threshold"] = plan.get("threshold_exact", report["threshold"])
    choices |= {new: plan[name] for name, new in (("bands", "bands"), ("rows", "rows"), ("target", "recall")) if name in plan}
    choices |= {"sketch": plan["sketch"]} if plan.get("sketch") else {}
    choices |= {"groups": Path(method["groups"])} if method.get("groups") else {}
    ignore = method.get("ignore")
    choices |= {"ignore": [Path(path) for path in ignore]} if isinstance(ignore, list) else {}
    sides = ("inputs", "against")
    digests = [entry.get("content") for side in sides for entry in manifest.get(side, ())]
    paths, second = ([place_of(entry) for entry in run.get(side, ())] for side in sides)
    lost = "data in memory" if any(manifest.get(side) and not run.get(side) for side in sides) or None in second else ""
    if any(entry["source"] == STDIN and not place_of(entry).exists() for side in sides for entry in run.get(side, ())):
        lost = "standard input"
    if method.get("level") == "passage":
        no_pairs = {"by": method["by"].partition(":")[0], "min_run": method["min_run"], "preset": method.get("preset")}
        some = {name: value for name, value in choices.items() if name not in WITHOUT}
        choices = some | {name: value for name, value in no_pairs.items() if value is not None}
    return Made(paths, second, choices, method["verify"], digests, manifest.get("groups"), manifest.get("ignored"), isinstance(ignore, str), lost)


def facts_of(out: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The manifest and the report of an output. Raises FormatError if they were changed."""
    manifest = sealed(out / "manifest.json")
    return manifest, document(whole(out, manifest, "report.json"))


def place_of(entry: dict[str, Any]) -> Any:
    """The place of an input that run.json lists; None for an index in memory."""
    if "index" not in entry:
        return place(entry["path"])
    where = entry["index"]
    return where if where is None or has_address(where) else Path(where)


def compared_with(against: Any, choices: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The inputs of a second collection, and the options of a run that compares with it.

    An output folder stands for its kept records, which are compared as they were when it was made; an index for its items. Raises UsageError for
    options that contradict this, and if the folder has no records; DataError if the index has no sets; FormatError if files were changed.
    """
    if against is None and choices.get("also_inside") is True:
        raise UsageError(f"{option('also_inside', True)} needs a second collection; name it with {option('against', placeholder='INPUT')}")
    alone = against[0] if isinstance(against, list | tuple) and len(against) == 1 else None
    given = alone if isinstance(alone, os.PathLike) or has_address(alone) else against
    if (index := indexed(given)) is not None:
        return index, choices_of(index, choices)
    if not isinstance(given, str | os.PathLike) or not is_output(folder := place(given)):
        return against, choices
    with as_written(folder):
        kept, made = kept_records(folder), as_made(folder)
    if choices.get("level") == "passage":  # compares in its own way, whatever the output was made by
        return kept, {**choices, **fields(folder, made.choices, choices)}
    if made.ignores_data and "ignore" not in choices:
        raise UsageError(
            f"{option('against', folder)}: the texts that this output ignores came from Python and are not stored; give {option('ignore')}"
        )
    if made.groups is not None and not (groups := made.choices["groups"]).is_file():
        if "groups" not in choices:
            raise UsageError(
                f"{option('against', folder)}: the groups that this output was made with ({groups}) are missing; give {option('groups')}"
            )
        del made.choices["groups"]
    return kept, {**inherited(folder, made.choices, choices), **choices, **fields(folder, made.choices, choices)}


def kept_records(folder: Path) -> list[Path]:
    """The files of an output with its kept records."""
    manifest = sealed(folder / "manifest.json")
    files = [folder / entry["path"] for entry in manifest["outputs"] if entry["path"].startswith("kept/")]
    if (how := manifest["method"]["output"]) != "copy":
        raise UsageError(
            f"{option('against', folder)}: this output has no kept records, because it was written with {option('output', how)}; name files"
        )
    if not files:
        raise UsageError(f"{option('against', folder)}: this output has no kept records, because nothing was read; name files")
    return files


def inherited(folder: Path, made: dict[str, Any], typed: dict[str, Any]) -> dict[str, Any]:
    """The options of an output that hold for a comparison with it. Raises UsageError if one that was given differs from them."""
    given = with_preset(typed)
    own = {name: value for name, value in made.items() if name not in OF_THE_RUN}
    had, limits = DEFAULTS | own, {"threshold", "within"}
    for name in [name for name in given if name in {*had, *limits} - {*CHANGEABLE}]:
        other = name if name in had else (limits - {name}).pop()
        if name not in had or canonical(name, given[name], given) != canonical(name, had[name], had):
            raise contradicted(folder, option(name, given[name]), option(other, had[other]))
    return {name: value for name, value in own.items() if name not in given}


def fields(folder: Path, made: dict[str, Any], typed: dict[str, Any]) -> dict[str, Any]:
    """The field of an output, and those for some sources (NAME@GLOB) that were given. Raises UsageError if another one was given for all."""
    own, given = ([value] if isinstance(value, str) else list(value) for value in (made["field"], typed.get("field", ())))
    if plain := [name for name in given if AT not in name and name != own[0]]:
        raise contradicted(folder, option("field", plain[0]), f"{option('field', own[0])}; for other inputs give NAME@GLOB")
    several = [own[0], *(name for name in given if AT in name), *own[1:]]
    return {"field": several if len(several) > 1 else own[0]}


def contradicted(folder: Path, given: str, made: str) -> UsageError:
    """The error for an option that differs from that of an output."""
    another = f"to compare with its records in another way, give {folder / 'kept'} as the second collection"
    return UsageError(f"{given}: {folder} was made with {made}; leave this option out, or {another}")
