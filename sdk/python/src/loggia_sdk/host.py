"""Services of the host: log, configuration, questions to the person."""

from __future__ import annotations

import json
from typing import Any, TypeVar, overload

from . import form as forms
from . import port
from .decode import decode
from .failure import Failure

T = TypeVar("T")


def trace(message: str) -> None:
    """Writes a line to the host's log, under the facade's name."""
    port.current.log("trace", message)


def debug(message: str) -> None:
    """Like `trace`, for the plugin's author."""
    port.current.log("debug", message)


def info(message: str) -> None:
    """Like `trace`, for the operator."""
    port.current.log("info", message)


def warn(message: str) -> None:
    """Like `trace`: something is odd."""
    port.current.log("warn", message)


def error(message: str) -> None:
    """Like `trace`: something is wrong."""
    port.current.log("error", message)


def config(key: str, default: Any = None, *, type: Any = Any) -> Any:
    """Value of this key under `[grants] config` in the policy. Raises `internal` if the operator's value has another type."""
    text = port.current.config(key)
    if text is None:
        return default
    try:
        return decode(type, json.loads(text))
    except ValueError as wrong:
        hint = f"The operator sets `config.{key}` in the plugin's policy file."
        raise Failure.internal(f"the configuration `{key}` is invalid: {wrong}", hint=hint) from None


def require_config(key: str, *, type: Any = Any) -> Any:
    """Like `config`, for a required key. Raises `unavailable`, with the line that the operator has to write."""
    value = config(key, type=type)
    if value is None:
        hint = f"The operator sets it in the plugin's policy file: `[grants] config = {{ {key} = … }}`."
        raise Failure.unavailable(f"not configured: this plugin needs `{key}`", hint=hint)
    return value


@overload
def elicit(message: str, form: type[T], *, name: str | None = None) -> T: ...
@overload
def elicit(message: str, form: type[T], *, name: str | None = None, refusal: bool) -> T | None: ...
def elicit(message: str, form: type[T], *, name: str | None = None, refusal: bool = False) -> T | None:
    """Asks the person with a form for a dataclass, and returns it filled in. A no ends the action.

    The fields are texts, numbers, booleans, choices, or lists of choices. `name` names the question, so that a client may send the
    answer with the call. With `refusal`, a no is returned as `None`. Raises `denied` if the person declines or the policy does not
    grant `elicit`, `cancelled` if the question is closed.
    """
    schema = forms.of(form)
    if name:
        schema["$anchor"] = name
    verdict, given = port.current.elicit(message, schema)
    if verdict == "accepted":
        try:
            return decode(form, given)
        except ValueError as wrong:
            raise Failure.invalid_data(f"the answer does not fit: {wrong}") from None
    if refusal:
        return None
    if verdict == "declined":
        hint = "Do not ask again unless the person wishes it."
        raise Failure.denied("access denied: the person declined", hint=hint)
    raise Failure.cancelled("cancelled: the person closed the question")


def confirm(message: str) -> bool:
    """Asks the person to agree, with nothing to fill in. To decline and to close the question are both a no."""
    return port.current.elicit(message, forms.assemble({}, None))[0] == "accepted"


def choose(message: str, field: str, choices: dict[str, str]) -> str | None:
    """Asks the person to choose one of several values, each with a title. `field` names the answer; `None` is a no."""
    if not choices:
        raise Failure.invalid_params("nothing to choose from")
    verdict, given = port.current.elicit(message, forms.one_of(field, choices))
    if verdict != "accepted":
        return None
    value = given.get(field) if isinstance(given, dict) else None
    if value not in choices:
        raise Failure.invalid_data(f"the answer is none of the choices of `{field}`")
    return value
