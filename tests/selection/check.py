"""Is the corpus sound? Each right call is valid on the server, and the sentences are those of users."""

import collections
import re

from corpus import SetupFailure, filled
from measure_calls import caller

LEAST, LEAST_PER_ACTION = 300, 2
HOST_ACTIONS = ("run_status", "run_cancel")


def problems(tasks, shown):
    """Returns what is wrong with the corpus, as sentences. `shown` is what `granular` publishes."""
    found = []
    if len(tasks) < LEAST:
        found.append(f"there are {len(tasks)} tasks, fewer than {LEAST}")
    asks = collections.Counter(task.ask.strip().lower() for task in tasks)
    found += [f"said {count} times: {ask}" for ask, count in asks.items() if count > 1]
    per_action = collections.Counter((task.tool, task.action) for task in tasks)
    for owner, action in shown:
        if action not in HOST_ACTIONS and per_action[owner, action] < LEAST_PER_ACTION:
            found.append(f"{owner}.{action} has {per_action[owner, action]} tasks")
    for task in tasks:
        found += [f"{task.name}: {text}" for text in sentence_problems(task, shown)]
    return found


def sentence_problems(task, shown):
    """Yields what a user would not say: names of actions and parameters as a program writes them."""
    if (task.tool, task.action) not in shown:
        yield f"{task.tool} has no action {task.action}"
        return
    parameters = shown[task.tool, task.action].parameters
    yield from (f"{name} is no parameter of {task.action}" for name in task.values if name not in parameters)
    if "`" in task.ask:
        yield "the sentence has a backtick"
    # Data in quotation marks, programs and URLs may hold any word.
    bare = re.sub(r"'[^']*'(?!\w)|\{.*\}|https?://\S+|/data\S*|\w+\.\w+", " ", task.ask.lower())
    words = set(re.findall(r"[\w]+", bare))
    if task.action in words:
        yield f"the sentence names the action {task.action}"
    yield from (f"the sentence names the parameter {name}" for name in parameters if "_" in name and name in words)


def invalid_calls(served, shown, tasks):
    """Makes each right call; returns those that end otherwise than recorded."""
    found = []
    call = caller(served, shown)
    for task in tasks:
        try:
            names = served.filler.prepare(task, call)
        except SetupFailure as failure:
            found.append(str(failure))
            continue
        answer = call(task.tool, task.action, filled(task.values, names))
        code = "ok" if answer.get("ok") else answer.get("code")
        if code not in task.outcome:
            found.append(f"{task.name}: {task.tool}.{task.action} ended with {code}: {answer.get('error')}")
    return found
