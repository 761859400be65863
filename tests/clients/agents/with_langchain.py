"""The steps with langchain-mcp-adapters: an agent of langchain with a scripted model."""

import asyncio

from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_mcp_adapters.callbacks import Callbacks
from langchain_mcp_adapters.client import MultiServerMCPClient
from mcp.types import ElicitResult

from shown import ANSWERS, HEADERS, NONE, TARGET, URL, kinds, news, nulls, rising, take


class ScriptedModel(GenericFakeChatModel):
    """Passes what it receives to a function, and answers with the call that it returns."""

    turn: object

    def bind_tools(self, tools, **more):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **more):
        call = self.turn(messages[-1] if isinstance(messages[-1], ToolMessage) else None)
        calls = [{"name": call[0], "args": call[1], "id": str(len(messages))}] if call else []
        self.messages = iter([AIMessage("", tool_calls=calls)])
        return super()._generate(messages, stop, run_manager, **more)


def seen(message):
    names, data = kinds(message.content_blocks)
    return news(names, data, message.status == "error")


class Langchain:
    def __init__(self):
        self.answers = iter(ANSWERS)
        self.reports = []
        if URL:
            connection = {"transport": "http", "url": URL, "headers": HEADERS}
        else:
            connection = {"transport": "stdio", "command": TARGET[0], "args": TARGET[1:]}
        callbacks = Callbacks(on_progress=self.report, on_elicitation=self.person)
        self.client = MultiServerMCPClient({"loggia": connection}, callbacks=callbacks)

    async def person(self, context, params, where):
        action, content = next(self.answers)
        return ElicitResult(action=action, content=content)

    async def report(self, done, total, message, where):
        self.reports.append((done, total, message))

    async def names(self):
        return [tool.name for tool in await self.client.get_tools()]

    async def call(self, name, arguments):
        [tool] = [tool for tool in await self.client.get_tools() if tool.name == name]
        return await tool.ainvoke({"type": "tool_call", "name": name, "args": arguments, "id": "1"})

    async def converse(self, script):
        model = ScriptedModel(messages=iter([]), turn=lambda message: script.turn(message and seen(message)))
        agent = create_agent(model, await self.client.get_tools())
        await agent.ainvoke({"messages": [("user", "go")]})

    async def audio(self):
        try:
            return seen(await self.call("test", {"action": "audio_content"}))["kinds"]
        except NotImplementedError as refused:
            return type(refused).__name__

    async def progress(self):
        await self.call("echo", {"action": "steps"})
        return rising(self.reports)

    async def elicitation(self):
        return [seen(await self.call("worker", {"action": "clean"}))["data"]["data"] for _ in ANSWERS]

    async def strict(self):
        [echo] = [tool for tool in await self.client.get_tools() if tool.name == "echo"]
        result = await self.call("echo", nulls(echo.args_schema, action="say", text="hello"))
        return {"schema": NONE, "data": seen(result)["data"]["data"]}

    async def reload(self):
        # Each call and each list has a session of its own.
        while "news" not in str(await self.client.get_tools()):
            await asyncio.sleep(0.05)
        return {"notified": NONE, "data": seen(await self.call("version", {"action": "news"}))["data"]["data"]}


asyncio.run(take(Langchain()))
