"""A PostgreSQL server for one manifest, by the names that its settings use, in the network namespace of this process."""

import sys
from pathlib import Path
import signal
import subprocess
import time

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/fleet"))
import postgres  # noqa: E402

# Its name in dist/kubernetes; dist/compose calls it `db`.
NAME = "loggia-db"


class Server:
    """Listens on 127.0.0.1:5432, and has the user and the database `loggia`. Names go to the image's /etc/hosts, as engines write it."""

    def __init__(self, folder: Path, root: Path, names: tuple[str, ...] = (NAME,)):
        self.node = postgres.Node(folder / "database", 5432)
        (root / "etc/hosts").write_text("".join(f"127.0.0.1 {name}\n" for name in ("localhost", *names)))

    def __enter__(self) -> "Server":
        node = self.node
        node.create()
        node.configure(synchronous=False)
        command = [node.bin / "postgres", "-D", node.data]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", **postgres.account())
        deadline = time.monotonic() + 30
        while True:
            try:
                self.ask("SELECT 1")
                break
            except RuntimeError:
                assert time.monotonic() < deadline, "PostgreSQL does not start"
                time.sleep(0.05)
        self.ask("CREATE USER loggia")
        self.ask("CREATE DATABASE loggia OWNER loggia")
        return self

    def ask(self, statement: str) -> str:
        where = ["--host", self.node.folder, "--port", str(self.node.port), "--username=postgres", "--dbname=postgres"]
        return postgres.run(self.node.bin / "psql", *where, "--no-psqlrc", "--tuples-only", "--no-align", "--command", statement)

    def __exit__(self, *_) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
