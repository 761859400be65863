"""Low-level access to the state by keys and bytes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal, cast

from .. import port
from ..encode import well_formed


@dataclass
class Entry:
    """One key with its value. `version` is that of the commit that wrote it, never repeated."""

    key: str
    value: bytes
    version: int


@dataclass
class Entries:
    """One part of a scan, ordered by key. `revision` is the state's counter at the time of the read."""

    items: list[Entry]
    more: bool
    revision: int


@dataclass
class Change:
    """One key of a commit. `expect` is a version, `"absent"` or `"any"`; `until_ms` is an expiry time, in milliseconds since 1970."""

    key: str
    operation: Literal["put", "delete", "check"]
    value: bytes = b""
    until_ms: int | None = None
    expect: int | Literal["any", "absent"] = "any"

    @classmethod
    def put(cls, key: str, value: str | bytes, **more: object) -> Change:
        """Writes a value."""
        text = well_formed(value).encode() if isinstance(value, str) else value
        return cls(key, "put", text, **more)  # type: ignore[arg-type]

    @classmethod
    def delete(cls, key: str, **more: object) -> Change:
        """Deletes a key if it exists."""
        return cls(key, "delete", **more)  # type: ignore[arg-type]


class Space(Enum):
    """A space of the state."""

    SHARED = "shared"
    CALLER = "caller"

    def get(self, key: str) -> Entry | None:
        """Reads a key. Raises `denied` if the policy grants no state."""
        return self.get_many([key])[0]

    def get_many(self, keys: list[str]) -> list[Entry | None]:
        """Reads several keys in one snapshot."""
        return port.current.state_get(self, keys)

    def scan(self, prefix: str, after: str | None = None, limit: int = 500, at: int | None = None) -> Entries:
        """Entries whose keys start with `prefix`, after the key `after`; with `at`, of that revision, or a `conflict`."""
        return port.current.state_scan(self, prefix, after, limit, at)

    def commit(self, changes: list[Change]) -> int:
        """Makes all changes, or none: raises `conflict` if a key does not meet its expectation. Returns the new version."""
        return port.current.state_commit(self, changes)


SHARED = Space.SHARED
CALLER = cast(Space, Space.CALLER)
