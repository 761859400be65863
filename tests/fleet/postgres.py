"""A PostgreSQL primary with a synchronous standby, below a folder, on loopback."""

import asyncio
import os
import pwd
import shutil
import signal
import subprocess
from pathlib import Path

ACCOUNT = "postgres"
LOGINS = "local all all trust\nlocal replication all trust\nhost all all 127.0.0.1/32 trust\nhost replication all 127.0.0.1/32 trust\n"
# The crash of a process loses nothing that the system has; that of a machine is not simulated.
SETTINGS = {
    "listen_addresses": "'127.0.0.1'",
    "fsync": "off",
    "shared_buffers": "64MB",
    "max_connections": "200",
    "wal_log_hints": "on",
    "wal_keep_size": "256MB",
    "hot_standby": "on",
    "log_min_messages": "fatal",
}


def programs() -> Path:
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep)]
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in folders:
        if all((folder / name).is_file() for name in ("postgres", "initdb", "pg_basebackup", "pg_rewind", "psql")):
            return folder
    raise SystemExit("this test needs a PostgreSQL server: `apt-get install postgresql-15`")


def account() -> dict:
    """Options of a process of the server's account: the server does not run as root."""
    return {"user": ACCOUNT, "group": ACCOUNT, "extra_groups": []} if os.geteuid() == 0 else {}


def own(path: Path) -> None:
    if os.geteuid() == 0:
        who = pwd.getpwnam(ACCOUNT)
        os.chown(path, who.pw_uid, who.pw_gid)


def run(*command) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd="/", **account())
    if done.returncode != 0:
        raise RuntimeError(f"{Path(command[0]).name}: {done.stderr.strip()}")
    return done.stdout.strip()


async def run_aside(*command) -> str:
    return await asyncio.to_thread(run, *command)


class Node:
    """One server. Its data folder outlives its process."""

    def __init__(self, folder: Path, port: int):
        self.folder, self.port, self.data = folder, port, folder / "data"
        folder.mkdir(parents=True)
        own(folder)
        self.bin = programs()
        self.process = None

    def create(self) -> None:
        run(self.bin / "initdb", "--pgdata", self.data, "--no-sync", "--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-locale")

    def configure(self, synchronous: bool) -> None:
        """Writes settings, which a server that runs reads on SIGHUP."""
        lines = [f"{name} = {value}" for name, value in SETTINGS.items()]
        names = "'*'" if synchronous else "''"
        lines += [f"port = {self.port}", f"unix_socket_directories = '{self.folder}'", f"synchronous_standby_names = {names}"]
        self.write("fleet.conf", "\n".join(lines) + "\n")
        main = (self.data / "postgresql.conf").read_text()
        if "include 'fleet.conf'" not in main:
            self.write("postgresql.conf", main + "\ninclude 'fleet.conf'\n")
        self.write("pg_hba.conf", LOGINS)

    def write(self, name: str, text: str) -> None:
        beside = self.data / f"{name}.new"
        beside.write_text(text)
        beside.chmod(0o600)
        own(beside)
        beside.rename(self.data / name)

    async def start(self) -> None:
        # Whoever kills a server clears what it leaves.
        for left in (self.data / "postmaster.pid", self.folder / f".s.PGSQL.{self.port}.lock"):
            left.unlink(missing_ok=True)
        log = open(self.folder / "log", "ab")
        self.process = await asyncio.create_subprocess_exec(
            self.bin / "postgres", "-D", self.data, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", **account()
        )
        log.close()
        await eventually(lambda: self.accepts(), 60, "PostgreSQL does not start")

    async def accepts(self) -> bool:
        if self.process.returncode is not None:
            raise RuntimeError(f"PostgreSQL ended:\n{(self.folder / 'log').read_text()[-2000:]}")
        try:
            return await self.ask("SELECT 1") == "1"
        except RuntimeError:
            return False

    async def ask(self, statement: str, database: str = "postgres") -> str:
        where = ["--host", self.folder, "--port", str(self.port), "--username=postgres", "--dbname", database]
        return await run_aside(self.bin / "psql", *where, "--no-psqlrc", "--tuples-only", "--no-align", "--command", statement)

    async def crash(self) -> None:
        """Kills it with all of its processes, as if its machine had failed."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        self.process.kill()
        for child in map(int, children):
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                pass
        await self.process.wait()

    async def stop(self) -> None:
        if self.process and self.process.returncode is None:
            self.process.send_signal(signal.SIGINT)
            try:
                await asyncio.wait_for(self.process.wait(), 20)
            except TimeoutError:
                self.process.kill()
                await self.process.wait()


class Pair:
    """A primary and its standby. What is acknowledged is on both."""

    def __init__(self, folder: Path, ports: list[int]):
        self.primary, self.standby = Node(folder / "one", ports[0]), Node(folder / "two", ports[1])
        self.rewound = self.copied = 0

    @property
    def nodes(self) -> list[Node]:
        """In the order of the ports that were given."""
        return sorted([self.primary, self.standby], key=lambda node: node.folder)

    async def start(self) -> None:
        self.primary.create()
        self.primary.configure(synchronous=False)
        await self.primary.start()
        await self.copy()
        await self.follow()

    async def copy(self) -> None:
        """Makes the standby's data folder from the primary's."""
        shutil.rmtree(self.standby.data, ignore_errors=True)
        source = ["--host", self.primary.folder, "--port", str(self.primary.port), "--username=postgres"]
        await run_aside(self.standby.bin / "pg_basebackup", "--pgdata", self.standby.data, *source, "--write-recovery-conf", "--checkpoint=fast", "--no-sync")
        self.copied += 1

    async def rewind(self) -> None:
        """Takes back what the old primary has and the new one does not."""
        source = f"host={self.primary.folder} port={self.primary.port} user=postgres dbname=postgres"
        await self.primary.ask("CHECKPOINT")
        await run_aside(
            self.standby.bin / "pg_rewind", "--target-pgdata", self.standby.data, "--source-server", source, "--write-recovery-conf", "--no-sync"
        )
        self.rewound += 1

    async def follow(self) -> None:
        """Starts the standby, and has the primary wait for it from then on."""
        self.standby.configure(synchronous=False)
        await self.standby.start()
        self.primary.configure(synchronous=True)
        await self.primary.ask("SELECT pg_reload_conf()")
        await eventually(self.is_synchronous, 60, "the standby does not follow")

    async def is_synchronous(self) -> bool:
        names = await self.primary.ask("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")
        # A commit now waits for the standby.
        return names == "1" and await self.primary.ask("SELECT pg_current_wal_lsn() IS NOT NULL") == "t"

    async def promote(self) -> None:
        """Lets the standby take over from the primary, which has ended. It waits for no standby until there is one again."""
        self.primary, self.standby = self.standby, self.primary
        await self.primary.ask("SELECT pg_promote(true, 60)")

    async def rebuild(self) -> None:
        """Makes the old primary the new standby."""
        try:
            await self.rewind()
        except RuntimeError:
            await self.copy()
        await self.follow()

    async def stop(self) -> None:
        for node in (self.primary, self.standby):
            await node.stop()


async def eventually(probe, seconds: float, otherwise: str) -> None:
    """Asks until the answer is true."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while not await probe():
        if loop.time() > deadline:
            raise RuntimeError(otherwise)
        await asyncio.sleep(0.05)
