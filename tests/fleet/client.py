"""A client of the fleet, with the official Python SDK: `client.py MODE URL FOLDER SEED WORKER=TOKEN…`.

Each worker makes calls one after another, and appends a line of JSON to FOLDER/WORKER.jsonl for each. Ends once its input does.
`client.mjs` does the same with the official TypeScript SDKs.
"""

import asyncio
import json
import logging
import random
import sys
import time

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult

EPOCH_NS = 5_000_000_000  # so long, workers use the same keys
KEYS = 12  # registers of one epoch
PATIENCE = 8  # seconds for a call
PAUSE = 0.02  # between two calls of a worker
WEIGHTS = {"get": 30, "put": 14, "increment": 14, "compare_and_put": 10, "note": 14, "place": 9, "follow": 6, "approve": 1.5, "ask": 3}
# Calls that change nothing, or whose result is no part of a history: a failure leaves nothing unknown.
HARMLESS = {"get", "follow", "ask", "connect"}


async def person(context, params):
    """Answers every question."""
    wants_newest = "newest" in (params.requested_schema or {}).get("properties", {})
    return ElicitResult(action="accept", content={"newest": 3, "why": "dust"} if wants_newest else {"yes": True})


class Worker:
    def __init__(self, name, token, mode, url, folder, seed):
        self.name, self.token, self.mode, self.url = name, token, mode, url
        self.chance = random.Random(f"{seed} {name}")
        self.file = open(f"{folder}/{name}.jsonl", "w", buffering=1)
        self.number = 0
        self.versions = {}
        self.runs, self.waiting = [], []
        # Whether a run may have begun whose handle was lost.
        self.lost_one = False
        self.failures = 0

    def record(self, kind, start, outcome, **more):
        # `why` is for whoever looks at failures.
        line = {"worker": self.name, "kind": kind, "start": start, "end": time.monotonic_ns(), "outcome": outcome, **more}
        self.file.write(json.dumps(line) + "\n")

    async def run(self, stop):
        while not stop.is_set():
            start = time.monotonic_ns()
            try:
                headers = {"Authorization": f"Bearer {self.token}"}
                timeout = httpx2.Timeout(PATIENCE + 2, read=60)
                async with httpx2.AsyncClient(headers=headers, timeout=timeout) as http:
                    transport = streamable_http_client(self.url, http_client=http)
                    async with Client(transport, mode=self.mode, elicitation_callback=person, read_timeout_seconds=PATIENCE) as client:
                        self.record("connect", start, "ok", version=client.protocol_version)
                        self.failures = 0
                        await self.work(client, stop)
            except Exception as error:
                self.record("connect", start, "unknown", why=reason(error))
                await asyncio.sleep(0.05)

    async def work(self, client, stop):
        """Makes calls as long as the connection, or the session, is of use."""
        while not stop.is_set():
            kind = self.chance.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
            tool, arguments, about = self.plan(kind)
            start = time.monotonic_ns()
            try:
                result = await asyncio.wait_for(client.call_tool(tool, arguments), PATIENCE)
                self.failures = 0
                self.note(kind, start, about, result)
            except Exception as error:
                self.record(kind, start, "fail" if kind in HARMLESS else "unknown", why=reason(error), **about)
                self.failures += 1
                self.lost_one |= kind == "approve"
                # The check at the end asks once more.
                self.waiting = [run for run in self.waiting if run != about.get("run")]
                gone = any(word in reason(error).lower() for word in ("session", "404", "closed"))
                if gone or self.failures >= 3:
                    return
                await asyncio.sleep(0.05)
            await asyncio.sleep(PAUSE * self.chance.random() * 2)

    def plan(self, kind):
        """A call: its tool, its arguments, and what a history needs to know of them."""
        self.number += 1
        unique = f"{self.name}.{self.number}"
        key = f"r{time.monotonic_ns() // EPOCH_NS}.{self.chance.randrange(KEYS)}"
        # Increments do not reach the next worker's values.
        worker = sum(ord(letter) * 31**place for place, letter in enumerate(self.name)) % 1000
        value = (self.number * 1000 + worker) * 1000
        if kind == "get":
            return "keeps", {"action": "get", "key": key}, {"key": key}
        if kind == "put":
            return "keeps", {"action": "put", "key": key, "value": str(value)}, {"key": key, "argument": value}
        if kind == "increment":
            return "keeps", {"action": "increment", "key": key}, {"key": key, "argument": 1}
        if kind == "compare_and_put":
            version = self.versions.get(key)
            arguments = {"action": "compare_and_put", "key": key, "value": str(value)}
            return "keeps", arguments | ({"version": version} if version else {}), {"key": key, "argument": [value, version]}
        if kind == "note":
            return "keeps", {"action": "put", "key": f"note.{unique}", "value": unique}, {"key": f"note.{unique}", "argument": unique}
        if kind in ("place", "approve"):
            return "orders", {"action": kind, "id": f"{kind}.{unique}", "wait": False}, {"key": f"{kind}.{unique}"}
        if kind == "follow" and self.lost_one:
            return "orders", {"action": "run_status"}, {"list": True}
        if kind == "follow" and (self.waiting or self.runs):
            # Those with a question first, until they end.
            run = self.waiting[0] if self.waiting else self.chance.choice(self.runs[-8:])
            return "orders", {"action": "run_status", "run_id": run, "wait": True}, {"run": run}
        return "worker", {"action": "clean"}, {}

    def note(self, kind, start, about, result):
        envelope = result.structured_content or json.loads(result.content[0].text)
        data, code = envelope.get("data"), envelope.get("code")
        if result.is_error or not envelope.get("ok"):
            if kind == "compare_and_put" and code == "conflict":
                return self.record(kind, start, "ok", result="conflict", **about)
            why = f"{code}: {str(envelope.get('error') or envelope.get('message'))[:200]}"
            return self.record(kind, start, "fail" if kind in HARMLESS else "unknown", why=why, **about)
        if kind == "get":
            self.versions[about["key"]] = data and data["version"]
            result = [data and int(data["value"]), data and data["version"]]
        elif kind in ("place", "approve"):
            result = data["run"]["id"]
            (self.runs if kind == "place" else self.waiting).append(result)
        elif "list" in about:
            asking = [run["id"] for run in data["runs"] if run["action"] == "approve" and run["status"] in ("running", "waiting")]
            self.waiting, self.lost_one, result = asking, False, len(asking)
        elif kind == "follow" and "run" in about:
            result = data["run"]["status"]
            if self.waiting and result in ("succeeded", "failed"):
                self.waiting = [run for run in self.waiting if run != about["run"]]
        else:
            result = data
        self.record(kind, start, "ok", result=result, **about)


def reason(error):
    """The innermost of a group of errors."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {str(error)[:200]}"


async def main():
    logging.disable()
    mode, url, folder, seed, *workers = sys.argv[1:]
    stop = asyncio.Event()
    asyncio.get_running_loop().run_in_executor(None, sys.stdin.read).add_done_callback(lambda _: stop.set())
    tasks = [Worker(*worker.split("=", 1), mode, url, folder, seed).run(stop) for worker in workers]
    await asyncio.gather(*tasks)


asyncio.run(main())
