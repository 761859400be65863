"""`names`: only the names of actions; `describe` shows parameters."""

from forms.notation import read_type
from forms.shown import ShownAction, ShownParameter, action_names
from forms.signatures import place  # noqa: F401 - calls are written alike


def read(tools):
    return {
        (tool["name"], action): ShownAction(tool["name"], tool["name"], action, {}, action)
        for tool in tools
        for action in action_names(tool)
    }


def describe(shown, call):
    """Asks `describe` for an action; returns what it then shows."""
    envelope = call(shown.tool, {"action": "describe", "of": shown.action})
    parameters = {}
    for name, entry in (envelope.get("data", {}).get("params") or {}).items():
        shape = read_type(entry.get("type", ""))
        text = entry.get("description", "")
        parameters[name] = ShownParameter(
            shape.kind, bool(entry.get("required")), shape.values, shape.members, shape.item, text
        )
    return ShownAction(shown.tool, shown.facade, shown.action, parameters, shown.text)
