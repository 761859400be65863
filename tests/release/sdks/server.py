"""A host that serves one folder, a web server for its guests, and clients."""

import asyncio
import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from mcp import Client
from mcp.types import ElicitResult

PATIENCE = 120
# The engines of Python and StarlingMonkey take more than the default to compile.
POLICY = """[grants]
store = true
elicit = true
config = {{ region = "eu" }}
http = ["{web}"]
invoke = ["echo:*"]

[limits]
cpu = "1s"
compile-memory = "1GiB"
"""
ANSWERS = [
    ElicitResult(action="accept", content={"newest": 5, "colour": "red"}),
    ElicitResult(action="accept", content={}),
    ElicitResult(action="decline"),
    ElicitResult(action="cancel"),
]


class Web(BaseHTTPRequestHandler):
    """Answers with what it was asked."""

    def do_GET(self):
        path = self.path.split("?")[0]
        status = {"/missing": 404, "/busy": 503}.get(path, 200)
        echoed = {"path": self.path, "accept": self.headers.get("accept")}
        body = b"no JSON" if path == "/text" else json.dumps(echoed).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        if status == 503:
            self.send_header("retry-after", "2")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def web():
    """The address of a web server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Web)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class Host:
    """A process that serves a folder of its own. Its log is kept."""

    def __init__(self, binary: Path, cache: Path, web: str):
        self.root = Path(tempfile.mkdtemp(prefix="loggia-sdks-"))
        self.folder = self.root / "plugins"
        self.folder.mkdir()
        (self.folder / "polyglot.toml").write_text(POLICY.format(web=web))
        self.binary, self.cache = binary, cache
        self.lines: list[str] = []
        self.news = threading.Condition()

    def put(self, name: str, component: Path) -> None:
        """Puts a component in place, whole."""
        beside = self.folder / f".{name}.new"
        shutil.copy(component, beside)
        os.replace(beside, self.folder / f"{name}.wasm")

    def __enter__(self):
        environment = os.environ | {"LOGGIA_CACHE": str(self.cache), "LOGGIA_STATE": str(self.root / "state"), "LOGGIA_PIN": "open"}
        words = [self.binary, "serve", "--http", "127.0.0.1:0", self.folder]
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
        threading.Thread(target=self._read, daemon=True).start()
        self.url = self.wait(r"^listening on (\S+)", 0)[1]
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(PATIENCE)
        shutil.rmtree(self.root, ignore_errors=True)

    def _read(self):
        for line in self.process.stderr:
            with self.news:
                self.lines.append(line.decode(errors="replace").rstrip())
                self.news.notify_all()

    def seen(self, pattern: str, since: int):
        return next((found for line in self.lines[since:] if (found := re.search(pattern, line))), None)

    def wait(self, pattern: str, since: int):
        """The first line of the log that matches, after that many."""
        with self.news:
            if not self.news.wait_for(lambda: self.seen(pattern, since), PATIENCE):
                raise AssertionError(f"no line of the log matches {pattern}:\n" + "\n".join(self.lines[-20:]))
            return self.seen(pattern, since)

    def loaded(self, since: int = 0):
        return self.wait(r"loaded \(.*facade=\"?polyglot|ERROR .*polyglot", since)


class Person:
    """Answers the questions in turn, and keeps them."""

    def __init__(self):
        self.questions, self.answers = [], list(ANSWERS)

    async def __call__(self, context, params):
        self.questions.append([params.message, params.requested_schema])
        return self.answers.pop(0)


def connect(host: Host, person=None):
    """A session of the revision that has the client asked while a call runs."""
    return Client(host.url, mode="legacy", elicitation_callback=person or Person(), read_timeout_seconds=PATIENCE)


async def call(client, action: str, params: dict, progress=None) -> dict:
    """Makes a call and returns its result: the envelope, and content besides."""
    made = client.call_tool("polyglot", {"action": action, **params}, **({"progress_callback": progress} if progress else {}))
    result = await asyncio.wait_for(made, PATIENCE)
    envelope = json.loads(result.content[0].text)
    more = [block.model_dump(mode="json", exclude_none=True, by_alias=True) for block in result.content[1:]]
    return envelope | ({"content": more} if more else {})
