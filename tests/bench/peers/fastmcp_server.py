"""The benchmark's tools on FastMCP: on stdio, or with `--http PORT` over HTTP."""

import json
import sys

from fastmcp import FastMCP

server = FastMCP("bench")
kept = []


@server.tool
def echo(input: str) -> str:
    """Returns its input unchanged."""
    return input


@server.tool
def transform(input: str) -> str:
    """Adds two members to a JSON object."""
    value = json.loads(input)
    members = len(value)
    value["seen"] = True
    value["members"] = members
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


@server.tool
def version() -> str:
    """Build version of the server."""
    return "bench-version-0001"


@server.tool
def spin() -> str:
    """Loops forever."""
    while True:
        pass


@server.tool
def hog() -> str:
    """Allocates without end."""
    while True:
        kept.append(bytearray(b"\1") * (1 << 20))


if sys.argv[1:2] == ["--http"]:
    server.run(transport="http", host="127.0.0.1", port=int(sys.argv[2]), show_banner=False)
else:
    server.run(show_banner=False)
