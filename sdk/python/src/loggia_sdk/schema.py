"""Type hints as JSON Schema, in the form and the order of keys of the Rust SDK: one surface, whatever the language."""

from __future__ import annotations

import types
from typing import Any, Union, get_args, get_origin

from . import docs
from .encode import encode
from .marks import Example, Format, Hint, Length, Name, Pattern, Range, Secret, Shown
from .types import fields, is_any, is_dataclass, is_enum, literals, name, optional, unwrap

Schema = dict[str, Any]

# The order of keys below a list or a dictionary.
FIRST = ("title", "description", "type", "format", "properties")
LENGTHS = {
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
    "object": ("minProperties", "maxProperties"),
}


def of_params(hint: Any) -> Schema:
    """The schema of a value that a caller gives."""
    return _of(hint, given=True, within=())


def of_data(hint: Any) -> Schema | None:
    """The schema of a result; `None` if it may be anything, or is nothing."""
    if hint is None or hint is type(None):
        return None
    return _of(hint, given=False, within=()) or None


def property_of(hint: Any, doc: str, default: Any) -> Schema:
    """The schema of one parameter. `default` is `...` if there is none."""
    schema = _of(hint, given=True, within=(), bare=True)
    marks = unwrap(hint)[1]
    text = next((mark for mark in marks if isinstance(mark, str)), None) or doc
    if text:
        schema["description"] = text
    if default is not ... and default is not None:
        schema["default"] = encode(default)
    _bound(schema, marks, hint)
    return schema


def has_levels(schema: Any) -> bool:
    """Tests whether results of this schema depend on the detail level."""
    if isinstance(schema, dict):
        return any(
            key == "x-detail"
            or (key == "properties" and any(map(has_levels, value.values())))
            or (key not in ("properties", "default", "examples", "enum", "const") and has_levels(value))
            for key, value in schema.items()
        )
    return isinstance(schema, list) and any(map(has_levels, schema))


def _of(hint: Any, *, given: bool, within: tuple[Any, ...], bare: bool = False) -> Schema:
    """`within` are the classes around it; `bare` leaves the marks to the caller."""
    hint, marks = unwrap(hint)
    if marks and not bare:
        schema = _of(hint, given=given, within=within)
        text = next((mark for mark in marks if isinstance(mark, str)), None)
        if text:
            schema["description"] = text
        _bound(schema, marks, hint)
        return schema
    inner, is_optional = optional(hint)
    if is_optional:
        return _nullable(_of(inner, given=given, within=within))
    if is_any(hint):
        return {}
    for kind, word in ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string")):
        if hint is kind:
            return {"type": word}
    values = literals(hint)
    if values is not None:
        return _choice(values)
    if is_enum(hint):
        return _of_enum(hint)
    if is_dataclass(hint):
        return _of_class(hint, given=given, within=within)
    origin, arguments = get_origin(hint) or hint, get_args(hint)
    if origin in (list, set, frozenset):
        unique = {} if origin is list else {"uniqueItems": True}
        items = _ordered(_of(arguments[0], given=given, within=within)) if arguments else {}
        return {"type": "array", **unique, "items": items}
    if origin is dict:
        if arguments and arguments[0] is not str:
            raise TypeError(f"loggia: the keys of `{name(hint)}` must be `str`: JSON has no others")
        value = _ordered(_of(arguments[1], given=given, within=within)) if arguments else {}
        return {"type": "object", "additionalProperties": value or True}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_ordered(_of(one, given=given, within=within)) for one in arguments]}
    raise TypeError(
        f"loggia: `{name(hint)}` has no schema: use str, int, float, bool, Literal, Enum, list[…], dict[str, …], Optional, Any "
        "or a dataclass"
    )


def _nullable(schema: Schema) -> Schema:
    if isinstance(schema.get("type"), str) and "const" not in schema:
        schema["type"] = [schema["type"], "null"]
        if "enum" in schema:
            schema["enum"] = [*schema["enum"], None]
        return schema
    return {"anyOf": [_ordered(schema), {"type": "null"}]} if schema else schema


def _choice(values: tuple[Any, ...]) -> Schema:
    kinds = {"string" if isinstance(value, str) else "integer" if type(value) is int else "" for value in values}
    if len(kinds) != 1 or "" in kinds:
        raise TypeError(f"loggia: the values of a choice are all texts or all whole numbers: {values}")
    return {"type": kinds.pop(), "enum": list(values)}


def _of_enum(cls: Any) -> Schema:
    """A choice; if a member has a docstring, alternatives in the order of the members, as of an enum with Rust's `#[data]`."""
    written = docs.attributes(cls)
    about = docs.of_class(cls)
    schema = _choice(tuple(member.value for member in cls))
    alternatives = [
        {"type": schema["type"], "const": member.value} | ({"description": text} if (text := written.get(member.name)) else {})
        for member in cls
    ]
    if any("description" in one for one in alternatives):
        schema = {"oneOf": alternatives}
    if about:
        schema["description"] = about
    return schema


def _of_class(cls: Any, *, given: bool, within: tuple[Any, ...]) -> Schema:
    if cls in within:
        raise TypeError(f"loggia: `{cls.__name__}` contains itself, which clients cannot show: use `dict` for the inner one")
    properties: Schema = {}
    required = []
    for field in fields(cls):
        schema = _of(field.hint, given=given, within=(*within, cls))
        if field.doc:
            # In the place of the type's own, or after the type.
            marks = unwrap(optional(field.hint)[0])[1]
            schema = {key: schema[key] for key in schema if key not in BOUNDS} if marks else schema
            schema["description"] = field.doc
            _bound(schema, marks, field.hint)
        is_optional = optional(field.hint)[1]
        if field.has_default and field.make_default() is not None:
            schema["default"] = encode(field.make_default())
        if given:
            if not field.has_default and not is_optional:
                required.append(field.name)
        else:
            if field.mark:
                schema["x-detail"] = field.mark
            if field.level == 0:
                required.append(field.name)
        properties[field.name] = schema
    about = docs.of_class(cls)
    return (
        {"type": "object", "properties": properties}
        | ({"required": required} if required else {})
        | ({"description": about} if about else {})
    )


BOUNDS = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "pattern", "format")


def _bound(schema: Schema, marks: tuple[Any, ...], hint: Any) -> None:
    """Adds bounds and advice, in one order whatever the author's."""
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    by_kind: dict[type, Any] = {type(mark): mark for mark in marks if not isinstance(mark, Example)}
    if mark := by_kind.get(Range):
        if kind not in ("integer", "number"):
            raise TypeError(f"loggia: `Range` bounds numbers, not `{name(hint)}`: for the characters of a text use `Length`")
        if mark.least is not None and mark.most is not None and mark.least > mark.most:
            raise TypeError(f"loggia: no number is in {mark}")
        _put(schema, ("minimum", "maximum"), mark)
    if mark := by_kind.get(Length):
        if kind not in LENGTHS:
            raise TypeError(f"loggia: `Length` bounds texts, lists and dictionaries, not `{name(hint)}`: for numbers use `Range`")
        _put(schema, LENGTHS[kind], mark)
    for form, keyword in ((Pattern, "pattern"), (Format, "format")):
        if mark := by_kind.get(form):
            if kind != "string":
                raise TypeError(f"loggia: `{form.__name__}` applies to texts, not to `{name(hint)}`")
            schema[keyword] = mark.regex if form is Pattern else mark.name
    if mark := by_kind.get(Hint):
        schema["x-hint"] = mark.text
    if Secret in by_kind:
        schema["writeOnly"] = True
    examples = [encode(mark.value) for mark in marks if isinstance(mark, Example)]
    if examples:
        schema["examples"] = examples
    known = (str, Range, Length, Pattern, Format, Hint, Secret, Example, Name, Shown)
    if odd := next((mark for mark in marks if not isinstance(mark, known)), None):
        raise TypeError(f"loggia: `{odd!r}` in `Annotated` means nothing here: use Range, Length, Pattern, Format, Hint or a text")


def _put(schema: Schema, keywords: tuple[str, str], mark: Any) -> None:
    for keyword, value in zip(keywords, (mark.least, mark.most)):
        if value is not None:
            schema[keyword] = value


def _ordered(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_ordered(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    keys = [key for key in FIRST if key in schema] + [key for key in schema if key not in FIRST]
    data = ("default", "examples", "enum", "const")
    return {
        key: {name: _ordered(one) for name, one in schema[key].items()}
        if key == "properties"
        else schema[key] if key in data else _ordered(schema[key])
        for key in keys
    }
