"""Docstrings as texts: of functions, of classes, and of the attributes of a class."""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import lru_cache
from typing import Any


def paragraphs(text: str) -> list[str]:
    """Paragraphs, each with its lines joined; lists and tables keep their line breaks."""
    found: list[str] = []
    for block in inspect.cleandoc(text).split("\n\n"):
        lines = [line.rstrip() for line in block.splitlines() if line.strip()]
        joined = ""
        for line in lines:
            marked = line.lstrip().startswith(("-", "*", "|", "#", ">"))
            joined += (("\n" if marked else " ") if joined else "") + (line if joined else line.lstrip())
        if joined:
            found.append(joined)
    return found


def split(text: str) -> tuple[str, str, dict[str, str]]:
    """The summary, the rest, and what an `Args:` section says of each parameter."""
    body, args = _without_args(inspect.cleandoc(text or ""))
    summary, *rest = paragraphs(body) or [""]
    return summary, "\n\n".join(rest), args


def _without_args(text: str) -> tuple[str, dict[str, str]]:
    kept: list[str] = []
    args: dict[str, str] = {}
    inside, name = False, ""
    for line in text.splitlines():
        if line.strip() == "Args:":
            inside = True
        elif inside and line.startswith(" "):
            head, colon, tail = line.strip().partition(":")
            # Deeper lines continue the text of the parameter above.
            if colon and head.isidentifier() and len(line) - len(line.lstrip()) <= 4:
                name = head
                args[name] = tail.strip()
            elif name:
                args[name] = f"{args[name]} {line.strip()}".strip()
        elif inside and not line.strip():
            continue
        else:
            inside = False
            kept.append(line)
    return "\n".join(kept), args


@lru_cache(maxsize=None)
def attributes(cls: type) -> dict[str, str]:
    """Docstrings under the attributes of a class: a string below `low = "low"` says what it means.

    Empty where the source is not at hand, as at run time: the build command calls this while it is.
    """
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    except (OSError, TypeError, SyntaxError):
        return {}
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    found: dict[str, str] = {}
    for statement, below in zip(body, body[1:]):
        target: Any = statement.target if isinstance(statement, ast.AnnAssign) else None
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
        is_text = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str)
        if isinstance(target, ast.Name) and is_text:
            found[target.id] = "\n\n".join(paragraphs(below.value.value))  # type: ignore[attr-defined]
    return found


def of_class(cls: type) -> str:
    """The docstring of a class; empty where it is the one that `dataclass` or `Enum` makes."""
    text = cls.__dict__.get("__doc__") or ""
    generated = text.startswith(f"{cls.__name__}(") or text in ("An enumeration.", "Enum where members are also (and must be) strings")
    return "" if generated else "\n\n".join(paragraphs(text))
