"""Requests over HTTP, sent by the host. The policy grants destinations: `http = ["https://api.example.com"]`."""

from __future__ import annotations

import json as _json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from . import port
from .decode import decode
from .encode import write
from .failure import CONFLICT, DENIED, INTERNAL, INVALID_PARAMS, NOT_FOUND, TIMED_OUT, UNAVAILABLE, Failure

# Maximum part of a body in a failure, in characters.
SHOWN = 500
CODES = {
    **dict.fromkeys((400, 413, 414, 422), INVALID_PARAMS),
    **dict.fromkeys((401, 403, 407, 451), DENIED),
    **dict.fromkeys((404, 410), NOT_FOUND),
    **dict.fromkeys((408, 504), TIMED_OUT),
    **dict.fromkeys((409, 412, 423, 428), CONFLICT),
    429: UNAVAILABLE,
}
SENTENCES = {DENIED: "access denied", NOT_FOUND: "not found", TIMED_OUT: "timed out", UNAVAILABLE: "not available now"}


@dataclass
class Url:
    """The parts of a URL that a request needs; `path` includes the query."""

    https: bool
    authority: str
    path: str

    @classmethod
    def parse(cls, text: str) -> Url:
        """Raises `invalid_params`, without the URL itself, which may contain secrets."""
        scheme, separator, rest = text.partition("://")
        if not separator:
            raise _unasked("it begins with no https://")
        if scheme.lower() not in ("https", "http"):
            raise _unasked("it is neither https nor http")
        rest = rest.split("#")[0]
        end = min((at for at in (rest.find("/"), rest.find("?")) if at >= 0), default=len(rest))
        authority, path = rest[:end], rest[end:]
        if not authority:
            raise _unasked("it names no host")
        if "@" in authority:
            raise _unasked("it holds a user or a password: use a header, or the policy's `secrets`")
        if not authority.isascii() or any(ord(c) < 33 or c in "\\\x7f" for c in authority + path):
            raise _unasked("it holds a space, a control character or a backslash: write %20 for a space")
        path = path if path.startswith("/") else f"/{path}"
        return cls(scheme.lower() == "https", authority, "".join(c if c.isascii() else quote(c) for c in path))

    def origin(self) -> str:
        """Scheme, host and port, as a policy grants them."""
        return f"{'https' if self.https else 'http'}://{self.authority}"


def _unasked(why: str) -> Failure:
    return Failure.invalid_params(f"not a URL that can be asked: {why}")


@dataclass
class Response:
    """A whole response, of any status. Names of headers are in lower case."""

    status: int
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""
    server: str = "the server"

    @classmethod
    def of_json(cls, status: int, value: Any) -> Response:
        """A response with JSON, for tests."""
        return cls(status, [("content-type", "application/json")], write(value).encode())

    def header(self, name: str) -> str | None:
        """The first header of that name."""
        return next((value for known, value in self.headers if known.lower() == name.lower()), None)

    def ok(self) -> Response:
        """The response, if its status is one of 200 to 299; otherwise raises the failure that fits the status."""
        if 200 <= self.status < 300:
            return self
        code = CODES.get(self.status, UNAVAILABLE if self.status >= 500 else INTERNAL)
        sentence = SENTENCES.get(code, "redirected" if 300 <= self.status < 400 else "refused")
        details: dict[str, Any] = {"status": self.status}
        try:
            shown = self.body.decode().strip()[:SHOWN]
        except UnicodeDecodeError:
            shown = ""
        if shown:
            details["body"] = shown
        wait = (self.header("retry-after") or "").strip() if code == UNAVAILABLE else ""
        retry = int(wait) * 1000 if wait.isascii() and wait.isdigit() else None
        raise Failure(code, f"{sentence}: {self.server} answered {self.status}", details=details, retry_after_ms=retry)

    def text(self) -> str:
        """The body as text. Raises `invalid_data` if it is not UTF-8."""
        try:
            return self.body.decode()
        except UnicodeDecodeError:
            raise self._unexpected("no UTF-8") from None

    def json(self, type: Any = Any) -> Any:
        """The body as JSON, of this type. Call `ok` first. Raises `invalid_data`."""
        try:
            return decode(type, _json.loads(self.text()))
        except ValueError as wrong:
            raise self._unexpected(str(wrong)) from None

    def _unexpected(self, why: str) -> Failure:
        return Failure.invalid_data(f"{self.server} answered something unexpected: {why}")


@dataclass
class Request:
    """A request, made by `http.get` and its neighbours, sent by `send`."""

    method: str
    url: str
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""
    timeout_ms: int | None = None

    def header(self, name: str, value: str) -> Request:
        """Adds a header. A secret does not belong here: the policy binds it to a host, and the host adds it."""
        self.headers.append((name, value))
        return self

    def path(self, *parts: str) -> Request:
        """Adds segments to the URL's path, escaped, so that a caller's input cannot become another path. Before `query`."""
        for part in parts:
            if part in ("", ".", ".."):
                raise Failure.invalid_params(f"`{part}` cannot be a part of a URL's path")
            self.url += ("" if self.url.endswith("/") else "/") + quote(part, safe="")
        return self

    def query(self, **parameters: Any) -> Request:
        """Adds parameters to the URL, escaped; a list adds one for each item, `None` none."""
        # The fragment is not sent, and would hide the query.
        self.url = self.url.split("#")[0]
        for name, value in parameters.items():
            for one in value if isinstance(value, list | tuple) else [value]:
                if one is not None:
                    text = ("true" if one else "false") if isinstance(one, bool) else str(one)
                    self.url += ("&" if "?" in self.url else "?") + f"{quote(name, safe='')}={quote(text, safe='')}"
        return self

    def json(self, value: Any) -> Request:
        """Sends a value as JSON."""
        return self._typed("application/json", write(value).encode())

    def form(self, **parameters: Any) -> Request:
        """Sends parameters as a form."""
        pairs = (f"{quote(name, safe='')}={quote(str(value), safe='')}" for name, value in parameters.items())
        return self._typed("application/x-www-form-urlencoded", "&".join(pairs).encode())

    def timeout(self, seconds: float) -> Request:
        """Sets the time until the response's end; the host has a limit of its own."""
        self.timeout_ms = int(seconds * 1000)
        return self

    def send(self) -> Response:
        """Sends it, and waits for the whole response. Raises `denied`, `timed_out`, `unavailable`, `invalid_params`."""
        [answer] = send_all([self])
        if isinstance(answer, Failure):
            raise answer
        return answer

    def _typed(self, mime: str, body: bytes) -> Request:
        self.body = body
        if not any(name.lower() == "content-type" for name, _ in self.headers):
            self.headers.append(("content-type", mime))
        return self


def send_all(requests: list[Request]) -> list[Response | Failure]:
    """Sends requests at once; the answers are in their order."""
    return port.current.send(requests)


def get(url: str) -> Request:
    """A GET request."""
    return Request("GET", url)


def head(url: str) -> Request:
    """A HEAD request."""
    return Request("HEAD", url)


def post(url: str) -> Request:
    """A POST request."""
    return Request("POST", url)


def put(url: str) -> Request:
    """A PUT request."""
    return Request("PUT", url)


def patch(url: str) -> Request:
    """A PATCH request."""
    return Request("PATCH", url)


def delete(url: str) -> Request:
    """A DELETE request."""
    return Request("DELETE", url)
