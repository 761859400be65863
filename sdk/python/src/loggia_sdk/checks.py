"""Checks of parameters in tests, by the part of JSON Schema that the SDK writes."""

from __future__ import annotations

import re
from typing import Any

KINDS: dict[str, Any] = {
    "string": str, "boolean": bool, "integer": int, "number": (int, float), "array": list, "object": dict, "null": type(None),
}


def check(schema: dict[str, Any], value: Any, path: str = "") -> str | None:
    """The first reason why a value does not fit, in words like the host's."""
    shown = f"`{path}`" if path else "it"
    if "oneOf" in schema or "anyOf" in schema:
        ways = schema.get("oneOf") or schema["anyOf"]
        return None if any(check(one, value, path) is None for one in ways) else f"{shown} is none of the alternatives"
    if "const" in schema and value != schema["const"] or "enum" in schema and value not in schema["enum"]:
        options = schema.get("enum") or [schema["const"]]
        return f"{shown} must be one of {', '.join(map(str, options))}"
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(kind, value) for kind in kinds):
        return f"{shown} must be of type {' or '.join(kinds)}"
    return _bounds(schema, value, shown) or _within(schema, value, path)


def _is(kind: str, value: Any) -> bool:
    return isinstance(value, KINDS[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _bounds(schema: dict[str, Any], value: Any, shown: str) -> str | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        if value < schema.get("minimum", value):
            return f"{shown} must be at least {schema['minimum']}"
        if value > schema.get("maximum", value):
            return f"{shown} must be at most {schema['maximum']}"
    for kind, least, most in ((str, "minLength", "maxLength"), (list, "minItems", "maxItems"), (dict, "minProperties", "maxProperties")):
        if isinstance(value, kind):
            if len(value) < schema.get(least, 0):
                return f"{shown} must have at least {schema[least]}"
            if most in schema and len(value) > schema[most]:
                return f"{shown} must have at most {schema[most]}"
    if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        return f"{shown} must match {schema['pattern']}"
    return None


def _within(schema: dict[str, Any], value: Any, path: str) -> str | None:
    if isinstance(value, list) and "items" in schema:
        return next((wrong for at, one in enumerate(value) if (wrong := check(schema["items"], one, f"{path}[{at}]"))), None)
    if not isinstance(value, dict):
        return None
    properties = schema.get("properties", {})
    for name in schema.get("required", []):
        if name not in value:
            return f"`{path + '.' if path else ''}{name}` is required"
    for name, one in value.items():
        inner = properties.get(name, schema.get("additionalProperties", True))
        if inner is False:
            return f"`{name}` is not a parameter; there are: {', '.join(properties)}"
        # `null` counts as missing where a parameter may be left out.
        optional = not path and one is None and name not in schema.get("required", [])
        if isinstance(inner, dict) and not optional and (wrong := check(inner, one, f"{path}.{name}" if path else name)):
            return wrong
    return None
