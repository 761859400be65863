"""Compares output with what a page shows. Both are pure texts here."""

import re

# Numbers that differ between runs and machines, with their units; alignment follows them.
VARYING = re.compile(r"(?<![\w.])\d+(?:\.\d+)? (ms|s|KB|MB)\b")
ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def commands(text: str) -> list[tuple[str, list[str]]]:
    """The commands of a console block, each with the lines of its output. A line that ends with `\\` goes on."""
    found: list[tuple[str, list[str]]] = []
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("$ "):
            command = line[2:]
            while command.endswith("\\"):
                command = command[:-1] + next(lines).strip()
            found.append((re.sub(r"\s+# .*$", "", command), []))
        elif not found:
            raise ValueError(f"output before the first command: {line}")
        else:
            found[-1][1].append(line.rstrip())
    return found


def normal(line: str) -> str:
    """A line without what varies: times and sizes, and the alignment that depends on them."""
    return re.sub(r"\s+", " ", VARYING.sub(r"N \1", ESCAPES.sub("", line))).strip()


def pattern(line: str) -> re.Pattern[str]:
    return re.compile(".*?".join(map(re.escape, normal(line).split("…"))))


def difference(expected: list[str], output: str) -> str | None:
    """Where the output is something else than expected: the first line that does not fit, or `None`."""
    found = [line for line in map(normal, output.splitlines()) if line]
    wanted = [line for line in expected if line.strip()]
    if matches(wanted, found):
        return None
    shown = "\n".join(f"    {line}" for line in output.splitlines()[-40:])
    wished = "\n".join(f"    {line}" for line in wanted)
    return f"expected\n{wished}\n  found\n{shown}"


def matches(wanted: list[str], found: list[str]) -> bool:
    if not wanted:
        return not found
    if wanted[0].strip() == "…":
        return any(matches(wanted[1:], found[at:]) for at in range(len(found) + 1))
    return bool(found) and bool(pattern(wanted[0]).fullmatch(found[0])) and matches(wanted[1:], found[1:])


def appeared(expected: list[str], output: str) -> bool:
    """Whether all lines have appeared, in this order, among others."""
    lines = map(normal, output.splitlines())
    return all(any(pattern(wanted).fullmatch(line) for line in lines) for wanted in expected if wanted.strip() not in ("", "…"))


def edited(text: str, change: str) -> str:
    """The text after a change in the form of `diff`, each of whose places must occur once."""
    for place in re.split(r"^@@.*\n", change, flags=re.M):
        lines = place.splitlines()
        if not lines:
            continue
        old = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("+"))
        new = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("-"))
        if text.count(old) != 1:
            raise ValueError(f"these lines are there {text.count(old)} times:\n{old}")
        text = text.replace(old, new)
    return text
