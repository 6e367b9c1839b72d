"""Requests and answers as JSON, as types: they are decoded and encoded by them, and the OpenAPI document is made from them."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, get_args, get_type_hints

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from likewise.choices import Existing, ExistingNew, Missing
from likewise.errors import UsageError
from likewise.kinds.kind import Kind
from likewise.service.limits import Limits

#: A whole number, also as 7.0: JSON does not tell them apart.
_BOUNDS = {"ge": -(2**63), "le": 2**63 - 1}
Whole = Annotated[int, Meta(**_BOUNDS)] | Annotated[float, Meta(**_BOUNDS, multiple_of=1)]
Id = str | Whole
#: The JSON form of one item, by payload: as in the files that likewise reads.
FORMS: dict[str, Any] = {
    "text": str,
    "tokens": list[int],
    "elements": list[str | int | float],
    "weighted": dict[str, float] | list[tuple[str | int | float, float]],
    "vector": list[float],
    "sparse": dict[str, int | list[float]],
    "code": str | list[int],
    "features": list[list[float]],
}
_K = ("k", Annotated[int, Meta(ge=1, le=2**31)] | Annotated[float, Meta(ge=1, le=2**31, multiple_of=1)] | None, None)
#: The limits of similarities, and of distances.
_SIMILARITIES = [("threshold", Annotated[float, Meta(gt=0, le=1)] | None, None), ("within", Annotated[float, Meta(ge=0, lt=1)] | None, None)]
_DISTANCES = [("threshold", float | None, None), ("within", Annotated[float, Meta(ge=0, le=1e300)] | None, None)]
#: Method -> its options, besides the limits of a query.
OPTIONS: dict[str, list[Any]] = {
    "query": [_K, ("force", bool, False)],
    "add": [("existing", Existing, "refuse")],
    "add_new": [_K, ("existing", ExistingNew, "refuse")],
    "update": [],
}
#: The place of an item of a request, in messages of msgspec; and the most characters of one of them, which may name what a client sent.
ITEM, MOST_SAID = " - at `$.items[", 300
#: An item of each form that needs no number of dimensions.
EXAMPLES: dict[str, Any] = {
    "text": "the quick brown fox jumps over the lazy dog",
    "tokens": [*range(16)],
    "elements": [1, 2, 3],
    "weighted": {"a": 1.0, "b": 2.0},
    "sparse": {"indices": [0, 7], "values": [1.0, 2.0], "dim": 8},
}


class Match(Struct, omit_defaults=True):
    """An item of the index that is similar to the given one."""

    id: str | int
    similarity: float | UnsetType = UNSET
    distance: float | UnsetType = UNSET
    estimate: float | UnsetType = UNSET  # of an index that keeps no sets
    standard_error: float | UnsetType = UNSET


class Found(Struct):
    """The similar items of a given one, the most similar first."""

    id: str | int | None  # of the given item
    matches: list[Match]


class Report(Struct):
    """How the queries of a request were answered, as in `lw.Index`."""

    threshold: float
    value: str
    recall: float | None
    warnings: list[str]


class Queried(Struct):
    """An answer for each item, in their order."""

    results: list[Found]
    report: Report


class Added(Struct, omit_defaults=True):
    """The outcome for an item. matches: of one that add-new did not add, the similar items in the index; none if its id was there."""

    id: str | int | None  # null: an item without an id that was not added
    added: bool
    matches: list[Match] = []


class Changed(Struct):
    """An answer for each item, in their order."""

    results: list[Added]
    added: int


class Removal(Struct):
    removed: int  # ids that were there


class Contained(Struct):
    contained: list[bool]  # for each id, in their order


class Count(Struct):
    items: int  # of the index


class State(Struct):
    """health: whether the process answers; readiness: whether it takes requests."""

    status: Literal["ok", "not ready"]
    reason: str = ""


class Types:
    """The types of the requests to an index, by the names of its methods. They depend on its kind of items.

    per: the field whose value two items must share to be compared. distances: the index compares by distances.
    """

    def __init__(self, kind: Kind, limits: Limits, *, per: str | None = None, distances: bool = False):
        if kind.payload not in FORMS:
            raise UsageError(f"{kind.name} have no JSON form, so an index of them cannot be served; use lw.Index in the process that has them")
        self.payload, self.field, self.per = kind.payload, kind.field, per
        some = Meta(min_length=1, max_length=limits.items)
        value, groups = (self.field, FORMS[kind.payload]), [(per, str | int | None, None)] if per else []
        self.item = defined("Item", value, ("id", Id | None, None), *groups)
        self.named_item = defined("NamedItem", value, ("id", Id), *groups)
        self.unnamed_item = defined("UnnamedItem", value, ("id", None, None), *groups)  # a request has ids for all items or for none
        given = OPTIONS | {"query": [*(_DISTANCES if distances else _SIMILARITIES), *OPTIONS["query"]]}
        self.lines = {name: self.named_item if name == "update" else self.item for name in OPTIONS}
        #: the options of streams, which are members of JSON requests
        self.options = {name: defined(f"{titled(name)}Options", *options) for name, options in given.items()}
        self.requests = {
            name: defined(titled(name), ("items", Annotated[list[line], some]), *given[name])  # type: ignore[valid-type]
            for name, line in self.lines.items()
        }
        ids = ("ids", Annotated[list[Id], some])
        self.requests["remove"] = defined("Remove", ids, ("missing", Missing, "ignore"))
        self.requests["contains"] = defined("Contains", ids)
        self.decoders = {name: msgspec.json.Decoder(one) for name, one in self.requests.items()}
        self.line_decoders = {name: msgspec.json.Decoder(one) for name, one in self.lines.items()}


def defined(name: str, *fields: Any) -> type[Struct]:
    return msgspec.defstruct(name, fields, forbid_unknown_fields=True)


def told(error: msgspec.ValidationError, kind: type[Struct]) -> str:
    """The fault of a request, or of an item, of this type. It adds the names and values that are expected, which msgspec leaves out."""
    said, types = str(error), get_type_hints(kind, include_extras=True)
    shown = said if len(said) <= MOST_SAID else f"{said[:MOST_SAID]}..."
    if said.startswith("Object contains unknown field"):
        names = types if ITEM not in said else get_type_hints(get_args(get_args(types["items"])[0])[0])
        return f"{shown}; expected fields: {', '.join(names)}"
    if said.startswith("Invalid enum value"):
        return f"{shown}; expected one of {', '.join(get_args(types[said.rpartition('$.')[2].strip('`')]))}"
    return shown


def titled(name: str) -> str:
    return name.title().replace("_", "")


def whole_id(value: Any) -> Any:
    """An id as it is kept."""
    return int(value) if type(value) is float else value


fast = msgspec.json.Encoder().encode


def encode(value: Any) -> bytes:
    """A value as JSON. Ids may have halves of surrogate pairs, which can be written as escapes only."""
    try:
        return fast(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value), separators=(",", ":")).encode()


def decode(content: bytes, kind: Any) -> Any:
    """The value that `encode` wrote. Raises DecodeError."""
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.DecodeError:
        try:
            return msgspec.convert(json.loads(content), kind)
        except ValueError:
            pass
        raise
