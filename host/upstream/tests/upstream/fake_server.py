"""A scripted MCP server over stdio, with bad habits. Standard library only.

`fake_server.py MODE`: the mode decides how it behaves as a whole; single tools have habits of their own.
"""

import json
import os
import signal
import sys
import threading
import time

MODE = sys.argv[1]
LOCK = threading.Lock()
CANCELLED = []
HELD = []
ANSWERS = {}
LISTS = 0
OUT = sys.stdout.buffer


def raw(data):
    with LOCK:
        OUT.write(data)
        OUT.flush()


def send(message):
    raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def text(value, **more):
    return {"content": [{"type": "text", "text": value}], **more}


def tools():
    global LISTS
    LISTS += 1
    names = [
        "fake_echo", "fake_fail", "fake_refuse", "fake_progress", "fake_ask", "fake_ask_url", "fake_connect", "fake_sample",
        "fake_hold", "fake_release", "fake_silent", "fake_cancelled", "fake_die", "fake_huge", "fake_twice",
        "fake_wrong_id", "fake_rubbish", "fake_malformed", "fake_values", "fake_env", "fake_pid", "fake_fork",
        "fake_grow", "fake_flood", "fake_stderr", "fake_lists", "fake_work", "fake_finish",
    ]
    if MODE == "changes" or (LISTS > 1 and MODE != "constant"):
        names.append(f"fake_list_{LISTS}")
    if MODE == "changes":
        send({"method": "notifications/tools/list_changed"})
    listed = [{"name": name, "inputSchema": {"type": "object", "additionalProperties": True}} for name in names]
    next(tool for tool in listed if tool["name"] == "fake_work")["execution"] = {"taskSupport": "required"}
    # One that cannot be read must not hide the others.
    return [{"name": 5}] + listed


def answer(request, result):
    if MODE == "wrong-ids":
        request = 4711
    if MODE == "stateless":
        result = {"resultType": "complete", **result}
    send({"id": request, "result": result})


def ask(params):
    number = f"ask-{len(ANSWERS)}"
    ANSWERS[number] = None
    event = threading.Event()
    ANSWERS[number] = event
    send({"id": number, "method": "elicitation/create", "params": params})
    event.wait()
    return event.answer


FORM = {"message": "Which colour?", "requestedSchema": {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}}


LINK = {"mode": "url", "message": "Sign in.", "url": "https://x.example/connect", "elicitationId": "e"}
CONNECTS = []
TASKS = {}
CANCELLED_TASKS = []


def finish(request, task):
    TASKS[task].wait()
    answer(request, {"content": [], "structuredContent": {"task": task}})


def call(request, params):
    name, arguments = params["name"], params.get("arguments", {})
    if name == "fake_echo":
        answer(request, {"content": [], "structuredContent": {"echo": arguments}, "_meta": {"nextTool": {"tool": "fake_release"}}})
    elif name == "fake_fail":
        answer(request, text("it went wrong", isError=True))
    elif name == "fake_refuse":
        send({"id": request, "error": {"code": -32602, "message": "no such thing"}})
    elif name == "fake_progress":
        token = params["_meta"]["progressToken"]
        for done in (1, 2):
            send({"method": "notifications/progress", "params": {"progressToken": token, "progress": done, "total": 2, "message": f"step {done}"}})
        send({"method": "notifications/progress", "params": {"progressToken": "unknown", "progress": 9}})
        answer(request, text("done"))
    elif name == "fake_ask" and MODE == "stateless":
        if "inputResponses" in params:
            assert params["requestState"] == "sealed"
            answer(request, {"content": [], "structuredContent": params["inputResponses"]["colour"]})
        else:
            send({"id": request, "result": {"resultType": "input_required", "requestState": "sealed", "inputRequests": {
                "colour": {"method": "elicitation/create", "params": FORM}}}})
    elif name == "fake_ask_url" and MODE == "stateless":
        if "inputResponses" in params:
            answer(request, {"content": [], "structuredContent": params["inputResponses"]["link"]})
        else:
            link = {key: value for key, value in LINK.items() if key != "elicitationId"}
            send({"id": request, "result": {"resultType": "input_required", "requestState": "sealed", "inputRequests": {
                "link": {"method": "elicitation/create", "params": link}}}})
    elif name == "fake_ask":
        answer(request, {"content": [], "structuredContent": ask(FORM)})
    elif name == "fake_ask_url":
        got = ask(LINK)
        send({"method": "notifications/elicitation/complete", "params": {"elicitationId": "e"}})
        # Those of SDKs fail with the client's error.
        fails = "error" in got and "does_without" not in arguments
        answer(request, text(got["error"], isError=True) if fails else {"content": [], "structuredContent": got})
    elif name == "fake_connect":
        # The first call requires a link; `rounds` more do, too.
        CONNECTS.append(request)
        if len(CONNECTS) > arguments.get("rounds", 1):
            answer(request, {"content": [], "structuredContent": {"calls": len(CONNECTS)}})
            CONNECTS.clear()
        else:
            data = arguments.get("data", {"elicitations": [LINK, {**LINK, "url": "https://y.example/"}]})
            send({"id": request, "error": {"code": -32042, "message": "Sign in first.", "data": data}})
    elif name == "fake_work" and "task" in params and "at_once" not in arguments:
        task = f"task-{len(TASKS)}"
        TASKS[task] = threading.Event()
        answer(request, {"task": {"taskId": task, "status": "working", "ttl": 1000, "pollInterval": 1}})
    elif name == "fake_work" and "task" in params:
        answer(request, text("done at once"))
    elif name == "fake_finish":
        for task in TASKS.values():
            task.set()
        answer(request, {"content": [], "structuredContent": {"tasks": len(TASKS), "cancelled": CANCELLED_TASKS}})
    elif name == "fake_sample":
        number = "sample"
        event = threading.Event()
        ANSWERS[number] = event
        send({"id": number, "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}})
        event.wait()
        answer(request, {"content": [], "structuredContent": event.answer})
    elif name == "fake_hold":
        HELD.append((request, arguments))
    elif name == "fake_release":
        # The last one first.
        for held, given in reversed(HELD):
            answer(held, {"content": [], "structuredContent": given})
        answer(request, {"content": [], "structuredContent": {"released": len(HELD)}})
        HELD.clear()
    elif name == "fake_silent":
        pass
    elif name == "fake_cancelled":
        answer(request, {"content": [], "structuredContent": {
            "cancelled": len(CANCELLED), "held": len(HELD), "tasks": len(TASKS), "cancelled_tasks": CANCELLED_TASKS}})
    elif name == "fake_die":
        os._exit(3)
    elif name == "fake_huge":
        with LOCK:
            OUT.write(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"' % request)
            chunk = b"x" * (1 << 20)
            try:
                for _ in range(1024):
                    OUT.write(chunk)
            except BrokenPipeError:
                os._exit(0)
    elif name == "fake_twice":
        answer(request, text("first"))
        answer(request, text("second"))
    elif name == "fake_wrong_id":
        send({"id": 987654, "result": text("not yours")})
        send({"id": "a string", "error": {"code": 1, "message": "not yours"}})
        send({"id": 1.5, "result": {}})
        answer(request, text("yours"))
    elif name == "fake_rubbish":
        raw(b"Listening on port 8080\n\x1b[2J\n\xff\xfe\n{}\n[1]\n\n")
        answer(request, text("after rubbish"))
    elif name == "fake_malformed":
        send({"id": request, "result": arguments["result"]})
    elif name == "fake_values":
        raw(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[' % request + b"1," * 1_000_000 + b"1]}}\n")
    elif name == "fake_env":
        answer(request, {"content": [], "structuredContent": dict(os.environ)})
    elif name == "fake_pid":
        answer(request, {"content": [], "structuredContent": {"pid": os.getpid()}})
    elif name == "fake_fork":
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            while True:
                time.sleep(1000)
        answer(request, {"content": [], "structuredContent": {"pid": child}})
    elif name == "fake_grow":
        send({"method": "notifications/tools/list_changed"})
        answer(request, text("the next list has one tool more"))
    elif name == "fake_lists":
        answer(request, {"content": [], "structuredContent": {"lists": LISTS}})
    elif name == "fake_flood":
        for number in range(1000):
            send({"id": f"flood-{number}", "method": "elicitation/create", "params": FORM})
    elif name == "fake_stderr":
        sys.stderr.write("e" * 1_000_000 + "\n" + "line\n" * 10_000)
        sys.stderr.flush()
        answer(request, text("written"))
    else:
        answer(request, text("unknown"))


def handle(message):
    method, request, params = message.get("method"), message.get("id"), message.get("params", {})
    if method is None:
        event = ANSWERS.get(request)
        if event:
            event.answer = message.get("result", {"error": message.get("error", {}).get("message")})
            event.set()
    elif method == "server/discover" and MODE == "stateless":
        answer(request, {
            "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private",
            "serverInfo": {"name": "fake", "version": "2"}, "instructions": "Stateless.",
        })
    elif method == "server/discover" and MODE == "dies-at-discover":
        os._exit(1)
    elif method == "initialize":
        answer(request, {
            "protocolVersion": params["protocolVersion"], "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "fake", "title": "Fake Server", "version": "1.2"}, "instructions": "Use it for tests.",
        })
    elif method == "tools/list":
        answer(request, {"tools": tools()})
    elif method == "tools/call" and MODE == "closes-stdin":
        os.close(0)
        call(request, params)
        time.sleep(1000)
    elif method == "tools/call":
        # Those that wait for an answer must not stop the reader.
        threading.Thread(target=call, args=(request, params), daemon=True).start()
    elif method == "tasks/get":
        answer(request, {"taskId": params["taskId"], "status": "working", "statusMessage": "half done\x1b[2J"})
    elif method == "tasks/result":
        threading.Thread(target=finish, args=(request, params["taskId"]), daemon=True).start()
    elif method == "tasks/cancel":
        CANCELLED_TASKS.append(params["taskId"])
        answer(request, {"taskId": params["taskId"], "status": "cancelled"})
    elif method == "notifications/cancelled":
        CANCELLED.append(params.get("requestId"))
    elif request is not None:
        send({"id": request, "error": {"code": -32601, "message": f"{method} is unknown"}})


if MODE == "dies":
    sys.stderr.write("cannot find its database\n")
    sys.exit(7)
if MODE == "deaf":
    handle(json.loads(sys.stdin.readline()))
    handle(json.loads(sys.stdin.readline()))
    number = 0
    while True:
        number += 1
        send({"id": number, "method": "ping"})
if MODE == "ignores-sigterm":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
for line in sys.stdin:
    if MODE != "mute":
        handle(json.loads(line))
while MODE == "ignores-sigterm":
    time.sleep(1000)
