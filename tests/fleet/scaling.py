"""Throughput of three servers against one, and what calls cost:

    scaling.py [--share 15] [--seconds 8] ROOT BINARY

One machine stands for many: each server may use a share of one CPU (a control group with a quota), far less than the machine has.
The database with its synchronous standby, nginx and the callers have the rest, as if each were on a machine of its own. Needs root.
CPU time comes from the kernel, for each kind of process.
"""

import argparse
import asyncio
import json
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import hosts
import postgres

CALLERS = 32
GROUPS = Path("/sys/fs/cgroup")
# In microseconds. Short, since a server that has used up its share keeps the lock of a store that it holds.
PERIOD = 10_000
KINDS = ("state get", "state put", "workflow of four steps")
TICKS = os.sysconf("SC_CLK_TCK")


class Share:
    """A control group that limits processes to a percentage of one CPU; version 1 or 2."""

    def __init__(self, name, percent):
        first = (GROUPS / "cpu").is_dir()
        self.folder = (GROUPS / "cpu" if first else GROUPS) / name
        self.folder.mkdir()
        quota = percent * PERIOD // 100
        if first:
            (self.folder / "cpu.cfs_period_us").write_text(str(PERIOD))
            (self.folder / "cpu.cfs_quota_us").write_text(str(quota))
        else:
            (self.folder / "cpu.max").write_text(f"{quota} {PERIOD}")

    def add(self, process):
        (self.folder / "cgroup.procs").write_text(str(process))

    def throttled(self):
        """Share of the periods in which its processes had to wait."""
        numbers = dict(line.split() for line in (self.folder / "cpu.stat").read_text().splitlines())
        return int(numbers["nr_throttled"]), int(numbers["nr_periods"])

    def end(self):
        self.folder.rmdir()


def request(kind, number, token, port):
    key = f"caller{number}"
    tool, arguments = {
        "state get": ("keeps", {"action": "get", "key": key}),
        "state put": ("keeps", {"action": "put", "key": key, "value": "0123456789" * 10}),
        "workflow of four steps": ("orders", {"action": "place", "id": f"{key}.{time.monotonic_ns()}"}),
    }[kind]
    meta = {"protocolVersion": "2026-07-28", "clientCapabilities": {}, "clientInfo": {"name": "scaling", "version": "0"}}
    params = {"name": tool, "arguments": arguments, "_meta": {f"io.modelcontextprotocol/{name}": value for name, value in meta.items()}}
    body = json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode()
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
        f"Mcp-Name: {tool}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def answer(reader):
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), head[:300]
    fields = dict(line.split(b": ", 1) for line in head.lower().split(b"\r\n")[1:] if line)
    if b"content-length" in fields:
        return await reader.readexactly(int(fields[b"content-length"]))
    body = b""
    while size := int((await reader.readuntil(b"\r\n")).strip(), 16):
        body += await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readexactly(2)
    return body


async def caller(kind, number, token, port, until, times):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.monotonic() < until:
        begun = time.monotonic()
        writer.write(request(kind, number, token, port))
        body = await answer(reader)
        assert b'"isError":true' not in body and b'"result"' in body, body
        times.append(time.monotonic() - begun)
    writer.close()


def cpu_of(processes):
    """Seconds of CPU of processes, with their children unless this one is among them."""
    total = 0
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parents[int(stat.parent.name)] = (int(fields[1]), sum(map(int, fields[11:15])))
    for process, (parent, ticks) in parents.items():
        if process in processes or parent in processes - {os.getpid()}:
            total += ticks
    return total / TICKS


async def load(kind, token, port, seconds, running, pair):
    kinds = {
        "server": {host.process.pid for host in running},
        "nginx": {pair.nginx.process.pid},
        "PostgreSQL": {pair.primary.process.pid, pair.standby.process.pid},
        "callers": {os.getpid()},
    }
    await asyncio.gather(*[caller(kind, n, token, port, time.monotonic() + 1, []) for n in range(CALLERS)])
    before, begun, times = {name: cpu_of(ids) for name, ids in kinds.items()}, time.monotonic(), []
    await asyncio.gather(*[caller(kind, n, token, port, begun + seconds, times) for n in range(CALLERS)])
    passed = time.monotonic() - begun
    cost = {name: (cpu_of(ids) - before[name]) / len(times) * 1e6 for name, ids in kinds.items()}
    return len(times) / passed, statistics.median(times) * 1000, cost


async def one_at_a_time(kind, token, port, seconds=3):
    times = []
    await caller(kind, 0, token, port, time.monotonic() + seconds, times)
    return statistics.median(times) * 1000


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=Path)
    parser.add_argument("binary", type=Path)
    parser.add_argument("--share", type=int, default=10, help="percent of one CPU that a server may use")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--servers", type=int, nargs="+", default=[1, 3])
    options = parser.parse_args()
    # Before whatever else this machine does.
    os.nice(-10)
    folder = Path(tempfile.mkdtemp(prefix="loggia-scaling"))
    folder.chmod(0o755)
    target = Path(os.environ.get("CARGO_TARGET_DIR", options.root / "target"))
    ports = hosts.free_ports(2)
    pair = postgres.Pair(folder, ports)
    shares, running, pair.nginx = [], [], None
    try:
        await pair.start()
        plugins = hosts.Plugins(folder / "plugins", target / "guests/wasm32-wasip2/guest/examples")
        token, table = hosts.new_token(options.binary, "scaling")
        rates = {}
        for count in sorted(options.servers):
            while len(running) < count:
                number = len(running)
                host = hosts.Host(number, folder, options.binary, plugins, [], table)
                text = host.settings.read_text().replace("@/postgres", f"@{','.join(f'127.0.0.1:{port}' for port in ports)}/postgres")
                host.settings.write_text(text)
                await host.start()
                await postgres.eventually(host.ready, 60, "a server is not ready")
                if not number:
                    # Before it is limited.
                    for kind in KINDS[:2]:
                        took = await one_at_a_time(kind, token, host.port)
                        print(f"{kind}, one after another, directly: p50 {took:.2f} ms", flush=True)
                shares.append(Share(f"loggia-scaling-{os.getpid()}-{number}", options.share))
                shares[-1].add(host.process.pid)
                running.append(host)
            home = folder / f"balanced{count}"
            home.mkdir()
            home.chmod(0o755)
            balancer = pair.nginx = hosts.Balancer(home, [host.port for host in running], affinity=False)
            await balancer.start()
            await asyncio.sleep(0.5)
            for kind in KINDS:
                before = [share.throttled() for share in shares]
                rate, p50, cost = await load(kind, token, balancer.port, options.seconds, running, pair)
                after = [share.throttled() for share in shares]
                limited = min((a - b) / max(1, c - d) for (a, c), (b, d) in zip(after, before))
                rates[kind, count] = rate
                costs = ", ".join(f"{name} {micros:.0f}" for name, micros in cost.items())
                print(f"{count} servers: {kind}: {rate:.0f} calls/s, p50 {p50:.1f} ms; at its limit in {limited:.0%} of periods; µs of CPU a call: {costs}", flush=True)
            await balancer.stop()
            pair.nginx = None
        fewest, most = min(options.servers), max(options.servers)
        for kind in KINDS:
            print(f"{kind}: {most} servers do {rates[kind, most] / rates[kind, fewest]:.2f} times what {fewest} does")
    finally:
        for host in running:
            host.process.kill()
            await host.process.wait()
        if pair.nginx:
            await pair.nginx.stop()
        await pair.stop()
        for share in shares:
            share.end()
        shutil.rmtree(folder)


if __name__ == "__main__":
    asyncio.run(main())
