"""The usual steps of a client, with the official Python SDK: list, call, error, nulls, progress, cancel, elicitation, resources, and
a reload.

Takes a mode and a URL, or a mode and the command of a host on stdio. `TOKEN` in the environment is the bearer token for a URL.
Prints a line of JSON for each step; after `ready` one more tool is expected. `steps.mjs` prints the same lines.
"""

import asyncio
import json
import os
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult, ResourceUpdatedNotification, ToolListChangedNotification

MODE, TARGET = sys.argv[1], sys.argv[2:]
ANSWERS = [ElicitResult(action="accept", content={"newest": 3, "why": "dust"}), ElicitResult(action="decline")]


def told(step, **said):
    print(json.dumps({"step": step, **said}), flush=True)


async def names(client):
    return [tool.name for tool in (await client.list_tools()).tools]


async def data(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    return result.structured_content["data"]


async def error(client):
    result = await client.call_tool("echo", {"action": "say"})
    assert result.is_error, result
    text = json.loads(result.content[0].text)
    told("error", text=text["code"], structured=result.structured_content["code"])


async def nulls(client):
    """As a model in strict mode calls: null for each parameter that it does not mean."""
    [echo] = [tool for tool in (await client.list_tools()).tools if tool.name == "echo"]
    arguments = {**dict.fromkeys(echo.input_schema["properties"]), "action": "say", "text": "hello"}
    told("nulls", data=await data(client, "echo", **arguments))


async def progress(client):
    reports = []

    async def report(done, total, message):
        reports.append([done, total, message])

    await client.call_tool("echo", {"action": "steps"}, progress_callback=report)
    done = [report[0] for report in reports]
    told("progress", last=reports[-1], rises=done == sorted(set(done)))


async def cancel(client):
    begun = asyncio.Event()

    async def report(*_):
        begun.set()

    arguments = {"action": "work", "steps": 100_000}
    call = asyncio.create_task(client.call_tool("worker", arguments, progress_callback=report))
    await begun.wait()
    call.cancel()
    await asyncio.wait([call])
    # One call runs at a time: this one waits until the other's guest has stopped.
    told("cancel", cancelled=call.cancelled(), after=await data(client, "worker", action="work", steps=1))


async def put(client, text):
    await client.call_tool("shelf", {"action": "put", "id": "a b", "title": "A", "text": text})


async def text(client, uri):
    return (await client.read_resource(uri)).contents[0].text


async def resources(client, updated):
    await put(client, "# Hello")
    templates = [found.uri_template for found in (await client.list_resource_templates()).resource_templates]
    uris = [str(found.uri) for found in (await client.list_resources()).resources]
    [uri] = [found for found in uris if found.startswith("shelf://document/")]
    before = await text(client, uri)
    if MODE == "legacy":
        await client.subscribe_resource(uri)
        await put(client, "# Changed")
        changed = await updated.get()
    else:
        async with client.listen(resource_subscriptions=[uri]) as changes:
            # The first one says that it may have changed before.
            await anext(changes)
            await put(client, "# Changed")
            changed = (await anext(changes)).uri
    told("resources", templates=templates, uris=uris, text=before, updated=str(changed), now=await text(client, uri))


async def reload(client, changed):
    if MODE == "legacy":
        told("ready", news=int(changed.is_set()))
        await changed.wait()
    else:
        async with client.listen(tools_list_changed=True) as changes:
            told("ready", news=0)
            async for _ in changes:
                break
    told("reload", tools=await names(client))


async def main():
    if len(TARGET) == 1:
        headers = {"Authorization": f"Bearer {os.environ['TOKEN']}"}
        # Streams stay open.
        http = httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(30, read=None))
        target = streamable_http_client(TARGET[0], http_client=http)
    else:
        target = StdioServerParameters(command=TARGET[0], args=TARGET[1:])
    changed, updated = asyncio.Event(), asyncio.Queue()
    answers = iter(ANSWERS)

    async def person(context, params):
        return next(answers)

    async def hears(message):
        if isinstance(message, ToolListChangedNotification):
            changed.set()
        if isinstance(message, ResourceUpdatedNotification):
            updated.put_nowait(message.params.uri)

    async with Client(target, mode=MODE, elicitation_callback=person, message_handler=hears) as client:
        told("connect", version=client.protocol_version)
        told("list", tools=await names(client))
        told("call", data=await data(client, "echo", action="say", text="hello"))
        await error(client)
        await nulls(client)
        await progress(client)
        await cancel(client)
        told("elicitation", data=[await data(client, "worker", action="clean") for _ in ANSWERS])
        await resources(client, updated)
        await reload(client, changed)


asyncio.run(main())
