"""A validator for the part of JSON Schema that the schemas of likewise use. It refuses keywords that it does not know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

NOTES = {"$schema", "$defs", "title", "description"}
TYPES: dict[str, Any] = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "integer": int, "number": (int, float)}


def has_type(value: Any, name: str) -> bool:
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def resolved(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    return root["$defs"][schema["$ref"].removeprefix("#/$defs/")] if "$ref" in schema else schema


def properties(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """The properties of an object, with those of its ``allOf``."""
    own = dict(schema.get("properties", {}))
    for part in schema.get("allOf", ()):
        own |= properties(resolved(part, root), root)
    return own


def faults(value: Any, schema: dict[str, Any], root: dict[str, Any], place: str = "$") -> Iterator[str]:
    """Yield what does not fit. A property that the schema does not describe is a fault, too, although JSON Schema allows it."""
    schema = resolved(schema, root)
    yield from keywords(value, schema, root, place)
    described = properties(schema, root)
    if isinstance(value, dict) and described:
        yield from (f"{place}.{name}: not described" for name in value.keys() - described.keys())


def keywords(value: Any, schema: dict[str, Any], root: dict[str, Any], place: str) -> Iterator[str]:
    for name, rule in schema.items():
        match name:
            case "type":
                if not any(has_type(value, one) for one in ([rule] if isinstance(rule, str) else rule)):
                    yield f"{place}: {value!r:.60} is no {rule}"
            case "const" | "enum":
                if value not in ([rule] if name == "const" else rule):
                    yield f"{place}: {value!r:.60} is not {rule}"
            case "minimum":
                if isinstance(value, int | float) and value < rule:
                    yield f"{place}: {value} is below {rule}"
            case "minItems" | "maxItems":
                if isinstance(value, list) and (len(value) < rule if name == "minItems" else len(value) > rule):
                    yield f"{place}: {len(value)} entries, not {name} {rule}"
            case "required":
                if isinstance(value, dict):
                    yield from (f"{place}.{one}: missing" for one in rule if one not in value)
            case "properties":
                if isinstance(value, dict):
                    for one in rule.keys() & value.keys():
                        yield from faults(value[one], rule[one], root, f"{place}.{one}")
            case "additionalProperties":
                for one, held in value.items() if isinstance(value, dict) else ():
                    yield from faults(held, rule, root, f"{place}.{one}")
            case "items":
                for number, held in enumerate(value) if isinstance(value, list) else ():
                    yield from faults(held, rule, root, f"{place}[{number}]")
            case "allOf":
                for part in rule:
                    yield from keywords(value, resolved(part, root), root, place)
            case "anyOf" | "oneOf":
                fits = sum(not [*faults(value, part, root, place)] for part in rule)
                if not fits or (name == "oneOf" and fits > 1):
                    yield f"{place}: {fits} of {len(rule)} alternatives fit"
            case _ if name not in NOTES:
                yield f"{place}: unknown keyword {name}"
