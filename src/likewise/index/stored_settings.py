"""Settings of an index as a store keeps them."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import xxhash

from likewise.choices import CHOICES
from likewise.errors import FormatError, LikewiseError
from likewise.index.settings import FORMAT, Settings, facts_of
from likewise.index.sketching import Sketching
from likewise.io.groups import Groups
from likewise.methods import Measure, parse
from likewise.options import resolve
from likewise.planning import choose
from likewise.planning.families import FAMILIES


def stored(settings: Settings) -> dict[str, Any]:
    """The settings as JSON, for a store, which itself reads sets, bands, bits and slots alone; `restored` reads them.

    ``scheme`` is a digest of a known item as it is sketched, so that a version that sketches items differently is recognized.
    """
    return {**settings.described(), "scheme": scheme_of(settings)}


def restored(given: Any) -> Settings:
    """The settings that a store keeps. Raises FormatError if they are damaged or of another version of likewise."""
    if not isinstance(given, Mapping) or given.get("format") != FORMAT:
        found = given.get("format") if isinstance(given, Mapping) else None
        raise FormatError(f"the settings of the index have the format {found!r}, and this version of likewise reads {FORMAT}; {made_by(given)}")
    try:
        settings, scheme = read(given), given["scheme"]
        if scheme_of(settings) != scheme:
            raise FormatError(f"this version of likewise sketches items in another way than the index; {made_by(given)}")
    except FormatError:
        raise
    except (LikewiseError, KeyError, TypeError, ValueError, AttributeError) as error:
        fault = getattr(error, "marked", None) or f"{type(error).__name__} {error}"
        raise FormatError(f"the settings of the index are damaged: {fault}; restore the index from a backup") from error
    return settings


def scheme_of(settings: Settings) -> str:
    """A digest of a known item as an index with these settings keeps it. It tells versions apart that sketch items in different ways."""
    sketching, facts = Sketching(settings), settings.facts
    known = sketching.job.kind.known(facts.dimension or facts.features or 1)
    found = sketching.items(known, per=None if settings.options.per is None else ["milk"])
    return xxhash.xxh3_128_hexdigest(b"".join(each.tobytes() for each in (found.keys, found.copy, found.size, found.words, found.slots)))


def read(given: Mapping[str, Any]) -> Settings:
    """`restored`, without its checks."""
    known, layout, family = given["facts"], given["plan"], dict(given["family"])
    limit = "within" if "within" in given else "threshold"
    modes = {name: layout[name] for name in ("sketch", "tune") if layout[name]}
    asked = {limit: given[limit], "recall": given["recall"], "bands": layout["bands"], "rows": layout["rows"], **modes}
    by = {"by": given["by"]} | ({"normalize": list(given["normalize"]) or "none"} if normalizes(given["by"]) else {})
    options = resolve(**by, **asked, seed=given["seed"], **({"per": given["per"]} if given["per"] is not None else {}))
    facts = facts_of(options, None if known["sparse"] else known["dimension"], wide=known["wide"], sparse=known["sparse"])
    name = family.pop("name")
    plan = choose(method=options.method, facts=facts, family=name, **options.asked)
    assert options.bound is not None
    curves = [curve for curve in FAMILIES[name].curves(options.method, float(options.bound), facts) if curve.parameters == family]
    if not curves or given["sets"] not in CHOICES["sets"]:
        raise FormatError(f"the settings of the index name a family that this version of likewise does not plan; {made_by(given)}")
    plan = replace(plan, chosen_by=layout["chosen_by"], model=replace(plan.model, curve=curves[0]))
    groups = given["groups"]
    grouped = None if groups is None else Groups.of_words(unpacked(groups["words"]), unpacked(groups["of"]))
    settings = Settings(options=options, facts=facts, plan=plan, sets=given["sets"], grouped=grouped)
    for kept in ("bands", "bits", "slots"):
        if getattr(settings, kept) != given[kept]:
            raise FormatError(f"the index keeps {given[kept]} {kept}, and this version of likewise {getattr(settings, kept)}; {made_by(given)}")
    return settings


def normalizes(by: str) -> bool:
    """True if texts or strings are compared, which are normalized."""
    method = parse(by)
    return not isinstance(method, Measure) or method.kind.normalized


def made_by(given: Any) -> str:
    """The advice about an index of another version."""
    version = given.get("likewise") if isinstance(given, Mapping) else None
    return f"likewise {version} made it: read it with that version, or build the index again"


def unpacked(text: str) -> np.ndarray:
    """The words that `packed` wrote."""
    return np.frombuffer(base64.b64decode(text, validate=True), "<u8").astype(np.uint64)
