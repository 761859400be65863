"""`granular`: one tool per action, `facade_action`, with its title `Facade: action`. A workflow's tool is `action`."""

from forms.shown import ShownAction, from_schema


def read(tools):
    facades = {}
    for tool in tools:
        title, _, action = tool.get("title", "").partition(": ")
        if tool["name"].endswith(f"_{action}"):
            facades[title] = tool["name"].removesuffix(f"_{action}")
    shown = {}
    for tool in tools:
        title, _, action = tool.get("title", "").partition(": ")
        facade = facades.get(title, title.lower())
        parameters = from_schema(tool["inputSchema"]).members or {}
        shown[facade, action] = ShownAction(tool["name"], facade, action, parameters, tool.get("description", ""))
    return shown


def place(shown, values):
    return shown.tool, dict(values)
