"""Checks of what a plugin hands to the host: a wrong type would end the call in a panic of the runtime, which names no line."""

from __future__ import annotations

from typing import Any

# Counts are `u64` in the contract.
COUNT_END = 1 << 64


def check(owner: str, *kinds: type, **values: Any) -> None:
    """Raises TypeError for a value that is of none of these types."""
    for name, value in values.items():
        if not isinstance(value, kinds):
            expected = " or ".join(f"`{kind.__name__}`" for kind in kinds)
            raise TypeError(f"`{name}` of `{owner}` must be {expected}, not `{type(value).__name__}`")


def check_optional(owner: str, kind: type, **values: Any) -> None:
    """Like `check`, but for values that may be `None`."""
    for name, value in values.items():
        if value is not None:
            check(owner, kind, **{name: value})


def check_count(owner: str, **values: Any) -> None:
    """Raises TypeError or ValueError for a value that is neither `None` nor a whole number from zero."""
    for name, value in values.items():
        if value is None:
            continue
        # A `bool` is an `int` for `isinstance`.
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"`{name}` of `{owner}` must be `int`, not `{type(value).__name__}`")
        if not 0 <= value < COUNT_END:
            raise ValueError(f"`{name}` of `{owner}` must be from 0 to 2^64 - 1, not {value}")
