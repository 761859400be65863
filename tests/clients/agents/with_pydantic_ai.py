"""The steps with pydantic-ai: an agent with a scripted model."""

import asyncio

from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent, BinaryContent, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import RetryPromptPart
from pydantic_ai.models.function import FunctionModel

from shown import ANSWERS, HEADERS, NONE, TARGET, URL, decoded, news, nulls, rising, take


def seen(part):
    """What a model receives of a part: its kinds and the data."""
    failed = isinstance(part, RetryPromptPart) or part.outcome != "success"
    values = part.content if isinstance(part.content, list) else [part.content]
    names = []
    for value in values:
        if isinstance(value, BinaryContent):
            names.append(value.media_type.split("/")[0])
        else:
            names.append("text" if isinstance(value, str) else "structured")
    first = decoded(values[0]) if isinstance(values[0], str) else values[0]
    return news(names, first, failed)


class PydanticAi:
    def __init__(self):
        self.answers = iter(ANSWERS)
        self.reports = []
        self.tools = []
        self.changed = asyncio.Event()
        self.toolset = self.connect()

    def connect(self, **more):
        if HEADERS:
            more["headers"] = HEADERS
        return MCPToolset(
            URL or StdioTransport(TARGET[0], TARGET[1:]),
            elicitation_handler=self.person,
            progress_handler=self.report,
            message_handler=self.hears,
            **more,
        )

    async def person(self, message, kind, params, context):
        action, content = next(self.answers)
        return ElicitResult(action=action, content=content)

    async def report(self, *told):
        self.reports.append(told)

    async def hears(self, message):
        if type(message).__name__ == "ToolListChangedNotification":
            self.changed.set()

    async def run(self, turn):
        """Runs an agent: `turn` takes the parts of the last message to the model, and returns a call or None."""

        def model(messages, info):
            self.tools = info.function_tools
            call = turn([part for part in messages[-1].parts if part.part_kind in ("tool-return", "retry-prompt")])
            return ModelResponse(parts=[ToolCallPart(*call) if call else TextPart("done")])

        await Agent(FunctionModel(model), toolsets=[self.toolset], retries=3).run("go")

    async def call(self, name, arguments):
        received = []

        def turn(parts):
            received.extend(parts)
            return None if parts else (name, arguments)

        await self.run(turn)
        return seen(received[0])

    async def names(self):
        await self.run(lambda parts: None)
        return [tool.name for tool in self.tools]

    async def converse(self, script):
        await self.run(lambda parts: script.turn(seen(parts[0]) if parts else None))

    async def audio(self):
        return (await self.call("test", {"action": "audio_content"}))["kinds"]

    async def progress(self):
        await self.call("echo", {"action": "steps"})
        return rising(self.reports)

    async def elicitation(self):
        return [(await self.call("worker", {"action": "clean"}))["data"]["data"] for _ in ANSWERS]

    async def strict(self):
        [echo] = [tool for tool in self.tools if tool.name == "echo"]
        result = await self.call("echo", nulls(echo.parameters_json_schema, action="say", text="hello"))
        return {"schema": NONE, "data": result["data"]["data"]}

    async def reload(self):
        # It connects in 2026-07-28 and does not listen, and keeps its list until it is notified: a connection shows the change
        # only with `cache_tools=False`, or when it is opened again.
        kept, self.toolset = self.toolset, self.connect(cache_tools=False)
        async with self.toolset:
            while "news" not in str(self.tools):
                await self.names()
            result = await self.call("version", {"action": "news"})
        self.toolset = kept
        await self.names()
        return {"notified": self.changed.is_set(), "kept": "news" not in str(self.tools), "data": result["data"]["data"]}


async def main():
    client = PydanticAi()
    async with client.toolset:
        await take(client)


asyncio.run(main())
