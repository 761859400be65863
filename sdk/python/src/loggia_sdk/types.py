"""Type hints, taken apart."""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from functools import lru_cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from . import docs
from .marks import MINIMAL, Shown

# What `MINIMAL` may be left off, where a class marks only `FULL` fields.
IDENTIFYING = ("id", "name", "title")


def unwrap(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """The type of an `Annotated`, and what stands beside it."""
    if get_origin(hint) is Annotated:
        inner, *beside = get_args(hint)
        return inner, tuple(beside)
    return hint, ()


def optional(hint: Any) -> tuple[Any, bool]:
    """`T` of `T | None`, with the annotations of both, and whether it was one."""
    inner, beside = unwrap(hint)
    if get_origin(inner) not in (Union, types.UnionType):
        return hint, False
    left = [one for one in get_args(inner) if one is not type(None)]
    if len(left) == len(get_args(inner)):
        return hint, False
    base: Any = left[0] if len(left) == 1 else Union[tuple(left)]
    return (Annotated[(base, *beside)] if beside else base), True


@dataclasses.dataclass(frozen=True)
class ClassField:
    """One field of a dataclass."""

    name: str
    hint: Any
    doc: str
    # The least level that shows it: 0 minimal, 1 standard, 2 full.
    level: int
    mark: str | None
    default: Any = dataclasses.MISSING
    factory: Any = dataclasses.MISSING

    @property
    def has_default(self) -> bool:
        return self.default is not dataclasses.MISSING or self.factory is not dataclasses.MISSING

    def make_default(self) -> Any:
        return self.factory() if self.factory is not dataclasses.MISSING else self.default


@lru_cache(maxsize=None)
def fields(cls: Any) -> tuple[ClassField, ...]:
    """The fields of a dataclass. Cached: the build command reads them all, so a call computes nothing."""
    hints = get_type_hints(cls, include_extras=True)
    written = docs.attributes(cls)
    own = [one for one in dataclasses.fields(cls) if one.init]
    shown = {one.name: _shown(hints[one.name]) for one in own}
    marked = any(shown.values())
    has_minimal = any(mark == "minimal" for mark in shown.values())
    identifying = {name for name in shown if name in IDENTIFYING and not shown[name]}
    found = []
    for one in own:
        mark = shown[one.name]
        if marked and not has_minimal and not mark and (one.name in identifying or not identifying):
            mark = MINIMAL.level
        level = {"minimal": 0, "full": 2}.get(mark or "", 1) if marked else 0
        text = next((one for one in unwrap(optional(hints[one.name])[0])[1] if isinstance(one, str)), None)
        doc = text if text is not None else written.get(one.name, "")
        found.append(ClassField(one.name, hints[one.name], doc, level, mark, one.default, one.default_factory))
    return tuple(found)


def _shown(hint: Any) -> str | None:
    inner, beside = unwrap(hint)
    more = unwrap(optional(hint)[0])[1]
    return next((mark.level for mark in (*beside, *more) if isinstance(mark, Shown)), None)


def is_dataclass(hint: Any) -> bool:
    return isinstance(hint, type) and dataclasses.is_dataclass(hint)


def is_enum(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, enum.Enum)


def literals(hint: Any) -> tuple[Any, ...] | None:
    """The values of a `Literal`."""
    return get_args(hint) if get_origin(hint) is Literal else None


def name(hint: Any) -> str:
    return getattr(hint, "__name__", None) or str(hint).replace("typing.", "")


def is_any(hint: Any) -> bool:
    return hint is Any or hint is object or isinstance(hint, typing.TypeVar)
