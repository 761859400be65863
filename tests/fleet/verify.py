"""What must hold at the end of a fleet test, and its figures."""

import asyncio
import json
import random
import re
import statistics
from collections import Counter, defaultdict
from dataclasses import dataclass, field

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult

import gaps
from hosts import now
from linear import FOREVER, Operation, Undecided, explain

STEPS = {"place": ["pay", "stock", "mail"], "approve": ["seen", "pay"]}
REGISTERS = {"get", "put", "increment", "compare_and_put"}
# Seconds in which every run must have ended.
PATIENCE = 120


@dataclass
class Report:
    lines: list
    violations: list = field(default_factory=list)
    figures: dict = field(default_factory=dict)

    def violated(self, what, examples):
        if examples:
            self.violations.append(f"{what}: {len(examples)}, such as {examples[:3]}")


async def check(fleet):
    files = sorted((fleet.folder / "histories").iterdir())
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    report = Report(lines)
    entries, read_from, read_to = await read_all(fleet)
    calm(fleet, report)
    notes(report, entries)
    await runs(fleet, report)
    # The runs have written more.
    entries_after, _, _ = await read_all(fleet)
    steps(report, entries_after)
    linearizable(report, entries, read_from, read_to)
    gaps.measure(fleet.events, lines, report)
    if fleet.crashes:
        report.violations.append(f"{fleet.crashes} servers ended by themselves")
    versions = {line["version"] for line in lines if line["kind"] == "connect" and line["outcome"] == "ok"}
    if not {"2026-07-28"} < versions:
        report.violations.append(f"the clients spoke only {versions}")
    return report


class Asking:
    """The official client as a context, with the token of a worker; it says yes to every question."""

    def __init__(self, fleet, worker):
        self.url, self.token = fleet.balancer.url, fleet.tokens[worker]

    async def __aenter__(self):
        async def person(context, params):
            return ElicitResult(action="accept", content={"yes": True})

        self.http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {self.token}"}, timeout=60)
        await self.http.__aenter__()
        self.client = Client(streamable_http_client(self.url, http_client=self.http), elicitation_callback=person, read_timeout_seconds=60)
        await self.client.__aenter__()
        return self

    async def __aexit__(self, *error):
        await self.client.__aexit__(*error)
        await self.http.__aexit__(*error)

    async def call(self, tool, **arguments):
        result = await self.client.call_tool(tool, arguments)
        return result.structured_content or json.loads(result.content[0].text)


async def read_all(fleet):
    """All entries by key: value and version. And between which moments they were read."""
    entries, cursor, begun = {}, None, now()
    async with Asking(fleet, "a0") as asking:
        while True:
            page = await asking.call("keeps", action="list", limit=500, **({"cursor": cursor} if cursor else {}))
            assert page["ok"], page
            entries |= {one["key"]: (one["value"], one["version"]) for one in page["data"]}
            cursor = page.get("cursor")
            if not cursor:
                return entries, begun, now()


def calm(fleet, report):
    """Reloads under load, and questions through the load balancer: nothing fails while nothing is killed."""
    [begun], [ended] = ([e["time"] for e in fleet.events if e["kind"] == kind] for kind in ("calm", "calm ends"))
    reloads = [e for e in fleet.events if e["kind"] == "reload" and begun <= e["time"] <= ended]
    lines = [line for line in report.lines if line["start"] >= begun and line["end"] <= ended]
    failed = [line for line in lines if line["outcome"] != "ok"]
    asked = [line for line in lines if line["outcome"] == "ok" and (line["kind"] == "ask" or line.get("result") == "succeeded")]
    report.violated("calls failed during reloads alone", failed)
    report.violated("wrong answers", [line for line in lines if line["kind"] == "ask" and line.get("result") != "kept 3 because dust"])
    for client in "abcd":
        if not any(line["worker"].startswith(client) and line["kind"] == "ask" for line in asked):
            report.violations.append(f"client {client} was asked nothing")
    [begun], [ended] = ([e["time"] for e in fleet.events if e["kind"] == kind] for kind in ("restarts", "restarts end"))
    during = [line for line in report.lines if line["end"] >= begun and line["start"] <= ended]
    lost = [line for line in during if line["outcome"] != "ok"]
    report.violated("calls failed during restarts by SIGTERM alone", lost)
    report.figures["servers stopped by SIGTERM and started again, alone"] = f"{len(fleet.hosts)}, {len(during)} calls, {len(lost)} failed"
    report.figures["reloads alone"] = f"{len(reloads)}, {len(lines)} calls, {len(failed)} failed"


def notes(report, entries):
    """Each key is written once: what is acknowledged is there."""
    acknowledged = [line for line in report.lines if line["kind"] == "note" and line["outcome"] == "ok"]
    lost = [line for line in acknowledged if entries.get(line["key"]) != (line["argument"], line["result"])]
    report.violated("acknowledged commits are lost", lost)
    report.figures["acknowledged writes of a key of their own"] = f"{len(acknowledged)}, {len(lost)} lost"


async def runs(fleet, report):
    """Every run that a server acknowledged ends, and says what came of it."""
    acknowledged = [line for line in report.lines if line["kind"] in STEPS and line["outcome"] == "ok"]
    report.results, report.elsewhere = {}, 0
    loop = asyncio.get_running_loop()
    deadline = loop.time() + PATIENCE

    async def of(worker):
        give_up = False
        async with Asking(fleet, worker) as asking:
            for line in acknowledged:
                if line["worker"] != worker:
                    continue
                while True:
                    status = asking.call("orders", action="run_status", run_id=line["result"], wait=True)
                    try:
                        left = max(1, deadline - loop.time())
                        told = await asyncio.wait_for(status, min(left, 3 if fleet.options.affinity else 50))
                    except TimeoutError:
                        told = await asyncio.wait_for(asking.call("orders", action="run_status", run_id=line["result"]), 30)
                    run = (told.get("data") or {}).get("run") or {}
                    if run.get("status") in ("succeeded", "failed"):
                        report.results[line["key"]] = run["result"]
                        break
                    if fleet.options.affinity and line["kind"] == "approve" and run.get("status") in ("running", "waiting"):
                        # Only the server that runs it asks its question.
                        report.elsewhere += 1
                        break
                    if not told.get("ok") or loop.time() > deadline:
                        report.results[line["key"]] = {"lost": told}
                        # If many do not end, this must.
                        give_up = loop.time() > deadline + 30
                        break
                if give_up:
                    report.violations.append("runs do not end")
                    return

    await asyncio.gather(*[of(worker) for worker in fleet.tokens])
    taken_over = set()
    for host in fleet.hosts:
        with open(host.log, errors="replace") as log:
            taken_over.update(re.findall(r'resuming a run run="([^"]+)"', log.read()))
    report.taken_over = {line["key"] for line in acknowledged if line["result"] in taken_over}
    lost = [(key, result["lost"]) for key, result in report.results.items() if "lost" in result]
    report.violated("acknowledged runs are lost", lost)
    report.lost = len(lost)


def steps(report, entries):
    """Each step of each run was made once at most, and each of a run that succeeded once."""
    made = {key: int(value) for key, (value, _) in entries.items() if key.split(".")[0] in STEPS}
    repeated = [(key, count) for key, count in made.items() if count > 1]
    report.violated("steps are repeated", repeated)
    wrong, given_up, refused, outcomes = [], [], 0, Counter()
    for key, result in report.results.items():
        names = STEPS[key.split(".")[0]]
        present = {name for name in names if f"{key}.{name}" in made}
        if result.get("ok") is True:
            outcomes["completed"] += 1
            if present != set(names):
                wrong.append((key, sorted(present), result))
        elif "lost" not in result:
            outcomes["interrupted"] += 1
            completed = {step for step in (result.get("details") or {}).get("completed", []) if step in names}
            text = json.dumps(result)
            if "too many calls wait" in text or "questions to you are open" in text or "wait for an answer already" in text:
                # A server refuses a question beyond its limits. It may not do that to a question of a run that it takes over.
                if key in report.taken_over:
                    given_up.append((key, result))
                else:
                    refused += 1
            elif not completed <= present or "interrupted" not in text and "unavailable" not in text:
                wrong.append((key, sorted(present), result))
    report.violated("runs end wrongly", wrong)
    report.violated("questions of runs are given up", given_up)
    report.figures["runs that another server took over"] = f"{len(report.taken_over)}, {len(given_up)} questions of these given up"
    report.figures["runs whose first server had no room for a question"] = refused
    asked = sum(key.startswith("approve") for key in report.results)
    report.figures["acknowledged runs"] = (
        f"{len(report.results)}, {outcomes['completed']} completed, {outcomes['interrupted']} interrupted as a kill left a step's end unknown, {report.lost} lost"
    )
    report.figures["of these with a question"] = f"{asked} answered, {report.elsewhere} open at another server"
    report.figures["steps made by runs"] = f"{len(made)}, {len(repeated)} repeated"


def histories(lines):
    """Operations by key."""
    keys = defaultdict(list)
    for line in lines:
        if line["kind"] not in REGISTERS or line["outcome"] == "fail":
            continue
        known = line["outcome"] == "ok"
        argument, result = line.get("argument"), line.get("result")
        argument = tuple(argument) if isinstance(argument, list) else argument
        result = tuple(result) if isinstance(result, list) else result
        keys[line["key"]].append(Operation(line["kind"], argument, result if known else None, line["start"], line["end"] if known else FOREVER))
    return keys


def linearizable(report, entries, read_from, read_to):
    keys = histories(report.lines)
    broken, undecided = [], []
    for key, operations in sorted(keys.items()):
        value, version = entries.get(key, (None, None))
        operations.append(Operation("get", None, (value and int(value), version), read_from, read_to))
        try:
            failure = explain(operations)
        except Undecided as error:
            undecided.append((key, str(error)))
            continue
        if failure is not None:
            prefix, state, left = failure
            broken.append((key, f"after {len(prefix)} operations the state is {state}", left))
    report.violated("keys are not linearizable", broken)
    report.violated("keys are not decided", undecided)
    counts = [len(operations) for operations in keys.values()] or [0]
    unknown = sum(not operation.known for operations in keys.values() for operation in operations)
    report.figures["linearizable keys"] = (
        f"{len(keys) - len(broken) - len(undecided)} of {len(keys)}, {sum(counts)} operations, {unknown} of unknown outcome; at most {max(counts)} a key"
    )
    report.figures["dropped writes that the checker finds"] = prove(report, keys)


def prove(report, keys, tries=50):
    """Takes away acknowledged writes that others have read, one at a time: the check must fail."""
    chance, found, tried = random.Random(1), 0, 0
    for key in chance.sample(sorted(keys), min(len(keys), 4 * tries)):
        operations = keys[key]
        read = {operation.result for operation in operations if operation.kind == "get"}
        writes = [o for o in operations if o.kind == "put" and o.known and (o.argument, o.result) in read]
        if not writes or tried == tries:
            continue
        tried += 1
        dropped = chance.choice(writes)
        try:
            found += explain([operation for operation in operations if operation is not dropped]) is not None
        except Undecided:
            tried -= 1
    if found < tried or not tried:
        report.violations.append(f"the checker found {found} of {tried} writes that were dropped from its histories")
    return f"{found} of {tried}"


def show(fleet, report):
    lines = report.lines
    outcomes = Counter(line["outcome"] for line in lines)
    kinds = Counter(event["kind"] for event in fleet.events)
    connects = Counter(line["outcome"] for line in lines if line["kind"] == "connect")
    why = Counter()
    for line in lines:
        if line["outcome"] != "ok":
            why["".join("#" if letter.isdigit() else letter for letter in line.get("why", ""))[:90]] += 1
    starts = sorted(start / 1e9 for host in fleet.hosts for start in host.starts) or [0]
    kinds_of_balance = "by caller" if fleet.options.affinity else "none"
    rows = {
        "seconds": f"{fleet.seconds:.0f}",
        "affinity of the load balancer": kinds_of_balance,
        "operations": f"{len(lines)}, {outcomes['ok']} answered, {outcomes['unknown']} unknown, {outcomes['fail']} failed reads",
        "connections of clients": f"{connects['ok']}, {connects['unknown']} attempts failed",
        "servers killed": f"{fleet.kills}, {kinds['kill all']} times all at once",
        "starts of a server": f"{len(starts)}, p50 {statistics.median(starts):.2f} s, max {starts[-1]:.2f} s; {fleet.refused} without a database refused",
        "primaries killed": f"{kinds['failover']}, {fleet.pair.rewound} rewound, {fleet.pair.copied - 1} copied",
        "partitions": f"{kinds['partition']}",
        "reloads in all": f"{kinds['reload']}",
        **report.figures,
    }
    width = max(map(len, rows))
    print()
    for name, value in rows.items():
        print(f"{name:{width}}  {value}")
    print("\nfailures:")
    for text, count in why.most_common(12):
        print(f"{count:6}  {text}")
    print()
    for violation in fleet.violations:
        print(f"VIOLATED  {violation[:3000]}")
    print("violated" if fleet.violations else "all holds", flush=True)
