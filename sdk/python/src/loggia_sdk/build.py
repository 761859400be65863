"""Builds a component: `python -m loggia_sdk build app.py --out app.wasm`, or `loggia-sdk-build app.py --out app.wasm`.

Runs componentize-py with the SDK's WIT and names, so that authors need to know neither. Exits with 0 or 1; messages go to stderr.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from .immortal import immortalise
from .join import join
from .module import LayoutError

COMPONENTIZE = "0.25.1"
PACKAGE = Path(__file__).resolve().parent
ENTRY = "loggia_guest_entry"
MAP = "objects"
# Names of the generated module's export as `--full-names` makes them.
SHIM = """import {module}
from loggia_sdk import abi, objects


class LoggiaPluginFacade020(abi.guest(abi.find_facade({module}))):
    # componentize-py makes an instance for each export after it has imported all modules.
    def __init__(self):
        objects.write_map("/0/{map}")
"""
TRACEBACK = "Traceback (most recent call last):\n"
# The error at the end of a traceback, where lines of source are indented. Its text may span lines; componentize-py repeats it below.
SENTENCE = re.compile(r"^[\w.]+: loggia: (.*?)\s*(?:\n\n(?:Caused by|Stack backtrace):|\Z)", re.MULTILINE | re.DOTALL)
# A line of the author's: the folders of `-p` are `/0`, `/1` and so on while componentize-py runs the module.
PLACE = re.compile(r'^  File "/1/(?!loggia_sdk/|(?:.*/)?site-packages/)([^"]+)", line (\d+)', re.MULTILINE)


class BuildError(Exception):
    """Why there is no component."""


def build(source: Path, out: Path) -> None:
    """Builds `source`, a module with one `Facade`, to the component `out`. The file appears whole or not at all."""
    if not source.is_file():
        raise BuildError(f"{source}: no such file")
    if source.suffix != ".py" or not source.stem.isidentifier():
        raise BuildError(f"{source}: a plugin is one module, such as app.py, whose name is an identifier")
    if source.stem in sys.stdlib_module_names or source.stem in ("loggia_sdk", "wit_world", ENTRY):
        raise BuildError(f"{source}: `{source.stem}` is the name of another module; choose another")
    try:
        version = importlib.metadata.version("componentize-py")
    except importlib.metadata.PackageNotFoundError:
        raise BuildError("componentize-py is missing: pip install 'loggia-sdk[build]'") from None
    if version != COMPONENTIZE:
        raise BuildError(f"componentize-py is {version}, and this SDK is made for {COMPONENTIZE}: pip install 'loggia-sdk[build]'")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".loggia-") as folder:
        Path(folder, f"{ENTRY}.py").write_text(SHIM.format(module=source.stem, map=MAP))
        made = Path(folder, "out.wasm")
        _componentize(folder, source.resolve().parent, made)
        component = bytearray(_joined(made.read_bytes()))
        immortalise(component, Path(folder, MAP).read_bytes())
        made.write_bytes(component)
        os.replace(made, out)


def _joined(component: bytes) -> bytes:
    """The component with its modules joined, which makes calls faster, or as it is."""
    try:
        return join(component)
    except LayoutError as error:
        print(f"warning: calls will take longer than they need to, since componentize-py lays components out in an unknown way: {error}", file=sys.stderr)
        return component


def _componentize(folder: str, sources: Path, made: Path) -> None:
    run = "import sys, componentize_py; sys.exit(componentize_py.script())"
    words = ["--quiet", "-d", str(PACKAGE / "wit"), "-w", "guest", "--full-names", "componentize", ENTRY]
    # The author's is the second: see `PLACE`.
    for path in (folder, sources, PACKAGE.parent):
        words += ["-p", str(path)]
    done = subprocess.run(
        [sys.executable, "-c", run, *words, "-o", str(made)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if done.returncode or not made.is_file():
        raise BuildError(_mistake(done.stdout.decode(errors="replace")))


def _mistake(text: str) -> str:
    """The author's mistake: the SDK's own sentence if there is one, with its place, otherwise all that the builder said."""
    # The last of a chain is the one that ended the build.
    last = text.rpartition(TRACEBACK)[2]
    found = SENTENCE.search(last)
    if found is None:
        return text.strip() or "componentize-py failed and said nothing"
    places = PLACE.findall(last[: found.start()])
    place = "{}:{}: ".format(*places[-1]) if places else ""
    return place + found[1]


def main(words: list[str] | None = None) -> int:
    """The command line. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="loggia-sdk-build", description="Builds a plugin for Loggia from a Python module.")
    parser.add_argument("source", type=Path, help="the module that holds the facade, such as app.py")
    parser.add_argument("--out", type=Path, required=True, help="the component to write, such as notes.wasm")
    options = parser.parse_args(words)
    try:
        build(options.source, options.out)
    except (BuildError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
