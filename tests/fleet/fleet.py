"""Three servers, PostgreSQL with a synchronous standby, nginx, and four official clients, while everything is killed.

    fleet.py --kills 300 [--affinity] [--seed N] [--keep] ROOT

Started by `tests/fleet/run`, which builds what it needs. Prints a table, and exits with 1 if anything is violated.
"""

import argparse
import asyncio
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import hosts
import postgres
import verify
from hosts import now

WORKERS = 3  # of each client
# Between two kills, in seconds.
PAUSES = (0.25, 1.15)
# A failover manager needs some time to notice.
DETECTION = (1.0, 3.0)
# The longest is longer than a lease: the others take over the runs of a server that lives.
PARTITIONS = (2, 5, 14)


class Fleet:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.target = Path(os.environ.get("CARGO_TARGET_DIR", options.root / "target"))
        self.events, self.violations = [], []
        self.chances = {name: random.Random(f"{options.seed} {name}") for name in ("kill", "fail", "part", "host")}
        self.kills = self.crashes = self.refused = 0
        # One failover or partition at a time, so that it is known what clients wait for.
        self.turn = asyncio.Lock()
        self.ends = asyncio.Event()
        self.supervisors, self.clients = [], []

    def event(self, kind, **more):
        self.events.append({"kind": kind, "time": now(), **more})
        with open(self.folder / "events.jsonl", "a") as file:
            file.write(json.dumps(self.events[-1]) + "\n")

    async def start(self):
        ports = hosts.free_ports(2)
        self.pair = postgres.Pair(self.folder, ports)
        await self.pair.start()
        self.plugins = hosts.Plugins(self.folder / "plugins", self.target / "guests/wasm32-wasip2/guest/examples")
        binary = self.options.binary or self.target / "debug/loggia"
        self.tokens = {}
        tables = []
        for client in "abcd":
            for number in range(WORKERS):
                self.tokens[f"{client}{number}"], table = hosts.new_token(binary, f"{client}{number}")
                tables.append(table)
        self.hosts = [hosts.Host(number, self.folder, binary, self.plugins, ports, "\n".join(tables)) for number in range(3)]
        for host in self.hosts:
            await host.open()
            self.supervisors.append(asyncio.create_task(self.supervise(host)))
        for host in self.hosts:
            await postgres.eventually(host.ready, 60, f"server {host.number} is not ready")
        self.balancer = hosts.Balancer(self.folder, [host.balanced.port for host in self.hosts], self.options.affinity)
        await self.balancer.start()

    async def supervise(self, host):
        """Starts a server again whenever it has ended, as systemd does."""
        while not self.ends.is_set():
            await host.start()
            was_up = bool(host.listens)
            code = await host.process.wait()
            host.balanced.cut()
            if self.ends.is_set():
                return
            if code == 0 and host.upgrades:
                host.upgrades = False
            elif code != -9:
                self.event("ended", host=host.number, code=code)
                # Without its database a server does not start.
                self.refused += not was_up
                self.crashes += was_up
            await asyncio.sleep(self.chances["host"].random() * 0.5)

    def start_clients(self):
        out = self.folder / "histories"
        out.mkdir()
        typescript = self.target / "clients/typescript"
        shutil.copy(Path(__file__).with_name("client.mjs"), typescript / "fleet.mjs")
        python = [sys.executable, Path(__file__).with_name("client.py")]
        node = [self.target / "clients/node", typescript / "fleet.mjs"]
        commands = [[*python, "auto"], [*python, "legacy"], [*node, "v2", "auto"], [*node, "v1", "legacy"]]
        for client, command in zip("abcd", commands):
            workers = [f"{name}={token}" for name, token in self.tokens.items() if name[0] == client]
            words = [str(word) for word in [*command, self.balancer.url, out, self.options.seed, *workers]]
            self.clients.append(subprocess.Popen(words, stdin=subprocess.PIPE))

    async def stop_clients(self):
        for client in self.clients:
            client.stdin.close()
        for client in self.clients:
            try:
                await asyncio.to_thread(client.wait, 60)
            except subprocess.TimeoutExpired:
                self.violations.append("a client does not end")
                client.kill()

    # What happens to the fleet.

    async def reload_calmly(self, times):
        """Replaces a plugin under load, with nothing else going on. No call may fail meanwhile."""
        self.event("calm")
        for _ in range(times):
            before = [await host.metric('loggia_reloads_total{result="loaded"}') for host in self.hosts]
            self.plugins.replace()
            self.event("reload")

            async def loaded():
                counts = [await host.metric('loggia_reloads_total{result="loaded"}') for host in self.hosts]
                return all(count > old for count, old in zip(counts, before))

            await postgres.eventually(loaded, 60, "a new version is not loaded")
            await asyncio.sleep(1)
        self.event("calm ends")

    async def restart_calmly(self):
        """Ends one server after another by SIGTERM, as for an upgrade, and starts it again."""
        self.event("restarts")
        for host in self.hosts:
            host.upgrades = True
            host.process.terminate()
            host.balanced.drain()

            async def is_back():
                return not host.upgrades and await host.serves()

            await postgres.eventually(is_back, 60, f"server {host.number} is not back")
        self.event("restarts end")

    async def kill_hosts(self):
        """Kills one server, or now and then all of them. Otherwise one that serves is left."""
        chance = self.chances["kill"]
        while self.kills < self.options.kills:
            await asyncio.sleep(chance.uniform(*PAUSES))
            victims = [host for host in self.hosts if host.runs]
            if chance.random() < 0.04:
                self.event("kill all")
            else:
                victim = chance.choice(self.hosts)
                others = [host for host in self.hosts if host is not victim]
                if not victim.runs or not any([await host.serves() for host in others]):
                    continue
                victims = [victim]
                self.event("kill", host=victim.number)
            for victim in victims:
                # It may have ended while others were asked.
                if victim.runs:
                    victim.kill()
                    self.kills += 1

    async def fail_over(self, times, seconds):
        chance = self.chances["fail"]
        for _ in range(times):
            await asyncio.sleep(seconds / times * chance.uniform(0.3, 0.8))
            async with self.turn:
                self.event("failover")
                await self.pair.primary.crash()
                await asyncio.sleep(chance.uniform(*DETECTION))
                await self.pair.promote()
                self.event("promoted")
                await self.pair.rebuild()
                self.event("failover ends")
                await asyncio.sleep(2)

    async def part(self, times, seconds):
        chance = self.chances["part"]
        for number in range(times):
            await asyncio.sleep(max(0, seconds / times - 9) * chance.uniform(0.5, 1))
            host = chance.choice(self.hosts)
            from_database, stalls = number % 2 == 0, chance.random() < 0.5
            length = chance.choice(PARTITIONS)
            what = f"{'database' if from_database else 'balancer'}, {'stalled' if stalls else 'cut'}, {length} s"
            async with self.turn:
                self.event("partition", host=host.number, what=what)
                host.parted = True
                proxies = host.databases if from_database else [host.balanced]
                for proxy in proxies:
                    proxy.part(stalls)
                await asyncio.sleep(length)
                host.parted = False
                for proxy in proxies:
                    await proxy.heal()
                self.event("partition ends")
                await asyncio.sleep(2)

    async def reload(self, seconds):
        """Replaces a plugin again and again while the rest goes on."""
        while True:
            await asyncio.sleep(seconds)
            self.plugins.replace()
            self.event("reload")

    async def go(self):
        kills = self.options.kills
        seconds = kills * 1.0
        self.failovers, parts = max(1, kills // 50), max(2, kills // 30)
        begun = time.monotonic()
        await self.start()
        self.start_clients()
        await asyncio.sleep(3)
        await self.reload_calmly(max(3, min(20, kills // 20)))
        await self.restart_calmly()
        told(f"{time.monotonic() - begun:.0f} s: began; now {kills} kills, {self.failovers} failovers, {parts} partitions")
        self.event("chaos")
        reloads = asyncio.create_task(self.reload(11))
        await asyncio.gather(self.kill_hosts(), self.fail_over(self.failovers, seconds), self.part(parts, seconds))
        reloads.cancel()
        self.event("chaos ends")
        for host in self.hosts:
            await postgres.eventually(host.ready, 60, f"server {host.number} is not ready")
        # All go on together for a while.
        await asyncio.sleep(5)
        await self.stop_clients()
        told(f"{time.monotonic() - begun:.0f} s: the clients have ended; checking")
        report = await verify.check(self)
        self.violations += report.violations
        self.seconds = time.monotonic() - begun
        verify.show(self, report)

    async def stop(self):
        self.ends.set()
        for client in self.clients:
            if client.poll() is None:
                client.kill()
        for host in getattr(self, "hosts", []):
            if host.runs:
                host.kill()
        await asyncio.gather(*self.supervisors, return_exceptions=True)
        if hasattr(self, "balancer"):
            await self.balancer.stop()
        if hasattr(self, "pair"):
            await self.pair.stop()


def told(line):
    print(line, flush=True)


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=Path)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--affinity", action="store_true", help="nginx sends a caller to the same server")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="keep the folder with logs and histories")
    parser.add_argument("--binary", type=Path)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="loggia-fleet"))
    folder.chmod(0o755)
    fleet = Fleet(options, folder)
    try:
        await fleet.go()
    finally:
        await fleet.stop()
        if options.keep or fleet.violations:
            told(f"logs and histories: {folder}")
        else:
            shutil.rmtree(folder)
    if fleet.violations:
        sys.exit(1)


if __name__ == "__main__":
    asyncio.run(main())
