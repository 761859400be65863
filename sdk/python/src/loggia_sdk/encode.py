"""Values to JSON."""

from __future__ import annotations

import dataclasses
import enum
import json
import re
from functools import lru_cache
from typing import Any

from .types import fields

LEVELS = {"minimal": 0, "standard": 1, "full": 2}
# What `json` writes as it is. Their subclasses take the longer way.
PLAIN = frozenset((str, int, float, bool, type(None)))
# Pairs first: only the others are lone. No codec does it: a component cannot load one at run time.
SURROGATES = re.compile(r"[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")
# Made once: `json.dumps` makes one for every text.
ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def write(value: Any, level: int = 2) -> str:
    """JSON text, compact and well-formed. Raises TypeError and ValueError for what JSON cannot hold."""
    return well_formed(ENCODER.encode(encode(value, level)))


def well_formed(text: str) -> str:
    """The text with U+FFFD for each lone surrogate: UTF-8 has none, and the runtime would end the call in a panic."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return SURROGATES.sub(_replacement, text)
    return text


def _replacement(found: re.Match[str]) -> str:
    if len(found[0]) == 1:
        return "\ufffd"
    high, low = map(ord, found[0])
    return chr(0x10000 + (high - 0xD800 << 10) + low - 0xDC00)


def encode(value: Any, level: int = 2) -> Any:
    """Plain data for `json`; fields of dataclasses above the detail level are left out.

    Raises TypeError for what JSON cannot hold.
    """
    kind = type(value)
    if kind in PLAIN:
        return value
    if isinstance(value, enum.Enum):
        return value.value
    if dataclasses.is_dataclass(kind):
        made = {}
        for name in _shown(kind, level):
            one = getattr(value, name)
            made[name] = one if type(one) in PLAIN else encode(one, level)
        return made
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"the keys of a dictionary must be `str`, not `{type(key).__name__}`")
        return {key: encode(one, level) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [encode(one, level) for one in value]
    if isinstance(value, (set, frozenset)):
        return sorted((encode(one, level) for one in value), key=str)
    if isinstance(value, (int, float, str)):
        return value
    raise TypeError(f"`{kind.__name__}` cannot be written as JSON: return dataclasses, dictionaries, lists, texts or numbers")


@lru_cache(maxsize=None)
def _shown(cls: Any, level: int) -> tuple[str, ...]:
    """The names of the fields that a detail level shows."""
    return tuple(one.name for one in fields(cls) if one.level <= level)
