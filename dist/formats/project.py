"""The project to be packed: its metadata, its executable, and the tools that pack it."""

import functools
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()

# cargo of this machine, unless the caller names another.
CARGO = os.environ.get("CARGO", "cargo")


@dataclass(frozen=True)
class Binary:
    """An executable, and the platform that runs it."""

    path: Path
    target: str

    @staticmethod
    def parse(text: str) -> "Binary":
        target, equals, path = text.partition("=")
        path = Path(path if equals else text).resolve()
        if not os.access(path, os.X_OK) or path.is_dir():
            sys.exit(f"{path} is not an executable file: build it with `cargo build --profile dist --locked -p loggia`")
        return Binary(path, target if equals else host_target())


def run(*command, **more) -> str:
    """Runs a command, returns its output, and shows it only if it fails."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    except FileNotFoundError:
        sys.exit(f"{words[0]} is missing: install it, or pass only the formats that do not need it")
    if done.returncode != 0:
        sys.exit(f"{done.stdout}failed with {done.returncode}: {' '.join(words)}")
    return done.stdout


def read(*command) -> str:
    """Standard output of a command."""
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout


@functools.cache
def host_target() -> str:
    """Target triple of this machine's compiler."""
    lines = read("rustc", "--version", "--verbose").splitlines()
    return next(line.removeprefix("host: ") for line in lines if line.startswith("host: "))


@functools.cache
def metadata() -> dict:
    """What cargo knows of the package `loggia`: version, description, licence, repository."""
    packages = json.loads(read(CARGO, "metadata", "--no-deps", "--format-version", "1", "--offline"))["packages"]
    return next(package for package in packages if package["name"] == "loggia")


@functools.cache
def environment() -> dict[str, str]:
    """Environment of the packing tools. Files carry the time of the commit, so that the same commit gives the same package."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or read("git", "log", "-1", "--format=%ct").strip()
    return {**os.environ, "SOURCE_DATE_EPOCH": epoch}


def compile_binary() -> Binary:
    """Compiles the command with the profile `dist`."""
    words = [CARGO, "build", "--profile", "dist", "--locked", "--package", "loggia", "--bin", "loggia"]
    subprocess.run(words, check=True, cwd=ROOT, env={**os.environ, "CARGO_TARGET_DIR": str(TARGET)})
    return Binary(TARGET / "dist/loggia", host_target())


def fresh(folder: Path) -> Path:
    """An empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def extras(binary: Binary, folder: Path) -> None:
    """Writes manual pages and completions, which the executable prints."""
    # Processor, vendor and system; a program for musl runs beside glibc.
    if binary.target.split("-")[:3] != host_target().split("-")[:3]:
        sys.exit(f"{binary.path} is for {binary.target} and cannot run here: pack it on such a machine")
    run(binary.path, "man", "--out", fresh(folder / "man"))
    for shell, name in (("bash", "loggia"), ("zsh", "_loggia"), ("fish", "loggia.fish")):
        file = fresh(folder / "completions" / shell) / name
        file.write_bytes(subprocess.run([binary.path, "completions", shell], check=True, stdout=subprocess.PIPE).stdout)


def cargo_tool(name: str, version: str) -> Path:
    """A crate's command of this version, installed below the target folder; returns its folder."""
    home = TARGET / "dist/tools" / f"{name}-{version}"
    if not (home / "bin" / name).exists():
        build = TARGET / "dist/tools/build"
        run(CARGO, "install", name, "--version", version, "--locked", "--root", home, "--target-dir", build, cwd=ROOT)
        shutil.rmtree(build, ignore_errors=True)
    return home / "bin"


def python_tool(name: str, version: str) -> Path:
    """A Python package of this version, in a virtual environment below the target folder; returns the folder of its commands."""
    home = TARGET / "dist/tools" / f"{name}-{version}"
    if not (home / "bin" / name).exists():
        run(sys.executable, "-m", "venv", "--clear", home)
        run(home / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{name}=={version}")
    return home / "bin"
