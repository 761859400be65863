"""A model's endpoint on loopback, for the tests: answers requests from a script and keeps what it was sent."""

import http.server
import json
import threading
from unittest import mock


class FakeEndpoint:
    """`script` holds answers: `(status, headers, body)`, or a function of the request's body that returns one."""

    def __init__(self, script):
        self.script, self.requests = list(script), []
        endpoint = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint.requests.append((self.path, dict(self.headers), body))
                answer = endpoint.script.pop(0)
                status, headers, content = answer(body) if callable(answer) else answer
                data = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(status)
                for name, value in {"Content-Length": str(len(data)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self):
        # A proxy of the environment is not for loopback.
        self.environment = mock.patch.dict("os.environ", {"no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1"})
        self.environment.start()
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        return self

    def __exit__(self, *_):
        self.environment.stop()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def openai_says(name=None, arguments=None, text=None):
    """An answer of chat completions with one tool call, or with a text."""
    call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}
    if name and not isinstance(arguments, str):
        call["function"]["arguments"] = json.dumps(arguments)
    message = {"role": "assistant", "content": text, **({"tool_calls": [call]} if name else {})}
    return 200, {}, {"choices": [{"message": message}]}


def anthropic_says(name=None, arguments=None, text=None):
    """An answer of messages with one tool call, or with a text."""
    content = [{"type": "text", "text": text}] if text else []
    content += [{"type": "tool_use", "id": "t1", "name": name, "input": arguments}] if name else []
    return 200, {}, {"role": "assistant", "content": content}
