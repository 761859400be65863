"""Calls through an installed command, as a client makes them."""

import json
import signal
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

REVISION = "2025-11-25"
CALL = {"name": "bench", "arguments": {"action": "echo", "input": "hello"}}
INITIALIZE = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": {"name": "install", "version": "1"}}
TIMEOUT = 120


def check(command: list, plugins: Path, environment: dict[str, str]) -> None:
    """Calls the plugin by `loggia call`, over stdio, and over stdio again until SIGTERM."""
    words = [str(word) for word in command]
    call = [*words, "call", "--plugins", str(plugins), "bench", "echo", "input=hello"]
    done = subprocess.run(call, capture_output=True, text=True, env=environment, timeout=TIMEOUT, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, f"{call}: {done.stderr}"
    expect(json.loads(done.stdout))
    over_stdio(words, plugins, environment, lambda server: server.stdin.close())
    over_stdio(words, plugins, environment, lambda server: server.send_signal(signal.SIGTERM))


def over_stdio(words: list[str], plugins: Path, environment: dict[str, str], end) -> None:
    serve = [*words, "serve", str(plugins)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(serve, text=True, env=environment, **pipes) as server:
        try:
            send(server, {"id": 1, "method": "initialize", "params": INITIALIZE})
            answer(server, 1)
            send(server, {"method": "notifications/initialized"})
            send(server, {"id": 2, "method": "tools/call", "params": CALL})
            expect(answer(server, 2)["structuredContent"])
            end(server)
            assert server.wait(TIMEOUT) == 0, f"{serve} exited with {server.returncode}: {server.stderr.read()}"
        finally:
            server.kill()


def send(server: subprocess.Popen, message: dict) -> None:
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    server.stdin.flush()


def answer(server: subprocess.Popen, id: int) -> dict:
    for line in server.stdout:
        message = json.loads(line)
        if message.get("id") == id:
            return message["result"]
    raise AssertionError(f"{server.args} ended: {server.stderr.read()}")


def expect(envelope: dict) -> None:
    assert envelope["ok"] is True and envelope["data"] == "hello", envelope


class Http:
    """A session over HTTP."""

    def __init__(self, url: str, headers: dict[str, str]):
        self.url = url
        accepted = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        self.headers = {**accepted, **headers}

    def open(self) -> None:
        response = self.post({"id": 1, "method": "initialize", "params": INITIALIZE})
        assert response["result"]["protocolVersion"] == REVISION, response
        self.headers["mcp-protocol-version"] = REVISION
        self.post({"method": "notifications/initialized"})

    def call(self) -> None:
        expect(self.post({"id": 2, "method": "tools/call", "params": CALL})["result"]["structuredContent"])

    def post(self, message: dict) -> dict:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        request = urllib.request.Request(self.url, body, self.headers)
        with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
            if session := response.headers.get("mcp-session-id"):
                self.headers["mcp-session-id"] = session
            lines = response.read().decode().splitlines()
        # As JSON, or as events whose data is JSON.
        texts = [line.removeprefix("data:").strip() for line in lines if not line.startswith(("event:", "id:", "retry:", ":"))]
        messages = [json.loads(text) for text in texts if text]
        return next((answer for answer in messages if "id" in message and answer.get("id") == message["id"]), {})


def status(url: str, headers: dict[str, str] | None = None) -> int:
    """Status of a GET; 0 if nothing listens."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers or {}), timeout=TIMEOUT) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code
    except urllib.error.URLError:
        return 0
