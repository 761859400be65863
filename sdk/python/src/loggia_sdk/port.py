"""The place where the SDK meets its host: WIT imports in a component, `testing.Host` in a test, otherwise none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from .failure import Failure

if TYPE_CHECKING:
    from .http import Request as HttpRequest
    from .http import Response
    from .peers import Peer, PeerSchema, Request
    from .reply import Reply
    from .state.data import Change, Entries, Entry, Space


class Port(Protocol):
    """Services of the host. All raise `Failure`."""

    def log(self, level: str, message: str) -> None: ...
    def progress(self, done: float, total: float | None, message: str | None) -> None: ...
    def cancelled(self) -> bool: ...
    def config(self, key: str) -> str | None: ...
    def elicit(self, message: str, form: dict[str, Any]) -> tuple[str, Any]: ...
    def invoke(self, requests: list[Request]) -> list[Reply[Any] | Failure]: ...
    def check(self, request: Request) -> None: ...
    def facades(self) -> list[Peer]: ...
    def lookup(self, facade: str, action: str) -> PeerSchema: ...
    def state_get(self, space: Space, keys: list[str]) -> list[Entry | None]: ...
    def state_scan(self, space: Space, prefix: str, after: str | None, limit: int, at: int | None) -> Entries: ...
    def state_commit(self, space: Space, changes: list[Change]) -> int: ...
    def now_ms(self) -> int: ...
    def pause(self, longest_ms: int) -> None: ...
    def send(self, requests: list[HttpRequest]) -> list[Response | Failure]: ...


class NobodyPort:
    """No host: logs are discarded, nothing is granted."""

    def log(self, level: str, message: str) -> None:
        pass

    def progress(self, done: float, total: float | None, message: str | None) -> None:
        pass

    def cancelled(self) -> bool:
        return False

    def config(self, key: str) -> str | None:
        return None

    def __getattr__(self, name: str) -> Any:
        def refuse(*_: Any) -> Any:
            raise Failure.denied(f"access denied: `{name}` needs a host", hint="In a test, use `loggia_sdk.testing.Host`.")

        return refuse


current: Port = NobodyPort()  # type: ignore[assignment]
