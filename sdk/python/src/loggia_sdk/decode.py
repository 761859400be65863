"""Values from JSON, by their types.

A call runs in an instance of its own, whose interpreter has warmed up nothing. So types are taken apart when the component is built:
`decoder` makes one function for each type, and a call only runs it.
"""

from __future__ import annotations

import json
import types as _types
from typing import Any, Callable, Iterable, Union, get_args, get_origin

from .types import fields, is_any, is_dataclass, is_enum, literals, name, optional, unwrap

# Makes a value of one type from plain data. Raises `Mismatch`.
Decoder = Callable[[Any], Any]
# What `value.get` returns for a name that is not there: `None` is a value.
ABSENT: Any = object()
# One decoder for each dataclass, which may contain itself.
_CLASSES: dict[Any, Decoder] = {}


class Mismatch(ValueError):
    """A value that does not fit its type. `path` leads to it: names of fields and keys, and positions in lists, innermost first."""

    def __init__(self, expected: str, value: Any = ABSENT):
        self.expected, self.value = expected, value
        self.path: list[str | int] = []

    def below(self, step: str | int) -> Mismatch:
        """The same, seen from the value around it."""
        self.path.append(step)
        return self

    def __str__(self) -> str:
        path = ""
        for step in reversed(self.path):
            path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
        if self.value is ABSENT:
            return f"`{path}` {self.expected}"
        shown = json.dumps(self.value, ensure_ascii=False, default=str)
        return f"{f'`{path}` must be ' if path else 'expected '}{self.expected} (got {shown[:80]})"


def decode(hint: Any, value: Any) -> Any:
    """A value of this type. Raises `Mismatch`."""
    return decoder(hint)(value)


def decoder(hint: Any) -> Decoder:
    """The function that makes values of this type."""
    hint = unwrap(hint)[0]
    inner, is_optional = optional(hint)
    if is_optional:
        return _nullable(decoder(inner))
    if is_any(hint):
        return lambda value: value
    if hint in (bool, str):
        return _exactly(hint)
    if hint is int:
        return _integer
    if hint is float:
        return _number
    values = literals(hint)
    if values is not None:
        return _choice(values)
    if is_enum(hint):
        return _member(hint)
    if is_dataclass(hint):
        return _CLASSES.get(hint) or _class(hint)
    origin, arguments = get_origin(hint) or hint, get_args(hint)
    if origin in (list, set, frozenset):
        return _list(origin, decoder(arguments[0] if arguments else Any), name(hint))
    if origin is dict:
        return _dictionary(decoder(arguments[1] if arguments else Any), name(hint))
    if origin in (Union, _types.UnionType):
        return _first([decoder(one) for one in arguments], name(hint))
    return _never(name(hint))


def _nullable(inner: Decoder) -> Decoder:
    return lambda value: None if value is None else inner(value)


def _exactly(kind: Any) -> Decoder:
    def decode(value: Any) -> Any:
        if isinstance(value, kind):
            return value
        raise Mismatch(kind.__name__, value)

    return decode


def _integer(value: Any) -> int:
    if type(value) is int:
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise Mismatch("int", value)


def _number(value: Any) -> float:
    if type(value) in (float, int):
        return float(value)
    raise Mismatch("float", value)


def _choice(values: tuple[Any, ...]) -> Decoder:
    def decode(value: Any) -> Any:
        if value in values:
            return value
        raise _none_of(values, value)

    return decode


def _member(cls: Any) -> Decoder:
    members = {member.value: member for member in cls if isinstance(member.value, (str, int))}

    def decode(value: Any) -> Any:
        if isinstance(value, (str, int)) and value in members:
            return members[value]
        try:
            # The class may take more: `_missing_`.
            return cls(value)
        except ValueError:
            raise _none_of([member.value for member in cls], value) from None

    return decode


def _none_of(values: Iterable[Any], value: Any) -> Mismatch:
    return Mismatch(f"one of {', '.join(map(str, values))}", value)


def _class(cls: Any) -> Decoder:
    # Name, decoder, and whether it is required; filled in below, as a field may be of this class.
    plan: list[tuple[str, Decoder, bool]] = []
    absent: dict[str, None] = {}

    def decode(value: Any) -> Any:
        if not isinstance(value, dict):
            raise Mismatch(cls.__name__, value)
        given: dict[str, Any] = dict(absent)
        for field, inner, required in plan:
            one = value.get(field, ABSENT)
            if one is not ABSENT:
                try:
                    given[field] = inner(one)
                except Mismatch as wrong:
                    raise wrong.below(field)
            elif required:
                raise Mismatch("is required").below(field)
        return cls(**given)

    _CLASSES[cls] = decode
    try:
        for field in fields(cls):
            is_optional = optional(field.hint)[1]
            plan.append((field.name, decoder(field.hint), not field.has_default and not is_optional))
            if is_optional and not field.has_default:
                absent[field.name] = None
    except BaseException:
        # A type that does not exist yet may exist later.
        del _CLASSES[cls]
        raise
    return decode


def _list(kind: Any, item: Decoder, expected: str) -> Decoder:
    def decode(value: Any) -> Any:
        if not isinstance(value, list):
            raise Mismatch(expected, value)
        made: list[Any] = []
        try:
            for one in value:
                made.append(item(one))
        except Mismatch as wrong:
            raise wrong.below(len(made))
        return made if kind is list else kind(made)

    return decode


def _dictionary(item: Decoder, expected: str) -> Decoder:
    def decode(value: Any) -> Any:
        if not isinstance(value, dict):
            raise Mismatch(expected, value)
        made: dict[str, Any] = {}
        for key, one in value.items():
            try:
                made[key] = item(one)
            except Mismatch as wrong:
                raise wrong.below(key)
        return made

    return decode


def _first(kinds: list[Decoder], expected: str) -> Decoder:
    def decode(value: Any) -> Any:
        for kind in kinds:
            try:
                return kind(value)
            except ValueError:
                continue
        raise Mismatch(expected, value)

    return decode


def _never(expected: str) -> Decoder:
    def decode(value: Any) -> Any:
        raise Mismatch(expected, value)

    return decode
