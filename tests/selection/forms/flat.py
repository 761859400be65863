"""`flat`: all parameters once, as properties. Who takes them stands in lines, `add(text, tags?): Add a note`.

Servers before that notation write it into each property, `[add*, update] text; [list] other text`; they are read, too.
"""

import dataclasses
import re

from forms.notation import read_signatures, read_type
from forms.shown import UNKNOWN, ShownAction, action_line, action_names, from_schema, published_lines

GROUP = re.compile(r"\[([\w*, -]+)\]")
# Properties of the host's own actions, and the choice of the action itself.
HOSTS = ("action", "of", "run_id", "include_trace")


def read(tools):
    shown = {}
    for tool in tools:
        actions = action_names(tool)
        properties = tool["inputSchema"].get("properties", {})
        signatures = read_signatures(published_lines(tool))
        parameters_of = _by_lines(properties, signatures) if signatures else _by_brackets(properties, actions)
        for action in actions:
            line = action_line(tool, action)
            shown[tool["name"], action] = ShownAction(tool["name"], tool["name"], action, parameters_of(action), line)
    return shown


def _by_lines(properties, signatures):
    """Lines name the parameters of an action, properties have their types. What no line names, each action accepts."""
    types = {name: from_schema(schema) for name, schema in properties.items()}
    types = {name: with_notation(entry, types) for name, entry in types.items()}
    named = {name for parameters in signatures.values() for name in parameters}

    def parameters_of(action):
        found = {name: entry for name, entry in types.items() if name not in named and name not in HOSTS}
        for name, entry in signatures.get(action, {}).items():
            of_property = types.get(name, entry)
            found[name] = dataclasses.replace(
                entry if entry.kind != UNKNOWN else of_property, required=entry.required, text=of_property.text
            )
        return found

    return parameters_of


def with_notation(entry, types):
    """Reads members that stand in descriptions: `{title, tasks?: {…}[]} What it is`."""
    bare = entry.kind == "object" and not entry.members
    bare_items = entry.kind == "array" and entry.item is not None and entry.item.kind == "object" and not entry.item.members
    if (bare or bare_items) and entry.text.startswith("{"):
        shape = read_type(entry.text, types)
        return dataclasses.replace(shape, required=entry.required, text=entry.text)
    members = entry.members and {name: with_notation(member, types) for name, member in entry.members.items()}
    return dataclasses.replace(entry, members=members, item=entry.item and with_notation(entry.item, types))


def _by_brackets(properties, actions):
    takers = {name: takes(schema.get("description", ""), actions) for name, schema in properties.items()}

    def parameters_of(action):
        return {
            name: dataclasses.replace(from_schema(schema), required=takers[name][action])
            for name, schema in properties.items()
            if name not in ("action", "of") and action in takers[name]
        }

    return parameters_of


def takes(text, actions):
    """Returns the actions that take a parameter, and whether each requires it."""
    found = {}
    for group in GROUP.findall(text):
        names = members(group, actions)
        if names is not None:
            found |= names
    if not found and "[describe]" not in text:
        return dict.fromkeys(actions, False)
    return found


def members(group, actions):
    """Reads what stands in brackets: `add*, list`, `required`, `all but list`, `all* but list`. None if it is other text."""
    if group == "required":
        return dict.fromkeys(actions, True)
    everyone = re.fullmatch(r"all(\*?)(?: but (.*))?", group)
    if everyone:
        without = {name.strip().rstrip("*") for name in (everyone[2] or "").split(",")}
        return {name: bool(everyone[1]) for name in actions if name not in without}
    names = [name.strip() for name in group.split(",")]
    if all(name.rstrip("*") in (*actions, "describe") for name in names):
        return {name.rstrip("*"): name.endswith("*") for name in names if name != "describe"}
    return None


def place(shown, values):
    return shown.tool, {"action": shown.action, **values}
