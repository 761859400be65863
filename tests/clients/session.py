"""A session of thirty calls over five facades; its host is killed halfway and restarted.

Takes the first host's address; prints `half` when it should be killed, and reads the next one's address.
"""

import asyncio
import json
import sys

from mcp import Client

OLD = {"/data/a.md": "# A\n\nOld.\n", "/data/b.md": "# B\n\nOld.\n"}
NEW = {"/data/a.md": "# A\n\nNew.\n", "/data/b.md": "# B\n\nNew.\n", "/data/c.md": "# C\n\nNew.\n"}

GUIDE = """# Guide

## Brewing

Green tea wants water of 80 degrees, and two minutes.

## Serving

Serve it in small cups.
"""

made = 0


async def call(client, tool, action, fails=None, **params):
    """Makes a call and returns its envelope, after checking it."""
    global made
    made += 1
    result = await client.call_tool(tool, {"action": action, **params})
    envelope = json.loads(result.content[0].text)
    # Apart from media there is only the text.
    assert result.structured_content in (None, envelope), "text and structured content differ"
    assert envelope.get("code") == fails, envelope
    assert fails is None or envelope["hint"], envelope
    print(f"{made:2} {tool} {action}: {fails or 'ok'}", flush=True)
    return envelope


def ids(envelope):
    return [one["id"] for one in envelope["data"]]


async def before(client):
    tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == ["conversations", "files", "knowledge", "memories", "search"], tools
    for path, content in OLD.items():
        await call(client, "files", "put", path=path, content=content)
    await call(client, "memories", "add", title="Prefers green tea", body="Without sugar.", tags=["taste"])
    await call(client, "memories", "add", title="Has a small kitchen")
    await call(client, "memories", "link", id="m_0001", to="m_0002", relation="made in")
    assert ids(await call(client, "memories", "search", query="sugar")) == ["m_0001"]
    await call(client, "knowledge", "add", text=GUIDE, source="guide.md")
    found = await call(client, "knowledge", "search", query="how hot should the water be for tea")
    assert "80 degrees" in found["data"][0]["text"], found
    await call(client, "conversations", "append", role="user", text="How hot should the water be?")
    await call(client, "conversations", "append", conversation="c_0001", role="assistant", text="80 degrees.")
    both = await call(client, "search", "hybrid", query="tea")
    assert {hit["source"] for hit in both["data"]} >= {"memories", "knowledge"}, both
    assert (await call(client, "memories", "embed"))["data"] == {"embedded": 0, "left": 0}
    started = await call(client, "files", "roundtrip_start", paths=[*NEW])
    trip = started["data"]["manifest_id"]
    changes = [{"path": path, "content": content} for path, content in NEW.items()]
    preview = await call(client, "files", "roundtrip_preview", manifest_id=trip, changes=changes, mode="replace")
    assert "+New." in json.dumps(preview["data"]), preview
    return trip, changes


async def killed(client, trip, changes):
    """Makes a commit whose host is killed before, during or after it."""
    global made
    made += 1
    print("half", flush=True)
    arguments = {"action": "roundtrip_commit", "manifest_id": trip, "changes": changes, "mode": "replace"}
    await client.call_tool("files", arguments)


async def after(client, trip, changes):
    start = await call(client, "files", "roundtrip_start", paths=[*NEW])
    there = {file["path"]: file.get("text") for file in start["data"]["files"]}
    assert there in (NEW, {**OLD, "/data/c.md": None}), f"neither old nor new: {there}"
    # The manifest still exists, and repeating the commit changes nothing.
    await call(client, "files", "roundtrip_commit", manifest_id=trip, changes=changes, mode="replace")
    got = await call(client, "files", "get", path="/data/c.md")
    assert got["data"]["text"] == NEW["/data/c.md"], got
    got = await call(client, "memories", "get", id="m_0001")
    assert got["data"]["links"] == [{"id": "m_0002", "relation": "made in"}], got
    await call(client, "memories", "update", id="m_0001", body="With honey.")
    assert ids(await call(client, "memories", "search", query="honey")) == ["m_0001"]
    await call(client, "memories", "pin", id="m_0002")
    assert ids(await call(client, "memories", "list", detail="minimal")) == ["m_0002", "m_0001"]
    found = await call(client, "knowledge", "search", query="cups")
    assert found["data"][0]["source"] == "guide.md", found
    await call(client, "knowledge", "chunk", id="k_0001", size=200)
    said = await call(client, "conversations", "append", conversation="c_0001", role="user", text="Thank you.")
    assert said["data"]["messages"] == 3, said
    assert (await call(client, "conversations", "search", query="degrees"))["data"][0]["conversation"] == "c_0001"
    await call(client, "conversations", "export", conversation="c_0001", format="json")
    assert (await call(client, "search", "semantic", query="tea"))["data"]
    await call(client, "knowledge", "get", fails="not_found", id="k_0002")


async def main():
    trip = None
    try:
        async with Client(sys.argv[1]) as client:
            trip, changes = await before(client)
            await killed(client, trip, changes)
    except Exception:
        # The host is killed during the call.
        if trip is None:
            raise
    url = sys.stdin.readline().strip()
    async with Client(url) as client:
        await after(client, trip, changes)
    print(f"{made} calls")


asyncio.run(main())
