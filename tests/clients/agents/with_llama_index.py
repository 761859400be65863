"""The steps with llama-index: an agent with a scripted model.

What its model receives is one text, Python's representation of the whole result: blocks, structure, and flags.
"""

import ast
import asyncio
import re

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, MessageRole, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.tools.mcp import BasicMCPClient, McpToolSpec

from shown import HEADERS, NONE, TARGET, URL, decoded, news, take


def seen(text, failed=NONE):
    blocks = re.findall(r"\b(Text|Image|Audio)Content\(|\b(Embedded)Resource\(", text)
    names = [(content or "resource").lower() for content, _ in blocks]
    structure = re.search(r" structured_content=(\{.*\}) is_error=", text)
    if structure:
        names.append("structured")
    first = ast.literal_eval(re.search(r"text=('(?:[^'\\]|\\.)*')", text)[1])
    data = ast.literal_eval(structure[1]) if structure else decoded(first)
    assert not structure or data == decoded(first), text
    return news([f"{name} as repr" for name in names], data, failed)


class LlamaIndex:
    def __init__(self):
        if URL:
            self.client = BasicMCPClient(URL, headers=HEADERS)
        else:
            self.client = BasicMCPClient(TARGET[0], args=TARGET[1:])
        self.spec = McpToolSpec(client=self.client)

    async def tools(self):
        return await self.spec.to_tool_list_async()

    async def names(self):
        return [tool.metadata.name for tool in await self.tools()]

    async def call(self, name, **arguments):
        [tool] = [tool for tool in await self.tools() if tool.metadata.name == name]
        return seen((await tool.acall(**arguments)).content)

    async def converse(self, script):
        def model(messages, **more):
            answered = messages[-1].role == MessageRole.TOOL
            call = script.turn(seen(messages[-1].content) if answered else None)
            calls = [ToolCallBlock(tool_call_id="1", tool_name=call[0], tool_kwargs=call[1])] if call else []
            return ChatMessage(role=MessageRole.ASSISTANT, blocks=calls)

        llm = MockFunctionCallingLLM(response_generator=model)
        await FunctionAgent(tools=await self.tools(), llm=llm, streaming=False).run("go")

    async def audio(self):
        return (await self.call("test", action="audio_content"))["kinds"]

    async def progress(self):
        # Neither its tools nor its agents take a callback.
        return {"last": NONE, "rises": NONE}

    async def elicitation(self):
        return (await self.call("worker", action="clean"))["data"]["code"]

    async def strict(self):
        [echo] = [tool for tool in await self.tools() if tool.metadata.name == "echo"]
        arguments = echo.metadata.fn_schema(action="say", text="hello").model_dump()
        assert list(arguments.values()).count(None) == len(arguments) - 2, arguments
        return {"schema": "pydantic", "data": (await self.call("echo", **arguments))["data"]["data"]}

    async def reload(self):
        # Each call and each list has a session of its own. The specification keeps the model of a schema by its name.
        while True:
            self.spec = McpToolSpec(client=self.client)
            [version] = [tool for tool in await self.tools() if tool.metadata.name == "version"]
            if "news" in str(version.metadata.fn_schema.model_json_schema()):
                break
            await asyncio.sleep(0.05)
        return {"notified": NONE, "data": (await self.call("version", action="news"))["data"]["data"]}


asyncio.run(take(LlamaIndex()))
