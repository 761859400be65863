"""Models behind an endpoint: OpenAI's chat completions and Anthropic's messages, by urllib."""

import dataclasses
import email.utils
import json
import time
import urllib.error
import urllib.request

ATTEMPTS = 6
# Seconds: of one answer, and at most between two attempts.
PATIENCE, LONGEST_WAIT = 300, 120
OVERLOADED = (408, 409, 429, 500, 502, 503, 504, 529)
MAX_TOKENS = 2048


class ApiFailure(Exception):
    """The endpoint refused a request, or did not answer after several attempts."""


@dataclasses.dataclass(frozen=True)
class ModelCall:
    """A tool call of a model. `arguments` is None if they are not a JSON object."""

    id: str
    name: str
    arguments: dict


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect is an error: it would take the key to another address."""

    def redirect_request(self, *_):
        return None


def post(url, headers, body, sleep=time.sleep):
    """Posts JSON and returns JSON. Waits and tries again after rate limits, overload and broken connections."""
    data = json.dumps(body).encode()
    for attempt in range(1, ATTEMPTS + 1):
        request = urllib.request.Request(url, data, {"Content-Type": "application/json", **headers})
        try:
            with urllib.request.build_opener(NoRedirects).open(request, timeout=PATIENCE) as response:
                return json.loads(response.read())
        except urllib.error.HTTPError as error:
            text = error.read().decode(errors="replace")[:500]
            if error.code not in OVERLOADED or attempt == ATTEMPTS:
                raise ApiFailure(f"HTTP {error.code} of the endpoint: {text}") from None
            wait = retry_after(error.headers.get("Retry-After"))
        except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
            if attempt == ATTEMPTS:
                raise ApiFailure(f"the endpoint cannot be reached: {getattr(error, 'reason', error)}") from None
            wait = None
        except ValueError as error:
            raise ApiFailure(f"the endpoint's answer is not JSON: {error}") from None
        sleep(min(2**attempt if wait is None else wait, LONGEST_WAIT))


def retry_after(value):
    """Returns the seconds of a `Retry-After`, which may be a date; None if it has none."""
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


class OpenaiApi:
    """`POST …/chat/completions`. `endpoint` is the base, such as `https://host/v1`."""

    def __init__(self, endpoint, model, key, sleep=time.sleep):
        self.url = endpoint.rstrip("/").removesuffix("/chat/completions") + "/chat/completions"
        self.model, self.sleep = model, sleep
        self.headers = {"Authorization": f"Bearer {key}"} if key else {}

    def tools(self, listed):
        return [
            {
                "type": "function",
                "function": {"name": tool["name"], "description": tool.get("description", ""), "parameters": tool["inputSchema"]},
            }
            for tool in listed
        ]

    def start(self, system, ask):
        return [{"role": "system", "content": system}, {"role": "user", "content": ask}]

    def turn(self, messages, tools):
        """Sends the messages; returns the first tool call or None, and adds the answer to the messages."""
        body = {"model": self.model, "messages": messages, "tools": tools}
        answer = post(self.url, self.headers, body, self.sleep)
        try:
            message = answer["choices"][0]["message"]
            calls = message.get("tool_calls") or []
            first = calls[0] if calls else None
            call = first and ModelCall(first["id"], first["function"]["name"], _object(first["function"]["arguments"]))
        except (KeyError, IndexError, TypeError):
            raise ApiFailure(f"the endpoint's answer has no message: {json.dumps(answer)[:300]}") from None
        # Each call that is kept needs a result, and only the first is made.
        messages.append({"role": "assistant", "content": message.get("content"), **({"tool_calls": [first]} if first else {})})
        return call

    def result(self, messages, call, text):
        messages.append({"role": "tool", "tool_call_id": call.id, "content": text})


class AnthropicApi:
    """`POST …/v1/messages`. `endpoint` is the base, such as `https://host`."""

    def __init__(self, endpoint, model, key, sleep=time.sleep):
        self.url = endpoint.rstrip("/").removesuffix("/messages").removesuffix("/v1") + "/v1/messages"
        self.model, self.sleep, self.system = model, sleep, ""
        self.headers = {"anthropic-version": "2023-06-01", **({"x-api-key": key} if key else {})}

    def tools(self, listed):
        return [
            {"name": tool["name"], "description": tool.get("description", ""), "input_schema": tool["inputSchema"]} for tool in listed
        ]

    def start(self, system, ask):
        self.system = system
        return [{"role": "user", "content": ask}]

    def turn(self, messages, tools):
        body = {"model": self.model, "max_tokens": MAX_TOKENS, "system": self.system, "messages": messages, "tools": tools}
        answer = post(self.url, self.headers, body, self.sleep)
        try:
            texts = [block for block in answer["content"] if block["type"] == "text" and block["text"]]
            first = next((block for block in answer["content"] if block["type"] == "tool_use"), None)
            call = first and ModelCall(first["id"], first["name"], _object(first["input"]))
        except (KeyError, TypeError):
            raise ApiFailure(f"the endpoint's answer has no content: {json.dumps(answer)[:300]}") from None
        if texts or first:
            messages.append({"role": "assistant", "content": [*texts, *([first] if first else [])]})
        return call

    def result(self, messages, call, text):
        messages.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": text}]})


APIS = {"openai": OpenaiApi, "anthropic": AnthropicApi}


def _object(arguments):
    """Arguments as an object: OpenAI's are its JSON text, and may be empty."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except ValueError:
            return None
    return arguments if isinstance(arguments, dict) else None
