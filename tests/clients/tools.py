"""A session over one listed tool, by the official SDK: every call to the other facades goes through `tools`."""

import asyncio
import json
import sys

from mcp import Client


async def ask(client, action, fails=None, **params):
    """Makes a call, checks its envelope and returns it."""
    result = await client.call_tool("tools", {"action": action, **params})
    envelope = json.loads(result.content[0].text)
    assert result.structured_content in (None, envelope), "text and structured content differ"
    assert result.is_error != envelope["ok"], envelope
    assert envelope.get("code") == fails, envelope
    print(f"{action} {params.get('call', '')}: {fails or 'ok'}", flush=True)
    return envelope


async def session(client, number):
    tools = (await client.list_tools()).tools
    print(f"{client.protocol_version}: {[tool.name for tool in tools]}")
    assert not tools[0].annotations.read_only_hint and tools[0].annotations.destructive_hint, tools[0]
    facades = await ask(client, "list")
    assert [one["facade"] for one in facades["data"]] == ["files", "memories"], facades
    found = await ask(client, "search", query="keep a memory")
    assert found["data"][0]["call"].startswith("memories."), found
    shown = await ask(client, "get", call="memories.add")
    assert shown["data"]["signature"].startswith("add(title"), shown
    wrong = await ask(client, "validate", fails="invalid_params", call="memories.add", arguments={"titel": "Tea"})
    assert wrong["expected"].startswith("memories.add(title"), wrong
    # The suggested example is valid.
    suggested = {**wrong["example"], "action": "validate"}
    await ask(client, **suggested)
    title = f"Prefers tea {number}"
    added = await ask(client, "execute", call="memories.add", arguments={"title": title})
    one = {"id": added["data"]["id"]}
    got = await ask(client, "read", call="memories.get", arguments=one)
    assert got["data"]["title"] == title, got
    await ask(client, "read", fails="denied", call="memories.pin", arguments=one)
    near = await ask(client, "execute", fails="not_found", call="memory.add", arguments={"title": title})
    assert "`memories`" in near["hint"], near
    await ask(client, "read", fails="not_found", call="memories.get", arguments={"id": "m_0099"})
    # This client cannot ask its user: the call waits for an operator.
    waiting = await ask(client, "execute", call="memories.delete", arguments=one)
    assert waiting["data"]["run"]["status"] == "waiting", waiting
    path = f"/notes/{number}.md"
    await ask(client, "execute", call="files.put", arguments={"path": path, "content": title})
    read = await ask(client, "read", call="files.get", arguments={"path": path})
    assert read["data"]["text"] == title, read
    await ask(client, "execute", call="files.delete", arguments={"path": path})


async def main():
    for number, mode in enumerate(("auto", "legacy")):
        async with Client(sys.argv[1], mode=mode) as client:
            await session(client, number)


asyncio.run(main())
