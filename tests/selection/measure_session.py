"""What a session costs in tokens: the tools, the search for them, ten calls and their results."""

import contextlib
import json
import os
import pathlib
import shutil
import tempfile
import tomllib

import tokens
from corpus import filled, pointed
from forms import reader
from host import HERE, envelope
from ranking import ToolDocument, ToolIndex
from server import StdioServer

# What a search loads. Anthropic documents three to five; Claude Code's default is five.
LOADED = 5


def load():
    """Returns the sessions. The last one joins half of each, as of a user whose client has several servers or facades."""
    sessions = tomllib.loads((HERE / "sessions.toml").read_text(encoding="utf-8"))["session"]
    for session in sessions:
        session["packages"] = [(session["package"], session["script"])]
        for step in session["step"]:
            step["tool"] = session["tool"]
    steps = [step for session in sessions for step in session["step"][:5]]
    packages = [package for session in sessions for package in session["packages"]]
    return [*sessions, {"name": "both", "tool": None, "packages": packages, "step": steps}]


def definition(tool):
    """What an API is sent of a tool."""
    return {"name": tool["name"], "description": tool.get("description", ""), "input_schema": tool["inputSchema"]}


class SessionCost:
    """Adds up one session, request by request. `context` is what the next request holds."""

    def __init__(self, fixed):
        self.context = self.once = fixed
        self.reread = 0

    def turn(self, sent, received):
        """One request: it reads the context; what the model sends and gets is in the next one's."""
        self.reread += self.context
        self.context += sent + received
        self.once += sent + received

    def ended(self):
        """The last request, in which the model answers the user."""
        self.reread += self.context
        return self.once, self.reread


def transcript(steps, call):
    """Makes the ten calls once; returns `(tool, tokens of the call, tokens of the result)` of each."""
    lines = []
    for step in steps:
        name, arguments, texts = call(step)
        lines.append((name, tokens.count({"name": name, "arguments": arguments}), tokens.count("\n".join(texts))))
    return lines


def costs(name, server_name, tools, instructions, steps, lines):
    """Returns the rows of one server: the whole list, and tools found by search."""
    intro = tokens.count(instructions)
    sizes = {tool["name"]: tokens.count(definition(tool)) for tool in tools}
    calls, results = sum(line[1] for line in lines), sum(line[2] for line in lines)
    row = {"session": name, "server": server_name, "tools": len(tools), "instructions": intro, "list": sum(sizes.values())}
    row |= {"10 calls": calls, "results": results}
    whole = SessionCost(intro + sum(sizes.values()))
    for _, sent, received in lines:
        whole.turn(sent, received)
    once, reread = whole.ended()
    rows = [{**row, "client": "whole list", "searches": 0, "loaded": len(tools), "once": once, "every turn": reread}]
    # Names are in the prompt; definitions come with a search.
    found = SessionCost(intro + tokens.count("\n".join(sizes)))
    index, loaded, searches = ToolIndex([ToolDocument(tool) for tool in tools]), set(), 0
    for step, (tool, sent, received) in zip(steps, lines):
        for query, hits in ((step["ask"], index.rank("bm25", step["ask"])[:LOADED]), (f"select:{tool}", [tool])):
            if tool not in loaded:
                new = [hit for hit in hits if hit not in loaded]
                loaded |= set(new)
                searches += 1
                asked = tokens.count({"name": "tool_search", "arguments": {"query": query}})
                found.turn(asked, sum(sizes[hit] for hit in new))
        found.turn(sent, received)
    once, reread = found.ended()
    rows.append({**row, "client": "tool search", "searches": searches, "loaded": len(loaded), "once": once, "every turn": reread})
    return rows


def texts_of(result):
    """What a model reads of a result: its texts, or without any its structure."""
    texts = [block["text"] for block in result.get("content", []) if block.get("type") == "text"]
    return texts or [json.dumps(result.get("structuredContent"), ensure_ascii=False, separators=(",", ":"))]


def measure_ours(host, form, session):
    """Loggia with the facade of the session, in one form; with all plugins, if the session has several."""
    only = ["--list", session["tool"]] if session["tool"] else []
    with host.serve(form, *only, facades=only[1:] or None) as served:
        module, names = reader(form), {"n": "1"}
        shown = module.read(served.tools)

        def call(step):
            values = _placed(filled(step["values"], names), "/data")
            name, arguments = module.place(shown[step["tool"], step["action"]], values)
            result = served.server.call(name, arguments)
            answer = envelope(result)
            if not answer.get("ok"):
                raise SystemExit(f"session {session['name']}, {form}: {name} {arguments}: {answer}")
            for key, pointer in step.get("keep", {}).items():
                names[key] = pointed(answer, pointer)
            return name, arguments, texts_of(result)

        lines = transcript(session["step"], call)
        label = f"loggia, {form}" if only else f"loggia, all plugins, {form}"
        return costs(session["name"], label, served.tools, served.server.instructions, session["step"], lines)


def measure_theirs(clients, session):
    """The reference servers of a session, as tests/clients/install.py installs them, in one client."""
    with tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as stack:
        folder = pathlib.Path(directory).resolve() / "data"
        shutil.copytree(HERE / "world", folder)
        environment = {**os.environ, "MEMORY_FILE_PATH": str(folder.parent / "memory.jsonl")}
        tools, owners, instructions = [], {}, []
        for package, script in session["packages"]:
            path = pathlib.Path(clients) / "typescript" / "node_modules" / package / script
            # The memory server ignores the argument.
            server = stack.enter_context(StdioServer([str(pathlib.Path(clients) / "node"), str(path), str(folder)], env=environment))
            listed = server.tools()
            tools += listed
            owners |= {tool["name"]: server for tool in listed}
            instructions.append(server.instructions)

        def call(step):
            name, arguments = step["theirs"][0], _placed(step["theirs"][1], str(folder))
            result = owners[name].call(name, arguments)
            if result.get("isError"):
                raise SystemExit(f"session {session['name']}, reference: {name} {arguments}: {result}")
            texts = [text.replace(str(folder), "/data") for text in texts_of(result)]
            return name, _placed(arguments, "/data", str(folder)), texts

        lines = transcript(session["step"], call)
        label = " and ".join(package.split("/")[-1] for package, _ in session["packages"])
        return costs(session["name"], label, tools, "\n".join(filter(None, instructions)), session["step"], lines)


def _placed(value, folder, marker="FOLDER"):
    """Replaces the marker by a directory in all texts."""
    if isinstance(value, dict):
        return {key: _placed(member, folder, marker) for key, member in value.items()}
    if isinstance(value, list):
        return [_placed(member, folder, marker) for member in value]
    return value.replace(marker, folder) if isinstance(value, str) else value
