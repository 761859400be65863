"""A scripted MCP server over streamable HTTP. Standard library only.

`fake_http_server.py MODE`: prints its port, then serves until its stdin closes.
"""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODE = sys.argv[1]
ANSWERS = {}
CANCELLED = []
DELETED = []
CALLS = 0


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", kind="application/json", **headers):
        self.send_response(status)
        if body:
            self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def result(self, request, result, **headers):
        if MODE == "stateless":
            result = {"resultType": "complete", **result}
        self.reply(200, json.dumps({"jsonrpc": "2.0", "id": request, "result": result}).encode(), **headers)

    def stream(self, *messages):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for message in messages:
            if callable(message):
                message = message()
            self.wfile.write(b": ping\n\ndata: " + json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n\n")
            self.wfile.flush()
        self.close_connection = True

    def do_GET(self):
        self.reply(405)

    def do_DELETE(self):
        DELETED.append(self.headers["Mcp-Session-Id"])
        self.reply(200)

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        method, request, params = message.get("method"), message.get("id"), message.get("params", {})
        if MODE == "needs-token" and self.headers["Authorization"] != "Bearer good-token":
            return self.reply(401, WWW_Authenticate="Bearer")
        if MODE == "redirects":
            return self.reply(307, Location="http://127.0.0.1:1/mcp")
        if MODE == "broken":
            return self.reply(500, b"<h1>oops</h1>", kind="text/html")
        if MODE == "html":
            return self.reply(200, b"<h1>hello</h1>", kind="text/html")
        if method is None:
            if request in ANSWERS:
                ANSWERS[request].answer = message.get("result", message.get("error"))
                ANSWERS[request].set()
            return self.reply(202)
        if method == "notifications/cancelled":
            CANCELLED.append(params.get("requestId"))
        if request is None:
            return self.reply(202)
        if method == "server/discover" and MODE == "stateless":
            return self.result(request, {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private"})
        if method == "server/discover":
            return self.reply(400, b"Bad Request: no session", kind="text/plain")
        if method == "initialize":
            return self.result(request, {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "fake", "version": "1"}}, Mcp_Session_Id="s-1")
        if MODE != "stateless" and self.headers["Mcp-Session-Id"] != "s-1":
            return self.reply(400)
        if method == "tools/list":
            names = ["echo", "headers", "stream", "ask", "large", "large_event", "values", "values_event", "silent", "cut", "busy", "state"]
            return self.result(request, {"tools": [{"name": 5}] + [{"name": name, "inputSchema": {"type": "object", "additionalProperties": True}} for name in names]})
        return self.call(request, params["name"], params)

    def call(self, request, name, params):
        if name == "echo":
            self.result(request, {"content": [], "structuredContent": {"echo": params.get("arguments", {})}})
        elif name == "headers":
            self.result(request, {"content": [], "structuredContent": {name.lower(): value for name, value in self.headers.items()}})
        elif name == "stream":
            token = params["_meta"]["progressToken"]
            self.stream(
                {"method": "notifications/progress", "params": {"progressToken": token, "progress": 1, "total": 2}},
                {"id": request, "result": {"content": [{"type": "text", "text": "streamed"}]}},
            )
        elif name == "ask":
            number = f"ask-{request}"
            event = ANSWERS[number] = threading.Event()

            def answered():
                event.wait()
                return {"id": request, "result": {"content": [], "structuredContent": event.answer}}

            self.stream({"id": number, "method": "elicitation/create", "params": {
                "message": "Which?", "requestedSchema": {"type": "object", "properties": {"n": {"type": "string"}}}}}, answered)
        elif name in ("large", "large_event"):
            result = {"id": request, "result": {"content": [{"type": "text", "text": "x" * (17 << 20)}]}}
            try:
                if name == "large":
                    self.reply(200, json.dumps({"jsonrpc": "2.0", **result}).encode())
                else:
                    self.stream(result)
            except OSError:
                pass
        elif name == "values":
            self.result(request, {"content": [1] * 200_000})
        elif name == "values_event":
            self.stream({"id": request, "result": {"content": [1] * 200_000}})
        elif name == "silent":
            threading.Event().wait()
        elif name == "cut":
            self.stream()
        elif name == "busy":
            self.reply(503, Retry_After="1")
        elif name == "state":
            self.result(request, {"content": [], "structuredContent": {"cancelled": len(CANCELLED)}})


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
sys.stderr.write(json.dumps({"deleted": DELETED}))
os._exit(0)
