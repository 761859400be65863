"""Drives a host with the official SDK. Takes a URL, or the command of a host on stdio."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters

CALLS = [
    {"action": "put", "path": "/data/hello.txt", "content": "hello\nworld\n"},
    {"action": "get", "path": "/data/hello.txt"},
    {"action": "search", "path": "/data", "pattern": "w[a-z]+d"},
    {"action": "frobnicate"},
    {"action": "get", "path": "/data/../../etc/passwd"},
]


def plain(value):
    """Removes values that differ between runs."""
    if isinstance(value, dict):
        return {k: "…" if k in ("version", "modified") else plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(v) for v in value]
    return value


async def main():
    target = sys.argv[1] if len(sys.argv) == 2 else StdioServerParameters(command=sys.argv[1], args=sys.argv[2:])
    for mode in ("auto", "legacy"):
        async with Client(target, mode=mode) as client:
            tools = (await client.list_tools()).tools
            print(f"{client.protocol_version}: {[tool.name for tool in tools]}")
            for call in CALLS:
                if mode == "legacy" and call["action"] == "put":
                    continue
                result = await client.call_tool("files", call)
                text = json.loads(result.content[0].text)
                assert text == result.structured_content, "text and structured content differ"
                assert result.is_error != text["ok"]
                print(json.dumps(plain(text), ensure_ascii=False))


asyncio.run(main())
