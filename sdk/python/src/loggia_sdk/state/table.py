"""What collections, cells and counters share: names, keys, JSON."""

from __future__ import annotations

import dataclasses
import functools
import json
from typing import Any

from .. import port
from ..decode import Decoder, decoder
from ..encode import write
from ..failure import CONFLICT, Failure
from .data import Change, Entry, Space

# The most attempts on conflicts.
ATTEMPTS = 50
# Rows per read of a full list; the host may return fewer.
PART = 500
# The longest key that a host takes, in bytes.
KEY_LIMIT = 1024
# Reads the last number that was given out.
NUMBER = decoder(int)


# Every table that was made, so that `prepare` finds those that no action names.
_tables: list[Table] = []


def prepare() -> None:
    """Takes the types of all tables apart. The build command does that, so that no call has to. Raises TypeError."""
    for table in _tables:
        try:
            table.decoder
        except NameError as wrong:
            raise TypeError(f"loggia: the type of the table `{table.name}` names one that does not exist: {wrong}") from None


@dataclasses.dataclass(frozen=True)
class Table:
    """Where values are, of which type, and how long they live."""

    name: str
    hint: Any = Any
    space: Space = Space.SHARED
    ttl_ms: int | None = None

    def __post_init__(self) -> None:
        if not 1 <= len(self.name.encode()) <= 64 or "/" in self.name or "#" in self.name:
            raise ValueError(f"loggia: `{self.name}` cannot be the name of a table: it has 1 to 64 bytes, without `/` and `#`")
        _tables.append(self)

    @functools.cached_property
    def decoder(self) -> Decoder:
        """Made at the first use: the type may be declared after the table."""
        return decoder(self.hint)

    def key(self, id: str) -> str:
        if not isinstance(id, str) or not id:
            raise Failure.invalid_params("an id is not empty")
        key = self.prefix(id)
        if len(key.encode()) > KEY_LIMIT:
            raise Failure.invalid_params(f"the id is too long: {len(id.encode())} bytes")
        return key

    def prefix(self, start: str) -> str:
        return f"{self.name}/{start}"

    def id(self, key: str) -> str:
        return key[len(self.name) + 1 :]

    def changed(self) -> str:
        """The key whose version is that of the last write to any row: it tells a transaction that listed the rows about new ones."""
        return f"{self.name}#changed"

    def last(self) -> str:
        """The key of the last id that was given out."""
        return f"{self.name}#last"

    def write(self, key: str, value: bytes, **more: Any) -> Change:
        until = None if self.ttl_ms is None else port.current.now_ms() + self.ttl_ms
        return Change.put(key, value, until_ms=until, **more)

    def encode(self, key: str, value: Any) -> bytes:
        try:
            return write(value).encode()
        except (TypeError, ValueError) as wrong:
            raise Failure.internal(f"the value for `{key}` cannot be written: {wrong}") from None

    def decode(self, key: str, text: bytes) -> Any:
        return self._decode(key, text, self.decoder)

    def decode_number(self, key: str, text: bytes) -> int:
        return self._decode(key, text, NUMBER)

    def _decode(self, key: str, text: bytes, decoder: Decoder) -> Any:
        try:
            return decoder(json.loads(text.decode()))
        except (ValueError, TypeError) as wrong:
            hint_text = "Another version of the plugin wrote it; a new field needs a default."
            raise Failure.internal(f"the value of `{key}` cannot be read: {wrong}", hint=hint_text) from None

    def all(self, start: str) -> list[Entry]:
        """All rows whose ids start with `start`, in one snapshot."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._parts(self.prefix(start))
            except Failure as failure:
                if failure.code != CONFLICT or attempt == ATTEMPTS:
                    raise
                pause(attempt)
        raise Failure.conflict("too many concurrent changes")

    def _parts(self, prefix: str) -> list[Entry]:
        rows: list[Entry] = []
        at = None
        while True:
            part = self.space.scan(prefix, rows[-1].key if rows else None, PART, at)
            at = part.revision
            rows += part.items
            if not part.more or not part.items:
                return rows

    def missing(self, id: str) -> Failure:
        return Failure.not_found(f"not found: there is no `{id}` in {self.name}")

    def taken(self, id: str) -> Failure:
        return Failure.conflict(f"already exists: there is a `{id}` in {self.name}")


def pause(attempt: int) -> None:
    """Backs off after a conflict, exponentially and with jitter: about 1.5 s in total."""
    if attempt > 2:
        port.current.pause(1 << min(attempt, 6))
