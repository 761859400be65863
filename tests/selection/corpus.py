"""The recorded tasks: what a user says, and the call that is right."""

import dataclasses
import itertools
import pathlib
import tomllib

FOLDER = pathlib.Path(__file__).parent / "corpus"


@dataclasses.dataclass(frozen=True)
class SetupCall:
    """A call that a task needs before it; `keep` maps names to JSON pointers into its envelope."""

    tool: str
    action: str
    values: dict
    keep: dict


@dataclasses.dataclass(frozen=True)
class CorpusTask:
    """One task. `values` holds the right parameters by name; texts with `$name` or `{n}` are filled in by `filled`."""

    name: str
    ask: str
    tool: str
    action: str
    values: dict
    setup: tuple = ()
    # Codes that a right call may end with; "ok" is success.
    outcome: tuple = ("ok",)


def load(folder=FOLDER, tools=None):
    """Returns all tasks, or those of the named tools, in the order of the files."""
    tasks = []
    for path in sorted(folder.glob("*.toml")):
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        tool = document["tool"]
        if tools and tool not in tools:
            continue
        setups = {
            name: SetupCall(tool, entry["action"], entry["values"], entry.get("keep", {}))
            for name, entry in document.get("setup", {}).items()
        }
        for number, entry in enumerate(document["task"], 1):
            outcome = entry.get("outcome", document.get("outcome", ["ok"]))
            setup = tuple(setups[name] for name in entry.get("setup", []))
            tasks.append(
                CorpusTask(f"{tool}-{number}", entry["ask"], tool, entry["action"], entry["values"], setup, tuple(outcome))
            )
    return tasks


def fast(tasks):
    """Returns a part of the tasks: the first one of each action."""
    seen = set()
    return [task for task in tasks if (task.tool, task.action) not in seen and not seen.add((task.tool, task.action))]


class SetupFailure(Exception):
    """A setup call did not return what the task needs."""


class Filler:
    """Puts recorded ids and unique numbers into values. The numbers make each setup new to a server that keeps state."""

    def __init__(self):
        self.numbers = itertools.count(1)

    def prepare(self, task, call):
        """Makes the setup calls by `call(tool, action, values)`; returns the names that the task's values may use."""
        names = {"n": str(next(self.numbers))}
        for setup in task.setup:
            envelope = call(setup.tool, setup.action, filled(setup.values, names))
            for name, pointer in setup.keep.items():
                try:
                    names[name] = pointed(envelope, pointer)
                except (KeyError, IndexError, ValueError, TypeError):
                    raise SetupFailure(f"{task.name}: {setup.action} returned no {pointer}: {envelope}") from None
        return names


def filled(value, names):
    """Returns a value with `$name` replaced by what was kept, and `{n}` by the number of the preparation."""
    if isinstance(value, dict):
        return {key: filled(member, names) for key, member in value.items()}
    if isinstance(value, list):
        return [filled(member, names) for member in value]
    if not isinstance(value, str):
        return value
    if value.startswith("$") and value[1:] in names:
        return names[value[1:]]
    return value.replace("{n}", names["n"])


def pointed(value, pointer):
    """Returns what a JSON pointer without escapes leads to."""
    for part in pointer.split("/")[1:]:
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value
