"""`flat`: all parameters once, each with the actions that take it: `[add*, update] text; [list] other text`."""

import dataclasses
import re

from forms.shown import ShownAction, action_line, action_names, from_schema

GROUP = re.compile(r"\[([\w*, -]+)\]")


def read(tools):
    shown = {}
    for tool in tools:
        actions = action_names(tool)
        properties = tool["inputSchema"].get("properties", {})
        takers = {name: takes(schema.get("description", ""), actions) for name, schema in properties.items()}
        for action in actions:
            parameters = {}
            for name, schema in properties.items():
                if name not in ("action", "of") and action in takers[name]:
                    parameters[name] = dataclasses.replace(from_schema(schema), required=takers[name][action])
            shown[tool["name"], action] = ShownAction(
                tool["name"], tool["name"], action, parameters, action_line(tool, action)
            )
    return shown


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
