"""Compares the guests: `compare.py HOME [STEP…]`. Steps: surfaces, answers, hostile, reload, latency."""

import asyncio
import json
import os
import re
import statistics
import struct
import sys
import time
from pathlib import Path

import guests
import surface
from calls import CALLS, HOSTILE
from loggia_sdk.immortal import IMMORTAL
from loggia_sdk.module import Module
from loggia_sdk.wasm import ComponentSection, Section, spans
from raw import RawClient
from server import Host, Person, call, connect, web

# Calls of one latency, after as many warm ones.
TIMED = 200
# Clients that call while guests are replaced.
WORKERS = 4


def first_difference(one, other, path="") -> str:
    """Where two JSON values differ, and how."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one.keys() | other.keys():
            if one.get(key) != other.get(key):
                return first_difference(one.get(key), other.get(key), f"{path}.{key}")
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for at, (left, right) in enumerate(zip(one, other)):
            if left != right:
                return first_difference(left, right, f"{path}[{at}]")
    return f"{path}: {json.dumps(one, ensure_ascii=False)} and {json.dumps(other, ensure_ascii=False)}"


class Test:
    def __init__(self, home: Path):
        self.home, self.wrong = home, []
        binary = os.environ.get("LOGGIA") or Path(os.environ.get("CARGO_TARGET_DIR", guests.ROOT / "target")) / "debug/loggia"
        self.binary = Path(binary).resolve()
        self.guests = guests.build(home)

    def fail(self, sentence: str) -> None:
        self.wrong.append(sentence)
        print(f"WRONG {sentence}", file=sys.stderr, flush=True)

    def host(self, address: str) -> Host:
        host = Host(self.binary, self.home / "cache", address)
        host.put("echo", self.home / "guests/echo.wasm")
        return host

    async def surfaces(self) -> None:
        """Descriptions and schemas are equal, byte for byte."""
        published = {name: surface.read(str(path)) for name, path in self.guests.items()}
        print(f"surfaces: {len(json.dumps(published['rust']))} bytes, {len(published['rust']['schemas'])} actions", flush=True)
        for name, one in published.items():
            if one != published["rust"]:
                self.fail(f"{name} publishes something else than rust: {first_difference(published['rust'], one)}")
        component = self.guests["python"].read_bytes()
        immortal = component.count(struct.pack("<I", IMMORTAL))
        print(f"surfaces: {immortal} objects of Python's are immortal", flush=True)
        if immortal < 20_000:
            self.fail(f"python: {immortal} objects are immortal: calls count references to the others")
        first = next(Module(component[span.start : span.end]) for span in spans(component) if span.number == ComponentSection.MODULE)
        if not {Section.TABLE, Section.ELEMENT} <= first.sections.keys():
            self.fail("python: the first module does not fill the table that it defines: each instance writes thousands of elements")

    async def answers(self) -> None:
        """The same calls have the same results, questions and progress."""
        answered = {}
        with web() as address:
            for name, path in self.guests.items():
                host = self.host(address)
                host.put("polyglot", path)
                with host:
                    host.loaded()
                    answered[name] = await self.ask(name, host, address)
        for name, one in answered.items():
            for (action, params, _), left, right in zip(CALLS, answered["rust"]["answers"], one["answers"]):
                if left != right:
                    self.fail(f"{name}: {action} {params}: {first_difference(left, right)}")
            for kind in ("questions", "progress"):
                if one[kind] != answered["rust"][kind]:
                    self.fail(f"{name}: {kind}: {first_difference(answered['rust'][kind], one[kind])}")

    async def ask(self, name: str, host: Host, address: str) -> dict:
        person, answers, progress = Person(), [], []

        async def on_progress(done, total, message):
            progress.append([done, total, message])

        async with connect(host, person) as client:
            for action, params, expected in CALLS:
                params = {key: value.format(web=address) if isinstance(value, str) else value for key, value in params.items()}
                answer = await call(client, action, params, on_progress if action == "work" else None)
                shown = {key: answer.get(key) for key in expected}
                if shown != expected:
                    self.fail(f"{name}: {action} {params}: {answer}")
                # Each parser has its own words for what is no JSON.
                answers.append(json.loads(re.sub(r"something unexpected: [^\"\\]*(\\.[^\"\\]*)*", "something unexpected", json.dumps(answer))))
        if not host.seen(r"INFO worked", 0):
            self.fail(f"{name}: the line that `work` logs is missing")
        # The host may leave out what is overtaken.
        return {"answers": answers, "questions": person.questions, "progress": sorted({done for done, *_ in progress})[-1:]}

    async def hostile(self) -> None:
        """Loops, memory, recursion and output without end, and traps: each ends as it should, and the next call is answered."""
        with web() as address:
            for name, path in self.guests.items():
                host = self.host(address)
                host.put("polyglot", path)
                with host:
                    host.loaded()
                    async with connect(host) as client:
                        for action, (code, words, own) in HOSTILE.items():
                            answer = await call(client, action, {})
                            print(f"{name} {action}: {answer.get('code', 'ok')}: {answer.get('error', '')}", flush=True)
                            told = f"{answer.get('error', '')} {answer.get('hint', '')}"
                            if answer.get("code") != code or own.get(name, words) not in told:
                                self.fail(f"{name}: {action}: {answer}")
                            after = await call(client, "report", {})
                            if not after["ok"]:
                                self.fail(f"{name}: after {action}: {after}")
                if name != "rust" and not host.seen(rf"polyglot\.{'py' if name == 'python' else 'ts'}\W+(line )?\d", 0):
                    self.fail(f"{name}: no stack in the log names a line of the facade")

    async def reload(self) -> None:
        """Each language takes the place of another under load: no call is lost, and the state goes on."""
        with web() as address:
            host = self.host(address)
            host.put("polyglot", self.guests["rust"])
            with host:
                host.loaded()
                stop, counts = asyncio.Event(), []
                workers = [asyncio.create_task(self.work(host, stop, counts)) for _ in range(WORKERS)]
                for name in ("python", "quickjs", "starlingmonkey", "rust"):
                    since, before = len(host.lines), len(counts)
                    host.put("polyglot", self.guests[name])
                    found = await asyncio.to_thread(host.loaded, since)
                    if "ERROR" in found[0]:
                        self.fail(f"{name}: {found.string}")
                    # Some calls of each version, also after the swap.
                    loaded = len(counts)
                    while len(counts) < loaded + 50 and not any(worker.done() for worker in workers):
                        await asyncio.sleep(0.01)
                    print(f"reload: {name} loaded; {len(counts) - before} calls meanwhile", flush=True)
                stop.set()
                await asyncio.gather(*workers)
                async with connect(host) as client:
                    answer = await call(client, "add", {"title": "last"})
                if answer["data"]["id"] != f"t_{len(counts) + 1:04}":
                    self.fail(f"{len(counts)} tasks were added, and the next one is {answer}")
                print(f"reload: {len(counts)} calls, {len(set(counts))} ids", flush=True)
                if len(set(counts)) != len(counts):
                    self.fail("an id was given out twice")

    async def work(self, host: Host, stop: asyncio.Event, ids: list) -> None:
        async with connect(host) as client:
            while not stop.is_set():
                answer = await call(client, "add", {"title": "Milk"})
                if not answer["ok"]:
                    self.fail(f"a call was lost: {answer}")
                    return
                ids.append(answer["data"]["id"])

    async def latency(self) -> None:
        """Prints the medians of warm calls over HTTP, client and host included."""
        print(f"{'guest':<16} {'texts':>8} {'add':>8} {'list':>8}   ms, median of {TIMED} calls; size", flush=True)
        calls = [("texts", CALLS[0][1]), ("add", {"title": "Milk"}), ("list", {"limit": 5})]
        with web() as address:
            for name, path in self.guests.items():
                host = self.host(address)
                host.put("polyglot", path)
                with host:
                    host.loaded()
                    client = RawClient(host.url)
                    medians = [median(client, *one) for one in calls]
                    client.close()
                print(f"{name:<16} " + " ".join(f"{one:8.2f}" for one in medians) + f"   {path.stat().st_size / 1e6:.1f} MB", flush=True)


def median(client: RawClient, action: str, params: dict) -> float:
    times = []
    for at in range(2 * TIMED):
        begun = time.perf_counter()
        answer = client.call(action, params)
        if at >= TIMED:
            times.append(time.perf_counter() - begun)
        assert answer["ok"], answer
    return statistics.median(times) * 1000


async def main() -> int:
    test = Test(Path(sys.argv[1]))
    for step in sys.argv[2:] or ("surfaces", "answers", "hostile", "reload", "latency"):
        await getattr(test, step)()
    print("all alike" if not test.wrong else f"{len(test.wrong)} problems")
    return 1 if test.wrong else 0


sys.exit(asyncio.run(main()))
