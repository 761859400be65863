"""Servers of the fleet, and the load balancer before them."""

import asyncio
import contextlib
import os
import random
import re
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

from proxy import Proxy

WORKFLOWS = """
facade: orders
compositeTools:
  - name: place
    description: Places an order.
    parameters: {type: object, properties: {id: {type: string}}, required: [id]}
    steps:
      - {id: seen, tool: keeps.get, arguments: {key: '{{.params.id}}.pay'}}
      - {id: pay, tool: keeps.increment, arguments: {key: '{{.params.id}}.pay'}, dependsOn: [seen]}
      - {id: stock, tool: keeps.increment, arguments: {key: '{{.params.id}}.stock'}, dependsOn: [seen]}
      - {id: mail, tool: keeps.increment, arguments: {key: '{{.params.id}}.mail'}, dependsOn: [pay, stock]}
  - name: approve
    description: Asks before it pays.
    parameters: {type: object, properties: {id: {type: string}}, required: [id]}
    steps:
      - {id: seen, tool: keeps.increment, arguments: {key: '{{.params.id}}.seen'}}
      - {id: sure, type: elicitation, message: 'Pay {{.params.id}}?', timeout: 720h, dependsOn: [seen],
         schema: {type: object, properties: {yes: {type: boolean}}, required: [yes]}}
      - {id: pay, tool: keeps.increment, arguments: {key: '{{.params.id}}.pay'}, dependsOn: [sure]}
"""
POLICIES = {"keeps": "[grants]\nstore = true\n[limits]\nconcurrency = 40\n", "worker": "[grants]\nelicit = true\n[limits]\nconcurrency = 40\n"}


# Ports below those of outgoing connections, one of which could take the port of a server while it is down. Each is used once.
EPHEMERAL = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
CANDIDATES = iter(random.sample(range(max(1024, EPHEMERAL - 12_000), EPHEMERAL), 1000))


def free_ports(count: int) -> list[int]:
    ports = []
    while len(ports) < count:
        port = next(CANDIDATES)
        with contextlib.suppress(OSError):
            socket.create_server(("127.0.0.1", port)).close()
            ports.append(port)
    return ports


def now() -> int:
    return time.monotonic_ns()


def new_token(binary: Path, name: str) -> tuple[str, str]:
    """A token and the table that accepts it."""
    made = subprocess.run([binary, "token", "new", name, "--scope", "*"], capture_output=True, text=True, check=True)
    return made.stdout.strip(), made.stderr[made.stderr.index("[[auth.tokens]]") :].split("\n\n")[0]


class Plugins:
    """The plugin folder that all servers read, as from a shared volume."""

    def __init__(self, folder: Path, guests: Path):
        self.folder, self.guests, self.number = folder, guests, 0
        folder.mkdir()
        for name, policy in POLICIES.items():
            (folder / f"{name}.toml").write_text(policy)
            (folder / f"{name}.wasm").write_bytes((guests / f"{name}.wasm").read_bytes())
        (folder / "orders.workflow.yaml").write_text(WORKFLOWS)

    def replace(self) -> None:
        """Puts another version of `keeps` in place: the same code with another custom section."""
        self.number += 1
        name, text = b"fleet", str(self.number).encode()
        section = bytes([len(name)]) + name + text
        beside = self.folder / ".keeps.new"
        beside.write_bytes((self.guests / "keeps.wasm").read_bytes() + b"\0" + bytes([len(section)]) + section)
        beside.rename(self.folder / "keeps.wasm")


class Host:
    """A server with a state folder and a cache of its own, behind proxies: as on a machine of its own."""

    def __init__(self, number: int, folder: Path, binary: Path, plugins: Plugins, databases: list[int], tokens: str):
        self.number, self.folder, self.binary = number, folder / f"host{number}", binary
        self.folder.mkdir()
        self.port, self.admin, outside, *ports = free_ports(3 + len(databases))
        self.balanced = Proxy(outside, self.port)
        self.databases = [Proxy(port, target) for port, target in zip(ports, databases)]
        url = f"postgres://postgres@{','.join(f'127.0.0.1:{port}' for port in ports)}/postgres"
        self.settings = self.folder / "loggia.toml"
        self.settings.write_text(
            f"pin = 'open'\nfolder = '{plugins.folder}'\ncache = '{self.folder / 'cache'}'\n"
            f"[state]\nfolder = '{self.folder / 'state'}'\nurl = '{url}'\n"
            f"[http]\nlisten = '127.0.0.1:{self.port}'\ndrain-delay = '2s'\n"
            "[http.per-caller]\nrate = 0\nconcurrency = 0\nstreams = 0\nruns = 0\nquestions = 16\n"
            f"[admin]\nlisten = '127.0.0.1:{self.admin}'\n[auth]\n{tokens}\n"
        )
        self.process = None
        self.log = self.folder / "log"
        self.starts = []
        # Cut off from the database or from the load balancer.
        self.parted = self.listens = self.upgrades = False
        self.since = 0

    async def open(self) -> None:
        for proxy in self.databases:
            await proxy.open()

    @property
    def runs(self) -> bool:
        return self.process is not None and self.process.returncode is None

    async def start(self) -> None:
        """Starts it, and lets the load balancer reach it once it listens."""
        begun = now()
        self.listens = False
        environment = {name: value for name, value in os.environ.items() if not name.startswith("LOGGIA_")}
        self.process = await asyncio.create_subprocess_exec(
            self.binary, "serve", "--config", self.settings, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        process, listening = self.process, asyncio.get_running_loop().create_future()
        asyncio.create_task(self.read(process, listening))
        if await listening and process.returncode is None:
            self.listens, self.since = True, now()
            await self.balanced.open()
            self.starts.append(now() - begun)

    async def read(self, process, listening) -> None:
        with open(self.log, "ab") as log:
            while line := await process.stderr.readline():
                log.write(line)
                log.flush()
                if line.startswith(b"listening on ") and not listening.done():
                    listening.set_result(True)
        if not listening.done():
            listening.set_result(False)

    def kill(self) -> None:
        self.process.kill()
        self.balanced.cut()

    def get(self, path: str) -> str | None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.admin}{path}", timeout=2) as answer:
                return answer.read().decode()
        except OSError:
            return None

    async def ready(self) -> bool:
        return self.runs and await asyncio.to_thread(self.get, "/readyz") is not None

    async def serves(self) -> bool:
        """Whether the load balancer sends it calls: it leaves a server alone for a second after a failure."""
        return not self.parted and self.listens and now() - self.since > 1.3e9 and await self.ready()

    async def metric(self, name: str) -> float:
        text = await asyncio.to_thread(self.get, "/metrics") or ""
        found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
        return float(found.group(1)) if found else 0.0


NGINX = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    client_max_body_size 4m;
    upstream loggia {{
        {affinity}
{servers}
        keepalive 32;
    }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://loggia;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $host;
            proxy_buffering off;
            proxy_connect_timeout 1s;
            proxy_read_timeout 1h;
            # A POST is passed to another server only if none has got it: without `non_idempotent`, nginx does not repeat it.
            proxy_next_upstream error timeout;
        }}
    }}
}}
"""


class Balancer:
    """nginx, with passive health checks alone."""

    def __init__(self, folder: Path, ports: list[int], affinity: bool):
        self.folder = folder / "nginx"
        self.folder.mkdir()
        self.folder.chmod(0o755)
        [self.port] = free_ports(1)
        servers = "\n".join(f"        server 127.0.0.1:{port} max_fails=1 fail_timeout=1s;" for port in ports)
        text = NGINX.format(
            folder=self.folder,
            servers=servers,
            port=self.port,
            affinity="hash $remote_addr$http_authorization consistent;" if affinity else "least_conn;",
        )
        (self.folder / "nginx.conf").write_text(text)
        self.process = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    async def start(self) -> None:
        self.process = await asyncio.create_subprocess_exec(
            "nginx", "-p", self.folder, "-c", self.folder / "nginx.conf", "-e", self.folder / "error.log", stdin=subprocess.DEVNULL
        )

    async def stop(self) -> None:
        if self.process and self.process.returncode is None:
            self.process.terminate()
            await self.process.wait()
