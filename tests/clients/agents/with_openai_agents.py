"""The steps with openai-agents: an agent with a scripted model. Takes what its model is to receive first: `text` or `structured`."""

import asyncio
import json
import sys

FORM = sys.argv.pop(1)

from agents import Agent, ModelResponse, Runner, Usage, set_tracing_disabled
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp
from agents.models.interface import Model
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from shown import HEADERS, NONE, TARGET, URL, decoded, kinds, news, nulls, take

# It would send traces to its vendor.
set_tracing_disabled(True)


class ScriptedModel(Model):
    """Passes the output that it receives to a function, and answers with the call that it returns."""

    def __init__(self, turn):
        self.turn = turn
        self.tools = []

    async def get_response(self, system_instructions, input, model_settings, tools, *rest, **more):
        self.tools = tools
        last = input[-1] if isinstance(input, list) else {}
        call = self.turn(last["output"] if last.get("type") == "function_call_output" else None)
        if call:
            name, arguments = call[0], json.dumps(call[1])
            one = str(len(input))
            item = ResponseFunctionToolCall(type="function_call", call_id=one, name=name, arguments=arguments)
        else:
            text = ResponseOutputText(type="output_text", text="done", annotations=[])
            item = ResponseOutputMessage(
                type="message", id="1", role="assistant", status="completed", content=[text]
            )
        return ModelResponse(output=[item], usage=Usage(), response_id=None)

    def stream_response(self, *arguments, **more):
        raise NotImplementedError


def seen(output):
    if isinstance(output, str):
        return news(["structured"], decoded(output))
    blocks = [{**block, "type": block["type"].removeprefix("input_")} for block in output]
    return news(*kinds(blocks))


class OpenaiAgents:
    def __init__(self):
        self.changed = asyncio.Event()
        more = {"use_structured_content": FORM == "structured", "message_handler": self.hears}
        if URL:
            self.server = MCPServerStreamableHttp({"url": URL, "headers": HEADERS}, **more)
        else:
            self.server = MCPServerStdio({"command": TARGET[0], "args": TARGET[1:]}, **more)

    async def hears(self, message):
        if "ToolListChangedNotification" in repr(message):
            self.changed.set()

    async def run(self, turn, strict=False):
        model = ScriptedModel(turn)
        config = {"convert_schemas_to_strict": strict}
        agent = Agent("tester", model=model, mcp_servers=[self.server], mcp_config=config)
        await Runner.run(agent, "go")
        return model.tools

    async def call(self, name, arguments, strict=False):
        outputs = []

        def turn(output):
            outputs.append(output)
            return (name, arguments) if output is None else None

        await self.run(turn, strict)
        return seen(outputs[-1])

    async def names(self):
        return [tool.name for tool in await self.run(lambda output: None)]

    async def converse(self, script):
        await self.run(lambda output: script.turn(output and seen(output)))

    async def audio(self):
        return (await self.call("test", {"action": "audio_content"}))["kinds"]

    async def progress(self):
        return {"last": NONE, "rises": NONE}

    async def elicitation(self):
        return (await self.call("worker", {"action": "clean"}))["data"]["code"]

    async def strict(self):
        [echo] = [tool for tool in await self.run(lambda output: None, strict=True) if tool.name == "echo"]
        schema = echo.params_json_schema
        told = echo.strict_json_schema and set(schema["required"]) == set(schema["properties"])
        result = await self.call("echo", nulls(schema, action="say", text="hello"), strict=True)
        return {"schema": told, "data": result["data"]["data"]}

    async def reload(self):
        # It connects in 2026-07-28 and does not listen: only a new list shows the change.
        while "news" not in str(await self.run(lambda output: None)):
            await asyncio.sleep(0.05)
        result = await self.call("version", {"action": "news"})
        return {"notified": self.changed.is_set(), "data": result["data"]["data"]}


async def main():
    client = OpenaiAgents()
    async with client.server:
        await take(client)


asyncio.run(main())
