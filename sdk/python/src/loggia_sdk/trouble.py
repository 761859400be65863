"""Failures of requests without a response."""

from __future__ import annotations

from typing import Literal

from .failure import UNAVAILABLE, Failure
from .http import Request, Url

Cause = Literal["denied", "private", "timed_out", "unreachable", "too_large", "invalid"]

# Error codes of `wasi:http`, and what they mean to the caller.
CAUSES: dict[str, tuple[Cause, str]] = {
    "HttpRequestDenied": ("denied", ""),
    "DestinationIpProhibited": ("private", ""),
    **{name: ("timed_out", "") for name in (
        "DnsTimeout", "ConnectionTimeout", "ConnectionReadTimeout", "ConnectionWriteTimeout", "HttpResponseTimeout")},
    **{name: ("unreachable", "its name is not known") for name in ("DnsError", "DestinationNotFound")},
    **{name: ("unreachable", "there is no secure connection to it") for name in (
        "TlsProtocolError", "TlsCertificateError", "TlsAlertReceived")},
    "ConnectionRefused": ("unreachable", "it refuses the connection"),
    **{name: ("unreachable", "the connection was aborted") for name in ("ConnectionTerminated", "HttpResponseIncomplete")},
    "ConnectionLimitReached": (
        "unreachable", "this call has sent all the requests that `limits.http-requests` lets it send"),
    "HttpRequestBodySize": ("too_large", "request"),
    **{name: ("too_large", "response") for name in (
        "HttpResponseBodySize", "HttpResponseHeaderSectionSize", "HttpResponseHeaderSize")},
    **{name: ("invalid", "its method, its URL or a header is not valid") for name in (
        "HttpRequestMethodInvalid", "HttpRequestUriInvalid", "HttpRequestUriTooLong", "HttpRequestHeaderSectionSize",
        "HttpRequestHeaderSize")},
}


def to_failure(cause: Cause, why: str, request: Request, url: Url) -> Failure:
    """The failure of a request. A refusal has no hint: the host knows the rule, and adds its own."""
    server = url.authority
    if cause == "denied":
        return Failure.denied(f"access denied: {request.method} to {server} is refused by the policy")
    if cause == "private":
        return Failure.denied(f"access denied: {server} resolves to an address that is not public")
    if cause == "timed_out":
        return Failure.timed_out(f"timed out: {server} took too long")
    if cause == "too_large":
        return Failure(UNAVAILABLE, f"too large: the {why} ({server})")
    if cause == "invalid":
        return Failure.invalid_params(f"not a request that can be sent: {why}")
    return Failure.unavailable(f"{server} cannot be reached: {why}")
