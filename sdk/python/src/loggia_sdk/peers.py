"""Calls to other facades. The policy grants them: `invoke = ["issues:list"]`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import port
from .call import Detail
from .failure import Failure
from .reply import Reply


@dataclass
class Request:
    """A call to another facade."""

    facade: str
    action: str
    params: dict[str, Any] = field(default_factory=dict)
    detail: Detail = "standard"
    timeout_ms: int | None = None
    idempotency_key: str | None = None

    def check(self) -> None:
        """Raises the failure with which the host would refuse the call; runs nothing."""
        port.current.check(self)

    def call(self) -> Reply[Any]:
        """Makes the call. Raises the failure of the other facade or of the host."""
        [answer] = invoke([self])
        if isinstance(answer, Failure):
            raise answer
        return answer


@dataclass
class PeerAction:
    """An action of another facade."""

    name: str
    summary: str
    effect: str
    aliases: list[str] = field(default_factory=list)


@dataclass
class Peer:
    """Another facade, as far as a caller needs to know it."""

    name: str
    title: str
    summary: str
    actions: list[PeerAction] = field(default_factory=list)


@dataclass
class PeerSchema:
    """Schemas of another facade's action. `signature`, `effect` and `confirm` are `None` if the host does not report them."""

    params: dict[str, Any]
    data: Any = None
    examples: list[Any] = field(default_factory=list)
    signature: str | None = None
    effect: str | None = None
    confirm: bool = False


def invoke(requests: list[Request]) -> list[Reply[Any] | Failure]:
    """Calls other facades concurrently; the answers are in the order of the requests."""
    return port.current.invoke(requests)


def facades() -> list[Peer]:
    """Lists the facades that this plugin may call."""
    return port.current.facades()


def lookup(facade: str, action: str) -> PeerSchema:
    """Returns the schemas of another facade's action."""
    return port.current.lookup(facade, action)
