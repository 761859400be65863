"""Values to JSON and back, by their types."""

from __future__ import annotations

import dataclasses
import enum
import json
from typing import Any, Union, get_args, get_origin

from .types import fields, is_any, is_dataclass, is_enum, literals, name, optional, unwrap

import types as _types

LEVELS = {"minimal": 0, "standard": 1, "full": 2}


def encode(value: Any, level: int = 2) -> Any:
    """Plain data for `json`; fields of dataclasses above the detail level are left out.

    Raises TypeError for what JSON cannot hold.
    """
    if value is None or isinstance(value, bool | int | float | str) and not isinstance(value, enum.Enum):
        return value
    if isinstance(value, enum.Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {one.name: encode(getattr(value, one.name), level) for one in fields(type(value)) if one.level <= level}
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"the keys of a dictionary must be `str`, not `{type(key).__name__}`")
        return {key: encode(one, level) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [encode(one, level) for one in value]
    if isinstance(value, set | frozenset):
        return sorted((encode(one, level) for one in value), key=str)
    raise TypeError(f"`{type(value).__name__}` cannot be written as JSON: return dataclasses, dictionaries, lists, texts or numbers")


def write(value: Any, level: int = 2) -> str:
    """JSON text, compact. Raises TypeError and ValueError for what JSON cannot hold."""
    return json.dumps(encode(value, level), ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def decode(hint: Any, value: Any, path: str = "") -> Any:
    """A value of this type. Raises ValueError, with the path of what does not fit."""
    hint = unwrap(hint)[0]
    inner, is_optional = optional(hint)
    if is_optional:
        return None if value is None else decode(inner, value, path)
    if is_any(hint):
        return value
    if hint is bool and isinstance(value, bool) or hint is str and isinstance(value, str):
        return value
    if hint is int and isinstance(value, int) and not isinstance(value, bool):
        return value
    if hint is int and isinstance(value, float) and value.is_integer():
        return int(value)
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    values = literals(hint)
    if values is not None and value in values:
        return value
    if is_enum(hint):
        try:
            return hint(value)
        except ValueError:
            raise _unfit(path, f"one of {', '.join(str(member.value) for member in hint)}", value) from None
    if is_dataclass(hint):
        return _decode_class(hint, value, path)
    origin, arguments = get_origin(hint) or hint, get_args(hint)
    if origin in (list, set, frozenset) and isinstance(value, list):
        item = arguments[0] if arguments else Any
        return origin(decode(item, one, f"{path}[{at}]") for at, one in enumerate(value))
    if origin is dict and isinstance(value, dict):
        item = arguments[1] if arguments else Any
        return {key: decode(item, one, f"{path}.{key}" if path else key) for key, one in value.items()}
    if origin in (Union, _types.UnionType):
        for one in arguments:
            try:
                return decode(one, value, path)
            except ValueError:
                continue
    raise _unfit(path, name(hint), value)


def _decode_class(cls: Any, value: Any, path: str) -> Any:
    if not isinstance(value, dict):
        raise _unfit(path, cls.__name__, value)
    given = {}
    for field in fields(cls):
        inner = f"{path}.{field.name}" if path else field.name
        if field.name in value:
            given[field.name] = decode(field.hint, value[field.name], inner)
        elif not field.has_default:
            if not optional(field.hint)[1]:
                raise ValueError(f"`{inner}` is required")
            given[field.name] = None
    return cls(**given)


def _unfit(path: str, expected: str, value: Any) -> ValueError:
    shown = json.dumps(value, ensure_ascii=False, default=str)
    place = f"`{path}` must be " if path else "expected "
    return ValueError(f"{place}{expected} (got {shown[:80]})")
