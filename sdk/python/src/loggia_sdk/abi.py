"""The guest's side of the contract: the SDK's types to and from those of `wit/deps/loggia.wit`. Imported in components only."""

from __future__ import annotations

import dataclasses
import json
import random
import time
from typing import Any

from componentize_py_types import Err, Ok  # type: ignore[import-not-found]
from wit_world.imports import loggia_plugin_host_0_2_0 as host  # type: ignore[import-not-found]
from wit_world.imports import loggia_plugin_state_0_2_0 as state  # type: ignore[import-not-found]
from wit_world.imports import loggia_plugin_types_0_2_0 as wit  # type: ignore[import-not-found]

from . import port, wasi
from .call import Call
from .encode import well_formed, write
from .facade import Action, Facade
from .failure import Failure
from .http import Request as HttpRequest
from .http import Response
from .peers import Peer, PeerAction, PeerSchema, Request
from .reply import Content, Next, Page, Reply
from .state import table
from .state.data import Change, Entries, Entry, Space

EFFECTS = {"read": wit.Effect.READ, "write": wit.Effect.WRITE, "destructive": wit.Effect.DESTRUCTIVE}
DETAILS = {"minimal": wit.Detail.MINIMAL, "standard": wit.Detail.STANDARD, "full": wit.Detail.FULL}
LEVELS = {name: host.Level[name.upper()] for name in ("trace", "debug", "info", "warn", "error")}
SPACES = {Space.SHARED: state.Space.SHARED, Space.CALLER: state.Space.CALLER}
DETAIL_NAMES = {value: name for name, value in DETAILS.items()}


def find_facade(module: Any) -> Facade:
    """The one facade of the author's module."""
    found = [value for value in vars(module).values() if isinstance(value, Facade)]
    if len({id(one) for one in found}) != 1:
        raise TypeError(f"loggia: `{module.__name__}` holds {len(found)} facades: write `notes = Facade(\"notes\", \"…\")`, once")
    return found[0].finish()


def guest(facade: Facade) -> type:
    """The class that exports the facade. Its texts are made here, at build time: `describe` is a look-up."""
    table.prepare()
    described = _description(facade)
    schemas = {name: _schema(action) for name, action in facade.actions.items()}

    class Guest:
        def describe(self) -> Any:
            return described

        def schema(self, action: str) -> Any:
            if action not in schemas:
                raise Err(_to_failure(Failure.invalid_params(f'Unknown action: "{action}".')))
            return schemas[action]

        def dispatch(self, call: Any) -> Any:
            try:
                own = Call(
                    call.id, call.action, DETAIL_NAMES[call.detail], call.time_left_ms, call.caller, call.idempotency_key
                )
                return _to_reply(facade.answer(own, json.loads(call.params)))
            except Failure as failure:
                raise Err(_to_failure(failure)) from None

    port.current = WitPort()
    return Guest


def _description(facade: Facade) -> Any:
    actions = [
        wit.Action(
            one.name, one.summary, EFFECTS[one.effect], one.idempotent, one.open_world, one.long_running, one.details, one.aliases,
            one.needs, _resource(one), one.view, _extras(one.extras),
        )
        for one in facade.actions.values()
    ]
    views = [wit.View(name, html, []) for name, html in facade.views.items()]
    wants = [wit.Want(*want) for want in facade.wants]
    return _sent(wit.Description(
        facade.name, facade.title, facade.version, facade.summary, facade.instructions, actions, facade.default, views, wants,
        _extras(facade.extras),
    ))


def _resource(action: Action) -> Any:
    one = action.resource
    return None if one is None else wit.ActionResource(one.uri, one.mime_type, one.items, one.state, [])


def _schema(action: Action) -> Any:
    return wit.ActionSchema(action.params_json, action.data_json, action.examples, [])


def _extras(extras: dict[str, Any]) -> list[tuple[str, str]]:
    return [(name, write(value)) for name, value in extras.items()]


def _sent(value: Any) -> Any:
    """A record for the host, changed in place, or a list or text for it: all its texts well-formed. See `well_formed`."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, list):
        return [_sent(one) for one in value]
    if isinstance(value, tuple):
        return tuple(_sent(one) for one in value)
    if dataclasses.is_dataclass(value):
        for name, one in vars(value).items():
            setattr(value, name, _sent(one))
    return value


def _to_reply(reply: Reply[str]) -> Any:
    page = None if reply.page is None else wit.Page(reply.page.count, reply.page.total, reply.page.cursor)
    content = [_to_content(one) for one in reply.content]
    return _sent(wit.Reply(reply.data, reply.message, page, _to_next(reply.next), content, []))


def _from_reply(reply: Any) -> Reply[Any]:
    page = None if reply.page is None else Page(reply.page.count, reply.page.total, reply.page.cursor)
    return Reply(_read(reply.data), reply.message, page, _from_next(reply.next), [_from_content(one) for one in reply.content])


def _to_next(one: Next | None) -> Any:
    return None if one is None else wit.Next(one.facade or "", one.action, write(one.params) if one.params else None, one.reason)


def _from_next(one: Any) -> Next | None:
    return None if one is None else Next(one.action, _read(one.params or "{}"), one.reason, one.facade)


def _to_content(one: Content) -> Any:
    block: Any
    if one.kind == "text":
        block = wit.Block_Text(one.text)
    elif one.kind == "image":
        block = wit.Block_Image(wit.Media(one.data, one.mime_type))
    elif one.kind == "audio":
        block = wit.Block_Audio(wit.Media(one.data, one.mime_type))
    elif one.kind == "resource":
        block = wit.Block_Embedded(wit.EmbeddedResource(one.uri, one.mime_type, one.text, one.data))
    else:
        block = wit.Block_Link(wit.ResourceLink(one.uri, one.name, one.description, one.mime_type))
    return wit.Content(block, _extras(one.extras))


def _from_content(one: Any) -> Content:
    extras = {name: _read(text) for name, text in one.extras}
    value = one.block.value
    if isinstance(one.block, wit.Block_Text):
        return Content("text", text=value, extras=extras)
    if isinstance(one.block, wit.Block_Image | wit.Block_Audio):
        kind: Any = "image" if isinstance(one.block, wit.Block_Image) else "audio"
        return Content(kind, data=value.data, mime_type=value.mime_type, extras=extras)
    if isinstance(one.block, wit.Block_Embedded):
        return Content("resource", text=value.text, data=value.blob, uri=value.uri, mime_type=value.mime_type, extras=extras)
    return Content(
        "link", uri=value.uri, name=value.name, description=value.description, mime_type=value.mime_type, extras=extras
    )


def _to_failure(one: Failure) -> Any:
    extras = {name: value for name, value in (("expected", one.expected), ("example", one.example)) if value is not None}
    details = None if one.details is None else write(one.details)
    return _sent(wit.Failure(one.code, one.message, one.hint, details, one.retry_after_ms, _to_next(one.next), _extras(extras)))


def _from_failure(one: Any) -> Failure:
    extras = {name: _read(text) for name, text in one.extras}
    return Failure(
        one.code,
        one.message,
        hint=one.hint,
        details=None if one.details is None else _read(one.details),
        retry_after_ms=one.retry_after_ms,
        next=_from_next(one.next),
        expected=extras.get("expected"),
        example=extras.get("example"),
    )


def _to_request(one: Request) -> Any:
    detail = DETAILS[one.detail]
    return _sent(host.Request(one.facade, one.action, write(one.params), detail, one.timeout_ms, one.idempotency_key))


def _to_change(one: Change) -> Any:
    expect: Any = state.Expect_Any()
    if one.expect == "absent":
        expect = state.Expect_Absent()
    elif isinstance(one.expect, int):
        expect = state.Expect_Version(one.expect)
    operation: Any
    if one.operation == "put":
        operation = state.Operation_Put(one.value) if one.until_ms is None else state.Operation_PutUntil((one.value, one.until_ms))
    else:
        operation = state.Operation_Delete() if one.operation == "delete" else state.Operation_Check()
    return _sent(state.Change(one.key, expect, operation))


def _read(text: str) -> Any:
    """The host sends JSON; if it did not, the text itself is more useful than an error."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _asked(function: Any, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except Err as error:
        raise _from_failure(error.value) from None


class WitPort:
    """The host, as a component sees it."""

    def log(self, level: str, message: str) -> None:
        host.log(LEVELS[level], _sent(message))

    def progress(self, done: float, total: float | None, message: str | None) -> None:
        host.progress(done, total, _sent(message))

    def cancelled(self) -> bool:
        return host.cancelled()

    def config(self, key: str) -> str | None:
        return host.config(_sent(key))

    def elicit(self, message: str, form: dict[str, Any]) -> tuple[str, Any]:
        answer = _asked(host.elicit, _sent(message), write(form))
        if isinstance(answer, host.Answer_Accepted):
            return "accepted", _read(answer.value)
        return ("declined" if isinstance(answer, host.Answer_Declined) else "cancelled"), None

    def invoke(self, requests: list[Request]) -> list[Reply[Any] | Failure]:
        answers = host.invoke([_to_request(one) for one in requests])
        return [_from_reply(one.value) if isinstance(one, Ok) else _from_failure(one.value) for one in answers]

    def check(self, request: Request) -> None:
        _asked(host.check, _to_request(request))

    def facades(self) -> list[Peer]:
        effects = {value: name for name, value in EFFECTS.items()}
        return [
            Peer(one.name, one.title, one.summary, [PeerAction(a.name, a.summary, effects[a.effect], a.aliases) for a in one.actions])
            for one in _asked(host.facades)
        ]

    def lookup(self, facade: str, action: str) -> PeerSchema:
        one = _asked(host.lookup, _sent(facade), _sent(action))
        extras = {name: _read(text) for name, text in one.extras}
        data = None if one.data is None else _read(one.data)
        examples = [_read(text) for text in one.examples]
        return PeerSchema(
            _read(one.params), data, examples, extras.get("signature"), extras.get("effect"), extras.get("confirm") is True
        )

    def state_get(self, space: Space, keys: list[str]) -> list[Entry | None]:
        entries = _asked(state.get, SPACES[space], _sent(keys))
        return [None if one is None else Entry(one.key, bytes(one.value), one.version) for one in entries]

    def state_scan(self, space: Space, prefix: str, after: str | None, limit: int, at: int | None) -> Entries:
        part = _asked(state.scan, SPACES[space], _sent(prefix), _sent(after), limit, at)
        items = [Entry(one.key, bytes(one.value), one.version) for one in part.items]
        return Entries(items, part.more, part.revision)

    def state_commit(self, space: Space, changes: list[Change]) -> int:
        return _asked(state.commit, SPACES[space], [_to_change(one) for one in changes])

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def pause(self, longest_ms: int) -> None:
        time.sleep(random.random() * longest_ms / 1000)

    def send(self, requests: list[HttpRequest]) -> list[Response | Failure]:
        return wasi.send(requests)
