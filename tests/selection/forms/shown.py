"""What a form shows of an action and its parameters."""

import dataclasses

# What a parameter without a known type has: the text does not say.
UNKNOWN = ""


@dataclasses.dataclass(frozen=True)
class ShownParameter:
    """A parameter, member or item. `kind` is a JSON type or `UNKNOWN`; `members` is None if an object shows none."""

    kind: str = UNKNOWN
    required: bool = False
    values: tuple = ()
    members: dict = None
    item: "ShownParameter" = None
    # What is written about it, for rankings.
    text: str = ""


@dataclasses.dataclass(frozen=True)
class ShownAction:
    """An action as a form shows it. `tool` is the name to call; `facade` and `action` are those of the corpus."""

    tool: str
    facade: str
    action: str
    parameters: dict
    text: str = ""


def from_schema(schema, required=False):
    """Reads a JSON Schema, as far as the forms use it."""
    item = from_schema(schema["items"]) if isinstance(schema.get("items"), dict) else None
    properties = schema.get("properties") or {}
    needed = schema.get("required", [])
    members = {name: from_schema(member, name in needed) for name, member in properties.items()} or None
    kind = schema.get("type", UNKNOWN)
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), UNKNOWN)
    return ShownParameter(kind, required, tuple(schema.get("enum", ())), members, item, schema.get("description", ""))


def published_lines(tool):
    """Returns the lines about actions: the description's, and those that `action` has because there are many."""
    action = tool["inputSchema"].get("properties", {}).get("action", {})
    return f"{tool.get('description', '')}\n{action.get('description', '')}".split("\n")


def action_names(tool, found=()):
    """Returns the actions that a tool's `action` allows, or if it names none, `found`; without the host's `describe`."""
    values = tool["inputSchema"].get("properties", {}).get("action", {}).get("enum") or found
    return [name for name in values if name != "describe"]


def action_line(tool, action):
    """Returns the line that is about an action: `add: …`, `[destructive] add(…)`."""
    for line in published_lines(tool):
        bare = line.removeprefix("[destructive] ")
        if bare.startswith((f"{action}:", f"{action}(")):
            return line
    return ""
