"""A call from what a form publishes and what the user said.

The generator knows the right tool and action; ranking.py measures how they are found. Each fact of the user is a text, until
the published type of its parameter makes it something else. A parameter or member that the form does not show stays out.
"""

import json

from forms.shown import UNKNOWN

# Parameters whose members are the user's own data, which no form can list.
FREE = ("arguments", "input")


def generate(shown, values):
    """Returns the values of a call: the user's facts that the form shows a parameter for, in the types that it shows."""
    return {name: typed(value, shown.parameters[name], name) for name, value in values.items() if name in shown.parameters}


def complete(generated, values):
    """Whether a generated call holds every fact, up to the spelling of numbers as texts."""
    return generated == values


def typed(value, parameter, name=""):
    """Returns a fact in the type that is shown for it."""
    if isinstance(value, dict):
        return _object(value, parameter, name)
    if isinstance(value, list):
        if parameter.kind not in ("array", UNKNOWN):
            return json.dumps(value, ensure_ascii=False)
        return [typed(member, parameter.item, name) if parameter.item else member for member in value]
    if value is None:
        return None
    return _scalar(value if isinstance(value, str) else json.dumps(value), parameter)


def _object(value, parameter, name):
    if parameter.kind not in ("object", UNKNOWN):
        return json.dumps(value, ensure_ascii=False)
    if name in FREE:
        return value
    members = parameter.members or {}
    return {key: typed(member, members[key], key) for key, member in value.items() if key in members}


def _scalar(text, parameter):
    """A text in the shown type; as it is, if it cannot be one."""
    if parameter.values:
        return next((value for value in parameter.values if str(value).lower() == text.lower()), text)
    if parameter.kind in ("integer", "number"):
        try:
            number = float(text)
        except ValueError:
            return text
        return int(number) if number == int(number) else number
    if parameter.kind == "boolean" and text in ("true", "false"):
        return text == "true"
    if parameter.kind == "array":
        return [text]
    return text
