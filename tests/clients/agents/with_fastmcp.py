"""The steps with fastmcp. Takes a mode first: `auto` or `legacy`. It has no agent: a model receives what its caller makes of the result."""

import asyncio
import sys

MODE = sys.argv.pop(1)

from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport

from shown import ANSWERS, HEADERS, NONE, TARGET, URL, kinds, news, nulls, rising, take


class Fastmcp:
    def __init__(self):
        self.answers = iter(ANSWERS)
        self.changed = asyncio.Event()
        transport = StreamableHttpTransport(URL, headers=HEADERS) if URL else StdioTransport(TARGET[0], TARGET[1:])
        self.client = Client(transport, mode=MODE, elicitation_handler=self.person, message_handler=self.hears)

    async def person(self, message, kind, params, context):
        action, content = next(self.answers)
        return ElicitResult(action=action, content=content)

    async def hears(self, message):
        if type(message).__name__ == "ToolListChangedNotification":
            self.changed.set()

    async def names(self):
        return [tool.name for tool in await self.client.list_tools()]

    async def call(self, name, arguments, **more):
        return await self.client.call_tool(name, arguments, raise_on_error=False, **more)

    async def converse(self, script):
        received = None
        while call := script.turn(received):
            result = await self.call(*call)
            names, data = kinds([block.model_dump() for block in result.content])
            if result.structured_content is not None:
                assert result.structured_content == data, result
                names.append("structured")
            received = news(names, data, result.is_error)

    async def audio(self):
        result = await self.call("test", {"action": "audio_content"})
        return kinds([block.model_dump() for block in result.content])[0]

    async def progress(self):
        reports = []

        async def report(*told):
            reports.append(told)

        await self.call("echo", {"action": "steps"}, progress_handler=report)
        return rising(reports)

    async def elicitation(self):
        return [(await self.call("worker", {"action": "clean"})).structured_content["data"] for _ in ANSWERS]

    async def strict(self):
        [echo] = [tool for tool in await self.client.list_tools() if tool.name == "echo"]
        result = await self.call("echo", nulls(echo.input_schema, action="say", text="hello"))
        return {"schema": NONE, "data": result.structured_content["data"]}

    async def reload(self):
        # Its 2026-07-28 does not listen: there, only a new list shows the change.
        if MODE == "legacy":
            await self.changed.wait()
        else:
            while "news" not in str(await self.client.list_tools()):
                await asyncio.sleep(0.05)
        result = await self.call("version", {"action": "news"})
        return {"notified": self.changed.is_set(), "data": result.structured_content["data"]}


async def main():
    client = Fastmcp()
    async with client.client:
        await take(client)


asyncio.run(main())
