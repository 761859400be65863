"""Requests through `wasi:http`: some at once, each awaited in turn. Imported in components only."""

from __future__ import annotations

from typing import Any

from componentize_py_types import Err  # type: ignore[import-not-found]
from wit_world.imports import wasi_http_outgoing_handler_0_2_12 as handler  # type: ignore[import-not-found]
from wit_world.imports import wasi_http_types_0_2_12 as types  # type: ignore[import-not-found]
from wit_world.imports import wasi_io_streams_0_2_12 as streams  # type: ignore[import-not-found]

from .encode import well_formed
from .failure import Failure
from .http import Request, Response, Url
from .trouble import CAUSES, to_failure

# As many as the host lets a call have under way.
AT_ONCE = 6
CHUNK = 64 << 10
METHODS = {
    "GET": types.Method_Get, "HEAD": types.Method_Head, "POST": types.Method_Post, "PUT": types.Method_Put,
    "DELETE": types.Method_Delete, "OPTIONS": types.Method_Options, "PATCH": types.Method_Patch,
}


def send(requests: list[Request]) -> list[Response | Failure]:
    """Sends all; the answers are in their order."""
    answers: list[Response | Failure] = []
    for at in range(0, len(requests), AT_ONCE):
        begun = [_guarded(_begin, request) for request in requests[at : at + AT_ONCE]]
        answers += [one if isinstance(one, Failure) else _guarded(_finish, *one) for one in begun]
    return answers


def _guarded(step: Any, *arguments: Any) -> Any:
    try:
        return step(*arguments)
    except Failure as failure:
        return failure


def _begin(request: Request) -> Any:
    url = Url.parse(request.url)
    fields = types.Fields()
    for name, value in request.headers:
        try:
            fields.append(well_formed(name), well_formed(value).encode())
        except Err:
            raise to_failure("invalid", f"the header `{name}` is not valid, or not the plugin's to set", request, url) from None
    if request.body:
        # Without it the body would go in chunks, which some servers do not take.
        fields.set("content-length", [str(len(request.body)).encode()])
    outgoing = types.OutgoingRequest(fields)
    method = METHODS.get(request.method)
    try:
        outgoing.set_method(method() if method else types.Method_Other(well_formed(request.method)))
        outgoing.set_scheme(types.Scheme_Https() if url.https else types.Scheme_Http())
        outgoing.set_authority(url.authority)
        outgoing.set_path_with_query(url.path)
    except Err:
        raise to_failure("invalid", "its method or its URL is not valid", request, url) from None
    body = outgoing.body() if request.body else None
    try:
        future = handler.handle(outgoing, _options(request.timeout_ms))
    except Err as error:
        raise _failed(error.value, request, url) from None
    if body is not None:
        try:
            with body.write() as stream:
                for at in range(0, len(request.body), 4096):
                    stream.blocking_write_and_flush(request.body[at : at + 4096])
            types.OutgoingBody.finish(body, None)
        except Err:
            # The host rejects the rest; the response has the reason.
            pass
    return request, url, future


def _options(timeout_ms: int | None) -> Any:
    if timeout_ms is None:
        return None
    options = types.RequestOptions()
    for set_timeout in (options.set_connect_timeout, options.set_first_byte_timeout, options.set_between_bytes_timeout):
        try:
            set_timeout(timeout_ms * 1_000_000)
        except Err:
            # The host has a limit of its own.
            pass
    return options


def _finish(request: Request, url: Url, future: Any) -> Response:
    with future:
        with future.subscribe() as ready:
            ready.block()
        answer = future.get()
        answer = None if answer is None else answer.value
        if answer is None or isinstance(answer, Err) or not hasattr(answer, "value"):
            raise _failed(getattr(answer, "value", None), request, url)
        with answer.value as incoming:
            with incoming.headers() as fields:
                headers = [(name.lower(), bytes(value).decode("utf-8", "replace")) for name, value in fields.entries()]
            with incoming.consume() as body, body.stream() as stream:
                return Response(incoming.status(), headers, _read(stream, request, url), url.authority)


def _read(stream: Any, request: Request, url: Url) -> bytes:
    whole = bytearray()
    while True:
        try:
            whole += stream.blocking_read(CHUNK)
        except Err as error:
            if isinstance(error.value, streams.StreamError_Closed):
                return bytes(whole)
            raise _failed(types.http_error_code(error.value.value), request, url) from None


def _failed(code: Any, request: Request, url: Url) -> Failure:
    name = type(code).__name__.removeprefix("ErrorCode_")
    cause, why = CAUSES.get(name, ("unreachable", "it does not answer as a server should"))
    if name == "InternalError" and getattr(code, "value", None):
        why = code.value
    return to_failure(cause, why, request, url)
