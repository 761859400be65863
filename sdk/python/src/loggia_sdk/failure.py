"""Failures of actions."""

from __future__ import annotations

from typing import Any

from .value_checks import check, check_count, check_optional
from .reply import Next

INVALID_PARAMS = "invalid_params"
NOT_FOUND = "not_found"
DENIED = "denied"
CONFLICT = "conflict"
UNAVAILABLE = "unavailable"
TIMED_OUT = "timed_out"
CANCELLED = "cancelled"
INTERNAL = "internal"
# Malformed data: invalid UTF-8 or JSON. Specific to the SDKs; the host passes it on.
INVALID_DATA = "invalid_data"


class Failure(Exception):
    """A failed call, with a message that helps the caller to correct it. Raise it in an action.

    `code` is one of this module's constants or the plugin's own. `message` starts with a standard phrase ("not found: …"), `hint` is
    the remedy, `details` is data for programs, `retry_after_ms` the delay after which a retry may succeed, `next` a call that
    recovers. The host sets `expected` and `example` in the failures of other facades.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        hint: str | None = None,
        details: Any = None,
        retry_after_ms: int | None = None,
        next: Next | None = None,
        expected: str | None = None,
        example: Any = None,
    ):
        super().__init__(f"{code}: {message}")
        self.code, self.message, self.hint, self.details = code, message, hint, details
        self.retry_after_ms, self.next, self.expected, self.example = retry_after_ms, next, expected, example
        self._check()

    def _check(self) -> None:
        check("Failure", str, code=self.code, message=self.message)
        check_optional("Failure", str, hint=self.hint, expected=self.expected)
        check_optional("Failure", Next, next=self.next)
        check_count("Failure", retry_after_ms=self.retry_after_ms)

    @classmethod
    def invalid_params(cls, message: str, **more: Any) -> Failure:
        """Invalid parameters."""
        return cls(INVALID_PARAMS, message, **more)

    @classmethod
    def not_found(cls, message: str, **more: Any) -> Failure:
        """Something named in the call does not exist."""
        return cls(NOT_FOUND, message, **more)

    @classmethod
    def denied(cls, message: str, **more: Any) -> Failure:
        """Not allowed."""
        return cls(DENIED, message, **more)

    @classmethod
    def conflict(cls, message: str, **more: Any) -> Failure:
        """A concurrent change, or something exists already."""
        return cls(CONFLICT, message, **more)

    @classmethod
    def unavailable(cls, message: str, **more: Any) -> Failure:
        """Temporarily unavailable."""
        return cls(UNAVAILABLE, message, **more)

    @classmethod
    def timed_out(cls, message: str, **more: Any) -> Failure:
        """Timeout."""
        return cls(TIMED_OUT, message, **more)

    @classmethod
    def cancelled(cls, message: str = "cancelled", **more: Any) -> Failure:
        """The caller disconnected or cancelled."""
        return cls(CANCELLED, message, **more)

    @classmethod
    def internal(cls, message: str, **more: Any) -> Failure:
        """A fault of the plugin."""
        return cls(INTERNAL, message, **more)

    @classmethod
    def invalid_data(cls, message: str, **more: Any) -> Failure:
        """Malformed data."""
        return cls(INVALID_DATA, message, **more)
