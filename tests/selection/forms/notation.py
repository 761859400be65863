"""The notation of signatures: `add(text, tags?: string[], mode?: a|b, edits: {old?, new}[])`.

A name is followed by `?` if it is optional. Types are `string`, `integer`, `number`, `boolean`, `object`, allowed values,
members in braces, with `[]` for each list. See docs/integrators/calls.md.
"""

import json
import re

from forms.shown import UNKNOWN, ShownParameter

TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[A-Za-z_$][\w$-]*|-?\d[\w.+-]*|\[\]|[(){}|,:?…*]|\S)')
KINDS = ("string", "integer", "number", "boolean", "object", "array")
# Types whose values are anything.
ANYTHING = ("any", "null")


class NotationReader:
    """Reads one text from its beginning. `known` holds the types that names had before: they need none when named again."""

    def __init__(self, text, known=None):
        self.tokens = TOKEN.findall(text)
        self.at = 0
        self.known = {} if known is None else known

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
                if end == ")":
                    self.known[name] = shape
            else:
                shape = (self.known if end == ")" else {}).get(name, ShownParameter("string"))
            found[name] = ShownParameter(shape.kind, not optional, shape.values, shape.members, shape.item)
        return found

    def shape(self):
        """Reads a type."""
        options = [self.single()]
        while self.take("|"):
            options.append(self.single())
        if len(options) == 1 and not isinstance(options[0], str):
            shape = options[0]
        else:
            texts = [option for option in options if isinstance(option, str)]
            shape = next((option for option in options if not isinstance(option, str)), None)
            shape = shape or ShownParameter("string", values=tuple(texts))
        return shape

    def single(self):
        """Reads one alternative: a type, or an allowed value as a text."""
        token = self.take()
        if token == "{":
            shape = ShownParameter("object", members=self.parameters("}") or None)
        elif token == "(":
            shape = self.shape()
            self.take(")")
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


def read_type(text):
    """Reads a type alone, as `describe` writes it."""
    return NotationReader(text).shape()


SIGNATURE = re.compile(r"^(?:\[destructive\] )?([\w-]+)\((.*)\)(?::.*)?$")


def read_signatures(lines):
    """Reads lines of signatures in their order; others are skipped. Returns `{action: {name: ShownParameter}}`."""
    known, found = {}, {}
    for line in lines:
        match = SIGNATURE.match(line)
        if match:
            found[match[1]] = NotationReader(match[2] + ")", known).parameters()
    return found
