"""Does a model call it right? The same tasks, with a model behind an endpoint instead of rankings and rules."""

import json
import re

from apis import ApiFailure
from corpus import filled
from measure_calls import caller, is_valid
from measure_errors import ran

CORRECTIONS = 2
SYSTEM = "You act for a user by calling tools. Make the one call that does what the user asks for, without asking back."


def measure(served, shown, tasks, api, note=lambda text: None):
    """Returns a row of shares, and a line per task. A task whose requests fail counts as `failed` and is in no share."""
    tools = api.tools(served.tools)
    lines = []
    for task in tasks:
        names = served.filler.prepare(task, caller(served, shown))
        try:
            line = attempt(served, shown, task, names, api, tools)
        except ApiFailure as failure:
            line = {"failed": str(failure)}
        lines.append({"form": served.form, "task": task.name, **line})
        note(json.dumps(lines[-1], ensure_ascii=False))
    done = [line for line in lines if "failed" not in line]

    def share(test):
        return round(sum(map(test, done)) / len(done), 3) if done else None

    row = {"form": served.form, "tasks": len(done), "failed": len(lines) - len(done)}
    row |= {
        "no call": share(lambda line: line["no call"]),
        "right tool": share(lambda line: line["right tool"]),
        "right action": share(lambda line: line["right action"]),
        "valid at first": share(lambda line: line["corrections"] == 0),
        "right values": share(lambda line: line["right values"]),
        "valid after 1": share(lambda line: line["corrections"] in (0, 1)),
        "valid after 2": share(lambda line: line["corrections"] in (0, 1, 2)),
    }
    return row, lines


def attempt(served, shown, task, names, api, tools):
    """One task: the first call is judged, and corrected at most twice. `describe` is a question, not a call: once is free."""
    values = filled(task.values, names)
    known = [f"{name} = {value}" for name, value in names.items() if name != "n"]
    ask = filled(task.ask, names) + (f"\n(Known from before: {', '.join(known)}.)" if known else "")
    messages = api.start(f"{SYSTEM}\n\n{served.server.instructions}", ask)
    line = {"no call": True, "right tool": False, "right action": False, "right values": False, "corrections": None}
    corrections, described = 0, False
    while corrections <= CORRECTIONS:
        call = api.turn(messages, tools)
        if call is None:
            return line
        if call.arguments is None:
            answer = {"ok": False, "code": "invalid_params", "error": "the arguments are not a JSON object"}
        else:
            answer = served.call(call.name, call.arguments)
        if not described and call.arguments and call.arguments.get("action") == "describe":
            described = True
            api.result(messages, call, json.dumps(answer, ensure_ascii=False))
            continue
        if line["no call"]:
            line["no call"] = False
            line["right tool"] = call.name == shown[task.tool, task.action].tool
            action = meant(served, call, answer)
            line["right action"] = line["right tool"] and action == task.action
            line["right values"] = line["right action"] and same(parameters(call.arguments), values)
        if is_valid(answer):
            return {**line, "corrections": corrections}
        api.result(messages, call, json.dumps(answer, ensure_ascii=False))
        corrections += 1
    return line


def meant(served, call, answer):
    """The action of a call, whether it was valid or not; None for a tool that is not there."""
    if answer.get("code") == "protocol":
        return None
    return ran(served, (call.name, call.arguments), answer)


def parameters(arguments):
    """The parameters of a call, in and beside `params`."""
    arguments = dict(arguments or {})
    inside = arguments.pop("params", None)
    if isinstance(inside, str):
        try:
            inside = json.loads(inside)
        except ValueError:
            inside = None
    given = {**arguments, **(inside if isinstance(inside, dict) else {})}
    return {name: value for name, value in given.items() if name not in ("action", "cmd") and value is not None}


def same(given, facts):
    """Whether a call holds the user's facts. It may hold more, and may say texts in other words."""
    return all(name in given and _same(given[name], fact) for name, fact in facts.items())


def _same(given, fact):
    if isinstance(fact, dict) and isinstance(given, dict):
        return all(key in given and _same(given[key], member) for key, member in fact.items())
    if isinstance(fact, list) and isinstance(given, list):
        return len(given) == len(fact) and all(map(_same, given, fact))
    if isinstance(fact, str):
        wanted, found = ({*re.findall(r"\w+", str(text).lower())} for text in (fact, given))
        # A word, an id or a path is exact; of a sentence, half of the words are enough.
        return len(wanted & found) * 2 >= len(wanted) if " " in fact.strip() else str(given).strip().lower() == fact.strip().lower()
    if isinstance(fact, bool) or isinstance(given, bool):
        return str(given).lower() == str(fact).lower()
    return str(given) == str(fact) or given == fact
