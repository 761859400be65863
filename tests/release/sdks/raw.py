"""A client of one connection with nothing in it but the standard library, so that what is timed is the host."""

import http.client
import json
from urllib.parse import urlsplit

REVISION = "2025-11-25"


class RawClient:
    """A session over one connection that is kept open."""

    def __init__(self, url: str):
        parts = urlsplit(url)
        self.path, self.session = parts.path, None
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port)
        about = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
        self.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message: dict) -> dict | None:
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        if self.session:
            headers |= {"mcp-session-id": self.session, "mcp-protocol-version": REVISION}
        self.connection.request("POST", self.path, json.dumps(message), headers)
        answer = self.connection.getresponse()
        self.session = answer.getheader("mcp-session-id") or self.session
        text = answer.read().decode()
        if "event-stream" in answer.getheader("content-type", ""):
            text = [line[5:].strip() for line in text.splitlines() if line.startswith("data:") and len(line) > 6][-1]
        return json.loads(text) if text else None

    def call(self, action: str, params: dict) -> dict:
        """Makes a call, and returns its envelope."""
        arguments = {"name": "polyglot", "arguments": {"action": action, **params}}
        answer = self.send({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": arguments})
        return json.loads(answer["result"]["content"][0]["text"])

    def close(self) -> None:
        self.connection.close()
