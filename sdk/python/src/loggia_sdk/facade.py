"""A facade: its functions, as a table of actions."""

from __future__ import annotations

import inspect
import re
import traceback
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Callable, TypeVar, get_args, get_origin, get_type_hints, overload

from . import docs, port, schema
from .call import Call
from .decode import ABSENT, Decoder, Mismatch, decoder
from .encode import LEVELS, PLAIN, encode, write
from .failure import INVALID_PARAMS, Failure
from .marks import Name
from .reply import Next, Page, Reply
from .types import optional, unwrap

F = TypeVar("F", bound=Callable[..., Any])

RESERVED_ACTIONS = ("describe", "run_status", "run_cancel", "batch")
RESERVED_PARAMS = ("action", "cmd", "params", "detail", "wait", "confirm")


@dataclass(frozen=True)
class Resource:
    """Publishes a `read` action's result under a URI whose variables are parameters: `notes://note/{id}`.

    `items` names an action that lists what exists, `state` a prefix of the keys of shared state that the result is made from.
    """

    uri: str
    mime_type: str | None = None
    items: str | None = None
    state: str | None = None


@dataclass
class Param:
    """One parameter of an action."""

    name: str
    # The function's own name for it.
    argument: str
    hint: Any
    required: bool
    decode: Decoder
    # Makes the value of a call that gives none.
    make_default: Callable[[], Any]
    schema: dict[str, Any] = field(default_factory=dict)


@dataclass
class Action:
    """One action, as it is published and called. Texts of schemas are made when the facade is declared."""

    name: str
    summary: str
    effect: str
    run: Callable[..., Any]
    params: list[Param]
    # The function's parameter that takes the call.
    takes_call: str | None
    params_json: str
    data_json: str | None
    details: bool
    idempotent: bool = False
    open_world: bool = False
    long_running: bool = False
    aliases: list[str] = field(default_factory=list)
    needs: list[str] = field(default_factory=list)
    resource: Resource | None = None
    view: str | None = None
    examples: list[str] = field(default_factory=list)
    extras: dict[str, Any] = field(default_factory=dict)


class Facade:
    """One domain of actions, which clients see as one tool.

    `about` is what the facade is for: its first paragraph the summary, the rest the instructions. `needs` and `wants` name grants, each
    with the reason; `default` is the action of a call that names none; `views` are fragments of HTML by name.
    """

    def __init__(
        self,
        name: str,
        about: str,
        *,
        title: str | None = None,
        version: str = "0.1.0",
        default: str | None = None,
        needs: dict[str, str] | None = None,
        wants: dict[str, str] | None = None,
        views: dict[str, str] | None = None,
        extras: dict[str, Any] | None = None,
    ):
        _named("a facade", name, 32)
        self.summary, instructions, _ = docs.split(about)
        if not self.summary:
            raise TypeError("loggia: a facade needs a text that tells the model what it is for")
        self.name, self.version, self.default = name, version, default
        words = re.sub("[-_]", " ", name)
        self.title = title if title is not None else words[:1].upper() + words[1:]
        self.instructions = instructions or None
        self.wants = [(grant, reason, True) for grant, reason in (needs or {}).items()]
        self.wants += [(grant, reason, False) for grant, reason in (wants or {}).items()]
        self.views, self.extras = dict(views or {}), dict(extras or {})
        self.actions: dict[str, Action] = {}

    @overload
    def read(self, function: F, /) -> F: ...
    @overload
    def read(self, /, **options: Any) -> Callable[[F], F]: ...
    def read(self, function: Any = None, /, **options: Any) -> Any:
        """Declares an action that changes nothing. The host enforces it. Options: see `write`."""
        return self._declare("read", function, options)

    @overload
    def write(self, function: F, /) -> F: ...
    @overload
    def write(self, /, **options: Any) -> Callable[[F], F]: ...
    def write(self, function: Any = None, /, **options: Any) -> Any:
        """Declares an action that adds or changes something, undoably.

        Options: `name`, `aliases`, `idempotent`, `open_world`, `long_running`, `details`, `needs`, `resource`, `view`, `examples`
        (dictionaries of parameters), `extras`.
        """
        return self._declare("write", function, options)

    @overload
    def destructive(self, function: F, /) -> F: ...
    @overload
    def destructive(self, /, **options: Any) -> Callable[[F], F]: ...
    def destructive(self, function: Any = None, /, **options: Any) -> Any:
        """Declares an action that may lose data permanently. Options: see `write`."""
        return self._declare("destructive", function, options)

    def _declare(self, effect: str, function: Any, options: dict[str, Any]) -> Any:
        def declare(function: Any) -> Any:
            action = _action(effect, function, **options)
            for name in (action.name, *action.aliases):
                if any(name in (one.name, *one.aliases) for one in self.actions.values()):
                    raise TypeError(f"loggia: `{name}` is already the name of an action of this facade")
            self.actions[action.name] = action
            return function

        return declare if function is None else declare(function)

    def finish(self) -> Facade:
        """Checks what only the whole facade tells. The build command and `testing.Host` call it."""
        if not self.actions:
            raise TypeError(f"loggia: the facade `{self.name}` has no action: write `@….read` above a function")
        if self.default is not None and self.default not in self.actions:
            raise TypeError(f"loggia: there is no action `{self.default}`; there are: {', '.join(self.actions)}")
        for action in self.actions.values():
            if action.view is not None and action.view not in self.views:
                raise TypeError(f"loggia: the facade has no view `{action.view}`; there are: {', '.join(self.views) or 'none'}")
        return self

    def answer(self, call: Call, params: Any) -> Reply[str]:
        """Answers a call; the reply's data is JSON text. Raises `Failure` only: another exception becomes `internal`."""
        action = self.actions.get(call.action)
        try:
            if action is None:
                raise Failure.invalid_params(f'Unknown action: "{call.action}".')
            reply = _run(action, call, params)
        except Failure as failure:
            _check_failure(failure)
            self._complete(failure.next)
            raise
        except Exception as error:
            port.current.log("error", traceback.format_exc().rstrip())
            raise Failure.internal(_named_error(error)) from None
        self._complete(reply.next)
        return reply

    def _complete(self, next: Next | None) -> None:
        if next is not None and next.facade is None:
            next.facade = self.name


def _named_error(error: Exception) -> str:
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _check_failure(failure: Failure) -> None:
    """Raises `internal` in place of a failure that cannot be sent; the log keeps its code and message."""
    try:
        # Its fields may have been set after it was made.
        failure._check()
        write(failure.details)
    except (TypeError, ValueError, RecursionError) as wrong:
        port.current.log("error", f"this failure cannot be sent: {failure}\n{_named_error(wrong)}")
        raise Failure.internal(f"a failure, or its details, cannot be sent: {_named_error(wrong)}") from None


def _run(action: Action, call: Call, params: Any) -> Reply[str]:
    result = action.run(**_arguments(action, call, params))
    reply = result if isinstance(result, Reply) else Reply(result)
    # Lists are counted; what their author counted stays.
    page = reply.page
    if isinstance(reply.data, (list, tuple, set, frozenset)):
        page = page or Page()
        page = replace(page, count=len(reply.data) if page.count is None else page.count)
    try:
        text = write(reply.data, LEVELS[call.detail])
    except (TypeError, ValueError) as wrong:
        raise Failure.internal(f"the result cannot be written as JSON: {wrong}") from None
    return Reply(text, reply.message, page, reply.next, reply.content)


def _arguments(action: Action, call: Call, params: Any) -> dict[str, Any]:
    if not isinstance(params, dict):
        raise Failure.invalid_params("`params` is not a JSON object")
    given: dict[str, Any] = {}
    for param in action.params:
        value = params.get(param.name, ABSENT)
        if value is ABSENT or value is None and not param.required:
            if param.required:
                raise Failure(INVALID_PARAMS, f"`{param.name}` is required")
            given[param.argument] = param.make_default()
        else:
            try:
                given[param.argument] = param.decode(value)
            except ValueError as wrong:
                # Any other is the author's: a class that checks its own fields.
                wrong = wrong.below(param.name) if isinstance(wrong, Mismatch) else wrong
                raise Failure.invalid_params(str(wrong)) from None
    if action.takes_call is not None:
        given[action.takes_call] = call
    return given


def _action(
    effect: str,
    function: Any,
    *,
    name: str | None = None,
    aliases: list[str] | tuple[str, ...] = (),
    idempotent: bool = False,
    open_world: bool = False,
    long_running: bool = False,
    details: bool = False,
    needs: list[str] | tuple[str, ...] = (),
    resource: Resource | str | None = None,
    view: str | None = None,
    examples: list[dict[str, Any]] | tuple[dict[str, Any], ...] = (),
    extras: dict[str, Any] | None = None,
) -> Action:
    name = name or function.__name__
    if inspect.iscoroutinefunction(function):
        raise TypeError(f"loggia: `{name}` is `async`: each call has an instance of its own, so it may simply block")
    for one in (name, *aliases):
        _named("an action", one, 64 if one == name else 32)
        if one in RESERVED_ACTIONS:
            raise TypeError(f"loggia: `{one}` is an action that the host gives every facade; choose another name")
    summary, about, args = docs.split(function.__doc__ or "")
    if not summary:
        raise TypeError(f"loggia: `{name}` needs a docstring: its first paragraph is the action's summary")
    hints = get_type_hints(function, include_extras=True)
    params, takes_call = _params(name, function, hints, args)
    result = hints.get("return", Any)
    if get_origin(result) is Reply:
        [result] = get_args(result)
    data = schema.of_data(Any if result is Reply else result)
    levels = schema.has_levels(data)
    published: dict[str, Any] = {"type": "object"}
    if about:
        published["description"] = about
    published["properties"] = {param.name: param.schema for param in params}
    if required := [param.name for param in params if param.required]:
        published["required"] = required
    published["additionalProperties"] = False
    if isinstance(resource, str):
        resource = Resource(resource)
    if resource is not None:
        _check_resource(name, effect, resource, params)
    for example in examples:
        _check_example(name, example, params)
    return Action(
        name, summary, effect, function, params, takes_call, write(published), None if data is None else write(data), details or levels,
        idempotent, open_world, long_running, list(aliases), list(needs), resource, view, [write(one) for one in examples], extras or {},
    )


def _params(name: str, function: Any, hints: dict[str, Any], args: dict[str, str]) -> tuple[list[Param], str | None]:
    params, takes_call = [], None
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise TypeError(f"loggia: `{parameter.name}` of `{name}` is no plain parameter: callers name each one")
        if parameter.name not in hints:
            raise TypeError(f"loggia: the parameter `{parameter.name}` of `{name}` needs a type")
        hint = hints[parameter.name]
        if hint is Call:
            takes_call = parameter.name
            continue
        hint, is_optional = optional(hint)
        published = next((mark.name for mark in unwrap(hint)[1] if isinstance(mark, Name)), parameter.name)
        _param_named(published)
        has_default = parameter.default is not parameter.empty
        default = parameter.default if has_default else None
        required = not has_default and not is_optional
        text = args.get(parameter.name, "")
        try:
            made = schema.property_of(hint, text, default if has_default else ...)
        except TypeError as wrong:
            raise TypeError(f"{wrong} (the parameter `{parameter.name}` of `{name}`)") from None
        if made.get("writeOnly") and ("default" in made or "examples" in made):
            raise TypeError(f"loggia: the value of the secret `{published}` would be published with the schema: take it away")
        decode = decoder(hint)
        try:
            make_default = _make_default(decode, default)
        except Mismatch as wrong:
            raise TypeError(f"loggia: the default of `{parameter.name}` of `{name}` has another type: {wrong}") from None
        params.append(Param(published, parameter.name, hint, required, decode, make_default, made))
    return params, takes_call


def _make_default(decode: Decoder, default: Any) -> Callable[[], Any]:
    """Raises `Mismatch` for a default that is not of its parameter's type."""
    if default is None:
        return lambda: None
    plain = encode(default)
    value = decode(plain)
    # Decoded afresh where calls could change it: a list as a default is not shared.
    return (lambda: value) if type(value) in PLAIN or isinstance(value, Enum) else (lambda: decode(plain))


def _named(what: str, name: str, most: int) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9_-]*", name) or len(name) > most:
        advice = f"begin with a letter, then use at most {most - 1} of a-z, 0-9, `_` and `-`"
        raise TypeError(f"loggia: `{name}` cannot be the name of {what}: {advice}")


def _param_named(name: str) -> None:
    if name.startswith("_"):
        raise TypeError(f"loggia: `{name}` begins with `_`, which is for a plugin's own book-keeping: use `Annotated[…, Name(\"…\")]`")
    _named("a parameter", name, 32)
    if name in RESERVED_PARAMS:
        raise TypeError(f"loggia: `{name}` has a meaning of its own in every call: use `Annotated[…, Name(\"…\")]`")


def _check_resource(name: str, effect: str, resource: Resource, params: list[Param]) -> None:
    if effect != "read":
        raise TypeError(f"loggia: `{name}` cannot be a resource: reading it must change nothing")
    variables = re.findall(r"\{\+?([^}]*)\}", resource.uri)
    names = [param.name for param in params]
    for variable in variables:
        if variable not in names:
            raise TypeError(f"loggia: `{name}` has no parameter `{variable}`; there are: {', '.join(names)}")
    for param in params:
        if param.required and param.name not in variables:
            raise TypeError(f"loggia: the URI of `{name}` lacks `{{{param.name}}}`, which is required")


def _check_example(name: str, example: dict[str, Any], params: list[Param]) -> None:
    names = [param.name for param in params]
    for key in example:
        if key not in names:
            raise TypeError(f"loggia: an example of `{name}` has no parameter `{key}`; there are: {', '.join(names)}")
    for param in params:
        if param.required and param.name not in example:
            raise TypeError(f"loggia: an example of `{name}` lacks `{param.name}`, which is required")
