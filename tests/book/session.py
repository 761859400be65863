"""One session of a page: its steps, in a folder of their own."""

import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

from markdown import Step
from output import appeared, commands, difference, edited

# Seconds that a command may take: a first build takes a minute on an idle machine.
PATIENCE = 600
# Seconds until a server has built and loaded what was saved.
RELOAD = 240
# Where pages let a server listen. Sessions run beside others: each has a port of its own.
ADDRESS = "127.0.0.1:8080"
# The policy's part that `loggia new --lang python` writes; pages show only what a recipe is about.
PYTHON_LIMITS = '\n[limits]\ncompile-memory = "1GiB"\n'


class StepFailed(Exception):
    """A page is not true."""


class Served:
    """A command that goes on in the background."""

    def __init__(self, command: str, cwd: Path, environment: dict[str, str]):
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        self.process = subprocess.Popen(["bash", "-c", f"exec {command}"], cwd=cwd, env=environment, start_new_session=True, **pipes)
        self.output = ""
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self.output += line

    def end(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)


class Session:
    """Runs steps, one after another."""

    def __init__(self, name: str, folder: Path, root: Path, environment: dict[str, str]):
        self.language = name
        self.root = root
        self.cwd = folder
        own = {"HOME": str(folder), "LOGGIA_STATE": str(folder / ".state")}
        self.environment = environment | own
        self.address = f"127.0.0.1:{free_port()}"
        self.served: list[Served] = []

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_) -> None:
        for served in self.served:
            served.end()

    def step(self, step: Step) -> None:
        getattr(self, f"_{step.kind}")(step.argument, self._own(step.listing.text) if step.listing else "")

    def finish(self) -> None:
        """Checks what only the end shows: builders drop the types of TypeScript without checking them."""
        if self.language == "ts":
            self._succeed("tsc --project .")

    def _own(self, text: str) -> str:
        return text.replace(ADDRESS, self.address)

    def _new(self, name: str, _: str) -> None:
        self._succeed(f"loggia new {name} --lang {self.language}")
        self.cwd /= name

    def _copy(self, argument: str, _: str) -> None:
        source, _, target = argument.partition(" ")
        shutil.copy(self.root / source, self.cwd / (target or Path(source).name))

    def _file(self, path: str, text: str) -> None:
        file = self.cwd / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if self.language == "python" and re.search(r"^\[grants\]", text, re.M) and "[limits]" not in text:
            text += PYTHON_LIMITS
        file.write_text(text, encoding="utf-8")

    def _edit(self, path: str, change: str) -> None:
        file = self.cwd / path
        try:
            file.write_text(edited(file.read_text(encoding="utf-8"), change), encoding="utf-8")
        except ValueError as error:
            raise StepFailed(f"{path}: {error}") from None

    def _same(self, path: str, text: str) -> None:
        if wrong := difference(text.splitlines(), (self.cwd / path).read_text(encoding="utf-8")):
            raise StepFailed(f"{path}: {wrong}")

    def _run(self, _: str, text: str) -> None:
        for command, expected in self._commands(text):
            self._expect(command, expected)

    def _until(self, _: str, text: str) -> None:
        for command, expected in self._commands(text):
            end = time.monotonic() + RELOAD
            while True:
                try:
                    self._expect(command, expected)
                    break
                except StepFailed:
                    if time.monotonic() > end:
                        raise
                    time.sleep(0.5)

    def _serve(self, _: str, text: str) -> None:
        [(command, expected)] = self._commands(text)
        if command.startswith("loggia ") and "--http" not in command:
            command += f" --http {self.address}"
        served = Served(command, self.cwd, self.environment)
        self.served.append(served)
        end = time.monotonic() + PATIENCE
        while not appeared(expected, served.output):
            if served.process.poll() is not None or time.monotonic() > end:
                raise StepFailed(f"`{command}` printed something else:\n{served.output}\n  expected\n" + "\n".join(expected))
            time.sleep(0.1)

    @staticmethod
    def _commands(text: str) -> list[tuple[str, list[str] | None]]:
        if not re.search(r"^\$ ", text, re.M):
            return [(line, None) for line in text.splitlines() if line.strip()]
        # What is not shown is not compared; then the command has to succeed.
        return [(command, output if any(line.strip() not in ("", "…") for line in output) else None) for command, output in commands(text)]

    def _expect(self, command: str, expected: list[str] | None) -> None:
        if expected is None:
            self._succeed(command)
        elif wrong := difference(expected, self._execute(command)[1]):
            raise StepFailed(f"`{command}`: {wrong}")

    def _succeed(self, command: str) -> None:
        code, output = self._execute(command)
        if code:
            raise StepFailed(f"`{command}` exits with {code}:\n{output}")

    def _execute(self, command: str) -> tuple[int, str]:
        """Runs a command by bash; `cd` holds for the commands after it."""
        reader, writer = os.pipe()
        script = f"{command}\ncode=$?; pwd >&{writer}; exit $code"
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        try:
            done = subprocess.run(
                ["bash", "-c", script], cwd=self.cwd, env=self.environment, pass_fds=[writer], timeout=PATIENCE, check=False, **pipes
            )
        except subprocess.TimeoutExpired as error:
            raise StepFailed(f"`{command}` did not end within {PATIENCE} s:\n{error.output}") from None
        finally:
            os.close(writer)
            with os.fdopen(reader) as pipe:
                where = pipe.read().strip()
        if where:
            self.cwd = Path(where)
        return done.returncode, done.stdout


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]
