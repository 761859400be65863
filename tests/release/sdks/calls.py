"""Calls that the three guests answer alike: name, action, parameters, and what the answer has at least."""

CALLS = [
    ("texts", {"bounded": "a", "matching": "b", "day": "2026-01-31", "move": "up"}, {"data": "a|b|2026-01-31||now||up"}),
    ("numbers", {"closed": 1, "half_open": -5, "fraction": 0.5, "whole": 7}, {"data": {"all": [1, -5, 0.5, 10, False, 7]}}),
    ("nums", {"closed": "50", "half_open": 4, "fraction": 2.25, "flag": True}, {"data": {"all": [50, 4, 2.25, 10, True, None]}}),
    ("numbers", {"closed": 51, "half_open": 4, "fraction": 1.5}, {"code": "invalid_params"}),
    (
        "structures",
        {"place": {"lat": 1.5, "lon": 2.5}, "colour": "green", "tags": ["a", "ü"], "counts": {"x": 1}},
        {"ok": True, "count": 2},
    ),
    ("structures", {"place": {"lat": 1.5}, "colour": "green"}, {"code": "invalid_params"}),
    ("topics", {"first": "work", "others": ["travel", "home"], "last": "other"}, {"data": ["work", "travel", "home", "other"]}),
    ("topics", {"first": "food"}, {"code": "invalid_params"}),
    ("add", {"title": "Milk — 🥛"}, {"data": {"id": "t_0001", "title": "Milk — 🥛", "urgency": "low", "place": None}}),
    ("add", {"title": "Bread", "urgency": "high"}, {"ok": True}),
    ("add", {"title": "Tea"}, {"ok": True}),
    ("swap", {"one": "t_0001", "other": "t_0002"}, {"data": None}),
    ("swap", {"one": "t_0001", "other": "t_0009"}, {"code": "not_found"}),
    ("get", {"id": "t_0002"}, {"data": {"id": "t_0002", "title": "Milk — 🥛", "urgency": "high", "place": None}}),
    ("get", {"id": "nowhere"}, {"code": "not_found"}),
    ("get", {"id": ""}, {"code": "invalid_params"}),
    ("list", {"limit": 2}, {"count": 2, "cursor": "t_0002"}),
    ("list", {"cursor": "t_0002"}, {"count": 1}),
    ("remove", {"id": "t_0003"}, {"data": True}),
    ("remove", {"id": "t_0003"}, {"data": False}),
    ("list", {}, {"count": 2}),
    *[("fail", {"code": code}, {"code": code, "hint": "Try `list`."}) for code in (
        "invalid_params", "not_found", "denied", "conflict", "unavailable", "timed_out", "cancelled", "internal", "invalid_data", "own")],
    ("reply", {}, {"data": [1, 2], "count": 2, "total": 112, "cursor": "2", "message": "The first two."}),
    *[("report", {"detail": detail}, {"data": data}) for detail, data in (
        ("minimal", {"id": "r"}), ("standard", {"id": "r", "text": "long"}), ("full", {"id": "r", "text": "long", "history": ["added"]}))],
    # The person accepts both questions, then declines the first, then closes it.
    ("ask", {}, {"data": {"newest": 5, "reason": None, "colour": "red", "sure": True}}),
    ("ask", {}, {"code": "denied"}),
    ("ask", {}, {"code": "cancelled"}),
    ("work", {"steps": 4}, {"data": 4}),
    ("fetch", {"url": "{web}/things"}, {"data": {"path": "/things?q=a%20b%26c", "accept": "application/json"}}),
    ("fetch", {"url": "{web}/missing"}, {"code": "not_found"}),
    ("fetch", {"url": "{web}/busy"}, {"code": "unavailable"}),
    ("fetch", {"url": "{web}/text"}, {"code": "invalid_data"}),
    ("fetch", {"url": "http://127.0.0.1:1/"}, {"code": "denied"}),
    ("fetch", {"url": "nonsense"}, {"code": "invalid_params"}),
    ("region", {}, {"data": "eu"}),
    ("relay", {"facade": "echo", "target": "say", "with": {"text": "hello"}}, {"ok": True}),
    ("relay", {"facade": "echo", "target": "say", "with": {"txt": 1}}, {"code": "invalid_params"}),
    ("relay", {"facade": "nobody", "target": "say"}, {"ok": False}),
]

# What any guest may try; each ends, and the next call is answered: the code of the failure, words of its error or hint, and other
# words for guests that end otherwise. CPython and SpiderMonkey count their recursion themselves, and all three engines turn memory
# that they do not get into an exception, so the host sees no fault. Nothing in JavaScript ends the engine, as `os.abort` does in
# Python, but a call that WASI forbids does: then the host traps, not an instruction. Five faults within a minute open the breaker.
HOSTILE = {
    "spin": ("timed_out", "`limits.cpu` (now 1s)", {}),
    "hoard": ("internal", "`limits.memory`", {"python": "MemoryError", "quickjs": "out of memory", "starlingmonkey": "out of memory"}),
    "recurse": ("internal", "`--wasm-stack`", {"python": "RecursionError", "starlingmonkey": "too much recursion"}),
    "trap": ("internal", "trapped: wasm `unreachable`", {name: "failed inside the sandbox" for name in ("quickjs", "starlingmonkey")}),
    "flood": (None, "", {}),
}
