"""`signatures`: the signatures of all actions in the description; parameters in `params`."""

import re

from forms.notation import SIGNATURE, read_signatures
from forms.shown import ShownAction, action_names

# Between signatures, unlike within a quoted value.
SEPARATOR = re.compile(r"\n|; (?=(?:\[destructive\] )?[\w|-]+\(|also )")


def read(tools):
    shown = {}
    for tool in tools:
        params = tool["inputSchema"]["properties"]["params"]
        entries = [entry for text in (tool["description"], params.get("description", "")) for entry in SEPARATOR.split(text)]
        signatures = read_signatures(entries, {})
        for action in action_names(tool, signatures):
            line = next((entry for entry in entries if action in names(entry)), "")
            shown[tool["name"], action] = ShownAction(tool["name"], tool["name"], action, signatures.get(action, {}), line)
    return shown


def names(entry):
    """Returns the actions that a signature is of."""
    match = SIGNATURE.match(entry)
    return match[1].split("|") if match else []


def place(shown, values):
    return shown.tool, {"action": shown.action, "params": values}
