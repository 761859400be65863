"""Deploys with a person's approval, with the official SDK. Takes a URL, or the command of a host on stdio."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters
from mcp.types import ElicitResult

ANSWERS = [
    ElicitResult(action="accept", content={"approved": True}),
    ElicitResult(action="accept", content={"approved": False}),
    ElicitResult(action="decline"),
]


async def main():
    target = sys.argv[1] if len(sys.argv) == 2 else StdioServerParameters(command=sys.argv[1], args=sys.argv[2:])
    for mode in ("auto", "legacy"):
        for answer in ANSWERS:
            async def person(context, params):
                print(f"? {params.message}")
                return answer

            async with Client(target, mode=mode, elicitation_callback=person) as client:
                print(client.protocol_version)
                result = await client.call_tool("deploy_with_approval", {"action": "deploy_with_approval", "pr_number": "42"})
                envelope = json.loads(result.content[0].text)
                assert envelope == result.structured_content, "text and structured content differ"
                assert result.is_error != envelope["ok"]
                print(json.dumps(envelope.get("data", envelope.get("error")), ensure_ascii=False))


asyncio.run(main())
