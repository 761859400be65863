"""Tries listings of all pages that need no session: policies, settings, workflows, JSON, the options of commands, and the README's plugin.

A listing marked `toml,ignore` is a fragment, and is skipped.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from markdown import Listing, listings

# Environment variables that listings name.
SECRETS = ("APPROVALS_SECRET", "GITHUB_CLIENT_SECRET", "GITHUB_TOKEN", "OPENAI_API_KEY", "OTLP_TOKEN", "SHOP_TOKEN", "TRACKER_TOKEN", "WEATHER_KEY")


def all_listings() -> Iterator[Listing]:
    files = [Path("README.md"), Path("sdk/README.md"), *Path("docs").rglob("*.md"), *Path("plugins").glob("*/README.md")]
    for path in sorted(files):
        yield from listings(str(path), path.read_text(encoding="utf-8"))


class Host:
    """Tries the command line in a folder."""

    def __init__(self, binary: Path, folder: Path):
        self.binary, self.folder = binary, folder
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("LOGGIA_")}
        self.environment |= {"HOME": str(folder), "LOGGIA_CACHE": f"{folder}/cache", "LOGGIA_STATE": f"{folder}/state"}
        self.environment |= {name: "not-a-secret-but-long-enough" for name in SECRETS}
        self.helps: dict[tuple[str, ...], str] = {}

    def __call__(self, *words: str | Path, **more: str) -> tuple[int, str]:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        done = subprocess.run([self.binary, *words], cwd=self.folder, env=self.environment | more, check=False, **pipes)
        return done.returncode, done.stdout

    def file(self, name: str, text: str) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return name

    def problem(self, listing: Listing) -> str | None:
        """What is wrong with a listing."""
        match listing.language:
            case "toml":
                return self.try_toml(listing.text)
            case "json":
                return try_json(listing.text)
            case "yaml" if listing.page == "docs/authors/workflows.md":
                return failed(self("workflow", "check", self.file("listing.workflow.yaml", listing.text)))
            case "sh" | "console":
                lines = [line.removeprefix("$ ") for line in listing.text.splitlines()]
                wrong = [self.try_command(line) for line in lines if line.startswith("loggia ")]
                return "; ".join(filter(None, wrong)) or None
            case "rust" if listing.page == "README.md":
                return self.try_plugin(listing.text)
        return None

    def try_toml(self, text: str) -> str | None:
        tables = set(re.findall(r"^\[+(\w+)", text, re.M))
        if tables & {"grants", "limits", "actions", "expose"}:
            return failed(self("policy", "explain", self.file("policy.toml", text)))
        # Manifests of cargo and of plugins have other keys.
        if "package" in tables or re.search(r"^(build|artifact) =", text, re.M):
            return None
        for guard in re.findall(r"^component\s*=\s*\"(.+)\"", text, re.M):
            self.file(guard, "")
        return failed(self("config", "check", self.file("loggia.toml", text.replace("sha256:…", "sha256:" + "0" * 64))))

    def try_command(self, line: str) -> str | None:
        line = re.split(r"\s+#|\s[|>&]", re.sub(r"'[^']*'|\"[^\"]*\"", "X", line))[0]
        words = line.split()[1:]
        command, text = [], self.help([])
        while words and re.search(rf"^  {re.escape(words[0])}(\s|$)", text, re.M):
            command.append(words.pop(0))
            text = self.help(command)
        if not command:
            return f"no such subcommand: {line}"
        unknown = [option for option in re.findall(r"(?<!\S)--[a-z][a-z-]*", line) if not re.search(rf"{option}\b", text)]
        return f"`loggia {' '.join(command)}` has no option {', '.join(unknown)}" if unknown else None

    def help(self, command: list[str]) -> str:
        key = tuple(command)
        if key not in self.helps:
            self.helps[key] = self(*command, "--help")[1]
        return self.helps[key]

    def try_plugin(self, text: str) -> str | None:
        """Builds the README's plugin with the manifest of the SDK's."""
        page = "sdk/README.md"
        [manifest] = [one.text for one in listings(page, Path(page).read_text(encoding="utf-8")) if "[package]" in one.text]
        self.file("notes/Cargo.toml", manifest.replace("../loggia/sdk", os.path.abspath("sdk")) + "\n[workspace]\n")
        self.file("notes/src/lib.rs", text)
        shutil.copy("Cargo.lock", self.folder / "notes")
        # cargo and rustup need the real home. The target folder differs from that of tests/it/author.rs: cargo treats crates of one
        # name in folders of one name as the same crate.
        real = {"HOME": os.environ["HOME"], "CARGO_TARGET_DIR": os.path.abspath("target/readme")}
        if wrong := failed(self("build", "--out", "dist", "notes", **real)):
            return wrong
        self.file("dist/notes.toml", "[grants]\nstore = true\n")
        return failed(self("check", "dist")) or failed(self("call", "notes", "add", "text=milk", "--plugins", "dist"))


def failed(done: tuple[int, str]) -> str | None:
    return done[1] if done[0] else None


def try_json(text: str) -> str | None:
    decoder, text = json.JSONDecoder(), text.strip()
    while text:
        try:
            _, end = decoder.raw_decode(text)
        except ValueError as error:
            return str(error)
        text = text[end:].lstrip()
    return None
