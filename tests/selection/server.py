"""A server over stdio: JSON-RPC with one request at a time, on the standard library."""

import json
import queue
import subprocess
import threading

# Seconds for one answer. The first list waits for nothing, but a cold component takes seconds to compile.
PATIENCE = 120
# A name that no server knows.
CLIENT = "loggia-selection"


class ServerFailure(Exception):
    """The server ended, was silent, or answered with a protocol error."""


class StdioServer:
    """A running MCP server. Use as a context manager; its log goes to `log`, a writable file. `client` is the name to give."""

    def __init__(self, command, log=subprocess.DEVNULL, env=None, client=CLIENT):
        self.client = client
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=env, text=True, encoding="utf-8"
        )
        self.lines = queue.Queue()
        self.last_id = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def __enter__(self):
        self.instructions = self.open().get("instructions", "")
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False) + "\n")
        self.process.stdin.flush()

    def request(self, method, params):
        """Returns the result. Other requests of the server are refused, notifications are skipped."""
        self.last_id += 1
        self._send({"id": self.last_id, "method": method, "params": params})
        while True:
            try:
                line = self.lines.get(timeout=PATIENCE)
            except queue.Empty:
                raise ServerFailure(f"no answer to {method} within {PATIENCE} s") from None
            if line is None:
                raise ServerFailure(f"the server ended during {method}")
            message = json.loads(line)
            if "method" in message:
                if "id" in message:
                    self._send({"id": message["id"], "error": {"code": -32601, "message": "not supported"}})
            elif message.get("id") == self.last_id:
                if "error" in message:
                    raise ServerFailure(f"{method}: {message['error'].get('message')}")
                return message["result"]

    def open(self):
        hello = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": self.client, "version": "1"},
        }
        result = self.request("initialize", hello)
        self._send({"method": "notifications/initialized"})
        return result

    def tools(self):
        """Returns the whole tool list."""
        tools, cursor = [], None
        while True:
            page = self.request("tools/list", {"cursor": cursor} if cursor else {})
            tools += page["tools"]
            cursor = page.get("nextCursor")
            if not cursor:
                return tools

    def call(self, name, arguments):
        """Returns the whole result of a tool call. A protocol error becomes a result, since a model sees its text."""
        try:
            return self.request("tools/call", {"name": name, "arguments": arguments})
        except ServerFailure as failure:
            if self.process.poll() is not None:
                raise
            return {"isError": True, "content": [{"type": "text", "text": str(failure)}]}
