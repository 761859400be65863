"""Context of a call for its action, and operations during the call."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Literal

from . import port
from .failure import Failure

Detail = Literal["minimal", "standard", "full"]
Level = Literal["trace", "debug", "info", "warn", "error"]


@dataclass
class Call:
    """The call that an action answers. An action gets it by a parameter `call: Call`."""

    id: str
    action: str
    detail: Detail = "standard"
    time_left_ms: int = 0
    # Opaque, the same for each call of one caller; only if the policy grants it (`caller = true`).
    caller: str | None = None
    # Identifies retries of the same call.
    idempotency_key: str | None = None
    _begun: float = field(default_factory=time.monotonic, repr=False)

    def time_left(self) -> float:
        """Seconds until the host ends the call; zero after that."""
        return max(0.0, self.time_left_ms / 1000 - (time.monotonic() - self._begun))

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Reports progress to the caller. Cheap: the host only forwards the latest."""
        port.current.progress(float(done), None if total is None else float(total), message)

    def log(self, level: Level, message: str) -> None:
        """Writes a line to the host's log."""
        port.current.log(level, message)

    def is_cancelled(self) -> bool:
        """Tests whether the caller has disconnected or cancelled the call."""
        return port.current.cancelled()

    def checkpoint(self) -> None:
        """Ends the action with `cancelled` if the caller has disconnected or cancelled."""
        if self.is_cancelled():
            raise Failure.cancelled()
