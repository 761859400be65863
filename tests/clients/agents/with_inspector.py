"""The steps with the inspector's command line: one process for each request. Takes Node and the inspector first.

It has no agent: a person or a script reads the result.
"""

import asyncio
import json
import sys

NODE, INSPECTOR = sys.argv.pop(1), sys.argv.pop(1)

from shown import HEADERS, NONE, TARGET, URL, kinds, news, nulls, take


class Inspector:
    async def ask(self, *options):
        """Asks for one result; the exit code beside it."""
        headers = [part for name, value in HEADERS.items() for part in ("--header", f"{name}: {value}")]
        server = ["--server-url", URL, "--transport", "http", *headers] if URL else TARGET
        options = ["--cli", "--quiet", "--format", "json", *options]
        pipes = {"stdout": asyncio.subprocess.PIPE, "stdin": asyncio.subprocess.DEVNULL}
        process = await asyncio.create_subprocess_exec(NODE, INSPECTOR, *options, *server, **pipes)
        output, _ = await process.communicate()
        return json.loads(output)["result"], process.returncode

    async def call(self, name, arguments):
        options = ["--method", "tools/call", "--tool-name", name, "--tool-args-json", json.dumps(arguments)]
        result, code = await self.ask(*options)
        names, data = kinds(result["content"])
        if "structuredContent" in result:
            assert result["structuredContent"] == data, result
            names.append("structured")
        # The exit code tells of a result that is marked as an error.
        return news(names, data, [result["isError"], code])

    async def tools(self):
        return (await self.ask("--method", "tools/list"))[0]["tools"]

    async def names(self):
        return [tool["name"] for tool in await self.tools()]

    async def converse(self, script):
        received = None
        while call := script.turn(received):
            received = await self.call(*call)

    async def audio(self):
        return (await self.call("test", {"action": "audio_content"}))["kinds"]

    async def progress(self):
        return {"last": NONE, "rises": NONE}

    async def elicitation(self):
        return (await self.call("worker", {"action": "clean"}))["data"]["code"]

    async def strict(self):
        # Exit code 6: a schema that some client does not take.
        _, code = await self.ask("--method", "tools/list", "--strict")
        [echo] = [tool for tool in await self.tools() if tool["name"] == "echo"]
        result = await self.call("echo", nulls(echo["inputSchema"], action="say", text="hello"))
        return {"schema": code == 0, "data": result["data"]["data"]}

    async def reload(self):
        while "news" not in str(await self.tools()):
            await asyncio.sleep(0.05)
        return {"notified": NONE, "data": (await self.call("version", {"action": "news"}))["data"]["data"]}


asyncio.run(take(Inspector()))
