"""`signatures`: one signature per action in the description; parameters in `params`."""

from forms.notation import read_signatures
from forms.shown import ShownAction, action_line, action_names, published_lines


def read(tools):
    shown = {}
    for tool in tools:
        signatures = read_signatures(published_lines(tool), {})
        for action in action_names(tool, signatures):
            line = action_line(tool, action)
            shown[tool["name"], action] = ShownAction(tool["name"], tool["name"], action, signatures.get(action, {}), line)
    return shown


def place(shown, values):
    return shown.tool, {"action": shown.action, "params": values}
