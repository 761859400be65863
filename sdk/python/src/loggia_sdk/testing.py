"""Calls a facade in a unit test, without a component: `Host(store=True).call(notes, "add", {…})`."""

from __future__ import annotations

import contextlib
import json
from typing import Any, Callable, Iterator, Literal

from . import port
from .call import Call, Detail
from .checks import check
from .facade import Facade
from .failure import Failure
from .http import Request as HttpRequest
from .http import Response
from .peers import Request
from .reply import Reply
from .state.data import Change, Entries, Entry, Space

HINT = "Nothing grants it in this test."
Answer = dict[str, Any] | Literal["declined", "cancelled"]


class Store:
    """State in memory, by the rules of the real one. `conflicts` makes so many of the next commits fail."""

    def __init__(self) -> None:
        self.conflicts = 0
        self._entries: dict[str, tuple[Entry, int | None]] = {}
        self._revision = 0
        self._now = 1_700_000_000_000
        self._callers: dict[str, Store] = {}

    def advance(self, milliseconds: int) -> None:
        """Moves the clock: what expires until then is gone."""
        self._now += milliseconds

    def _read(self, key: str) -> Entry | None:
        entry, until = self._entries.get(key, (None, None))
        return entry if until is None or until > self._now else None

    def _scan(self, prefix: str, after: str | None, limit: int, at: int | None) -> Entries:
        if at is not None and at != self._revision:
            raise Failure.conflict("the state has changed")
        keys = sorted((key for key in self._entries if key.startswith(prefix)), key=str.encode)
        rest = [entry for key in keys if (after is None or key.encode() > after.encode()) and (entry := self._read(key))]
        return Entries(rest[:limit], len(rest) > limit, self._revision)

    def _commit(self, changes: list[Change]) -> int:
        if self.conflicts > 0:
            self.conflicts -= 1
            raise Failure.conflict("somebody else was quicker")
        odd = [one.key for one in changes if one.expect != "any" and one.expect != self._version(one.key)]
        if odd:
            raise Failure.conflict("changed meanwhile", details={"keys": odd})
        self._revision += 1
        for one in changes:
            if one.operation == "put":
                self._entries[one.key] = (Entry(one.key, one.value, self._revision), one.until_ms)
            elif one.operation == "delete":
                self._entries.pop(one.key, None)
        return self._revision

    def _version(self, key: str) -> int | str:
        entry = self._read(key)
        return "absent" if entry is None else entry.version


class Host:
    """A host for one test: what it is given, it grants; what the plugin does, it keeps.

    `person` holds the person's answers in turn, `http` answers requests, `peers` answers calls to other facades. Afterwards `logs`,
    `progress_reports`, `questions` and `requests` tell what the plugin did.
    """

    def __init__(
        self,
        *,
        store: Store | bool = False,
        config: dict[str, Any] | None = None,
        person: list[Answer] | None = None,
        http: Callable[[HttpRequest], Response] | None = None,
        peers: Callable[[Request], Reply[Any]] | None = None,
        caller: str | None = None,
        detail: Detail = "standard",
    ):
        self._store = Store() if store is True else store or None
        self._config, self._person = config or {}, list(person or [])
        self._http, self._peers, self._caller, self._detail = http, peers, caller, detail
        self._reading = False
        self.logs: list[tuple[str, str]] = []
        self.progress_reports: list[tuple[float, float | None, str | None]] = []
        self.questions: list[tuple[str, dict[str, Any]]] = []
        self.requests: list[HttpRequest] = []

    def call(self, facade: Facade, action: str, params: dict[str, Any] | None = None) -> Reply[Any]:
        """Calls an action, after the checks that the host makes of its parameters. Raises its failure."""
        facade.finish()
        found = next((one for one in facade.actions.values() if action in (one.name, *one.aliases)), None)
        if found is None:
            names = ", ".join(facade.actions)
            raise Failure.invalid_params(f'Unknown action: "{action}". Available actions: {names}.')
        given = json.loads(json.dumps(params or {}))
        if wrong := check(json.loads(found.params_json), given):
            raise Failure.invalid_params(wrong)
        call = Call("c1", found.name, self._detail, 30_000, self._caller)
        with self.running(reading=found.effect == "read"):
            reply = facade.answer(call, given)
        return Reply(json.loads(reply.data), reply.message, reply.page, reply.next, reply.content)

    @contextlib.contextmanager
    def running(self, *, reading: bool = False) -> Iterator[Host]:
        """Runs code outside of an action: `with host.running(): …`."""
        before, was = port.current, self._reading
        port.current, self._reading = self, reading  # type: ignore[assignment]
        try:
            yield self
        finally:
            port.current, self._reading = before, was

    # The port.

    def log(self, level: str, message: str) -> None:
        self.logs.append((level, message))

    def progress(self, done: float, total: float | None, message: str | None) -> None:
        self.progress_reports.append((done, total, message))

    def cancelled(self) -> bool:
        return False

    def config(self, key: str) -> str | None:
        return json.dumps(self._config[key]) if key in self._config else None

    def elicit(self, message: str, form: dict[str, Any]) -> tuple[str, Any]:
        if not self._person:
            raise Failure.denied("access denied: `elicit` is not granted", hint=HINT)
        self.questions.append((message, form))
        answer = self._person.pop(0)
        return ("accepted", answer) if isinstance(answer, dict) else (answer, None)

    def invoke(self, requests: list[Request]) -> list[Reply[Any] | Failure]:
        return [self._ask(one) for one in requests]

    def check(self, request: Request) -> None:
        if self._peers is None:
            raise Failure.denied(f"access denied: `{request.facade}` is not granted", hint=HINT)

    def facades(self) -> list[Any]:
        raise Failure.denied("access denied: `invoke` is not granted", hint=HINT)

    def lookup(self, facade: str, action: str) -> Any:
        raise Failure.denied("access denied: `invoke` is not granted", hint=HINT)

    def state_get(self, space: Space, keys: list[str]) -> list[Entry | None]:
        store = self._space(space)
        return [store._read(key) for key in keys]

    def state_scan(self, space: Space, prefix: str, after: str | None, limit: int, at: int | None) -> Entries:
        return self._space(space)._scan(prefix, after, limit, at)

    def state_commit(self, space: Space, changes: list[Change]) -> int:
        store = self._space(space)
        if self._reading:
            raise Failure.denied("access denied: a `read` action commits nothing", hint=HINT)
        return store._commit(changes)

    def now_ms(self) -> int:
        return self._store._now if self._store else 0

    def pause(self, longest_ms: int) -> None:
        pass

    def send(self, requests: list[HttpRequest]) -> list[Response | Failure]:
        return [self._send(one) for one in requests]

    def _ask(self, request: Request) -> Reply[Any] | Failure:
        try:
            self.check(request)
            return self._peers(request)  # type: ignore[misc]
        except Failure as failure:
            return failure

    def _send(self, request: HttpRequest) -> Response | Failure:
        self.requests.append(request)
        if self._http is None:
            return Failure.denied(f"access denied: {request.method} to {request.url}", hint=HINT)
        try:
            return self._http(request)
        except Failure as failure:
            return failure

    def _space(self, space: Space) -> Store:
        if self._store is None:
            raise Failure.denied("access denied: `store` is not granted", hint=HINT)
        if space is Space.SHARED:
            return self._store
        if self._caller is None:
            raise Failure.denied("access denied: an anonymous caller has no space", hint=HINT)
        return self._store._callers.setdefault(self._caller, Store())


def describe(facade: Facade) -> dict[str, Any]:
    """What the facade publishes, for a snapshot."""
    facade.finish()
    actions = [
        {
            "name": one.name, "summary": one.summary, "effect": one.effect, "aliases": one.aliases, "details": one.details,
            "params": json.loads(one.params_json), "data": json.loads(one.data_json or "null"),
            "examples": [json.loads(text) for text in one.examples],
        }
        for one in facade.actions.values()
    ]
    return {
        "name": facade.name, "title": facade.title, "version": facade.version, "summary": facade.summary,
        "instructions": facade.instructions, "default": facade.default, "wants": facade.wants, "actions": actions,
    }
