"""`union`: one schema per action below `params`, with the action's name as its description."""

import dataclasses

from forms.flat import takes, with_notation
from forms.shown import ShownAction, action_line, action_names, from_schema
from forms.signatures import place  # noqa: F401 - calls are written alike


def read(tools):
    shown = {}
    for tool in tools:
        properties = tool["inputSchema"].get("properties", {})
        branches = {branch.get("description"): branch for branch in properties.get("params", {}).get("anyOf", [])}
        actions = action_names(tool)
        # What all actions share stands beside `params`.
        beside = {name: schema for name, schema in properties.items() if name not in ("action", "params")}
        for action in actions:
            parameters = dict(with_notation(from_schema(branches.get(action, {})), {}).members or {})
            for name, schema in beside.items():
                takers = takes(schema.get("description", ""), actions)
                if action in takers:
                    parameters[name] = dataclasses.replace(from_schema(schema), required=takers[action])
            shown[tool["name"], action] = ShownAction(
                tool["name"], tool["name"], action, parameters, action_line(tool, action)
            )
    return shown
