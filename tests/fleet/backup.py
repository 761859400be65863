"""Backup and restore of a fleet's database, tried: `backup.py ROOT [--binary PATH]`.

A server stores entries, completes a run and begins one that asks. The database is copied while the server runs, by `pg_dump` and by
`pg_basebackup`. Each copy is restored to another PostgreSQL server, on which a server with a new state folder starts: the entries and
the completed run must be there, and the run that asks must go on when its question is answered. `README.md` says what to run.
"""

import argparse
import asyncio
import os
import shutil
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import hosts
import postgres
from verify import Asking

ENTRIES = 2000


async def serve(folder, binary, plugins, node, table):
    folder.mkdir()
    host = hosts.Host(0, folder, binary, plugins, [node.port], table)
    await host.open()
    await host.start()
    await postgres.eventually(host.ready, 60, "the server is not ready")
    return host


def client(host, token):
    """The official client, which answers questions with yes."""
    return Asking(SimpleNamespace(balancer=SimpleNamespace(url=f"http://127.0.0.1:{host.port}/mcp"), tokens={"own": token}), "own")


async def check(host, token, done, asks):
    """What the copy must have: entries, a result, and a question that can be answered."""
    async with client(host, token) as calls:
        page = await calls.call("keeps", action="list", prefix="entry.", limit=1000)
        assert page["ok"] and len(page["data"]) == 1000, page
        told = await calls.call("keeps", action="get", key=f"entry.{ENTRIES - 1}")
        assert told["data"]["value"] == f"value {ENTRIES - 1}", told
        told = await calls.call("orders", action="run_status", run_id=done)
        assert told["data"]["run"]["status"] == "succeeded", told
        told = await calls.call("orders", action="run_status", run_id=asks, wait=True)
        assert told["data"]["run"]["status"] == "succeeded", told
        for key in ("asks.seen", "asks.pay"):
            told = await calls.call("keeps", action="get", key=key)
            assert told["data"]["value"] == "1", (key, told)
        # It goes on, with versions that rise.
        before = (await calls.call("keeps", action="get", key="entry.0"))["data"]["version"]
        assert (await calls.call("keeps", action="put", key="entry.0", value="new"))["data"] > before


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=Path)
    parser.add_argument("--binary", type=Path)
    options = parser.parse_args()
    target = Path(os.environ.get("CARGO_TARGET_DIR", options.root / "target"))
    binary = options.binary or target / "debug/loggia"
    folder = Path(tempfile.mkdtemp(prefix="loggia-backup"))
    folder.chmod(0o755)
    plugins = hosts.Plugins(folder / "plugins", target / "guests/wasm32-wasip2/guest/examples")
    token, table = hosts.new_token(binary, "own")
    nodes = [postgres.Node(folder / name, port) for name, port in zip(("first", "dumped", "copied"), hosts.free_ports(3))]
    first, dumped, copied = nodes
    running = []
    try:
        first.create()
        first.configure(synchronous=False)
        await first.start()
        running.append(host := await serve(folder / "one", binary, plugins, first, table))
        async with client(host, token) as calls:
            for number in range(ENTRIES):
                told = await calls.call("keeps", action="put", key=f"entry.{number}", value=f"value {number}")
                assert told["ok"], told
            done = (await calls.call("orders", action="place", id="done", wait=False))["data"]["run"]["id"]
            told = await calls.call("orders", action="run_status", run_id=done, wait=True)
            assert told["data"]["run"]["status"] == "succeeded", told
            asks = (await calls.call("orders", action="approve", id="asks", wait=False))["data"]["run"]["id"]

            async def waits():
                return (await calls.call("orders", action="run_status", run_id=asks))["data"]["run"]["status"] == "waiting"

            await postgres.eventually(waits, 30, "the run does not ask")
        at = ["--host", first.folder, "--port", str(first.port), "--username=postgres"]
        # A logical copy: into any version of PostgreSQL that is as new or newer.
        begun = time.monotonic()
        dump = first.folder / "loggia.dump"
        await postgres.run_aside(first.bin / "pg_dump", *at, "--format=custom", "--schema=loggia", f"--file={dump}", "postgres")
        took = time.monotonic() - begun
        dumped.create()
        dumped.configure(synchronous=False)
        await dumped.start()
        begun = time.monotonic()
        into = ["--host", dumped.folder, "--port", str(dumped.port), "--username=postgres"]
        await postgres.run_aside(dumped.bin / "pg_restore", *into, "--exit-on-error", "--dbname=postgres", dump)
        print(f"pg_dump: {dump.stat().st_size / 1024:.0f} KiB in {took:.2f} s, restored in {time.monotonic() - begun:.2f} s", flush=True)
        # A physical copy, with what was written meanwhile.
        begun = time.monotonic()
        await postgres.run_aside(first.bin / "pg_basebackup", *at, "--pgdata", copied.data, "--checkpoint=fast", "--wal-method=stream")
        print(f"pg_basebackup: {time.monotonic() - begun:.2f} s", flush=True)
        # The first database is lost.
        running.pop().kill()
        await first.crash()
        copied.configure(synchronous=False)
        await copied.start()
        for name, node in (("dumped", dumped), ("copied", copied)):
            running.append(host := await serve(folder / f"on-{name}", binary, plugins, node, table))
            await check(host, token, done, asks)
            print(f"{name}: entries, results and questions are there", flush=True)
    finally:
        for host in running:
            host.kill()
            await host.process.wait()
        for node in nodes:
            await node.stop()
        shutil.rmtree(folder)


if __name__ == "__main__":
    asyncio.run(main())
