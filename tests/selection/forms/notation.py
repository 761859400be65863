"""The notation of signatures: `add|insert(text, tags?: string[], mode?: a|b, edits: {old?, new}[]): Add a note`.

A name is followed by `?` if it is optional. Types are `string`, `integer`, `number`, `boolean`, `object`, allowed values,
members in braces, `{[name]: type}` for members of any name, `typeof name` for the type of a parameter, with `[]` for each list.
Without a type, a name has the one that it had last, else the one that is usual for it. See docs/integrators.
"""

import dataclasses
import json
import re

from forms.shown import UNKNOWN, ShownParameter

TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[A-Za-z_$][\w$-]*|-?\d[\w.+-]*|\[\]|[(){}\[\]|,:?…*]|\S)')
KINDS = ("string", "integer", "number", "boolean", "object", "array")
# Types whose values are anything.
ANYTHING = ("any", "null")
# Types of names that have none.
USUAL_INTEGERS = ("limit", "offset", "depth", "page", "count", "size")
USUAL_BOOLEANS = ("all", "archived", "pinned", "hidden", "numbered", "recursive", "dry_run", "force", "overwrite")
USUAL_LISTS = ("ids", "paths", "tags", "urls")
BOOLEAN_BEGINNINGS = ("is_", "has_", "include_", "ignore_")


def usual(name):
    """Returns the type of a name that is written without one."""
    if name in USUAL_INTEGERS:
        return ShownParameter("integer")
    if name in USUAL_LISTS:
        return ShownParameter("array", item=ShownParameter("string"))
    return ShownParameter("boolean" if name in USUAL_BOOLEANS or name.startswith(BOOLEAN_BEGINNINGS) else "string")


class NotationReader:
    """Reads one text from its beginning.

    `known` holds the last types of names, and is changed; without it, as in `flat`, a parameter without a type gets `UNKNOWN`. `types` holds those that `typeof` names.
    """

    def __init__(self, text, known=None, types=None):
        self.tokens = TOKEN.findall(text)
        self.at = 0
        self.known, self.types = known, types or {}

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, *wanted):
        """Takes the next token if it is one of these, or whatever it is if none is named; returns it, or an empty text."""
        token = self.peek()
        if wanted and token not in wanted:
            return ""
        self.at += 1
        return token

    def parameters(self, end=")"):
        """Reads `name?: type, …` up to the closing token."""
        found = {}
        while self.peek() and not self.take(end):
            name = self.take()
            if name in ",…":
                continue
            name = json.loads(name) if name.startswith('"') else name
            optional = self.take("?")
            if self.take(":"):
                shape = self.shape()
            elif self.known is not None:
                shape = self.known.get(name) or usual(name)
            else:
                shape = usual(name) if end != ")" else ShownParameter(UNKNOWN)
            if self.known is not None:
                self.known[name] = shape
            found[name] = dataclasses.replace(shape, required=not optional)
        return found

    def shape(self):
        """Reads a type."""
        options = [self.single()]
        while self.take("|"):
            options.append(self.single())
        texts = tuple(option for option in options if isinstance(option, str))
        return next((option for option in options if not isinstance(option, str)), ShownParameter("string", values=texts))

    def single(self):
        """Reads one alternative: a type, or an allowed value as a text."""
        token = self.take()
        if token == "{" and self.peek() == "[":
            while self.peek() and not self.take(":"):
                self.take()
            self.shape()
            self.take("}")
            shape = ShownParameter("object")
        elif token == "{":
            shape = ShownParameter("object", members=self.parameters("}") or None)
        elif token == "(":
            shape = self.shape()
            self.take(")")
        elif token == "typeof":
            shape = self.types.get(self.take(), ShownParameter(UNKNOWN))
        elif token in KINDS:
            shape = ShownParameter(token)
        elif token in ANYTHING:
            shape = ShownParameter(UNKNOWN)
        else:
            shape = json.loads(token) if token.startswith('"') else token
        while self.take("[]"):
            if isinstance(shape, str):
                shape = ShownParameter("string", values=(shape,))
            shape = ShownParameter("array", item=shape)
        return shape


def read_type(text, types=None):
    """Reads a type alone, at the beginning of a text."""
    return NotationReader(text, types=types).shape()


SIGNATURE = re.compile(r"^(?:\[destructive\] )?([\w|-]+)\((.*)$")
SHARED = "also "


def read_signatures(lines, known=None):
    """Reads signatures in their order; other texts are skipped. Returns `{action: {name: ShownParameter}}`.

    `also …` lists what every action takes. Types are remembered in `known`.
    """
    found, shared = {}, {}
    for line in lines:
        match = SIGNATURE.match(line)
        if match:
            reader = NotationReader(match[2], known)
            parameters = reader.parameters()
            if reader.peek() in ("", ":") and reader.tokens[reader.at - 1 : reader.at] == [")"]:
                found.update(dict.fromkeys(match[1].split("|"), parameters))
        elif line.startswith(SHARED) and found:
            shared = NotationReader(line.removeprefix(SHARED) + ")", known).parameters()
    return {action: {**shared, **parameters} for action, parameters in found.items()}
