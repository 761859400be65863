"""A dataclass as a form, in the part of JSON Schema that MCP's clients draw forms of."""

from __future__ import annotations

from typing import Any

from . import schema as schemas
from .failure import Failure
from .types import is_dataclass, name

COMMON = ("type", "title", "description", "default")
BY_KIND = {
    "string": ("minLength", "maxLength", "format", "enum", "enumNames"),
    "integer": ("minimum", "maximum"),
    "number": ("minimum", "maximum"),
    "boolean": (),
    "array": ("items", "minItems", "maxItems"),
}
# Formats that clients support.
FORMATS = ("email", "uri", "date", "date-time")


def of(cls: Any) -> dict[str, Any]:
    """The form that asks for a dataclass. Raises `internal`, with the field, if it cannot be one."""
    if not is_dataclass(cls):
        raise _unfit(cls, "it is not a dataclass")
    whole = schemas.of_params(cls)
    drawn = {}
    for field, schema in whole["properties"].items():
        shown = _field(schema)
        if isinstance(shown, str):
            raise _unfit(cls, f"its field `{field}` {shown}")
        drawn[field] = shown
    return assemble(drawn, whole.get("required"))


def one_of(field: str, choices: dict[str, str]) -> dict[str, Any]:
    """A form with one required field: a choice of these values, each with its title."""
    options = [{"const": value, "title": title} for value, title in choices.items()]
    return assemble({field: {"type": "string", "oneOf": options}}, [field])


def assemble(fields: dict[str, Any], required: list[str] | None) -> dict[str, Any]:
    """A form of these fields."""
    return {"type": "object", "properties": fields} | ({"required": required} if required else {})


def _unfit(cls: Any, fault: str) -> Failure:
    hint = "A form is one dataclass, whose fields are texts, numbers, booleans, choices, or lists of choices."
    return Failure.internal(f"`{name(cls)}` cannot be asked for by a form: {fault}", hint=hint)


def _field(schema: dict[str, Any]) -> dict[str, Any] | str:
    """One field, without keywords that clients do not support; or the reason why it cannot be one."""
    schema = _without_null(schema)
    if "oneOf" in schema:
        options = _options(schema["oneOf"])
        return {key: schema[key] for key in schema if key in COMMON} | {"type": "string", "oneOf": options}
    kind = schema.get("type")
    if kind == "array":
        items = _several(schema.get("items") or {})
        if items is None:
            return "is a list, and not of choices"
        schema = schema | {"items": items}
    if kind == "object":
        return "is a structure or a map"
    if kind not in BY_KIND:
        return "may be of more than one kind"
    known = COMMON + BY_KIND[kind]
    return {key: value for key, value in schema.items() if key in known and (key != "format" or value in FORMATS)}


def _several(items: dict[str, Any]) -> dict[str, Any] | None:
    if "oneOf" in items:
        return {"anyOf": _options(items["oneOf"])}
    return {"type": "string", "enum": items["enum"]} if items.get("type") == "string" and "enum" in items else None


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """In a form, optional fields are simply not required."""
    schema = dict(schema)
    if isinstance(schema.get("type"), list):
        schema["type"] = schema["type"][0]
    if "enum" in schema:
        schema["enum"] = [value for value in schema["enum"] if value is not None]
    if "anyOf" in schema:
        [only] = [one for one in schema.pop("anyOf") if one.get("type") != "null"][:1]
        schema = only | schema
    return schema


def _options(alternatives: list[dict[str, Any]]) -> list[dict[str, str]]:
    options = []
    for one in alternatives:
        values = [one["const"]] if "const" in one else one["enum"]
        options += [{"const": value, "title": one.get("description") or value} for value in values]
    return options
