"""Calls every tool of a reference server directly and through Loggia, with the official SDK, and compares the results.

    compare.py SETUP.json

The setup names the server, its command, the command of a Loggia on stdio that serves it as a facade, the folder in which
both work, and the URL of a site. Prints a line for each call, and fails where two results differ.
"""

import asyncio
import base64
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, ElicitResult

HERE = Path(__file__).resolve().parent
SETUP = json.loads(Path(sys.argv[1]).read_text())
NAME, WORK = SETUP["name"], Path(SETUP["work"])
CALLS = json.loads((HERE / "calls.json").read_text())[NAME]
# One pixel.
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
# Tools that can be called only as a task of 2025-11-25, for which this SDK has no method.
TASKS = {"simulate-research-query"}
# Times of files and of resources differ by nature.
TIMES = re.compile(r"(^created:|^modified:|^accessed:|created at) .*$", re.M)


def prepare():
    """Makes the folder as it was: both runs see the same paths, so none has to be normalised."""
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    if NAME == "filesystem":
        (WORK / "dot.png").write_bytes(base64.b64decode(DOT))
    if NAME == "git":
        (WORK / "readme.txt").write_text("one\n")
        for words in (["init", "--quiet", "--initial-branch=main"], ["add", "."], ["commit", "--quiet", "-m", "first"]):
            subprocess.run(["git", *words], cwd=WORK, env=SETUP["env"], check=True)
        (WORK / "readme.txt").write_text("one\ntwo\n")


def client(command):
    answers = iter([ElicitResult(action="accept", content={"name": "Ada", "integer": 7}), ElicitResult(action="decline")])

    async def person(context, params):
        return ElicitResult(action="accept") if params.mode == "url" else next(answers)

    server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    return Client(server, elicitation_callback=person)


def arguments(given):
    text = json.dumps(given, ensure_ascii=False)
    return json.loads(text.replace("WORK", str(WORK)).replace("SITE", SETUP["site"]))


def plain(value):
    if isinstance(value, str):
        return TIMES.sub(r"\1 …", value)
    if isinstance(value, dict):
        value = {key: plain(inner) for key, inner in value.items()}
        if value.get("mimeType") == "text/plain" and "blob" in value:
            value["blob"] = plain(base64.b64decode(value["blob"]).decode())
        return value
    return [plain(inner) for inner in value] if isinstance(value, list) else value


def printable(text):
    """The first line of an error, wherever the test runs."""
    return text.replace(str(WORK), "WORK").replace(SETUP["site"], "SITE").splitlines()[0]


def blocks(content):
    return [plain(block.model_dump(mode="json", by_alias=True, exclude_none=True)) for block in content]


def is_same(value, text):
    return text == value if isinstance(value, str) else parsed(text) == value


def parsed(text):
    value = None
    if text.lstrip().startswith(("{", "[")):
        try:
            value = json.loads(text)
        except ValueError:
            pass
    return text if value is None else value


def expected(result):
    """What Loggia should make of a direct result: its data and its other blocks, or its error."""
    if isinstance(result, MCPError):
        return {"error": result.error.message}
    texts = [plain(block.text) for block in result.content if block.type == "text"]
    rest = [block for block in blocks(result.content) if block["type"] != "text"]
    if result.is_error:
        return {"error": "\n".join(texts)}
    data = plain(result.structured_content)
    if data is None:
        data = [parsed(text) for text in texts]
        data = data[0] if len(data) == 1 else data or None
    else:
        values = [data, *data.values()] if len(data) == 1 else [data]
        repeats = any(len(texts) == 1 and is_same(value, texts[0]) for value in values)
        rest = ([] if repeats else [{"type": "text", "text": text} for text in texts]) + rest
    return {"data": data, "blocks": rest}


def seen(result):
    envelope = json.loads(result.content[0].text)
    # Clients that read structured content drop media, so a result with media has none.
    assert result.structured_content in (envelope, None), "text and structured content differ"
    envelope = plain(envelope)
    assert result.is_error != envelope["ok"]
    if result.is_error:
        return envelope, {"error": envelope["error"]}
    return envelope, {"data": envelope.get("data"), "blocks": blocks(result.content[1:])}


async def call_task(server, tool, given):
    send = server.session._dispatcher.send_raw_request
    created = await send("tools/call", {"name": tool, "arguments": given, "task": {"ttl": 60000}}, {})
    return CallToolResult.model_validate(await send("tasks/result", {"taskId": created["task"]["taskId"]}, {}))


async def call_directly():
    prepare()
    results = []
    async with client(SETUP["direct"]) as server:
        tools = {tool.name for tool in (await server.list_tools()).tools}
        assert tools == {tool for tool, _ in CALLS}, f"not every tool is called: {tools}"
        for tool, given in CALLS:
            try:
                call = call_task if tool in TASKS else Client.call_tool
                results.append(await call(server, tool, arguments(given)))
            except MCPError as error:
                results.append(error)
    return results


async def call_through_loggia(direct):
    prepare()
    differ = 0
    async with client(SETUP["loggia"]) as loggia:
        listed = (await loggia.list_tools()).tools
        print(f"tools: {[tool.name for tool in listed]}")
        for (tool, given), result in zip(CALLS, direct, strict=True):
            # A tool's own name is an alias of its action.
            envelope, got = seen(await loggia.call_tool(NAME, {"action": tool, **arguments(given)}))
            wanted = expected(result)
            outcome = envelope.get("code", "ok") + "".join(f" +{block['type']}" for block in got.get("blocks", []))
            print(f"{tool} -> {envelope['action']}: {outcome}")
            if "error" in got:
                print(f"  {printable(got['error'])}")
            if got != wanted:
                differ += 1
                print(f"  direct: {json.dumps(wanted, ensure_ascii=False)}\n  Loggia: {json.dumps(got, ensure_ascii=False)}")
    return differ


async def main():
    sys.exit(min(await call_through_loggia(await call_directly()), 1))


asyncio.run(main())
