"""Corrects a failed call by its failure alone: a fixed list of rules over `error`, `hint`, `expected` and `example`.

The rules are general: none knows a tool, an action or a parameter. Beside the failure, they know the user's facts (`values`, by the
right names) and which action was meant, since a model knows what it wants; they use them only for what the failure asks for.
"""

import copy
import difflib
import json
import re

PROBLEMS = re.compile(r"; (?=`)")
PATH = re.compile(r"[^.\[\]]+|\[\d+\]")
NOT_A_PARAMETER = re.compile(r"^`([^`]+)` is not a parameter of `[^`]*`(.*)$")
NO_MEMBER = re.compile(r"^`([^`]+)` has no member `([^`]+)`(.*)$")
SUGGESTION = re.compile(r'[Dd]id you mean [`"]([^`"]+)[`"]')
SUGGESTIONS = re.compile(r'Did you mean ([`"][^?]+)\?')
REQUIRED = re.compile(r"^`([^`]+)` is required")
ONE_OF = re.compile(r"^`([^`]+)` must be one of (.*?)(?: \(got .*)?$")
LIMIT = re.compile(r"^`([^`]+)` must (?:be|have) at (most|least) (-?[\d.,_]+)( characters?| items?)?")
TYPE = re.compile(r"^`([^`]+)` must be (a string|an integer|a number|true or false|an array|an object)")
OTHER = re.compile(r"^`([^`]+)` (?:must|is not|is missing|is given twice)")
AVAILABLE = re.compile(r"(?:Available (?:actions|tools)|Actions that take these parameters): ([^.]+)")
TYPES = {"a string": str, "an integer": int, "a number": (int, float), "true or false": bool, "an array": list, "an object": dict}


class CallCorrection:
    """One correction of one call. `corrected` returns the new call, or None if no rule applies."""

    def __init__(self, tool, arguments, failure, action, values):
        self.tool, self.arguments = tool, copy.deepcopy(arguments)
        self.failure, self.action, self.values = failure, action, values
        self.hint = failure.get("hint") or ""
        self.example = failure.get("example") or {}
        # Names that the signature has.
        self.expected = set(re.findall(r"[(,{] ?([\w-]+)\??:", failure.get("expected") or ""))

    def corrected(self):
        error = self.failure.get("error") or ""
        if self._name(error):
            return self.tool, self.arguments
        before = json.dumps(self.arguments)
        for problem in PROBLEMS.split(error):
            self._solve(problem)
        return (self.tool, self.arguments) if json.dumps(self.arguments) != before else None

    def _holder(self):
        params = self.arguments.get("params")
        return params if isinstance(params, dict) else self.arguments

    def _name(self, error):
        """An unknown tool or action, or none: the suggestion (of several the one that was meant), else the nearest of those named."""
        match = AVAILABLE.search(error)
        if not match:
            return False
        names = [name.strip() for name in match[1].split(",")]
        if error.startswith("`action` is required"):
            if self.action not in names:
                return False
            self.arguments["action"] = self.action
            return True
        of_tool = "Unknown tool" in error
        wrong = self.tool if of_tool else str(self.arguments.get("action"))
        suggested = SUGGESTIONS.search(self.hint) or SUGGESTIONS.search(error)
        near = re.findall(r'[`"]([^`"]+)[`"]', suggested[1]) if suggested else difflib.get_close_matches(wrong, names, 1, 0.6)
        near = [name for name in near if f"_{name}".endswith(f"_{self.action}")] or near
        if not near:
            return False
        if of_tool:
            self.tool = near[0]
        else:
            self.arguments["action"] = near[0]
        return True

    def _solve(self, problem):
        """Applies the first rule that the problem's words match."""
        rules = (
            (NOT_A_PARAMETER, self._unknown), (NO_MEMBER, self._member), (REQUIRED, self._missing), (ONE_OF, self._choice),
            (LIMIT, self._bound), (TYPE, self._type), (OTHER, self._other),
        )  # fmt: skip
        for pattern, rule in rules:
            match = pattern.match(problem)
            if match:
                rule(match)
                return

    def _unknown(self, match):
        """Rename to the suggestion; move members that the signature has to where they belong; else drop."""
        name, holder = match[1], self._holder()
        holder = holder if name in holder else self.arguments
        value = holder.pop(name, None)
        suggested = SUGGESTION.search(match[2])
        if suggested and suggested[1] not in holder:
            holder[suggested[1]] = value
        elif isinstance(value, dict) and not match[2]:
            for key in value.keys() & self.expected - holder.keys():
                holder[key] = value[key]

    def _member(self, match):
        holder = _at(self._holder(), match[1])
        if isinstance(holder, dict):
            value = holder.pop(match[2], None)
            suggested = SUGGESTION.search(match[3])
            if suggested and suggested[1] not in holder:
                holder[suggested[1]] = value

    def _missing(self, match):
        """Fill from the user's facts, else from the example."""
        if _at(self._holder(), match[1]) is not None:
            return
        value = _at(self.values, match[1])
        value = _at(self.example, match[1]) if value is None else value
        if value is not None:
            _put(self._holder(), match[1], value)

    def _choice(self, match):
        """The suggestion, else the user's fact if it is allowed, else the first allowed value."""
        allowed = [value.strip(' "') for value in match[2].split(",")]
        suggested = SUGGESTION.search(self.hint)
        fact = _at(self.values, match[1])
        if suggested and suggested[1] in allowed:
            _put(self._holder(), match[1], suggested[1])
        else:
            _put(self._holder(), match[1], fact if fact in allowed else allowed[0])

    def _bound(self, match):
        """Clamp a number; cut a text or a list, or take the user's fact where there is too little."""
        path, most, unit = match[1], match[2] == "most", match[4]
        limit = float(match[3].replace(",", "").replace("_", "").rstrip("."))
        value, fact = _at(self._holder(), path), _at(self.values, path)
        if not unit:
            _put(self._holder(), path, int(limit) if limit == int(limit) else limit)
        elif most and isinstance(value, (str, list)):
            _put(self._holder(), path, value[: int(limit)])
        elif fact is not None:
            _put(self._holder(), path, fact)

    def _type(self, match):
        """The user's fact if it has the type, `params` with all facts, else the value as a text, else drop."""
        path, kind = match[1], TYPES[match[2]]
        if path == "params":
            self.arguments["params"] = dict(self.values)
            return
        value, fact = _at(self._holder(), path), _at(self.values, path)
        if fact is not None and isinstance(fact, kind) and fact != value:
            _put(self._holder(), path, fact)
        elif kind is str and value is not None:
            _put(self._holder(), path, str(value))
        else:
            _drop(self._holder(), path)

    def _other(self, match):
        """Any other demand on a value: the user's fact, else none."""
        fact = _at(self.values, match[1])
        if fact is not None and fact != _at(self._holder(), match[1]):
            _put(self._holder(), match[1], fact)
        else:
            _drop(self._holder(), match[1])


def _steps(path):
    return [int(step[1:-1]) if step.startswith("[") else step for step in PATH.findall(path)]


def _at(value, path):
    """What a path such as `edits[0].new` leads to, or None."""
    for step in _steps(path):
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _put(value, path, new):
    *way, last = _steps(path)
    for step in way:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return
    if isinstance(value, dict) or (isinstance(value, list) and isinstance(last, int) and last < len(value)):
        value[last] = new


def _drop(value, path):
    *way, last = _steps(path)
    for step in way:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return
    if isinstance(value, dict):
        value.pop(last, None)
