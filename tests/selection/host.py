"""A folder of plugins with its policies and data, and Loggia serving it in one of the published forms."""

import contextlib
import json
import pathlib
import shutil
import subprocess
import time

from corpus import Filler
from server import CLIENT, StdioServer

HERE = pathlib.Path(__file__).parent
REPOSITORY = HERE.parent.parent
FORMS = ("flat", "signatures", "names", "union", "granular")
FACADES = (
    "files memories knowledge conversations projects search web context tools script banking support".split()
)
FIXTURES = ("issues", "tasks")


class HostFolder:
    """`plugins/` and `data/` below a temporary directory. `cache` outlives it, as compiling takes seconds a plugin."""

    def __init__(self, directory, loggia, plugins, fixtures, cache, client=CLIENT):
        self.directory = pathlib.Path(directory)
        self.loggia, self.cache, self.client = str(pathlib.Path(loggia).resolve()), cache, client
        self.states = 0
        folder = self.directory / "plugins"
        folder.mkdir(parents=True)
        needed = [pathlib.Path(plugins) / f"{name}.wasm" for name in FACADES]
        needed += [pathlib.Path(self.loggia), *(pathlib.Path(fixtures) / f"{name}.wasm" for name in FIXTURES)]
        missing = [str(path) for path in needed if not path.exists()]
        if missing:
            raise SystemExit(f"missing: {', '.join(missing)}. Build them as README.md says, or name others with options")
        for name in FACADES:
            shutil.copy(pathlib.Path(plugins) / f"{name}.wasm", folder)
            shutil.copy(_policy(name), folder / f"{name}.toml")
        for name in FIXTURES:
            shutil.copy(pathlib.Path(fixtures) / f"{name}.wasm", folder)
            shutil.copy(_policy(name), folder / f"{name}.toml")
        shutil.copy(REPOSITORY / "plugins" / "brief.workflow.yaml", folder)
        self.facades = [*FACADES, *FIXTURES, "brief"]
        self._renew_data()
        check = subprocess.run(
            [self.loggia, "check", str(folder), "--cache", str(cache)], capture_output=True, text=True, check=False
        )
        if check.returncode:
            raise SystemExit(f"the plugins do not load:\n{check.stdout}{check.stderr}")

    def _renew_data(self):
        for name in ("data", "issues", "tasks"):
            shutil.rmtree(self.directory / name, ignore_errors=True)
        shutil.copytree(HERE / "world", self.directory / "data")
        (self.directory / "issues").mkdir()
        (self.directory / "tasks").mkdir()

    @contextlib.contextmanager
    def serve(self, form, *options, facades=None):
        """Serves with a state folder of its own and the first data; yields a `ServedForm`. Waits for `facades`; default: all."""
        self.states += 1
        self._renew_data()
        state = self.directory / f"state-{self.states}"
        command = [self.loggia, "serve", str(self.directory / "plugins"), "--schema", form]
        command += ["--state", str(state), "--cache", str(self.cache), *options]
        with open(self.directory / f"serve-{self.states}.log", "w", encoding="utf-8") as log:
            with StdioServer(command, log, client=self.client) as server:
                yield ServedForm(form, server, wait_for(server, facades or self.facades))


def _policy(name):
    """The policy of the tests if there is one, else the one that the plugin comes with."""
    own = HERE / "policies" / f"{name}.toml"
    return own if own.exists() else REPOSITORY / "plugins" / name / f"{name}.toml"


def wait_for(server, facades):
    """Returns the tool list once no facade is missing: plugins load while the server already answers."""
    for _ in range(600):
        tools = server.tools()
        titles = {tool["name"] for tool in tools} | {tool["name"].split("_")[0] for tool in tools}
        # The tools of a workflow have the names of its actions in `granular`.
        titles |= {"brief"} if any(tool.get("title", "").startswith("Briefs") for tool in tools) else set()
        missing = [name for name in facades if name not in titles]
        if not missing:
            return tools
        time.sleep(0.1)
    raise SystemExit(f"not served after a minute: {', '.join(missing)}")


class ServedForm:
    """A server, its form, and what it publishes. `filler` numbers all preparations of its state."""

    def __init__(self, form, server, tools):
        self.form, self.server, self.tools = form, server, tools
        self.filler = Filler()
        # Of tools that have one action.
        self.actions = {tool["name"]: tool.get("title", "").partition(": ")[2] for tool in tools}

    def call(self, name, arguments):
        """Makes a call; returns its envelope."""
        return envelope(self.server.call(name, arguments))


def envelope(result):
    """Returns the envelope of a result: its structure, or its text as JSON; an error without one gets the code `protocol`."""
    if isinstance(result.get("structuredContent"), dict):
        return result["structuredContent"]
    texts = [block["text"] for block in result.get("content", []) if block.get("type") == "text"]
    for text in texts:
        with contextlib.suppress(ValueError):
            value = json.loads(text)
            if isinstance(value, dict) and "ok" in value:
                return value
    return {"ok": not result.get("isError"), "code": "protocol", "error": "\n".join(texts)}
