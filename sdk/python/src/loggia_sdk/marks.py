"""What stands in `Annotated[…]` beside a type. A plain string is the description."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Range:
    """Bounds of a number, both included."""

    least: float | None = None
    most: float | None = None


@dataclass(frozen=True)
class Length:
    """Bounds of a text's characters, or of a list's or dictionary's items, both included."""

    least: int | None = None
    most: int | None = None


@dataclass(frozen=True)
class Pattern:
    """A regular expression that the text matches."""

    regex: str


@dataclass(frozen=True)
class Format:
    """A format of JSON Schema, such as `date`."""

    name: str


@dataclass(frozen=True)
class Hint:
    """Advice to the caller beyond the description."""

    text: str


@dataclass(frozen=True)
class Example:
    """An example value."""

    value: Any


@dataclass(frozen=True)
class Name:
    """The parameter's name, where Python allows it none: `move`, `from`."""

    name: str


@dataclass(frozen=True)
class Secret:
    """Marks a confidential value: the host never echoes it."""


@dataclass(frozen=True)
class Shown:
    """The least detail level that shows a field of a result. Fields without are shown from `standard` on."""

    level: Literal["minimal", "full"]


MINIMAL = Shown("minimal")
FULL = Shown("full")
