"""Ways in which models get a right call wrong, each applied to a call as a form writes it.

Each break takes a `BrokenCall` and returns whether it applies; it changes the call in place. Choices come from a seeded generator.
"""

import copy
import dataclasses
import random
import re

BOUNDS = re.compile(r"(?<![\w.])(-?\d[\d.]*)-(\d[\d.]*)(?: (characters|items))?")
# Other words for common actions, which are no aliases of them everywhere.
SYNONYMS = {"add": "store", "get": "fetch", "list": "show", "search": "find", "delete": "remove", "update": "change"}
SYNONYMS |= {"create": "make", "append": "write", "put": "save", "move": "rename", "archive": "hide", "run": "start"}
# Words that the host's table of verbs does not hold: what it is worth for a word that nobody thought of.
RARE = {"add": "record", "get": "obtain", "list": "browse", "search": "locate", "delete": "destroy", "update": "revise"}
RARE |= {"create": "generate", "append": "attach", "put": "keep", "move": "transfer", "archive": "retire", "run": "perform"}


@dataclasses.dataclass
class BrokenCall:
    """A right call and what is known of its action; `siblings` are the parameters of the facade's other actions."""

    tool: str
    arguments: dict
    action: str
    parameters: dict
    siblings: dict
    random: random.Random

    def holder(self):
        """Where the parameters are: in `params` or beside `action`."""
        params = self.arguments.get("params")
        return params if isinstance(params, dict) else self.arguments

    def given(self):
        return [name for name in self.holder() if name in self.parameters]

    def pick(self, names):
        names = sorted(names)
        return self.random.choice(names) if names else None


def swapped(word, random_source):
    """Swaps two letters that differ."""
    places = [at for at in range(len(word) - 1) if word[at] != word[at + 1]]
    if not places:
        return word + word[-1]
    at = random_source.choice(places)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def action_typo(call):
    """Two letters of the action are swapped; in `granular`, of the tool."""
    if "action" in call.arguments:
        call.arguments["action"] = swapped(call.action, call.random)
    else:
        call.tool = swapped(call.tool, call.random)
    return True


def action_synonym(call):
    """Another word for the action."""
    return renamed(call, SYNONYMS.get(call.action, f"do_{call.action}"))


def rare_synonym(call):
    """A word for the action that no table holds."""
    return call.action in RARE and renamed(call, RARE[call.action])


def renamed(call, other):
    if "action" in call.arguments:
        call.arguments["action"] = other
    else:
        call.tool = call.tool.removesuffix(call.action) + other
    return True


def no_action(call):
    """The action is missing; not in `granular`."""
    return call.arguments.pop("action", None) is not None


def missing_required(call):
    """A required parameter is missing."""
    name = call.pick([name for name in call.given() if call.parameters[name].required])
    return name is not None and (call.holder().pop(name), True)[1]


def null_required(call):
    """A required parameter is null."""
    name = call.pick([name for name in call.given() if call.parameters[name].required])
    if name:
        call.holder()[name] = None
    return bool(name)


WRONG = {"string": 7, "integer": "many", "number": "much", "boolean": "perhaps", "array": {"0": "a"}, "object": 7}


def wrong_type(call):
    """A value of another type, which no reading makes right."""
    name = call.pick([name for name in call.given() if call.parameters[name].kind in WRONG])
    if name:
        call.holder()[name] = WRONG[call.parameters[name].kind]
    return bool(name)


def outside_enum(call):
    """A value that is not allowed; in a given parameter, else in an optional one."""
    choices = [name for name, parameter in call.parameters.items() if parameter.values]
    name = call.pick([name for name in choices if name in call.given()] or choices)
    if name:
        value = str(call.random.choice(call.parameters[name].values))
        call.holder()[name] = value[:-1] + "x" if call.random.random() < 0.5 else "anything"
    return bool(name)


def bounds(parameter):
    """Returns the written bounds of a parameter, `(low, high, unit)`, or None."""
    match = BOUNDS.search(parameter.text)
    return match and (float(match[1]), float(match[2].rstrip(".")), match[3] or "")


def outside_range(call):
    """A number, a text or a list beyond its bounds; in a given parameter, else in an optional one."""
    sized = {name: bounds(parameter) for name, parameter in call.parameters.items()}
    sized = {name: bound for name, bound in sized.items() if bound and (bound[2] != "items") and bound[1] <= 200_000}
    choices = [name for name in sized if name in call.given()] or [name for name in sized if not sized[name][2]]
    name = call.pick(choices)
    if name is None:
        return False
    low, high, unit = sized[name]
    if unit == "characters":
        call.holder()[name] = "x" * (int(high) + 1)
    else:
        call.holder()[name] = int(high) + 1 if call.random.random() < 0.7 else int(low) - 1
    return True


def unknown_parameter(call):
    """A parameter that no action has."""
    call.holder()[call.random.choice(["verbose", "options", "reasoning", "max_tokens"])] = True
    return True


def misspelt_parameter(call):
    """Two letters of a parameter's name are swapped."""
    name = call.pick([name for name in call.given() if len(name) > 2])
    if name:
        call.holder()[swapped(name, call.random)] = call.holder().pop(name)
    return bool(name)


def foreign_parameter(call):
    """A parameter of another action of the facade."""
    samples = {"string": "x", "integer": 5, "boolean": True, "array": ["x"]}
    names = [name for name, other in call.siblings.items() if name not in call.parameters and other.kind in samples]
    name = call.pick(names)
    if name:
        other = call.siblings[name]
        call.holder()[name] = other.values[0] if other.values else samples[other.kind]
    return bool(name)


def wrong_nesting(call):
    """The parameters are below a name that is none."""
    values = {name: call.holder()[name] for name in call.given()}
    if not values:
        return False
    call.arguments = {key: value for key, value in call.arguments.items() if key == "action"}
    call.arguments[call.random.choice([call.action, "arguments", "parameters", "data"])] = values
    return True


def listed_params(call):
    """`params` is a list with the parameters."""
    values = {name: call.holder()[name] for name in call.given()}
    if not values:
        return False
    call.arguments = {key: value for key, value in call.arguments.items() if key == "action"} | {"params": [values]}
    return True


def strict_nulls(call):
    """OpenAI's strict mode: every parameter of the tool is sent, null where it does not matter. Right, not wrong."""
    everything = dict(call.parameters) if "action" not in call.arguments else {**call.siblings, **call.parameters}
    for name in everything:
        if name not in call.given():
            call.holder()[name] = None
    return True


BREAKS = (
    action_typo, action_synonym, rare_synonym, no_action, missing_required, null_required, wrong_type, outside_enum, outside_range,
    unknown_parameter, misspelt_parameter, foreign_parameter, wrong_nesting, listed_params, strict_nulls,
)  # fmt: skip


def broken(break_, tool, arguments, action, parameters, siblings, seed):
    """Returns `(tool, arguments)` of a broken copy of a call, or None if the break does not apply."""
    call = BrokenCall(tool, copy.deepcopy(arguments), action, parameters, siblings, random.Random(seed))
    return (call.tool, call.arguments) if break_(call) else None
